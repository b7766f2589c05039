/* solve_valley.c - fills the lowest valley of a skyline over time.
 *
 *     height                        The skyline is the top of what is placed, per step. Take its lowest segment (the
 *       |     ____                  earliest of equals). Of the items whose whole life lies inside it, put the best one
 * on
 *       |____|    |      ____       its floor, at its own steps. If there is none, raise the segment to its lower
 *       |         |_____|           neighbour and join them.
 *       +---------------------> t
 *
 * "Best" is tried three ways (longest life, largest size times life, largest size; ties: begin, index) and the smallest
 * arena is kept. The skyline knows neither gaps, pairs nor fixed offsets: it takes them for whole lives and leaves
 * fixed items out. Its offsets then only give the order in which first fit places the items for good, with all rules;
 * that never puts an item higher than the skyline did when there is nothing fixed.
 *
 * Cost: O(n) steps of O(log n) for the heap and, usually, O(log n) for the tree of lives; O(n) at worst.
 * Bad when the best plan leaves a hole at the floor of a valley, since this one always fills it.
 * Source: the valley heuristic described in docs (lowest segment, best fitting life), after the skyline rule of strip
 * packing (Burke, Kendall, Whitwell 2004). */
#include "planner/place.h"

#include <stdlib.h>
#include <string.h>

typedef struct segment {
    ac_step lo, hi;
    ac_bytes height;
    int32_t prev, next; /* -1: the edge */
    int32_t version;    /* a heap entry with another one is out of date */
} segment;

typedef struct low { /* a heap entry */
    ac_bytes height;
    ac_step lo;
    int32_t seg, version;
} low;

typedef struct valley {
    const ac_problem *p;
    ac_bytes *offset;
    int32_t *item; /* free items with bytes, by begin; n of them */
    int32_t n, leaves;
    int32_t *best;    /* tree: smallest rank among the unplaced, n: none left */
    ac_step *end;     /* tree: smallest end among the unplaced */
    int32_t *rank;    /* per place in `item` */
    int32_t *by_rank; /* the inverse of `rank` */
    segment *seg;
    int32_t n_seg;
    low *heap;
    int32_t n_heap;
} valley;

static bool low_before(low a, low b)
{
    return a.height != b.height ? a.height < b.height : a.lo < b.lo;
}

static void heap_push(valley *v, int32_t s)
{
    low x = {v->seg[s].height, v->seg[s].lo, s, ++v->seg[s].version};
    int32_t at = v->n_heap++;
    for (; at && low_before(x, v->heap[(at - 1) / 2]); at = (at - 1) / 2)
        v->heap[at] = v->heap[(at - 1) / 2];
    v->heap[at] = x;
}

static low heap_pop(valley *v)
{
    low top = v->heap[0], x = v->heap[--v->n_heap];
    int32_t at = 0;
    for (;;) {
        int32_t kid = 2 * at + 1;
        if (kid >= v->n_heap)
            break;
        if (kid + 1 < v->n_heap && low_before(v->heap[kid + 1], v->heap[kid]))
            kid++;
        if (!low_before(v->heap[kid], x))
            break;
        v->heap[at] = v->heap[kid];
        at = kid;
    }
    v->heap[at] = x;
    return top;
}

static void tree_set(valley *v, int32_t place, int32_t rank, ac_step end)
{
    int32_t at = v->leaves + place;
    v->best[at] = rank;
    v->end[at] = end;
    for (at /= 2; at; at /= 2) {
        v->best[at] = v->best[2 * at] < v->best[2 * at + 1] ? v->best[2 * at] : v->best[2 * at + 1];
        v->end[at] = v->end[2 * at] < v->end[2 * at + 1] ? v->end[2 * at] : v->end[2 * at + 1];
    }
}

/* The smallest rank below `best` at places [from, to) with an end of at most `hi`. Depth: log2 n. */
static int32_t tree_find(const valley *v, int32_t node, int32_t lo, int32_t width, int32_t from, int32_t to, ac_step hi,
                         int32_t best)
{
    if (lo >= to || lo + width <= from || v->best[node] >= best || v->end[node] > hi)
        return best;
    if (width == 1)
        return v->best[node];
    width /= 2;
    best = tree_find(v, 2 * node, lo, width, from, to, hi, best);
    return tree_find(v, 2 * node + 1, lo + width, width, from, to, hi, best);
}

