/* math_trig.c - sin, cos, tan, asin, acos, atan; f32 and f64 by the type of x.
 *
 * x = n pi/2 + r, computed in f64 also for f32. Up to 2^20, pi/2 in three parts is enough: products of n with the
 * first two are exact. Larger arguments are multiplied by the digits of 2/pi that matter (Payne and Hanek), in a branch
 * that a vector takes if one of its lanes needs it. */
#include "ir/lower/math_parts.h"
#include "ir/lower/lower.h"

#include <math.h>

static const double HALF_PI = 1.5707963267948966, HALF_PI_LOW = 6.123233995736766e-17;

/* The digits of 2/pi in base 2^24; the first three are before the point. */
static const int32_t TWO_BY_PI[] = {0,        0,        0,        0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd,
                                    0xc0db62, 0x95993c, 0x439041, 0xfe5163, 0xabdebb, 0xc561b7, 0x246e3a, 0x424dd2,
                                    0xe00649, 0x2eea09, 0xd1921c, 0xfe1deb, 0x1cb129, 0xa73ee8, 0x8235f5, 0x2ebb44,
                                    0x84e99c, 0x7026b4, 0x5f7e41, 0x3991d6, 0x398353, 0x39f49c, 0x845f8b, 0xbdf928,
                                    0x3b1ff8, 0x97ffde, 0x05980f, 0xef2f11, 0x8b5a0a, 0x6d1f6d, 0x367ecf, 0x27cb09,
                                    0xb74f46, 0x3f669e, 0x5fea2d, 0x7527ba, 0xc7ebe5, 0xf17b3d, 0x0739f7, 0x8a5292,
                                    0xea6bfb, 0x5fb11f, 0x8d5d08, 0x560330, 0x46fc7b, 0x6babf0, 0xcfbc20, 0x9af436};
enum { DIGITS = sizeof TWO_BY_PI / sizeof *TWO_BY_PI, BASE = 24 };

static ac_x digit_of(ac_lb *b, ac_x v)
{
    return ac_lb_and(b, v, ac_lb_like_int(b, v, (1 << BASE) - 1));
}
static ac_x carry_of(ac_lb *b, ac_x v)
{
    return ac_lb_shr(b, v, ac_lb_like_int(b, v, BASE));
}

/* word[i] = TWO_BY_PI[first + i]; first: i64, any lanes. Vectors walk over the table. */
static void pick(ac_lower *L, ac_x first, ac_x *word, int32_t n)
{
    ac_lb *b = &L->b;
    const int32_t table = ac_lo_table(L, "two_by_pi", AC_I32, DIGITS, TWO_BY_PI), lanes = ac_lb_lane_count(b, first);
    if (lanes == 1) {
        const ac_x at = ac_lb_clamp(b, ac_lb_cast(b, first, AC_I32), ac_lb_i32(b, 0), ac_lb_i32(b, DIGITS - n));
        for (int32_t i = 0; i < n; i++)
            word[i] = ac_lb_cast(b, ac_lb_load(b, table, ac_lb_add(b, at, ac_lb_i32(b, i)), 1), AC_I64);
        return;
    }
    ac_x var[16];
    for (int32_t i = 0; i < n; i++)
        var[i] = ac_lb_var(b, "word", ac_lb_like_int(b, first, 0));
    const ac_x k = ac_lb_for_n(b, "digit", DIGITS);
    const ac_x here = ac_lb_splat(b, ac_lb_cast(b, ac_lb_load(b, table, k, 1), AC_I64), lanes);
    const ac_x from = ac_lb_sub(b, ac_lb_splat(b, ac_lb_cast(b, k, AC_I64), lanes), first);
    for (int32_t i = 0; i < n; i++)
        ac_lb_set(b, var[i],
                  ac_lb_select(b, ac_lb_eq(b, from, ac_lb_like_int(b, from, i)), here, ac_lb_get(b, var[i])));
    ac_lb_end(b);
    for (int32_t i = 0; i < n; i++)
        word[i] = ac_lb_get(b, var[i]);
}

/* A number of at most 2^53 times 2^s, 0 <= s < 24, as four digits. */
static void digits_of(ac_lb *b, ac_x whole, ac_x s, ac_x digit[4])
{
    ac_x rest = whole, carry = ac_lb_like_int(b, whole, 0);
    for (int32_t i = 0; i < 3; i++) {
        const ac_x v = ac_lb_add(b, ac_lb_shl(b, digit_of(b, rest), s), carry);
        digit[i] = digit_of(b, v);
        carry = carry_of(b, v);
        rest = carry_of(b, rest);
    }
    digit[3] = carry;
}

