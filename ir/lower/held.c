/* held.c - reading rows of matrices from constants that products read; see held.h.
 *
 *     block = (row - first) / width         row  0 1 2 3 | 4 5 6 7 | 8 9 10 | 11 12 -      blocks of 4, then of 3 rows
 *     in    = (row - first) % width              0                   wide
 *
 * Neighbours of a row are `width` groups apart: as many lines of the cache as it has groups. That cost is negligible
 * compared with a product with all rows. */
#include "ir/lower/held.h"
#include "ir/lower/buffers.h"

void ac_lo_holds(ac_lower *L, ac_rows_held held)
{
    held.stored = held.matrix;
    ac_push(L->region, &L->out->held, held);
}

/* A word of a constant may be several elements of the matrix, the first in its low bits. */
static int64_t per_word(const ac_rows_held *h)
{
    return ac_dtype_size(h->dtype, 1) / ac_dtype_size(h->matrix->dtype, 1);
}

static bool same(const ac_tensor *s, const ac_tensor *t)
{
    int32_t left = 64; /* comparisons */
    return s->dtype == t->dtype && ac_tensor_count(s) == ac_tensor_count(t) && ac_tensor_same_bytes(s, t, &left);
}

bool ac_held_is(const ac_rows_held *h, const ac_tensor *t)
{
    return same(h->stored, t);
}

const ac_rows_held *ac_held_of(const ac_lower *L, const ac_tensor *t, int64_t rows)
{
    for (int32_t i = 0; i < L->hint.n_held; i++)
        if (L->hint.held[i].rows == rows && same(L->hint.held[i].matrix, t))
            return &L->hint.held[i];
    return NULL;
}

/* The first n elements of group `at`. */
static void put_group(ac_lower *L, const ac_rows_held *h, int32_t from, ac_x at, int64_t n, int32_t dst, ac_x to)
{
    ac_lb *b = &L->b;
    const ac_dtype d = h->matrix->dtype;
    const int64_t per = per_word(h);
    for (int64_t g = 0; g < n; g += per) {
        ac_x word = ac_lb_load(b, from, ac_lb_add(b, ac_lo_scaled(b, at, h->group), ac_lb_i32(b, g / per)), 1);
        for (int64_t i = 0; i < per && g + i < n; i++) {
            ac_x v = word;
            if (i)
                v = ac_lb_shr(b, v, ac_lb_like_int(b, v, 8 * i * ac_dtype_size(d, 1)));
            if (per > 1)
                v = ac_lb_and(b, v, ac_lb_like_int(b, v, (INT64_C(1) << 8 * ac_dtype_size(d, 1)) - 1));
            if (ac_lb_dtype(b, v) != ac_dtype_loops(d))
                v = ac_lb_cast(b, v, ac_dtype_loops(d));
            ac_lb_store(b, dst, ac_lb_add(b, to, ac_lb_i32(b, g + i)), v);
        }
    }
}

/* A row of blocks of class s. */
static void put_row(ac_lower *L, const ac_rows_held *h, int32_t from, int32_t s, ac_x row, int64_t each, int32_t dst,
                    ac_x to)
{
    ac_lb *b = &L->b;
    const int64_t of_group = h->group * per_word(h), whole = each / of_group, rest = each % of_group;
    const ac_x width = ac_lb_i32(b, h->width[s]), first = ac_lb_i32(b, s ? h->wide : 0), off = ac_lb_sub(b, row, first);
    const ac_x begin = ac_lb_add(b, ac_lb_mul(b, ac_lb_div(b, off, width), width), first);
    const ac_x at = ac_lb_add(b, ac_lo_scaled(b, begin, h->steps), ac_lb_mod(b, off, width));
    if (whole) {
        const ac_x k = ac_lb_for_n(b, "k", whole);
        put_group(L, h, from, ac_lb_add(b, at, ac_lb_mul(b, k, width)), of_group, dst,
                  ac_lb_add(b, to, ac_lo_scaled(b, k, of_group)));
        ac_lb_end(b);
    }
    if (rest)
        put_group(L, h, from, ac_lb_add(b, at, ac_lb_mul(b, ac_lb_i32(b, whole), width)), rest, dst,
                  ac_lb_add(b, to, ac_lb_i32(b, whole * of_group)));
}

void ac_held_row(ac_lower *L, const ac_rows_held *h, ac_x row, int64_t each, int32_t dst, ac_x to)
{
    ac_lb *b = &L->b;
    const int32_t from = ac_lo_const(L, h->konst, h->dtype, "w", ac_strf(L->region, "rows of %s", h->matrix->name));
    if (h->wide >= h->rows) {
        put_row(L, h, from, 0, row, each, dst, to);
        return;
    }
    const ac_x border = ac_lb_i32(b, h->wide);
    ac_lb_if(b, ac_lb_lt(b, row, border));
    put_row(L, h, from, 0, ac_lb_min(b, row, ac_lb_i32(b, h->wide - 1)), each, dst, to);
    ac_lb_else(b);
    put_row(L, h, from, 1, ac_lb_max(b, row, border), each, dst, to);
    ac_lb_end(b);
}
