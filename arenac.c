/* arenac.c - the journey of a model, top to bottom: start reading here.
 *
 *   read      file -> graph                          import/
 *   check     graph -> passes -> lowered steps       ir/pass, ir/ops
 *   plan      steps -> order -> lives -> offsets     planner/
 *   compile   steps + offsets -> module              codegen/bind.c
 *   emit      module, plan, report -> text           codegen/emit_*.c, planner/report_*.c
 */
#include "job.h"

#include "base/sha256.h"
#include "codegen/bind.h"
#include "codegen/targets.h"
#include "import/import.h"
#include "planner/lock.h"
#include "planner/overlap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#ifndef ARENAC_VERSION
#define ARENAC_VERSION "0"
#endif

const char *arenac_version(void) { return ARENAC_VERSION; }

void arenac_defaults(ac_options *opt)
{
    memset(opt, 0, sizeof *opt);
    opt->target = "generic";
    opt->planner = "auto";
    opt->budget = -1;
    opt->effort = -1;
    opt->max_memory = (int64_t)8 << 30;
    opt->inplace = opt->views = true;
    opt->weights = "auto";
}

/* ------------------------------------------------------------------ job and guard */

static int start_stage(arenac_job *job, void *arg)
{
    (void)arg;
    ac_ctx_start(&job->cx);
    return AC_OK;
}

arenac_job *arenac_open(const ac_options *opt)
{
    arenac_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    ac_ctx_open(&job->cx);
    job->opt = *opt;
    job->cx.heap.limit = (size_t)opt->max_memory;
    job->cx.diags.werror = opt->werror;
    job->cx.diags.limit = opt->max_errors;
    if (arenac_guard(job, start_stage, NULL) == AC_OK)
        return job;
    arenac_close(job);
    return NULL;
}

void arenac_close(arenac_job *job)
{
    if (!job)
        return;
    ac_file_close(&job->file);
    ac_ctx_close(&job->cx);
    free(job);
}

int arenac_guard(arenac_job *job, int (*f)(arenac_job *job, void *arg), void *arg)
{
    if (setjmp(job->cx.heap.on_oom)) {
        size_t limit = job->cx.heap.limit;
        if (!job->cx.region)
            return AC_FAIL; /* not even a region */
        job->cx.heap.limit = limit + ((size_t)1 << 20); /* room for the message itself */
        if (setjmp(job->cx.heap.on_oom))
            return AC_FAIL;
        ac_error(&job->cx, (ac_place){.file = job->path}, E0402, "the model needs more than %zu MiB of memory to compile",
                 limit >> 20);
        return ac_help(&job->cx, "raise it with --max-memory SIZE if the model is really that large");
    }
    return f(job, arg);
}

/* ------------------------------------------------------------------ read */

static const char *stem_of(ac_ctx *cx, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    if (!strcmp(path, "-"))
        base = "model";
    const char *dot = strrchr(base, '.');
    size_t n = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    return ac_intern_n(cx, base, n);
}

static int read_stage(arenac_job *job, void *arg)
{
    const char *path = ac_strdup(job->cx.region, arg); /* the path lives as long as the job */
    job->path = path;
    job->stem = stem_of(&job->cx, path);
    AC_TRY(ac_file_open(&job->cx, path, &job->file));
    ac_sha256_hex(job->file.data, job->file.n, job->sha256);
    AC_TRY(ac_import(&job->cx, &job->file, job->opt.from, &job->graph));
    job->stage = 1;
    return AC_OK;
}

int arenac_read(arenac_job *job, const char *path)
{
    return arenac_guard(job, read_stage, (void *)(uintptr_t)path);
}

int arenac_shape_input(arenac_job *job, int32_t input, int32_t rank, const int64_t *dim)
{
    ac_tensor *t = job->graph->input.item[input];
    if (t->rank == rank)
        for (int32_t i = 0; i < rank; i++)
            if (t->dim[i] < 0 || t->dim_name[i])
                t->dim[i] = dim[i];
    return AC_OK;
}

