/* skyline.c - see skyline.h. Items stand in the order of their begins ("places"); a tree over the places finds the best
 * one whose life lies inside a segment, a heap finds the lowest segment. Segments remember which places begin inside
 * them. */
#include "planner/skyline.h"

#include "base/radix.h"

#include <string.h>

typedef struct place {
    int32_t item;
    ac_step begin, end;
    int32_t same;  /* the first place that begins with this one */
    int32_t later; /* the first place that begins after this one does */
    int32_t after; /* the first place that begins when this one has ended, or later */
    ac_bytes size, align;
} place;

typedef struct segment {
    ac_step lo, hi;
    int32_t from, to; /* the places that begin in it */
    ac_bytes height;
    int32_t prev, next; /* -1: the edge */
    int32_t at;         /* where it stands in the heap */
} segment;

typedef struct node {
    int32_t best; /* the smallest rank among the unplaced, n: none left */
    ac_step end;  /* the smallest end among the unplaced */
} node;

struct ac_skyline {
    ac_step steps;
    place *place;
    int32_t n, n_items, leaves;
    node *tree;       /* heap-shaped: the children of k are 2k and 2k + 1 */
    int32_t *by_rank; /* places, the best first */
    double *key;      /* per place */
    ac_keyed *keyed, *spare;
    segment *seg;
    int32_t n_seg, free_seg; /* free_seg: a list through `next`; -1: none */
    int32_t *heap, n_heap;
};

/* ------------------------------------------------------------------ the tree of lives */

static node lesser(node a, node b)
{
    return (node){a.best < b.best ? a.best : b.best, a.end < b.end ? a.end : b.end};
}

static void take_out(ac_skyline *s, int32_t k)
{
    int32_t at = s->leaves + k;
    s->tree[at] = (node){s->n, INT32_MAX};
    for (at /= 2; at; at /= 2)
        s->tree[at] = lesser(s->tree[2 * at], s->tree[2 * at + 1]);
}

/* The smallest rank below `best` under `at` with an end of at most `hi`. Depth: log2 n. */
static int32_t descend(const ac_skyline *s, int32_t at, ac_step hi, int32_t best)
{
    if (s->tree[at].best >= best || s->tree[at].end > hi)
        return best;
    if (at >= s->leaves)
        return s->tree[at].best;
    best = descend(s, 2 * at, hi, best);
    return descend(s, 2 * at + 1, hi, best);
}

/* The same among the places [from, to). */
static int32_t find(const ac_skyline *s, int32_t from, int32_t to, ac_step hi)
{
    int32_t best = s->n, l = from + s->leaves, r = to + s->leaves;
    for (; l < r; l /= 2, r /= 2) {
        if (l & 1)
            best = descend(s, l++, hi, best);
        if (r & 1)
            best = descend(s, --r, hi, best);
    }
    return best;
}

/* ------------------------------------------------------------------ the heap of segments */

static bool is_lower(const ac_skyline *s, int32_t a, int32_t b)
{
    const segment *x = &s->seg[a], *y = &s->seg[b];
    return x->height != y->height ? x->height < y->height : x->lo < y->lo;
}

