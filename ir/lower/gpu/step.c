/* step.c - loads a step of the reduction into shared memory.
 *
 * Along the reduction (rows of x, also as a filter meets them; y [n, depth]) a thread loads `wide` words of a row,
 * which go into `wide` rows of shared memory. Across it (x [depth, rows], y [depth, n]) it loads four neighbouring
 * columns of each of a word's rows. Packed weights are copied as they are. Elements outside read as zero, bytes as x's
 * zero point. */
#include "ir/lower/gpu/tile.h"
#include "ir/lower/lower.h"

enum { OUTSIDE = -(1 << 28), QUAD = 4 };

/* Rounds a float to tf32: 10 bits of mantissa, nearest, half away from zero; NaN stays NaN. */
static ac_x tf32(ac_lb *b, ac_x v)
{
    const ac_x bits = ac_lb_bitcast(b, v, AC_U32);
    const ac_x near =
        ac_lb_and(b, ac_lb_add_wrap(b, bits, ac_lb_int(b, AC_U32, 0x1000)), ac_lb_int(b, AC_U32, 0xffffe000u));
    return ac_lb_cast(b, ac_lb_select(b, ac_lb_eq(b, v, v), near, bits), AC_I32);
}

/* The word of `unit` elements. */
static ac_x word_of(const ac_gpu_gemm *g, const ac_x *e)
{
    ac_lb *b = &g->L->b;
    if (g->word == AC_F32)
        return e[0];
    if (g->elem == AC_F32)
        return tf32(b, e[0]);
    const int32_t bits = 32 / g->unit;
    ac_x word = 0;
    for (int32_t j = 0; j < g->unit; j++) {
        ac_x v = g->elem == AC_I8 ? ac_lb_cast(b, e[j], AC_I32)
                                  : ac_lb_cast(b, ac_lb_bitcast(b, ac_lb_cast(b, e[j], g->elem), AC_U16), AC_I32);
        v = g->elem == AC_I8 ? ac_lb_and(b, v, ac_lb_i32(b, 255)) : v;
        v = ac_lb_shl(b, v, ac_lb_i32(b, bits * j));
        word = word ? ac_lb_or(b, word, v) : v;
    }
    return word;
}

static ac_x nothing(const ac_gpu_gemm *g)
{
    ac_lb *b = &g->L->b;
    const uint32_t zx = (uint32_t)g->c->zx & 255;
    return g->word == AC_F32  ? ac_lb_f32(b, 0)
           : g->elem == AC_I8 ? ac_lb_i32(b, (int32_t)(zx * 0x01010101u))
                              : ac_lb_i32(b, 0);
}

/* Packs `unit` times as many neighbours into words. */
static ac_x words_of(const ac_gpu_gemm *g, ac_x v)
{
    ac_lb *b = &g->L->b;
    if (g->word == AC_F32)
        return v;
    if (g->elem == AC_F32)
        return tf32(b, v);
    return ac_lb_bitcast(b, g->elem == AC_I8 ? v : ac_lb_cast(b, v, g->elem), AC_I32);
}

/* Copies words u .. u + n - 1 of row `from` into a column of the packed weights that begins at `to`. */
static void pack_words(const ac_gpu_gemm *g, int32_t buf, ac_x to, int64_t wide, int32_t w, ac_x from, ac_x u,
                       int32_t n)
{
    ac_lb *b = &g->L->b;
    const ac_x k = ac_lb_mul(b, u, ac_lb_i32(b, g->unit));
    const ac_x words = words_of(g, ac_lb_load(b, w, ac_lb_add(b, from, k), n * g->unit));
    const ac_x first = ac_lb_add(b, to, ac_lb_mul(b, u, ac_lb_i32(b, wide)));
    for (int32_t l = 0; l < n; l++)
        ac_lb_store(b, buf, ac_lb_add(b, first, ac_lb_i32(b, l * wide)), ac_lb_lane(b, words, l));
}

