/* panel.c - int8 convolution and fully_connected through TILE; see panel.h and ir/loop/tiles.h.
 *
 *     for tile of pixels:    gather(line)
 *       for pair of channels:  accumulators = start; TILE; finish and store each
 *
 * Line    i16 [step][pixel][8]: elements of a group of four in the order 0, 2, 1, 3, as SXTB16 leaves them
 * Weights i8  [block][step][pair][8][2]: the same order; (a, b) of a pair as a + 256 b (tiles.h), zeros at the end
 *
 * The zero point of x is in the bias. Without AC_VARIANT_ROWS tiles run over all pixels of an image, with it over those
 * of a row. */
#include "ir/lower/conv/panel.h"

#include "ir/loop/tiles.h"
#include "ir/lower/conv/gemm.h"
#include "ir/lower/matrix.h"

enum { PIXELS = 3, DEPTH = 8 };

typedef struct panel {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win; /* NULL: rows of a matrix */
    int64_t depth, steps; /* products of an output; steps of a tile */
    int32_t channels;     /* of a tile */
    int64_t pixels;       /* of the largest tile */
    int32_t x, w, line, acc;
    int32_t bytes; /* a window in bytes, where runs are no whole steps; -1 */
} panel;

/* The largest |sum of x * b| of any channel, and whether a + 256 b fits in 16 bits: false when a form is not exact. */
static bool weights_fit(const ac_lower *L, const ac_channel *c, int64_t depth)
{
    const int8_t *w = ac_tensor_force(L->cx, c->w);
    for (int64_t n = 0; w && n < c->n; n++) {
        int64_t sum = 0;
        for (int64_t k = 0; k < depth; k++) {
            const int32_t v = w[n * depth + k];
            if (v == INT8_MIN)
                return false;
            sum += v < 0 ? -v : v;
        }
        if (sum * 128 >= (int64_t)1 << 23)
            return false;
    }
    return w != NULL;
}

bool ac_panel_fits(ac_lower *L, const ac_channel *c, int64_t depth)
{
    return L->target->dsp && !L->target->vec_bytes && c->kind == AC_MACS_I8 && !c->zw && depth >= DEPTH && c->n > 1 &&
           c->w->dtype == AC_I8 && ac_tensor_is_const(c->w) && (!c->bias || ac_tensor_is_const(c->bias)) &&
           weights_fit(L, c, depth);
}

/* ------------------------------------------------------------------ weights */

/* Element k of channel oc, zero outside. */
static ac_x weight(ac_lower *P, const panel *p, ac_x oc, ac_x k)
{
    ac_lb *b = &P->b;
    const ac_x in = ac_lb_min(b, oc, ac_lb_i32(b, p->c->n - 1)), ik = ac_lb_min(b, k, ac_lb_i32(b, p->depth - 1));
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, in, ac_lb_i32(b, p->depth)), ik);
    ac_x v = ac_lb_cast(b, ac_lb_load(b, ac_lo_operand(P, p->c->w), at, 1), AC_I32);
    if (p->c->n % p->channels)
        v = ac_lb_select(b, ac_lb_eq(b, in, oc), v, ac_lb_i32(b, 0));
    if (p->depth % DEPTH)
        v = ac_lb_select(b, ac_lb_eq(b, ik, k), v, ac_lb_i32(b, 0));
    return v;
}

