/* step.c - a step of the reduction into shared memory.
 *
 * Along the reduction (rows of x, also as a filter meets them; y [n, depth]) a thread loads `wide` words of a row,
 * which go into `wide` rows of shared memory. Across it (x [depth, rows], y [depth, n]) it loads four neighbouring
 * columns of each of a word's rows. Packed weights are copied as they are. What is outside reads as zero, bytes as x's
 * zero point. */
#include "ir/lower/gpu/tile.h"

enum { OUTSIDE = -(1 << 28), QUAD = 4 };

/* 0 <= v < n */
static ac_x within(ac_lb *b, ac_x v, int64_t n)
{
    return lb_and(b, lb_le(b, lb_i32(b, 0), v), lb_lt(b, v, lb_i32(b, n)));
}

/* A float as tensor cores count it: 10 bits of mantissa, nearest, half away from zero; NaN stays. */
static ac_x tf32(ac_lb *b, ac_x v)
{
    const ac_x bits = lb_bitcast(b, v, AC_U32);
    const ac_x near = lb_and(b, lb_add_wrap(b, bits, lb_int(b, AC_U32, 0x1000)), lb_int(b, AC_U32, 0xffffe000u));
    return lb_cast(b, lb_select(b, lb_eq(b, v, v), near, bits), AC_I32);
}

/* The word of `unit` elements. */
static ac_x word_of(const gpu_gemm *g, const ac_x *e)
{
    ac_lb *b = &g->L->b;
    if (g->word == AC_F32)
        return e[0];
    if (g->elem == AC_F32)
        return tf32(b, e[0]);
    const int32_t bits = 32 / g->unit;
    ac_x word = 0;
    for (int32_t j = 0; j < g->unit; j++) {
        ac_x v = g->elem == AC_I8 ? lb_cast(b, e[j], AC_I32)
                                  : lb_cast(b, lb_bitcast(b, lb_cast(b, e[j], g->elem), AC_U16), AC_I32);
        v = g->elem == AC_I8 ? lb_and(b, v, lb_i32(b, 255)) : v;
        v = lb_shl(b, v, lb_i32(b, bits * j));
        word = word ? lb_or(b, word, v) : v;
    }
    return word;
}

static ac_x nothing(const gpu_gemm *g)
{
    ac_lb *b = &g->L->b;
    const uint32_t zx = (uint32_t)g->c->zx & 255;
    return g->word == AC_F32 ? lb_f32(b, 0) : g->elem == AC_I8 ? lb_i32(b, (int32_t)(zx * 0x01010101u)) : lb_i32(b, 0);
}

/* Words side by side: of `unit` times as many neighbours. */
static ac_x words_of(const gpu_gemm *g, ac_x v)
{
    ac_lb *b = &g->L->b;
    if (g->word == AC_F32)
        return v;
    if (g->elem == AC_F32)
        return tf32(b, v);
    return lb_bitcast(b, g->elem == AC_I8 ? v : lb_cast(b, v, g->elem), AC_I32);
}

/* Words u .. u + n - 1 of row `from`, into a column of the packed weights that begins at `to`. */
static void pack_words(const gpu_gemm *g, int32_t buf, ac_x to, int64_t wide, int32_t w, ac_x from, ac_x u, int32_t n)
{
    ac_lb *b = &g->L->b;
    const ac_x k = lb_mul(b, u, lb_i32(b, g->unit));
    const ac_x words = words_of(g, lb_load(b, w, lb_add(b, from, k), n * g->unit));
    const ac_x first = lb_add(b, to, lb_mul(b, u, lb_i32(b, wide)));
    for (int32_t l = 0; l < n; l++)
        lb_store(b, buf, lb_add(b, first, lb_i32(b, l * wide)), lb_lane(b, words, l));
}

/* The last word of row `from`, which has fewer elements; zeros behind them. */
static void pack_rest(const gpu_gemm *g, int32_t buf, ac_x to, int64_t wide, int32_t w, ac_x from)
{
    ac_lb *b = &g->L->b;
    const int64_t u = g->depth / g->unit;
    ac_x e[4];
    for (int32_t j = 0; j < g->unit; j++)
        e[j] = u * g->unit + j < g->depth ? lb_load(b, w, lb_add(b, from, lb_i32(b, u * g->unit + j)), 1)
               : g->elem == AC_I8         ? lb_int(b, AC_I8, 0)
                                          : lb_f32(b, 0);
    lb_store(b, buf, lb_add(b, to, lb_i32(b, u * wide)), word_of(g, e));
}

