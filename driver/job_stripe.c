/* job_stripe.c - --stripe: runs of steps become one that works row by row, where the arena gets smaller by it.
 *
 * What the search estimates, packing has to confirm: a cut into groups is kept only if its plan takes less than the
 * plan without groups (or, with a budget, fits where that one does not). With several memories the search knows one, of
 * all bytes; several limits are tried and packed, and the plan counts that leaves most traffic in the first memories.
 */
#include "driver/job.h"

#include "planner/graph/stripe.h"
#include "planner/graph/stripe_swap.h"

enum { TRIES = 6 }; /* limits tried below a budget, or for several memories */

typedef struct result {
    ac_lowered **step;
    int32_t n_steps, groups;
    ac_liveness *live;
    ac_plan plan;
} result;

static result present(const arenac_job *job)
{
    return (result){job->step, job->n_steps, job->stripes, job->live, job->plan};
}

static void restore(arenac_job *job, const result *r)
{
    job->step = r->step;
    job->n_steps = r->n_steps;
    job->stripes = r->groups;
    job->live = r->live;
    job->plan = r->plan;
}

static bool is_none(const result *r)
{
    return !r->live;
}

static bool has_several(const result *r)
{
    return r->live->problem.n_mems > 2; /* state has one of its own */
}

/* What counts about a plan: the less the better, in this order. */
typedef struct cost {
    ac_bytes over;  /* what memories lack */
    double outside; /* traffic in other memories than the first, times how far they are from it */
    ac_bytes bytes; /* with one memory; with several, the fewest steps in groups that do as well */
} cost;

static cost cost_of(const result *r)
{
    const ac_problem *p = &r->live->problem;
    cost c = {0};
    if (!has_several(r))
        return (cost){.bytes = r->plan.arena_bytes};
    for (int32_t m = 0; m < p->n_mems; m++)
        if (p->mem[m].capacity >= 0 && r->plan.mem_bytes[m] > p->mem[m].capacity)
            c.over += r->plan.mem_bytes[m] - p->mem[m].capacity;
    for (int32_t i = 0; i < p->n; i++)
        if (ac_item_in_ram(p, &p->item[i]) && r->plan.mem[i])
            c.outside += (double)p->item[i].traffic * r->plan.mem[i];
    return c;
}

static bool is_better(const result *a, const result *b)
{
    if (is_none(b))
        return true;
    const cost x = cost_of(a), y = cost_of(b);
    if (x.over != y.over)
        return x.over < y.over;
    return x.outside != y.outside ? x.outside < y.outside : x.bytes < y.bytes;
}

/* Is there nothing to gain any more? */
static bool is_enough(const arenac_job *job, const result *r)
{
    const cost c = cost_of(r);
    const ac_bytes budget = ac_job_budget(job);
    if (has_several(r))
        return !c.over && c.outside <= 0 && (budget < 0 || r->plan.arena_bytes <= budget);
    return budget >= 0 && c.bytes <= budget;
}

static int try_limit(arenac_job *job, ac_stripe_search *q, ac_live_options live, ac_bytes limit)
{
    ac_lowered **step = AC_NEW_N(job->cx.region, ac_lowered *, job->n_steps + 1);
    AC_TRY(ac_stripe_choose(q, limit, step, &job->n_steps, &job->stripes));
    job->step = step;
    return ac_job_pack(job, live);
}

/* The limit of try k for the bytes of all memories together: from what the first memory has, or all of them take now,
 * down to the least there can be. */
static ac_bytes limit_of(const arenac_job *job, const result *from, ac_bytes least, int32_t k)
{
    const ac_problem *p = &from->live->problem;
    const ac_bytes budget = ac_job_budget(job);
    ac_bytes most =
        p->mem[0].capacity >= 0 && (budget < 0 || p->mem[0].capacity < budget) ? p->mem[0].capacity : budget;
    if (most < least)
        for (int32_t m = 0; m < p->n_mems; m++)
            most = (m ? most : 0) + from->plan.mem_bytes[m];
    return most > least ? most - (most - least) * k / (TRIES - 1) : least;
}

