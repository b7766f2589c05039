/* skyline.c - see skyline.h. Items stand in the order of their begins ("places"); a tree over the places finds the best
 * one whose life lies inside a segment.
 *
 * Which valley is filled first does not matter: nothing that happens between two higher neighbours is seen outside
 * before the floor reaches them. So segments are walked like a stack instead of taken lowest first: all on the left of
 * the one at hand are a staircase down to it, and it is filled unless the next one is still lower. */
#include "planner/skyline.h"

#include "planner/timeline.h"

#include "base/radix.h"

#include <string.h>

typedef struct place {
    int32_t item;
    int32_t begin, end; /* numbers of the timeline */
    ac_bytes size, align;
} place;

typedef struct segment {
    int32_t lo, hi;     /* numbers of the timeline */
    int32_t prev, next; /* -1: the edge */
    ac_bytes height;
} segment;

typedef struct node {
    double key;    /* the largest among the unplaced; -1: none left */
    int32_t place; /* the first of them */
    int32_t end;   /* the smallest end among the unplaced */
} node;

struct ac_skyline {
    int32_t n, n_items, leaves;
    int32_t times;  /* of the timeline */
    int32_t *first; /* per time: the first place that begins then or later */
    place *place;
    node *tree; /* heap-shaped: the children of k are 2k and 2k + 1 */
    segment *seg;
    int32_t n_seg, free_seg; /* free_seg: a list through `next`; -1: none */
};

static const node NOBODY = {-1, INT32_MAX, INT32_MAX};

/* ------------------------------------------------------------------ the tree of lives */

static bool is_better(node a, node b)
{
    return a.key > b.key || (!(b.key > a.key) && a.place < b.place);
}

static node both(node a, node b)
{
    node x = is_better(b, a) ? b : a;
    x.end = a.end < b.end ? a.end : b.end;
    return x;
}

static void take_out(ac_skyline *s, int32_t k)
{
    int32_t at = s->leaves + k;
    s->tree[at] = NOBODY;
    for (at /= 2; at; at /= 2) {
        const node x = both(s->tree[2 * at], s->tree[2 * at + 1]), old = s->tree[at];
        if (x.place == old.place && x.end == old.end)
            break;
        s->tree[at] = x;
    }
}

/* The best under `at` that ends by `hi`, if it is better than `best`. Depth: log2 n. */
static node descend(const ac_skyline *s, int32_t at, int32_t hi, node best)
{
    const node x = s->tree[at];
    if (x.end > hi || !is_better(x, best))
        return best;
    if (at >= s->leaves)
        return x;
    best = descend(s, 2 * at, hi, best);
    return descend(s, 2 * at + 1, hi, best);
}

/* The best among the places [from, to) that ends by `hi`; -1: none. */
static int32_t find(const ac_skyline *s, int32_t from, int32_t to, int32_t hi)
{
    node best = NOBODY;
    int32_t l = from + s->leaves, r = to + s->leaves;
    for (; l < r; l /= 2, r /= 2) {
        if (l & 1)
            best = descend(s, l++, hi, best);
        if (r & 1)
            best = descend(s, --r, hi, best);
    }
    return best.key < 0 ? -1 : best.place;
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
    return g;
}

/* g takes in the segment behind it when both have one height. */
static void join_next(ac_skyline *s, int32_t g)
{
    const int32_t next = s->seg[g].next;
    if (next < 0 || s->seg[next].height != s->seg[g].height)
        return;
    s->seg[g].hi = s->seg[next].hi;
    s->seg[g].next = s->seg[next].next;
    if (s->seg[g].next >= 0)
        s->seg[s->seg[g].next].prev = g;
    s->seg[next].next = s->free_seg;
    s->free_seg = next;
}

/* Returns where to go on: a segment that is lower than the one before it. */
static int32_t set_height(ac_skyline *s, int32_t g, ac_bytes height)
{
    s->seg[g].height = height;
    join_next(s, g);
    const int32_t prev = s->seg[g].prev;
    if (prev < 0 || s->seg[prev].height > height)
        return g;
    join_next(s, prev);
    return prev;
}

/* g keeps what is before `at`; the rest is a new segment. */
static int32_t cut_off(ac_skyline *s, int32_t g, int32_t at)
{
    segment *x = &s->seg[g];
    const segment rest = {at, x->hi, g, x->next, x->height};
    x->hi = at;
    const int32_t r = new_segment(s, rest);
    if (rest.next >= 0)
        s->seg[rest.next].prev = r;
    s->seg[g].next = r;
    return r;
}

