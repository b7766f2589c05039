/* math_log.c - logarithms: log, log1p, softplus, asinh, acosh, atanh; f32 and f64 by the type of x.
 *
 * All come from ln(u + c), c the error of u = 1 + t. So log1p(t) keeps the digits of a small t, and each function needs
 * only its t without cancellation. */
#include "ir/lower/math_parts.h"

#include <math.h>

/* The constants of a type. x is scaled by 2^up_bits below the normal range. ln 2 is in two parts: multiples of the
 * first are exact. coef: minimax (f64: Taylor) of (ln(1 + f) - 2 s) / s^3 in z = s^2, s = f / (2 + f), |f| < 0.42. */
typedef struct form {
    ac_dtype bits;
    int32_t mantissa, up_bits, n;
    int64_t root_half; /* the bits of sqrt(1/2) */
    double tiny, ln2_high, ln2_low, coef[12];
} form;
static const form F32_FORM = {AC_I32,
                              23,
                              25,
                              4,
                              0x3F3504F3,
                              1.17549435082228750797e-38,
                              0.693145751953125,
                              1.42860682030941723212e-6,
                              {0.6666666564505308, 0.40000335290608147, 0.2853730171771594, 0.23582289480009599}};
static const form F64_FORM = {AC_I64,
                              52,
                              54,
                              12,
                              0x3FE6A09E667F3BCD,
                              0x1p-1022,
                              6.93147180369123816490e-01,
                              1.90821492927058770002e-10,
                              {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19,
                               2.0 / 21, 2.0 / 23, 2.0 / 25}};

static const form *form_of(ac_lower *L, ac_x x)
{
    return is_wide(L, x) ? &F64_FORM : &F32_FORM;
}

/* ln((u + c) / 2^less) for normal u > 0 and |c| at most half a unit of u, 0 for u >= 2^60; c, less: 0, or a value.
 *
 * u = 2^k m, sqrt(1/2) <= m < sqrt 2; ln m = ln(1 + f) = f - (f^2/2 - s (f^2/2 + z P(z))). */
static ac_x log_of(ac_lower *L, ac_x u, ac_x c, ac_x less)
{
    ac_lb *b = &L->b;
    const form *t = form_of(L, u);
    const ac_dtype d = ac_lb_dtype(b, u);
    const ac_x bits = ac_lb_bitcast(b, u, t->bits), one = ac_lb_like_int(b, bits, (int64_t)1 << t->mantissa);
    const ac_x k = ac_lb_shr(b, ac_lb_sub_wrap(b, bits, ac_lb_like_int(b, bits, t->root_half)),
                             ac_lb_like_int(b, bits, t->mantissa));
    const ac_x m = ac_lb_bitcast(b, ac_lb_sub_wrap(b, bits, ac_lb_mul_wrap(b, k, one)), d);
    const ac_x wide = ac_lb_cast(b, k, d), e = less ? ac_lb_sub(b, wide, less) : wide;
    ac_x f = ac_lb_sub(b, m, num(L, u, 1));
    if (c) { /* 2^-k */
        const int32_t bias = d == AC_F64 ? 1023 : 127;
        const ac_x i = ac_lb_sub_wrap(b, ac_lb_like_int(b, k, bias), ac_lb_min(b, k, ac_lb_like_int(b, k, 64)));
        f = ac_lo_madd(L, c, power_of_biased(b, i), f);
    }
    const ac_x s = ac_lb_div(b, f, ac_lb_add(b, f, num(L, u, 2))), z = ac_lb_mul(b, s, s);
    const ac_x r = ac_lb_mul(b, z, ac_lo_poly(L, z, t->coef, t->n));
    const ac_x h = ac_lb_mul(b, ac_lb_mul(b, f, f), num(L, u, 0.5));
    ac_x low = ac_lo_madd(L, s, ac_lb_add(b, h, r), ac_lb_mul(b, e, num(L, u, t->ln2_low)));
    low = ac_lb_sub(b, ac_lb_sub(b, h, low), f);
    return ac_lb_sub(b, ac_lb_mul(b, e, num(L, u, t->ln2_high)), low);
}

/* v = ln u, with the values at the ends. */
static ac_x with_ends(ac_lower *L, ac_x u, ac_x v)
{
    ac_lb *b = &L->b;
    v = ac_lb_select(b, ac_lb_eq(b, u, num(L, u, (double)HUGE_VALF)), u, v);
    v = ac_lb_select(b, ac_lb_lt(b, u, num(L, u, 0)), num(L, u, (double)NAN), v);
    v = ac_lb_select(b, ac_lb_eq(b, u, num(L, u, 0)), num(L, u, -(double)HUGE_VALF), v);
    return ac_lb_select(b, ac_lb_ne(b, u, u), u, v);
}