static void pack_weights(panel *p)
{
    static const int32_t ORDER[DEPTH] = {0, 2, 1, 3, 4, 6, 5, 7};
    ac_lower P;
    const int64_t blocks = (p->c->n + p->channels - 1) / p->channels;
    const int32_t to = ac_lo_pack_open(p->L, &P, "w", AC_I8, blocks * p->channels * p->steps * DEPTH);
    ac_lb *b = &P.b;
    const ac_x block = ac_lb_for_n(b, "block", blocks), step = ac_lb_for_n(b, "step", p->steps);
    const ac_x pair = ac_lb_for_n(b, "pair", p->channels / 2);
    const ac_x oc = ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, p->channels)), ac_lb_mul(b, pair, ac_lb_i32(b, 2)));
    ac_x at = ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, p->steps)), step);
    at = ac_lb_add(b, ac_lb_mul(b, at, ac_lb_i32(b, p->channels / 2)), pair);
    at = ac_lb_mul(b, at, ac_lb_i32(b, 2 * DEPTH));
    for (int32_t i = 0; i < DEPTH; i++) {
        const ac_x k = ac_lb_add(b, ac_lb_mul(b, step, ac_lb_i32(b, DEPTH)), ac_lb_i32(b, ORDER[i]));
        const ac_x even = weight(&P, p, oc, k), odd = weight(&P, p, ac_lb_add(b, oc, ac_lb_i32(b, 1)), k);
        const ac_x both = ac_lb_add(b, even, ac_lb_mul(b, odd, ac_lb_i32(b, 256)));
        const ac_x low = ac_lb_add(b, at, ac_lb_i32(b, 2 * i)), high = ac_lb_shr(b, both, ac_lb_i32(b, 8));
        ac_lb_store(b, to, low, ac_lb_cast(b, both, AC_I8));
        ac_lb_store(b, to, ac_lb_add(b, low, ac_lb_i32(b, 1)), ac_lb_cast(b, high, AC_I8));
    }
    for (int i = 0; i < 3; i++)
        ac_lb_end(b);
    p->w = ac_lo_pack_close(p->L, &P);
}

/* ------------------------------------------------------------------ the line */

/* Four bytes as two words of two halves each: elements 0 and 2, 1 and 3. */
static void put_four(const panel *p, ac_x four, ac_x at)
{
    ac_lb *b = &p->L->b;
    const ac_x halves = ac_lb_bitcast(b, four, AC_I16), eight = ac_lb_like_int(b, halves, 8);
    ac_lb_store(b, p->line, at, ac_lb_shr(b, ac_lb_shl(b, halves, eight), eight));
    ac_lb_store(b, p->line, ac_lb_add(b, at, ac_lb_i32(b, 2)), ac_lb_shr(b, halves, eight));
}

/* Steps `begin` .. end - 1 of buffer `from`, or of zero points (-1), go to the line of pixel r: step i is elements
 * from_at + 8 i .. there, and step i + shift of the pixel. */
static void put_steps(const panel *p, int32_t from, ac_x from_at, ac_x begin, ac_x end, ac_x shift, ac_x r,
                      int32_t pixels)
{
    ac_lb *b = &p->L->b;
    const ac_x i = ac_lb_for(b, "i", begin, end, 1, AC_MARK_SERIAL);
    ac_x at = ac_lb_mul(b, ac_lb_add(b, i, shift), ac_lb_i32(b, pixels));
    at = ac_lb_mul(b, ac_lb_add(b, at, r), ac_lb_i32(b, DEPTH));
    const ac_x x_at = ac_lb_add(b, from_at, ac_lb_mul(b, i, ac_lb_i32(b, DEPTH)));
    for (int32_t half = 0; half < DEPTH; half += 4) {
        ac_x four = ac_lb_splat(b, ac_lb_int(b, AC_I8, p->c->zx), 4);
        if (from >= 0)
            four = ac_lb_load(b, from, ac_lb_add(b, x_at, ac_lb_i32(b, half)), 4);
        put_four(p, four, ac_lb_add(b, at, ac_lb_i32(b, half)));
    }
    ac_lb_end(b);
}

/* The same byte by byte, into the window in bytes. */
static void put_bytes(const panel *p, int32_t from, ac_x from_at, ac_x begin, ac_x end, ac_x shift)
{
    ac_lb *b = &p->L->b;
    const ac_x i = ac_lb_for(b, "i", begin, end, 1, AC_MARK_SERIAL);
    const ac_x v = from < 0 ? ac_lb_int(b, AC_I8, p->c->zx) : ac_lb_load(b, from, ac_lb_add(b, from_at, i), 1);
    ac_lb_store(b, p->bytes, ac_lb_add(b, i, shift), v);
    ac_lb_end(b);
}

