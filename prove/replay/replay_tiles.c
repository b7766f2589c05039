/* replay_tiles.c - runs TILE and REQUANT of a certificate of code (docs/loop-ir.md): sums of products of packed rows
 * and weights, and their requantisation to bytes, element by element, by the layouts in ir/loop/tiles.h. Sums wrap.
 * Every factor must be inside its buffer and written; shifts must be inside the type. */
#include "prove/replay/replay_ranges.h"

/* Integers of 16 bits and less, and sums of their products. */
typedef struct span {
    int64_t lo, hi;
} span;

static int64_t known(const instruction *code, int32_t x, const char *what)
{
    const range *v = &code[x].value[0];
    if (!is_known(v) || v->lo < INT32_MIN || v->lo > INT32_MAX)
        not_shown(false, "%s depends on data", what);
    return (int64_t)v->lo;
}

/* Slots are the channels in the order 0, 2, 1, 3 of each four. */
static int64_t slot(int32_t channel)
{
    static const int32_t SLOT[4] = {0, 2, 1, 3};
    return channel / 4 * 4 + SLOT[channel % 4];
}

/* ------------------------------------------------------------------ sums of products */

static int64_t products_of(const tile *t, int64_t steps)
{
    switch (t->form) {
    case TILE_PAIRS:
    case TILE_ROW:
        return steps * 8;
    case TILE_BYTES:
        return steps * 16;
    case TILE_MATRIX:
        return steps * 64;
    case TILE_EACH:
        return t->depth;
    case TILE_WORDS:
        return steps * 4;
    case TILE_UNSIGNED:
        return steps * t->depth;
    case TILE_OUTER:
        return t->shift * steps * t->depth;
    case TILE_LANES:
        return t->shift * steps;
    case TILE_SPREAD:
    case N_TILES:
        break;
    }
    return 0;
}

/* The element of x in product n of a row's and a channel's sum. */
static int64_t x_at(const tile *t, int64_t steps, int32_t row, int32_t channel, int64_t n)
{
    static const int64_t ORDER[8] = {0, 2, 1, 3, 4, 6, 5, 7};
    const int64_t step = t->form == TILE_LANES ? t->pitch / t->depth : t->depth;
    const int64_t part = (t->rows - 1) * (int64_t)t->pitch + steps * step;
    switch (t->form) {
    case TILE_PAIRS:
        return (n / 8 * t->rows + row) * 8 + n % 8;
    case TILE_ROW:
        return n / 8 * 8 + ORDER[n % 8];
    case TILE_BYTES:
        return (row * steps + n / 16) * 16 + n % 16;
    case TILE_EACH:
        return slot(channel) * t->pitch + n;
    case TILE_OUTER:
        return n / (steps * step) * part + row * (int64_t)t->pitch + n % (steps * step);
    case TILE_MATRIX:
        return row * (int64_t)t->pitch + n;
    case TILE_WORDS:
        return (n * t->rows + row) / 2;
    case TILE_LANES:
        return n / steps * part + row * (int64_t)t->pitch + n % steps * step + channel;
    case TILE_UNSIGNED:
    case TILE_SPREAD:
    case N_TILES:
        break;
    }
    return n;
}

static int64_t w_at(const tile *t, int32_t row, int32_t channel, int64_t n)
{
    switch (t->form) {
    case TILE_PAIRS:
    case TILE_ROW:
        return ((n / 8 * (t->channels / 2) + channel / 2) * 8 + n % 8) * 2;
    case TILE_BYTES:
        return (n / 16 * t->channels + channel) * 16 + n % 16;
    case TILE_MATRIX:
        return (n / 4 * t->channels + channel) * 4 + n % 4;
    case TILE_EACH:
        return slot(channel) * t->depth + (t->rows - 1 - row) * (int64_t)t->shift + n;
    case TILE_OUTER:
    case TILE_LANES:
    case TILE_UNSIGNED:
    case TILE_WORDS:
    case TILE_SPREAD:
    case N_TILES:
        break;
    }
    return n * t->channels + channel;
}

static span small(range r)
{
    return (span){(int64_t)r.lo, (int64_t)r.hi};
}

/* Two bytes as one number: the low one unsigned, plus 256 times the other. */
static span both(span low, span high)
{
    const span bits = low.lo >= 0 ? low : low.hi < 0 ? (span){low.lo + 256, low.hi + 256} : (span){0, 255};
    return (span){high.lo * 256 + bits.lo, high.hi * 256 + bits.hi};
}

