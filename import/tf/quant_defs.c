/* quant_defs.c - fake quantisation: values are rounded as an integer type would hold them, and stay floats. */
#include "import/tf/nodedefs.h"

#include <math.h>
#include <string.h>

#define RESULT(t) ac_tf_result(n, 0, t)

/* The range moved so that 0 is one of its steps; all in f32, as TensorFlow does it. */
typedef struct range {
    float low, high, scale;
} range;

static bool nudge(float low, float high, int64_t bits, bool narrow, range *out)
{
    const float first = narrow ? 1 : 0, last = (float)((1 << bits) - 1);
    out->scale = (high - low) / (last - first);
    const float zero = first - low / out->scale;
    const float step = zero < first ? first : zero > last ? last : roundf(zero);
    out->low = (first - step) * out->scale;
    out->high = (last - step) * out->scale;
    return isfinite(out->scale) && out->scale > 0 && isfinite(zero);
}

/* floor((clamp(x) - low) / scale - zero + 0.5) * scale, with zero = floor(-low / scale + 0.5). The range is one number
 * or one for each element of the last dimension. */
static int quantise(ac_tf_op *n, const float *low, const float *high, int32_t rank, int64_t count)
{
    const int64_t bits = ac_attr_int(&n->attrs, A_num_bits);
    const bool narrow = ac_attr_bool(&n->attrs, A_narrow_range);
    ac_maker *b = &n->b;
    if (bits < 2 || bits > 16)
        return ac_error(n->r->cx, b->at, E0103, "num_bits is %lld", (long long)bits);
    float *v[5];
    for (int32_t k = 0; k < 5; k++)
        v[k] = AC_NEW_N(n->r->cx->region, float, count + 1);
    for (int64_t i = 0; i < count; i++) {
        range r;
        if (!nudge(low[i], high[i], bits, narrow, &r))
            return ac_error(n->r->cx, b->at, E0103, "its range is %g to %g", (double)low[i], (double)high[i]);
        const float inverse = 1.0f / r.scale;
        v[0][i] = r.low;
        v[1][i] = r.high;
        v[2][i] = inverse;
        v[3][i] = floorf(-r.low * inverse + 0.5f) - 0.5f;
        v[4][i] = r.scale;
    }
    ac_tensor *c[5], *x = n->t[0];
    for (int32_t k = 0; k < 5; k++)
        c[k] = ac_make_floats(b, rank, &count, v[k]);
    x = ac_make_2(b, AC_OP_MAXIMUM, ac_make_2(b, AC_OP_MINIMUM, x, c[1]), c[0]);
    x = ac_make_2(b, AC_OP_MUL, ac_make_2(b, AC_OP_SUB, x, c[0]), c[2]);
    x = ac_make_1(b, AC_OP_FLOOR, ac_make_2(b, AC_OP_SUB, x, c[3]));
    return RESULT(ac_make_2(b, AC_OP_MUL, x, c[4]));
}

int ac_tf_do_fake_quant_args(ac_tf_op *n)
{
    const float low = (float)ac_attr_float(&n->attrs, A_min), high = (float)ac_attr_float(&n->attrs, A_max);
    return quantise(n, &low, &high, 0, 1);
}

int ac_tf_do_fake_quant_vars(ac_tf_op *n)
{
    const float *v[2];
    for (int32_t i = 0; i < 2; i++) {
        if (!ac_operand_known(&n->b, &n->t[1 + i]))
            return ac_operand_late(&n->b, n->t[1 + i]);
        v[i] = n->t[1 + i]->dtype == AC_F32 ? ac_tensor_force(n->r->cx, n->t[1 + i]) : NULL;
        if (!v[i])
            return AC_FAIL;
    }
    const ac_tensor *x = n->t[0], *low = n->t[1], *high = n->t[2];
    const bool channels = strstr(n->node->op, "PerChannel") != NULL;
    const int64_t count = ac_tensor_count(low);
    if (count != ac_tensor_count(high) || (channels ? !x->rank || count != x->dim[x->rank - 1] : count != 1))
        return ac_error(n->r->cx, n->b.at, E0104, "its range is %s to %s, '%s' %s", ac_shape_str(n->r->cx, low),
                        ac_shape_str(n->r->cx, high), x->name, ac_shape_str(n->r->cx, x));
    return quantise(n, v[0], v[1], channels ? 1 : 0, count);
}
