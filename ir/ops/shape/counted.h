/* counted.h - dynamically sized dimensions. A plan needs a size, so such a dimension has its maximum size (its bound),
 * and another tensor holds its valid length:
 *
 *     i    i64 [3,20]     count: tensor 'n', count_dim 1          elements from n on are invalid
 *
 * Importers propagate this when they create nodes (import/build/counted.c), and refuse operators that would mix
 * valid and invalid elements. The plan, the loops and the code ignore it.
 *
 *     int32_t dim;
 *     if (!ac_counted_dim(cx, n, &dim)) ...       n mixes, or has no rule */
#ifndef AC_IR_OPS_SHAPE_COUNTED_H
#define AC_IR_OPS_SHAPE_COUNTED_H
#include "ir/graph/graph.h"

/* Of a node whose shapes are known and that reads counted tensors: the dynamically sized dimension of all its results,
 * whose valid length is the same tensor *count. false: none. */
bool ac_counted_dim(ac_ctx *cx, const ac_node *n, int32_t *dim, ac_tensor **count);

#endif
