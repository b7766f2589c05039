/* math_binary.c - float functions of two operands: the remainder of C (fmod), and powers.
 *
 * The remainder is exact for all operands. Ordinary quotients take one division; larger ones take a branch with a long
 * division of all lanes of a vector, whose steps change nothing in lanes that do not need them. Powers of f32 are
 * computed in f64, of f64 by exp and log. */
#include "ir/lower/math_parts.h"

#include <math.h>

/* ------------------------------------------------------------------ remainder */

/* bool, one lane: true if that is true in any lane */
static ac_x any(ac_lb *b, ac_x that)
{
    return ac_lb_lane_count(b, that) == 1
               ? that
               : ac_lb_ne(b, ac_lb_maxlanes(b, ac_lb_cast(b, that, AC_I32)), ac_lb_i32(b, 0));
}

/* f64: size mod by for quotients below 2^29 and numbers of 24 bits, so that the product is exact; the quotient may have
 * been rounded up. */
static ac_x rest_of(ac_lower *L, ac_x size, ac_x by)
{
    ac_lb *b = &L->b;
    const ac_x r = ac_lb_sub(b, size, ac_lb_mul(b, ac_lb_trunc(b, ac_lb_div(b, size, by)), by));
    return ac_lb_select(b, ac_lb_lt(b, r, num(L, r, 0)), ac_lb_add(b, r, by), r);
}

/* Operands of f32 as f64. A quotient is below 2^277: ten steps of 28 bits. */
static ac_x mod32(ac_lower *L, ac_x size, ac_x by)
{
    enum { BITS = 28, STEPS = 10 };
    ac_lb *b = &L->b;
    const ac_x rest = ac_lb_var(b, "rest", size);
    ac_lb_if(b, any(b, ac_lb_gt(b, size, ac_lb_mul(b, by, num(L, by, ldexp(1, BITS))))));
    const ac_x step = ac_lb_var(b, "step", ac_lb_mul(b, by, num(L, by, ldexp(1, BITS * STEPS))));
    ac_lb_for_n(b, "k", STEPS);
    ac_lb_set(b, rest, rest_of(L, ac_lb_get(b, rest), ac_lb_get(b, step)));
    ac_lb_set(b, step, ac_lb_mul(b, ac_lb_get(b, step), num(L, by, ldexp(1, -BITS))));
    ac_lb_end(b);
    ac_lb_end(b);
    return rest_of(L, ac_lb_get(b, rest), by);
}

/* v = high + low with 26 bits each: products of halves are exact (Veltkamp). |v| < 2^990. */
static void halves(ac_lower *L, ac_x v, ac_x *high, ac_x *low)
{
    ac_lb *b = &L->b;
    const ac_x wide = ac_lb_mul(b, v, num(L, v, 134217729.0));
    *high = ac_lb_sub(b, wide, ac_lb_sub(b, wide, v));
    *low = ac_lb_sub(b, v, *high);
}

/* f64, for quotients q below 2^53 and by < 2^900: q * by is taken in two parts, so that size - q * by is exact. */
static ac_x near64(ac_lower *L, ac_x size, ac_x by, ac_x q)
{
    ac_lb *b = &L->b;
    ac_x qh, ql, yh, yl;
    halves(L, q, &qh, &ql);
    halves(L, by, &yh, &yl);
    const ac_x p = ac_lb_mul(b, q, by);
    ac_x low = ac_lb_sub(b, ac_lb_mul(b, qh, yh), p);
    low = ac_lb_add(b, low, ac_lb_mul(b, qh, yl));
    low = ac_lb_add(b, low, ac_lb_mul(b, ql, yh));
    low = ac_lb_add(b, low, ac_lb_mul(b, ql, yl));
    ac_x r = ac_lb_sub(b, ac_lb_sub(b, size, p), low);
    r = ac_lb_select(b, ac_lb_lt(b, r, num(L, r, 0)), ac_lb_add(b, r, by), r); /* the quotient was rounded up */
    return ac_lb_select(b, ac_lb_ge(b, r, by), ac_lb_sub(b, r, by), r);
}

/* f64 >= 0 as *mantissa * 2^(exponent - 1075); returns the exponent (i64). */
static ac_x split(ac_lb *b, ac_x v, ac_x *mantissa)
{
    const ac_x bits = ac_lb_bitcast(b, v, AC_I64), one = ac_lb_like_int(b, bits, 1);
    const ac_x e = ac_lb_shr(b, bits, ac_lb_like_int(b, bits, 52)), top = ac_lb_like_int(b, bits, (int64_t)1 << 52);
    const ac_x normal = ac_lb_ge(b, e, one), low = ac_lb_and(b, bits, ac_lb_sub(b, top, one));
    *mantissa = ac_lb_select(b, normal, ac_lb_or(b, low, top), low);
    return ac_lb_max(b, e, one);
}

