/* solve_valley.c - the skyline filled under six priorities (fill_priority.h).
 *
 * Order: longest life, largest size times life, largest size (ties: begin, index), each with and without preference for
 * items that begin with the valley; the smallest arena is kept, the first of equals. If an item has gaps, pairs or a
 * fixed offset, the fill only gives the order for first fit; without fixed offsets that never puts an item higher than
 * the fill did. Otherwise first fit tries to improve the best of the six.
 *
 * Cost: that of six fills, and of first fit for up to 20,000 items. The first that meets the bound ends it.
 * Bad when the best plan leaves a hole at the floor of a valley, since this one always fills it.
 * Source: the skyline rule of strip packing, see fill_priority.h; the six priorities are ours. */
#include "planner/pack/solve.h"
#include "planner/pack/strategies.h"

#include "planner/pack/fill_priority.h"
#include "planner/pack/incumbent.h"

enum { WAYS = 6 };

static double priority(const ac_item *it, int way)
{
    double life = (double)(it->life.end - it->life.begin), size = (double)it->size;
    return way == 0 ? life * size : way == 1 ? life : size;
}

int ac_solve_valley(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    if (!p->n)
        return AC_OK;
    ac_priority_filler *filler = ac_priority_open(p, tmp);
    const ac_bytes bound = ac_problem_bound(p, tmp).aligned;
    double *key = AC_NEW_N(tmp, double, p->n);
    ac_incumbent best = ac_incumbent_open(p, offset, tmp);
    for (int way = 0; way < WAYS && best.top > bound; way++) {
        for (int32_t i = 0; i < p->n; i++)
            key[i] = priority(&p->item[i], way % 3);
        ac_incumbent_offer(&best, ac_priority_fill(filler, key, way < 3 ? AC_ANY_BEGIN : AC_SAME_BEGIN, best.fill));
    }
    if (best.top > bound)
        ac_incumbent_compact(&best, tmp);
    return AC_OK;
}
