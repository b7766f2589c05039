/* spot.c - sums of terms, and their quotients and remainders; see spot.h. */
#include "ir/lower/recipe/spot.h"

static void add_term(ac_spot *s, struct ac_spot_term t)
{
    for (int32_t i = 0; i < s->n; i++)
        if (s->term[i].value == t.value) {
            s->term[i].by += t.by;
            return;
        }
    s->failed |= s->n == AC_SPOT_TERMS;
    if (!s->failed)
        s->term[s->n++] = t;
}

static bool known(const ac_loop_fn *fn, ac_x x, int64_t *v)
{
    const ac_ins *i = &fn->code.item[x];
    *v = i->k.i;
    return i->op == AC_L_CONST && i->dtype == AC_I32;
}

/* The variable of a loop with known bounds: its first value, and a term for the steps from there. */
static bool loop_term(ac_lb *b, const ac_loop_fn *fn, const ac_x *map, ac_x x, int64_t *first, struct ac_spot_term *t)
{
    const ac_ins *i = &fn->code.item[x];
    int64_t lo, hi;
    if (i->op != AC_L_FOR || i->k.i <= 0 || !known(fn, i->a, &lo) || !known(fn, i->b, &hi) || hi <= lo || lo < 0)
        return false;
    const int64_t last = (hi - 1 - lo) / i->k.i * i->k.i;
    *first = lo;
    *t = (struct ac_spot_term){lo ? ac_lb_sub(b, map[x], ac_lb_i32(b, lo)) : map[x], 1, last, i->k.i};
    return true;
}

static bool is_const(const ac_loop_fn *fn, ac_x x, int64_t *v)
{
    *v = fn->code.item[x].k.i;
    return fn->code.item[x].op == AC_L_CONST && ac_dtype_is_int((ac_dtype)fn->code.item[x].dtype);
}

/* True if i fails unless 0 <= v < *end:  fail_if v < 0 or *end <= v */
static bool fails_outside(const ac_loop_fn *fn, const ac_ins *i, ac_x v, int64_t *end)
{
    const ac_ins *code = fn->code.item;
    int64_t zero;
    if (i->op != AC_L_FAIL_IF || code[i->a].op != AC_L_OR)
        return false;
    const ac_ins *low = &code[code[i->a].a], *high = &code[code[i->a].b];
    return low->op == AC_L_LT && low->a == v && is_const(fn, low->b, &zero) && zero == 0 && high->op == AC_L_LE &&
           high->b == v && is_const(fn, high->a, end);
}

/* True if value x, as an index out of memory, was checked before: 0 <= x <= *most. */
static bool is_checked(const ac_loop_fn *fn, ac_x x, int64_t *most)
{
    const ac_ins *code = fn->code.item;
    const ac_x v = code[x].op == AC_L_CAST ? code[x].a : x;
    int32_t inner = 0; /* blocks that x is not in */
    int64_t end;
    for (ac_x k = x - 1; k > 0; k--) {
        if (code[k].op == AC_L_END)
            inner++;
        else if (inner && (code[k].op == AC_L_FOR || code[k].op == AC_L_IF))
            inner--;
        else if (!inner && code[k].op == AC_L_ELSE)
            return false;
        else if (!inner && fails_outside(fn, &code[k], v, &end) && end > 0 && end <= INT32_MAX) {
            *most = end - 1;
            return true;
        }
    }
    return false;
}

/* s += value x of fn, times `by`. */
static void collect(ac_lb *b, const ac_loop_fn *fn, const ac_x *map, ac_x x, int64_t by, ac_spot *s)
{
    const ac_ins *i = &fn->code.item[x];
    struct ac_spot_term t = {map[x], by, INT32_MAX, 1};
    int64_t k;
    if (known(fn, x, &k)) {
        s->base += k * by;
    } else if (i->op == AC_L_ADD) {
        collect(b, fn, map, i->a, by, s);
        collect(b, fn, map, i->b, by, s);
    } else if (i->op == AC_L_MUL && known(fn, i->b, &k)) {
        collect(b, fn, map, i->a, by * k, s);
    } else if (i->op == AC_L_MUL && known(fn, i->a, &k)) {
        collect(b, fn, map, i->b, by * k, s);
    } else {
        if (loop_term(b, fn, map, x, &k, &t)) {
            s->base += k * by;
            t.by = by;
        } else if (is_checked(fn, x, &k)) {
            t.most = k;
        }
        add_term(s, t);
    }
}

