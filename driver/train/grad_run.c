/* grad_run.c - the verb grad: gradients of a model's inputs, computed on this machine. */
#include "driver/train/train.h"

#include <string.h>

/* ------------------------------------------------------------------ arrays */

/* Reads the files of --cotangent, and makes space for them among the inputs. */
static int open_cotangents(arenac *a, ac_gradients *s)
{
    const ac_graph *g = a->model->graph;
    const ac_opt_keys *list = &a->opt.cotangent;
    ac_region *r = a->cx.region;
    const ac_inputs had = a->inputs;
    bool *given = AC_NEW_N(r, bool, g->output.n + 1);
    if (!list->n)
        return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501,
                        "grad needs the gradient of what by an output: --cotangent OUTPUT=FILE.npy");
    ac_npy *cotangent = AC_NEW_N(r, ac_npy, list->n);
    int32_t *of = AC_NEW_N(r, int32_t, list->n);
    for (int32_t k = 0; k < list->n; k++) {
        const ac_key_option *c = &list->item[k];
        AC_TRY(ac_io_find(&a->cx, a->source.path, "--cotangent", c->key, g->output.item, g->output.n, &of[k]));
        if (given[of[k]])
            return ac_error(&a->cx, (ac_place){0}, E0501, "--cotangent '%s' is given twice", c->key);
        given[of[k]] = true;
        AC_TRY(ac_npy_read(&a->cx, c->path, &cotangent[k]));
    }
    *s = (ac_gradients){.cotangent = cotangent, .of = of, .n = list->n};
    a->inputs.array = AC_NEW_N(r, ac_npy, had.n + list->n + 1);
    a->inputs.given = AC_NEW_N(r, bool, had.n + list->n + 1);
    for (int32_t i = 0; i < had.n; i++) {
        a->inputs.array[i] = had.array[i];
        a->inputs.given[i] = had.given[i];
    }
    return AC_OK;
}

static int write_gradients(arenac *a, const ac_gradients *s)
{
    const char *dir = a->opt.output_dir;
    AC_TRY(ac_folder_make(&a->cx, dir));
    for (int32_t k = 0; k < s->n_wrt; k++) {
        const ac_io *o = &a->module->output[k];
        int32_t i = 0;
        while (a->lowering->graph->input.item[i] != s->wrt[k])
            i++;
        ac_npy_write(ac_output_new(a, ac_strf(a->cx.region, "%s/grad%d.npy", dir, i)), o->tensor->dtype,
                     o->tensor->rank, o->tensor->dim, ac_session_at(&a->session, o));
    }
    return AC_OK;
}

int ac_grad_run(arenac *a, const char *const *path, int32_t n)
{
    ac_gradients s;
    a->purpose = AC_FOR_RUNNING;
    if (!a->opt.output_dir)
        return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501, "grad needs --output-dir DIR for its results");
    AC_TRY(ac_read(a, path, n));
    AC_TRY(ac_inputs_open(a));
    AC_TRY(open_cotangents(a, &s));
    a->extension.gradients = &s;
    AC_TRY(ac_compile(a));
    AC_TRY(ac_inputs_check(a));
    AC_TRY(ac_load(a));
    ac_inputs_fill(a, &a->session);
    AC_TRY(ac_session_run(&a->session));
    return write_gradients(a, &s);
}

int arenac_verb_grad(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_grad_run, path, n);
}
