/* recompute.c - reduction RECOMPUTE: a result of an inexpensive step that is read early and late, but not at the peak,
 * is recomputed for the late reads instead of staying in the arena.
 *
 *     before   t = pad(x)   a = f(t)   ..peak..   z = g(b, t)
 *     after    t = pad(x)   a = f(t)   ..peak..   t_again = pad(x)   z = g(b, t_again)
 *
 * Only steps without multiply-adds run again, with the same loops, so results are bit-identical. The operands of such a
 * step must still be available: either they stay alive (which may cost the bytes that were saved), or they are
 * inexpensive and are recomputed as well, at most DEPTH steps deep. Greedy, the largest tensors over the peak first; a
 * copy is kept if the live bytes at the peak fall, or if fewer steps reach them; packing has to confirm the gain at the
 * end. No step is changed: readers of the second result are copies with other operands, and only such copies refer to
 * the new tensors, which belong to the candidate's own graph. */
#include "planner/graph/again.h"
#include "planner/graph/planned.h"
#include "planner/graph/reductions.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH = 3, TRIES = 400, PER_PEAK = 24, WIDEST = 16 };

typedef struct peak {
    ac_bytes bytes;
    int32_t steps; /* how many reach it */
    int32_t first;
} peak;

typedef struct search {
    ac_ctx *cx;
    ac_region *region; /* of the candidate */
    ac_graph *g;       /* its own */
    ac_live_options live;
    ac_lowered **step; /* as found so far */
    int32_t n;
    peak now;
    const ac_order_problem *uses; /* of `step`; its values are tensors by id */
    int32_t *maker;               /* by tensor id, of roots: the cheap step that alone writes it; below 0: none */
    ac_lowered **made;            /* the steps of a try */
    int32_t n_made;
} search;

/* ------------------------------------------------------------------ candidates */

static bool is_cheap(const ac_lowered *low)
{
    const ac_node *n = low->node;
    int64_t in = 0;
    if (low->macs || !ac_may_run_again(low))
        return false;
    for (int32_t i = 0; i < low->arg.n; i++) {
        if (low->arg.item[i].kind != AC_ARG_TENSOR)
            continue;
        if (ac_tensor_root(low->arg.item[i].tensor)->state) /* by then it may be another value */
            return false;
        in += ac_tensor_count(low->arg.item[i].tensor);
    }
    return in <= WIDEST * ac_tensor_count(ac_node_result(n));
}

static int32_t last_use(const search *q, const ac_tensor *t)
{
    const ac_order_value *v = &q->uses->value[t->id];
    return v->n_users ? v->user[v->n_users - 1] : -1;
}

/* Is t made before the peak, not used at it, and read again after? Then where; else -1. */
static int32_t again_at(const search *q, const ac_tensor *t)
{
    const ac_order_value *v = &q->uses->value[t->id];
    if (t->root || q->maker[t->id] < 0 || q->maker[t->id] >= q->now.first)
        return -1;
    for (int32_t k = 0; k < v->n_users; k++)
        if (v->user[k] >= q->now.first)
            return v->user[k] == q->now.first ? -1 : v->user[k];
    return -1;
}

static int32_t reads_of(search *q, const ac_lowered *low, ac_tensor ***list)
{
    const int32_t n = ac_node_reads(low->node, NULL, 0);
    *list = AC_NEW_N(q->region, ac_tensor *, n + 1);
    return ac_node_reads(low->node, *list, n);
}

/* Adds to q->made the steps that recompute root t for step `at`; w gets their results. */
static void make_again(search *q, ac_tensor *t, int32_t at, int32_t depth, ac_swaps *w)
{
    ac_region *r = q->region;
    const ac_lowered *low = q->step[q->maker[t->id]];
    ac_tensor **read;
    for (int32_t k = 0, n = reads_of(q, low, &read); k < n; k++) {
        ac_tensor *root = ac_tensor_root(read[k]);
        if (depth > 1 && q->maker[root->id] >= 0 && last_use(q, root) < at && ac_swapped(w, root) == root)
            make_again(q, root, at, depth - 1, w);
        ac_tensor *now = ac_swapped(w, root);
        if (now != root && root != read[k])
            ac_push(r, w, ((ac_swap){read[k], ac_again_twin(q->g, r, read[k], now)}));
    }
    ac_push(r, w, ((ac_swap){t, ac_again_twin(q->g, r, t, NULL)}));
    q->made[q->n_made++] = ac_again_step(r, low, w);
}

/* The step with `to` in place of t, for views of t as well; itself where it reads none. */
static ac_lowered *redirect(search *q, ac_lowered *s, const ac_tensor *t, ac_tensor *to)
{
    ac_region *r = q->region;
    ac_tensor **read;
    ac_swaps w = {0};
    for (int32_t k = 0, n = reads_of(q, s, &read); k < n; k++)
        if (ac_tensor_root(read[k]) == t)
            ac_push(r, &w, ((ac_swap){read[k], read[k] == t ? to : ac_again_twin(q->g, r, read[k], to)}));
    return w.n ? ac_again_step(r, s, &w) : s;
}

