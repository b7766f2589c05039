/* quad_conv.c - int8 convolution and fully_connected four output channels at a time; see quad.h and ir/loop/tiles.h.
 *
 *     for two pixels:               copy their windows into lines of 16 byte steps
 *       for 4 output channels:      TILE BYTES; REQUANT and store each pixel
 *
 *     line     i8 [pixel][step][16]: a window's taps and channels; elements outside of the input are its zero point
 *     weights  i8 [block][step][4][16]: zeros at the end of the last step, so that the line's contents there do not
 *              matter
 *
 * The zero point of x is in the bias. fully_connected of one row reads it in place, if it is whole steps long. Without
 * AC_VARIANT_ROWS tiles run over all pixels of an image, with it over those of a row. */
#include "ir/lower/conv/quad.h"

#include "ir/loop/tiles.h"
#include "ir/lower/matrix.h"

enum { PIXELS = 2, DEPTH = 16 };

typedef struct conv {
    ac_quad q;
    ac_window win;        /* of a matrix: its rows are pixels of one row, taps 1 x 1 */
    int64_t depth, steps; /* products of an output; steps of a tile */
    int64_t positions;    /* of an image, or of a row */
    int32_t pixels;       /* of a tile */
    int32_t unit;         /* bytes to copy at a time; a divisor of a tap's channels */
    int32_t x, w, line;   /* line -1: x is read in place */
    bool matrix;
} conv;

/* ------------------------------------------------------------------ weights */

static void pack_weights(conv *v)
{
    ac_lower P;
    const ac_channel *c = v->q.c;
    const int64_t blocks = (c->n + AC_QUAD - 1) / AC_QUAD;
    const int32_t to = ac_lo_pack_open(v->q.L, &P, "w", AC_I8, blocks * AC_QUAD * v->steps * DEPTH);
    ac_lb *b = &P.b;
    const ac_x block = ac_lb_for_n(b, "block", blocks), step = ac_lb_for_n(b, "step", v->steps);
    const ac_x l = ac_lb_for_n(b, "l", AC_QUAD), i = ac_lb_for_n(b, "i", DEPTH);
    const ac_x oc = ac_lb_add(b, ac_lo_scaled(b, block, AC_QUAD), l), k = ac_lb_add(b, ac_lo_scaled(b, step, DEPTH), i);
    const ac_x in = ac_lb_min(b, oc, ac_lb_i32(b, c->n - 1)), ik = ac_lb_min(b, k, ac_lb_i32(b, v->depth - 1));
    ac_x w = ac_lb_load(b, ac_lo_operand(&P, c->w), ac_lb_add(b, ac_lo_scaled(b, in, v->depth), ik), 1);
    if (c->n % AC_QUAD)
        w = ac_lb_select(b, ac_lb_eq(b, in, oc), w, ac_lb_int(b, AC_I8, 0));
    if (v->depth % DEPTH)
        w = ac_lb_select(b, ac_lb_eq(b, ik, k), w, ac_lb_int(b, AC_I8, 0));
    ac_x at = ac_lb_add(b, ac_lo_scaled(b, block, v->steps), step);
    at = ac_lb_add(b, ac_lo_scaled(b, at, AC_QUAD), l);
    ac_lb_store(b, to, ac_lb_add(b, ac_lo_scaled(b, at, DEPTH), i), w);
    for (int n = 0; n < 4; n++)
        ac_lb_end(b);
    v->w = ac_lo_pack_close(v->q.L, &P);
}

/* ------------------------------------------------------------------ the line */

/* Bytes base + begin .. base + end - 1 of x, or zero points (x -1), go to the line from `to` + begin on, in whole
 * units. */
static void copy(const conv *v, int32_t x, ac_x base, ac_x begin, ac_x end, ac_x to)
{
    ac_lb *b = &v->q.L->b;
    const int32_t n = v->unit;
    const ac_x i = ac_lb_for(b, "i", begin, end, n, AC_MARK_SERIAL);
    ac_x bytes = ac_lb_splat(b, ac_lb_int(b, AC_I8, v->q.c->zx), n);
    if (x >= 0)
        bytes = ac_lb_load(b, x, ac_lb_add(b, base, i), n);
    ac_lb_store(b, v->line, ac_lb_add(b, to, i), bytes);
    ac_lb_end(b);
}

