/* overlap.c - which results, and which windows of stripes, may start inside an operand that dies. */
#include "planner/graph/overlap.h"
#include "ir/loop/access/distance.h"

#include <string.h>

typedef struct rules {
    ac_ctx *cx;
    ac_region *region; /* of the pairs and of turned loops */
    ac_lowered *const *step;
    ac_liveness *live;
    bool *outlives; /* by item: it is read after the last step */
    ac_pair *pair;
    ac_overlap_rule *rule;
    int32_t n, room;
} rules;

/* The range of offset(b) - offset(a) that one form of a step's loops allows. */
typedef struct window {
    ac_bytes max_below, min_above;
} window;

/* Of argument a of step s. */
static int32_t item_of(const rules *v, ac_step s, int32_t a)
{
    const ac_arg *x = &v->step[s]->arg.item[a];
    if (x->kind == AC_ARG_SCRATCH && x->over)
        return v->live->scratch_item[s][a];
    return x->kind == AC_ARG_TENSOR ? v->live->item_of[x->tensor->id] : -1;
}

static ac_bytes delta_of(const rules *v, const ac_arg *x)
{
    return x->kind == AC_ARG_TENSOR ? v->live->delta[x->tensor->id] : 0;
}

static bool is_made(const ac_loop_fn *fn, int32_t a)
{
    return fn->buf.item[a].role == AC_BUF_OUT || fn->buf.item[a].role == AC_BUF_SCRATCH;
}

/* Bytes read as one type and written as another: C lets a compiler reorder them, unless one of the two is bytes. */
static bool types_meet(const ac_buf *a, const ac_buf *b)
{
    return a->dtype == b->dtype || ac_dtype_size(a->dtype, 1) == 1 || ac_dtype_size(b->dtype, 1) == 1;
}

static ac_bytes round_down(ac_bytes v, ac_bytes align)
{
    return v - ((v % align) + align) % align;
}

/* The window of items a (dies in the step) and b (born) over all their operands and results in fn. */
static bool window_of(const rules *v, ac_step s, const ac_loop_fn *fn, int32_t a, int32_t b, window *out, bool *once)
{
    const ac_lowered *low = v->step[s];
    const ac_item *ia = &v->live->problem.item[a], *ib = &v->live->problem.item[b];
    ac_region *tmp = ac_region_open(&v->cx->heap);
    ac_distance *of = AC_NEW_N(tmp, ac_distance, fn->buf.n + 1);
    bool ok = true;
    window w = {ia->size, -ib->size};
    *once = true;
    for (int32_t o = 0; o < low->arg.n && ok; o++) {
        if (item_of(v, s, o) != b)
            continue;
        bool stored_once = false;
        const ac_bytes at_b = delta_of(v, &low->arg.item[o]);
        ok = is_made(fn, o) && ac_loop_distances(v->cx, fn, o, of, &stored_once);
        *once = *once && stored_once;
        for (int32_t i = 0; i < low->arg.n && ok; i++) {
            if (item_of(v, s, i) != a)
                continue;
            const ac_bytes at_a = delta_of(v, &low->arg.item[i]);
            ok = fn->buf.item[i].role == AC_BUF_IN && types_meet(&fn->buf.item[i], &fn->buf.item[o]);
            if (w.max_below > at_a - at_b - of[i].below)
                w.max_below = at_a - at_b - of[i].below;
            if (w.min_above < at_a - at_b + of[i].above)
                w.min_above = at_a - at_b + of[i].above;
        }
    }
    ac_region_close(tmp);
    const ac_bytes align = ia->align < ib->align ? ia->align : ib->align; /* powers of two: offsets are multiples */
    w.max_below = round_down(w.max_below, align);
    w.min_above = -round_down(-w.min_above, align);
    *out = w;
    return ok;
}

static bool useful(const rules *v, int32_t a, int32_t b, window w)
{
    const ac_item *item = v->live->problem.item;
    return w.max_below > -item[b].size || w.min_above < item[a].size;
}

/* Items that die in step s and are read there, and the one born in it. Returns the number of the former. */
static int32_t dying(const rules *v, ac_step s, int32_t b, int32_t *list, int32_t room)
{
    const ac_lowered *low = v->step[s];
    int32_t n = 0;
    for (int32_t i = 0; i < low->arg.n && n < room; i++) {
        const int32_t a = low->arg.item[i].kind == AC_ARG_TENSOR ? item_of(v, s, i) : -1;
        bool fit = a >= 0 && a != b && ac_item_in_ram(&v->live->problem, &v->live->problem.item[a]) &&
                   !v->outlives[a] && v->live->problem.item[a].life.end == s + 1 &&
                   v->live->problem.item[a].life.begin < s + 1;
        for (int32_t k = 0; k < low->arg.n && fit; k++) /* written too: nothing to gain from it */
            fit = item_of(v, s, k) != a || low->fn->buf.item[k].role == AC_BUF_IN;
        for (int32_t k = 0; k < n && fit; k++)
            fit = list[k] != a;
        if (fit)
            list[n++] = a;
    }
    return n;
}

static void add(rules *v, ac_step s, int32_t a, int32_t b, window all, window forward, ac_loop_fn *backward)
{
    v->pair[v->n] = (ac_pair){a, b, {s, s + 1}, all.max_below, all.min_above};
    v->rule[v->n++] = (ac_overlap_rule){s, forward.max_below, forward.min_above, backward, false};
}

/* Is b the only item that step s gives birth to? A split has several, and they run in one direction. */
static bool only_child(const rules *v, ac_step s, int32_t b)
{
    const ac_lowered *low = v->step[s];
    for (int32_t o = 0; o < low->arg.n; o++)
        if (low->fn->buf.item[o].role != AC_BUF_IN && item_of(v, s, o) >= 0 && item_of(v, s, o) != b)
            return false;
    return true;
}

