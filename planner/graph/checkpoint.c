/* checkpoint.c - reduction CHECKPOINT: under a budget, results that a training step reads forward and again backward
 * are dropped in between and computed again, as little of it as the budget takes.
 *
 *     all kept        a = f(x)  b = g(a) ...loss...  gb(b)  ga(a)
 *     a is dropped    a = f(x)  b = g(a) ...loss...  gb(b)  a_again = f(x)  ga(a_again)
 *
 * Greedily: of the results that lie over the peak without being used there, the one whose making costs least work for
 * each byte, if the peak falls, or fewer steps reach it; until the budget is met. The choices do not depend on the
 * budget: a smaller one only takes more of them, so the peak never rises when the budget falls. What runs again are the
 * same loops on the same operands: results keep their bits. Weights are read before the update writes them.
 * Source: checkpointing as Chen et al. 2016 have it, chosen as Kumar et al. 2019 (Efficient rematerialization) and
 * Kirisame et al. 2021 (Dynamic tensor rematerialization) do, by the ratio of work and bytes. Cost: O(results over the
 * peak * events) for each result that is dropped. */
#include "planner/graph/again.h"
#include "planner/graph/rerun.h"
#include "planner/graph/planned.h"

enum { PACKED = 6 }; /* candidates that may be packed */

typedef struct search {
    ac_ctx *cx;
    const ac_planned *from;
    ac_region *region; /* of the search */
    const ac_order_problem *p;
    int32_t *maker, *written, *split;
    int64_t *work;
    ac_rerun now;
} search;

/* What each step costs, and which state it overwrites. */
static void look_at_steps(search *q)
{
    const ac_graph *g = q->from->graph;
    q->maker = ac_again_makers(q->region, g, q->from->step, q->from->n_steps, ac_may_run_again);
    q->written = AC_NEW_N(q->region, int32_t, g->tensor.n + 1);
    q->split = AC_NEW_N(q->region, int32_t, g->tensor.n + 1);
    q->work = AC_NEW_N(q->region, int64_t, q->from->n_steps + 1);
    for (int32_t i = 0; i < g->tensor.n; i++)
        q->written[i] = q->split[i] = -1;
    for (int32_t s = 0; s < q->from->n_steps; s++) {
        const ac_tensor *to = ac_node_result(q->from->step[s]->node), *root = ac_tensor_root(to);
        q->work[s] = q->from->step[s]->macs + ac_tensor_count(to);
        if (root->state && q->written[root->id] < 0)
            q->written[root->id] = s;
    }
}

/* ------------------------------------------------------------------ the search */

static ac_rerun simulate(const search *q)
{
    ac_rerun k = {.region = ac_region_open(&q->cx->heap),
                  .p = q->p,
                  .maker = q->maker,
                  .written = q->written,
                  .work = q->work,
                  .split = q->split};
    ac_rerun_run(&k);
    return k;
}

/* The last use of v before step `at`, if there are uses before and after but none at it; else -1. */
static int32_t gap_at(const search *q, int32_t v, int32_t at)
{
    const ac_order_value *x = &q->p->value[v];
    for (int32_t i = 0; i + 1 < x->n_users; i++)
        if (x->user[i] < at && x->user[i + 1] > at)
            return i;
    return -1;
}

/* Drops one more result; false: no one helps. */
static bool improve(search *q)
{
    int32_t best = -1, best_gap = -1;
    double best_cost = 0;
    for (int32_t v = 0; v < q->p->n_values; v++) {
        const int32_t gap = q->maker[v] >= 0 && q->split[v] < 0 ? gap_at(q, v, q->now.at) : -1;
        if (gap < 0)
            continue;
        q->split[v] = gap;
        const ac_rerun k = simulate(q);
        const double cost = (double)(k.again - q->now.again) / (double)q->p->value[v].size;
        if (k.possible && (k.peak < q->now.peak || (k.peak == q->now.peak && k.peaks < q->now.peaks)) &&
            (best < 0 || cost < best_cost)) {
            best = v;
            best_gap = gap;
            best_cost = cost;
        }
        ac_region_close(k.region);
        q->split[v] = -1;
    }
    if (best < 0)
        return false;
    q->split[best] = best_gap;
    ac_region_close(q->now.region);
    q->now = simulate(q);
    return true;
}

/* ------------------------------------------------------------------ the plan */

