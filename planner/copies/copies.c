/* copies.c - dynamic programming over cuts: a place for each tensor, and the copies. */
#include "planner/copies/copies.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ALIVE = 64, CHOICES = 2048 };

typedef struct cost {
    int64_t moved, accessed, fused;
} cost;

/* Before a step: bit k of `fast`: the k-th tensor that is alive there is in the fast memory. */
typedef struct state {
    uint64_t fast;
    cost cost;
    ac_bytes bytes; /* of the fast ones */
    int32_t from;   /* state of the cut where `group` begins */
    int32_t group;
    uint32_t copied;
} state;

typedef struct cut {
    int32_t *alive, n_alive;
    AC_VEC(state) states;
} cut;

typedef struct search {
    const ac_copies_problem *p;
    ac_region *region;
    cut *cut;     /* by step, and the end */
    bool *barred; /* by tensor: more are alive with it than a state can hold */
} search;

/* A group on top of a state: its choices so far. */
typedef struct choice {
    search *q;
    const ac_copies_group *g;
    int32_t group, from;
    uint64_t is_fast; /* by use */
    uint32_t copied;
    cost cost;
    ac_bytes bytes;
    int32_t *left; /* choices that may still be tried */
} choice;

static int compare(const cost *a, const cost *b)
{
    if (a->moved != b->moved)
        return a->moved < b->moved ? -1 : 1;
    if (a->accessed != b->accessed)
        return a->accessed < b->accessed ? -1 : 1;
    return a->fused == b->fused ? 0 : a->fused < b->fused ? -1 : 1;
}

static int32_t place_in(const cut *c, int32_t tensor)
{
    for (int32_t k = 0; k < c->n_alive; k++)
        if (c->alive[k] == tensor)
            return k;
    return -1;
}

static void find_alive(search *q)
{
    const ac_copies_problem *p = q->p;
    for (int32_t c = 0; c <= p->n_steps; c++) {
        q->cut[c].alive = AC_NEW_N(q->region, int32_t, MOST_ALIVE);
        for (int32_t t = 0; t < p->n_tensors; t++) {
            if (p->tensor[t].first >= c || p->tensor[t].last < c)
                continue;
            if (q->cut[c].n_alive < MOST_ALIVE)
                q->cut[c].alive[q->cut[c].n_alive++] = t;
            else
                q->barred[t] = true; /* slow, if that is allowed */
        }
    }
}

static bool may_be_fast(const search *q, int32_t t)
{
    return q->p->tensor[t].may_be_fast && !q->barred[t];
}

/* Keeps the better of two ways to the same places. */
static void add(search *q, cut *c, state s)
{
    for (int32_t k = 0; k < c->states.n; k++)
        if (c->states.item[k].fast == s.fast) {
            if (compare(&s.cost, &c->states.item[k].cost) < 0)
                c->states.item[k] = s;
            return;
        }
    ac_push(q->region, &c->states, s);
}

static ac_bytes saved(const choice *x)
{
    ac_bytes best = 0;
    for (int32_t k = 0; k < x->g->n_saves; k++) {
        int32_t both = 0;
        for (int32_t u = 0; u < x->g->n_uses; u++)
            both += (x->g->use[u].tensor == x->g->save[k].operand || x->g->use[u].tensor == x->g->save[k].result) &&
                    (x->is_fast >> u & 1);
        if (both == 2 && x->g->save[k].bytes > best)
            best = x->g->save[k].bytes;
    }
    return best;
}

/* All choices are made: a state of the cut after the group. */
static void arrive(const choice *x)
{
    const ac_copies_problem *p = x->q->p;
    const cut *from = &x->q->cut[x->g->begin];
    cut *to = &x->q->cut[x->g->end];
    if (x->bytes - saved(x) > p->capacity)
        return;
    state s = {.cost = x->cost, .from = x->from, .group = x->group, .copied = x->copied};
    for (int32_t k = 0; k < to->n_alive; k++) {
        const int32_t t = to->alive[k], before = place_in(from, t);
        bool fast = before >= 0 && (from->states.item[x->from].fast >> before & 1);
        for (int32_t u = 0; u < x->g->n_uses && before < 0; u++)
            fast |= x->g->use[u].tensor == t && (x->is_fast >> u & 1);
        s.fast |= (uint64_t)fast << k;
        s.bytes += fast ? p->tensor[t].size : 0;
    }
    add(x->q, to, s);
}

static void choose(choice *x, int32_t u);

static void try_slow(choice x, int32_t u, bool copy)
{
    const ac_copies_use *use = &x.g->use[u];
    if (copy) {
        x.copied |= 1u << u;
        x.bytes += use->window;
        x.cost.moved += use->copied;
    } else {
        x.cost.moved += use->accessed;
        x.cost.accessed += use->accessed;
    }
    choose(&x, u + 1);
}

