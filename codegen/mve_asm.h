/* mve_asm.h - writes TILE as instructions of Arm's MVE (Helium), for the printers of C and of objects.
 *
 * Compilers support vectors, but ignore that each sum of sixteen products needs an even register: with eight sums they
 * spill. So the loops are explicit:
 *
 *     BYTES    vldrb.8 q0, [x], #16     vldrb.8 q2, [w], #16     vmladava.s8 r0, q0, q2     ...
 *     EACH     vldrb.8 q0, [x]          vldrb.8 q1, [w, #6]      vmladav.s8 r0, q0, q1      ...
 *     SPREAD   vldrb.u16 q0, [x]        vstrb.16 q0, [to, q2]    ...
 *              vldrw.u32 q0, [x, q1]    vstrb.8 q0, [to, q2]     ...    four pixels of four channels
 *
 * Sums go to the accumulators in memory by vectors of four channels. BYTES has rows 1 or 2 by 4 channels; EACH has up
 * to 3 rows by 4 channels. The texts name their registers; operands are in others (ac_mve_operand). */
#ifndef AC_CODEGEN_MVE_ASM_H
#define AC_CODEGEN_MVE_ASM_H
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"
#include "ir/lower/target.h"

/* Pointers and numbers that a text reads. BYTES has a second row in `other`, EACH the pitch, SPREAD the stride, and in
 * `at` and `next`, vectors of u16, the slot offsets of eight channels and of the next eight; of WORDS_4 the offsets of
 * four pixels (u32), and of their bytes in the slots (u8, or u16 for the channels of the first two slots). */
typedef enum ac_mve_operand {
    AC_MVE_X,
    AC_MVE_W,
    AC_MVE_STEPS,
    AC_MVE_TO,
    AC_MVE_OTHER,
    AC_MVE_AT,
    AC_MVE_NEXT,
    AC_MVE_OPERANDS
} ac_mve_operand;

/* True if there is such a text for the tile on the target. */
bool ac_mve_has(const ac_target *t, const ac_tile *tile);
/* SPREAD: bytes in order, one byte again and again, and four pixels of four channels at once. */
typedef enum ac_mve_spread { AC_MVE_SLOTS, AC_MVE_COPY, AC_MVE_FILL, AC_MVE_WORDS_4 } ac_mve_spread;
ac_mve_spread ac_mve_spread_of(const ac_tile *tile);
/* WORDS_4: true if offsets of all slots fit a byte, so that one instruction stores sixteen bytes. */
bool ac_mve_is_near(const ac_tile *tile);
bool ac_mve_takes(const ac_tile *tile, ac_mve_operand o);
/* GCC's and LLVM's constraint letter for the registers of an operand. */
const char *ac_mve_letter(const ac_tile *tile, ac_mve_operand o);
bool ac_mve_changes(const ac_tile *tile, ac_mve_operand o);
/* name: of each operand that the form uses; `end` after each instruction. */
const char *ac_mve_asm(ac_ctx *cx, const ac_tile *tile, const char *const *name, const char *end);
/* REQUANT, with operands %[acc], %[m], %[bias], %[y], %[zero], %q[low] and %q[high] of C; changes q0 and q1. */
const char *ac_mve_requant(ac_ctx *cx, const ac_requants *q, const char *end);
/* Other registers that the text changes, and "cc" and "memory"; NULL ends. */
const char *const *ac_mve_clobbers(const ac_tile *tile);

#endif
