/* gemm.h - register tiles: the vector schedules of convolution and fully_connected.
 *
 * A tile is `rows` pixels by `vecs` vectors of output channels, one named accumulator each, around a reduction. Rows
 * read their input from a line of memory ("the strip") or straight from the operand; weights are packed at compile time
 * as
 *
 *     [group][block of channels][reduction step][channel in the block][element of the step]        zero-padded
 *
 * so that a step of the reduction reads `vecs` whole vectors in order. A step is the number of elements of one
 * multiply-add: 1 f32 (ac_lo_madd), 2 i16 (DOT2; 1 if the target has no such instruction), 4 u8 x i8 (DOT4). In a
 * convolution of several groups each group is a separate product; its last block is padded with zeros.
 *
 * With few output channels their vectors would be nearly empty. Then (`along`) a vector holds consecutive elements of
 * the reduction of one channel, and the sum of an accumulator's lanes is the result: the same tile, but a step takes
 * `lanes` times as many elements and the "vectors of channels" are channels. This sums floats in another order. Sources
 * of the method: the register tiles of BLIS and oneDNN; sizes measured, docs/.
 *
 *     f = ac_gemm_form_of(L, c, 1, 3, 1, 96, true);  number system, tile size: one group, 3 runs of 96
 *     w = ac_gemm_pack(L, &f, c);                the constant
 *     ac_gemm_cut(49, f.rows)                    at most 14: 1 tile of 13 and 3 of 12
 *     ac_gemm_reduce(&t, acc);                   the loops of one tile
 *     ac_gemm_store(&t, acc, at, job);           lanes -> ac_lo_result */
#ifndef AC_IR_LOWER_CONV_GEMM_H
#define AC_IR_LOWER_CONV_GEMM_H
#include "ir/lower/channel.h"
#include "ir/lower/window.h"

/* n = a.count * a.size + b.count * b.size; sizes differ by one, the larger first. */
typedef struct ac_gemm_cuts {
    int64_t count[2], size[2], first[2]; /* first: position of the first tile of this size */
} ac_gemm_cuts;
ac_gemm_cuts ac_gemm_cut(int64_t n, int64_t most);

typedef struct ac_gemm_form {
    int32_t lanes;      /* channels of a vector; along: steps of its channel */
    int32_t group;      /* 1, 2, 4: elements of a step in a lane */
    bool along;         /* lanes are along the reduction */
    bool matrix;        /* AMX: a tile is AC_TILE_MATRIX; the reduction is padded to 64 */
    int32_t rows, vecs; /* largest tile */
    ac_dtype strip;     /* element type of a row: f32, i16, i8, u8 */
    ac_dtype w;         /* of the packed weights: f32, i8, i16 */
    bool narrow;        /* packed weights are i8 in -64 .. 64 */
    int32_t w_bytes;    /* of one in memory: 2 for f32 that is narrowed */
    int64_t uses;       /* of a weight: pixels, rows */
    int64_t groups;     /* of the convolution; c->n = groups * n */
    int64_t n;          /* output channels of a group */
    int64_t depth;      /* elements of a reduction run: contiguous in both operands; padded to groups in the weights */
    int64_t runs[3];    /* runs of a channel: filter rows, filter columns where those are not part of the run, planes */
    ac_gemm_cuts block; /* channel vectors -> blocks */
} ac_gemm_form;

/* True if register tiles apply: constant weights (or f32) and bias, vectors on the target. */
bool ac_gemm_fits(const ac_lower *L, const ac_channel *c);
/* Chooses number system and layout, not yet the tile. all: every tile computes every run, so that zero points may be
 * folded into the bias (u8 strips). */
ac_gemm_form ac_gemm_form_of(const ac_lower *L, const ac_channel *c, int64_t groups, int64_t runs_y, int64_t runs_x,
                             int64_t depth, bool all);
