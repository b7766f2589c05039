/* job_report.c - the report of a planned job: what every plan has, then what a graph adds. The prints are
 * planner/report_*.c. */
#include "driver/job.h"

#include "codegen/bind.h"
#include "codegen/code_size.h"
#include "planner/graph/overlap.h"

#include <string.h>

void ac_report_plan(arenac_job *job, const ac_problem *p, const char *format, const char *target)
{
    ac_report *r = &job->report;
    ac_region *tmp = ac_region_open(&job->cx.heap);
    const ac_bound bound = ac_problem_bound(p, tmp);
    ac_region_close(tmp);
    r->file = job->base;
    r->format = format;
    r->target = target;
    r->version = arenac_version();
    r->budget = ac_job_budget(job);
    r->live_bound = bound.live;
    r->aligned_bound = bound.aligned;
    r->peak = bound.peak;
    r->problem = p;
    r->plan = &job->plan;
    r->rows = job->row;
    r->n_rows = job->n_rows;
    r->planner_option = job->opt.planner;
    r->reference_tflite = job->opt.reference_tflite;
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        *(it->kind == AC_ITEM_STATE ? &r->state_bytes : &r->no_sharing) += ac_align_up(it->size, it->align);
        r->n_activations += it->kind != AC_ITEM_SCRATCH;
    }
}

int ac_report_compare(arenac_job *job)
{
    const ac_solve_options search = ac_job_search(job);
    ac_report *r = &job->report;
    ac_plan *other;
    AC_TRY(ac_solve_each(&job->cx, r->problem, &search, r->rows, r->n_rows, &other, &r->n_others));
    r->other = other;
    return AC_OK;
}

int ac_report_budget(arenac_job *job)
{
    return ac_report_over_budget(&job->cx, &job->report);
}

void ac_report_steps(arenac_job *job, ac_report_step *step, int32_t n)
{
    const ac_problem *p = job->report.problem;
    ac_bytes *change = AC_NEW_N(job->cx.region, ac_bytes, n + 1); /* of the bytes alive, from one step to the next */
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        if (it->mem != 0 || it->life.begin >= n || it->life.begin >= it->life.end)
            continue;
        change[it->life.begin] += it->size;
        change[it->life.end < n ? it->life.end : n] -= it->size;
    }
    ac_bytes live = 0;
    for (int32_t s = 0; s < n; s++)
        step[s].live = live += change[s];
    job->report.step = step;
    job->report.n_steps = n;
}

void ac_report_reads(arenac_job *job, ac_report_tensor *row, int32_t n, const ac_report_read *read, int32_t n_reads)
{
    int32_t *count = AC_NEW_N(job->cx.region, int32_t, n + 1);
    for (int32_t i = 0; i < n_reads; i++)
        count[read[i].row]++;
    for (int32_t i = 0; i < n; i++)
        row[i].consumers = AC_NEW_N(job->cx.region, int32_t, count[i] + 1);
    for (int32_t i = 0; i < n_reads; i++) {
        ac_report_tensor *t = &row[read[i].row];
        ((int32_t *)(uintptr_t)t->consumers)[t->n_consumers++] = read[i].step;
    }
    job->report.tensor = row;
    job->report.n_tensors = n;
}

const char *ac_report_order_note(arenac_job *job, const char *more)
{
    const ac_bytes file = job->report.file_order_bytes, won = file - job->plan.arena_bytes;
    if (won > 0)
        return ac_strf(job->cx.region, "order: %s B less than the file's order (%s B)%s", ac_commas(&job->cx, won),
                       ac_commas(&job->cx, file), more);
    return job->order.after == job->order.before && job->order.optimal
               ? "order: the file's; no order has a lower peak"
               : "order: the file's; no smaller arena was found";
}

/* ------------------------------------------------------------------ a graph */

/* "CONV_2D 3x3 8->16": operator, window and channels, as far as the operands tell. */
static const char *step_title(ac_ctx *cx, const ac_node *n)
{
    const char *op = n->at.op ? n->at.op : ac_ops[n->op].tflite;
    const ac_tensor *w = n->n_in > 1 ? n->in[1] : NULL;
    if (n->op == AC_OP_CONV_2D && w && w->rank == 4)
        return ac_strf(cx->region, "%s %lldx%lld %lld->%lld", op, (long long)w->dim[1], (long long)w->dim[2],
                       (long long)w->dim[3], (long long)w->dim[0]);
    if (n->op == AC_OP_DEPTHWISE_CONV_2D && w && w->rank == 4)
        return ac_strf(cx->region, "%s %lldx%lld x%lld", op, (long long)w->dim[1], (long long)w->dim[2],
                       (long long)w->dim[3]);
    if (n->op == AC_OP_FULLY_CONNECTED && w && w->rank == 2)
        return ac_strf(cx->region, "%s %lld->%lld", op, (long long)w->dim[1], (long long)w->dim[0]);
    return op;
}

