/* arenac.c - the journey of a model, top to bottom: start reading here.
 *
 *   read      file -> graph                          import/
 *   check     graph -> passes -> lowered steps       ir/pass, ir/ops
 *   plan      steps -> order -> lives -> offsets     planner/
 *   compile   steps + offsets -> module              codegen/bind.c
 *   emit      module, plan, report -> text           codegen/emit_*.c, planner/report_*.c
 */
#include "driver/job.h"
#include "driver/job_tune.h"

#include "codegen/backends/find.h"
#include "codegen/bind.h"
#include "codegen/constants.h"
#include "codegen/targets.h"
#include "import/import.h"
#include "ir/graph/weights_file.h"
#include "planner/report/lock.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#ifndef ARENAC_VERSION
#define ARENAC_VERSION "0"
#endif

const char *arenac_version(void)
{
    return ARENAC_VERSION;
}

void arenac_defaults(ac_options *opt)
{
    memset(opt, 0, sizeof *opt);
    opt->target = "generic";
    opt->planner = "auto";
    opt->budget = -1;
    opt->effort = -1;
    opt->max_memory = (int64_t)8 << 30;
    opt->inplace = opt->views = true;
    opt->overlap = -1;
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
    if (ac_job_guard(job, start_stage, NULL) == AC_OK)
        return job;
    arenac_close(job);
    return NULL;
}

void arenac_close(arenac_job *job)
{
    if (!job)
        return;
    ac_file_close(&job->file);
    ac_file_close(&job->weights);
    ac_ctx_close(&job->cx);
    free(job);
}

typedef struct guarded {
    arenac_job *job;
    int (*f)(arenac_job *job, void *arg);
    void *arg;
    int status;
} guarded;

static void run_guarded(void *arg)
{
    guarded *g = arg;
    g->status = g->f(g->job, g->arg);
}

static void report_no_memory(void *arg)
{
    arenac_job *job = arg;
    ac_error(&job->cx, (ac_place){.file = job->path}, E0402, "the model needs more than %zu MiB of memory to compile",
             (size_t)job->opt.max_memory >> 20);
    ac_help(&job->cx, "raise it with --max-memory SIZE if the model is really that large");
}

int ac_job_guard(arenac_job *job, int (*f)(arenac_job *job, void *arg), void *arg)
{
    guarded g = {job, f, arg, AC_FAIL};
    if (!ac_heap_guard(&job->cx.heap, run_guarded, &g)) {
        if (!job->cx.region)
            return AC_FAIL;                      /* not even a region */
        job->cx.heap.limit += ((size_t)1 << 20); /* room for the message itself */
        ac_heap_guard(&job->cx.heap, report_no_memory, job);
        return AC_FAIL;
    }
    if (g.status != AC_OK && !job->cx.diags.errors) /* never fail without a word */
        ac_error(&job->cx, (ac_place){.file = job->path}, E0901, "a stage failed and did not say why");
    return g.status;
}

/* ------------------------------------------------------------------ read */

static const char *model_of(arenac_job *job, const char *path)
{
    const char *inside = ac_strf(job->cx.region, "%s/saved_model.pb", path);
    return ac_file_exists(inside) ? inside : ac_strdup(job->cx.region, path);
}

int ac_job_file(arenac_job *job, const char *path)
{
    if (job->path)
        return AC_OK;
    const char *second = job->opt.weights_file;
    job->path = model_of(job, path); /* lives as long as the job */
    AC_TRY(ac_file_open(&job->cx, job->path, &job->file));
    if (second)
        AC_TRY(ac_file_open(&job->cx, ac_strdup(job->cx.region, second), &job->weights));
    if (second && !ac_import_in_order(&job->file, &job->weights)) {
        const ac_file graph = job->weights;
        job->weights = job->file;
        job->file = graph;
        job->path = graph.path;
    }
    job->base = ac_path_name(job->path);
    const char *stem = strcmp(job->path, "-") ? job->base : "model", *dot = strrchr(stem, '.');
    job->stem = ac_intern_n(&job->cx, stem, dot && dot != stem ? (size_t)(dot - stem) : strlen(stem));
    return AC_OK;
}

