/* tile_asm.h - writes one step of a TILE as instructions of Arm's DSP extension or of Armv6-M, for the printers of C
 * and of objects.
 *
 * Compilers need a quarter more instructions for this block, because they run out of registers. Each weight word holds
 * two weights of an even channel and two of an odd one (tiles.h): SXTB16 extracts the even ones, the whole halves serve
 * the odd one.
 *
 *     ldrd r8, r9, [w, #16]!        sxtb16 r10, r8        sxtb16 r11, r9
 *     ldrd r12, lr, [x, #48]!       smlad c0, r10, r12, c0     smlad c3, r8, r12, c3     ...
 *
 * ROW also widens its row, for all channels, and has two steps in the loop: if the number is odd, it starts with the
 * second.
 *
 *     lsls r8, steps, #31     add end, w, steps, lsl #5     bmi 2f     1: STEP   2: STEP     cmp w, end     bne 1b
 *
 * Pointers of PAIRS begin one step early and are advanced by the first load of a step. Free registers: r0-r7, so that
 * six accumulators and two pointers fit.
 *
 * Armv6-M (UNSIGNED) multiplies only in r0-r7, but can add to the other registers. The last four of eight accumulators
 * are in those, and the end of x:
 *
 *     ldrb v, [x, #0]      ldrb t, [w, #0]     muls t, v, t     adds c0, c0, t
 *                          ldrb t, [w, #4]     muls t, v, t     add c4, t      ...
 *
 * Pointers are advanced at the end of a step. */
#ifndef AC_CODEGEN_TILE_ASM_H
#define AC_CODEGEN_TILE_ASM_H
#include "ir/loop/tiles.h"
#include "ir/lower/target.h"

/* True if there is such a block for the tile on the target. ROW is the whole loop. */
bool ac_tile_has_asm(const ac_target *t, const ac_tile *tile);
enum {
    AC_TILE_LOW = 4,     /* UNSIGNED: accumulators in r0-r7, before those in others */
    AC_TILE_REACHED = 32 /* ... bytes that a load reaches from its address */
};
/* PAIRS, ROW: its instructions, `end` after each; acc, x, w, and for ROW `steps`, which it changes: the text of
 * operands. */
const char *ac_tile_asm(ac_ctx *cx, const ac_tile *tile, const char *const *acc, const char *x, const char *w,
                        const char *steps, const char *end);
/* UNSIGNED: the same for n of the channels, whose weights begin at w; v, t: free registers. */
const char *ac_tile_bytes_asm(ac_ctx *cx, const ac_tile *tile, int32_t n, const char *const *acc, const char *x,
                              const char *w, const char *v, const char *t, const char *end);

#endif
