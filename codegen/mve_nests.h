/* mve_nests.h - writes a nest (codegen/nests.h) as a function of Arm's MVE (Helium), for the printers of C and of
 * objects: a `naked` function, f(a), of one text, so every compiler makes the same code of it, at every level. `a` is
 * an array of words that the function may change (ac_mve_word).
 *
 * ROWS, two rows by eight channels: pointers are in odd registers, sums in the eight even ones that vmladav can add to.
 * First the four channels 0, 2, 4, 6 of both pixels, then 1, 3, 5, 7; their sums wait in q4 to q7, are requantised
 * there, and narrowing moves weave them into sixteen bytes:
 *
 *     vldrb.8 q0, [r1], #16     vldrb.8 q1, [r3], #16     vldrb.8 q2, [r5], #16     vmladava.s8 r0, q0, q2     ...
 *     vqmovnb.s32 q4, q4        vqmovnt.s32 q4, q6        vqadd.s16 q4, q4, zero    vqmovnb.s16 q4, q4
 *
 * Constants are loaded by pairs, which separates even channels from odd ones. The moves saturate, which is the only
 * clamp. vqshrnb, vqshrnt and vqshrunb must not be used: binutils 2.40 assembles others in their place.
 *
 * SUMS widens eight bytes at a time and narrows their sums in two rounding steps, whose halves are taken off c.
 *
 * SPOTS keeps weights and constants of four channels in q1 to q7; their windows are 16 bytes of a line each. */
#ifndef AC_CODEGEN_MVE_NESTS_H
#define AC_CODEGEN_MVE_NESTS_H
#include "codegen/nests.h"
#include "ir/lower/target.h"

/* SUMS: the shift of the first narrowing, and c for it. */
int32_t ac_mve_first_shift(const ac_nest_sum *s);
int64_t ac_mve_sum_start(const ac_nest_sum *s);

/* Words of the array. In parentheses: of SPOTS. SUMS: a, b, y in the first three, then n, ma, mb, c. */
typedef enum ac_mve_word {
    AC_MVE_ROW,      /* x */
    AC_MVE_NEXT_ROW, /* x of the second row (the line of the next slot) */
    AC_MVE_WEIGHTS,
    AC_MVE_BIASES,
    AC_MVE_OUT,
    AC_MVE_NEXT_OUT, /* from y of a row to the next, and then to that of the next turn (iterations of the inner loop) */
    AC_MVE_END,      /* of the biases (iterations of the outer loop) */
    AC_MVE_ROW_STEPS, /* (bytes of x from the end of the inner loop to its next begin) */
    AC_MVE_HALF,      /* from weights after even channels back to odd ones (bytes of y from one spot to the next) */
    AC_MVE_ZERO,      /* point of y */
    AC_MVE_TURNS,     /* of the outer loop (bytes of y from the end of the inner loop to its next begin) */
    AC_MVE_ADVANCE,   /* of x in a turn, bytes */
    AC_MVE_FACTORS,   /* m */
    AC_MVE_LEFT,      /* shift of sums, if there is one */
    AC_MVE_WORDS
} ac_mve_word;

/* True if the target has a function for the nest. */
bool ac_mve_has_nest(const ac_target *t, const ac_nest *n);
const char *ac_mve_nest_name(ac_ctx *cx, const ac_loop_fn *fn,
                             const ac_nest *n); /* "rows_2x8_asm"; equal names: equal texts */
const char *ac_mve_nest_asm(ac_ctx *cx, const ac_loop_fn *fn, const ac_nest *n); /* a line for each instruction */
ac_bytes ac_mve_nest_stack(const char *function);                                /* as ac_tile_stack */
enum { AC_MVE_NEST_STACK = 128 };                                                /* the most of them */

#endif
