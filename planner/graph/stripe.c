/* stripe.c - which runs of steps are worth being worked row by row: estimates, then the best choice. */
#include "planner/graph/stripe.h"
#include "ir/lower/node/cached.h"
#include "ir/lower/node/node.h"
#include "planner/pack/solve.h"

enum {
    LONGEST = 48, /* steps of a group */
    SHARE = 8     /* of the steps that --effort allows; the default, 32 million, suffices for networks of 1,500 steps */
};

static ac_bytes up(const ac_stripe_search *q, ac_bytes v)
{
    return ac_align_up(v, q->align);
}

/* ------------------------------------------------------------------ estimates */

/* The bytes that a saves if b overlaps it: b starts `below` bytes before the start of a, or `above` bytes after it. */
static ac_bytes saved(ac_bytes a, ac_bytes b, ac_bytes below, ac_bytes above)
{
    const ac_bytes low = a + (below > 0 ? below : 0), high = b + (above > 0 ? above : 0);
    const ac_bytes with_low = low > b ? low : b, with_high = high > a ? high : a;
    const ac_bytes both = with_low < with_high ? with_low : with_high;
    return both < a + b ? a + b - both : 0;
}

static bool is_fed(const ac_stripe_search *q, const ac_tensor *t)
{
    return t && q->forms.streamed.tensor && t == ac_tensor_root(q->forms.streamed.tensor);
}

/* Item i takes bytes of the arena in step s. */
static bool counts(const ac_stripe_search *q, int32_t i, ac_step s)
{
    const ac_item *it = &q->forms.live->problem.item[i];
    return ac_item_in_ram(&q->forms.live->problem, it) && it->life.begin <= s && s < it->life.end &&
           !is_fed(q, q->forms.live->owner[i]);
}

static ac_bytes of_step(const ac_stripe_search *q, ac_step s)
{
    const ac_problem *p = &q->forms.live->problem;
    ac_bytes sum = 0, best = 0;
    for (int32_t i = 0; i < p->n; i++)
        if (counts(q, i, s))
            sum += ac_align_up(p->item[i].size, p->item[i].align);
    for (int32_t k = 0; k < p->n_pairs; k++) {
        const ac_pair *x = &p->pair[k];
        if (x->life.begin > s || x->life.end <= s || !counts(q, x->a, s) || !counts(q, x->b, s))
            continue;
        const ac_bytes a = p->item[x->a].size, b = p->item[x->b].size;
        const ac_bytes v =
            saved(up(q, a), up(q, b), x->max_below < -b ? b : -x->max_below, x->min_above > a ? a : x->min_above);
        best = v > best ? v : best;
    }
    return sum - best;
}

/* Over all steps of the group: how far above the next read of `in` a write of `out` ends. */
static ac_bytes distance(const ac_stripe_group *q, const ac_tensor *in, const ac_tensor *out, ac_region *tmp)
{
    const ac_stripe *s = &q->s;
    int64_t *next = AC_NEW_N(tmp, int64_t, s->n_units), below = INT64_MIN, first = INT64_MAX;
    for (int32_t u = 0; u < s->n_units; u++)
        next[u] = s->unit[u].limit;
    for (int64_t tick = s->ticks - 1; tick >= 0; tick--) {
        const ac_stripe_unit *u = &s->unit[q->unit_of_tick[tick]];
        const int64_t row = --next[q->unit_of_tick[tick]];
        int64_t written = INT64_MIN;
        for (int32_t m = u->member; m < u->member + u->n_members; m++) {
            const ac_stripe_member *x = &s->member[m];
            for (int32_t a = 0; a < x->part.fn->buf.n; a++) {
                const ac_arg *arg = x->buf[a] < q->n_args ? &q->arg[x->buf[a]] : NULL;
                const ac_buf *b = &x->part.fn->buf.item[a];
                const ac_tensor *t = x->tensor[a] >= 0                   ? q->tensor[x->tensor[a]]
                                     : arg && arg->kind == AC_ARG_TENSOR ? arg->tensor
                                                                         : NULL;
                if (!t || (t != in && t != out))
                    continue;
                const ac_span e = ac_part_span(&x->part, a, row);
                const bool late = b->role == AC_BUF_OUT && x->part.late && row == x->part.steps - 1;
                if (t == in && e.lo < e.hi && ac_dtype_size(b->dtype, e.lo) < first)
                    first = ac_dtype_size(b->dtype, e.lo);
                if (t == out && (late || e.lo < e.hi)) {
                    const int64_t end = ac_dtype_size(b->dtype, late ? b->count : e.hi);
                    written = end > written ? end : written;
                }
            }
        }
        if (written != INT64_MIN && first != INT64_MAX && written - first > below)
            below = written - first;
    }
    return below == INT64_MIN ? -ac_tensor_bytes(in) : below;
}