/* ------------------------------------------------------------------ check: passes and lowering */

static const ac_target *find_target(arenac_job *job)
{
    const ac_target *t = ac_target_find(job->opt.target);
    if (!t) {
        ac_error(&job->cx, (ac_place){0}, E0501, "unknown target '%s'", job->opt.target);
        ac_help(&job->cx, "arenac targets lists them");
    }
    return t;
}

/* A graph output that is a constant, a graph input or state has no step that makes it: a copy is put in front, so that
 * every output has bytes of its own. */
static void materialise_outputs(ac_graph *g)
{
    for (int32_t i = 0; i < g->output.n; i++) {
        ac_tensor *t = g->output.item[i];
        if (!ac_tensor_is_const(t) && !t->input && !t->state)
            continue;
        ac_tensor *copy = ac_tensor_new(g, t->name, t->dtype, t->rank, t->dim);
        copy->quant = t->quant;
        copy->output = true;
        t->output = false;
        ac_node *n = ac_node_new(g, AC_OP_RESHAPE, t->name, &t, 1, &copy, 1);
        n->at.file = g->file;
        n->at.node = n->name;
        g->output.item[i] = copy;
    }
}

static int run_passes(arenac_job *job)
{
    ac_pass_options p = {0};
    const ac_options *o = &job->opt;
    ac_pin *pin = AC_NEW_N(job->cx.region, ac_pin, o->n_dims + 1);
    for (int32_t i = 0; i < o->n_dims; i++)
        pin[i] = (ac_pin){o->dim[i].name, o->dim[i].value};
    p.skip = o->skip.item, p.n_skip = o->skip.n;
    p.dump_after = o->dump_after.item, p.n_dump = o->dump_after.n;
    p.stop_after = o->stop_after;
    p.pin = pin, p.n_pins = o->n_dims;
    p.reference = o->reference_tflite;
    p.views = o->views && !o->reference_tflite;
    p.exact = o->exact;
    ac_sink dump;
    ac_sink_open(&dump, &job->cx);
    p.dump = &dump;
    int status = ac_pass_run(&job->cx, job->graph, &p, &job->pass, &job->n_passes);
    if (dump.n)
        fwrite(dump.text, 1, dump.n, stdout);
    return status;
}

static int check_stage(arenac_job *job, void *arg)
{
    (void)arg;
    if (job->stage < 1)
        return AC_FAIL;
    if (job->stage >= 2)
        return AC_OK;
    job->target = find_target(job);
    if (!job->target)
        return AC_FAIL;
    AC_TRY(run_passes(job));
    materialise_outputs(job->graph);
    ac_node **order = AC_NEW_N(job->cx.region, ac_node *, job->graph->node.n + 1);
    int32_t n = ac_order_keep(job->graph, order);
    job->step = AC_NEW_N(job->cx.region, ac_lowered *, n + 1);
    bool failed = false;
    for (int32_t i = 0; i < n; i++) { /* every node, so that all that is unsupported is listed at once */
        job->step[i] = ac_lower_node(&job->cx, job->cx.region, order[i], job->target, 0, job->opt.exact);
        failed = failed || !job->step[i];
    }
    job->n_steps = n;
    if (failed)
        return AC_FAIL;
    job->stage = 2;
    return AC_OK;
}

int arenac_check(arenac_job *job) { return arenac_guard(job, check_stage, NULL); }

/* ------------------------------------------------------------------ plan */

