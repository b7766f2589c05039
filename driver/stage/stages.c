/* stages.c - the journey of a model, top to bottom: start reading here.
 *
 *   read      file -> graph                          import/                          read.c
 *   check     graph -> passes -> lowered steps       ir/pass, ir/lower                check.c
 *   plan      steps -> order -> lives -> offsets     planner/graph, planner/pack      plan.c
 *   compile   steps + offsets -> module              codegen/bind.c                   compile.c
 *   load      module -> code on this machine         host/
 *
 * Each stage takes the values made so far as const and returns its own, which is stored here and nowhere else. */
#include "driver/stage/stage.h"

#include "driver/facts/facts.h"
#include "driver/stage/inputs.h"

/* ------------------------------------------------------------------ read */

int ac_open(ac_work *w, const char *const *path, int32_t n)
{
    return ac_source_open(&w->cx, path, n, &w->source);
}

int ac_read_opened(ac_work *w)
{
    if (ac_tflm_wanted(&w->request))
        return AC_OK; /* tflm.c reads the file by itself */
    AC_TRY(ac_read_model(&w->made, &w->made.model));
    return ac_read_constants(&w->made);
}

int ac_read_any(ac_work *w)
{
    if (!ac_intervals_look_like(&w->made))
        return ac_read_opened(w);
    ac_file_count(&w->cx, &w->source.file);
    return ac_intervals_read(&w->made, &w->made.intervals);
}

int ac_read(ac_work *w, const char *const *path, int32_t n)
{
    AC_TRY(ac_open(w, path, n));
    return ac_read_opened(w);
}

/* ------------------------------------------------------------------ check */

int ac_infer(ac_work *w)
{
    return ac_infer_model(&w->made);
}

int ac_check(ac_work *w)
{
    ac_made *m = &w->made;
    if (m->lowering)
        return AC_OK;
    if (!m->model) /* intervals, or a model for TFLite Micro: the reader names the fault */
        AC_TRY(ac_read_model(m, &m->model));
    return ac_check_model(m, &m->lowering);
}

int ac_check_hinted(ac_work *w, const ac_schedule *hints)
{
    return ac_lower_hints(&w->made, hints, &w->made.lowering);
}

/* ------------------------------------------------------------------ plan */

/* A stage that gives several values, also if the plan is over its budget. */
static int plan_by(ac_work *w, int (*plan)(const ac_made *a, ac_made *out))
{
    ac_made next = w->made;
    if (w->made.report) /* reported already */
        return ac_facts_over_budget(w->made.packed) ? AC_FAIL : AC_OK;
    const int status = plan(&w->made, &next);
    w->made = next;
    return status;
}

int ac_plan_model(ac_work *w)
{
    AC_TRY(ac_check(w));
    return plan_by(w, ac_plan_graph_of);
}

int ac_plan_any(ac_work *w)
{
    if (w->made.intervals)
        return plan_by(w, ac_intervals_plan);
    return ac_tflm_wanted(&w->request) ? plan_by(w, ac_tflm_plan) : ac_plan_model(w);
}

/* ------------------------------------------------------------------ compile */

int ac_compile(ac_work *w)
{
    ac_made *m = &w->made;
    if (w->opt.reference == AC_OPT_REFERENCE_TFLM)
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501,
                        "bad argument 'tflm' of --reference: TFLite Micro runs the model itself, use arenac plan");
    if (m->model && !w->inputs.given) /* of a self-test; run and bench have opened theirs */
        AC_TRY(ac_inputs_open(m));
    AC_TRY(ac_plan_model(w));
    AC_TRY(ac_check_weights(m));
    return m->module ? AC_OK : ac_compile_plan(m, &m->module);
}

int ac_load(ac_work *w)
{
    AC_TRY(ac_compile(w));
    if (w->loaded)
        return AC_OK;
    AC_TRY(ac_session_open(&w->session, w->made.module, w->source.path, w->opt.backend));
    w->loaded = true;
    return AC_OK;
}
