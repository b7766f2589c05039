/* tile_asm.h - one step of a TILE as instructions of Arm's DSP extension, for the printers of C and of objects.
 *
 * Compilers order this block by themselves into a quarter more instructions, because they run out of registers: so it
 * is written out. Each weight word holds two weights of an even channel and two of an odd one (tiles.h): SXTB16 takes
 * out the even ones, the whole halves serve the odd one.
 *
 *     ldrd r8, r9, [w, #16]!        sxtb16 r10, r8        sxtb16 r11, r9
 *     ldrd r12, lr, [x, #48]!       smlad c0, r10, r12, c0     smlad c3, r8, r12, c3     ...
 *
 * ROW widens its row itself, for all channels, and has two steps in the loop: of an odd number the second goes first.
 *
 *     lsls r8, steps, #31     add end, w, steps, lsl #5     bmi 2f     1: STEP   2: STEP     cmp w, end     bne 1b
 *
 * Pointers of PAIRS begin one step early and are advanced by the first load of a step. Free registers: r0-r7, so that
 * six accumulators and two pointers fit. */
#ifndef AC_CODEGEN_TILE_ASM_H
#define AC_CODEGEN_TILE_ASM_H
#include "ir/loop/tiles.h"
#include "ir/lower/target.h"

/* Is there such a block for the tile on the target? ROW is all of the loop. */
bool ac_tile_has_asm(const ac_target *t, const ac_tile *tile);
/* Its instructions, `end` after each; acc, x, w, and of ROW `steps`, which it changes: the text of
 * operands. */
const char *ac_tile_asm(ac_ctx *cx, const ac_tile *tile, const char *const *acc, const char *x, const char *w,
                        const char *steps, const char *end);

#endif
