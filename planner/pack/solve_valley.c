/* ac_solve_valley.c - the skyline of skyline.h with six priorities.
 *
 * Order: longest life, largest size times life, largest size (ties: begin, index), each with and without preference for
 * items that begin where the valley does; the smallest arena is kept, the first of equals. Where the skyline is not the
 * whole truth (gaps, pairs, fixed offsets) its offsets only give the order in which first fit places the items for
 * good; with nothing fixed that never puts an item higher than the skyline did. Else first fit has a go at the best of
 * the six.
 *
 * Cost: that of the skyline, and of first fit for up to COMPACT items. The first that meets the bound ends it.
 * Bad when the best plan leaves a hole at the floor of a valley, since this one always fills it. */
#include "planner/pack/solve.h"

#include "planner/pack/place.h"
#include "planner/pack/skyline.h"

#include <string.h>

enum { WAYS = 6, COMPACT = 20000 };

static double priority(const ac_item *it, int way)
{
    double life = (double)(it->life.end - it->life.begin), size = (double)it->size;
    return way == 0 ? life * size : way == 1 ? life : size;
}

typedef struct best {
    ac_bytes *offset, top;
} best;

static void keep(const ac_problem *p, best *b, const ac_bytes *offset)
{
    ac_bytes top = ac_problem_top(p, offset);
    if (top >= b->top)
        return;
    b->top = top;
    memcpy(b->offset, offset, (size_t)p->n * sizeof *offset);
}

int ac_solve_valley(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    if (!p->n)
        return AC_OK;
    ac_skyline *s = ac_skyline_open(p, tmp);
    const bool plain = ac_skyline_is_plan(p);
    const ac_bytes bound = ac_problem_bound(p, tmp).aligned;
    double *key = AC_NEW_N(tmp, double, p->n);
    ac_bytes *trial = AC_NEW_N(tmp, ac_bytes, p->n), *packed = AC_NEW_N(tmp, ac_bytes, p->n);
    best b = {offset, INT64_MAX};
    for (int way = 0; way < WAYS && b.top > bound; way++) {
        for (int32_t i = 0; i < p->n; i++)
            key[i] = priority(&p->item[i], way % 3);
        ac_skyline_fill(s, key, way < 3 ? AC_ANY_BEGIN : AC_SAME_BEGIN, trial);
        if (!plain)
            ac_placer_run(p, packed, ac_order_of(p, trial, tmp), AC_FIRST_FIT, tmp);
        keep(p, &b, plain ? trial : packed);
    }
    if (plain && b.top > bound && p->n <= COMPACT) {
        ac_placer_run(p, packed, ac_order_of(p, offset, tmp), AC_FIRST_FIT, tmp);
        keep(p, &b, packed);
    }
    return AC_OK;
}
