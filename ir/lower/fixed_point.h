/* fixed_point.h - fixed-point numbers in 32 bits, as the integer kernels of TFLite (by way of gemmlowp) compute with
 * them.
 *
 * Qi.f has i integer and f = 31 - i fraction bits and a sign: the real number is raw / 2^f. A product of Qi and Qj is
 * Q(i+j): the high half of 2 * a * b, rounded to nearest, ties up; changing the integer bits is a rounded shift down or
 * a saturating shift up. Results are those of the reference bit for bit.
 *
 *     fx_*      on the host: for tables made when loops are built
 *     lo_fx_*   as loop code: i32 values, any lanes */
#ifndef AC_IR_LOWER_FIXED_POINT_H
#define AC_IR_LOWER_FIXED_POINT_H
#include "ir/lower/arithmetic.h"

/* a and b are not both the most negative number. */
static inline int32_t ac_fx_mul(int32_t a, int32_t b)
{
    return (int32_t)(((int64_t)a * b + (1 << 30)) >> 31);
}

/* a / 2^e, nearest, ties away from zero; 0 <= e <= 31 */
static inline int32_t ac_fx_round_shift(int32_t a, int32_t e)
{
    return e ? (int32_t)((a + ((int64_t)1 << (e - 1)) - (a < 0)) >> e) : a;
}

/* MultiplyByQuantizedMultiplier */
static inline int32_t ac_fx_requant(int32_t x, ac_multiplier q)
{
    const uint32_t wide = (uint32_t)x * (q.shift > 0 ? UINT32_C(1) << q.shift : 1);
    return ac_fx_round_shift(ac_fx_mul((int32_t)wide, q.m), q.shift < 0 ? -q.shift : 0);
}

int32_t ac_fx_exp_q5(int32_t a);                  /* e^a, a <= 0 in Q5.26 -> Q0.31 */
void ac_fx_inv_sqrt(int32_t x, ac_multiplier *q); /* 1 / sqrt(x) = q.m * 2^(q.shift - 31), x > 0 */

ac_x ac_lo_fx_mul(ac_lower *L, ac_x a, ac_x b);
ac_x ac_lo_fx_round_shift(ac_lower *L, ac_x a, int32_t e);
ac_x ac_lo_fx_round_shift_v(ac_lower *L, ac_x a, ac_x e); /* e: i32, 0..31 */
ac_x ac_lo_fx_floor_log2(ac_lower *L, ac_x v);            /* v > 0 */
/* v = (1 + f) * 2^log: 1 / (1 + f) in Q0.31; v > 0. */
ac_x ac_lo_fx_reciprocal(ac_lower *L, ac_x v, ac_x *log);
ac_x ac_lo_fx_log_q12(ac_lower *L, ac_x v); /* log v, v >= 1 in Q12.19 -> Q5.26 */
/* x >= 0; 0 counts as 1; shift as in ac_multiplier. */
void ac_lo_fx_inv_sqrt(ac_lower *L, ac_x x, ac_x *m, ac_x *shift);

#endif