/* The evaluator makes them: rows are read as vectors, so that hundreds of megabytes take seconds. */
int32_t gpu_pack_weights(const gpu_gemm *g)
{
    enum { VECTOR = 16, BLANK = 64 };
    ac_lower P;
    gpu_gemm in = *g;
    const int64_t words = g->depth / g->unit, wide = gpu_up(g->n, g->t.bn),
                  deep = gpu_up(gpu_up(g->depth, g->unit) / g->unit, GPU_STEP), whole = words / VECTOR * VECTOR;
    const int32_t buf = lo_pack_open(g->L, &P, "w", g->word, g->many * deep * wide);
    ac_lb *b = &P.b;
    in.L = &P;
    const int32_t w = lo_operand(&P, g->c->w);
    const ac_x at = lb_for(b, "i", lb_i32(b, 0), lb_i32(b, g->many * deep * wide), BLANK, AC_MARK_SERIAL);
    lb_store(b, buf, at, lb_splat(b, g->word == AC_F32 ? lb_f32(b, 0) : lb_i32(b, 0), BLANK));
    lb_end(b);
    const ac_x q = lb_for_n(b, "g", g->many), oc = lb_for_n(b, "oc", g->n);
    const ac_x row = lb_add(b, lb_mul(b, q, lb_i32(b, g->n)), oc), from = lb_mul(b, row, lb_i32(b, g->depth));
    const ac_x to = lb_add(b, lb_mul(b, q, lb_i32(b, deep * wide)), oc);
    const ac_x u = lb_for(b, "u", lb_i32(b, 0), lb_i32(b, whole), VECTOR, AC_MARK_SERIAL);
    pack_words(&in, buf, to, wide, w, from, u, VECTOR);
    lb_end(b);
    const ac_x rest = lb_for(b, "u", lb_i32(b, whole), lb_i32(b, words), 1, AC_MARK_SERIAL);
    pack_words(&in, buf, to, wide, w, from, rest, 1);
    lb_end(b);
    if (g->depth % g->unit)
        pack_rest(&in, buf, to, wide, w, from);
    lb_end(b);
    lb_end(b);
    return lo_pack_close(g->L, &P);
}

/* ------------------------------------------------------------------ along the reduction */

/* Loads of `wide` words in a row of a step. */
static int32_t lines(const gpu_gemm *g)
{
    return GPU_STEP / g->wide;
}
int32_t gpu_step_rows(const gpu_gemm *g)
{
    return g->t.bm * lines(g) / g->t.threads;
}

void gpu_find_rows(const gpu_gemm *g, ac_x m0)
{
    ac_lb *b = &g->L->b;
    if (g->adj_x)
        return;
    const ac_x t = gpu_threads(g), line = lb_div(b, t, lb_i32(b, lines(g)));
    for (int32_t i = 0; i < gpu_step_rows(g); i++) {
        const ac_x p = lb_add(b, m0, lb_add(b, line, lb_i32(b, (int64_t)i * (g->t.threads / lines(g)))));
        const ac_x inside = lb_lt(b, p, lb_i32(b, g->rows));
        if (!g->win) {
            lb_store(b, g->base, gpu_own_at(g, t, i), lb_add(b, g->x_at, lb_mul(b, p, lb_i32(b, g->depth))));
            lb_store(b, g->iy, gpu_own_at(g, t, i), lb_select(b, inside, lb_i32(b, 0), lb_i32(b, OUTSIDE)));
            continue;
        }
        const ac_slide *y = &g->win->y, *x = &g->win->x;
        const ac_x ox = lb_mod(b, p, lb_i32(b, x->out)), row = lb_div(b, p, lb_i32(b, x->out));
        const ac_x oy = lb_mod(b, row, lb_i32(b, y->out)), n = lb_div(b, row, lb_i32(b, y->out));
        const ac_x iy = lb_sub(b, lb_mul(b, oy, lb_i32(b, y->stride)), lb_i32(b, y->pad));
        const ac_x ix = lb_sub(b, lb_mul(b, ox, lb_i32(b, x->stride)), lb_i32(b, x->pad));
        const ac_x line_at = lb_add(b, lb_mul(b, lb_add(b, lb_mul(b, n, lb_i32(b, y->in)), iy), lb_i32(b, x->in)), ix);
        lb_store(b, g->base, gpu_own_at(g, t, i), lb_add(b, g->x_at, lb_mul(b, line_at, lb_i32(b, g->win->ic))));
        lb_store(b, g->iy, gpu_own_at(g, t, i), lb_select(b, inside, iy, lb_i32(b, OUTSIDE)));
        lb_store(b, g->ix, gpu_own_at(g, t, i), ix);
    }
    lb_end(b);
}

