/* incumbent.c - a fill becomes a plan, and the plan stays if it is the smallest: see incumbent.h. */
#include "planner/pack/incumbent.h"

#include "planner/pack/place.h"

#include <string.h>

/* True without gaps, pairs and fixed offsets, which fills do not support. */
static bool fills_are_plans(const ac_problem *p)
{
    bool plain = !p->n_pairs;
    for (int32_t i = 0; i < p->n && plain; i++)
        plain = p->item[i].fixed < 0 && !p->item[i].n_gaps;
    return plain;
}

ac_incumbent ac_incumbent_open(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    return (ac_incumbent){.p = p,
                          .plain = fills_are_plans(p),
                          .heap = ac_region_heap(tmp),
                          .fill = AC_NEW_N(tmp, ac_bytes, p->n),
                          .packed = AC_NEW_N(tmp, ac_bytes, p->n),
                          .offset = offset,
                          .top = INT64_MAX};
}

static void keep_smaller(ac_incumbent *b, const ac_bytes *offset, ac_bytes top)
{
    if (top >= b->top)
        return;
    b->top = top;
    memcpy(b->offset, offset, (size_t)b->p->n * sizeof *offset);
}

ac_bytes ac_incumbent_offer(ac_incumbent *b, ac_bytes top)
{
    if (b->plain) {
        keep_smaller(b, b->fill, top);
        return top;
    }
    ac_region *tmp = ac_region_open(b->heap);
    ac_place_in_order(b->p, b->packed, ac_order_of(b->p, b->fill, tmp), AC_FIRST_FIT, tmp);
    ac_region_close(tmp);
    top = ac_problem_top(b->p, b->packed);
    keep_smaller(b, b->packed, top);
    return top;
}

void ac_incumbent_compact(ac_incumbent *b, ac_region *tmp)
{
    enum { MOST = 20000 };
    if (!b->plain || b->p->n > MOST)
        return;
    ac_place_in_order(b->p, b->packed, ac_order_of(b->p, b->offset, tmp), AC_FIRST_FIT, tmp);
    keep_smaller(b, b->packed, ac_problem_top(b->p, b->packed));
}
