/* quad_line.c - copies windows of pixels into lines; see quad_line.h. */
#include "ir/lower/quad/quad_line.h"

#include "ir/loop/tiles.h"
#include "ir/lower/lower.h"

/* n bytes of x from element `from` on, or zero points (x -1), to the line from `to` on. */
static void copy_bytes(const ac_quad_line *v, int32_t x, ac_x from, ac_x to, int64_t n)
{
    ac_lb *b = &v->L->b;
    const ac_tile t = {.form = AC_TILE_SPREAD,
                       .rows = 1,
                       .channels = 1,
                       .x = x < 0 ? v->zeros : x,
                       .acc = v->line,
                       .shift = 1,
                       .stride = x >= 0};
    ac_lb_tile(b, t, x < 0 ? ac_lb_i32(b, 0) : from, to, ac_lb_i32(b, n));
}

/* Bytes base + begin .. base + end - 1 of x go to the line from `to` + begin on, in whole units. */
static void copy(const ac_quad_line *v, ac_x base, ac_x begin, ac_x end, ac_x to)
{
    ac_lb *b = &v->L->b;
    const int32_t n = v->win.ic % AC_QUAD_DEPTH ? 1 : AC_QUAD_DEPTH; /* a divisor of a tap's channels */
    const ac_x i = ac_lb_for(b, "i", begin, end, n, AC_MARK_SERIAL);
    if (n == 1)
        ac_lb_store(b, v->line, ac_lb_add(b, to, i), ac_lb_load(b, v->x, ac_lb_add(b, base, i), 1));
    else
        copy_bytes(v, v->x, ac_lb_add(b, base, i), ac_lb_add(b, to, i), n);
    ac_lb_end(b);
}

/* The taps of filter row ky, whose input row begins at byte `row`, to the line of a pixel, which begins at `to`. Bounds
 * are positions of the input, not counts, so that the planner sees which rows are read. */
static void copy_row(const ac_quad_line *v, ac_x row, ac_x ky, ac_x ox, ac_x to)
{
    ac_lb *b = &v->L->b;
    const ac_slide *x = &v->win.x;
    const int64_t ic = v->win.ic;
    const ac_x zero = ac_lb_i32(b, 0), left = ac_slide_at(b, x, ox, zero), first = ac_lo_scaled(b, ky, x->taps);
    if (x->dil == 1) {
        ac_x begin = left, end = ac_lb_add(b, left, ac_lb_i32(b, x->taps));
        if (!ac_slide_inside(x)) {
            begin = ac_lb_max(b, begin, zero);
            end = ac_lb_min(b, end, ac_lb_i32(b, x->in));
        }
        const ac_x shift = ac_lo_scaled(b, ac_lb_sub(b, first, left), ic);
        copy(v, row, ac_lo_scaled(b, begin, ic), ac_lo_scaled(b, end, ic), ac_lb_add(b, to, shift));
        return;
    }
    ac_x lo, hi;
    ac_slide_taps(b, x, ox, &lo, &hi);
    const ac_x kx = ac_lb_for(b, "kx", lo, hi, 1, AC_MARK_SERIAL), at = ac_slide_at(b, x, ox, kx);
    const ac_x shift = ac_lo_scaled(b, ac_lb_sub(b, ac_lb_add(b, first, kx), at), ic);
    copy(v, row, ac_lo_scaled(b, at, ic), ac_lo_scaled(b, ac_lb_add(b, at, ac_lb_i32(b, 1)), ic),
         ac_lb_add(b, to, shift));
    ac_lb_end(b);
}

/* The window of a pixel all of whose taps are inside, rows ylo .. yhi - 1 of it: rows at once. With AC_VARIANT_ROWS the
 * planner sees from the bounds which rows of x are read. */
