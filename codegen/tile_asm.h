/* tile_asm.h - writes a TILE as instructions of Arm's DSP extension or of Armv6-M, for the printers of C and of
 * objects.
 *
 * Compilers need a quarter more instructions for such a loop, because they run out of registers. With the DSP extension
 * it is the whole body of a `naked` function f(x, w, steps, acc), so every compiler makes the same code of it, at every
 * level. Each weight word holds two weights of an even channel and two of an odd one (tiles.h): the whole halves serve
 * the odd one, then SXTB16 widens the even ones in place. Two rows by four channels are eight sums in r4-r11:
 *
 *     ldr r3, [r0, #28]     ldr lr, [r1, #28]     ldr r2, [r0, #12]     ldr r12, [r1, #12]       four loads in a row:
 *     smlad r6, r12, r2, r6     smlad r7, r12, r3, r7     ...                                    five cycles
 *     sxtb16 r12, r12           smlad r4, r12, r2, r4     smlad r5, r12, r3, r5     ...
 *
 * ROW also widens its row, for all channels. Both have two steps in the loop: if the number is odd, it starts with the
 * second.
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
#include "base/sink.h"
#include "ir/loop/tiles.h"
#include "ir/lower/target.h"

/* True if there is such a text for the tile on the target. */
bool ac_tile_has_asm(const ac_target *t, const ac_tile *tile);
enum {
    AC_TILE_LOW = 4,     /* UNSIGNED: accumulators in r0-r7, before those in others */
    AC_TILE_REACHED = 32 /* ... bytes that a load reaches from its address */
};
/* PAIRS, ROW: the body of the function, a line for each instruction: x in r0, w in r1, steps in r2, acc in r3. It saves
 * the registers that a called function preserves, and takes AC_TILE_STACK bytes. */
const char *ac_tile_asm(ac_ctx *cx, const ac_tile *tile);
enum { AC_TILE_STACK = 48 };
/* Its parts: sums from r4 on are 0; a step of PAIRS, x in r0 and w in r1, which changes r2, r3, r12 and lr. */
void ac_tile_zero(ac_sink *to, int32_t sums);
void ac_tile_pairs_step(ac_sink *to, const ac_tile *t);
const char *ac_tile_name(ac_ctx *cx, const ac_tile *tile); /* of the function, "tile_pairs_2x4" */
/* The stack of the forms that take most of the functions that codegen/dsp prints for a TILE of pairs, of words. */
enum { AC_ROWS_STACK = 96, AC_WORDS_ROWS_STACK = 176 };

/* The stack of the function of that name, of this or any other model; 0: it is another function. */
ac_bytes ac_tile_stack(const char *function);
/* UNSIGNED: the instructions of a step, `end` after each, for n of the channels, whose weights begin at w; acc, x, w:
 * the text of operands; v, t: free registers. */
const char *ac_tile_bytes_asm(ac_ctx *cx, const ac_tile *tile, int32_t n, const char *const *acc, const char *x,
                              const char *w, const char *v, const char *t, const char *end);

#endif
