/* tile.h - one tile of a matrix product on a GPU; private to the files of product.h.
 *
 *     product.c        which tile, accumulators, the epilogue
 *     result.c         where results are
 *     step.c           a step of the reduction into shared memory: x as the filter meets it or as a matrix, weights, a
 *                      matrix y
 *     tensor_core.c    multiplying a step by tensor cores
 *
 * Shared memory holds a step as words of 32 bits, sx[word][row] and sw[word][column]. A word is `unit` neighbours along
 * the reduction: a float, four bytes, or, for tensor cores, two halves or a float with 10 bits of mantissa. */
#ifndef AC_IR_LOWER_GPU_TILE_H
#define AC_IR_LOWER_GPU_TILE_H
#include "ir/lower/channel.h"
#include "ir/lower/gpu/norm.h"
#include "ir/lower/window.h"
#include "ir/ops/decode/excite.h"

enum { GPU_STEP = 16 }; /* words of the reduction in a step */

typedef struct ac_gpu_tile {
    int32_t bm, bn, tm, tn; /* results of a block, and of a thread: rows, columns */
    int32_t threads;
    int32_t wm, wn; /* of a warp by tensor cores; 0: without */
} ac_gpu_tile;

typedef struct ac_gpu_gemm {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win; /* NULL: rows of x are contiguous */
    ac_gpu_norm *norm;    /* rows of x are normalised by it; NULL: they are as in memory */
    ac_tensor *y;         /* the right side is computed; NULL: it is c->w, packed */
    ac_tensor *gate;      /* x is multiplied by its numbers, one for each depth and image; NULL: it is not */
    int64_t image;        /* ... rows of an image */
    const ac_excite *e;   /* the blocks compute such numbers themselves; NULL: they do not */
    bool adj_x, adj_y;    /* x [depth, rows], y [n, depth] */
    int64_t many;         /* independent products: groups of a convolution, batches of matrices */
    int64_t rows, depth, n;
    int64_t run;        /* elements along the reduction that are contiguous in x */
    ac_dtype elem;      /* of a word: F32, I8, F16, BF16 */
    int32_t unit, wide; /* elements of a word; words of a load along the reduction, 1 or 4 */
    bool single;        /* elements of a word are loaded one by one: they are not contiguous or not aligned */
    ac_gpu_tile t;
    ac_dtype word;                                   /* of shared memory: f32 or i32 */
    int32_t lda, ldb;                                /* words between rows of sx and sw */
    int32_t x, w, sx, sw, acc, base, iy, ix, rx, rw; /* buffers */
    ac_x q, x_at, y_at;                              /* of the block: which product, its first elements */
} ac_gpu_gemm;

static inline bool ac_gpu_by_mma(const ac_gpu_gemm *g)
{
    return g->t.wm > 0;
}
static inline int64_t ac_gpu_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}
/* Element k of the threads' own in the block loop at t. */
static inline ac_x ac_gpu_own(const ac_gpu_gemm *g, ac_x t, ac_x k)
{
    return ac_lb_add(&g->L->b, ac_lb_mul(&g->L->b, k, ac_lb_i32(&g->L->b, g->t.threads)), t);
}
static inline ac_x ac_gpu_own_at(const ac_gpu_gemm *g, ac_x t, int64_t k)
{
    return ac_gpu_own(g, t, ac_lb_i32(&g->L->b, k));
}
static inline ac_x ac_gpu_threads(const ac_gpu_gemm *g)
{
    return ac_lb_for(&g->L->b, "t", ac_lb_i32(&g->L->b, 0), ac_lb_i32(&g->L->b, g->t.threads), 1, AC_MARK_BLOCK);
}
static inline ac_x ac_gpu_unrolled(const ac_gpu_gemm *g, const char *name, int64_t n)
{
    return ac_lb_for(&g->L->b, name, ac_lb_i32(&g->L->b, 0), ac_lb_i32(&g->L->b, n), 1, AC_MARK_UNROLL);
}

/* result.c: the output channel of column `col` of the block's product; the result's index of row p of it, without the
 * last dimension. */
ac_x ac_gpu_channel(const ac_gpu_gemm *g, ac_x col);
void ac_gpu_index(const ac_gpu_gemm *g, ac_x p, ac_x *idx);

/* step.c */
/* Where the window of output position p begins in x: its pixel, counted over all images, and its row and column, which
 * padding makes negative. */
typedef struct ac_gpu_corner {
    ac_x pixel, iy, ix;
} ac_gpu_corner;
ac_gpu_corner ac_gpu_corner_of(const ac_gpu_gemm *g, ac_x p);
/* [product][panel of channels][word][channel], padded to `deep` words: the buffer. */
int32_t ac_gpu_pack_weights(const ac_gpu_gemm *g, int64_t deep, int64_t panel);
int32_t ac_gpu_step_rows(const ac_gpu_gemm *g);       /* rows of x that a thread loads, see ac_gpu_find_rows */
void ac_gpu_find_rows(const ac_gpu_gemm *g, ac_x m0); /* where they begin: into registers */
void ac_gpu_load_step(const ac_gpu_gemm *g, ac_x k0, ac_x m0, ac_x n0); /* k0: the first word */

/* tensor_core.c: row and column of result (i, j) of thread t in its block's tile, and its accumulator; words of
 * fragments. */
ac_x ac_gpu_mma_row(const ac_gpu_gemm *g, ac_x t, ac_x i);
ac_x ac_gpu_mma_column(const ac_gpu_gemm *g, ac_x t, ac_x j);
ac_x ac_gpu_mma_sum(const ac_gpu_gemm *g, ac_x i, ac_x j);
int32_t ac_gpu_mma_words(const ac_gpu_gemm *g);
void ac_gpu_mma_multiply(const ac_gpu_gemm *g);

#endif
