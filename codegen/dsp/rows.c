/* rows.c - matches the loop over the channels of two pixels, expression by expression; see rows.h. */
#include "codegen/dsp/rows.h"

#include "ir/loop/builder.h"

enum { PIXELS = 2, CHANNELS = 4 };

typedef struct matcher {
    const ac_loop_fn *fn;
    ac_x loop;
    ac_rows *r;
    ac_x tile;
    int32_t stored; /* bits: pixel * 4 + channel */
} matcher;

static const ac_ins *ins(const matcher *s, ac_x x)
{
    return &s->fn->code.item[x];
}

static bool is(const matcher *s, ac_x x, ac_lop op, ac_dtype d)
{
    return x > 0 && ins(s, x)->op == op && ins(s, x)->dtype == d && ins(s, x)->lanes == 1;
}

static bool is_int(const matcher *s, ac_x x, int64_t v)
{
    return ins(s, x)->op == AC_L_CONST && ins(s, x)->lanes == 1 && ins(s, x)->k.i == v;
}

static bool same(const matcher *s, ac_x a, ac_x b)
{
    return a == b || (a > 0 && b > 0 && ins(s, a)->dtype == ins(s, b)->dtype && ins(s, b)->op == AC_L_CONST &&
                      is_int(s, a, ins(s, b)->k.i));
}

/* Takes x as the value at *p; the first one decides. */
static bool agree(const matcher *s, ac_x *p, ac_x x)
{
    if (!*p)
        *p = x;
    return same(s, *p, x);
}

/* x = loop variable * by + k + base */
typedef struct linear {
    int64_t by, k;
    ac_rows_sum base;
} linear;

/* *to + v, or - v; false: too many terms */
static bool add(linear *to, const linear *v, bool minus)
{
    ac_rows_sum *sum = &to->base;
    to->by += minus ? -v->by : v->by;
    to->k += minus ? -v->k : v->k;
    for (int32_t i = 0; i < v->base.n; i++) {
        if (sum->n == AC_ROWS_TERMS)
            return false;
        sum->term[sum->n] = v->base.term[i];
        sum->minus[sum->n++] = v->base.minus[i] != minus;
    }
    return true;
}

static linear linear_of(const matcher *s, ac_x x)
{
    const ac_ins *i = ins(s, x);
    if (x == s->loop)
        return (linear){.by = 1};
    if (i->op == AC_L_CONST)
        return (linear){.k = i->k.i};
    if (x > s->loop && (i->op == AC_L_ADD || i->op == AC_L_SUB || i->op == AC_L_MUL)) {
        linear a = linear_of(s, i->a), b = linear_of(s, i->b);
        if (i->op != AC_L_MUL) {
            if (add(&a, &b, i->op == AC_L_SUB))
                return a;
        } else if (!a.base.n && !b.base.n && !(a.by && b.by)) {
            return (linear){.by = a.by * b.k + b.by * a.k, .k = a.k * b.k};
        }
    }
    return (linear){.base = {.term = {x}, .n = 1}};
}

static bool same_sum(const matcher *s, const ac_rows_sum *a, const ac_rows_sum *b)
{
    bool equal = a->n == b->n;
    for (int32_t i = 0; equal && i < a->n; i++)
        equal = same(s, a->term[i], b->term[i]) && a->minus[i] == b->minus[i];
    return equal;
}

/* Adds the instructions of the loop that x needs; false: one of them depends on the loop variable, or may not be
 * computed before the loop. */
static bool need(const matcher *s, ac_x x)
{
    const ac_ins *i = ins(s, x);
    if (x < s->loop || !x)
        return true;
    if (x == s->loop || ac_lop_class((ac_lop)i->op) != 'V' || i->op == AC_L_LOAD || i->op == AC_L_GET)
        return false;
    s->r->needed[x] = true;
    return need(s, i->a) && need(s, i->b) && need(s, i->c);
}

/* ------------------------------------------------------------------ one result */

static bool loads(const matcher *s, ac_x x, int32_t *buf, int64_t by, int64_t k)
{
    if (!is(s, x, AC_L_LOAD, AC_I32) || !ac_buf_is_fixed(&s->fn->buf.item[ins(s, x)->aux]))
        return false;
    const linear at = linear_of(s, ins(s, x)->a);
    if (at.base.n || at.by != by || at.k != k || (*buf >= 0 && *buf != ins(s, x)->aux))
        return false;
    *buf = ins(s, x)->aux;
    return true;
}

