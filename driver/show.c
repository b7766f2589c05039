/* show.c - the verbs check and show: whether a model is fine; what is in it: its operators as a table, its text form,
 * the loops of one node. */
#include "driver/verbs.h"

#include "base/visible.h"
#include "codegen/code_size.h"

#include <stdlib.h>
#include <string.h>

static void operands(ac_sink *s, ac_ctx *cx, ac_tensor *const *list, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const ac_tensor *t = list[i];
        if (!t)
            ac_putf(s, "%s_", i ? ", " : "");
        else
            ac_putf(s, "%s%s%s %s", i ? ", " : "", ac_tensor_is_const(t) ? "const " : "",
                    ac_visible(s->cx->region, t->name), ac_tensor_str(cx, t));
    }
}

static void put_table(ac_sink *s, ac_ctx *cx, const ac_graph *g)
{
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        ac_putf(s, "%4d  %-24s %s\n      in   ", n->id, ac_ops[n->op].text, ac_visible(s->cx->region, n->name));
        operands(s, cx, n->in, n->n_in);
        ac_put(s, "\n      out  ");
        operands(s, cx, n->out, n->n_out);
        ac_putc(s, '\n');
        for (int32_t k = 0; k < n->n_fused; k++)
            ac_putf(s, "      +    %s %s\n", ac_ops[n->fused[k]->op].text,
                    ac_visible(s->cx->region, n->fused[k]->name));
    }
    ac_put(s, "inputs   ");
    operands(s, cx, g->input.item, g->input.n);
    ac_put(s, "\noutputs  ");
    operands(s, cx, g->output.item, g->output.n);
    ac_putc(s, '\n');
}

/* The choices that led to the loops, as comments of their text form. */
static void put_schedule(arenac *a, ac_sink *s, const ac_lowered *low)
{
    const ac_schedule *c = &low->schedule;
    ac_putf(s, "# step of %s multiply-adds, %s B of scratch", ac_commas(&a->cx, low->macs),
            ac_commas(&a->cx, low->scratch));
    if (low->chunks)
        ac_putf(s, ", %d parts", low->chunks);
    if (c->winograd)
        ac_putf(s, "\n# winograd F(%dx%d,3x3)", c->winograd, c->winograd);
    if (c->tensor)
        ac_putf(s, "\n# tensor cores: %s", c->tensor == AC_F32 ? "tf32" : ac_dtype_name((ac_dtype)c->tensor));
    if (c->rows)
        ac_putf(s, "\n# register tile: %d rows by %d vector%s of channels", c->rows, c->vecs, c->vecs == 1 ? "" : "s");
    if (c->cost > 0)
        ac_putf(s, "\n# estimated cycles: %s", ac_commas(&a->cx, (int64_t)(c->cost + 0.5)));
    ac_putf(s, "\n# estimated code: %s B\n", ac_commas(&a->cx, ac_code_bytes(low->fn, a->lowering->set.target)));
}

/* Of the step with this number, or of those with this name. */
static int put_loops(arenac *a, const char *which, ac_sink *to)
{
    const ac_lowering *low = a->lowering;
    const char **names = AC_NEW_N(a->cx.region, const char *, low->n_steps + 1);
    char *end;
    const long number = strtol(which, &end, 10);
    bool found = false;
    for (int32_t i = 0; i < low->n_steps; i++) {
        names[i] = low->step[i]->node->name;
        if (*end ? strcmp(names[i], which) != 0 : number != i)
            continue;
        put_schedule(a, to, low->step[i]);
        ac_loop_dump(to, low->step[i]->fn);
        found = true;
    }
    if (found)
        return AC_OK;
    ac_error(&a->cx, (ac_place){.file = a->source.path}, E0501, "no step is named '%s' (there are %d steps)", which,
             low->n_steps);
    const char *near = ac_closest(which, names, low->n_steps);
    return near ? ac_help(&a->cx, "did you mean '%s'?", near) : AC_FAIL;
}

static int put_kind(arenac *a, const char *kind, ac_sink *to)
{
    if (!strcmp(kind, "ag")) {
        ac_graph_write_text(to, a->model->graph, ac_text_channels_first(a));
        return AC_OK;
    }
    if (!strcmp(kind, "dot")) {
        AC_TRY(ac_plan_model(a));
        ac_report_dot(to, a->report);
        return AC_OK;
    }
    if (strcmp(kind, "loops")) {
        static const char *const KINDS[] = {"ag", "loops", "dot"};
        const char *near = ac_closest(kind, KINDS, 3);
        ac_error(&a->cx, (ac_place){0}, E0501, "show cannot --emit %s; available: ag, loops, dot", kind);
        return near ? ac_help(&a->cx, "did you mean '%s'?", near) : AC_FAIL;
    }
    AC_TRY(ac_check(a));
    for (int32_t i = 0; i < a->lowering->n_steps; i++)
        ac_loop_dump(to, a->lowering->step[i]->fn);
    return AC_OK;
}

/* The table and the text form show the model as it is in the file, but for --stop-after; loops and the DOT picture need
 * the passes. */
int ac_show(arenac *a, const char *const *path, int32_t n)
{
    const ac_options *o = &a->opt;
    AC_TRY(ac_source_open(a, path, n));
    if (!o->emit && !o->loops && !o->quiet && n == 1 && strcmp(path[0], "-")) { /* also of what arenac cannot compile */
        const ac_diags before = a->cx.diags;
        ac_quietly(&a->cx, before, ac_tflm_show(a, ac_output_new(a, "-"))); /* what is wrong is said by the reader */
    }
    AC_TRY(ac_read_opened(a));
    if (o->stop_after || o->loops)
        AC_TRY(ac_check(a));
    ac_sink *to = ac_output_new(a, o->output ? o->output : "-");
    if (o->loops)
        return put_loops(a, o->loops, to);
    if (o->emit)
        return put_kind(a, o->emit, to);
    if (a->model->listing && !o->verbose)
        ac_put(to, a->model->listing);
    else
        put_table(to, &a->cx, a->model->graph);
    return AC_OK;
}

int ac_check_verb(arenac *a, const char *const *path, int32_t n)
{
    if (ac_several_wanted(a)) {
        AC_TRY(ac_several_read(a, path, n));
        return ac_several_check(a);
    }
    AC_TRY(ac_read(a, path, n));
    AC_TRY(ac_check(a));
    if (!a->opt.quiet && !a->opt.json)
        ac_putf(ac_output_new(a, "-"), "%s: fine; %d operators, %d steps for %s\n", path[0], (int)a->model->file_ops,
                a->lowering->n_steps, a->lowering->set.target->name);
    return AC_OK;
}