/* |x| = n pi/2 + hi + lo for finite |x| >= 2^20; returns n (i64); only its low two bits count. */
static ac_x reduce_far(ac_lower *L, ac_x size, ac_pair *r)
{
    enum { COLUMNS = 8, WORDS = COLUMNS + 3 };
    ac_lb *b = &L->b;
    const ac_x bits = ac_lb_bitcast(b, size, AC_I64), mantissa = ac_lb_like_int(b, bits, ((int64_t)1 << 52) - 1);
    const ac_x whole = ac_lb_or(b, ac_lb_and(b, bits, mantissa), ac_lb_like_int(b, bits, (int64_t)1 << 52));
    /* |x| = whole 2^(24 k - 48 + s); 43691 / 2^20 is 1 / 24, as far as floors need it */
    const ac_x e = ac_lb_sub(b, ac_lb_shr(b, bits, ac_lb_like_int(b, bits, 52)), ac_lb_like_int(b, bits, 1075 - 48));
    const ac_x k = ac_lb_shr(b, ac_lb_mul_wrap(b, e, ac_lb_like_int(b, e, 43691)), ac_lb_like_int(b, e, 20));
    const ac_x s =
        ac_lb_and(b, ac_lb_sub(b, e, ac_lb_mul_wrap(b, k, ac_lb_like_int(b, k, BASE))), ac_lb_like_int(b, e, 31));
    ac_x digit[4], word[WORDS], column[COLUMNS];
    digits_of(b, whole, s, digit);
    pick(L, k, word, WORDS);
    for (int32_t c = 0; c < COLUMNS; c++) {
        column[c] = ac_lb_mul_wrap(b, digit[0], word[c]);
        for (int32_t i = 1; i < 4; i++)
            column[c] = ac_lb_add_wrap(b, column[c], ac_lb_mul_wrap(b, digit[i], word[c + i]));
    }
    for (int32_t c = COLUMNS - 1; c > 0; c--) {
        column[c - 1] = ac_lb_add_wrap(b, column[c - 1], carry_of(b, column[c]));
        column[c] = digit_of(b, column[c]);
    }
    /* column[0]: quarter turns, then digits of the part of one; from a half on the next turn is nearer */
    const ac_x half = ac_lb_shr(b, column[1], ac_lb_like_int(b, bits, BASE - 1));
    column[1] = ac_lb_sub_wrap(b, column[1], ac_lb_mul_wrap(b, half, ac_lb_like_int(b, half, 1 << BASE)));
    ac_x sum = 0, lost = 0;
    for (int32_t c = 1; c < 7; c += 2) {
        const ac_x two =
            ac_lb_add_wrap(b, ac_lb_mul_wrap(b, column[c], ac_lb_like_int(b, half, 1 << BASE)), column[c + 1]);
        const ac_x part = ac_lb_mul(b, ac_lb_cast(b, two, AC_F64), num(L, size, ldexp(1, -BASE * (c + 1))));
        const ac_x next = sum ? ac_lb_add(b, sum, part) : part;
        const ac_x error = sum ? ac_lb_sub(b, part, ac_lb_sub(b, next, sum)) : num(L, size, 0);
        lost = lost ? ac_lb_add(b, lost, error) : error;
        sum = next;
    }
    *r = ac_lo_product(L, sum, num(L, size, HALF_PI));
    r->lo = ac_lo_madd(L, sum, num(L, size, HALF_PI_LOW), r->lo);
    r->lo = ac_lo_madd(L, lost, num(L, size, HALF_PI), r->lo);
    return ac_lb_add_wrap(b, column[0], half);
}

/* bool, one lane: |x| >= 2^20 in any lane */
static ac_x any_far(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const bool wide = is_wide(L, x);
    const ac_x bits = ac_lb_bitcast(b, ac_lb_abs(b, x), wide ? AC_I64 : AC_I32);
    const ac_x top = ac_lb_lane_count(b, bits) > 1 ? ac_lb_maxlanes(b, bits) : bits;
    return ac_lb_ge(b, top, ac_lb_like_int(b, top, wide ? 0x4130000000000000 : 0x49800000));
}

