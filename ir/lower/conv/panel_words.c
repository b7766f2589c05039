/* panel_words.c - panels on processors that multiply one pair of words at a time, but have many registers: two pixels
 * in a word, so that a product by a weight is two (TILE, WORDS).
 *
 * Line    i32 [step][4][2]: pixels 0 and 1, 2 and 3 of the tile
 * Weights i8  [block][step][4][channel], zeros at the end
 *
 * A 1x1 window of stride 1, or a matrix, is packed four pixels at a time, and so are windows that all are inside of the
 * image; others pixel by pixel. The tile of the last positions is a whole one too: in rows of a few
 * positions that takes longer than panel_plain.c. */
#include "ir/lower/conv/panel_kind.h"

#include "ir/loop/tiles.h"
#include "ir/lower/lower.h"

enum { PIXELS = 4, CHANNELS = 4, DEPTH = 4, LEAST_DEPTH = 8, MOST_DEPTH = 16384, LEAST_CORE = 24 };

/* Two taps are added in 16 bits. */
static bool weights_fit(const ac_lower *L, const ac_channel *c, int64_t depth)
{
    const int8_t *w = ac_tensor_force(L->cx, c->w);
    for (int64_t i = 0; w && i < c->n * depth; i++)
        if (w[i] == INT8_MIN)
            return false;
    return w != NULL;
}

static bool fits(const ac_lower *L, const ac_channel *c, int64_t depth)
{
    const ac_target *t = L->target;
    return t->isa == AC_ISA_RISCV && t->mul == AC_MUL_HIGH && !t->rvv && t->core >= LEAST_CORE &&
           depth >= LEAST_DEPTH && depth < MOST_DEPTH && c->n > 1 && !(L->variant & AC_VARIANT_LINE_1) &&
           weights_fit(L, c, depth);
}

/* Products cost 2.2 instructions here, 3 in smaller tiles. */
static bool suits(int64_t positions)
{
    const int64_t whole = (positions + PIXELS - 1) / PIXELS * PIXELS;
    return positions >= PIXELS && whole * 22 <= positions * 30;
}

static void pack_weights(ac_panel *p)
{
    ac_lower P;
    const int64_t blocks = (p->c->n + CHANNELS - 1) / CHANNELS, depth = p->steps * DEPTH;
    const int32_t to = ac_lo_pack_open(p->L, &P, "w", AC_I8, blocks * depth * CHANNELS);
    ac_lb *b = &P.b;
    const ac_x block = ac_lb_for_n(b, "block", blocks), k = ac_lb_for_n(b, "k", depth);
    const ac_x c = ac_lb_for_n(b, "c", CHANNELS);
    const ac_x oc = ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, CHANNELS)), c);
    const ac_x tap = ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, depth)), k);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, tap, ac_lb_i32(b, CHANNELS)), c);
    ac_lb_store(b, to, at, ac_lb_cast(b, ac_panel_weight(&P, p, oc, k), AC_I8));
    for (int i = 0; i < 3; i++)
        ac_lb_end(b);
    p->w = ac_lo_pack_close(p->L, &P);
}

/* ------------------------------------------------------------------ the line */

/* The word of the first byte of unit i of a pixel, whose pair is r / 2. */
static ac_x word_at(const ac_panel *p, ac_x i, ac_x r)
{
    ac_lb *b = &p->L->b;
    return ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, 2 * (int64_t)p->unit)), ac_lb_shr(b, r, ac_lb_i32(b, 1)));
}

/* One pixel of a pair, in words of two zero points: the first one leaves the other byte, the second one replaces it. */
static void put_units(const ac_panel *p, ac_x base, ac_x begin, ac_x end, ac_x shift, ac_x r, bool second)
{
    ac_lb *b = &p->L->b;
    const ac_x half = ac_lb_i32(b, 1 << 16), zero = ac_lb_i32(b, p->c->zx);
    const ac_x i = ac_lb_for(b, "i", begin, end, 1, AC_MARK_SERIAL);
    const ac_x at = word_at(p, ac_lb_add(b, i, shift), r);
    const ac_x x_at = ac_lb_mul(b, ac_lb_add(b, base, i), ac_lb_i32(b, p->unit));
    for (int32_t u = 0; u < p->unit; u++) {
        const ac_x to = ac_lb_add(b, at, ac_lb_i32(b, 2 * u));
        ac_x x = ac_lb_cast(b, ac_lb_load(b, p->x, ac_lb_add(b, x_at, ac_lb_i32(b, u)), 1), AC_I32);
        if (second)
            x = ac_lb_add_wrap(b, ac_lb_load(b, p->line, to, 1), ac_lb_mul(b, ac_lb_sub(b, x, zero), half));
        else
            x = ac_lb_add(b, x, ac_lb_mul(b, zero, half));
        ac_lb_store(b, p->line, to, x);
    }
    ac_lb_end(b);
}

