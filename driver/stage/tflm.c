/* tflm.c - plans for TFLite Micro (TFLM): --reference tflm, --emit tflite and tflm-buffer-plan, and what `show` prints
 * of a plan stored in a file. The model is planned as TFLM will run it: its own operators and tensors, no fusion, no
 * views, nothing in place; see import/tflite/offline.h and docs/tflm.md. */
#include "driver/stage/stage.h"

#include "base/ascii.h"
#include "codegen/c/expr.h"
#include "codegen/c/identifiers.h"
#include "driver/facts/facts.h"
#include "import/tflite/offline.h"

#include <string.h>

enum { ALIGN = 16 }; /* of TFLM's arena */

/* A candidate plan: the model in an order, with lives in it. */
typedef struct ac_tflm {
    ac_offline model;     /* its tensors' lives are those in `order` */
    const int32_t *order; /* order[i] is the operator that runs i-th; NULL: the file's order */
    int32_t *item_of;     /* by tensor; -1: TFLM places it */
    int32_t n_planned;    /* items that are tensors; the others are scratch */
    ac_problem problem;
    ac_plan plan;
    ac_result row[AC_MAX_STRATEGIES];
    int32_t n_rows;
    ac_plan_found found;
} ac_tflm;

/* ------------------------------------------------------------------ order */

/* Every tensor that is not constant is a value; operators with effects we do not know keep their order among
 * themselves. */
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
static void add_scratch(const ac_made *a, ac_tflm *t, ac_bytes align)
{
    const ac_offline *m = &t->model;
    ac_problem *p = &t->problem;
    for (int32_t s = 0; s < m->n_ops; s++) {
        const ac_offline_op *op = &m->op[t->order ? t->order[s] : s];
        for (int32_t k = 0; k < op->n_scratch; k++)
            p->item[p->n++] = (ac_item){.name = ac_internf(a->cx, "scratch%d.%d", s, k),
                                        .size = ac_align_up(op->scratch[k], ALIGN),
                                        .align = align,
                                        .life = {s, s + 1},
                                        .fixed = -1,
                                        .kind = AC_ITEM_SCRATCH};
    }
}

static void add_tensors(ac_tflm *t, ac_bytes align)
{
    const ac_offline *m = &t->model;
    ac_problem *p = &t->problem;
    for (int32_t i = 0; i < m->n_tensors; i++) {
        const ac_offline_tensor *x = &m->tensor[i];
        t->item_of[i] = x->planned ? p->n : -1;
        if (x->planned)
            p->item[p->n++] = (ac_item){.name = x->name,
                                        .size = ac_align_up(x->bytes, ALIGN),
                                        .align = align,
                                        .life = {x->first, x->last + 1},
                                        .fixed = -1,
                                        .kind = x->input    ? AC_ITEM_INPUT
                                                : x->output ? AC_ITEM_OUTPUT
                                                            : AC_ITEM_TENSOR};
    }
    t->n_planned = p->n;
}

static ac_solve_options search_of(const ac_made *a)
{
    return (ac_solve_options){.steps = ac_solve_steps((int)a->opt->effort), .goal = a->opt->budget.bytes};
}

/* The model in an order, packed. NULL: a diagnostic. */
static ac_tflm *pack(const ac_made *a, const ac_offline *model, const int32_t *order)
{
    ac_region *r = a->cx->region;
    ac_tflm *t = AC_NEW(r, ac_tflm);
    const ac_bytes align = a->opt->align > ALIGN ? a->opt->align : ALIGN;
    const ac_solve_options search = search_of(a);
    t->model = *model;
    t->model.tensor = ac_copy(r, model->tensor, (size_t)model->n_tensors * sizeof *model->tensor);
    t->order = order;
    t->item_of = AC_NEW_N(r, int32_t, model->n_tensors + 1);
    ac_problem *p = &t->problem;
    p->item = AC_NEW_N(r, ac_item, (size_t)model->n_tensors + (size_t)model->n_ops * AC_OFFLINE_SCRATCH + 1);
    p->mem = AC_NEW(r, ac_memory);
    p->mem[0] = (ac_memory){.name = "arena", .capacity = -1, .align = align};
    p->n_mems = 1;
    p->steps = model->n_ops > 0 ? model->n_ops : 1;
    ac_offline_lives(a->cx, &t->model, order);
    add_tensors(t, align);
    add_scratch(a, t, align);
    return ac_solve_all(a->cx, p, a->opt->planner.name, &search, &t->plan, t->row, &t->n_rows) == AC_OK ? t : NULL;
}