/* Puts a place on the floor of g; returns where to go on. */
static int32_t put_on(ac_skyline *s, int32_t g, const place *q, ac_bytes at)
{
    if (q->end < s->seg[g].hi)
        cut_off(s, g, q->end);
    if (q->begin == s->seg[g].lo)
        return set_height(s, g, at + q->size);
    set_height(s, cut_off(s, g, q->begin), at + q->size);
    return g;
}

static int32_t raise_floor(ac_skyline *s, int32_t g)
{
    const int32_t prev = s->seg[g].prev, next = s->seg[g].next;
    ac_bytes to = prev >= 0 ? s->seg[prev].height : INT64_MAX;
    if (next >= 0 && s->seg[next].height < to)
        to = s->seg[next].height;
    return set_height(s, g, to);
}

/* ------------------------------------------------------------------ one run */

static void fill_tree(ac_skyline *s, const double *key)
{
    for (int32_t k = 0; k < s->n; k++)
        s->tree[s->leaves + k] = (node){key[s->place[k].item], k, s->place[k].end};
    for (int32_t at = s->leaves - 1; at; at--)
        s->tree[at] = both(s->tree[2 * at], s->tree[2 * at + 1]);
}

ac_bytes ac_skyline_fill(ac_skyline *s, const double *key, ac_skyline_edge edge, ac_bytes *offset)
{
    ac_bytes top = 0;
    memset(offset, 0, (size_t)s->n_items * sizeof *offset);
    fill_tree(s, key);
    s->n_seg = 0;
    s->free_seg = -1;
    int32_t g = new_segment(s, (segment){s->n ? s->place[0].begin : 0, s->times, -1, -1, 0});
    for (int32_t left = s->n; left;) {
        const segment x = s->seg[g];
        if (x.next >= 0 && s->seg[x.next].height < x.height) {
            g = x.next;
            continue;
        }
        int32_t best = edge == AC_SAME_BEGIN ? find(s, s->first[x.lo], s->first[x.lo + 1], x.hi) : -1;
        if (best < 0)
            best = find(s, s->first[x.lo], s->first[x.hi], x.hi);
        if (best < 0) {
            g = raise_floor(s, g);
            continue;
        }
        const place *q = &s->place[best];
        const ac_bytes at = q->align > 1 ? ac_align_up(x.height, q->align) : x.height;
        offset[q->item] = at;
        top = at + q->size > top ? at + q->size : top;
        take_out(s, best);
        g = put_on(s, g, q, at);
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

static bool takes_part(const ac_item *it)
{
    return it->fixed < 0 && it->size;
}

/* By begin, then index: counted, since there are few times. */
static void sort_places(ac_skyline *s, const ac_problem *p, const ac_timeline *t)
{
    for (int32_t i = 0; i < p->n; i++)
        if (takes_part(&p->item[i]))
            s->first[ac_timeline_at(t, p->item[i].life.begin) + 2]++;
    for (int32_t k = 0; k < s->times; k++)
        s->first[k + 2] += s->first[k + 1];
    for (int32_t i = 0; i < p->n; i++) { /* shifts first[] down by one place as it fills */
        const ac_item *it = &p->item[i];
        if (!takes_part(it))
            continue;
        const int32_t begin = ac_timeline_at(t, it->life.begin);
        s->place[s->first[begin + 1]++] = (place){i, begin, ac_timeline_at(t, it->life.end), it->size, it->align};
        s->n++;
    }
}

ac_skyline *ac_skyline_open(const ac_problem *p, ac_region *tmp)
{
    ac_skyline *s = AC_NEW(tmp, ac_skyline);
    const ac_timeline t = ac_timeline_open(p, tmp);
    *s = (ac_skyline){.times = t.n, .n_items = p->n, .leaves = 1};
    s->first = AC_NEW_N(tmp, int32_t, (int64_t)t.n + 2);
    s->place = AC_NEW_N(tmp, place, p->n);
    sort_places(s, p, &t);
    while (s->leaves < s->n)
        s->leaves *= 2;
    s->tree = AC_NEW_N(tmp, node, 2 * (int64_t)s->leaves);
    for (int32_t k = s->n; k < s->leaves; k++)
        s->tree[s->leaves + k] = NOBODY;
    s->seg = AC_NEW_N(tmp, segment, 2 * (int64_t)s->n + 1);
    return s;
}
