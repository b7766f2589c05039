/* wide_line.c - fills the lines that tiles with a channel in each lane read; see wide.h.
 *
 *     input row    | a0 a1 a2 | a3 ...           two pixels, 3 x 3 taps, at the left border:
 *     line         z a0 a1 a2 | z b0 b1 b2 | z c0 c1 c2
 */
#include "ir/lower/conv/wide.h"

/* n bytes of x, or of zero points (x -1), to byte `to` of the line. */
static void copy(const ac_wide *v, int32_t x, ac_x at, ac_x to, ac_x n)
{
    const ac_tile t = {.form = AC_TILE_SPREAD,
                       .rows = 1,
                       .channels = 1,
                       .x = x < 0 ? v->zero : x,
                       .acc = v->line,
                       .shift = 1,
                       .stride = x < 0 ? 0 : 1};
    ac_lb_tile(&v->q.L->b, t, at, to, n);
}

/* Columns of the input from `first` on, which begins at byte `row`, to the line from `to` on, as far as they exist. */
static void copy_columns(const ac_wide *v, ac_x row, ac_x first, int64_t columns, ac_x to)
{
    ac_lb *b = &v->q.L->b;
    const int64_t ic = v->win.ic;
    ac_x begin = first, end = ac_lb_add(b, first, ac_lb_i32(b, columns));
    if (!ac_slide_inside(&v->win.x)) {
        begin = ac_lb_max(b, begin, ac_lb_i32(b, 0));
        end = ac_lb_min(b, end, ac_lb_i32(b, v->win.x.in));
    }
    to = ac_lb_add(b, to, ac_lo_scaled(b, ac_lb_sub(b, begin, first), ic));
    copy(v, v->x, ac_lb_add(b, row, ac_lo_scaled(b, begin, ic)), to, ac_lo_scaled(b, ac_lb_sub(b, end, begin), ic));
}

/* True if a window that begins at `first` and has `reach` positions extends past the input. */
static ac_x leaves(ac_lb *b, const ac_slide *s, ac_x first, int64_t reach)
{
    const ac_x before = ac_lb_lt(b, first, ac_lb_i32(b, 0));
    return ac_lb_or(b, before, ac_lb_lt(b, ac_lb_i32(b, s->in - reach), first));
}

void ac_wide_fill(const ac_wide *v, ac_x n, ac_x oy, ac_x ox, int32_t rows)
{
    ac_lb *b = &v->q.L->b;
    const ac_slide *y = &v->win.y, *x = &v->win.x;
    const int64_t shared = (rows - 1) * x->stride, columns = shared + v->columns, part = columns * v->win.ic;
    const int64_t split = v->columns == x->taps ? 1 : x->taps; /* parts of a row of taps */
    const ac_x zero = ac_lb_i32(b, 0), top = ac_slide_at(b, y, oy, zero), left = ac_slide_at(b, x, ox, zero);
    if (!ac_slide_inside(y) || !ac_slide_inside(x)) {
        const ac_x above = leaves(b, y, top, ac_slide_reach(y));
        const ac_x beside = leaves(b, x, left, shared + ac_slide_reach(x));
        ac_lb_if(b, ac_lb_or(b, above, beside));
        copy(v, -1, zero, zero, ac_lb_i32(b, v->parts * part));
        ac_lb_end(b);
    }
    ac_x lo, hi;
    ac_slide_taps(b, y, oy, &lo, &hi);
    const ac_x ky = ac_lb_for(b, "ky", lo, hi, 1, AC_MARK_SERIAL), iy = ac_slide_at(b, y, oy, ky);
    const ac_x row = ac_lo_scaled(b, ac_lb_add(b, ac_lo_scaled(b, n, y->in), iy), x->in * v->win.ic);
    const ac_x kx = ac_lb_for_n(b, "kx", split), first = ac_lb_add(b, left, ac_lo_scaled(b, kx, x->dil));
    copy_columns(v, row, first, columns, ac_lo_scaled(b, ac_lb_add(b, ac_lo_scaled(b, ky, split), kx), part));
    ac_lb_end(b);
    ac_lb_end(b);
}
