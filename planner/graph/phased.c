/* phased.c - phases for the steps of a plan: times from their lowering, an order that has them, lives that fit, packed
 * again. */
#include "planner/graph/phased.h"

#include "ir/lower/node/node.h"
#include "planner/order/phases.h"

/* The input of the scheduler: times and constraints of the steps of `from`. */
static ac_phases_how times_of(ac_region *r, const ac_plan_how *how, const ac_planned *from, int32_t threads)
{
    const int32_t n = from->n_steps;
    double *work = AC_NEW_N(r, double, n + 1), *slowest = AC_NEW_N(r, double, n + 1); /* of as many chunks as it has */
    bool *alone = AC_NEW_N(r, bool, n + 1);
    int32_t *part = AC_NEW_N(r, int32_t, n + 1);
    for (int32_t s = 0; s < n; s++) {
        const ac_lowered *low = from->step[s];
        work[s] = low->work;
        slowest[s] = low->slowest;
        alone[s] = low->fn->fails; /* the caller looks at its status before anything else runs */
        part[s] = low->node->part;
    }
    return (ac_phases_how){
        .work = work, .slowest = slowest, .alone = alone, .part = part, .threads = threads, .fork = how->fork_cost};
}

/* Order and slots of all steps live in r. */
static ac_phases_found find(ac_ctx *cx, ac_region *r, const ac_plan_how *how, const ac_planned *from,
                            const ac_phases_how *times, int32_t **order, ac_slot **slot)
{
    ac_live_options live = how->live;
    live.inplace = from->lives & AC_REDUCE(INPLACE);
    *order = AC_NEW_N(r, int32_t, from->n_steps + 1);
    *slot = AC_NEW_N(r, ac_slot, from->n_steps + 1);
    return ac_phases_find(ac_order_graph(r, from->graph, from->step, from->n_steps, live), times, *order, *slot,
                          &cx->heap);
}

/* `from` in phases with at most `limit` bytes alive in each that is shared; NULL: none pays. */
static ac_planned *phases_of(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_bytes limit)
{
    ac_planned *p = ac_planned_from(cx, how, from, from->n_steps);
    ac_region *tmp = ac_region_open(&cx->heap);
    ac_phases_how times = times_of(tmp, how, from, how->threads);
    ac_slot *slot;
    int32_t *order;
    times.limit = limit;
    p->found.phases = find(cx, tmp, how, from, &times, &order, &slot);
    for (int32_t i = 0; i < from->n_steps; i++) {
        ac_lowered *low = from->step[order[i]];
        p->step[i] = slot[i].thread != AC_ALL_THREADS && low->uncut ? low->uncut : low;
    }
    p->slot = ac_copy(p->region, slot, (size_t)from->n_steps * sizeof *slot);
    ac_region_close(tmp);
    if (p->found.phases.shared)
        return p;
    ac_planned_drop(p, from);
    return NULL;
}

ac_phases_found ac_phases_simulate(ac_ctx *cx, const ac_plan_how *how, const ac_planned *p, int32_t threads)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    ac_phases_how times = times_of(tmp, how, p, threads);
    double *slowest = AC_NEW_N(tmp, double, p->n_steps + 1);
    for (int32_t s = 0; s < p->n_steps; s++)
        slowest[s] = ac_lower_slowest(cx, p->step[s], threads, how->fork_cost);
    times.slowest = slowest;
    times.limit = p->plan.arena_bytes + p->plan.arena_bytes / 100 * AC_PHASE_GROWTH;
    ac_slot *slot;
    int32_t *order;
    const ac_phases_found found = find(cx, tmp, how, p, &times, &order, &slot);
    ac_region_close(tmp);
    return found;
}

/* Does p keep to what phases may take, at most `most` bytes? */
static bool fits(const ac_planned *from, const ac_planned *p, ac_bytes most)
{
    return ac_planned_has_several(p) ? !ac_planned_less(from, p) : p->plan.arena_bytes <= most;
}

int ac_plan_phases(ac_ctx *cx, const ac_plan_how *how, ac_planned **plan)
{
    enum { TRIES = 4 };
    ac_planned *from = *plan;
    AC_TRY(ac_planned_ready(cx, how, from));
    const ac_bytes base = from->plan.arena_bytes, budget = ac_plan_budget(how, from);
    const ac_bytes most = budget >= 0 ? (budget > base ? budget : base) : base + base / 100 * AC_PHASE_GROWTH;
    ac_bytes limit = most;
    for (int k = 0; k < TRIES; k++) {
        ac_planned *p = phases_of(cx, how, from, limit);
        if (!p)
            return AC_OK;
        const int status = ac_planned_pack(cx, how, p);
        if (status == AC_OK && fits(from, p, most)) {
            *plan = p;
            return AC_OK;
        }
        const ac_bytes over = status == AC_OK ? p->plan.arena_bytes - most : 0;
        ac_planned_drop(p, from);
        AC_TRY(status);
        limit -= over > limit / 16 ? over : limit / 16;
    }
    return AC_OK;
}
