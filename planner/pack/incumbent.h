/* incumbent.h - the smallest plan so far of many fills, for strategies that try again and again.
 *
 *     ac_incumbent b = ac_incumbent_open(p, offset, tmp);        offset: where the smallest stays
 *     ac_bytes top = ac_incumbent_offer(&b, ac_priority_fill(f, key, edge, b.fill));
 *     ac_incumbent_compact(&b, tmp);                             at the end: lowers every item that can be
 *
 * A fill (fill_priority.h, fill_chain.h) is a plan if no item has gaps, pairs or a fixed offset; otherwise its offsets
 * only give the order for first fit.
 *
 * Cost: an offer O(n), or first fit if fills are not plans. Memory: `tmp`; first fit works in regions of its own.
 * Cannot fail but for memory. */
#ifndef AC_PLANNER_PACK_INCUMBENT_H
#define AC_PLANNER_PACK_INCUMBENT_H
#include "planner/pack/problem.h"

typedef struct ac_incumbent {
    const ac_problem *p;
    bool plain; /* fills are plans */
    ac_heap *heap;
    ac_bytes *fill;   /* offsets per item: the next offer */
    ac_bytes *packed; /* the same after first fit */
    ac_bytes *offset; /* of the smallest plan */
    ac_bytes top;     /* of that plan; INT64_MAX: none yet */
} ac_incumbent;

ac_incumbent ac_incumbent_open(const ac_problem *p, ac_bytes *offset, ac_region *tmp);
/* The arena of the plan that b->fill gives, a fill with this top; kept if it is the smallest so far. */
ac_bytes ac_incumbent_offer(ac_incumbent *b, ac_bytes top);
/* Plain fills only: first fit in the order of the smallest plan's offsets may still lower it. */
void ac_incumbent_compact(ac_incumbent *b, ac_region *tmp);

#endif
