/* fill_priority.h - fills the lowest valley of the skyline with one item at a time, by the priorities it is given.
 *
 *     height                        Take the lowest segment of the skyline (the earliest of equals). Of the items whose
 *       |     ____                  whole life lies inside it, put the one of highest priority on its floor, at its own
 *       |____|    |      ____       steps. If there is none, raise the segment to its lower neighbour and join them.
 * segment |         |_____|
 *       +---------------------> t
 *
 *     ac_priority_filler *f = ac_priority_open(p, tmp);
 *     ac_bytes top = ac_priority_fill(f, key, AC_ANY_BEGIN, offset);     again with other keys
 *
 * A fill ignores gaps and pairs, as if items had all their bytes throughout, and omits items with fixed offsets;
 * incumbent.h turns fills into plans.
 *
 * Cost: O(n) steps of O(log n) for the tree of lives, usually; O(n) each at worst. Memory: `tmp`, about 80 bytes an
 * item. Cannot fail but for memory.
 * Source: the skyline rule of strip packing (Burke, Kendall, Whitwell 2004), with the begins given. */
#ifndef AC_PLANNER_PACK_FILL_PRIORITY_H
#define AC_PLANNER_PACK_FILL_PRIORITY_H
#include "planner/pack/problem.h"

typedef struct ac_priority_filler ac_priority_filler;

/* Whom a valley takes first: the highest priority, or the highest among those that begin where the valley does. */
typedef enum ac_priority_edge { AC_ANY_BEGIN, AC_SAME_BEGIN } ac_priority_edge;

ac_priority_filler *ac_priority_open(const ac_problem *p, ac_region *tmp);
/* key: per item of the problem, 0 or more; higher goes first, ties by begin, then index. Sets offset[] of the free
 * items with bytes, 0 for the others. Returns the top. */
ac_bytes ac_priority_fill(ac_priority_filler *s, const double *key, ac_priority_edge edge, ac_bytes *offset);

#endif
