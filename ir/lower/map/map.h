/* map.h - private to the element-wise family and the epilogue: loading at a flat position, and what the mp_* share.
 *
 * A map gets storage values and returns one. Three kinds of operand types are told apart:
 *     float       f32, f64 are computed as they are; f16, bf16 only move, select and cast
 *     plain int   integers without quantisation: two's complement, wrapping
 *     quantised   integers with a scale: TFLite's fixed-point arithmetic, bit for bit */
#ifndef AC_IR_LOWER_MAP_MAP_H
#define AC_IR_LOWER_MAP_MAP_H
#include "ir/lower/lower.h"

/* Element(s) of t at `flat`: `lanes` consecutive ones (along), or one, splat. Uniform constants become immediates. */
ac_x ac_lo_load_at(ac_lower *L, ac_tensor *t, ac_x flat, bool along, int32_t lanes);

typedef ac_x ac_lo_loader(ac_lower *L, ac_tensor *t, const void *at, int32_t lanes);
/* The followers of L->node on `value`; `load` reads their other operands at the position `at`. 0: a follower refused.
 */
ac_x ac_lo_epilogue(ac_lower *L, ac_x value, ac_lo_loader *load, const void *at, int32_t lanes);

/* Operands of a map: its inputs and, behind them, what a per-channel scale needs: QUANTIZE and DEQUANTIZE with a scale
 * for each index of an axis get scales (f32) and zero points (i32) as inputs 1 and 2, constants made from the
 * quantisation. At most 4. */
int32_t ac_mp_operands(ac_lower *L, const ac_node *n, ac_tensor *list[4]);

static inline bool ac_mp_quantised(const ac_tensor *t)
{
    return t->quant && t->quant->n > 0 && ac_dtype_is_int(t->dtype);
}
static inline bool ac_mp_real(const ac_tensor *t)
{
    return t->dtype == AC_F32 || t->dtype == AC_F64;
}
static inline bool ac_mp_plain_int(const ac_tensor *t)
{
    return ac_dtype_is_int(t->dtype) && ac_dtype_loops(t->dtype) == t->dtype && !ac_mp_quantised(t);
}

/* small_floats.c: codes of floats of 8 and 4 bits (u8) to f32 and back; f64 to f32 for a further rounding. */
ac_x ac_mp_from_minifloat(ac_lower *L, ac_dtype d, ac_x code);
ac_x ac_mp_to_minifloat(ac_lower *L, ac_dtype d, ac_x x, bool wraps, int32_t round);
ac_x ac_mp_round_odd(ac_lower *L, ac_x x);

/* byte.c: the whole of ac_lo_map as one look-up in a table, where the node allows it. */
bool ac_mp_byte_table(ac_lower *L);

/* "'add_3' (add): f16 is not supported" and so on; returns 0. */
ac_x ac_mp_refuse(ac_lower *L, const ac_node *n);
/* i32: stored value minus zero point. */
ac_x ac_mp_centered(ac_lower *L, ac_x stored, const ac_tensor *t);
/* i32 in units of t's scale -> stored value: plus zero point, clamped to lo..hi. */
ac_x ac_mp_stored(ac_lower *L, ac_x v, const ac_tensor *t, int32_t lo, int32_t hi);
/* The same with the whole range of the type. */
ac_x ac_mp_stored_full(ac_lower *L, ac_x v, const ac_tensor *t);
/* round(v), half away from zero. */
ac_x ac_mp_round_away(ac_lower *L, ac_x v);

#endif
