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
    ac_tensor *to = ac_tensor_new(g, ac_strf(r, "%s_again", t->name), t->dtype, t->rank, t->dim);
    to->quant = t->quant;
    to->def = t->def;
    to->root = root;
    to->view_offset = root ? ac_tensor_root_offset(t) : 0;
    return to;
}
