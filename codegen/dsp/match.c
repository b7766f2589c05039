/* match.c - compares the expressions of a loop with a form; see match.h. */
#include "codegen/dsp/match.h"

#include "ir/loop/builder.h"

bool ac_match_is(const ac_matcher *s, ac_x x, ac_lop op, ac_dtype d)
{
    return x > 0 && ac_match_ins(s, x)->op == op && ac_match_ins(s, x)->dtype == d && ac_match_ins(s, x)->lanes == 1;
}

bool ac_match_int(const ac_matcher *s, ac_x x, int64_t v)
{
    return ac_match_ins(s, x)->op == AC_L_CONST && ac_match_ins(s, x)->lanes == 1 && ac_match_ins(s, x)->k.i == v;
}

bool ac_match_same(const ac_matcher *s, ac_x a, ac_x b)
{
    return a == b || (a > 0 && b > 0 && ac_match_ins(s, a)->dtype == ac_match_ins(s, b)->dtype &&
                      ac_match_ins(s, b)->op == AC_L_CONST && ac_match_int(s, a, ac_match_ins(s, b)->k.i));
}

bool ac_match_agree(const ac_matcher *s, ac_x *p, ac_x x)
{
    if (!*p)
        *p = x;
    return ac_match_same(s, *p, x);
}

/* *to + v, or - v; false: too many terms */
static bool add(ac_linear *to, const ac_linear *v, bool minus)
{
    ac_rows_sum *sum = &to->base;
    const int64_t sign = minus ? -1 : 1;
    if ((to->pitch && v->pitch) || (v->pitch && minus))
        return false;
    to->by += sign * v->by;
    to->by_c += sign * v->by_c;
    to->by_r += sign * v->by_r;
    to->k += sign * v->k;
    to->pitch = to->pitch ? to->pitch : v->pitch;
    for (int32_t i = 0; i < v->base.n; i++) {
        if (sum->n == AC_ROWS_TERMS)
            return false;
        sum->term[sum->n] = v->base.term[i];
        sum->times[sum->n] = v->base.times[i];
        sum->minus[sum->n++] = v->base.minus[i] != minus;
    }
    return true;
}

static bool is_number(const ac_linear *v)
{
    return !v->by && !v->by_c && !v->by_r && !v->pitch && !v->base.n;
}

static bool depends(const ac_matcher *s, ac_x x, ac_x var)
{
    const ac_ins *i = ac_match_ins(s, x);
    return x == var || (x > s->loop && i->op != AC_L_CONST && i->op != AC_L_FOR &&
                        ((i->a && depends(s, i->a, var)) || (i->b && depends(s, i->b, var))));
}

/* a * b, if it is linear. */
static bool multiply(const ac_matcher *s, ac_linear *a, const ac_linear *b, ac_x by)
{
    if (is_number(b) && !a->base.n && !a->pitch) {
        a->by *= b->k;
        a->by_c *= b->k;
        a->by_r *= b->k;
        a->k *= b->k;
        return true;
    }
    if (!s->row || a->by_r != 1 || a->by || a->by_c || a->k || a->pitch || depends(s, by, s->row) ||
        depends(s, by, s->channel) || depends(s, by, s->loop))
        return false;
    a->by_r = 0;
    a->pitch = by;
    for (int32_t i = 0; i < a->base.n; i++) {
        if (a->base.times[i])
            return false;
        a->base.times[i] = by;
    }
    return true;
}

ac_linear ac_match_linear(const ac_matcher *s, ac_x x)
{
    const ac_ins *i = ac_match_ins(s, x);
    if (x == s->loop)
        return (ac_linear){.by = 1};
    if (x == s->channel || x == s->row)
        return x == s->row ? (ac_linear){.by_r = 1} : (ac_linear){.by_c = 1};
    if (i->op == AC_L_CONST)
        return (ac_linear){.k = i->k.i};
    if (x > s->loop && (i->op == AC_L_ADD || i->op == AC_L_SUB || i->op == AC_L_MUL)) {
        ac_linear a = ac_match_linear(s, i->a), b = ac_match_linear(s, i->b), copy = b;
        if (i->op != AC_L_MUL ? add(&a, &b, i->op == AC_L_SUB) : multiply(s, &a, &b, i->b))
            return a;
        if (i->op == AC_L_MUL && multiply(s, &copy, &a, i->a))
            return copy;
    }
    return (ac_linear){.base = {.term = {x}, .n = 1}};
}

bool ac_match_need(const ac_matcher *s, ac_x x)
{
    const ac_ins *i = ac_match_ins(s, x);
    if (x < s->loop || !x)
        return true;
    if (x == s->loop || x == s->row || x == s->channel || ac_lop_class((ac_lop)i->op) != 'V' || i->op == AC_L_LOAD ||
        i->op == AC_L_GET)
        return false;
    s->r->needed[x] = true;
    return ac_match_need(s, i->a) && ac_match_need(s, i->b) && ac_match_need(s, i->c);
}

bool ac_match_load(const ac_matcher *s, ac_x x, int32_t *buf, int64_t by, int64_t k)
{
    if (!ac_match_is(s, x, AC_L_LOAD, AC_I32) || !ac_buf_is_fixed(&s->fn->buf.item[ac_match_ins(s, x)->aux]))
        return false;
    const ac_linear at = ac_match_linear(s, ac_match_ins(s, x)->a);
    if (at.base.n || at.by != by || (s->channel && at.by_c != by) || at.by_r || at.pitch || at.k != k ||
        (*buf >= 0 && *buf != ac_match_ins(s, x)->aux))
        return false;
    *buf = ac_match_ins(s, x)->aux;
    return true;
}

ac_x ac_match_widened(const ac_matcher *s, ac_x x)
{
    return ac_match_is(s, x, AC_L_CAST, AC_I64) && ac_match_ins(s, ac_match_ins(s, x)->a)->dtype == AC_I32
               ? ac_match_ins(s, x)->a
               : 0;
}

ac_x ac_match_high(const ac_matcher *s, ac_x x)
{
    if (!ac_match_is(s, x, AC_L_CAST, AC_I32) || !ac_match_is(s, ac_match_ins(s, x)->a, AC_L_SHR, AC_I64))
        return 0;
    const ac_ins *shr = ac_match_ins(s, ac_match_ins(s, x)->a);
    return ac_match_int(s, shr->b, 32) ? shr->a : 0;
}

ac_x ac_match_times_m(const ac_matcher *s, ac_x x, int32_t c)
{
    if (!ac_match_is(s, x, AC_L_MUL, AC_I64))
        return 0;
    const ac_x a = ac_match_widened(s, ac_match_ins(s, x)->a), b = ac_match_widened(s, ac_match_ins(s, x)->b);
    if (a && b && ac_match_load(s, b, &s->r->m, 2, 2 * c))
        return a;
    return a && b && ac_match_load(s, a, &s->r->m, 2, 2 * c) ? b : 0;
}

int32_t ac_rows_values(const ac_rows *r, ac_x *value)
{
    const ac_x all[] = {r->x_at,  r->steps, r->channels, r->more, r->number,
                        r->shift, r->pitch, r->begin,    r->last, r->term};
    int32_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            value[n++] = all[i];
    for (int32_t pixel = 0; pixel < 2; pixel++)
        for (int32_t i = 0; i < r->place[pixel].n; i++) {
            value[n++] = r->place[pixel].term[i];
            if (r->place[pixel].times[i])
                value[n++] = r->place[pixel].times[i];
        }
    return n;
}
