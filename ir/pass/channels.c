/* channels.c - pass channels: removes the parts of a quantised model that cannot change its results (--dead).
 *
 * If intervals prove that a channel has one value for all inputs (a ReLU that is always 0, a clamp that is always at
 * its limit), or if it is unused, it is removed from the tensor, and its weights from the operators that make and read
 * it. Its contribution to their sums moves into their bias. Results are bit-identical; the proof is in
 * docs/numerics.md. */
#include "ir/ops/shape/shape.h"
#include "ir/pass/channels.h"

enum { MOST_CHANNELS = 1 << 24 }; /* of all tensors: each takes up to 9 bytes, and is visited a few times */

/* Each element of a long vector is a channel; to look for one to remove is not worth the time. */
static bool too_many(const ac_graph *g)
{
    int64_t n = 0;
    for (int32_t k = 0; k < g->tensor.n && n <= MOST_CHANNELS; k++)
        n += ac_last_dim(g->tensor.item[k]);
    return n > MOST_CHANNELS;
}

/* The pass handles no fused nodes and views, so it comes before the passes that make them. */
static bool too_late(const ac_graph *g)
{
    for (int32_t k = 0; k < g->node.n; k++)
        if (g->node.item[k]->n_fused || g->node.item[k]->view)
            return true;
    return false;
}

static ac_bytes weight_bytes(const ac_node *n)
{
    ac_bytes bytes = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && ac_tensor_is_const(n->in[i]) && !ac_node_is_static(n, i))
            bytes += ac_tensor_bytes(n->in[i]);
    return bytes;
}

/* A row for each integer operator with weights, with its channels before the pass. */
static ac_cut_row *rows_of(ac_pass *p, ac_node ***node, int32_t *n)
{
    const ac_graph *g = p->graph;
    ac_cut_row *row = AC_NEW_N(p->cx->region, ac_cut_row, g->node.n + 1);
    *node = AC_NEW_N(p->cx->region, ac_node *, g->node.n + 1);
    for (int32_t k = 0; k < g->node.n; k++) {
        ac_node *o = g->node.item[k];
        const ac_filter_row *at = &ac_filter_of[ac_ops[o->op].filter];
        if (ac_ops[o->op].filter == AC_FILTER_NONE || !ac_dtype_is_int(o->in[at->x]->dtype))
            continue;
        (*node)[*n] = o;
        row[(*n)++] = (ac_cut_row){.name = o->name,
                                   .op = ac_ops[o->op].text,
                                   .channels = ac_last_dim(o->out[0]),
                                   .inputs = ac_last_dim(o->in[at->x]),
                                   .macs = ac_op_macs(o),
                                   .bytes = weight_bytes(o)};
    }
    return row;
}

/* ... less its channels after the pass. */
static void count_row(ac_cut_row *r, const ac_node *n)
{
    r->gone = r->channels;
    r->inputs_gone = r->inputs;
    r->macs_gone = r->macs;
    r->bytes_gone = r->bytes;
    if (n->op == AC_OP_NONE)
        return;
    r->gone -= ac_last_dim(n->out[0]);
    r->inputs_gone -= ac_last_dim(n->in[ac_filter_of[ac_ops[n->op].filter].x]);
    r->macs_gone -= ac_op_macs(n);
    r->bytes_gone -= weight_bytes(n);
}

/* True if an output depends on an input, or on state. */
static bool results_vary(const ac_channels *s)
{
    const ac_graph *g = s->g;
    bool *varies = AC_NEW_N(s->tmp, bool, g->tensor.n + 1), uniform, any = false;
    for (int32_t k = 0; k < g->tensor.n; k++)
        varies[k] = g->tensor.item[k]->input || g->tensor.item[k]->state;
    for (int32_t k = 0; k < g->node.n; k++) {
        const ac_node *n = g->node.item[k];
        bool some = false;
        for (int32_t i = 0; i < n->n_in && !some; i++)
            some = n->in[i] && varies[n->in[i]->id];
        some = some && !ac_channels_constant(s, n, &uniform);
        for (int32_t i = 0; i < n->n_out; i++)
            varies[n->out[i]->id] |= some;
    }
    for (int32_t k = 0; k < g->output.n; k++)
        any |= varies[g->output.item[k]->id];
    return any;
}

/* ac_pass_channels: removes channels of quantised tensors that are unused, or constant for all inputs, and replaces
 * constant results by constants.
 *   before:  %y: i8[1,8,8,16] = conv_2d %x %w %b act=relu      %z = conv_2d %y %v %c      channels 3 and 7 of %y: zero
 *   after:   %y: i8[1,8,8,14] = conv_2d %x %w_live %b_live act=relu      %z = conv_2d %y %v_live %c_live
 * needs: shapes known, no epilogues, no views.  keeps: values bit for bit; names, types and shapes of inputs and
 * outputs. An output may become a constant, but not all of them: the model then has random weights, and stays as it is.
 * Weights of quantised operators are read here; otherwise only operators are evaluated, at the ends of intervals. */
int ac_pass_channels(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_cuts *cuts = p->opt->cuts;
    ac_node **node;
    int32_t n = 0;
    if (too_late(g) || too_many(g))
        return AC_OK;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    ac_cut_row *row = rows_of(p, &node, &n);
    ac_channels s = {.cx = p->cx, .g = g, .tmp = tmp};
    s.span = AC_NEW_N(tmp, ac_span, g->tensor.n + 1);
    s.constant = AC_NEW_N(tmp, bool, g->tensor.n + 1);
    for (int32_t k = 0; k < g->tensor.n; k++)
        s.constant[k] = ac_tensor_is_const(g->tensor.item[k]);
    s.need = AC_NEW_N(tmp, uint8_t *, g->tensor.n + 1);
    s.sums = AC_NEW_N(tmp, ac_sums *, g->node.n + 1);
    ac_channels_values(&s);
    ac_channels_needs(&s);
    *cuts = (ac_cuts){row, n, !results_vary(&s)};
    if (!cuts->same)
        p->changed += ac_channels_cut(&s);
    for (int32_t k = 0; k < n; k++)
        count_row(&row[k], node[k]);
    ac_region_close(tmp);
    return p->changed ? ac_pass_dead(p) : AC_OK;
}
