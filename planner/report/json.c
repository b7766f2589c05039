/* json.c - the report for programs: schema arenac-report/1. Keys are stable and carry their unit; steps count from 0
 * and are inclusive on both sides; a value that does not apply is null, never absent. Exceptions: `dead_channels`
 * exists only with --dead, for models with integer weights, `plan.again` for a step of training within a budget,
 * `threads` with --threads above 1, `launches` for GPUs, `insns` to `timed_by` with --time, `slow_bytes` of a step that
 * moves some, `weight_read_bytes` of one that reads some, and `slow_bytes_per_run` of `plan`, `lower_bound_bytes` and
 * `peak_step` of a memory only with several memories; the same keys of `plan` are totals then. */
#include "planner/report/cuts.h"
#include "planner/report/section.h"
#include "planner/report/threads.h"

static void put_model(ac_json *j, const ac_report *r)
{
    ac_json_obj(j, "model");
    ac_json_str(j, "file", r->file);
    ac_json_str(j, "format", r->format);
    ac_json_str(j, "target", r->target);
    ac_json_int(j, "operators", r->n_file_ops);
    ac_json_int(j, "activations", r->n_activations);
    ac_json_int(j, "constants", r->n_constants);
    ac_json_int(j, "weight_bytes", r->weight_bytes);
    ac_json_int(j, "state_bytes", r->state_bytes);
    ac_json_int(j, "scratch_bytes", r->scratch_bytes);
    ac_json_int(j, "code_bytes_estimate", r->code_bytes);
    if (r->small_code_bytes)
        ac_json_int(j, "code_bytes_small", r->small_code_bytes);
    if (r->built_by)
        ac_json_str(j, "built_by", r->built_by);
    ac_json_int(j, "kernels", r->n_kernels);
    ac_json_int_if(j, "stack_bytes_estimate", r->stack_bytes, r->stack_bytes > 0);
    ac_json_int(j, "macs", r->macs);
    ac_json_end(j);
}

static void put_memories(ac_json *j, const ac_report *r)
{
    ac_json_arr(j, "memories");
    for (int32_t m = 0; m < r->problem->n_mems; m++) {
        const ac_memory *mem = &r->problem->mem[m];
        ac_bytes capacity = !m && r->budget >= 0 ? r->budget : mem->capacity;
        ac_json_obj(j, NULL);
        ac_json_str(j, "name", mem->name);
        ac_json_int(j, "bytes", r->plan->mem_bytes[m]);
        ac_json_int_if(j, "capacity_bytes", capacity, capacity >= 0);
        ac_json_int(j, "align_bytes", ac_plan_align(r->problem, r->plan, m));
        int64_t traffic = 0;
        for (int32_t i = 0; i < r->problem->n; i++)
            traffic += r->plan->mem[i] == m ? r->problem->item[i].traffic : 0;
        ac_json_int_if(j, "traffic_kib_per_run", traffic / 1024, r->problem->n_mems > 2);
        if (r->n_memories) { /* of the first memory alone there is nothing to say that `plan` does not */
            const bool used = mem->use == AC_MEM_RAM && r->plan->mem_bytes[m];
            ac_json_int_if(j, "lower_bound_bytes", ac_report_bound_of(r, m), used);
            ac_json_int_if(j, "peak_step", ac_report_peak_of(r, m), used);
        }
        ac_json_end(j);
    }
    ac_json_end(j);
}

/* Of training under a budget; work in multiply-adds and elements. */
static void put_again(ac_json *j, const ac_report *r)
{
    const ac_report_again *a = r->again;
    ac_json_obj(j, "again");
    ac_json_int(j, "work", a->work);
    ac_json_int(j, "extra_work", a->again);
    ac_json_int_if(j, "extra_work_bound", a->least, a->least >= 0);
    ac_json_bool(j, "optimal", a->least == a->again);
    ac_json_int_if(j, "bytes_bound", a->least_bytes, a->least_bytes > 0);
    ac_json_arr(j, "steps");
    for (int32_t s = 0; s < r->n_steps; s++)
        if (r->step[s].again)
            ac_json_int(j, NULL, s);
    ac_json_end(j);
    ac_json_arr(j, "curve");
    for (int32_t i = 0; i < a->n; i++) {
        ac_json_obj(j, NULL);
        ac_json_int(j, "bytes", a->curve[i].bytes);
        ac_json_int(j, "extra_work", a->curve[i].again);
        ac_json_end(j);
    }
    ac_json_end(j);
    ac_json_end(j);
}

