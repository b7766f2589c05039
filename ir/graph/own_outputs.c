/* own_outputs.c - gives every output of a graph bytes that a step writes. */
#include "ir/graph/graph.h"

/* True if a step writes the bytes of output i and, if outputs are in the caller's memory, they belong to nothing
 * else. */
static bool has_own_bytes(const ac_graph *g, int32_t i, bool caller_io)
{
    const ac_tensor *t = g->output.item[i], *root = ac_tensor_root(t);
    if (ac_tensor_is_const(t) || t->input || t->state)
        return false;
    if (!caller_io)
        return true;
    for (int32_t k = 0; k < i; k++)
        if (ac_tensor_root(g->output.item[k]) == root)
            return false;
    return !ac_tensor_is_const(root) && !root->input && !root->state && ac_tensor_bytes(root) == ac_tensor_bytes(t);
}

void ac_graph_own_outputs(ac_graph *g, bool caller_io)
{
    for (int32_t i = 0; i < g->output.n; i++) {
        ac_tensor *t = g->output.item[i];
        if (has_own_bytes(g, i, caller_io))
            continue;
        ac_tensor *copy = ac_tensor_like(g, t->name, t);
        copy->output = true;
        t->output = false;
        ac_node *n = ac_node_new(g, AC_OP_RESHAPE, t->name, &t, 1, &copy, 1);
        n->at.file = g->file;
        n->at.node = n->name;
        g->output.item[i] = copy;
    }
}
