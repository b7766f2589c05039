/* fill_chain.c - see fill_chain.h. The items that begin in one step are adjacent, unplaced ones first; the best chain
 * is found step by step (the longest path of a graph whose nodes are times and whose edges are items). */
#include "planner/pack/fill_chain.h"

#include "planner/pack/skyline.h"
#include "planner/pack/timeline.h"

#include <string.h>

typedef struct link {
    int32_t item;
    int32_t begin, end; /* numbers of the timeline */
    ac_bytes size, align;
    int64_t value;
} link;

struct ac_chain_filler {
    const ac_problem *p;
    int32_t times;
    ac_begins begins;
    ac_timeline time;
    link *link;    /* by begin, those left first: link[begins.first[t]..+left[t]) */
    int32_t *left; /* per time */
    int64_t *best; /* per time: the value of the best chain from the valley's begin to here */
    int32_t *last; /* per time: the last item of that chain, -1: nothing ends here */
    ac_skyline sky;
    int32_t *found; /* of one valley, right to left */
};

static void put_back(ac_chain_filler *c, const int64_t *value)
{
    for (int32_t k = 0; k < c->begins.n; k++) {
        const ac_item *it = &c->p->item[c->begins.item[k]];
        c->link[k] = (link){c->begins.item[k],
                            ac_timeline_at(&c->time, it->life.begin),
                            ac_timeline_at(&c->time, it->life.end),
                            it->size,
                            it->align,
                            value[c->begins.item[k]]};
    }
    for (int32_t t = 0; t < c->times; t++)
        c->left[t] = c->begins.first[t + 1] - c->begins.first[t];
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The best chain in valley g, into found[]; returns how many. `match`: in 1/256. */
static int32_t find_chain(ac_chain_filler *c, const ac_segment *g, int32_t match, int64_t *work)
{
    const ac_bytes wall = g->prev >= 0 ? c->sky.seg[g->prev].height - g->height : -1;
    const ac_bytes end_wall = g->next >= 0 ? c->sky.seg[g->next].height - g->height : -1;
    c->best[g->lo] = 0;
    memset(&c->best[g->lo + 1], -1, (size_t)(g->hi - g->lo) * sizeof *c->best);
    for (int32_t t = g->lo; t < g->hi; t++) {
        if (c->best[t] > c->best[t + 1]) {
            c->best[t + 1] = c->best[t];
            c->last[t + 1] = -1;
        }
        const link *from = &c->link[c->begins.first[t]], *to = from + c->left[t];
        const link *before = t > g->lo && c->last[t] >= 0 ? &c->link[c->last[t]] : NULL;
        for (const link *x = from; x < to; x++) {
            if (x->end > g->hi)
                continue;
            int64_t v = c->best[t] + x->value, more = 0;
            if (before && before->size == x->size)
                more += lesser(before->value, x->value);
            if ((t == g->lo && x->size == wall) || (x->end == g->hi && x->size == end_wall))
                more += x->value;
            v += more * match / 256;
            if (v > c->best[x->end]) {
                c->best[x->end] = v;
                c->last[x->end] = (int32_t)(x - c->link);
            }
        }
        *work -= 1 + (to - from);
    }
    int32_t n = 0;
    for (int32_t t = g->hi; t > g->lo;) {
        if (c->best[t] == 0) /* nothing up to here */
            break;
        if (c->last[t] >= 0)
            c->found[n++] = c->last[t];
        t = c->last[t] >= 0 ? c->link[c->last[t]].begin : t - 1;
    }
    return n;
}

/* Its place is closed up; the order of those left stays. */
static void take_out(ac_chain_filler *c, int32_t k)
{
    const int32_t t = c->link[k].begin, end = c->begins.first[t] + c->left[t]--;
    memmove(&c->link[k], &c->link[k + 1], (size_t)(end - k - 1) * sizeof *c->link);
}

ac_bytes ac_chain_fill(ac_chain_filler *c, const int64_t *value, int32_t match, int64_t *work, ac_bytes *offset)
{
    ac_bytes top = 0;
    memset(offset, 0, (size_t)c->p->n * sizeof *offset);
    put_back(c, value);
    int32_t g = ac_skyline_reset(&c->sky, c->begins.n ? c->link[0].begin : 0, c->times - 1);
    for (int32_t left = c->begins.n; left;) {
        const ac_segment x = c->sky.seg[g];
        if (x.next >= 0 && c->sky.seg[x.next].height < x.height) {
            g = x.next;
            continue;
        }
        const int32_t n = find_chain(c, &x, match, work);
        if (*work < 0)
            return INT64_MAX;
        if (!n)
            g = ac_skyline_raise(&c->sky, g);
        for (int32_t k = 0; k < n; k++) { /* from the right, so that g stays the segment to their left */
            const link q = c->link[c->found[k]];
            const ac_bytes at = q.align > 1 ? ac_align_up(x.height, q.align) : x.height;
            offset[q.item] = at;
            top = at + q.size > top ? at + q.size : top;
            take_out(c, c->found[k]);
            g = ac_skyline_put(&c->sky, g, q.begin, q.end, at + q.size);
        }
        left -= n;
    }
    return top;
}

ac_chain_filler *ac_chain_open(const ac_problem *p, ac_region *tmp)
{
    ac_chain_filler *c = AC_NEW(tmp, ac_chain_filler);
    *c = (ac_chain_filler){.p = p, .time = ac_timeline_open(p, tmp)};
    c->times = c->time.n;
    c->begins = ac_timeline_begins(&c->time, p, tmp);
    c->link = AC_NEW_N(tmp, link, c->begins.n);
    c->left = AC_NEW_N(tmp, int32_t, c->times);
    c->best = AC_NEW_N(tmp, int64_t, c->times + 1);
    c->last = AC_NEW_N(tmp, int32_t, c->times + 1);
    c->found = AC_NEW_N(tmp, int32_t, c->begins.n);
    c->sky.seg = AC_NEW_N(tmp, ac_segment, 2 * (int64_t)c->begins.n + 1);
    return c;
}
