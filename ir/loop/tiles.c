/* tiles.c - TILE: packs its fields into an instruction, and computes it; see tiles.h. */
#include "ir/loop/tiles.h"

#include "ir/loop/builder.h"

#include <assert.h>
#include <string.h>

const char *const ac_tile_text[] = {"pairs", "bytes", "each",     "spread", "row",
                                    "outer", "lanes", "unsigned", "matrix", "words"};

/* k, from the lowest bit: weights or stride 12, acc 12, form 3, rows (MATRIX: less 1) 5, channels - 1 5, shift 7, pitch
 * 12, depth 7, form 1 */
static int32_t field(const ac_ins *i, int32_t from, int32_t bits)
{
    return (int32_t)(i->k.i >> from & ((1 << bits) - 1));
}

ac_tile ac_ins_tile(const ac_ins *i)
{
    ac_tile t = {.form = (ac_tile_form)(field(i, 24, 3) + 8 * (i->k.i < 0)),
                 .rows = field(i, 27, 5),
                 .channels = field(i, 32, 5) + 1,
                 .x = i->aux,
                 .acc = field(i, 12, 12),
                 .pitch = field(i, 44, 12),
                 .shift = field(i, 37, 7),
                 .depth = field(i, 56, 7)};
    t.rows += t.form == AC_TILE_MATRIX;
    *(t.form == AC_TILE_SPREAD ? &t.stride : &t.w) = field(i, 0, 12);
    return t;
}

void ac_tile_put(ac_ins *i, const ac_tile *t)
{
    i->aux = t->x;
    const int32_t rows = t->rows - (t->form == AC_TILE_MATRIX);
    i->k.i = (int64_t)t->depth << 56 | (int64_t)t->pitch << 44 | (int64_t)t->shift << 37 |
             (int64_t)(t->channels - 1) << 32 | (int64_t)rows << 27 | (int64_t)(t->form & 7) << 24 |
             (int64_t)t->acc << 12 | (t->form == AC_TILE_SPREAD ? t->stride : t->w);
    i->k.i |= t->form > 7 ? INT64_MIN : 0;
}

int32_t ac_tile_depth(const ac_tile *t)
{
    switch (t->form) {
    case AC_TILE_PAIRS:
    case AC_TILE_ROW:
        return 8;
    case AC_TILE_BYTES:
        return 16;
    case AC_TILE_MATRIX:
        return 64;
    case AC_TILE_WORDS:
        return 4;
    case AC_TILE_EACH:
    case AC_TILE_OUTER:
    case AC_TILE_UNSIGNED:
        return t->depth;
    case AC_TILE_SPREAD:
    case AC_TILE_LANES:
    case AC_TILE_FORMS:
        break;
    }
    return 1;
}

bool ac_tile_pairs(ac_tile_form form)
{
    return form == AC_TILE_PAIRS || form == AC_TILE_ROW;
}

int32_t ac_tile_slot(int32_t channel)
{
    static const int32_t SLOT[4] = {0, 2, 1, 3};
    return channel / 4 * 4 + SLOT[channel % 4];
}

bool ac_tile_is_wide(const ac_tile *t)
{
    return t->form == AC_TILE_OUTER || t->form == AC_TILE_LANES;
}

/* Elements of x from a step of a row to the next. */
static int64_t step_of(const ac_tile *t)
{
    return t->form == AC_TILE_LANES ? t->pitch / t->depth : t->depth;
}

/* ... from one part to the next. */
static int64_t part_of(const ac_tile *t, int64_t steps)
{
    return (t->rows - 1) * (int64_t)t->pitch + steps * step_of(t);
}

int64_t ac_tile_reads(const ac_tile *t, int64_t steps)
{
    const int64_t each = steps * ac_tile_depth(t);
    if (ac_tile_is_wide(t))
        return steps > 0 ? t->shift * part_of(t, steps) - (t->form == AC_TILE_LANES ? step_of(t) - t->channels : 0) : 0;
    if (t->form == AC_TILE_EACH)
        return (t->channels - 1) * (int64_t)t->pitch + t->depth;
    if (t->form == AC_TILE_SPREAD)
        return steps > 0 ? (steps - 1) * t->stride + t->channels : 0;
    if (t->form == AC_TILE_MATRIX)
        return (t->rows - 1) * (int64_t)t->pitch + each;
    return t->form == AC_TILE_WORDS ? each * t->rows / 2 : each * t->rows;
}