/* The last word of row `from`, which has fewer elements; zeros after them. */
static void pack_rest(const ac_gpu_gemm *g, int32_t buf, ac_x to, int64_t wide, int32_t w, ac_x from)
{
    ac_lb *b = &g->L->b;
    const int64_t u = g->depth / g->unit;
    ac_x e[4];
    for (int32_t j = 0; j < g->unit; j++)
        e[j] = u * g->unit + j < g->depth ? ac_lb_load(b, w, ac_lb_add(b, from, ac_lb_i32(b, u * g->unit + j)), 1)
               : g->elem == AC_I8         ? ac_lb_int(b, AC_I8, 0)
                                          : ac_lb_f32(b, 0);
    ac_lb_store(b, buf, ac_lb_add(b, to, ac_lb_i32(b, u * wide)), word_of(g, e));
}

/* The evaluator computes packed weights: rows are read as vectors, so that hundreds of megabytes take seconds. */
int32_t ac_gpu_pack_weights(const ac_gpu_gemm *g, int64_t deep, int64_t panel)
{
    enum { VECTOR = 16, BLANK = 64 };
    ac_lower P;
    ac_gpu_gemm in = *g;
    const int64_t words = g->depth / g->unit, wide = ac_gpu_up(g->n, panel), whole = words / VECTOR * VECTOR;
    const int32_t buf = ac_lo_pack_open(g->L, &P, "w", g->word, g->many * deep * wide);
    ac_lb *b = &P.b;
    in.L = &P;
    const int32_t w = ac_lo_operand(&P, g->c->w);
    const ac_x at = ac_lb_for(b, "i", ac_lb_i32(b, 0), ac_lb_i32(b, g->many * deep * wide), BLANK, AC_MARK_SERIAL);
    ac_lb_store(b, buf, at, ac_lb_splat(b, g->word == AC_F32 ? ac_lb_f32(b, 0) : ac_lb_i32(b, 0), BLANK));
    ac_lb_end(b);
    const ac_x q = ac_lb_for_n(b, "g", g->many), oc = ac_lb_for_n(b, "oc", g->n);
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, q, ac_lb_i32(b, g->n)), oc),
               from = ac_lb_mul(b, row, ac_lb_i32(b, g->depth));
    const ac_x in_panel = ac_lb_add(b, ac_lb_mul(b, ac_lb_div(b, oc, ac_lb_i32(b, panel)), ac_lb_i32(b, deep * panel)),
                                    ac_lb_mod(b, oc, ac_lb_i32(b, panel)));
    const ac_x to = ac_lb_add(b, ac_lb_mul(b, q, ac_lb_i32(b, deep * wide)), in_panel);
    const ac_x u = ac_lb_for(b, "u", ac_lb_i32(b, 0), ac_lb_i32(b, whole), VECTOR, AC_MARK_SERIAL);
    pack_words(&in, buf, to, panel, w, from, u, VECTOR);
    ac_lb_end(b);
    const ac_x rest = ac_lb_for(b, "u", ac_lb_i32(b, whole), ac_lb_i32(b, words), 1, AC_MARK_SERIAL);
    pack_words(&in, buf, to, panel, w, from, rest, 1);
    ac_lb_end(b);
    if (g->depth % g->unit)
        pack_rest(&in, buf, to, panel, w, from);
    ac_lb_end(b);
    ac_lb_end(b);
    return ac_lo_pack_close(g->L, &P);
}

/* ------------------------------------------------------------------ along the reduction */

/* Loads of `wide` words in a row of a step. */
static int32_t lines(const ac_gpu_gemm *g)
{
    return GPU_STEP / g->wide;
}
int32_t ac_gpu_step_rows(const ac_gpu_gemm *g)
{
    return g->t.bm * lines(g) / g->t.threads;
}