/* x = n pi/2 + hi + lo, |hi| at most pi/4 and some units more; returns n (i64); only its low two bits count. hi and
 * lo are f64. Infinity gives NaN. Adding 1.5 * 2^52 rounds to an integer, which is then in the low bits. */
static ac_x reduce(ac_lower *L, ac_x x_own, ac_pair *r)
{
    ac_lb *b = &L->b;
    const ac_x x = is_wide(L, x_own) ? x_own : ac_lb_cast(b, x_own, AC_F64), magic = num(L, x, 6755399441055744.0);
    const ac_x t = ac_lb_add(b, ac_lb_mul(b, x, num(L, x, 0.63661977236758134308)), magic), n = ac_lb_sub(b, t, magic);
    ac_x rest = ac_lb_sub(b, x, ac_lb_mul(b, n, num(L, x, 1.57079632673412561417e+00)));
    const ac_x p = ac_lb_mul(b, n, num(L, x, 6.07710050630396597660e-11)), next = ac_lb_sub(b, rest, p);
    ac_x low = ac_lb_sub(b, ac_lb_sub(b, rest, next), p);
    low = ac_lb_sub(b, low, ac_lb_mul(b, n, num(L, x, 2.02226624879595063154e-21)));
    rest = ac_lb_add(b, next, low);
    const ac_x hi = ac_lb_var(b, "hi", rest), lo = ac_lb_var(b, "lo", ac_lb_sub(b, low, ac_lb_sub(b, rest, next)));
    const ac_x turns = ac_lb_var(b, "turns", ac_lb_bitcast(b, t, AC_I64));
    ac_lb_if(b, any_far(L, x_own));
    ac_pair far;
    const ac_x size = ac_lb_abs(b, x);
    const ac_x m = reduce_far(L, size, &far), minus = ac_lb_lt(b, x, num(L, x, 0));
    const ac_x taken = ac_lb_and(b, ac_lb_ge(b, size, num(L, x, 1048576)), ac_lb_lt(b, size, num(L, x, HUGE_VAL)));
    ac_lb_set(b, hi, ac_lb_select(b, taken, ac_lb_select(b, minus, ac_lb_neg(b, far.hi), far.hi), ac_lb_get(b, hi)));
    ac_lb_set(b, lo, ac_lb_select(b, taken, ac_lb_select(b, minus, ac_lb_neg(b, far.lo), far.lo), ac_lb_get(b, lo)));
    const ac_x back = ac_lb_sub_wrap(b, ac_lb_like_int(b, m, 0), m);
    ac_lb_set(b, turns, ac_lb_select(b, taken, ac_lb_select(b, minus, back, m), ac_lb_get(b, turns)));
    ac_lb_end(b);
    *r = (ac_pair){ac_lb_get(b, hi), ac_lb_get(b, lo)};
    return ac_lb_get(b, turns);
}

/* sin and cos of r, |r| <= pi/4, f32 */
static void both32(ac_lower *L, ac_x r, ac_x *sine, ac_x *cosine)
{
    ac_lb *b = &L->b;
    const ac_x z = ac_lb_mul(b, r, r);
    *sine = ac_lo_madd(L, ac_lb_mul(b, r, z),
                       POLY(z, -0.16666654571276437, 0.0083321583267356777, -0.00019514948848120149), r);
    const ac_x h = ac_lb_mul(b, z, num(L, z, 0.5)), w = ac_lb_sub(b, num(L, z, 1), h);
    const ac_x p = POLY(z, 0.041666645618533713, -0.0013887313052237261, 2.4432784075066076e-05);
    const ac_x lost = ac_lb_sub(b, ac_lb_sub(b, num(L, z, 1), w), h);
    *cosine = ac_lb_add(b, w, ac_lo_madd(L, ac_lb_mul(b, z, z), p, lost));
}

