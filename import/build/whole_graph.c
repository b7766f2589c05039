/* whole_graph.c - outputs and names of a graph that an importer has made. */
#include "import/build/whole_graph.h"
#include "import/build/name_map.h"

#include <string.h>

bool ac_graph_is_open(const ac_graph *g)
{
    bool open = false;
    for (int32_t i = 0; i < g->input.n; i++) {
        const ac_tensor *t = g->input.item[i];
        open |= t->any_rank;
        for (int32_t d = 0; d < t->rank; d++)
            open |= t->dim[d] < 0;
    }
    return open;
}

ac_tensor *ac_graph_add_output(ac_graph *g, ac_tensor *t, const char *name)
{
    if (t->input || t->output || ac_tensor_is_const(t)) {
        const ac_build b = {.cx = g->cx, .g = g, .name = name, .base = name, .at = {.file = g->file, .node = name}};
        ac_tensor *y = ac_tensor_new(g, name, t->dtype, t->rank, t->dim);
        ac_node *n = ac_node_new(g, AC_OP_RESHAPE, name, &t, 1, &y, 1);
        n->attrs.shape.shape = ac_build_list(&b, t->rank, t->dim);
        n->at = b.at;
        t = y;
    }
    t->output = true;
    ac_push(g->cx->region, &g->output, t);
    return t;
}

static int no_output(ac_graph *g, const char *name)
{
    const char **names = AC_NEW_N(g->cx->region, const char *, g->tensor.n + 1);
    for (int32_t k = 0; k < g->tensor.n; k++)
        names[k] = g->tensor.item[k]->name;
    const char *near = ac_closest(name, names, g->tensor.n);
    ac_error(g->cx, (ac_place){.file = g->file}, E0501, "--outputs: the model has no tensor '%s'", name);
    return near ? ac_help(g->cx, "did you mean '%s'?", near) : AC_FAIL;
}

int ac_graph_take_outputs(ac_graph *g, const char *outputs)
{
    int status = AC_OK;
    if (!outputs)
        return AC_OK;
    for (int32_t i = 0; i < g->output.n; i++)
        g->output.item[i]->output = false;
    g->output.n = 0;
    for (const char *p = outputs; p; p = *p ? p + 1 : NULL) {
        const size_t n = strcspn(p, ",");
        const char *name = ac_intern_n(g->cx, p, n);
        ac_tensor *t = ac_tensor_find(g, name);
        p += n;
        if (!t)
            status = no_output(g, name);
        else if (t->output)
            status = ac_error(g->cx, (ac_place){0}, E0501, "--outputs names '%s' twice", name);
        else
            ac_push(g->cx->region, &g->output, t);
        if (t)
            t->output = true;
    }
    return status;
}

void ac_graph_settle_names(ac_graph *g)
{
    ac_name_map seen = {0}; /* name -> suffix tried last */
    ac_region *region = g->cx->region;
    for (int32_t pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < g->tensor.n; i++) {
            ac_tensor *t = g->tensor.item[i];
            if ((t->input || t->output) != (pass == 0))
                continue;
            int32_t k = ac_name_get(&seen, t->name);
            const char *fresh = t->name;
            while (ac_name_get(&seen, fresh) >= 0)
                fresh = ac_internf(g->cx, "%s_%d", t->name, ++k);
            if (fresh != t->name)
                *ac_name_put(region, &seen, t->name) = k;
            t->name = fresh;
            *ac_name_put(region, &seen, fresh) = 0;
        }
    ac_graph_renumber(g);
}
