/* digits.c - converts rows of floats to integers of 24 bits in three bytes; see digits.h.
 *
 * The exponent of unit comes from the bits of the largest magnitude m: with 2^e <= 1.004 * m < 2^(e+1) it is e - 22, so
 * that |x / unit| < 2^23 / 1.004, below 127 * (65536 + 256 + 1), the largest number with digits up to 127. */
#include "ir/lower/nn/digits.h"

enum { MANTISSA = 23, UNIT = 22, MOST = 127 * (65536 + 256 + 1) };
enum { EXPONENT = 0x7F800000, MAGNITUDE = 0x7FFFFFFF, BIAS = 127 }; /* of the bits of a float */
enum { LEAST = (UNIT + 1) << MANTISSA }; /* the exponent that gives unit the smallest exponent of a float */

ac_digits ac_digits_open(ac_lower *L, int32_t x, int64_t rows, int64_t depth, int64_t size, int64_t word, int32_t times)
{
    ac_digits d = {.L = L, .x = x, .rows = rows, .depth = depth, .size = size, .word = word, .times = times};
    d.blocks = (depth + size - 1) / size;
    d.width = d.blocks * size;
    d.digit = ac_lo_scratch(L, "digits", AC_I8, AC_DIGITS * rows * d.width);
    d.unit = ac_lo_scratch(L, "units", AC_F32, rows * d.blocks);
    d.sum = ac_lo_scratch(L, "sums", AC_I32, AC_DIGITS * rows * d.blocks);
    return d;
}

static ac_x at_digit(const ac_digits *d, int32_t i, ac_x row, int64_t each, ac_x at)
{
    ac_lb *b = &d->L->b;
    at = ac_lb_add(b, ac_lb_add(b, ac_lo_scaled(b, row, each), at), ac_lb_i32(b, i * d->rows * each));
    return at;
}

ac_x ac_digits_four(const ac_digits *d, int32_t i, ac_x row, ac_x at)
{
    ac_lb *b = &d->L->b;
    return ac_lb_bitcast(b, ac_lb_load(b, d->digit, at_digit(d, i, row, d->width, at), 4), AC_I32);
}

ac_x ac_digits_unit(const ac_digits *d, ac_x row, ac_x block)
{
    ac_lb *b = &d->L->b;
    return ac_lb_load(b, d->unit, at_digit(d, 0, row, d->blocks, block), 1);
}

ac_x ac_digits_sum(const ac_digits *d, int32_t i, ac_x row, ac_x block)
{
    ac_lb *b = &d->L->b;
    return ac_lb_load(b, d->sum, at_digit(d, i, row, d->blocks, block), 1);
}

/* The block being written: its first `count` elements come from x. */
typedef struct block {
    const ac_digits *d;
    ac_x row, from, to; /* its first element in x, and in a digit of the row */
    int64_t count;
    int32_t lanes; /* elements at once, whole words; 1: one after another */
    ac_x inverse;  /* of unit */
    ac_x sum[AC_DIGITS];
} block;

static ac_x magnitude(const block *k, ac_x at, int32_t lanes)
{
    ac_lb *b = &k->d->L->b;
    const ac_x bits = ac_lb_bitcast(b, ac_lb_load(b, k->d->x, ac_lb_add(b, k->from, at), lanes), AC_I32);
    return ac_lb_and(b, bits, ac_lb_like_int(b, bits, MAGNITUDE));
}

/* The bits of the largest magnitude: they are ordered as magnitudes are, infinity and NaN last. */
static ac_x largest(const block *k)
{
    ac_lb *b = &k->d->L->b;
    const ac_x m = ac_lb_var(b, "m", ac_lb_splat(b, ac_lb_i32(b, 0), k->lanes));
    const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, 0), ac_lb_i32(b, k->count), k->lanes, AC_MARK_SERIAL);
    ac_lb_set(b, m, ac_lb_max(b, magnitude(k, i, k->lanes), ac_lb_get(b, m)));
    ac_lb_end(b);
    return k->lanes > 1 ? ac_lb_maxlanes(b, ac_lb_get(b, m)) : ac_lb_get(b, m);
}

/* Sets k->inverse; returns unit. */
static ac_x unit_of(block *k, ac_x bits)
{
    ac_lb *b = &k->d->L->b;
    const ac_x m = ac_lb_bitcast(b, bits, AC_F32);
    ac_x e = ac_lb_bitcast(b, ac_lb_mul(b, m, ac_lb_f32(b, 1.004)), AC_I32);
    e = ac_lb_and(b, e, ac_lb_i32(b, EXPONENT));
    e = ac_lb_max(b, e, ac_lb_i32(b, LEAST));
    const ac_x inverse = ac_lb_sub(b, ac_lb_i32(b, (2 * BIAS - 1) << MANTISSA), ac_lb_sub(b, e, ac_lb_i32(b, LEAST)));
    k->inverse = ac_lb_bitcast(b, inverse, AC_F32);
    const ac_x unit = ac_lb_bitcast(b, ac_lb_sub(b, e, ac_lb_i32(b, UNIT << MANTISSA)), AC_F32);
    return ac_lb_select(b, ac_lb_lt(b, bits, ac_lb_i32(b, EXPONENT)), unit, m);
}

