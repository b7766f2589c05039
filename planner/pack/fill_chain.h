/* fill_chain.h - fills the lowest valley of the skyline with a whole chain of items at once.
 *
 *     height                             The valley between two higher neighbours is covered from left to right with
 *       |____              ____          items whose lives follow one another (a, b, c; a stretch may stay empty). Of
 *       |    | a |  b  |c |              all such chains the one of the greatest value is laid on the floor. What fits
 *       |    |___|_____|__|              only here, in narrow valleys above all, is wasted far less than when one item
 *       +---------------------> t        is taken at a time (fill_priority.h).
 *
 *     ac_chain_filler *c = ac_chain_open(p, tmp);
 *     int64_t work = 1000000;
 *     ac_bytes top = ac_chain_fill(c, value, match, &work, offset);       again with other values
 *
 * An item whose top meets that of its neighbour in the chain, or the wall of the valley, makes the skyline smoother: it
 * counts (256 + match) / 256 times. Gaps, pairs and fixed offsets: as in fill_priority.h.
 *
 * Cost: for each valley its steps and the items inside it, about 200 an item if 100,000 items fill a rectangle; counted
 * in `work`; the fill is abandoned when that is spent. Memory: `tmp`, about 60 bytes an item and step. Cannot fail but
 * for memory. Source: dynamic programming over a chain of intervals, as in weighted interval scheduling. */
#ifndef AC_PLANNER_PACK_FILL_CHAIN_H
#define AC_PLANNER_PACK_FILL_CHAIN_H
#include "planner/pack/problem.h"

typedef struct ac_chain_filler ac_chain_filler;

ac_chain_filler *ac_chain_open(const ac_problem *p, ac_region *tmp);
/* value: per item of the problem, 1 to 2^40. Sets offset[] of the free items with bytes, 0 for the others. Returns the
 * top; INT64_MAX, with *work below 0, when the work was spent before all had a place. */
ac_bytes ac_chain_fill(ac_chain_filler *c, const int64_t *value, int32_t match, int64_t *work, ac_bytes *offset);

#endif
