/* stripe_reduce.c - reductions STRIPE and ROWS: turns runs of steps into one that works row by row, if that makes the
 * arena smaller.
 *
 * Packing has to confirm the estimates of the search: a cut into groups is kept only if its plan takes less than the
 * plan without groups (or, with a budget, fits if that one does not). With several memories the search treats them as
 * one of all bytes; several limits are tried and packed, and the plan with the most traffic in the first memories wins.
 *
 * A search owns a value without a plan: its region holds the steps that all its candidates consist of. */
#include "planner/graph/reductions.h"
#include "planner/graph/stripe.h"

#include "planner/graph/stripe_swap.h"

enum { TRIES = 6 }; /* limits tried below a budget, or for several memories */

/* The limit of try k for the bytes of all memories together: from what the first memory has, or all of them take now,
 * down to the least there can be. */
static ac_bytes limit_of(const ac_plan_how *how, const ac_planned *from, ac_bytes least, int32_t k)
{
    const ac_problem *p = &from->live->problem;
    ac_bytes most = ac_plan_most(how, from);
    if (most < least)
        for (int32_t m = 0; m < p->n_mems; m++)
            most = (m ? most : 0) + from->plan.mem_bytes[m];
    return most > least ? most - (most - least) * k / (TRIES - 1) : least;
}

static int try_limit(ac_ctx *cx, const ac_plan_how *how, ac_stripe_search *q, ac_planned *search, ac_bytes limit,
                     ac_planned **out)
{
    ac_planned *p = *out = ac_planned_from(cx, how, search, search->n_steps);
    AC_TRY(ac_stripe_choose(q, limit, p->step, &p->n_steps, &p->groups));
    return ac_planned_pack(cx, how, p);
}

/* Sets *best to the plan with the best groups of the steps of `from`, if it is better; frees the loser, except
 * `keep`. */
static int groups_of(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, bool rows, ac_planned **best,
                     const ac_planned *keep)
{
    ac_planned *search = ac_planned_from(cx, how, from, from->n_steps), *mine = NULL;
    ac_stripe_search *q = ac_stripe_open(cx, how, search->region, from, rows);
    const ac_bytes budget = ac_plan_budget(how, from);
    const bool several = ac_planned_has_several(from);
    if (q->least == INT64_MAX || (rows && !q->forms.streamed.tensor)) {
        ac_planned_drop(search, from); /* not so */
        return AC_OK;
    }
    ac_bytes limit = several ? limit_of(how, from, q->least, 0) : budget > q->least ? budget : q->least;
    for (int32_t k = 0; k < TRIES; k++) {
        ac_planned *found;
        AC_TRY(try_limit(cx, how, q, search, limit, &found));
        const bool enough = ac_planned_is_enough(how, found);
        const ac_bytes over = found->plan.arena_bytes - budget;
        found->streamed = found->wanted = rows;
        ac_planned_take_better(&mine, found, search);
        if (limit <= q->least || enough)
            break;
        if (several) {
            limit = limit_of(how, from, q->least, k + 1);
            continue;
        }
        limit -= over; /* packing took more than the estimate */
        limit = limit < q->least || k == TRIES - 2 ? q->least : limit;
    }
    ac_planned_take_better(best, mine, keep);
    return AC_OK;
}

/* Sets *out to the packed plan with the other order of residual blocks; NULL: no block can be swapped. */
static int swapped_of(ac_ctx *cx, const ac_plan_how *how, ac_planned *plain, ac_planned **out)
{
    ac_planned *p = ac_planned_from(cx, how, plain, plain->n_steps);
    *out = NULL;
    if (!ac_stripe_swap(cx, how, p->region, plain, p->step)) {
        ac_planned_drop(p, plain);
        return AC_OK;
    }
    *out = p;
    return ac_planned_pack(cx, how, p);
}

