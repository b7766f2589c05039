/* show.c - the verbs check and show: check reports the faults of a model, show prints its layers as a table, its text
 * form, or the loops of one node. */
#include "driver/verb/verbs.h"

#include "base/json_out.h"
#include "base/text/named.h"
#include "base/visible.h"
#include "codegen/code_size.h"
#include "driver/facts/facts.h"
#include "driver/several/several.h"
#include "planner/report/layers.h"

#include <stdlib.h>
#include <string.h>

/* "?": the file does not say; [...]: it does not say how many dimensions. */
static const char *type_text(ac_ctx *cx, const ac_tensor *t)
{
    if (t->dtype == AC_NONE)
        return "?";
    return t->any_rank && !t->rank ? ac_strf(cx->region, "%s [...]", ac_dtype_name(t->dtype)) : ac_tensor_str(cx, t);
}

static void operands(ac_sink *s, ac_ctx *cx, ac_tensor *const *list, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const ac_tensor *t = list[i];
        if (!t)
            ac_putf(s, "%s_", i ? ", " : "");
        else
            ac_putf(s, "%s%s%s %s", i ? ", " : "", ac_tensor_is_const(t) ? "const " : "",
                    ac_visible(s->cx->region, t->name), type_text(cx, t));
    }
}

static void put_operands(ac_sink *s, ac_ctx *cx, const ac_graph *g)
{
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        ac_putf(s, "%4d  %-24s %s\n      in   ", i, ac_ops[n->op].text, ac_visible(s->cx->region, n->name));
        operands(s, cx, n->in, n->n_in);
        ac_put(s, "\n      out  ");
        operands(s, cx, n->out, n->n_out);
        ac_putc(s, '\n');
        for (int32_t k = 0; k < n->n_fused; k++)
            ac_putf(s, "      +    %s %s\n", ac_ops[n->fused[k]->op].text,
                    ac_visible(s->cx->region, n->fused[k]->name));
    }
}

/* The layers of a model that was read. */
typedef struct layers {
    const ac_report_step *row;
    int32_t n, *of; /* of each node its row */
} layers;

static void put_table(ac_work *w, ac_sink *s, const layers *l)
{
    const ac_graph *g = w->made.model->graph;
    ac_putf(s, "%s   %s, %d operator%s\n\n", w->source.base, ac_facts_title(&w->made, g), (int)w->made.model->file_ops,
            w->made.model->file_ops == 1 ? "" : "s");
    if (w->made.model->listing && (w->opt.verbose || !g->node.n)) /* nodes may depend on shapes that are not known */
        ac_putf(s, "%s%s", w->made.model->listing, g->node.n ? "\n" : "");
    if (!g->node.n && !g->output.n && !w->made.model->listing)
        ac_put(s, "Its operators depend on the sizes of its inputs, and some are open: give them by --dim.\n");
    if (g->node.n)
        ac_layers_text(s, &(ac_layers){.step = l->row, .n = l->n});
    if (w->opt.verbose) {
        ac_putc(s, '\n');
        put_operands(s, &w->cx, g);
    }
    ac_put(s, "\ninputs   ");
    operands(s, &w->cx, g->input.item, g->input.n);
    ac_put(s, "\noutputs  ");
    if (w->made.model->waiting) /* not created yet: as the file declares them */
        operands(s, &w->cx, w->made.model->promised.item, w->made.model->promised.n);
    else
        operands(s, &w->cx, g->output.item, g->output.n);
    ac_putc(s, '\n');
}

/* ------------------------------------------------------------------ --json */

static void json_tensors(ac_json *j, const char *key, ac_tensor *const *list, int32_t n)
{
    ac_json_arr(j, key);
    for (int32_t i = 0; i < n; i++) {
        const ac_tensor *t = list[i];
        if (!t) {
            ac_json_str(j, NULL, NULL);
            continue;
        }
        ac_json_obj(j, NULL);
        ac_json_str(j, "name", t->name);
        ac_json_str(j, "dtype", ac_dtype_name(t->dtype));
        ac_json_arr(j, "shape");
        for (int32_t d = 0; d < t->rank; d++)
            if (t->dim[d] >= 0)
                ac_json_int(j, NULL, t->dim[d]);
            else
                ac_json_str(j, NULL, t->dim_name[d] ? t->dim_name[d] : "?");
        ac_json_end(j);
        ac_json_bool(j, "constant", ac_tensor_is_const(t));
        if (t->words)
            ac_json_str(j, "texts", t->words->other ? "any" : "known");
        ac_json_end(j);
    }
    ac_json_end(j);
}