/* The taps of filter row ky, whose input row begins at byte `row`, to the line of a pixel, which begins at `to`. Bounds
 * are positions of the input, not counts, so that the planner sees which rows are read. */
static void copy_row(const conv *v, ac_x row, ac_x ky, ac_x ox, ac_x to)
{
    ac_lb *b = &v->q.L->b;
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
        copy(v, v->x, row, ac_lo_scaled(b, begin, ic), ac_lo_scaled(b, end, ic), ac_lb_add(b, to, shift));
        return;
    }
    ac_x lo, hi;
    ac_slide_taps(b, x, ox, &lo, &hi);
    const ac_x kx = ac_lb_for(b, "kx", lo, hi, 1, AC_MARK_SERIAL), at = ac_slide_at(b, x, ox, kx);
    const ac_x shift = ac_lo_scaled(b, ac_lb_sub(b, ac_lb_add(b, first, kx), at), ic);
    copy(v, v->x, row, ac_lo_scaled(b, at, ic), ac_lo_scaled(b, ac_lb_add(b, at, ac_lb_i32(b, 1)), ic),
         ac_lb_add(b, to, shift));
    ac_lb_end(b);
}

/* The window of output position at = {n, oy, ox} as pixel r. If a part of it is outside, all of it is first filled with
 * zero points. */
static void copy_window(const conv *v, const ac_x *at, ac_x r)
{
    ac_lb *b = &v->q.L->b;
    const ac_slide *y = &v->win.y, *x = &v->win.x;
    const ac_x to = ac_lo_scaled(b, r, v->steps * DEPTH);
    ac_x ylo, yhi, xlo, xhi;
    for (int64_t k = v->depth / 4 * 4; k < v->steps * DEPTH; k += 4) /* the end of the last step, by words */
        ac_lb_store(b, v->line, ac_lb_add(b, to, ac_lb_i32(b, k)), ac_lb_splat(b, ac_lb_int(b, AC_I8, 0), 4));
    ac_slide_taps(b, y, at[1], &ylo, &yhi);
    ac_slide_taps(b, x, at[2], &xlo, &xhi);
    if (!ac_slide_inside(y) || !ac_slide_inside(x)) {
        const ac_x rows = ac_lb_ne(b, ac_lb_sub(b, yhi, ylo), ac_lb_i32(b, y->taps));
        const ac_x columns = ac_lb_ne(b, ac_lb_sub(b, xhi, xlo), ac_lb_i32(b, x->taps));
        ac_lb_if(b, ac_lb_or(b, rows, columns));
        copy(v, -1, 0, ac_lb_i32(b, 0), ac_lb_i32(b, v->depth), to);
        ac_lb_end(b);
    }
    const ac_x ky = ac_lb_for(b, "ky", ylo, yhi, 1, AC_MARK_SERIAL);
    const ac_x iy = ac_lb_add(b, ac_lo_scaled(b, at[0], y->in), ac_slide_at(b, y, at[1], ky));
    copy_row(v, ac_lo_scaled(b, iy, x->in * v->win.ic), ky, at[2], to);
    ac_lb_end(b);
}

/* ------------------------------------------------------------------ tiles */

/* Position i of the image, or of row oy (0: of the image). */
static void position(const conv *v, ac_x n, ac_x oy, ac_x i, ac_x *at)
{
    ac_lb *b = &v->q.L->b;
    const ac_x columns = ac_lb_i32(b, v->win.x.out);
    at[0] = n;
    at[1] = oy ? oy : ac_lb_div(b, i, columns);
    at[2] = oy ? i : ac_lb_mod(b, i, columns);
}

static void store(const conv *v, ac_x n, ac_x oy, ac_x i, int32_t row, ac_x oc)
{
    ac_x idx[AC_MAX_RANK];
    if (v->matrix)
        ac_row_index(v->q.L, i, idx);
    else
        position(v, n, oy, i, idx);
    ac_quad_store(&v->q, row, oc, idx);
}

