/* panel_pairs.c - panels on processors that multiply the halves of a word and add both products (TILE, PAIRS).
 *
 * Line    i16 [step][pixel][8]: elements of a group of four in the order 0, 2, 1, 3, as SXTB16 leaves them
 * Weights i8  [block][step][pair][8][2]: the same order; (a, b) of a pair as a + 256 b (tiles.h), zeros at the end
 *
 * If taps are not whole steps, a window is first gathered in bytes. If the only position's window is all of x in whole
 * steps, x is read in place (ROW). */
#include "ir/lower/conv/panel_kind.h"

#include "ir/loop/tiles.h"
#include "ir/lower/lower.h"

enum { PIXELS = 2, DEPTH = 8 };

/* The largest |sum of x * b| of any channel, and whether a + 256 b fits in 16 bits: false: a form is not exact. */
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

static bool fits(const ac_lower *L, const ac_channel *c, int64_t depth)
{
    return L->target->dsp && depth >= DEPTH && c->n > 1 && weights_fit(L, c, depth);
}

/* ------------------------------------------------------------------ weights */

static void pack_weights(ac_panel *p)
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
        const ac_x even = ac_panel_weight(&P, p, oc, k),
                   odd = ac_panel_weight(&P, p, ac_lb_add(b, oc, ac_lb_i32(b, 1)), k);
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
static void put_four(const ac_panel *p, ac_x four, ac_x at)
{
    ac_lb *b = &p->L->b;
    const ac_x halves = ac_lb_bitcast(b, four, AC_I16), eight = ac_lb_like_int(b, halves, 8);
    ac_lb_store(b, p->line, at, ac_lb_shr(b, ac_lb_shl(b, halves, eight), eight));
    ac_lb_store(b, p->line, ac_lb_add(b, at, ac_lb_i32(b, 2)), ac_lb_shr(b, halves, eight));
}

static ac_x step_at(const ac_panel *p, ac_x i, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    return ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, pixels)), r), ac_lb_i32(b, DEPTH));
}

/* Steps `begin` .. end - 1 of buffer `from`, or of zero points (-1), go to the line of pixel r: step i is elements
 * 8 (base + i) .. there, and step i + shift of the pixel. */
static void put_steps(const ac_panel *p, int32_t from, ac_x base, ac_x begin, ac_x end, ac_x shift, ac_x r,
                      int32_t pixels)
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
static void put_bytes(const ac_panel *p, int32_t from, ac_x base, ac_x begin, ac_x end, ac_x shift)
{
    ac_lb *b = &p->L->b;
    const ac_x i = ac_lb_for(b, "i", begin, end, 1, AC_MARK_SERIAL);
    const ac_x v = from < 0 ? ac_lb_int(b, AC_I8, p->c->zx) : ac_lb_load(b, from, ac_lb_add(b, base, i), 1);
    ac_lb_store(b, p->bytes, ac_lb_add(b, i, shift), v);
    ac_lb_end(b);
}

/* Few bytes, four at a time, without a loop. */
static bool put_run(const ac_panel *p, ac_x base, ac_x begin, ac_x shift)
{
    enum { FEW = 16 };
    ac_lb *b = &p->L->b;
    const int64_t n = p->win.x.taps * p->win.ic;
    if (n > FEW)
        return false;
    const ac_x from = ac_lb_add(b, base, begin), to = ac_lb_add(b, begin, shift);
    for (int64_t i = 0; i < n;) {
        const int32_t lanes = n - i < 4 ? 1 : 4;
        const ac_x k = ac_lb_i32(b, i);
        ac_lb_store(b, p->bytes, ac_lb_add(b, to, k), ac_lb_load(b, p->x, ac_lb_add(b, from, k), lanes));
        i += lanes;
    }
    return true;
}

static void put(const ac_panel *p, int32_t from, ac_x base, ac_x begin, ac_x end, ac_x shift, ac_x r, int32_t pixels)
{
    if (p->bytes >= 0)
        put_bytes(p, from, base, begin, end, shift);
    else
        put_steps(p, from, base, begin, end, shift, r, pixels);
}

/* The end of the last step, whose weights are zero; by words, so it includes bytes before it, which are written
 * later. */
static void open_pixel(const ac_panel *p, ac_x r)
{
    ac_lb *b = &p->L->b;
    (void)r;
    for (int64_t k = p->depth / 4 * 4; p->bytes >= 0 && k < p->steps * DEPTH; k += 4)
        ac_lb_store(b, p->bytes, ac_lb_i32(b, k), ac_lb_splat(b, ac_lb_int(b, AC_I8, 0), 4));
}

static void gathered(const ac_panel *p, ac_x r, int32_t pixels)
{
    const ac_x zero = ac_lb_i32(&p->L->b, 0);
    if (p->bytes >= 0)
        put_steps(p, p->bytes, zero, zero, p->k.steps, zero, r, pixels);
}

/* ------------------------------------------------------------------ tiles */

/* The channel of position i, row r of the tile, from its sum. */
static void store(const ac_panel_place *to, ac_x i, ac_x r, ac_x channel, ac_x sum)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    if (p->rows < 0)
        ac_panel_store(to, i, channel, sum);
    else
        ac_lb_store(b, p->rows, ac_lb_add(b, ac_lb_mul(b, r, p->k.channels), channel), ac_panel_done(p, channel, sum));
}

