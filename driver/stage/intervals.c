/* intervals.c - a packing problem of its own: a CSV file of lives and sizes, planned without a model. */
#include "driver/facts/facts.h"
#include "driver/stage/stage.h"

#include "base/ascii.h"

#include <string.h>

bool ac_intervals_look_like(const ac_made *a)
{
    static const char *const HEADS[] = {"id,",    "buffer,", "buffer_id,", "lower,", "start,",
                                        "begin,", "upper,",  "size,",      "end,"};
    const ac_file *f = &a->source->file;
    if (a->opt->from.name)
        return a->opt->from.intervals;
    for (size_t i = 0; i < sizeof HEADS / sizeof *HEADS; i++)
        if (f->n > strlen(HEADS[i]) && !memcmp(f->data, HEADS[i], strlen(HEADS[i])))
            return true;
    return ac_has_ending(a->source->path, ".csv");
}

int ac_refuse_options(const ac_made *a, const char *what, bool orders)
{
    const ac_options *o = a->opt;
    const ac_place at = {.file = a->source->path};
    if (o->mem.n || o->pin.n) {
        ac_error(a->cx, at, E0503, "%s does not apply: %s, in one memory", o->mem.n ? "--mem" : "--pin", what);
        return ac_help(a->cx, "--budget SIZE limits it");
    }
    const struct {
        bool given;
        const char *option;
    } LEFT[] = {
        {o->stripe.on, "--stripe"},
        {o->io == AC_OPT_IO_ROWS, "--io rows"},
        {o->schedule == AC_OPT_SCHEDULE_SEARCH && !orders, "--schedule search"},
        {o->overlap == AC_OPT_OVERLAP_ON, "--overlap"},
        {o->quantized_io, "--quantized-io"},
        {o->preserve, "--preserve"},
        {o->dead, "--dead"},
        {o->reference == AC_OPT_REFERENCE_TFLITE, "--reference tflite"},
    };
    for (size_t k = 0; k < sizeof LEFT / sizeof *LEFT; k++)
        if (LEFT[k].given)
            ac_warn(a->cx, at, W0002, "%s: %s is ignored", what, LEFT[k].option);
    return AC_OK;
}

/* When it is planned: a file of intervals that is to be compiled is refused by the readers of models. */
int ac_intervals_read(const ac_made *a, const ac_problem **out)
{
    ac_problem *p = AC_NEW(a->cx->region, ac_problem);
    const ac_file *f = &a->source->file;
    AC_TRY(ac_refuse_options(a, "intervals are planned as they are", false));
    AC_TRY(ac_problem_read_csv(a->cx, a->source->path, (const char *)f->data, f->n, a->opt->ignore_offsets, p));
    for (int32_t i = 0; i < p->n; i++)
        if (p->item[i].align < a->opt->align)
            p->item[i].align = a->opt->align;
    *out = p;
    return AC_OK;
}

static void put_tensors(const ac_made *a, ac_report *r)
{
    const ac_problem *p = a->intervals;
    ac_report_tensor *t = AC_NEW_N(a->cx->region, ac_report_tensor, p->n + 1);
    for (int32_t i = 0; i < p->n; i++)
        t[i] = (ac_report_tensor){.name = p->item[i].name,
                                  .dtype = "",
                                  .shape = "",
                                  .bytes = p->item[i].size,
                                  .item = i,
                                  .first = p->item[i].life.begin,
                                  .last = p->item[i].life.end - 1,
                                  .producer = -1};
    r->tensor = t;
    r->n_tensors = p->n;
}

int ac_intervals_plan(const ac_made *a, ac_made *out)
{
    ac_progress_begin(a->cx, "planning", 0);
    ac_region *r = a->cx->region;
    ac_packed *packed = AC_NEW(r, ac_packed);
    ac_plan *plan = AC_NEW(r, ac_plan);
    ac_result *row = AC_NEW_N(r, ac_result, AC_MAX_STRATEGIES);
    ac_sink *proof = NULL;
    if (ac_emits(a->opt->emit, "certificate")) {
        proof = AC_NEW(r, ac_sink);
        ac_sink_open(proof, a->cx);
    }
    *packed = (ac_packed){.problem = a->intervals, .plan = plan, .row = row, .budget = a->opt->budget.bytes};
    packed->search = (ac_solve_options){
        .steps = ac_solve_steps((int)a->opt->effort), .goal = a->opt->budget.bytes, .certificate = proof};
    AC_TRY(ac_solve_all(a->cx, a->intervals, a->opt->planner.name, &packed->search, plan, row, &packed->n_rows));
    out->packed = packed;
    out->report = ac_facts_open(a, packed, "interval problem", "none");
    put_tensors(a, out->report);
    return ac_report_over_budget(a->cx, out->report);
}
