/* stripe_copies.c - groups of steps for a fast memory that is too small for their tensors: rows of tensors in a slower
 * one are copied through windows, so that each byte crosses once.
 *
 * planner/copies chooses on plain data; this file converts groups to that data, and the answer to steps. */
#include "planner/graph/stripe.h"

#include "planner/copies/copies.h"
#include "planner/graph/memories.h"
#include "planner/pack/solve.h"

#include <stdlib.h>

enum {
    LONGEST = 48, /* steps of a group */
    STATES = 64,  /* of a cut */
    TRIES = 6,    /* packings, each for less than the one before */
    SHARE = 8,    /* of the steps that --effort allows */
    STRIPS = 8,   /* of columns, at most */
    SHORT = 12,   /* steps of a group in strips */
    ROUNDS = 40   /* estimates of strips that turn out too low */
};

typedef struct copies {
    ac_ctx *cx;
    ac_region *region;
    ac_stripe_search *q;
    int32_t *index; /* by tensor id of a root: in tensor; -1: it has no place in a memory for tensors */
    AC_VEC(ac_copies_tensor) tensor;
    AC_VEC(int32_t) id; /* by tensor: its id */
    AC_VEC(ac_copies_group) group;
    ac_stripe_strip *strip; /* of the group being estimated */
    int64_t **accessed;     /* by step: bytes by argument of its rows form; NULL: not counted yet */
    int64_t work, most_work;
    ac_bytes capacity;
} copies;

static ac_bytes up(const copies *c, ac_bytes v)
{
    return ac_align_up(v, c->q->align);
}

static const ac_lowered *step_of(const copies *c, int32_t s)
{
    return c->q->forms.step[s];
}

/* By tensor id: the memory that --pin names; -1: none. */
static int pinned(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, int32_t *mem)
{
    ac_planned *own = ac_planned_from(cx, how, from, from->n_steps);
    ac_live_options live = how->live;
    live.inplace = false; /* each tensor has an item of its own */
    own->live = ac_live(cx, own->region, own->graph, own->step, own->n_steps, live);
    const int status = ac_plan_pin_items(cx, how, own);
    for (int32_t i = 0; i < own->graph->tensor.n; i++) {
        const int32_t item = own->live->item_of[i];
        mem[i] = item >= 0 ? own->live->problem.item[item].mem : -1;
    }
    ac_planned_drop(own, from);
    return status;
}

static void find_tensors(copies *c, const int32_t *pin)
{
    const ac_stripes *v = &c->q->forms;
    const ac_liveness *l = v->live;
    c->index = AC_NEW_N(c->region, int32_t, v->g->tensor.n + 1);
    for (int32_t i = 0; i < v->g->tensor.n; i++) {
        const ac_tensor *t = v->g->tensor.item[i];
        c->index[i] = -1;
        if (t->root || l->item_of[i] < 0 || !ac_item_in_ram(&l->problem, &l->problem.item[l->item_of[i]]))
            continue;
        c->index[i] = c->tensor.n;
        const ac_bytes size = up(c, ac_tensor_bytes(t));
        ac_push(c->region, &c->id, i);
        ac_push(c->region, &c->tensor,
                ((ac_copies_tensor){.size = size,
                                    .first = t->input ? -1 : l->first[i],
                                    .last = t->output ? v->n_steps : l->last[i],
                                    .may_be_fast = size <= c->capacity && pin[i] <= 0,
                                    .may_be_slow = pin[i] != 0}));
    }
}

/* ------------------------------------------------------------------ the effect of groups on tensors from outside */

/* The use of t in the group, a new one if needed; NULL: t has no place, or there are too many. */
static ac_copies_use *use_of(copies *c, ac_copies_group *g, const ac_tensor *t, bool made, bool *full)
{
    const int32_t i = c->index[ac_tensor_root(t)->id];
    if (ac_tensor_is_const(t) || i < 0)
        return NULL;
    for (int32_t k = 0; k < g->n_uses; k++)
        if (g->use[k].tensor == i)
            return &g->use[k];
    *full |= g->n_uses == AC_COPIES_USES;
    if (*full)
        return NULL;
    g->use[g->n_uses] = (ac_copies_use){.tensor = i, .made = made, .window = -1};
    return &g->use[g->n_uses++];
}

