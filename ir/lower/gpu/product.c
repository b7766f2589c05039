#include "ir/lower/gpu/product.h"

#include "ir/lower/conv/gemm.h"
#include "ir/lower/gpu/tile.h"

#include <stdlib.h>

enum { LEAST_MACS = 1 << 15, LEAST_ROWS = 8, TENSOR_CORES = 80 /* compute capability */ };

/* The first that gives a GPU enough blocks; the last but two has small ones, those behind are for few columns. */
enum { N_TILES = 5, WIDE_TILES = 3, BUSY_BLOCKS = 96 };
static const gpu_tile TILES[2][N_TILES] = {{{128, 128, 8, 8, 256, 0, 0},
                                            {64, 64, 4, 4, 256, 0, 0},
                                            {32, 32, 4, 4, 64, 0, 0},
                                            {64, 16, 4, 4, 64, 0, 0},
                                            {64, 8, 4, 2, 64, 0, 0}},
                                           {{128, 128, 8, 8, 256, 64, 32}, /* by tensor cores */
                                            {64, 64, 4, 8, 128, 32, 32},
                                            {32, 32, 4, 4, 64, 32, 16},
                                            {64, 16, 4, 4, 64, 32, 16},
                                            {64, 8, 4, 2, 64, 32, 8}}};

bool gpu_gemm_fits(const ac_lower *L, const ac_channel *c, int64_t many, int64_t rows, int64_t n, int64_t depth)
{
    const bool constant = ac_tensor_is_const(c->w) && (!c->bias || ac_tensor_is_const(c->bias));
    if (L->target->isa != AC_ISA_CUDA || L->variant || (!constant && c->rounding != AC_ROUND_MATMUL))
        return false;
    const bool bytes = c->kind == AC_MACS_I8 && c->rounding != AC_ROUND_MATMUL && !c->zw;
    const bool pays = rows >= LEAST_ROWS && n >= 4 && many * rows * n * depth >= LEAST_MACS;
    if ((c->kind != AC_MACS_F32 && !bytes) || (!pays && !L->told.rows) || rows < 1 || n < 1 || depth < 1)
        return false;
    const int64_t packed =
        gpu_up(depth, GPU_STEP) * gpu_up(n, TILES[0][0].bn); /* at most: words of a product's weights */
    return rows <= INT32_MAX / 2 / n / many && packed <= INT32_MAX / many;
}

/* The least alignment of what is read along the reduction. */
static int32_t align_along(const gpu_gemm *g)
{
    const int32_t x = g->adj_x ? INT32_MAX : lo_align(g->L, g->c->x),
                  y = g->y && g->adj_y ? lo_align(g->L, g->y) : INT32_MAX;
    return x < y ? x : y;
}

/* What tensor cores multiply: AC_I8 as it is, floats as they are told; AC_NONE: they do not. */
static ac_dtype tensor_type(const gpu_gemm *g)
{
    const ac_lower *L = g->L;
    const int32_t told = L->told.tensor;
    const bool bytes = g->c->kind == AC_MACS_I8;
    if (atoi(L->target->cpu + 3) < TENSOR_CORES || told == AC_TENSOR_OFF || (!bytes && (L->exact || !told)))
        return AC_NONE;
    const ac_dtype d = bytes ? AC_I8 : told == AC_TENSOR_TF32 ? AC_F32 : told == AC_TENSOR_BF16 ? AC_BF16 : AC_F16;
    const int32_t unit = 32 / ac_dtype_bits(d);
    const bool pays = g->rows >= 16 && g->n >= 8 && g->depth >= 4 * unit;
    return pays || L->told.rows ? d : AC_NONE;
}