/* Every way to treat the uses from u on. */
static void choose(choice *x, int32_t u)
{
    const ac_copies_problem *p = x->q->p;
    if (--*x->left < 0)
        return;
    if (u == x->g->n_uses) {
        arrive(x);
        return;
    }
    const ac_copies_use *use = &x->g->use[u];
    const ac_copies_tensor *t = &p->tensor[use->tensor];
    const cut *from = &x->q->cut[x->g->begin];
    const int32_t before = place_in(from, use->tensor);
    const bool fast = before >= 0 && (from->states.item[x->from].fast >> before & 1);
    if (fast || (use->made && before < 0 && may_be_fast(x->q, use->tensor))) {
        choice y = *x;
        y.is_fast |= (uint64_t)1 << u;
        y.bytes += fast ? 0 : t->size;
        choose(&y, u + 1);
    }
    if (fast || !t->may_be_slow)
        return;
    if (use->window >= 0)
        try_slow(*x, u, true);
    if (!x->g->copies)
        try_slow(*x, u, false);
}

static int by_cost(const void *a, const void *b)
{
    const state *x = a, *y = b;
    const int order = compare(&x->cost, &y->cost);
    return order ? order : x->fast < y->fast ? -1 : x->fast > y->fast;
}

/* Drops all but the best states, and the one that takes least. */
static void keep_best(cut *c, int32_t most)
{
    if (c->states.n <= most)
        return;
    qsort(c->states.item, (size_t)c->states.n, sizeof *c->states.item, by_cost);
    int32_t least = 0;
    for (int32_t k = 1; k < c->states.n; k++)
        if (c->states.item[k].bytes < c->states.item[least].bytes)
            least = k;
    if (least >= most)
        c->states.item[most - 1] = c->states.item[least];
    c->states.n = most;
}

/* Every choice of places for the tensors that are there before step 0. */
static void begin(search *q)
{
    const ac_copies_problem *p = q->p;
    cut *c = &q->cut[0];
    ac_push(q->region, &c->states, ((state){.from = -1, .group = -1}));
    for (int32_t k = 0; k < c->n_alive; k++) {
        const ac_copies_tensor *t = &p->tensor[c->alive[k]];
        const int32_t n = c->states.n;
        for (int32_t i = 0; i < n; i++) {
            state s = c->states.item[i];
            s.fast |= (uint64_t)1 << k;
            s.bytes += t->size;
            const bool fits = may_be_fast(q, c->alive[k]) && s.bytes <= p->capacity;
            if (!t->may_be_slow)
                c->states.item[i] = s;
            else if (fits && c->states.n < p->states)
                ac_push(q->region, &c->states, s);
        }
    }
}

static void read_plan(const search *q, ac_copies_plan *out)
{
    const ac_copies_problem *p = q->p;
    const cut *c = &q->cut[p->n_steps];
    int32_t at = 0;
    for (int32_t k = 1; k < c->states.n; k++)
        at = compare(&c->states.item[k].cost, &c->states.item[at].cost) < 0 ? k : at;
    *out = (ac_copies_plan){c->states.item[at].cost.moved,
                            c->states.item[at].cost.accessed,
                            AC_NEW_N(q->region, int32_t, p->n_steps + 1),
                            0,
                            AC_NEW_N(q->region, uint32_t, p->n_steps + 1),
                            AC_NEW_N(q->region, bool, p->n_tensors + 1)};
    for (;;) {
        const state *s = &c->states.item[at];
        for (int32_t k = 0; k < c->n_alive; k++)
            out->fast[c->alive[k]] |= s->fast >> k & 1;
        if (s->group < 0)
            break;
        out->group[out->n_groups] = s->group;
        out->copied[out->n_groups++] = s->copied;
        at = s->from;
        c = &q->cut[p->group[s->group].begin];
    }
    for (int32_t i = 0, k = out->n_groups - 1; i < k; i++, k--) {
        const int32_t g = out->group[i];
        const uint32_t copied = out->copied[i];
        out->group[i] = out->group[k];
        out->copied[i] = out->copied[k];
        out->group[k] = g;
        out->copied[k] = copied;
    }
}

bool ac_copies_solve(const ac_copies_problem *p, ac_region *region, ac_copies_plan *out)
{
    search q = {p, region, AC_NEW_N(region, cut, p->n_steps + 1), AC_NEW_N(region, bool, p->n_tensors + 1)};
    find_alive(&q);
    begin(&q);
    int32_t g = 0;
    for (int32_t step = 0; step < p->n_steps; step++) {
        cut *c = &q.cut[step];
        keep_best(c, p->states);
        for (; g < p->n_groups && p->group[g].begin == step; g++)
            for (int32_t k = 0; k < c->states.n; k++) {
                int32_t left = CHOICES;
                choice x = {.q = &q, .g = &p->group[g], .group = g, .from = k, .left = &left};
                x.cost = c->states.item[k].cost;
                x.cost.fused += p->group[g].fused;
                x.cost.moved += p->group[g].moved;
                x.bytes = p->group[g].bytes + c->states.item[k].bytes;
                choose(&x, 0);
            }
    }
    if (!q.cut[p->n_steps].states.n)
        return false;
    read_plan(&q, out);
    return true;
}
