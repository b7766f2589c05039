/* json.c - the report for programs: schema arenac-report/1. Keys are stable and carry their unit; steps count from 0
 * and are inclusive on both sides; what does not apply is null, never absent; but `dead_channels` is there only with
 * --dead, for models with integer weights, `plan.again` where a step of training is kept within a budget,
 * `threads` with --threads above 1, and `lower_bound_bytes` and `peak_step` of a memory with several of them, where
 * the same keys of `plan` are about all of them. */
#include "base/json_out.h"
#include "planner/report/cuts.h"
#include "planner/report/threads.h"

#include <stdlib.h>
#include <string.h>

static const char *const KIND[] = {[AC_ITEM_TENSOR] = "tensor",
                                   [AC_ITEM_INPUT] = "input",
                                   [AC_ITEM_OUTPUT] = "output",
                                   [AC_ITEM_STATE] = "state",
                                   [AC_ITEM_SCRATCH] = "scratch"};

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
            traffic += r->plan->mem[i] == m ? r->problem->item[i].traffic / 1024 : 0;
        ac_json_int_if(j, "traffic_kib_per_run", traffic, r->problem->n_mems > 2);
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

/* "[1,96,96,3]" as an array; a size that is known at run time is its text. */
static void put_shape(ac_json *j, const char *shape)
{
    ac_region *r = j->to->cx->region;
    ac_json_arr(j, "shape");
    for (const char *p = shape + strspn(shape, "["); *p && *p != ']'; p += *p == ',') {
        const char *end = p + strcspn(p, ",]");
        char *rest;
        const long long v = strtoll(p, &rest, 10);
        if (rest == end && end > p)
            ac_json_int(j, NULL, v);
        else
            ac_json_str(j, NULL, ac_strf(r, "%.*s", (int)(end - p), p));
        p = end;
    }
    ac_json_end(j);
}

static void put_tensor(ac_json *j, const ac_report *r, const ac_report_tensor *x)
{
    bool placed = x->item >= 0;
    const char *kind = !placed ? "constant" : x->state ? "state" : x->input ? "input" : x->output ? "output" : "tensor";
    ac_json_obj(j, NULL);
    ac_json_str(j, "name", x->name);
    ac_json_str(j, "kind", kind);
    ac_json_str(j, "dtype", x->dtype);
    put_shape(j, x->shape);
    ac_json_int(j, "bytes", x->bytes);
    ac_json_str(j, "memory", placed ? r->problem->mem[r->plan->mem[x->item]].name : NULL);
    ac_json_int_if(j, "offset_bytes", placed ? r->plan->offset[x->item] + x->delta : 0, placed);
    ac_json_int_if(j, "align_bytes", placed ? r->problem->item[x->item].align : 0, placed);
    ac_json_int_if(j, "first_step", x->first, placed);
    ac_json_int_if(j, "last_step", x->last, placed);
    ac_json_int_if(j, "producer_step", x->producer, x->producer >= 0);
    ac_json_arr(j, "consumer_steps");
    for (int32_t k = 0; k < x->n_consumers; k++)
        ac_json_int(j, NULL, x->consumers[k]);
    ac_json_end(j);
    ac_json_str(j, "alias_of", x->alias_of);
    ac_json_str(j, "alias", x->alias_how);
    ac_json_end(j);
}

/* Items that are no tensors: all of a CSV problem, the scratch of a model. */
static void put_item(ac_json *j, const ac_report *r, int32_t i)
{
    const ac_item *it = &r->problem->item[i];
    ac_json_obj(j, NULL);
    ac_json_str(j, "name", it->name);
    ac_json_str(j, "kind", KIND[it->kind]);
    ac_json_str(j, "dtype", NULL);
    ac_json_str(j, "shape", NULL);
    ac_json_int(j, "bytes", it->size);
    ac_json_str(j, "memory", r->problem->mem[r->plan->mem[i]].name);
    ac_json_int(j, "offset_bytes", r->plan->offset[i]);
    ac_json_int(j, "align_bytes", it->align);
    ac_json_int(j, "first_step", it->life.begin);
    ac_json_int(j, "last_step", it->life.end - 1);
    ac_json_str(j, "producer_step", NULL);
    ac_json_arr(j, "consumer_steps");
    ac_json_end(j);
    ac_json_str(j, "alias_of", NULL);
    ac_json_str(j, "alias", NULL);
    ac_json_end(j);
}

static void put_tensors(ac_json *j, const ac_report *r)
{
    enum { USUAL_TEXT = 384 }; /* bytes of one row */
    bool *shown = AC_NEW_N(j->to->cx->region, bool, r->problem->n);
    ac_sink_room(j->to, USUAL_TEXT * (size_t)r->n_tensors);
    ac_json_arr(j, "tensors");
    for (int32_t k = 0; k < r->n_tensors; k++) {
        put_tensor(j, r, &r->tensor[k]);
        if (r->tensor[k].item >= 0)
            shown[r->tensor[k].item] = true;
    }
    for (int32_t i = 0; i < r->problem->n; i++)
        if (!shown[i])
            put_item(j, r, i);
    ac_json_end(j);
}

static void put_steps(ac_json *j, const ac_report *r)
{
    ac_json_arr(j, "steps");
    for (int32_t s = 0; s < r->n_steps; s++) {
        const ac_report_step *x = &r->step[s];
        ac_json_obj(j, NULL);
        ac_json_int(j, "step", s);
        ac_json_str(j, "op", x->op);
        ac_json_str(j, "name", x->name);
        ac_json_str(j, "fused", x->fused);
        if (x->requant)
            ac_json_str(j, "requantisation", x->requant);
        ac_json_int_if(j, "result_bytes", x->bytes, x->bytes >= 0);
        ac_json_int_if(j, "weight_bytes", x->weights, x->weights >= 0);
        ac_json_int(j, "macs", x->macs > 0 ? x->macs : 0);
        ac_json_int(j, "live_bytes", x->live);
        ac_json_int(j, "scratch_bytes", x->scratch);
        ac_json_int(j, "code_bytes_estimate", x->code);
        ac_json_end(j);
    }
    ac_json_end(j);
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
    if (!r) { /* it ended before there was a plan: what was wrong is all there is */
        put_diagnostics(&j, diags);
        ac_json_end(&j);
        return;
    }
    ac_json_str(&j, "version", r->version);
    put_model(&j, r);
    put_memories(&j, r);
    put_plan(&j, r);
    put_tensors(&j, r);
    put_steps(&j, r);
    ac_report_threads_json(&j, r);
    if (r->cuts && r->cuts->n)
        ac_report_cuts_json(&j, r->cuts);
    ac_json_arr(&j, "copies");
    ac_json_end(&j);
    ac_json_arr(&j, "notes");
    for (int32_t k = 0; k < r->n_notes; k++)
        ac_json_str(&j, NULL, r->notes[k]);
    ac_json_end(&j);
    put_diagnostics(&j, diags);
    ac_json_end(&j);
}
