/* words.c - matches the loops over the channels of four pixels, two in a word; see words.h. */
#include "codegen/dsp/words.h"

#include "codegen/dsp/match.h"
#include "ir/loop/builder.h"

enum { CHANNELS = 4 };

/* The sum of a row and a channel: acc[row * 4 + channel]. */
static bool is_sum(const ac_matcher *s, ac_x x)
{
    if (!ac_match_is(s, x, AC_L_LOAD, AC_I32) || ac_match_ins(s, x)->aux != s->r->tile.acc)
        return false;
    const ac_linear at = ac_match_linear(s, ac_match_ins(s, x)->a);
    return !at.by && at.by_c == 1 && at.by_r == CHANNELS && !at.k && !at.pitch && !at.base.n;
}

static bool is_acc(const ac_matcher *s, ac_x x)
{
    ac_rows *r = s->r;
    const ac_ins *i = ac_match_ins(s, x);
    if (is_sum(s, x))
        return r->bias < 0;
    if (!ac_match_is(s, x, AC_L_ADD, AC_I32))
        return false;
    for (int32_t k = 0; k < 2; k++)
        if (is_sum(s, k ? i->b : i->a) && ac_match_load(s, k ? i->a : i->b, &r->bias, 1, 0))
            return r->form.biased = true;
    return false;
}

/* acc * factor * m >> 32; returns acc. */
static ac_x acc_of(const ac_matcher *s, ac_x x)
{
    const ac_x high = ac_match_high(s, x), by = high ? ac_match_times_m(s, high, 0) : 0;
    if (!by)
        return 0;
    const ac_ins *i = ac_match_ins(s, by);
    for (int32_t k = 0; k < 2 && ac_match_is(s, by, AC_L_MUL, AC_I32); k++)
        if (is_acc(s, k ? i->b : i->a)) {
            s->r->number = k ? i->a : i->b;
            return k ? i->b : i->a;
        }
    return 0;
}

static bool is_term(const ac_matcher *s, ac_x x)
{
    return ac_match_load(s, x, &s->r->m, 2, 1);
}

/* c ^ acc >> 31 */
static bool is_round(const ac_matcher *s, ac_x x, ac_x acc)
{
    const ac_ins *i = ac_match_ins(s, x);
    if (!ac_match_is(s, x, AC_L_XOR, AC_I32))
        return false;
    for (int32_t k = 0; k < 2; k++) {
        const ac_x sign = k ? i->a : i->b;
        if (ac_match_is(s, sign, AC_L_SHR, AC_I32) && ac_match_ins(s, sign)->a == acc &&
            ac_match_int(s, ac_match_ins(s, sign)->b, 31) && is_term(s, k ? i->b : i->a))
            return true;
    }
    return false;
}

/* acc * m + (c ^ acc >> 31) >> 32 */
static bool is_long(const ac_matcher *s, ac_x x)
{
    const ac_x sum = ac_match_high(s, x);
    if (!sum || !ac_match_is(s, sum, AC_L_ADD, AC_I64))
        return false;
    for (int32_t k = 0; k < 2; k++) {
        const ac_ins *i = ac_match_ins(s, sum);
        const ac_x acc = ac_match_times_m(s, k ? i->b : i->a, 0), round = ac_match_widened(s, k ? i->a : i->b);
        if (acc && round && is_acc(s, acc) && is_round(s, round, acc))
            return true;
    }
    return false;
}

/* The terms of a sum of at most three; their number, 0: there are more. */
static int32_t terms_of(const ac_matcher *s, ac_x x, ac_x *term)
{
    enum { MOST = 3 };
    int32_t n = 1;
    term[0] = x;
    for (int32_t i = 0; i < n; i++)
        while (ac_match_is(s, term[i], AC_L_ADD, AC_I32) && ac_match_ins(s, term[i])->op == AC_L_ADD) {
            if (n == MOST)
                return 0;
            const ac_ins *add = ac_match_ins(s, term[i]);
            term[i] = add->a;
            term[n++] = add->b;
        }
    return n;
}