/* Position i of the tile, row r of the accumulators: its channels oc .. */
static void finish_row(const ac_panel_place *to, int32_t pixels, ac_x i, ac_x r, ac_x oc)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    for (int32_t c = 0; c < p->channels; c += 2) {
        const ac_x at = ac_lb_add(b, r, ac_lb_i32(b, c * pixels)), even = ac_lb_add(b, oc, ac_lb_i32(b, c));
        const ac_x a = ac_lb_load(b, p->acc, at, 1);
        const ac_x both = ac_lb_load(b, p->acc, ac_lb_add(b, at, ac_lb_i32(b, pixels)), 1);
        const int64_t rest = p->c->n % p->channels; /* channels of the last block, unless 0 */
        const bool even_may_lack = rest && c >= rest, odd_may_lack = rest && c + 1 >= rest;
        if (even_may_lack)
            ac_lb_if(b, ac_lb_lt(b, even, p->k.channels));
        store(to, i, r, even, a);
        if (even_may_lack)
            ac_lb_end(b);
        const ac_x odd = ac_lb_add(b, even, ac_lb_i32(b, 1));
        if (odd_may_lack)
            ac_lb_if(b, ac_lb_lt(b, odd, p->k.channels));
        store(to, i, r, odd, ac_lb_shr(b, ac_lb_sub_wrap(b, both, a), ac_lb_i32(b, 8)));
        if (odd_may_lack)
            ac_lb_end(b);
    }
}

static void block(const ac_panel_place *to, int32_t pixels, ac_x begin, ac_x end, ac_x oc)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    const ac_x zero = ac_lb_i32(b, 0);
    const ac_tile t = {.form = p->in_place ? AC_TILE_ROW : AC_TILE_PAIRS,
                       .rows = pixels,
                       .channels = p->channels,
                       .x = p->line,
                       .w = p->w,
                       .acc = p->acc};
    const ac_x x_at = p->in_place ? ac_lb_mul(b, to->n, ac_lb_i32(b, p->depth)) : zero;
    ac_lb_tile(b, t, x_at, ac_lb_mul(b, oc, ac_lb_mul(b, p->k.steps, ac_lb_i32(b, DEPTH))), p->k.steps);
    (void)begin;
    /* Written out, so that sums stay in registers; the last tile may have fewer rows. */
    int64_t rows;
    const bool whole = ac_lb_const_int(b, end, &rows);
    for (int32_t i = 0; i < pixels; i++) {
        const ac_x r = ac_lb_i32(b, i);
        if (i && !whole)
            ac_lb_if(b, ac_lb_lt(b, r, end));
        finish_row(to, pixels, ac_lb_add(b, to->first, r), r, oc);
    }
    for (int32_t i = 1; i < pixels && !whole; i++)
        ac_lb_end(b);
}

/* The only position's window is all of an image. */
static bool reads_all(const ac_panel *p, int64_t positions)
{
    const ac_slide *s[] = {&p->win.y, &p->win.x};
    for (int i = 0; i < 2; i++)
        if (s[i]->out != 1 || s[i]->taps != s[i]->in || s[i]->pad || s[i]->dil != 1)
            return false;
    return positions == 1 && p->depth % DEPTH == 0;
}

/* A shorter line than the best one: products by one pixel take a seventh more instructions. */
static void choose_line(ac_panel *p)
{
    ac_lower *L = p->L;
    if (p->pixels == 1)
        return;
    L->out->variants |= AC_VARIANT_LINE_1;
    if (L->variant & AC_VARIANT_LINE_1) {
        L->out->slower = 14;
        p->pixels = 1;
    }
}

static void prepare(ac_panel *p, int64_t positions)
{
    ac_lower *L = p->L;
    const ac_rows rows = {p->depth, p->depth, 1};
    p->in_place = reads_all(p, positions);
    p->pixels = positions < PIXELS ? (int32_t)positions : PIXELS;
    choose_line(p);
    p->channels = p->c->n > 2 ? 4 : 2;
    p->step = DEPTH;
    p->unit = p->win.ic % DEPTH ? 1 : DEPTH;
    p->steps = (p->depth + DEPTH - 1) / DEPTH;
    ac_channel_tables(p->c, p->c->n, &rows, p->c->zx);
    p->c->line.pairs = !p->in_place;
    p->x = ac_lo_operand(L, p->c->x);
    p->line = p->in_place ? p->x : ac_lo_line(L, "line", AC_I16, p->steps * DEPTH * p->pixels);
    p->bytes = p->unit > 1 || p->in_place ? -1 : ac_lo_line(L, "window", AC_I8, p->steps * DEPTH);
    if (L->node->n_fused && p->pixels == PIXELS && p->c->per_channel && p->c->line.kind != AC_LINE_NONE &&
        p->c->n % p->channels == 0)
        p->rows = ac_lo_line(L, "rows", AC_I8, p->pixels * p->c->n);
    p->acc = ac_lo_local(L, "acc", AC_I32, p->pixels * p->channels);
    pack_weights(p);
}

const ac_panel_kind ac_panel_pairs = {.fits = fits,
                                      .prepare = prepare,
                                      .open_pixel = open_pixel,
                                      .put = put,
                                      .put_run = put_run,
                                      .gathered = gathered,
                                      .block = block,
                                      .finish = ac_panel_finish_rows};