/* Puts the lanes along the reduction if that takes fewer steps. Call it before the tile is chosen. */
void ac_gemm_form_along(const ac_lower *L, const ac_channel *c, ac_gemm_form *f);
int64_t ac_gemm_runs(const ac_gemm_form *f); /* of a channel */
/* Elements of x that a step reads, and steps of a run. */
int64_t ac_gemm_step(const ac_gemm_form *f);
int64_t ac_gemm_steps(const ac_gemm_form *f);
/* Elements past the end of a run that its last step reads; weights are zero there. */
int64_t ac_gemm_beyond(const ac_gemm_form *f);
/* Vectors of a group, and channels of a vector. */
int64_t ac_gemm_vectors(const ac_gemm_form *f);
int32_t ac_gemm_width(const ac_gemm_form *f);
bool ac_gemm_holds(const ac_lower *L, int64_t rows); /* true if the target has registers for a tile of that many rows */
/* Sets rows, vecs and block: the best tile of `units` * `unit` rows, in whole units (gemm_cost.c). */
void ac_gemm_form_tile(const ac_lower *L, const ac_channel *c, ac_gemm_form *f, int64_t unit, int64_t units);
int64_t ac_gemm_weight_bytes(const ac_gemm_form *f);
/* True if the weights are too large to stay in the second cache while rows pass by; true if prefetching them pays: they
 * are too large for the first cache, and used too rarely to hide the cost of loading them. */
bool ac_gemm_weights_stream(const ac_lower *L, const ac_gemm_form *f);
bool ac_gemm_weights_far(const ac_lower *L, const ac_gemm_form *f);
/* The tables of c and the packed weights: a constant, or scratch that is packed when the step runs. Weights of a
 * channel are contiguous: w[channel][run][k]. */
int32_t ac_gemm_pack(ac_lower *L, const ac_gemm_form *f, ac_channel *c);
/* True if a row must be copied into a strip before the tile can read it (conversion, or reads past its end). */
bool ac_gemm_copies(const ac_gemm_form *f, const ac_channel *c);

/* First channel of block i (0-based within its size class s) in its group, and the offset of its weights in those of
 * the group; the elements of packed weights of a group. */
ac_x ac_gemm_block_channel(ac_lb *b, const ac_gemm_form *f, int32_t s, ac_x i);
ac_x ac_gemm_block_at(ac_lb *b, const ac_gemm_form *f, ac_x channel);
int64_t ac_gemm_group_size(const ac_gemm_form *f);

/* True if rows (or pixels) that a tile reads at once evict each other from the first cache: their distance, in
 * elements, is a multiple of a page (parts = 1) or of a part of it, so they map to the same few lines. Then a copy with
 * a distance of AC_GEMM_APART elements more pays if there is enough to compute with it. Floats only. */
bool ac_gemm_collide(const ac_channel *c, int64_t distance, int32_t parts, int64_t rows, int64_t channels);
enum { GEMM_ROWS = 14, GEMM_VECS = AC_PACKINGS, AC_GEMM_APART = 16 /* a line of floats */ };
/* Filter columns lo .. hi - 1, which all rows of a tile use except those in `outside` (bit r: row r). */
typedef struct ac_gemm_part {
    int32_t lo, hi;
    uint32_t outside;
} ac_gemm_part;
typedef struct ac_gemm_tile {
    ac_lower *L;
    const ac_gemm_form *f;
    const ac_channel *c;
    int32_t x_buf, w_buf;
    int32_t rows, vecs;
    ac_x row[GEMM_ROWS];       /* element index of each row's run {0, 0} */
    ac_x run_lo[3], run_hi[3]; /* runs taken; ac_gemm_all_runs sets all of the form */
    int64_t run_step[3];       /* from run to run, in elements of x_buf (the same for all rows) */
    int64_t w_step[3];         /* the same in packed weights */
    ac_x w_at, oc;             /* weights of run {0, 0} in the block; its first channel in the group */
    const ac_gemm_part
        *part;           /* in rising order, instead of run_lo[1] .. run_hi[1]; not with lanes along the reduction */
    int32_t n_parts;     /* 0: all rows take all columns */
    int64_t column;      /* of parts, if one run has all columns: elements of one column */
    int32_t scale, zero; /* HYBRID, each_row: buffers with each row's scale and zero point */
    bool each_row;       /* ... instead of those of c, which hold for all rows */
    ac_x before;         /* channels of the previous groups; 0: none, as always with one group */
    ac_x ahead;          /* position from which this tile prefetches the weights of the next block; 0: none */
    int64_t ahead_step;  /* elements of them for each step */
    ac_x from;           /* first row that is stored; 0: all are. Requires ac_gemm_stores_from */
} ac_gemm_tile;
void ac_gemm_all_runs(ac_gemm_tile *t);
/* t->c; each_row: with the scale and zero point of row r; r is unused otherwise. */
ac_channel ac_gemm_row_channel(const ac_gemm_tile *t, ac_x r);
ac_x ac_gemm_tile_channel(const ac_gemm_tile *t, int32_t vec); /* the first one of a vector, of the result */
/* This is tile `index` of the `tiles` that use a block: while it runs, it prefetches its share of the next block's
 * weights into the second cache. Weights are read once in a run of the model, so without this the first tile of a block
 * waits for memory. */
