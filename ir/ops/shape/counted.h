/* counted.h - dimensions whose size depends on the data. A plan needs a size, so such a dimension is as long as it can
 * become (its bound), and a tensor says how many of its elements there have a meaning:
 *
 *     i    i64 [3,20]     count: tensor 'n', count_dim 1          what lies from n on has no meaning
 *
 * Importers keep this while they make nodes (ac_build_counted of build.h), so that what would mix elements with and
 * without meaning is refused instead of computed. The plan, the loops and the code know nothing of it.
 *
 *     int32_t dim;
 *     if (!ac_counted_dim(cx, n, &dim)) ...       n mixes, or nobody has said that it does not */
#ifndef AC_IR_OPS_SHAPE_COUNTED_H
#define AC_IR_OPS_SHAPE_COUNTED_H
#include "ir/graph/graph.h"

/* Of a node whose shapes are known and that reads counted tensors: the dimension of all its results that is counted, by
 * the same tensor *count. false: there is none. */
bool ac_counted_dim(ac_ctx *cx, const ac_node *n, int32_t *dim, ac_tensor **count);

#endif
