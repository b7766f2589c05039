/* solve_search.c - local search over the order in which first fit places the items.
 *
 *   1. Start with the smallest plan of the other strategies; the order is that of its offsets (first fit in this order
 *      gives the same plan or a smaller one).
 *   2. Take an item at the peak, or one it conflicts with, and move it before an item it conflicts with; place
 *      everything from there on again. Keep the new order unless the peak, or the number of bytes near it, got worse.
 *   3. After a while without progress go back to the best order, perturbed by a few random moves.
 *   4. Stop at the lower bound or when the work is spent. Work is counted in visited neighbours, never in time, and
 *      the random numbers start from a constant: the same plan on every machine.
 *
 * Every plan in which no item can slide down is first fit in the order of its own offsets, so the optimum is in reach.
 * Cost: bounded by WORK + WORK_PER_ITEM * n neighbours, about 5 ms for 30 items; above MAX_PIECES items or MAX_EDGES
 * conflicts step 1 is all that happens.
 * Bad on tight puzzles without any slack, where only exact search wins. Source: the hill climb of TVM's USMP, with
 * moves in place of swaps, and restarts. */
#include "planner/pack/solve.h"
#include "planner/pack/strategies.h"

#include "planner/pack/place.h"

#include "base/random.h"
#include "base/vec.h"

#include <string.h>

enum { MAX_PIECES = 2048, MAX_EDGES = 1 << 20, WORK = 1000000, WORK_PER_ITEM = 20000 };

/* Item i must not be at offset[j] + lo <= x < offset[j] + hi. */
typedef struct edge {
    int32_t j;
    ac_bytes lo, hi;
} edge;

typedef struct span {
    ac_bytes lo, hi;
} span;

typedef struct search {
    const ac_problem *p;
    const bool *paired; /* per item: some pair names it */
    edge *edge;
    int32_t *first;        /* edges of item i: edge[first[i]..first[i + 1]) */
    int32_t *order, *rank; /* of the n free items with bytes; rank: -1 for fixed ones, they are always placed */
    int32_t n;
    ac_bytes *offset;
    span *span; /* as many as one item has neighbours */
    ac_bytes bound, top, slope;
    int64_t work;
    uint64_t random;
} search;

static uint32_t draw(search *s, uint32_t below)
{
    return (uint32_t)ac_random(&s->random, below);
}

static ac_bytes first_fit(search *s, int32_t i, int32_t rank)
{
    span *v = s->span;
    int32_t n = 0;
    for (int32_t e = s->first[i]; e < s->first[i + 1]; e++) {
        const edge *x = &s->edge[e];
        if (s->rank[x->j] >= rank)
            continue;
        span f = {s->offset[x->j] + x->lo, s->offset[x->j] + x->hi};
        int32_t k = n++;
        for (; k && v[k - 1].lo > f.lo; k--)
            v[k] = v[k - 1];
        v[k] = f;
    }
    s->work -= s->first[i + 1] - s->first[i] + n;
    ac_bytes at = 0, align = s->p->item[i].align;
    for (int32_t k = 0; k < n && v[k].lo <= at; k++)
        if (v[k].hi > at)
            at = ac_align_up(v[k].hi, align);
    return at;
}

/* Places order[from..n). false: some item ends above `limit`, the rest is not placed. */
static bool replace_from(search *s, int32_t from, ac_bytes limit)
{
    for (int32_t k = from; k < s->n; k++)
        s->rank[s->order[k]] = k;
    for (int32_t k = from; k < s->n; k++) {
        int32_t i = s->order[k];
        s->offset[i] = first_fit(s, i, k);
        if (s->offset[i] + s->p->item[i].size > limit)
            return false;
    }
    return true;
}

/* Measures the peak, and the bytes within 1/16 of it: only this second number has a slope on a plateau. */
static void measure(search *s)
{
    s->top = ac_problem_top(s->p, s->offset);
    ac_bytes line = s->top - s->top / 16;
    s->slope = 0;
    for (int32_t k = 0; k < s->n; k++) {
        const ac_item *it = &s->p->item[s->order[k]];
        ac_bytes over = s->offset[s->order[k]] + it->size - line;
        if (over > 0)
            s->slope += over;
    }
}

static void move(search *s, int32_t from, int32_t to) /* to < from */
{
    int32_t i = s->order[from];
    memmove(&s->order[to + 1], &s->order[to], (size_t)(from - to) * sizeof *s->order);
    s->order[to] = i;
}