ac_gpu_corner ac_gpu_corner_of(const ac_gpu_gemm *g, ac_x p)
{
    ac_lb *b = &g->L->b;
    const ac_slide *y = &g->win->y, *x = &g->win->x;
    const ac_x ox = ac_lb_mod(b, p, ac_lb_i32(b, x->out)), row = ac_lb_div(b, p, ac_lb_i32(b, x->out));
    const ac_x oy = ac_lb_mod(b, row, ac_lb_i32(b, y->out)), n = ac_lb_div(b, row, ac_lb_i32(b, y->out));
    const ac_x iy = ac_lb_sub(b, ac_lb_mul(b, oy, ac_lb_i32(b, y->stride)), ac_lb_i32(b, y->pad));
    const ac_x ix = ac_lb_sub(b, ac_lb_mul(b, ox, ac_lb_i32(b, x->stride)), ac_lb_i32(b, x->pad));
    const ac_x line = ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, y->in)), iy);
    return (ac_gpu_corner){ac_lb_add(b, ac_lb_mul(b, line, ac_lb_i32(b, x->in)), ix), iy, ix};
}

void ac_gpu_find_rows(const ac_gpu_gemm *g, ac_x m0)
{
    ac_lb *b = &g->L->b;
    if (g->adj_x)
        return;
    const ac_x t = ac_gpu_threads(g), line = ac_lb_div(b, t, ac_lb_i32(b, lines(g)));
    for (int32_t i = 0; i < ac_gpu_step_rows(g); i++) {
        const ac_x p = ac_lb_add(b, m0, ac_lb_add(b, line, ac_lb_i32(b, (int64_t)i * (g->t.threads / lines(g)))));
        const ac_x inside = ac_lb_lt(b, p, ac_lb_i32(b, g->rows));
        if (!g->win) {
            ac_lb_store(b, g->base, ac_gpu_own_at(g, t, i),
                        ac_lb_add(b, g->x_at, ac_lb_mul(b, p, ac_lb_i32(b, g->depth))));
            ac_lb_store(b, g->iy, ac_gpu_own_at(g, t, i),
                        ac_lb_select(b, inside, ac_lb_i32(b, 0), ac_lb_i32(b, OUTSIDE)));
            continue;
        }
        const ac_gpu_corner at = ac_gpu_corner_of(g, p);
        ac_lb_store(b, g->base, ac_gpu_own_at(g, t, i),
                    ac_lb_add(b, g->x_at, ac_lb_mul(b, at.pixel, ac_lb_i32(b, g->win->ic))));
        ac_lb_store(b, g->iy, ac_gpu_own_at(g, t, i), ac_lb_select(b, inside, at.iy, ac_lb_i32(b, OUTSIDE)));
        ac_lb_store(b, g->ix, ac_gpu_own_at(g, t, i), at.ix);
    }
    ac_lb_end(b);
}

/* `wide` words from element `at`, aligned, where `inside`; word l goes to element to + l * ld. */
static void load_words(const ac_gpu_gemm *g, int32_t from, ac_x at, ac_x inside, int32_t buf, ac_x to, int32_t ld)
{
    ac_lb *b = &g->L->b;
    const int32_t elements = g->wide * g->unit, most = g->elem == AC_I8 ? 16 : 4;
    ac_x e[16], word[QUAD];
    ac_lb_if(b, inside);
    for (int32_t k = 0; k < elements; k += most) {
        const int32_t n = elements - k < most ? elements - k : most;
        const ac_x v = ac_lb_load_flags(b, from, ac_lb_add(b, at, ac_lb_i32(b, k)), n, AC_F_ALIGNED);
        const ac_x words = g->elem == AC_I8 ? ac_lb_bitcast(b, v, AC_I32) : v;
        for (int32_t l = 0; l < ac_lb_lane_count(b, words); l++)
            e[k + l] = ac_lb_lane(b, words, l);
    }
    for (int32_t l = 0; l < g->wide; l++)
        word[l] = g->elem == AC_I8 ? e[l] : word_of(g, e + l * g->unit);
    for (int32_t l = 0; l < g->wide; l++)
        ac_lb_store(b, buf, ac_lb_add(b, to, ac_lb_i32(b, (int64_t)l * ld)), word[l]);
    ac_lb_else(b);
    for (int32_t l = 0; l < g->wide; l++)
        ac_lb_store(b, buf, ac_lb_add(b, to, ac_lb_i32(b, (int64_t)l * ld)), nothing(g));
    ac_lb_end(b);
}

