/* checkpoint.c - reduction CHECKPOINT: to stay within a budget, drops results that a training step reads forward and
 * again backward, and recomputes them, with as little extra work as the budget allows.
 *
 *     all kept        a = f(x)  b = g(a) ...loss...  gb(b)  ga(a)
 *     a is dropped    a = f(x)  b = g(a) ...loss...  gb(b)  a_again = f(x)  ga(a_again)
 *
 * rerun_search.h selects them. The plans that it finds, from the one that keeps everything down to the fewest bytes, do
 * not depend on the budget; the first that fits is used, so the peak never rises when the budget falls. Recomputation
 * runs the same loops on the same operands, so results are bit-identical. Weights are read before the update writes
 * them. */
#include "planner/graph/again.h"
#include "planner/graph/planned.h"
#include "planner/graph/reductions.h"
#include "planner/order/rerun_search.h"

enum { PACKED = 12, EVENTS = 100 << 20 }; /* most plans to pack; most events that the search may run */

typedef struct search {
    ac_ctx *cx;
    const ac_planned *from;
    ac_region *region; /* of the search */
    ac_lowered **step; /* in the order of the search */
    int32_t n_steps;
    const ac_order_problem *p;
    int32_t *maker, *written;
    int64_t *work;
    ac_rerun now;
    ac_rerun_search moves;
    ac_rerun_front front;
} search;

/* ------------------------------------------------------------------ the order
 *
 * A gradient of weights, or another small result of large operands, comes as soon as it can, with the steps that only
 * it reads: its operands are dead when the other gradients are computed. Steps that write state stay in place, since
 * others read the old value. */

static bool is_small(const ac_order_problem *p, const ac_lowered *low, int32_t s)
{
    enum { LESS = 8 };
    const ac_tensor *to = ac_node_result(low->node);
    ac_bytes most = 0;
    for (int32_t i = 0; i < p->step[s].n_values; i++) {
        const ac_bytes size = p->value[p->step[s].value[i]].size;
        most = size > most ? size : most;
    }
    return !ac_tensor_root(to)->state && ac_tensor_bytes(to) <= most / LESS;
}

/* By step: its result is small, or only the next step reads it and makes something small of it. */
static bool *list_small(const search *q, ac_lowered *const *step)
{
    bool *small = AC_NEW_N(q->region, bool, q->p->n + 1);
    for (int32_t s = q->p->n - 1; s >= 0; s--) {
        const ac_order_value *v = &q->p->value[ac_tensor_root(ac_node_result(step[s]->node))->id];
        const bool one = v->n_users == 2 && v->user[0] == s && v->user[1] == s + 1 && !v->at_end;
        small[s] = is_small(q->p, step[s], s) || (one && !step[s]->macs && is_small(q->p, step[s + 1], s + 1));
    }
    return small;
}

/* order[i] is the step that runs i-th. */
static void hoist(const search *q, ac_lowered *const *step, int32_t *order)
{
    const bool *small = list_small(q, step);
    for (int32_t s = 0; s < q->p->n; s++) {
        const ac_order_step *st = &q->p->step[s];
        int32_t at = s;
        for (bool may = small[s]; may && at > 0; at -= may) {
            may = !small[order[at - 1]];
            for (int32_t i = 0; i < st->n_preds && may; i++)
                may = st->pred[i] != order[at - 1];
            if (may)
                order[at] = order[at - 1];
        }
        order[at] = s;
    }
}

static ac_bytes peak_of(search *q, const int32_t *order)
{
    return ac_order_peak(q->p, order, &q->cx->heap);
}

/* The steps in the order that is searched, and q->p about them. */
static void put_in_order(search *q, ac_live_options live)
{
    const ac_planned *from = q->from;
    int32_t *as_is = AC_NEW_N(q->region, int32_t, from->n_steps + 1);
    int32_t *order = AC_NEW_N(q->region, int32_t, from->n_steps + 1);
    q->n_steps = from->n_steps;
    q->step = AC_NEW_N(q->region, ac_lowered *, from->n_steps + 1);
    q->p = ac_order_graph(q->region, from->graph, from->step, from->n_steps, live);
    for (int32_t s = 0; s < from->n_steps; s++)
        as_is[s] = s;
    hoist(q, from->step, order);
    if (peak_of(q, order) > peak_of(q, as_is))
        order = as_is;
    for (int32_t s = 0; s < from->n_steps; s++)
        q->step[s] = from->step[order[s]];
    q->p = ac_order_graph(q->region, from->graph, q->step, from->n_steps, live);
}

