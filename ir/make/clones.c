/* clones.c - values that follow from constants alone, made again in another graph. */
#include "ir/make/clones.h"
#include "ir/make/maker.h"

enum { MOST_NODES = 32 };

/* *left: how many nodes more may make t. */
static bool is_made(const ac_tensor *t, int32_t *left)
{
    const ac_node *n = t->def;
    if (ac_tensor_is_const(t))
        return !t->weight;
    if (!n || t->root || t->count || n->n_fused || !n->n_in || --*left < 0 ||
        ac_ops[n->op].flags & (OF_STATE | OF_FLOW | OF_CHECKS | OF_CALLS) || n->op == AC_OP_DROPOUT)
        return false;
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && !is_made(n->in[i], left))
            return false;
    return true;
}

bool ac_is_made_of_constants(const ac_tensor *t)
{
    int32_t left = MOST_NODES;
    return is_made(t, &left);
}

ac_tensor *ac_clone_constant(ac_graph *g, ac_tensor *t)
{
    const ac_node *n = t->def;
    ac_tensor *found = ac_tensor_copy(g, t);
    if (ac_tensor_is_const(t) || !found)
        return found;
    ac_tensor **in = AC_NEW_N(g->region, ac_tensor *, n->n_in + 1),
              **out = AC_NEW_N(g->region, ac_tensor *, n->n_out + 1);
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && !(in[i] = ac_clone_constant(g, n->in[i])))
            return NULL;
    for (int32_t i = 0; i < n->n_out; i++)
        if (!(out[i] = n->out[i] == t ? found : ac_tensor_copy(g, n->out[i])))
            return NULL;
    ac_make_copy(g, n, in, out);
    return found;
}