/* `wide` words from element `at`, aligned, where `inside`; word l goes to element to + l * ld. */
static void load_words(const gpu_gemm *g, int32_t from, ac_x at, ac_x inside, int32_t buf, ac_x to, int32_t ld)
{
    ac_lb *b = &g->L->b;
    const int32_t elements = g->wide * g->unit, most = g->elem == AC_I8 ? 16 : 4;
    ac_x e[16], word[QUAD];
    lb_if(b, inside);
    for (int32_t k = 0; k < elements; k += most) {
        const int32_t n = elements - k < most ? elements - k : most;
        const ac_x v = lb_load_flags(b, from, lb_add(b, at, lb_i32(b, k)), n, AC_F_ALIGNED);
        const ac_x words = g->elem == AC_I8 ? lb_bitcast(b, v, AC_I32) : v;
        for (int32_t l = 0; l < lb_lanes(b, words); l++)
            e[k + l] = lb_lane(b, words, l);
    }
    for (int32_t l = 0; l < g->wide; l++)
        word[l] = g->elem == AC_I8 ? e[l] : word_of(g, e + l * g->unit);
    for (int32_t l = 0; l < g->wide; l++)
        lb_store(b, buf, lb_add(b, to, lb_i32(b, (int64_t)l * ld)), word[l]);
    lb_else(b);
    for (int32_t l = 0; l < g->wide; l++)
        lb_store(b, buf, lb_add(b, to, lb_i32(b, (int64_t)l * ld)), nothing(g));
    lb_end(b);
}

/* A word of elements that are found one by one: at[j], where inside[j]. */
static void load_elements(const gpu_gemm *g, int32_t from, const ac_x *at, const ac_x *inside, int32_t buf, ac_x to)
{
    ac_lb *b = &g->L->b;
    const ac_x none = g->elem == AC_I8 ? lb_int(b, AC_I8, g->c->zx) : lb_f32(b, 0);
    ac_x e[4];
    for (int32_t j = 0; j < g->unit; j++)
        e[j] = lb_select(b, inside[j], lb_load(b, from, lb_select(b, inside[j], at[j], lb_i32(b, 0)), 1), none);
    lb_store(b, buf, to, word_of(g, e));
}

/* Element k of the reduction in row i of the thread's: where it lies, if it does. */
static ac_x locate(const gpu_gemm *g, ac_x t, int32_t i, ac_x k, ac_x *inside)
{
    ac_lb *b = &g->L->b;
    const ac_x base = lb_load(b, g->base, gpu_own_at(g, t, i), 1), iy = lb_load(b, g->iy, gpu_own_at(g, t, i), 1);
    *inside = lb_lt(b, k, lb_i32(b, g->depth));
    if (!g->win) {
        *inside = lb_and(b, *inside, lb_le(b, lb_i32(b, 0), iy));
        return lb_add(b, base, k);
    }
    const ac_slide *sy = &g->win->y, *sx = &g->win->x;
    const ac_x ic = lb_mod(b, k, lb_i32(b, g->run)), tap = lb_div(b, k, lb_i32(b, g->run));
    const ac_x ky = lb_mul(b, lb_div(b, tap, lb_i32(b, sx->taps)), lb_i32(b, sy->dil));
    const ac_x kx = lb_mul(b, lb_mod(b, tap, lb_i32(b, sx->taps)), lb_i32(b, sx->dil));
    const ac_x ix = lb_load(b, g->ix, gpu_own_at(g, t, i), 1);
    *inside = lb_and(b, *inside, lb_and(b, within(b, lb_add(b, iy, ky), sy->in), within(b, lb_add(b, ix, kx), sx->in)));
    return lb_add(b, base,
                  lb_add(b, lb_mul(b, lb_add(b, lb_mul(b, ky, lb_i32(b, sx->in)), kx), lb_i32(b, g->win->ic)), ic));
}

