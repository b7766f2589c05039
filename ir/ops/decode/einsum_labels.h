/* einsum_labels.h - decodes EINSUM: the label of each dimension of operands and result, and the extents of labels.
 *
 *     z = einsum(x, y) labels=[0,1, 1,2, 0,2]        z[i,k] = sum over j of x[i,j] * y[j,k]
 *
 * The labels of all dimensions of all operands come first, in order, then those of the result, which are distinct
 * and occur in operands. A label has one extent; operands may have 1 instead (broadcast).
 *
 * Memory: lists point into the attributes. Errors: E0103 labels, E0104 extents that differ. */
#ifndef AC_IR_OPS_DECODE_EINSUM_LABELS_H
#define AC_IR_OPS_DECODE_EINSUM_LABELS_H
#include "ir/graph/graph.h"

enum { AC_EINSUM_LABELS = 2 * AC_MAX_RANK, AC_EINSUM_OPERANDS = 8 };

typedef struct ac_einsum_labels {
    int32_t n_in, rank;                        /* operands, dimensions of the result */
    const int64_t *of[AC_EINSUM_OPERANDS + 1]; /* labels of operand i; the result's after */
    int64_t extent[AC_EINSUM_LABELS];          /* 0: not used ... */
    bool used[AC_EINSUM_LABELS], kept[AC_EINSUM_LABELS];
} ac_einsum_labels;

int ac_einsum_labels_of(ac_ctx *cx, const ac_node *n, ac_einsum_labels *l);

#endif
