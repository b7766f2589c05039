/* order_search.c - dynamic programming over sets of done steps, one part of the graph after the other; see order.h.
 *
 * Source: the sets are the antichains of the dependency order (the "downset" formulation used for memory-aware
 * scheduling by Ahn et al., SERENITY, MLSys 2020); cutting at steps that are comparable with all others and taking
 * harmless steps at once keep the layers of real networks narrow. Bad case: many independent branches that all raise
 * the live bytes. */
#include "planner/order/order.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_WIDTH = 16, WIDER = 8, SPARE = 4, VAIN = 2, ENOUGH = 1 << 20, MAX_LINKS = 4 << 20 };

/* A set of done steps: all before `begin`, none from `end` on, in between what the bits say. */
typedef struct set {
    const uint64_t *bit;
    int32_t begin, end;
} set;

/* Sets with the same number of done steps */
typedef struct layer {
    uint64_t *done, *ready;
    ac_bytes *live, *peak;
    int32_t n, cap;
} layer;

typedef struct link {
    int32_t parent, step;
} link; /* how a set was reached */

typedef struct cost {
    ac_bytes peak, live;
} cost; /* while a step runs, and afterwards */
typedef struct rank {
    ac_bytes peak, live;
    int32_t index;
} rank;

typedef struct search {
    const ac_order_problem *p;
    ac_region *tmp;
    int32_t begin, end, words;
    int32_t width;   /* sets kept in a layer */
    int64_t left;    /* steps of work */
    ac_bytes unused; /* unused inputs: alive in the very first step */
    ac_bytes floor;  /* a peak that costs nothing more */
    ac_bytes best;   /* only lower peaks are of interest */
    layer now, next;
    int32_t *slot, slots; /* hash table: index into next, -1: free */
    link **path;          /* by layer */
    link *fresh;          /* of next */
    rank *rank;           /* room to sort next */
    cost *cost;           /* of every step of the part, from one set */
    bool truncated;
} search;

static bool has(set s, int32_t step)
{
    return step < s.begin || (step < s.end && (s.bit[(step - s.begin) >> 6] >> ((step - s.begin) & 63) & 1));
}

/* Step `s` runs after the steps of `done`, with `live` bytes alive before. */
static cost run_step(search *x, set done, ac_bytes live, int32_t s)
{
    const ac_order_step *st = &x->p->step[s];
    ac_bytes starts = 0, ends = 0, merged = 0;
    bool fresh = false;
    int32_t dies = 0; /* bit k: operand over[k] is used for the last time */
    for (int32_t i = 0; i < st->n_values; i++) {
        const ac_order_value *v = &x->p->value[st->value[i]];
        bool started = v->at_start, ended = !v->at_end;
        for (int32_t k = 0; k < v->n_users && (!started || ended); k++) {
            bool d = has(done, v->user[k]);
            started |= d;
            ended &= d || v->user[k] == s;
            x->left--;
        }
        if (!started) {
            starts += v->size;
            fresh |= st->value[i] == st->result;
        }
        if (!ended)
            continue;
        ends += v->size;
        for (int32_t k = 0; k < st->n_over; k++)
            if (st->over[k] == st->value[i])
                dies |= 1 << k;
    }
    if (fresh && dies)
        merged = x->p->value[st->result].size;
    return (cost){live + starts + st->scratch - merged, live + starts - ends};
}

static ac_bytes live_before(const search *x, set done)
{
    ac_bytes live = 0;
    for (int32_t i = 0; i < x->p->n_values; i++) {
        const ac_order_value *v = &x->p->value[i];
        bool started = v->at_start, ended = !v->at_end;
        for (int32_t k = 0; k < v->n_users; k++) {
            started |= has(done, v->user[k]);
            ended &= has(done, v->user[k]);
        }
        if (started && !ended)
            live += v->size;
    }
    return live;
}

static ac_bytes unused_inputs(const ac_order_problem *p)
{
    ac_bytes sum = 0;
    for (int32_t i = 0; i < p->n_values; i++)
        if (!p->value[i].n_users && p->value[i].at_start && !p->value[i].at_end)
            sum += p->value[i].size;
    return sum;
}

/* ------------------------------------------------------------------ layers */

static void open_layer(search *x, layer *l, int32_t cap)
{
    l->cap = cap;
    l->n = 0;
    l->done = AC_NEW_N(x->tmp, uint64_t, (size_t)cap * (size_t)x->words);
    l->ready = AC_NEW_N(x->tmp, uint64_t, (size_t)cap * (size_t)x->words);
    l->live = AC_NEW_N(x->tmp, ac_bytes, cap);
    l->peak = AC_NEW_N(x->tmp, ac_bytes, cap);
}