void ac_gemm_fetch_ahead(ac_gemm_tile *t, ac_x index, int64_t tiles);
/* Accumulators acc[row * vecs + vec], from ac_channel_start (along: from 0, one lane) to the end of the reduction:
 * planes, rows, columns, for every kind of tile and its parts. */
void ac_gemm_reduce(const ac_gemm_tile *t, ac_x *acc);
/* Position in node->out[0] of row r of the tile (a constant or a loop variable); the last entry is the store's. */
typedef void ac_gemm_at_fn(const void *user, ac_x r, ac_x *idx);
/* Finishes and stores the tile: the channels of the block that exist. See gemm_store.c. */
void ac_gemm_store(const ac_gemm_tile *t, const ac_x *acc, ac_gemm_at_fn *at, const void *user);
/* True if the last rows of a tile can be omitted: the code after the accumulators is a loop over its rows. */
bool ac_gemm_stores_from(const ac_lower *L, const ac_gemm_form *f, const ac_channel *c, int64_t rows);
/* ac_gemm_store for results of rows; the tile begins at row p. */
void ac_gemm_store_rows(const ac_gemm_tile *t, const ac_x *acc, ac_x p);
/* The local array for the sums of a matrix tile, [row][channel], and ac_gemm_store_rows from there. */
int32_t ac_gemm_stage(const ac_gemm_tile *t);
void ac_gemm_store_matrix(const ac_gemm_tile *t, int32_t stage, ac_x p);
/* `count` (at most the lanes of v) finished values from channel oc on, in pieces that ac_lo_result accepts. */
void ac_gemm_store_lanes(ac_lower *L, ac_x v, ac_x oc, int64_t count, ac_x *idx);

/* Strip elements: those for `count` stored elements of `from`, and those that are zero (borders). */
void ac_gemm_copy(ac_lower *L, const ac_gemm_form *f, const ac_channel *c, int32_t from, ac_x from_at, int32_t to,
                  ac_x to_at, int64_t count);
void ac_gemm_clear(ac_lower *L, const ac_gemm_form *f, const ac_channel *c, int32_t to, ac_x to_at, int64_t count);

/* Taps of a transpose convolution along one axis that reach output position o: tap r + t * stride from input q - t,
 * lo <= t < hi (tconv.c). */
typedef struct ac_phase {
    ac_x q, r, lo, hi;
} ac_phase;
void ac_phase_taps(ac_lb *b, const ac_slide *s, ac_x o, ac_phase *p);

/* The schedules: all of them store every element of node->out[0]. */
/* c->x [N,H,W,C], in groups of `group_in` channels; planes: [N,D,H,W,C], and how the window slides along D. Results
 * have the dimensions of the same names, without leading window dimensions of 1. Weights are [O,K..,C/groups] or, if
 * c->axis is not 0, [K..,C/groups,O]. */
int ac_gemm_conv(ac_lower *L, ac_channel *c, const ac_window *win, const ac_slide *planes, int64_t group_in);
/* c->x as [rows, depth]; weights [n, depth]. */
int ac_gemm_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth);
int ac_gemm_tconv(ac_lower *L, ac_channel *c, const ac_window *win); /* a transpose convolution */

#endif
