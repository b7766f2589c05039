/* tiles.h - TILE: the inner loop of a matrix product or a depthwise convolution, on processors whose instructions take
 * several bytes at once.
 *
 * The rows (pixels) of a tile and the weights of its output channels are packed, so that a step reads them in order:
 *
 *     PAIRS    x  i16 [step][row][8]            w  i8 [step][channel pair][8][2]        acc [channel][row], set
 *     BYTES    x  i8  [row][step][16]           w  i8 [step][channel][16]               acc [row][channel], set
 *     EACH     x  i8  [slot], `pitch` apart     w  i8 [slot][depth]                     acc [row][channel], set
 *     UNSIGNED x  u8  [step][depth]             w  u8 [step][depth][channel]            acc [channel], added to
 *     SPREAD   x  i8  [step], `stride` apart, [channel]    acc  i8 [slot], `pitch` apart, [step], `shift` apart
 *     ROW      x  i8  [step][8]                 w  i8 [step][channel pair][8][2]        acc [channel], set
 *     OUTER    x  i8  [part][row][step][depth]  w  i8 [part][step][depth][channel]  acc [row][channel], set
 *     LANES    x  i8  [part][row][step][channel]  w  i8 [part][step][channel]       acc [row][channel], set
 *     MATRIX   x  i8  [row][step][64]               w  i8 [step][16][channel][4]    acc [row][channel], set
 *     WORDS    x  i32 [step][4][pair of rows]       w  i8 [step][4][channel]        acc [row][channel], set
 *
 * acc: i32 elements of a local array from 0 on; of SPREAD the elements of a buffer from b on.
 *
 * PAIRS reads the two weights (a, b) of a pair as one i16, h = a + 256 b, so that a processor which multiplies halves
 * of a word can use them directly: the accumulator of the even channel gets x * a, that of the odd one x * h, and the
 * caller separates them: (odd - even) / 256, exact while the sum of x * b stays inside 24 bits. Sums wrap. ROW is PAIRS
 * for a single row that is read in place, so the weights of each four elements are in the order 0, 2, 1, 3.
 *
 * BYTES and UNSIGNED sum x * w, wrapping; UNSIGNED has one row. EACH, a single step, multiplies the elements of a
 * channel by its own weights: row r is the sum over k < depth of x[slot][k] * w[slot][(rows - 1 - r) * shift + k], so
 * that neighbouring pixels of a depthwise convolution, whose windows share most of their columns, also share x; w is
 * read past the last slot because of the shifts. SPREAD turns pixels of channels into channels of pixels, which EACH
 * reads. Slots are the channels in the order 0, 2, 1, 3 of each four: pairs of sums go into the even and the odd lanes
 * of a vector. With one channel, `shift` 1 and a `stride` of 1 or 0 it copies, or fills.
 *
 * OUTER and LANES are for vectors with a channel in each lane. Both sum x * w, wrapping: OUTER a value of x by the
 * weights of all channels, LANES the values of channels by their own weights. Rows are `pitch` elements apart and may
 * share elements, as the windows of neighbouring pixels do; elements of LANES' steps are pitch / depth apart (`depth`:
 * the stride of a convolution). There are `shift` parts (rows of a filter), in sequence: a part of x ends where
 * its last row does, after (rows - 1) * pitch + steps * depth elements; LANES + steps * (pitch / depth).
 *
 * MATRIX is for processors with registers that hold matrices of up to 16 rows of 64 bytes (AMX): up to 32 rows, which
 * are `pitch` elements apart, by 16 or 32 channels, with weights laid out as for dot products of four bytes. It sums x
 * * w, wrapping.
 *
 * WORDS is for processors that multiply whole words: each word of x is a + 65536 b, the bytes of two rows, so that a
 * product by a weight is two products. It sums both by w, wrapping, and takes a and b from the word as bytes: other
 * words have no meaning. Two taps are added before the halves are separated, so no weight is -128.
 *
 *     ac_lb_tile(b, (ac_tile){.form = AC_TILE_PAIRS, .rows = 3, .channels = 2, .x = x, .w = w, .acc = acc}, x_at, w_at,
 *                steps);
 *
 * Targets have an instruction sequence for the shapes that lowerings use (targets.def: dsp, mve, rvv, amx; Armv6-M);
 * the evaluator runs ac_tile_run, which is the definition. */
#ifndef AC_IR_LOOP_TILES_H
#define AC_IR_LOOP_TILES_H
#include "ir/loop/loop.h"

typedef enum ac_tile_form {
    AC_TILE_PAIRS,
    AC_TILE_BYTES,
    AC_TILE_EACH,
    AC_TILE_SPREAD,
    AC_TILE_ROW,
    AC_TILE_OUTER,
    AC_TILE_LANES,
    AC_TILE_UNSIGNED,
    AC_TILE_MATRIX,
    AC_TILE_WORDS, /* rows: 2 or 4 */
    AC_TILE_FORMS
} ac_tile_form;
extern const char *const ac_tile_text[AC_TILE_FORMS];

/* The largest values that fit the fields of an instruction. */
enum {
    AC_TILE_BUFFERS = 4095,
    AC_TILE_ROWS = 31,
    AC_TILE_MATRIX_ROWS = 32,
    AC_TILE_CHANNELS = 32,
    AC_TILE_PITCH = 4095, /* and strides */
    AC_TILE_SHIFT = 127,  /* and depth */
};

typedef struct ac_tile {
    ac_tile_form form;
    int32_t rows, channels; /* SPREAD, ROW: rows 1 */
    int32_t x, w, acc;      /* buffers; SPREAD: w 0 */
    int32_t pitch;          /* EACH, SPREAD, OUTER, LANES, MATRIX */
    int32_t shift;          /* EACH, SPREAD; OUTER, LANES: parts */
    int32_t depth;  /* EACH: a multiple of 16; OUTER, LANES, UNSIGNED; SPREAD: 4 if it has four channels, and x and
                             * all its steps begin at multiples of four bytes, else 0: a hint for printers */
    int32_t stride; /* SPREAD */
} ac_tile;

void ac_lb_tile(ac_lb *b, ac_tile t, ac_x x_at, ac_x w_at, ac_x steps);
ac_tile ac_ins_tile(const ac_ins *i);
void ac_tile_put(ac_ins *i, const ac_tile *t);
bool ac_tile_fits(const ac_tile *t);     /* into an instruction? */
int32_t ac_tile_depth(const ac_tile *t); /* of a step */
int32_t ac_tile_slot(int32_t channel);
int32_t ac_tile_byte(int32_t word, int32_t second); /* WORDS: of a row of the pair */
/* Weights of two channels are interleaved: PAIRS, ROW. */
bool ac_tile_pairs(ac_tile_form form);
bool ac_tile_is_wide(const ac_tile *t); /* OUTER or LANES */
/* Elements from the first to the last that `steps` read of x, and of w; SPREAD: that they write. */
int64_t ac_tile_reads(const ac_tile *t, int64_t steps);
int64_t ac_tile_weights(const ac_tile *t, int64_t steps);

/* The definition. x: elements, by the form, at the first step; w likewise; to: accumulators, or elements from
 * b on. */
void ac_tile_run(const ac_tile *t, const void *x, const void *w, int64_t steps, void *to);

#endif
