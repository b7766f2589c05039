/* solve_greedy.c - order: size descending, then first use, then index. Place: the lowest offset that fits.
 *
 * Large items first, small ones fill the holes between them. Cost: O(n log n) plus the conflicts, see place.h. Bad when
 * a large item with a short life sits between two of middle size with long ones: it is already placed when they come,
 * so they go above it. Source: the usual first fit decreasing; TFLM's planner is the same but for the ties.
 */
#include "planner/pack/solve.h"
#include "planner/pack/strategies.h"

#include "planner/pack/place.h"

int ac_solve_greedy(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    ac_bytes *size = AC_NEW_N(tmp, ac_bytes, p->n);
    for (int32_t i = 0; i < p->n; i++)
        size[i] = p->item[i].size;
    ac_place_in_order(p, offset, ac_order_by(p, size, tmp), AC_FIRST_FIT, tmp);
    return AC_OK;
}