static void json_node(ac_json *j, const ac_node *n)
{
    ac_json_obj(j, NULL);
    ac_json_str(j, "operator", ac_ops[n->op].text);
    json_tensors(j, "inputs", n->in, n->n_in);
    json_tensors(j, "outputs", n->out, n->n_out);
    ac_json_end(j);
}

static void put_json(ac_work *w, ac_sink *to, const layers *l)
{
    const ac_graph *g = w->made.model->graph;
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-show/1");
    ac_json_str(&j, "model", w->source.base);
    ac_json_str(&j, "format", w->made.model->format);
    ac_json_int(&j, "operators", w->made.model->file_ops);
    json_tensors(&j, "inputs", g->input.item, g->input.n);
    if (w->made.model->waiting)
        json_tensors(&j, "outputs", w->made.model->promised.item, w->made.model->promised.n);
    else
        json_tensors(&j, "outputs", g->output.item, g->output.n);
    const ac_vocabulary *words = ac_graph_words(g);
    if (words) {
        ac_json_arr(&j, "texts");
        for (int32_t i = 0; i < words->n; i++)
            ac_json_str(&j, NULL, words->text[i]);
        ac_json_end(&j);
    }
    ac_json_arr(&j, "layers");
    for (int32_t i = 0, node = 0; i < l->n; i++) {
        const ac_report_step *x = &l->row[i];
        ac_json_obj(&j, NULL);
        ac_json_int(&j, "layer", i);
        ac_json_str(&j, "op", x->op);
        ac_json_str(&j, "name", x->name);
        ac_json_int_if(&j, "result_bytes", x->bytes, x->bytes >= 0);
        ac_json_int_if(&j, "weight_bytes", x->weights, x->weights >= 0);
        ac_json_int_if(&j, "macs", x->macs, x->macs >= 0);
        ac_json_arr(&j, "nodes");
        for (; node < g->node.n && l->of[node] == i; node++)
            json_node(&j, g->node.item[node]);
        ac_json_end(&j);
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_end(&j);
}

/* ------------------------------------------------------------------ --loops */

/* The choices that led to the loops, as comments of their text form. */
static void put_schedule(ac_work *w, ac_sink *s, const ac_lowered *low)
{
    const ac_schedule *c = &low->schedule;
    ac_putf(s, "# step of %s multiply-adds, %s B of scratch", ac_commas(&w->cx, low->macs),
            ac_commas(&w->cx, low->scratch));
    if (low->chunks)
        ac_putf(s, ", %d parts", low->chunks);
    if (c->winograd)
        ac_putf(s, "\n# winograd F(%dx%d,3x3)", c->winograd, c->winograd);
    if (c->tensor)
        ac_putf(s, "\n# tensor cores: %s", c->tensor == AC_F32 ? "tf32" : ac_dtype_name((ac_dtype)c->tensor));
    if (c->rows)
        ac_putf(s, "\n# register tile: %d rows by %d vector%s of channels", c->rows, c->vecs, c->vecs == 1 ? "" : "s");
    if (c->cost > 0)
        ac_putf(s, "\n# estimated cycles: %s", ac_commas(&w->cx, (int64_t)(c->cost + 0.5)));
    ac_putf(s, "\n# estimated code: %s B\n", ac_commas(&w->cx, ac_code_bytes(low->fn, w->made.lowering->set.target)));
}

/* Where the output goes: opened when there is something to say, so that no file is emptied by a mistake. */
static ac_sink *opened(ac_work *w)
{
    return ac_pending_add(&w->out, w->opt.output ? w->opt.output : "-");
}

/* Of the step with this number, or of those with this name. */
static int put_loops(ac_work *w, const char *which)
{
    const ac_lowering *low = w->made.lowering;
    const char **names = AC_NEW_N(w->cx.region, const char *, low->n_steps + 1);
    char *end;
    const long number = strtol(which, &end, 10);
    ac_sink *to = NULL;
    for (int32_t i = 0; i < low->n_steps; i++)
        names[i] = low->step[i]->node->name;
    const int32_t named = ac_named(which, names, low->n_steps);
    for (int32_t i = 0; i < low->n_steps; i++) {
        if (*end ? named < 0 || strcmp(names[i], names[named]) != 0 : number != i)
            continue;
        to = to ? to : opened(w);
        put_schedule(w, to, low->step[i]);
        ac_loop_dump(to, low->step[i]->fn);
    }
    if (to)
        return AC_OK;
    ac_error(&w->cx, (ac_place){.file = w->source.path}, E0501, "no step is named '%s' (there are %d steps)", which,
             low->n_steps);
    return ac_named_list(&w->cx, which, names, low->n_steps);
}

static int put_kind(ac_work *w, const char *kind)
{
    if (!strcmp(kind, "ag")) {
        ac_graph_write_text(opened(w), w->made.model->graph, ac_text_channels_first(&w->made));
        return AC_OK;
    }
    if (!strcmp(kind, "dot")) {
        AC_TRY(ac_plan_model(w));
        ac_report_dot(opened(w), w->made.report);
        return AC_OK;
    }
    if (strcmp(kind, "loops")) {
        static const char *const KINDS[] = {"ag", "loops", "dot"};
        const char *near = ac_closest(kind, KINDS, 3);
        ac_error(&w->cx, (ac_place){0}, E0501, "show cannot --emit %s; available: ag, loops, dot", kind);
        return near ? ac_help(&w->cx, "did you mean '%s'? arenac plan --emit has pictures and reports", near)
                    : ac_help(&w->cx, "arenac plan --emit has pictures and reports");
    }
    AC_TRY(ac_check(w));
    ac_sink *to = opened(w);
    for (int32_t i = 0; i < w->made.lowering->n_steps; i++)
        ac_loop_dump(to, w->made.lowering->step[i]->fn);
    return AC_OK;
}

/* Infers shapes as far as possible; the verb check reports the reasons against the rest. */
static bool infer(ac_work *w)
{
    const ac_diags before = w->cx.diags;
    return ac_quietly(&w->cx, before, ac_infer(w));
}

/* The table and the text form show the model as it is in the file, but for --stop-after; loops and the DOT picture need
 * the passes. */
int ac_show(ac_work *w, const char *const *path, int32_t n)
{
    const ac_options *o = &w->opt;
    const bool table = !o->emit && !o->loops;
    AC_TRY(ac_open(w, path, n));
    if (table && !o->json && !o->quiet && n == 1 && strcmp(path[0], "-")) { /* also of what arenac cannot compile */
        const ac_diags before = w->cx.diags;
        ac_quietly(&w->cx, before,
                   ac_tflm_show(&w->made, ac_pending_add(&w->out, "-"))); /* the reader reports faults */
    }
    AC_TRY(ac_read_opened(w));
    const bool passes = o->stop_after || o->loops;
    if (passes)
        AC_TRY(ac_check(w));
    const bool macs = passes || (table && infer(w));
    if (table && w->made.model->waiting && strcmp(path[0], "-") != 0)
        ac_open_outputs(w, path, n);
    if (o->loops)
        return put_loops(w, o->loops);
    if (o->emit)
        return put_kind(w, o->emit);
    layers l;
    l.row = ac_facts_layers(&w->made, macs, &l.of, &l.n);
    (o->json ? put_json : put_table)(w, opened(w), &l);
    return AC_OK;
}

/* True if all errors since `before` are about sizes that the file of g leaves open; they become a note. */
static bool open_sizes_only(ac_ctx *cx, const ac_graph *g, ac_diags before)
{
    for (const ac_diag *d = before.tail ? *before.tail : cx->diags.first; d; d = d->next)
        if (d->severity == AC_ERROR && d->code != E0204)
            return false;
    const char *options = ac_open_sizes(cx, g);
    if (!options)
        return false;
    (void)ac_quietly(cx, before, AC_FAIL);
    ac_note(cx, (ac_place){.file = g->file}, W0001,
            "the file leaves sizes open: operators are not checked without them");
    ac_help(cx, "%s", options);
    return true;
}

int ac_check_verb(ac_work *w, const char *const *path, int32_t n)
{
    if (ac_several_wanted(&w->opt)) {
        ac_several *s;
        AC_TRY(ac_several_read(w, path, n, &s));
        const ac_diags before = w->cx.diags;
        if (ac_several_check(s) == AC_OK)
            return AC_OK;
        return open_sizes_only(&w->cx, s->part[0].w->made.model->graph, before) ? AC_OK : AC_FAIL;
    }
    AC_TRY(ac_read(w, path, n));
    const ac_diags before = w->cx.diags;
    if (ac_check(w) != AC_OK)
        return open_sizes_only(&w->cx, w->made.model->graph, before) ? AC_OK : AC_FAIL;
    if (!w->opt.quiet && !w->opt.json)
        ac_putf(ac_pending_add(&w->out, "-"), "%s: fine; %d operators, %d steps for %s\n", path[0],
                (int)w->made.model->file_ops, w->made.lowering->n_steps, w->made.lowering->set.target->name);
    return AC_OK;
}
