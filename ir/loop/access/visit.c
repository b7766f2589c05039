/* visit.c - see visit.h. */
#include "ir/loop/access/visit.h"

#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"

static const ac_ins *ins(const ac_visit *r, ac_x x)
{
    return &r->fn->code.item[x];
}

static void evaluate(ac_visit *r, ac_x x)
{
    const ac_ins *i = ins(r, x);
    const int32_t n = ac_lop_arity((ac_lop)i->op);
    r->known[x] = i->op == AC_L_CONST && i->lanes == 1 && !ac_dtype_is_float((ac_dtype)i->dtype);
    r->value[x] = r->known[x] ? i->k.i : 0;
    if (!n || i->lanes != 1 || ac_dtype_is_float((ac_dtype)i->dtype) || i->op == AC_L_FOR)
        return;
    const ac_x b = n > 1 ? i->b : i->a, c = n > 2 ? i->c : i->a;
    r->known[x] = r->known[i->a] && r->known[b] && r->known[c] &&
                  ac_ins_integer(i, r->value[i->a], r->value[b], r->value[c], &r->value[x]);
}

static bool any(const ac_visit *r, ac_x from, ac_x end)
{
    for (ac_x x = from; x < end; x++)
        if (r->seeks(r, x))
            return true;
    return false;
}

static bool run(ac_visit *r, ac_x x, ac_x end);

/* A loop or a branch at x, up to its END. */
static bool run_block(ac_visit *r, ac_x x, ac_x end)
{
    const ac_ins *i = ins(r, x);
    if (!any(r, x, end))
        return true;
    if (x < r->inside && r->inside < end)
        return run(r, x + 1, end);
    if (i->op == AC_L_IF) {
        const ac_x other = r->end[x];
        return r->known[i->a] && (r->value[i->a] ? run(r, x + 1, other) : other == end || run(r, other + 1, end));
    }
    if (!r->known[i->a] || !r->known[i->b] || i->k.i < 1)
        return false;
    for (int64_t v = r->value[i->a], last = r->value[i->b]; v < last; v += i->k.i) {
        r->value[x] = v;
        r->known[x] = true;
        if (!run(r, x + 1, end))
            return false;
    }
    return true;
}

static ac_x end_of(const ac_visit *r, ac_x x)
{
    x = r->end[x];
    return ins(r, x)->op == AC_L_ELSE ? r->end[x] : x;
}

static bool run(ac_visit *r, ac_x x, ac_x end)
{
    for (; x < end; x++) {
        const ac_ins *i = ins(r, x);
        evaluate(r, x);
        if (i->op == AC_L_FOR || i->op == AC_L_IF) {
            if (!run_block(r, x, end_of(r, x)))
                return false;
            x = end_of(r, x);
        } else if (i->op == AC_L_BREAK_IF || (r->seeks(r, x) && !r->found(r, x))) {
            return false;
        }
    }
    return true;
}

bool ac_visit_all(ac_region *region, ac_visit *r)
{
    const ac_x n = r->fn->code.n;
    AC_VEC(ac_x) open = {0};
    r->value = AC_NEW_N(region, int64_t, n + 1);
    r->known = AC_NEW_N(region, bool, n + 1);
    r->end = AC_NEW_N(region, ac_x, n + 1);
    for (ac_x x = 1; x < n; x++) {
        const ac_lop op = (ac_lop)ins(r, x)->op;
        if (op == AC_L_ELSE || op == AC_L_END)
            r->end[open.item[--open.n]] = x;
        if (op == AC_L_ELSE || op == AC_L_FOR || op == AC_L_IF)
            ac_push(region, &open, x);
    }
    return run(r, 1, n);
}
