/* offline.c - plans for TFLite Micro (TFLM): `plan --reference tflm`, `--emit tflite` and `--emit tflm-buffer-plan`, and what
 * `show` prints of a plan stored in a file. The model is planned as TFLM will run it: its own operators and tensors, no
 * fusion, no views, nothing in place; see import/tflite/offline.h and docs/tflm.md. */
#include "cli/offline.h"

#include "codegen/c/expr.h"

#include <ctype.h>
#include <string.h>

enum { ALIGN = 16 }; /* of TFLM's arena */

struct ac_cli_offline {
    ac_offline model;
    int32_t *order;    /* order[i] is the operator that runs i-th; NULL: the file's order */
    int32_t *item_of;  /* by tensor; -1: TFLM places it */
    int32_t n_planned; /* items that are tensors; the others are scratch */
};

/* ------------------------------------------------------------------ order */

/* Every tensor that is not constant is a value; operators with effects we do not know keep their order among themselves. */
static ac_order_problem *order_problem(ac_region *r, const ac_offline *m, ac_bytes align)
{
    ac_order_problem *p = ac_order_new(r, m->n_ops, m->n_tensors + 1);
    for (int32_t i = 0; i < m->n_tensors; i++) {
        const ac_offline_tensor *t = &m->tensor[i];
        p->value[i] = (ac_order_value){
            .size = t->planned ? ac_align_up(t->bytes, align) : 0, .at_start = t->input, .at_end = t->output};
    }
    for (int32_t s = 0; s < m->n_ops; s++) {
        const ac_offline_op *op = &m->op[s];
        for (int32_t k = 0; k < op->n_scratch; k++)
            p->step[s].scratch += ac_align_up(op->scratch[k], align);
        for (int32_t k = 0; k < op->n_in; k++)
            if (op->in[k] >= 0)
                ac_order_use(p, s, op->in[k], 0, 1, m->tensor[op->in[k]].variable);
        for (int32_t k = 0; k < op->n_out; k++)
            if (op->out[k] >= 0)
                ac_order_use(p, s, op->out[k], 0, 1, true);
        if (!op->known)
            ac_order_use(p, s, m->n_tensors, 0, 1, true);
    }
    ac_order_link(p);
    return p;
}

/* ------------------------------------------------------------------ plan */

/* Room for what kernels ask for: TFLM finds it free when it looks for places around the plan. */
static void add_scratch(arenac_job *job, const ac_cli_offline *o, ac_bytes align)
{
    const ac_offline *m = &o->model;
    ac_problem *p = &job->live->problem;
    for (int32_t s = 0; s < m->n_ops; s++) {
        const ac_offline_op *op = &m->op[o->order ? o->order[s] : s];
        for (int32_t k = 0; k < op->n_scratch; k++)
            p->item[p->n++] = (ac_item){.name = ac_internf(&job->cx, "scratch%d.%d", s, k),
                                        .size = ac_align_up(op->scratch[k], ALIGN),
                                        .align = align,
                                        .life = {s, s + 1},
                                        .fixed = -1,
                                        .kind = AC_ITEM_SCRATCH};
    }
}

static int pack(arenac_job *job, ac_cli_offline *o)
{
    ac_offline *m = &o->model;
    ac_ctx *cx = &job->cx;
    job->live = AC_NEW(cx->region, ac_liveness);
    ac_problem *p = &job->live->problem;
    p->item = AC_NEW_N(cx->region, ac_item, (size_t)m->n_tensors + (size_t)m->n_ops * AC_OFFLINE_SCRATCH + 1);
    p->mem = AC_NEW(cx->region, ac_memory);
    p->n_mems = 1;
    p->steps = m->n_ops > 0 ? m->n_ops : 1;
    const ac_bytes align = job->opt.align > ALIGN ? job->opt.align : ALIGN;
    p->mem[0] = (ac_memory){.name = "arena", .capacity = -1, .align = align};
    ac_offline_lives(cx, m, o->order);
    for (int32_t i = 0; i < m->n_tensors; i++) {
        const ac_offline_tensor *t = &m->tensor[i];
        o->item_of[i] = t->planned ? p->n : -1;
        if (t->planned)
            p->item[p->n++] = (ac_item){.name = t->name,
                                        .size = ac_align_up(t->bytes, ALIGN),
                                        .align = align,
                                        .life = {t->first, t->last + 1},
                                        .fixed = -1,
                                        .kind = t->input    ? AC_ITEM_INPUT
                                                : t->output ? AC_ITEM_OUTPUT
                                                            : AC_ITEM_TENSOR};
    }
    o->n_planned = p->n;
    add_scratch(job, o, align);
    const ac_solve_options search = ac_job_search(job);
    AC_TRY(ac_solve_all(cx, p, job->opt.planner, &search, &job->plan, job->row, &job->n_rows));
    return ac_plan_check(cx, job->path, p, &job->plan);
}

