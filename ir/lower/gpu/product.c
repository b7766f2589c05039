/* product.c - chooses the tiles of a product on a GPU and whether tensor cores compute it; emits accumulators and the
 * epilogue. */
#include "ir/lower/gpu/product.h"

#include "ir/lower/gpu/excite.h"
#include "ir/lower/gpu/excited_pays.h"
#include "ir/lower/gpu/small.h"
#include "ir/lower/gpu/staged.h"
#include "ir/lower/matrix.h"
#include "ir/ops/decode/expanded.h"

#include <assert.h>

enum { LEAST_MACS = 1 << 15, LEAST_ROWS = 8 };

/* Tiles, largest first: the first one with enough blocks for a GPU is used; the last two are for few columns. */
enum { N_TILES = 5, WIDE_TILES = 3, BUSY_BLOCKS = 96 };
static const ac_gpu_tile TILES[2][N_TILES] = {{{128, 128, 8, 8, 256, 0, 0},
                                               {64, 64, 4, 4, 256, 0, 0},
                                               {32, 32, 4, 4, 64, 0, 0},
                                               {64, 16, 4, 4, 64, 0, 0},
                                               {64, 8, 4, 2, 64, 0, 0}},
                                              {{128, 128, 8, 8, 256, 64, 32}, /* by tensor cores */
                                               {64, 64, 4, 8, 128, 32, 32},
                                               {32, 32, 4, 4, 64, 32, 16},
                                               {64, 16, 4, 4, 64, 32, 16},
                                               {64, 8, 4, 2, 64, 32, 8}}};

bool ac_gpu_gemm_fits(const ac_lower *L, const ac_channel *c, int64_t many, int64_t rows, int64_t n, int64_t depth)
{
    const bool constant = ac_tensor_is_const(c->w) && (!c->bias || ac_tensor_is_const(c->bias));
    if (L->target->isa != AC_ISA_CUDA || L->variant || (!constant && c->rounding != AC_ROUND_MATMUL))
        return false;
    const bool bytes = c->kind == AC_MACS_I8 && c->rounding != AC_ROUND_MATMUL && !c->zw;
    const bool pays = rows >= LEAST_ROWS && n >= 4 && many * rows * n * depth >= LEAST_MACS;
    if ((c->kind != AC_MACS_F32 && !bytes) || (!pays && !L->hint.rows) || rows < 1 || n < 1 || depth < 1)
        return false;
    const int64_t packed =
        ac_gpu_up(depth, GPU_STEP) * ac_gpu_up(n, TILES[0][0].bn); /* at most: words of a product's weights */
    return rows <= INT32_MAX / 2 / n / many && packed <= INT32_MAX / many;
}

/* The smallest alignment of the operands along the reduction. */
static int32_t align_along(const ac_gpu_gemm *g)
{
    const int32_t x = g->adj_x ? INT32_MAX : ac_lo_align(g->L, g->c->x),
                  y = g->y && g->adj_y ? ac_lo_align(g->L, g->y) : INT32_MAX;
    return x < y ? x : y;
}

/* The type that tensor cores multiply: AC_I8 itself, for floats the type of the hint; AC_NONE: they are not used. */
static ac_dtype tensor_type(const ac_gpu_gemm *g)
{
    const ac_lower *L = g->L;
    const int32_t hint = L->hint.tensor;
    const bool bytes = g->c->kind == AC_MACS_I8;
    if (g->gate || !ac_target_tensor_cores(L->target) || hint == AC_TENSOR_OFF || (!bytes && (L->exact || !hint)))
        return AC_NONE;
    const ac_dtype d = bytes ? AC_I8 : hint == AC_TENSOR_TF32 ? AC_F32 : hint == AC_TENSOR_BF16 ? AC_BF16 : AC_F16;
    const int32_t unit = 32 / ac_dtype_bits(d);
    const bool pays = g->rows >= 16 && g->n >= 8 && g->depth >= 4 * unit;
    return pays || L->hint.rows ? d : AC_NONE;
}

