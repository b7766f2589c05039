/* evidence.c - compile --evidence DIR: the evidence about generated code for a safety case, as files that programs
 * read. docs/safety.md gives the purpose of each, and the limits of their claims.
 *
 *     requirements.csv   each step: operator, place in the model, formula, reference, arithmetic
 *     trace.csv          each step: its function and its call as lines of the C, and the model's operators that it does
 *     memory.csv         each tensor: memory, offset, bytes, the steps between which it lives
 *     loops.txt          the exact arithmetic of each step
 *     proof.json         claims about the code, proven or not; code.certificate for arenac-certcheck
 *     vectors.csv        inputs and the outputs that belong to them, with the hashes of their .npy files
 *     evidence.json      versions, options, target, stack, results, hashes of the model, the tool and all files
 *     deviations.md      claims that do not hold, or are not shown */
#include "driver/emit/emit.h"

#include "base/json_out.h"
#include "base/hash/sha256.h"
#include "base/visible.h"
#include "codegen/c/identifiers.h"
#include "codegen/stack_size.h"
#include "driver/emit/step_inputs.h"
#include "driver/stage/inputs.h"
#include "prove/prove.h"

#include <string.h>

static const char *const FORMULA_OF[AC_OP_COUNT] = {
#define FORMULA(id, text) [AC_OP_##id] = text,
#include "driver/emit/formulas.def"
#undef FORMULA
};

typedef struct evidence {
    const ac_made *a;
    const char *dir;
    int32_t first;     /* of a->output: those of evidence come from here on */
    const char **hash; /* SHA-256 of these first ones */
    ac_verdict verdict;
    ac_vectors vectors;
    int32_t *step;      /* by node of the graph: the step that does it; -1: none, it is a view */
    const ac_output *c; /* the C of the model; NULL: it is not written */
    const char *tool;   /* SHA-256 of the tool; NULL: unknown, `why` is the reason */
    const char *why;
} evidence;

static ac_sink *file(evidence *e, const char *name)
{
    return ac_pending_add(e->a->out, ac_strf(e->a->cx->region, "%s/%s", e->dir, name));
}

/* ------------------------------------------------------------------ CSV */

/* A field; with quotes where it needs them. Names of models are shown as messages show them. */
static void put_field(ac_sink *to, const char *text, bool last)
{
    const char *s = ac_visible(to->cx->region, text ? text : "");
    const bool quotes = strpbrk(s, ",\"\n\r") != NULL;
    ac_put(to, quotes ? "\"" : "");
    for (; *s; s++) {
        ac_putc(to, *s);
        if (*s == '"')
            ac_putc(to, '"');
    }
    ac_put(to, quotes ? "\"" : "");
    ac_put(to, last ? "\n" : ",");
}

static void put_int(ac_sink *to, int64_t v, bool last)
{
    ac_putf(to, "%lld%s", (long long)v, last ? "\n" : ",");
}

static bool is_exact(const ac_tensor *t)
{
    return !ac_dtype_is_float(t->dtype);
}

static const char *operands_of(evidence *e, const ac_node *n)
{
    ac_region *r = e->a->cx->region;
    const char *s = "";
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i])
            s = ac_strf(r, "%s%s%s %s", s, *s ? "; " : "", n->in[i]->name, ac_tensor_str(e->a->cx, n->in[i]));
    return s;
}

static const char *place_of(evidence *e, const ac_node *n)
{
    const ac_place *at = &n->at;
    ac_region *r = e->a->cx->region;
    if (at->line)
        return ac_strf(r, "line %d", at->line);
    return at->op_index ? ac_strf(r, "operator %d of subgraph %d", at->op_index - 1, at->subgraph) : "";
}

/* ------------------------------------------------------------------ operators of a step */

/* A node's step is its own, or the chain of stripes that ends next. */
static void find_steps(evidence *e)
{
    const ac_planned *p = e->a->planned;
    const ac_graph *g = e->a->lowering->graph;
    int32_t chain = -1;
    e->step = AC_NEW_N(e->a->cx->region, int32_t, g->node.n + 1);
    for (int32_t i = g->node.n - 1; i >= 0; i--) {
        int32_t own = -1;
        for (int32_t s = 0; s < p->n_steps && own < 0; s++)
            own = ac_node_result(p->step[s]->node) == ac_node_result(g->node.item[i]) ? s : -1;
        if (own >= 0 && p->step[own]->chain)
            chain = own;
        e->step[i] = g->node.item[i]->view ? -1 : own >= 0 ? own : chain;
    }
}

