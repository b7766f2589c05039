/* quad_eights.c - int8 convolution and fully_connected eight output channels at a time, of pairs of pixels; see quad.h
 * and codegen/nests.h.
 *
 *     pixels whose windows follow each other in x:      a nest over all of them, in place
 *     others:                                           copied into a line (quad_line.h), then a nest over that
 *
 * Operators fused to it take the bytes of a line's pixels, and are nests as well if they are sums (ADD).
 *
 * An odd pixel at the end is computed again, with the one before it. fully_connected of one row is a nest of one
 * row. */
#include "ir/lower/quad/quad.h"
#include "ir/lower/quad/quad_line.h"

#include "ir/loop/tiles.h"
#include "ir/lower/lower.h"

enum { EIGHT = 8, PAIR = 2, FEW_CHANNELS = 16, LONG_LINE = 8, LINE_BYTES = 256 };

typedef struct eights {
    ac_quad q;
    ac_quad_line at;
    int32_t w, y;
    int32_t pixels; /* of the line */
    bool place;     /* x is read in place */
} eights;

/* Rows of x, from element x_at on, and where results go. */
typedef struct rows {
    int32_t x;
    ac_x x_at, y_at;
    int64_t pixels;
    int64_t steps;
} rows;

static void nest(const eights *v, const rows *r)
{
    ac_lb *b = &v->at.L->b;
    const int64_t oc = v->q.c->n;
    const int32_t each = r->pixels < PAIR ? 1 : PAIR;
    const ac_x zero = ac_lb_i32(b, 0), next = ac_lb_add(b, r->y_at, ac_lb_i32(b, oc));
    const ac_x p = ac_lb_for(b, "p", zero, ac_lb_i32(b, r->pixels), each, AC_MARK_NEST);
    const ac_x c = ac_lb_for(b, "oc", zero, ac_lb_i32(b, oc), EIGHT, AC_MARK_NEST); /* not left out if there is one */
    const ac_tile t = {.form = AC_TILE_BYTES, .rows = each, .channels = EIGHT, .x = r->x, .w = v->w, .acc = v->q.acc};
    const ac_x x = ac_lo_scaled(b, p, r->steps * AC_QUAD_DEPTH);
    ac_lb_tile(b, t, ac_lb_add(b, r->x_at, x), ac_lo_scaled(b, c, v->at.steps * AC_QUAD_DEPTH), ac_lb_i32(b, r->steps));
    for (int32_t k = 0; k < each; k++) {
        const ac_x first = ac_lb_add(b, k ? next : r->y_at, ac_lo_scaled(b, p, oc));
        ac_quad_requantise(&v->q, k, c, EIGHT, v->y, ac_lb_add(b, first, c));
    }
    ac_lb_end(b);
    ac_lb_end(b);
}

/* n pixels of x in place, each `depth` elements, the first one at number `first` of all. */
static void in_place(const eights *v, ac_x first, int64_t n)
{
    ac_lb *b = &v->at.L->b;
    const int64_t depth = v->at.depth, oc = v->q.c->n, whole = n < PAIR ? n : n / PAIR * PAIR;
    rows r = {.x = v->at.x, .pixels = whole, .steps = v->at.steps};
    r.x_at = ac_lo_scaled(b, first, depth);
    r.y_at = ac_lo_scaled(b, first, oc);
    nest(v, &r);
    if (whole == n)
        return;
    first = ac_lb_add(b, first, ac_lb_i32(b, n - PAIR));
    r.x_at = ac_lo_scaled(b, first, depth);
    r.y_at = ac_lo_scaled(b, first, oc);
    r.pixels = PAIR;
    nest(v, &r);
}

/* Fused operators: bytes of pixel r of the line, which is position i, to the result. */
static void store(const eights *v, const ac_x *at, ac_x r)
{
    ac_lower *L = v->at.L;
    ac_lb *b = &L->b;
    const int64_t n = v->q.c->n;
    const ac_x first[4] = {at[0], at[1], at[2], ac_lb_i32(b, 0)}, from = ac_lo_scaled(b, r, n);
    ac_lo_flat(L, L->node->out[0], first); /* a nest needs it from before its loop */
    const ac_x oc = ac_lb_for(b, "oc", ac_lb_i32(b, 0), ac_lb_i32(b, n), 1, AC_MARK_NEST);
    const ac_x idx[4] = {at[0], at[1], at[2], oc};
    ac_lo_result(L, ac_lb_load(b, v->y, ac_lb_add(b, from, oc), 1), idx, 1);
    ac_lb_end(b);
}