/* The tensor of an instance, instead of t, which lies in its value. */
static ac_tensor *tensor_of(ac_graph *g, ac_region *r, ac_tensor **made, const ac_tensor *t, int32_t instance)
{
    const ac_tensor *root = ac_tensor_root(t);
    if (!made[instance])
        made[instance] = ac_again_twin(g, r, root, NULL);
    return t == root ? made[instance] : ac_again_twin(g, r, t, made[instance]);
}

static ac_lowered *step_of(const search *q, ac_planned *p, ac_graph *g, ac_tensor **made, const bool *first,
                           const ac_event *e)
{
    ac_lowered *low = q->from->step[e->step];
    const ac_order_step *st = &q->p->step[e->step];
    const int32_t room = ac_node_reads(low->node, NULL, 0);
    ac_tensor **list = AC_NEW_N(p->region, ac_tensor *, room + 2);
    int32_t n = ac_node_reads(low->node, list, room);
    ac_swaps w = {0};
    list[n++] = ac_node_result(low->node);
    for (int32_t i = 0; i < st->n_values; i++)
        for (int32_t k = 0; k < n && !first[e->instance[i]]; k++)
            if (ac_tensor_root(list[k])->id == st->value[i])
                ac_push(p->region, &w, ((ac_swap){list[k], tensor_of(g, p->region, made, list[k], e->instance[i])}));
    return w.n ? ac_again_step(p->region, low, &w) : low;
}

static int build(search *q, const ac_plan_how *how, ac_planned **out)
{
    const ac_rerun *k = &q->now;
    ac_planned *p = *out = ac_planned_from(q->cx, how, (ac_planned *)(uintptr_t)q->from, k->event.n);
    ac_graph *g = ac_graph_fork(q->from->graph, p->region);
    ac_tensor **made = AC_NEW_N(p->region, ac_tensor *, k->instance.n + 1);
    bool *first = AC_NEW_N(p->region, bool, k->instance.n + 1), *seen = AC_NEW_N(p->region, bool, q->p->n_values + 1);
    for (int32_t n = 0; n < k->instance.n; n++) {
        first[n] = !seen[k->instance.item[n].value];
        seen[k->instance.item[n].value] = true;
    }
    for (int32_t e = 0; e < k->event.n; e++)
        p->step[e] = step_of(q, p, g, made, first, &k->event.item[e]);
    p->graph = g;
    p->n_steps = k->event.n;
    AC_TRY(ac_planned_pack(q->cx, how, p));
    p->found.recomputed = k->event.n - q->from->n_steps;
    p->found.again = k->again;
    p->found.once_bytes = q->from->plan.arena_bytes;
    return AC_OK;
}

/* Drops results until the arena is within the budget, as packing has it. */
static int meet(search *q, const ac_plan_how *how, ac_planned **to)
{
    const ac_bytes budget = ac_plan_budget(how, q->from);
    ac_bytes target = budget;
    for (int32_t n = 0; n < PACKED; n++) {
        bool better = true, any = false;
        while (q->now.peak > target && better)
            any |= better = improve(q);
        if (!any)
            return AC_OK;
        ac_planned *p;
        const int status = build(q, how, &p);
        if (status != AC_OK || (*to && !ac_planned_less(p, *to)))
            ac_region_close(p->region);
        else {
            if (*to)
                ac_region_close((*to)->region);
            *to = p;
        }
        AC_TRY(status);
        if (p == *to && p->plan.arena_bytes <= budget)
            return AC_OK;
        target = q->now.peak - 1;
    }
    return AC_OK;
}

int ac_reduce_checkpoint(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_planned **to)
{
    AC_TRY(ac_planned_ready(cx, how, from));
    if (ac_planned_is_enough(how, from) || ac_plan_budget(how, from) < 0 || ac_planned_has_several(from))
        return AC_OK;
    search q = {.cx = cx, .from = from, .region = ac_region_open(&cx->heap)};
    ac_live_options live = how->live;
    live.inplace = from->lives & AC_REDUCE(INPLACE);
    q.p = ac_order_graph(q.region, from->graph, from->step, from->n_steps, live);
    look_at_steps(&q);
    q.now = simulate(&q);
    const int status = meet(&q, how, to);
    ac_region_close(q.now.region);
    ac_region_close(q.region);
    return status;
}