static int search(arenac_job *job, ac_cli_offline *o)
{
    ac_liveness *file_live = job->live;
    const ac_plan file_plan = job->plan;
    ac_region *tmp = ac_region_open(&job->cx.heap);
    int32_t *order = AC_NEW_N(job->cx.region, int32_t, o->model.n_ops + 1);
    const int effort = job->opt.effort >= 0 ? (int)job->opt.effort : AC_EFFORT_DEFAULT;
    job->order = ac_order_search(order_problem(tmp, &o->model, file_live->problem.mem[0].align),
                                 ac_effort_steps(effort), order, &job->cx.heap);
    ac_region_close(tmp);
    job->report.file_order_bytes = file_plan.arena_bytes;
    if (job->order.after >= job->order.before)
        return AC_OK;
    o->order = order;
    AC_TRY(pack(job, o));
    if (job->plan.arena_bytes < file_plan.arena_bytes)
        return AC_OK;
    o->order = NULL;
    job->live = file_live;
    job->plan = file_plan;
    ac_offline_lives(&job->cx, &o->model, NULL);
    return AC_OK;
}

/* ------------------------------------------------------------------ report */

static void report_tensors(arenac_job *job, const ac_cli_offline *o)
{
    const ac_offline *m = &o->model;
    ac_region *region = job->cx.region;
    ac_report_tensor *row = AC_NEW_N(region, ac_report_tensor, m->n_tensors + 1);
    int32_t *at = AC_NEW_N(region, int32_t, m->n_tensors + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < m->n_tensors; i++) {
        const ac_offline_tensor *t = &m->tensor[i];
        at[i] = t->planned ? n : -1;
        if (!t->planned)
            continue;
        row[n++] = (ac_report_tensor){.name = t->name,
                                      .dtype = ac_dtype_name(t->dtype),
                                      .shape = t->shape,
                                      .bytes = t->bytes,
                                      .item = o->item_of[i],
                                      .first = t->first,
                                      .last = t->last,
                                      .producer = -1,
                                      .input = t->input,
                                      .output = t->output};
    }
    AC_VEC(ac_report_read) read = {0};
    for (int32_t s = 0; s < m->n_ops; s++) {
        const ac_offline_op *op = &m->op[o->order ? o->order[s] : s];
        for (int32_t k = 0; k < op->n_out; k++)
            if (op->out[k] >= 0 && at[op->out[k]] >= 0)
                row[at[op->out[k]]].producer = s;
        for (int32_t k = 0; k < op->n_in; k++)
            if (op->in[k] >= 0 && at[op->in[k]] >= 0)
                ac_push(region, &read, ((ac_report_read){at[op->in[k]], s}));
    }
    ac_report_reads(job, row, n, read.item, read.n);
}

static void report_notes(arenac_job *job, const ac_cli_offline *o)
{
    ac_ctx *cx = &job->cx;
    ac_report *r = &job->report;
    AC_VEC(const char *) note = {0};
    ac_push(
        cx->region, &note,
        "planned for TFLite Micro: the file's operators as they are, with room for what its reference kernels ask for");
    if (o->model.n_subgraphs > 1)
        ac_push(cx->region, &note,
                ac_strf(cx->region, "tensors of %d further subgraphs are placed by TFLM", o->model.n_subgraphs - 1));
    if (r->file_order_bytes)
        ac_push(cx->region, &note, ac_report_order_note(job, "; --emit tflite reorders the operators"));
    r->notes = note.item;
    r->n_notes = note.n;
}