/* The same with the other order of residual blocks. */
static int swapped_groups_of(ac_ctx *cx, const ac_plan_how *how, ac_planned *plain, bool rows, ac_planned **best)
{
    if (*best && ac_planned_is_enough(how, *best))
        return AC_OK;
    ac_planned *swapped, *mine = NULL;
    AC_TRY(swapped_of(cx, how, plain, &swapped));
    if (!swapped)
        return AC_OK;
    if (!rows)
        mine = swapped;
    AC_TRY(groups_of(cx, how, swapped, rows, &mine, swapped));
    if (mine)
        ac_planned_take_better(best, mine, plain);
    else
        ac_planned_drop(swapped, plain);
    return AC_OK;
}

/* Sets *best to the plan with copies between memories, if it is better, in this order or with the other order of
 * residual blocks. */
static int copies_of(ac_ctx *cx, const ac_plan_how *how, ac_planned *plain, ac_planned **best)
{
    ac_planned *mine = NULL, *swapped;
    AC_TRY(ac_stripe_copies(cx, how, plain, &mine));
    const bool any = mine;
    ac_planned_take_better(best, mine, plain);
    if (!any || ac_planned_is_enough(how, *best))
        return AC_OK;
    AC_TRY(swapped_of(cx, how, plain, &swapped));
    if (!swapped)
        return AC_OK;
    AC_TRY(ac_stripe_copies(cx, how, swapped, &mine));
    if (mine)
        ac_planned_take_better(best, mine, plain);
    else
        ac_planned_drop(swapped, plain);
    return AC_OK;
}

static void ignore_rows(ac_ctx *cx, const ac_plan_how *how)
{
    const char *why =
        how->stripes ? "no group of --stripe holds all steps that read it" : "steps that read one need all of it";
    ac_warn(cx, (ac_place){.file = how->file}, W0002,
            "no input can be streamed by rows, since %s: --io rows is ignored", why);
}

/* Every plan holds the input's window only. */
int ac_reduce_rows(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_planned **to)
{
    if (how->stripes) /* STRIPE sees to it */
        return AC_OK;
    AC_TRY(ac_planned_ready(cx, how, from));
    AC_TRY(groups_of(cx, how, from, true, to, from));
    AC_TRY(swapped_groups_of(cx, how, from, true, to));
    if (!*to)
        ignore_rows(cx, how);
    return AC_OK;
}

/* --stripe 2-5,7-9: these groups; windows share places only if the budget needs it. */
static int listed_groups(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_planned **to)
{
    ac_planned *search = ac_planned_from(cx, how, from, from->n_steps);
    const bool rows = how->reductions & AC_REDUCE(ROWS);
    ac_stripes v;
    ac_stripes_open(&v, cx, how, search->region, from);
    if (rows && !ac_stripes_stream(&v))
        ignore_rows(cx, how);
    for (int tight = 0; tight < 2; tight++) {
        const ac_stripe_how windows = {how->live.align, tight};
        ac_planned *p = ac_planned_from(cx, how, search, from->n_steps);
        AC_TRY(ac_stripe_given(&v, how->stripes, windows, p->step, &p->n_steps, &p->groups));
        AC_TRY(ac_planned_pack(cx, how, p));
        p->wanted = true;
        const bool done = (!ac_planned_has_several(p) && ac_plan_budget(how, p) < 0) || ac_planned_is_enough(how, p);
        ac_planned_take_better(to, p, search);
        if (done)
            break;
    }
    for (int32_t s = 0; s < (*to)->n_steps; s++)
        (*to)->streamed |= (*to)->step[s]->streamed != NULL;
    if (v.streamed.tensor && !(*to)->streamed)
        ignore_rows(cx, how);
    return AC_OK;
}

int ac_reduce_stripe(ac_ctx *cx, const ac_plan_how *how, ac_planned *from, ac_planned **to)
{
    AC_TRY(ac_planned_ready(cx, how, from));
    if (how->stripes)
        return listed_groups(cx, how, from, to);
    if (from->streamed || ac_planned_is_enough(how, from)) /* else the cheapest plan that fits */
        return AC_OK;
    ac_planned *best = from;
    AC_TRY(groups_of(cx, how, from, false, &best, from));
    AC_TRY(swapped_groups_of(cx, how, from, false, &best));
    AC_TRY(copies_of(cx, how, from, &best));
    *to = best == from ? NULL : best;
    return AC_OK;
}