/* Adds the bytes that a step reads and writes; bytes: by argument. */
static void add_accesses(copies *c, ac_copies_group *g, const ac_lowered *low, const int64_t *bytes, bool *full)
{
    const ac_stripes *v = &c->q->forms;
    for (int32_t a = 0; a < low->arg.n; a++) {
        const ac_tensor *t = low->arg.item[a].kind == AC_ARG_TENSOR ? low->arg.item[a].tensor : NULL;
        if (!t || ac_stripes_is_inner(v, g->begin, g->end, t))
            continue;
        ac_copies_use *use = use_of(c, g, t, low->fn->buf.item[a].role != AC_BUF_IN, full);
        if (use)
            use->accessed += bytes[a];
    }
}

static ac_copies_group new_group(copies *c, int32_t begin, int32_t end)
{
    return (ac_copies_group){.begin = begin, .end = end, .use = AC_NEW_N(c->region, ac_copies_use, AC_COPIES_USES)};
}

static void add_save(copies *c, ac_copies_group *g, const ac_tensor *in, const ac_tensor *out, ac_bytes bytes)
{
    const int32_t a = c->index[ac_tensor_root(in)->id], b = c->index[ac_tensor_root(out)->id];
    if (bytes <= 0 || a < 0 || b < 0)
        return;
    if (!g->save)
        g->save = AC_NEW_N(c->region, ac_copies_save, AC_COPIES_USES * AC_COPIES_USES);
    if (g->n_saves < AC_COPIES_USES * AC_COPIES_USES)
        g->save[g->n_saves++] = (ac_copies_save){a, b, bytes};
}

/* The bytes that the packing problem lets step s save by placing b over a. */
static ac_bytes shared(const copies *c, int32_t s, const ac_tensor *a, const ac_tensor *b)
{
    const ac_liveness *l = c->q->forms.live;
    const int32_t x = l->item_of[a->id], y = l->item_of[b->id];
    const ac_bytes p = ac_tensor_bytes(a), q = ac_tensor_bytes(b);
    if (x == y) /* in place */
        return up(c, p < q ? p : q);
    for (int32_t k = 0; k < l->problem.n_pairs; k++) {
        const ac_pair *z = &l->problem.pair[k];
        if (z->a == x && z->b == y && z->life.begin <= s && s < z->life.end && z->max_below != INT64_MIN) {
            const ac_bytes below = z->max_below < -q ? q : -z->max_below, low = p + (below > 0 ? below : 0);
            return p + q - (low > q ? low : q);
        }
    }
    return 0;
}

/* A step as it is. */
static void add_step(copies *c, int32_t s)
{
    const ac_lowered *low = step_of(c, s);
    const ac_liveness *l = c->q->forms.live;
    ac_copies_group g = new_group(c, s, s + 1);
    bool full = false;
    int64_t *bytes = AC_NEW_N(c->region, int64_t, low->fn->buf.n + 1);
    ac_live_traffic(low, bytes);
    for (int32_t a = 0; a < low->arg.n; a++)
        if (low->arg.item[a].kind == AC_ARG_SCRATCH)
            g.bytes += up(c, low->arg.item[a].bytes);
    add_accesses(c, &g, low, bytes, &full);
    for (int32_t a = 0; a < g.n_uses; a++)
        for (int32_t b = 0; b < g.n_uses; b++) {
            const ac_tensor *x = c->q->forms.g->tensor.item[c->id.item[g.use[a].tensor]];
            const ac_tensor *y = c->q->forms.g->tensor.item[c->id.item[g.use[b].tensor]];
            if (!g.use[a].made && g.use[b].made && l->last[x->id] == s)
                add_save(c, &g, x, y, shared(c, s, x, y));
        }
    ac_push(c->region, &c->group, g);
}

/* The bytes of tensor i's window, if nothing else is in it. */
static ac_bytes window_of(const copies *c, const ac_stripe_group *x, int32_t i)
{
    const int32_t buf = x->s.tensor[i].buf;
    for (int32_t k = 0; k < x->s.n_tensors; k++)
        if (k != i && x->s.tensor[k].buf == buf)
            return 0;
    return up(c, x->arg[buf].bytes);
}