/* --schedule search: the smaller of the plan in the file's order and of one in another order. NULL: a diagnostic. */
static ac_tflm *reorder(const ac_made *a, ac_tflm *file)
{
    ac_region *tmp = ac_region_open(&a->cx->heap);
    int32_t *order = AC_NEW_N(a->cx->region, int32_t, file->model.n_ops + 1);
    const int effort = a->opt->effort >= 0 ? (int)a->opt->effort : AC_EFFORT_DEFAULT;
    const ac_plan_found found = {.order = ac_order_search(order_problem(tmp, &file->model, file->problem.mem[0].align),
                                                          ac_effort_steps(effort), order, &a->cx->heap),
                                 .file_order_bytes = file->plan.arena_bytes};
    ac_tflm *best = file;
    ac_region_close(tmp);
    if (found.order.after < found.order.before) {
        ac_tflm *other = pack(a, &file->model, order);
        if (!other)
            return NULL;
        best = other->plan.arena_bytes < file->plan.arena_bytes ? other : file;
    }
    best->found = found;
    return best;
}

/* ------------------------------------------------------------------ report */

static const ac_offline_op *op_at(const ac_tflm *t, int32_t s)
{
    return &t->model.op[t->order ? t->order[s] : s];
}

static void put_tensors(const ac_made *a, const ac_tflm *t, ac_report *r)
{
    const ac_offline *m = &t->model;
    ac_region *region = a->cx->region;
    ac_report_tensor *row = AC_NEW_N(region, ac_report_tensor, m->n_tensors + 1);
    int32_t *at = AC_NEW_N(region, int32_t, m->n_tensors + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < m->n_tensors; i++) {
        const ac_offline_tensor *x = &m->tensor[i];
        at[i] = x->planned ? n : -1;
        if (x->planned)
            row[n++] = (ac_report_tensor){.name = x->name,
                                          .dtype = ac_dtype_name(x->dtype),
                                          .shape = x->shape,
                                          .bytes = x->bytes,
                                          .item = t->item_of[i],
                                          .first = x->first,
                                          .last = x->last,
                                          .producer = -1,
                                          .input = x->input,
                                          .output = x->output};
    }
    AC_VEC(ac_facts_read) read = {0};
    for (int32_t s = 0; s < m->n_ops; s++) {
        const ac_offline_op *op = op_at(t, s);
        for (int32_t k = 0; k < op->n_out; k++)
            if (op->out[k] >= 0 && at[op->out[k]] >= 0)
                row[at[op->out[k]]].producer = s;
        for (int32_t k = 0; k < op->n_in; k++)
            if (op->in[k] >= 0 && at[op->in[k]] >= 0)
                ac_push(region, &read, ((ac_facts_read){at[op->in[k]], s, false}));
    }
    ac_facts_reads(a->cx, r, row, n, read.item, read.n);
}

static void put_notes(const ac_made *a, const ac_tflm *t, ac_report *to)
{
    ac_region *r = a->cx->region;
    AC_VEC(const char *) note = {0};
    ac_push(r, &note,
            "planned for TFLite Micro: the file's operators as they are, with room for what its reference kernels ask "
            "for");
    if (t->model.n_subgraphs > 1)
        ac_push(r, &note, ac_strf(r, "tensors of %d further subgraphs are placed by TFLM", t->model.n_subgraphs - 1));
    if (t->found.file_order_bytes)
        ac_push(r, &note, ac_facts_order_note(a->cx, &t->found, &t->plan, "; --emit tflite reorders the operators"));
    to->notes = note.item;
    to->n_notes = note.n;
}