static ac_x scaled(ac_lb *b, ac_x v, int64_t by)
{
    return ac_lb_mul(b, v, ac_lb_i32(b, by));
}

/* Columns `begin` .. end - 1 of the input's row that starts at element `row`; column 0 would be tap `tap` of the window
 * (in columns of the filter, over all rows). Bounds that are positions of the input, not counts, tell the planner
 * exactly which rows are read. */
static void put_columns(const panel *p, ac_x row, ac_x begin, ac_x end, ac_x tap, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    const int64_t ic = p->win->ic, unit = ic / DEPTH;
    if (p->bytes >= 0) {
        put_bytes(p, p->x, row, scaled(b, begin, ic), scaled(b, end, ic), scaled(b, tap, ic));
    } else if (ic % DEPTH == 0) {
        put_steps(p, p->x, row, scaled(b, begin, unit), scaled(b, end, unit), scaled(b, tap, unit), r, pixels);
    } else { /* whole rows of the filter: taps * ic is a multiple of a step */
        const int64_t steps = p->win->x.taps * ic / DEPTH;
        const ac_x ky = ac_lb_div(b, ac_lb_add(b, tap, begin), ac_lb_i32(b, p->win->x.taps));
        put_steps(p, p->x, ac_lb_add(b, row, scaled(b, begin, ic)), ac_lb_i32(b, 0), ac_lb_i32(b, steps),
                  scaled(b, ky, steps), r, pixels);
    }
}

/* The window of output position (oy, ox) of image n, as pixel r. Where a part of it is outside, all of it is zero
 * points first. */
