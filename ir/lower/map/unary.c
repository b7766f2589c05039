/* unary.c - one-operand arithmetic: abs, neg, sign, rounding, roots, squares, sine, cosine, zeros_like, assign.
 *
 * Floats: f32 and f64. Plain integers wrap. Quantised abs and neg rescale to the result's scale.
 */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"

static bool both(const ac_node *n, bool (*kind)(const ac_tensor *))
{
    return n->in[0]->dtype == n->out[0]->dtype && kind(n->in[0]) && kind(n->out[0]);
}

/* |x| or -x of a quantised tensor: rescaled only when the scales differ. Reference: kernels/elementwise.cc. */
static ac_x rescaled(ac_lower *L, const ac_node *n, ac_x v)
{
    const float in = ac_quant_scale(n->in[0]), out = ac_quant_scale(n->out[0]);
    if (in < out || in > out)
        v = ac_lo_requant(L, v, ac_quantize_multiplier((double)(in / out)));
    return ac_mp_stored_full(L, v, n->out[0]);
}

ac_x ac_mp_abs(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (both(n, ac_mp_real))
        return ac_lb_abs(b, arg[0]);
    if (both(n, ac_mp_quantised))
        return rescaled(L, n, ac_lb_abs(b, ac_mp_centered(L, arg[0], n->in[0])));
    if (!both(n, ac_mp_plain_int))
        return ac_mp_refuse(L, n);
    if (!ac_dtype_is_signed(n->in[0]->dtype))
        return arg[0];
    return ac_lb_max(b, arg[0], ac_lb_sub_wrap(b, ac_lb_like_int(b, arg[0], 0), arg[0]));
}

ac_x ac_mp_neg(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (both(n, ac_mp_real))
        return ac_lb_neg(b, arg[0]);
    if (both(n, ac_mp_plain_int))
        return ac_lb_sub_wrap(b, ac_lb_like_int(b, arg[0], 0), arg[0]);
    if (!both(n, ac_mp_quantised))
        return ac_mp_refuse(L, n);
    const ac_x v = ac_mp_centered(L, arg[0], n->in[0]);
    return rescaled(L, n, ac_lb_sub_wrap(b, ac_lb_like_int(b, v, 0), v));
}

/* -1, 0 or 1; NaN gives 0, or NaN with keep_nan. */
ac_x ac_mp_sign(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (!both(n, ac_mp_real) && !both(n, ac_mp_plain_int))
        return ac_mp_refuse(L, n);
    const ac_x x = arg[0], zero = ac_lb_like(b, x, 0), one = ac_lb_like(b, x, 1);
    if (!ac_mp_real(n->in[0]) && !ac_dtype_is_signed(n->in[0]->dtype))
        return ac_lb_min(b, x, one);
    const ac_x rest = n->attrs.extreme.keep_nan ? x : zero;
    const ac_x below = ac_lb_select(b, ac_lb_lt(b, x, zero), ac_lb_like(b, x, -1), rest);
    return ac_lb_select(b, ac_lb_gt(b, x, zero), one, below);
}

ac_x ac_mp_ceil(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, ac_mp_real) ? ac_lb_ceil(&L->b, arg[0]) : both(n, ac_mp_plain_int) ? arg[0] : ac_mp_refuse(L, n);
}

ac_x ac_mp_floor(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, ac_mp_real) ? ac_lb_floor(&L->b, arg[0]) : both(n, ac_mp_plain_int) ? arg[0] : ac_mp_refuse(L, n);
}

ac_x ac_mp_round(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, ac_mp_real) ? ac_lb_rint(&L->b, arg[0]) : both(n, ac_mp_plain_int) ? arg[0] : ac_mp_refuse(L, n);
}

ac_x ac_mp_sqrt(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, ac_mp_real) ? ac_lb_sqrt(&L->b, arg[0]) : ac_mp_refuse(L, n);
}

ac_x ac_mp_square(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, ac_mp_real) || both(n, ac_mp_plain_int) ? ac_lb_mul_wrap(&L->b, arg[0], arg[0]) : ac_mp_refuse(L, n);
}

ac_x ac_mp_sin(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, ac_mp_real) ? ac_lo_sin(L, arg[0]) : ac_mp_refuse(L, n);
}

ac_x ac_mp_cos(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, ac_mp_real) ? ac_lo_cos(L, arg[0]) : ac_mp_refuse(L, n);
}

/* Zero bytes for every zero point, as in the reference. */
ac_x ac_mp_zeros_like(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return n->in[0]->dtype == n->out[0]->dtype ? ac_lb_like(&L->b, arg[0], 0) : ac_mp_refuse(L, n);
}

/* Copies x: only the destination matters. */
ac_x ac_mp_assign(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return n->in[0]->dtype == n->out[0]->dtype ? arg[0] : ac_mp_refuse(L, n);
}
