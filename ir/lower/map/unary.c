/* unary.c - one-operand arithmetic: abs, neg, sign, rounding, roots, squares, sine, cosine, zeros_like.
 *
 * Floats: f32 and f64. Plain integers wrap. Quantised abs and neg rescale to the result's scale.
 */
#include "ir/lower/map/map.h"

static bool both(const ac_node *n, bool (*kind)(const ac_tensor *))
{
    return n->in[0]->dtype == n->out[0]->dtype && kind(n->in[0]) && kind(n->out[0]);
}

/* |x| or -x of a quantised tensor: rescaled only when the scales differ. Reference: kernels/elementwise.cc. */
static ac_x rescaled(ac_lower *L, const ac_node *n, ac_x v)
{
    const float in = ac_scale(n->in[0]), out = ac_scale(n->out[0]);
    if (in < out || in > out)
        v = lo_requant(L, v, ac_quantize_multiplier((double)(in / out)));
    return mp_stored_full(L, v, n->out[0]);
}

ac_x mp_abs(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (both(n, mp_real))
        return lb_abs(b, arg[0]);
    if (both(n, mp_quantised))
        return rescaled(L, n, lb_abs(b, mp_centered(L, arg[0], n->in[0])));
    if (!both(n, mp_plain_int))
        return mp_refuse(L, n);
    if (!ac_dtype_is_signed(n->in[0]->dtype))
        return arg[0];
    return lb_max(b, arg[0], lb_sub_wrap(b, lb_like_int(b, arg[0], 0), arg[0]));
}

ac_x mp_neg(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (both(n, mp_real))
        return lb_neg(b, arg[0]);
    if (both(n, mp_plain_int))
        return lb_sub_wrap(b, lb_like_int(b, arg[0], 0), arg[0]);
    if (!both(n, mp_quantised))
        return mp_refuse(L, n);
    const ac_x v = mp_centered(L, arg[0], n->in[0]);
    return rescaled(L, n, lb_sub_wrap(b, lb_like_int(b, v, 0), v));
}

/* -1, 0 or 1; NaN gives -1 as the reference's (x > 0 ? 1 : -1) does. */
ac_x mp_sign(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (!both(n, mp_real) && !both(n, mp_plain_int))
        return mp_refuse(L, n);
    const ac_x x = arg[0], zero = lb_like(b, x, 0), one = lb_like(b, x, 1);
    if (!mp_real(n->in[0]) && !ac_dtype_is_signed(n->in[0]->dtype))
        return lb_min(b, x, one);
    const ac_x side = lb_select(b, lb_gt(b, x, zero), one, lb_like(b, x, -1));
    return lb_select(b, lb_eq(b, x, zero), zero, side);
}

ac_x mp_ceil(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, mp_real) ? lb_ceil(&L->b, arg[0]) : both(n, mp_plain_int) ? arg[0] : mp_refuse(L, n);
}

ac_x mp_floor(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, mp_real) ? lb_floor(&L->b, arg[0]) : both(n, mp_plain_int) ? arg[0] : mp_refuse(L, n);
}

ac_x mp_round(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, mp_real) ? lb_rint(&L->b, arg[0]) : both(n, mp_plain_int) ? arg[0] : mp_refuse(L, n);
}

ac_x mp_sqrt(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, mp_real) ? lb_sqrt(&L->b, arg[0]) : mp_refuse(L, n);
}

ac_x mp_square(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, mp_real) || both(n, mp_plain_int) ? lb_mul_wrap(&L->b, arg[0], arg[0]) : mp_refuse(L, n);
}

ac_x mp_sin(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, mp_real) ? lo_sin(L, arg[0]) : mp_refuse(L, n);
}

ac_x mp_cos(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both(n, mp_real) ? lo_cos(L, arg[0]) : mp_refuse(L, n);
}

/* Zero bytes, whatever the zero point: so does the reference. */
ac_x mp_zeros_like(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return n->in[0]->dtype == n->out[0]->dtype ? lb_like(&L->b, arg[0], 0) : mp_refuse(L, n);
}