static uint64_t *done_of(const search *x, const layer *l, int32_t i)
{
    return l->done + (size_t)i * (size_t)x->words;
}
static uint64_t *ready_of(const search *x, const layer *l, int32_t i)
{
    return l->ready + (size_t)i * (size_t)x->words;
}

static int32_t slot_of(const search *x, const uint64_t *bits)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int32_t w = 0; w < x->words; w++) {
        h = (h ^ bits[w]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    int32_t at = (int32_t)(h & (uint64_t)(x->slots - 1));
    while (x->slot[at] >= 0 && memcmp(done_of(x, &x->next, x->slot[at]), bits, sizeof *bits * (size_t)x->words))
        at = (at + 1) & (x->slots - 1);
    return at;
}

static int by_rank(const void *pa, const void *pb)
{
    const rank *a = pa, *b = pb;
    if (a->peak != b->peak)
        return a->peak < b->peak ? -1 : 1;
    if (a->live != b->live)
        return a->live < b->live ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static int by_index(const void *pa, const void *pb)
{
    const rank *a = pa, *b = pb;
    return (a->index > b->index) - (a->index < b->index);
}

/* Keeps the best `width` sets of the next layer: lowest peak, then least alive, then first found. */
static void narrow(search *x)
{
    layer *l = &x->next;
    const size_t bytes = sizeof *l->done * (size_t)x->words;
    if (l->n <= x->width)
        return;
    x->truncated = true;
    for (int32_t i = 0; i < l->n; i++)
        x->rank[i] = (rank){l->peak[i], l->live[i], i};
    qsort(x->rank, (size_t)l->n, sizeof *x->rank, by_rank);
    qsort(x->rank, (size_t)x->width, sizeof *x->rank, by_index); /* so that sets only move towards the front */
    for (int32_t i = 0; i < x->width; i++) {
        const int32_t from = x->rank[i].index;
        memmove(done_of(x, l, i), done_of(x, l, from), bytes);
        memmove(ready_of(x, l, i), ready_of(x, l, from), bytes);
        l->live[i] = l->live[from];
        l->peak[i] = l->peak[from];
        x->fresh[i] = x->fresh[from];
    }
    l->n = x->width;
    memset(x->slot, 0xff, sizeof *x->slot * (size_t)x->slots);
    for (int32_t i = 0; i < l->n; i++)
        x->slot[slot_of(x, done_of(x, l, i))] = i;
}

/* The set `from` of this layer with step s added goes into the next layer, unless it is there with a lower peak. */
static void add(search *x, int32_t from, int32_t s, cost c)
{
    layer *l = &x->next;
    const ac_bytes peak = c.peak > x->now.peak[from] ? c.peak : x->now.peak[from];
    const int32_t local = s - x->begin;
    if (l->n == l->cap)
        narrow(x);
    uint64_t *bits = done_of(x, l, l->n); /* built in place, kept when new */
    memcpy(bits, done_of(x, &x->now, from), sizeof *bits * (size_t)x->words);
    bits[local >> 6] |= UINT64_C(1) << (local & 63);
    const int32_t at = slot_of(x, bits), old = x->slot[at];
    x->left -= x->words;
    if (old >= 0) {
        if (peak < l->peak[old]) {
            l->peak[old] = peak;
            x->fresh[old] = (link){from, s};
        }
        return;
    }
    uint64_t *ready = ready_of(x, l, l->n);
    memcpy(ready, ready_of(x, &x->now, from), sizeof *ready * (size_t)x->words);
    ready[local >> 6] &= ~(UINT64_C(1) << (local & 63));
    const set done = {bits, x->begin, x->end};
    const ac_order_step *st = &x->p->step[s];
    for (int32_t i = 0; i < st->n_succs && st->succ[i] < x->end; i++) {
        const ac_order_step *next = &x->p->step[st->succ[i]];
        bool all = true;
        for (int32_t k = 0; k < next->n_preds && all; k++, x->left--)
            all = has(done, next->pred[k]);
        if (all)
            ready[(st->succ[i] - x->begin) >> 6] |= UINT64_C(1) << ((st->succ[i] - x->begin) & 63);
    }
    l->live[l->n] = c.live;
    l->peak[l->n] = peak;
    x->fresh[l->n] = (link){from, s};
    x->slot[at] = l->n++;
}

/* All sets one step further than set i. A step that raises neither the peak nor the bytes that stay alive is taken
 * alone: in any order, running it now makes no later step more expensive. */
static void expand(search *x, int32_t i, bool first)
{
    const set done = {done_of(x, &x->now, i), x->begin, x->end};
    const uint64_t *ready = ready_of(x, &x->now, i);
    const ac_bytes extra = first && x->begin == 0 ? x->unused : 0;
    for (int32_t w = 0; w < x->words; w++)
        for (uint64_t m = ready[w]; m; m &= m - 1) {
            const int32_t local = 64 * w + __builtin_ctzll(m);
            cost *c = &x->cost[local];
            *c = run_step(x, done, x->now.live[i], x->begin + local);
            c->peak += extra;
            if (c->peak <= x->now.peak[i] && c->live <= x->now.live[i] && !extra) {
                add(x, i, x->begin + local, *c);
                return;
            }
        }
    for (int32_t w = 0; w < x->words; w++)
        for (uint64_t m = ready[w]; m; m &= m - 1) {
            const int32_t local = 64 * w + __builtin_ctzll(m);
            if (x->cost[local].peak < x->best)
                add(x, i, x->begin + local, x->cost[local]);
        }
}

static void first_set(search *x)
{
    layer *l = &x->now;
    const set none = {done_of(x, l, 0), x->begin, x->end};
    l->n = 1;
    l->peak[0] = x->floor;
    l->live[0] = live_before(x, none);
    for (int32_t s = x->begin; s < x->end; s++) {
        bool all = true;
        for (int32_t k = 0; k < x->p->step[s].n_preds; k++)
            all = all && x->p->step[s].pred[k] < x->begin;
        if (all)
            ready_of(x, l, 0)[(s - x->begin) >> 6] |= UINT64_C(1) << ((s - x->begin) & 63);
    }
}

/* One pass over the layers with at most `width` sets each. True: a lower peak was found, x->best and order have it. */
static bool attempt(search *x, int32_t *order, ac_heap *heap)
{
    const int32_t n = x->end - x->begin, cap = x->width * SPARE;
    ac_region *tmp = x->tmp = ac_region_open(heap);
    open_layer(x, &x->now, cap + 1); /* one more: add() builds in place */
    open_layer(x, &x->next, cap + 1);
    x->now.cap = x->next.cap = cap;
    for (x->slots = 64; x->slots < 2 * cap;)
        x->slots *= 2;
    x->slot = AC_NEW_N(tmp, int32_t, x->slots);
    x->rank = AC_NEW_N(tmp, rank, cap + 1);
    x->cost = AC_NEW_N(tmp, cost, 64 * x->words);
    x->fresh = AC_NEW_N(tmp, link, cap + 1);
    x->path = AC_NEW_N(tmp, link *, n + 1);
    x->truncated = false;
    first_set(x);
    for (int32_t done = 0; done < n && x->now.n; done++) {
        x->next.n = 0;
        memset(x->slot, 0xff, sizeof *x->slot * (size_t)x->slots);
        for (int32_t i = 0; i < x->now.n && x->left > 0; i++)
            expand(x, i, done == 0);
        if (x->left <= 0) { /* not all were looked at */
            x->truncated = true;
            x->next.n = 0;
        }
        narrow(x);
        x->path[done] = ac_copy(tmp, x->fresh, sizeof *x->fresh * (size_t)(x->next.n ? x->next.n : 1));
        layer swap = x->now;
        x->now = x->next;
        x->next = swap;
    }
    const bool found = x->now.n > 0;
    if (found) {
        x->best = x->now.peak[0];
        for (int32_t k = n - 1, at = 0; k >= 0; at = x->path[k][at].parent, k--)
            order[x->begin + k] = x->path[k][at].step;
    }
    ac_region_close(tmp);
    return found;
}

/* ------------------------------------------------------------------ parts */

typedef struct part {
    int32_t begin, end;
    ac_bytes peak;          /* of the file's order */
    ac_bytes bound;         /* no order of these steps has a lower peak */
    ac_bytes before, after; /* alive, in every order */
} part;

/* A part ends with a step that all earlier ones lead to and all later ones come from. Its place is the same in every
 * order. */
static int32_t cut(const ac_order_problem *p, part *list, ac_region *tmp)
{
    bool *all_from = AC_NEW_N(tmp, bool, p->n + 1); /* every later step comes after this one */
    int32_t n = 0, near = INT32_MAX, far = -1, begin = 0;
    for (int32_t s = p->n - 1; s >= 0; s--) {
        all_from[s] = near >= s;
        const int32_t last = p->step[s].n_preds ? p->step[s].pred[p->step[s].n_preds - 1] : -1;
        near = last < near ? last : near;
    }
    for (int32_t s = 0; s < p->n; s++) {
        const bool all_to = far <= s; /* the nearest successor of every earlier step is not after s */
        if ((all_to && all_from[s]) || s == p->n - 1) {
            list[n++] = (part){.begin = begin, .end = s + 1};
            begin = s + 1;
        }
        const int32_t first = p->step[s].n_succs ? p->step[s].succ[0] : INT32_MAX;
        far = first > far ? first : far;
    }
    return n;
}

/* Peaks of the parts when steps run in `order`; NULL: the file's. */
static void part_peaks(search *x, const int32_t *order, part *list, int32_t n_parts, ac_region *tmp)
{
    uint64_t *bits = AC_NEW_N(tmp, uint64_t, x->p->n / 64 + 1);
    const set done = {bits, 0, x->p->n};
    ac_bytes live = live_before(x, done);
    for (int32_t k = 0; k < n_parts; k++) {
        list[k].peak = 0;
        list[k].before = live;
        for (int32_t i = list[k].begin; i < list[k].end; i++) {
            const int32_t s = order ? order[i] : i;
            cost c = run_step(x, done, live, s);
            c.peak += i ? 0 : x->unused;
            list[k].peak = c.peak > list[k].peak ? c.peak : list[k].peak;
            live = c.live;
            bits[s >> 6] |= UINT64_C(1) << (s & 63);
        }
        list[k].after = live;
        list[k].bound = live > list[k].before ? live : list[k].before;
    }
}

/* The values that a step uses, and those that live across its part, are alive in every order. So are those from before
 * the part while its first step runs, and those for after it while its last step runs. */
static void part_bound(const ac_order_problem *p, part *l)
{
    ac_bytes through = 0, first = INT64_MAX, last = INT64_MAX;
    for (int32_t i = 0; i < p->n_values; i++) {
        const ac_order_value *v = &p->value[i];
        const bool before = v->at_start || (v->n_users && v->user[0] < l->begin);
        if (before && (v->at_end || (v->n_users && v->user[v->n_users - 1] >= l->end)))
            through += v->size;
    }
    for (int32_t s = l->begin; s < l->end; s++) {
        const ac_order_step *st = &p->step[s];
        const ac_bytes fixed = st->scratch - (st->n_over && st->result >= 0 ? p->value[st->result].size : 0);
        ac_bytes own = through + fixed, begun = l->before + fixed, ended = l->after + fixed;
        for (int32_t i = 0; i < st->n_values; i++) {
            const ac_order_value *v = &p->value[st->value[i]];
            const bool before = v->at_start || v->user[0] < l->begin,
                       after = v->at_end || v->user[v->n_users - 1] >= l->end;
            own += before && after ? 0 : v->size;
            begun += before ? 0 : v->size;
            ended += after ? 0 : v->size;
        }
        l->bound = own > l->bound ? own : l->bound;
        if (!st->n_preds || st->pred[st->n_preds - 1] < l->begin)
            first = begun < first ? begun : first;
        if (!st->n_succs || st->succ[0] >= l->end)
            last = ended < last ? ended : last;
    }
    l->bound = first > l->bound ? first : l->bound;
    l->bound = last > l->bound ? last : l->bound;
}

static int by_peak(const void *pa, const void *pb)
{
    const part *a = pa, *b = pb;
    if (a->peak != b->peak)
        return a->peak > b->peak ? -1 : 1;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static void flip(uint64_t *bits, int32_t i)
{
    bits[i >> 6] ^= UINT64_C(1) << (i & 63);
}

/* From the last step to the first: of the steps that may come last, the one with the lowest peak, then the one that
 * leaves least alive before it. Branches whose results stay alive to the end are found by it, but not by narrow layers:
 * the first of them is the best step only in respect of those that come later. */
static void backwards(search *x, int32_t *order, ac_heap *heap)
{
    const int32_t n = x->end - x->begin;
    ac_region *tmp = ac_region_open(heap);
    uint64_t *bits = AC_NEW_N(tmp, uint64_t, x->words + 1);
    int32_t *later = AC_NEW_N(tmp, int32_t, n + 1), *ready = AC_NEW_N(tmp, int32_t, n + 1), n_ready = 0;
    int32_t *mine = AC_NEW_N(tmp, int32_t, n + 1);
    const set done = {bits, x->begin, x->end};
    for (int32_t s = x->begin; s < x->end; s++) {
        const ac_order_step *st = &x->p->step[s];
        flip(bits, s - x->begin);
        while (later[s - x->begin] < st->n_succs && st->succ[later[s - x->begin]] < x->end)
            later[s - x->begin]++;
        if (!later[s - x->begin])
            ready[n_ready++] = s;
    }
    ac_bytes live = live_before(x, done), most = x->floor;
    for (int32_t k = n - 1; k >= 0 && x->left > 0; k--) {
        cost best = {INT64_MAX, INT64_MAX};
        int32_t at = 0;
        for (int32_t i = 0; i < n_ready && (best.peak > most || best.live > live); i++) {
            flip(bits, ready[i] - x->begin);
            const cost c = run_step(x, done, 0, ready[i]); /* relative to the bytes before it */
            flip(bits, ready[i] - x->begin);
            const cost now = {live - c.live + c.peak, live - c.live};
            if (now.peak < best.peak || (now.peak == best.peak && now.live < best.live)) {
                best = now;
                at = i;
            }
        }
        const int32_t s = mine[k] = ready[at];
        const ac_order_step *st = &x->p->step[s];
        flip(bits, s - x->begin);
        ready[at] = ready[--n_ready];
        for (int32_t i = 0; i < st->n_preds; i++)
            if (st->pred[i] >= x->begin && !--later[st->pred[i] - x->begin])
                ready[n_ready++] = st->pred[i];
        best.peak += k == 0 && x->begin == 0 ? x->unused : 0;
        most = best.peak > most ? best.peak : most;
        live = best.live;
    }
    if (x->left > 0 && most < x->best) {
        x->best = most;
        memcpy(order + x->begin, mine, (size_t)n * sizeof *mine);
    }
    ac_region_close(tmp);
}

/* Wider and wider layers until nothing was left out, two widths in sequence found nothing better and took a while, or
 * the allowance is spent. True: x->best is the least. */
static bool solve_part(search *x, int32_t *order, ac_heap *heap)
{
    const int32_t n = x->end - x->begin;
    x->words = (n + 63) / 64;
    backwards(x, order, heap);
    const int64_t begun = x->left;
    int32_t vain = 0;
    for (x->width = FIRST_WIDTH; x->best > x->floor; x->width *= WIDER) {
        if (x->left <= 0 || (x->width > FIRST_WIDTH && x->width > MAX_LINKS / n))
            return false;
        vain = attempt(x, order, heap) ? 0 : vain + 1;
        if (!x->truncated)
            return true;
        if (vain >= VAIN && begun - x->left > ENOUGH)
            return false;
    }
    return true;
}

ac_bytes ac_order_peak(const ac_order_problem *p, const int32_t *order, ac_heap *heap)
{
    ac_region *tmp = ac_region_open(heap);
    search x = {.p = p, .unused = unused_inputs(p)};
    part all = {.begin = 0, .end = p->n};
    part_peaks(&x, order, &all, 1, tmp);
    ac_region_close(tmp);
    return all.peak;
}

ac_order_result ac_order_search(const ac_order_problem *p, int64_t steps, int32_t *order, ac_heap *heap)
{
    ac_region *tmp = ac_region_open(heap);
    part *list = AC_NEW_N(tmp, part, p->n + 1);
    const int32_t n = cut(p, list, tmp);
    search x = {.p = p, .unused = unused_inputs(p), .left = steps};
    ac_order_result r = {.optimal = true};
    part_peaks(&x, NULL, list, n, tmp);
    for (int32_t i = 0; i < p->n; i++)
        order[i] = i;
    qsort(list, (size_t)n, sizeof *list, by_peak);
    for (int32_t k = 0; k < n; k++)
        part_bound(p, &list[k]);
    ac_bytes floor = 0; /* the peak in any order, of this part or of another */
    for (int32_t k = 0; k < n; k++)
        floor = list[k].bound > floor ? list[k].bound : floor;
    r.before = n ? list[0].peak : 0;
    r.after = floor < r.before ? floor : r.before;
    for (int32_t k = 0; k < n && list[k].peak > r.after; k++) {
        const int64_t all = x.left;
        x.begin = list[k].begin;
        x.end = list[k].end;
        x.best = list[k].peak;
        x.floor = r.after;
        x.left = all / 2;
        const bool least = solve_part(&x, order, heap);
        x.left += all - all / 2;
        if (x.best > r.after) {
            r.after = x.best;
            r.optimal = least;
        }
    }
    r.steps = steps - x.left;
    ac_region_close(tmp);
    return r;
}
