/* axis.h - decodes and checks axes, permutations, pads, splits and blocks of a node.
 *
 * The same numbers may be in a static operand (a constant tensor) or in an attribute; negative axes count from the last
 * dimension. Operands and attributes are not changed. Shape rules and lowerings both call these functions, so a
 * lowering gets exactly the values that a rule accepted.
 *
 *     uint32_t mask;
 *     AC_TRY(ac_reduce_axes(cx, n, &mask));           mask & 1u << d: dimension d is reduced
 *
 * Errors: E0103 axis or number out of range, E0104 wrong count, E0203 operand computed at run time; each with a
 * diagnostic that names the node. Cost: that of reading the operand. Allocates nothing permanent. */
#ifndef AC_IR_OPS_DECODE_AXIS_H
#define AC_IR_OPS_DECODE_AXIS_H
#include "ir/graph/graph.h"

/* axis in [-rank, rank) -> [0, rank). */
int ac_axis_norm(ac_ctx *cx, const ac_node *n, int64_t axis, int32_t rank, int32_t *out);
/* The axes in operand `i` (else `attr`) as a bit mask. A doubled axis is an error unless `twice_ok`. */
int ac_axes_of(ac_ctx *cx, const ac_node *n, int32_t i, ac_ints attr, int32_t rank, bool twice_ok, uint32_t *mask);
/* MEAN, SUM, REDUCE_*: an axis named twice counts once, as in TFLite. An empty operand reduces nothing (TFLite); no
 * operand and no axes= reduces everything. */
int ac_reduce_axes(ac_ctx *cx, const ac_node *n, uint32_t *mask);
/* One axis: operand `i` when present, else `attr`. */
int ac_one_axis(ac_ctx *cx, const ac_node *n, int32_t i, int64_t attr, int32_t rank, int32_t *axis);
/* ARG_MAX, ARG_MIN: operand 1, else the last dimension. */
int ac_arg_axis(ac_ctx *cx, const ac_node *n, int32_t *axis);
/* TRANSPOSE: out dimension d is in dimension perm[d]. Neither operand nor attribute: the dimensions in reverse. */
int ac_perm_of(ac_ctx *cx, const ac_node *n, int32_t perm[AC_MAX_RANK]);
/* True if the permutation keeps the order of all dimensions of x longer than 1. Then no element moves. */
bool ac_perm_moves_nothing(const ac_tensor *x, const int32_t *perm);
/* PAD, PADV2, MIRROR_PAD: elements before and after each dimension of in[0]; all >= 0. Missing: none. */
int ac_pads_of(ac_ctx *cx, const ac_node *n, int64_t before[AC_MAX_RANK], int64_t after[AC_MAX_RANK]);
/* SPLIT, SPLIT_V: the tensor to split, the axis, and the extent of each output (n->n_out of them, in cx->region).
 */
ac_tensor *ac_split_value(const ac_node *n);
int ac_split_of(ac_ctx *cx, const ac_node *n, int32_t *axis, const int64_t **sizes);
/* SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND: m spatial dimensions 1..m of in[0] with their blocks, and pads (or crops). */
typedef struct ac_blocks {
    int32_t m;
    int64_t block[AC_MAX_RANK], before[AC_MAX_RANK], after[AC_MAX_RANK];
} ac_blocks;
int ac_blocks_of(ac_ctx *cx, const ac_node *n, ac_blocks *out);
/* RESIZE_*: the new height and width, each >= 1. */
int ac_resize_of(ac_ctx *cx, const ac_node *n, int64_t *h, int64_t *w);
/* TILE: how often each dimension of in[0] is repeated (>= 0). */
int ac_tile_of(ac_ctx *cx, const ac_node *n, int64_t times[AC_MAX_RANK]);
/* GATHER: axis and batch_dims, normalised: 0 <= batch <= axis < rank of in[0]. */
int ac_gather_of(ac_ctx *cx, const ac_node *n, int32_t *axis, int32_t *batch);

#endif