/* A hint may choose it: as vecs. */
static ac_gpu_tile tile_of(const ac_gpu_gemm *g, bool mma)
{
    const ac_gpu_tile *tiles = TILES[mma];
    if (g->L->hint.vecs > 0)
        return tiles[(g->L->hint.vecs - 1) % N_TILES];
    for (int i = WIDE_TILES; i < N_TILES; i++)
        if (g->n <= tiles[i].bn && (i + 1 == N_TILES || g->n > tiles[i + 1].bn))
            return tiles[i];
    for (int i = 0; i + 1 < WIDE_TILES; i++)
        if (2 * g->n > tiles[i].bn &&
            g->many * (ac_gpu_up(g->rows, tiles[i].bm) / tiles[i].bm) * (ac_gpu_up(g->n, tiles[i].bn) / tiles[i].bn) >=
                BUSY_BLOCKS)
            return tiles[i];
    return tiles[WIDE_TILES - 1];
}

/* Row and column in the block's tile of result (i, j) of thread t, and its accumulator. */
static ac_x row_of(const ac_gpu_gemm *g, ac_x t, ac_x i)
{
    ac_lb *b = &g->L->b;
    if (ac_gpu_by_mma(g))
        return ac_gpu_mma_row(g, t, i);
    return ac_lb_add(b, ac_lb_mul(b, ac_lb_div(b, t, ac_lb_i32(b, g->t.bn / g->t.tn)), ac_lb_i32(b, g->t.tm)), i);
}
static ac_x column_of(const ac_gpu_gemm *g, ac_x t, ac_x j)
{
    ac_lb *b = &g->L->b;
    if (ac_gpu_by_mma(g))
        return ac_gpu_mma_column(g, t, j);
    return ac_lb_add(b, ac_lb_mul(b, ac_lb_mod(b, t, ac_lb_i32(b, g->t.bn / g->t.tn)), ac_lb_i32(b, g->t.tn)), j);
}
static ac_x sum_of(const ac_gpu_gemm *g, ac_x t, ac_x i, ac_x j)
{
    ac_lb *b = &g->L->b;
    return ac_gpu_own(
        g, t, ac_gpu_by_mma(g) ? ac_gpu_mma_sum(g, i, j) : ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, g->t.tn)), j));
}

/* Loads n values from shared memory into the thread's registers. */
static void fetch(const ac_gpu_gemm *g, ac_x t, int32_t from, ac_x at, int32_t to, int32_t n)
{
    ac_lb *b = &g->L->b;
    const int32_t wide = n < 4 ? n : 4;
    for (int32_t i = 0; i < n; i += wide) {
        const ac_x v = ac_lb_load_flags(b, from, ac_lb_add(b, at, ac_lb_i32(b, i)), wide, AC_F_ALIGNED);
        for (int32_t l = 0; l < wide; l++)
            ac_lb_store(b, to, ac_gpu_own_at(g, t, i + l), ac_lb_lane(b, v, l));
    }
}

static void multiply(const ac_gpu_gemm *g)
{
    ac_lb *b = &g->L->b;
    const ac_x t = ac_gpu_threads(g), zero = ac_lb_i32(b, 0), row = row_of(g, t, zero), col = column_of(g, t, zero),
               u = ac_gpu_unrolled(g, "u", GPU_STEP);
    fetch(g, t, g->sx, ac_lb_add(b, ac_lb_mul(b, u, ac_lb_i32(b, g->lda)), row), g->rx, g->t.tm);
    fetch(g, t, g->sw, ac_lb_add(b, ac_lb_mul(b, u, ac_lb_i32(b, g->ldb)), col), g->rw, g->t.tn);
    const ac_x i = ac_gpu_unrolled(g, "i", g->t.tm), x = ac_lb_load(b, g->rx, ac_gpu_own(g, t, i), 1),
               j = ac_gpu_unrolled(g, "j", g->t.tn);
    const ac_x w = ac_lb_load(b, g->rw, ac_gpu_own(g, t, j), 1), at = sum_of(g, t, i, j),
               sum = ac_lb_load(b, g->acc, at, 1);
    ac_lb_store(b, g->acc, at,
                g->unit > 1 ? ac_lb_dot4(b, ac_lb_bitcast(b, x, AC_I8), ac_lb_bitcast(b, w, AC_I8), sum)
                            : ac_lo_madd(g->L, x, w, sum));
    for (int k = 0; k < 4; k++)
        ac_lb_end(b);
}

