/* solve_bestfit.c - order: first use, then index. Place: the smallest gap that suffices, else the end.
 *
 * The result of a good run-time allocator, which sees an item only when it is needed; a yardstick rather than a
 * planner. Cost: O(n log n) plus the conflicts, see place.h. Bad when small items with long lives come early: they
 * split the arena for all that follow. Source: best fit, as in any malloc textbook. */
#include "planner/pack/solve.h"
#include "planner/pack/strategies.h"

#include "planner/pack/place.h"

int ac_solve_bestfit(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    ac_place_in_order(p, offset, ac_order_by(p, NULL, tmp), AC_BEST_FIT, tmp);
    return AC_OK;
}
