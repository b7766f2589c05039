/* extend.c - changes a graph to a requested extension; see extend.h. */
#include "driver/stage/extend.h"

#include "base/shell.h"
#include "ir/grad/grad.h"

/* ------------------------------------------------------------------ before the passes */

static int put_values(ac_ctx *cx, ac_graph *g, const ac_new_values *v)
{
    AC_TRY(ac_train_floats(cx, g, v->spec, ac_train_read(g, cx->region)));
    for (int32_t i = 0; i < v->n; i++) {
        const ac_new_value *x = &v->item[i];
        ac_tensor *to = ac_tensor_find(g, x->name);
        if (!to || !ac_tensor_is_const(to))
            return ac_error(cx, (ac_place){.file = g->file}, E0110, "weight '%s' is not a constant of the file",
                            x->name);
        to->data = ac_copy(cx->region, x->data, (size_t)ac_tensor_bytes(to) + 1);
        to->raw = NULL;
        to->lazy = NULL;
        to->splat = false;
    }
    for (int32_t i = 0; i < g->tensor.n; i++)
        g->tensor.item[i]->weight = false;
    if (v->no_dropout)
        ac_train_no_dropout(g);
    return AC_OK;
}

int ac_extend_file(const ac_made *a, const ac_extension *e)
{
    ac_graph *g = a->model->graph;
    if (e->values)
        return put_values(a->cx, g, e->values);
    if (e->like)
        return ac_train_weights_like(a->cx, g, e->like, e->step);
    return e->step ? ac_train_weights(a->cx, g, a->model->running.item, a->model->running.n, e->step) : AC_OK;
}

/* ------------------------------------------------------------------ pass grow */

/* Adds an input: the array of --cotangent number k, for output t. */
static int add_cotangent(const ac_made *a, const ac_gradients *s, int32_t k, const ac_tensor *t, ac_tensor **cotangent)
{
    const ac_npy *array = &s->cotangent[k];
    ac_graph *g = a->model->graph;
    ac_inputs *in = a->inputs;
    const char *option = ac_strf(a->cx->region, "--cotangent %s", ac_shell_word(a->cx, a->opt->cotangent.item[k].key));
    if (!ac_dtype_is_float(t->dtype))
        return ac_error(a->cx, (ac_place){.file = a->source->path}, E0304,
                        "%s: output '%s' is %s, which has no gradient", option, t->name, ac_tensor_str(a->cx, t));
    AC_TRY(ac_npy_fits(a->cx, array, t, option));
    ac_tensor *c = ac_tensor_new(g, ac_strf(a->cx->region, "cotangent_%s", t->name), t->dtype, t->rank, t->dim);
    c->input = true;
    ac_push(a->cx->region, &g->input, c);
    in->array[in->n] = *array;
    in->given[in->n++] = true;
    *cotangent = c;
    return AC_OK;
}

/* No output depends on input x. */
static ac_tensor *zero_gradient(ac_ctx *cx, ac_graph *g, const ac_tensor *x)
{
    ac_tensor *zero = ac_tensor_const(g, ac_strf(cx->region, "grad_%s", x->name), x->dtype, x->rank, x->dim,
                                      AC_NEW(cx->region, double));
    zero->splat = true;
    return zero;
}

/* The outputs become the gradients. */
static int add_gradients(const ac_made *a, ac_gradients *s)
{
    ac_graph *g = a->model->graph;
    ac_ctx *cx = a->cx;
    const int32_t n_in = g->input.n, n_out = g->output.n;
    ac_tensor **out = ac_copy(cx->region, g->output.item, (size_t)(n_out + 1) * sizeof *out);
    ac_tensor **cotangent = AC_NEW_N(cx->region, ac_tensor *, n_out + 1);
    ac_tensor **dx = AC_NEW_N(cx->region, ac_tensor *, n_in + 1);
    int status = AC_OK;
    s->wrt = AC_NEW_N(cx->region, ac_tensor *, n_in + 1);
    for (int32_t k = 0; k < s->n; k++)
        if (add_cotangent(a, s, k, out[s->of[k]], &cotangent[s->of[k]]) != AC_OK)
            status = AC_FAIL;
    AC_TRY(status);
    for (int32_t i = 0; i < n_in; i++)
        if (ac_dtype_is_float(g->input.item[i]->dtype))
            s->wrt[s->n_wrt++] = g->input.item[i];
    AC_TRY(ac_grad(cx, g, out, cotangent, n_out, s->wrt, s->n_wrt, dx));
    for (int32_t j = 0; j < n_out; j++)
        out[j]->output = false;
    g->output.n = 0;
    for (int32_t i = 0; i < s->n_wrt; i++) {
        if (!dx[i])
            dx[i] = zero_gradient(cx, g, s->wrt[i]);
        dx[i]->output = true;
        ac_push(cx->region, &g->output, dx[i]);
    }
    return AC_OK;
}

bool ac_extend_grows(const ac_extension *e)
{
    return e->gradients || (e->step && !e->like);
}

int ac_extend_grow(const ac_made *a, const ac_extension *e)
{
    if (e->gradients)
        return add_gradients(a, e->gradients);
    AC_TRY(ac_train_grow(a->cx, a->model->graph, e->step));
    for (int32_t i = 0; i < e->step->weight.n && e->values_apart; i++)
        e->step->weight.item[i].state->data = NULL;
    return AC_OK;
}
