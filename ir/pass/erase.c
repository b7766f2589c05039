/* erase.c - taking a node out of a graph, for the passes before epilogue (no node has followers yet). */
#include "ir/pass/passes.h"

void ac_node_erase(ac_node *n)
{
    for (int32_t i = 0; i < n->n_out; i++)
        if (n->out[i]->def == n)
            n->out[i]->def = NULL;
    n->op = AC_OP_NONE;
    n->n_in = n->n_out = 0;
}