/* Accumulators before the first step: zero or the folded bias. */
static void start(const ac_gpu_gemm *g, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const ac_x t = ac_gpu_threads(g), j = ac_gpu_unrolled(g, "j", g->t.tn);
    const ac_x col = ac_lb_min(b, ac_lb_add(b, n0, column_of(g, t, j)), ac_lb_i32(b, g->n - 1)),
               v = ac_channel_start(g->c, ac_gpu_channel(g, col), 1);
    const ac_x i = ac_gpu_unrolled(g, "i", g->t.tm);
    ac_lb_store(b, g->acc, sum_of(g, t, i, j), v);
    for (int k = 0; k < 3; k++)
        ac_lb_end(b);
}

static void finish(const ac_gpu_gemm *g, ac_x m0, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const ac_x t = ac_gpu_threads(g), i = ac_gpu_unrolled(g, "i", g->t.tm), p = ac_lb_add(b, m0, row_of(g, t, i));
    ac_x idx[AC_MAX_RANK];
    ac_lb_if(b, ac_lb_lt(b, p, ac_lb_i32(b, g->rows)));
    ac_gpu_index(g, p, idx);
    const ac_x j = ac_gpu_unrolled(g, "j", g->t.tn), col = ac_lb_add(b, n0, column_of(g, t, j));
    ac_lb_if(b, ac_lb_lt(b, col, ac_lb_i32(b, g->n)));
    const ac_x oc = idx[g->c->out->rank - 1] = ac_gpu_channel(g, col);
    ac_lo_result(g->L, ac_channel_done(g->c, ac_lb_load(b, g->acc, sum_of(g, t, i, j), 1), oc), idx, 1);
    for (int k = 0; k < 5; k++)
        ac_lb_end(b);
}

static void open_buffers(ac_gpu_gemm *g)
{
    ac_lower *L = g->L;
    const int64_t n = g->t.threads;
    const bool mma = ac_gpu_by_mma(g);
    g->x = ac_lo_operand(L, g->c->x);
    g->w = g->y ? ac_lo_operand(L, g->y)
                : ac_gpu_pack_weights(g, ac_gpu_up(ac_gpu_up(g->depth, g->unit) / g->unit, GPU_STEP),
                                      ac_gpu_up(g->n, g->t.bn));
    g->sx = ac_lo_gpu_local(L, "sx", g->word, (int64_t)GPU_STEP * g->lda, AC_WHERE_SHARED);
    g->sw = ac_lo_gpu_local(L, "sw", g->word, (int64_t)GPU_STEP * g->ldb, AC_WHERE_SHARED);
    g->acc = ac_lo_gpu_local(L, "acc", g->c->acc, n * g->t.tm * g->t.tn, AC_WHERE_THREAD);
    g->rx =
        ac_lo_gpu_local(L, mma ? "words" : "rx", g->word, n * (mma ? ac_gpu_mma_words(g) : g->t.tm), AC_WHERE_THREAD);
    g->rw = ac_lo_gpu_local(L, "rw", g->word, n * g->t.tn, AC_WHERE_THREAD);
    g->base = ac_lo_gpu_local(L, "base", AC_I32, n * ac_gpu_step_rows(g), AC_WHERE_THREAD);
    g->iy = ac_lo_gpu_local(L, "iy", AC_I32, n * ac_gpu_step_rows(g), AC_WHERE_THREAD);
    g->ix = ac_lo_gpu_local(L, "ix", AC_I32, n * ac_gpu_step_rows(g), AC_WHERE_THREAD);
}

