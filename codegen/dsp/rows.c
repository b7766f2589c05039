/* rows.c - matches the loop over the channels of two pixels, expression by expression; see rows.h. */
#include "codegen/dsp/rows.h"

#include "codegen/dsp/match.h"
#include "ir/loop/builder.h"

enum { PIXELS = 2, CHANNELS = 4 };

static bool same_sum(const ac_matcher *s, const ac_rows_sum *a, const ac_rows_sum *b)
{
    bool equal = a->n == b->n;
    for (int32_t i = 0; equal && i < a->n; i++)
        equal = ac_match_same(s, a->term[i], b->term[i]) && a->minus[i] == b->minus[i];
    return equal;
}

/* ------------------------------------------------------------------ one result */

static bool is_sum(const ac_matcher *s, ac_x x, int32_t pixel, int32_t c)
{
    return ac_match_is(s, x, AC_L_LOAD, AC_I32) && x > s->tile && ac_match_ins(s, x)->aux == s->r->tile.acc &&
           ac_match_int(s, ac_match_ins(s, x)->a, c * PIXELS + pixel);
}

/* The sum of a channel: even ones as they are, odd ones (odd - even) >> 8. */
static bool is_channel(const ac_matcher *s, ac_x x, int32_t pixel, int32_t c)
{
    if (c % 2 == 0)
        return is_sum(s, x, pixel, c);
    if (!ac_match_is(s, x, AC_L_SHR, AC_I32) || !ac_match_int(s, ac_match_ins(s, x)->b, 8))
        return false;
    const ac_x sub = ac_match_ins(s, x)->a;
    return ac_match_is(s, sub, AC_L_SUB, AC_I32) && is_sum(s, ac_match_ins(s, sub)->a, pixel, c) &&
           is_sum(s, ac_match_ins(s, sub)->b, pixel, c - 1);
}

static bool is_acc(const ac_matcher *s, ac_x x, int32_t pixel, int32_t c)
{
    ac_rows *r = s->r;
    if (!s->stored)
        r->form.biased = ac_match_is(s, x, AC_L_ADD, AC_I32);
    if (!r->form.biased)
        return is_channel(s, x, pixel, c);
    if (!ac_match_is(s, x, AC_L_ADD, AC_I32))
        return false;
    const ac_ins *add = ac_match_ins(s, x);
    for (int32_t k = 0; k < 2; k++)
        if (is_channel(s, k ? add->b : add->a, pixel, c) && ac_match_load(s, k ? add->a : add->b, &r->bias, 1, c))
            return true;
    return false;
}

/* Returns the value that x is k times, 0: x is not such a product. Of constants, which are folded, *number is it. */
static ac_x other_factor(const ac_matcher *s, ac_x x, int64_t k, int64_t *number)
{
    const ac_ins *i = ac_match_ins(s, x);
    *number = 0;
    if (i->op == AC_L_CONST && i->k.i % k == 0) {
        *number = i->k.i / k;
        return x;
    }
    if (!ac_match_is(s, x, AC_L_MUL, AC_I32))
        return 0;
    return ac_match_int(s, i->b, k) ? i->a : ac_match_int(s, i->a, k) ? i->b : 0;
}

static bool is_plain(const ac_matcher *s, ac_x high, ac_x c_word, int32_t pixel, int32_t c)
{
    ac_rows *r = s->r;
    const ac_x by = high ? ac_match_times_m(s, high, c) : 0;
    if (!by || !ac_match_is(s, by, AC_L_MUL, AC_I32) || !ac_match_load(s, c_word, &r->m, 2, 2 * c + 1))
        return false;
    for (int32_t k = 0; k < 2; k++) {
        const ac_x acc = k ? ac_match_ins(s, by)->b : ac_match_ins(s, by)->a,
                   factor = k ? ac_match_ins(s, by)->a : ac_match_ins(s, by)->b;
        if (!is_acc(s, acc, pixel, c))
            continue;
        const ac_x part = other_factor(s, factor, 256, &r->factor);
        if (!s->stored)
            r->form.split = part != 0;
        return r->form.split == (part != 0) && ac_match_agree(s, &r->number, part ? part : factor);
    }
    return false;
}

/* c ^ acc >> 31 */
static bool is_round(const ac_matcher *s, ac_x x, ac_x acc, int32_t c)
{
    x = ac_match_widened(s, x);
    if (!x || !ac_match_is(s, x, AC_L_XOR, AC_I32))
        return false;
    for (int32_t k = 0; k < 2; k++) {
        const ac_x word = k ? ac_match_ins(s, x)->b : ac_match_ins(s, x)->a,
                   sign = k ? ac_match_ins(s, x)->a : ac_match_ins(s, x)->b;
        if (ac_match_is(s, sign, AC_L_SHR, AC_I32) && ac_match_ins(s, sign)->a == acc &&
            ac_match_int(s, ac_match_ins(s, sign)->b, 31) && ac_match_load(s, word, &s->r->m, 2, 2 * c + 1))
            return true;
    }
    return false;
}

static bool is_by_sign(const ac_matcher *s, ac_x high, ac_x k_word, int32_t pixel, int32_t c)
{
    if (!high || !ac_match_is(s, high, AC_L_ADD, AC_I64))
        return false;
    for (int32_t k = 0; k < 2; k++) {
        const ac_x product = k ? ac_match_ins(s, high)->b : ac_match_ins(s, high)->a,
                   round = k ? ac_match_ins(s, high)->a : ac_match_ins(s, high)->b;
        const ac_x acc = ac_match_times_m(s, product, c);
        if (acc && is_round(s, round, acc, c))
            return is_acc(s, acc, pixel, c) && ac_match_agree(s, &s->r->number, k_word);
    }
    return false;
}