/* Positions of an image, or of row oy of it, by lines. */
static void by_lines(const eights *v, ac_x image, ac_x oy, int64_t n)
{
    ac_lb *b = &v->at.L->b;
    const int64_t columns = v->at.win.x.out;
    const bool fused = v->at.L->node->n_fused;
    ac_quad_line_ends(&v->at, v->pixels);
    ac_x p = ac_lb_for(b, "p", ac_lb_i32(b, 0), ac_lb_i32(b, n), v->pixels, AC_MARK_SERIAL);
    if (n % v->pixels)
        p = ac_lb_min(b, p, ac_lb_i32(b, n - v->pixels));
    ac_x row = ac_lo_scaled(b, image, v->at.win.y.out), at[3];
    row = ac_lb_add(b, ac_lo_scaled(b, oy ? ac_lb_add(b, row, oy) : row, columns), p);
    if (!v->place) {
        const ac_x r = ac_lb_for_n(b, "r", v->pixels);
        ac_quad_line_position(&v->at, image, oy, ac_lb_add(b, p, r), at);
        ac_quad_line_window(&v->at, at, r);
        ac_lb_end(b);
    }
    const rows nested = {.x = v->place ? v->at.x : v->at.line,
                         .x_at = v->place ? ac_lo_scaled(b, row, v->at.depth) : ac_lb_i32(b, 0),
                         .y_at = fused ? ac_lb_i32(b, 0) : ac_lo_scaled(b, row, v->q.c->n),
                         .pixels = v->pixels,
                         .steps = v->at.steps};
    nest(v, &nested);
    if (fused) { /* a position of the image, so that places of the result are one product and one sum */
        const ac_x r = ac_lb_for_n(b, "r", v->pixels), i = ac_lb_add(b, p, r);
        const ac_x all = oy ? ac_lb_add(b, ac_lo_scaled(b, oy, columns), i) : i;
        ac_quad_line_position(&v->at, image, 0, all, at);
        store(v, at, r);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

static bool is_in_place(const ac_window *win, int64_t depth)
{
    const ac_slide *y = &win->y, *x = &win->x;
    return depth % AC_QUAD_DEPTH == 0 && y->taps == 1 && x->taps == 1 && y->stride == 1 && x->stride == 1 &&
           ac_slide_inside(y) && ac_slide_inside(x) && y->out == y->in && x->out == x->in;
}

/* Pixels of a line: two, or more if there is little to do for each. */
static int32_t line_of(const ac_channel *c, int64_t columns, int64_t steps)
{
    const bool small = steps * AC_QUAD_DEPTH * LONG_LINE <= LINE_BYTES;
    return small && c->n <= FEW_CHANNELS && columns % LONG_LINE == 0 ? LONG_LINE : PAIR;
}

bool ac_quad_eights(ac_lower *L, ac_channel *c, const ac_window *win, int64_t depth, bool matrix)
{
    ac_lb *b = &L->b;
    const bool place = is_in_place(win, depth), fused = L->node->n_fused;
    const int64_t steps = (depth + AC_QUAD_DEPTH - 1) / AC_QUAD_DEPTH;
    const int32_t pixels = line_of(c, win->x.out, steps);
    /* rows of windows need no divisions */
    const bool by_row = win->y.out > 1 && (L->variant & AC_VARIANT_ROWS || (!place && win->x.out % pixels == 0));
    const int64_t positions = by_row ? win->x.out : win->y.out * win->x.out;
    eights v = {.at = {.L = L, .win = *win, .depth = depth, .zero = c->zx, .line = -1}, .place = place};
    if (positions < (place && !fused ? 1 : PAIR) || (matrix && (!place || fused)) || (fused && positions % PAIR) ||
        !ac_quad_open_eights(L, &v.q, c))
        return false;
    v.at.steps = steps;
    v.at.x = ac_lo_operand(L, c->x);
    v.pixels = pixels;
    if (!place)
        ac_quad_line_open(&v.at, v.pixels);
    v.q.acc = ac_lo_local(L, "acc", AC_I32, PAIR * EIGHT);
    v.w = ac_quad_weights(&v.q, depth);
    v.y = fused ? ac_lo_line(L, "sums", AC_I8, v.pixels * c->n) : ac_lo_result_buf(L);
    const ac_x n = ac_lb_for_n(b, "n", win->n), oy = by_row ? ac_lb_for_n(b, "oy", win->y.out) : 0;
    const ac_x image = ac_lo_scaled(b, n, win->y.out);
    if (place && !fused)
        in_place(&v, ac_lo_scaled(b, oy ? ac_lb_add(b, image, oy) : image, win->x.out), positions);
    else
        by_lines(&v, n, oy, positions);
    if (by_row)
        ac_lb_end(b);
    ac_lb_end(b);
    return true;
}
