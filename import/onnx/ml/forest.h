/* forest.h - decision trees of ai.onnx.ml as the file has them, and as TREE_ENSEMBLE's tables (ir/ops/decode/trees.h).
 *
 *     ac_forest f = {...};                     nodes, leaves' weights, roots (tree_nodes.c)
 *     y = ac_forest_tables(n, &f, x);          [N,targets]
 *
 * The tables know one comparison, x <= split. Others become it: `<` with the float before the split, `>` and `>=` with
 * the children swapped, equality and sets as a search for the value. Memory: the context's region. */
#ifndef AC_IMPORT_ONNX_ML_FOREST_H
#define AC_IMPORT_ONNX_ML_FOREST_H
#include "import/onnx/proto/onnx.h"

typedef enum ac_branch {
    AC_BRANCH_LEQ,
    AC_BRANCH_LT,
    AC_BRANCH_GEQ,
    AC_BRANCH_GT,
    AC_BRANCH_EQ,
    AC_BRANCH_NEQ,
    AC_BRANCH_MEMBER,
    AC_BRANCH_LEAF
} ac_branch;

typedef struct ac_tree_node {
    ac_branch mode;
    int64_t feature, yes, no; /* children: numbers of nodes */
    double split;
    bool tracks;         /* NaN goes to yes */
    int64_t from, count; /* of a leaf: its weights; of a set: its members */
} ac_tree_node;

typedef struct ac_leaf_weight {
    int64_t target;
    double w;
} ac_leaf_weight;

typedef struct ac_forest {
    ac_tree_node *node;
    int64_t n_nodes;
    int64_t *root;
    int64_t n_trees;
    ac_leaf_weight *weight; /* of a leaf side by side */
    int64_t n_weights;
    double *member; /* of sets */
    int64_t targets;
    ac_word how; /* add, min, max */
} ac_forest;

ac_tensor *ac_forest_tables(ac_onx_node *n, ac_forest *f, ac_tensor *x); /* x: f32 or f64 [N,F] */

#endif