/* The best groups of the steps as they stand in `from`, if they beat *best. */
static int groups_of(arenac_job *job, const result *from, ac_live_options live, bool rows, result *best)
{
    const ac_bytes budget = ac_job_budget(job);
    ac_stripe_search *q = ac_stripe_open(&job->cx, job->graph, from->step, from->n_steps, from->live, job->target,
                                         job->opt.exact, live, rows);
    const bool several = has_several(from);
    ac_bytes limit = several ? limit_of(job, from, q->least, 0) : budget > q->least ? budget : q->least;
    if (q->least == INT64_MAX || (rows && !q->forms.fed.tensor))
        return AC_OK; /* not so */
    for (int32_t k = 0; k < TRIES; k++) {
        restore(job, from);
        AC_TRY(try_limit(job, q, live, limit));
        const result found = present(job);
        if (is_better(&found, best))
            *best = found;
        if (limit <= q->least || is_enough(job, &found))
            break;
        if (several) {
            limit = limit_of(job, from, q->least, k + 1);
            continue;
        }
        limit -= found.plan.arena_bytes - budget; /* packing took more than the estimate */
        limit = limit < q->least || k == TRIES - 2 ? q->least : limit;
    }
    return AC_OK;
}

/* The same with the other order of residual blocks. */
static int swapped_groups_of(arenac_job *job, const result *plain, ac_live_options live, bool rows, result *best)
{
    ac_lowered **step = AC_NEW_N(job->cx.region, ac_lowered *, plain->n_steps + 1);
    if ((!is_none(best) && is_enough(job, best)) ||
        !ac_stripe_swap(&job->cx, plain->step, plain->n_steps, job->target, job->opt.exact, step))
        return AC_OK;
    restore(job, plain);
    job->step = step;
    AC_TRY(ac_job_pack(job, live));
    const result swapped = present(job);
    if (!rows && is_better(&swapped, best))
        *best = swapped;
    return groups_of(job, &swapped, live, rows, best);
}

static void ignore_rows(arenac_job *job)
{
    const char *why = job->opt.stripe_list ? "no group of --stripe holds all steps that read it"
                                           : "steps that read one need all of it";
    ac_warn(&job->cx, (ac_place){.file = job->path}, W0002,
            "no input can be handed over by rows, since %s: --io rows is ignored", why);
}

/* --io rows: every plan holds the input's window only. *best stays as it is when there is none. */
static int fed_groups_of(arenac_job *job, const result *plain, ac_live_options live, result *best)
{
    result fed = {0};
    AC_TRY(groups_of(job, plain, live, true, &fed));
    AC_TRY(swapped_groups_of(job, plain, live, true, &fed));
    job->fed = !is_none(&fed);
    if (job->fed)
        *best = fed;
    else
        ignore_rows(job);
    return AC_OK;
}

/* --stripe 2-5,7-9: these groups; windows share rooms only if the budget asks for it. */
static int given_groups(arenac_job *job, ac_live_options live)
{
    const ac_bytes budget = ac_job_budget(job);
    const result plain = present(job);
    ac_stripes v;
    ac_stripes_open(&v, &job->cx, job->cx.region, job->graph, plain.step, plain.n_steps, plain.live, job->target,
                    job->opt.exact);
    if (job->opt.io_rows && !ac_stripes_feed(&v))
        ignore_rows(job);
    for (int tight = 0; tight < 2; tight++) {
        const result before = present(job);
        ac_lowered **step = AC_NEW_N(job->cx.region, ac_lowered *, plain.n_steps + 1);
        const ac_stripe_how how = {live.align, tight};
        AC_TRY(ac_stripe_given(&v, job->opt.stripe_list, how, step, &job->n_steps, &job->stripes));
        job->step = step;
        AC_TRY(ac_job_pack(job, live));
        const result found = present(job);
        if (tight && !is_better(&found, &before))
            restore(job, &before);
        if ((!has_several(&found) && budget < 0) || is_enough(job, &found))
            break;
    }
    for (int32_t s = 0; s < job->n_steps; s++)
        job->fed |= job->step[s]->fed != NULL;
    if (v.fed.tensor && !job->fed)
        ignore_rows(job);
    return AC_OK;
}

int ac_job_stripe(arenac_job *job, ac_live_options live)
{
    if (job->opt.stripe_list)
        return given_groups(job, live);
    const result plain = present(job);
    result best = plain;
    if (job->opt.io_rows)
        AC_TRY(fed_groups_of(job, &plain, live, &best));
    if (!job->fed && !is_enough(job, &plain)) { /* else the cheapest plan that fits */
        AC_TRY(groups_of(job, &plain, live, false, &best));
        AC_TRY(swapped_groups_of(job, &plain, live, false, &best));
    }
    restore(job, &best);
    return AC_OK;
}