ac_x ac_lo_log(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const form *t = form_of(L, x);
    const ac_x tiny = ac_lb_lt(b, x, num(L, x, t->tiny));
    const ac_x scaled = ac_lb_select(b, tiny, ac_lb_mul(b, x, num(L, x, ldexp(1, t->up_bits))), x);
    const ac_x less = ac_lb_select(b, tiny, num(L, x, t->up_bits), num(L, x, 0));
    return with_ends(L, x, log_of(L, scaled, 0, less));
}

/* u + c = 1 + t */
static ac_pair plus_one(ac_lower *L, ac_x t)
{
    ac_lb *b = &L->b;
    const ac_x one = num(L, t, 1), more = ac_lb_max(b, one, t), less = ac_lb_min(b, one, t), u = ac_lb_add(b, one, t);
    return (ac_pair){u, ac_lb_sub(b, less, ac_lb_sub(b, u, more))};
}

ac_x ac_lo_log1p(ac_lower *L, ac_x x)
{
    const ac_pair u = plus_one(L, x);
    return with_ends(L, u.hi, log_of(L, u.hi, u.lo, 0));
}

/* max(x, 0) + log1p(e^-|x|) */
ac_x ac_lo_softplus(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x one = num(L, x, 1), e = ac_lo_exp_falling(L, ac_lb_neg(b, ac_lb_abs(b, x))), u = ac_lb_add(b, one, e);
    const ac_x v = log_of(L, u, ac_lb_sub(b, e, ac_lb_sub(b, u, one)), 0);
    return ac_lb_add(b, ac_lb_max(b, num(L, x, 0), x), v);
}

/* From 2^30 on asinh x and acosh x are ln 2x. */
enum { FAR_BITS = 30 };

/* log1p(t), for far arguments ln 2x */
static ac_x log1p_or_far(ac_lower *L, ac_x t, ac_x far, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_pair u = plus_one(L, t);
    const ac_x zero = num(L, x, 0), v = ac_lb_select(b, far, x, u.hi);
    return with_ends(L, v, log_of(L, v, ac_lb_select(b, far, zero, u.lo), ac_lb_select(b, far, num(L, x, -1), zero)));
}

/* With a = |x|: log1p(a + a^2 / (1 + sqrt(1 + a^2))) */
ac_x ac_lo_asinh(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x one = num(L, x, 1), size = ac_lb_abs(b, x), far = ac_lb_gt(b, size, num(L, x, ldexp(1, FAR_BITS)));
    const ac_x a = ac_lb_select(b, far, one, size), z = ac_lb_mul(b, a, a);
    const ac_x root = ac_lb_sqrt(b, ac_lb_add(b, one, z));
    const ac_x t = ac_lb_add(b, a, ac_lb_div(b, z, ac_lb_add(b, one, root)));
    return ac_lo_with_sign_of(L, x, log1p_or_far(L, t, far, size));
}

/* With t = x - 1: log1p(t + sqrt(t (t + 2))) */
ac_x ac_lo_acosh(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x one = num(L, x, 1), far = ac_lb_gt(b, x, num(L, x, ldexp(1, FAR_BITS)));
    const ac_x t = ac_lb_sub(b, ac_lb_select(b, far, one, x), one);
    const ac_x root = ac_lb_sqrt(b, ac_lb_mul(b, t, ac_lb_add(b, t, num(L, x, 2))));
    const ac_x v = log1p_or_far(L, ac_lb_add(b, t, root), far, x);
    return ac_lb_select(b, ac_lb_lt(b, x, one), num(L, x, (double)NAN), v);
}

/* With a = |x|: log1p(2a + 2a^2 / (1 - a)) / 2 */
ac_x ac_lo_atanh(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x one = num(L, x, 1), a = ac_lb_abs(b, x), twice = ac_lb_add(b, a, a);
    const ac_x t = ac_lb_add(b, twice, ac_lb_div(b, ac_lb_mul(b, twice, a), ac_lb_sub(b, one, a)));
    const ac_x v = ac_lb_mul(b, ac_lo_log1p(L, t), num(L, x, 0.5));
    return ac_lb_select(b, ac_lb_gt(b, a, one), num(L, x, (double)NAN), ac_lo_with_sign_of(L, x, v));
}
