/* flow.c - IF and WHILE have no loops of their own: pass infer puts the nodes of their subgraphs in their place
 * (ir/pass/inline.c), so nobody asks for their shape or lowering but for a graph that was not run through it. */
#include "ir/lower/lower.h"

int ac_sh_flow(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    return ac_error(cx, n->at, E0107, "%s is only supported where pass infer can replace it", ac_ops[n->op].text);
}

int ac_lo_flow(ac_lower *L)
{
    return ac_lower_refuse(L, "%s was not replaced by the operators of its subgraphs", ac_ops[L->node->op].text);
}
