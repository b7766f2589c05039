/* wanted_outputs.c - the outputs of a graph, by name. */
#include "import/build/wanted_outputs.h"
#include "import/build/build.h"

#include <string.h>

int ac_outputs_asked(ac_reading *r, ac_name_list *out)
{
    const char *text = r->opt.outputs;
    *out = (ac_name_list){0};
    while (text && *text) {
        while (*text == ' ' || *text == ',')
            text++;
        const size_t all = strcspn(text, ",");
        size_t n = all;
        while (n && text[n - 1] == ' ')
            n--;
        if (n)
            ac_push(r->cx->region, out, ac_intern_n(r->cx, text, n));
        text += all;
    }
    if (r->opt.outputs && !out->n)
        return ac_error(r->cx, (ac_place){.file = r->file.path}, E0501, "--outputs names nothing");
    return AC_OK;
}

int ac_outputs_unknown(ac_reading *r, const char *what, const char *name, ac_name_list known)
{
    ac_error(r->cx, (ac_place){.file = r->file.path}, E0501, "--outputs: the %s '%s'", what, name);
    const char *near = ac_closest(name, known.item, known.n);
    return near ? ac_help(r->cx, "did you mean '%s'?", near) : AC_FAIL;
}

ac_tensor *ac_outputs_add(ac_graph *g, ac_tensor *t, const char *name)
{
    if (t->input || t->output || ac_tensor_is_const(t)) {
        const ac_build b = {.cx = g->cx, .g = g, .name = name, .base = name, .at = {.file = g->file, .node = name}};
        ac_tensor *y = ac_tensor_new(g, name, t->dtype, t->rank, t->dim);
        ac_node *n = ac_node_new(g, AC_OP_RESHAPE, name, &t, 1, &y, 1);
        n->attrs.shape.shape = ac_build_list(&b, t->rank, t->dim);
        n->at = b.at;
        y->count = t->count;
        y->count_dim = t->count_dim;
        t = y;
    }
    t->output = true;
    ac_push(g->cx->region, &g->output, t);
    return t;
}

static int no_tensor(ac_reading *r, const char *name)
{
    ac_name_list known = {0};
    for (int32_t k = 0; k < r->g->tensor.n; k++)
        ac_push(r->cx->region, &known, r->g->tensor.item[k]->name);
    return ac_outputs_unknown(r, "model has no tensor", name, known);
}

int ac_outputs_take(ac_reading *r)
{
    ac_graph *g = r->g;
    ac_name_list asked;
    int rc = AC_OK;
    AC_TRY(ac_outputs_asked(r, &asked));
    for (int32_t i = 0; asked.n && i < g->output.n; i++)
        g->output.item[i]->output = false;
    g->output.n = asked.n ? 0 : g->output.n;
    for (int32_t i = 0; i < asked.n; i++) {
        ac_tensor *t = ac_tensor_find(g, asked.item[i]);
        if (!t) {
            rc = no_tensor(r, asked.item[i]);
            continue;
        }
        if (t->output)
            rc = ac_error(r->cx, (ac_place){0}, E0501, "--outputs names '%s' twice", asked.item[i]);
        else
            ac_push(r->cx->region, &g->output, t);
        t->output = true;
    }
    return rc;
}
