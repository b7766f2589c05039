/* job_price.c - what the options that were not used would take, found by planning with each of them: over the budget as
 * help, else as the report's "To go lower". */
#include "driver/job.h"

#include "base/vec.h"

#include <string.h>

typedef struct fix {
    const char *text, *what;
    bool inplace, overlap, schedule, stripe, io, recompute; /* what it turns on */
} fix;

static const fix FIXES[] = {
    {"--inplace on", "results take the place of operands", .inplace = true},
    {"--overlap on", "results start inside operands that die", .overlap = true},
    {"--schedule search", "another order of the steps", .schedule = true},
    {"--recompute", "cheap results are computed again", .recompute = true},
    {"--stripe auto", "rows instead of whole tensors", .stripe = true},
    {"--schedule search --stripe auto", "both", .schedule = true, .stripe = true},
    {"--io rows", "the caller hands over the input row by row", .io = true},
};

/* Does everything that it turns on stand off? */
static bool is_new(const arenac_job *job, const fix *f)
{
    const ac_options *o = &job->opt;
    return !(f->inplace && o->inplace) && !(f->overlap && ac_job_overlaps(job)) &&
           !(f->schedule && o->schedule_search) && !(f->stripe && o->stripe) &&
           !(f->recompute && (o->recompute || o->stripe || o->io_rows)) && !(f->io && (o->io_rows || o->stripe_list));
}

static void apply(ac_options *o, const fix *f)
{
    o->inplace |= f->inplace;
    o->schedule_search |= f->schedule;
    o->stripe |= f->stripe;
    o->io_rows |= f->io;
    o->recompute |= f->recompute;
    if (f->overlap || f->stripe || f->io)
        o->overlap = 1;
}

/* The arena with the fix, or -1 when there is no such plan. The job stays as it is. */
static ac_bytes try_fix(arenac_job *job, const fix *f)
{
    ac_ctx *cx = &job->cx;
    arenac_job *other = ac_copy(cx->region, job, sizeof *job); /* plans on its own; cx stays the job's */
    const ac_diags before = cx->diags;
    const int32_t tensors = job->graph->tensor.n; /* --recompute adds some */
    apply(&job->opt, f);
    const bool ok = ac_job_plan(job) == AC_OK;
    const ac_bytes bytes = job->plan.arena_bytes;
    ac_quietly(cx, before, AC_FAIL); /* no word of it, warnings either */
    const ac_ctx mine = *cx;
    *job = *other;
    *cx = mine;
    ac_graph_drop(job->graph, tensors);
    return ok ? bytes : -1;
}

/* Can options be tried at all? */
static bool may_try(const arenac_job *job)
{
    return !job->opt.reference_tflite && !job->opt.preserve_all && job->live->problem.n_mems <= 2;
}

void ac_job_price(arenac_job *job)
{
    ac_ctx *cx = &job->cx;
    const ac_bytes budget = ac_job_budget(job), now = job->plan.arena_bytes;
    ac_bytes best = now;
    if (budget < 0 || !may_try(job))
        return;
    for (size_t k = 0; k < sizeof FIXES / sizeof *FIXES; k++) {
        const fix *f = &FIXES[k];
        if (f->io || !is_new(job, f))
            continue;
        const ac_bytes bytes = try_fix(job, f);
        const bool both = f->schedule && f->stripe; /* worth a line only if neither alone does it */
        if (bytes >= 0 && bytes < (both ? best : now))
            ac_help(cx, "%s takes %s B%s", f->text, ac_commas(cx, bytes), bytes <= budget ? "" : ", still too much");
        best = bytes >= 0 && bytes < best ? bytes : best;
    }
}

void ac_job_lower(arenac_job *job, bool all)
{
    enum { SMALL = 8 << 20 }; /* steps times bytes of tensors: up to here it takes no time that anybody notices */
    ac_report *r = &job->report;
    ac_bytes best = job->plan.arena_bytes;
    AC_VEC(ac_report_lower) lower = {0};
    if (!may_try(job) || job->target->isa == AC_ISA_CUDA)
        return;
    for (size_t k = 0; k < sizeof FIXES / sizeof *FIXES; k++) {
        const fix *f = &FIXES[k];
        if (!is_new(job, f))
            continue;
        const bool priced = all || r->no_sharing <= SMALL / (job->n_steps + 1);
        const ac_bytes bytes = priced ? try_fix(job, f) : -1;
        if (priced && (bytes < 0 || bytes >= best))
            continue;
        if (priced || !(f->schedule && f->stripe))
            ac_push(job->cx.region, &lower, ((ac_report_lower){f->text, f->what, bytes}));
        best = priced ? bytes : best;
    }
    r->lower = lower.item;
    r->n_lower = lower.n;
}
