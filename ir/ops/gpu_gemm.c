#include "ir/ops/gpu_gemm.h"

#include "ir/ops/gemm.h"

enum { STEP = 16, OUTSIDE = -(1 << 28), LEAST_MACS = 1 << 15, LEAST_ROWS = 8 };

typedef struct tile {
    int32_t bm, bn, tm, tn, threads;
} tile;

/* The first that gives a GPU enough blocks; the last has small ones. */
static const tile TILES[] = {{128, 128, 8, 8, 256}, {64, 64, 4, 4, 256}, {32, 32, 4, 4, 64}};
enum { N_TILES = sizeof TILES / sizeof *TILES, BUSY_BLOCKS = 96 };

typedef struct gemm {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win; /* NULL: rows of x lie one after another */
    int64_t rows, depth;  /* depth in elements of x */
    int32_t unit;         /* elements of x in a unit of the reduction: 1 (f32), 4 (i8) */
    int32_t wide;         /* units in a load of x: 1 or 4 */
    tile t;
    ac_dtype word;                                   /* f32 or i32: of a unit in shared memory */
    int32_t x, w, sx, sw, acc, base, iy, ix, rx, rw; /* buffers */
} gemm;

bool gpu_gemm_fits(const ac_lower *L, const ac_channel *c, int64_t rows, int64_t depth, int64_t run)
{
    if (L->target->isa != AC_ISA_CUDA || L->variant || !ac_tensor_is_const(c->w) ||
        (c->bias && !ac_tensor_is_const(c->bias)))
        return false;
    const bool kind = c->kind == AC_MACS_F32 || (c->kind == AC_MACS_I8 && !c->zw && run % 4 == 0);
    const bool pays = rows >= LEAST_ROWS && c->n >= 4 && rows * c->n * depth >= LEAST_MACS;
    return kind && (pays || L->told.rows) && rows > 0 && depth > 0 && rows <= INT32_MAX / 2 / c->n;
}

static int64_t up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* The lowering may be told which: as vecs. */
static tile tile_of(const ac_lower *L, int64_t rows, int64_t n)
{
    if (L->told.vecs > 0)
        return TILES[(L->told.vecs - 1) % N_TILES];
    for (int i = 0; i + 1 < N_TILES; i++)
        if (2 * n > TILES[i].bn &&
            up(rows, TILES[i].bm) / TILES[i].bm * (up(n, TILES[i].bn) / TILES[i].bn) >= BUSY_BLOCKS)
            return TILES[i];
    return TILES[N_TILES - 1];
}

/* Element k of the threads' own in the block loop at t. */
static ac_x own(const gemm *g, ac_x t, ac_x k)
{
    ac_lb *b = &g->L->b;
    return lb_add(b, lb_mul(b, k, lb_i32(b, g->t.threads)), t);
}
static ac_x own_at(const gemm *g, ac_x t, int64_t k)
{
    return own(g, t, lb_i32(&g->L->b, k));
}
static ac_x threads(const gemm *g)
{
    return lb_for(&g->L->b, "t", lb_i32(&g->L->b, 0), lb_i32(&g->L->b, g->t.threads), 1, AC_MARK_BLOCK);
}
static ac_x unrolled(const gemm *g, const char *name, int64_t n)
{
    return lb_for(&g->L->b, name, lb_i32(&g->L->b, 0), lb_i32(&g->L->b, n), 1, AC_MARK_UNROLL);
}
static ac_x zero_of(const gemm *g)
{
    return g->word == AC_F32 ? lb_f32(&g->L->b, 0) : lb_i32(&g->L->b, 0);
}

