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

/* Numbers of the shape as values that nothing is folded with: kernels of all shapes have the same instructions. */
typedef struct numbers {
    ac_x rows, columns; /* of the input */
    ac_x stride_y, stride_x, dil_y, dil_x, pad_y, pad_x, taps_y, taps_x;
    ac_x reach_y, reach_x;     /* from the first position of a window to one after its last */
    ac_x tap_units, row_units; /* units of a tap, of a row of the input: steps, or bytes */
    ac_x image_units, units;   /* of an image, of a window */
    ac_x out_columns, positions, steps, channels, block_bytes;
} numbers;

typedef struct panel {
    ac_lower *L;
    ac_channel *c;
    ac_window win;        /* of a matrix: its rows are pixels of one row, taps 1 x 1 */
    int64_t depth, steps; /* products of an output; steps of a tile */
    int32_t channels;     /* of a tile */
    int32_t pixels;       /* of the largest tile */
    int32_t x, w, line, acc;
    int32_t bytes; /* a window in bytes, where taps are no whole steps; -1 */
    numbers k;
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

static ac_x step_at(const panel *p, ac_x i, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    return ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, pixels)), r), ac_lb_i32(b, DEPTH));
}

/* Steps `begin` .. end - 1 of buffer `from`, or of zero points (-1), go to the line of pixel r: step i is elements
 * 8 (base + i) .. there, and step i + shift of the pixel. */
static void put_steps(const panel *p, int32_t from, ac_x base, ac_x begin, ac_x end, ac_x shift, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    const ac_x i = ac_lb_for(b, "i", begin, end, 1, AC_MARK_SERIAL);
    const ac_x at = step_at(p, ac_lb_add(b, i, shift), r, pixels);
    const ac_x x_at = ac_lb_mul(b, ac_lb_add(b, base, i), ac_lb_i32(b, DEPTH));
    for (int32_t half = 0; half < DEPTH; half += 4) {
        ac_x four = ac_lb_splat(b, ac_lb_int(b, AC_I8, p->c->zx), 4);
        if (from >= 0)
            four = ac_lb_load(b, from, ac_lb_add(b, x_at, ac_lb_i32(b, half)), 4);
        put_four(p, four, ac_lb_add(b, at, ac_lb_i32(b, half)));
    }
    ac_lb_end(b);
}

/* The same byte by byte, into the window in bytes. */
static void put_bytes(const panel *p, int32_t from, ac_x base, ac_x begin, ac_x end, ac_x shift)
{
    ac_lb *b = &p->L->b;
    const ac_x i = ac_lb_for(b, "i", begin, end, 1, AC_MARK_SERIAL);
    const ac_x v = from < 0 ? ac_lb_int(b, AC_I8, p->c->zx) : ac_lb_load(b, from, ac_lb_add(b, base, i), 1);
    ac_lb_store(b, p->bytes, ac_lb_add(b, i, shift), v);
    ac_lb_end(b);
}

/* In units: steps or bytes. */
static void put(const panel *p, int32_t from, ac_x base, ac_x begin, ac_x end, ac_x shift, ac_x r, int32_t pixels)
{
    if (p->bytes >= 0)
        put_bytes(p, from, base, begin, end, shift);
    else
        put_steps(p, from, base, begin, end, shift, r, pixels);
}

/* The taps of filter row ky, whose input row begins at unit `base`: those between columns `left` and `right` that
 * exist. Bounds of the copies are positions of the input, not counts: so the planner knows which rows are read. */