/* A free neighbour of i that is placed before `rank`, or -1. */
static int32_t neighbour(search *s, int32_t i, int32_t rank)
{
    int32_t degree = s->first[i + 1] - s->first[i];
    for (int tries = 0; degree && tries < 8; tries++) {
        int32_t j = s->edge[s->first[i] + (int32_t)draw(s, (uint32_t)degree)].j;
        if (s->rank[j] >= 0 && s->rank[j] < rank)
            return j;
    }
    return -1;
}

/* Chooses an item to move: returns its new rank, *from is the old one; -1: none found. */
static int32_t choose(search *s, int32_t *from)
{
    int32_t start = (int32_t)draw(s, (uint32_t)s->n), i = -1;
    for (int32_t k = 0; k < s->n && i < 0; k++) {
        int32_t j = s->order[(start + k) % s->n];
        if (s->offset[j] + s->p->item[j].size == s->top)
            i = j;
    }
    if (i < 0) /* a fixed item is the peak */
        return -1;
    for (uint32_t hops = draw(s, 3); hops; hops--) {
        int32_t j = neighbour(s, i, s->n);
        i = j >= 0 ? j : i;
    }
    *from = s->rank[i];
    int32_t before = neighbour(s, i, *from);
    return before >= 0 ? s->rank[before] : -1;
}

typedef struct saved {
    int32_t *order;
    ac_bytes *offset, top, slope;
} saved;

static void save(const search *s, saved *to)
{
    memcpy(to->order, s->order, (size_t)s->n * sizeof *s->order);
    memcpy(to->offset, s->offset, (size_t)s->p->n * sizeof *s->offset);
    to->top = s->top;
    to->slope = s->slope;
}

static void restore(search *s, const saved *from)
{
    memcpy(s->order, from->order, (size_t)s->n * sizeof *s->order);
    memcpy(s->offset, from->offset, (size_t)s->p->n * sizeof *s->offset);
    s->top = from->top;
    s->slope = from->slope;
    for (int32_t k = 0; k < s->n; k++)
        s->rank[s->order[k]] = k;
}

/* Back to the best order, with a few random moves. */
static void perturb(search *s, const saved *best)
{
    restore(s, best);
    for (uint32_t moves = 1 + draw(s, 4); moves; moves--) {
        int32_t from = (int32_t)draw(s, (uint32_t)s->n), to = (int32_t)draw(s, (uint32_t)s->n);
        if (to < from)
            move(s, from, to);
        else
            move(s, to, from);
    }
    replace_from(s, 0, INT64_MAX);
    measure(s);
}

static void climb(search *s, ac_region *tmp)
{
    saved now = {AC_NEW_N(tmp, int32_t, s->n), AC_NEW_N(tmp, ac_bytes, s->p->n), 0, 0}, best = now;
    best.order = AC_NEW_N(tmp, int32_t, s->n);
    best.offset = AC_NEW_N(tmp, ac_bytes, s->p->n);
    save(s, &best);
    save(s, &now);
    int32_t idle = 0, patience = 50 + 4 * s->n;
    while (s->work > 0 && best.top > s->bound) {
        int32_t from = 0, to = choose(s, &from);
        s->work -= 16 + s->n / 4;
        if (to >= 0) {
            move(s, from, to);
            bool fits = replace_from(s, to, now.top);
            if (fits)
                measure(s);
            if (fits && (s->top < now.top || s->slope <= now.slope)) {
                idle = s->top < now.top || s->slope < now.slope ? 0 : idle;
                save(s, &now);
            } else {
                restore(s, &now);
            }
        }
        if (now.top < best.top)
            save(s, &best);
        if (++idle > patience) {
            perturb(s, &best);
            save(s, &now);
            idle = 0;
        }
    }
    restore(s, &best);
}

/* Steps in which an item occupies the same bytes; repeated here so that a search does not need a placer. */
typedef struct piece {
    ac_life life;
    ac_bytes lo, hi;
    int32_t item;
} piece;

typedef AC_VEC(piece) pieces;

static void cut_pieces(const ac_problem *p, pieces *v, ac_region *tmp)
{
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        ac_step t = it->life.begin;
        for (int32_t g = 0; it->size && g < it->n_gaps; g++) {
            const ac_gap *x = &it->gaps[g];
            if (x->life.begin > t)
                ac_push(tmp, v, ((piece){{t, x->life.begin}, 0, it->size, i}));
            if (x->hi > x->lo)
                ac_push(tmp, v, ((piece){x->life, x->lo, x->hi, i}));
            t = x->life.end;
        }
        if (it->size && it->life.end > t)
            ac_push(tmp, v, ((piece){{t, it->life.end}, 0, it->size, i}));
    }
}