/* Weights as [unit of the reduction][channel], both padded: floats, or words of four bytes. */
static int32_t pack(const gemm *g)
{
    ac_lower P;
    const int64_t units = up(g->depth, g->unit) / g->unit, n = g->c->n, wide = up(n, g->t.bn), deep = up(units, STEP);
    const int32_t to = lo_pack_open(g->L, &P, "w", g->word, deep * wide);
    ac_lb *b = &P.b;
    const int32_t from = lo_operand(&P, g->c->w);
    const ac_x u = lb_for_n(b, "u", deep), oc = lb_for_n(b, "oc", wide),
               at = lb_add(b, lb_mul(b, u, lb_i32(b, wide)), oc);
    lb_store(b, to, at, g->word == AC_F32 ? lb_f32(b, 0) : lb_i32(b, 0));
    lb_if(b, lb_and(b, lb_lt(b, u, lb_i32(b, units)), lb_lt(b, oc, lb_i32(b, n))));
    const ac_x k = lb_add(b, lb_mul(b, oc, lb_i32(b, g->depth)), lb_mul(b, u, lb_i32(b, g->unit)));
    ac_x v = 0;
    for (int32_t j = 0; j < g->unit && g->unit > 1; j++) {
        ac_x byte = lb_cast(b, lb_load(b, from, lb_add(b, k, lb_i32(b, j)), 1), AC_I32);
        byte = lb_shl(b, lb_and(b, byte, lb_i32(b, 255)), lb_i32(b, 8 * j));
        v = v ? lb_or(b, v, byte) : byte;
    }
    lb_store(b, to, at, v ? v : lb_load(b, from, k, 1));
    lb_end(b);
    lb_end(b);
    lb_end(b);
    return lo_pack_close(g->L, &P);
}

/* Loads of x in a step: `lines` of a tile's row, and how many rows a pass of all threads covers. */
static int32_t lines(const gemm *g)
{
    return STEP / g->wide;
}
static int32_t loads(const gemm *g)
{
    return g->t.bm * lines(g) / g->t.threads;
}

/* Where each row begins that a thread loads: kept in registers. */
static void find_rows(const gemm *g, ac_x m0)
{
    ac_lb *b = &g->L->b;
    const ac_x t = threads(g), line = lb_div(b, t, lb_i32(b, lines(g)));
    for (int32_t i = 0; i < loads(g); i++) {
        const ac_x p = lb_add(b, m0, lb_add(b, line, lb_i32(b, (int64_t)i * (g->t.threads / lines(g)))));
        const ac_x inside = lb_lt(b, p, lb_i32(b, g->rows));
        if (!g->win) {
            lb_store(b, g->base, own_at(g, t, i), lb_mul(b, p, lb_i32(b, g->depth)));
            lb_store(b, g->iy, own_at(g, t, i), lb_select(b, inside, lb_i32(b, 0), lb_i32(b, OUTSIDE)));
            continue;
        }
        const ac_slide *y = &g->win->y, *x = &g->win->x;
        const ac_x ox = lb_mod(b, p, lb_i32(b, x->out)), row = lb_div(b, p, lb_i32(b, x->out));
        const ac_x oy = lb_mod(b, row, lb_i32(b, y->out)), n = lb_div(b, row, lb_i32(b, y->out));
        const ac_x iy = lb_sub(b, lb_mul(b, oy, lb_i32(b, y->stride)), lb_i32(b, y->pad));
        const ac_x ix = lb_sub(b, lb_mul(b, ox, lb_i32(b, x->stride)), lb_i32(b, x->pad));
        const ac_x line_at = lb_add(b, lb_mul(b, lb_add(b, lb_mul(b, n, lb_i32(b, y->in)), iy), lb_i32(b, x->in)), ix);
        lb_store(b, g->base, own_at(g, t, i), lb_mul(b, line_at, lb_i32(b, g->win->ic)));
        lb_store(b, g->iy, own_at(g, t, i), lb_select(b, inside, iy, lb_i32(b, OUTSIDE)));
        lb_store(b, g->ix, own_at(g, t, i), ix);
    }
    lb_end(b);
}

/* 0 <= v < n */
static ac_x within(ac_lb *b, ac_x v, int64_t n)
{
    return lb_and(b, lb_le(b, lb_i32(b, 0), v), lb_lt(b, v, lb_i32(b, n)));
}

