/* tiles.h - TILE: the inner loop of a matrix product on processors whose instructions take several bytes at once.
 *
 * The rows (pixels) of a tile and the weights of its output channels are packed, so that a step reads both in order:
 *
 *     x  [step][row][depth]                     rows
 *     w  [step][channel pair][depth][2]         PAIRS: depth 8, x i16, w i8; channels come in twos
 *     w  [step][channel][depth]                 BYTES: depth 16, x i8, w i8
 *
 * and accumulators, i32 elements of a local array from 0 on, lie as acc[channel * rows + row].
 *
 * PAIRS reads the two weights (a, b) of a pair as one i16, h = a + 256 b, so that a processor which multiplies halves
 * of a word needs no other copy of them: the accumulator of the even channel gets x * a, that of the odd one x * h, and
 * the caller takes the first off: (odd - even) / 256, exact while the sum of x * b stays inside 24 bits. Sums wrap.
 * BYTES adds x * w, wrapping.
 *
 *     ac_lb_tile(b, (ac_tile){AC_TILE_PAIRS, 3, 2, x, w, acc}, x_at, w_at, steps);
 *
 * Targets have an instruction sequence for the shapes that lowerings use (targets.def: dsp); the evaluator runs
 * ac_tile_add, which is the definition. */
#ifndef AC_IR_LOOP_TILES_H
#define AC_IR_LOOP_TILES_H
#include "ir/loop/loop.h"

typedef enum ac_tile_form { AC_TILE_PAIRS, AC_TILE_BYTES, AC_TILE_FORMS } ac_tile_form;
extern const char *const AC_TILE_TEXT[AC_TILE_FORMS];

typedef struct ac_tile {
    ac_tile_form form;
    int32_t rows, channels;
    int32_t x, w, acc; /* buffers */
} ac_tile;

void ac_lb_tile(ac_lb *b, ac_tile t, ac_x x_at, ac_x w_at, ac_x steps);
ac_tile ac_ins_tile(const ac_ins *i);
void ac_tile_put(ac_ins *i, const ac_tile *t);
void ac_tile_set_buffers(ac_ins *i, int32_t x, int32_t w, int32_t acc);
int32_t ac_tile_depth(const ac_tile *t); /* of a step */

/* The definition. x: i16 or i8 elements as the form says, at the first step; w likewise. */
void ac_tile_add(const ac_tile *t, const void *x, const int8_t *w, int64_t steps, int32_t *acc);

#endif
