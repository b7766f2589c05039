/* flow.c - refuses IF and WHILE, which have no loops of their own: pass infer replaces them by the nodes of their
 * subgraphs (ir/pass/flow/inline.c). Their shape and lowering are needed only for a graph that has not been through
 * it. */
#include "ir/lower/entries.h"
#include "ir/lower/arithmetic.h"

int ac_lo_flow(ac_lower *L)
{
    return ac_lower_refuse(L, "%s was not replaced by the operators of its subgraphs", ac_ops[L->node->op].text);
}