/* Number system, tile and loads. */
static void choose(ac_gpu_gemm *g)
{
    const ac_rows rows = {g->depth, g->depth, 1};
    const bool bytes = g->c->kind == AC_MACS_I8;
    const ac_dtype tensor = g->norm ? AC_NONE : tensor_type(g);
    ac_channel_tables(g->c, g->c->n, bytes ? &rows : NULL, g->c->zx); /* elements outside of x read as its zero point */
    g->elem = tensor ? tensor : bytes ? AC_I8 : AC_F32;
    g->unit = 32 / ac_dtype_bits(g->elem);
    g->word = bytes || tensor ? AC_I32 : AC_F32;
    g->t = tile_of(g, tensor != AC_NONE);
    const int32_t bytes_of = g->unit * ac_dtype_bits(g->c->x->dtype) / 8; /* a word's elements */
    g->single = g->unit > 1 && (g->run % g->unit || align_along(g) < bytes_of);
    g->wide = g->run % (4 * g->unit) == 0 && align_along(g) >= 16 ? 4 : 1;
    g->lda = g->t.bm + (tensor ? 8 : 4); /* pads rows so that fragments are in different banks of shared memory */
    g->ldb = g->t.bn + (tensor ? 8 : 0);
    g->L->out->schedule.tensor = (int32_t)tensor;
}

static int schedule(ac_gpu_gemm *g)
{
    ac_lower *L = g->L;
    ac_lb *b = &L->b;
    choose(g);
    const bool fits = ac_gpu_staged_fits(g);
    assert((!g->gate && !g->e) || fits);
    if (g->norm || fits)
        return ac_gpu_staged_product(g);
    if (ac_gpu_small_fits(g))
        return ac_gpu_small_product(g);
    open_buffers(g);
    const int64_t cols = ac_gpu_up(g->n, g->t.bn) / g->t.bn, tiles = ac_gpu_up(g->rows, g->t.bm) / g->t.bm * cols,
                  steps = ac_gpu_up(ac_gpu_up(g->depth, g->unit) / g->unit, GPU_STEP);
    const ac_x block = ac_lb_for(b, "g", ac_lb_i32(b, 0), ac_lb_i32(b, g->many * tiles), 1, AC_MARK_GRID);
    g->q = g->many > 1 ? ac_lb_div(b, block, ac_lb_i32(b, tiles)) : ac_lb_i32(b, 0);
    const ac_x at = g->many > 1 ? ac_lb_mod(b, block, ac_lb_i32(b, tiles)) : block;
    const ac_x m0 = ac_lb_mul(b, ac_lb_div(b, at, ac_lb_i32(b, cols)), ac_lb_i32(b, g->t.bm));
    const ac_x n0 = ac_lb_mul(b, ac_lb_mod(b, at, ac_lb_i32(b, cols)), ac_lb_i32(b, g->t.bn));
    g->x_at = g->win ? ac_lb_mul(b, g->q, ac_lb_i32(b, g->run)) : ac_lb_i32(b, 0);
    if (g->y) {
        ac_x idx[AC_MAX_RANK];
        ac_batch_index(L, g->q, idx);
        g->x_at = ac_matrix_at(L, g->c->x, idx);
        g->y_at = ac_matrix_at(L, g->y, idx);
    }
    ac_gpu_find_rows(g, m0);
    start(g, n0);
    const ac_x k0 = ac_lb_for(b, "k", ac_lb_i32(b, 0), ac_lb_i32(b, steps), GPU_STEP, AC_MARK_SERIAL);
    ac_gpu_load_step(g, k0, m0, n0);
    if (ac_gpu_by_mma(g))
        ac_gpu_mma_multiply(g);
    else
        multiply(g);
    ac_lb_end(b);
    finish(g, m0, n0);
    ac_lb_end(b);
    return AC_OK;
}

