/* resolve.h - what is known about one node as soon as it exists: types, shapes, and small constant results.
 *
 * Pass infer does this for whole graphs. Importers whose operators mean different things for different shapes (ONNX)
 * call it for every node they make, in execution order, when all operands are known:
 *
 *     ac_node *n = ac_node_new(g, AC_OP_SHAPE, "s", &x, 1, &s, 1);
 *     AC_TRY(ac_node_settle(cx, n));          s is a constant now, and n is erased (ac_graph_sweep removes it)
 *
 * A result becomes a constant when it is SHAPE or RANK, or when all operands are constants and nothing in it is larger
 * than 4096 elements: shape arithmetic, folded normalisation constants. Large constants are left to pass fold. Cost:
 * that of the shape rule, and of evaluating at most 4096 elements. Errors: those of the row's shape rule. */
#ifndef AC_IR_OPS_RESOLVE_H
#define AC_IR_OPS_RESOLVE_H
#include "ir/graph/graph.h"

int ac_node_settle(ac_ctx *cx, ac_graph *g, ac_node *n);

#endif
