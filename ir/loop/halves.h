/* halves.h - vector values on a machine without vectors that multiplies the 16-bit halves of a general register (Arm's
 * SMLAD, SXTB16, PKHBT): four bytes or two halves are one word, and operations on such words that are one instruction
 * are kept. All others become scalars (legalise.c). The printers of C and of LLVM print the same instructions as words.
 *
 *     %4 = load i8x4 w[%3]                           a word
 *     %5 = bitcast i16x2 %4                          nothing
 *     %7 = shr i16x2 (shl i16x2 %5 8) 8              SXTB16: bytes 0 and 2, widened
 *     %8 = shr i16x2 %5 8                            SXTB16 of the word rotated by a byte: bytes 1 and 3
 *     %9 = shuffle i16x2 %a %b [0 1]                 PKHBT: two numbers
 *     %10 = dot2 i32 %7 %9 %c                        SMLAD
 *     %11 = min i32 (max i32 %10 -128) 127           SSAT
 *
 * Nothing is allocated; nothing fails. */
#ifndef AC_IR_LOOP_HALVES_H
#define AC_IR_LOOP_HALVES_H
#include "ir/loop/loop.h"

/* True if instruction x is kept: it computes or stores a word, or computes a scalar from words. */
bool ac_halves_keep(const ac_loop_fn *fn, ac_x x);
/* blocks.c: by instruction, those that ac_loop_blocks keeps. */
bool *ac_blocks_kept(const ac_loop_fn *fn, ac_region *region);
/* The word whose even or odd bytes, widened, instruction x is; 0: it is not. */
ac_x ac_halves_widened(const ac_loop_fn *fn, ac_x x, bool *odd);
/* The value that instruction x clamps to 8 or 16 signed bits; 0: x is not a clamp. */
ac_x ac_halves_clamped(const ac_loop_fn *fn, ac_x x, int32_t *bits);
/* The bits of a CONST or CONSTV that is a word. */
uint32_t ac_halves_bits(const ac_loop_fn *fn, ac_x x);

#endif