/* Row i of the thread's, from element k of the reduction. */
static void load_x(const gpu_gemm *g, ac_x t, int32_t i, ac_x k, ac_x to)
{
    ac_lb *b = &g->L->b;
    ac_x at[4], inside[4];
    for (int32_t j = 0; j < (g->single ? g->unit : 1); j++)
        at[j] = locate(g, t, i, lb_add(b, k, lb_i32(b, j)), &inside[j]);
    if (g->single)
        load_elements(g, g->x, at, inside, g->sx, to);
    else
        load_words(g, g->x, at[0], inside[0], g->sx, to, g->lda);
}

/* ------------------------------------------------------------------ across it */

/* A pass of all threads over `n` pieces of a step; the guard is open where n is no multiple of the threads. */
static ac_x open_piece(const gpu_gemm *g, ac_x t, int32_t pass, int32_t n)
{
    ac_lb *b = &g->L->b;
    const ac_x piece = lb_add(b, t, lb_i32(b, (int64_t)pass * g->t.threads));
    lb_if(b, (pass + 1) * g->t.threads <= n ? lb_int(b, AC_BOOL, 1) : lb_lt(b, piece, lb_i32(b, n)));
    return piece;
}

/* A step of a matrix [depth, columns] from element `at`: `width` columns from c0 on, as words. */
static void load_across(const gpu_gemm *g, ac_x t, int32_t from, ac_x at, int64_t columns, ac_x k0, ac_x c0,
                        int32_t width, int32_t buf, int32_t ld)
{
    ac_lb *b = &g->L->b;
    const int32_t quads = width / QUAD, n = GPU_STEP * quads, align = g->L->b.fn->buf.item[from].align;
    const int32_t wide = columns % QUAD == 0 && align >= 16 ? QUAD : 1;
    for (int32_t pass = 0; pass * g->t.threads < n; pass++) {
        const ac_x piece = open_piece(g, t, pass, n), u = lb_div(b, piece, lb_i32(b, quads)),
                   col = lb_mul(b, lb_mod(b, piece, lb_i32(b, quads)), lb_i32(b, QUAD));
        const ac_x k = lb_mul(b, lb_add(b, k0, u), lb_i32(b, g->unit)), deep = lb_lt(b, k, lb_i32(b, g->depth));
        const ac_x to = lb_add(b, lb_mul(b, u, lb_i32(b, ld)), col), c = lb_add(b, c0, col);
        for (int32_t l = 0; l < QUAD; l += wide) {
            const ac_x here = lb_add(b, c, lb_i32(b, l));
            ac_x v[4];
            lb_if(b, lb_and(b, deep, lb_lt(b, here, lb_i32(b, columns))));
            for (int32_t j = 0; j < g->unit; j++) {
                const ac_x deepest = lb_min(b, lb_add(b, k, lb_i32(b, j)), lb_i32(b, g->depth - 1));
                const ac_x row = lb_mul(b, j ? deepest : k, lb_i32(b, columns));
                v[j] = lb_load_flags(b, from, lb_add(b, at, lb_add(b, row, here)), wide, wide > 1 ? AC_F_ALIGNED : 0);
            }
            for (int32_t m = 0; m < wide; m++) {
                ac_x e[4];
                for (int32_t j = 0; j < g->unit; j++) {
                    e[j] = wide > 1 ? lb_lane(b, v[j], m) : v[j];
                    if (j && g->depth % g->unit) /* behind the last row */
                        e[j] =
                            lb_select(b, lb_lt(b, lb_add(b, k, lb_i32(b, j)), lb_i32(b, g->depth)), e[j], lb_f32(b, 0));
                }
                lb_store(b, buf, lb_add(b, to, lb_i32(b, l + m)), word_of(g, e));
            }
            lb_else(b);
            for (int32_t m = 0; m < wide; m++)
                lb_store(b, buf, lb_add(b, to, lb_i32(b, l + m)), nothing(g));
            lb_end(b);
        }
        lb_end(b);
    }
}

