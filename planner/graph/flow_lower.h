/* flow_lower.h - lowers an IF or WHILE whose condition depends on data (ir/pass/flow/flow.c) to one step: the loops of
 * its subgraphs inside a branch, or inside a loop that ends when the condition is false.
 *
 *     %y = while 1 2 %x        for turn in 0 .. 2^31-1        y = x first
 *                                steps of the condition       read y
 *                                break_if not again
 *                                steps of the body            y is state to them: they read it and write it
 *                              end
 *
 * Intermediate results of a subgraph are in scratch of the step, which is planned as the arena is: by live ranges, in
 * the order of the file. There is a scratch argument for each type of elements, since a C compiler may reorder accesses
 * of different types; the subgraphs of a node share it. Nodes without subgraphs are lowered as ac_lower_hinted does.
 *
 * Errors: those of lowering and packing. Memory: region.
 */
#ifndef AC_PLANNER_GRAPH_FLOW_LOWER_H
#define AC_PLANNER_GRAPH_FLOW_LOWER_H
#include "ir/graph/graph.h"
#include "ir/lower/lowered.h"
#include "ir/lower/target.h"

typedef struct ac_flow_how {
    const ac_target *target;
    bool exact;
    ac_schedule hint; /* for the nodes of subgraphs */
} ac_flow_how;

/* n: a node of `model`, the main graph, or of one of its subgraphs. NULL: diagnostic. */
ac_lowered *ac_flow_lower(ac_ctx *cx, ac_region *region, const ac_graph *model, const ac_node *n,
                          const ac_flow_how *how);

#endif
