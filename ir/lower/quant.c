/* quant.c - TFLite's integer arithmetic: scales as fixed-point multipliers, requantisation, clamps of activations.
 *
 * The reference (MultiplyByQuantizedMultiplier with double rounding) multiplies x * 2^left by m, keeps the high half
 * rounded to nearest (ties up), then divides by 2^e rounded to nearest (ties away from zero). Both roundings collapse
 * into one shift:
 *
 *     y = (x * m + 2^30 + 2^(30+e) - (x < 0 ? 2^31 : 0)) >> (31 + e)          e >= 1, m >= 0
 *     y = (x * m + 2^30) >> 31                                                 e == 0
 *
 * since floor(floor(a / 2^31 + c) / 2^e) nests. Equal to the reference for every i32 x (tests/unit/lower/test_quant.c
 * compares); no intermediate leaves 63 bits. The product with a left shift wraps as a 32-bit multiplication does. */
#include "ir/lower/arithmetic.h"

#include <math.h>

ac_multiplier ac_quantize_multiplier(double real)
{
    if (real == 0 || !isfinite(real))
        return (ac_multiplier){0, 0};
    int shift;
    int64_t m = llround(ldexp(frexp(real, &shift), 31)); /* ties away from zero */
    if (m == (int64_t)1 << 31) {                         /* the fraction has rounded up to 1 */
        m /= 2;
        shift++;
    }
    if (shift < -31) /* every result would be zero */
        return (ac_multiplier){0, 0};
    return (ac_multiplier){(int32_t)m, shift > 31 ? 31 : shift}; /* beyond 31 the reference is undefined */
}

bool ac_float_act_range(ac_act act, double *lo, double *hi)
{
    *lo = -HUGE_VAL;
    *hi = HUGE_VAL;
    switch (act) {
    case AC_ACT_RELU:
        *lo = 0;
        return true;
    case AC_ACT_RELU_N1_TO_1:
        *lo = -1, *hi = 1;
        return true;
    case AC_ACT_RELU6:
        *lo = 0, *hi = 6;
        return true;
    case AC_ACT_NONE:
    case AC_ACT_TANH:
    case AC_ACT_COUNT:
        break;
    }
    return false;
}

/* Rounded as the reference does it: in float, ties away from zero. */
int32_t ac_quantized_bound(double real, const ac_tensor *out)
{
    const int64_t tmin = ac_dtype_min(out->dtype), tmax = ac_dtype_max(out->dtype);
    const int64_t lo = tmin < INT32_MIN ? INT32_MIN : tmin, hi = tmax > INT32_MAX ? INT32_MAX : tmax;
    if (isinf(real))
        return (int32_t)(real < 0 ? lo : hi);
    const double stored = (double)roundf((float)real / ac_quant_scale(out)) + ac_quant_zero(out);
    return (int32_t)(stored < (double)lo ? (double)lo : stored > (double)hi ? (double)hi : stored);
}

void ac_quantized_act_range(ac_act act, const ac_tensor *out, int32_t *lo, int32_t *hi)
{
    double min, max;
    ac_float_act_range(act, &min, &max);
    *lo = ac_quantized_bound(min, out);
    *hi = ac_quantized_bound(max, out);
}

ac_x ac_lo_act(ac_lower *L, ac_x v, ac_act act)
{
    ac_lb *b = &L->b;
    double lo, hi;
    if (act == AC_ACT_TANH)
        return ac_lo_tanh(L, v);
    if (!ac_float_act_range(act, &lo, &hi))
        return v;
    v = ac_lb_max(b, ac_lb_like(b, v, lo), v); /* in this order a NaN stays NaN */
    return isinf(hi) ? v : ac_lb_min(b, ac_lb_like(b, v, hi), v);
}

/* (acc < 0 ? -2^31 : 0) as i64. */
static ac_x sign_term(ac_lb *b, ac_x acc)
{
    const ac_x mask = ac_lb_shr(b, acc, ac_lb_like_int(b, acc, 31)); /* -1 or 0 */
    return ac_lb_mul(b, ac_lb_cast(b, mask, AC_I64), ac_lb_int(b, AC_I64, (int64_t)1 << 31));
}

ac_x ac_lo_requant(ac_lower *L, ac_x acc, ac_multiplier q)
{
    ac_lb *b = &L->b;
    const int32_t e = q.shift < 0 ? -q.shift : 0;
    if (q.m == 0)
        return ac_lb_like_int(b, acc, 0);
    if (q.shift > 0)
        acc = ac_lb_mul_wrap(b, acc, ac_lb_i32(b, (int32_t)(UINT32_C(1) << q.shift)));
    if (q.m > 0 && ac_lo_requant_pairs(L, ac_lb_lane_count(b, acc)))
        return ac_lo_requant_right(L, acc, ac_lb_like_int(b, acc, q.m), ac_lb_like_int(b, acc, e), false);
    ac_x p = ac_lb_mul(b, ac_lb_cast(b, acc, AC_I64), ac_lb_int(b, AC_I64, q.m));
    if (e == 0) {
        p = ac_lb_shr(b, ac_lb_add(b, p, ac_lb_int(b, AC_I64, 1 << 30)), ac_lb_int(b, AC_I64, 31));
        return q.m == INT32_MIN ? ac_lb_satcast(b, p, AC_I32) : ac_lb_cast(b, p, AC_I32);
    }
    /* A negative product is a negative acc, or with m < 0 a positive one; the term does not change the result of a
     * product of 0. */
    const ac_x signs = q.m > 0 ? acc : ac_lb_not(b, acc);
    p = ac_lb_add(b, p, ac_lb_int(b, AC_I64, ((int64_t)1 << 30) + ((int64_t)1 << (30 + e))));
    p = ac_lb_add(b, p, sign_term(b, signs));
    return ac_lb_cast(b, ac_lb_shr(b, p, ac_lb_int(b, AC_I64, 31 + e)), AC_I32);
}