/* `wide` units of x from element k of row i, into column `row` of the step's tile; zeros outside. */
static void load_x(const gemm *g, ac_x t, int32_t i, ac_x k, ac_x to)
{
    ac_lb *b = &g->L->b;
    const int32_t lda = g->t.bm + 4;
    const ac_x base = lb_load(b, g->base, own_at(g, t, i), 1), iy = lb_load(b, g->iy, own_at(g, t, i), 1);
    ac_x inside = lb_lt(b, k, lb_i32(b, g->depth)), at;
    if (g->win) {
        const ac_slide *sy = &g->win->y, *sx = &g->win->x;
        const ac_x ic = lb_mod(b, k, lb_i32(b, g->win->ic)), tap = lb_div(b, k, lb_i32(b, g->win->ic));
        const ac_x ky = lb_mul(b, lb_div(b, tap, lb_i32(b, sx->taps)), lb_i32(b, sy->dil));
        const ac_x kx = lb_mul(b, lb_mod(b, tap, lb_i32(b, sx->taps)), lb_i32(b, sx->dil));
        const ac_x ix = lb_load(b, g->ix, own_at(g, t, i), 1);
        inside =
            lb_and(b, inside, lb_and(b, within(b, lb_add(b, iy, ky), sy->in), within(b, lb_add(b, ix, kx), sx->in)));
        at = lb_add(b, base,
                    lb_add(b, lb_mul(b, lb_add(b, lb_mul(b, ky, lb_i32(b, sx->in)), kx), lb_i32(b, g->win->ic)), ic));
    } else {
        inside = lb_and(b, inside, lb_le(b, lb_i32(b, 0), iy));
        at = lb_add(b, base, k);
    }
    lb_if(b, inside);
    ac_x v = lb_load_flags(b, g->x, at, g->wide * g->unit, AC_F_ALIGNED);
    if (g->unit > 1)
        v = lb_bitcast(b, v, AC_I32);
    for (int32_t l = 0; l < g->wide; l++)
        lb_store(b, g->sx, lb_add(b, to, lb_i32(b, (int64_t)l * lda)), lb_lane(b, v, l));
    lb_else(b);
    const int32_t zx = g->c->zx & 255;
    const ac_x none = g->unit > 1 ? lb_i32(b, (int32_t)((uint32_t)zx * 0x01010101u)) : zero_of(g);
    for (int32_t l = 0; l < g->wide; l++)
        lb_store(b, g->sx, lb_add(b, to, lb_i32(b, (int64_t)l * lda)), none);
    lb_end(b);
}

/* One step of the reduction into shared memory. k0: its first unit. */
static void load_step(const gemm *g, ac_x k0, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const int32_t lda = g->t.bm + 4, quads = g->t.bn / 4, wide_w = (int32_t)up(g->c->n, g->t.bn);
    const ac_x t = threads(g);
    const ac_x unit = lb_mul(b, lb_mod(b, t, lb_i32(b, lines(g))), lb_i32(b, g->wide)),
               line = lb_div(b, t, lb_i32(b, lines(g)));
    const ac_x k = lb_mul(b, lb_add(b, k0, unit), lb_i32(b, g->unit));
    for (int32_t i = 0; i < loads(g); i++) {
        const ac_x row = lb_add(b, line, lb_i32(b, (int64_t)i * (g->t.threads / lines(g))));
        load_x(g, t, i, k, lb_add(b, lb_mul(b, unit, lb_i32(b, lda)), row));
    }
    for (int32_t i = 0; i < STEP * quads / g->t.threads; i++) {
        const ac_x e = lb_add(b, t, lb_i32(b, (int64_t)i * g->t.threads));
        const ac_x u = lb_div(b, e, lb_i32(b, quads)), col = lb_mul(b, lb_mod(b, e, lb_i32(b, quads)), lb_i32(b, 4));
        const ac_x from = lb_add(b, lb_mul(b, lb_add(b, k0, u), lb_i32(b, wide_w)), lb_add(b, n0, col));
        lb_store(b, g->sw, lb_add(b, lb_mul(b, u, lb_i32(b, g->t.bn)), col),
                 lb_load_flags(b, g->w, from, 4, AC_F_ALIGNED));
    }
    lb_end(b);
}

