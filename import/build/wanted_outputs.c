/* wanted_outputs.c - selects the outputs of a graph by name. */
#include "import/build/wanted_outputs.h"
#include "base/text/named.h"
#include "ir/make/maker.h"

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
        return ac_error(r->cx, (ac_place){.file = r->file.path}, E0501, "--outputs is empty");
    return AC_OK;
}

const char *ac_outputs_named(ac_reading *r, const char *what, const char *name, ac_name_list known)
{
    const int32_t i = ac_named(name, known.item, known.n);
    if (i >= 0)
        return known.item[i];
    ac_error(r->cx, (ac_place){.file = r->file.path}, E0501, "--outputs: the %s '%s'", what, name);
    (void)ac_named_list(r->cx, name, known.item, known.n);
    return NULL;
}

ac_tensor *ac_outputs_add(ac_graph *g, ac_tensor *t, const char *name)
{
    if (t->input || t->output || ac_tensor_is_const(t)) {
        ac_maker b = ac_maker_named(g, name);
        ac_tensor *y = ac_tensor_new(g, name, t->dtype, t->rank, t->dim);
        b.unsized = true;
        ac_make_reshape_into(&b, t, y, y);
        y->words = t->words;
        y->count = t->count;
        y->count_dim = t->count_dim;
        t = y;
    }
    t->output = true;
    ac_push(g->cx->region, &g->output, t);
    return t;
}

static const char *some_tensor(ac_reading *r, const char *name)
{
    ac_name_list known = {0};
    for (int32_t k = 0; k < r->g->tensor.n; k++)
        if (!ac_tensor_is_const(r->g->tensor.item[k])) /* weights often have the names of their layers */
            ac_push(r->cx->region, &known, r->g->tensor.item[k]->name);
    return ac_outputs_named(r, "model has no tensor", name, known);
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
        const char *whole = t ? t->name : some_tensor(r, asked.item[i]);
        t = whole ? ac_tensor_find(g, whole) : NULL;
        if (!t) {
            rc = AC_FAIL;
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
