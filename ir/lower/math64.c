/* math64.c - exp, log, tanh, erf, sine and arc tangent in f64. Taylor series after range reduction: simple, accurate to
 * one or two units of the last place, and not optimised for speed. */
#include "ir/lower/math64.h"

#include <math.h>

static ac_x power_of_two(ac_lower *L, ac_x i)
{
    ac_lb *b = &L->b;
    const ac_x biased = ac_lb_add_wrap(b, i, ac_lb_like_int(b, i, 1023));
    return ac_lb_bitcast(b, ac_lb_mul_wrap(b, biased, ac_lb_like_int(b, i, (int64_t)1 << 52)), AC_F64);
}

/* X = n ln 2 + r: e^x = 2^a 2^b (1 + y), a + b = n */
typedef struct reduced {
    ac_x y, a, b;
} reduced;

/* y = r + r^2 (1/2! + r/3! + .. r^11/13!), |r| <= ln 2 / 2: the rest is below 2^-57. */
static reduced reduce_exp(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    x = within(L, x, -746, 710);
    const ac_x t = ac_lb_add(b, ac_lb_mul(b, x, num(L, x, 1.44269504088896340736)), num(L, x, 6755399441055744.0));
    const ac_x n = ac_lb_sub(b, t, num(L, x, 6755399441055744.0)), bits = ac_lb_bitcast(b, t, AC_I64);
    const ac_x i = ac_lb_sub_wrap(b, bits, ac_lb_like_int(b, bits, 0x4338000000000000));
    ac_x r =
        ac_lb_sub(b, x, ac_lb_mul(b, n, num(L, x, 6.93147180369123816490e-01))); /* 32 bits of ln 2, and the rest */
    r = ac_lb_sub(b, r, ac_lb_mul(b, n, num(L, x, 1.90821492927058770002e-10)));
    double factor = 6227020800; /* 13! */
    ac_x p = num(L, x, 1 / factor);
    for (int32_t k = 13; k > 2; k--)
        p = ac_lo_madd(L, p, r, num(L, x, 1 / (factor /= k)));
    const ac_x half = ac_lb_shr(b, i, ac_lb_like_int(b, i, 1));
    return (reduced){ac_lo_madd(L, ac_lb_mul(b, r, r), p, r), half, ac_lb_sub_wrap(b, i, half)};
}

ac_x ac_lo_exp64(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const reduced e = reduce_exp(L, x);
    const ac_x v = ac_lb_mul(b, ac_lb_add(b, e.y, num(L, x, 1)), power_of_two(L, e.a));
    return ac_lb_mul(b, v, power_of_two(L, e.b));
}

ac_x ac_lo_expm1_64(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const reduced e = reduce_exp(L, x);
    const ac_x a = power_of_two(L, e.a);
    const ac_x inverse = power_of_two(L, ac_lb_sub_wrap(b, ac_lb_like_int(b, e.b, 0), e.b));
    return ac_lb_mul(b, ac_lo_madd(L, a, e.y, ac_lb_sub(b, a, inverse)), power_of_two(L, e.b));
}

/* x = 2^k m, sqrt(1/2) <= m < sqrt 2; f = m - 1, s = f / (2 + f): log m = f - (f^2/2 - s (f^2/2 + R)), R = 2 z (1/3 +
 * z/5 +
 * ..), z = s^2 <= 0.0295. */
ac_x ac_lo_log64(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x tiny = ac_lb_lt(b, x, num(L, x, 0x1p-1022));
    const ac_x scaled = ac_lb_select(b, tiny, ac_lb_mul(b, x, num(L, x, 0x1p54)), x),
               bits = ac_lb_bitcast(b, scaled, AC_I64);
    const ac_x k =
        ac_lb_shr(b, ac_lb_sub_wrap(b, bits, ac_lb_like_int(b, bits, 0x3FE6A09E667F3BCD)), ac_lb_like_int(b, bits, 52));
    const ac_x m =
        ac_lb_bitcast(b, ac_lb_sub_wrap(b, bits, ac_lb_mul_wrap(b, k, ac_lb_like_int(b, k, (int64_t)1 << 52))), AC_F64);
    const ac_x e = ac_lb_sub(b, ac_lb_cast(b, k, AC_F64), ac_lb_select(b, tiny, num(L, x, 54), num(L, x, 0)));
    const ac_x f = ac_lb_sub(b, m, num(L, x, 1)), s = ac_lb_div(b, f, ac_lb_add(b, f, num(L, x, 2))),
               z = ac_lb_mul(b, s, s);
    ac_x p = num(L, x, 2.0 / 25);
    for (int32_t i = 23; i >= 3; i -= 2)
        p = ac_lo_madd(L, p, z, num(L, x, 2.0 / i));
    const ac_x h = ac_lb_mul(b, ac_lb_mul(b, f, f), num(L, x, 0.5));
    ac_x low =
        ac_lo_madd(L, s, ac_lb_add(b, h, ac_lb_mul(b, z, p)), ac_lb_mul(b, e, num(L, x, 1.90821492927058770002e-10)));
    low = ac_lb_sub(b, ac_lb_sub(b, h, low), f);
    ac_x v = ac_lb_sub(b, ac_lb_mul(b, e, num(L, x, 6.93147180369123816490e-01)), low);
    v = ac_lb_select(b, ac_lb_eq(b, x, num(L, x, HUGE_VAL)), x, v);
    v = ac_lb_select(b, ac_lb_lt(b, x, num(L, x, 0)), num(L, x, (double)NAN), v);
    v = ac_lb_select(b, ac_lb_eq(b, x, num(L, x, 0)), num(L, x, -HUGE_VAL), v);
    return ac_lb_select(b, ac_lb_ne(b, x, x), x, v);
}

