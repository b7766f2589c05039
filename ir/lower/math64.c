/* math64.c - exp, expm1 and tanh in f64. Taylor series after range reduction: simple, and not optimised for
 * speed. */
#include "ir/lower/math64.h"

#include <math.h>

/* 2^i, i in -1022..1023 */
static ac_x power_of_two(ac_lower *L, ac_x i)
{
    ac_lb *b = &L->b;
    return power_of_biased(b, ac_lb_add_wrap(b, i, ac_lb_like_int(b, i, 1023)));
}

/* x + lo = n ln 2 + r (lo 0: none): e^(x + lo) = 2^a 2^b (1 + y), a + b = n */
typedef struct reduced {
    ac_x y, a, b;
} reduced;

/* y = r + r^2 (1/2! + r/3! + .. r^11/13!), |r| <= ln 2 / 2: the rest is below 2^-57. */
static reduced reduce_exp(ac_lower *L, ac_x x, ac_x lo)
{
    ac_lb *b = &L->b;
    const ac_x t = ac_lb_add(b, ac_lb_mul(b, x, num(L, x, 1.44269504088896340736)), num(L, x, 6755399441055744.0));
    const ac_x n = ac_lb_sub(b, t, num(L, x, 6755399441055744.0)), bits = ac_lb_bitcast(b, t, AC_I64);
    const ac_x i = ac_lb_sub_wrap(b, bits, ac_lb_like_int(b, bits, 0x4338000000000000));
    ac_x r =
        ac_lb_sub(b, x, ac_lb_mul(b, n, num(L, x, 6.93147180369123816490e-01))); /* 32 bits of ln 2, and the rest */
    r = ac_lb_sub(b, r, ac_lb_mul(b, n, num(L, x, 1.90821492927058770002e-10)));
    r = lo ? ac_lb_add(b, r, lo) : r;
    double factor = 6227020800; /* 13! */
    ac_x p = num(L, x, 1 / factor);
    for (int32_t k = 13; k > 2; k--)
        p = ac_lo_madd(L, p, r, num(L, x, 1 / (factor /= k)));
    const ac_x half = ac_lb_shr(b, i, ac_lb_like_int(b, i, 1));
    return (reduced){ac_lo_madd(L, ac_lb_mul(b, r, r), p, r), half, ac_lb_sub_wrap(b, i, half)};
}

ac_x ac_lo_exp64(ac_lower *L, ac_x x, int32_t less)
{
    ac_lb *b = &L->b;
    const reduced e = reduce_exp(L, within(L, x, -746, 712), 0);
    const ac_x v = ac_lb_mul(b, ac_lb_add(b, e.y, num(L, x, 1)), power_of_two(L, e.a));
    return ac_lb_mul(b, v, power_of_two(L, ac_lb_sub_wrap(b, e.b, ac_lb_like_int(b, e.b, less))));
}

ac_x ac_lo_exp_scaled64(ac_lower *L, ac_x x, ac_x lo, ac_x v, int32_t shift)
{
    ac_lb *b = &L->b;
    const reduced e = reduce_exp(L, x, lo);
    const ac_x n = ac_lb_add_wrap(b, ac_lb_add_wrap(b, e.a, e.b), ac_lb_like_int(b, e.a, shift));
    return ac_lb_mul(b, ac_lo_madd(L, v, e.y, v), power_of_two(L, n));
}

ac_x ac_lo_expm1_64(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const reduced e = reduce_exp(L, within(L, x, -746, 712), 0);
    const ac_x a = power_of_two(L, e.a);
    const ac_x inverse = power_of_two(L, ac_lb_sub_wrap(b, ac_lb_like_int(b, e.b, 0), e.b));
    return ac_lb_mul(b, ac_lo_madd(L, a, e.y, ac_lb_sub(b, a, inverse)), power_of_two(L, e.b));
}

/* (e^2|x| - 1) / (e^2|x| + 1) with the sign of x. */
ac_x ac_lo_tanh64(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x size = ac_lb_min(b, num(L, x, 22), ac_lb_abs(b, x));
    const ac_x e = ac_lo_expm1_64(L, ac_lb_add(b, size, size)), v = ac_lb_div(b, e, ac_lb_add(b, e, num(L, x, 2)));
    return ac_lb_select(b, ac_lb_lt(b, x, num(L, x, 0)), ac_lb_neg(b, v), v);
}