/* The effect of the rows forms of the group's steps, if all tensors from outside are in the slow memory. */
static ac_copies_group rows_of(copies *c, const ac_stripe_group *x, ac_region *tmp, bool *full)
{
    ac_stripes *v = &c->q->forms;
    ac_copies_group g = new_group(c, x->begin, x->end);
    g.bytes = x->scratch;
    g.fused = x->end - x->begin;
    for (int32_t s = x->begin; s < x->end; s++) {
        const ac_lowered *low = ac_stripe_form_of(v, s)->low;
        if (!c->accessed[s])
            ac_live_traffic(low, c->accessed[s] = AC_NEW_N(c->region, int64_t, low->fn->buf.n + 1));
        add_accesses(c, &g, low, c->accessed[s], full);
    }
    for (int32_t u = 0; u < x->s.n_units && !*full; u++) {
        const ac_stripe_unit *unit = &x->s.unit[u];
        if (unit->does == AC_STRIPE_COMPUTES)
            continue;
        const ac_tensor *t = x->tensor[unit->copied];
        ac_copies_use *use = use_of(c, &g, t, unit->does == AC_STRIPE_DRAINS, full);
        if (!use)
            continue;
        use->window = window_of(c, x, unit->copied);
        use->copied += ac_dtype_size(t->dtype, ac_stripe_copied(&x->s, u));
        g.bytes -= use->window;
    }
    for (int32_t i = 0; i < x->n_in; i++)
        for (int32_t o = 0; o < x->n_out; o++)
            add_save(c, &g, x->in[i], x->out[o], ac_stripe_saved(c->q, x, x->in[i], x->out[o], tmp));
    return g;
}

/* ------------------------------------------------------------------ strips of columns */

/* The most columns of tensor i in a window of one of n strips; *sum: of all of them together. */
static int64_t widest(const copies *c, const ac_stripe_group *x, int32_t i, int32_t n, int64_t *sum)
{
    const int32_t id = x->tensor[i]->id;
    int64_t most = 0;
    *sum = 0;
    for (int32_t k = 0; k < n; k++) {
        const int64_t w = c->strip[k].to[id] - c->strip[k].from[id];
        most = w > most ? w : most;
        *sum += w;
    }
    return most;
}

/* The bytes of the windows of a group: whole rows, or those of n strips. */
static ac_bytes windows(const copies *c, const ac_stripe_group *x, int32_t n, ac_region *tmp)
{
    ac_bytes *bytes = AC_NEW_N(tmp, ac_bytes, x->n_args + 1), all = 0;
    for (int32_t i = 0; i < x->s.n_tensors; i++) {
        const ac_stripe_tensor *t = &x->s.tensor[i];
        int64_t sum;
        if (t->kind != AC_STRIPE_WINDOW || t->home != i || t->buf < 0)
            continue;
        const int64_t row = n ? widest(c, x, i, n, &sum) * x->tensor[i]->dim[3] : t->row;
        const ac_bytes b = ac_dtype_size(x->tensor[i]->dtype, row * t->rows);
        bytes[t->buf] = b > bytes[t->buf] ? b : bytes[t->buf];
    }
    for (int32_t k = 0; k < x->n_args; k++)
        all += up(c, bytes[k]);
    return all;
}

/* The group that `rows` is, in n strips of columns: all windows are there in any case. false: it cannot be. */
static bool strips_of(copies *c, const ac_stripe_group *x, const ac_copies_group *rows, int32_t n, ac_region *tmp,
                      ac_copies_group *g)
{
    int64_t stored;
    for (int32_t s = x->begin; s < x->end; s++)
        if (ac_stripe_form_of(&c->q->forms, s)->part.steps != ac_node_result(step_of(c, s)->node)->dim[1])
            return false;
    if (!ac_stripe_split(&c->q->forms, x->begin, x->end, n, c->strip, &stored))
        return false;
    *g = *rows;
    g->use = AC_NEW_N(c->region, ac_copies_use, rows->n_uses + 1);
    g->n_saves = 0;
    g->strips = n;
    g->moved = stored;
    g->copies = true;
    g->bytes = x->scratch - windows(c, x, 0, tmp) + windows(c, x, n, tmp);
    for (int32_t k = 0; k < rows->n_uses; k++) {
        const ac_copies_use *use = &rows->use[k];
        g->use[k] = *use;
        g->use[k].window = 0;
        for (int32_t i = 0; i < x->s.n_tensors && !use->made; i++) {
            int64_t sum;
            if (c->index[ac_tensor_root(x->tensor[i])->id] != use->tensor)
                continue;
            widest(c, x, i, n, &sum);
            g->use[k].copied = use->copied / x->tensor[i]->dim[2] * sum;
        }
        if (use->window < 0)
            return false;
    }
    return true;
}