static void tile(const conv *v, ac_x n, ac_x oy, ac_x first)
{
    ac_lb *b = &v->q.L->b;
    const ac_x zero = ac_lb_i32(b, 0), last = ac_lb_i32(b, v->positions);
    const bool partial = v->positions % v->pixels;
    if (v->line >= 0) {
        ac_x count = ac_lb_i32(b, v->pixels), at[3];
        if (partial)
            count = ac_lb_min(b, count, ac_lb_sub(b, last, first));
        const ac_x r = ac_lb_for(b, "r", zero, count, 1, AC_MARK_SERIAL);
        position(v, n, oy, ac_lb_add(b, first, r), at);
        copy_window(v, at, r);
        ac_lb_end(b);
    }
    const ac_x oc = ac_lb_for(b, "oc", zero, ac_lb_i32(b, v->q.c->n), AC_QUAD, AC_MARK_SERIAL);
    const ac_tile t = {.form = AC_TILE_BYTES,
                       .rows = v->pixels,
                       .channels = AC_QUAD,
                       .x = v->line >= 0 ? v->line : v->x,
                       .w = v->w,
                       .acc = v->q.acc};
    ac_lb_tile(b, t, zero, ac_lo_scaled(b, oc, v->steps * DEPTH), ac_lb_i32(b, v->steps));
    for (int32_t r = 0; r < v->pixels; r++) {
        const ac_x i = ac_lb_add(b, first, ac_lb_i32(b, r));
        if (r > 0 && partial)
            ac_lb_if(b, ac_lb_lt(b, i, last));
        store(v, n, oy, i, r, oc);
        if (r > 0 && partial)
            ac_lb_end(b);
    }
    ac_lb_end(b);
}

static bool lower(ac_lower *L, ac_channel *c, conv *v)
{
    ac_lb *b = &L->b;
    const bool by_row = L->variant & AC_VARIANT_ROWS && v->win.y.out > 1;
    if (!L->target->mve || !ac_quad_open(L, &v->q, c))
        return false;
    v->positions = by_row ? v->win.x.out : v->win.y.out * v->win.x.out;
    v->pixels = v->positions < PIXELS ? (int32_t)v->positions : PIXELS;
    v->steps = (v->depth + DEPTH - 1) / DEPTH;
    v->unit = v->win.ic % DEPTH ? 1 : DEPTH;
    v->x = ac_lo_operand(L, c->x);
    const bool in_place = v->matrix && v->positions == 1 && v->depth % DEPTH == 0;
    v->line = in_place ? -1 : ac_lo_line(L, "line", AC_I8, v->steps * DEPTH * v->pixels);
    v->q.acc = ac_lo_local(L, "acc", AC_I32, v->pixels * AC_QUAD);
    v->q.y = ac_lo_local(L, "y", AC_I8, AC_QUAD);
    pack_weights(v);
    const ac_x n = ac_lb_for_n(b, "n", v->win.n);
    const ac_x oy = by_row ? ac_lb_for_n(b, "oy", v->win.y.out) : 0;
    tile(v, n, oy, ac_lb_for(b, "p", ac_lb_i32(b, 0), ac_lb_i32(b, v->positions), v->pixels, AC_MARK_SERIAL));
    ac_lb_end(b);
    if (by_row)
        ac_lb_end(b);
    ac_lb_end(b);
    return true;
}

bool ac_quad_conv(ac_lower *L, ac_channel *c, const ac_window *win)
{
    conv v = {.win = *win, .depth = win->y.taps * win->x.taps * win->ic};
    return v.depth > 0 && lower(L, c, &v);
}

bool ac_quad_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth)
{
    const ac_slide one = {.in = 1, .out = 1, .taps = 1, .stride = 1, .dil = 1}, all = {rows, rows, 1, 1, 1, 0};
    conv v = {.win = {.n = 1, .ic = depth, .oc = c->n, .y = one, .x = all}, .depth = depth, .matrix = true};
    return depth > 0 && lower(L, c, &v);
}