static void report(arenac_job *job, const ac_cli_offline *o)
{
    ac_report *r = &job->report;
    ac_report_plan(job, &job->live->problem, "TFLite v3", "tflm");
    r->n_file_ops = o->model.n_ops;
    r->n_constants = o->model.n_constants;
    r->weight_bytes = o->model.weight_bytes;
    ac_report_step *step = AC_NEW_N(job->cx.region, ac_report_step, o->model.n_ops + 1);
    for (int32_t s = 0; s < o->model.n_ops; s++) {
        const ac_offline_op *op = &o->model.op[o->order ? o->order[s] : s];
        const int32_t out = op->n_out ? op->out[0] : -1;
        step[s] = (ac_report_step){.op = op->name, .name = out >= 0 ? o->model.tensor[out].name : op->name};
        for (int32_t k = 0; k < op->n_scratch; k++)
            step[s].scratch += op->scratch[k];
        r->scratch_bytes = step[s].scratch > r->scratch_bytes ? step[s].scratch : r->scratch_bytes;
    }
    ac_report_steps(job, step, o->model.n_ops);
    report_tensors(job, o);
    report_notes(job, o);
}

static int plan_stage(arenac_job *job, void *arg)
{
    ac_cli *cli = arg;
    ac_cli_offline *o = AC_NEW(job->cx.region, ac_cli_offline);
    AC_TRY(ac_job_file(job, cli->file[0]));
    AC_TRY(ac_cli_refuse_options(cli, job, "TFLite Micro runs the operators as they are", true));
    AC_TRY(ac_offline_read(&job->cx, &job->file, &o->model));
    o->item_of = AC_NEW_N(job->cx.region, int32_t, o->model.n_tensors + 1);
    AC_TRY(pack(job, o));
    if (job->opt.schedule_search)
        AC_TRY(search(job, o));
    report(job, o);
    job->stage = 3;
    cli->offline = o;
    return ac_report_budget(job);
}

bool ac_cli_offline_wanted(const ac_cli *cli)
{
    if (cli->reference_tflm)
        return true;
    for (const char *p = cli->emit ? cli->emit : ""; *p; p += strcspn(p, ","), p += *p == ',') {
        const size_t n = strcspn(p, ",");
        if ((n == 6 && !strncmp(p, "tflite", n)) || (n == 16 && !strncmp(p, "tflm-buffer-plan", n)))
            return true;
    }
    return false;
}

int ac_cli_offline_plan(ac_cli *cli, arenac_job *job)
{
    return ac_job_guard(job, plan_stage, cli);
}

/* ------------------------------------------------------------------ emit */

/* TFLM's BufferPlan has a list without a fixed length at its end; a struct of the same layout can be initialised in C. */
static int buffer_plan(arenac_job *job, const ac_cli_offline *o, ac_sink *to)
{
    const ac_problem *p = &job->live->problem;
    if (o->model.n_subgraphs > 1)
        return ac_error(
            &job->cx, (ac_place){.file = job->path}, E0502,
            "a buffer plan has no place for tensors of further subgraphs; --emit tflite plans the main one");
    char *name = ac_strdup(job->cx.region, job->opt.name ? job->opt.name : job->stem);
    char *upper = ac_strdup(job->cx.region, name);
    for (size_t i = 0; name[i]; i++) {
        const bool good = isalpha((unsigned char)name[i]) || (i && isdigit((unsigned char)name[i]));
        name[i] = good ? (char)tolower((unsigned char)name[i]) : '_';
        upper[i] = (char)toupper((unsigned char)name[i]);
    }
    ac_putf(to, "/* Offsets for TFLite Micro's NonPersistentMemoryPlannerShim, made by arenac %s from %s.\n",
            arenac_version(), ac_c_comment_text(job->cx.region, job->report.file));
    ac_putf(
        to,
        " * The layout is that of tflite::BufferPlan: reinterpret_cast<const tflite::BufferPlan *>(&%s_buffer_plan).\n",
        name);
    ac_put(to, " * Kernels that ask for scratch need an entry each behind these. */\n");
    ac_putf(to, "#ifndef %s_BUFFER_PLAN_H\n#define %s_BUFFER_PLAN_H\n#include <stdint.h>\n\n", upper, upper);
    ac_putf(to, "#define %s_BUFFER_PLAN_BYTES %lldu\n\n", upper, (long long)ac_align_up(job->plan.arena_bytes, ALIGN));
    ac_putf(to,
            "static const struct {\n    int32_t buffer_count;\n    int32_t offset[%d];\n} %s_buffer_plan = {%d, {\n",
            o->n_planned ? o->n_planned : 1, name, o->n_planned);
    for (int32_t i = 0; i < o->n_planned; i++) {
        const ac_item *it = &p->item[i];
        ac_putf(to, "    %lld, /* %s, %lld B, steps %d-%d */\n", (long long)job->plan.offset[i],
                ac_c_comment_text(job->cx.region, it->name), (long long)it->size, it->life.begin, it->life.end - 1);
    }
    ac_putf(to, "%s}};\n\n#endif\n", o->n_planned ? "" : "    0\n");
    return AC_OK;
}