/* f64 >= by > 0: long division of integers of 53 bits, ten bits a step, until no lane has bits left. Lanes with other
 * operands give some number. */
static ac_x far64(ac_lower *L, ac_x size, ac_x by)
{
    enum { BITS = 10, STEPS = 2046 / BITS + 1 };
    ac_lb *b = &L->b;
    ac_x m, n;
    const ac_x e = split(b, size, &m), f = split(b, by, &n), one = ac_lb_like_int(b, m, 1),
               zero = ac_lb_like_int(b, m, 0);
    n = ac_lb_max(b, n, one);
    const ac_x left = ac_lb_var(b, "left", ac_lb_max(b, ac_lb_sub(b, e, f), zero));
    const ac_x rest = ac_lb_var(b, "rest", ac_lb_sub(b, m, ac_lb_mul_wrap(b, ac_lb_div(b, m, n), n)));
    ac_lb_for_n(b, "k", STEPS);
    ac_lb_break_if(b, ac_lb_not(b, any(b, ac_lb_gt(b, ac_lb_get(b, left), zero))));
    const ac_x s = ac_lb_min(b, ac_lb_get(b, left), ac_lb_like_int(b, m, BITS));
    const ac_x v = ac_lb_shl(b, ac_lb_get(b, rest), s);
    ac_lb_set(b, rest, ac_lb_sub(b, v, ac_lb_mul_wrap(b, ac_lb_div(b, v, n), n)));
    ac_lb_set(b, left, ac_lb_sub(b, ac_lb_get(b, left), s));
    ac_lb_end(b);
    const ac_x unit = power_of_biased(b, f);
    return ac_lb_mul(b, ac_lb_mul(b, ac_lb_cast(b, ac_lb_get(b, rest), AC_F64), num(L, size, 0x1p-52)), unit);
}

static ac_x mod64(ac_lower *L, ac_x size, ac_x by)
{
    ac_lb *b = &L->b;
    const ac_x q = ac_lb_trunc(b, ac_lb_div(b, size, by)), less = ac_lb_lt(b, size, by);
    const ac_x fits = ac_lb_and(b, ac_lb_lt(b, q, num(L, q, 0x1p53)), ac_lb_lt(b, by, num(L, by, 0x1p900)));
    const ac_x done = ac_lb_or(b, fits, less), near = ac_lb_select(b, fits, near64(L, size, by, q), size);
    const ac_x rest = ac_lb_var(b, "mod", near);
    ac_lb_if(b, any(b, ac_lb_not(b, done)));
    ac_lb_set(b, rest, ac_lb_select(b, done, ac_lb_get(b, rest), far64(L, size, by)));
    ac_lb_end(b);
    return ac_lb_get(b, rest);
}

ac_x ac_lo_fmod(ac_lower *L, ac_x x, ac_x y)
{
    ac_lb *b = &L->b;
    const ac_x zero = num(L, x, 0), inf = num(L, x, HUGE_VAL), size = ac_lb_abs(b, x), by = ac_lb_abs(b, y);
    ac_x r = is_wide(L, x) ? mod64(L, size, by)
                           : ac_lb_cast(b, mod32(L, ac_lb_cast(b, size, AC_F64), ac_lb_cast(b, by, AC_F64)), AC_F32);
    r = ac_lb_select(b, ac_lb_lt(b, size, by), size, r); /* infinite y too */
    r = ac_lb_select(b, ac_lb_lt(b, x, zero), ac_lb_sub(b, zero, r), r);
    const ac_x valid = ac_lb_and(b, ac_lb_ne(b, y, zero), ac_lb_lt(b, size, inf)); /* false for NaN */
    return ac_lb_select(b, ac_lb_and(b, valid, ac_lb_eq(b, y, y)), r, num(L, x, (double)NAN));
}

/* ------------------------------------------------------------------ powers */

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
    return ac_lb_mul(b, p, power_of_biased(b, ac_lb_add_wrap(b, i, ac_lb_like_int(b, i, 1023))));
}

/* |x|^y = 2^(y log2 |x|) in double; signs and the special cases of C's pow. */
ac_x ac_lo_pow(ac_lower *L, ac_x x, ac_x y)
{
    ac_lb *b = &L->b;
    const ac_x one = num(L, x, 1), zero = num(L, x, 0), size = ac_lb_abs(b, x);
    const bool wide = is_wide(L, x);
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