/* "CONV_2D 3x3 8->16": operator, window and channels, as far as the operands tell. */
static const char *step_title(ac_ctx *cx, const ac_node *n)
{
    const char *op = n->at.op ? n->at.op : ac_ops[n->op].tflite;
    const ac_tensor *w = n->n_in > 1 ? n->in[1] : NULL;
    if (n->op == AC_OP_CONV_2D && w && w->rank == 4)
        return ac_strf(cx->region, "%s %lldx%lld %lld->%lld", op, (long long)w->dim[1], (long long)w->dim[2], (long long)w->dim[3],
                       (long long)w->dim[0]);
    if (n->op == AC_OP_DEPTHWISE_CONV_2D && w && w->rank == 4)
        return ac_strf(cx->region, "%s %lldx%lld x%lld", op, (long long)w->dim[1], (long long)w->dim[2], (long long)w->dim[3]);
    if (n->op == AC_OP_FULLY_CONNECTED && w && w->rank == 2)
        return ac_strf(cx->region, "%s %lld->%lld", op, (long long)w->dim[1], (long long)w->dim[0]);
    return op;
}

static void report_steps(arenac_job *job, ac_report *r)
{
    ac_report_step *step = AC_NEW_N(job->cx.region, ac_report_step, job->n_steps + 1);
    for (int32_t s = 0; s < job->n_steps; s++) {
        const ac_lowered *low = job->step[s];
        step[s].op = step_title(&job->cx, low->node);
        step[s].name = low->node->name;
        step[s].macs = low->macs;
        step[s].scratch = low->scratch;
        for (int32_t i = 0; i < low->node->n_fused; i++) {
            const ac_node *f = low->node->fused[i];
            const char *op = f->at.op ? f->at.op : ac_ops[f->op].tflite;
            step[s].fused = step[s].fused ? ac_strf(job->cx.region, "%s %s", step[s].fused, op) : op;
        }
        for (int32_t i = 0; i < r->problem->n; i++) {
            const ac_item *it = &r->problem->item[i];
            if (it->mem == 0 && it->life.begin <= s && s < it->life.end)
                step[s].live += it->size;
        }
        r->macs += low->macs;
        if (low->scratch > r->scratch_bytes)
            r->scratch_bytes = low->scratch;
    }
    r->step = step;
    r->n_steps = job->n_steps;
}

static void report_tensors(arenac_job *job, ac_report *r)
{
    const ac_graph *g = job->graph;
    const ac_liveness *v = job->live;
    ac_region *region = job->cx.region;
    ac_report_tensor *row = AC_NEW_N(region, ac_report_tensor, g->tensor.n + 1);
    int32_t *at = AC_NEW_N(region, int32_t, g->tensor.n + 1), *order = AC_NEW_N(region, int32_t, g->tensor.n + 1);
    int32_t n = 0, n_order = 0;
    for (ac_step s = 0; s < (job->n_steps ? job->n_steps : 1); s++) /* rows in order of first use */
        for (int32_t i = 0; i < g->tensor.n; i++)
            if (v->item_of[i] >= 0 && v->first[i] == s)
                order[n_order++] = i;
    for (int32_t i = 0; i < g->tensor.n; i++)
        at[i] = -1;
    for (int32_t k = 0; k < n_order; k++) {
        const int32_t i = order[k];
        const ac_tensor *t = g->tensor.item[i];
        at[i] = n;
        const ac_tensor *owner = v->owner[v->item_of[i]];
        row[n++] = (ac_report_tensor){.name = t->name, .dtype = ac_dtype_name(t->dtype), .shape = ac_shape_str(&job->cx, t),
                                      .bytes = ac_tensor_bytes(t), .item = v->item_of[i], .delta = v->delta[i],
                                      .first = v->first[i], .last = v->last[i], .producer = -1, .alias_how = v->alias_how[i],
                                      .alias_of = v->alias_how[i] && owner ? owner->name : NULL, .input = t->input,
                                      .output = t->output, .state = t->state};
    }
    enum { CAP = 256 };
    ac_tensor *list[CAP];
    int32_t *count = AC_NEW_N(region, int32_t, n + 1);
    for (int32_t pass = 0; pass < 2; pass++) /* count the readers, then list them */
        for (int32_t s = 0; s < job->n_steps; s++) {
            const ac_node *node = job->step[s]->node;
            int32_t k = ac_node_reads(node, list, CAP);
            for (int32_t i = 0; i < k && i < CAP; i++) {
                int32_t x = at[list[i]->id];
                if (x < 0)
                    continue;
                if (pass == 0)
                    count[x]++;
                else
                    ((int32_t *)(uintptr_t)row[x].consumers)[row[x].n_consumers++] = s;
            }
            for (int32_t o = 0; o < node->n_out; o++) {
                const ac_tensor *t = o == 0 ? ac_node_result(node) : node->out[o];
                if (at[t->id] >= 0)
                    row[at[t->id]].producer = s;
            }
            if (pass == 0 && s == job->n_steps - 1)
                for (int32_t i = 0; i < n; i++)
                    row[i].consumers = AC_NEW_N(region, int32_t, count[i] + 1);
        }
    r->tensor = row;
    r->n_tensors = n;
}

