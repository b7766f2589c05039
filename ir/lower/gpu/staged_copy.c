/* staged_copy.c - a thread's copies of a step of a product.
 *
 * Of x a thread copies the same piece of some rows: row t / pieces + i * pass, floats t % pieces * piece and on. A row
 * after the last is the last one. Where a tap is outside of x, and after the depth, zeros are written. */
#include "ir/lower/gpu/staged.h"
#include "ir/lower/lower.h"

void ac_gpu_staged_walk(ac_gpu_staged *s)
{
    const ac_gpu_gemm *g = s->g;
    const ac_window *w = g->win;
    const int64_t row = w ? w->ic : g->depth;
    const int32_t align = ac_lo_align(g->L, g->c->x);
    s->piece = g->run % 4 == 0 && row % 4 == 0 && align >= 16  ? 4
               : g->run % 2 == 0 && row % 2 == 0 && align >= 8 ? 2
                                                               : 1;
    s->pads = w && !(ac_slide_inside(&w->y) && ac_slide_inside(&w->x));
    s->is_line = !w || (w->y.taps * w->x.taps == 1 && !s->pads);
}

void ac_gpu_staged_rows(const ac_gpu_staged *s, ac_x t)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    const int32_t pass = ac_gpu_pass(&s->p, s->piece);
    const ac_x first = ac_lb_add(b, s->m0, ac_lb_div(b, t, ac_lb_i32(b, s->p.bk / s->piece)));
    for (int32_t i = 0; i < ac_gpu_passes(&s->p, s->piece); i++) {
        const ac_x row = ac_lb_add(b, first, ac_lb_i32(b, (int64_t)i * pass));
        const ac_x p = ac_lb_min(b, row, ac_lb_i32(b, g->rows - 1));
        if (!g->win) {
            ac_lb_store(b, g->base, ac_gpu_own_at(g, t, i), ac_gpu_by(b, p, g->depth, g->x_at));
            continue;
        }
        const ac_gpu_corner at = ac_gpu_corner_of(g, p);
        ac_lb_store(b, g->base, ac_gpu_own_at(g, t, i), ac_gpu_by(b, at.pixel, g->win->ic, g->x_at));
        if (!s->pads)
            continue;
        ac_lb_store(b, g->iy, ac_gpu_own_at(g, t, i), at.iy);
        ac_lb_store(b, g->ix, ac_gpu_own_at(g, t, i), at.ix);
    }
}

/* Where the thread's piece of a step is: its offset from a row's first element, the row and column of its tap, and
 * whether it is before the end of the depth (0: surely). */
typedef struct piece_at {
    ac_x offset, ky, kx, deep;
} piece_at;

static piece_at piece_of(const ac_gpu_staged *s, ac_x t, ac_x step)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    const bool beyond = s->p.steps * s->p.bk > g->depth;
    const ac_x k0 = ac_lb_mul(b, step, ac_lb_i32(b, s->p.bk));
    const ac_x piece = ac_lb_mul(b, ac_lb_mod(b, t, ac_lb_i32(b, s->p.bk / s->piece)), ac_lb_i32(b, s->piece));
    const ac_x all = ac_lb_add(b, k0, piece), k = beyond ? ac_lb_min(b, all, ac_lb_i32(b, g->depth - 1)) : all;
    piece_at at = {.offset = all, .deep = beyond ? ac_lb_lt(b, all, ac_lb_i32(b, g->depth)) : 0};
    if (s->is_line)
        return at;
    const ac_slide *y = &g->win->y, *x = &g->win->x;
    const bool one = g->run % s->p.bk == 0; /* a step is inside a tap: the same one for all threads */
    const ac_x near = beyond ? ac_lb_min(b, k0, ac_lb_i32(b, g->depth - s->p.bk)) : k0, of = one ? near : k,
               tap = ac_lb_div(b, of, ac_lb_i32(b, g->run));
    const ac_x ic = ac_lb_mod(b, of, ac_lb_i32(b, g->run));
    at.ky = ac_lb_mul(b, ac_lb_div(b, tap, ac_lb_i32(b, x->taps)), ac_lb_i32(b, y->dil));
    at.kx = ac_lb_mul(b, ac_lb_mod(b, tap, ac_lb_i32(b, x->taps)), ac_lb_i32(b, x->dil));
    at.offset = ac_gpu_by(b, ac_gpu_by(b, at.ky, x->in, at.kx), g->win->ic, one ? ac_lb_add(b, ic, piece) : ic);
    return at;
}

