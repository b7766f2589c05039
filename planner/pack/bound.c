/* bound.c - a lower bound of every plan. A sweep over the begins and ends of lives, O(k n log n) for k distinct
 * alignments.
 *
 * live:     the largest sum of bytes occupied in one step. Gaps and their windows count as they are. A pair that may
 *           share bytes lowers the sum by the most it can ever share: |A u B u C ..| >= sum of sizes - sum of pairwise
 *           overlaps (Bonferroni), so the bound stays sound with any number of pairs.
 * aligned:  let g divide the alignments of some items alive together. Their offsets are multiples of g, so each but the
 *           topmost takes its size rounded up to g: sum of rounded sizes - largest rounding. The best over every g that
 *           is some item's alignment; fixed offsets and the size of single items count too.
 *
 * Only items that must be in memory 0 count: with several memories the others may be elsewhere. */
#include "planner/pack/timeline.h"

#include "base/radix.h"

#include <stdlib.h>
#include <string.h>

typedef struct event {
    ac_step at;
    int32_t who;
    ac_bytes bytes; /* the change */
    bool up;        /* the bytes come; else they go */
} event;

typedef struct events {
    event *e;
    int32_t n;
} events;

static void add(events *v, ac_step begin, ac_step end, ac_bytes bytes, int32_t who)
{
    if (begin >= end || !bytes)
        return;
    v->e[v->n++] = (event){begin, who, bytes, true};
    v->e[v->n++] = (event){end, who, -bytes, false};
}

/* The events by time; items that end come before items that begin, since lives are half-open. */
static const event *sorted(const events *v, ac_region *tmp)
{
    ac_keyed *k = AC_NEW_N(tmp, ac_keyed, v->n);
    event *e = AC_NEW_N(tmp, event, v->n);
    for (int32_t i = 0; i < v->n; i++)
        k[i] = (ac_keyed){(uint64_t)v->e[i].at * 2 + v->e[i].up, i};
    ac_radix_sort(k, v->n, AC_NEW_N(tmp, ac_keyed, v->n));
    for (int32_t i = 0; i < v->n; i++)
        e[i] = v->e[k[i].value];
    return e;
}

static bool in_memory_0(const ac_problem *p, const ac_item *it)
{
    if (it->mem >= 0)
        return it->mem == 0;
    return p->n_mems <= 1 || it->mems == 1;
}

/* The most bytes a pair can share: the allowed distances d = offset[b] - offset[a] nearest to a full overlap. */
static ac_bytes most_shared(const ac_problem *p, const ac_pair *q)
{
    ac_bytes sa = p->item[q->a].size, sb = p->item[q->b].size;
    ac_bytes least = sa < sb ? sa : sb, low = 0, high = 0;
    /* Full overlap of the smaller one needs d between min(0, sa - sb) and max(0, sa - sb). */
    ac_bytes from = sa < sb ? sa - sb : 0, to = sa < sb ? 0 : sa - sb;
    if (q->max_below >= from || q->min_above <= to)
        return least;
    if (q->max_below > -sb) /* d < from <= 0: b sticks out below a */
        low = sb + q->max_below;
    if (q->min_above < sa) /* d > to >= 0: b sticks out above a */
        high = sa - q->min_above;
    ac_bytes most = low > high ? low : high;
    return most < least ? most : least;
}

static int32_t count_gaps(const ac_problem *p)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->n; i++)
        n += p->item[i].n_gaps;
    return n;
}

/* The changes at each time of the timeline. */
typedef struct changes {
    ac_timeline time;
    ac_bytes *by;
} changes;

static void change(changes *c, ac_step begin, ac_step end, ac_bytes bytes)
{
    if (begin >= end || !bytes)
        return;
    c->by[ac_timeline_at(&c->time, begin)] += bytes;
    c->by[ac_timeline_at(&c->time, end)] -= bytes;
}

static void live_bound(const ac_problem *p, ac_region *tmp, ac_bound *out)
{
    changes c = {.time = ac_timeline_open(p, tmp)};
    c.by = AC_NEW_N(tmp, ac_bytes, c.time.n);
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        if (!in_memory_0(p, it))
            continue;
        ac_step t = it->life.begin;
        for (int32_t g = 0; g < it->n_gaps; g++) {
            change(&c, t, it->gaps[g].life.begin, it->size);
            change(&c, it->gaps[g].life.begin, it->gaps[g].life.end, it->gaps[g].hi - it->gaps[g].lo);
            t = it->gaps[g].life.end;
        }
        change(&c, t, it->life.end, it->size);
    }
    for (int32_t k = 0; k < p->n_pairs; k++) {
        const ac_pair *q = &p->pair[k];
        if (in_memory_0(p, &p->item[q->a]) && in_memory_0(p, &p->item[q->b]))
            change(&c, q->life.begin, q->life.end, -most_shared(p, q));
    }
    ac_bytes live = 0;
    for (int32_t k = 0; k < c.time.n; k++) {
        live += c.by[k];
        if (live > out->live) {
            out->live = live;
            out->peak = ac_timeline_step(&c.time, k);
        }
    }
}