/* sin and cos of r.hi + r.lo, |r| <= pi/4, f64: Taylor series, their first terms apart */
static void both64(ac_lower *L, ac_pair r, ac_x *sine, ac_x *cosine)
{
    ac_lb *b = &L->b;
    const ac_x z = ac_lb_mul(b, r.hi, r.hi), one = num(L, z, 1), half = ac_lb_mul(b, z, num(L, z, 0.5));
    const ac_x w = ac_lb_sub(b, one, half);
    double s = 121645100408832000, c = 2432902008176640000; /* 19!, 20! */
    ac_x p = num(L, z, -1 / s), q = num(L, z, 1 / c);
    for (int32_t k = 19; k > 3; k -= 2) {
        s /= k * (k - 1);
        c /= (k + 1) * k;
        p = ac_lo_madd(L, p, z, num(L, z, (k % 4 == 3 ? 1 : -1) / s));
        q = ac_lo_madd(L, q, z, num(L, z, (k % 4 == 3 ? -1 : 1) / c));
    }
    *sine = ac_lb_add(b, r.hi, ac_lo_madd(L, ac_lb_mul(b, z, r.hi), p, ac_lb_mul(b, r.lo, w)));
    ac_x lost = ac_lb_sub(b, ac_lb_sub(b, one, w), half);
    lost = ac_lb_sub(b, lost, ac_lb_mul(b, r.hi, r.lo));
    *cosine = ac_lb_add(b, w, ac_lo_madd(L, ac_lb_mul(b, z, z), q, lost));
}

void ac_lo_near_zero(ac_lower *L, ac_x r, ac_x *sine, ac_x *cosine)
{
    if (is_wide(L, r))
        both64(L, (ac_pair){r, num(L, r, 0)}, sine, cosine);
    else
        both32(L, r, sine, cosine);
}

/* sin and cos of the rest, and whether the number of quarter turns, and `more` of them, is odd and has bit 1 set */
static void turned(ac_lower *L, ac_x x, int32_t more, ac_x *sine, ac_x *cosine, ac_x *odd, ac_x *beyond)
{
    ac_lb *b = &L->b;
    const bool wide = is_wide(L, x);
    ac_pair r;
    ac_x n = reduce(L, x, &r);
    n = wide ? n : ac_lb_cast(b, n, AC_I32);
    n = ac_lb_add_wrap(b, n, ac_lb_like_int(b, n, more));
    if (wide)
        both64(L, r, sine, cosine);
    else
        both32(L, ac_lb_cast(b, r.hi, AC_F32), sine, cosine);
    const ac_x zero = ac_lb_like_int(b, n, 0);
    *odd = ac_lb_ne(b, ac_lb_and(b, n, ac_lb_like_int(b, n, 1)), zero);
    *beyond = ac_lb_ne(b, ac_lb_and(b, n, ac_lb_like_int(b, n, 2)), zero);
}

static ac_x sine_after(ac_lower *L, ac_x x, int32_t turns)
{
    ac_lb *b = &L->b;
    ac_x s, c, odd, beyond;
    turned(L, x, turns, &s, &c, &odd, &beyond);
    const ac_x v = ac_lb_select(b, odd, c, s);
    return ac_lb_select(b, beyond, ac_lb_neg(b, v), v);
}

ac_x ac_lo_sin(ac_lower *L, ac_x x)
{
    return sine_after(L, x, 0);
}
ac_x ac_lo_cos(ac_lower *L, ac_x x)
{
    return sine_after(L, x, 1);
}

/* s / c, or -c / s */
ac_x ac_lo_tan(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    ac_x s, c, odd, beyond;
    turned(L, x, 0, &s, &c, &odd, &beyond);
    return ac_lb_div(b, ac_lb_select(b, odd, ac_lb_neg(b, c), s), ac_lb_select(b, odd, s, c));
}

/* asin u = u + u z P(z), z = u^2 <= 1/4 */
static ac_x asin_part(ac_lower *L, ac_x z)
{
    return is_wide(L, z) ? POLY(z, 0.16666666666666738, 0.074999999999755322, 0.044642857170856754,
                                0.030381942863960199, 0.022372211071167861, 0.01735167578847807, 0.013980118079932633,
                                0.011404248467321645, 0.010752253017069032, 0.0038060920557805188, 0.021477552368909034,
                                -0.020689210717527055, 0.032443321292056072)
                         : POLY(z, 0.16666660340567014, 0.075004881563002873, 0.044519523561214579,
                                0.031789029887226133, 0.01450185978041032, 0.037435501473442035);
}

/* a pi/2 in two parts: the first, in the type of x, is returned; the rest is in *low. */
static ac_x part_of_pi(ac_lower *L, ac_x x, double a, ac_x *low)
{
    const double high = a * HALF_PI;
    *low = num(L, x, is_wide(L, x) ? a * HALF_PI_LOW : high - (double)(float)high);
    return num(L, x, high);
}