int ac_gpu_conv(ac_lower *L, ac_channel *c, const ac_window *win, int64_t groups)
{
    ac_gpu_gemm g = {.L = L,
                     .c = c,
                     .win = win,
                     .many = groups,
                     .rows = win->n * win->y.out * win->x.out,
                     .depth = win->y.taps * win->x.taps * win->ic / groups,
                     .n = c->n / groups,
                     .run = win->ic / groups};
    return schedule(&g);
}

bool ac_gpu_norm_rows_fits(const ac_lower *L, const ac_channel *c, int64_t rows, int64_t depth)
{
    enum { MOST = 1024 }; /* columns: 8 rows and the stages fit into 64 KiB of shared memory */
    return depth <= MOST && !c->w->narrowed && !L->exact && ac_gpu_gemm_fits(L, c, 1, rows, c->n, depth);
}

int ac_gpu_rows(ac_lower *L, ac_channel *c, ac_gpu_norm *norm, int64_t rows, int64_t depth)
{
    ac_gpu_gemm g = {.L = L, .c = c, .norm = norm, .many = 1, .rows = rows, .depth = depth, .n = c->n, .run = depth};
    return schedule(&g);
}

bool ac_gpu_gated_fits(const ac_lower *L, const ac_channel *c, int64_t image, int64_t rows, int64_t depth)
{
    enum { MOST_GATES = 8192, MOST_ROWS = 128 }; /* in shared memory; of a block */
    const bool plain = !c->x->narrowed && !c->w->narrowed && L->hint.vecs <= 0;
    if (!plain || !ac_gpu_gemm_fits(L, c, 1, rows, c->n, depth))
        return false;
    const int64_t images = ac_gpu_up(MOST_ROWS, image) / image + 1;
    return (images < rows / image ? images : rows / image) * ac_gpu_up(depth, 64) <= MOST_GATES;
}

int ac_gpu_gated_rows(ac_lower *L, ac_channel *c, ac_tensor *gate, int64_t image, int64_t rows, int64_t depth)
{
    ac_gpu_gemm g = {
        .L = L, .c = c, .gate = gate, .image = image, .many = 1, .rows = rows, .depth = depth, .n = c->n, .run = depth};
    return schedule(&g);
}

bool ac_gpu_excited_fits(const ac_lower *L, const ac_channel *c, const ac_excite *e, int64_t image)
{
    return e->images == 1 && ac_gpu_excite_fits(L, e) && !e->x->narrowed && !c->x->narrowed && !c->w->narrowed &&
           L->hint.vecs <= 0 && ac_gpu_gemm_fits(L, c, 1, image, c->n, e->channels);
}

bool ac_gpu_excited_pays(const ac_target *t, const ac_excite *e, int64_t outputs, const ac_expanded *d)
{
    enum { LAUNCH = 1400, GATES = 3000 }; /* cycles of a kernel for the gates alone, and of its launch */
    ac_gpu_shape s = {.many = 1, .n = outputs, .depth = e->channels, .piece = 4};
    s.rows = d->down.out * d->across.out;
    const int64_t apart = ac_gpu_plan_product(t, &s).cycles;
    s.hidden = e->hidden;
    s.parts = d->tiles;
    return ac_gpu_plan_product(t, &s).cycles < apart + LAUNCH + GATES;
}

int ac_gpu_excited_rows(ac_lower *L, ac_channel *c, const ac_excite *e, int64_t image)
{
    ac_gpu_gemm g = {.L = L, .c = c, .e = e, .image = image, .many = 1, .rows = image, .depth = e->channels, .n = c->n};
    g.run = g.depth;
    return schedule(&g);
}

int ac_gpu_matrices(ac_lower *L, ac_channel *c, bool adj_x, bool adj_y, int64_t depth)
{
    const ac_tensor *out = c->out;
    ac_gpu_gemm g = {.L = L,
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
