/* wide.c - emits tiles with an output channel in each lane, and packs their weights; see wide.h. */
#include "ir/lower/conv/wide.h"

#include "ir/loop/tiles.h"
#include "ir/lower/matrix.h"

/* Registers of 16 bytes: those available for sums, and the largest offset that an instruction can add to an address. */
enum { SUMS = 28, SUMS_LANES = 24, MOST_ROWS = 8, OFFSET = 2047, DEPTH = 4, REST = 6 };

/* Products of an output. */
static int64_t products(const ac_wide *v)
{
    return v->win.y.taps * v->win.x.taps * (v->form == AC_TILE_OUTER ? v->win.ic : 1);
}

/* ------------------------------------------------------------------ weights */

/* Those of channels first .. first + width - 1. */
static void pack_block(const ac_wide *v, ac_lower *P, int32_t to, ac_x first, int32_t width)
{
    ac_lb *b = &P->b;
    const int64_t n = products(v);
    const ac_x k = ac_lb_for_n(b, "k", n), l = ac_lb_for_n(b, "l", width), oc = ac_lb_add(b, first, l);
    const ac_x at = ac_lb_add(b, ac_lb_add(b, ac_lo_scaled(b, first, n), ac_lo_scaled(b, k, width)), l);
    const ac_x from =
        v->depthwise ? ac_lb_add(b, ac_lo_scaled(b, k, v->win.oc), oc) : ac_lb_add(b, ac_lo_scaled(b, oc, n), k);
    ac_lb_store(b, to, at, ac_lb_load(b, ac_lo_operand(P, v->q.c->w), from, 1));
    ac_lb_end(b);
    ac_lb_end(b);
}

static void pack_weights(ac_wide *v)
{
    ac_lower P;
    const int64_t n = v->q.c->n, whole = n / v->q.lanes * v->q.lanes;
    const int32_t to = ac_lo_pack_open(v->q.L, &P, "w", AC_I8, n * products(v));
    ac_lb *b = &P.b;
    pack_block(v, &P, to, ac_lb_for(b, "oc", ac_lb_i32(b, 0), ac_lb_i32(b, whole), v->q.lanes, AC_MARK_SERIAL),
               v->q.lanes);
    ac_lb_end(b);
    if (n > whole)
        pack_block(v, &P, to, ac_lb_i32(b, whole), (int32_t)(n - whole));
    v->w = ac_lo_pack_close(v->q.L, &P);
}

/* ------------------------------------------------------------------ shape */

static int32_t registers(int32_t lanes)
{
    return lanes > 16 ? 8 : lanes > 8 ? 4 : lanes > 4 ? 2 : 1;
}

/* The approximate number of instructions of a tile of n pixels. */
static int64_t cost(const ac_wide *v, int64_t n)
{
    const int64_t each = v->form == AC_TILE_OUTER ? 4 * n + 7 : 8 * n + 10; /* halves, for a product */
    return n ? products(v) * each / 2 + (v->line < 0 ? 10 : 10 + 20 * v->parts) : 0;
}

/* The number of pixels that minimises the cost of the image, or of the row; a remainder adds its code. */
static int32_t choose(const ac_wide *v)
{
    const int32_t most = (v->form == AC_TILE_OUTER ? SUMS : SUMS_LANES) / registers(v->q.lanes);
    const int64_t pitch = v->win.x.stride * v->win.ic;
    int64_t best = INT64_MAX;
    int32_t pixels = 1;
    for (int32_t n = 1; n <= most && n <= MOST_ROWS && n <= v->positions; n++) {
        const int64_t rest = v->positions % n;
        int64_t all = v->positions / n * cost(v, n) + cost(v, rest);
        all += rest ? all / REST : 0;
        if ((n - 1) * pitch + DEPTH > OFFSET || all >= best)
            continue;
        best = all;
        pixels = n;
    }
    return pixels;
}

/* ------------------------------------------------------------------ tiles */