static const char *order_note(arenac_job *job, const ac_report *r)
{
    const ac_bytes won = r->file_order_bytes - job->plan.arena_bytes;
    if (won > 0)
        return ac_strf(job->cx.region, "order: %s B less than the file's order (%s B)", ac_commas(&job->cx, won),
                       ac_commas(&job->cx, r->file_order_bytes));
    return job->order.after == job->order.before && job->order.optimal ? "order: the file's; no order has a lower peak"
                                                                       : "order: the file's; no smaller arena was found";
}

static void report_notes(arenac_job *job, ac_report *r)
{
    ac_ctx *cx = &job->cx;
    AC_VEC(const char *) note = {0};
    const ac_graph *g = job->graph;
    for (int32_t i = 0; i < g->input.n; i++) {
        const ac_tensor *t = g->input.item[i];
        int32_t item = job->live->item_of[t->id];
        if (item >= 0 && job->live->problem.item[item].life.end < job->n_steps)
            ac_push(cx->region, &note,
                    ac_strf(cx->region, "input '%s' may be overwritten from step %d on; --preserve input keeps it", t->name,
                            job->live->problem.item[item].life.end));
    }
    int32_t views = 0, inplace = 0;
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (job->live->alias_how[i])
            *(job->live->alias_how[i][0] == 'v' ? &views : &inplace) += 1;
    if (views)
        ac_push(cx->region, &note, ac_strf(cx->region, "%d tensor%s cost%s nothing (views)", views, views == 1 ? "" : "s", views == 1 ? "s" : ""));
    if (inplace)
        ac_push(cx->region, &note, ac_strf(cx->region, "%d result%s computed in place", inplace, inplace == 1 ? " is" : "s are"));
    int32_t shared = 0;
    for (int32_t k = 0; job->live->overlaps && k < job->live->overlaps->n; k++)
        shared += job->live->overlaps->rule[k].shares;
    if (shared)
        ac_push(cx->region, &note, ac_strf(cx->region, "%d result%s inside an operand that dies (overlap)", shared, shared == 1 ? " starts" : "s start"));
    if (job->opt.schedule_search)
        ac_push(cx->region, &note, order_note(job, r));
    r->notes = note.item;
    r->n_notes = note.n;
}

