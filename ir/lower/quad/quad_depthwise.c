/* quad_depthwise.c - int8 depthwise convolution by sums of sixteen products; see quad.h and ir/loop/tiles.h.
 *
 *     for output row, 16 channels:
 *       SPREAD: input rows of the window to lines of one channel each, [column][row of the window]
 *       for 4 channels, up to 3 pixels:   TILE EACH; REQUANT and store
 *
 *     line of a channel    a0 b0 c0 | a1 b1 c1 | a2 b2 c2 | ...      rows a, b, c of the input, columns 0, 1, 2 ...
 *                          `---- window of pixel 0 -----'
 *                                    `---- pixel 1, ...             16 bytes hold the windows of 3 x 3 of 3 pixels
 *
 * Columns and rows outside of the input are zero points, so the zero point of x is in the bias. Weights are bytes in
 * the lines' order, with zeros before and after, so that each pixel of a tile reads them shifted by its columns. */
#include "ir/lower/quad/quad.h"

#include "ir/loop/tiles.h"
#include "ir/lower/lower.h"

enum { LANES = 16, NARROW = 8, MOST_PIXELS = 3, MOST_DEPTH = 112 };

typedef struct depthwise {
    ac_quad q;
    const ac_window *win;
    int32_t pixels, shift, depth; /* of a tile; bytes between the windows of two pixels; bytes of a tile */
    int32_t pitch;                /* bytes of a channel's line */
    int64_t columns;              /* of a line */
    int32_t x, w, line, zero;
} depthwise;

/* ------------------------------------------------------------------ shape */

/* Bytes of a tile of n pixels. */
static int64_t depth_of(const ac_window *win, int64_t n)
{
    return (((n - 1) * win->x.stride + ac_slide_reach(&win->x)) * win->y.taps + 15) / 16 * 16;
}

/* The number of pixels that minimises loads and products for a row; false: none fits the instruction. */
static bool choose(depthwise *d)
{
    const ac_window *win = d->win;
    const int64_t shift = win->x.stride * win->y.taps;
    int64_t best = INT64_MAX;
    for (int32_t n = 1; n <= MOST_PIXELS; n++) {
        const int64_t depth = depth_of(win, n), tiles = (win->x.out + n - 1) / n;
        if (depth > MOST_DEPTH || (n - 1) * shift + depth - 16 > AC_TILE_SHIFT)
            continue;
        const int64_t cost = tiles * (depth / 16 * (1 + 2 * n) + 3 * n + 2);
        if (cost >= best)
            continue;
        best = cost;
        d->pixels = n;
        d->depth = (int32_t)depth;
        d->columns = (tiles * n - 1) * win->x.stride + ac_slide_reach(&win->x);
    }
    if (best == INT64_MAX || shift > AC_TILE_SHIFT || d->columns * win->y.taps > AC_TILE_PITCH)
        return false;
    d->shift = (int32_t)shift;
    d->pitch = (int32_t)(d->columns * win->y.taps);
    return true;
}

/* ------------------------------------------------------------------ weights */