/* ------------------------------------------------------------------ the search */

/* The most bytes alive, as planner/graph/live.c counts them, and where. */
static peak peak_of(const search *q, ac_lowered *const *step, int32_t n)
{
    ac_region *tmp = ac_region_open(&q->cx->heap);
    const ac_order_problem *p = ac_order_graph(tmp, q->g, step, n, q->live);
    ac_bytes *change = AC_NEW_N(tmp, ac_bytes, n + 2), sum = 0;
    peak at = {-1, 0, 0};
    for (int32_t i = 0; i < p->n_values; i++) {
        const ac_order_value *v = &p->value[i];
        if (!v->n_users && !(v->at_start && v->at_end))
            continue;
        change[v->at_start ? 0 : v->user[0]] += v->size;
        change[v->at_end ? n : v->user[v->n_users - 1] + 1] -= v->size;
    }
    for (int32_t s = 0; s < n; s++) {
        const ac_order_step *st = &p->step[s];
        ac_bytes here = (sum += change[s]) + st->scratch;
        for (int32_t k = 0; k < st->n_over; k++) {
            const ac_order_value *v = &p->value[st->over[k]];
            if (!v->at_end && v->user[v->n_users - 1] == s) {
                here -= v->size; /* the result overwrites it */
                break;
            }
        }
        if (here > at.bytes)
            at = (peak){here, 0, s};
        at.steps += here == at.bytes;
    }
    ac_region_close(tmp);
    return at;
}

/* The steps with t made again for step `at`; kept when the peak falls. */
static bool try_again(search *q, ac_tensor *t, int32_t at, int32_t depth)
{
    ac_graph *g = q->g;
    const int32_t tensors = g->tensor.n;
    ac_swaps w = {0};
    q->made = AC_NEW_N(q->region, ac_lowered *, 2 * q->n + 1);
    q->n_made = 0;
    for (int32_t s = 0; s < q->n; s++) {
        if (s == at)
            make_again(q, t, at, depth, &w);
        q->made[q->n_made++] = s < at ? q->step[s] : redirect(q, q->step[s], t, ac_swapped(&w, t));
    }
    const peak found = peak_of(q, q->made, q->n_made);
    if (found.bytes < q->now.bytes || (found.bytes == q->now.bytes && found.steps < q->now.steps)) {
        q->step = q->made;
        q->n = q->n_made;
        q->now = found;
        return true;
    }
    ac_graph_drop(g, tensors);
    return false;
}

static int by_bytes(const void *a, const void *b)
{
    const ac_tensor *x = *(ac_tensor *const *)a, *y = *(ac_tensor *const *)b;
    const ac_bytes p = ac_tensor_bytes(x), q = ac_tensor_bytes(y);
    return p != q ? (p < q) - (p > q) : (x->id > y->id) - (x->id < y->id);
}

/* One more result computed again; false: none helps, or *tries are over. */
static bool improve(search *q, int32_t *tries)
{
    const ac_graph *g = q->g;
    ac_region *tmp = ac_region_open(&q->cx->heap);
    AC_VEC(ac_tensor *) list = {0};
    bool better = false;
    q->uses = ac_order_graph(tmp, g, q->step, q->n, q->live);
    q->maker = ac_again_makers(tmp, g, q->step, q->n, is_cheap);
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (again_at(q, g->tensor.item[i]) >= 0)
            ac_push(tmp, &list, g->tensor.item[i]);
    if (list.n > 1)
        qsort(list.item, (size_t)list.n, sizeof *list.item, by_bytes);
    for (int32_t i = 0; i < list.n && i < PER_PEAK && !better; i++)
        for (int32_t depth = 1; depth <= DEPTH && *tries > 0 && !better; depth++, --*tries)
            better = try_again(q, list.item[i], again_at(q, list.item[i]), depth);
    ac_region_close(tmp);
    return better;
}

int ac_reduce_recompute(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_planned **to)
{
    AC_TRY(ac_planned_ready(cx, how, from));
    ac_planned *p = ac_planned_from(cx, how, from, 0);
    int32_t tries = TRIES;
    search q = {.cx = cx,
                .region = p->region,
                .g = ac_graph_fork(from->graph, p->region),
                .live = how->live,
                .step = from->step,
                .n = from->n_steps};
    q.live.inplace = from->lives & AC_REDUCE(INPLACE);
    q.now = peak_of(&q, q.step, q.n);
    while (improve(&q, &tries))
        ;
    if (q.n == from->n_steps) {
        ac_planned_drop(p, from);
        return AC_OK;
    }
    p->graph = q.g;
    p->step = q.step;
    p->n_steps = q.n;
    AC_TRY(ac_planned_pack(cx, how, p));
    p->found.recomputed = q.n - from->n_steps;
    p->found.once_bytes = from->plan.arena_bytes;
    if (ac_planned_less(p, from))
        *to = p;
    else
        ac_planned_drop(p, from);
    return AC_OK;
}
