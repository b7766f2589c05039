/* special.c - erf and atan, f32 and f64.
 *
 * atan: |x| above 1 is turned round (pi/2 - atan(1/x)), above tan(pi/8) moved to pi/4 + atan((t - 1) / (t + 1)); what
 * is left is at most 0.4143, where the series up to t^17 is off by less than 1e-8 of its value. */
#include "ir/lower/map/map.h"
#include "ir/lower/math64.h"

static bool both_real(const ac_node *n)
{
    return n->in[0]->dtype == n->out[0]->dtype && mp_real(n->in[0]);
}

ac_x mp_erf(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return both_real(n) ? lo_erf(L, arg[0]) : mp_refuse(L, n);
}

/* 0 <= t <= 1 */
static ac_x atan_of(ac_lower *L, ac_x t)
{
    ac_lb *b = &L->b;
    const ac_x one = lb_like(b, t, 1);
    const ac_x upper = lb_gt(b, t, lb_like(b, t, 0.41421356237309503));
    const ac_x u = lb_select(b, upper, lb_div(b, lb_sub(b, t, one), lb_add(b, t, one)), t);
    const ac_x z = lb_mul(b, u, u);
    ac_x v = lb_like(b, t, 1.0 / 17);
    for (int32_t k = 15; k >= 1; k -= 2)
        v = lo_madd(L, v, z, lb_like(b, t, (k % 4 == 1 ? 1.0 : -1.0) / k));
    v = lb_mul(b, v, u);
    return lb_select(b, upper, lb_add(b, v, lb_like(b, t, 0.78539816339744831)), v);
}

ac_x mp_atan(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (!both_real(n))
        return mp_refuse(L, n);
    const ac_x x = arg[0], one = lb_like(b, x, 1), size = lb_abs(b, x);
    const ac_x large = lb_gt(b, size, one);
    const ac_x t = lb_select(b, large, lb_div(b, one, size), size);
    ac_x v = lb_dtype(b, x) == AC_F64 ? lo_atan64(L, t) : atan_of(L, t);
    v = lb_select(b, large, lb_sub(b, lb_like(b, x, 1.5707963267948966), v), v);
    return lb_select(b, lb_lt(b, x, lb_like(b, x, 0)), lb_neg(b, v), v);
}
