/* onnx_write.c - the graph, node by node, through the adapters of onnx_ops.def. */
#include "export/onnx_write.h"
#include "export/onnx_out.h"

#include <string.h>

enum { MOVES = AC_ONW_MOVES, EACH = AC_ONW_EACH, REDUCES = AC_ONW_REDUCES };

const ac_onw_row ac_onw_rows[AC_OP_COUNT] = {
#define ROW(id, adapter, name, flags) [AC_OP_##id] = {ac_onw_##adapter, name, flags},
#include "export/onnx_ops.def"
#undef ROW
};

static bool quantised(const ac_tensor *t)
{
    return t && t->quant && ac_dtype_is_int(t->dtype) && t->dtype != AC_I32 && t->dtype != AC_I64;
}

/* Integer biases stand for real numbers in the scale of the accumulator. */
static ac_tensor *real_bias(ac_onw *w, const ac_tensor *x, const ac_tensor *k, ac_tensor *b)
{
    const int64_t n = ac_tensor_count(b);
    const void *data = ac_tensor_force(w->cx, b);
    float *v = AC_NEW_N(w->cx->region, float, n + 1);
    for (int64_t i = 0; data && i < n; i++)
        v[i] = (float)(ac_dtype_get_num(b->dtype, data, i) * (double)x->quant->scale[0] *
                       (double)k->quant->scale[k->quant->n > 1 ? i : 0]);
    return ac_tensor_const(w->g, b->name, AC_F32, b->rank, b->dim, v);
}

static bool has_weights(ac_op op)
{
    return op == AC_OP_CONV_2D || op == AC_OP_DEPTHWISE_CONV_2D || op == AC_OP_TRANSPOSE_CONV ||
           op == AC_OP_FULLY_CONNECTED || op == AC_OP_CONV_3D;
}

/* All operands and results of a moving operator have one scale. */
static bool one_scale(const ac_node *n)
{
    const ac_quant *q = n->out[0]->quant;
    bool one = q && q->n == 1;
    for (int32_t i = 0; i < n->n_out; i++)
        one &= ac_quant_equal(n->out[i]->quant, q);
    for (int32_t i = 0; i < n->n_in; i++)
        one &= !n->in[i] || !quantised(n->in[i]) ||
               (n->in[i]->dtype == n->out[0]->dtype && ac_quant_equal(n->in[i]->quant, q));
    return one;
}

/* The node on real numbers: its integer operands are made real before it, its results integers after it. */
static int say_real(ac_onw *w, const ac_node *n, ac_onw_fn *fn)
{
    ac_node real = *n;
    real.in = ac_copy(w->cx->region, n->in, (size_t)n->n_in * sizeof *n->in);
    real.out = ac_copy(w->cx->region, n->out, (size_t)n->n_out * sizeof *n->out);
    const int32_t x = n->op == AC_OP_TRANSPOSE_CONV ? 2 : 0, bias = x + 2 - (x == 2);
    if (has_weights(n->op) && !quantised(n->in[x]))
        return ac_onw_cannot(w, n, "integer weights of a real input, which is quantised when the model runs");
    if (has_weights(n->op) && n->n_in > bias && n->in[bias]) {
        if (!ac_tensor_is_const(n->in[bias]) || !n->in[1]->quant)
            return ac_onw_cannot(w, n, "a bias that is computed");
        real.in[bias] = real_bias(w, n->in[x], n->in[1], n->in[bias]);
    }
    for (int32_t i = 0; i < n->n_in; i++)
        if (quantised(n->in[i]) && !ac_node_is_static(n, i))
            real.in[i] = ac_onw_dequantize(w, n->in[i]);
    for (int32_t i = 0; i < n->n_out; i++)
        if (quantised(n->out[i]))
            real.out[i] = ac_onw_value(w, n->out[i], AC_F32, n->out[i]->rank, n->out[i]->dim);
    AC_TRY(fn(w, &real));
    for (int32_t i = 0; i < n->n_out; i++)
        if (real.out[i] != n->out[i])
            ac_onw_quantize_to(w, real.out[i], n->out[i]);
    return AC_OK;
}

static int say(ac_onw *w, const ac_node *n)
{
    const ac_onw_row *row = &ac_onw_rows[n->op];
    bool quant = false;
    for (int32_t i = 0; i < n->n_in; i++) {
        quant |= quantised(n->in[i]);
        if (n->in[i] && n->in[i]->state)
            return ac_onw_cannot(w, n, "it keeps '%s' from run to run", n->in[i]->name);
    }
    for (int32_t i = 0; i < n->n_out; i++)
        quant |= quantised(n->out[i]);
    if (!row->say)
        return ac_onw_cannot(w, n, "it has no operator for it");
    if (quant && n->op != AC_OP_QUANTIZE && n->op != AC_OP_DEQUANTIZE && !((row->flags & MOVES) && one_scale(n)))
        return say_real(w, n, row->say);
    if (!quant && (ac_onw_codes(w, n) || ac_onw_on_turned(w, n, row)))
        return w->cx->diags.errors ? AC_FAIL : AC_OK;
    return row->say(w, n);
}

/* All inputs name their first dimension alike. */
static bool one_batch(const ac_graph *g)
{
    const char *name = g->input.n && g->input.item[0]->rank ? g->input.item[0]->dim_name[0] : NULL;
    bool one = name != NULL;
    for (int32_t i = 0; i < g->input.n; i++)
        one = one && g->input.item[i]->rank && g->input.item[i]->dim_name[0] == name;
    return one;
}

int ac_onnx_write(ac_graph *g, bool open, ac_sink *to)
{
    ac_onw w = {.cx = g->cx, .g = g, .open = open && one_batch(g), .own = g->tensor.n};
    int status = AC_OK;
    for (int32_t i = 0; i < g->node.n; i++) /* all, so that everything ONNX cannot say is listed */
        if (say(&w, g->node.item[i]) != AC_OK)
            status = AC_FAIL;
    return status == AC_OK ? ac_onw_finish(&w, to) : AC_FAIL;
}
