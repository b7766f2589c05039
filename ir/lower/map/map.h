/* map.h - the element-wise family: its loops, and functions that its expressions (ac_mp_*) share.
 *
 * A map takes storage values and returns one. Three kinds of operand types are distinguished:
 *     float       f32, f64 are computed as they are; f16, bf16 only move, select and cast
 *     plain int   integers without quantisation: two's complement, wrapping
 *     quantised   integers with a scale: TFLite's fixed-point arithmetic, bit for bit */
#ifndef AC_IR_LOWER_MAP_MAP_H
#define AC_IR_LOWER_MAP_MAP_H
#include "ir/lower/arithmetic.h"

/* A loop nest over the result with the node's map in it: the loops of every row with MAP(f). Shared dimensions are
 * merged. */
ac_lower_fn ac_lo_map;

static inline bool ac_mp_quantised(const ac_tensor *t)
{
    return t->quant && t->quant->n > 0 && ac_dtype_is_int(t->dtype);
}
static inline bool ac_mp_real(const ac_tensor *t)
{
    return t->dtype == AC_F32 || t->dtype == AC_F64;
}
/* For operators with one operand: true if it and the result are floats of one type. */
static inline bool ac_mp_real_both(const ac_node *n)
{
    return n->in[0]->dtype == n->out[0]->dtype && ac_mp_real(n->in[0]);
}
static inline bool ac_mp_plain_int(const ac_tensor *t)
{
    return ac_dtype_is_int(t->dtype) && ac_dtype_loops(t->dtype) == t->dtype && !ac_mp_quantised(t);
}

/* small_floats.c: codes of floats of 8 and 4 bits (u8) to f32 and back; f64 to f32 for a further rounding. */
ac_x ac_mp_from_minifloat(ac_lower *L, ac_dtype d, ac_x code);
ac_x ac_mp_to_minifloat(ac_lower *L, ac_dtype d, ac_x x, bool wraps, int32_t round);
ac_x ac_mp_round_odd(ac_lower *L, ac_x x);

/* byte.c: does all of ac_lo_map with one look-up in a table, if the node allows it. */
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
