/* reorder.c - reduction ORDER: another execution order of the steps, kept only if its arena is smaller than that of the
 * file's order; the search itself is order_search.c. */
#include "planner/graph/planned.h"
#include "planner/graph/reductions.h"

/* A copy of `from` with the findings about its order. */
static void say_so(const ac_planned *from, ac_planned *p)
{
    p->live = from->live;
    p->plan = from->plan;
    p->n_rows = from->n_rows;
    for (int32_t k = 0; k < from->n_rows; k++)
        p->row[k] = from->row[k];
    for (int32_t s = 0; s < from->n_steps; s++)
        p->step[s] = from->step[s];
}

int ac_reduce_order(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_planned **to)
{
    AC_TRY(ac_planned_ready(cx, how, from));
    ac_planned *p = *to = ac_planned_from(cx, how, from, from->n_steps);
    ac_live_options live = how->live;
    live.inplace = from->lives & AC_REDUCE(INPLACE);
    int32_t *order = AC_NEW_N(p->region, int32_t, from->n_steps + 1);
    const int64_t steps = ac_effort_steps(how->effort >= 0 ? how->effort : AC_EFFORT_DEFAULT);
    ac_region *tmp = ac_region_open(&cx->heap);
    p->found.order =
        ac_order_search(ac_order_graph(tmp, p->graph, from->step, from->n_steps, live), steps, order, &cx->heap);
    ac_region_close(tmp);
    p->found.file_order_bytes = from->plan.arena_bytes;
    if (p->found.order.after < p->found.order.before) {
        for (int32_t i = 0; i < from->n_steps; i++)
            p->step[i] = from->step[order[i]];
        AC_TRY(ac_planned_pack(cx, how, p));
        if (ac_planned_less(p, from))
            return AC_OK;
    }
    say_so(from, p);
    return AC_OK;
}
