/* file_loop.c - reads a loop of a file as unrolled iterations or as a WHILE; see file_flow.h. */
#include "import/build/flow/file_flow.h"
#include "import/build/counted.h"
#include "import/build/operands.h"

bool ac_flow_is_inside(const ac_flow *f)
{
    return *f->now != f->g;
}

void ac_flow_enter(ac_flow *f, ac_sub *s, bool body)
{
    ac_sub_enter(f->b, f->now, s);
    if (f->of->swap)
        f->of->swap(f, s, body);
}

void ac_flow_leave(ac_flow *f, ac_sub *s, bool body)
{
    if (f->of->swap)
        f->of->swap(f, s, body);
    ac_sub_leave(f->b, f->now, s);
}

ac_tensor *ac_flow_tensor(ac_flow *f, const void *values, int32_t i)
{
    ac_tensor *const *t = values;
    return f->of->tensor ? f->of->tensor(f, values, i) : t[i];
}

const void *ac_flow_values(ac_flow *f, const void *like, ac_tensor *const *made)
{
    ac_tensor *const *was = like, **t = AC_NEW_N(f->b->cx->region, ac_tensor *, f->n + 1);
    for (int32_t i = 0, k = 0; i < f->n; i++)
        t[i] = !f->kept[i] ? made[k++] : f->of->values ? NULL : was[i];
    return f->of->values ? f->of->values(f, like, t) : t;
}

ac_tensor *ac_flow_truth(const ac_maker *b, ac_tensor *t)
{
    t = ac_make_reshape(b, t, 0, NULL);
    return t && t->dtype != AC_BOOL ? ac_make_2(b, AC_OP_NOT_EQUAL, t, ac_make_number(b, t->dtype, 0)) : t;
}

/* ------------------------------------------------------------------ a WHILE */

/* Collects the initial values that iterations change, with their names. */
static int begin_carried(ac_flow *l, const void *now, ac_carried *c)
{
    ac_region *region = l->b->cx->region;
    ac_tensor **first = AC_NEW_N(region, ac_tensor *, l->n + 1);
    const char **name = AC_NEW_N(region, const char *, l->n + 1);
    int32_t count = 0;
    for (int32_t i = 0; i < l->n; i++) {
        if (l->kept[i])
            continue;
        if (!(first[count] = ac_flow_tensor(l, now, i)))
            return AC_FAIL;
        name[count++] = l->name[i];
    }
    AC_TRY(ac_carried_begin(l->b, c, count, first));
    c->result = name;
    return AC_OK;
}

static int read_condition(ac_flow *l, ac_sub *s, const ac_carried *c, const void *now)
{
    ac_tensor **in = AC_NEW_N(l->b->cx->region, ac_tensor *, c->n + 1), *again = NULL;
    ac_flow_enter(l, s, false);
    ac_carried_inputs(c, s, in);
    int rc = l->condition(l, ac_flow_values(l, now, in), &again);
    again = rc == AC_OK ? ac_flow_truth(l->b, again) : NULL;
    if (again)
        ac_push(s->g->region, &s->g->output, again);
    rc = again ? AC_OK : AC_FAIL;
    if (rc == AC_OK && l->of->end)
        rc = l->of->end(l);
    ac_flow_leave(l, s, false);
    return rc;
}

/* Refuses carried value `wrong`: it has another type or shape after an iteration. */
static int refuse_change(const ac_flow *l, const ac_carried *c, int32_t wrong, const ac_tensor *to)
{
    ac_ctx *cx = l->b->cx;
    return ac_refuse(l->b->reading, l->b->at, l->of->code, l->b->at.op,
                     ac_strf(cx->region, "'%s' is %s, but %s after an iteration%s", c->first[wrong]->name,
                             ac_tensor_str(cx, c->first[wrong]), ac_tensor_str(cx, to),
                             to->count ? ", and its length depends on data" : ""),
                     l->of->help);
}

