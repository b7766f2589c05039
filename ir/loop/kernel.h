/* kernel.h - functions that compute one instruction over all its lanes, by operator and type.
 *
 * Lanes are stored side by side in their own type (as in a buffer); memory need not be aligned. The functions are those
 * of scalar.h in loops that C compilers vectorise. Folding runs them on constants, the evaluator on registers.
 *
 *     ac_kernel k = ac_kernel_of(AC_L_ADD, AC_F32, AC_F32);
 *     k(sum, x, y, NULL, 16);                              sum[l] = x[l] + y[l], 0 <= l < 16
 *
 * d may be exactly a, b or c when the element sizes are equal. Cost: O(lanes). Memory: none. Errors: NULL if the pair
 * of operator and types does not exist (see loop.def). */
#ifndef AC_IR_LOOP_KERNEL_H
#define AC_IR_LOOP_KERNEL_H
#include "ir/loop/loop.h"

/* n: lanes of the result; of the operand for SUMLANES and MAXLANES. */
typedef void (*ac_kernel)(void *d, const void *a, const void *b, const void *c, int32_t n);

/* `type`: the result; `from`: operand a (b for SELECT, whose a is bool with as many lanes).
 * CONST CONSTV VAR GET SET LOAD STORE SPLAT LANE SHUFFLE BITCAST and statements have no kernel: they move bytes. */
ac_kernel ac_kernel_of(ac_lop op, ac_dtype type, ac_dtype from);
/* d = a * b + c with both roundings: MUL followed by ADD. NULL for types without MUL. */
ac_kernel ac_kernel_muladd(ac_dtype type);

/* MMA for one thread: acc, four of i32 or f32 `stride` bytes apart, += its part of the warp's product (mma.c), reading
 * A's words of threads 4 g.. and B's of 8 q... type: of the elements in words: I8, F16, BF16, or F32 for tf32. Float
 * products are exact and are added one by one in order of the reduction. */
typedef struct ac_mma_words {
    uint32_t a[32][4], b[32][2]; /* of each thread */
} ac_mma_words;
void ac_mma(ac_dtype type, const ac_mma_words *w, int32_t lane, void *acc, size_t stride);

/* Converts one lane between its memory format and that of constants: int64 (U64: the same bits), or the bits of a
 * double.
 */
void ac_lane_put(ac_dtype d, void *lanes, int32_t i, int64_t k);
int64_t ac_lane_get(ac_dtype d, const void *lanes, int32_t i);

static inline size_t ac_lane_size(ac_dtype d)
{
    return (size_t)ac_dtype_size(d, 1);
}

#endif
