/* fixed_point.c - fixed-point arithmetic on the host (for tables) and as loop code: products, shifts, reciprocal, exp,
 * log, 1/sqrt. */
#include "ir/lower/fixed_point.h"

/* a * 2^e, saturated; 0 <= e <= 31 */
static int32_t shift_up(int32_t a, int32_t e)
{
    const int64_t v = (int64_t)a * ((int64_t)1 << e);
    return (int32_t)(v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
}

/* Series around -1/8 for the fraction of a quarter, then one factor e^-(2^k) for each bit of the whole quarters. */
int32_t ac_fx_exp_q5(int32_t a)
{
    static const int32_t factor[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int32_t quarter = 1 << 24;
    if (a == 0)
        return INT32_MAX;
    const int32_t frac = (a & (quarter - 1)) - quarter; /* in [-1/4, 0) */
    const int32_t x = shift_up(frac, 5) + (1 << 28);
    const int32_t x2 = ac_fx_mul(x, x), x3 = ac_fx_mul(x2, x), x4 = ac_fx_mul(x2, x2);
    const int32_t tail = ac_fx_round_shift(ac_fx_mul(ac_fx_round_shift(x4, 2) + x3, 715827883) + x2, 1);
    int32_t v = 1895147668 + ac_fx_mul(1895147668, x + tail); /* e^(-1/8) */
    const int32_t rest = frac - a;
    for (int32_t k = 0; k < 7; k++)
        if (rest & (quarter << k))
            v = ac_fx_mul(v, factor[k]);
    return v;
}

void ac_fx_inv_sqrt(int32_t x, ac_multiplier *q)
{
    int32_t shift = 11, v = 1 << 28; /* 1 in Q3.28 */
    *q = (ac_multiplier){INT32_MAX, 0};
    if (x <= 1)
        return;
    for (; x >= 1 << 29; x /= 4)
        shift++;
    for (; x < 1 << 27; x *= 4)
        shift--;
    const int32_t half = ac_fx_round_shift(x >> 1, 1);
    for (int32_t i = 0; i < 5; i++) {
        const int32_t cube = shift_up(ac_fx_mul(ac_fx_mul(v, v), v), 6);
        v = shift_up(ac_fx_mul((1 << 28) + (1 << 27), v) - ac_fx_mul(half, cube), 3);
    }
    v = ac_fx_mul(v, 1518500250); /* sqrt(1/2) */
    *q = (ac_multiplier){shift < 0 ? v * (1 << -shift) : v, shift < 0 ? 0 : -shift};
}

ac_x ac_lo_fx_mul(ac_lower *L, ac_x a, ac_x b)
{
    ac_lb *lb = &L->b;
    ac_x p = ac_lb_mul(lb, ac_lb_cast(lb, a, AC_I64), ac_lb_cast(lb, b, AC_I64));
    p = ac_lb_add(lb, p, ac_lb_like_int(lb, p, 1 << 30));
    return ac_lb_cast(lb, ac_lb_shr(lb, p, ac_lb_like_int(lb, p, 31)), AC_I32);
}

ac_x ac_lo_fx_round_shift(ac_lower *L, ac_x a, int32_t e)
{
    ac_lb *b = &L->b;
    if (e <= 0)
        return a;
    ac_x v = ac_lb_cast(b, a, AC_I64);
    v = ac_lb_add(b, v, ac_lb_like_int(b, v, (int64_t)1 << (e - 1)));
    v = ac_lb_add(b, v, ac_lb_cast(b, ac_lb_shr(b, a, ac_lb_like_int(b, a, 31)), AC_I64));
    return ac_lb_cast(b, ac_lb_shr(b, v, ac_lb_like_int(b, v, e)), AC_I32);
}

ac_x ac_lo_fx_round_shift_v(ac_lower *L, ac_x a, ac_x e)
{
    ac_lb *b = &L->b;
    const ac_x e64 = ac_lb_cast(b, e, AC_I64), one = ac_lb_like_int(b, e64, 1);
    ac_x v = ac_lb_cast(b, a, AC_I64);
    const ac_x half = ac_lb_shr(b, ac_lb_shl(b, one, e64), one); /* 0 for e == 0 */
    v = ac_lb_add(b, v, half);
    const ac_x sign = ac_lb_cast(b, ac_lb_shr(b, a, ac_lb_like_int(b, a, 31)), AC_I64);
    v = ac_lb_add(b, v, ac_lb_select(b, ac_lb_gt(b, e64, ac_lb_like_int(b, e64, 0)), sign, ac_lb_like_int(b, sign, 0)));
    return ac_lb_cast(b, ac_lb_shr(b, v, e64), AC_I32);
}

static ac_x shift_up_x(ac_lower *L, ac_x a, int32_t e)
{
    ac_lb *b = &L->b;
    const ac_x v = ac_lb_cast(b, a, AC_I64);
    return ac_lb_satcast(b, ac_lb_mul(b, v, ac_lb_like_int(b, v, (int64_t)1 << e)), AC_I32);
}

/* Binary search: targets need no instruction that counts zeros. */
ac_x ac_lo_fx_floor_log2(ac_lower *L, ac_x v)
{
    ac_lb *b = &L->b;
    ac_x log = ac_lb_like_int(b, v, 0);
    for (int32_t k = 16; k >= 1; k /= 2) {
        const ac_x big = ac_lb_ge(b, v, ac_lb_like_int(b, v, (int64_t)1 << k));
        log = ac_lb_add(b, log, ac_lb_select(b, big, ac_lb_like_int(b, v, k), ac_lb_like_int(b, v, 0)));
        v = ac_lb_select(b, big, ac_lb_shr(b, v, ac_lb_like_int(b, v, k)), v);
    }
    return log;
}

/* 1 / (2 d) in Q0.31, d in [1/2, 1) in Q0.31: three Newton steps for v = 1 / d in Q2.29 from 48/17 - 32/17 d. A step
 * adds v (1 - d v), less than v / 17: nothing saturates there, unlike 1 at the end. */
static ac_x half_reciprocal(ac_lower *L, ac_x d)
{
    ac_lb *b = &L->b;
    const ac_x scaled = ac_lo_fx_mul(L, d, ac_lb_like_int(b, d, -1010580540));
    const ac_x inverse = ac_lb_var(b, "inverse", ac_lb_add(b, ac_lb_like_int(b, d, 1515870810), scaled));
    ac_lb_for_n(b, "k", 3);
    const ac_x v = ac_lb_get(b, inverse);
    const ac_x rest = ac_lb_sub(b, ac_lb_like_int(b, d, 1 << 29), ac_lo_fx_mul(L, d, v));
    ac_lb_set(b, inverse, ac_lb_add(b, v, ac_lb_mul(b, ac_lo_fx_mul(L, v, rest), ac_lb_like_int(b, d, 4))));
    ac_lb_end(b);
    const ac_x most = ac_lb_min(b, ac_lb_get(b, inverse), ac_lb_like_int(b, d, 1 << 30));
    return ac_lb_add(b, ac_lb_sub(b, most, ac_lb_shr(b, most, ac_lb_like_int(b, d, 30))), most);
}

ac_x ac_lo_fx_reciprocal(ac_lower *L, ac_x v, ac_x *log)
{
    ac_lb *b = &L->b;
    *log = ac_lo_fx_floor_log2(L, v);
    return half_reciprocal(L, ac_lb_shl(b, v, ac_lb_sub(b, ac_lb_like_int(b, v, 30), *log)));
}

/* v = r * 2^k with r near sqrt(sqrt(1/2)), k a multiple of 1/2: log v = k log 2 + log(r / r0), a Pade form. Two
 * normalisations of v are tried (v, and v * sqrt(1/2)); the one with the smaller r counts. */
ac_x ac_lo_fx_log_q12(ac_lower *L, ac_x v)
{
    ac_lb *b = &L->b;
    const int32_t sqrt_half = 1518500250, root4_half = 1805811301;
    const ac_x quarter = ac_lb_like_int(b, v, 1 << 23); /* in Q6.25 */
    const ac_x clz = ac_lb_sub(b, ac_lb_like_int(b, v, 31), ac_lo_fx_floor_log2(L, v));
    const ac_x one = ac_lb_like_int(b, v, 1);
    const ac_x ra_tmp = ac_lb_shl(b, v, ac_lb_sub(b, clz, one));
    const ac_x ra = shift_up_x(L, ac_lo_fx_mul(L, ra_tmp, ac_lb_like_int(b, v, sqrt_half)), 1);
    ac_x ka = ac_lb_mul(b, ac_lb_sub(b, ac_lb_like_int(b, v, 12), clz), ac_lb_like_int(b, v, 1 << 25));
    ka = ac_lb_add(b, ka, quarter);
    const ac_x zb = ac_lo_fx_mul(L, v, ac_lb_like_int(b, v, sqrt_half));
    const ac_x room = ac_lb_sub(b, ac_lb_like_int(b, v, 30), ac_lo_fx_floor_log2(L, zb));
    const ac_x wide = ac_lb_shl(b, ac_lb_cast(b, v, AC_I64), ac_lb_cast(b, room, AC_I64));
    const ac_x rb = ac_lb_satcast(b, wide, AC_I32);
    ac_x kb = ac_lb_mul(b, ac_lb_sub(b, ac_lb_like_int(b, v, 12), room), ac_lb_like_int(b, v, 1 << 25));
    kb = ac_lb_sub(b, kb, quarter);
    const ac_x r = ac_lb_min(b, ra, rb), k = ac_lb_max(b, ka, kb);
    ac_x sum = ac_lb_add(b, ac_lb_cast(b, r, AC_I64), ac_lb_int(b, AC_I64, root4_half));
    sum = ac_lb_shr(b, ac_lb_add(b, sum, ac_lb_like_int(b, sum, 1)), ac_lb_like_int(b, sum, 1));
    const ac_x p = ac_lb_cast(b, sum, AC_I32);
    ac_x q = ac_lb_sub(b, r, ac_lb_like_int(b, r, root4_half));
    q = ac_lb_add_wrap(b, q, q);
    const ac_x q2 = ac_lo_fx_mul(L, q, q);
    const ac_x num = ac_lb_add_wrap(b, ac_lo_fx_mul(L, q, r),
                                    ac_lo_fx_mul(L, ac_lo_fx_mul(L, q, q2), ac_lb_like_int(b, q, 117049297)));
    ac_x den = ac_lb_add_wrap(b, ac_lb_add_wrap(b, ac_lb_like_int(b, q, 1057819769), q),
                              ac_lo_fx_mul(L, ac_lb_like_int(b, q, 127690142), q2));
    den = ac_lb_add_wrap(b, ac_lo_fx_mul(L, p, den), ac_lo_fx_mul(L, ac_lb_like_int(b, q, 638450708), q));
    const ac_x half = ac_lb_add(b, ac_lb_shr(b, den, one), ac_lb_like_int(b, den, 1 << 30)); /* (1 + den) / 2 */
    const ac_x inverse = half_reciprocal(L, half);
    const ac_x small = ac_lo_fx_mul(L, ac_lo_fx_round_shift(L, num, 6), inverse);
    const ac_x log = ac_lb_add_wrap(b, ac_lo_fx_mul(L, k, ac_lb_like_int(b, k, 1488522236)), small); /* Q6.25 */
    return shift_up_x(L, log, 1);
}

void ac_lo_fx_inv_sqrt(ac_lower *L, ac_x x, ac_x *m, ac_x *shift)
{
    ac_lb *b = &L->b;
    const ac_x zero = ac_lb_like_int(b, x, 0), one = ac_lb_like_int(b, x, 1);
    const ac_x v = ac_lb_max(b, x, one);
    const ac_x log = ac_lo_fx_floor_log2(L, v);
    /* Scaled by 4^n into [2^27, 2^29): up by `pairs`, or down once. */
    const ac_x large = ac_lb_ge(b, log, ac_lb_like_int(b, x, 29));
    const ac_x room = ac_lb_max(b, ac_lb_sub(b, ac_lb_like_int(b, x, 28), log), zero);
    const ac_x pairs = ac_lb_shr(b, room, one);
    ac_x in = ac_lb_shl(b, ac_lb_select(b, large, one, v), ac_lb_add(b, pairs, pairs));
    in = ac_lb_select(b, large, ac_lb_shr(b, v, ac_lb_like_int(b, x, 2)), in);
    const ac_x half = ac_lo_fx_round_shift(L, ac_lb_shr(b, in, one), 1);
    const ac_x root = ac_lb_var(b, "root", ac_lb_like_int(b, x, 1 << 28));
    ac_lb_for_n(b, "k", 5);
    const ac_x r = ac_lb_get(b, root);
    const ac_x cube = shift_up_x(L, ac_lo_fx_mul(L, ac_lo_fx_mul(L, r, r), r), 6);
    const ac_x step =
        ac_lb_sub_wrap(b, ac_lo_fx_mul(L, ac_lb_like_int(b, x, (1 << 28) + (1 << 27)), r), ac_lo_fx_mul(L, half, cube));
    ac_lb_set(b, root, shift_up_x(L, step, 3));
    ac_lb_end(b);
    const ac_x value = ac_lo_fx_mul(L, ac_lb_get(b, root), ac_lb_like_int(b, x, 1518500250)); /* sqrt(1/2) */
    const ac_x right = ac_lb_add(b, ac_lb_sub(b, ac_lb_like_int(b, x, 11), pairs), ac_lb_select(b, large, one, zero));
    const ac_x up = ac_lb_max(b, ac_lb_sub(b, zero, right), zero);
    const ac_x trivial = ac_lb_le(b, x, one);
    *m = ac_lb_select(b, trivial, ac_lb_like_int(b, x, INT32_MAX), ac_lb_mul_wrap(b, value, ac_lb_shl(b, one, up)));
    *shift = ac_lb_select(b, trivial, zero, ac_lb_sub(b, zero, ac_lb_max(b, right, zero)));
}