typedef void each_fn(evidence *e, void *with, int32_t step, const ac_node *n);

/* Each operator of a step: of a chain, and those that were fused. */
static void each_operator(evidence *e, int32_t step, each_fn *f, void *with)
{
    const ac_graph *g = e->a->lowering->graph;
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        if (e->step[i] != step)
            continue;
        f(e, with, step, n);
        for (int32_t k = 0; k < n->n_fused; k++)
            f(e, with, step, n->fused[k]);
    }
}

/* ------------------------------------------------------------------ requirements */

static void put_requirement(evidence *e, void *with, int32_t step, const ac_node *n)
{
    ac_sink *to = with;
    const ac_tensor *t = ac_node_result(n);
    put_int(to, step, false);
    put_field(to, ac_ops[n->op].text, false);
    put_field(to, n->at.op ? n->at.op : ac_ops[n->op].tflite, false);
    put_field(to, n->name, false);
    put_field(to, place_of(e, n), false);
    put_field(to, operands_of(e, n), false);
    put_field(to, ac_strf(e->a->cx->region, "%s %s", t->name, ac_tensor_str(e->a->cx, t)), false);
    put_field(to, FORMULA_OF[n->op], false);
    put_field(to,
              is_exact(t) ? "the format's reference for this operator, bit for bit"
                          : "the format's reference for this operator, within the bounds of docs/numerics.md",
              false);
    put_field(to, ac_strf(e->a->cx->region, "loops.txt: fn %s", e->a->planned->step[step]->fn->name), true);
}

static void put_requirements(evidence *e)
{
    const ac_planned *p = e->a->planned;
    ac_sink *to = file(e, "requirements.csv");
    ac_put(to, "step,operator,model_operator,name,place,operands,result,formula,reference,arithmetic\n");
    for (int32_t s = 0; s < p->n_steps; s++)
        each_operator(e, s, put_requirement, to);
}

/* ------------------------------------------------------------------ trace */

static int32_t line_at(const char *text, const char *at)
{
    int32_t line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

/* The definition of a function: its name at the end of the words of a line that is not indented. */
static const char *definition(evidence *e, const char *text, const char *name)
{
    const char *call = ac_strf(e->a->cx->region, " %s(", name);
    for (const char *at = text; (at = strstr(at, call)) != NULL; at++) {
        const char *line = at, *end = strstr(at, "\n{");
        while (line > text && line[-1] != '\n')
            line--;
        const char *semicolon = strchr(at, ';');
        if (*line != ' ' && *line != '/' && *line != '#' && end && (!semicolon || end < semicolon))
            return line;
    }
    return NULL;
}

/* Operators without code: their results are bytes of another tensor. */
static void put_views(evidence *e, ac_sink *to)
{
    const ac_graph *g = e->a->planned->graph;
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        if (!n->view)
            continue;
        ac_put(to, "-1,");
        put_field(to, n->name, false);
        put_field(to, place_of(e, n), false);
        put_field(to, "none: a view", false);
        ac_put(to, ",0,0,0,0\n");
    }
}

static void add_name(evidence *e, void *with, int32_t step, const ac_node *n)
{
    const char **names = with;
    (void)step;
    *names = ac_strf(e->a->cx->region, "%s%s%s", *names, **names ? "; " : "", n->name);
}