static void put_steps(const ac_made *a, const ac_tflm *t, ac_report *r)
{
    const ac_offline *m = &t->model;
    ac_report_step *step = AC_NEW_N(a->cx->region, ac_report_step, m->n_ops + 1);
    for (int32_t s = 0; s < m->n_ops; s++) {
        const ac_offline_op *op = op_at(t, s);
        const int32_t out = op->n_out ? op->out[0] : -1;
        step[s] = (ac_report_step){
            .op = op->name, .name = out >= 0 ? m->tensor[out].name : op->name, .bytes = -1, .weights = -1, .macs = -1};
        for (int32_t k = 0; k < op->n_scratch; k++)
            step[s].scratch += op->scratch[k];
        r->scratch_bytes = step[s].scratch > r->scratch_bytes ? step[s].scratch : r->scratch_bytes;
    }
    ac_facts_steps(a->cx, r, step, m->n_ops);
}

static void report(const ac_made *a, const ac_tflm *t, ac_made *out)
{
    ac_packed *packed = AC_NEW(a->cx->region, ac_packed);
    *packed = (ac_packed){&t->problem, &t->plan, t->row, t->n_rows, search_of(a), a->opt->budget.bytes};
    ac_report *r = ac_facts_open(a, packed, "TFLite v3", "tflm");
    r->n_file_ops = t->model.n_ops;
    r->n_constants = t->model.n_constants;
    r->weight_bytes = t->model.weight_bytes;
    r->file_order_bytes = t->found.file_order_bytes;
    put_steps(a, t, r);
    put_tensors(a, t, r);
    put_notes(a, t, r);
    out->packed = packed;
    out->report = r;
}

bool ac_tflm_wanted(const ac_request *q)
{
    return q->tflm || q->opt->reference == AC_OPT_REFERENCE_TFLM || ac_emits(q->opt->emit, "tflite") ||
           ac_emits(q->opt->emit, "tflm-buffer-plan");
}

int ac_tflm_plan(const ac_made *a, ac_made *out)
{
    ac_offline model;
    AC_TRY(ac_refuse_options(a, "TFLite Micro runs the operators as they are", true));
    AC_TRY(ac_offline_read(a->cx, &a->source->file, &model));
    ac_tflm *t = pack(a, &model, NULL);
    if (t && a->opt->schedule == AC_OPT_SCHEDULE_SEARCH)
        t = reorder(a, t);
    if (!t)
        return AC_FAIL;
    out->tflm = t;
    report(a, t, out);
    return ac_report_over_budget(a->cx, out->report) == AC_OK ? AC_OK : ac_report_help_smaller(a->cx, out->report);
}

/* ------------------------------------------------------------------ emit */

/* TFLM's BufferPlan has a list without a fixed length at its end; a struct of the same layout can be initialised
 * in C. */
