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

ac_reading *ac_reading_keep(ac_ctx *cx, const ac_file *f, const ac_import_options *opt)
{
    ac_reading *w = AC_NEW(cx->region, ac_reading);
    w->file = *f;
    w->opt = *opt;
    if (opt->second) {
        w->second = *opt->second;
        w->opt.second = &w->second;
    }
    return w;
}

ac_graph *ac_graph_later(const ac_graph *g, int (*expand)(ac_graph *g, void *reading), const ac_file *f,
                         const ac_import_options *opt)
{
    ac_graph *later = ac_graph_new(g->cx, g->name);
    later->format = g->format;
    later->file = g->file;
    later->channels_first = g->channels_first;
    for (int32_t i = 0; i < g->input.n; i++) {
        const ac_tensor *t = g->input.item[i];
        ac_tensor *own = ac_tensor_new(later, t->name, t->dtype, t->rank, t->dim);
        memcpy(own->dim_name, t->dim_name, sizeof own->dim_name);
        own->input = true;
        own->any_rank = t->any_rank;
        ac_push(g->cx->region, &later->input, own);
    }
    later->expand = expand;
    later->expand_with = ac_reading_keep(g->cx, f, opt);
    return later;
}

int ac_graph_conclude(ac_ctx *cx, ac_refusals *refused, const char *file, int rc)
{
    if (ac_refusals_report(cx, refused) != AC_OK)
        rc = AC_FAIL;
    if (rc != AC_OK && !cx->diags.errors)
        ac_error(cx, (ac_place){.file = file}, E0901, "the model was not understood, and nothing says why");
    return rc == AC_OK ? AC_OK : AC_FAIL;
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
