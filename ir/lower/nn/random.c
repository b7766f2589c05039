/* random.c - lowers RANDOM and DROPOUT, by random numbers from a counter, with the same bits on every target.
 *
 * Element e gets words of the block of Philox 4x32-10 with the key `seed` and the counter (block, stream, run,
 * micro-batch). So the bits do not depend on the order of evaluation, and the gradient of DROPOUT computes them again
 * instead of storing a mask. Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011).
 *
 *   integers    all bits of a word, or of two words
 *   uniform     low + u * (high - low), below high; u: the upper 24 bits of a word as a fraction (f64: 53 bits of two)
 *   normal      Box and Muller: pairs of words become radius sqrt(-2 ln v), v > 0 of 31 (53) bits, and an angle, by its
 *               quarter and its place in it, -pi/4 .. pi/4; both coordinates are used
 *   truncated   the inverse of the normal distribution between -2 and 2: z = x P(w), w = -ln(1 - x^2), x = erf(sqrt 2)
 *               u, -1 < u < 1. P: interpolation at Chebyshev nodes (f32: 5e-9, f64: 1e-17 of the value)
 *
 * A block of four words makes four elements, or two of 64 bits. Every operation rounds, on targets with fma too.
 * DROPOUT sets elements to zero with a given probability and scales the others up: y = 0 or x / (1 - ratio). */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/math_parts.h"

#include <math.h>

enum { ROUNDS = 10, WORDS = 4 };

/* ------------------------------------------------------------------ Philox */

typedef struct philox {
    ac_x count[WORDS]; /* the counter: words 1 to 3 */
    ac_x key[2];       /* of the first round */
} philox;

static ac_x word_of(ac_lb *b, int64_t v)
{
    return ac_lb_int(b, AC_U32, v);
}

/* The upper and the lower half of v * by. */
static void halves(ac_lb *b, ac_x v, int64_t by, ac_x *high, ac_x *low)
{
    const ac_x wide = ac_lb_cast(b, v, AC_U64), whole = ac_lb_mul_wrap(b, wide, ac_lb_int(b, AC_U64, by));
    *high = ac_lb_cast(b, ac_lb_shr(b, whole, ac_lb_int(b, AC_U64, 32)), AC_U32);
    *low = ac_lb_mul_wrap(b, v, word_of(b, by));
}

/* Loads seed, run and micro-batch from buffer `numbers` (i32 [4]). */
static philox open_philox(ac_lower *L, int32_t numbers, int32_t stream)
{
    ac_lb *b = &L->b;
    philox p = {0};
    for (int k = 0; k < WORDS; k++) {
        const ac_x v = ac_lb_bitcast(b, ac_lb_load(b, numbers, ac_lb_i32(b, k), 1), AC_U32);
        *(k < 2 ? &p.key[k] : &p.count[k]) = v;
    }
    p.count[1] = ac_lb_bitcast(b, ac_lb_i32(b, stream), AC_U32);
    return p;
}

/* The four words (u32) of block number `block` (i32). */
static void make_block(ac_lower *L, const philox *p, ac_x block, ac_x word[WORDS])
{
    ac_lb *b = &L->b;
    ac_x *c = word, key[2] = {p->key[0], p->key[1]};
    c[0] = ac_lb_bitcast(b, block, AC_U32);
    for (int k = 1; k < WORDS; k++)
        c[k] = p->count[k];
    for (int r = 0; r < ROUNDS; r++) {
        ac_x high0, low0, high1, low1;
        halves(b, c[0], 0xD2511F53, &high0, &low0);
        halves(b, c[2], 0xCD9E8D57, &high1, &low1);
        c[0] = ac_lb_xor(b, ac_lb_xor(b, high1, c[1]), key[0]);
        c[1] = low1;
        c[2] = ac_lb_xor(b, ac_lb_xor(b, high0, c[3]), key[1]);
        c[3] = low0;
        key[0] = ac_lb_add_wrap(b, key[0], word_of(b, 0x9E3779B9));
        key[1] = ac_lb_add_wrap(b, key[1], word_of(b, 0xBB67AE85));
    }
}

/* ------------------------------------------------------------------ random */

typedef struct drawing {
    const ac_attrs_random *a;
    int32_t y; /* buffer */
    ac_dtype type;
    int64_t each; /* elements of a block */
    philox random;
} drawing;

/* ------------------------------------------------------------------ words to numbers */

static ac_x shifted(ac_lb *b, ac_x word, int64_t right)
{
    return ac_lb_shr(b, word, ac_lb_like_int(b, word, right));
}

/* w[0] below w[1]: u64 */
static ac_x both_words(ac_lb *b, const ac_x *w)
{
    const ac_x high = ac_lb_cast(b, w[1], AC_U64);
    return ac_lb_or(b, ac_lb_shl(b, high, ac_lb_like_int(b, high, 32)), ac_lb_cast(b, w[0], AC_U64));
}