/* [block of 4][slot][depth]: zeros for the pixels after the first, weights [column][row], zeros. */
static void pack_weights(depthwise *d)
{
    ac_lower P;
    const ac_window *win = d->win;
    const int64_t n = (win->oc + AC_QUAD - 1) / AC_QUAD * AC_QUAD, before = (d->pixels - 1) * (int64_t)d->shift;
    const int32_t to = ac_lo_pack_open(d->q.L, &P, "w", AC_I8, n * d->depth + before);
    ac_lb *b = &P.b;
    const int32_t w = ac_lo_operand(&P, d->q.c->w);
    const ac_x i = ac_lb_for_n(b, "i", n * d->depth + before);
    ac_lb_store(b, to, i, ac_lb_int(b, AC_I8, 0));
    ac_lb_end(b);
    const ac_x oc = ac_lb_for_n(b, "oc", win->oc), ky = ac_lb_for_n(b, "ky", win->y.taps);
    const ac_x kx = ac_lb_for_n(b, "kx", win->x.taps);
    const ac_x low = ac_lb_and(b, oc, ac_lb_i32(b, 1)), high = ac_lb_and(b, oc, ac_lb_i32(b, 2));
    ac_x slot = ac_lb_sub(b, oc, ac_lb_add(b, low, high)); /* 0, 2, 1, 3 */
    slot = ac_lb_add(b, slot, ac_lb_add(b, ac_lo_scaled(b, low, 2), ac_lb_shr(b, high, ac_lb_i32(b, 1))));
    const ac_x tap = ac_lb_add(b, ac_lo_scaled(b, ky, win->x.taps), kx);
    ac_x at = ac_lb_add(b, ac_lo_scaled(b, ac_lo_scaled(b, kx, win->x.dil), win->y.taps), ky);
    at = ac_lb_add(b, at, ac_lb_add(b, ac_lo_scaled(b, slot, d->depth), ac_lb_i32(b, before)));
    ac_lb_store(b, to, at, ac_lb_load(b, w, ac_lb_add(b, ac_lo_scaled(b, tap, win->oc), oc), 1));
    for (int k = 0; k < 3; k++)
        ac_lb_end(b);
    d->w = ac_lo_pack_close(d->q.L, &P);
}

/* ------------------------------------------------------------------ lines */

/* `steps` bytes of each of n channels from element x_at of x on (of zero points: -1), to byte `to` of their lines. */
static void spread(const depthwise *d, int32_t n, int32_t x, ac_x x_at, ac_x to, int64_t by, int64_t steps)
{
    ac_lb *b = &d->q.L->b;
    const ac_tile t = {.form = AC_TILE_SPREAD,
                       .rows = 1,
                       .channels = n,
                       .x = x < 0 ? d->zero : x,
                       .acc = d->line,
                       .pitch = d->pitch,
                       .shift = (int32_t)by,
                       .stride = x < 0 ? 0 : (int32_t)d->win->ic};
    if (steps > 0)
        ac_lb_tile(b, t, x < 0 ? ac_lb_i32(b, 0) : x_at, to, ac_lb_i32(b, steps));
}

/* Clears the bytes that tiles read from lines without a channel, and past the last line. */
static void clear_rest(const depthwise *d, int32_t n)
{
    ac_lb *b = &d->q.L->b;
    const int32_t slots = (n + AC_QUAD - 1) / AC_QUAD * AC_QUAD;
    for (int32_t c = n; c < slots; c++)
        spread(d, 1, -1, 0, ac_lb_i32(b, ac_tile_slot(c) * (int64_t)d->pitch), 1, d->pitch);
    spread(d, 1, -1, 0, ac_lb_i32(b, slots * (int64_t)d->pitch), 1, d->depth);
}