/* The offsets that piece a forbids to item b, relative to a's; pair rules reduce them. lo >= hi: none. */
static edge edge_between(const search *s, const piece *a, const piece *b)
{
    const ac_problem *p = s->p;
    edge e = {a->item, a->lo - b->hi + 1, a->hi - b->lo};
    if (!s->paired[a->item] || !s->paired[b->item])
        return e;
    for (int32_t k = 0; k < p->n_pairs; k++) {
        const ac_pair *r = &p->pair[k];
        bool same = r->a == a->item && r->b == b->item;
        if (!same && (r->b != a->item || r->a != b->item))
            continue;
        /* x - offset[a] is the pair's distance, or its negative when the pair names them the other way round. */
        ac_bytes low = same ? r->max_below : r->min_above == INT64_MAX ? INT64_MIN : -r->min_above;
        ac_bytes high = same ? r->min_above : r->max_below == INT64_MIN ? INT64_MAX : -r->max_below;
        e.lo = low >= e.lo ? low + 1 : e.lo;
        e.hi = high < e.hi ? high : e.hi;
    }
    return e;
}

static bool find_edges(search *s, ac_region *tmp)
{
    const ac_problem *p = s->p;
    pieces v = {0};
    cut_pieces(p, &v, tmp);
    if (v.n > MAX_PIECES)
        return false;
    AC_VEC(edge) all = {0};
    bool *paired = AC_NEW_N(tmp, bool, p->n);
    for (int32_t k = 0; k < p->n_pairs; k++)
        paired[p->pair[k].a] = paired[p->pair[k].b] = true;
    s->paired = paired;
    s->first = AC_NEW_N(tmp, int32_t, (int64_t)p->n + 1);
    int32_t most = 0, b = 0;
    for (int32_t i = 0; i < p->n; i++) { /* pieces are in item order, so edges come out grouped by item */
        for (; b < v.n && v.item[b].item == i; b++)
            for (int32_t a = 0; a < v.n; a++) {
                if (v.item[a].item == i || !ac_life_overlap(v.item[a].life, v.item[b].life))
                    continue;
                edge e = edge_between(s, &v.item[a], &v.item[b]);
                if (e.lo < e.hi)
                    ac_push(tmp, &all, e);
            }
        if (all.n > MAX_EDGES)
            return false;
        s->first[i + 1] = all.n;
        most = s->first[i + 1] - s->first[i] > most ? s->first[i + 1] - s->first[i] : most;
    }
    s->edge = all.item;
    s->span = AC_NEW_N(tmp, span, (int64_t)most + 1);
    return true;
}

/* The smallest plan of the other strategies, the first of equals. */
static void start(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    static ac_solver *const SEED[] = {ac_solve_greedy, ac_solve_tflm, ac_solve_bestfit, ac_solve_tflite,
                                      ac_solve_valley};
    ac_bytes *trial = AC_NEW_N(tmp, ac_bytes, p->n), best = INT64_MAX;
    for (size_t k = 0; k < sizeof SEED / sizeof *SEED; k++) {
        if (SEED[k](p, trial, tmp) != AC_OK || ac_problem_top(p, trial) >= best)
            continue;
        best = ac_problem_top(p, trial);
        memcpy(offset, trial, (size_t)p->n * sizeof *offset);
    }
}

int ac_solve_search(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    search s = {.p = p, .offset = offset, .random = AC_RANDOM_START};
    start(p, offset, tmp);
    s.bound = ac_problem_bound(p, tmp).aligned;
    s.top = ac_problem_top(p, offset);
    if (s.top <= s.bound || !find_edges(&s, tmp))
        return AC_OK;
    const int32_t *order = ac_order_of(p, offset, tmp);
    s.order = AC_NEW_N(tmp, int32_t, p->n);
    s.rank = AC_NEW_N(tmp, int32_t, p->n);
    for (int32_t k = 0; k < p->n; k++) {
        s.rank[order[k]] = -1;
        if (p->item[order[k]].fixed < 0 && p->item[order[k]].size)
            s.order[s.n++] = order[k];
    }
    if (s.n < 2)
        return AC_OK;
    s.work = WORK + (int64_t)WORK_PER_ITEM * s.n;
    replace_from(&s, 0, INT64_MAX);
    measure(&s);
    climb(&s, tmp);
    return AC_OK;
}
