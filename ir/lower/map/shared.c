/* shared.c - functions that the element-wise expressions share: zero points, clamps, rounding, refusals. */
#include "ir/lower/map/map.h"

ac_x ac_mp_refuse(ac_lower *L, const ac_node *n)
{
    const char *in = "";
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i])
            in = ac_strf(L->cx->region, "%s%s%s%s", in, *in ? ", " : "", ac_dtype_name(n->in[i]->dtype),
                         ac_mp_quantised(n->in[i]) ? " (quantised)" : "");
    ac_lower_refuse(L, "%s of %s to %s%s is not supported", ac_ops[n->op].text, in, ac_dtype_name(n->out[0]->dtype),
                    ac_mp_quantised(n->out[0]) ? " (quantised)" : "");
    return 0;
}

ac_x ac_mp_centered(ac_lower *L, ac_x stored, const ac_tensor *t)
{
    const ac_x v = ac_lb_cast(&L->b, stored, AC_I32);
    return ac_lb_sub_wrap(&L->b, v, ac_lb_like_int(&L->b, v, ac_quant_zero(t)));
}

ac_x ac_mp_stored(ac_lower *L, ac_x v, const ac_tensor *t, int32_t lo, int32_t hi)
{
    ac_lb *b = &L->b;
    v = ac_lb_add_wrap(b, v, ac_lb_like_int(b, v, ac_quant_zero(t)));
    return ac_lb_cast(b, ac_lb_clamp(b, v, ac_lb_like_int(b, v, lo), ac_lb_like_int(b, v, hi)), t->dtype);
}

ac_x ac_mp_stored_full(ac_lower *L, ac_x v, const ac_tensor *t)
{
    int32_t lo, hi;
    ac_quantized_act_range(AC_ACT_NONE, t, &lo, &hi);
    return ac_mp_stored(L, v, t, lo, hi);
}

/* v - trunc(v) is exact, and so is the comparison with a half. */
ac_x ac_mp_round_away(ac_lower *L, ac_x v)
{
    ac_lb *b = &L->b;
    const ac_x t = ac_lb_trunc(b, v), d = ac_lb_sub(b, v, t), zero = ac_lb_like(b, v, 0);
    const ac_x up = ac_lb_select(b, ac_lb_ge(b, d, ac_lb_like(b, v, 0.5)), ac_lb_like(b, v, 1), zero);
    const ac_x down = ac_lb_select(b, ac_lb_le(b, d, ac_lb_like(b, v, -0.5)), ac_lb_like(b, v, 1), zero);
    return ac_lb_sub(b, ac_lb_add(b, t, up), down);
}