/* A word of elements loaded one by one: at[j] if inside[j]. */
static void load_elements(const ac_gpu_gemm *g, int32_t from, const ac_x *at, const ac_x *inside, int32_t buf, ac_x to)
{
    ac_lb *b = &g->L->b;
    const ac_x none = g->elem == AC_I8 ? ac_lb_int(b, AC_I8, g->c->zx) : ac_lb_f32(b, 0);
    ac_x e[4];
    for (int32_t j = 0; j < g->unit; j++)
        e[j] = ac_lb_select(b, inside[j], ac_lb_load(b, from, ac_lb_select(b, inside[j], at[j], ac_lb_i32(b, 0)), 1),
                            none);
    ac_lb_store(b, buf, to, word_of(g, e));
}

/* The position of element k of the reduction in the thread's row i, and whether it is inside. */
static ac_x locate(const ac_gpu_gemm *g, ac_x t, int32_t i, ac_x k, ac_x *inside)
{
    ac_lb *b = &g->L->b;
    const ac_x base = ac_lb_load(b, g->base, ac_gpu_own_at(g, t, i), 1),
               iy = ac_lb_load(b, g->iy, ac_gpu_own_at(g, t, i), 1);
    *inside = ac_lb_lt(b, k, ac_lb_i32(b, g->depth));
    if (!g->win) {
        *inside = ac_lb_and(b, *inside, ac_lb_le(b, ac_lb_i32(b, 0), iy));
        return ac_lb_add(b, base, k);
    }
    const ac_slide *sy = &g->win->y, *sx = &g->win->x;
    const ac_x ic = ac_lb_mod(b, k, ac_lb_i32(b, g->run)), tap = ac_lb_div(b, k, ac_lb_i32(b, g->run));
    const ac_x ky = ac_lb_mul(b, ac_lb_div(b, tap, ac_lb_i32(b, sx->taps)), ac_lb_i32(b, sy->dil));
    const ac_x kx = ac_lb_mul(b, ac_lb_mod(b, tap, ac_lb_i32(b, sx->taps)), ac_lb_i32(b, sx->dil));
    const ac_x ix = ac_lb_load(b, g->ix, ac_gpu_own_at(g, t, i), 1);
    *inside = ac_lb_and(
        b, *inside,
        ac_lb_and(b, ac_lo_within(b, ac_lb_add(b, iy, ky), sy->in), ac_lo_within(b, ac_lb_add(b, ix, kx), sx->in)));
    return ac_lb_add(
        b, base,
        ac_lb_add(b, ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, ky, ac_lb_i32(b, sx->in)), kx), ac_lb_i32(b, g->win->ic)),
                  ic));
}

/* The thread's row i, from element k of the reduction on. */
static void load_x(const ac_gpu_gemm *g, ac_x t, int32_t i, ac_x k, ac_x to)
{
    ac_lb *b = &g->L->b;
    ac_x at[4], inside[4];
    for (int32_t j = 0; j < (g->single ? g->unit : 1); j++)
        at[j] = locate(g, t, i, ac_lb_add(b, k, ac_lb_i32(b, j)), &inside[j]);
    if (g->single)
        load_elements(g, g->x, at, inside, g->sx, to);
    else
        load_words(g, g->x, at[0], inside[0], g->sx, to, g->lda);
}

/* ------------------------------------------------------------------ across it */

/* One pass of all threads over `n` pieces of a step; opens a guard if n is not a multiple of the number of threads. */
static ac_x open_piece(const ac_gpu_gemm *g, ac_x t, int32_t pass, int32_t n)
{
    ac_lb *b = &g->L->b;
    const ac_x piece = ac_lb_add(b, t, ac_lb_i32(b, (int64_t)pass * g->t.threads));
    ac_lb_if(b, (pass + 1) * g->t.threads <= n ? ac_lb_int(b, AC_BOOL, 1) : ac_lb_lt(b, piece, ac_lb_i32(b, n)));
    return piece;
}

