/* requant.c - requantisation of vectors: products of the even and of the odd lanes of an i32 vector, each in an i64
 * lane.
 *
 * The formula is that of quant.c. Vector registers multiply 32 x 32 -> 64 bits only where each 64-bit lane holds one
 * operand in its low half, so widening (a vector of 16 into two of 8, and back) would cost more than the arithmetic:
 *
 *     acc    | a7 | a6 | ... | a1 | a0 |          m the same
 *     even   a6 * m6 ... a0 * m0                  shifted right by 31 + e: the result is the low half
 *     odd    a7 * m7 ... a1 * m1                  shifted right by e - 1: the result is the high half
 *     y      low halves of even, high halves of odd: one blend
 *
 * Where vectors have no arithmetic 64-bit shift (AVX2), 2^63 is added before a logical one, and its remaining bits are
 * subtracted afterwards; with e == 0 they do not reach the results. Equal to the reference for every i32 accumulator
 * (tests/unit/lower/test_quant.c). */
#include "ir/lower/arithmetic.h"

enum { EVEN, ODD };

/* The low half of each i64 lane with its sign. Printers drop both shifts before a product. */
static ac_x low_half(ac_lb *b, ac_x v)
{
    const ac_x by = ac_lb_int(b, AC_I64, 32);
    return ac_lb_shr(b, ac_lb_shl(b, v, by), by);
}

static ac_x logical_shift(ac_lb *b, ac_x v, ac_x by)
{
    return ac_lb_bitcast(b, ac_lb_shr(b, ac_lb_bitcast(b, v, AC_U64), ac_lb_bitcast(b, by, AC_U64)), AC_I64);
}

/* The high half of each i64 lane, zeros above. */
static ac_x high_half(ac_lb *b, ac_x v)
{
    return logical_shift(b, v, ac_lb_like_int(b, v, 32));
}

/* An i32 vector as its even and odd lanes, in the low halves of i64 lanes; with `whole`, the lanes are not negative and
 * the high halves are zero. Constants stay constants. */
static void halves(ac_lb *b, ac_x v, bool whole, ac_x out[2])
{
    int64_t k;
    if (ac_lb_const_int(b, v, &k)) {
        out[EVEN] = out[ODD] = ac_lb_splat(b, ac_lb_int(b, AC_I64, k), ac_lb_lane_count(b, v) / 2);
        return;
    }
    const ac_x pairs = ac_lb_bitcast(b, v, AC_I64);
    out[EVEN] = whole ? ac_lb_and(b, pairs, ac_lb_like_int(b, pairs, 0xffffffff)) : pairs;
    out[ODD] = high_half(b, pairs);
}

/* 2^30 + 2^(30+e), and 2^30 for e == 0. */
static ac_x rounding(ac_lb *b, ac_x e)
{
    const ac_x half = ac_lb_like_int(b, e, 1 << 30);
    return ac_lb_or(b, ac_lb_shl(b, half, e), half);
}

bool ac_lo_requant_pairs(const ac_lower *L, int32_t lanes)
{
    return lanes >= 4 && L->target->vec_bytes > 0;
}

ac_x ac_lo_requant_right(ac_lower *L, ac_x acc, ac_x m, ac_x e, bool positive)
{
    ac_lb *b = &L->b;
    const int32_t lanes = ac_lb_lane_count(b, acc);
    const bool logical = positive || L->target->vec_bytes < 64;
    const ac_x bit31 = ac_lb_splat(b, ac_lb_int(b, AC_I64, (int64_t)1 << 31), lanes / 2);
    const ac_x top = ac_lb_like_int(b, bit31, INT64_MIN);
    int64_t known_e = 1;
    const bool no_shift = ac_lb_const_int(b, e, &known_e) && known_e == 0;
    if (positive)
        acc = ac_lb_max(b, acc, ac_lb_like_int(b, acc, 0));
    ac_x a[2], mul[2], by[2], p[2];
    halves(b, acc, false, a);
    halves(b, m, false, mul);
    halves(b, e, true, by);
    for (int i = EVEN; i <= ODD; i++) {
        ac_x round = rounding(b, by[i]);
        if (!positive && logical && !no_shift)
            round = ac_lb_add_wrap(b, round, top);
        int64_t k;
        const ac_x factor = ac_lb_const_int(b, mul[i], &k) ? mul[i] : low_half(b, mul[i]);
        p[i] = ac_lb_add_wrap(b, ac_lb_mul(b, low_half(b, a[i]), factor), round);
        if (!positive && !no_shift) /* the sign bit of acc, shifted in place, has the value 2^31 */
            p[i] = ac_lb_sub_wrap(b, p[i], ac_lb_and(b, a[i], bit31));
        ac_x shift = ac_lb_add(b, by[i], ac_lb_like_int(b, by[i], i == EVEN ? 31 : -1));
        if (i == ODD && no_shift)
            p[i] = ac_lb_add_wrap(b, p[i], p[i]);
        else
            p[i] = logical ? logical_shift(b, p[i], shift) : ac_lb_shr(b, p[i], shift);
        p[i] = ac_lb_bitcast(b, p[i], AC_I32);
    }
    int64_t pattern[64];
    for (int32_t i = 0; i < lanes; i++)
        pattern[i] = i % 2 ? lanes + i : i;
    ac_x y = ac_lb_shuffle(b, p[EVEN], p[ODD], pattern, lanes);
    if (positive || !logical || no_shift)
        return y;
    /* 2^63 >> (31 + e) */
    ac_x rest = ac_lb_shl(b, ac_lb_like_int(b, e, 1), ac_lb_sub(b, ac_lb_like_int(b, e, 32), e));
    return ac_lb_sub_wrap(b, y, rest);
}