/* v: the value stored for channel c of the pixel. */
static bool is_result(ac_matcher *s, ac_x v, int32_t pixel, int32_t c)
{
    ac_rows *r = s->r;
    if (!ac_match_is(s, v, AC_L_SATCAST, AC_I8) || !ac_match_is(s, ac_match_ins(s, v)->a, AC_L_SHR, AC_I32))
        return false;
    const ac_ins *shr = ac_match_ins(s, ac_match_ins(s, v)->a);
    if (!ac_match_is(s, shr->a, AC_L_ADD, AC_I32) || !ac_match_agree(s, &r->shift, shr->b))
        return false;
    const ac_ins *add = ac_match_ins(s, shr->a);
    for (int32_t k = 0; k < 2; k++) {
        const ac_x high = ac_match_high(s, k ? add->b : add->a), word = k ? add->a : add->b;
        if (!high)
            continue;
        const bool by_sign = ac_match_ins(s, high)->op == AC_L_ADD;
        if (!s->stored)
            r->form.is_signed = by_sign;
        return by_sign == r->form.is_signed && (by_sign ? is_by_sign : is_plain)(s, high, word, pixel, c);
    }
    return false;
}

static bool take_store(ac_matcher *s, const ac_ins *store, int32_t pixel)
{
    ac_rows *r = s->r;
    const ac_linear at = ac_match_linear(s, store->a);
    if (!s->stored)
        r->y = store->aux;
    if (!(s->stored >> pixel * CHANNELS)) {
        r->place[pixel] = at.base;
        r->first[pixel] = at.k;
    }
    const int64_t c = at.k - r->first[pixel];
    if (store->aux != r->y || s->fn->buf.item[r->y].dtype != AC_I8 || at.by != 1 || c < 0 || c >= CHANNELS ||
        s->stored >> (pixel * CHANNELS + c) & 1 || !same_sum(s, &r->place[pixel], &at.base) ||
        !is_result(s, store->b, pixel, (int32_t)c))
        return false;
    s->stored |= 1 << (pixel * CHANNELS + c);
    return true;
}

/* ------------------------------------------------------------------ the loop */

static bool take_tile(const ac_matcher *s, const ac_ins *i)
{
    ac_rows *r = s->r;
    if (r->steps)
        return false;
    r->tile = ac_ins_tile(i);
    r->x_at = i->a;
    r->steps = i->c;
    const ac_ins *w = ac_match_ins(s, i->b);
    if (r->tile.form != AC_TILE_PAIRS || r->tile.rows != PIXELS || r->tile.channels != CHANNELS || w->op != AC_L_MUL ||
        (w->a != s->loop && w->b != s->loop))
        return false;
    int64_t steps;
    const ac_x of = other_factor(s, w->a == s->loop ? w->b : w->a, 8, &steps);
    return of && (steps ? ac_match_int(s, r->steps, steps) : ac_match_same(s, of, r->steps));
}

/* Everything with an effect is the tile, then the stores. */
static bool take_body(ac_matcher *s)
{
    ac_rows *r = s->r;
    int32_t open = 1, pixel = 0;
    ac_x x = s->loop + 1;
    for (; open; x++) {
        const ac_ins *i = ac_match_ins(s, x);
        if (i->op == AC_L_END) {
            open--;
            pixel = 2; /* no store follows */
        } else if (i->op == AC_L_IF) {
            if (pixel || r->more || s->stored != 15)
                return false;
            pixel = 1;
            open++;
            r->more = i->a;
        } else if (i->op == AC_L_TILE) {
            if (pixel || !take_tile(s, i))
                return false;
            s->tile = x;
        } else if (i->op == AC_L_STORE) {
            pixel = !pixel && s->stored == 15 ? 1 : pixel;
            if (!r->steps || pixel > 1 || !take_store(s, i, pixel))
                return false;
        } else if (ac_lop_class((ac_lop)i->op) != 'V') {
            return false;
        }
    }
    r->end = x - 1;
    return s->stored == 255;
}

bool ac_pairs_find(ac_region *region, const ac_loop_fn *fn, ac_x loop, ac_rows *r)
{
    const ac_ins *f = &fn->code.item[loop];
    *r = (ac_rows){.m = -1, .bias = -1, .channels = f->b};
    ac_matcher s = {.fn = fn, .loop = loop, .r = r};
    if (f->op != AC_L_FOR || f->k.i != CHANNELS || !ac_match_int(&s, f->a, 0) || !take_body(&s) || r->m < 0)
        return false;
    if (!r->form.is_signed && ac_match_ins(&s, r->shift)->op == AC_L_CONST) {
        r->form.shift = (int32_t)ac_match_ins(&s, r->shift)->k.i;
        r->shift = 0;
    }
    ac_x value[AC_ROWS_VALUES];
    bool ok = r->form.shift <= 31;
    r->needed = AC_NEW_N(region, bool, fn->code.n);
    for (int32_t i = ac_rows_values(r, value) - 1; i >= 0; i--)
        ok &= ac_match_need(&s, value[i]);
    return ok;
}