static void fill_report(arenac_job *job)
{
    ac_report *r = &job->report;
    const ac_graph *g = job->graph;
    ac_bound bound = ac_problem_bound(&job->live->problem, job->cx.region);
    const char *slash = strrchr(job->path, '/');
    r->file = slash ? slash + 1 : job->path;
    ac_dtype main_type = job->n_steps ? ac_node_result(job->step[0]->node)->dtype : AC_F32;
    r->format = ac_strf(job->cx.region, "%s, %s", g->format ? g->format : "graph", ac_dtype_name(main_type));
    r->target = job->target->name;
    r->version = arenac_version();
    r->n_file_ops = (int32_t)g->file_ops;
    r->budget = job->opt.budget;
    r->live_bound = bound.live;
    r->aligned_bound = bound.aligned;
    r->peak = bound.peak;
    r->problem = &job->live->problem;
    r->plan = &job->plan;
    r->rows = job->row;
    r->n_rows = job->n_rows;
    r->planner_option = job->opt.planner;
    r->reference_tflite = job->opt.reference_tflite;
    for (int32_t i = 0; i < r->problem->n; i++) {
        const ac_item *it = &r->problem->item[i];
        *(it->mem == 1 ? &r->state_bytes : &r->no_sharing) += ac_align_up(it->size, it->align);
        r->n_activations += it->kind != AC_ITEM_SCRATCH;
    }
    if (r->problem->n_mems > 1)
        r->state_bytes = job->plan.mem_bytes[1];
    ac_const **seen = NULL; /* weights: every distinct constant once */
    AC_VEC(ac_const *) all = {0};
    for (int32_t s = 0; s < job->n_steps; s++)
        for (int32_t a = 0; a < job->step[s]->arg.n; a++)
            if (job->step[s]->arg.item[a].kind == AC_ARG_CONST)
                ac_push(job->cx.region, &all, job->step[s]->arg.item[a].konst);
    seen = all.item;
    for (int32_t i = 0; i < all.n; i++) {
        bool again = false;
        for (int32_t k = 0; k < i && !again && seen[i]->source; k++)
            again = seen[k]->source == seen[i]->source;
        if (!again)
            r->weight_bytes += ac_dtype_size(seen[i]->dtype, seen[i]->count);
    }
    r->n_constants = all.n;
    ac_report_pass *pass = AC_NEW_N(job->cx.region, ac_report_pass, job->n_passes + 1);
    for (int32_t i = 0; i < job->n_passes; i++)
        pass[i] = (ac_report_pass){job->pass[i].name, job->pass[i].ms, job->pass[i].changed};
    r->pass = pass;
    r->n_passes = job->n_passes;
    report_steps(job, r);
    report_tensors(job, r);
    report_notes(job, r);
}

/* Lives of the steps as they stand, packed and checked. */
static int pack(arenac_job *job, ac_live_options live)
{
    const ac_options *o = &job->opt;
    job->live = ac_live(&job->cx, job->graph, job->step, job->n_steps, live);
    if (o->overlap && !o->reference_tflite)
        ac_overlap_rules(&job->cx, job->graph, job->step, job->n_steps, live, job->live);
    job->live->problem.search_steps = o->effort >= 0 ? ac_effort_steps((int)o->effort) + 1 : 0; /* 0: the default */
    job->live->problem.search_goal = o->budget;
    const char *planner = o->reference_tflite && !strcmp(o->planner, "auto") ? "tflite" : o->planner;
    AC_TRY(ac_solve_all(&job->cx, &job->live->problem, &job->plan, job->row, &job->n_rows));
    if (strcmp(planner, "auto"))
        AC_TRY(ac_solve(&job->cx, &job->live->problem, planner, &job->plan));
    return ac_plan_check(&job->cx, job->path, &job->live->problem, &job->plan);
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
    job->order = ac_order_search(ac_order_graph(tmp, job->graph, file, job->n_steps, live), ac_effort_steps(effort), order,
                                 &job->cx.heap);
    ac_region_close(tmp);
    job->report.file_order_bytes = file_plan.arena_bytes;
    if (job->order.after >= job->order.before)
        return AC_OK;
    job->step = AC_NEW_N(job->cx.region, ac_lowered *, job->n_steps + 1);
    for (int32_t i = 0; i < job->n_steps; i++)
        job->step[i] = file[order[i]];
    AC_TRY(pack(job, live));
    if (job->plan.arena_bytes < file_plan.arena_bytes)
        return AC_OK;
    job->step = file;
    job->live = file_live;
    job->plan = file_plan;
    return AC_OK;
}

