/* resolve.h - computes types, shapes, and small constant results of a node as soon as it exists.
 *
 * Pass infer does this for whole graphs. Importers of formats whose operators depend on shapes (ONNX) call it for every
 * node they create, in execution order, once all operands are known:
 *
 *     ac_node *n = ac_node_new(g, AC_OP_SHAPE, "s", &x, 1, &s, 1);
 *     AC_TRY(ac_node_resolve(cx, g, n));          s is a constant now, and n is erased (ac_graph_sweep removes it)
 *
 * A result becomes a constant when it is SHAPE or RANK, or when all operands are constants and nothing in it is larger
 * than AC_SMALL elements: shape arithmetic, folded normalisation constants. Pass fold handles large constants, and
 * weights that are bytes. Cost: that of the shape rule, and of evaluating at most AC_SMALL elements (by the graph's
 * promise). Errors: those of the row's shape rule. */
#ifndef AC_IR_OPS_SHAPE_RESOLVE_H
#define AC_IR_OPS_SHAPE_RESOLVE_H
#include "ir/graph/graph.h"

enum { AC_SMALL = 4096 }; /* elements; shape arithmetic is far smaller, weights are mostly larger */

/* A cast of a constant matrix of bytes to floats: weights, which stay bytes until pass fold (pass integers). */
bool ac_node_keeps_bytes(const ac_node *n);
/* True if a result is stored in another tensor, such as state: it is not a constant, even if it has the same value in
 * each run. */
bool ac_node_writes_into(const ac_node *n);

int ac_node_resolve(ac_ctx *cx, ac_graph *g, ac_node *n);

/* SHAPE and RANK, whose result depends only on shapes: the result becomes a constant and n is erased. false: n is
 * another operator. Shapes must be known. */
bool ac_node_is_shape(ac_ctx *cx, ac_node *n);
/* A constant of at most AC_SMALL elements. */
bool ac_tensor_is_small_const(const ac_tensor *t);

#endif
