/* math.c - exp, expm1, tanh, sigmoid and erf as primitive operations: no libm in generated code, any number of lanes.
 *
 * f32 in, f32 out; f64 is passed on to math64.c. docs/numerics.md has the errors of all functions. exp and sigmoid are
 * gradual in the subnormal range. NaN stays NaN, infinities give the limits. The sign of a zero result may be lost.
 *
 * Polynomials are minimax fits (Remez) of the functions named next to them; their own error is below 2^-27 unless
 * noted. */
#include "ir/lower/math64.h"

#include <math.h>

/* ------------------------------------------------------------------ parts (math_parts.h) */

ac_x ac_lo_poly(ac_lower *L, ac_x x, const double *coef, int32_t n)
{
    ac_x v = num(L, x, coef[n - 1]);
    for (int32_t i = n - 2; i >= 0; i--)
        v = ac_lo_madd(L, v, x, num(L, x, coef[i]));
    return v;
}

ac_x ac_lo_with_sign_of(ac_lower *L, ac_x x, ac_x size)
{
    ac_lb *b = &L->b;
    const ac_dtype d = ac_lb_dtype(b, x), whole = d == AC_F64 ? AC_I64 : AC_I32;
    const ac_x bits = ac_lb_bitcast(b, x, whole);
    const ac_x sign = ac_lb_and(b, bits, ac_lb_like_int(b, bits, d == AC_F64 ? INT64_MIN : INT32_MIN));
    return ac_lb_bitcast(b, ac_lb_or(b, ac_lb_bitcast(b, size, whole), sign), d);
}

/* The upper half of the digits of v; the rest of v is exact. */
static ac_x upper_half(ac_lower *L, ac_x v)
{
    ac_lb *b = &L->b;
    const ac_dtype d = ac_lb_dtype(b, v);
    const ac_x bits = ac_lb_bitcast(b, v, d == AC_F64 ? AC_I64 : AC_I32);
    return ac_lb_bitcast(b, ac_lb_and(b, bits, ac_lb_like_int(b, bits, d == AC_F64 ? -(1 << 27) : -(1 << 12))), d);
}

ac_pair ac_lo_product(ac_lower *L, ac_x x, ac_x y)
{
    ac_lb *b = &L->b;
    const ac_x p = ac_lb_mul(b, x, y);
    if (L->target->fma && !L->exact)
        return (ac_pair){p, ac_lb_fma(b, x, y, ac_lb_neg(b, p))};
    const ac_x xh = upper_half(L, x), yh = upper_half(L, y), xl = ac_lb_sub(b, x, xh), yl = ac_lb_sub(b, y, yh);
    ac_x lo = ac_lb_sub(b, ac_lb_mul(b, xh, yh), p);
    lo = ac_lb_add(b, ac_lb_add(b, lo, ac_lb_mul(b, xh, yl)), ac_lb_mul(b, xl, yh));
    return (ac_pair){p, ac_lb_add(b, lo, ac_lb_mul(b, xl, yl))};
}

/* ------------------------------------------------------------------ functions */

/* x + lo = n ln 2 + r, |r| <= ln 2 / 2 (lo 0: none): e^x = 2^n (1 + y). n + bias is in the low bits of i;
 * bits above 9 are ignored. */
typedef struct reduced {
    ac_x y, i;
} reduced;

/* Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits: no conversion that NaN could break. An even
 * bias leaves ties as they are. y = r + r^2 P(r). */
static reduced reduce_exp(ac_lower *L, ac_x x, ac_x lo, int32_t bias)
{
    ac_lb *b = &L->b;
    const double magic = 12582912.0 + bias;
    const ac_x t = ac_lo_madd(L, x, num(L, x, 1.44269504088896340736), num(L, x, magic));
    const ac_x n = ac_lb_sub(b, t, num(L, x, magic));
    ac_x r = ac_lo_madd(L, n, num(L, x, -0.693145751953125), x);
    r = ac_lo_madd(L, n, num(L, x, -1.42860682030941723212e-6), r);
    r = lo ? ac_lb_add(b, r, lo) : r;
    const ac_x p = POLY(r, 0.50000000949120593, 0.166665188999369, 0.041666206516704898, 0.0083688822035228698,
                        0.0013950449658526353);
    return (reduced){ac_lo_madd(L, ac_lb_mul(b, r, r), p, r), ac_lb_bitcast(b, t, AC_I32)};
}

/* 2^n comes in two factors, 2^a and 2^(n-a), so that both ends of the range are reached. *rest: n - a + 127. */
enum { TWO_BIASES = 254 };
static ac_x first_factor(ac_lower *L, ac_x i, ac_x *rest)
{
    ac_lb *b = &L->b;
    const ac_x half = ac_lb_shr(b, i, ac_lb_like_int(b, i, 1));
    *rest = ac_lb_sub_wrap(b, i, half);
    return power_of_biased(b, half);
}

/* e^x / 2^less; from x = most on it is infinite. */
static ac_x exp_by(ac_lower *L, ac_x x, double most, int32_t less)
{
    ac_lb *b = &L->b;
    const reduced e = reduce_exp(L, within(L, x, -104, most), 0, TWO_BIASES - less);
    ac_x rest;
    const ac_x factor = first_factor(L, e.i, &rest);
    return ac_lb_mul(b, ac_lb_mul(b, ac_lb_add(b, e.y, num(L, x, 1)), factor), power_of_biased(b, rest));
}

