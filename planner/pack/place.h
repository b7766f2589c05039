/* place.h - placing items in order among those already placed: the whole of a list strategy but its order.
 *
 *     int32_t *order = ac_order_by(p, key, tmp);                      key descending, begin, index
 *     ac_place_in_order(p, offset, order, AC_FIRST_FIT, tmp);         sets offset[i] of every item
 *
 * A placed item forbids a range of offsets to every item it conflicts with; the next item collects these ranges and
 * takes a free place between them. Conflicts are exact: only steps with bytes of both, only the bytes of a gap's
 * window, and for a pair only the distances its rule forbids. Items of 0 bytes get offset 0 and never conflict.
 *
 * Cost: an item O(log n + k log k) for k conflicts, or O(n) when most of the placed items conflict: a static tree over
 * the lives, sorted by begin, with the largest end among the placed ones, finds them; in the dense case a list sorted
 * by offset is scanned instead, a block at a time where a block has no place for any item, and updated only then.
 * Memory: `tmp`. Cannot fail but for memory. */
#ifndef AC_PLANNER_PACK_PLACE_H
#define AC_PLANNER_PACK_PLACE_H
#include "planner/pack/problem.h"

typedef enum ac_fit {
    AC_FIRST_FIT, /* the lowest offset */
    AC_BEST_FIT,  /* the smallest gap that suffices, the lowest of equals, else the end */
    AC_TFLITE_FIT /* AC_BEST_FIT as SimpleMemoryArena compares: an aligned gap against the unaligned best so far */
} ac_fit;

/* order: all n items; those with a fixed offset are placed first and skipped in it. */
void ac_place_in_order(const ac_problem *p, ac_bytes *offset, const int32_t *order, ac_fit fit, ac_region *tmp);

/* 0..n-1 sorted by (key descending, begin ascending, index ascending). key: n of them, or NULL for all equal. */
int32_t *ac_order_by(const ac_problem *p, const ac_bytes *key, ac_region *tmp);
/* By offset ascending, begin, index. */
int32_t *ac_order_of(const ac_problem *p, const ac_bytes *offset, ac_region *tmp);

/* The arena these offsets need: the largest offset + size. */
ac_bytes ac_problem_top(const ac_problem *p, const ac_bytes *offset);

#endif
