/* candidate.c - making, packing, comparing and freeing candidate plans; see planned.h. */
#include "planner/graph/planned.h"

#include "planner/graph/memories.h"
#include "planner/graph/overlap.h"
#include "planner/graph/phased.h"

#include <string.h>

ac_planned *ac_planned_from(ac_ctx *cx, const ac_plan_how *how, ac_planned *base, int32_t room)
{
    ac_region *r = ac_region_open(&cx->heap);
    ac_planned *p = AC_NEW(r, ac_planned);
    ac_lowered *const *step = base ? base->step : how->step;
    if (base)
        *p = *base;
    else
        *p = (ac_planned){.graph = how->graph, .n_steps = how->n_steps};
    p->base = base;
    p->region = r;
    p->live = NULL;
    p->wanted = false;
    p->plan = (ac_plan){0};
    p->n_rows = 0;
    p->step = AC_NEW_N(r, ac_lowered *, room + 1);
    for (int32_t s = 0; s < p->n_steps && s < room; s++)
        p->step[s] = step[s];
    return p;
}

void ac_planned_drop(ac_planned *p, const ac_planned *keep)
{
    while (p && p != keep) {
        ac_planned *base = p->base;
        ac_region_close(p->region);
        p = base;
    }
}

void ac_planned_free(ac_planned *p)
{
    ac_planned_drop(p, NULL);
}

int ac_planned_pack(ac_ctx *cx, const ac_plan_how *how, ac_planned *p)
{
    ac_live_options live = how->live;
    live.inplace = p->lives & AC_REDUCE(INPLACE);
    live.slot = p->slot;
    live.where = p->where;
    p->live = ac_live(cx, p->region, p->graph, p->step, p->n_steps, live);
    if (p->lives & AC_REDUCE(OVERLAP))
        ac_overlap_rules(cx, p->region, p->graph, p->step, p->n_steps, live, p->live);
    ac_problem *problem = &p->live->problem;
    AC_TRY(ac_plan_pin_items(cx, how, p));
    p->most = ac_plan_most(how, p);
    const ac_solve_options search = ac_plan_search(how, p);
    AC_TRY(ac_solve_all(cx, problem, how->planner, &search, &p->plan, p->row, &p->n_rows));
    for (int32_t i = 0; i < problem->n; i++) /* which memory is decided now: reports and bounds count by it */
        problem->item[i].mem = p->plan.mem[i];
    return p->slot ? ac_phases_check(cx, how->file, p) : AC_OK;
}

int ac_planned_ready(ac_ctx *cx, const ac_plan_how *how, ac_planned *p)
{
    return p->live ? AC_OK : ac_planned_pack(cx, how, p);
}

/* ------------------------------------------------------------------ which one is better */

/* The cost of a plan, compared in this order; less is better. */
typedef struct cost {
    ac_bytes over;  /* bytes over the capacities of memories */
    double outside; /* traffic in other memories than the first, times how far they are from it */
    ac_bytes bytes; /* of the first memory, if it is the only one */
} cost;

static cost cost_of(const ac_planned *p)
{
    const ac_problem *problem = &p->live->problem;
    cost c = {0};
    if (!ac_planned_has_several(p))
        return (cost){.bytes = p->plan.arena_bytes};
    for (int32_t m = 0; m < problem->n_mems; m++) {
        const ac_bytes most = m ? problem->mem[m].capacity : p->most;
        if (most >= 0 && p->plan.mem_bytes[m] > most)
            c.over += p->plan.mem_bytes[m] - most;
    }
    for (int32_t i = 0; i < problem->n; i++)
        if (ac_item_in_ram(problem, &problem->item[i]) && p->plan.mem[i])
            c.outside += (double)problem->item[i].traffic * p->plan.mem[i];
    return c;
}

bool ac_planned_less(const ac_planned *a, const ac_planned *b)
{
    const cost x = cost_of(a), y = cost_of(b);
    if (x.over != y.over)
        return x.over < y.over;
    return x.outside != y.outside ? x.outside < y.outside : x.bytes < y.bytes;
}

void ac_planned_take_better(ac_planned **best, ac_planned *p, const ac_planned *keep)
{
    const bool better = p && (!*best || ac_planned_less(p, *best));
    ac_planned *other = better ? *best : p;
    *best = better ? p : *best;
    if (other && other != keep)
        ac_planned_drop(other, keep);
}

/* Bytes of all other memories than the first. */
static ac_bytes others(const ac_planned *p)
{
    const ac_problem *problem = &p->live->problem;
    ac_bytes sum = 0;
    for (int32_t m = 1; p->plan.mem_bytes && m < problem->n_mems; m++)
        sum += p->plan.mem_bytes[m];
    for (int32_t i = 0; !p->plan.mem_bytes && i < problem->n; i++)
        sum += problem->item[i].kind == AC_ITEM_STATE ? ac_align_up(problem->item[i].size, problem->item[i].align) : 0;
    return sum;
}

ac_bytes ac_plan_budget(const ac_plan_how *how, const ac_planned *p)
{
    const char *of = how->budget_memory;
    if (of && strcmp(of, p->live->problem.mem[0].name) != 0)
        return -1;
    if (how->budget < 0 || !how->budget_total)
        return how->budget;
    const ac_bytes rest = how->budget - how->constants - others(p);
    return rest > 0 ? rest : 0;
}

ac_bytes ac_plan_most(const ac_plan_how *how, const ac_planned *p)
{
    const ac_bytes all = p->live->problem.mem[0].capacity, budget = ac_plan_budget(how, p);
    return all < 0 || (budget >= 0 && budget < all) ? budget : all;
}

ac_solve_options ac_plan_search(const ac_plan_how *how, const ac_planned *p)
{
    return (ac_solve_options){.steps = ac_solve_steps(how->effort), .goal = ac_plan_budget(how, p)};
}

bool ac_planned_is_enough(const ac_plan_how *how, const ac_planned *p)
{
    const cost c = cost_of(p);
    const ac_bytes budget = ac_plan_budget(how, p);
    if (ac_planned_has_several(p))
        return !c.over && c.outside <= 0 && (budget < 0 || p->plan.arena_bytes <= budget);
    return budget >= 0 && c.bytes <= budget;
}