int64_t ac_tile_weights(const ac_tile *t, int64_t steps)
{
    const int64_t each = steps * ac_tile_depth(t);
    if (ac_tile_is_wide(t))
        return each * t->channels * t->shift;
    if (t->form == AC_TILE_EACH)
        return t->channels * (int64_t)t->depth + (t->rows - 1) * (int64_t)t->shift;
    if (t->form == AC_TILE_SPREAD) {
        int32_t last = 0;
        for (int32_t c = 0; c < t->channels; c++)
            last = ac_tile_slot(c) > last ? ac_tile_slot(c) : last;
        return steps > 0 ? last * (int64_t)t->pitch + (steps - 1) * t->shift + 1 : 0;
    }
    return each * t->channels;
}

int32_t ac_tile_byte(int32_t word, int32_t second)
{
    return (int8_t)(uint8_t)((second ? ((uint32_t)word + 128) >> 16 : (uint32_t)word) & 255);
}

static int32_t wrapped(int32_t acc, int32_t x, int32_t w)
{
    return (int32_t)((uint32_t)acc + (uint32_t)(x * w));
}

static void add_pairs(const ac_tile *t, const int16_t *x, const int8_t *w, int32_t *acc)
{
    for (int32_t p = 0; p < t->channels / 2; p++)
        for (int32_t k = 0; k < 8; k++) {
            const int32_t low = w[(p * 8 + k) * 2];
            const int32_t whole = w[(p * 8 + k) * 2 + 1] * 256 + (uint8_t)low;
            for (int32_t r = 0; r < t->rows; r++) {
                int32_t *even = &acc[2 * p * t->rows + r], *odd = even + t->rows;
                *even = wrapped(*even, x[r * 8 + k], low);
                *odd = wrapped(*odd, x[r * 8 + k], whole);
            }
        }
}

static void add_row(const ac_tile *t, const int8_t *x, const int8_t *w, int32_t *acc)
{
    static const int32_t ORDER[8] = {0, 2, 1, 3, 4, 6, 5, 7};
    int16_t wide[8];
    for (int32_t k = 0; k < 8; k++)
        wide[k] = x[ORDER[k]];
    add_pairs(t, wide, w, acc);
}

static int32_t products(const int8_t *x, const int8_t *w, int64_t n)
{
    int32_t sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum = wrapped(sum, x[k], w[k]);
    return sum;
}

static int32_t of_bytes(const ac_tile *t, const int8_t *x, const int8_t *w, int64_t steps, int32_t r, int32_t c)
{
    int32_t sum = 0;
    for (int64_t s = 0; s < steps; s++)
        sum = wrapped(sum, products(x + (r * steps + s) * 16, w + (s * t->channels + c) * 16, 16), 1);
    return sum;
}

static void add_unsigned(const ac_tile *t, const uint8_t *x, const uint8_t *w, int64_t n, int32_t *acc)
{
    for (int64_t k = 0; k < n; k++)
        for (int32_t c = 0; c < t->channels; c++)
            acc[c] = wrapped(acc[c], x[k], w[k * t->channels + c]);
}

static void spread(const ac_tile *t, const int8_t *x, int64_t steps, int8_t *to)
{
    for (int64_t s = 0; s < steps; s++)
        for (int32_t c = 0; c < t->channels; c++)
            to[ac_tile_slot(c) * t->pitch + s * t->shift] = x[s * t->stride + c];
}

/* x: of a row, in its first part. */
static int32_t of_lane(const ac_tile *t, const int8_t *x, const int8_t *w, int64_t steps, int32_t c)
{
    const int64_t depth = ac_tile_depth(t), step = step_of(t), part = part_of(t, steps);
    int32_t sum = 0;
    for (int64_t p = 0; p < t->shift; p++)
        for (int64_t k = 0; k < steps * depth; k++) {
            const int8_t *v = x + p * part + k / depth * step + k % depth;
            sum = wrapped(sum, t->form == AC_TILE_LANES ? v[c] : *v, w[(p * steps * depth + k) * t->channels + c]);
        }
    return sum;
}

static void wide(const ac_tile *t, const int8_t *x, const int8_t *w, int64_t steps, int32_t *acc)
{
    for (int32_t r = 0; r < t->rows; r++)
        for (int32_t c = 0; c < t->channels; c++)
            acc[r * t->channels + c] = of_lane(t, x + r * t->pitch, w, steps, c);
}

