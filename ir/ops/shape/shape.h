/* shape.h - the shape rules, and what they share: operand checks and setting results.
 *
 *     int ac_sh_squeeze(ac_ctx *cx, ac_graph *g, ac_node *n)
 *     {
 *         AC_TRY(ac_shape_operands(cx, n));
 *         ...
 *         return ac_shape_set_like(cx, n, 0, n->in[0], rank, dim);
 *     }
 *
 * A rule reads input types, shapes and attributes and sets dtype, rank and dims of every output. A type or quantisation
 * the file declared for an output stays; where there is none the rule derives it. Rules accept what TFLite accepts,
 * dimensions of size 0 included unless said otherwise, and trust nothing: attributes and constants come from a file.
 *
 * No tensor has more than 2^31 - 1 elements (index values of the loops are i32): E0015. */
#ifndef AC_IR_OPS_SHAPE_SHAPE_H
#define AC_IR_OPS_SHAPE_SHAPE_H
#include "ir/graph/graph.h"

/* Fills dtype, rank and dim of every output (and resolves paddings in the attributes). The graph's own declared shapes
 * have been set aside. AC_FAIL with a diagnostic naming node and tensors. */
typedef int ac_shape_fn(ac_ctx *cx, ac_graph *g, ac_node *n);
/* Multiply-adds by the arithmetic of the operator (padding counts as work); shapes are known. */
typedef int64_t ac_macs_fn(const ac_node *n);

/* Those of the node's row. */
ac_shape_fn ac_op_shape;
ac_macs_fn ac_op_macs;

/* Required operands are there (E0102), and every operand has a type and a closed shape (E0204). The number of operands
 * fits the row. Every rule starts with it. */
int ac_shape_operands(ac_ctx *cx, const ac_node *n);
/* Operand i has this rank: E0104 with `layout` ("[N,H,W,C]") as what was expected. */
int ac_shape_rank(ac_ctx *cx, const ac_node *n, int32_t i, int32_t rank, const char *layout);
/* Operand i holds integers that can be indices: i16, i32 or i64. */
int ac_shape_index(ac_ctx *cx, const ac_node *n, int32_t i);
/* Operands i and k have the same element type: E0105. */
int ac_shape_same_type(ac_ctx *cx, const ac_node *n, int32_t i, int32_t k);
/* The declared type of output i is `d`, or there is none: E0105. */
int ac_shape_result_type(ac_ctx *cx, const ac_node *n, int32_t i, ac_dtype d);
/* Sets shape and (if undeclared) type of output i. Dims are checked: E0201 negative, E0205 rank, E0015 too many
 * elements. */
int ac_shape_set(ac_ctx *cx, ac_node *n, int32_t i, ac_dtype d, int32_t rank, const int64_t *dim);
/* The same for results that hold elements of `from` unchanged: its type, and its quantisation unless one is declared. A
 * declared type must be from's. */
int ac_shape_set_like(ac_ctx *cx, ac_node *n, int32_t i, const ac_tensor *from, int32_t rank, const int64_t *dim);
/* Quantisation of a result that repeats elements of `from`, unless it has one: only a scale of the whole tensor is
 * passed on, since one for each index of a dimension cannot follow a dimension that moves. */
void ac_shape_inherit_quant(ac_tensor *to, const ac_tensor *from);
/* The new shape in static operand i (else `attr`). When the operand is computed at run time but the file declares the
 * whole shape of result 0, the declaration is believed, with a warning W0001 (as TFLite Micro does); otherwise E0203.
 */
/* Of operand 0 in a graph whose batch was changed: a new shape that is of the old one is of the new one, in the node
 * too. same_count: the elements stay as many. */
void ac_shape_rebatch(ac_ctx *cx, const ac_graph *g, ac_node *n, bool same_count, ac_ints *want);
int ac_shape_new_shape(ac_ctx *cx, const ac_node *n, int32_t i, ac_ints attr, ac_ints *out);
/* The shape a, b, ... broadcast to (NumPy's rule) over all given operands of `mask`. */
int ac_shape_broadcast(ac_ctx *cx, const ac_node *n, uint32_t mask, int32_t *rank, int64_t dim[AC_MAX_RANK]);
/* Operators with weights (matrix_rules.c): the types of input, weights, bias and result go together; quantised ones
 * have scales, those of the weights lie along their channel. Bytes without scales, times weights of i8 or i16: sums of
 * i32. */
int ac_shape_weights(ac_ctx *cx, const ac_node *n);
ac_dtype ac_shape_weights_type(const ac_node *n); /* of the result, of operands that ac_shape_weights takes */
int ac_shape_bias(ac_ctx *cx, const ac_node *n, int32_t i, int64_t channels); /* one element for each output channel */
int ac_shape_act(ac_ctx *cx, const ac_node *n, ac_act act);
/* Operand i is a state tensor that this node alone uses (it writes it); states of i8 start at their zero point. */
int ac_shape_state(ac_ctx *cx, const ac_graph *g, const ac_node *n, int32_t i);
/* The same, and it holds `count` numbers of type d: one that a reader made for this node, with no element yet, gets
 * them. */
int ac_shape_state_sized(ac_ctx *cx, const ac_graph *g, const ac_node *n, int32_t i, ac_dtype d, int64_t count);
/* Adds a detail line "input K  i8 [1,2,3]  'name'" for every given operand to the newest diagnostic; AC_FAIL. */
int ac_shape_show(ac_ctx *cx, const ac_node *n);

#endif
