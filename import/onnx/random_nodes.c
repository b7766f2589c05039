/* random_nodes.c - operators of ONNX that draw random numbers. Attribute `seed` chooses a stream: nodes with one seed
 * draw the same numbers; without it each node has its own. */
#include "import/onnx/proto/nodes.h"
#include "ir/make/compose_random.h"

#include <string.h>

#define MAKER (&n->b)
#include "ir/make/formula.h"

static int32_t stream_of(ac_onx_node *n)
{
    if (!ac_attr_has(&n->attrs, A_random_seed))
        return 0;
    const double seed = ac_attr_float(&n->attrs, A_random_seed);
    uint64_t bits;
    memcpy(&bits, &seed, sizeof bits);
    return ac_stream_of(bits);
}

/* RandomUniform, RandomNormal, and their forms with the shape of an operand. */
int ac_onx_do_random(ac_onx_node *n)
{
    ac_tensor *like = n->n_in ? n->in[0] : NULL;
    ac_draw d = ac_draw_like(like);
    if (strncmp(n->type, "RandomNormal", sizeof "RandomNormal" - 1) == 0) {
        d.kind = AC_W_NORMAL;
        d.mean = ac_attr_float(&n->attrs, A_mean);
        d.deviation = ac_attr_float_or(&n->attrs, A_scale, 1);
    } else {
        d.low = ac_attr_float(&n->attrs, A_low);
        d.high = ac_attr_float(&n->attrs, A_high);
    }
    if (!like) {
        const ac_ints shape = ac_attr_ints(&n->attrs, A_shape);
        if (!ac_draw_shape(&d, shape))
            return ac_cannot(&n->b, "its shape has %d dimensions", shape.n);
    }
    d.stream = stream_of(n);
    AC_TRY(ac_onx_dtype_or(n, like ? like->dtype : AC_F32, &d.to));
    if (!ac_dtype_is_float(d.to))
        return ac_bad(&n->b, "its result is %s, expected floats: attribute dtype", ac_dtype_name(d.to));
    return ac_onx_result(n, 0, ac_make_random(&n->b, &d));
}

/* Floats of 16 bits are compared as f32. */
static ac_tensor *wide(ac_onx_node *n, ac_tensor *x)
{
    return x->dtype == AC_F64 ? x : ac_make_cast(&n->b, x, AC_F32);
}

int ac_onx_do_bernoulli(ac_onx_node *n)
{
    ac_dtype to;
    AC_TRY(ac_onx_dtype_or(n, n->in[0]->dtype, &to));
    return ac_onx_result(n, 0, ac_make_cast(&n->b, ac_make_bernoulli(&n->b, wide(n, n->in[0]), stream_of(n)), to));
}

/* The operand has logarithms of the shares. */
int ac_onx_do_multinomial(ac_onx_node *n)
{
    const int64_t count = ac_attr_int(&n->attrs, A_sample_size);
    ac_tensor *x = ac_make_cast(&n->b, n->in[0], AC_F32);
    ac_dtype to;
    AC_TRY(ac_onx_dtype_or(n, AC_I32, &to));
    if (!x || x->rank != 2 || x->dim[1] < 1)
        return ac_bad(&n->b, "'%s' is %s, expected [batch, classes]", n->in[0]->name, ac_shape_str(n->r->cx, n->in[0]));
    ac_tensor *y = ac_make_choices(&n->b, OP1(SOFTMAX, x), x->dim, count, stream_of(n));
    return ac_onx_result(n, 0, ac_make_cast(&n->b, y, to));
}
