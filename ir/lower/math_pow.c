/* math_pow.c - powers: f32 in f64, f64 by exp and log. */
#include "ir/lower/math_parts.h"

#include <math.h>

/* log2 of |x| in double, relative error 2^-43; x: f64, exactly an f32. 0 gives -inf, inf gives inf. */
static ac_x log2_wide(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x bits = ac_lb_bitcast(b, x, AC_I64);
    const ac_x k =
        ac_lb_shr(b, ac_lb_sub_wrap(b, bits, ac_lb_like_int(b, bits, 0x3FE6A09E667F3BCD)), ac_lb_like_int(b, bits, 52));
    const ac_x m =
        ac_lb_bitcast(b, ac_lb_sub_wrap(b, bits, ac_lb_mul_wrap(b, k, ac_lb_like_int(b, k, (int64_t)1 << 52))), AC_F64);
    const ac_x s = ac_lb_div(b, ac_lb_sub(b, m, num(L, m, 1)), ac_lb_add(b, m, num(L, m, 1)));
    const ac_x z = ac_lb_mul(b, s, s);
    const ac_x p = POLY(z, 2.8853900817778495, 0.961796694114053, 0.57707794216849728, 0.41220927132911839,
                        0.31990495089701398, 0.28291043475649685);
    ac_x v = ac_lb_add(b, ac_lb_cast(b, k, AC_F64), ac_lb_mul(b, s, p));
    v = ac_lb_select(b, ac_lb_eq(b, x, num(L, x, 0)), num(L, x, -HUGE_VAL), v);
    return ac_lb_select(b, ac_lb_eq(b, x, num(L, x, HUGE_VAL)), x, v);
}

/* 2^x in double, |x| <= 200 enforced, relative error 2^-34. */
static ac_x exp2_wide(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    x = within(L, x, -200, 200);
    const ac_x t = ac_lb_add(b, x, num(L, x, 6755399441055744.0)); /* 1.5 * 2^52 */
    const ac_x f = ac_lb_sub(b, x, ac_lb_sub(b, t, num(L, x, 6755399441055744.0)));
    const ac_x bits = ac_lb_bitcast(b, t, AC_I64);
    const ac_x i = ac_lb_sub_wrap(b, bits, ac_lb_like_int(b, bits, 0x4338000000000000));
    const ac_x p = POLY(f, 0.99999999996168187, 0.69314718072847492, 0.2402265119815116, 0.055504103533529012,
                        0.0096180272540651434, 0.0013333922631122797, 0.00015469291100211842, 1.5201908081680579e-05);
    const ac_x biased = ac_lb_add_wrap(b, i, ac_lb_like_int(b, i, 1023));
    return ac_lb_mul(b, p, ac_lb_bitcast(b, ac_lb_mul_wrap(b, biased, ac_lb_like_int(b, i, (int64_t)1 << 52)), AC_F64));
}

/* |x|^y = 2^(y log2 |x|) in double; signs and the special cases of C's pow. */
ac_x ac_lo_pow(ac_lower *L, ac_x x, ac_x y)
{
    ac_lb *b = &L->b;
    const ac_x one = num(L, x, 1), zero = num(L, x, 0), size = ac_lb_abs(b, x);
    const bool wide = ac_lb_dtype(b, x) == AC_F64;
    ac_x v =
        wide ? ac_lo_exp(L, ac_lb_mul(b, y, ac_lo_log(L, size)))
             : ac_lb_cast(
                   b, exp2_wide(L, ac_lb_mul(b, ac_lb_cast(b, y, AC_F64), log2_wide(L, ac_lb_cast(b, size, AC_F64)))),
                   AC_F32);
    v = ac_lb_select(b, ac_lb_eq(b, size, one), one, v); /* also with an infinite or NaN exponent */
    v = ac_lb_select(b, ac_lb_and(b, ac_lb_ne(b, y, y), ac_lb_ne(b, x, one)), y, v);
    const ac_x whole = ac_lb_eq(b, ac_lb_rint(b, y), y);
    const ac_x half = ac_lb_mul(b, y, num(L, x, 0.5));
    const ac_x odd = ac_lb_and(b, whole, ac_lb_ne(b, ac_lb_rint(b, half), half));
    /* The sign bit counts: pow(-0, odd) is negative. */
    const ac_x bits = ac_lb_bitcast(b, x, wide ? AC_I64 : AC_I32);
    const ac_x minus = ac_lb_lt(b, bits, ac_lb_like_int(b, bits, 0));
    v = ac_lb_select(b, ac_lb_and(b, minus, odd), ac_lb_neg(b, v), v);
    const ac_x root = ac_lb_and(b, ac_lb_and(b, ac_lb_lt(b, x, zero), ac_lb_not(b, whole)), ac_lb_eq(b, y, y));
    const ac_x finite = ac_lb_lt(b, size, num(L, x, (double)HUGE_VALF));
    v = ac_lb_select(b, ac_lb_and(b, root, finite), num(L, x, (double)NAN), v);
    v = ac_lb_select(b, ac_lb_ne(b, x, x), x, v);
    return ac_lb_select(b, ac_lb_eq(b, y, zero), one, ac_lb_select(b, ac_lb_eq(b, x, one), one, v));
}