/* Digits of x; each joins its sum. */
static void split(const block *k, ac_x x, ac_x digit[AC_DIGITS])
{
    ac_lb *b = &k->d->L->b;
    ac_x v = ac_lb_rint(b, ac_lb_mul(b, x, k->inverse));
    v = ac_lb_cast(b, ac_lb_clamp(b, v, ac_lb_like(b, v, -MOST), ac_lb_like(b, v, MOST)), AC_I32);
    for (int32_t i = AC_DIGITS; i-- > 1;) {
        const ac_x above = ac_lb_shr(b, ac_lb_add(b, v, ac_lb_like_int(b, v, 128)), ac_lb_like_int(b, v, 8));
        digit[i] = ac_lb_sub(b, v, ac_lb_shl(b, above, ac_lb_like_int(b, v, 8)));
        v = above;
    }
    digit[0] = v;
    for (int32_t i = 0; i < AC_DIGITS; i++)
        ac_lb_set(b, k->sum[i], ac_lb_add_wrap(b, ac_lb_get(b, k->sum[i]), digit[i]));
}

static void put(const block *k, int32_t i, ac_x at, ac_x digit)
{
    ac_lb *b = &k->d->L->b;
    at = at_digit(k->d, i, k->row, k->d->width, ac_lb_add(b, k->to, at));
    ac_lb_store(b, k->d->digit, at, ac_lb_cast(b, digit, AC_I8));
}

/* Whole words from i on, in the order of digits.h. */
static void write_words(const block *k, ac_x i)
{
    ac_lb *b = &k->d->L->b;
    const int64_t word = k->d->word, groups = word / 4;
    int64_t pattern[64];
    for (int64_t p = 0; p < k->lanes; p++)
        pattern[p] = p / word * word + p % word / 4 + p % 4 * groups;
    ac_x x = ac_lb_load(b, k->d->x, ac_lb_add(b, k->from, i), k->lanes), digit[AC_DIGITS];
    if (groups > 1)
        x = ac_lb_shuffle(b, x, 0, pattern, k->lanes);
    split(k, x, digit);
    for (int32_t d = 0; d < AC_DIGITS; d++)
        put(k, d, i, digit[d]);
}

/* `count` elements of the word at i, then zeros. */
static void write_word(const block *k, ac_x i, int64_t count)
{
    ac_lb *b = &k->d->L->b;
    const int64_t word = k->d->word, groups = word / 4;
    for (int64_t c = 0; c < word; c++) {
        const ac_x zero = ac_lb_i32(b, 0), at = ac_lb_add(b, i, ac_lb_i32(b, c % groups * 4 + c / groups));
        ac_x digit[AC_DIGITS] = {zero, zero, zero};
        if (c < count)
            split(k, ac_lb_load(b, k->d->x, ac_lb_add(b, k->from, ac_lb_add(b, i, ac_lb_i32(b, c))), 1), digit);
        for (int32_t d = 0; d < AC_DIGITS; d++)
            put(k, d, at, digit[d]);
    }
}

static void write_block(const ac_digits *d, ac_x row, ac_x number, int64_t count)
{
    ac_lb *b = &d->L->b;
    block k = {.d = d, .row = row, .to = ac_lo_scaled(b, number, d->size), .count = count};
    k.from = ac_lb_add(b, ac_lo_scaled(b, row, d->depth), k.to);
    k.lanes = ac_target_lanes(d->L->target, AC_F32);
    while (k.lanes > 1 && (count % k.lanes || k.lanes % d->word))
        k.lanes /= 2;
    const ac_x unit = unit_of(&k, largest(&k));
    ac_lb_store(b, d->unit, at_digit(d, 0, row, d->blocks, number), unit);
    for (int32_t i = 0; i < AC_DIGITS; i++)
        k.sum[i] = ac_lb_var(b, "sum", ac_lb_splat(b, ac_lb_i32(b, 0), k.lanes));
    const int64_t step = k.lanes > 1 ? k.lanes : d->word, whole = count / step * step;
    if (whole) {
        const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, 0), ac_lb_i32(b, whole), step, AC_MARK_SERIAL);
        if (k.lanes > 1)
            write_words(&k, i);
        else
            write_word(&k, i, d->word);
        ac_lb_end(b);
    }
    if (whole < count)
        write_word(&k, ac_lb_i32(b, whole), count - whole);
    for (int32_t i = 0; i < AC_DIGITS; i++) {
        ac_x sum = ac_lb_get(b, k.sum[i]);
        sum = ac_lb_mul_wrap(b, k.lanes > 1 ? ac_lb_sumlanes(b, sum) : sum, ac_lb_i32(b, d->times));
        ac_lb_store(b, d->sum, at_digit(d, i, row, d->blocks, number), sum);
    }
}

void ac_digits_of_rows(const ac_digits *d)
{
    ac_lb *b = &d->L->b;
    const int64_t whole = d->depth / d->size;
    const ac_x row = ac_lb_for_n(b, "row", d->rows);
    if (whole) {
        write_block(d, row, ac_lb_for_n(b, "block", whole), d->size);
        ac_lb_end(b);
    }
    if (d->depth % d->size)
        write_block(d, row, ac_lb_i32(b, whole), d->depth % d->size);
    ac_lb_end(b);
}
