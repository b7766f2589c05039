/* append.c - appends a node to the graph that pass state changes. */
#include "ir/ops/shape/resolve.h"
#include "ir/pass/state/state.h"

int ac_state_make(ac_ctx *cx, ac_graph *g, ac_op op, const char *name, ac_tensor *const *in, int32_t n_in,
                  const ac_attrs *attrs, ac_tensor **y)
{
    *y = ac_tensor_new(g, name, AC_NONE, 0, NULL);
    ac_node *n = ac_node_new(g, op, (*y)->name, in, n_in, y, 1);
    n->at = (ac_place){.file = g->file, .node = n->name};
    if (attrs)
        n->attrs = *attrs;
    return ac_node_resolve(cx, g, n);
}