/* Position of pixel i of row oy (or of the image) of image n. */
static void position(const ac_wide *v, const ac_x *at, ac_x i, ac_x *idx)
{
    ac_lower *L = v->q.L;
    ac_lb *b = &L->b;
    idx[0] = at[0];
    idx[1] = at[1];
    idx[2] = i;
    if (v->matrix) {
        ac_row_index(L, i, idx);
    } else if (v->flat && (L->node->n_fused || v->win.x.out == 1)) { /* positions count, not the address alone */
        idx[1] = ac_lb_div(b, i, ac_lb_i32(b, v->win.x.out));
        idx[2] = ac_lb_mod(b, i, ac_lb_i32(b, v->win.x.out));
    }
}

/* Sums of `rows` pixels from at[2] on become bytes; fused operators follow one by one. */
static void store(const ac_wide *v, const ac_x *at, int32_t rows, ac_x oc, int32_t width)
{
    ac_lower *L = v->q.L;
    ac_lb *b = &L->b;
    const ac_tensor *out = L->node->out[0];
    const int32_t last = out->rank - 1;
    ac_x idx[AC_MAX_RANK];
    for (int32_t r = 0; r < rows; r++) {
        if (L->node->n_fused) {
            ac_quad_requantise(&v->q, r, oc, width, v->q.y, ac_lb_i32(b, (int64_t)r * width));
            continue;
        }
        position(v, at, ac_lb_add(b, at[2], ac_lb_i32(b, r)), idx);
        idx[last] = oc;
        ac_quad_requantise(&v->q, r, oc, width, ac_lo_result_buf(L), ac_lo_flat(L, out, idx));
    }
    if (!L->node->n_fused)
        return;
    const ac_x r = ac_lb_for_n(b, "r", rows);
    position(v, at, ac_lb_add(b, at[2], r), idx);
    const ac_x l = ac_lb_for_n(b, "l", width);
    idx[last] = ac_lb_add(b, oc, l);
    ac_lo_result(L, ac_lb_load(b, v->q.y, ac_lb_add(b, ac_lo_scaled(b, r, width), l), 1), idx, 1);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* Channels oc .. oc + width - 1 of `rows` pixels; their windows begin at x_at. */
static void block(const ac_wide *v, const ac_x *at, int32_t rows, ac_x x_at, ac_x oc, int32_t width)
{
    ac_lb *b = &v->q.L->b;
    const bool own = v->form == AC_TILE_LANES;
    const int64_t ic = v->win.ic, stride = v->win.x.stride;
    int64_t depth = own ? stride : DEPTH, steps = own ? v->columns : v->columns * ic;
    while (!own && steps % depth)
        depth--;
    const ac_tile t = {.form = v->form,
                       .rows = rows,
                       .channels = width,
                       .x = v->line >= 0 ? v->line : v->x,
                       .w = v->w,
                       .acc = v->q.acc,
                       .pitch = own || rows > 1 ? (int32_t)(stride * ic) : 0,
                       .shift = (int32_t)v->parts,
                       .depth = (int32_t)depth};
    steps /= own ? 1 : depth;
    ac_lb_tile(b, t, own ? ac_lb_add(b, x_at, oc) : x_at, ac_lo_scaled(b, oc, products(v)), ac_lb_i32(b, steps));
    store(v, at, rows, oc, width);
}

/* `rows` pixels from column at[2] of row at[1] of image at[0] on. */
static void tile(const ac_wide *v, const ac_x *at, int32_t rows)
{
    ac_lb *b = &v->q.L->b;
    const int64_t n = v->q.c->n, whole = n / v->q.lanes * v->q.lanes;
    ac_x x_at = ac_lb_i32(b, 0);
    if (v->line >= 0) {
        ac_wide_fill(v, at[0], at[1], at[2], rows);
    } else {
        const ac_x iy = ac_slide_at(b, &v->win.y, at[1], x_at), ix = ac_slide_at(b, &v->win.x, at[2], x_at);
        x_at = ac_lb_add(b, ac_lo_scaled(b, at[0], v->win.y.in), iy);
        x_at = ac_lb_add(b, ac_lo_scaled(b, x_at, v->win.x.in), ix);
        x_at = ac_lo_scaled(b, x_at, v->win.ic);
    }
    const ac_x oc = ac_lb_for(b, "oc", ac_lb_i32(b, 0), ac_lb_i32(b, whole), v->q.lanes, AC_MARK_SERIAL);
    block(v, at, rows, x_at, oc, v->q.lanes);
    ac_lb_end(b);
    if (n > whole)
        block(v, at, rows, x_at, ac_lb_i32(b, whole), (int32_t)(n - whole));
}

static bool open(ac_wide *v, ac_lower *L, ac_channel *c)
{
    const ac_slide *y = &v->win.y, *x = &v->win.x;
    const int64_t whole_row = x->dil == 1 || x->taps == 1;
    v->columns = whole_row ? x->taps : 1;
    v->parts = y->taps * (whole_row ? 1 : x->taps);
    if (!L->target->rvv || v->parts > AC_TILE_SHIFT || x->stride > AC_TILE_SHIFT || x->out < 1 || y->out < 1 ||
        v->win.ic < 1 || (v->form == AC_TILE_LANES && x->stride * v->win.ic > AC_TILE_PITCH) ||
        !ac_quad_open(L, &v->q, c))
        return false;
    const bool in_place = v->parts == 1 && ac_slide_inside(y) && ac_slide_inside(x);
    const bool by_row = L->variant & AC_VARIANT_ROWS && y->out > 1;
    v->flat = in_place && x->out == x->in && y->out == y->in && !by_row;
    v->positions = v->flat ? y->out * x->out : x->out;
    v->line = in_place ? -1 : 0;
    v->pixels = choose(v);
    return true;
}

static bool lower(ac_lower *L, ac_channel *c, ac_wide *v)
{
    ac_lb *b = &L->b;
    if (!open(v, L, c))
        return false;
    const int64_t line = v->parts * ((v->pixels - 1) * v->win.x.stride + v->columns) * v->win.ic;
    const int8_t zero = (int8_t)c->zx;
    v->x = ac_lo_operand(L, c->x);
    if (v->line >= 0) {
        v->line = ac_lo_line(L, "line", AC_I8, line);
        v->zero = ac_lo_table(L, "zero", AC_I8, 1, &zero);
    }
    v->q.acc = ac_lo_line_local(L, "acc", AC_I32, (int64_t)v->pixels * v->q.lanes);
    v->q.y = ac_lo_line_local(L, "y", AC_I8, (int64_t)v->pixels * v->q.lanes);
    pack_weights(v);
    const int64_t whole = v->positions / v->pixels * v->pixels;
    ac_x at[3];
    at[0] = ac_lb_for_n(b, "n", v->win.n);
    at[1] = ac_lb_for_n(b, "oy", v->flat ? 1 : v->win.y.out);
    at[2] = ac_lb_for(b, "ox", ac_lb_i32(b, 0), ac_lb_i32(b, whole), v->pixels, AC_MARK_SERIAL);
    tile(v, at, v->pixels);
    ac_lb_end(b);
    at[2] = ac_lb_i32(b, whole);
    if (v->positions > whole)
        tile(v, at, (int32_t)(v->positions - whole));
    ac_lb_end(b);
    ac_lb_end(b);
    return true;
}

bool ac_wide_conv(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_wide v = {.win = *win, .form = AC_TILE_OUTER};
    return lower(L, c, &v);
}

bool ac_wide_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth)
{
    const ac_slide one = {.in = 1, .out = 1, .taps = 1, .stride = 1, .dil = 1}, all = {rows, rows, 1, 1, 1, 0};
    ac_wide v = {.win = {.n = 1, .ic = depth, .oc = c->n, .y = one, .x = all}, .form = AC_TILE_OUTER, .matrix = true};
    return depth > 0 && lower(L, c, &v);
}

bool ac_wide_depthwise(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_wide v = {.win = *win, .form = win->ic == 1 ? AC_TILE_OUTER : AC_TILE_LANES, .depthwise = true};
    return (win->ic == 1 || win->ic == win->oc) && lower(L, c, &v);
}
