/* fold.c - constants of constants, without computing any. */
#include "ir/pass/passes.h"

bool ac_fold_node(ac_graph *g, ac_node *n)
{
    return ac_fold_moved(g, n) || ac_fold_plain(g, n);
}

ac_tensor *ac_fold_new(ac_graph *g, ac_tensor *y)
{
    ac_node *n = y->def;
    if (ac_fold_node(g, n))
        return y;
    ac_node_erase(n);
    return NULL;
}

/* ac_pass_fold: nodes that read constants only become constants: dequantised, transposed, reshaped weights. Constants
 * are moved before they are converted, so that they can be made of small ones (ir/lower/recipe).
 *   before:  const %w: f16      %v = dequantize %w      %y = conv_2d %x %v
 *   after:   const %v: f32 (lazy)                       %y = conv_2d %x %v
 * needs: shapes known.  keeps: names of tensors; a graph output may become a constant.  Nothing is computed here: lazy
 * constants are computed when they are printed. In reference mode only integers (shapes, axes) are folded. */
int ac_pass_fold(ac_pass *p)
{
    for (int32_t i = 0; i < p->graph->node.n; i++) {
        ac_node *n = p->graph->node.item[i];
        if (!p->opt->reference || ac_dtype_is_int(n->out[0]->dtype))
            p->changed += ac_fold_node(p->graph, n);
    }
    ac_graph_sweep(p->graph);
    return AC_OK;
}