ac_x ac_lo_exp(ac_lower *L, ac_x x)
{
    return is_wide(L, x) ? ac_lo_exp64(L, x, 0) : exp_by(L, x, 89, 0);
}

ac_x ac_lo_exp_half(ac_lower *L, ac_x x)
{
    return is_wide(L, x) ? ac_lo_exp64(L, x, 1) : exp_by(L, x, 90, 1);
}

ac_x ac_lo_exp_scaled(ac_lower *L, ac_x x, ac_x lo, ac_x v, int32_t shift)
{
    ac_lb *b = &L->b;
    if (is_wide(L, x))
        return ac_lo_exp_scaled64(L, x, lo, v, shift);
    const reduced e = reduce_exp(L, x, lo, 127 + shift);
    return ac_lb_mul(b, ac_lo_madd(L, v, e.y, v), power_of_biased(b, e.i));
}

/* 2^(n+65) is a float for all n that occur; one multiplication with 2^-65 rounds subnormal results. */
ac_x ac_lo_exp_falling(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    if (is_wide(L, x))
        return ac_lo_exp64(L, x, 0);
    const reduced e = reduce_exp(L, ac_lb_max(b, num(L, x, -104), x), 0, 127 + 65);
    const ac_x v = ac_lb_mul(b, ac_lb_add(b, e.y, num(L, x, 1)), power_of_biased(b, e.i));
    return ac_lb_mul(b, v, num(L, x, ldexp(1, -65)));
}

/* e^x - 1 = 2^b (2^a y + (2^a - 2^-b)): no cancellation near 0, since a = b = 0 there. */
ac_x ac_lo_expm1(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    if (is_wide(L, x))
        return ac_lo_expm1_64(L, x);
    const reduced e = reduce_exp(L, within(L, x, -104, 89), 0, TWO_BIASES);
    ac_x rest;
    const ac_x a = first_factor(L, e.i, &rest);
    const ac_x inverse = power_of_biased(b, ac_lb_sub_wrap(b, ac_lb_like_int(b, rest, TWO_BIASES), rest));
    const ac_x v = ac_lo_madd(L, a, e.y, ac_lb_sub(b, a, inverse));
    return ac_lb_mul(b, v, power_of_biased(b, rest));
}

/* |x| < 0.625: x + x z P(z), z = x^2; else 1 - 2 / (e^(2|x|) + 1) with the sign of x. */
ac_x ac_lo_tanh(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    if (is_wide(L, x))
        return ac_lo_tanh64(L, x);
    const ac_x z = ac_lb_mul(b, x, x), size = ac_lb_abs(b, x);
    const ac_x p = POLY(z, -0.33333281942103832, 0.13331442216431905, -0.053739717047882815, 0.020639094284658765,
                        -0.0057049951432250195);
    const ac_x near = ac_lo_madd(L, ac_lb_mul(b, x, z), p, x);
    const ac_x e = ac_lo_exp(L, ac_lb_mul(b, ac_lb_min(b, num(L, x, 10), size), num(L, x, 2)));
    const ac_x far = ac_lb_sub(b, num(L, x, 1), ac_lb_div(b, num(L, x, 2), ac_lb_add(b, e, num(L, x, 1))));
    return ac_lb_select(b, ac_lb_lt(b, size, num(L, x, 0.625)), near, ac_lo_with_sign_of(L, x, far));
}

/* 1 / (1 + e^-|x|), for negative x times e^-|x|: nothing overflows, and the tail keeps its digits. */
ac_x ac_lo_sigmoid(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x e = ac_lo_exp_falling(L, ac_lb_neg(b, ac_lb_abs(b, x)));
    const ac_x top = ac_lb_select(b, ac_lb_lt(b, x, num(L, x, 0)), e, num(L, x, 1));
    return ac_lb_div(b, top, ac_lb_add(b, e, num(L, x, 1)));
}

/* q = |x| Q(|x|), near log erfc |x|: erf |x| = 1 - e^q = (1 - 2^n) - 2^n y, which cancels nothing near 0, where n = 0.
 * 1 from 4 on. Q fits the relative error of the result; its first coefficient comes in two parts. */
ac_x ac_lo_erf32(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x a = ac_lb_min(b, num(L, x, 4), ac_lb_abs(b, x));
    const ac_x p = POLY(a, 5.4119631887061814e-08, -0.6366193819684706, -0.1027778304896644, 0.01915306383770396,
                        0.00016039618493910238, -0.0016670275810203097, 0.0006328369222684399, -0.00011764129070202661,
                        9.256267397010805e-06);
    const reduced e = reduce_exp(L, ac_lo_madd(L, a, num(L, x, -1.128379225730896), ac_lb_mul(b, a, p)), 0, 127);
    const ac_x scale = power_of_biased(b, e.i);
    return ac_lo_with_sign_of(L, x, ac_lo_madd(L, ac_lb_neg(b, scale), e.y, ac_lb_sub(b, num(L, x, 1), scale)));
}