/* The upper `bits` bits of a word, or for f64 of two, as a float, rounded if they are too many for it. */
static ac_x upper_bits(ac_lb *b, ac_dtype d, const ac_x *w, int64_t bits)
{
    if (d == AC_F64)
        return ac_lb_cast(b, ac_lb_bitcast(b, shifted(b, both_words(b, w), 64 - bits), AC_I64), d);
    return ac_lb_cast(b, ac_lb_bitcast(b, shifted(b, w[0], 32 - bits), AC_I32), d);
}

static int32_t digits_of(ac_dtype d)
{
    return d == AC_F64 ? 53 : 24;
}

/* 0 <= u < 1 */
static ac_x fraction(ac_lower *L, ac_dtype d, const ac_x *w)
{
    const ac_x v = upper_bits(&L->b, d, w, digits_of(d));
    return ac_lb_mul(&L->b, v, num(L, v, ldexp(1, -digits_of(d))));
}

static ac_x uniform(ac_lower *L, const drawing *s, const ac_x *w)
{
    ac_lb *b = &L->b;
    const bool wide = s->type == AC_F64;
    const double low = (double)s->a->low, high = (double)s->a->high;
    const double width = wide ? high - low : (double)(s->a->high - s->a->low);
    ac_x v = fraction(L, s->type, w);
    v = width != 1 ? ac_lb_mul(b, v, num(L, v, width)) : v;
    if (low == 0)
        return v;
    const double most = wide ? nextafter(high, low) : (double)nextafterf(s->a->high, s->a->low);
    v = ac_lb_add(b, v, num(L, v, low)); /* rounded, perhaps up to high */
    return high > low ? ac_lb_min(b, num(L, v, most), v) : v;
}

static ac_x scaled(ac_lower *L, const drawing *s, ac_x z)
{
    ac_lb *b = &L->b;
    const double mean = (double)s->a->mean, deviation = (double)s->a->deviation;
    z = deviation != 1 ? ac_lb_mul(b, z, num(L, z, deviation)) : z;
    return mean != 0 ? ac_lb_add(b, z, num(L, z, mean)) : z;
}

/* Two normal numbers of two words, or for f64 of four. */
static void normal(ac_lower *L, const drawing *s, const ac_x *w, ac_x z[2])
{
    ac_lb *b = &L->b;
    const int32_t bits = s->type == AC_F64 ? 53 : 31, each = s->type == AC_F64 ? 2 : 1;
    const ac_x v = upper_bits(b, s->type, w, bits), one = num(L, v, 1);
    const ac_x u = ac_lb_mul(b, ac_lb_add(b, v, one), num(L, v, ldexp(1, -bits)));
    const ac_x r = ac_lb_sqrt(b, ac_lb_mul(b, ac_lo_log(L, u), num(L, v, -2)));
    /* the angle: a quarter turn by the lowest two bits, and the upper ones */
    const ac_x *turn = w + each;
    const ac_x part = ac_lb_sub(b, fraction(L, s->type, turn), num(L, v, 0.5));
    ac_x sine, cosine;
    ac_lo_near_zero(L, ac_lb_mul(b, part, num(L, v, 1.5707963267948966)), &sine, &cosine);
    const ac_x zero = ac_lb_like_int(b, turn[0], 0);
    const ac_x odd = ac_lb_ne(b, ac_lb_and(b, turn[0], ac_lb_like_int(b, turn[0], 1)), zero);
    const ac_x back = ac_lb_ne(b, ac_lb_and(b, turn[0], ac_lb_like_int(b, turn[0], 2)), zero);
    const ac_x length = ac_lb_select(b, back, ac_lb_neg(b, r), r);
    z[0] = ac_lb_mul(b, length, ac_lb_select(b, odd, ac_lb_neg(b, sine), cosine));
    z[1] = ac_lb_mul(b, length, ac_lb_select(b, odd, cosine, sine));
}

static ac_x truncated(ac_lower *L, const drawing *s, const ac_x *w)
{
    static const double INSIDE = 0.95449973610364158, MIDDLE = 1.2099514007568359375; /* erf(sqrt 2); of w */
    ac_lb *b = &L->b;
    const int32_t bits = digits_of(s->type) - 1; /* a bit less: halves are floats */
    const ac_x v = upper_bits(b, s->type, w, bits), half = num(L, v, 0.5);
    const ac_x centred = ac_lb_sub(b, ac_lb_add(b, v, half), num(L, v, ldexp(1, bits - 1)));
    const ac_x x = ac_lb_mul(b, centred, num(L, v, ldexp(INSIDE, 1 - bits))), one = num(L, v, 1);
    const ac_x rest = ac_lb_mul(b, ac_lb_sub(b, one, x), ac_lb_add(b, one, x));
    const ac_x t = ac_lb_sub(b, ac_lb_neg(b, ac_lo_log(L, rest)), num(L, v, MIDDLE));
    const ac_x p =
        is_wide(L, t)
            ? POLY(t, 1.6681679066392191, 0.35257415156881036, 0.0039369285367361179, -0.0032191388060095545,
                   0.00019407433598513074, 4.5760032733599949e-5, -7.0029554407064973e-6, -4.999552779711605e-7,
                   1.8076423658763675e-7, -1.9448891518646441e-10, -3.9618404869568201e-9, 2.4017206926256517e-10,
                   7.4341719560046716e-11, -9.7101089584930781e-12, -1.0589859695900379e-12, 2.4969213913107608e-13)
            : POLY(t, 1.6681679005531403, 0.35257415155250564, 0.0039370617019612925, -0.0032191384574298567,
                   0.00019361704650159967, 4.5758983781621547e-5, -6.4962940658124139e-6, -4.9920406649194619e-7);
    return within(L, ac_lb_mul(b, x, p), -2, 2);
}