static bool is_sum(const matcher *s, ac_x x, int32_t pixel, int32_t c)
{
    return is(s, x, AC_L_LOAD, AC_I32) && x > s->tile && ins(s, x)->aux == s->r->tile.acc &&
           is_int(s, ins(s, x)->a, c * PIXELS + pixel);
}

/* The sum of a channel: even ones as they are, odd ones (odd - even) >> 8. */
static bool is_channel(const matcher *s, ac_x x, int32_t pixel, int32_t c)
{
    if (c % 2 == 0)
        return is_sum(s, x, pixel, c);
    if (!is(s, x, AC_L_SHR, AC_I32) || !is_int(s, ins(s, x)->b, 8))
        return false;
    const ac_x sub = ins(s, x)->a;
    return is(s, sub, AC_L_SUB, AC_I32) && is_sum(s, ins(s, sub)->a, pixel, c) &&
           is_sum(s, ins(s, sub)->b, pixel, c - 1);
}

static bool is_acc(const matcher *s, ac_x x, int32_t pixel, int32_t c)
{
    ac_rows *r = s->r;
    if (!s->stored)
        r->form.biased = is(s, x, AC_L_ADD, AC_I32);
    if (!r->form.biased)
        return is_channel(s, x, pixel, c);
    if (!is(s, x, AC_L_ADD, AC_I32))
        return false;
    const ac_ins *add = ins(s, x);
    for (int32_t k = 0; k < 2; k++)
        if (is_channel(s, k ? add->b : add->a, pixel, c) && loads(s, k ? add->a : add->b, &r->bias, 1, c))
            return true;
    return false;
}

static ac_x widened(const matcher *s, ac_x x)
{
    return is(s, x, AC_L_CAST, AC_I64) && ins(s, ins(s, x)->a)->dtype == AC_I32 ? ins(s, x)->a : 0;
}

/* The high word of x, an i64; 0: none */
static ac_x high_of(const matcher *s, ac_x x)
{
    if (!is(s, x, AC_L_CAST, AC_I32) || !is(s, ins(s, x)->a, AC_L_SHR, AC_I64))
        return 0;
    const ac_ins *shr = ins(s, ins(s, x)->a);
    return is_int(s, shr->b, 32) ? shr->a : 0;
}

/* x = by * m, m of channel c; returns by. */
static ac_x times_m(const matcher *s, ac_x x, int32_t c)
{
    if (!is(s, x, AC_L_MUL, AC_I64))
        return 0;
    const ac_x a = widened(s, ins(s, x)->a), b = widened(s, ins(s, x)->b);
    if (a && b && loads(s, b, &s->r->m, 2, 2 * c))
        return a;
    return a && b && loads(s, a, &s->r->m, 2, 2 * c) ? b : 0;
}

/* Returns the value that x is k times, 0: x is not such a product. Of constants, which are folded, *number is it. */
static ac_x other_factor(const matcher *s, ac_x x, int64_t k, int64_t *number)
{
    const ac_ins *i = ins(s, x);
    *number = 0;
    if (i->op == AC_L_CONST && i->k.i % k == 0) {
        *number = i->k.i / k;
        return x;
    }
    if (!is(s, x, AC_L_MUL, AC_I32))
        return 0;
    return is_int(s, i->b, k) ? i->a : is_int(s, i->a, k) ? i->b : 0;
}

static bool is_plain(const matcher *s, ac_x high, ac_x c_word, int32_t pixel, int32_t c)
{
    ac_rows *r = s->r;
    const ac_x by = high ? times_m(s, high, c) : 0;
    if (!by || !is(s, by, AC_L_MUL, AC_I32) || !loads(s, c_word, &r->m, 2, 2 * c + 1))
        return false;
    for (int32_t k = 0; k < 2; k++) {
        const ac_x acc = k ? ins(s, by)->b : ins(s, by)->a, factor = k ? ins(s, by)->a : ins(s, by)->b;
        if (!is_acc(s, acc, pixel, c))
            continue;
        const ac_x part = other_factor(s, factor, 256, &r->factor);
        if (!s->stored)
            r->form.split = part != 0;
        return r->form.split == (part != 0) && agree(s, &r->number, part ? part : factor);
    }
    return false;
}

/* c ^ acc >> 31 */
static bool is_round(const matcher *s, ac_x x, ac_x acc, int32_t c)
{
    x = widened(s, x);
    if (!x || !is(s, x, AC_L_XOR, AC_I32))
        return false;
    for (int32_t k = 0; k < 2; k++) {
        const ac_x word = k ? ins(s, x)->b : ins(s, x)->a, sign = k ? ins(s, x)->a : ins(s, x)->b;
        if (is(s, sign, AC_L_SHR, AC_I32) && ins(s, sign)->a == acc && is_int(s, ins(s, sign)->b, 31) &&
            loads(s, word, &s->r->m, 2, 2 * c + 1))
            return true;
    }
    return false;
}