static void put(const ac_panel *p, int32_t from, ac_x base, ac_x begin, ac_x end, ac_x shift, ac_x r, int32_t pixels)
{
    ac_lb *b = &p->L->b;
    (void)pixels;
    if (from < 0)
        return;
    ac_lb_if(b, ac_lb_ne(b, ac_lb_and(b, r, ac_lb_i32(b, 1)), ac_lb_i32(b, 0)));
    put_units(p, base, begin, end, shift, r, true);
    ac_lb_else(b);
    put_units(p, base, begin, end, shift, r, false);
    ac_lb_end(b);
}

static void fill(const ac_panel *p)
{
    ac_lb *b = &p->L->b;
    const ac_x zero = ac_lb_i32(b, p->c->zx * 65537);
    const ac_x end = ac_lb_mul(b, p->k.steps, ac_lb_i32(b, DEPTH * PIXELS / 2));
    const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, 0), end, DEPTH, AC_MARK_SERIAL);
    for (int32_t u = 0; u < DEPTH; u++)
        ac_lb_store(b, p->line, ac_lb_add(b, i, ac_lb_i32(b, u)), zero);
    ac_lb_end(b);
}

/* Tap `to` + u and its neighbours, n of them: byte x_at[r] + u of each pixel. */
static void pack_taps(const ac_panel *p, int32_t from, const ac_x *x_at, ac_x to, int32_t n)
{
    ac_lb *b = &p->L->b;
    const ac_x at = ac_lb_mul(b, to, ac_lb_i32(b, 2));
    for (int32_t u = 0; u < n; u++)
        for (int32_t r = 0; r < PIXELS; r += 2) {
            ac_x half[2];
            for (int32_t i = 0; i < 2; i++) {
                const ac_x x = ac_lb_load(b, from, ac_lb_add(b, x_at[r + i], ac_lb_i32(b, u)), 1);
                half[i] = ac_lb_cast(b, x, AC_I32);
            }
            const ac_x word = ac_lb_add(b, half[0], ac_lb_mul(b, half[1], ac_lb_i32(b, 1 << 16)));
            ac_lb_store(b, p->line, ac_lb_add(b, at, ac_lb_i32(b, 2 * u + r / 2)), word);
        }
}

/* All four windows are inside: packs the rows of taps, which begin at element first[r]. */
static void pack_rows(const ac_panel *p, const ac_x *first, int32_t n)
{
    ac_lb *b = &p->L->b;
    const ac_x zero = ac_lb_i32(b, 0), unit = ac_lb_i32(b, p->unit), run = ac_lb_mul(b, p->k.run_units, unit);
    const ac_x row = ac_lb_mul(b, ac_lb_mul(b, p->k.row_units, unit), p->k.dil_y);
    const ac_x ky = ac_lb_for(b, "ky", zero, p->k.taps_y, 1, AC_MARK_SERIAL);
    const ac_x k = ac_lb_for(b, "k", zero, run, n, AC_MARK_SERIAL);
    const ac_x more = ac_lb_add(b, ac_lb_mul(b, ky, row), k);
    ac_x x_at[PIXELS];
    for (int32_t r = 0; r < PIXELS; r++)
        x_at[r] = ac_lb_add(b, first[r], more);
    pack_taps(p, p->x, x_at, ac_lb_add(b, ac_lb_mul(b, ky, run), k), n);
    ac_lb_end(b);
    ac_lb_end(b);
    for (int64_t i = 2 * p->depth; i < 2 * p->steps * DEPTH; i++)
        ac_lb_store(b, p->line, ac_lb_i32(b, i), zero);
}

/* Four neighbours in a row can be inside, and a window that is inside is one of a position. */
static bool has_inside(const ac_slide *s)
{
    int64_t n = 0;
    for (int64_t o = 0; o <= s->out; o++)
        n += o * s->stride >= s->pad && o * s->stride - s->pad + (s->taps - 1) * s->dil < s->in
                 ? o < s->out ? 1 : -PIXELS
                 : 0;
    return n >= PIXELS;
}

static bool open_tile(const ac_panel_place *to)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    const ac_panel_numbers *k = &p->k;
    const int64_t run = p->win.x.taps * p->win.ic;
    const int32_t n = run % 4 == 0 ? 4 : run % 3 == 0 ? 3 : 1;
    if (n == 1 || to->oy || p->win.x.dil != 1 || !has_inside(&p->win.x)) {
        fill(p);
        return false;
    }
    const ac_x oy = ac_lb_div(b, to->first, k->out_columns), ox = ac_lb_mod(b, to->first, k->out_columns);
    const ac_x top = ac_lb_sub(b, ac_lb_mul(b, oy, k->stride_y), k->pad_y);
    const ac_x left = ac_lb_sub(b, ac_lb_mul(b, ox, k->stride_x), k->pad_x);
    const ac_x last = ac_lb_add(b, left, ac_lb_mul(b, k->stride_x, ac_lb_i32(b, PIXELS - 1)));
    const ac_x begins = ac_lb_le(b, ac_lb_i32(b, 0), ac_lb_min(b, top, left));
    const ac_x ends = ac_lb_and(b, ac_lb_le(b, ac_lb_add(b, top, k->reach_y), k->rows),
                                ac_lb_le(b, ac_lb_add(b, last, k->reach_x), k->columns));
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, to->n, k->image_units), ac_lb_mul(b, top, k->row_units));
    const ac_x unit = ac_lb_i32(b, p->unit), next = ac_lb_mul(b, ac_lb_mul(b, k->stride_x, k->tap_units), unit);
    ac_x first[PIXELS] = {ac_lb_mul(b, ac_lb_add(b, row, ac_lb_mul(b, left, k->tap_units)), unit)};
    for (int32_t r = 1; r < PIXELS; r++)
        first[r] = ac_lb_add(b, first[r - 1], next);
    ac_lb_if(b, ac_lb_and(b, begins, ends));
    pack_rows(p, first, n);
    ac_lb_else(b);
    fill(p);
    return true;
}