/* n values from shared memory into the thread's own. */
static void fetch(const gemm *g, ac_x t, int32_t from, ac_x at, int32_t to, int32_t n)
{
    ac_lb *b = &g->L->b;
    for (int32_t i = 0; i < n; i += 4) {
        const ac_x v = lb_load_flags(b, from, lb_add(b, at, lb_i32(b, i)), 4, AC_F_ALIGNED);
        for (int32_t l = 0; l < 4; l++)
            lb_store(b, to, own_at(g, t, i + l), lb_lane(b, v, l));
    }
}

static ac_x first_row(const gemm *g, ac_x t)
{
    return lb_mul(&g->L->b, lb_div(&g->L->b, t, lb_i32(&g->L->b, g->t.bn / g->t.tn)), lb_i32(&g->L->b, g->t.tm));
}
static ac_x first_col(const gemm *g, ac_x t)
{
    return lb_mul(&g->L->b, lb_mod(&g->L->b, t, lb_i32(&g->L->b, g->t.bn / g->t.tn)), lb_i32(&g->L->b, g->t.tn));
}

static void multiply(const gemm *g)
{
    ac_lb *b = &g->L->b;
    const int32_t lda = g->t.bm + 4;
    const ac_x t = threads(g), row = first_row(g, t), col = first_col(g, t), u = unrolled(g, "u", STEP);
    fetch(g, t, g->sx, lb_add(b, lb_mul(b, u, lb_i32(b, lda)), row), g->rx, g->t.tm);
    fetch(g, t, g->sw, lb_add(b, lb_mul(b, u, lb_i32(b, g->t.bn)), col), g->rw, g->t.tn);
    const ac_x i = unrolled(g, "i", g->t.tm), x = lb_load(b, g->rx, own(g, t, i), 1), j = unrolled(g, "j", g->t.tn);
    const ac_x w = lb_load(b, g->rw, own(g, t, j), 1), at = own(g, t, lb_add(b, lb_mul(b, i, lb_i32(b, g->t.tn)), j));
    const ac_x sum = lb_load(b, g->acc, at, 1);
    lb_store(b, g->acc, at,
             g->unit > 1 ? lb_dot4(b, lb_bitcast(b, x, AC_I8), lb_bitcast(b, w, AC_I8), sum)
                         : lo_madd(g->L, x, w, sum));
    for (int k = 0; k < 4; k++)
        lb_end(b);
}

/* Accumulators before the first step: zero or the folded bias. */
static void start(const gemm *g, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const ac_x t = threads(g), col = lb_add(b, n0, first_col(g, t)), j = unrolled(g, "j", g->t.tn);
    const ac_x oc = lb_min(b, lb_add(b, col, j), lb_i32(b, g->c->n - 1)), v = ac_channel_start(g->c, oc, 1);
    const ac_x i = unrolled(g, "i", g->t.tm);
    lb_store(b, g->acc, own(g, t, lb_add(b, lb_mul(b, i, lb_i32(b, g->t.tn)), j)), v);
    for (int k = 0; k < 3; k++)
        lb_end(b);
}

static void finish(const gemm *g, ac_x m0, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const ac_x t = threads(g), row = lb_add(b, m0, first_row(g, t)), col = lb_add(b, n0, first_col(g, t));
    const ac_x i = unrolled(g, "i", g->t.tm), p = lb_add(b, row, i);
    ac_x idx[AC_MAX_RANK];
    lb_if(b, lb_lt(b, p, lb_i32(b, g->rows)));
    if (g->win) {
        const ac_x line = lb_div(b, p, lb_i32(b, g->win->x.out));
        idx[0] = lb_div(b, line, lb_i32(b, g->win->y.out));
        idx[1] = lb_mod(b, line, lb_i32(b, g->win->y.out));
        idx[2] = lb_mod(b, p, lb_i32(b, g->win->x.out));
    } else {
        ac_row_index(g->L, p, idx);
    }
    const ac_x j = unrolled(g, "j", g->t.tn), oc = lb_add(b, col, j);
    lb_if(b, lb_lt(b, oc, lb_i32(b, g->c->n)));
    const ac_x acc = lb_load(b, g->acc, own(g, t, lb_add(b, lb_mul(b, i, lb_i32(b, g->t.tn)), j)), 1);
    idx[g->c->out->rank - 1] = oc;
    lo_result(g->L, ac_channel_done(g->c, acc, oc), idx, 1);
    for (int k = 0; k < 5; k++)
        lb_end(b);
}