/* A multiset of paddings that answers "largest": counts per distinct value under a max tree. */
typedef struct paddings {
    int32_t *count; /* per rank */
    int32_t *top;   /* tree over ranks: highest rank with count > 0, plus one; 0: none */
    int32_t leaves;
} paddings;

static void paddings_add(paddings *s, int32_t rank, int32_t by)
{
    s->count[rank] += by;
    int32_t at = s->leaves + rank;
    s->top[at] = s->count[rank] ? rank + 1 : 0;
    for (at /= 2; at; at /= 2)
        s->top[at] = s->top[2 * at + 1] ? s->top[2 * at + 1] : s->top[2 * at];
}

static int by_bytes(const void *a, const void *b)
{
    ac_bytes x = *(const ac_bytes *)a, y = *(const ac_bytes *)b;
    return (x > y) - (x < y);
}

/* Sorts v and leaves each value once; n >= 1. */
static int32_t distinct(ac_bytes *v, int32_t n)
{
    int32_t runs = 0, m = 0;
    for (int32_t i = 0; i < n; i++) /* mostly one after another are equal */
        if (!runs || v[runs - 1] != v[i])
            v[runs++] = v[i];
    qsort(v, (size_t)runs, sizeof *v, by_bytes);
    for (int32_t i = 0; i < runs; i++)
        if (!m || v[m - 1] != v[i])
            v[m++] = v[i];
    return m;
}

static int32_t rank_of(const ac_bytes *v, int32_t n, ac_bytes x)
{
    const ac_bytes *at = bsearch(&x, v, (size_t)n, sizeof *v, by_bytes);
    return at ? (int32_t)(at - v) : 0;
}

/* The rounded sum less the largest rounding, over the items whose alignment g divides. Omits steps with a part of an
 * item's bytes, and items with pairs: with fewer items the bound stays sound. */
static ac_bytes padded_bound(const ac_problem *p, ac_bytes g, const bool *paired, ac_region *tmp)
{
    events v = {AC_NEW_N(tmp, event, 2 * ((int64_t)p->n + count_gaps(p))), 0};
    ac_bytes *pad = AC_NEW_N(tmp, ac_bytes, p->n);
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        if (!in_memory_0(p, it) || it->align % g || paired[i] || !it->size)
            continue;
        ac_bytes padded = ac_align_up(it->size, g);
        pad[i] = padded - it->size;
        ac_step t = it->life.begin;
        for (int32_t k = 0; k < it->n_gaps; k++) {
            add(&v, t, it->gaps[k].life.begin, padded, i);
            t = it->gaps[k].life.end;
        }
        add(&v, t, it->life.end, padded, i);
    }
    const event *e = sorted(&v, tmp);

    ac_bytes *value = ac_copy(tmp, pad, (size_t)p->n * sizeof *pad);
    int32_t m = distinct(value, p->n), leaves = 1;
    while (leaves < m)
        leaves *= 2;
    paddings s = {AC_NEW_N(tmp, int32_t, leaves), AC_NEW_N(tmp, int32_t, 2 * (int64_t)leaves), leaves};
    ac_bytes live = 0, best = 0;
    for (int32_t i = 0; i < v.n; i++) {
        live += e[i].bytes;
        paddings_add(&s, rank_of(value, m, pad[e[i].who]), e[i].up ? 1 : -1);
        ac_bytes most = s.top[1] ? value[s.top[1] - 1] : 0;
        if (live - most > best)
            best = live - most;
    }
    return best;
}

ac_bound ac_problem_bound(const ac_problem *p, ac_region *tmp)
{
    ac_bound b = {0};
    if (!p->n)
        return b;
    live_bound(p, tmp, &b);
    b.aligned = b.live;
    bool *paired = AC_NEW_N(tmp, bool, p->n);
    for (int32_t k = 0; k < p->n_pairs; k++)
        paired[p->pair[k].a] = paired[p->pair[k].b] = true;
    ac_bytes *align = AC_NEW_N(tmp, ac_bytes, p->n);
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        align[i] = it->align;
        ac_bytes top = it->size + (it->fixed > 0 ? it->fixed : 0);
        if (in_memory_0(p, it) && top > b.aligned)
            b.aligned = top;
    }
    int32_t kinds = distinct(align, p->n);
    /* Real problems have one to four; of more than 16 the largest are looked at, which keeps the cost bounded. */
    for (int32_t k = kinds > 16 ? kinds - 16 : 0; k < kinds; k++) {
        ac_bytes best = align[k] > 1 ? padded_bound(p, align[k], paired, tmp) : 0;
        if (best > b.aligned)
            b.aligned = best;
    }
    return b;
}
