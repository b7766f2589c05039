/* halves.h - values of lanes on a machine that has no vectors, but multiplies the 16-bit halves of a general register
 * (Arm's SMLAD, SXTB16, PKHBT): four bytes or two halves are one word, and what the machine does to such words in an
 * instruction stays whole. Everything else becomes scalars (legalise.c). The printers of C and of LLVM print the same
 * instructions as words.
 *
 *     %4 = load i8x4 w[%3]                           a word
 *     %5 = bitcast i16x2 %4                          nothing
 *     %7 = shr i16x2 (shl i16x2 %5 8) 8              SXTB16: bytes 0 and 2, widened
 *     %8 = shr i16x2 %5 8                            SXTB16 of the word turned by a byte: bytes 1 and 3
 *     %9 = shuffle i16x2 %a %b [0 1]                 PKHBT: two numbers
 *     %10 = dot2 i32 %7 %9 %c                        SMLAD
 *     %11 = min i32 (max i32 %10 -128) 127           SSAT
 *
 * Nothing is allocated; nothing fails. */
#ifndef AC_IR_LOOP_HALVES_H
#define AC_IR_LOOP_HALVES_H
#include "ir/loop/loop.h"

/* Does instruction x stay whole? It makes a word, stores one, or makes a number out of words. */
bool ac_halves_keep(const ac_loop_fn *fn, ac_x x);
/* The word whose even or odd bytes, widened, instruction x is; 0: it is something else. */
ac_x ac_halves_widened(const ac_loop_fn *fn, ac_x x, bool *odd);
/* The number that instruction x clamps to 8 or 16 signed bits; 0: it does not. */
ac_x ac_halves_clamped(const ac_loop_fn *fn, ac_x x, int32_t *bits);
/* The bits of a CONST or CONSTV that is a word. */
uint32_t ac_halves_bits(const ac_loop_fn *fn, ac_x x);

#endif
