/* depthwise_quads.h - the tile of a block, and its phases, for depthwise_quads.c and expanded_quads.c.
 *
 *     thread: quad + quads * (strip + strips * row)     a quad: four channels; a strip: `wide` columns of a row */
#ifndef AC_IR_LOWER_CONV_DEPTHWISE_QUADS_H
#define AC_IR_LOWER_CONV_DEPTHWISE_QUADS_H
#include "ir/lower/conv/depthwise.h"
#include "ir/lower/gpu/plan.h"
#include "ir/lower/lower.h"
#include "ir/ops/decode/expanded.h"

enum { QUAD = 4, WARP = 32 };

typedef struct ac_quads_tile {
    int32_t quads, strips, rows, wide;
    int32_t threads;       /* whole warps */
    int64_t height, width; /* of the input that it meets */
    int32_t pixels;        /* of a thread at a time, when it expands */
} ac_quads_tile;

typedef struct ac_quads {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win;
    ac_quads_tile t;
    int32_t x, w, xs, ws, bias;
    int32_t part, some; /* sums of pixels, of the threads and of groups of them, in shared memory */
    ac_depthwise_block first;
    /* expanded_quads.c: copies more with the filter, and fills xs; NULL: nothing, and xs has a tile of x */
    void (*copy)(const struct ac_quads *j, ac_x t);
    void (*fill)(const struct ac_quads *j);
    const ac_expanded *e; /* NULL: depthwise_conv_2d */
    int32_t v, vs, rows;  /* weights, theirs of the block, pixels of x */
} ac_quads;

/* Work of a block of tile t besides the depthwise convolution: instructions and passes over shared memory of a warp;
 * bytes of shared memory, and of them those that it copies. */
typedef struct ac_quads_more {
    int64_t issue, passes, shared, bytes;
} ac_quads_more;

typedef ac_quads_more ac_quads_more_fn(const ac_target *t, const ac_window *win, const ac_quads_tile *tile,
                                       const ac_expanded *e);

/* The tile with the least cycles by a model; more: of a block that expands, NULL: it does not. e: its tiles, if it has
 * some, are those of the sums; NULL: any. 0: none fits. */
int64_t ac_quads_tile_of(const ac_target *t, const ac_window *win, bool long_end, ac_quads_more_fn *more,
                         const ac_expanded *e, ac_quads_tile *best);
bool ac_gpu_depthwise_taps(const ac_window *win); /* not too many taps */
int ac_quads_all(ac_quads *j);                    /* the whole kernel, after all buffers but those of the tile */

static inline ac_x ac_quads_num(const ac_quads *j, int64_t v)
{
    return ac_lb_i32(&j->L->b, v);
}
static inline ac_x ac_quads_plus(const ac_quads *j, ac_x x, ac_x y)
{
    return ac_lb_add(&j->L->b, x, y);
}
static inline ac_x ac_quads_times(const ac_quads *j, ac_x x, int64_t by)
{
    return ac_lo_scaled(&j->L->b, x, by);
}
static inline ac_x ac_quads_threads(const ac_quads *j)
{
    return ac_lb_for(&j->L->b, "t", ac_quads_num(j, 0), ac_quads_num(j, j->t.threads), 1, AC_MARK_BLOCK);
}

/* Opens a branch for piece `round` * threads + t of `pieces`. */
static inline ac_x ac_quads_piece(const ac_quads *j, ac_x t, int64_t round, int64_t pieces)
{
    ac_lb *b = &j->L->b;
    const ac_x e = ac_quads_plus(j, t, ac_quads_num(j, round * j->t.threads));
    ac_lb_if(b,
             (round + 1) * j->t.threads > pieces ? ac_lb_lt(b, e, ac_quads_num(j, pieces)) : ac_lb_int(b, AC_BOOL, 1));
    return e;
}

/* Piece e of shared memory gets four floats of `from` at `at`, or zeros if not `in` (0: surely in). */
static inline void ac_quads_copy(const ac_quads *j, int32_t to, ac_x e, int32_t from, ac_x at, ac_x in)
{
    ac_lb *b = &j->L->b;
    const ac_x v = ac_lb_load_flags(b, from, in ? ac_lb_select(b, in, at, ac_quads_num(j, 0)) : at, QUAD, AC_F_ALIGNED);
    ac_lb_store_late(b, to, ac_quads_times(j, e, QUAD), in ? ac_lb_select(b, in, v, ac_lb_like(b, v, 0)) : v);
}

#endif