static void copy_whole(const ac_quad_line *v, const ac_x *at, ac_x ylo, ac_x yhi, ac_x to)
{
    ac_lb *b = &v->L->b;
    const ac_slide *y = &v->win.y, *x = &v->win.x;
    const int64_t ic = v->win.ic, n = x->dil == 1 ? x->taps * ic : ic;
    const bool rows = v->L->variant & AC_VARIANT_ROWS;
    const ac_x lo = rows ? ylo : ac_lb_i32(b, 0), hi = rows ? yhi : ac_lb_i32(b, y->taps);
    const ac_x ky = ac_lb_for(b, "ky", lo, hi, 1, AC_MARK_SERIAL), kx = ac_lb_for_n(b, "kx", x->dil == 1 ? 1 : x->taps);
    ac_x from = ac_lb_add(b, ac_lo_scaled(b, at[0], y->in), ac_slide_at(b, y, at[1], ky));
    ac_x ix = ac_slide_at(b, x, at[2], kx);
    if (rows && !ac_slide_inside(x))
        ix = ac_lb_min(b, ac_lb_max(b, ix, ac_lb_i32(b, 0)), ac_lb_i32(b, x->in - n / ic));
    from = ac_lb_add(b, ac_lo_scaled(b, from, x->in), ix);
    const ac_x tap = ac_lb_add(b, ac_lo_scaled(b, ky, x->taps), kx);
    copy_bytes(v, v->x, ac_lo_scaled(b, from, ic), ac_lb_add(b, to, ac_lo_scaled(b, tap, ic)), n);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* The window of a pixel that is partly outside: all of it is first filled with zero points. */
static void copy_part(const ac_quad_line *v, const ac_x *at, ac_x ylo, ac_x yhi, ac_x to)
{
    ac_lb *b = &v->L->b;
    const ac_slide *y = &v->win.y, *x = &v->win.x;
    copy_bytes(v, -1, 0, to, v->depth);
    const ac_x ky = ac_lb_for(b, "ky", ylo, yhi, 1, AC_MARK_SERIAL);
    const ac_x iy = ac_lb_add(b, ac_lo_scaled(b, at[0], y->in), ac_slide_at(b, y, at[1], ky));
    copy_row(v, ac_lo_scaled(b, iy, x->in * v->win.ic), ky, at[2], to);
    ac_lb_end(b);
}

void ac_quad_line_open(ac_quad_line *v, int64_t pixels)
{
    const int8_t zero = (int8_t)v->zero;
    v->line = ac_lo_line(v->L, "line", AC_I8, v->steps * AC_QUAD_DEPTH * pixels);
    if (!ac_slide_inside(&v->win.y) || !ac_slide_inside(&v->win.x) || v->depth % AC_QUAD_DEPTH)
        v->zeros = ac_lo_table(v->L, "zero", AC_I8, 1, &zero);
}

void ac_quad_line_ends(const ac_quad_line *v, int64_t pixels)
{
    ac_lb *b = &v->L->b;
    if (v->line >= 0 && v->depth % AC_QUAD_DEPTH)
        copy_bytes(v, -1, 0, ac_lb_i32(b, 0), v->steps * AC_QUAD_DEPTH * pixels);
}

void ac_quad_line_position(const ac_quad_line *v, ac_x n, ac_x oy, ac_x i, ac_x *at)
{
    ac_lb *b = &v->L->b;
    const ac_x columns = ac_lb_i32(b, v->win.x.out);
    at[0] = n;
    at[1] = oy ? oy : ac_lb_div(b, i, columns);
    at[2] = oy ? i : ac_lb_mod(b, i, columns);
}

void ac_quad_line_window(const ac_quad_line *v, const ac_x *at, ac_x r)
{
    ac_lb *b = &v->L->b;
    const ac_slide *y = &v->win.y, *x = &v->win.x;
    const ac_x to = ac_lo_scaled(b, r, v->steps * AC_QUAD_DEPTH);
    ac_x ylo, yhi, xlo, xhi;
    ac_slide_taps(b, y, at[1], &ylo, &yhi);
    if (ac_slide_inside(y) && ac_slide_inside(x)) {
        copy_whole(v, at, ylo, yhi, to);
        return;
    }
    ac_slide_taps(b, x, at[2], &xlo, &xhi);
    const ac_x rows = ac_lb_ne(b, ac_lb_sub(b, yhi, ylo), ac_lb_i32(b, y->taps));
    const ac_x columns = ac_lb_ne(b, ac_lb_sub(b, xhi, xlo), ac_lb_i32(b, x->taps));
    ac_lb_if(b, ac_lb_or(b, rows, columns));
    copy_part(v, at, ylo, yhi, to);
    ac_lb_else(b);
    copy_whole(v, at, ylo, yhi, to);
    ac_lb_end(b);
}