/* |x| <= 1/2: asin x; else with u = sqrt((1 - |x|) / 2), asin |x| = pi/2 - 2 asin u. *u: x or u; *v: u z P(z). */
static ac_x asin_parts(ac_lower *L, ac_x x, ac_x *u, ac_x *v)
{
    ac_lb *b = &L->b;
    const ac_x size = ac_lb_abs(b, x), near = ac_lb_le(b, size, num(L, x, 0.5));
    const ac_x half = ac_lb_mul(b, ac_lb_sub(b, num(L, x, 1), size), num(L, x, 0.5));
    const ac_x z = ac_lb_select(b, near, ac_lb_mul(b, x, x), half);
    *u = ac_lb_select(b, near, x, ac_lb_sqrt(b, z));
    *v = ac_lb_mul(b, ac_lb_mul(b, *u, z), asin_part(L, z));
    return near;
}

ac_x ac_lo_asin(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    ac_x u, v, low;
    const ac_x near = asin_parts(L, x, &u, &v), pi = part_of_pi(L, x, 1, &low), two = num(L, x, 2);
    const ac_x far = ac_lb_sub(b, pi, ac_lb_sub(b, ac_lb_mul(b, two, ac_lb_add(b, u, v)), low));
    return ac_lb_select(b, near, ac_lb_add(b, u, v), ac_lo_with_sign_of(L, x, far));
}

/* pi/2 - asin x; above 1/2: 2 asin u; below -1/2: pi - 2 asin u */
ac_x ac_lo_acos(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    ac_x u, v, low, low2;
    const ac_x near = asin_parts(L, x, &u, &v), half = part_of_pi(L, x, 1, &low), pi = part_of_pi(L, x, 2, &low2);
    const ac_x middle = ac_lb_sub(b, half, ac_lb_add(b, u, ac_lb_sub(b, v, low)));
    const ac_x twice = ac_lb_mul(b, num(L, x, 2), ac_lb_add(b, u, v));
    const ac_x minus = ac_lb_sub(b, pi, ac_lb_sub(b, twice, low2));
    return ac_lb_select(b, near, middle, ac_lb_select(b, ac_lb_lt(b, x, num(L, x, 0)), minus, twice));
}

/* With a = |x|: above tan(3 pi/8) pi/2 + atan(-1 / a), above tan(pi/8) pi/4 + atan((a - 1) / (a + 1)); atan u = u + u z
 * P(z), z = u^2 <= tan^2(pi/8). */
ac_x ac_lo_atan(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x a = ac_lb_abs(b, x), one = num(L, x, 1), zero = num(L, x, 0);
    const ac_x top = ac_lb_gt(b, a, num(L, x, 2.41421356237309505)),
               middle = ac_lb_gt(b, a, num(L, x, 0.41421356237309505));
    ac_x low1, low2;
    const ac_x quarter = part_of_pi(L, x, 0.5, &low1), half = part_of_pi(L, x, 1, &low2);
    const ac_x over = ac_lb_select(b, top, num(L, x, -1), ac_lb_select(b, middle, ac_lb_sub(b, a, one), a));
    const ac_x under = ac_lb_select(b, top, a, ac_lb_select(b, middle, ac_lb_add(b, a, one), one));
    const ac_x u = ac_lb_div(b, over, under), z = ac_lb_mul(b, u, u);
    const ac_x p = is_wide(L, x)
                       ? POLY(z, -0.33333333333333329, 0.19999999999998101, -0.14285714285430839, 0.11111111090389559,
                              -0.090909082128290025, 0.076922841119138496, -0.066662445842136259, 0.058771797370794194,
                              -0.052193347936796061, 0.045070443735540079, -0.033550219437837155, 0.015267283015552374)
                       : POLY(z, -0.33333316112681183, 0.19998515081692375, -0.1424421537056035, 0.10598172364236301,
                              -0.060880292675025327);
    const ac_x low = ac_lb_select(b, top, low2, ac_lb_select(b, middle, low1, zero));
    const ac_x base = ac_lb_select(b, top, half, ac_lb_select(b, middle, quarter, zero));
    const ac_x v = ac_lb_add(b, u, ac_lo_madd(L, ac_lb_mul(b, u, z), p, low));
    return ac_lo_with_sign_of(L, x, ac_lb_add(b, base, v));
}