static void add_product(span *sum, span a, span b)
{
    const int64_t p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
    const int64_t lo = p < q ? p : q, lo2 = r < s ? r : s, hi = p > q ? p : q, hi2 = r > s ? r : s;
    sum->lo += lo < lo2 ? lo : lo2;
    sum->hi += hi > hi2 ? hi : hi2;
}

/* One of the two bytes in a word a + 65536 b. */
static span byte_of(span word, bool second)
{
    if (word.lo < -128 * 65537 || word.hi > 127 * 65537)
        not_shown(false, "a word of a tile may hold more than two bytes");
    if (word.lo != word.hi)
        return (span){-128, 127};
    const int64_t both = word.lo + 128 * 65537, b = both / 65536 - 128, a = both % 65536 - 128;
    if (a > 127)
        not_shown(false, "a word of a tile holds more than two bytes");
    return second ? (span){b, b} : (span){a, a};
}

static range sum_of(const tile *t, int64_t x, int64_t w, int64_t steps, int32_t row, int32_t channel)
{
    const bool pairs = t->form == TILE_PAIRS || t->form == TILE_ROW;
    const int64_t n = products_of(t, steps);
    span sum = {0, 0};
    spend(n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = w + w_at(t, row, channel, i);
        span by = small(element_of(t->w, at));
        if (pairs && channel % 2)
            by = both(by, small(element_of(t->w, at + 1)));
        span from = small(element_of(t->x, x + x_at(t, steps, row, channel, i)));
        if (t->form == TILE_WORDS)
            from = byte_of(from, row % 2);
        add_product(&sum, from, by);
    }
    return wrapped((range){.lo = sum.lo, .hi = sum.hi}, I32);
}

static void run_sums(const tile *t, int64_t x, int64_t w, int64_t steps)
{
    const bool by_channel = t->form == TILE_PAIRS || t->form == TILE_ROW;
    for (int32_t r = 0; r < t->rows; r++)
        for (int32_t c = 0; c < t->channels; c++) {
            const int64_t at = by_channel ? c * t->rows + r : r * t->channels + c;
            range sum = sum_of(t, x, w, steps, r, c);
            if (t->form == TILE_UNSIGNED) {
                const range before = element_of(t->acc, at);
                sum = wrapped((range){.lo = before.lo + sum.lo, .hi = before.hi + sum.hi}, I32);
            }
            put_element(t->acc, at, sum);
        }
}

static void run_spread(const tile *t, int64_t x, int64_t to, int64_t steps)
{
    spend(steps * t->channels);
    for (int64_t s = 0; s < steps; s++)
        for (int32_t c = 0; c < t->channels; c++)
            put_element(t->acc, to + slot(c) * t->pitch + s * t->shift, element_of(t->x, x + s * t->stride + c));
}

void run_tile(const instruction *code, const instruction *i)
{
    const tile *t = i->tile;
    const int64_t x = known(code, i->a, "where a tile begins"), w = known(code, i->b, "where a tile begins");
    const int64_t steps = known(code, i->c, "the number of steps");
    if (steps < 0)
        not_shown(all_certain(), "a tile of %lld steps", (long long)steps);
    if (t->form == TILE_SPREAD)
        run_spread(t, x, w, steps);
    else
        run_sums(t, x, w, steps);
    shown.accesses += 3;
}

/* ------------------------------------------------------------------ bytes of sums */

void run_requant(const instruction *code, const instruction *i)
{
    const requant *q = i->requant;
    const int64_t y = known(code, i->a, "where bytes are stored"), at = known(code, i->b, "a place in the table"),
                  bias = known(code, i->c, "a place in the table");
    for (int32_t l = 0; l < q->lanes; l++) {
        element_of(q->acc, q->lanes * (int64_t)q->row + l);
        element_of(q->table, bias + l);
        element_of(q->table, at + l);
        const range minus = element_of(q->table, at + q->lanes + l);
        if (minus.lo < -31 || minus.hi > -(whole)q->away)
            not_shown(all_certain() && is_known(&minus), "the count of a shift may be %lld .. %lld",
                      -(long long)minus.hi, -(long long)minus.lo);
        shown.shifts++;
    }
    for (int32_t l = 0; l < q->lanes; l++)
        put_element(q->y, y + l, (range){.lo = q->lo, .hi = q->hi});
    spend(q->lanes);
    shown.accesses += 4;
}
