/* shape.h - the shape rules, and their shared functions: operand checks and setting results.
 *
 *     int ac_sh_squeeze(ac_ctx *cx, ac_graph *g, ac_node *n)
 *     {
 *         AC_TRY(ac_shape_operands(cx, n));
 *         ...
 *         return ac_shape_set_like(cx, n, 0, n->in[0], rank, dim);
 *     }
 *
 * A rule reads input types, shapes and attributes and sets dtype, rank and dims of every output. A type or quantisation
 * that the file declares for an output is kept; without one the rule derives it. Rules accept what TFLite accepts,
 * including dimensions of size 0 unless noted, and validate everything: attributes and constants come from a file.
 *
 * No tensor has more than 2^31 - 1 elements (index values of the loops are i32): E0015. */
#ifndef AC_IR_OPS_SHAPE_SHAPE_H
#define AC_IR_OPS_SHAPE_SHAPE_H
#include "ir/graph/graph.h"

/* Fills dtype, rank and dim of every output (and resolves paddings in the attributes). The shapes declared in the file
 * have been removed before. AC_FAIL with a diagnostic naming node and tensors. */
typedef int ac_shape_fn(ac_ctx *cx, ac_graph *g, ac_node *n);
/* Multiply-adds by the arithmetic of the operator (padding counts as work); shapes are known. */
typedef int64_t ac_macs_fn(const ac_node *n);

/* Those of the node's row. */
ac_shape_fn ac_op_shape;
ac_macs_fn ac_op_macs;

/* Checks that required operands are present (E0102), that every operand has a type and a known shape (E0204), and that
 * the number of operands fits the row. Every rule starts with it. */
int ac_shape_operands(ac_ctx *cx, const ac_node *n);
/* Checks that operand i has this rank: E0104 with `layout` ("[N,H,W,C]") as the expected shape. */
int ac_shape_rank(ac_ctx *cx, const ac_node *n, int32_t i, int32_t rank, const char *layout);
/* Checks that operand i has a type for indices: i16, i32 or i64. */
int ac_shape_index(ac_ctx *cx, const ac_node *n, int32_t i);
/* Checks that operands i and k have the same element type: E0105. */
int ac_shape_same_type(ac_ctx *cx, const ac_node *n, int32_t i, int32_t k);
/* Checks that output i is declared as type `d` or without a type: E0105. */
int ac_shape_result_type(ac_ctx *cx, const ac_node *n, int32_t i, ac_dtype d);
/* Sets shape and (if undeclared) type of output i. Dims are checked: E0201 negative, E0205 rank, E0015 too many
 * elements. */
int ac_shape_set(ac_ctx *cx, ac_node *n, int32_t i, ac_dtype d, int32_t rank, const int64_t *dim);
/* The same for results with unchanged elements of `from`: its type, and its quantisation unless one is declared. A
 * declared type must be from's. */
int ac_shape_set_like(ac_ctx *cx, ac_node *n, int32_t i, const ac_tensor *from, int32_t rank, const int64_t *dim);
/* Quantisation of a result that repeats elements of `from`, unless it has one: only per-tensor scales are propagated,
 * since per-channel scales would have to follow a moved dimension. */
void ac_shape_inherit_quant(ac_tensor *to, const ac_tensor *from);
/* The new shape in static operand i (else `attr`). When the operand is computed at run time but the file declares the
 * whole shape of result 0, the declaration is used, with a warning W0001 (as TFLite Micro does); otherwise E0203.
 */
/* For operand 0 in a graph whose batch was changed: updates a new shape that contains the old batch to the new one,
 * also in the node. same_count: the number of elements must not change. */
void ac_shape_rebatch(ac_ctx *cx, const ac_graph *g, ac_node *n, bool same_count, ac_ints *want);
int ac_shape_new_shape(ac_ctx *cx, const ac_node *n, int32_t i, ac_ints attr, ac_ints *out);
/* The shape a, b, ... broadcast to (NumPy's rule) over all given operands of `mask`. */
int ac_shape_broadcast(ac_ctx *cx, const ac_node *n, uint32_t mask, int32_t *rank, int64_t dim[AC_MAX_RANK]);
/* Operators with weights (matrix_rules.c): checks that the types of input, weights, bias and result fit together;
 * quantised ones have scales, those of the weights along their channel. Bytes without scales, times weights of i8 or
 * i16: sums of i32. */
int ac_shape_weights(ac_ctx *cx, const ac_node *n);
ac_dtype ac_shape_weights_type(const ac_node *n); /* type of the result, for operands that ac_shape_weights accepts */
int ac_shape_bias(ac_ctx *cx, const ac_node *n, int32_t i, int64_t channels); /* one element for each output channel */
int ac_shape_act(ac_ctx *cx, const ac_node *n, ac_act act);
/* Checks that operand i is a state tensor that only this node uses (it writes it); states of i8 start at their zero
 * point. */
int ac_shape_state(ac_ctx *cx, const ac_graph *g, const ac_node *n, int32_t i);
/* The same, and checks that it has `count` elements of type d; an empty one, which a reader created for this node, gets
 * this size. */
int ac_shape_state_sized(ac_ctx *cx, const ac_graph *g, const ac_node *n, int32_t i, ac_dtype d, int64_t count);
/* Adds a detail line "input K  i8 [1,2,3]  'name'" for every given operand to the newest diagnostic; AC_FAIL. */
int ac_shape_show(ac_ctx *cx, const ac_node *n);

#endif
