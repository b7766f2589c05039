/* dropout.c - lowers DROPOUT: sets elements to zero with a given probability and scales the others up: y = 0 or x / (1
 * - ratio).
 *
 * The choice comes from a counter-based generator: element e gets word e mod 4 of Philox 4x32-10 with the key `seed`
 * and the counter (e / 4, stream, step, micro-batch), and stays if that is at least ratio * 2^32. So the bits do not
 * depend on the order of evaluation, and the gradient recomputes them instead of storing a mask. Source: Salmon et al.,
 * Parallel random numbers: as easy as 1, 2, 3 (2011). */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"

#include <math.h>

enum { ROUNDS = 10, WORDS = 4 };

typedef struct dropout {
    int32_t x, y;       /* buffers */
    ac_x count[WORDS];  /* the counter: words 1 to 3 */
    ac_x key[2];        /* of the first round */
    ac_x least, factor; /* the limit of a word that stays; the factor of its element */
} dropout;

static ac_x word(ac_lb *b, int64_t v)
{
    return ac_lb_int(b, AC_U32, v);
}

/* The upper and the lower half of v * by. */
static void halves(ac_lb *b, ac_x v, int64_t by, ac_x *high, ac_x *low)
{
    const ac_x wide = ac_lb_cast(b, v, AC_U64), whole = ac_lb_mul_wrap(b, wide, ac_lb_int(b, AC_U64, by));
    *high = ac_lb_cast(b, ac_lb_shr(b, whole, ac_lb_int(b, AC_U64, 32)), AC_U32);
    *low = ac_lb_mul_wrap(b, v, word(b, by));
}

static void philox(ac_lb *b, const dropout *d, ac_x block, ac_x *c)
{
    ac_x key[2] = {d->key[0], d->key[1]};
    c[0] = ac_lb_bitcast(b, block, AC_U32);
    for (int k = 1; k < WORDS; k++)
        c[k] = d->count[k];
    for (int r = 0; r < ROUNDS; r++) {
        ac_x high0, low0, high1, low1;
        halves(b, c[0], 0xD2511F53, &high0, &low0);
        halves(b, c[2], 0xCD9E8D57, &high1, &low1);
        c[0] = ac_lb_xor(b, ac_lb_xor(b, high1, c[1]), key[0]);
        c[1] = low1;
        c[2] = ac_lb_xor(b, ac_lb_xor(b, high0, c[3]), key[1]);
        c[3] = low0;
        key[0] = ac_lb_add_wrap(b, key[0], word(b, 0x9E3779B9));
        key[1] = ac_lb_add_wrap(b, key[1], word(b, 0xBB67AE85));
    }
}

/* Elements of a block, `n` of them. */
static void put_block(ac_lb *b, const dropout *d, ac_x block, int64_t n)
{
    ac_x c[WORDS];
    philox(b, d, block, c);
    for (int64_t k = 0; k < n; k++) {
        const ac_x at = ac_lb_add(b, ac_lb_mul(b, block, ac_lb_i32(b, WORDS)), ac_lb_i32(b, k));
        const ac_x v = ac_lb_mul(b, ac_lb_load(b, d->x, at, 1), d->factor);
        ac_lb_store(b, d->y, at, ac_lb_select(b, ac_lb_ge(b, c[k], d->least), v, ac_lb_like(b, v, 0)));
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
    for (int k = 0; k < WORDS; k++) {
        const ac_x v = ac_lb_bitcast(b, ac_lb_load(b, numbers, ac_lb_i32(b, k), 1), AC_U32);
        *(k < 2 ? &d.key[k] : &d.count[k]) = v;
    }
    d.count[1] = ac_lb_bitcast(b, ac_lb_i32(b, L->node->attrs.dropout.stream), AC_U32);
    d.least = word(b, (int64_t)floor(ratio * 4294967296.0));
    d.factor = ac_lb_num(b, x->dtype, 1 / (1 - ratio));
    if (n >= WORDS) {
        put_block(b, &d, ac_lb_for_n(b, "block", n / WORDS), WORDS);
        ac_lb_end(b);
    }
    if (n % WORDS)
        put_block(b, &d, ac_lb_i32(b, n / WORDS), n % WORDS);
    return AC_OK;
}
