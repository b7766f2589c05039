/* tile_asm.h - one step of a TILE as instructions, for the printers of C and of objects: of Arm's DSP extension, or of
 * Armv6-M.
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
 * six accumulators and two pointers fit.
 *
 * Armv6-M (UNSIGNED) multiplies in r0-r7 only, but adds to the others too. Of eight accumulators the last four are
 * there, and where x ends:
 *
 *     ldrb v, [x, #0]      ldrb t, [w, #0]     muls t, v, t     adds c0, c0, t
 *                          ldrb t, [w, #4]     muls t, v, t     add c4, t      ...
 *
 * Pointers are advanced at the end of a step. */
#ifndef AC_CODEGEN_TILE_ASM_H
#define AC_CODEGEN_TILE_ASM_H
#include "ir/loop/tiles.h"
#include "ir/lower/target.h"

/* Is there such a block for the tile on the target? ROW is all of the loop. */
bool ac_tile_has_asm(const ac_target *t, const ac_tile *tile);
enum {
    AC_TILE_LOW = 4,     /* UNSIGNED: accumulators in r0-r7, before those in others */
    AC_TILE_REACHED = 32 /* ... bytes that a load reaches from its address */
};
/* PAIRS, ROW: its instructions, `end` after each; acc, x, w, and of ROW `steps`, which it changes: the text of
 * operands. */
const char *ac_tile_asm(ac_ctx *cx, const ac_tile *tile, const char *const *acc, const char *x, const char *w,
                        const char *steps, const char *end);
/* UNSIGNED: the same for n of the channels, the first of which are at w; v, t: registers that are free. */
const char *ac_tile_bytes_asm(ac_ctx *cx, const ac_tile *tile, int32_t n, const char *const *acc, const char *x,
                              const char *w, const char *v, const char *t, const char *end);

#endif
