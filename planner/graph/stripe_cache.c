/* stripe_cache.c - the constants that a group of steps copies to RAM before its rows (--cache-weights). */
#include "ir/lower/node/cached.h"
#include "planner/graph/stripe_work.h"

/* Steps of the group, of all its strips, that read argument k. */
static int64_t readings(const ac_stripe_group *q, int32_t k)
{
    int64_t n = 0;
    for (; q; q = q->next)
        for (int32_t m = 0; m < q->s.n_members; m++)
            for (int32_t a = 0; a < q->s.member[m].part.fn->buf.n; a++)
                n += q->s.member[m].buf[a] == k ? q->s.member[m].part.steps : 0;
    return n;
}

bool ac_stripe_cache(const ac_stripes *v, ac_stripe_group *q, ac_bytes align, ac_region *region)
{
    int32_t n = q->n_args;
    ac_bytes sum = 0;
    q->cached = AC_NEW_N(region, bool, q->n_args + 1);
    for (int32_t k = 0; k < q->n_args && v->cache && q->s.streamed < 0; k++) {
        if (q->arg[k].kind != AC_ARG_CONST || readings(q, k) < 2)
            continue;
        q->cached[k] = true;
        sum += ac_cached_size(&q->s.buf[k], v->target);
        q->scratch += ac_align_up(ac_cached_size(&q->s.buf[k], v->target), align);
        n++;
    }
    return sum <= v->cache && n <= AC_STRIPE_PARAMS;
}
