/* fold.c - constants of constants, without computing any. */
#include "ir/pass/passes.h"

#include <string.h>

enum { SMALL_BYTES = 64 * 1024, GROWTH = 4 }; /* f32 out of i8 is four times as large, and still wanted */

static bool all_const(const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && (!ac_tensor_is_const(n->in[i]) || n->in[i]->weight))
            return false;
    return true;
}

/* Tiling or broadcasting a small constant at compile time would trade a little time for a lot of ROM. */
static bool grows_much(const ac_node *n)
{
    int64_t in = 0, out = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        in += n->in[i] ? ac_tensor_bytes(n->in[i]) : 0;
    for (int32_t i = 0; i < n->n_out; i++)
        out += ac_tensor_bytes(n->out[i]);
    return out > SMALL_BYTES && out / GROWTH > in;
}

/* Results that are data already there: reshaped constants, moved splats (the same everywhere, so moving changes
 * nothing), FILL. */
static bool share_bytes(ac_node *n)
{
    const ac_tensor *x = n->op == AC_OP_FILL ? n->in[1] : n->in[0];
    ac_tensor *y = n->out[0];
    bool same_bytes = ac_ops[n->op].flags & OF_VIEW;
    bool splat = (ac_ops[n->op].flags & (OF_VIEW | OF_MOVES) && x && x->splat) || n->op == AC_OP_FILL;
    if (!(same_bytes || splat) || !x || !(x->data || (same_bytes && x->raw)) || x->dtype != y->dtype)
        return false;
    y->data = x->data;
    y->raw = x->raw;
    y->splat = splat;
    return true;
}

bool ac_fold_node(const ac_graph *g, ac_node *n)
{
    if (n->op == AC_OP_NONE || n->n_fused || n->n_in == 0 || !all_const(n) || ac_ops[n->op].flags & OF_STATE)
        return false;
    if (!share_bytes(n) && (grows_much(n) || !g->promise || !g->promise(g->cx, n)))
        return false;
    ac_node_made(g, n);
    return true;
}

ac_tensor *ac_fold_new(const ac_graph *g, ac_tensor *y)
{
    ac_node *n = y->def;
    if (ac_fold_node(g, n))
        return y;
    ac_node_erase(n);
    return NULL;
}

/* ac_pass_fold: nodes that read constants only become constants: dequantised, transposed, reshaped weights.
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
