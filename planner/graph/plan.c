/* plan.c - one loop from lowered steps to a plan: the steps as they come, then each reduction that is turned on. */
#include "planner/graph/planned.h"
#include "planner/graph/reductions.h"

#include "base/progress.h"
#include "planner/graph/overlap.h"
#include "planner/graph/phased.h"

static ac_reduce_fn *const REDUCE[AC_REDUCTION_COUNT] = {
#define REDUCTION(id, option, what, with, fn) [AC_REDUCE_##id] = fn,
#include "planner/graph/reductions.def"
#undef REDUCTION
};

/* True if `next` replaces `now`. A plan that is not packed yet has fewer constraints than `now`. */
static bool wins(const ac_planned *next, const ac_planned *now)
{
    return !next->live || next->wanted || !ac_planned_less(now, next);
}

/* *now after one reduction: the better of both, the other one freed. */
static int reduce(ac_ctx *cx, const ac_plan_how *how, ac_reduce_fn *fn, ac_planned **now)
{
    ac_planned *next = NULL;
    AC_TRY(fn(cx, how, *now, &next));
    if (next && wins(next, *now))
        *now = next;
    else
        ac_planned_drop(next, *now);
    return AC_OK;
}

static int reduce_all(ac_ctx *cx, const ac_plan_how *how, ac_planned **now)
{
    for (int k = 0; k < AC_REDUCTION_COUNT; k++)
        if (how->reductions >> k & 1)
            AC_TRY(reduce(cx, how, REDUCE[k], now));
    AC_TRY(ac_planned_ready(cx, how, *now));
    if (how->threads > 1)
        AC_TRY(ac_plan_phases(cx, how, now));
    return (*now)->live->overlaps ? ac_overlap_turn(cx, *now) : AC_OK;
}

int ac_plan_graph(ac_ctx *cx, const ac_plan_how *how, ac_planned **out)
{
    ac_progress_begin(cx, "planning", 0); /* each packing is one more */
    ac_planned *now = ac_planned_from(cx, how, NULL, how->n_steps);
    const int status = reduce_all(cx, how, &now);
    if (status != AC_OK)
        ac_planned_free(now);
    *out = status == AC_OK ? now : NULL;
    return status;
}

/* The two that only remove rules: the steps stay, and packing has more freedom. */
static int allow(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_reductions what, ac_planned **to)
{
    *to = ac_planned_from(cx, how, from, from->n_steps);
    (*to)->lives |= what;
    return AC_OK;
}

int ac_reduce_inplace(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_planned **to)
{
    return allow(cx, how, from, AC_REDUCE(INPLACE), to);
}

int ac_reduce_overlap(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_planned **to)
{
    return allow(cx, how, from, AC_REDUCE(OVERLAP), to);
}