/* (e^2|x| - 1) / (e^2|x| + 1) with the sign of x. */
ac_x ac_lo_tanh64(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x size = ac_lb_min(b, num(L, x, 22), ac_lb_abs(b, x));
    const ac_x e = ac_lo_expm1_64(L, ac_lb_add(b, size, size)), v = ac_lb_div(b, e, ac_lb_add(b, e, num(L, x, 2)));
    return ac_lb_select(b, ac_lb_lt(b, x, num(L, x, 0)), ac_lb_neg(b, v), v);
}

/* 2/sqrt(pi) x e^-x^2 (1 + a/3 (1 + a/5 (1 + ..))), a = 2 x^2: all terms are positive. 1 from 5.93 on. */
ac_x ac_lo_erf64(ac_lower *L, ac_x x)
{
    enum { TERMS = 140 };
    ac_lb *b = &L->b;
    const ac_x size = ac_lb_min(b, num(L, x, 6), ac_lb_abs(b, x)), z = ac_lb_mul(b, size, size), a = ac_lb_add(b, z, z);
    const ac_x sum = ac_lb_var(b, "sum", num(L, x, 1));
    const ac_x k = ac_lb_for(b, "k", ac_lb_i32(b, 2 * TERMS + 1), ac_lb_i32(b, 2), -2, AC_MARK_SERIAL);
    const ac_x by = ac_lb_splat(b, ac_lb_cast(b, k, AC_F64), ac_lb_lane_count(b, x));
    ac_lb_set(b, sum, ac_lo_madd(L, ac_lb_div(b, a, by), ac_lb_get(b, sum), num(L, x, 1)));
    ac_lb_end(b);
    ac_x v = ac_lb_mul(b, ac_lb_mul(b, size, ac_lo_exp64(L, ac_lb_neg(b, z))), num(L, x, 1.12837916709551257390));
    v = ac_lb_min(b, num(L, x, 1), ac_lb_mul(b, v, ac_lb_get(b, sum)));
    v = ac_lb_select(b, ac_lb_ge(b, size, num(L, x, 5.93)), num(L, x, 1), v);
    return ac_lb_select(b, ac_lb_lt(b, x, num(L, x, 0)), ac_lb_neg(b, v), v);
}

/* x = n pi/2 + r, pi/2 in three parts; n times the first is exact up to n = 2^20. */
ac_x ac_lo_sin64(ac_lower *L, ac_x x, int32_t quadrant)
{
    ac_lb *b = &L->b;
    const ac_x n = ac_lb_rint(b, ac_lb_mul(b, x, num(L, x, 0.63661977236758134308)));
    ac_x r = ac_lb_sub(b, x, ac_lb_mul(b, n, num(L, x, 1.57079632673412561417e+00)));
    r = ac_lb_sub(b, r, ac_lb_mul(b, n, num(L, x, 6.07710050630396597660e-11)));
    r = ac_lb_sub(b, r, ac_lb_mul(b, n, num(L, x, 2.02226624879595063154e-21)));
    const ac_x turn = ac_lb_sub(b, n, ac_lb_mul(b, ac_lb_floor(b, ac_lb_mul(b, n, num(L, n, 0.25))), num(L, n, 4)));
    ac_x q = ac_lb_satcast(b, turn, AC_I64);
    q = ac_lb_add_wrap(b, q, ac_lb_like_int(b, q, quadrant));
    const ac_x z = ac_lb_mul(b, r, r);
    ac_x s = num(L, x, 1), c = num(L, x, 1); /* r (1 - z/6 (1 - z/20 (..))) and 1 - z/2 (1 - z/12 (..)) */
    for (int32_t k = 18; k >= 2; k -= 2) {
        s = ac_lb_sub(b, num(L, x, 1), ac_lb_mul(b, ac_lb_mul(b, z, num(L, x, 1.0 / (k * (k + 1)))), s));
        c = ac_lb_sub(b, num(L, x, 1), ac_lb_mul(b, ac_lb_mul(b, z, num(L, x, 1.0 / (k * (k - 1)))), c));
    }
    s = ac_lb_mul(b, s, r);
    const ac_x zero = ac_lb_like_int(b, q, 0);
    const ac_x v = ac_lb_select(b, ac_lb_ne(b, ac_lb_and(b, q, ac_lb_like_int(b, q, 1)), zero), c, s);
    return ac_lb_select(b, ac_lb_ne(b, ac_lb_and(b, q, ac_lb_like_int(b, q, 2)), zero), ac_lb_neg(b, v), v);
}

/* atan u = 2 atan(u / (1 + sqrt(1 + u^2))), three times; then the series, u <= tan(pi/32). */
ac_x ac_lo_atan64(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x one = num(L, x, 1);
    ac_x u = x;
    for (int32_t i = 0; i < 3; i++)
        u = ac_lb_div(b, u, ac_lb_add(b, one, ac_lb_sqrt(b, ac_lb_add(b, one, ac_lb_mul(b, u, u)))));
    const ac_x z = ac_lb_mul(b, u, u);
    ac_x v = num(L, x, 1.0 / 21);
    for (int32_t k = 19; k >= 1; k -= 2)
        v = ac_lo_madd(L, v, z, num(L, x, (k % 4 == 1 ? 1.0 : -1.0) / k));
    return ac_lb_mul(b, ac_lb_mul(b, v, u), num(L, x, 8));
}

ac_x ac_lo_pow64(ac_lower *L, ac_x x, ac_x y)
{
    return ac_lo_exp64(L, ac_lb_mul(&L->b, y, ac_lo_log64(L, x)));
}
