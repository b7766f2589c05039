/* job_plan.c - from lowered steps to offsets: order, lives, packing, stripes, by the options. */
#include "driver/job.h"

#include "planner/graph/overlap.h"

#include <string.h>

bool ac_job_overlaps(const arenac_job *job)
{
    const ac_options *o = &job->opt;
    return !o->reference_tflite && (o->overlap > 0 || (o->overlap < 0 && (o->stripe || o->io_rows)));
}

ac_solve_options ac_job_search(const arenac_job *job)
{
    return (ac_solve_options){.steps = ac_solve_steps((int)job->opt.effort), .goal = ac_job_budget(job)};
}

int ac_job_pack(arenac_job *job, ac_live_options live)
{
    const ac_options *o = &job->opt;
    job->live = ac_live(&job->cx, job->graph, job->step, job->n_steps, live);
    if (ac_job_overlaps(job))
        ac_overlap_rules(&job->cx, job->graph, job->step, job->n_steps, live, job->live);
    AC_TRY(ac_job_pin(job));
    const ac_solve_options search = ac_job_search(job);
    const char *planner = o->reference_tflite && !strcmp(o->planner, "auto") ? "tflite" : o->planner;
    AC_TRY(ac_solve_all(&job->cx, &job->live->problem, planner, &search, &job->plan, job->row, &job->n_rows));
    for (int32_t i = 0; i < job->live->problem.n; i++) /* which memory is settled: reports and bounds count by it */
        job->live->problem.item[i].mem = job->plan.mem[i];
    return AC_OK;
}

/* --schedule search: another order of the steps, kept only if its arena is smaller than that of the file's order. */
static int search_order(arenac_job *job, ac_live_options live)
{
    ac_lowered **file = job->step;
    ac_liveness *file_live = job->live;
    const ac_plan file_plan = job->plan;
    int32_t *order = AC_NEW_N(job->cx.region, int32_t, job->n_steps + 1);
    ac_region *tmp = ac_region_open(&job->cx.heap);
    const int effort = job->opt.effort >= 0 ? (int)job->opt.effort : AC_EFFORT_DEFAULT;
    job->order = ac_order_search(ac_order_graph(tmp, job->graph, file, job->n_steps, live), ac_effort_steps(effort),
                                 order, &job->cx.heap);
    ac_region_close(tmp);
    job->report.file_order_bytes = file_plan.arena_bytes;
    if (job->order.after >= job->order.before)
        return AC_OK;
    job->step = AC_NEW_N(job->cx.region, ac_lowered *, job->n_steps + 1);
    for (int32_t i = 0; i < job->n_steps; i++)
        job->step[i] = file[order[i]];
    AC_TRY(ac_job_pack(job, live));
    if (job->plan.arena_bytes < file_plan.arena_bytes)
        return AC_OK;
    job->step = file;
    job->live = file_live;
    job->plan = file_plan;
    return AC_OK;
}

/* --recompute, where the steps are whole and may be overwritten. */
static int recompute(arenac_job *job, ac_live_options live)
{
    const ac_options *o = &job->opt;
    const char *against = o->reference_tflite ? "--reference tflite"
                          : o->preserve_all   ? "a run that keeps every tensor"
                          : o->io_rows        ? "--io rows"
                          : o->stripe         ? "--stripe"
                                              : NULL;
    if (!against)
        return ac_job_recompute(job, live);
    ac_warn(&job->cx, (ac_place){.file = job->path}, W0002, "--recompute does not go with %s: it is ignored", against);
    return AC_OK;
}

int ac_job_plan(arenac_job *job)
{
    const ac_options *o = &job->opt;
    ac_live_options live = {.whole = o->reference_tflite,
                            .preserve_input = o->preserve_input,
                            .preserve_all = o->preserve_all,
                            .inplace = o->inplace && !o->reference_tflite,
                            .caller_io = o->caller_io,
                            .align = o->align              ? o->align
                                     : o->reference_tflite ? 64
                                                           : job->target->align};
    AC_TRY(ac_job_memories(job, &live));
    job->step = AC_NEW_N(job->cx.region, ac_lowered *, job->n_lowered + 1);
    job->n_steps = job->n_lowered;
    for (int32_t i = 0; i < job->n_steps; i++)
        job->step[i] = job->lowered[i];
    AC_TRY(ac_job_pack(job, live));
    if (o->schedule_search)
        AC_TRY(search_order(job, live));
    job->report.recomputed = 0;
    if (o->recompute)
        AC_TRY(recompute(job, live));
    job->fed = false;
    if ((o->stripe || o->io_rows) && !o->reference_tflite && !o->preserve_all)
        AC_TRY(ac_job_stripe(job, live));
    else if (o->io_rows)
        ac_warn(&job->cx, (ac_place){.file = job->path}, W0002, "%s needs whole inputs: --io rows is ignored",
                o->reference_tflite ? "--reference tflite" : "a run that keeps every tensor");
    return job->live->overlaps ? ac_overlap_turn(&job->cx, job->live, &job->plan, job->step) : AC_OK;
}