static void put_trace(evidence *e)
{
    const ac_module *m = e->a->module;
    ac_region *r = e->a->cx->region;
    ac_sink *to = file(e, "trace.csv");
    const char *upper = ac_c_upper(r, m->name);
    ac_put(to, "step,model_operators,place,function,file,first_line,last_line,call_first_line,call_last_line\n");
    for (int32_t s = 0; s < m->n_calls; s++) {
        const ac_call *k = &m->call[s];
        const ac_node *n = k->low->node;
        const char *name = ac_strf(r, "%s_%s", m->name, m->fn[k->fn]->name), *text = e->c ? e->c->sink->text : "";
        const char *from = definition(e, text, name), *to_line = from ? strstr(from, "\n}\n") : NULL;
        const char *begin = strstr(text, ac_strf(r, "%s_STEP_BEGIN(%d);", upper, s));
        const char *end = strstr(text, ac_strf(r, "%s_STEP_END(%d);", upper, s));
        const char *ops = "";
        each_operator(e, s, add_name, &ops);
        put_int(to, s, false);
        put_field(to, ops, false);
        put_field(to, place_of(e, n), false);
        put_field(to, name, false);
        put_field(to, e->c ? ac_path_name(e->c->path) : "", false);
        put_int(to, from ? line_at(text, from) : 0, false);
        put_int(to, to_line ? line_at(text, to_line + 1) : 0, false);
        put_int(to, begin ? line_at(text, begin) : 0, false);
        put_int(to, end ? line_at(text, end) : 0, true);
    }
    put_views(e, to);
}

/* ------------------------------------------------------------------ memory */

static void put_memory(evidence *e)
{
    const ac_report *r = e->a->report;
    ac_sink *to = file(e, "memory.csv");
    ac_put(to, "memory,offset,bytes,first_step,last_step,tensor,kind\n");
    for (int32_t i = 0; i < r->n_tensors; i++) {
        const ac_report_tensor *t = &r->tensor[i];
        if (t->item < 0)
            continue;
        put_field(to, r->problem->mem[r->plan->mem[t->item]].name, false);
        put_int(to, r->plan->offset[t->item] + t->delta, false);
        put_int(to, t->bytes, false);
        put_int(to, t->first, false);
        put_int(to, t->last, false);
        put_field(to, t->name, false);
        put_field(to,
                  t->alias_how ? t->alias_how
                  : t->input   ? "input"
                  : t->output  ? "output"
                  : t->state   ? "state"
                               : "",
                  true);
    }
    for (int32_t i = 0; i < r->problem->n; i++) {
        const ac_item *it = &r->problem->item[i];
        if (it->kind != AC_ITEM_SCRATCH)
            continue;
        put_field(to, r->problem->mem[r->plan->mem[i]].name, false);
        put_int(to, r->plan->offset[i], false);
        put_int(to, it->size, false);
        put_int(to, it->life.begin, false);
        put_int(to, it->life.end - 1, false);
        put_field(to, it->name, false);
        put_field(to, "scratch", true);
    }
}

static void put_loops(evidence *e)
{
    ac_sink *to = file(e, "loops.txt");
    for (int32_t s = 0; s < e->a->planned->n_steps; s++)
        ac_loop_dump(to, e->a->planned->step[s]->fn);
}

/* ------------------------------------------------------------------ vectors */

static const char *hash_of(ac_ctx *cx, const void *data, size_t n)
{
    char hex[65];
    ac_sha256_hex(data, n, hex);
    return ac_strdup(cx->region, hex);
}

static void put_array(evidence *e, ac_sink *to, int32_t set, bool input, int32_t i)
{
    const ac_module *m = e->a->module;
    const ac_io *io = input ? &m->input[i] : &m->output[i];
    const uint8_t *data = input ? e->vectors.input[set * m->n_inputs + i] : e->vectors.output[set * m->n_outputs + i];
    const char *name = ac_strf(e->a->cx->region, "set%d.%s%d.npy", set, input ? "in" : "out", i);
    ac_sink *npy = file(e, name);
    ac_npy_write(npy, io->tensor->dtype, io->tensor->rank, io->tensor->dim, data);
    put_int(to, set, false);
    put_field(to, input ? "input" : "output", false);
    put_int(to, i, false);
    put_field(to, io->tensor->name, false);
    put_field(to, name, false);
    put_field(to, hash_of(e->a->cx, npy->text, npy->n), true);
}

static void put_vectors(evidence *e)
{
    ac_sink *to = file(e, "vectors.csv");
    ac_put(to, "set,kind,index,tensor,file,sha256\n");
    for (int32_t k = 0; k < e->vectors.n; k++) {
        for (int32_t i = 0; i < e->a->module->n_inputs; i++)
            put_array(e, to, k, true, i);
        for (int32_t i = 0; i < e->a->module->n_outputs; i++)
            put_array(e, to, k, false, i);
    }
}

/* ------------------------------------------------------------------ the tool */

