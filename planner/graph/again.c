/* again.c - copies of steps with other operands and results; see again.h. */
#include "planner/graph/again.h"

ac_tensor *ac_swapped(const ac_swaps *w, ac_tensor *t)
{
    for (int32_t k = w->n - 1; k >= 0; k--)
        if (w->item[k].from == t)
            return w->item[k].to;
    return t;
}

static ac_tensor **swapped_list(ac_region *r, const ac_swaps *w, ac_tensor *const *list, int32_t n)
{
    ac_tensor **out = AC_NEW_N(r, ac_tensor *, n + 1);
    for (int32_t i = 0; i < n; i++)
        out[i] = list[i] ? ac_swapped(w, list[i]) : NULL;
    return out;
}

static ac_node *copy_node(ac_region *r, const ac_node *n, const ac_swaps *w)
{
    ac_node *to = ac_copy(r, n, sizeof *n);
    to->in = swapped_list(r, w, n->in, n->n_in);
    to->out = swapped_list(r, w, n->out, n->n_out);
    to->fused = AC_NEW_N(r, ac_node *, n->n_fused + 1);
    for (int32_t k = 0; k < n->n_fused; k++)
        to->fused[k] = copy_node(r, n->fused[k], w);
    return to;
}

ac_lowered *ac_again_step(ac_region *r, const ac_lowered *low, const ac_swaps *w)
{
    ac_lowered *to = ac_copy(r, low, sizeof *low);
    to->node = copy_node(r, low->node, w);
    to->arg.item = ac_copy(r, low->arg.item, (size_t)low->arg.n * sizeof *low->arg.item);
    to->arg.cap = low->arg.n;
    for (int32_t i = 0; i < to->arg.n; i++)
        if (to->arg.item[i].tensor)
            to->arg.item[i].tensor = ac_swapped(w, to->arg.item[i].tensor);
    for (int32_t i = 0; i < to->n_overwrite; i++)
        to->overwrite[i] = ac_swapped(w, to->overwrite[i]);
    return to;
}

ac_tensor *ac_again_twin(ac_graph *g, ac_region *r, const ac_tensor *t, ac_tensor *root)
{
    ac_tensor *to = ac_tensor_like(g, ac_strf(r, "%s_again", t->name), t);
    to->def = t->def;
    to->root = root;
    to->view_offset = root ? ac_tensor_root_offset(t) : 0;
    return to;
}

bool ac_may_run_again(const ac_lowered *low)
{
    const ac_node *n = low->node;
    bool may = !low->streamed && !low->rows && !low->chain && !low->fn->fails && n->n_out == 1;
    for (int32_t f = -1; f < n->n_fused && may; f++)
        may = !(ac_ops[f < 0 ? n->op : n->fused[f]->op].flags & (OF_STATE | OF_CALLS));
    return may;
}

int32_t *ac_again_makers(ac_region *r, const ac_graph *g, ac_lowered *const *step, int32_t n,
                         bool (*may)(const ac_lowered *low))
{
    enum { NONE = -1, UNFIT = -2 };
    int32_t *maker = AC_NEW_N(r, int32_t, g->tensor.n + 1);
    for (int32_t i = 0; i < g->tensor.n; i++)
        maker[i] = NONE;
    for (int32_t s = 0; s < n; s++) {
        const ac_node *node = step[s]->node;
        const ac_tensor *to = ac_node_result(node), *root = ac_tensor_root(to);
        maker[root->id] = to == root && maker[root->id] == NONE && may(step[s]) ? s : UNFIT;
        for (int32_t i = node->n_fused ? 1 : 0; i < node->n_out; i++)
            if (node->out[i] != to)
                maker[ac_tensor_root(node->out[i])->id] = UNFIT;
    }
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        if (t->output || t->input || t->state)
            maker[ac_tensor_root(t)->id] = UNFIT;
    }
    return maker;
}
