/* solve_none.c - no sharing: every item has bytes of its own, by index, above the fixed ones.
 *
 * The yardstick for what sharing saves, and the safe plan for a debugger: no byte ever has two meanings. Cost: O(n).
 * Bad whenever two lives do not overlap. Source: none is needed. */
#include "planner/pack/solve.h"
#include "planner/pack/strategies.h"

int ac_solve_none(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    ac_bytes top = 0;
    (void)tmp;
    for (int32_t i = 0; i < p->n; i++)
        if (p->item[i].fixed >= 0 && p->item[i].fixed + p->item[i].size > top)
            top = p->item[i].fixed + p->item[i].size;
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        offset[i] = it->fixed;
        if (it->fixed >= 0)
            continue;
        offset[i] = it->size ? ac_align_up(top, it->align) : 0;
        if (it->size)
            top = offset[i] + it->size;
    }
    return AC_OK;
}
