/* job_price.c - over the budget: what the options that were not used would take, found by planning with each of them.
 */
#include "job.h"

#include <string.h>

typedef struct fix {
    const char *text;
    bool inplace, overlap, schedule, stripe; /* what it turns on */
} fix;

static const fix FIXES[] = {
    {"--inplace on", .inplace = true},
    {"--overlap on", .overlap = true},
    {"--schedule search", .schedule = true},
    {"--stripe auto", .stripe = true},
    {"--schedule search --stripe auto", .schedule = true, .stripe = true},
};

/* Does everything that it turns on stand off? */
static bool is_new(const arenac_job *job, const fix *f)
{
    const ac_options *o = &job->opt;
    return !(f->inplace && o->inplace) && !(f->overlap && ac_job_overlaps(job)) &&
           !(f->schedule && o->schedule_search) && !(f->stripe && o->stripe);
}

static void apply(ac_options *o, const fix *f)
{
    o->inplace |= f->inplace;
    o->schedule_search |= f->schedule;
    o->stripe |= f->stripe;
    if (f->overlap || f->stripe)
        o->overlap = 1;
}

void ac_job_price(arenac_job *job)
{
    ac_ctx *cx = &job->cx;
    const ac_bytes budget = ac_job_budget(job), now = job->plan.arena_bytes;
    ac_bytes best = now;
    if (budget < 0 || job->opt.reference_tflite || job->opt.preserve_all || job->live->problem.n_mems > 2)
        return;
    for (size_t k = 0; k < sizeof FIXES / sizeof *FIXES; k++) {
        const fix *f = &FIXES[k];
        if (!is_new(job, f))
            continue;
        arenac_job *other = ac_copy(cx->region, job, sizeof *job); /* plans on its own; cx stays the job's */
        const ac_diags before = cx->diags;
        apply(&job->opt, f);
        const bool ok = ac_quietly(cx, before, ac_job_plan(job));
        const ac_bytes bytes = job->plan.arena_bytes;
        const ac_ctx mine = *cx;
        *job = *other;
        *cx = mine;
        const bool both = f->schedule && f->stripe; /* worth a line only if neither alone does it */
        if (ok && bytes < (both ? best : now))
            ac_help(cx, "%s takes %s B%s", f->text, ac_commas(cx, bytes), bytes <= budget ? "" : ", still too much");
        best = ok && bytes < best ? bytes : best;
    }
}