static void steps(arenac_job *job)
{
    ac_report *r = &job->report;
    ac_report_step *step = AC_NEW_N(job->cx.region, ac_report_step, job->n_steps + 1);
    ac_code_estimate code = {0};
    for (int32_t s = 0; s < job->n_steps; s++) {
        const ac_lowered *low = job->step[s];
        step[s].code = ac_code_add(&code, job->cx.region, low->fn, job->target);
        step[s].op = step_title(&job->cx, low->node);
        step[s].name = low->node->name;
        step[s].macs = low->macs;
        step[s].scratch = low->scratch;
        for (int32_t i = 0; i < low->node->n_fused; i++) {
            const ac_node *f = low->node->fused[i];
            const char *op = f->at.op ? f->at.op : ac_ops[f->op].tflite;
            step[s].fused = step[s].fused ? ac_strf(job->cx.region, "%s %s", step[s].fused, op) : op;
        }
        r->macs += low->macs;
        if (low->scratch > r->scratch_bytes)
            r->scratch_bytes = low->scratch;
    }
    r->code_bytes = code.bytes;
    r->n_kernels = code.fn.n;
    ac_report_steps(job, step, job->n_steps);
}

/* Ids of the tensors that have bytes in a memory, in order of first use, then of id; returns how many. */
static int32_t by_first_use(arenac_job *job, int32_t *order)
{
    const ac_liveness *v = job->live;
    const int32_t n = job->graph->tensor.n, n_steps = job->n_steps ? job->n_steps : 1;
    int32_t *next = AC_NEW_N(job->cx.region, int32_t, n_steps + 1); /* where the next tensor of a step goes */
    for (int32_t i = 0; i < n; i++)
        if (v->item_of[i] >= 0 && v->first[i] >= 0)
            next[v->first[i] + 1]++;
    for (int32_t s = 0; s < n_steps; s++)
        next[s + 1] += next[s];
    const int32_t count = next[n_steps];
    for (int32_t i = 0; i < n; i++)
        if (v->item_of[i] >= 0 && v->first[i] >= 0)
            order[next[v->first[i]]++] = i;
    return count;
}

static void tensors(arenac_job *job)
{
    const ac_graph *g = job->graph;
    const ac_liveness *v = job->live;
    ac_region *region = job->cx.region;
    int32_t *at = AC_NEW_N(region, int32_t, g->tensor.n + 1), *order = AC_NEW_N(region, int32_t, g->tensor.n + 1);
    const int32_t n = by_first_use(job, order);
    ac_report_tensor *row = AC_NEW_N(region, ac_report_tensor, n + 1);
    for (int32_t i = 0; i < g->tensor.n; i++)
        at[i] = -1;
    for (int32_t k = 0; k < n; k++) {
        const int32_t i = order[k];
        const ac_tensor *t = g->tensor.item[i];
        const ac_tensor *owner = v->owner[v->item_of[i]];
        at[i] = k;
        row[k] = (ac_report_tensor){.name = t->name,
                                    .dtype = ac_dtype_name(t->dtype),
                                    .shape = ac_shape_str(&job->cx, t),
                                    .bytes = ac_tensor_bytes(t),
                                    .item = v->item_of[i],
                                    .delta = v->delta[i],
                                    .first = v->first[i],
                                    .last = v->last[i],
                                    .producer = -1,
                                    .alias_how = v->alias_how[i],
                                    .alias_of = v->alias_how[i] && owner ? owner->name : NULL,
                                    .input = t->input,
                                    .output = t->output,
                                    .state = t->state};
    }
    int32_t most = 0; /* operands of one step */
    for (int32_t s = 0; s < job->n_steps; s++) {
        const int32_t k = ac_node_reads(job->step[s]->node, NULL, 0);
        most = k > most ? k : most;
    }
    ac_tensor **list = AC_NEW_N(region, ac_tensor *, most + 1);
    AC_VEC(ac_report_read) read = {0};
    for (int32_t s = 0; s < job->n_steps; s++) {
        const ac_node *node = job->step[s]->node;
        const int32_t k = ac_node_reads(node, list, most);
        for (int32_t i = 0; i < k; i++)
            if (at[list[i]->id] >= 0)
                ac_push(region, &read, ((ac_report_read){at[list[i]->id], s}));
        for (int32_t o = 0; o < node->n_out; o++) {
            const ac_tensor *t = o == 0 ? ac_node_result(node) : node->out[o];
            if (at[t->id] >= 0)
                row[at[t->id]].producer = s;
        }
    }
    ac_report_reads(job, row, n, read.item, read.n);
}

