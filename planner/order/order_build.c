/* order_build.c - from the uses of values to what must come before what. */
#include "planner/order/order.h"

#include <stdlib.h>

ac_order_problem *ac_order_new(ac_region *r, int32_t n_steps, int32_t n_values)
{
    ac_order_problem *p = AC_NEW(r, ac_order_problem);
    p->region = r;
    p->n = n_steps;
    p->n_values = n_values;
    p->step = AC_NEW_N(r, ac_order_step, n_steps + 1);
    p->value = AC_NEW_N(r, ac_order_value, n_values + 1);
    for (int32_t s = 0; s < n_steps; s++)
        p->step[s].result = -1;
    return p;
}

void ac_order_use(ac_order_problem *p, int32_t step, int32_t value, int64_t lo, int64_t hi, bool writes)
{
    ac_order_use_row u = {step, value, lo, hi, writes};
    ac_push(p->region, &p->use, u);
}

static int by_value(const void *pa, const void *pb)
{
    const ac_order_use_row *a = pa, *b = pb;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->writes != b->writes)
        return a->writes ? -1 : 1;
    return (a->lo > b->lo) - (a->lo < b->lo);
}

/* Steps i < k use the same bytes, and one of them writes. */
static bool conflict(const ac_order_use_row *a, const ac_order_use_row *b)
{
    return (a->writes || b->writes) && a->lo < b->hi && b->lo < a->hi && a->step != b->step;
}

void ac_order_before(ac_order_problem *p, int32_t from, int32_t to)
{
    ac_order_edge e = {from, to};
    ac_push(p->region, &p->edge, e);
}

static int by_edge(const void *pa, const void *pb)
{
    const ac_order_edge *a = pa, *b = pb;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Fills step[].value and value[].user from the sorted uses. */
static void list_users(ac_order_problem *p)
{
    const ac_order_use_row *u = p->use.item;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < p->use.n; i++) {
            if (i && u[i].value == u[i - 1].value && u[i].step == u[i - 1].step)
                continue;
            ac_order_value *v = &p->value[u[i].value];
            ac_order_step *s = &p->step[u[i].step];
            if (pass) {
                v->user[v->n_users] = u[i].step;
                s->value[s->n_values] = u[i].value;
            }
            v->n_users++;
            s->n_values++;
        }
        for (int32_t v = 0; !pass && v < p->n_values; v++) {
            p->value[v].user = AC_NEW_N(p->region, int32_t, p->value[v].n_users + 1);
            p->value[v].n_users = 0;
        }
        for (int32_t s = 0; !pass && s < p->n; s++) {
            p->step[s].value = AC_NEW_N(p->region, int32_t, p->step[s].n_values + 1);
            p->step[s].n_values = 0;
        }
    }
}

void ac_order_link(ac_order_problem *p)
{
    ac_order_use_row *u = p->use.item;
    if (p->use.n)
        qsort(u, (size_t)p->use.n, sizeof *u, by_value);
    list_users(p);
    for (int32_t i = 0, end = 0, last = -1; i < p->use.n; i++) {
        for (; end < p->use.n && u[end].value == u[i].value;
             end++) /* last: a reader looks no further than the last write */
            last = u[end].writes ? end : last;
        for (int32_t k = i + 1; k < end && (u[i].writes || k <= last); k++)
            if (conflict(&u[i], &u[k]))
                ac_order_before(p, u[i].step, u[k].step);
    }
    ac_order_edge *e = p->edge.item;
    if (p->edge.n)
        qsort(e, (size_t)p->edge.n, sizeof *e, by_edge);
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < p->edge.n; i++) {
            if (i && !by_edge(&e[i], &e[i - 1]))
                continue;
            ac_order_step *from = &p->step[e[i].from], *to = &p->step[e[i].to];
            if (pass) {
                from->succ[from->n_succs] = e[i].to;
                to->pred[to->n_preds] = e[i].from;
            }
            from->n_succs++;
            to->n_preds++;
        }
        for (int32_t s = 0; !pass && s < p->n; s++) {
            ac_order_step *x = &p->step[s];
            x->succ = AC_NEW_N(p->region, int32_t, x->n_succs + 1);
            x->pred = AC_NEW_N(p->region, int32_t, x->n_preds + 1);
            x->n_succs = x->n_preds = 0;
        }
    }
}
