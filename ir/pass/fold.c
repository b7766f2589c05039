#include "ir/lower/lower.h"
#include "ir/pass/passes.h"

#include <string.h>

enum { SMALL_BYTES = 64 * 1024, GROWTH = 4 }; /* f32 out of i8 is four times as large, and still wanted */

static bool all_const(const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && !ac_tensor_is_const(n->in[i]))
            return false;
    return true;
}

/* Tiling or broadcasting a small constant at compile time would trade a little time for a lot of ROM. */
static bool grows(const ac_node *n)
{
    int64_t in = 0, out = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        in += n->in[i] ? ac_tensor_bytes(n->in[i]) : 0;
    for (int32_t i = 0; i < n->n_out; i++)
        out += ac_tensor_bytes(n->out[i]);
    return out > SMALL_BYTES && out / GROWTH > in;
}

/* Operators that only move elements: a splat stays the same splat. */
static bool moves_only(ac_op op)
{
    return ac_ops[op].flags & OF_VIEW || op == AC_OP_TRANSPOSE || op == AC_OP_SLICE || op == AC_OP_STRIDED_SLICE ||
           op == AC_OP_TILE || op == AC_OP_BROADCAST_TO || op == AC_OP_SPACE_TO_DEPTH || op == AC_OP_DEPTH_TO_SPACE ||
           op == AC_OP_REVERSE_V2;
}

/* Results that are data already there: reshaped constants, moved splats, FILL. */
static bool share(ac_node *n)
{
    const ac_tensor *x = n->op == AC_OP_FILL ? n->in[1] : n->in[0];
    ac_tensor *y = n->out[0];
    bool same_bytes = ac_ops[n->op].flags & OF_VIEW;
    bool splat = (moves_only(n->op) && x && x->splat) || n->op == AC_OP_FILL;
    if (!(same_bytes || splat) || !x || !(x->data || (same_bytes && x->raw)) || x->dtype != y->dtype)
        return false;
    y->data = x->data;
    y->raw = x->raw;
    y->splat = splat;
    return true;
}

bool ac_fold_node(ac_ctx *cx, ac_node *n)
{
    if (n->op == AC_OP_NONE || n->n_fused || n->n_in == 0 || !all_const(n))
        return false;
    if (!share(n)) {
        ac_lowered *w = grows(n) ? NULL : ac_lower_constant(cx, n);
        if (!w)
            return false;
        ac_node *own = AC_NEW(cx->region, ac_node); /* the lowering keeps its node; the graph's own is erased */
        *own = *n;
        w->node = own;
        for (int32_t i = 0; i < n->n_out; i++)
            n->out[i]->lazy = w;
    }
    ac_node_erase(n);
    return true;
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
            p->changed += ac_fold_node(p->cx, n);
    }
    ac_graph_sweep(p->graph);
    return AC_OK;
}
