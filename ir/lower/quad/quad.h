/* quad.h - int8 convolutions and fully_connected by blocks of output channels, on processors with vectors of words:
 * TILE and REQUANT. Blocks have four channels if vectors have four words and sums of sixteen products (target.h: mve),
 * and up to 32 if vectors are longer (wide.h).
 *
 *     ac_quad q;
 *     if (ac_quad_open(L, &q, &c))                     a table of constants; false: does not fit
 *         q.acc = ...local array...                     sums of TILE: [row][channel of the block]
 *         ac_quad_store(&q, row, oc, idx);              requantises those of a row, channels oc .. oc + 3, and stores
 *
 * The last block is padded (mve), or narrower than the others (rvv). The table has for each block {bias, multiplier,
 * -shift}, each as wide as the block; with one scale for all channels {multiplier, -shift} and the biases. The
 * reference's two roundings are those of the vector instructions (requants.h). fully_connected, which the reference
 * rounds in double, has accumulators shifted to the left as far as possible, and the result is compared with the
 * reference at every step; if one differs, another schedule is used. */
#ifndef AC_IR_LOWER_QUAD_QUAD_H
#define AC_IR_LOWER_QUAD_QUAD_H
#include "ir/lower/channel.h"
#include "ir/lower/window.h"

enum { AC_QUAD = 4, AC_QUAD_MOST = 32 };

typedef struct ac_quad {
    ac_lower *L;
    ac_channel *c;
    int32_t lanes;      /* channels of a block */
    int64_t n;          /* channels of all blocks */
    int32_t table, acc; /* table -1: sums are requantised one by one, as channel.h does */
    int32_t y;          /* bytes of a local array for a block, if results are not stored directly into the tensor */
    int32_t pre;
    bool away;
} ac_quad;

bool ac_quad_open(ac_lower *L, ac_quad *q, ac_channel *c);
/* ... of channels with weights of `depth` products each that no vectors requantise: only their sums are of vectors. */
bool ac_quad_open_sums(ac_lower *L, ac_quad *q, ac_channel *c, int64_t depth);
/* ... with blocks of eight. */
bool ac_quad_open_eights(ac_lower *L, ac_quad *q, ac_channel *c);
/* Weights of rows of `depth` products as i8 [block][step][lane][16], with zeros at the end of the last step, so that
 * the contents of x there do not matter. */
int32_t ac_quad_weights(const ac_quad *q, int64_t depth);
/* Places in the table of channels oc .. oc + width - 1: a nest needs them from before its loops. */
void ac_quad_places(const ac_quad *q, ac_x oc, int32_t width, ac_x *m, ac_x *bias);
/* Bytes of a row's channels oc .. oc + width - 1 go to buffer y from y_at on. */
void ac_quad_requantise(const ac_quad *q, int32_t row, ac_x oc, int32_t width, int32_t y, ac_x y_at);
/* Blocks of four: stores them, with fused operators. */
void ac_quad_store(const ac_quad *q, int32_t row, ac_x oc, ac_x *idx);

/* Schedules; false: emitted no code, use another schedule. */
bool ac_quad_conv(ac_lower *L, ac_channel *c, const ac_window *win);
bool ac_quad_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth);
/* quad_eights.c: eight channels at a time, of two pixels, as a nest (codegen/nests.h). */
bool ac_quad_eights(ac_lower *L, ac_channel *c, const ac_window *win, int64_t depth, bool matrix);
bool ac_quad_planes(ac_lower *L, ac_channel *c, const ac_window *win); /* depthwise, as nests */
bool ac_quad_depthwise(ac_lower *L, ac_channel *c, const ac_window *win);

#endif
