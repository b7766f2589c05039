/* tree_rules.c - shape rule of tree_ensemble: rows of features become rows of targets. */
#include "ir/ops/decode/trees.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

int ac_sh_tree_ensemble(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_trees t;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, AC_TREES_X, 2, "[N,F]"));
    const ac_tensor *x = n->in[AC_TREES_X];
    const ac_word how = n->attrs.trees.reduction;
    if (x->dtype != AC_F32 && x->dtype != AC_F64)
        return ac_error(cx, n->at, E0105, "'%s' is %s, expected f32 or f64", x->name, ac_dtype_name(x->dtype));
    if (how != AC_W_ADD && how != AC_W_MIN && how != AC_W_MAX)
        return ac_error(cx, n->at, E0103, "reduction is %s, expected add, min or max", ac_word_name[how]);
    AC_TRY(ac_trees_read(cx, n, &t));
    return ac_shape_set(cx, n, 0, x->dtype, 2, (int64_t[]){x->dim[0], n->attrs.trees.targets});
}