static void matrix(const ac_tile *t, const int8_t *x, const int8_t *w, int64_t steps, int32_t *acc)
{
    for (int32_t r = 0; r < t->rows; r++)
        for (int32_t c = 0; c < t->channels; c++) {
            int32_t sum = 0;
            for (int64_t k = 0; k < steps * 64; k++)
                sum = wrapped(sum, x[r * t->pitch + k], w[(k / 4 * t->channels + c) * 4 + k % 4]);
            acc[r * t->channels + c] = sum;
        }
}

static void words(const ac_tile *t, const int32_t *x, const int8_t *w, int64_t taps, int32_t *acc)
{
    memset(acc, 0, sizeof *acc * (size_t)(t->rows * t->channels));
    for (int64_t k = 0; k < taps; k++)
        for (int32_t r = 0; r < t->rows; r++)
            for (int32_t c = 0; c < t->channels; c++) {
                int32_t *sum = &acc[r * t->channels + c];
                *sum = wrapped(*sum, ac_tile_byte(x[(k * t->rows + r) / 2], r % 2), w[k * t->channels + c]);
            }
}

void ac_tile_run(const ac_tile *t, const void *x, const void *weights, int64_t steps, void *to)
{
    int32_t *acc = to;
    const int8_t *w = weights;
    if (t->form == AC_TILE_UNSIGNED) {
        add_unsigned(t, x, weights, steps * t->depth, acc);
        return;
    }
    if (ac_tile_is_wide(t)) {
        wide(t, x, w, steps, acc);
        return;
    }
    if (t->form == AC_TILE_WORDS) {
        words(t, x, w, steps * 4, acc);
        return;
    }
    if (t->form == AC_TILE_MATRIX) {
        matrix(t, x, w, steps, acc);
        return;
    }
    if (t->form == AC_TILE_PAIRS) {
        memset(acc, 0, sizeof *acc * (size_t)(t->rows * t->channels));
        for (int64_t s = 0; s < steps; s++)
            add_pairs(t, (const int16_t *)x + s * 8 * t->rows, w + s * 8 * t->channels, acc);
        return;
    }
    if (t->form == AC_TILE_ROW) {
        for (int32_t c = 0; c < t->channels; c++)
            acc[c] = 0;
        for (int64_t s = 0; s < steps; s++)
            add_row(t, (const int8_t *)x + s * 8, w + s * 8 * t->channels, acc);
        return;
    }
    if (t->form == AC_TILE_SPREAD) {
        spread(t, x, steps, to);
        return;
    }
    for (int32_t r = 0; r < t->rows; r++)
        for (int32_t c = 0; c < t->channels; c++) {
            const int32_t slot = ac_tile_slot(c);
            acc[r * t->channels + c] = t->form == AC_TILE_BYTES
                                           ? of_bytes(t, x, w, steps, r, c)
                                           : products((const int8_t *)x + slot * t->pitch,
                                                      w + slot * t->depth + (t->rows - 1 - r) * t->shift, t->depth);
        }
}

bool ac_tile_fits(const ac_tile *t)
{
    const int32_t rows = t->form == AC_TILE_MATRIX ? AC_TILE_MATRIX_ROWS : AC_TILE_ROWS;
    return t->rows > 0 && t->rows <= rows && t->channels > 0 && t->channels <= AC_TILE_CHANNELS &&
           t->w <= AC_TILE_BUFFERS && t->acc <= AC_TILE_BUFFERS && t->pitch <= AC_TILE_PITCH &&
           t->stride <= AC_TILE_PITCH && t->shift <= AC_TILE_SHIFT && t->depth <= AC_TILE_SHIFT;
}

void ac_lb_tile(ac_lb *b, ac_tile t, ac_x x_at, ac_x w_at, ac_x steps)
{
    assert(ac_tile_fits(&t) && "the caller chooses shapes that an instruction has room for");
    const ac_dtype d = b->fn->buf.item[t.x].dtype;
    ac_ins i = {.op = AC_L_TILE, .dtype = (uint8_t)d, .lanes = 1, .a = x_at, .b = w_at, .c = steps};
    ac_tile_put(&i, &t);
    ac_lb_append(b, i);
    ac_lb_written(b, t.acc);
}