/* The tool reads itself; on a system without /proc, or where it may not, the hash is NULL and `why` is the reason. */
static void find_tool(evidence *e)
{
    const ac_made *a = e->a;
    ac_file f = {0};
    const ac_diags before = a->cx->diags;
    const int status = ac_file_open(a->cx, "/proc/self/exe", &f);
    if (status == AC_OK) {
        e->tool = hash_of(a->cx, f.data, f.n);
        ac_file_close(&f);
    } else {
        e->why =
            ac_strf(a->cx->region, "/proc/self/exe: %s", a->cx->diags.last ? a->cx->diags.last->text : "no memory");
    }
    (void)ac_quietly(a->cx, before, status);
}

/* ------------------------------------------------------------------ deviations */

static void put_deviations(evidence *e)
{
    const ac_made *a = e->a;
    ac_sink *to = file(e, "deviations.md");
    int32_t floats = 0;
    for (int32_t s = 0; s < a->planned->n_steps; s++)
        floats += !is_exact(ac_node_result(a->planned->step[s]->node));
    ac_put(to, "# Known deviations and open points\n\n");
    if (floats)
        ac_putf(to, "- %d of %d steps compute floats: they are close to the reference, not equal (docs/numerics.md).\n",
                floats, a->planned->n_steps);
    for (int32_t i = 0; i < e->verdict.doubt.n; i++) {
        const ac_doubt *d = &e->verdict.doubt.item[i];
        ac_putf(to, "- step %d, instruction %%%d, %s: not proven: %s\n", d->step, d->ins, ac_claim_text[d->claim],
                ac_visible(a->cx->region, d->reason));
    }
    if (!a->opt->selftest_cc)
        ac_put(to, "- No compiler was tested: --selftest-cc was not given. The vectors are to be run on the target.\n");
    if (!e->tool)
        ac_putf(to, "- The tool is not named by a hash: %s.\n", ac_visible(a->cx->region, e->why));
    if (!e->c)
        ac_put(to, "- trace.csv has no lines: no C is written.\n");
    if (!a->report->built_by && !a->module->built.how)
        ac_put(to, "- The stack is an estimate: no compiler of the target was asked.\n");
    for (const ac_diag *d = a->cx->diags.first; d; d = d->next)
        if (d->severity == AC_WARNING)
            ac_putf(to, "- warning: %s\n", ac_visible(a->cx->region, d->text));
    ac_put(to, "- What is not claimed at all: docs/safety.md.\n");
}

/* ------------------------------------------------------------------ the index */

static const char *hash_of_output(ac_ctx *cx, const ac_sink *s)
{
    char *hex = ac_alloc(cx->region, 65);
    ac_sha256 h = ac_sha256_open();
    for (int32_t i = 0; i <= 2 * s->lasting.n; i++) {
        size_t n;
        const void *bytes = ac_sink_piece(s, i, &n);
        ac_sha256_add(&h, bytes, n);
    }
    ac_sha256_close(&h, hex);
    return hex;
}

static void put_file_row(evidence *e, ac_json *j, int32_t i)
{
    const ac_output *o = &e->a->out->list.item[i];
    ac_json_obj(j, NULL);
    ac_json_str(j, "file", ac_path_name(o->path));
    ac_json_int(j, "bytes", (int64_t)ac_sink_size(o->sink));
    ac_json_str(j, "sha256", i < e->first ? e->hash[i] : hash_of_output(e->a->cx, o->sink));
    ac_json_end(j);
}

static void put_results(evidence *e, ac_json *j)
{
    const ac_made *a = e->a;
    ac_json_obj(j, "results");
    ac_json_bool(j, "plan_checked", true); /* a module has a checked plan */
    ac_json_bool(j, "proven", !e->verdict.doubt.n);
    ac_json_int(j, "claims_open", e->verdict.doubt.n);
    ac_json_int(j, "vectors", e->vectors.n);
    ac_json_str(j, "compiler_test", a->tested ? a->tested : "not done");
    ac_json_end(j);
}

