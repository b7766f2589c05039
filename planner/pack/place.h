/* place.h - placing one item among those already placed: what every list strategy does n times.
 *
 *     ac_placer *pl = ac_placer_open(p, offset, tmp);      fixed items are placed already
 *     for (each free item i, in the strategy's order)
 *         ac_placer_put(pl, i, AC_FIRST_FIT);                   sets offset[i]
 *
 * A placed item forbids a range of offsets to every item it conflicts with; ac_placer_put collects these ranges and
 * takes a free place between them. What conflicts is exact: only steps in which both have bytes, only the bytes of a
 * gap's window, and for a pair only the distances its rule forbids. Items of 0 bytes get offset 0 and never conflict.
 *
 * Cost: O(log n + k log k) for k conflicts, or O(n) when most of the placed items conflict: a static tree over the
 * lives, sorted by begin, with the largest end among the placed ones, finds them; in the dense case a list sorted by
 * offset is scanned instead, and brought up to date only then. Memory: the caller's region. Cannot fail. */
#ifndef AC_PLANNER_PACK_PLACE_H
#define AC_PLANNER_PACK_PLACE_H
#include "planner/pack/problem.h"

typedef struct ac_placer ac_placer;

typedef enum ac_fit {
    AC_FIRST_FIT, /* the lowest offset */
    AC_BEST_FIT,  /* the smallest gap that suffices, the lowest of equals, else the end */
    AC_TFLITE_FIT /* AC_BEST_FIT as SimpleMemoryArena compares: an aligned gap against the unaligned best so far */
} ac_fit;

ac_placer *ac_placer_open(const ac_problem *p, ac_bytes *offset, ac_region *tmp);
void ac_placer_put(ac_placer *pl, int32_t i, ac_fit fit);

/* The whole of a list strategy: places the items of `order` (n of them, fixed ones are skipped) one after the other. */
void ac_placer_run(const ac_problem *p, ac_bytes *offset, const int32_t *order, ac_fit fit, ac_region *tmp);

/* 0..n-1 sorted by (key descending, begin ascending, index ascending). key: n of them, or NULL for all equal. */
int32_t *ac_order_by(const ac_problem *p, const ac_bytes *key, ac_region *tmp);
int32_t *ac_order_of(const ac_problem *p, const ac_bytes *offset,
                     ac_region *tmp); /* by offset ascending, begin, index */

/* The arena these offsets need: the largest offset + size. */
ac_bytes ac_problem_top(const ac_problem *p, const ac_bytes *offset);

#endif