ac_requant ac_lo_requant_prepare(ac_lower *L, ac_x m, ac_x shift)
{
    ac_lb *b = &L->b;
    const ac_x zero = ac_lb_like_int(b, shift, 0);
    const ac_x e = ac_lb_cast(b, ac_lb_max(b, ac_lb_sub(b, zero, shift), zero), AC_I64);
    ac_requant q;
    q.left = ac_lb_shl(b, ac_lb_like_int(b, shift, 1), ac_lb_max(b, shift, zero));
    q.m = ac_lb_cast(b, m, AC_I64);
    /* 2^30 | 2^(30+e): if e is 0, both are the same bit, so the value is 2^30. */
    q.round = ac_lb_or(b, ac_lb_shl(b, ac_lb_like_int(b, e, 1 << 30), e), ac_lb_like_int(b, e, 1 << 30));
    q.sign = ac_lb_select(b, ac_lb_gt(b, e, ac_lb_like_int(b, e, 0)), ac_lb_like_int(b, e, (int64_t)1 << 31),
                          ac_lb_like_int(b, e, 0));
    q.shift = ac_lb_add(b, e, ac_lb_like_int(b, e, 31));
    return q;
}

ac_x ac_lo_requant_apply(ac_lower *L, ac_x acc, const ac_requant *q)
{
    ac_lb *b = &L->b;
    const ac_x x = ac_lb_mul_wrap(b, acc, q->left);
    const ac_x mask = ac_lb_cast(b, ac_lb_shr(b, x, ac_lb_like_int(b, x, 31)), AC_I64);
    ac_x p = ac_lb_add(b, ac_lb_mul(b, ac_lb_cast(b, x, AC_I64), q->m), q->round);
    p = ac_lb_sub(b, p, ac_lb_and(b, mask, q->sign));
    return ac_lb_cast(b, ac_lb_shr(b, p, q->shift), AC_I32);
}

ac_x ac_lo_requant_v(ac_lower *L, ac_x acc, ac_x m, ac_x shift)
{
    const ac_requant q = ac_lo_requant_prepare(L, m, shift);
    return ac_lo_requant_apply(L, acc, &q);
}

/* The multiplier is rounded to 15 bits, so that a 48-bit accumulator fits; one rounding, ties up. */
ac_x ac_lo_requant64(ac_lower *L, ac_x acc, ac_multiplier q)
{
    ac_lb *b = &L->b;
    const int32_t m = q.m < 0x7FFF0000 ? (q.m + (1 << 15)) >> 16 : 0x7FFF;
    const int32_t shift = 15 - q.shift;
    ac_x p = ac_lb_mul_wrap(b, acc, ac_lb_int(b, AC_I64, m));
    if (shift <= 0) /* beyond the reference's range, which ends at a left shift of 7 */
        return ac_lb_cast(b, ac_lb_shl(b, p, ac_lb_like_int(b, p, -shift)), AC_I32);
    p = ac_lb_add_wrap(b, p, ac_lb_int(b, AC_I64, (int64_t)1 << (shift - 1)));
    return ac_lb_cast(b, ac_lb_shr(b, p, ac_lb_int(b, AC_I64, shift)), AC_I32);
}

ac_x ac_lo_requant64_v(ac_lower *L, ac_x acc, ac_x m, ac_x shift)
{
    ac_lb *b = &L->b;
    const ac_x rounded = ac_lb_shr(b, ac_lb_add_wrap(b, m, ac_lb_like_int(b, m, 1 << 15)), ac_lb_like_int(b, m, 16));
    const ac_x top = ac_lb_like_int(b, m, 0x7FFF0000);
    const ac_x m15 = ac_lb_select(b, ac_lb_lt(b, m, top), rounded, ac_lb_like_int(b, m, 0x7FFF));
    const ac_x down = ac_lb_cast(b, ac_lb_sub(b, ac_lb_like_int(b, shift, 15), shift), AC_I64);
    const ac_x half = ac_lb_shl(b, ac_lb_like_int(b, down, 1), ac_lb_sub(b, down, ac_lb_like_int(b, down, 1)));
    const ac_x p = ac_lb_add_wrap(b, ac_lb_mul_wrap(b, acc, ac_lb_cast(b, m15, AC_I64)), half);
    return ac_lb_cast(b, ac_lb_shr(b, p, down), AC_I32);
}
