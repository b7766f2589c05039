/* flow.c - IF and WHILE have no loops of their own: pass infer puts the nodes of their subgraphs in their place
 * (ir/pass/flow/inline.c), so nobody needs their shape or lowering, except of a graph that was not run through it. */
#include "ir/lower/entries.h"
#include "ir/lower/lower.h"

int ac_lo_flow(ac_lower *L)
{
    return ac_lower_refuse(L, "%s was not replaced by the operators of its subgraphs", ac_ops[L->node->op].text);
}