/* The first place whose item begins at `t` or later. */
static int32_t first_from(const valley *v, ac_step t)
{
    int32_t lo = 0, hi = v->n;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (v->p->item[v->item[mid]].life.begin < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Joins s with the neighbour after it when both have one height; s stays. */
static void join_next(valley *v, int32_t s)
{
    int32_t next = v->seg[s].next;
    if (next < 0 || v->seg[next].height != v->seg[s].height)
        return;
    v->seg[s].hi = v->seg[next].hi;
    v->seg[s].next = v->seg[next].next;
    v->seg[next].version++; /* its heap entry is dead */
    if (v->seg[s].next >= 0)
        v->seg[v->seg[s].next].prev = s;
}

static void settle(valley *v, int32_t s)
{
    join_next(v, s);
    int32_t prev = v->seg[s].prev;
    if (prev >= 0 && v->seg[prev].height == v->seg[s].height) {
        join_next(v, prev);
        s = prev;
    }
    heap_push(v, s);
}

static int32_t cut_off(valley *v, int32_t s, ac_step at) /* s keeps what is before `at`; the rest is a new segment */
{
    int32_t rest = v->n_seg++;
    v->seg[rest] = (segment){at, v->seg[s].hi, v->seg[s].height, s, v->seg[s].next, 0};
    if (v->seg[s].next >= 0)
        v->seg[v->seg[s].next].prev = rest;
    v->seg[s].next = rest;
    v->seg[s].hi = at;
    return rest;
}

static void put_on(valley *v, int32_t s, int32_t place)
{
    const ac_item *it = &v->p->item[v->item[place]];
    ac_bytes at = ac_align_up(v->seg[s].height, it->align);
    v->offset[v->item[place]] = at;
    tree_set(v, place, v->n, INT32_MAX);
    if (it->life.end < v->seg[s].hi)
        heap_push(v, cut_off(v, s, it->life.end));
    if (it->life.begin > v->seg[s].lo) {
        int32_t rest = cut_off(v, s, it->life.begin);
        heap_push(v, s);
        s = rest;
    }
    v->seg[s].height = at + it->size;
    settle(v, s);
}

static void raise_floor(valley *v, int32_t s)
{
    int32_t prev = v->seg[s].prev, next = v->seg[s].next;
    ac_bytes to = INT64_MAX;
    if (prev >= 0)
        to = v->seg[prev].height;
    if (next >= 0 && v->seg[next].height < to)
        to = v->seg[next].height;
    v->seg[s].height = to;
    settle(v, s);
}

/* One run: offsets of all items in v->item, by the ranks given. */
static void fill(valley *v)
{
    for (int32_t k = 0; k < v->leaves; k++)
        tree_set(v, k, k < v->n ? v->rank[k] : v->n, k < v->n ? v->p->item[v->item[k]].life.end : INT32_MAX);
    v->n_heap = v->n_seg = 0;
    v->seg[v->n_seg++] = (segment){0, v->p->steps, 0, -1, -1, 0};
    heap_push(v, 0);
    for (int32_t left = v->n; left;) {
        low l = heap_pop(v);
        const segment *s = &v->seg[l.seg];
        if (s->version != l.version)
            continue;
        int32_t from = first_from(v, s->lo), to = first_from(v, s->hi);
        int32_t best = tree_find(v, 1, 0, v->leaves, from, to, s->hi, v->n);
        if (best < v->n) {
            put_on(v, l.seg, v->by_rank[best]);
            left--;
        } else {
            raise_floor(v, l.seg);
        }
    }
}

typedef struct ranked {
    double key;
    int32_t place; /* in v->item, which is by begin, then index */
} ranked;

static int by_key(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->key > y->key || x->key < y->key)
        return x->key > y->key ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void rank_items(valley *v, int way, ranked *r)
{
    for (int32_t k = 0; k < v->n; k++) {
        const ac_item *it = &v->p->item[v->item[k]];
        double life = (double)(it->life.end - it->life.begin), size = (double)it->size;
        r[k] = (ranked){way == 0 ? life : way == 1 ? life * size : size, k};
    }
    qsort(r, (size_t)v->n, sizeof *r, by_key);
    for (int32_t k = 0; k < v->n; k++) {
        v->rank[r[k].place] = k;
        v->by_rank[k] = r[k].place;
    }
}

static valley open_valley(const ac_problem *p, ac_region *tmp)
{
    valley v = {.p = p, .leaves = 1};
    const int32_t *order = ac_order_by(p, NULL, tmp);
    v.item = AC_NEW_N(tmp, int32_t, p->n);
    for (int32_t k = 0; k < p->n; k++)
        if (p->item[order[k]].fixed < 0 && p->item[order[k]].size)
            v.item[v.n++] = order[k];
    while (v.leaves < v.n)
        v.leaves *= 2;
    v.offset = AC_NEW_N(tmp, ac_bytes, p->n);
    v.best = AC_NEW_N(tmp, int32_t, 2 * (int64_t)v.leaves);
    v.end = AC_NEW_N(tmp, ac_step, 2 * (int64_t)v.leaves);
    v.rank = AC_NEW_N(tmp, int32_t, v.n);
    v.by_rank = AC_NEW_N(tmp, int32_t, v.n);
    v.seg = AC_NEW_N(tmp, segment, 2 * (int64_t)v.n + 1);
    v.heap = AC_NEW_N(tmp, low, 6 * (int64_t)v.n + 4); /* a placement pushes three, a join or a raise one */
    return v;
}

int solve_valley(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    valley v = open_valley(p, tmp);
    ranked *r = AC_NEW_N(tmp, ranked, v.n);
    ac_bytes *trial = AC_NEW_N(tmp, ac_bytes, p->n), *key = AC_NEW_N(tmp, ac_bytes, p->n), best = INT64_MAX;
    for (int way = 0; way < 3; way++) {
        if (v.n) {
            rank_items(&v, way, r);
            fill(&v);
        }
        for (int32_t i = 0; i < p->n; i++)
            key[i] = -v.offset[i];
        ac_placer_run(p, trial, ac_order_by(p, key, tmp), AC_FIRST_FIT, tmp);
        ac_bytes top = ac_problem_top(p, trial);
        if (top < best) {
            best = top;
            memcpy(offset, trial, (size_t)p->n * sizeof *offset);
        }
    }
    return AC_OK;
}
