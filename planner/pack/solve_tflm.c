/* solve_tflm.c - the GreedyMemoryPlanner of TensorFlow Lite Micro.
 *
 *   1. Pre-planned buffers keep their offsets.
 *   2. All others by size descending, where the size is already rounded up to the alignment; of equal sizes the one
 *      added last comes first (the planner fills its array from the end and sorts it stably).
 *   3. Each goes to the lowest gap between buffers in use at the same time that is large enough, else after the last
 *      one.
 *
 * Cost: O(n log n) plus the conflicts, see place.h; the original is O(n^2). Bad: as solve_greedy.c.
 * Source: TFLM, micro/memory_planner/greedy_memory_planner.cc (read, not copied). */
#include "planner/pack/solve.h"
#include "planner/pack/strategies.h"

#include "planner/pack/place.h"

#include <stdlib.h>

typedef struct ranked {
    ac_bytes size;
    int32_t index;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return (x->index < y->index) - (x->index > y->index);
}

int ac_solve_tflm(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    ranked *r = AC_NEW_N(tmp, ranked, p->n);
    int32_t *order = AC_NEW_N(tmp, int32_t, p->n);
    for (int32_t i = 0; i < p->n; i++)
        r[i] = (ranked){ac_align_up(p->item[i].size, p->item[i].align), i};
    qsort(r, (size_t)p->n, sizeof *r, by_rank);
    for (int32_t i = 0; i < p->n; i++)
        order[i] = r[i].index;
    ac_place_in_order(p, offset, order, AC_FIRST_FIT, tmp);
    return AC_OK;
}