static void open_buffers(gemm *g)
{
    ac_lower *L = g->L;
    const int64_t n = g->t.threads;
    g->x = lo_operand(L, g->c->x);
    g->w = pack(g);
    g->sx = lo_gpu_local(L, "sx", g->word, STEP * ((int64_t)g->t.bm + 4), AC_WHERE_SHARED);
    g->sw = lo_gpu_local(L, "sw", g->word, (int64_t)STEP * g->t.bn, AC_WHERE_SHARED);
    g->acc = lo_gpu_local(L, "acc", g->c->acc, n * g->t.tm * g->t.tn, AC_WHERE_THREAD);
    g->rx = lo_gpu_local(L, "rx", g->word, n * g->t.tm, AC_WHERE_THREAD);
    g->rw = lo_gpu_local(L, "rw", g->word, n * g->t.tn, AC_WHERE_THREAD);
    g->base = lo_gpu_local(L, "base", AC_I32, n * loads(g), AC_WHERE_THREAD);
    g->iy = lo_gpu_local(L, "iy", AC_I32, n * loads(g), AC_WHERE_THREAD);
    g->ix = lo_gpu_local(L, "ix", AC_I32, n * loads(g), AC_WHERE_THREAD);
}

static int schedule(gemm *g, int64_t run)
{
    ac_lower *L = g->L;
    ac_lb *b = &L->b;
    const ac_rows rows = {g->depth, g->depth, 1};
    const bool bytes = g->c->kind == AC_MACS_I8;
    ac_channel_tables(g->c, g->c->n, bytes ? &rows : NULL, g->c->zx); /* what is outside of x reads as its zero point */
    g->unit = bytes ? 4 : 1;
    g->word = bytes ? AC_I32 : AC_F32;
    g->t = tile_of(L, g->rows, g->c->n);
    g->wide = run % (4 * g->unit) == 0 ? 4 : 1;
    open_buffers(g);
    const int64_t cols = up(g->c->n, g->t.bn) / g->t.bn, steps = up(up(g->depth, g->unit) / g->unit, STEP);
    const ac_x at = lb_for(b, "g", lb_i32(b, 0), lb_i32(b, up(g->rows, g->t.bm) / g->t.bm * cols), 1, AC_MARK_GRID);
    const ac_x m0 = lb_mul(b, lb_div(b, at, lb_i32(b, cols)), lb_i32(b, g->t.bm));
    const ac_x n0 = lb_mul(b, lb_mod(b, at, lb_i32(b, cols)), lb_i32(b, g->t.bn));
    find_rows(g, m0);
    start(g, n0);
    const ac_x k0 = lb_for(b, "k", lb_i32(b, 0), lb_i32(b, steps), STEP, AC_MARK_SERIAL);
    load_step(g, k0, n0);
    multiply(g);
    lb_end(b);
    finish(g, m0, n0);
    lb_end(b);
    return AC_OK;
}

int gpu_conv(ac_lower *L, ac_channel *c, const ac_window *win)
{
    gemm g = {.L = L,
              .c = c,
              .win = win,
              .rows = win->n * win->y.out * win->x.out,
              .depth = win->y.taps * win->x.taps * win->ic};
    return schedule(&g, win->ic);
}

int gpu_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth)
{
    gemm g = {.L = L, .c = c, .rows = rows, .depth = depth};
    return schedule(&g, depth);
}
