/* job_stripe.c - --stripe: runs of steps become one that works row by row, where the arena gets smaller by it.
 *
 * What the search estimates, packing has to confirm: a cut into groups is kept only if its plan takes less than the
 * plan without groups (or, with a budget, fits where that one does not). */
#include "job.h"

#include "planner/stripe.h"
#include "planner/stripe_swap.h"

enum { TRIES = 6 }; /* limits tried below a budget */

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

static int try_limit(arenac_job *job, ac_stripe_search *q, ac_live_options live, ac_bytes limit)
{
    ac_lowered **step = AC_NEW_N(job->cx.region, ac_lowered *, job->n_steps + 1);
    AC_TRY(ac_stripe_choose(q, limit, step, &job->n_steps, &job->stripes));
    job->step = step;
    return ac_job_pack(job, live);
}

/* The best groups of the steps as they stand in `from`, if they beat *best. */
static int groups_of(arenac_job *job, const result *from, ac_live_options live, bool rows, result *best)
{
    const ac_bytes budget = ac_job_budget(job);
    ac_stripe_search *q = ac_stripe_open(&job->cx, job->graph, from->step, from->n_steps, from->live, job->target,
                                         job->opt.exact, live, rows);
    ac_bytes limit = budget > q->least ? budget : q->least;
    if (q->least == INT64_MAX || (rows && !q->forms.fed.tensor))
        return AC_OK; /* not so */
    for (int32_t k = 0; k < TRIES; k++) {
        restore(job, from);
        AC_TRY(try_limit(job, q, live, limit));
        if (job->plan.arena_bytes < best->plan.arena_bytes)
            *best = present(job);
        if (limit <= q->least || job->plan.arena_bytes <= budget)
            break;
        limit -= job->plan.arena_bytes - budget; /* packing took more than the estimate */
        limit = limit < q->least || k == TRIES - 2 ? q->least : limit;
    }
    return AC_OK;
}

/* The same with the other order of residual blocks. */
static int swapped_groups_of(arenac_job *job, const result *plain, ac_live_options live, bool rows, result *best)
{
    ac_lowered **step = AC_NEW_N(job->cx.region, ac_lowered *, plain->n_steps + 1);
    if (best->plan.arena_bytes <= ac_job_budget(job) ||
        !ac_stripe_swap(&job->cx, plain->step, plain->n_steps, job->target, job->opt.exact, step))
        return AC_OK;
    restore(job, plain);
    job->step = step;
    AC_TRY(ac_job_pack(job, live));
    const result swapped = present(job);
    if (!rows && swapped.plan.arena_bytes < best->plan.arena_bytes)
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
    result fed = *plain;
    fed.plan.arena_bytes = INT64_MAX;
    AC_TRY(groups_of(job, plain, live, true, &fed));
    AC_TRY(swapped_groups_of(job, plain, live, true, &fed));
    job->fed = fed.plan.arena_bytes < INT64_MAX;
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
        if (tight && job->plan.arena_bytes >= before.plan.arena_bytes)
            restore(job, &before);
        if (budget < 0 || job->plan.arena_bytes <= budget)
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
    const ac_bytes budget = ac_job_budget(job);
    const result plain = present(job);
    result best = plain;
    if (job->opt.io_rows)
        AC_TRY(fed_groups_of(job, &plain, live, &best));
    if (!job->fed && !(budget >= 0 && plain.plan.arena_bytes <= budget)) { /* else the cheapest plan that fits */
        AC_TRY(groups_of(job, &plain, live, false, &best));
        AC_TRY(swapped_groups_of(job, &plain, live, false, &best));
    }
    restore(job, &best);
    return AC_OK;
}
