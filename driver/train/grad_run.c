/* grad_run.c - the verb grad: gradients of a model's inputs, computed on this machine. */
#include "driver/train/train.h"

#include <string.h>

/* ------------------------------------------------------------------ arrays */

/* Reads the files of --cotangent, and makes space for them among the inputs. */
static int open_cotangents(ac_work *w, ac_gradients *s)
{
    const ac_graph *g = w->made.model->graph;
    const ac_opt_keys *list = &w->opt.cotangent;
    ac_region *r = w->cx.region;
    const ac_inputs had = w->inputs;
    bool *given = AC_NEW_N(r, bool, g->output.n + 1);
    if (!list->n)
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501,
                        "grad needs the gradient of what by an output: --cotangent OUTPUT=FILE.npy");
    ac_npy *cotangent = AC_NEW_N(r, ac_npy, list->n);
    int32_t *of = AC_NEW_N(r, int32_t, list->n);
    for (int32_t k = 0; k < list->n; k++) {
        const ac_key_option *c = &list->item[k];
        AC_TRY(ac_io_find(&w->cx, w->source.path, "--cotangent", c->key, g->output.item, g->output.n, &of[k]));
        if (given[of[k]])
            return ac_error(&w->cx, (ac_place){0}, E0501, "--cotangent '%s' is given twice", c->key);
        given[of[k]] = true;
        AC_TRY(ac_npy_read(&w->cx, c->path, &cotangent[k]));
    }
    *s = (ac_gradients){.cotangent = cotangent, .of = of, .n = list->n};
    w->inputs.array = AC_NEW_N(r, ac_npy, had.n + list->n + 1);
    w->inputs.given = AC_NEW_N(r, bool, had.n + list->n + 1);
    for (int32_t i = 0; i < had.n; i++) {
        w->inputs.array[i] = had.array[i];
        w->inputs.given[i] = had.given[i];
    }
    return AC_OK;
}

static int write_gradients(ac_work *w, const ac_gradients *s)
{
    const char *dir = w->opt.output_dir;
    AC_TRY(ac_folder_make(&w->cx, dir));
    for (int32_t k = 0; k < s->n_wrt; k++) {
        const ac_io *o = &w->made.module->output[k];
        int32_t i = 0;
        while (w->made.lowering->graph->input.item[i] != s->wrt[k])
            i++;
        ac_npy_write(ac_pending_add(&w->out, ac_strf(w->cx.region, "%s/grad%d.npy", dir, i)), o->tensor->dtype,
                     o->tensor->rank, o->tensor->dim, ac_session_at(&w->session, o));
    }
    return AC_OK;
}

int ac_grad_run(ac_work *w, const char *const *path, int32_t n)
{
    ac_gradients s;
    w->request.purpose = AC_FOR_RUNNING;
    if (!w->opt.output_dir)
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501, "grad needs --output-dir DIR for its results");
    AC_TRY(ac_read(w, path, n));
    AC_TRY(ac_inputs_open(&w->made));
    AC_TRY(open_cotangents(w, &s));
    w->request.extension.gradients = &s;
    AC_TRY(ac_compile(w));
    AC_TRY(ac_inputs_check(&w->made, false));
    AC_TRY(ac_load(w));
    ac_inputs_fill(&w->made, &w->session);
    AC_TRY(ac_session_run(&w->session));
    return write_gradients(w, &s);
}
