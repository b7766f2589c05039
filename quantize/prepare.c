/* prepare.c - the graph in the form that the walk expects: one operator does one thing. */
#include "quantize/net.h"

#include "ir/make/maker.h"

#include <string.h>

static const ac_op OF_ACT[] = {[AC_ACT_RELU] = AC_OP_RELU,
                               [AC_ACT_RELU6] = AC_OP_RELU6,
                               [AC_ACT_RELU_N1_TO_1] = AC_OP_RELU_N1_TO_1,
                               [AC_ACT_TANH] = AC_OP_TANH};

static bool multiplies(const ac_node *n)
{
    return n->op == AC_OP_CONV_2D || n->op == AC_OP_DEPTHWISE_CONV_2D || n->op == AC_OP_TRANSPOSE_CONV ||
           n->op == AC_OP_FULLY_CONNECTED || n->op == AC_OP_BATCH_MATMUL;
}

/* conv act=relu   ->   conv, relu */
static int split_act(ac_graph *g, ac_node *n)
{
    const ac_act act = ac_node_act(n);
    if (!multiplies(n) || act == AC_ACT_NONE || (size_t)act >= sizeof OF_ACT / sizeof *OF_ACT || !OF_ACT[act])
        return AC_OK;
    const ac_maker b = ac_maker_at(g, n);
    ac_tensor *y = n->out[0], *sum = ac_tensor_like(g, y->name, y);
    sum->def = n;
    n->out[0] = sum;
    ac_node_set_act(n, AC_ACT_NONE);
    return ac_make_into(&b, OF_ACT[act], &sum, 1, NULL, y) ? AC_OK : AC_FAIL;
}

/* max(x, 0) is relu, min(relu(x), 6) relu6 of x if nothing else reads the relu. */
static void name_clip(ac_graph *g, ac_node *n, const int32_t *uses)
{
    double lo, hi;
    if ((n->op != AC_OP_MAXIMUM && n->op != AC_OP_MINIMUM) || n->out[0]->dtype != AC_F32)
        return;
    if (ac_tensor_is_const(n->in[0])) {
        ac_tensor *t = n->in[0];
        n->in[0] = n->in[1];
        n->in[1] = t;
    }
    if (!ac_q_clip(g->cx, n, &lo, &hi) || !ac_tensor_same_shape(n->in[0], n->out[0]))
        return;
    ac_node *before = n->in[0]->def;
    ac_op op = AC_OP_NONE;
    if (n->op == AC_OP_MAXIMUM && lo == 0)
        op = AC_OP_RELU;
    if (n->op == AC_OP_MINIMUM && hi == 6 && before && before->op == AC_OP_RELU && uses[n->in[0]->id] == 1)
        op = AC_OP_RELU6;
    if (op == AC_OP_NONE)
        return;
    if (op == AC_OP_RELU6) {
        n->in[0] = before->in[0];
        ac_node_erase(before);
    }
    n->op = op;
    n->n_in = 1;
    ac_attrs_init(op, &n->attrs);
}

int ac_q_prepare(ac_graph *g)
{
    const int32_t n = g->node.n;
    ac_node **was = ac_copy(g->cx->region, g->node.item, (size_t)n * sizeof *was + 1);
    int32_t *uses = ac_graph_uses(g, g->cx->region);
    for (int32_t i = 0; i < n; i++)
        name_clip(g, was[i], uses);
    g->node.n = 0;
    for (int32_t i = 0; i < n; i++) {
        if (was[i]->op == AC_OP_NONE)
            continue;
        ac_push(g->region, &g->node, was[i]);
        AC_TRY(split_act(g, was[i]));
    }
    return AC_OK;
}

int ac_q_check(const ac_graph *g)
{
    ac_ctx *cx = g->cx;
    const ac_place at = {.file = g->file};
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (g->tensor.item[i]->state)
            return ac_error(cx, at, E0108, "quantize takes models without state, but '%s' keeps its value between runs",
                            g->tensor.item[i]->name);
    if (g->sub.n)
        return ac_error(cx, at, E0108, "quantize takes models without loops and branches that depend on data");
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        const bool coded = n->op == AC_OP_QUANTIZE || n->op == AC_OP_DEQUANTIZE || n->op == AC_OP_BLOCKWISE_DENSE ||
                           (n->op == AC_OP_CAST && n->in[0]->dtype == AC_F32 &&
                            (n->out[0]->dtype == AC_I8 || n->out[0]->dtype == AC_U8));
        if (!coded && !n->out[0]->quant)
            continue;
        ac_error(cx, n->at, E0108, "the model is quantised already: '%s' makes or reads integers with a scale",
                 n->out[0]->name);
        return ac_help(cx, "quantize the model of floats that it was made from");
    }
    return AC_OK;
}
