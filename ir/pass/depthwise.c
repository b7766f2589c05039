/* depthwise.c - depthwise convolutions of a single channel become ordinary ones. */
#include "ir/make/maker.h"
#include "ir/pass/passes.h"

static bool bytes(const ac_tensor *t)
{
    return t->dtype == AC_I8 || t->dtype == AC_U8;
}

/* True if it has one input channel and constant weights [1, h, w, channels]. */
static bool reads_one(const ac_node *n)
{
    const ac_filter_row *at = &ac_filter_of[AC_FILTER_DEPTHWISE];
    if (ac_ops[n->op].filter != AC_FILTER_DEPTHWISE || n->n_fused)
        return false;
    const ac_tensor *x = n->in[at->x], *w = n->in[at->w];
    return x->rank == 4 && x->dim[3] == 1 && w->rank == 4 && w->dim[0] == 1 && bytes(x) && bytes(w) &&
           ac_tensor_is_const(w);
}

/* w as [channels, h, w, 1]; NULL: it cannot be computed. */
static ac_tensor *turned(ac_graph *g, ac_tensor *w)
{
    static const int32_t ORDER[4] = {3, 1, 2, 0};
    int64_t dim[4];
    for (int32_t d = 0; d < 4; d++)
        dim[d] = w->dim[ORDER[d]];
    ac_tensor *out = ac_tensor_new(g, ac_strf(g->cx->region, "%s_turned", w->name), w->dtype, 4, dim);
    if (w->quant) {
        ac_quant *q = AC_NEW(g->cx->region, ac_quant);
        *q = *w->quant;
        q->axis = 0;
        out->quant = q;
    }
    const ac_maker b = {.cx = g->cx, .g = g, .name = out->name, .unsized = true};
    return ac_fold_new(g, ac_make_transpose_into(&b, w, ORDER, out));
}

/* ac_pass_depthwise: an integer depthwise convolution whose input has a single channel becomes an ordinary one, for
 * firmware that multiplies several bytes at once, if the filter has enough of them: the loops of a depthwise
 * convolution would need several channels.
 *   before:  %y = depthwise_conv_2d %x %w          x [n, h, w, 1], w [1, kh, kw, c]
 *   after:   %y = conv_2d %x %w_turned             w_turned [c, kh, kw, 1]
 * needs: shapes known, no epilogues, constant weights.  keeps: values bit for bit: the same products, summed in
 * integers, and requantised by the same rule. */
int ac_pass_depthwise(ac_pass *p)
{
    ac_graph *g = p->graph;
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        const int32_t at = ac_filter_of[AC_FILTER_DEPTHWISE].w;
        if (!reads_one(n) || n->in[at]->dim[1] * n->in[at]->dim[2] < p->opt->least_taps)
            continue;
        ac_tensor *w = turned(g, n->in[at]);
        if (!w)
            continue;
        n->op = AC_OP_CONV_2D;
        n->in[at] = w;
        p->changed++;
    }
    ac_graph_sweep(g);
    return AC_OK;
}