/* Lines of n channels from ch on, for output row oy of image `image`. */
static void fill_lines(const depthwise *d, ac_x image, ac_x oy, ac_x ch, int32_t n)
{
    ac_lb *b = &d->q.L->b;
    const ac_slide *y = &d->win->y, *x = &d->win->x;
    const int64_t taps = y->taps, pad = x->pad > 0 ? x->pad : 0, skip = pad - x->pad;
    const int64_t rest = d->columns - pad, columns = rest < x->in - skip ? rest : x->in - skip;
    clear_rest(d, n);
    spread(d, n, -1, 0, ac_lb_i32(b, 0), 1, pad * taps);
    spread(d, n, -1, 0, ac_lb_i32(b, (pad + columns) * taps), 1, (rest - columns) * taps);
    const ac_x ky = ac_lb_for_n(b, "ky", taps), iy = ac_slide_at(b, y, oy, ky);
    const ac_x to = ac_lb_add(b, ky, ac_lb_i32(b, pad * taps));
    ac_x row = ac_lb_add(b, ac_lo_scaled(b, image, y->in), iy);
    row = ac_lb_add(b, ac_lo_scaled(b, row, x->in), ac_lb_i32(b, skip));
    row = ac_lb_add(b, ac_lo_scaled(b, row, d->win->ic), ch);
    if (!ac_slide_inside(y))
        ac_lb_if(b, ac_lb_and(b, ac_lb_le(b, ac_lb_i32(b, 0), iy), ac_lb_lt(b, iy, ac_lb_i32(b, y->in))));
    spread(d, n, d->x, row, to, taps, columns);
    if (!ac_slide_inside(y)) {
        ac_lb_else(b);
        spread(d, n, -1, 0, to, taps, columns);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* ------------------------------------------------------------------ tiles */

static void tile(const depthwise *d, ac_x image, ac_x oy, ac_x oc, ac_x in_block, ac_x g)
{
    ac_lb *b = &d->q.L->b;
    const int64_t out = d->win->x.out;
    const ac_tile t = {.form = AC_TILE_EACH,
                       .rows = d->pixels,
                       .channels = AC_QUAD,
                       .x = d->line,
                       .w = d->w,
                       .acc = d->q.acc,
                       .pitch = d->pitch,
                       .shift = d->shift,
                       .depth = d->depth};
    const ac_x first = ac_lo_scaled(b, g, d->pixels);
    const ac_x at = ac_lb_add(b, ac_lo_scaled(b, in_block, d->pitch), ac_lo_scaled(b, first, d->shift));
    ac_lb_tile(b, t, at, ac_lo_scaled(b, oc, d->depth), ac_lb_i32(b, 1));
    for (int32_t r = 0; r < d->pixels; r++) {
        const ac_x ox = ac_lb_add(b, first, ac_lb_i32(b, r));
        const bool guard = out % d->pixels && r >= out % d->pixels;
        if (guard)
            ac_lb_if(b, ac_lb_lt(b, ox, ac_lb_i32(b, out)));
        ac_x idx[4] = {image, oy, ox, 0};
        ac_quad_store(&d->q, r, oc, idx);
        if (guard)
            ac_lb_end(b);
    }
}

/* n channels from ch on. */
static void block(const depthwise *d, ac_x image, ac_x oy, ac_x ch, int32_t n)
{
    ac_lb *b = &d->q.L->b;
    fill_lines(d, image, oy, ch, n);
    const ac_x c = ac_lb_for(b, "c", ac_lb_i32(b, 0), ac_lb_i32(b, n), AC_QUAD, AC_MARK_SERIAL);
    const ac_x g = ac_lb_for_n(b, "g", (d->win->x.out + d->pixels - 1) / d->pixels);
    tile(d, image, oy, ac_lb_add(b, ch, c), c, g);
    ac_lb_end(b);
    ac_lb_end(b);
}

bool ac_quad_depthwise(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_lb *b = &L->b;
    depthwise d = {.win = win};
    if (!L->target->mve || win->ic != win->oc || win->ic > AC_TILE_PITCH || win->x.pad < 0 || win->x.out < 1 ||
        !choose(&d) || !ac_quad_open(L, &d.q, c))
        return false;
    const int32_t lanes = win->ic % LANES == 0 ? LANES : NARROW, slots = win->ic > AC_QUAD ? lanes : AC_QUAD;
    int8_t zero[LANES];
    for (int32_t i = 0; i < LANES; i++)
        zero[i] = (int8_t)c->zx;
    d.x = ac_lo_operand(L, c->x);
    d.zero = ac_lo_table(L, "zero", AC_I8, LANES, zero);
    d.line = ac_lo_line(L, "line", AC_I8, slots * (int64_t)d.pitch + d.depth);
    d.q.acc = ac_lo_local(L, "acc", AC_I32, d.pixels * AC_QUAD);
    d.q.y = ac_lo_local(L, "y", AC_I8, AC_QUAD);
    pack_weights(&d);
    const ac_x n = ac_lb_for_n(b, "n", win->n), oy = ac_lb_for_n(b, "oy", win->y.out);
    const int64_t whole = win->ic / lanes * lanes;
    if (whole) {
        const ac_x ch = ac_lb_for(b, "ch", ac_lb_i32(b, 0), ac_lb_i32(b, whole), lanes, AC_MARK_SERIAL);
        block(&d, n, oy, ch, lanes);
        ac_lb_end(b);
    }
    if (win->ic > whole)
        block(&d, n, oy, ac_lb_i32(b, whole), (int32_t)(win->ic - whole));
    ac_lb_end(b);
    ac_lb_end(b);
    return true;
}
