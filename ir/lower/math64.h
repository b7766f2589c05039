/* math64.h - the f64 forms of the float functions of lower.h, which choose them by the type of x. Private to the math
 * files. Maximum error found (tests/unit/lower/test_mathfn.c): 2 units of the last place for exp, expm1, log, tanh and
 * sigmoid, sine and cosine within |x| <= 1e5; erf and atan 4e-16; pow 1e-13 of its value. */
#ifndef AC_IR_LOWER_MATH64_H
#define AC_IR_LOWER_MATH64_H
#include "ir/lower/lower.h"

static inline ac_x num(ac_lower *L, ac_x like, double v)
{
    return ac_lb_like(&L->b, like, v);
}

/* lo <= x <= hi, NaN stays NaN. */
static inline ac_x within(ac_lower *L, ac_x x, double lo, double hi)
{
    x = ac_lb_min(&L->b, num(L, x, hi), x);
    return ac_lb_max(&L->b, num(L, x, lo), x);
}

ac_x ac_lo_exp64(ac_lower *L, ac_x x);
ac_x ac_lo_expm1_64(ac_lower *L, ac_x x);
ac_x ac_lo_log64(ac_lower *L, ac_x x);
ac_x ac_lo_tanh64(ac_lower *L, ac_x x);
ac_x ac_lo_erf64(ac_lower *L, ac_x x);
ac_x ac_lo_sin64(ac_lower *L, ac_x x, int32_t quadrant);
ac_x ac_lo_atan64(ac_lower *L, ac_x x);        /* |x| <= 1 */
ac_x ac_lo_pow64(ac_lower *L, ac_x x, ac_x y); /* |x|^y, x > 0 finite, y finite; signs and special cases: math.c */

#endif