static int read_body(ac_flow *l, const ac_sub *cond, ac_sub *s, ac_carried *c, const void *now, bool *again)
{
    ac_region *region = l->b->cx->region;
    ac_tensor **in = AC_NEW_N(region, ac_tensor *, l->n + l->more + 1);
    ac_tensor **next = AC_NEW_N(region, ac_tensor *, l->n + l->more + 1);
    int32_t wrong;
    *again = false;
    ac_flow_enter(l, s, true);
    ac_carried_inputs(c, s, in);
    const void *values = l->body(l, ac_flow_values(l, now, in));
    int rc = values ? AC_OK : AC_FAIL;
    for (int32_t i = 0, k = 0; i < l->n && rc == AC_OK; i++)
        if (!l->kept[i] && !(next[k++] = ac_flow_tensor(l, values, i)))
            rc = AC_FAIL;
    if (rc == AC_OK && l->of->end)
        rc = l->of->end(l);
    ac_flow_leave(l, s, true);
    AC_TRY(rc);
    if (l->of->collect)
        AC_TRY(l->of->collect(l, c, cond, s, in, next, again));
    if (*again)
        return AC_OK;
    rc = ac_carried_outputs(l->b, l->now, c, cond, s, next, again, &wrong);
    return rc != AC_OK && wrong >= 0 ? refuse_change(l, c, wrong, next[wrong]) : rc;
}

static const void *make_while(ac_flow *l, const void *now, int64_t done)
{
    ac_sub_pair p;
    ac_carried c;
    bool again;
    l->kept = AC_NEW_N(l->b->cx->region, bool, l->n + 1);
    l->name = l->name ? l->name : AC_NEW_N(l->b->cx->region, const char *, l->n + 1);
    if (!(now = l->of->open(l, now, done)) || begin_carried(l, now, &c) != AC_OK)
        return NULL;
    do {
        p = (ac_sub_pair){0};
        if (read_condition(l, &p.side[0], &c, now) != AC_OK ||
            read_body(l, &p.side[0], &p.side[1], &c, now, &again) != AC_OK)
            return NULL;
    } while (again);
    const ac_node *made = ac_sub_run(l->b, AC_OP_WHILE, c.first, c.all, &p);
    if (!made)
        return NULL;
    l->out = AC_NEW_N(l->b->cx->region, ac_tensor *, c.n + 1);
    ac_carried_results(&c, made, l->out);
    return ac_flow_values(l, now, l->out);
}

/* ------------------------------------------------------------------ both */

static const void *roll(void *own, const void *now, int64_t done, bool trial)
{
    ac_flow *l = own;
    const int32_t refused = l->b->reading->refused.n;
    const void *last = make_while(l, now, done);
    if (!last && trial)
        l->b->reading->refused.n = refused;
    return last;
}

static bool is_alike(const void *own, const void *first, const void *now)
{
    const ac_flow *l = own;
    ac_tensor *const *a = first, *const *b = now;
    if (l->of->alike)
        return l->of->alike(own, first, now);
    bool alike = true;
    for (int32_t i = 0; i < l->n; i++)
        alike &= a[i] == b[i] || (ac_tensor_same_kind(a[i], b[i]) && !a[i]->count && !b[i]->count);
    return alike;
}

static void erased(void *own)
{
    const ac_flow *l = own;
    ac_counted_erased(l->b);
    if (l->of->erased)
        l->of->erased(own);
}

const void *ac_flow_loop(ac_flow *l, const void *first, int64_t *turns)
{
    l->g = *l->now;
    const ac_unroll u = {.cx = l->b->cx,
                         .g = l->g,
                         .at = l->b->at,
                         .rules = &l->of->rules,
                         .trips = l->trips,
                         .own = l,
                         .condition = l->condition,
                         .body = l->body,
                         .alike = is_alike,
                         .erased = erased,
                         .roll = roll};
    return ac_unroll_loop(&u, first, turns);
}

const void *ac_flow_roll(ac_flow *l, const void *first)
{
    l->g = *l->now;
    return make_while(l, first, 0);
}