/* The pixels of x. */
static void pack(const ac_panel_place *to)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    if (!p->in_place)
        return;
    const ac_x end = ac_lb_mul(b, p->k.steps, ac_lb_i32(b, DEPTH)), first = ac_panel_first(to);
    const ac_x k = ac_lb_for(b, "k", ac_lb_i32(b, 0), end, DEPTH, AC_MARK_SERIAL);
    ac_x x_at[PIXELS];
    for (int32_t r = 0; r < PIXELS; r++)
        x_at[r] = ac_lb_add(b, ac_lb_add(b, first, k), ac_lb_i32(b, r * p->depth));
    pack_taps(p, p->x, x_at, k, DEPTH);
    ac_lb_end(b);
}

/* ------------------------------------------------------------------ tiles */

static void store(const ac_panel_place *to, ac_x r, ac_x channel, ac_x sum)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    if (p->rows < 0)
        ac_panel_store(to, ac_lb_add(b, to->first, r), channel, sum);
    else
        ac_lb_store(b, p->rows, ac_lb_add(b, ac_lb_mul(b, r, p->k.channels), channel), ac_panel_done(p, channel, sum));
}

static void block(const ac_panel_place *to, int32_t pixels, ac_x begin, ac_x end, ac_x oc)
{
    const ac_panel *p = to->p;
    ac_lb *b = &p->L->b;
    const ac_x zero = ac_lb_i32(b, 0);
    const ac_tile t = {
        .form = AC_TILE_WORDS, .rows = PIXELS, .channels = CHANNELS, .x = p->line, .w = p->w, .acc = p->acc};
    ac_x channels = ac_lb_i32(b, CHANNELS);
    (void)pixels;
    ac_lb_tile(b, t, zero, ac_lb_mul(b, oc, ac_lb_mul(b, p->k.steps, ac_lb_i32(b, DEPTH))), p->k.steps);
    if (p->c->n % CHANNELS)
        channels = ac_lb_min(b, channels, ac_lb_sub(b, p->k.channels, oc));
    const ac_x c = ac_lb_for(b, "c", zero, channels, 1, AC_MARK_SERIAL);
    const ac_x r = ac_lb_for(b, "r", begin, end, 1, AC_MARK_SERIAL);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, CHANNELS)), c);
    store(to, r, ac_lb_add(b, oc, c), ac_lb_load(b, p->acc, at, 1));
    ac_lb_end(b);
    ac_lb_end(b);
}

static void prepare(ac_panel *p, int64_t positions)
{
    ac_lower *L = p->L;
    const ac_rows rows = {p->depth, p->depth, 1};
    (void)positions;
    L->out->variants |= AC_VARIANT_LINE_1;
    p->pixels = PIXELS;
    p->channels = CHANNELS;
    p->step = DEPTH;
    p->steps = (p->depth + DEPTH - 1) / DEPTH;
    p->unit = p->win.ic % 4 || ac_lo_align(L, p->c->x) < 4 ? 1 : 4; /* bytes at once */
    p->in_place = ac_panel_reads_pixels(p) && p->depth % DEPTH == 0;
    ac_channel_tables(p->c, p->c->n, &rows, p->c->zx);
    p->x = ac_lo_operand(L, p->c->x);
    p->line = ac_lo_line(L, "line", AC_I32, p->steps * DEPTH * PIXELS / 2);
    if (L->node->n_fused && p->c->per_channel && p->c->line.kind != AC_LINE_NONE && p->c->n % CHANNELS == 0)
        p->rows = ac_lo_line(L, "rows", AC_I8, PIXELS * p->c->n);
    p->acc = ac_lo_local(L, "acc", AC_I32, PIXELS * CHANNELS);
    pack_weights(p);
}

const ac_panel_kind ac_panel_words = {.fits = fits,
                                      .suits = suits,
                                      .prepare = prepare,
                                      .put = put,
                                      .open_tile = open_tile,
                                      .pack = pack,
                                      .block = block,
                                      .finish = ac_panel_finish_rows};
