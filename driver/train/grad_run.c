/* grad_run.c - the verb grad: gradients of a model's inputs, computed on this machine. */
#include "driver/train/train.h"

#include "ir/grad/grad.h"

#include <string.h>

typedef struct gradients {
    arenac *a;
    int32_t n_inputs;  /* of the model */
    ac_npy *cotangent; /* those given, in the order of the command line */
    int32_t *of;       /* the output that each is for */
    ac_tensor **wrt;   /* the inputs that have one */
    int32_t n_wrt;
} gradients;

/* ------------------------------------------------------------------ the graph */

/* One input more: the array of --cotangent number k, for output t. */
static int add_cotangent(gradients *s, ac_graph *g, int32_t k, const ac_tensor *t, ac_tensor **cotangent)
{
    arenac *a = s->a;
    ac_inputs *in = &a->inputs;
    const char *option = ac_strf(a->cx.region, "--cotangent %s", a->opt.cotangent.item[k].key);
    if (!ac_dtype_is_float(t->dtype))
        return ac_error(&a->cx, (ac_place){.file = a->source.path}, E0304,
                        "%s: output '%s' is %s, which has no gradient", option, t->name, ac_tensor_str(&a->cx, t));
    AC_TRY(ac_npy_fits(&a->cx, &s->cotangent[k], t, option));
    ac_tensor *c = ac_tensor_new(g, ac_strf(a->cx.region, "cotangent_%s", t->name), t->dtype, t->rank, t->dim);
    c->input = true;
    ac_push(a->cx.region, &g->input, c);
    in->array[in->n] = s->cotangent[k];
    in->given[in->n++] = true;
    *cotangent = c;
    return AC_OK;
}

/* Pass grow: the outputs become the gradients. */
static int grow(void *with, ac_ctx *cx, ac_graph *g)
{
    gradients *s = with;
    const int32_t n_out = g->output.n;
    ac_tensor **out = AC_NEW_N(cx->region, ac_tensor *, n_out + 1);
    ac_tensor **cotangent = AC_NEW_N(cx->region, ac_tensor *, n_out + 1);
    ac_tensor **dx = AC_NEW_N(cx->region, ac_tensor *, s->n_inputs + 1);
    int status = AC_OK;
    for (int32_t k = 0; k < s->a->opt.cotangent.n; k++)
        if (add_cotangent(s, g, k, g->output.item[s->of[k]], &cotangent[s->of[k]]) != AC_OK)
            status = AC_FAIL;
    AC_TRY(status);
    for (int32_t j = 0; j < n_out; j++)
        out[j] = g->output.item[j];
    for (int32_t i = 0; i < s->n_inputs; i++)
        if (ac_dtype_is_float(g->input.item[i]->dtype))
            s->wrt[s->n_wrt++] = g->input.item[i];
    AC_TRY(ac_grad(cx, g, out, cotangent, n_out, s->wrt, s->n_wrt, dx));
    for (int32_t j = 0; j < n_out; j++)
        out[j]->output = false;
    g->output.n = 0;
    for (int32_t i = 0; i < s->n_wrt; i++) {
        if (!dx[i]) { /* no output depends on it */
            dx[i] = ac_tensor_const(g, ac_strf(cx->region, "grad_%s", s->wrt[i]->name), s->wrt[i]->dtype,
                                    s->wrt[i]->rank, s->wrt[i]->dim, AC_NEW(cx->region, double));
            dx[i]->splat = true;
        }
        dx[i]->output = true;
        ac_push(cx->region, &g->output, dx[i]);
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ arrays */

/* Reads the files of --cotangent, and makes room for them among the inputs. */
static int open_cotangents(gradients *s)
{
    arenac *a = s->a;
    const ac_graph *g = a->model->graph;
    const ac_opt_keys *list = &a->opt.cotangent;
    ac_region *r = a->cx.region;
    const ac_inputs had = a->inputs;
    bool *given = AC_NEW_N(r, bool, g->output.n + 1);
    if (!list->n)
        return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501,
                        "grad needs the gradient of what by an output: --cotangent OUTPUT=FILE.npy");
    s->cotangent = AC_NEW_N(r, ac_npy, list->n);
    s->of = AC_NEW_N(r, int32_t, list->n);
    for (int32_t k = 0; k < list->n; k++) {
        const ac_key_option *c = &list->item[k];
        AC_TRY(ac_io_find(&a->cx, a->source.path, "--cotangent", c->key, g->output.item, g->output.n, &s->of[k]));
        if (given[s->of[k]])
            return ac_error(&a->cx, (ac_place){0}, E0501, "--cotangent '%s' is given twice", c->key);
        given[s->of[k]] = true;
        AC_TRY(ac_npy_read(&a->cx, c->path, &s->cotangent[k]));
    }
    a->inputs.array = AC_NEW_N(r, ac_npy, had.n + list->n + 1);
    a->inputs.given = AC_NEW_N(r, bool, had.n + list->n + 1);
    for (int32_t i = 0; i < had.n; i++) {
        a->inputs.array[i] = had.array[i];
        a->inputs.given[i] = had.given[i];
    }
    return AC_OK;
}

static int write_gradients(const gradients *s)
{
    arenac *a = s->a;
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
    gradients s = {.a = a};
    a->purpose = AC_FOR_RUNNING;
    if (!a->opt.output_dir)
        return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501, "grad needs --output-dir DIR for its results");
    AC_TRY(ac_read(a, path, n));
    AC_TRY(ac_inputs_open(a));
    AC_TRY(open_cotangents(&s));
    s.n_inputs = a->model->graph->input.n;
    s.wrt = AC_NEW_N(a->cx.region, ac_tensor *, s.n_inputs + 1);
    a->grow = grow;
    a->grow_with = &s;
    AC_TRY(ac_compile(a));
    AC_TRY(ac_inputs_check(a));
    AC_TRY(ac_load(a));
    ac_inputs_fill(a, &a->session);
    AC_TRY(ac_session_run(&a->session));
    return write_gradients(&s);
}

int arenac_verb_grad(arenac *a, const char *const *path, int32_t n)
{
    return ac_verb_guard(a, ac_grad_run, path, n);
}
