/* plan.h - the tile, slices, splits and stages of a product of floats on a GPU, by a model of its time.
 *
 * A block makes bm x bn results from steps of bk depth, which it copies to shared memory `stages` ahead. In a block wk
 * slices of warps share a step: each takes bk / wk of its depth. A slice is wm x wn warps, a warp lm x ln threads, and
 * a thread holds tm x tn sums. `split` blocks, a cluster, share a tile: each takes `per` of its steps, and finishes an
 * equal share of the items of the tile (four sums each). */
#ifndef AC_IR_LOWER_GPU_PLAN_H
#define AC_IR_LOWER_GPU_PLAN_H
#include "ir/loop/loop.h"
#include "ir/lower/target.h"

typedef struct ac_gpu_plan {
    int32_t tm, tn, lm, ln, wm, wn, wk, bk, stages, split;
    int32_t bm, bn, threads, slice; /* threads of a block, of a slice */
    int32_t items;                  /* of a tile */
    bool held;                      /* all of the block's rows of x are in shared memory, not in the stages */
    int64_t steps, per;             /* steps of the depth, rounded up; of a split */
    int64_t cycles;                 /* by the model */
} ac_gpu_plan;

/* A product of `many` matrices [rows, depth] and [depth, n]. piece: floats of a copy of x (4, 2, 1); in_order: sums are
 * added in the order of the depth. */
typedef struct ac_gpu_shape {
    int64_t many, rows, n, depth;
    int32_t piece;
    bool in_order;
    bool held;             /* rows of x are normalised by the block (norm.h) */
    bool taps;             /* the depth is several taps: the last blocks of a split may have steps of zeros */
    int64_t hidden, parts; /* blocks compute gates of x from so many sums, through so many values; 0: they do not */
} ac_gpu_shape;

/* By compute capability: multiprocessors, cycles of a scheduler for 32 fma, bytes of a cycle from the L2 cache; of a
 * multiprocessor: warps, blocks, bytes of shared memory. */
typedef struct ac_gpu_machine {
    int32_t gpu, units, fma, l2, warps, blocks, shared;
} ac_gpu_machine;
const ac_gpu_machine *ac_gpu_machine_of(const ac_target *t);

/* n / by, rounded up. */
static inline int64_t ac_gpu_over(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}
static inline int64_t ac_gpu_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static inline int64_t ac_gpu_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

enum { GPU_SHARED = 48 << 10 }; /* bytes of shared memory of a block whose steps have x */

/* result.c: marks accesses by four floats, from instruction x on, as aligned if the buffer is. */
void ac_gpu_align_quads(ac_lb *b, ac_x x);

ac_gpu_plan ac_gpu_plan_product(const ac_target *t, const ac_gpu_shape *s);
/* Rows of x that all threads copy in a pass; passes of a step; floats of a row of x, of x in a stage, of a stage. */
static inline int32_t ac_gpu_pass(const ac_gpu_plan *p, int32_t piece)
{
    return p->threads * piece / p->bk;
}
static inline int32_t ac_gpu_passes(const ac_gpu_plan *p, int32_t piece)
{
    return (p->bm + ac_gpu_pass(p, piece) - 1) / ac_gpu_pass(p, piece);
}
static inline int32_t ac_gpu_line(const ac_gpu_plan *p)
{
    return p->bk + 4; /* a quarter of it is odd: rows begin in different banks */
}
static inline int32_t ac_gpu_stage_x(const ac_gpu_plan *p, int32_t piece)
{
    return p->held ? 0 : ac_gpu_passes(p, piece) * ac_gpu_pass(p, piece) * ac_gpu_line(p);
}
static inline int32_t ac_gpu_stage(const ac_gpu_plan *p, int32_t piece)
{
    return ac_gpu_stage_x(p, piece) + p->bk * p->bn;
}
/* Floats of a whole row of x in shared memory, of all rows; 0: they are in the stages. */
static inline int32_t ac_gpu_row(const ac_gpu_plan *p)
{
    return p->held ? (int32_t)p->steps * p->bk + 4 : 0;
}
static inline int64_t ac_gpu_rows_of_x(const ac_gpu_plan *p)
{
    return (int64_t)p->bm * ac_gpu_row(p);
}
/* Floats of shared memory for the stages, and then for the sums of the slices, if there are several. */
static inline int64_t ac_gpu_stages(const ac_gpu_plan *p, int32_t piece)
{
    const int64_t stages = (int64_t)p->stages * ac_gpu_stage(p, piece), slices = (int64_t)p->wk * p->bm * p->bn;
    return p->wk > 1 && slices > stages ? slices : stages;
}

#endif