static void put_plan(ac_json *j, const ac_report *r)
{
    ac_bytes bound = ac_report_lower_bound(r);
    ac_json_obj(j, "plan");
    ac_json_int(j, "arena_bytes", ac_report_bytes(r));
    ac_json_int(j, "lower_bound_bytes", bound);
    ac_json_int(j, "live_bytes_bound", r->live_bound);
    ac_json_int(j, "no_sharing_bytes", r->no_sharing);
    ac_json_bool(j, "optimal", ac_report_bytes(r) == bound);
    ac_json_str(j, "strategy", r->plan->strategy);
    ac_json_str(j, "planner_option", r->planner_option);
    ac_json_bool(j, "reference_tflite", r->reference_tflite);
    ac_json_str(j, "schedule", r->file_order_bytes ? "search" : "keep");
    ac_json_int_if(j, "file_order_arena_bytes", r->file_order_bytes, r->file_order_bytes > 0);
    ac_json_int(j, "recomputed_steps", r->recomputed);
    ac_json_int_if(j, "once_arena_bytes", r->once_bytes, r->recomputed > 0);
    if (r->again)
        put_again(j, r);
    ac_json_int(j, "peak_step", r->peak);
    ac_json_int(j, "weight_read_bytes", r->weights_read);
    if (r->insns) {
        ac_json_int(j, "insns", r->insns);
        ac_json_int(j, "insns_min", r->least_insns);
        ac_json_int_if(j, "cycles_max", r->cycles_max, r->cycles_max > 0);
        ac_json_bool(j, "constant_time", r->constant_time);
        ac_json_str(j, "timed_by", r->timed_by);
    }
    if (r->n_memories)
        ac_json_int(j, "slow_bytes_per_run", ac_report_slow(r));
    if (r->n_memories) /* whose bytes the rows of the strategies are */
        ac_json_str(j, "strategies_memory", r->problem->mem[0].name);
    ac_json_arr(j, "strategies");
    for (int32_t k = 0; k < r->n_rows; k++) {
        ac_json_obj(j, NULL);
        ac_json_str(j, "strategy", r->rows[k].strategy);
        ac_json_int_if(j, "arena_bytes", r->rows[k].arena_bytes, r->rows[k].arena_bytes >= 0);
        ac_json_end(j);
    }
    ac_json_end(j);
    ac_json_end(j);
}

/* Tensors, with the items that are not tensors, and steps. */
static void put_tables(ac_json *j, const ac_report *r)
{
    ac_ctx *cx = j->to->cx;
    int32_t n;
    const ac_report_tensor *row = ac_report_rows(cx, r, &n);
    const ac_layers layers = {.step = r->step, .n = r->n_steps, .planned = true};
    const ac_section tensors = ac_section_tensors(cx, r, NULL, row, n), steps = ac_section_steps(cx, &layers);
    ac_section_json(j, &tensors);
    ac_section_json(j, &steps);
    const ac_section launches = ac_section_launches(cx, r);
    if (launches.n)
        ac_section_json(j, &launches);
    const ac_section larger = ac_section_larger(cx, r);
    if (larger.n)
        ac_section_json(j, &larger);
}

static void put_diagnostics(ac_json *j, const ac_diags *d)
{
    static const char *const SEVERITY[] = {[AC_ERROR] = "error", [AC_WARNING] = "warning", [AC_NOTE] = "note"};
    ac_json_arr(j, "diagnostics");
    for (const ac_diag *x = d ? d->first : NULL; x; x = x->next) {
        ac_json_obj(j, NULL);
        ac_json_str(j, "severity", SEVERITY[x->severity]);
        ac_json_str(j, "code", ac_code_name(x->code));
        ac_json_str(j, "text", x->text);
        ac_json_str(j, "file", x->at.file);
        ac_json_str(j, "node", x->at.node);
        ac_json_str(j, "op", x->at.op);
        ac_json_int_if(j, "op_index", x->at.op_index - 1, x->at.op_index > 0);
        ac_json_int_if(j, "line", x->at.line, x->at.line > 0);
        ac_json_int_if(j, "column", x->at.col, x->at.col > 0);
        ac_json_int_if(j, "byte", x->at.byte - 1, x->at.byte > 0);
        ac_json_arr(j, "lines");
        for (const ac_diag_line *l = x->line; l; l = l->next) {
            ac_json_obj(j, NULL);
            ac_json_str(j, "kind", l->kind == '|' ? "detail" : l->kind == 'r' ? "reason" : "help");
            ac_json_str(j, "text", l->text);
            ac_json_end(j);
        }
        ac_json_end(j);
        ac_json_end(j);
    }
    ac_json_end(j);
}

void ac_report_json(ac_sink *to, const ac_report *r, const ac_diags *diags)
{
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-report/1");
    if (!r) { /* it failed before there was a plan: only diagnostics */
        put_diagnostics(&j, diags);
        ac_json_end(&j);
        return;
    }
    ac_json_str(&j, "version", r->version);
    put_model(&j, r);
    put_memories(&j, r);
    put_plan(&j, r);
    put_tables(&j, r);
    ac_report_threads_json(&j, r);
    if (r->cuts && r->cuts->n)
        ac_report_cuts_json(&j, r->cuts);
    ac_json_arr(&j, "copies");
    ac_json_end(&j);
    AC_JSON_COLUMN(&j, "notes", r->n_notes, ac_json_str, r->notes[i]);
    put_diagnostics(&j, diags);
    ac_json_end(&j);
}