/* The lowering may be told which: as vecs. */
static gpu_tile tile_of(const gpu_gemm *g, bool mma)
{
    const gpu_tile *tiles = TILES[mma];
    if (g->L->told.vecs > 0)
        return tiles[(g->L->told.vecs - 1) % N_TILES];
    for (int i = WIDE_TILES; i < N_TILES; i++)
        if (g->n <= tiles[i].bn && (i + 1 == N_TILES || g->n > tiles[i + 1].bn))
            return tiles[i];
    for (int i = 0; i + 1 < WIDE_TILES; i++)
        if (2 * g->n > tiles[i].bn &&
            g->many * (gpu_up(g->rows, tiles[i].bm) / tiles[i].bm) * (gpu_up(g->n, tiles[i].bn) / tiles[i].bn) >=
                BUSY_BLOCKS)
            return tiles[i];
    return tiles[WIDE_TILES - 1];
}

/* Row and column in the block's tile of result (i, j) of thread t, and its accumulator. */
static ac_x row_of(const gpu_gemm *g, ac_x t, ac_x i)
{
    ac_lb *b = &g->L->b;
    if (gpu_by_mma(g))
        return gpu_mma_row(g, t, i);
    return lb_add(b, lb_mul(b, lb_div(b, t, lb_i32(b, g->t.bn / g->t.tn)), lb_i32(b, g->t.tm)), i);
}
static ac_x column_of(const gpu_gemm *g, ac_x t, ac_x j)
{
    ac_lb *b = &g->L->b;
    if (gpu_by_mma(g))
        return gpu_mma_column(g, t, j);
    return lb_add(b, lb_mul(b, lb_mod(b, t, lb_i32(b, g->t.bn / g->t.tn)), lb_i32(b, g->t.tn)), j);
}
static ac_x sum_of(const gpu_gemm *g, ac_x t, ac_x i, ac_x j)
{
    ac_lb *b = &g->L->b;
    return gpu_own(g, t, gpu_by_mma(g) ? gpu_mma_sum(g, i, j) : lb_add(b, lb_mul(b, i, lb_i32(b, g->t.tn)), j));
}

/* n values from shared memory into the thread's own. */
static void fetch(const gpu_gemm *g, ac_x t, int32_t from, ac_x at, int32_t to, int32_t n)
{
    ac_lb *b = &g->L->b;
    const int32_t wide = n < 4 ? n : 4;
    for (int32_t i = 0; i < n; i += wide) {
        const ac_x v = lb_load_flags(b, from, lb_add(b, at, lb_i32(b, i)), wide, AC_F_ALIGNED);
        for (int32_t l = 0; l < wide; l++)
            lb_store(b, to, gpu_own_at(g, t, i + l), lb_lane(b, v, l));
    }
}

static void multiply(const gpu_gemm *g)
{
    ac_lb *b = &g->L->b;
    const ac_x t = gpu_threads(g), zero = lb_i32(b, 0), row = row_of(g, t, zero), col = column_of(g, t, zero),
               u = gpu_unrolled(g, "u", GPU_STEP);
    fetch(g, t, g->sx, lb_add(b, lb_mul(b, u, lb_i32(b, g->lda)), row), g->rx, g->t.tm);
    fetch(g, t, g->sw, lb_add(b, lb_mul(b, u, lb_i32(b, g->ldb)), col), g->rw, g->t.tn);
    const ac_x i = gpu_unrolled(g, "i", g->t.tm), x = lb_load(b, g->rx, gpu_own(g, t, i), 1),
               j = gpu_unrolled(g, "j", g->t.tn);
    const ac_x w = lb_load(b, g->rw, gpu_own(g, t, j), 1), at = sum_of(g, t, i, j), sum = lb_load(b, g->acc, at, 1);
    lb_store(b, g->acc, at,
             g->unit > 1 ? lb_dot4(b, lb_bitcast(b, x, AC_I8), lb_bitcast(b, w, AC_I8), sum)
                         : lo_madd(g->L, x, w, sum));
    for (int k = 0; k < 4; k++)
        lb_end(b);
}

/* Column `col` of this block's product as an output channel; those beyond the last read that. */
static ac_x channel_of(const gpu_gemm *g, ac_x col)
{
    ac_lb *b = &g->L->b;
    return g->y ? col : lb_add(b, lb_mul(b, g->q, lb_i32(b, g->n)), col);
}

