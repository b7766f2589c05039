/* tiles.c - TILE: its fields in an instruction, and what it computes; see tiles.h. */
#include "ir/loop/tiles.h"

#include "ir/loop/builder.h"

#include <assert.h>

const char *const AC_TILE_TEXT[] = {"pairs", "bytes"};

/* k, from the lowest byte: weights, accumulators (two bytes each), form, rows, channels */
ac_tile ac_ins_tile(const ac_ins *i)
{
    return (ac_tile){.form = (ac_tile_form)(i->k.i >> 32 & 255),
                     .rows = (int32_t)(i->k.i >> 40 & 255),
                     .channels = (int32_t)(i->k.i >> 48 & 255),
                     .x = i->aux,
                     .w = (int32_t)(i->k.i & 0xffff),
                     .acc = (int32_t)(i->k.i >> 16 & 0xffff)};
}

void ac_tile_put(ac_ins *i, const ac_tile *t)
{
    i->aux = t->x;
    i->k.i =
        (int64_t)t->channels << 48 | (int64_t)t->rows << 40 | (int64_t)t->form << 32 | (int64_t)t->acc << 16 | t->w;
}

void ac_tile_set_buffers(ac_ins *i, int32_t x, int32_t w, int32_t acc)
{
    ac_tile t = ac_ins_tile(i);
    t.x = x;
    t.w = w;
    t.acc = acc;
    ac_tile_put(i, &t);
}

int32_t ac_tile_depth(const ac_tile *t)
{
    return t->form == AC_TILE_PAIRS ? 8 : 16;
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

static void add_bytes(const ac_tile *t, const int8_t *x, const int8_t *w, int32_t *acc)
{
    for (int32_t c = 0; c < t->channels; c++)
        for (int32_t r = 0; r < t->rows; r++)
            for (int32_t k = 0; k < 16; k++)
                acc[c * t->rows + r] = wrapped(acc[c * t->rows + r], x[r * 16 + k], w[c * 16 + k]);
}

void ac_tile_add(const ac_tile *t, const void *x, const int8_t *w, int64_t steps, int32_t *acc)
{
    const int32_t depth = ac_tile_depth(t);
    for (int64_t s = 0; s < steps; s++, w += depth * t->channels)
        if (t->form == AC_TILE_PAIRS)
            add_pairs(t, (const int16_t *)x + s * depth * t->rows, w, acc);
        else
            add_bytes(t, (const int8_t *)x + s * depth * t->rows, w, acc);
}

void ac_lb_tile(ac_lb *b, ac_tile t, ac_x x_at, ac_x w_at, ac_x steps)
{
    assert(t.rows > 0 && t.rows < 128 && t.channels > 0 && t.channels < 128 && "one byte for each");
    const ac_dtype d = b->fn->buf.item[t.x].dtype;
    ac_ins i = {.op = AC_L_TILE, .dtype = (uint8_t)d, .lanes = 1, .a = x_at, .b = w_at, .c = steps};
    ac_tile_put(&i, &t);
    ac_lb_append(b, i);
    ac_lb_written(b, t.acc);
}