/* A step of a matrix [depth, columns] from element `at`: `width` columns from c0 on, as words. */
static void load_across(const ac_gpu_gemm *g, ac_x t, int32_t from, ac_x at, int64_t columns, ac_x k0, ac_x c0,
                        int32_t width, int32_t buf, int32_t ld)
{
    ac_lb *b = &g->L->b;
    const int32_t quads = width / QUAD, n = GPU_STEP * quads, align = g->L->b.fn->buf.item[from].align;
    const int32_t wide = columns % QUAD == 0 && align >= 16 ? QUAD : 1;
    for (int32_t pass = 0; pass * g->t.threads < n; pass++) {
        const ac_x piece = open_piece(g, t, pass, n), u = ac_lb_div(b, piece, ac_lb_i32(b, quads)),
                   col = ac_lb_mul(b, ac_lb_mod(b, piece, ac_lb_i32(b, quads)), ac_lb_i32(b, QUAD));
        const ac_x k = ac_lb_mul(b, ac_lb_add(b, k0, u), ac_lb_i32(b, g->unit)),
                   deep = ac_lb_lt(b, k, ac_lb_i32(b, g->depth));
        const ac_x to = ac_lb_add(b, ac_lb_mul(b, u, ac_lb_i32(b, ld)), col), c = ac_lb_add(b, c0, col);
        for (int32_t l = 0; l < QUAD; l += wide) {
            const ac_x here = ac_lb_add(b, c, ac_lb_i32(b, l));
            ac_x v[4];
            ac_lb_if(b, ac_lb_and(b, deep, ac_lb_lt(b, here, ac_lb_i32(b, columns))));
            for (int32_t j = 0; j < g->unit; j++) {
                const ac_x deepest = ac_lb_min(b, ac_lb_add(b, k, ac_lb_i32(b, j)), ac_lb_i32(b, g->depth - 1));
                const ac_x row = ac_lb_mul(b, j ? deepest : k, ac_lb_i32(b, columns));
                v[j] = ac_lb_load_flags(b, from, ac_lb_add(b, at, ac_lb_add(b, row, here)), wide,
                                        wide > 1 ? AC_F_ALIGNED : 0);
            }
            for (int32_t m = 0; m < wide; m++) {
                ac_x e[4];
                for (int32_t j = 0; j < g->unit; j++) {
                    e[j] = wide > 1 ? ac_lb_lane(b, v[j], m) : v[j];
                    if (j && g->depth % g->unit) /* after the last row */
                        e[j] = ac_lb_select(b, ac_lb_lt(b, ac_lb_add(b, k, ac_lb_i32(b, j)), ac_lb_i32(b, g->depth)),
                                            e[j], ac_lb_f32(b, 0));
                }
                ac_lb_store(b, buf, ac_lb_add(b, to, ac_lb_i32(b, l + m)), word_of(g, e));
            }
            ac_lb_else(b);
            for (int32_t m = 0; m < wide; m++)
                ac_lb_store(b, buf, ac_lb_add(b, to, ac_lb_i32(b, l + m)), nothing(g));
            ac_lb_end(b);
        }
        ac_lb_end(b);
    }
}