/* A root with a place of its own in the arena. */
static bool takes_room(const ac_stripe_search *q, const ac_tensor *t)
{
    const ac_liveness *l = q->forms.live;
    return !t->root && l->item_of[t->id] >= 0 && ac_item_in_ram(&l->problem, &l->problem.item[l->item_of[t->id]]) &&
           !is_fed(q, t);
}

/* The place in q->begun and q->ended of a tensor that begins, or ends, in this step: it counts from the next one on. */
static int32_t slot_of(int32_t step, int32_t n)
{
    return step < 0 ? 0 : step < n ? step + 1 : n + 1;
}

/* q->begun[s]: bytes of tensors that begin before step s; q->ended[s]: of those that end before it. */
static void sum_lives(ac_stripe_search *q, ac_region *region)
{
    const ac_graph *g = q->forms.g;
    const ac_liveness *l = q->forms.live;
    const int32_t n = q->forms.n_steps;
    q->begun = AC_NEW_N(region, ac_bytes, n + 2);
    q->ended = AC_NEW_N(region, ac_bytes, n + 2);
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        if (!takes_room(q, t))
            continue;
        const ac_bytes size = up(q, ac_tensor_bytes(t));
        q->begun[slot_of(l->first[i], n)] += size;
        q->ended[slot_of(l->last[i], n)] += size;
    }
    for (int32_t s = 1; s <= n + 1; s++) {
        q->begun[s] += q->begun[s - 1];
        q->ended[s] += q->ended[s - 1];
    }
}

static bool is_free(const ac_stripe_search *q, const ac_tensor *t)
{
    return !q->forms.viewed[t->id] && !t->state && !ac_tensor_is_const(t);
}

/* The bytes of tensors that are alive in some step of begin .. end - 1, without those that only these steps use;
 * *made: the largest result among them. Cost: O(arguments of the steps). */
static ac_bytes outside(const ac_stripe_search *q, int32_t begin, int32_t end, ac_bytes *made)
{
    const ac_stripes *v = &q->forms;
    ac_bytes sum = q->begun[end] - q->ended[begin];
    *made = 0;
    for (int32_t s = begin; s < end; s++)
        for (int32_t a = 0; a < v->step[s]->arg.n; a++) {
            const ac_tensor *t = v->step[s]->arg.item[a].kind == AC_ARG_TENSOR ? v->step[s]->arg.item[a].tensor : NULL;
            if (!t || v->made_at[t->id] != s || v->step[s]->fn->buf.item[a].role == AC_BUF_IN || !takes_room(q, t))
                continue;
            const ac_bytes size = up(q, ac_tensor_bytes(t));
            if (ac_stripes_is_inner(v, begin, end, t))
                sum -= size;
            else
                *made = size > *made ? size : *made;
        }
    return sum;
}

ac_bytes ac_stripe_saved(const ac_stripe_search *q, const ac_stripe_group *x, const ac_tensor *in, const ac_tensor *out,
                         ac_region *tmp)
{
    if (!q->overlap || x->s.streamed >= 0 || !is_free(q, in) || !is_free(q, out) || in->output ||
        (in->input && q->keep_inputs) || q->forms.live->last[in->id] >= x->end)
        return 0;
    return saved(up(q, ac_tensor_bytes(in)), up(q, ac_tensor_bytes(out)), up(q, distance(x, in, out, tmp)),
                 INT64_MAX / 4);
}

ac_bytes ac_stripe_estimate(const ac_stripe_search *q, const ac_stripe_group *x, ac_region *tmp)
{
    ac_bytes made, best = 0;
    const ac_bytes sum = x->scratch + outside(q, x->begin, x->end, &made);
    for (int32_t i = 0; i < x->n_in; i++)
        for (int32_t o = 0; o < x->n_out; o++) {
            const ac_bytes v = ac_stripe_saved(q, x, x->in[i], x->out[o], tmp);
            best = v > best ? v : best;
        }
    return sum - best;
}

/* A depthwise convolution over its dying input, if that takes less than `now`. */
static ac_bytes try_in_place(ac_stripe_search *q, ac_step s, ac_bytes now)
{
    const ac_stripes *v = &q->forms;
    const ac_node *n = v->step[s]->node;
    if (!(ac_ops[n->op].flags & OF_INPLACE) || n->n_fused || !q->inplace)
        return now;
    const ac_tensor *x = n->in[0], *y = n->out[0];
    if (!is_free(q, x) || !is_free(q, y) || x->output || y->output || (x->input && q->keep_inputs) ||
        v->live->last[x->id] != s || ac_tensor_bytes(x) != ac_tensor_bytes(y))
        return now;
    const ac_diags before = v->cx->diags;
    ac_lowered *low = ac_lower_node(v->cx, v->region, n, v->target, AC_VARIANT_INPLACE, v->exact);
    low = ac_lower_cached(v->cx, v->region, low, v->target, v->cache);
    if (!ac_quietly(v->cx, before, low ? AC_OK : AC_FAIL))
        return now;
    const ac_problem *p = &v->live->problem;
    ac_bytes sum = up(q, low->scratch) - up(q, ac_tensor_bytes(y));
    for (int32_t i = 0; i < p->n; i++)
        if (p->item[i].kind != AC_ITEM_SCRATCH && counts(q, i, s))
            sum += ac_align_up(p->item[i].size, p->item[i].align);
    if (sum >= now)
        return now;
    q->in_place[s] = low;
    return sum;
}