/* v: the value that is stored. */
static bool is_result(const ac_matcher *s, ac_x v)
{
    ac_rows *r = s->r;
    if (!ac_match_is(s, v, AC_L_SATCAST, AC_I8) || !ac_match_is(s, ac_match_ins(s, v)->a, AC_L_SHR, AC_I32))
        return false;
    const ac_ins *shr = ac_match_ins(s, ac_match_ins(s, v)->a);
    ac_x term[3], acc = 0, rest[2] = {0};
    const int32_t n = terms_of(s, shr->a, term);
    int32_t others = 0;
    r->shift = shr->b;
    for (int32_t i = 0; i < n && n == 2; i++)
        if (is_long(s, term[i])) {
            r->form.is_signed = r->form.is_long = true;
            r->term = term[1 - i];
            return true;
        }
    for (int32_t i = 0; i < n; i++) {
        const ac_x found = acc ? 0 : acc_of(s, term[i]);
        if (found)
            acc = found;
        else if (others < 2)
            rest[others++] = term[i];
        else
            return false;
    }
    if (!acc || !others)
        return false;
    if (others == 1 && is_term(s, rest[0]))
        return true;
    for (int32_t i = 0; i < others; i++)
        if (is_round(s, rest[i], acc)) {
            r->form.is_signed = true;
            r->term = rest[1 - i];
            return true;
        }
    return false;
}

static bool take_store(const ac_matcher *s, const ac_ins *store)
{
    ac_rows *r = s->r;
    const ac_linear at = ac_match_linear(s, store->a);
    r->y = store->aux;
    r->place[0] = at.base;
    r->first[0] = at.k;
    r->pitch = at.pitch;
    r->pitch_number = at.by_r;
    return s->fn->buf.item[r->y].dtype == AC_I8 && at.by == 1 && at.by_c == 1 && !at.by_r != !at.pitch &&
           is_result(s, store->b);
}

static bool take_tile(const ac_matcher *s, const ac_target *t, const ac_ins *i)
{
    ac_rows *r = s->r;
    r->tile = ac_ins_tile(i);
    r->x_at = i->a;
    r->steps = i->c;
    const ac_linear w = ac_match_linear(s, i->b);
    const ac_ins *steps = ac_match_ins(s, i->c), *at = ac_match_ins(s, i->b);
    if (!ac_words_has(t, &r->tile))
        return false;
    if (steps->op == AC_L_CONST && !w.base.n)
        return !w.k && w.by == 4 * steps->k.i;
    const ac_x by = at->op != AC_L_MUL ? 0 : at->a == s->loop ? at->b : at->b == s->loop ? at->a : 0;
    return by && ac_match_is(s, by, AC_L_MUL, AC_I32) &&
           ((ac_match_same(s, ac_match_ins(s, by)->a, i->c) && ac_match_int(s, ac_match_ins(s, by)->b, 4)) ||
            (ac_match_same(s, ac_match_ins(s, by)->b, i->c) && ac_match_int(s, ac_match_ins(s, by)->a, 4)));
}

/* The tile, two loops, one store. */
static bool take_body(ac_matcher *s, const ac_target *t)
{
    ac_rows *r = s->r;
    int32_t open = 1;
    for (ac_x x = s->loop + 1; open; x++) {
        const ac_ins *i = ac_match_ins(s, x);
        const ac_lop op = (ac_lop)i->op;
        if (op == AC_L_END) {
            open--;
            r->end = x;
        } else if (op == AC_L_TILE) {
            if (s->tile || !take_tile(s, t, i))
                return false;
            s->tile = x;
        } else if (op == AC_L_FOR) {
            if (!s->tile || s->row || i->k.i != 1 ||
                (!s->channel && (!ac_match_int(s, i->a, 0) || !ac_match_int(s, i->b, CHANNELS))))
                return false;
            *(s->channel ? &s->row : &s->channel) = x;
            open++;
        } else if (op == AC_L_STORE) {
            if (open != 3 || s->stored++ || !take_store(s, i))
                return false;
        } else if (ac_lop_class(op) != 'V') {
            return false;
        }
    }
    return s->stored == 1;
}

static bool find_words(ac_region *region, const ac_target *t, const ac_loop_fn *fn, ac_x loop, ac_rows *r)
{
    const ac_ins *f = &fn->code.item[loop];
    *r = (ac_rows){.m = -1, .bias = -1, .channels = f->b};
    ac_matcher s = {.fn = fn, .loop = loop, .r = r};
    if (f->op != AC_L_FOR || f->k.i != CHANNELS || !ac_match_int(&s, f->a, 0) || !take_body(&s, t) || r->m < 0)
        return false;
    r->begin = ac_match_ins(&s, s.row)->a;
    r->last = ac_match_ins(&s, s.row)->b;
    ac_x value[AC_ROWS_VALUES];
    bool ok = true;
    r->needed = AC_NEW_N(region, bool, fn->code.n);
    for (int32_t i = ac_rows_values(r, value) - 1; i >= 0; i--)
        ok &= ac_match_need(&s, value[i]);
    return ok;
}

bool ac_rows_find(ac_region *region, const ac_target *t, const ac_loop_fn *fn, ac_x loop, ac_rows *r)
{
    if (!t->firmware)
        return false;
    return t->dsp ? ac_pairs_find(region, fn, loop, r) : find_words(region, t, fn, loop, r);
}
