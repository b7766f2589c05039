#include "planner/pack/keep.h"

#include "planner/pack/place.h"
#include "planner/pack/skyline.h"

#include <string.h>

ac_keep ac_keep_open(const ac_problem *p, ac_bytes *offset, ac_region *tmp)
{
    return (ac_keep){.p = p,
                     .plain = ac_skyline_is_plan(p),
                     .heap = ac_region_heap(tmp),
                     .fill = AC_NEW_N(tmp, ac_bytes, p->n),
                     .packed = AC_NEW_N(tmp, ac_bytes, p->n),
                     .best = offset,
                     .top = INT64_MAX};
}

ac_bytes ac_keep_fill(ac_keep *k, ac_bytes top)
{
    const ac_bytes *offset = k->fill;
    if (!k->plain) {
        ac_region *tmp = ac_region_open(k->heap);
        ac_placer_run(k->p, k->packed, ac_order_of(k->p, k->fill, tmp), AC_FIRST_FIT, tmp);
        ac_region_close(tmp);
        offset = k->packed;
        top = ac_problem_top(k->p, offset);
    }
    if (top < k->top) {
        k->top = top;
        memcpy(k->best, offset, (size_t)k->p->n * sizeof *offset);
    }
    return top;
}

void ac_keep_compact(ac_keep *k, ac_region *tmp)
{
    enum { MOST = 20000 };
    if (!k->plain || k->p->n > MOST)
        return;
    ac_placer_run(k->p, k->packed, ac_order_of(k->p, k->best, tmp), AC_FIRST_FIT, tmp);
    const ac_bytes top = ac_problem_top(k->p, k->packed);
    if (top < k->top) {
        k->top = top;
        memcpy(k->best, k->packed, (size_t)k->p->n * sizeof *k->best);
    }
}
