/* math.c - emits float functions as primitive operations: no libm in generated code, any number of lanes.
 *
 * f32 in, f32 out; f64 is passed on to math64.c. Maximum error against double libm, in units of the last place, with
 * mul then add and with fma:
 *
 *     all floats (scripts/ulp.sh)                         exp 1.05   tanh 1.34   sigmoid 2.41   erf 2.66   log 0.85
 *                                                         expm1 of x < 0 1.04
 *     a dense sample (tests/unit/lower/test_mathfn.c)     expm1 1.6   sin, cos 1.5 (|x| <= 1e6)   pow 0.51
 *
 * exp and sigmoid are gradual in the subnormal range. NaN stays NaN, infinities give the limits; log of 0 is -inf, of a
 * negative number NaN; beyond 1e6 sin and cos lose digits but stay within -1..1. The sign of a zero result may be lost.
 *
 * Polynomials are minimax fits (Remez) of the functions named next to them; their own error is below 2^-27 unless
 * noted. */
#include "ir/lower/math64.h"

#include <math.h>

/* coef[0] + x * coef[1] + ... */
static ac_x poly(ac_lower *L, ac_x x, const double *coef, int32_t n)
{
    ac_x v = num(L, x, coef[n - 1]);
    for (int32_t i = n - 2; i >= 0; i--)
        v = ac_lo_madd(L, v, x, num(L, x, coef[i]));
    return v;
}
#define POLY(x, ...) \
    poly(L, x, (const double[]){__VA_ARGS__}, (int32_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

/* 2^(i - 127) as f32, i in 1..254; other i give some number. Only the low 9 bits of i matter. */
static ac_x power_of_two(ac_lower *L, ac_x i)
{
    ac_lb *b = &L->b;
    return ac_lb_bitcast(b, ac_lb_mul_wrap(b, i, ac_lb_like_int(b, i, 1 << 23)), AC_F32);
}

/* X = n ln 2 + r, |r| <= ln 2 / 2: e^x = 2^n (1 + y). n + bias is in the low bits of i; bits above 9 are ignored. */
typedef struct reduced {
    ac_x y, i;
} reduced;

/* Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits: no conversion that NaN could break. An even
 * bias leaves ties as they are. y = r + r^2 P(r). */
static reduced reduce_exp(ac_lower *L, ac_x x, int32_t bias)
{
    ac_lb *b = &L->b;
    const double magic = 12582912.0 + bias;
    const ac_x t = ac_lo_madd(L, x, num(L, x, 1.44269504088896340736), num(L, x, magic));
    const ac_x n = ac_lb_sub(b, t, num(L, x, magic));
    ac_x r = ac_lo_madd(L, n, num(L, x, -0.693145751953125), x);
    r = ac_lo_madd(L, n, num(L, x, -1.42860682030941723212e-6), r);
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
    return power_of_two(L, half);
}

ac_x ac_lo_exp(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    if (ac_lb_dtype(&L->b, x) == AC_F64)
        return ac_lo_exp64(L, x);
    const reduced e = reduce_exp(L, within(L, x, -104, 89), TWO_BIASES);
    ac_x rest;
    const ac_x factor = first_factor(L, e.i, &rest);
    return ac_lb_mul(b, ac_lb_mul(b, ac_lb_add(b, e.y, num(L, x, 1)), factor), power_of_two(L, rest));
}

/* 2^(n+65) is a float for all n that occur; one multiplication with 2^-65 rounds subnormal results. */
ac_x ac_lo_exp_falling(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    if (ac_lb_dtype(&L->b, x) == AC_F64)
        return ac_lo_exp64(L, x);
    const reduced e = reduce_exp(L, ac_lb_max(b, num(L, x, -104), x), 127 + 65);
    const ac_x v = ac_lb_mul(b, ac_lb_add(b, e.y, num(L, x, 1)), power_of_two(L, e.i));
    return ac_lb_mul(b, v, num(L, x, ldexp(1, -65)));
}

/* e^x - 1 = 2^b (2^a y + (2^a - 2^-b)): no cancellation near 0, since a = b = 0 there. */
ac_x ac_lo_expm1(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    if (ac_lb_dtype(&L->b, x) == AC_F64)
        return ac_lo_expm1_64(L, x);
    const reduced e = reduce_exp(L, within(L, x, -104, 89), TWO_BIASES);
    ac_x rest;
    const ac_x a = first_factor(L, e.i, &rest);
    const ac_x inverse = power_of_two(L, ac_lb_sub_wrap(b, ac_lb_like_int(b, rest, TWO_BIASES), rest));
    const ac_x v = ac_lo_madd(L, a, e.y, ac_lb_sub(b, a, inverse));
    return ac_lb_mul(b, v, power_of_two(L, rest));
}

/* x = 2^k m, sqrt(1/2) <= m < sqrt 2; log m = log(1 + f) = f - (f^2/2 - s (f^2/2 + R)), s = f / (2 + f), R = z P(z), z
 * = s^2. */
ac_x ac_lo_log(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    if (ac_lb_dtype(&L->b, x) == AC_F64)
        return ac_lo_log64(L, x);
    const ac_x tiny = ac_lb_lt(b, x, num(L, x, 1.17549435082228750797e-38));
    const ac_x scaled = ac_lb_select(b, tiny, ac_lb_mul(b, x, num(L, x, 33554432.0)), x);
    const ac_x bits = ac_lb_bitcast(b, scaled, AC_I32);
    const ac_x k =
        ac_lb_shr(b, ac_lb_sub_wrap(b, bits, ac_lb_like_int(b, bits, 0x3F3504F3)), ac_lb_like_int(b, bits, 23));
    const ac_x m =
        ac_lb_bitcast(b, ac_lb_sub_wrap(b, bits, ac_lb_mul_wrap(b, k, ac_lb_like_int(b, k, 1 << 23))), AC_F32);
    const ac_x e = ac_lb_sub(b, ac_lb_cast(b, k, AC_F32), ac_lb_select(b, tiny, num(L, x, 25), num(L, x, 0)));
    const ac_x f = ac_lb_sub(b, m, num(L, x, 1));
    const ac_x s = ac_lb_div(b, f, ac_lb_add(b, f, num(L, x, 2)));
    const ac_x z = ac_lb_mul(b, s, s);
    const ac_x r =
        ac_lb_mul(b, z, POLY(z, 0.6666666564505308, 0.40000335290608147, 0.2853730171771594, 0.23582289480009599));
    const ac_x h = ac_lb_mul(b, ac_lb_mul(b, f, f), num(L, x, 0.5));
    ac_x low = ac_lo_madd(L, s, ac_lb_add(b, h, r), ac_lb_mul(b, e, num(L, x, 1.42860682030941723212e-6)));
    low = ac_lb_sub(b, ac_lb_sub(b, h, low), f);
    ac_x v = ac_lb_sub(b, ac_lb_mul(b, e, num(L, x, 0.693145751953125)), low);
    v = ac_lb_select(b, ac_lb_eq(b, x, num(L, x, (double)HUGE_VALF)), x, v);
    v = ac_lb_select(b, ac_lb_lt(b, x, num(L, x, 0)), num(L, x, (double)NAN), v);
    v = ac_lb_select(b, ac_lb_eq(b, x, num(L, x, 0)), num(L, x, -(double)HUGE_VALF), v);
    return ac_lb_select(b, ac_lb_ne(b, x, x), x, v);
}

/* size >= 0, or NaN, with the sign of x. */
static ac_x with_sign_of(ac_lower *L, ac_x x, ac_x size)
{
    ac_lb *b = &L->b;
    const ac_x bits = ac_lb_bitcast(b, x, AC_I32);
    const ac_x sign = ac_lb_and(b, bits, ac_lb_like_int(b, bits, INT32_MIN));
    return ac_lb_bitcast(b, ac_lb_or(b, ac_lb_bitcast(b, size, AC_I32), sign), AC_F32);
}

/* |x| < 0.625: x + x z P(z), z = x^2; else 1 - 2 / (e^(2|x|) + 1) with the sign of x. */
ac_x ac_lo_tanh(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    if (ac_lb_dtype(&L->b, x) == AC_F64)
        return ac_lo_tanh64(L, x);
    const ac_x z = ac_lb_mul(b, x, x), size = ac_lb_abs(b, x);
    const ac_x p = POLY(z, -0.33333281942103832, 0.13331442216431905, -0.053739717047882815, 0.020639094284658765,
                        -0.0057049951432250195);
    const ac_x near = ac_lo_madd(L, ac_lb_mul(b, x, z), p, x);
    const ac_x e = ac_lo_exp(L, ac_lb_mul(b, ac_lb_min(b, num(L, x, 10), size), num(L, x, 2)));
    const ac_x far = ac_lb_sub(b, num(L, x, 1), ac_lb_div(b, num(L, x, 2), ac_lb_add(b, e, num(L, x, 1))));
    return ac_lb_select(b, ac_lb_lt(b, size, num(L, x, 0.625)), near, with_sign_of(L, x, far));
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
ac_x ac_lo_erf(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    if (ac_lb_dtype(&L->b, x) == AC_F64)
        return ac_lo_erf64(L, x);
    const ac_x a = ac_lb_min(b, num(L, x, 4), ac_lb_abs(b, x));
    const ac_x p = POLY(a, 5.4119631887061814e-08, -0.6366193819684706, -0.1027778304896644, 0.01915306383770396,
                        0.00016039618493910238, -0.0016670275810203097, 0.0006328369222684399, -0.00011764129070202661,
                        9.256267397010805e-06);
    const reduced e = reduce_exp(L, ac_lo_madd(L, a, num(L, x, -1.128379225730896), ac_lb_mul(b, a, p)), 127);
    const ac_x scale = power_of_two(L, e.i);
    return with_sign_of(L, x, ac_lo_madd(L, ac_lb_neg(b, scale), e.y, ac_lb_sub(b, num(L, x, 1), scale)));
}

/* x = n pi/2 + r in double: n times the first part is exact up to n = 2^20. */
static ac_x sin_from(ac_lower *L, ac_x x, int32_t quadrant)
{
    ac_lb *b = &L->b;
    const ac_x wide = ac_lb_cast(b, x, AC_F64);
    const ac_x n = ac_lb_rint(b, ac_lb_mul(b, wide, num(L, wide, 0.63661977236758134308)));
    ac_x rest = ac_lb_sub(b, wide, ac_lb_mul(b, n, num(L, wide, 1.5707963267341256)));
    rest = ac_lb_sub(b, rest, ac_lb_mul(b, n, num(L, wide, 6.0771005065061922e-11)));
    const ac_x turn = ac_lb_sub(b, n, ac_lb_mul(b, ac_lb_floor(b, ac_lb_mul(b, n, num(L, n, 0.25))), num(L, n, 4)));
    ac_x q = ac_lb_satcast(b, turn, AC_I32);
    q = ac_lb_add_wrap(b, q, ac_lb_like_int(b, q, quadrant));
    const ac_x r = within(L, ac_lb_cast(b, rest, AC_F32), -0.7854, 0.7854);
    const ac_x z = ac_lb_mul(b, r, r);
    const ac_x s = ac_lo_madd(L, ac_lb_mul(b, r, z),
                              POLY(z, -0.16666654571276437, 0.0083321583267356777, -0.00019514948848120149), r);
    const ac_x h = ac_lb_mul(b, z, num(L, z, 0.5)), w = ac_lb_sub(b, num(L, z, 1), h);
    const ac_x p = POLY(z, 0.041666645618533713, -0.0013887313052237261, 2.4432784075066076e-05);
    const ac_x lost = ac_lb_sub(b, ac_lb_sub(b, num(L, z, 1), w), h);
    const ac_x c = ac_lb_add(b, w, ac_lo_madd(L, ac_lb_mul(b, z, z), p, lost));
    const ac_x zero = ac_lb_like_int(b, q, 0);
    const ac_x v = ac_lb_select(b, ac_lb_ne(b, ac_lb_and(b, q, ac_lb_like_int(b, q, 1)), zero), c, s);
    return ac_lb_select(b, ac_lb_ne(b, ac_lb_and(b, q, ac_lb_like_int(b, q, 2)), zero), ac_lb_neg(b, v), v);
}

ac_x ac_lo_sin(ac_lower *L, ac_x x)
{
    return ac_lb_dtype(&L->b, x) == AC_F64 ? ac_lo_sin64(L, x, 0) : sin_from(L, x, 0);
}
ac_x ac_lo_cos(ac_lower *L, ac_x x)
{
    return ac_lb_dtype(&L->b, x) == AC_F64 ? ac_lo_sin64(L, x, 1) : sin_from(L, x, 1);
}

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
        wide ? ac_lo_pow64(L, size, y)
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