/* Adds the group in strips, as long as more of them take less. False: it fits in none. */
static bool add_strips(copies *c, const ac_stripe_group *x, const ac_copies_group *rows, ac_region *tmp)
{
    bool fits = false;
    ac_bytes least = x->scratch;
    for (int32_t n = 2; n <= STRIPS && x->end - x->begin <= SHORT; n++) {
        ac_copies_group g;
        c->work += x->end - x->begin;
        if (!strips_of(c, x, rows, n, tmp, &g))
            break;
        if (g.bytes > least - least / 16)
            continue;
        least = g.bytes;
        if (g.bytes > c->capacity)
            continue;
        fits = true;
        ac_push(c->region, &c->group, g);
    }
    return fits;
}

/* Adds steps begin to end - 1 as a group; false: longer ones need more than there is. */
static bool add_group(copies *c, int32_t begin, int32_t end)
{
    ac_stripes *v = &c->q->forms;
    if (!ac_stripe_form_of(v, begin)->ok || !ac_stripe_form_of(v, end - 1)->ok)
        return false;
    ac_region *tmp = ac_region_open(&c->cx->heap);
    ac_stripe_group x;
    const ac_stripe_how how = {c->q->align, false};
    bool full = false, fits = true;
    c->work += end - begin;
    if (ac_stripe_group_of(v, begin, end, how, tmp, &x)) {
        c->work += x.s.ticks;
        const ac_copies_group g = rows_of(c, &x, tmp, &full);
        fits = g.bytes <= c->capacity;
        if (fits && !full)
            ac_push(c->region, &c->group, g);
        if (!full)
            fits |= add_strips(c, &x, &g, tmp);
    }
    ac_region_close(tmp);
    return fits;
}

static int by_begin(const void *a, const void *b)
{
    const ac_copies_group *x = a, *y = b;
    return x->begin != y->begin   ? (x->begin > y->begin) - (x->begin < y->begin)
           : x->end != y->end     ? (x->end > y->end) - (x->end < y->end)
           : x->fused != y->fused ? (x->fused > y->fused) - (x->fused < y->fused)
                                  : (x->strips > y->strips) - (x->strips < y->strips);
}

/* Short groups first, so that a limit of work leaves out long ones. */
static void find_groups(copies *c)
{
    enum { MISSES = 3 }; /* a longer group may need less: after a stride rows are shorter */
    const int32_t n = c->q->forms.n_steps;
    int32_t *missed = AC_NEW_N(c->region, int32_t, n + 1);
    for (int32_t s = 0; s < n; s++)
        add_step(c, s);
    for (int32_t length = 1; length <= LONGEST; length++)
        for (int32_t begin = 0; begin + length <= n && c->work < c->most_work; begin++)
            if (missed[begin] < MISSES)
                missed[begin] = add_group(c, begin, begin + length) ? 0 : missed[begin] + 1;
    qsort(c->group.item, (size_t)c->group.n, sizeof *c->group.item, by_begin);
}

/* ------------------------------------------------------------------ the chosen groups as steps */

static ac_lowered *chosen(copies *c, const ac_copies_group *g, uint32_t copied)
{
    ac_stripes *v = &c->q->forms;
    if (!g->fused)
        return v->step[g->begin];
    bool *is_copied = AC_NEW_N(v->region, bool, v->g->tensor.n + 1);
    for (int32_t k = 0; k < g->n_uses; k++)
        is_copied[c->id.item[g->use[k].tensor]] = copied >> k & 1;
    v->copied = is_copied;
    const ac_stripe_how how = {c->q->align, false};
    if (v->target->firmware && !g->strips)
        ac_stripe_refine(c->q, g->begin, g->end, how, INT64_MAX);
    ac_stripe_group x;
    const bool ok = g->strips ? ac_stripe_strips_of(v, g->begin, g->end, g->strips, how, v->region, &x)
                              : ac_stripe_group_of(v, g->begin, g->end, how, v->region, &x);
    return ok ? ac_stripe_lower(v, &x) : NULL;
}