ac_spot ac_spot_of(ac_lb *b, const ac_loop_fn *fn, const ac_x *map, ac_x x, int32_t lanes)
{
    ac_spot s = {.lanes = lanes, .along = lanes > 1}, whole = s;
    collect(b, fn, map, x, 1, &s);
    bool plain = !s.failed && s.base >= 0;
    for (int32_t i = 0; i < s.n; i++)
        plain &= s.term[i].by > 0;
    if (plain)
        return s;
    whole.term[whole.n++] = (struct ac_spot_term){map[x], 1, INT32_MAX, 1}; /* differences: one unknown index */
    return whole;
}

ac_x ac_spot_value(ac_lb *b, const ac_spot *at)
{
    ac_x v = ac_lb_i32(b, 0);
    for (int32_t i = 0; i < at->n; i++)
        v = ac_lb_add(b, v, ac_lb_mul(b, at->term[i].value, ac_lb_i32(b, at->term[i].by)));
    return ac_lb_add(b, v, ac_lb_i32(b, at->base));
}

void ac_spot_add(ac_spot *to, const ac_spot *from, int64_t by)
{
    to->failed |= from->failed || (from->along && by != 1);
    to->along |= from->along;
    to->base += from->base * by;
    for (int32_t i = 0; i < from->n; i++) {
        struct ac_spot_term t = from->term[i];
        t.by *= by;
        add_term(to, t);
    }
}

/* The most that s can be in its first lane, or `limit` if that is less. */
static int64_t most_of(const ac_spot *s, int64_t limit)
{
    int64_t most = s->base;
    for (int32_t i = 0; i < s->n && most < limit; i++)
        most += s->term[i].most > limit / s->term[i].by ? limit : s->term[i].most * s->term[i].by;
    return most < limit ? most : limit;
}

/* True if s stays below `size` in all lanes. */
static bool fits(const ac_spot *s, int64_t size)
{
    return most_of(s, size) + (s->along ? s->lanes - 1 : 0) < size;
}

bool ac_spot_in_step(const ac_spot *s)
{
    bool whole = s->base % s->lanes == 0;
    for (int32_t i = 0; i < s->n; i++)
        whole &= s->term[i].by * s->term[i].unit % s->lanes == 0;
    return whole;
}

/* False for values out of memory: no bounds of their quotients would be proven. */
static bool is_bounded(const ac_spot *s)
{
    bool all = true;
    for (int32_t i = 0; i < s->n; i++)
        all &= s->term[i].most < INT32_MAX;
    return all;
}

ac_spot ac_spot_split(ac_lb *b, ac_spot *at, int64_t size)
{
    ac_spot q = {.lanes = at->lanes, .base = at->base / size, .failed = at->failed}, rest = q;
    if (size == 1) {
        q = *at;
        *at = (ac_spot){.lanes = q.lanes};
        return q;
    }
    rest.base = at->base % size;
    rest.along = at->along;
    for (int32_t i = 0; i < at->n; i++) {
        struct ac_spot_term t = at->term[i];
        const bool whole = t.by % size == 0;
        t.by = whole ? t.by / size : t.by;
        add_term(whole ? &q : &rest, t);
    }
    if (!fits(&rest, size)) {
        q.failed |= (rest.along && (size % rest.lanes != 0 || !ac_spot_in_step(&rest))) || !is_bounded(&rest);
        const int64_t unit = rest.along ? rest.lanes : 1, most = most_of(&rest, INT32_MAX);
        const ac_x v = ac_spot_value(b, &rest), by = ac_lb_i32(b, size);
        rest.base = 0;
        rest.n = 1;
        rest.term[0] = (struct ac_spot_term){ac_lb_mod(b, v, by), 1, size - unit, unit};
        add_term(&q, (struct ac_spot_term){ac_lb_div(b, v, by), 1, most / size, 1});
    }
    rest.failed = q.failed;
    *at = rest;
    return q;
}