void ac_gpu_copy_x(const ac_gpu_staged *s, ac_x t, ac_x step, ac_x slot)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    const int32_t pieces = s->p.bk / s->piece, pass = ac_gpu_pass(&s->p, s->piece), line = ac_gpu_line(&s->p);
    const piece_at piece = piece_of(s, t, step);
    const ac_x place = ac_gpu_by(b, ac_lb_div(b, t, ac_lb_i32(b, pieces)), line,
                                 ac_lb_mul(b, ac_lb_mod(b, t, ac_lb_i32(b, pieces)), ac_lb_i32(b, s->piece)));
    for (int32_t i = 0; i < ac_gpu_passes(&s->p, s->piece); i++) {
        const ac_x at = ac_lb_add(b, ac_lb_load(b, g->base, ac_gpu_own_at(g, t, i), 1), piece.offset);
        ac_x in = piece.deep;
        if (s->pads) {
            const ac_x iy = ac_lb_add(b, ac_lb_load(b, g->iy, ac_gpu_own_at(g, t, i), 1), piece.ky),
                       ix = ac_lb_add(b, ac_lb_load(b, g->ix, ac_gpu_own_at(g, t, i), 1), piece.kx);
            const ac_x all = ac_lb_and(b, ac_lo_within(b, iy, g->win->y.in), ac_lo_within(b, ix, g->win->x.in));
            in = in ? ac_lb_and(b, in, all) : all;
        }
        const ac_x from = in ? ac_lb_select(b, in, at, ac_lb_i32(b, 0)) : at;
        const ac_x v = ac_lb_load_flags(b, g->x, from, s->piece, s->piece > 1 ? AC_F_ALIGNED : 0);
        const ac_x to = ac_lb_add(b, ac_lb_add(b, slot, place), ac_lb_i32(b, (int64_t)i * pass * line));
        ac_lb_store_late(b, s->s, to, in ? ac_lb_select(b, in, v, ac_lb_like(b, v, 0)) : v);
    }
}

void ac_gpu_copy_weights(const ac_gpu_staged *s, ac_x t, ac_x step, ac_x slot)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    enum { QUAD = 4 };
    const int32_t quads = s->p.bk * s->p.bn / QUAD, threads = s->p.threads;
    const int64_t tiles = ac_gpu_up(g->n, s->p.bn) / s->p.bn;
    const ac_x tile = ac_gpu_by(b, g->q, tiles, s->tile_n);
    const ac_x first = ac_lb_mul(b, ac_gpu_by(b, tile, s->p.steps, step), ac_lb_i32(b, (int64_t)s->p.bk * s->p.bn));
    const ac_x own = ac_lb_mul(b, t, ac_lb_i32(b, QUAD)),
               to = ac_lb_add(b, ac_lb_add(b, slot, ac_lb_i32(b, ac_gpu_stage_x(&s->p, s->piece))), own);
    for (int32_t i = 0; i * threads < quads; i++) {
        const bool all = (i + 1) * threads <= quads;
        const ac_x more = ac_lb_i32(b, (int64_t)i * threads * QUAD);
        ac_lb_if(b, all ? ac_lb_int(b, AC_BOOL, 1) : ac_lb_lt(b, t, ac_lb_i32(b, quads - i * threads)));
        const ac_x v = ac_lb_load_flags(b, g->w, ac_lb_add(b, ac_lb_add(b, first, own), more), QUAD, AC_F_ALIGNED);
        ac_lb_store_late(b, s->s, ac_lb_add(b, to, more), v);
        ac_lb_end(b);
    }
}

/* Gates after the depth are zeros, as x is. */
void ac_gpu_copy_gates(const ac_gpu_staged *s, ac_x t)
{
    const ac_gpu_gemm *g = s->g;
    ac_lb *b = &g->L->b;
    const int32_t from = ac_lo_operand(g->L, g->gate), threads = s->p.threads,
                  wide = g->depth % 4 == 0 && ac_lo_align(g->L, g->gate) >= 16 ? 4 : 1;
    const int64_t each = s->deep / wide, pieces = s->images * each, last = g->rows / g->image - 1;
    const bool beyond = s->p.steps * s->p.bk > g->depth;
    for (int64_t i = 0; i * threads < pieces; i++) {
        const ac_x piece = ac_lb_add(b, t, ac_lb_i32(b, i * threads));
        const bool all = (i + 1) * threads <= pieces;
        ac_lb_if(b, all ? ac_lb_int(b, AC_BOOL, 1) : ac_lb_lt(b, piece, ac_lb_i32(b, pieces)));
        const ac_x image = ac_lb_min(b, ac_lb_add(b, s->image, ac_lb_div(b, piece, ac_lb_i32(b, each))),
                                     ac_lb_i32(b, last)),
                   in_image = ac_lb_mul(b, ac_lb_mod(b, piece, ac_lb_i32(b, each)), ac_lb_i32(b, wide)),
                   k = ac_gpu_by(b, s->first, s->p.bk, in_image);
        const ac_x near = beyond ? ac_lb_min(b, k, ac_lb_i32(b, g->depth - wide)) : k;
        const ac_x v =
            ac_lb_load_flags(b, from, ac_gpu_by(b, image, g->depth, near), wide, wide > 1 ? AC_F_ALIGNED : 0);
        const ac_x in = beyond ? ac_lb_lt(b, k, ac_lb_i32(b, g->depth)) : 0;
        ac_lb_store_late(b, s->gate, ac_lb_mul(b, piece, ac_lb_i32(b, wide)),
                         in ? ac_lb_select(b, in, v, ac_lb_like(b, v, 0)) : v);
        ac_lb_end(b);
    }
}