static int plan_stage(arenac_job *job, void *arg)
{
    AC_TRY(check_stage(job, arg));
    if (job->stage >= 3)
        return AC_OK;
    const ac_options *o = &job->opt;
    ac_live_options live = {.whole = o->reference_tflite, .preserve_input = o->preserve_input, .preserve_all = o->preserve_all,
                            .inplace = o->inplace && !o->reference_tflite,
                            .align = o->align ? o->align : o->reference_tflite ? 64 : job->target->align};
    AC_TRY(pack(job, live));
    if (o->schedule_search)
        AC_TRY(search_order(job, live));
    if (job->live->overlaps)
        AC_TRY(ac_overlap_turn(&job->cx, job->live, &job->plan, job->step));
    fill_report(job);
    job->stage = 3;
    if (o->budget >= 0 && job->plan.arena_bytes > o->budget)
        return ac_report_over_budget(&job->cx, &job->report);
    return AC_OK;
}

int arenac_plan(arenac_job *job) { return arenac_guard(job, plan_stage, NULL); }

/* ------------------------------------------------------------------ compile */

/* The C prefix: the stem as a lower-case identifier. */
static const char *c_prefix(arenac_job *job)
{
    const char *from = job->opt.name ? job->opt.name : job->stem;
    char *s = ac_strf(job->cx.region, "%s%s", isdigit((unsigned char)from[0]) ? "m" : "", from);
    for (char *p = s; *p; p++)
        *p = isalnum((unsigned char)*p) && (unsigned char)*p < 128 ? (char)tolower((unsigned char)*p) : '_';
    return *s ? s : "model";
}

static const char *options_text(arenac_job *job)
{
    const ac_options *o = &job->opt, *d = o;
    char *s = ac_strf(job->cx.region, "-t %s", d->target);
    if (strcmp(o->planner, "auto"))
        s = ac_strf(job->cx.region, "%s --planner %s", s, o->planner);
    if (o->reference_tflite)
        s = ac_strf(job->cx.region, "%s --reference tflite", s);
    if (o->schedule_search)
        s = ac_strf(job->cx.region, "%s --schedule search", s);
    if (o->overlap)
        s = ac_strf(job->cx.region, "%s --overlap on", s);
    if (o->poison)
        s = ac_strf(job->cx.region, "%s --poison", s);
    if (o->exact)
        s = ac_strf(job->cx.region, "%s --exact", s);
    return s;
}

static int compile_stage(arenac_job *job, void *arg)
{
    AC_TRY(plan_stage(job, arg));
    if (job->stage >= 4)
        return AC_OK;
    static const struct { const char *name; ac_weights w; } WEIGHTS[] = {
        {"auto", AC_WEIGHTS_AUTO}, {"rodata", AC_WEIGHTS_RODATA}, {"asm", AC_WEIGHTS_ASM}, {"blob", AC_WEIGHTS_BLOB}};
    ac_module *m = AC_NEW(job->cx.region, ac_module);
    m->cx = &job->cx;
    m->name = c_prefix(job);
    const char *slash = strrchr(job->path, '/');
    m->source = slash ? slash + 1 : job->path;
    m->sha256 = job->sha256;
    m->options = options_text(job);
    m->version = arenac_version();
    m->target = job->target;
    m->arena_bytes = job->plan.arena_bytes;
    m->state_bytes = job->plan.mem_bytes[1];
    m->arena_align = 1;
    for (int32_t i = 0; i < job->live->problem.n; i++)
        if (job->live->problem.item[i].align > m->arena_align)
            m->arena_align = job->live->problem.item[i].align;
    m->optimal = job->plan.arena_bytes == job->report.aligned_bound;
    m->poison = job->opt.poison;
    m->host = job->opt.host;
    for (size_t i = 0; i < sizeof WEIGHTS / sizeof *WEIGHTS; i++)
        if (!strcmp(job->opt.weights, WEIGHTS[i].name))
            m->weights = WEIGHTS[i].w;
    ac_binding b = {job->live->item_of, job->live->delta, job->live->scratch_item, &job->live->problem, &job->plan};
    ac_module_bind(m, job->graph, job->step, job->n_steps, &b);
    ac_module_dedupe(m);
    job->module = m;
    job->stage = 4;
    return AC_OK;
}

int arenac_compile(arenac_job *job) { return arenac_guard(job, compile_stage, NULL); }

/* ------------------------------------------------------------------ emit */