/* Accumulators before the first step: zero or the folded bias. */
static void start(const gpu_gemm *g, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const ac_x t = gpu_threads(g), j = gpu_unrolled(g, "j", g->t.tn);
    const ac_x col = lb_min(b, lb_add(b, n0, column_of(g, t, j)), lb_i32(b, g->n - 1)),
               v = ac_channel_start(g->c, channel_of(g, col), 1);
    const ac_x i = gpu_unrolled(g, "i", g->t.tm);
    lb_store(b, g->acc, sum_of(g, t, i, j), v);
    for (int k = 0; k < 3; k++)
        lb_end(b);
}

/* The result's index for row p of the block's product; all but the last. */
static void index_of(const gpu_gemm *g, ac_x p, ac_x *idx)
{
    ac_lb *b = &g->L->b;
    if (g->win) {
        const ac_x line = lb_div(b, p, lb_i32(b, g->win->x.out));
        idx[0] = lb_div(b, line, lb_i32(b, g->win->y.out));
        idx[1] = lb_mod(b, line, lb_i32(b, g->win->y.out));
        idx[2] = lb_mod(b, p, lb_i32(b, g->win->x.out));
    } else if (g->y) {
        ac_batch_index(g->L, g->q, idx);
        idx[g->c->out->rank - 2] = p;
    } else {
        ac_row_index(g->L, p, idx);
    }
}

static void finish(const gpu_gemm *g, ac_x m0, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const ac_x t = gpu_threads(g), i = gpu_unrolled(g, "i", g->t.tm), p = lb_add(b, m0, row_of(g, t, i));
    ac_x idx[AC_MAX_RANK];
    lb_if(b, lb_lt(b, p, lb_i32(b, g->rows)));
    index_of(g, p, idx);
    const ac_x j = gpu_unrolled(g, "j", g->t.tn), col = lb_add(b, n0, column_of(g, t, j));
    lb_if(b, lb_lt(b, col, lb_i32(b, g->n)));
    const ac_x oc = idx[g->c->out->rank - 1] = channel_of(g, col);
    lo_result(g->L, ac_channel_done(g->c, lb_load(b, g->acc, sum_of(g, t, i, j), 1), oc), idx, 1);
    for (int k = 0; k < 5; k++)
        lb_end(b);
}

static void open_buffers(gpu_gemm *g)
{
    ac_lower *L = g->L;
    const int64_t n = g->t.threads;
    const bool mma = gpu_by_mma(g);
    g->x = lo_operand(L, g->c->x);
    g->w = g->y ? lo_operand(L, g->y) : gpu_pack_weights(g);
    g->sx = lo_gpu_local(L, "sx", g->word, (int64_t)GPU_STEP * g->lda, AC_WHERE_SHARED);
    g->sw = lo_gpu_local(L, "sw", g->word, (int64_t)GPU_STEP * g->ldb, AC_WHERE_SHARED);
    g->acc = lo_gpu_local(L, "acc", g->c->acc, n * g->t.tm * g->t.tn, AC_WHERE_THREAD);
    g->rx = lo_gpu_local(L, mma ? "words" : "rx", g->word, n * (mma ? gpu_mma_words(g) : g->t.tm), AC_WHERE_THREAD);
    g->rw = lo_gpu_local(L, "rw", g->word, n * g->t.tn, AC_WHERE_THREAD);
    g->base = lo_gpu_local(L, "base", AC_I32, n * gpu_step_rows(g), AC_WHERE_THREAD);
    g->iy = lo_gpu_local(L, "iy", AC_I32, n * gpu_step_rows(g), AC_WHERE_THREAD);
    g->ix = lo_gpu_local(L, "ix", AC_I32, n * gpu_step_rows(g), AC_WHERE_THREAD);
}

