/* keep.h - the smallest plan of many fills, for strategies that try again and again.
 *
 *     ac_keep k = ac_keep_open(p, offset, tmp);      offset: where the smallest stays
 *     ac_bytes top = ac_keep_fill(&k, ac_skyline_fill(sky, key, edge, k.fill));
 *     ac_keep_compact(&k, tmp);                      at the end: what can sink, sinks
 *
 * A fill is a plan only where ac_skyline_is_plan; elsewhere it gives the order in which first fit places the items.
 * Memory: the region's; first fit works in regions of its own. */
#ifndef AC_PLANNER_PACK_KEEP_H
#define AC_PLANNER_PACK_KEEP_H
#include "planner/pack/problem.h"

typedef struct ac_keep {
    const ac_problem *p;
    bool plain; /* fills are plans */
    ac_heap *heap;
    ac_bytes *fill, *packed, *best;
    ac_bytes top; /* of best; INT64_MAX: none yet */
} ac_keep;

ac_keep ac_keep_open(const ac_problem *p, ac_bytes *offset, ac_region *tmp);
/* The arena of what stands in k->fill, whose top is `top`; kept when it is the smallest so far. */
ac_bytes ac_keep_fill(ac_keep *k, ac_bytes top);
/* Plain fills only: first fit in the order of the smallest plan's offsets may still lower it. */
void ac_keep_compact(ac_keep *k, ac_region *tmp);

#endif
