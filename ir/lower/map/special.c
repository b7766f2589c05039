/* special.c - erf and atan, f32 and f64.
 *
 * atan: |x| above 1 becomes pi/2 - atan(1/x), t above tan(pi/8) becomes pi/4 + atan((t - 1) / (t + 1)). The argument is
 * then at most 0.4143, and the relative error of the series up to t^17 is below 1e-8. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/math64.h"

ac_x ac_mp_erf(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return ac_mp_real_both(n) ? ac_lo_erf(L, arg[0]) : ac_mp_refuse(L, n);
}

/* 0 <= t <= 1 */
static ac_x atan_of(ac_lower *L, ac_x t)
{
    ac_lb *b = &L->b;
    const ac_x one = ac_lb_like(b, t, 1);
    const ac_x upper = ac_lb_gt(b, t, ac_lb_like(b, t, 0.41421356237309503));
    const ac_x u = ac_lb_select(b, upper, ac_lb_div(b, ac_lb_sub(b, t, one), ac_lb_add(b, t, one)), t);
    const ac_x z = ac_lb_mul(b, u, u);
    ac_x v = ac_lb_like(b, t, 1.0 / 17);
    for (int32_t k = 15; k >= 1; k -= 2)
        v = ac_lo_madd(L, v, z, ac_lb_like(b, t, (k % 4 == 1 ? 1.0 : -1.0) / k));
    v = ac_lb_mul(b, v, u);
    return ac_lb_select(b, upper, ac_lb_add(b, v, ac_lb_like(b, t, 0.78539816339744831)), v);
}

ac_x ac_mp_atan(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (!ac_mp_real_both(n))
        return ac_mp_refuse(L, n);
    const ac_x x = arg[0], one = ac_lb_like(b, x, 1), size = ac_lb_abs(b, x);
    const ac_x large = ac_lb_gt(b, size, one);
    const ac_x t = ac_lb_select(b, large, ac_lb_div(b, one, size), size);
    ac_x v = ac_lb_dtype(b, x) == AC_F64 ? ac_lo_atan64(L, t) : atan_of(L, t);
    v = ac_lb_select(b, large, ac_lb_sub(b, ac_lb_like(b, x, 1.5707963267948966), v), v);
    return ac_lb_select(b, ac_lb_lt(b, x, ac_lb_like(b, x, 0)), ac_lb_neg(b, v), v);
}