/* ------------------------------------------------------------------ the best cut */

/* Of the steps before this one */
typedef struct cut {
    ac_bytes peak;
    int32_t fused, slow; /* steps in groups; groups and steps that take the slower form */
    int32_t from;        /* where the last group (or step) begins */
} cut;

/* The bytes of the steps as a group, below `limit` if possible; limit < 0: the minimum. -1: they cannot be a group. */
static ac_bytes cost(const ac_stripe_search *q, int32_t begin, int32_t end, ac_bytes limit)
{
    const int32_t at = begin * LONGEST + end - begin - 1;
    return q->tight[at] >= 0 && (limit < 0 || q->cost[at] > limit) ? q->tight[at] : q->cost[at];
}

static bool cheaper(const cut *a, const cut *b)
{
    return a->fused != b->fused ? a->fused < b->fused : a->slow != b->slow ? a->slow < b->slow : a->peak < b->peak;
}

/* Fewest fused steps with every estimate at most `limit`, then the lowest peak; limit < 0: the lowest peak alone. */
static cut *best_cut(const ac_stripe_search *q, ac_bytes limit, ac_region *tmp)
{
    const int32_t n = q->forms.n_steps;
    cut *best = AC_NEW_N(tmp, cut, n + 1);
    for (int32_t end = 1; end <= n; end++) {
        best[end] = (cut){INT64_MAX, INT32_MAX, 0, -1};
        for (int32_t begin = end - 1; begin >= 0 && begin >= end - LONGEST; begin--) {
            const ac_bytes c = cost(q, begin, end, limit);
            if (c < 0 || best[begin].fused == INT32_MAX || (limit >= 0 && c > limit))
                continue;
            const bool slow = q->cost[begin * LONGEST + end - begin - 1] != c;
            const cut x = {c > best[begin].peak ? c : best[begin].peak,
                           best[begin].fused + (end - begin > 1 ? end - begin : 0), best[begin].slow + slow, begin};
            if (limit < 0 ? x.peak < best[end].peak || (x.peak == best[end].peak && cheaper(&x, &best[end]))
                          : cheaper(&x, &best[end]))
                best[end] = x;
        }
    }
    return best;
}

/* Estimates one group. Windows in pairs are tried only if they may matter: they save at most half of the bytes of the
 * windows. False: longer groups from `begin` on are useless. */
static bool estimate(ac_stripe_search *q, int32_t begin, int32_t end)
{
    const ac_stripe_how plain = {q->align, false}, paired = {q->align, true};
    const ac_stripe_streamed *streamed = &q->forms.streamed;
    const int32_t at = begin * LONGEST + end - begin - 1;
    if (end - begin == 1 && !(streamed->tensor && streamed->first == begin && streamed->last == begin))
        return true; /* a step as it is */
    if (!ac_stripe_form_of(&q->forms, begin)->ok || !ac_stripe_form_of(&q->forms, end - 1)->ok)
        return false;
    ac_bytes made;
    const ac_bytes others = outside(q, begin, end, &made);
    q->work += end - begin;
    if (!streamed->tensor && others - made >= q->single) /* even if a result is over an operand */
        return true;
    ac_region *tmp = ac_region_open(&q->forms.cx->heap);
    ac_stripe_group x, y;
    const bool ok = ac_stripe_group_of(&q->forms, begin, end, plain, tmp, &x);
    if (ok) {
        q->cost[at] = ac_stripe_estimate(q, &x, tmp);
        q->work += x.s.ticks;
    }
    if (ok && q->cost[at] - x.scratch / 2 < q->single && ac_stripe_group_of(&q->forms, begin, end, paired, tmp, &y) &&
        y.scratch < x.scratch) {
        q->tight[at] = ac_stripe_estimate(q, &y, tmp);
        q->work += y.s.ticks;
    }
    const bool full = ok && x.scratch / 2 >= q->single;
    ac_region_close(tmp);
    return !full;
}

/* Estimates groups of one step, of two, and so on, until all are known or the work is done that --effort allows: then
 * the best plan of short groups is found. Results do not depend on time. */
