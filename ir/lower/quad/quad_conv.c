/* quad_conv.c - int8 convolution and fully_connected four output channels at a time; see quad.h and ir/loop/tiles.h.
 *
 *     for two pixels:               copy their windows into lines of 16 byte steps (quad_line.h)
 *       for 4 output channels:      TILE BYTES; REQUANT and store each pixel
 *
 * The zero point of x is in the bias. fully_connected of one row reads it in place, if it is whole steps long. Without
 * AC_VARIANT_ROWS tiles run over all pixels of an image, with it over those of a row. */
#include "ir/lower/quad/quad.h"
#include "ir/lower/quad/quad_line.h"

#include "ir/loop/tiles.h"
#include "ir/lower/matrix.h"

enum { PIXELS = 2 };

typedef struct conv {
    ac_quad q;
    ac_quad_line at;   /* line -1: x is read in place */
    int64_t positions; /* of an image, or of a row */
    int32_t pixels;    /* of a tile */
    int32_t w;
    bool matrix;
} conv;

/* ------------------------------------------------------------------ tiles */

static void store(const conv *v, ac_x n, ac_x oy, ac_x i, int32_t row, ac_x oc)
{
    ac_x idx[AC_MAX_RANK];
    if (v->matrix)
        ac_row_index(v->q.L, i, idx);
    else
        ac_quad_line_position(&v->at, n, oy, i, idx);
    ac_quad_store(&v->q, row, oc, idx);
}

static void tile(const conv *v, ac_x n, ac_x oy, ac_x first)
{
    ac_lb *b = &v->q.L->b;
    const ac_x zero = ac_lb_i32(b, 0), last = ac_lb_i32(b, v->positions);
    const bool partial = v->positions % v->pixels;
    if (v->at.line >= 0) {
        ac_x count = ac_lb_i32(b, v->pixels), at[3];
        if (partial)
            count = ac_lb_min(b, count, ac_lb_sub(b, last, first));
        const ac_x r = ac_lb_for(b, "r", zero, count, 1, AC_MARK_SERIAL);
        ac_quad_line_position(&v->at, n, oy, ac_lb_add(b, first, r), at);
        ac_quad_line_window(&v->at, at, r);
        ac_lb_end(b);
    }
    const ac_x oc = ac_lb_for(b, "oc", zero, ac_lb_i32(b, v->q.c->n), AC_QUAD, AC_MARK_SERIAL);
    const ac_tile t = {.form = AC_TILE_BYTES,
                       .rows = v->pixels,
                       .channels = AC_QUAD,
                       .x = v->at.line >= 0 ? v->at.line : v->at.x,
                       .w = v->w,
                       .acc = v->q.acc};
    ac_lb_tile(b, t, zero, ac_lo_scaled(b, oc, v->at.steps * AC_QUAD_DEPTH), ac_lb_i32(b, v->at.steps));
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
    const bool by_row = L->variant & AC_VARIANT_ROWS && v->at.win.y.out > 1;
    if (!L->target->mve || (!ac_quad_open(L, &v->q, c) && !ac_quad_open_sums(L, &v->q, c, v->at.depth)))
        return false;
    v->at.L = L;
    v->at.zero = c->zx;
    v->positions = by_row ? v->at.win.x.out : v->at.win.y.out * v->at.win.x.out;
    v->pixels = v->positions < PIXELS ? (int32_t)v->positions : PIXELS;
    v->at.steps = (v->at.depth + AC_QUAD_DEPTH - 1) / AC_QUAD_DEPTH;
    v->at.x = ac_lo_operand(L, c->x);
    const bool in_place = v->matrix && v->positions == 1 && v->at.depth % AC_QUAD_DEPTH == 0;
    v->at.line = -1;
    if (!in_place)
        ac_quad_line_open(&v->at, v->pixels);
    v->q.acc = ac_lo_local(L, "acc", AC_I32, v->pixels * AC_QUAD);
    v->q.y = ac_lo_local(L, "y", AC_I8, AC_QUAD);
    v->w = ac_quad_weights(&v->q, v->at.depth);
    const ac_x n = ac_lb_for_n(b, "n", v->at.win.n);
    const ac_x oy = by_row ? ac_lb_for_n(b, "oy", v->at.win.y.out) : 0;
    ac_quad_line_ends(&v->at, v->pixels);
    tile(v, n, oy, ac_lb_for(b, "p", ac_lb_i32(b, 0), ac_lb_i32(b, v->positions), v->pixels, AC_MARK_SERIAL));
    ac_lb_end(b);
    if (by_row)
        ac_lb_end(b);
    ac_lb_end(b);
    return true;
}

bool ac_quad_conv(ac_lower *L, ac_channel *c, const ac_window *win)
{
    conv v = {.at = {.win = *win, .depth = win->y.taps * win->x.taps * win->ic}};
    return v.at.depth > 0 && (ac_quad_eights(L, c, &v.at.win, v.at.depth, false) || lower(L, c, &v));
}

bool ac_quad_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth)
{
    const ac_slide one = {.in = 1, .out = 1, .taps = 1, .stride = 1, .dil = 1}, all = {rows, rows, 1, 1, 1, 0};
    conv v = {.at = {.win = {.n = 1, .ic = depth, .oc = c->n, .y = one, .x = all}, .depth = depth}, .matrix = true};
    return depth > 0 && (ac_quad_eights(L, c, &v.at.win, depth, true) || lower(L, c, &v));
}
