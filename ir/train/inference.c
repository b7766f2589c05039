/* inference.c - the model in the same program as its step of training: it reads the current weights. */
#include "ir/train/make.h"

#include <string.h>

int ac_train_weights_like(ac_ctx *cx, ac_graph *run, const ac_train_step *s, ac_train_step *own)
{
    ac_train_no_dropout(run);
    const bool *read = ac_train_read(run, cx->region);
    own->spec = s->spec;
    ac_train_mark(run);
    AC_TRY(ac_train_floats(cx, run, s->spec, read));
    AC_TRY(ac_train_adapt(cx, run, own, read));
    for (int32_t i = 0; i < run->tensor.n; i++)
        run->tensor.item[i]->weight = false;
    for (int32_t i = 0; i < s->weight.n; i++) {
        const ac_train_weight *w = &s->weight.item[i];
        ac_tensor *t = ac_tensor_find(run, w->name);
        if (t && ac_tensor_is_const(t))
            AC_TRY(ac_train_to_state(cx, t, w->running, own));
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ layouts */

static bool same_move(const ac_transposition *a, const ac_transposition *b)
{
    bool same = a->rank == b->rank;
    for (int32_t d = 0; same && d < a->rank; d++)
        same = a->perm[d] == b->perm[d] && a->dim[d] == b->dim[d];
    return same;
}

static bool same_layout(const ac_train_weight *a, const ac_train_weight *b)
{
    bool same = a->move.n == b->move.n && ac_tensor_same_shape(a->state, b->state);
    for (int32_t i = 0; same && i < a->move.n; i++)
        same = same_move(&a->move.item[i], &b->move.item[i]);
    return same;
}

/* The weight as the step lays it out, in the file's layout. */
static ac_tensor *to_file(const ac_maker *m, const ac_train_weight *w)
{
    ac_tensor *x = w->state;
    for (int32_t i = w->move.n - 1; i >= 0; i--) {
        const ac_transposition *v = &w->move.item[i];
        int64_t dim[AC_MAX_RANK];
        int32_t back[AC_MAX_RANK];
        for (int32_t d = 0; d < v->rank; d++) {
            dim[d] = v->dim[v->perm[d]];
            back[v->perm[d]] = d;
        }
        x = ac_make_transpose(m, ac_make_reshape(m, x, v->rank, dim), back);
    }
    return x;
}

/* ... and in that of inference, if this differs. */
static ac_tensor *to_run(const ac_maker *m, const ac_train_weight *w, const ac_train_weight *own)
{
    if (same_layout(w, own))
        return w->state;
    ac_tensor *x = to_file(m, w);
    for (int32_t i = 0; i < own->move.n; i++) {
        const ac_transposition *v = &own->move.item[i];
        x = ac_make_transpose(m, ac_make_reshape(m, x, v->rank, v->dim), v->perm);
    }
    return ac_make_reshape(m, x, own->state->rank, own->state->dim);
}

/* ------------------------------------------------------------------ nodes */

/* A tensor of inference as one of g. NULL: a constant that cannot be computed. */
static ac_tensor *twin(const ac_maker *m, ac_tensor *t)
{
    ac_tensor *y = ac_tensor_like(m->g, ac_internf(m->cx, "%s_run", t->name), t);
    if (ac_tensor_is_const(t)) {
        y->splat = t->splat && t->data;
        y->data = y->splat ? t->data : ac_tensor_force(m->cx, t);
        return y->data ? y : NULL;
    }
    y->state = t->state;
    y->data = t->data;
    y->input = t->input;
    y->output = t->output;
    if (t->input)
        ac_push(m->cx->region, &m->g->input, y);
    return y;
}

static ac_tensor *mapped(const ac_maker *m, ac_tensor **map, ac_tensor *t)
{
    if (t && !map[t->id])
        map[t->id] = twin(m, t);
    return t ? map[t->id] : NULL;
}

static int add_node(const ac_maker *m, const ac_node *n, ac_tensor **map)
{
    ac_tensor **in = AC_NEW_N(m->cx->region, ac_tensor *, n->n_in + 1);
    ac_tensor **out = AC_NEW_N(m->cx->region, ac_tensor *, n->n_out + 1);
    for (int32_t i = 0; i < n->n_in; i++)
        if (!(in[i] = mapped(m, map, n->in[i])) && n->in[i])
            return AC_FAIL;
    for (int32_t i = 0; i < n->n_out; i++)
        out[i] = mapped(m, map, n->out[i]);
    ac_make_copy(m->g, n, in, out)->part = m->part;
    return AC_OK;
}

int ac_train_add_run(ac_ctx *cx, ac_graph *g, const ac_train_step *s, ac_graph *run, ac_train_step *own)
{
    const ac_maker m = ac_train_maker(g, "run", g->node.item[g->node.n - 1]->part + 1);
    AC_TRY(ac_train_branches(cx, run, own));
    AC_TRY(ac_train_products(cx, run));
    ac_train_layouts(cx, run, own);
    ac_tensor **map = AC_NEW_N(cx->region, ac_tensor *, run->tensor.n + 1);
    for (int32_t k = 0; k < own->weight.n; k++)
        for (int32_t i = 0; i < s->weight.n; i++)
            if (!strcmp(s->weight.item[i].name, own->weight.item[k].name))
                map[own->weight.item[k].state->id] = to_run(&m, &s->weight.item[i], &own->weight.item[k]);
    for (int32_t i = 0; i < run->node.n; i++) { /* random numbers of inference are those of the next step */
        const ac_tensor *numbers = ac_node_numbers(run->node.item[i]);
        for (int32_t k = 0; numbers && k < s->random.n; k++)
            if (!strcmp(s->random.item[k]->name, numbers->name))
                map[numbers->id] = s->random.item[k];
    }
    for (int32_t i = 0; i < run->input.n; i++) /* in the model's order */
        mapped(&m, map, run->input.item[i]);
    for (int32_t i = 0; i < run->node.n; i++)
        AC_TRY(add_node(&m, run->node.item[i], map));
    for (int32_t i = 0; i < run->output.n; i++)
        ac_push(cx->region, &g->output, mapped(&m, map, run->output.item[i]));
    return AC_OK;
}
