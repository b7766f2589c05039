/* widen.c - constant weights of 4 bits are bytes. */
#include "ir/pass/passes.h"

/* The weights, if they are constants of 4 bits. */
static ac_tensor **narrow_weights(ac_node *n)
{
    const ac_filter f = ac_ops[n->op].filter;
    if (f == AC_FILTER_NONE)
        return NULL;
    const ac_filter_row *at = &ac_filter_of[f];
    ac_tensor **w = ac_node_in(n, at->w) ? &n->in[at->w] : NULL;
    return w && (*w)->dtype == AC_I4 && ac_tensor_is_const(*w) ? w : NULL;
}

/* ac_pass_widen: weights of 4 bits, which a model file packs two in a byte, become i8, as TFLite's kernels
 * unpack them.
 *   before:  const %w: i4[..]        %y = conv_2d %x %w
 *   after:   const %w_i8: i8[..]     %y = conv_2d %x %w_i8
 * needs: types known.  keeps: values. A tensor of i4 has a byte for each element, so the bytes stay too. */
int ac_pass_widen(ac_pass *p)
{
    ac_graph *g = p->graph;
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_tensor **w = narrow_weights(g->node.item[i]);
        const void *data = w ? ac_tensor_force(p->cx, *w) : NULL;
        if (w && !data)
            return AC_FAIL;
        if (!w)
            continue;
        ac_tensor *wide =
            ac_tensor_const(g, ac_strf(p->cx->region, "%s_i8", (*w)->name), AC_I8, (*w)->rank, (*w)->dim, data);
        wide->form_of = *w;
        wide->quant = (*w)->quant;
        wide->splat = (*w)->splat;
        *w = wide;
        p->changed++;
    }
    return AC_OK;
}
