/* fill_priority.c - see fill_priority.h. Items are kept in the order of their begins ("places"); a tree over the places
 * finds the best one whose life is inside a segment. Valleys are filled as skyline.h walks them, not lowest first. */
#include "planner/pack/fill_priority.h"

#include "planner/pack/skyline.h"
#include "planner/pack/timeline.h"

#include "base/radix.h"

#include <string.h>

typedef struct place {
    int32_t item;
    int32_t begin, end; /* numbers of the timeline */
    ac_bytes size, align;
} place;

typedef struct node {
    double key;    /* the largest among the unplaced; -1: none left */
    int32_t place; /* the first of them */
    int32_t end;   /* the smallest end among the unplaced */
} node;

struct ac_priority_filler {
    int32_t n, n_items, leaves;
    int32_t times;        /* of the timeline */
    const int32_t *first; /* per time: the first place that begins then or later */
    place *place;
    node *tree; /* heap-shaped: the children of k are 2k and 2k + 1 */
    ac_skyline sky;
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

static void take_out(ac_priority_filler *s, int32_t k)
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

/* The best under `at` that ends by `hi`, if it is better than `best`. Depth: log2 n. The better child comes first: if
 * it ends in time, the other one is not looked at. */
static node descend(const ac_priority_filler *s, int32_t at, int32_t hi, node best)
{
    const node x = s->tree[at];
    if (x.end > hi || !is_better(x, best))
        return best;
    if (at >= s->leaves)
        return x;
    const int32_t first = 2 * at + is_better(s->tree[2 * at + 1], s->tree[2 * at]);
    best = descend(s, first, hi, best);
    return descend(s, first ^ 1, hi, best);
}

/* The best among the places [from, to) that ends by `hi`; -1: none. */
static int32_t find(const ac_priority_filler *s, int32_t from, int32_t to, int32_t hi)
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

/* ------------------------------------------------------------------ one run */

static void fill_tree(ac_priority_filler *s, const double *key)
{
    for (int32_t k = 0; k < s->n; k++)
        s->tree[s->leaves + k] = (node){key[s->place[k].item], k, s->place[k].end};
    for (int32_t at = s->leaves - 1; at; at--)
        s->tree[at] = both(s->tree[2 * at], s->tree[2 * at + 1]);
}

ac_bytes ac_priority_fill(ac_priority_filler *s, const double *key, ac_priority_edge edge, ac_bytes *offset)
{
    ac_bytes top = 0;
    memset(offset, 0, (size_t)s->n_items * sizeof *offset);
    fill_tree(s, key);
    int32_t g = ac_skyline_reset(&s->sky, s->n ? s->place[0].begin : 0, s->times);
    for (int32_t left = s->n; left;) {
        const ac_segment x = s->sky.seg[g];
        if (x.next >= 0 && s->sky.seg[x.next].height < x.height) {
            g = x.next;
            continue;
        }
        int32_t best = edge == AC_SAME_BEGIN ? find(s, s->first[x.lo], s->first[x.lo + 1], x.hi) : -1;
        if (best < 0)
            best = find(s, s->first[x.lo], s->first[x.hi], x.hi);
        if (best < 0) {
            g = ac_skyline_raise(&s->sky, g);
            continue;
        }
        const place *q = &s->place[best];
        const ac_bytes at = q->align > 1 ? ac_align_up(x.height, q->align) : x.height;
        offset[q->item] = at;
        top = at + q->size > top ? at + q->size : top;
        take_out(s, best);
        g = ac_skyline_put(&s->sky, g, q->begin, q->end, at + q->size);
        left--;
    }
    return top;
}

/* ------------------------------------------------------------------ the problem as places */

ac_priority_filler *ac_priority_open(const ac_problem *p, ac_region *tmp)
{
    ac_priority_filler *s = AC_NEW(tmp, ac_priority_filler);
    const ac_timeline t = ac_timeline_open(p, tmp);
    const ac_begins at = ac_timeline_begins(&t, p, tmp);
    *s = (ac_priority_filler){.times = t.n, .n = at.n, .n_items = p->n, .leaves = 1, .first = at.first};
    s->place = AC_NEW_N(tmp, place, s->n);
    for (int32_t k = 0; k < s->n; k++) {
        const ac_item *it = &p->item[at.item[k]];
        s->place[k] = (place){at.item[k], ac_timeline_at(&t, it->life.begin), ac_timeline_at(&t, it->life.end),
                              it->size, it->align};
    }
    while (s->leaves < s->n)
        s->leaves *= 2;
    s->tree = AC_NEW_N(tmp, node, 2 * (int64_t)s->leaves);
    for (int32_t k = s->n; k < s->leaves; k++)
        s->tree[s->leaves + k] = NOBODY;
    s->sky.seg = AC_NEW_N(tmp, ac_segment, 2 * (int64_t)s->n + 1);
    return s;
}
