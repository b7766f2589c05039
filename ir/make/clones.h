/* clones.h - values that follow from constants alone, made again in another graph: in a subgraph that reads them, or
 * outside of it. So passes see how they are made (a dequantised weight, say) in the graph that uses them.
 *
 *     %w = dequantize const    %y = scan .. %w        becomes        %y = scan .. (in the body: %w = dequantize const)
 *
 * Memory: the region of the graph's context. */
#ifndef AC_IR_MAKE_CLONES_H
#define AC_IR_MAKE_CLONES_H
#include "ir/graph/graph.h"

/* True if t is a constant, or a few nodes make it of constants. */
bool ac_is_made_of_constants(const ac_tensor *t);
/* A copy of t and of the nodes that make it, appended to g. NULL: a constant cannot be computed (reported). */
ac_tensor *ac_clone_constant(ac_graph *g, ac_tensor *t);

#endif