static void load_weights(const ac_gpu_gemm *g, ac_x t, ac_x k0, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const int32_t quads = g->t.bn / QUAD, n = GPU_STEP * quads;
    const int64_t wide = ac_gpu_up(g->n, g->t.bn), deep = ac_gpu_up(ac_gpu_up(g->depth, g->unit) / g->unit, GPU_STEP);
    const ac_x first = ac_lb_mul(b, g->q, ac_lb_i32(b, deep));
    for (int32_t pass = 0; pass * g->t.threads < n; pass++) {
        const ac_x e = open_piece(g, t, pass, n);
        const ac_x u = ac_lb_div(b, e, ac_lb_i32(b, quads)),
                   col = ac_lb_mul(b, ac_lb_mod(b, e, ac_lb_i32(b, quads)), ac_lb_i32(b, QUAD));
        const ac_x line = ac_lb_add(b, first, ac_lb_add(b, k0, u));
        ac_lb_store(b, g->sw, ac_lb_add(b, ac_lb_mul(b, u, ac_lb_i32(b, g->ldb)), col),
                    ac_lb_load_flags(b, g->w,
                                     ac_lb_add(b, ac_lb_mul(b, line, ac_lb_i32(b, wide)), ac_lb_add(b, n0, col)), QUAD,
                                     AC_F_ALIGNED));
        ac_lb_end(b);
    }
}

/* y [n, depth]: rows of it are columns of the tile. */
static void load_y(const ac_gpu_gemm *g, ac_x t, ac_x k0, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const int32_t n = g->t.bn * lines(g);
    for (int32_t pass = 0; pass * g->t.threads < n; pass++) {
        const ac_x piece = open_piece(g, t, pass, n), row = ac_lb_div(b, piece, ac_lb_i32(b, lines(g)));
        const ac_x word = ac_lb_mul(b, ac_lb_mod(b, piece, ac_lb_i32(b, lines(g))), ac_lb_i32(b, g->wide));
        const ac_x k = ac_lb_mul(b, ac_lb_add(b, k0, word), ac_lb_i32(b, g->unit)), column = ac_lb_add(b, n0, row);
        const ac_x line = ac_lb_add(b, g->y_at, ac_lb_mul(b, column, ac_lb_i32(b, g->depth))),
                   real = ac_lb_lt(b, column, ac_lb_i32(b, g->n));
        const ac_x to = ac_lb_add(b, ac_lb_mul(b, word, ac_lb_i32(b, g->ldb)), row);
        ac_x at[4], inside[4];
        for (int32_t j = 0; j < g->unit; j++) {
            const ac_x kj = ac_lb_add(b, k, ac_lb_i32(b, j));
            at[j] = ac_lb_add(b, line, kj);
            inside[j] = ac_lb_and(b, ac_lb_lt(b, kj, ac_lb_i32(b, g->depth)), real);
        }
        if (g->single)
            load_elements(g, g->w, at, inside, g->sw, to);
        else
            load_words(g, g->w, at[0], inside[0], g->sw, to, g->ldb);
        ac_lb_end(b);
    }
}

void ac_gpu_load_step(const ac_gpu_gemm *g, ac_x k0, ac_x m0, ac_x n0)
{
    ac_lb *b = &g->L->b;
    const ac_x t = ac_gpu_threads(g);
    if (g->adj_x) {
        load_across(g, t, g->x, g->x_at, g->rows, k0, m0, g->t.bm, g->sx, g->lda);
    } else {
        const ac_x word = ac_lb_mul(b, ac_lb_mod(b, t, ac_lb_i32(b, lines(g))), ac_lb_i32(b, g->wide)),
                   line = ac_lb_div(b, t, ac_lb_i32(b, lines(g)));
        const ac_x k = ac_lb_mul(b, ac_lb_add(b, k0, word), ac_lb_i32(b, g->unit));
        for (int32_t i = 0; i < ac_gpu_step_rows(g); i++) {
            const ac_x row = ac_lb_add(b, line, ac_lb_i32(b, (int64_t)i * (g->t.threads / lines(g))));
            load_x(g, t, i, k, ac_lb_add(b, ac_lb_mul(b, word, ac_lb_i32(b, g->lda)), row));
        }
    }
    if (!g->y)
        load_weights(g, t, k0, n0);
    else if (g->adj_y)
        load_y(g, t, k0, n0);
    else
        load_across(g, t, g->w, g->y_at, g->n, k0, n0, g->t.bn, g->sw, g->ldb);
    ac_lb_end(b);
}