static void put_index(evidence *e, int32_t end)
{
    const ac_made *a = e->a;
    const ac_module *m = a->module;
    ac_json j = ac_json_open(file(e, "evidence.json"));
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-evidence/1");
    ac_json_str(&j, "tool", "arenac");
    ac_json_str(&j, "version", arenac_version());
    ac_json_str(&j, "tool_sha256", e->tool ? e->tool : ac_strf(a->cx->region, "not available: %s", e->why));
    ac_json_str(&j, "model", a->source->base);
    ac_json_str(&j, "model_sha256", m->sha256);
    ac_json_str(&j, "options", m->options);
    ac_json_str(&j, "target", m->target->name);
    ac_json_int(&j, "steps", m->n_calls);
    ac_json_int(&j, "arena_bytes", m->arena_bytes);
    ac_json_int(&j, "state_bytes", m->state_bytes);
    ac_json_int(&j, "stack_bytes", m->built.how ? m->built.stack : ac_stack_estimate(m, true));
    ac_json_str(&j, "stack_by", m->built.how ? m->built.how : "estimate");
    put_results(e, &j);
    ac_json_arr(&j, "generated");
    for (int32_t i = 0; i < e->first; i++)
        if (strcmp(a->out->list.item[i].path, "-") != 0)
            put_file_row(e, &j, i);
    ac_json_end(&j);
    ac_json_arr(&j, "files");
    for (int32_t i = e->first; i < end; i++)
        put_file_row(e, &j, i);
    ac_json_end(&j);
    ac_json_end(&j);
}

/* ------------------------------------------------------------------ all of it */

/* The certificate names the files with the code: all outputs before those of evidence. */
static int put_certificate(evidence *e)
{
    const ac_made *a = e->a;
    e->hash = AC_NEW_N(a->cx->region, const char *, e->first + 1);
    for (int32_t i = 0; i < e->first; i++)
        e->hash[i] = hash_of_output(a->cx, a->out->list.item[i].sink);
    return ac_code_certificate(file(e, "code.certificate"), ac_module_steps(a->module), &e->verdict, e->hash, e->first);
}

/* The C of the model: the output that contains its steps. */
static const ac_output *find_c(const evidence *e)
{
    const ac_made *a = e->a;
    for (int32_t i = 0; i < e->first; i++) {
        const ac_output *o = &a->out->list.item[i];
        if (o->sink->n && strstr(o->sink->text, "_STEP_BEGIN(0);"))
            return o;
    }
    return NULL;
}

static int check(const ac_made *a)
{
    AC_TRY(ac_step_inputs_possible(a, "--evidence"));
    AC_TRY(ac_module_without_custom(a->module, "--evidence"));
    if (ac_is(a->opt->evidence, "-"))
        return ac_error(a->cx, (ac_place){0}, E0502, "--evidence does not go with standard output: it names a folder");
    return ac_folder_make(a->cx, a->opt->evidence);
}

int ac_evidence(const ac_made *a)
{
    enum { SETS = 3 };
    evidence e = {.a = a, .dir = a->opt->evidence, .first = a->out->list.n};
    AC_TRY(check(a));
    AC_TRY(ac_prove(a->cx, a->module, NULL, &e.verdict));
    if (e.verdict.wrong)
        return ac_error(a->cx, (ac_place){.file = a->source->path}, E0702, "%s wrong",
                        ac_claims_str(a->cx, e.verdict.wrong));
    AC_TRY(ac_inputs_record(a, a->opt->vectors > 0 ? (int32_t)a->opt->vectors : SETS, &e.vectors));
    const ac_output *c = find_c(&e);
    ac_output kept = c ? *c : (ac_output){0}; /* the list grows */
    e.c = c ? &kept : NULL;
    find_steps(&e);
    put_requirements(&e);
    put_trace(&e);
    put_memory(&e);
    put_loops(&e);
    ac_verdict_json(file(&e, "proof.json"), ac_module_steps(a->module), &e.verdict);
    AC_TRY(put_certificate(&e));
    put_vectors(&e);
    find_tool(&e);
    put_deviations(&e);
    put_index(&e, a->out->list.n);
    if (e.verdict.doubt.n) {
        ac_warn(a->cx, (ac_place){.file = a->source->path}, E0703, "%s not proven",
                ac_claims_str(a->cx, e.verdict.doubt.n));
        ac_help(a->cx, "%s/proof.json and deviations.md list them", a->opt->evidence);
    }
    return AC_OK;
}
