/* trees.h - TREE_ENSEMBLE: the tables of decision trees, and their meaning.
 *
 *     x [N,F]  feature [n]  split [n]  first [n]  root [T]  weight [n] or [R,targets]  leaf [n]
 *
 * Node i compares feature f = feature[i] (negative: ~feature[i]) and goes to first[i] + 1 if x[f] <= split[i], else to
 * first[i]; if x[f] is NaN, to first[i] + 1 if feature[i] is negative, else to first[i]. Children come after their
 * parents. A leaf is its own first child, and its split is NaN. It adds weight[i] to the one target; with operand
 * `leaf` to target leaf[i], or, if weight has two dimensions, row leaf[i] of it to all targets. Trees are added in the
 * order of their roots. */
#ifndef AC_IR_OPS_DECODE_TREES_H
#define AC_IR_OPS_DECODE_TREES_H
#include "ir/graph/graph.h"

enum { AC_TREES_X, AC_TREES_FEATURE, AC_TREES_SPLIT, AC_TREES_FIRST, AC_TREES_ROOT, AC_TREES_WEIGHT, AC_TREES_LEAF };

typedef struct ac_trees {
    int64_t nodes, trees;
    int32_t *depth; /* of each tree: steps to its deepest leaf */
    bool tracks;    /* some NaN goes to the second child */
} ac_trees;

/* Reads and checks the tables, which are constants; AC_FAIL: reported. Cost O(nodes). Memory: the context's region. */
int ac_trees_read(ac_ctx *cx, ac_node *n, ac_trees *out);

#endif