static void put_taps(const panel *p, ac_x base, ac_x ky, ac_x left, ac_x right, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    const numbers *k = &p->k;
    const ac_x zero = ac_lb_i32(b, 0), first = ac_lb_mul(b, ky, k->taps_x);
    if (p->win.x.dil == 1) {
        const ac_x begin = ac_lb_mul(b, ac_lb_max(b, left, zero), k->tap_units);
        const ac_x end = ac_lb_mul(b, ac_lb_min(b, right, k->columns), k->tap_units);
        put(p, p->x, base, begin, end, ac_lb_mul(b, ac_lb_sub(b, first, left), k->tap_units), r, pixels);
        return;
    }
    const ac_x kx = ac_lb_for(b, "kx", zero, k->taps_x, 1, AC_MARK_SERIAL);
    const ac_x ix = ac_lb_add(b, left, ac_lb_mul(b, kx, k->dil_x));
    ac_lb_if(b, ac_lb_and(b, ac_lb_le(b, zero, ix), ac_lb_lt(b, ix, k->columns)));
    const ac_x begin = ac_lb_mul(b, ix, k->tap_units), shift = ac_lb_sub(b, ac_lb_add(b, first, kx), ix);
    put(p, p->x, base, begin, ac_lb_add(b, begin, k->tap_units), ac_lb_mul(b, shift, k->tap_units), r, pixels);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* The window of output position (oy, ox) of image n, as pixel r. Where a part of it is outside, all of it is zero
 * points first. */
static void put_window(const panel *p, ac_x n, ac_x oy, ac_x ox, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    const numbers *k = &p->k;
    const ac_x zero = ac_lb_i32(b, 0);
    const ac_x top = ac_lb_sub(b, ac_lb_mul(b, oy, k->stride_y), k->pad_y), bottom = ac_lb_add(b, top, k->reach_y);
    const ac_x left = ac_lb_sub(b, ac_lb_mul(b, ox, k->stride_x), k->pad_x), right = ac_lb_add(b, left, k->reach_x);
    const ac_x before = ac_lb_lt(b, ac_lb_min(b, top, left), zero);
    const ac_x after = ac_lb_or(b, ac_lb_lt(b, k->rows, bottom), ac_lb_lt(b, k->columns, right));
    ac_lb_if(b, ac_lb_or(b, before, after));
    put(p, -1, zero, zero, k->units, zero, r, pixels);
    ac_lb_end(b);
    const ac_x ky = ac_lb_for(b, "ky", zero, k->taps_y, 1, AC_MARK_SERIAL);
    const ac_x iy = ac_lb_add(b, top, ac_lb_mul(b, ky, k->dil_y));
    ac_lb_if(b, ac_lb_and(b, ac_lb_le(b, zero, iy), ac_lb_lt(b, iy, k->rows)));
    const ac_x base = ac_lb_add(b, ac_lb_mul(b, n, k->image_units), ac_lb_mul(b, iy, k->row_units));
    put_taps(p, base, ky, left, right, r, pixels);
    ac_lb_end(b);
    ac_lb_end(b);
    if (p->bytes >= 0)
        put_steps(p, p->bytes, zero, zero, k->steps, zero, r, pixels);
}

/* ------------------------------------------------------------------ tiles */

/* Positions of a tile: number `first` + r, of `positions` of the image, or of row oy. */
typedef struct place {
    const panel *p;
    ac_x n, oy; /* oy 0: pixels are numbered over the image */
    ac_x first;
} place;

static void position(const place *to, ac_x i, ac_x *at)
{
    ac_lb *b = &to->p->L->b;
    at[0] = to->n;
    at[1] = to->oy ? to->oy : ac_lb_div(b, i, to->p->k.out_columns);
    at[2] = to->oy ? i : ac_lb_mod(b, i, to->p->k.out_columns);
}

static void store(const place *to, ac_x i, ac_x channel, ac_x acc)
{
    const panel *p = to->p;
    ac_lb *b = &p->L->b;
    ac_x idx[AC_MAX_RANK];
    if (p->L->node->op == AC_OP_CONV_2D)
        position(to, i, idx);
    else
        ac_row_index(p->L, i, idx);
    idx[p->c->out->rank - 1] = channel;
    acc = ac_lb_add(b, acc, ac_channel_start(p->c, channel, 1));
    ac_lo_result(p->L, ac_channel_done(p->c, acc, channel), idx, 1);
}

/* Position i of the tile, row r of the accumulators: its channels oc .. */
static void finish(const place *to, int32_t pixels, ac_x i, ac_x r, ac_x oc)
{
    const panel *p = to->p;
    ac_lb *b = &p->L->b;
    for (int32_t c = 0; c < p->channels; c += 2) {
        const ac_x at = ac_lb_add(b, r, ac_lb_i32(b, c * pixels)), even = ac_lb_add(b, oc, ac_lb_i32(b, c));
        const ac_x a = ac_lb_load(b, p->acc, at, 1);
        const ac_x both = ac_lb_load(b, p->acc, ac_lb_add(b, at, ac_lb_i32(b, pixels)), 1);
        const int64_t rest = p->c->n % p->channels; /* channels of the last block, unless 0 */
        const bool even_may_lack = rest && c >= rest, odd_may_lack = rest && c + 1 >= rest;
        if (even_may_lack)
            ac_lb_if(b, ac_lb_lt(b, even, p->k.channels));
        store(to, i, even, a);
        if (even_may_lack)
            ac_lb_end(b);
        const ac_x odd = ac_lb_add(b, even, ac_lb_i32(b, 1));
        if (odd_may_lack)
            ac_lb_if(b, ac_lb_lt(b, odd, p->k.channels));
        store(to, i, odd, ac_lb_shr(b, ac_lb_sub_wrap(b, both, a), ac_lb_i32(b, 8)));
        if (odd_may_lack)
            ac_lb_end(b);
    }
}

/* partial: positions may end inside the tile. */
static void tile(const place *to, int32_t pixels, bool partial)
{
    const panel *p = to->p;
    ac_lb *b = &p->L->b;
    ac_x at[3], count = ac_lb_i32(b, pixels);
    const ac_x zero = ac_lb_i32(b, 0);
    if (partial)
        count = ac_lb_min(b, count, ac_lb_sub(b, p->k.positions, to->first));
    ac_x r = ac_lb_for(b, "r", zero, count, 1, AC_MARK_SERIAL);
    position(to, ac_lb_add(b, to->first, r), at);
    put_window(p, at[0], at[1], at[2], r, pixels);
    ac_lb_end(b);
    const ac_x oc = ac_lb_for(b, "oc", zero, p->k.channels, p->channels, AC_MARK_SERIAL);
    for (int32_t i = 0; i < p->channels * pixels; i++)
        ac_lb_store(b, p->acc, ac_lb_i32(b, i), zero);
    ac_lb_tile(b, (ac_tile){AC_TILE_PAIRS, pixels, p->channels, p->line, p->w, p->acc}, zero,
               ac_lb_mul(b, oc, p->k.block_bytes), p->k.steps);
    r = ac_lb_for(b, "r", zero, count, 1, AC_MARK_SERIAL);
    finish(to, pixels, ac_lb_add(b, to->first, r), r, oc);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* `n` positions in tiles. A tile that is not full at the end is cheaper than a second copy of the code; in short rows
 * it is not. */
static void tiles(place *to, int64_t n, bool exactly)
{
    const panel *p = to->p;
    ac_lb *b = &p->L->b;
    const ac_x zero = ac_lb_i32(b, 0);
    if (!exactly) {
        to->first = ac_lb_for(b, "p", zero, p->k.positions, p->pixels, AC_MARK_SERIAL);
        tile(to, p->pixels, p->pixels > 1);
        ac_lb_end(b);
        return;
    }
    const ac_gemm_cuts cut = ac_gemm_cut(n, p->pixels);
    for (int32_t s = 0; s < 2; s++) {
        if (!cut.count[s])
            continue;
        const ac_x begin = ac_lb_shape(b, cut.first[s]);
        const ac_x end = ac_lb_shape(b, cut.first[s] + cut.count[s] * cut.size[s]);
        to->first = ac_lb_for(b, "p", begin, end, cut.size[s], AC_MARK_SERIAL);
        tile(to, (int32_t)cut.size[s], false);
        ac_lb_end(b);
    }
}

static numbers numbers_of(const panel *p, int64_t positions)
{
    ac_lb *b = &p->L->b;
    const ac_slide *y = &p->win.y, *x = &p->win.x;
    const int64_t tap = p->bytes >= 0 ? p->win.ic : p->win.ic / DEPTH;
    return (numbers){.rows = ac_lb_shape(b, y->in),
                     .columns = ac_lb_shape(b, x->in),
                     .stride_y = ac_lb_shape(b, y->stride),
                     .stride_x = ac_lb_shape(b, x->stride),
                     .dil_y = ac_lb_shape(b, y->dil),
                     .dil_x = ac_lb_shape(b, x->dil),
                     .reach_y = ac_lb_shape(b, (y->taps - 1) * y->dil + 1),
                     .reach_x = ac_lb_shape(b, (x->taps - 1) * x->dil + 1),
                     .pad_y = ac_lb_shape(b, y->pad),
                     .pad_x = ac_lb_shape(b, x->pad),
                     .taps_y = ac_lb_shape(b, y->taps),
                     .taps_x = ac_lb_shape(b, x->taps),
                     .tap_units = ac_lb_shape(b, tap),
                     .row_units = ac_lb_shape(b, tap * x->in),
                     .image_units = ac_lb_shape(b, tap * x->in * y->in),
                     .units = ac_lb_shape(b, tap * x->taps * y->taps),
                     .out_columns = ac_lb_shape(b, x->out),
                     .positions = ac_lb_shape(b, positions),
                     .steps = ac_lb_shape(b, p->steps),
                     .channels = ac_lb_shape(b, p->c->n),
                     .block_bytes = ac_lb_shape(b, p->steps * DEPTH)};
}

static int lower(panel *p)
{
    ac_lower *L = p->L;
    ac_lb *b = &L->b;
    const bool by_row = L->variant == AC_VARIANT_ROWS && p->win.y.out > 1;
    const int64_t positions = by_row ? p->win.x.out : p->win.y.out * p->win.x.out;
    const ac_rows rows = {p->depth, p->depth, 1};
    p->channels = positions == 1 && p->c->n > 2 ? 4 : 2;
    p->pixels = positions < PIXELS ? (int32_t)positions : PIXELS;
    p->steps = (p->depth + DEPTH - 1) / DEPTH;
    ac_channel_tables(p->c, p->c->n, &rows, p->c->zx);
    p->x = ac_lo_operand(L, p->c->x);
    p->line = ac_lo_line(L, "line", AC_I16, p->steps * DEPTH * p->pixels);
    p->bytes = p->win.ic % DEPTH == 0 ? -1 : ac_lo_line(L, "window", AC_I8, p->steps * DEPTH);
    p->acc = ac_lo_local(L, "acc", AC_I32, p->pixels * p->channels);
    pack_weights(p);
    p->k = numbers_of(p, positions);
    place to = {.p = p, .n = ac_lb_for_n(b, "n", p->win.n)};
    if (by_row)
        to.oy = ac_lb_for_n(b, "oy", p->win.y.out);
    tiles(&to, positions, by_row);
    if (by_row)
        ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

int ac_panel_conv(ac_lower *L, ac_channel *c, const ac_window *win)
{
    panel p = {.L = L, .c = c, .win = *win, .depth = win->y.taps * win->x.taps * win->ic};
    return lower(&p);
}

int ac_panel_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth)
{
    const ac_slide one = {.in = 1, .out = 1, .taps = 1, .stride = 1, .dil = 1}, all = {rows, rows, 1, 1, 1, 0};
    panel p = {.L = L, .c = c, .win = {.n = 1, .ic = depth, .oc = c->n, .y = one, .x = all}, .depth = depth};
    return lower(&p);
}