static int read_stage(arenac_job *job, void *arg)
{
    AC_TRY(ac_job_file(job, arg));
    const ac_options *o = &job->opt;
    const ac_import_options how = {.from = o->from,
                                   .outputs = o->outputs,
                                   .second = o->weights_file ? &job->weights : NULL,
                                   .random = o->random_weights,
                                   .seed = o->seed};
    AC_TRY(ac_import(&job->cx, &job->file, &how, &job->model));
    job->graph = job->model.graph;
    job->stage = 1;
    return AC_OK;
}

int arenac_read(arenac_job *job, const char *path)
{
    return ac_job_guard(job, read_stage, (void *)(uintptr_t)path);
}

int ac_job_shape_input(arenac_job *job, int32_t input, int32_t rank, const int64_t *dim)
{
    ac_tensor *t = job->graph->input.item[input];
    if (t->any_rank && rank <= AC_MAX_RANK) {
        t->any_rank = false;
        t->rank = rank;
        for (int32_t i = 0; i < rank; i++)
            t->dim[i] = dim[i];
    }
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

/* Has output i bytes that a step makes, and, where outputs are the caller's memory, that are nothing else's? */
static bool has_own_bytes(const ac_graph *g, int32_t i, bool caller_io)
{
    const ac_tensor *t = g->output.item[i], *root = ac_tensor_root(t);
    if (ac_tensor_is_const(t) || t->input || t->state)
        return false;
    if (!caller_io)
        return true;
    for (int32_t k = 0; k < i; k++)
        if (ac_tensor_root(g->output.item[k]) == root)
            return false;
    return !ac_tensor_is_const(root) && !root->input && !root->state && ac_tensor_bytes(root) == ac_tensor_bytes(t);
}

/* A graph output without bytes of its own (a constant, a graph input, state) has no step that makes it: a copy is put in front. */
static void materialise_outputs(ac_graph *g, bool caller_io)
{
    for (int32_t i = 0; i < g->output.n; i++) {
        ac_tensor *t = g->output.item[i];
        if (has_own_bytes(g, i, caller_io))
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
    AC_TRY(ac_import_nodes(&job->cx, &job->model, pin, o->n_dims));
    job->graph = job->model.graph;
    p.skip = o->skip.item, p.n_skip = o->skip.n;
    p.dump_after = o->dump_after.item, p.n_dump = o->dump_after.n;
    p.stop_after = o->stop_after;
    p.channels_first = job->model.channels_first;
    p.declared = job->model.declared;
    p.reference = o->reference_tflite;
    p.views = o->views && !o->reference_tflite;
    p.quantized_io = o->quantized_io;
    p.exact = o->exact;
    ac_sink dump;
    ac_sink_open(&dump, &job->cx);
    p.dump = &dump;
    int status = ac_pass_run(&job->cx, job->graph, &p, &job->pass, &job->n_passes);
    if (dump.n)
        fwrite(dump.text, 1, dump.n, stdout);
    return status;
}

bool ac_job_channels_first(const arenac_job *job)
{
    for (int32_t i = 0; i < job->n_passes; i++)
        if (!strcmp(job->pass[i].name, "layout"))
            return false;
    return job->model.channels_first;
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
    ac_job_settle(job);
    AC_TRY(run_passes(job));
    materialise_outputs(job->graph, job->opt.caller_io);
    ac_node **order = AC_NEW_N(job->cx.region, ac_node *, job->graph->node.n + 1);
    int32_t n = ac_order_keep(job->graph, order);
    job->step = AC_NEW_N(job->cx.region, ac_lowered *, n + 1);
    bool failed = false;
    const ac_schedule plain = {.winograd = job->opt.winograd};
    const int32_t tensor = ac_job_tensor(job);
    if (!job->told)
        AC_TRY(ac_tune_read(job, order, n));
    for (int32_t i = 0; i < n; i++) { /* every node, so that all that is unsupported is listed at once */
        ac_schedule told = job->told ? job->told[i] : plain;
        told.tensor = tensor;
        job->step[i] = ac_lower_told(&job->cx, job->cx.region, order[i], job->target, 0, job->opt.exact, &told);
        failed = failed || !job->step[i] ||
                 (ac_job_is_gpu(job) ? ac_lower_grid(&job->cx, job->cx.region, job->step[i])
                                     : ac_lower_parts(&job->cx, job->cx.region, job->step[i], ac_job_threads(job),
                                                      AC_FORK_COST)) != AC_OK;
    }
    job->n_steps = job->n_lowered = n;
    job->lowered = job->step;
    if (failed)
        return AC_FAIL;
    ac_job_note_winograd(job);
    job->stage = 2;
    return AC_OK;
}

int arenac_check(arenac_job *job)
{
    return ac_job_guard(job, check_stage, NULL);
}

/* ------------------------------------------------------------------ plan */

static int plan_stage(arenac_job *job, void *arg)
{
    AC_TRY(check_stage(job, arg));
    if (job->stage >= 3)
        return AC_OK;
    AC_TRY(ac_job_plan(job));
    ac_report_model(job);
    job->stage = 3;
    if (ac_report_budget(job) == AC_OK)
        return AC_OK;
    ac_job_price(job);
    return AC_FAIL;
}

int arenac_plan(arenac_job *job)
{
    return ac_job_guard(job, plan_stage, NULL);
}

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

/* Parameters that no file gave: a plan needs only their shapes, code needs their values. */
static int check_weights(arenac_job *job)
{
    enum { SHOWN = 16 };
    ac_ctx *cx = &job->cx;
    const ac_imported *m = &job->model;
    int64_t bytes = 0;
    if (!m->missing.n)
        return AC_OK;
    for (int32_t i = 0; i < m->missing.n; i++)
        bytes += ac_tensor_bytes(m->missing.item[i]);
    ac_error(cx, (ac_place){.file = job->path}, E0019,
             "the weights are missing: %s should hold %d parameters, %s bytes", m->missing_file, m->missing.n,
             ac_commas(cx, bytes));
    for (int32_t i = 0; i < m->missing.n && i < SHOWN; i++)
        ac_detail(cx, "%s  %s", m->missing.item[i]->name, ac_tensor_str(cx, m->missing.item[i]));
    if (m->missing.n > SHOWN)
        ac_detail(cx, "and %d more", m->missing.n - SHOWN);
    return ac_help(cx, "name that file behind the model, or fill them with --random SEED");
}

int ac_job_infer(arenac_job *job)
{
    job->opt.stop_after = "infer";
    AC_TRY(run_passes(job));
    return check_weights(job);
}

static int compile_stage(arenac_job *job, void *arg)
{
    AC_TRY(plan_stage(job, arg));
    AC_TRY(check_weights(job));
    if (job->stage >= 4)
        return AC_OK;
    if (job->model.weights)
        AC_TRY(ac_weights_verify(&job->cx, job->model.weights));
    static const struct {
        const char *name;
        ac_weights w;
    } WEIGHTS[] = {
        {"auto", AC_WEIGHTS_AUTO}, {"rodata", AC_WEIGHTS_RODATA}, {"asm", AC_WEIGHTS_ASM}, {"blob", AC_WEIGHTS_BLOB}};
    ac_module *m = AC_NEW(job->cx.region, ac_module);
    m->cx = &job->cx;
    m->name = c_prefix(job);
    m->source = job->base;
    m->sha256 = ac_job_sha256(job);
    m->options = ac_job_options(job);
    m->version = arenac_version();
    m->target = job->target;
    m->optimal = job->plan.arena_bytes == job->report.aligned_bound;
    m->threads = ac_job_threads(job);
    m->poison = job->opt.poison;
    m->host = job->opt.host || job->opt.caller_io;
    m->caller_io = job->opt.caller_io;
    m->section_code = job->opt.section_code;
    m->section_rodata = job->opt.section_rodata;
    for (size_t i = 0; i < sizeof WEIGHTS / sizeof *WEIGHTS; i++)
        if (!strcmp(job->opt.weights, WEIGHTS[i].name))
            m->weights = WEIGHTS[i].w;
    ac_binding b = {job->live->item_of, job->live->delta, job->live->scratch_item, &job->live->problem, &job->plan};
    ac_module_bind(m, job->graph, job->step, job->n_steps, &b);
    for (int32_t k = 0; k < m->n_ram; k++)
        for (int32_t i = 0; i < job->opt.n_mems; i++)
            if (!strcmp(m->ram[k].name, job->opt.mem[i].name))
                m->ram[k].address = job->opt.mem[i].address;
    ac_module_dedupe(m);
    if (job->opt.share_kernels && ac_job_is_gpu(job))
        ac_warn(&job->cx, (ac_place){0}, W0002, "kernels of %s have their shapes built in: --share-kernels is ignored",
                job->target->name);
    else if (job->opt.share_kernels)
        ac_module_share(m);
    job->module = m;
    job->stage = 4;
    return AC_OK;
}

int arenac_compile(arenac_job *job)
{
    return ac_job_guard(job, compile_stage, NULL);
}

/* ------------------------------------------------------------------ emit */

void ac_job_add_output(arenac_job *job, ac_sink *sink, const char *path)
{
    ac_output out = {sink, ac_strdup(job->cx.region, path)};
    ac_push(job->cx.region, &job->output, out);
}

typedef struct emit_arg {
    const char *kind, *path;
} emit_arg;

static const char *sibling(arenac_job *job, const char *path, const char *ext)
{
    const char *base = ac_path_name(path);
    const char *dot = strrchr(base, '.');
    size_t n = !strcmp(path, "-") ? 0 : dot ? (size_t)(dot - base) : strlen(base);
    return n ? ac_strf(job->cx.region, "%.*s%s", (int)n, base, ext)
             : ac_strf(job->cx.region, "%s%s", job->module->name, ext);
}

static int emit_code(arenac_job *job, const emit_arg *e, ac_sink *to)
{
    const ac_emit_names names = {sibling(job, e->path, ".h"), sibling(job, e->path, ".bin")};
    const ac_backend *b = ac_backend_for(&job->cx, e->kind, job->target);
    if (b && job->module->n_ram > 1 && !b->memories)
        return ac_error(&job->cx, (ac_place){0}, E0502, "--emit %s knows one memory for tensors, %d are given", e->kind,
                        job->module->n_ram);
    if (b && job->module->caller_io && !b->caller_io)
        return ac_error(&job->cx, (ac_place){0}, E0502, "--host is of the C backend; --emit %s cannot have it",
                        e->kind);
    return b ? b->emit(job->module, e->kind, &names, to) : AC_FAIL;
}

static int emit_stage(arenac_job *job, void *arg)
{
    const emit_arg *e = arg;
    ac_sink *to = AC_NEW(job->cx.region, ac_sink);
    ac_sink_open(to, &job->cx);
    if (!strcmp(e->kind, "blob"))
        AC_TRY(ac_blob_write(job->module, to));
    else if (!strcmp(e->kind, "json"))
        ac_report_json(to, &job->report, &job->cx.diags);
    else if (!strcmp(e->kind, "md"))
        ac_report_md(to, &job->report);
    else if (!strcmp(e->kind, "dot"))
        ac_report_dot(to, &job->report);
    else if (!strcmp(e->kind, "svg"))
        ac_report_svg(to, &job->report);
    else if (!strcmp(e->kind, "html")) {
        AC_TRY(ac_report_compare(job));
        ac_report_html(to, &job->report);
    } else if (!strcmp(e->kind, "lock"))
        ac_lock_write(to, ac_lock_of(&job->cx, &job->report));
    else if (!strcmp(e->kind, "problem") || !strcmp(e->kind, "csv")) {
        const ac_problem plain = ac_problem_pairs_to_gaps(job->cx.region, &job->live->problem, &job->plan);
        ac_problem_write_csv(to, &plain, e->kind[0] == 'c' ? &job->plan : NULL);
    } else if (!strcmp(e->kind, "ag"))
        ac_graph_write_text(to, job->graph, ac_job_channels_first(job));
    else if (!strcmp(e->kind, "loops"))
        for (int32_t s = 0; s < job->n_steps; s++)
            ac_loop_dump(to, job->step[s]->fn);
    else if (job->stage >= 4)
        AC_TRY(emit_code(job, e, to));
    else
        return ac_error(&job->cx, (ac_place){0}, E0502, "--emit %s is not available", e->kind);
    ac_job_add_output(job, to, e->path);
    return AC_OK;
}

int arenac_emit(arenac_job *job, const char *kind, const char *path)
{
    emit_arg e = {kind, path};
    return ac_job_guard(job, emit_stage, &e);
}

static int commit_stage(arenac_job *job, void *arg)
{
    (void)arg;
    return ac_sink_commit_all(&job->cx, job->output.item, job->output.n);
}

int arenac_commit(arenac_job *job)
{
    return ac_job_guard(job, commit_stage, NULL);
}

typedef struct print_arg {
    FILE *to;
    int verbose;
} print_arg;

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
    ac_job_guard(job, print_stage, &p);
}

void arenac_print_diagnostics(const arenac_job *job, FILE *to, bool color)
{
    ac_diags_print(&job->cx.diags, to, color);
}

int arenac_exit(const arenac_job *job)
{
    return (int)ac_diags_exit(&job->cx.diags);
}
