/* random.c - operators of TFLite that draw random numbers. Options seed and seed2, if not both 0, choose a stream. */
#include "import/tflite/rules.h"
#include "ir/make/compose_random.h"

static int stream_of(ac_tfl *r, ac_tfl_node *n, int32_t *stream)
{
    const ac_fb_table t = ac_fb_child(&r->fb, n->table, OP_OPTIONS, "RandomOptions");
    const uint64_t seed = t.at ? (uint64_t)ac_fb_int(&r->fb, t, 0, AC_FB_I64, 0) : 0,
                   seed2 = t.at ? (uint64_t)ac_fb_int(&r->fb, t, 1, AC_FB_I64, 0) : 0;
    *stream = ac_stream_of_pair(seed, seed2);
    return r->fb.failed ? AC_FAIL : AC_OK;
}

static int draw(ac_tfl *r, ac_tfl_node *n, ac_word kind)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_draw d = ac_draw_like(NULL);
    ac_ints shape;
    AC_TRY(stream_of(r, n, &d.stream));
    AC_TRY(ac_operand_values(&b, &n->in[0], &shape));
    if (!ac_draw_shape(&d, shape))
        return ac_cannot(&b, "its shape has %d dimensions", shape.n);
    d.kind = kind;
    return ac_tfl_result(n, 0, ac_make_random(&b, &d));
}

int ac_tfl_rule_random_uniform(ac_tfl *r, ac_tfl_node *n)
{
    return draw(r, n, AC_W_UNIFORM);
}

int ac_tfl_rule_random_normal(ac_tfl *r, ac_tfl_node *n)
{
    return draw(r, n, AC_W_NORMAL);
}

/* The operand has logarithms of the shares. */
int ac_tfl_rule_multinomial(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    const ac_tensor *x = n->in[0];
    int32_t stream;
    int64_t count;
    AC_TRY(stream_of(r, n, &stream));
    AC_TRY(ac_operand_int(&b, &n->in[1], &count));
    if (x->dtype != AC_F32 || x->rank != 2 || x->dim[0] < 0 || x->dim[1] < 1 || count < 0)
        return ac_cannot(&b, "'%s' is %s, expected f32 [batch, classes]", x->name, ac_tensor_str(r->cx, x));
    ac_tensor *p = ac_make_1(&b, AC_OP_SOFTMAX, n->in[0]), *y = ac_make_choices(&b, p, x->dim, count, stream);
    return ac_tfl_result(n, 0, n->out[0]->dtype == AC_I32 ? y : ac_make_cast(&b, y, n->out[0]->dtype));
}
