/* fixed_point16.c - functions of 16-bit fixed-point numbers, as the references compute them. */
#include "ir/lower/nn/fixed_point16.h"
#include "ir/lower/fixed_point.h"

enum { ONE = 32767, ONE_Q2 = 1 << 13 }; /* 1 in Q0.15 (nearest) and in Q2.13 */

static ac_x k(ac_lower *L, ac_x like, int32_t v)
{
    return ac_lb_like_int(&L->b, like, v);
}

/* A constant of the reference, given with 32 bits. */
static ac_x constant(ac_lower *L, ac_x like, int32_t v32)
{
    return k(L, like, ac_fx_round_shift(v32, 16));
}

static ac_x saturate(ac_lower *L, ac_x v)
{
    return ac_lb_clamp(&L->b, v, k(L, v, -32768), k(L, v, 32767));
}

/* Q(i) * Q(j) -> Q(i+j): the high half of 2 * x * y, rounded. */
static ac_x mul(ac_lower *L, ac_x x, ac_x y)
{
    ac_lb *b = &L->b;
    const ac_x high = ac_lb_shr(b, ac_lb_add(b, ac_lb_mul(b, x, y), k(L, x, 1 << 14)), k(L, x, 15));
    return ac_lb_min(b, high, k(L, x, 32767));
}

/* v * 2^e, saturated the way the reference does: from its threshold on. */
static ac_x up(ac_lower *L, ac_x v, int32_t e)
{
    return saturate(L, ac_lb_mul(&L->b, v, k(L, v, 1 << e)));
}

/* e^a for a in [-1/4, 0), Q0 */
static ac_x exp_quarter(ac_lower *L, ac_x a)
{
    ac_lb *b = &L->b;
    const ac_x eighth = constant(L, a, 1895147668), third = constant(L, a, 715827883); /* e^(-1/8), 1/3 */
    const ac_x x = ac_lb_add(b, a, k(L, a, 1 << 12));
    const ac_x x2 = mul(L, x, x), x3 = mul(L, x2, x), x4 = mul(L, x2, x2);
    const ac_x cubic = mul(L, ac_lb_add(b, ac_lo_fx_round_shift(L, x4, 2), x3), third);
    const ac_x rest = ac_lo_fx_round_shift(L, ac_lb_add(b, cubic, x2), 1);
    return saturate(L, ac_lb_add(b, eighth, mul(L, eighth, ac_lb_add(b, x, rest))));
}

/* e^a for a <= 0 with `bits` integer bits -> Q0: the part below 1/4 by the series, the rest bit by bit. */
static ac_x exp_negative(ac_lower *L, ac_x a, int32_t bits)
{
    static const int32_t factor[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    ac_lb *b = &L->b;
    const int32_t frac = 15 - bits;
    const ac_x quarter = k(L, a, 1 << (frac - 2));
    const ac_x part = ac_lb_sub(b, ac_lb_and(b, a, k(L, a, (1 << (frac - 2)) - 1)), quarter);
    const ac_x rest = ac_lb_sub(b, part, a);
    ac_x v = exp_quarter(L, up(L, part, bits));
    for (int32_t e = -2; e <= 4 && e < bits; e++) {
        const ac_x bit = ac_lb_and(b, rest, k(L, a, 1 << (frac + e)));
        v = ac_lb_select(b, ac_lb_ne(b, bit, k(L, a, 0)), mul(L, v, constant(L, a, factor[e + 2])), v);
    }
    if (bits > 5)
        v = ac_lb_select(b, ac_lb_lt(b, a, k(L, a, -(1 << (20 - bits)))), k(L, a, 0), v);
    return ac_lb_select(b, ac_lb_eq(b, a, k(L, a, 0)), k(L, a, ONE), v);
}

/* 2 / (1 + a) in Q2 for a in [0, 1), Q0: three Newton steps. */
static ac_x two_over_one_plus(ac_lower *L, ac_x a)
{
    ac_lb *b = &L->b;
    const ac_x half = ac_lb_shr(b, ac_lb_add(b, a, k(L, a, ONE + 1)), k(L, a, 1));
    ac_x x = ac_lb_add(b, constant(L, a, 1515870810), mul(L, half, constant(L, a, -1010580540))); /* 48/17, -32/17 */
    for (int32_t i = 0; i < 3; i++)
        x = ac_lb_add(b, x, up(L, mul(L, x, ac_lb_sub(b, k(L, a, ONE_Q2), mul(L, half, x))), 2));
    return x;
}

ac_x ac_lo_fx16_logistic(ac_lower *L, ac_x a, int32_t integer_bits)
{
    ac_lb *b = &L->b;
    const ac_x zero = k(L, a, 0);
    const ac_x e = exp_negative(L, ac_lb_neg(b, ac_lb_abs(b, a)), integer_bits);
    const ac_x v = up(L, two_over_one_plus(L, e), 1); /* half of it: one integer bit less */
    const ac_x mirrored = ac_lb_select(b, ac_lb_gt(b, a, zero), v, ac_lb_sub(b, k(L, a, ONE), v));
    return ac_lb_select(b, ac_lb_eq(b, a, zero), k(L, a, 1 << 14), mirrored);
}

ac_x ac_lo_fx16_tanh(ac_lower *L, ac_x a, int32_t integer_bits)
{
    ac_lb *b = &L->b;
    const ac_x zero = k(L, a, 0);
    const ac_x e = exp_negative(L, ac_lb_neg(b, ac_lb_abs(b, a)), integer_bits + 1); /* of 2a: the same bits */
    const ac_x v = up(L, ac_lb_sub(b, two_over_one_plus(L, e), k(L, a, ONE_Q2)), 2);
    return ac_lb_select(b, ac_lb_eq(b, a, zero), zero, ac_lb_select(b, ac_lb_lt(b, a, zero), ac_lb_neg(b, v), v));
}