/* Replaces the estimates of the chosen groups in strips by the bytes that these take; true: none takes more. */
static bool settled(copies *c, const ac_copies_plan *plan)
{
    bool ok = true;
    for (int32_t k = 0; k < plan->n_groups; k++) {
        ac_copies_group *g = &c->group.item[plan->group[k]];
        if (!g->strips || g->exact)
            continue;
        ac_region *tmp = ac_region_open(&c->cx->heap);
        ac_stripe_group x;
        const ac_stripe_how how = {c->q->align, false};
        const ac_bytes bytes =
            ac_stripe_strips_of(&c->q->forms, g->begin, g->end, g->strips, how, tmp, &x) ? x.scratch : INT64_MAX / 4;
        ac_region_close(tmp);
        ok &= bytes <= g->bytes;
        g->bytes = bytes;
        g->exact = true;
    }
    return ok;
}

/* The best plan whose tensors in the fast memory take at most `capacity`; *out NULL: none fits. */
static int plan_for(copies *c, const ac_plan_how *how, ac_planned *search, ac_bytes capacity, ac_planned **out)
{
    const ac_stripes *v = &c->q->forms;
    const ac_copies_problem problem = {v->n_steps,    c->tensor.n, c->group.n, c->tensor.item,
                                       c->group.item, capacity,    STATES};
    ac_copies_plan plan;
    *out = NULL;
    for (int32_t round = 0;; round++) {
        if (!ac_copies_solve(&problem, c->region, &plan))
            return AC_OK;
        if (settled(c, &plan))
            break;
        for (int32_t k = 0; k < c->group.n && round == ROUNDS; k++) /* no more of them */
            if (c->group.item[k].strips && !c->group.item[k].exact)
                c->group.item[k].bytes = INT64_MAX / 4;
    }
    ac_planned *p = *out = ac_planned_from(c->cx, how, search, v->n_steps);
    ac_live_where *where = AC_NEW_N(p->region, ac_live_where, v->g->tensor.n + 1);
    for (int32_t i = 0; i < c->tensor.n; i++)
        where[c->id.item[i]] = plan.fast[i] ? AC_LIVE_FIRST : AC_LIVE_REST;
    p->where = where;
    p->n_steps = p->groups = 0;
    for (int32_t k = 0; k < plan.n_groups; k++) {
        const ac_copies_group *g = &c->group.item[plan.group[k]];
        p->groups += g->fused > 0;
        if (!(p->step[p->n_steps++] = chosen(c, g, plan.copied[k])))
            return AC_FAIL;
    }
    return ac_planned_pack(c->cx, how, p);
}

int ac_stripe_copies(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_planned **to)
{
    *to = NULL;
    const ac_bytes most = from->most;
    if (how->live.n_ram < 2 || most < 0 || how->live.caller_io || how->threads > 1)
        return AC_OK;
    ac_planned *search = ac_planned_from(cx, how, from, from->n_steps);
    copies c = {.cx = cx, .region = search->region, .capacity = most};
    c.q = ac_stripe_begin(cx, how, search->region, from, false);
    c.most_work = c.q->most_work;
    c.strip = ac_stripe_strips_new(c.region, from->graph, STRIPS);
    c.accessed = AC_NEW_N(c.region, int64_t *, from->n_steps + 1);
    int32_t *pin = AC_NEW_N(c.region, int32_t, from->graph->tensor.n + 1);
    AC_TRY(pinned(cx, how, from, pin));
    find_tensors(&c, pin);
    bool *all = AC_NEW_N(c.region, bool, from->graph->tensor.n + 1);
    for (int32_t i = 0; i < from->graph->tensor.n; i++)
        all[i] = true;
    c.q->forms.copied = all;
    c.q->forms.sums = true;
    find_groups(&c);
    ac_bytes capacity = c.capacity;
    for (int32_t k = 0; k < TRIES; k++) {
        ac_planned *found;
        AC_TRY(plan_for(&c, how, search, capacity, &found));
        if (!found)
            break;
        const ac_bytes beyond = found->plan.mem_bytes[0] - most;
        ac_planned_take_better(to, found, search);
        if (beyond <= 0)
            break;
        capacity -= beyond;
    }
    if (!*to)
        ac_planned_drop(search, from);
    return AC_OK;
}
