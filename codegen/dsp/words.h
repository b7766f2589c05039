/* words.h - writes TILE WORDS (ir/loop/tiles.h), and all channels of its rows (codegen/dsp/rows.h), as instructions of
 * RISC-V: bodies of naked functions, so every compiler makes the same code of them, at every level.
 *
 * A word is a + 65536 b, the bytes of two pixels. For two taps and a channel
 *
 *     mul t4, t0, a2     mul t5, t1, a3     add t4, t4, t5      T = A + 65536 B, |A| < 2^15: exact
 *     add s0, s0, t4     add t4, t4, t6     srai t4, t4, 16     t6: 2^15
 *     add s8, s8, t4
 *
 * so s8 is the sum of b, and s0 - 65536 s8 that of a. Four pixels by four channels are sixteen sums, in s0 - s11 and
 * a4 - a7: 34 instructions for 16 products. No branch depends on data. */
#ifndef AC_CODEGEN_DSP_WORDS_H
#define AC_CODEGEN_DSP_WORDS_H
#include "codegen/dsp/rows.h"
#include "codegen/tile_asm.h"
#include "ir/lower/target.h"

/* True if there is such a text for the tile on the target. */
bool ac_words_has(const ac_target *t, const ac_tile *tile);
const char *ac_words_name(ac_ctx *cx, const ac_tile *tile); /* "tile_words_4x4" */
const char *ac_words_asm(ac_ctx *cx, const ac_tile *tile);  /* f(x, w, steps, acc) */
enum { AC_WORDS_STACK = 64 };

/* ac_rows_find finds
 *
 *     for oc step 4:  tile words 4 x 4;  for c in 0 .. 4, for r in begin .. end:  out[first + r * pitch + oc + c] = ..
 *
 * PLAIN    sat8((acc * factor * m >> 32) + c >> shift)
 * SIGNED   sat8((acc * factor * m >> 32) + (c ^ acc >> 31) + k >> shift)
 * LONG     sat8((acc * m + (c ^ acc >> 31) >> 32) + k >> shift) */
/* f(x, w, y, args): the words of args; y: that of row 0, which may not exist. */
typedef enum ac_words_arg {
    AC_WORDS_SUMS, /* the function of that name */
    AC_WORDS_M,
    AC_WORDS_FACTOR,
    AC_WORDS_PITCH, /* of y from one row to the next */
    AC_WORDS_STEPS,
    AC_WORDS_CHANNELS,
    AC_WORDS_BIAS,
    AC_WORDS_SHIFT,
    AC_WORDS_TERM,  /* SIGNED */
    AC_WORDS_BEGIN, /* rows that are stored */
    AC_WORDS_END,
    AC_WORDS_ARGS
} ac_words_arg;
/* The products of four channels, for all such functions: by the registers and the stack of its caller. */
const char *ac_words_sums_name(void);
const char *ac_words_sums_asm(ac_ctx *cx);
const char *ac_words_rows_name(ac_ctx *cx, const ac_rows_form *f); /* "rows_4x4_signed" */
const char *ac_words_rows_asm(ac_ctx *cx, const ac_rows_form *f);
ac_bytes ac_words_stack(const char *function); /* as ac_tile_stack */

#endif