void arenac_add_output(arenac_job *job, ac_sink *sink, const char *path)
{
    ac_output out = {sink, ac_strdup(job->cx.region, path)};
    ac_push(job->cx.region, &job->output, out);
}

typedef struct emit_arg { const char *kind, *path; } emit_arg;

static const char *sibling(arenac_job *job, const char *path, const char *ext)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t n = !strcmp(path, "-") ? 0 : dot ? (size_t)(dot - base) : strlen(base);
    return n ? ac_strf(job->cx.region, "%.*s%s", (int)n, base, ext) : ac_strf(job->cx.region, "%s%s", job->module->name, ext);
}

static int emit_stage(arenac_job *job, void *arg)
{
    const emit_arg *e = arg;
    ac_sink *to = AC_NEW(job->cx.region, ac_sink);
    ac_sink_open(to, &job->cx);
    if (!strcmp(e->kind, "c"))
        AC_TRY(ac_emit_c(job->module, sibling(job, e->path, ".h"), sibling(job, e->path, ".bin"), to));
    else if (!strcmp(e->kind, "h"))
        AC_TRY(ac_emit_header(job->module, to));
    else if (!strcmp(e->kind, "blob"))
        AC_TRY(ac_emit_blob(job->module, to));
    else if (!strcmp(e->kind, "json"))
        ac_report_json(to, &job->report, &job->cx.diags);
    else if (!strcmp(e->kind, "md"))
        ac_report_md(to, &job->report);
    else if (!strcmp(e->kind, "dot"))
        ac_report_dot(to, &job->report);
    else if (!strcmp(e->kind, "svg"))
        ac_report_svg(to, &job->report);
    else if (!strcmp(e->kind, "html")) {
        AC_TRY(ac_report_compare(&job->cx, &job->report));
        ac_report_html(to, &job->report);
    } else if (!strcmp(e->kind, "lock"))
        ac_lock_write(to, ac_lock_of(&job->cx, &job->report));
    else if (!strcmp(e->kind, "problem") || !strcmp(e->kind, "csv")) {
        const ac_problem plain = ac_problem_pairs_to_gaps(job->cx.region, &job->live->problem, &job->plan);
        ac_problem_write_csv(to, &plain, e->kind[0] == 'c' ? &job->plan : NULL);
    } else if (!strcmp(e->kind, "ag"))
        ac_graph_write_text(to, job->graph);
    else if (!strcmp(e->kind, "loops"))
        for (int32_t s = 0; s < job->n_steps; s++)
            ac_loop_dump(to, job->step[s]->fn);
    else
        return ac_error(&job->cx, (ac_place){0}, E0502, "--emit %s is not available", e->kind);
    arenac_add_output(job, to, e->path);
    return AC_OK;
}

int arenac_emit(arenac_job *job, const char *kind, const char *path)
{
    emit_arg e = {kind, path};
    return arenac_guard(job, emit_stage, &e);
}

static int commit_stage(arenac_job *job, void *arg)
{
    (void)arg;
    return ac_sink_commit_all(&job->cx, job->output.item, job->output.n);
}

int arenac_commit(arenac_job *job) { return arenac_guard(job, commit_stage, NULL); }

typedef struct print_arg { FILE *to; int verbose; } print_arg;

static int print_stage(arenac_job *job, void *arg)
{
    const print_arg *p = arg;
    ac_sink s;
    ac_sink_open(&s, &job->cx);
    ac_report_text(&s, &job->report, p->verbose, false);
    fwrite(s.text, 1, s.n, p->to);
    return AC_OK;
}

void arenac_print_report(arenac_job *job, FILE *to, int verbose)
{
    print_arg p = {to, verbose};
    arenac_guard(job, print_stage, &p);
}

void arenac_print_diagnostics(const arenac_job *job, FILE *to, bool color) { ac_diags_print(&job->cx.diags, to, color); }

int arenac_exit(const arenac_job *job) { return (int)ac_diags_exit(&job->cx.diags); }