/* ------------------------------------------------------------------ blocks */

static void values_of(ac_lower *L, const drawing *s, const ac_x *w, ac_x *v)
{
    ac_lb *b = &L->b;
    const int64_t words = WORDS / s->each;
    const bool pairs = s->a->kind == AC_W_NORMAL;
    for (int64_t k = 0; k < s->each; k += pairs ? 2 : 1) {
        const ac_x *from = w + k * words;
        if (!ac_dtype_is_float(s->type)) {
            v[k] = ac_lb_bitcast(b, words == 2 ? both_words(b, from) : from[0], s->type);
        } else if (pairs) {
            normal(L, s, from, v + k);
            v[k] = scaled(L, s, v[k]);
            v[k + 1] = scaled(L, s, v[k + 1]);
        } else {
            v[k] = s->a->kind == AC_W_UNIFORM ? uniform(L, s, from) : scaled(L, s, truncated(L, s, from));
        }
    }
}

/* Elements of a block, `n` of them. */
static void put_block(ac_lower *L, const drawing *s, ac_x block, int64_t n)
{
    ac_lb *b = &L->b;
    ac_x w[WORDS], v[WORDS];
    make_block(L, &s->random, block, w);
    values_of(L, s, w, v);
    for (int64_t k = 0; k < n; k++)
        ac_lb_store(b, s->y, ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, s->each)), ac_lb_i32(b, k)), v[k]);
}

int ac_lo_random(ac_lower *L)
{
    ac_lb *b = &L->b;
    const ac_tensor *y = L->node->out[0];
    const int64_t n = ac_tensor_count(y);
    const bool exact = L->exact;
    drawing s = {.a = &L->node->attrs.random, .type = y->dtype, .each = ac_dtype_bits(y->dtype) == 64 ? 2 : WORDS};
    const int32_t numbers = ac_lo_operand(L, L->node->in[0]);
    s.y = ac_lo_result_buf(L);
    if (!n)
        return AC_OK;
    L->exact = true;
    s.random = open_philox(L, numbers, s.a->stream);
    if (n >= s.each) {
        put_block(L, &s, ac_lb_for_n(b, "block", n / s.each), s.each);
        ac_lb_end(b);
    }
    if (n % s.each)
        put_block(L, &s, ac_lb_i32(b, n / s.each), n % s.each);
    L->exact = exact;
    return AC_OK;
}

/* ------------------------------------------------------------------ dropout: element e stays by word e mod 4 */

typedef struct dropout {
    int32_t x, y; /* buffers */
    philox random;
    ac_x least, factor; /* the limit of a word that stays; the factor of its element */
} dropout;

/* Elements of a block, `n` of them. */
static void drop_block(ac_lower *L, const dropout *d, ac_x block, int64_t n)
{
    ac_lb *b = &L->b;
    ac_x word[WORDS];
    make_block(L, &d->random, block, word);
    for (int64_t k = 0; k < n; k++) {
        const ac_x at = ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, WORDS)), ac_lb_i32(b, k));
        const ac_x v = ac_lb_mul(b, ac_lb_load(b, d->x, at, 1), d->factor);
        ac_lb_store(b, d->y, at, ac_lb_select(b, ac_lb_ge(b, word[k], d->least), v, ac_lb_like(b, v, 0)));
    }
}

int ac_lo_dropout(ac_lower *L)
{
    ac_lb *b = &L->b;
    ac_tensor *x = L->node->in[0];
    const int64_t n = ac_tensor_count(x);
    const double ratio = (double)L->node->attrs.dropout.ratio;
    if (!ac_mp_real(x))
        return ac_lower_refuse(L, "dropout of %s: f32 and f64 are supported", ac_dtype_name(x->dtype));
    dropout d = {.x = ac_lo_operand(L, x)};
    const int32_t numbers = ac_lo_operand(L, L->node->in[1]);
    d.y = ac_lo_result_buf(L);
    if (!n)
        return AC_OK;
    d.random = open_philox(L, numbers, L->node->attrs.dropout.stream);
    d.least = ac_lb_int(b, AC_U32, (int64_t)floor(ratio * 4294967296.0));
    d.factor = ac_lb_num(b, x->dtype, 1 / (1 - ratio));
    if (n >= WORDS) {
        drop_block(L, &d, ac_lb_for_n(b, "block", n / WORDS), WORDS);
        ac_lb_end(b);
    }
    if (n % WORDS)
        drop_block(L, &d, ac_lb_i32(b, n / WORDS), n % WORDS);
    return AC_OK;
}
