/* csv_gaps.c - expresses overlap rules in a format without them. With the offsets of a plan, two items that share bytes
 * in a step are kept apart by a window with the bytes that one of them still has in it:
 *
 *     a    [0, 100)  dies in step 7       a: gap 7-8@60:100     b has taken the first 60
 *     b    [-, 60)   born in step 7       b: whole
 *
 * The result is a problem of its own, for this plan only: another plan of it is valid, but it may have smaller ones. */
#include "planner/pack/problem.h"

#include <string.h>

/* Takes the bytes [lo, hi) of item `it` (its own, at one of its ends, or all) away from it during `life`. */
static void cut(ac_region *region, ac_item *it, ac_life life, ac_bytes lo, ac_bytes hi)
{
    ac_gap *g = AC_NEW_N(region, ac_gap, it->n_gaps + 1);
    if (it->n_gaps)
        memcpy(g, it->gaps, (size_t)it->n_gaps * sizeof *g);
    ac_gap *last = it->n_gaps ? &g[it->n_gaps - 1] : NULL;
    if (!last || last->life.begin != life.begin) {
        last = &g[it->n_gaps++];
        *last = (ac_gap){life, 0, it->size};
    }
    if (lo <= last->lo)
        last->lo = hi > last->lo ? hi : last->lo;
    else if (lo < last->hi)
        last->hi = lo;
    if (last->lo >= last->hi)
        last->lo = last->hi = 0;
    it->gaps = g;
}

ac_problem ac_problem_pairs_to_gaps(ac_region *region, const ac_problem *p, const ac_plan *plan)
{
    ac_problem out = *p;
    out.item = AC_NEW_N(region, ac_item, p->n + 1);
    if (p->n)
        memcpy(out.item, p->item, (size_t)p->n * sizeof *p->item);
    out.pair = NULL;
    out.n_pairs = 0;
    for (int32_t k = 0; k < p->n_pairs; k++) {
        const ac_pair *q = &p->pair[k];
        ac_item *a = &out.item[q->a], *b = &out.item[q->b];
        const ac_bytes a0 = plan->offset[q->a], b0 = plan->offset[q->b], a1 = a0 + a->size, b1 = b0 + b->size;
        const ac_bytes lo = a0 > b0 ? a0 : b0, hi = a1 < b1 ? a1 : b1;
        if (plan->mem[q->a] != plan->mem[q->b] || lo >= hi)
            continue;
        if (lo > a0 && hi < a1) /* b is inside a */
            cut(region, b, q->life, 0, b->size);
        else
            cut(region, a, q->life, lo - a0, hi - a0);
    }
    return out;
}