static void load_weights(const gpu_gemm *g, ac_x t, ac_x k0, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const int32_t quads = g->t.bn / QUAD, n = GPU_STEP * quads;
    const int64_t wide = gpu_up(g->n, g->t.bn), deep = gpu_up(gpu_up(g->depth, g->unit) / g->unit, GPU_STEP);
    const ac_x first = lb_mul(b, g->q, lb_i32(b, deep));
    for (int32_t pass = 0; pass * g->t.threads < n; pass++) {
        const ac_x e = open_piece(g, t, pass, n);
        const ac_x u = lb_div(b, e, lb_i32(b, quads)), col = lb_mul(b, lb_mod(b, e, lb_i32(b, quads)), lb_i32(b, QUAD));
        const ac_x line = lb_add(b, first, lb_add(b, k0, u));
        lb_store(b, g->sw, lb_add(b, lb_mul(b, u, lb_i32(b, g->ldb)), col),
                 lb_load_flags(b, g->w, lb_add(b, lb_mul(b, line, lb_i32(b, wide)), lb_add(b, n0, col)), QUAD,
                               AC_F_ALIGNED));
        lb_end(b);
    }
}

/* y [n, depth]: rows of it are columns of the tile. */
static void load_y(const gpu_gemm *g, ac_x t, ac_x k0, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const int32_t n = g->t.bn * lines(g);
    for (int32_t pass = 0; pass * g->t.threads < n; pass++) {
        const ac_x piece = open_piece(g, t, pass, n), row = lb_div(b, piece, lb_i32(b, lines(g)));
        const ac_x word = lb_mul(b, lb_mod(b, piece, lb_i32(b, lines(g))), lb_i32(b, g->wide));
        const ac_x k = lb_mul(b, lb_add(b, k0, word), lb_i32(b, g->unit)), column = lb_add(b, n0, row);
        const ac_x line = lb_add(b, g->y_at, lb_mul(b, column, lb_i32(b, g->depth))),
                   real = lb_lt(b, column, lb_i32(b, g->n));
        const ac_x to = lb_add(b, lb_mul(b, word, lb_i32(b, g->ldb)), row);
        ac_x at[4], inside[4];
        for (int32_t j = 0; j < g->unit; j++) {
            const ac_x kj = lb_add(b, k, lb_i32(b, j));
            at[j] = lb_add(b, line, kj);
            inside[j] = lb_and(b, lb_lt(b, kj, lb_i32(b, g->depth)), real);
        }
        if (g->single)
            load_elements(g, g->w, at, inside, g->sw, to);
        else
            load_words(g, g->w, at[0], inside[0], g->sw, to, g->ldb);
        lb_end(b);
    }
}

void gpu_load_step(const gpu_gemm *g, ac_x k0, ac_x m0, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const ac_x t = gpu_threads(g);
    if (g->adj_x) {
        load_across(g, t, g->x, g->x_at, g->rows, k0, m0, g->t.bm, g->sx, g->lda);
    } else {
        const ac_x word = lb_mul(b, lb_mod(b, t, lb_i32(b, lines(g))), lb_i32(b, g->wide)),
                   line = lb_div(b, t, lb_i32(b, lines(g)));
        const ac_x k = lb_mul(b, lb_add(b, k0, word), lb_i32(b, g->unit));
        for (int32_t i = 0; i < gpu_step_rows(g); i++) {
            const ac_x row = lb_add(b, line, lb_i32(b, (int64_t)i * (g->t.threads / lines(g))));
            load_x(g, t, i, k, lb_add(b, lb_mul(b, word, lb_i32(b, g->lda)), row));
        }
    }
    if (!g->y)
        load_weights(g, t, k0, n0);
    else if (g->adj_y)
        load_y(g, t, k0, n0);
    else
        load_across(g, t, g->w, g->y_at, g->n, k0, n0, g->t.bn, g->sw, g->ldb);
    lb_end(b);
}