static void pairs_of(rules *v, ac_step s, int32_t b)
{
    enum { MAX = 8 };
    const ac_lowered *low = v->step[s];
    if (ac_ops[low->node->op].flags & OF_FLOW) /* operands are read again and again */
        return;
    int32_t list[MAX], n = dying(v, s, b, list, MAX);
    for (int32_t k = 0; k < n && v->n < v->room; k++) {
        const int32_t a = list[k];
        window w, back;
        bool once, still;
        if (!window_of(v, s, low->fn, a, b, &w, &once))
            continue;
        window all = w;
        ac_loop_fn *turned = n == 1 && once && only_child(v, s, b) ? ac_loop_reverse(v->cx, v->region, low->fn) : NULL;
        if (turned && window_of(v, s, turned, a, b, &back, &still) && still) {
            all.max_below = back.max_below > all.max_below ? back.max_below : all.max_below;
            all.min_above = back.min_above < all.min_above ? back.min_above : all.min_above;
        } else {
            turned = NULL;
        }
        if (useful(v, a, b, all))
            add(v, s, a, b, all, w, turned);
    }
}

void ac_overlap_rules(ac_ctx *cx, ac_region *r, const ac_graph *g, ac_lowered *const *step, int32_t n_steps,
                      ac_live_options opt, ac_liveness *live)
{
    ac_problem *p = &live->problem;
    rules v = {.cx = cx, .region = r, .step = step, .live = live, .outlives = AC_NEW_N(r, bool, p->n + 1)};
    v.room = 8 * n_steps + 1;
    for (ac_step s = 0; s < n_steps; s++)
        for (int32_t a = 0; a < step[s]->arg.n; a++)
            v.room += step[s]->arg.item[a].over;
    v.pair = AC_NEW_N(r, ac_pair, v.room);
    v.rule = AC_NEW_N(r, ac_overlap_rule, v.room);
    for (int32_t i = 0; i < g->output.n; i++)
        if (live->item_of[g->output.item[i]->id] >= 0)
            v.outlives[live->item_of[g->output.item[i]->id]] = true;
    for (int32_t i = 0; i < g->input.n && (opt.whole || opt.preserve_input); i++)
        if (live->item_of[g->input.item[i]->id] >= 0)
            v.outlives[live->item_of[g->input.item[i]->id]] = true;
    for (ac_step s = 0; s < n_steps && !opt.preserve_all && !opt.whole; s++)
        for (int32_t o = 0; o < step[s]->arg.n; o++) {
            const int32_t b = item_of(&v, s, o);
            bool first =
                b >= 0 && !step[s]->chunks && !step[s]->rows && !ac_slot_shared(opt.slot, s) && is_made(step[s]->fn, o);
            for (int32_t k = 0; k < o && first; k++)
                first = item_of(&v, s, k) != b;
            if (first && ac_item_in_ram(p, &p->item[b]) && p->item[b].life.begin == s &&
                p->item[b].kind != AC_ITEM_INPUT)
                pairs_of(&v, s, b);
        }
    p->pair = v.pair;
    p->n_pairs = v.n;
    live->overlaps = AC_NEW(r, ac_overlaps);
    *live->overlaps = (ac_overlaps){v.rule, v.n};
}

/* Do the items of pair k share bytes in this plan? */
static bool shares(const ac_problem *p, const ac_plan *plan, int32_t k)
{
    const ac_pair *q = &p->pair[k];
    const ac_bytes d = plan->offset[q->b] - plan->offset[q->a];
    return plan->mem[q->a] == plan->mem[q->b] && d > -p->item[q->b].size && d < p->item[q->a].size;
}

/* Measures the steps again as they will run, independently of the data that the rules and directions were derived
 * from. */
static int check(ac_ctx *cx, ac_liveness *live, const ac_plan *plan, ac_lowered *const *step)
{
    const rules v = {.cx = cx, .step = step, .live = live};
    for (int32_t k = 0; k < live->overlaps->n; k++) {
        const ac_pair *q = &live->problem.pair[k];
        const ac_lowered *low = step[live->overlaps->rule[k].step];
        const ac_bytes d = plan->offset[q->b] - plan->offset[q->a];
        window w;
        bool once;
        if (!shares(&live->problem, plan, k))
            continue;
        if (!window_of(&v, live->overlaps->rule[k].step, low->fn, q->a, q->b, &w, &once) ||
            (d > w.max_below && d < w.min_above))
            return ac_error(cx, low->node->at, E0901,
                            "the loops of this step do not allow '%s' at %lld bytes from '%s'",
                            live->problem.item[q->b].name, (long long)d, live->problem.item[q->a].name);
    }
    return AC_OK;
}

int ac_overlap_turn(ac_ctx *cx, ac_planned *p)
{
    ac_liveness *live = p->live;
    for (int32_t k = 0; k < live->overlaps->n; k++) {
        const ac_pair *q = &live->problem.pair[k];
        ac_overlap_rule *u = &live->overlaps->rule[k];
        const ac_bytes d = p->plan.offset[q->b] - p->plan.offset[q->a];
        u->shares = shares(&live->problem, &p->plan, k);
        if (!u->shares || !u->backward || d <= u->max_below || d >= u->min_above)
            continue;
        ac_lowered *turned = ac_copy(p->region, p->step[u->step], sizeof *turned);
        turned->fn = u->backward;
        p->step[u->step] = turned;
    }
    return check(cx, live, &p->plan, p->step);
}