/* Number system, tile and loads. */
static void choose(gpu_gemm *g)
{
    const ac_rows rows = {g->depth, g->depth, 1};
    const bool bytes = g->c->kind == AC_MACS_I8;
    const ac_dtype tensor = tensor_type(g);
    ac_channel_tables(g->c, g->c->n, bytes ? &rows : NULL, g->c->zx); /* what is outside of x reads as its zero point */
    g->elem = tensor ? tensor : bytes ? AC_I8 : AC_F32;
    g->unit = 32 / ac_dtype_bits(g->elem);
    g->word = bytes || tensor ? AC_I32 : AC_F32;
    g->t = tile_of(g, tensor != AC_NONE);
    const int32_t bytes_of = g->unit * ac_dtype_bits(g->c->x->dtype) / 8; /* a word's elements */
    g->single = g->unit > 1 && (g->run % g->unit || align_along(g) < bytes_of);
    g->wide = g->run % (4 * g->unit) == 0 && align_along(g) >= 16 ? 4 : 1;
    g->lda = g->t.bm + (tensor ? 8 : 4); /* fragments are read from other banks of shared memory than rows */
    g->ldb = g->t.bn + (tensor ? 8 : 0);
    g->L->out->schedule.tensor = (int32_t)tensor;
}

static int schedule(gpu_gemm *g)
{
    ac_lower *L = g->L;
    ac_lb *b = &L->b;
    choose(g);
    open_buffers(g);
    const int64_t cols = gpu_up(g->n, g->t.bn) / g->t.bn, tiles = gpu_up(g->rows, g->t.bm) / g->t.bm * cols,
                  steps = gpu_up(gpu_up(g->depth, g->unit) / g->unit, GPU_STEP);
    const ac_x block = lb_for(b, "g", lb_i32(b, 0), lb_i32(b, g->many * tiles), 1, AC_MARK_GRID);
    g->q = g->many > 1 ? lb_div(b, block, lb_i32(b, tiles)) : lb_i32(b, 0);
    const ac_x at = g->many > 1 ? lb_mod(b, block, lb_i32(b, tiles)) : block;
    const ac_x m0 = lb_mul(b, lb_div(b, at, lb_i32(b, cols)), lb_i32(b, g->t.bm));
    const ac_x n0 = lb_mul(b, lb_mod(b, at, lb_i32(b, cols)), lb_i32(b, g->t.bn));
    g->x_at = g->win ? lb_mul(b, g->q, lb_i32(b, g->run)) : lb_i32(b, 0);
    if (g->y) {
        ac_x idx[AC_MAX_RANK];
        ac_batch_index(L, g->q, idx);
        g->x_at = ac_matrix_at(L, g->c->x, idx);
        g->y_at = ac_matrix_at(L, g->y, idx);
    }
    gpu_find_rows(g, m0);
    start(g, n0);
    const ac_x k0 = lb_for(b, "k", lb_i32(b, 0), lb_i32(b, steps), GPU_STEP, AC_MARK_SERIAL);
    gpu_load_step(g, k0, m0, n0);
    if (gpu_by_mma(g))
        gpu_mma_multiply(g);
    else
        multiply(g);
    lb_end(b);
    finish(g, m0, n0);
    lb_end(b);
    return AC_OK;
}

int gpu_conv(ac_lower *L, ac_channel *c, const ac_window *win, int64_t groups)
{
    gpu_gemm g = {.L = L,
                  .c = c,
                  .win = win,
                  .many = groups,
                  .rows = win->n * win->y.out * win->x.out,
                  .depth = win->y.taps * win->x.taps * win->ic / groups,
                  .n = c->n / groups,
                  .run = win->ic / groups};
    return schedule(&g);
}

int gpu_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth)
{
    gpu_gemm g = {.L = L, .c = c, .many = 1, .rows = rows, .depth = depth, .n = c->n, .run = depth};
    return schedule(&g);
}

int gpu_matrices(ac_lower *L, ac_channel *c, bool adj_x, bool adj_y, int64_t depth)
{
    const ac_tensor *out = c->out;
    gpu_gemm g = {.L = L,
                  .c = c,
                  .y = c->w,
                  .adj_x = adj_x,
                  .adj_y = adj_y,
                  .rows = out->dim[out->rank - 2],
                  .depth = depth,
                  .n = out->dim[out->rank - 1],
                  .run = depth};
    g.many = ac_tensor_count(out) / (g.rows * g.n);
    return schedule(&g);
}
