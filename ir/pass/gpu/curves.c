/* curves.c - see curves.h. */
#include "ir/pass/gpu/curves.h"

#include "ir/pass/dequantised.h"

/* t is the minimum or maximum of another tensor and a number, and NaN passes: that tensor; NULL: it is not. */
static ac_tensor *limited(ac_ctx *cx, const ac_tensor *t, ac_op op, float *limit)
{
    const ac_node *n = ac_made_by(t, op);
    for (int32_t i = 0; n && n->attrs.extreme.keep_nan && i < 2; i++) {
        ac_tensor *c = n->in[1 - i];
        const void *data =
            ac_tensor_is_const(c) && c->dtype == AC_F32 && ac_tensor_count(c) == 1 ? ac_tensor_force(cx, c) : NULL;
        if (!data || n->in[i]->dtype != AC_F32 || !ac_tensor_same_shape(n->in[i], t))
            continue;
        *limit = (float)ac_dtype_get_num(AC_F32, data, 0);
        return n->in[i];
    }
    return NULL;
}

ac_tensor *ac_before_curve(ac_ctx *cx, const int32_t *uses, ac_tensor *t, ac_curve *curve, int32_t *readers)
{
    const ac_node *relu = ac_made_by(t, AC_OP_RELU), *six = ac_made_by(t, AC_OP_RELU6),
                  *swish = ac_made_by(t, AC_OP_SWISH), *mul = ac_made_by(t, AC_OP_MUL);
    *readers = 1;
    *curve = (ac_curve){.act = AC_ACT_NONE};
    if (uses[t->id] != 1)
        return t;
    ac_tensor *above = limited(cx, t, AC_OP_MINIMUM, &curve->high),
              *x = above && uses[above->id] == 1 ? limited(cx, above, AC_OP_MAXIMUM, &curve->low) : NULL;
    curve->clamp = x && curve->low <= curve->high;
    if (curve->clamp)
        return x;
    for (int32_t i = 0; mul && i < 2; i++) {
        const ac_node *gate = ac_made_by(mul->in[1 - i], AC_OP_LOGISTIC);
        if (!gate || gate->in[0] != mul->in[i] || uses[gate->out[0]->id] != 1 || ac_node_act(mul) != AC_ACT_NONE)
            continue;
        curve->swish = true;
        *readers = 2;
        return mul->in[i];
    }
    if (relu || six) {
        curve->act = relu ? AC_ACT_RELU : AC_ACT_RELU6;
        return relu ? relu->in[0] : six->in[0];
    }
    curve->swish = swish && swish->attrs.swish.alpha == 1;
    return curve->swish ? swish->in[0] : t;
}

void ac_release(int32_t *uses, ac_tensor *t)
{
    ac_node *n = t ? t->def : NULL;
    if (!t || --uses[t->id] > 0 || !n)
        return;
    for (int32_t i = 0; i < n->n_in; i++)
        ac_release(uses, n->in[i]);
    ac_node_erase(n);
}
