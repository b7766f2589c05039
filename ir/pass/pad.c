/* pad.c - padding operators become the padding of the convolution that reads them. */
#include "ir/ops/decode/axis.h"
#include "ir/pass/passes.h"

/* True if this node reads t only as the input of a convolution with explicit paddings, all of them 0. */
static bool conv_of(const ac_node *n, const ac_tensor *t)
{
    const ac_filter w = ac_ops[n->op].filter;
    if (w != AC_FILTER_CONV && w != AC_FILTER_DEPTHWISE)
        return false;
    if (n->in[0] != t || n->attrs.conv.padding != AC_PAD_EXPLICIT || n->attrs.conv.zero)
        return false;
    for (int32_t i = 1; i < n->n_in; i++)
        if (n->in[i] == t)
            return false;
    return true;
}

/* True if PADV2 pads with the value of a convolution's padding: real zero. */
static bool pads_zero(ac_ctx *cx, const ac_node *n)
{
    const ac_tensor *x = n->in[0];
    if (n->op == AC_OP_PAD)
        return true;
    if (!ac_tensor_is_const(n->in[2]) || ac_tensor_count(n->in[2]) != 1)
        return false;
    const void *data = ac_tensor_force(cx, n->in[2]);
    return data && ac_dtype_get_num(x->dtype, data, 0) == (double)ac_quant_zero(x);
}

/* Height and width only, and the sums stay small enough for the attributes. */
static bool spatial(ac_ctx *cx, const ac_node *n, int64_t *before, int64_t *after)
{
    const int64_t most = 1 << 24;
    if (n->in[0]->rank != 4 || ac_pads_of(cx, n, before, after) != AC_OK)
        return false;
    return !before[0] && !after[0] && !before[3] && !after[3] && before[1] < most && after[1] < most &&
           before[2] < most && after[2] < most;
}

/* Every reader is a convolution, and there is one. */
static bool all_convs(const ac_graph *g, const ac_tensor *t, int32_t uses)
{
    int32_t convs = 0;
    for (int32_t i = 0; i < g->node.n; i++)
        convs += conv_of(g->node.item[i], t);
    return convs > 0 && convs == uses;
}

/* ac_pass_pad: a PAD with zeros (or the zero point) that only convolutions read becomes their padding.
 *   before:  %p = pad %x pads=[0,0,1,1,1,1,0,0]      %y = conv_2d %p %w
 *   after:   %y = conv_2d %x %w padding=explicit pad_t=1 pad_b=1 pad_l=1 pad_r=1
 * needs: shapes known (paddings explicit), no epilogues.  keeps: values bit for bit: elements outside of the input
 * are zero in both. Pooling is not changed: its maximum or mean is over elements inside only. */
int ac_pass_pad(ac_pass *p)
{
    ac_graph *g = p->graph;
    int32_t *uses = ac_graph_uses(g, p->cx->region);
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        int64_t before[AC_MAX_RANK], after[AC_MAX_RANK];
        if ((n->op != AC_OP_PAD && n->op != AC_OP_PADV2) || n->n_fused)
            continue;
        ac_tensor *x = n->in[0], *y = n->out[0];
        if (x->dtype != y->dtype || !ac_quant_equal(x->quant, y->quant) || !pads_zero(p->cx, n) ||
            !spatial(p->cx, n, before, after) || !all_convs(g, y, uses[y->id]))
            continue;
        for (int32_t k = 0; k < g->node.n; k++) {
            ac_node *c = g->node.item[k];
            if (!conv_of(c, y))
                continue;
            c->in[0] = x;
            c->attrs.conv.pad_t += (int32_t)before[1];
            c->attrs.conv.pad_b += (int32_t)after[1];
            c->attrs.conv.pad_l += (int32_t)before[2];
            c->attrs.conv.pad_r += (int32_t)after[2];
        }
        ac_node_erase(n);
        p->changed++;
    }
    ac_graph_sweep(g);
    return AC_OK;
}