static bool is_by_sign(const matcher *s, ac_x high, ac_x k_word, int32_t pixel, int32_t c)
{
    if (!high || !is(s, high, AC_L_ADD, AC_I64))
        return false;
    for (int32_t k = 0; k < 2; k++) {
        const ac_x product = k ? ins(s, high)->b : ins(s, high)->a, round = k ? ins(s, high)->a : ins(s, high)->b;
        const ac_x acc = times_m(s, product, c);
        if (acc && is_round(s, round, acc, c))
            return is_acc(s, acc, pixel, c) && agree(s, &s->r->number, k_word);
    }
    return false;
}

/* v: the value stored for channel c of the pixel. */
static bool is_result(matcher *s, ac_x v, int32_t pixel, int32_t c)
{
    ac_rows *r = s->r;
    if (!is(s, v, AC_L_SATCAST, AC_I8) || !is(s, ins(s, v)->a, AC_L_SHR, AC_I32))
        return false;
    const ac_ins *shr = ins(s, ins(s, v)->a);
    if (!is(s, shr->a, AC_L_ADD, AC_I32) || !agree(s, &r->shift, shr->b))
        return false;
    const ac_ins *add = ins(s, shr->a);
    for (int32_t k = 0; k < 2; k++) {
        const ac_x high = high_of(s, k ? add->b : add->a), word = k ? add->a : add->b;
        if (!high)
            continue;
        const bool by_sign = ins(s, high)->op == AC_L_ADD;
        if (!s->stored)
            r->form.is_signed = by_sign;
        return by_sign == r->form.is_signed && (by_sign ? is_by_sign : is_plain)(s, high, word, pixel, c);
    }
    return false;
}

static bool take_store(matcher *s, const ac_ins *store, int32_t pixel)
{
    ac_rows *r = s->r;
    const linear at = linear_of(s, store->a);
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

static bool take_tile(const matcher *s, const ac_ins *i)
{
    ac_rows *r = s->r;
    if (r->steps)
        return false;
    r->tile = ac_ins_tile(i);
    r->x_at = i->a;
    r->steps = i->c;
    const ac_ins *w = ins(s, i->b);
    if (r->tile.form != AC_TILE_PAIRS || r->tile.rows != PIXELS || r->tile.channels != CHANNELS || w->op != AC_L_MUL ||
        (w->a != s->loop && w->b != s->loop))
        return false;
    int64_t steps;
    const ac_x of = other_factor(s, w->a == s->loop ? w->b : w->a, 8, &steps);
    return of && (steps ? is_int(s, r->steps, steps) : same(s, of, r->steps));
}

/* Everything with an effect is the tile, then the stores. */
static bool take_body(matcher *s)
{
    ac_rows *r = s->r;
    int32_t open = 1, pixel = 0;
    ac_x x = s->loop + 1;
    for (; open; x++) {
        const ac_ins *i = ins(s, x);
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

bool ac_rows_find(ac_region *region, const ac_loop_fn *fn, ac_x loop, ac_rows *r)
{
    const ac_ins *f = &fn->code.item[loop];
    *r = (ac_rows){.m = -1, .bias = -1, .channels = f->b};
    matcher s = {.fn = fn, .loop = loop, .r = r};
    if (f->op != AC_L_FOR || f->k.i != CHANNELS || !is_int(&s, f->a, 0) || !take_body(&s) || r->m < 0)
        return false;
    if (!r->form.is_signed && ins(&s, r->shift)->op == AC_L_CONST) {
        r->form.shift = (int32_t)ins(&s, r->shift)->k.i;
        r->shift = 0;
    }
    ac_x value[AC_ROWS_VALUES];
    bool ok = r->form.shift <= 31;
    r->needed = AC_NEW_N(region, bool, fn->code.n);
    for (int32_t i = ac_rows_values(r, value) - 1; i >= 0; i--)
        ok &= need(&s, value[i]);
    return ok;
}

int32_t ac_rows_values(const ac_rows *r, ac_x *value)
{
    const ac_x all[] = {r->x_at, r->steps, r->channels, r->more, r->number, r->shift};
    int32_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            value[n++] = all[i];
    for (int32_t pixel = 0; pixel < PIXELS; pixel++)
        for (int32_t i = 0; i < r->place[pixel].n; i++)
            value[n++] = r->place[pixel].term[i];
    return n;
}