static void notes(arenac_job *job)
{
    ac_ctx *cx = &job->cx;
    ac_report *r = &job->report;
    AC_VEC(const char *) note = {0};
    const ac_graph *g = job->graph;
    for (int32_t i = 0; i < g->input.n; i++) {
        const ac_tensor *t = g->input.item[i];
        int32_t item = job->live->item_of[t->id];
        if (item >= 0 && job->live->problem.item[item].life.end < job->n_steps)
            ac_push(cx->region, &note,
                    ac_strf(cx->region, "input '%s' may be overwritten from step %d on; --preserve input keeps it",
                            t->name, job->live->problem.item[item].life.end));
    }
    for (int32_t s = 0; s < job->n_steps; s++)
        if (job->step[s]->fed)
            ac_push(cx->region, &note,
                    ac_strf(cx->region, "input '%s' is handed over by rows, %d of %s B each, and not in the arena",
                            job->step[s]->fed->name, job->step[s]->rows, ac_commas(cx, job->step[s]->row_bytes)));
    int32_t views = 0, inplace = 0;
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (job->live->alias_how[i])
            *(job->live->alias_how[i][0] == 'v' ? &views : &inplace) += 1;
    if (views)
        ac_push(cx->region, &note,
                ac_strf(cx->region, "%d tensor%s cost%s nothing (views)", views, views == 1 ? "" : "s",
                        views == 1 ? "s" : ""));
    if (inplace)
        ac_push(cx->region, &note,
                ac_strf(cx->region, "%d result%s computed in place", inplace, inplace == 1 ? " is" : "s are"));
    int32_t shared = 0;
    for (int32_t k = 0; job->live->overlaps && k < job->live->overlaps->n; k++)
        shared += job->live->overlaps->rule[k].shares;
    if (shared)
        ac_push(cx->region, &note,
                ac_strf(cx->region, "%d result%s inside an operand that dies (overlap)", shared,
                        shared == 1 ? " starts" : "s start"));
    for (int32_t s = 0; s < job->n_steps; s++)
        if (job->step[s]->chain)
            ac_push(cx->region, &note,
                    ac_strf(cx->region, "step %d works row by row, %s B between its operators: %s", s,
                            ac_commas(cx, job->step[s]->scratch), job->step[s]->chain));
    if (job->opt.schedule_search)
        ac_push(cx->region, &note, ac_report_order_note(job, ""));
    if (r->recomputed)
        ac_push(cx->region, &note,
                ac_strf(cx->region, "recomputed: %d step%s twice, %s B less than once (%s B)", r->recomputed,
                        r->recomputed == 1 ? " runs" : "s run", ac_commas(cx, r->once_bytes - job->plan.arena_bytes),
                        ac_commas(cx, r->once_bytes)));
    else if (job->opt.recompute && !job->stripes && !job->opt.reference_tflite)
        ac_push(cx->region, &note, "recomputed: nothing; no smaller arena was found");
    if (job->model.missing.n)
        ac_push(cx->region, &note,
                ac_strf(cx->region, "%d parameters have no values yet: %s should hold them", job->model.missing.n,
                        job->model.missing_file));
    r->notes = note.item;
    r->n_notes = note.n;
}

/* Every distinct constant of the steps once, as the generated code holds it. */
static void constants(arenac_job *job)
{
    ac_report *r = &job->report;
    ac_const_list list = {0};
    for (int32_t s = 0; s < job->n_steps; s++)
        for (int32_t a = 0; a < job->step[s]->arg.n; a++)
            if (job->step[s]->arg.item[a].kind == AC_ARG_CONST)
                ac_const_index(job->cx.region, &list, job->step[s]->arg.item[a].konst);
    for (int32_t i = 0; i < list.konst.n; i++)
        r->weight_bytes += ac_dtype_size(list.konst.item[i]->dtype, list.konst.item[i]->count);
    r->n_constants = list.konst.n;
}

void ac_report_model(arenac_job *job)
{
    ac_report *r = &job->report;
    const ac_imported *m = &job->model;
    const ac_dtype main_type = job->n_steps ? ac_node_result(job->step[0]->node)->dtype : AC_F32;
    ac_report_plan(job, &job->live->problem,
                   ac_strf(job->cx.region, "%s, %s", m->format ? m->format : "graph", ac_dtype_name(main_type)),
                   job->target->name);
    r->n_file_ops = (int32_t)m->file_ops;
    if (r->problem->n_mems > 1)
        r->state_bytes = job->plan.mem_bytes[1];
    constants(job);
    for (int32_t k = 0; k < job->opt.n_mems; k++)
        if (job->opt.mem[k].read_only) {
            r->weight_memory = job->opt.mem[k].name;
            r->weight_budget = job->opt.mem[k].bytes;
        }
    ac_report_pass *pass = AC_NEW_N(job->cx.region, ac_report_pass, job->n_passes + 1);
    for (int32_t i = 0; i < job->n_passes; i++)
        pass[i] = (ac_report_pass){job->pass[i].name, job->pass[i].ms, job->pass[i].changed};
    if (job->n_passes)
        pass[0].changed += m->pinned; /* what infer starts from */
    r->pass = pass;
    r->n_passes = job->n_passes;
    steps(job);
    tensors(job);
    notes(job);
}