static void put_window(const panel *p, ac_x n, ac_x oy, ac_x ox, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    const ac_slide *y = &p->win->y, *x = &p->win->x;
    const int64_t ic = p->win->ic, taps = x->taps;
    const ac_x zero = ac_lb_i32(b, 0), left = ac_slide_at(b, x, ox, zero);
    ac_x ylo, yhi, xlo, xhi;
    ac_slide_taps(b, y, oy, &ylo, &yhi);
    ac_slide_taps(b, x, ox, &xlo, &xhi);
    if (!ac_slide_inside(y) || !ac_slide_inside(x)) {
        const ac_x rows = ac_lb_ne(b, ac_lb_sub(b, yhi, ylo), ac_lb_i32(b, y->taps));
        const ac_x columns = ac_lb_ne(b, ac_lb_sub(b, xhi, xlo), ac_lb_i32(b, taps));
        ac_lb_if(b, ac_lb_or(b, rows, columns));
        if (p->bytes >= 0)
            put_bytes(p, -1, zero, zero, ac_lb_i32(b, p->depth), zero);
        else
            put_steps(p, -1, zero, zero, ac_lb_i32(b, p->steps), zero, r, pixels);
        ac_lb_end(b);
    }
    const ac_x ky = ac_lb_for(b, "ky", ylo, yhi, 1, AC_MARK_SERIAL);
    const ac_x iy = ac_lb_add(b, scaled(b, n, y->in), ac_slide_at(b, y, oy, ky)), row = scaled(b, iy, x->in * ic);
    const ac_x first = scaled(b, ky, taps);
    if (x->dil == 1) {
        ac_x begin = left, end = ac_lb_add(b, left, ac_lb_i32(b, taps));
        if (!ac_slide_inside(x)) {
            begin = ac_lb_max(b, begin, zero);
            end = ac_lb_min(b, end, ac_lb_i32(b, x->in));
        }
        put_columns(p, row, begin, end, ac_lb_sub(b, first, left), r, pixels);
    } else {
        const ac_x kx = ac_lb_for(b, "kx", xlo, xhi, 1, AC_MARK_SERIAL), at = ac_slide_at(b, x, ox, kx);
        put_columns(p, row, at, ac_lb_add(b, at, ac_lb_i32(b, 1)), ac_lb_sub(b, ac_lb_add(b, first, kx), at), r,
                    pixels);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* What the tile reads as pixel r: the window, or a row of the matrix, at position `at` = {n, oy, ox} or {row}. */
static void gather(const panel *p, const ac_x *at, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    const ac_x zero = ac_lb_i32(b, 0), steps = ac_lb_i32(b, p->steps);
    const ac_x row = scaled(b, at[0], p->depth);
    if (p->win)
        put_window(p, at[0], at[1], at[2], r, pixels);
    else if (p->bytes >= 0)
        put_bytes(p, p->x, row, zero, ac_lb_i32(b, p->depth), zero);
    else
        put_steps(p, p->x, row, zero, steps, zero, r, pixels);
    if (p->bytes >= 0)
        put_steps(p, p->bytes, zero, zero, steps, zero, r, pixels);
}

/* ------------------------------------------------------------------ tiles */

/* Positions of a tile: number `first` + r of the image's pixels, of a row's, or of the matrix's rows. */
typedef struct place {
    const panel *p;
    ac_x n, oy; /* oy 0: pixels are numbered over the image */
    ac_x first;
    int64_t count; /* of positions */
} place;

static void position(const place *to, ac_x r, ac_x *at)
{
    ac_lb *b = &to->p->L->b;
    const ac_x i = ac_lb_add(b, to->first, r);
    if (!to->p->win) {
        at[0] = i;
        return;
    }
    const ac_x columns = ac_lb_i32(b, to->p->win->x.out);
    at[0] = to->n;
    at[1] = to->oy ? to->oy : ac_lb_div(b, i, columns);
    at[2] = to->oy ? i : ac_lb_mod(b, i, columns);
}

/* The value of channel `oc` + c in row r, from the accumulators; stored if there is such a position and channel. */
static void finish(const place *to, int32_t pixels, ac_x oc, int32_t c, int32_t r)
{
    const panel *p = to->p;
    ac_lb *b = &p->L->b;
    ac_x acc = ac_lb_load(b, p->acc, ac_lb_i32(b, c * pixels + r), 1), idx[AC_MAX_RANK];
    if (c % 2) { /* a + 256 b - a */
        const ac_x even = ac_lb_load(b, p->acc, ac_lb_i32(b, (c - 1) * pixels + r), 1);
        acc = ac_lb_shr(b, ac_lb_sub_wrap(b, acc, even), ac_lb_i32(b, 8));
    }
    const ac_x channel = ac_lb_add(b, oc, ac_lb_i32(b, c));
    acc = ac_lb_add(b, acc, ac_channel_start(p->c, channel, 1));
    position(to, ac_lb_i32(b, r), idx);
    if (!p->win)
        ac_row_index(p->L, idx[0], idx);
    idx[p->c->out->rank - 1] = channel;
    ac_lo_result(p->L, ac_channel_done(p->c, acc, channel), idx, 1);
}

static void tile(const place *to, int32_t pixels)
{
    const panel *p = to->p;
    ac_lb *b = &p->L->b;
    ac_x at[3] = {0};
    const ac_x last = ac_lb_i32(b, to->count - 1), zero = ac_lb_i32(b, 0);
    ac_x r = ac_lb_for_n(b, "r", pixels);
    place here = *to;
    if (to->count % pixels) {
        here.first = ac_lb_min(b, ac_lb_add(b, to->first, r), last);
        position(&here, zero, at);
    } else {
        position(to, r, at);
    }
    gather(p, at, r, pixels);
    ac_lb_end(b);
    const ac_x block = ac_lb_for_n(b, "ob", (p->c->n + p->channels - 1) / p->channels);
    const ac_x oc = scaled(b, block, p->channels);
    for (int32_t i = 0; i < p->channels * pixels; i++)
        ac_lb_store(b, p->acc, ac_lb_i32(b, i), zero);
    ac_lb_tile(b, (ac_tile){AC_TILE_PAIRS, pixels, p->channels, p->line, p->w, p->acc}, zero,
               scaled(b, oc, p->steps * DEPTH), ac_lb_i32(b, p->steps));
    for (int32_t c = 0; c < p->channels; c++) {
        const bool guard = c > 0 && c >= (p->c->n - 1) % p->channels + 1;
        if (guard)
            ac_lb_if(b, ac_lb_lt(b, ac_lb_add(b, oc, ac_lb_i32(b, c)), ac_lb_i32(b, p->c->n)));
        for (int32_t k = 0; k < pixels; k++) {
            const bool exists = k <= (to->count - 1) % pixels;
            if (!exists)
                ac_lb_if(b, ac_lb_le(b, ac_lb_add(b, to->first, ac_lb_i32(b, k)), last));
            finish(to, pixels, oc, c, k);
            if (!exists)
                ac_lb_end(b);
        }
        if (guard)
            ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* `count` positions in tiles. A tile too many at the end is cheaper than a second copy of the code; in short rows it is
 * not. */
static void tiles(place *to, bool exactly)
{
    const panel *p = to->p;
    ac_lb *b = &p->L->b;
    const int64_t most = p->pixels, n = to->count;
    ac_gemm_cuts cut = {{(n + most - 1) / most, 0}, {most, 0}, {0, 0}};
    if (exactly)
        cut = ac_gemm_cut(n, most);
    for (int32_t s = 0; s < 2; s++) {
        if (!cut.count[s])
            continue;
        const ac_x i = ac_lb_for_n(b, "p", cut.count[s]);
        to->first = ac_lb_add(b, scaled(b, i, cut.size[s]), ac_lb_i32(b, cut.first[s]));
        if (exactly)
            to->count = cut.count[s] * cut.size[s]; /* no remainder */
        tile(to, (int32_t)cut.size[s]);
        ac_lb_end(b);
    }
}

static void prepare(panel *p, int64_t positions, bool direct)
{
    ac_lower *L = p->L;
    const ac_rows rows = {p->depth, p->depth, 1};
    p->channels = positions == 1 && p->c->n > 2 ? 4 : 2;
    p->steps = (p->depth + DEPTH - 1) / DEPTH;
    const int64_t pixels = p->pixels = positions < PIXELS ? positions : PIXELS;
    ac_channel_tables(p->c, p->c->n, &rows, p->c->zx);
    p->x = ac_lo_operand(L, p->c->x);
    p->line = ac_lo_line(L, "line", AC_I16, p->steps * DEPTH * pixels);
    p->bytes = direct ? -1 : ac_lo_line(L, "window", AC_I8, p->steps * DEPTH);
    p->acc = ac_lo_local(L, "acc", AC_I32, pixels * p->channels);
    pack_weights(p);
}

int ac_panel_conv(ac_lower *L, ac_channel *c, const ac_window *win)
{
    const int64_t taps = win->x.taps;
    panel p = {.L = L, .c = c, .win = win, .depth = win->y.taps * taps * win->ic};
    const bool whole_rows = win->x.dil == 1 && ac_slide_inside(&win->x) && ac_slide_inside(&win->y);
    const bool by_row = L->variant == AC_VARIANT_ROWS;
    prepare(&p, by_row ? win->x.out : win->y.out * win->x.out, (whole_rows ? taps * win->ic : win->ic) % DEPTH == 0);
    ac_lb *b = &L->b;
    place to = {.p = &p, .n = ac_lb_for_n(b, "n", win->n), .count = win->y.out * win->x.out};
    if (by_row) {
        to.oy = ac_lb_for_n(b, "oy", win->y.out);
        to.count = win->x.out;
    }
    tiles(&to, by_row);
    if (by_row)
        ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

int ac_panel_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth)
{
    panel p = {.L = L, .c = c, .depth = depth};
    prepare(&p, rows, depth % DEPTH == 0);
    place to = {.p = &p, .count = rows};
    tiles(&to, false);
    return AC_OK;
}