typedef struct emit_arg {
    const ac_cli_offline *o;
    const char *kind, *path;
} emit_arg;

static int emit_stage(arenac_job *job, void *arg)
{
    const emit_arg *e = arg;
    const ac_offline *m = &e->o->model;
    ac_sink *to = AC_NEW(job->cx.region, ac_sink);
    ac_sink_open(to, &job->cx);
    if (!strcmp(e->kind, "tflite")) {
        ac_bytes *offset = AC_NEW_N(job->cx.region, ac_bytes, m->n_tensors + 1);
        for (int32_t i = 0; i < m->n_tensors; i++)
            offset[i] = e->o->item_of[i] >= 0 ? job->plan.offset[e->o->item_of[i]] : -1;
        AC_TRY(ac_offline_write(&job->cx, &job->file, m, offset, e->o->order, to));
    } else {
        AC_TRY(buffer_plan(job, e->o, to));
    }
    ac_job_add_output(job, to, e->path);
    return AC_OK;
}

int ac_cli_offline_emit(ac_cli *cli, arenac_job *job, const char *kind, const char *path)
{
    if (!strcmp(kind, "ag") || !strcmp(kind, "loops"))
        return ac_error(&job->cx, (ac_place){.file = job->path}, E0501,
                        "--emit %s belongs to arenac's own plan, not to TFLM's", kind);
    if (strcmp(kind, "tflite") && strcmp(kind, "tflm-buffer-plan"))
        return arenac_emit(job, kind, path);
    if (kind[3] == 'm' && cli->offline->order && !strstr(cli->emit, "tflite")) {
        ac_error(&job->cx, (ac_place){.file = job->path}, E0501,
                 "this buffer plan is for another order than the file's");
        return ac_help(
            &job->cx,
            "write the reordered model beside it: --emit tflite,tflm-buffer-plan, or leave out --schedule search");
    }
    emit_arg e = {cli->offline, kind, path};
    return ac_job_guard(job, emit_stage, &e);
}

/* ------------------------------------------------------------------ show */

static int show_stage(arenac_job *job, void *arg)
{
    ac_cli *cli = arg;
    ac_offline m;
    ac_sink s;
    ac_bytes end = 0;
    AC_TRY(ac_job_file(job, cli->file[0]));
    if (!ac_offline_is_tflite(&job->file))
        return AC_OK;
    AC_TRY(ac_offline_read(&job->cx, &job->file, &m));
    if (!m.has_plan)
        return AC_OK;
    ac_offline_lives(&job->cx, &m, NULL);
    int32_t planned = 0;
    ac_sink_open(&s, &job->cx);
    for (int32_t i = 0; i < m.n_tensors; i++)
        if (m.tensor[i].stored >= 0) {
            planned++;
            end = m.tensor[i].stored + m.tensor[i].bytes > end ? m.tensor[i].stored + m.tensor[i].bytes : end;
        }
    ac_putf(&s, "stored plan (%s): %d of %d tensors, %s B\n  offset      bytes  operators  tensor\n", AC_OFFLINE_NAME,
            planned, m.n_tensors, ac_commas(&job->cx, end));
    for (int32_t i = 0; i < m.n_tensors; i++) {
        const ac_offline_tensor *t = &m.tensor[i];
        if (t->stored >= 0)
            ac_putf(&s, "%8lld %10lld  %4d-%-4d  %s %s %s\n", (long long)t->stored, (long long)t->bytes, t->first,
                    t->last, t->name, ac_dtype_name(t->dtype), t->shape);
    }
    if (m.n_stored != m.n_all)
        ac_putf(&s, "  the plan speaks of %d tensors, the model has %d: TFLM will refuse it\n", m.n_stored, m.n_all);
    fwrite(s.text, 1, s.n, stdout);
    return AC_OK;
}

void ac_cli_offline_show(ac_cli *cli)
{
    arenac_job *job = cli->n_files == 1 && strcmp(cli->file[0], "-") ? arenac_open(&cli->opt) : NULL;
    if (job)
        ac_job_guard(job, show_stage, cli); /* what is wrong with the file is said when it is read as a model */
    arenac_close(job);
}