static void estimate_all(ac_stripe_search *q, ac_region *tmp)
{
    const int32_t n = q->forms.n_steps;
    bool *done = AC_NEW_N(tmp, bool, n + 1);
    for (int32_t length = 1; length <= LONGEST; length++)
        for (int32_t begin = 0; begin + length <= n && q->work < q->most_work; begin++)
            done[begin] = done[begin] || !estimate(q, begin, begin + length);
}

ac_stripe_search *ac_stripe_begin(ac_ctx *cx, const ac_plan_how *how, ac_region *region, const ac_planned *from,
                                  bool rows)
{
    ac_stripe_search *q = AC_NEW(region, ac_stripe_search);
    ac_stripes_open(&q->forms, cx, how, region, from);
    q->align = how->live.align;
    q->most_work = ac_effort_steps(how->effort >= 0 ? how->effort : AC_EFFORT_DEFAULT) / SHARE;
    q->overlap = from->live->overlaps != NULL;
    q->keep_inputs = how->live.preserve_input || how->live.whole;
    q->inplace = from->lives & AC_REDUCE(INPLACE);
    if (rows)
        ac_stripes_stream(&q->forms);
    sum_lives(q, region);
    return q;
}

ac_stripe_search *ac_stripe_open(ac_ctx *cx, const ac_plan_how *how, ac_region *region, const ac_planned *from,
                                 bool rows)
{
    const int32_t n_steps = from->n_steps;
    ac_stripe_search *q = ac_stripe_begin(cx, how, region, from, rows);
    const bool streamed = q->forms.streamed.tensor;
    q->cost = AC_NEW_N(region, ac_bytes, n_steps * LONGEST + 1);
    q->tight = AC_NEW_N(region, ac_bytes, n_steps * LONGEST + 1);
    q->in_place = AC_NEW_N(region, ac_lowered *, n_steps + 1);
    for (int32_t i = 0; i < n_steps * LONGEST; i++)
        q->cost[i] = q->tight[i] = -1;
    for (int32_t s = 0; s < n_steps; s++) {
        const ac_bytes now = of_step(q, s), less = try_in_place(q, s, now);
        q->single = less > q->single ? less : q->single;
        if (streamed && q->forms.streamed.first <= s && s <= q->forms.streamed.last)
            continue; /* alone it would need all rows */
        q->cost[s * LONGEST] = now;
        q->tight[s * LONGEST] = less < now ? less : -1;
    }
    ac_region *tmp = ac_region_open(&cx->heap);
    estimate_all(q, tmp);
    q->least = n_steps ? best_cut(q, -1, tmp)[n_steps].peak : 0;
    ac_region_close(tmp);
    return q;
}

/* Steps from .. to - 1 as one, within the limit if they can; the others take `rest`. */
static ac_lowered *chosen(ac_stripe_search *q, int32_t from, int32_t to, ac_bytes limit, ac_bytes rest, int32_t *groups)
{
    const ac_stripes *v = &q->forms;
    const int32_t at = from * LONGEST + to - from - 1;
    const bool tight = q->tight[at] >= 0 && q->cost[at] > limit;
    if (to - from == 1 && !(v->streamed.tensor && v->streamed.first <= from && from <= v->streamed.last))
        return tight ? q->in_place[from] : v->step[from];
    ac_stripe_group x;
    ++*groups;
    const ac_stripe_how how = {q->align, tight};
    if (q->forms.target->firmware)
        ac_stripe_refine(q, from, to, how, limit > q->least ? INT64_MAX : rest);
    if (!ac_stripe_group_of(&q->forms, from, to, how, v->region, &x))
        return NULL;
    return ac_stripe_lower(&q->forms, &x);
}

int ac_stripe_choose(ac_stripe_search *q, ac_bytes limit, ac_lowered **out, int32_t *n, int32_t *groups)
{
    const int32_t steps = q->forms.n_steps;
    ac_region *tmp = ac_region_open(&q->forms.cx->heap);
    limit = limit < q->least ? q->least : limit;
    const cut *best = best_cut(q, limit, tmp);
    int32_t *begin = AC_NEW_N(tmp, int32_t, steps + 1), count = 0;
    for (int32_t end = steps; end > 0; end = best[end].from)
        begin[count++] = best[end].from;
    *groups = *n = 0;
    bool ok = true;
    for (int32_t k = count - 1; k >= 0 && ok; k--) {
        ac_bytes rest = 0;
        for (int32_t i = 0; i < count; i++) {
            const ac_bytes c = i == k ? 0 : cost(q, begin[i], i ? begin[i - 1] : steps, limit);
            rest = c > rest ? c : rest;
        }
        ok = (out[(*n)++] = chosen(q, begin[k], k ? begin[k - 1] : steps, limit, rest, groups)) != NULL;
    }
    ac_region_close(tmp);
    return ok ? AC_OK : AC_FAIL;
}