/* Sets the cost of each step, and the state that it overwrites. */
static void look_at_steps(search *q)
{
    const ac_graph *g = q->from->graph;
    q->maker = ac_again_makers(q->region, g, q->step, q->n_steps, ac_may_run_again);
    q->written = AC_NEW_N(q->region, int32_t, g->tensor.n + 1);
    q->work = AC_NEW_N(q->region, int64_t, q->n_steps + 1);
    for (int32_t i = 0; i < g->tensor.n; i++)
        q->written[i] = -1;
    for (int32_t s = 0; s < q->n_steps; s++) {
        const ac_tensor *to = ac_node_result(q->step[s]->node), *root = ac_tensor_root(to);
        q->work[s] = q->step[s]->macs + ac_tensor_count(to);
        if (root->state && q->written[root->id] < 0)
            q->written[root->id] = s;
    }
}

/* ------------------------------------------------------------------ the plan */

/* The bytes that an arena of this size holds: the last tensor need not fill its alignment. */
static ac_bytes aligned(const ac_plan_how *how, ac_bytes bytes)
{
    return ac_align_up(bytes, how->live.align);
}

/* The tensor of an instance, in place of t, which is part of its value. */
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
    ac_lowered *low = q->step[e->step];
    const ac_order_step *st = &q->p->step[e->step];
    const int32_t room = ac_node_reads(low->node, NULL, 0), *use = &q->now.use.item[e->use];
    ac_tensor **list = AC_NEW_N(p->region, ac_tensor *, room + 2);
    int32_t n = ac_node_reads(low->node, list, room);
    ac_swaps w = {0};
    list[n++] = ac_node_result(low->node);
    for (int32_t i = 0; i < st->n_values; i++)
        for (int32_t k = 0; k < n && !first[use[i]]; k++)
            if (ac_tensor_root(list[k])->id == st->value[i])
                ac_push(p->region, &w, ((ac_swap){list[k], tensor_of(g, p->region, made, list[k], use[i])}));
    return w.n ? ac_again_step(p->region, low, &w) : low;
}

/* For the report. */
static void tell(search *q, const ac_plan_how *how, ac_planned *p)
{
    const ac_bytes budget = ac_plan_budget(how, q->from), arena = p->plan.arena_bytes;
    ac_plan_point *curve = AC_NEW_N(p->region, ac_plan_point, q->front.n);
    bool *is_again = AC_NEW_N(p->region, bool, q->now.event.n + 1);
    ac_plan_found *f = &p->found;
    f->least_bytes = 0;
    for (int32_t i = 0; i < q->front.n; i++)
        curve[i] = (ac_plan_point){q->front.item[i].peak, q->front.item[i].again};
    for (int32_t e = 0; e < q->now.event.n; e++)
        is_again[e] = q->now.event.item[e].step != q->now.event.item[e].before;
    f->recomputed = q->now.event.n - q->n_steps;
    f->once_bytes = q->from->plan.arena_bytes;
    f->is_again = is_again;
    f->again = q->now.again;
    f->work = 0;
    for (int32_t s = 0; s < q->n_steps; s++)
        f->work += q->work[s];
    f->least_again = -1;
    if (!(p->lives & AC_REDUCE(OVERLAP))) { /* where results start inside operands, less may be alive than is counted */
        f->least_bytes = ac_rerun_least(&q->now);
        f->least_again = ac_rerun_bound(&q->now, aligned(how, budget > arena ? budget : arena), f->again);
    }
    f->curve = curve;
    f->n_curve = q->front.n;
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
    tell(q, how, p);
    return AC_OK;
}

/* The first plan of the front that is within the budget, as packing has it; else the least. */
static int meet(search *q, const ac_plan_how *how, ac_planned **to)
{
    const ac_bytes budget = ac_plan_budget(how, q->from);
    int32_t tried = 0;
    for (int32_t i = 0; i < q->front.n && tried < PACKED; i++) {
        if (q->front.item[i].peak > aligned(how, budget) && i + 1 < q->front.n)
            continue;
        ac_planned *p;
        tried++;
        ac_rerun_run(&q->now, q->front.item[i].hold, INT64_MAX);
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
    put_in_order(&q, live);
    look_at_steps(&q);
    q.now = (ac_rerun){.region = q.region, .p = q.p, .maker = q.maker, .written = q.written, .work = q.work};
    ac_rerun_open(&q.now);
    q.moves.k = &q.now;
    ac_rerun_search_open(&q.moves);
    q.front = ac_rerun_front_make(&q.moves, EVENTS);
    const int status = meet(&q, how, to);
    ac_region_close(q.region);
    return status;
}