static int put_buffer_plan(const ac_made *a, const ac_tflm *o, ac_sink *to)
{
    const ac_problem *p = &o->problem;
    if (o->model.n_subgraphs > 1)
        return ac_error(
            a->cx, (ac_place){.file = a->source->path}, E0502,
            "a buffer plan has no place for tensors of further subgraphs; --emit tflite plans the main one");
    char *name = ac_strdup(a->cx->region, a->opt->name ? a->opt->name : a->source->stem);
    for (size_t i = 0; name[i]; i++) {
        const bool good = ac_is_letter(name[i]) || (i && ac_is_digit(name[i]));
        name[i] = good ? ac_lower(name[i]) : '_';
    }
    const char *upper = ac_c_upper(a->cx->region, name);
    ac_putf(to, "/* Offsets for TFLite Micro's NonPersistentMemoryPlannerShim, made by arenac %s from %s.\n",
            arenac_version(), ac_c_comment_text(a->cx->region, a->source->base));
    ac_putf(
        to,
        " * The layout is that of tflite::BufferPlan: reinterpret_cast<const tflite::BufferPlan *>(&%s_buffer_plan).\n",
        name);
    ac_put(to, " * Kernels that ask for scratch need an entry each after these. */\n");
    ac_putf(to, "#ifndef %s_BUFFER_PLAN_H\n#define %s_BUFFER_PLAN_H\n#include <stdint.h>\n\n", upper, upper);
    ac_putf(to, "#define %s_BUFFER_PLAN_BYTES %lldu\n\n", upper, (long long)ac_align_up(o->plan.arena_bytes, ALIGN));
    ac_putf(to,
            "static const struct {\n    int32_t buffer_count;\n    int32_t offset[%d];\n} %s_buffer_plan = {%d, {\n",
            o->n_planned ? o->n_planned : 1, name, o->n_planned);
    for (int32_t i = 0; i < o->n_planned; i++) {
        const ac_item *it = &p->item[i];
        ac_putf(to, "    %lld, /* %s, %lld B, steps %d-%d */\n", (long long)o->plan.offset[i],
                ac_c_comment_text(a->cx->region, it->name), (long long)it->size, it->life.begin, it->life.end - 1);
    }
    ac_putf(to, "%s}};\n\n#endif\n", o->n_planned ? "" : "    0\n");
    return AC_OK;
}

int ac_tflm_emit(const ac_made *a, const char *kind, ac_sink *to)
{
    const ac_tflm *t = a->tflm;
    const ac_offline *m = &t->model;
    if (!strcmp(kind, "tflite")) {
        ac_bytes *offset = AC_NEW_N(a->cx->region, ac_bytes, m->n_tensors + 1);
        for (int32_t i = 0; i < m->n_tensors; i++)
            offset[i] = t->item_of[i] >= 0 ? t->plan.offset[t->item_of[i]] : -1;
        return ac_offline_write(a->cx, &a->source->file, m, offset, t->order, to);
    }
    if (!t->order || ac_emits(a->opt->emit, "tflite"))
        return put_buffer_plan(a, t, to);
    ac_error(a->cx, (ac_place){.file = a->source->path}, E0501,
             "this buffer plan is for another order than the file's");
    return ac_help(a->cx,
                   "write the reordered model as well: --emit tflite,tflm-buffer-plan, or leave out --schedule search");
}

/* ------------------------------------------------------------------ show */

int ac_tflm_show(const ac_made *a, ac_sink *to)
{
    ac_offline m;
    ac_bytes end = 0;
    int32_t planned = 0;
    if (!ac_offline_is_tflite(&a->source->file))
        return AC_OK;
    AC_TRY(ac_offline_read(a->cx, &a->source->file, &m));
    if (!m.has_plan)
        return AC_OK;
    ac_offline_lives(a->cx, &m, NULL);
    for (int32_t i = 0; i < m.n_tensors; i++)
        if (m.tensor[i].stored >= 0) {
            planned++;
            end = m.tensor[i].stored + m.tensor[i].bytes > end ? m.tensor[i].stored + m.tensor[i].bytes : end;
        }
    ac_putf(to, "stored plan (%s): %d of %d tensors, %s B\n  offset      bytes  operators  tensor\n", AC_OFFLINE_NAME,
            planned, m.n_tensors, ac_commas(a->cx, end));
    for (int32_t i = 0; i < m.n_tensors; i++) {
        const ac_offline_tensor *t = &m.tensor[i];
        if (t->stored >= 0)
            ac_putf(to, "%8lld %10lld  %4d-%-4d  %s %s %s\n", (long long)t->stored, (long long)t->bytes, t->first,
                    t->last, t->name, ac_dtype_name(t->dtype), t->shape);
    }
    if (m.n_stored != m.n_all)
        ac_putf(to, "  the plan speaks of %d tensors, the model has %d: TFLM will refuse it\n", m.n_stored, m.n_all);
    return AC_OK;
}