static void sift(ac_skyline *s, int32_t at, int32_t g)
{
    for (; at && is_lower(s, g, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        s->seg[s->heap[at] = s->heap[(at - 1) / 2]].at = at;
    for (;;) {
        int32_t kid = 2 * at + 1;
        if (kid >= s->n_heap)
            break;
        if (kid + 1 < s->n_heap && is_lower(s, s->heap[kid + 1], s->heap[kid]))
            kid++;
        if (!is_lower(s, s->heap[kid], g))
            break;
        s->seg[s->heap[at] = s->heap[kid]].at = at;
        at = kid;
    }
    s->heap[at] = g;
    s->seg[g].at = at;
}

static void leave_heap(ac_skyline *s, int32_t g)
{
    int32_t last = s->heap[--s->n_heap];
    if (last != g)
        sift(s, s->seg[g].at, last);
}

/* ------------------------------------------------------------------ segments */

static int32_t new_segment(ac_skyline *s, segment x)
{
    int32_t g = s->free_seg;
    if (g >= 0)
        s->free_seg = s->seg[g].next;
    else
        g = s->n_seg++;
    s->seg[g] = x;
    sift(s, s->n_heap++, g);
    return g;
}

/* g takes in the segment behind it when both have one height. */
static void join_next(ac_skyline *s, int32_t g)
{
    int32_t next = s->seg[g].next;
    if (next < 0 || s->seg[next].height != s->seg[g].height)
        return;
    s->seg[g].hi = s->seg[next].hi;
    s->seg[g].to = s->seg[next].to;
    s->seg[g].next = s->seg[next].next;
    if (s->seg[g].next >= 0)
        s->seg[s->seg[g].next].prev = g;
    leave_heap(s, next);
    s->seg[next].next = s->free_seg;
    s->free_seg = next;
}

static void set_height(ac_skyline *s, int32_t g, ac_bytes height)
{
    s->seg[g].height = height;
    sift(s, s->seg[g].at, g);
    join_next(s, g);
    if (s->seg[g].prev >= 0)
        join_next(s, s->seg[g].prev);
}

/* g keeps what is before `at`; the rest, where places from `from` on begin, is a new segment. */
static int32_t cut_off(ac_skyline *s, int32_t g, ac_step at, int32_t from)
{
    segment *x = &s->seg[g], rest = {at, x->hi, from, x->to, x->height, g, x->next, 0};
    x->hi = at;
    x->to = from;
    int32_t r = new_segment(s, rest);
    if (rest.next >= 0)
        s->seg[rest.next].prev = r;
    s->seg[g].next = r;
    return r;
}

static ac_bytes put_on(ac_skyline *s, int32_t g, int32_t k, ac_bytes *offset)
{
    const place *q = &s->place[k];
    ac_bytes at = ac_align_up(s->seg[g].height, q->align);
    offset[q->item] = at;
    take_out(s, k);
    if (q->end < s->seg[g].hi)
        cut_off(s, g, q->end, q->after);
    if (q->begin > s->seg[g].lo)
        g = cut_off(s, g, q->begin, q->same);
    set_height(s, g, at + q->size);
    return at + q->size;
}

static void raise_floor(ac_skyline *s, int32_t g)
{
    int32_t prev = s->seg[g].prev, next = s->seg[g].next;
    ac_bytes to = prev >= 0 ? s->seg[prev].height : INT64_MAX;
    if (next >= 0 && s->seg[next].height < to)
        to = s->seg[next].height;
    set_height(s, g, to);
}

/* ------------------------------------------------------------------ one run */

static bool goes_before(const ac_skyline *s, int32_t a, int32_t b)
{
    return s->key[a] > s->key[b] || (!(s->key[b] > s->key[a]) && a < b);
}

/* by_rank is sorted again. Little has changed when a search asks, so insertion is tried first. */
static void rank_places(ac_skyline *s)
{
    int64_t moves = 4 * (int64_t)s->n + 64;
    for (int32_t i = 1; i < s->n && moves >= 0; i++) {
        int32_t x = s->by_rank[i], k = i;
        for (; k && goes_before(s, x, s->by_rank[k - 1]) && moves >= 0; k--, moves--)
            s->by_rank[k] = s->by_rank[k - 1];
        s->by_rank[k] = x;
    }
    if (moves < 0) {
        for (int32_t k = 0; k < s->n; k++) { /* doubles of one sign sort as their bits do */
            memcpy(&s->keyed[k].key, &s->key[k], sizeof s->keyed[k].key);
            s->keyed[k].key = ~s->keyed[k].key;
            s->keyed[k].value = k;
        }
        ac_radix_sort(s->keyed, s->n, s->spare);
        for (int32_t k = 0; k < s->n; k++)
            s->by_rank[k] = s->keyed[k].value;
    }
    for (int32_t r = 0; r < s->n; r++)
        s->tree[s->leaves + s->by_rank[r]].best = r;
}

ac_bytes ac_skyline_fill(ac_skyline *s, const double *key, ac_skyline_edge edge, ac_bytes *offset)
{
    ac_bytes top = 0;
    memset(offset, 0, (size_t)s->n_items * sizeof *offset);
    for (int32_t k = 0; k < s->n; k++)
        s->key[k] = key[s->place[k].item];
    rank_places(s);
    for (int32_t k = 0; k < s->n; k++)
        s->tree[s->leaves + k].end = s->place[k].end;
    for (int32_t at = s->leaves - 1; at; at--)
        s->tree[at] = lesser(s->tree[2 * at], s->tree[2 * at + 1]);
    s->n_heap = s->n_seg = 0;
    s->free_seg = -1;
    new_segment(s, (segment){0, s->steps, 0, s->n, 0, -1, -1, 0});
    for (int32_t left = s->n; left;) {
        int32_t g = s->heap[0], best = s->n;
        const segment *x = &s->seg[g];
        const place *q = &s->place[x->from < s->n ? x->from : 0];
        if (edge == AC_SAME_BEGIN && x->from < x->to && q->begin == x->lo)
            best = find(s, x->from, q->later, x->hi);
        if (best == s->n)
            best = find(s, x->from, x->to, x->hi);
        if (best == s->n) {
            raise_floor(s, g);
            continue;
        }
        ac_bytes end = put_on(s, g, s->by_rank[best], offset);
        top = end > top ? end : top;
        left--;
    }
    return top;
}

/* ------------------------------------------------------------------ open */

bool ac_skyline_is_plan(const ac_problem *p)
{
    bool plain = !p->n_pairs;
    for (int32_t i = 0; i < p->n && plain; i++)
        plain = p->item[i].fixed < 0 && !p->item[i].n_gaps;
    return plain;
}

/* The first place in [k, n) that begins at `t` or later. */
static int32_t first_from(const ac_skyline *s, int32_t k, ac_step t)
{
    int32_t hi = s->n;
    while (k < hi) {
        int32_t mid = k + (hi - k) / 2;
        if (s->place[mid].begin < t)
            k = mid + 1;
        else
            hi = mid;
    }
    return k;
}

static void sort_places(ac_skyline *s, const ac_problem *p)
{
    for (int32_t i = 0; i < p->n; i++)
        if (p->item[i].fixed < 0 && p->item[i].size)
            s->keyed[s->n++] = (ac_keyed){(uint64_t)p->item[i].life.begin, i};
    ac_radix_sort(s->keyed, s->n, s->spare);
    for (int32_t k = 0; k < s->n; k++) {
        const ac_item *it = &p->item[s->keyed[k].value];
        s->place[k] = (place){s->keyed[k].value, it->life.begin, it->life.end, k, s->n, 0, it->size, it->align};
        if (k && s->place[k - 1].begin == it->life.begin)
            s->place[k].same = s->place[k - 1].same;
    }
    for (int32_t k = s->n - 1; k >= 0; k--) {
        if (k + 1 < s->n)
            s->place[k].later = s->place[k + 1].begin == s->place[k].begin ? s->place[k + 1].later : k + 1;
        s->place[k].after = first_from(s, k, s->place[k].end);
    }
}

ac_skyline *ac_skyline_open(const ac_problem *p, ac_region *tmp)
{
    ac_skyline *s = AC_NEW(tmp, ac_skyline);
    *s = (ac_skyline){.steps = p->steps, .n_items = p->n, .leaves = 1};
    s->keyed = AC_NEW_N(tmp, ac_keyed, p->n);
    s->spare = AC_NEW_N(tmp, ac_keyed, p->n);
    s->place = AC_NEW_N(tmp, place, p->n);
    sort_places(s, p);
    while (s->leaves < s->n)
        s->leaves *= 2;
    s->tree = AC_NEW_N(tmp, node, 2 * (int64_t)s->leaves);
    for (int32_t k = 0; k < s->leaves; k++)
        s->tree[s->leaves + k] = (node){s->n, INT32_MAX};
    s->key = AC_NEW_N(tmp, double, s->n);
    s->by_rank = AC_NEW_N(tmp, int32_t, s->n);
    for (int32_t k = 0; k < s->n; k++)
        s->by_rank[k] = k;
    s->seg = AC_NEW_N(tmp, segment, 2 * (int64_t)s->n + 1);
    s->heap = AC_NEW_N(tmp, int32_t, 2 * (int64_t)s->n + 1);
    return s;
}
