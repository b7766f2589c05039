/* onnx_file.c - the graph that the adapters made becomes a file: ModelProto with GraphProto, NodeProto, TensorProto and
 * ValueInfoProto of onnx.proto. Nodes and constants that no output needs are left out. */
#include "export/onnx_out.h"
#include "export/pb_write.h"

#include <string.h>

enum { MOST = INT32_MAX }; /* bytes of a protobuf message */

static const int8_t ONNX_TYPE[AC_DTYPE_COUNT] = {
    -1,
#define DTYPE(id, text, bits, kind, c, npy, tfl, onnx, loops, file_bits) onnx,
#include "ir/dtype/dtype.def"
#undef DTYPE
};

/* Types up to INT4 and the floats of 8 bits; later ones came with later operator sets. */
static bool known_type(ac_dtype d)
{
    return ONNX_TYPE[d] > 0 && ONNX_TYPE[d] <= 22;
}

static int check_type(ac_onw *w, const ac_tensor *t)
{
    if (known_type(t->dtype))
        return AC_OK;
    return ac_error(w->cx, (ac_place){.file = w->g->file}, E0108, "ONNX cannot express '%s': elements of type %s",
                    t->name, ac_dtype_name(t->dtype));
}

static void put_value(ac_onw *w, ac_sink *graph, int field, const ac_tensor *t)
{
    ac_sink dim, shape, tensor, type, value;
    ac_sink_open(&shape, w->cx);
    for (int32_t d = 0; d < t->rank; d++) {
        ac_sink_open(&dim, w->cx);
        if (w->open && !d)
            ac_pbw_string(&dim, 2, w->g->input.item[0]->dim_name[0]);
        else
            ac_pbw_int(&dim, 1, t->dim[d]);
        ac_pbw_message(&shape, 1, &dim);
    }
    ac_sink_open(&tensor, w->cx);
    ac_pbw_int(&tensor, 1, ONNX_TYPE[t->dtype]);
    ac_pbw_message(&tensor, 2, &shape);
    ac_sink_open(&type, w->cx);
    ac_pbw_message(&type, 1, &tensor);
    ac_sink_open(&value, w->cx);
    ac_pbw_string(&value, 1, t->name);
    ac_pbw_message(&value, 2, &type);
    ac_pbw_message(graph, field, &value);
}

/* Two elements of four bits in a byte, the first in the lower half. */
static const void *packed(ac_onw *w, const uint8_t *data, int64_t n)
{
    uint8_t *p = ac_alloc(w->cx->region, (uint64_t)n / 2 + 1);
    for (int64_t i = 0; i < n; i++)
        p[i / 2] = (uint8_t)(p[i / 2] | (data[i] & 15) << (i % 2 * 4));
    return p;
}

static int put_constant(ac_onw *w, ac_sink *graph, ac_tensor *t)
{
    ac_sink tensor;
    const void *data = ac_tensor_force(w->cx, t);
    const int64_t n = ac_tensor_count(t), bits = ac_dtype_file_bits(t->dtype), bytes = (n * bits + 7) / 8;
    if (!data)
        return AC_FAIL;
    ac_sink_open(&tensor, w->cx);
    ac_sink_room(&tensor, (size_t)bytes + 256);
    for (int32_t d = 0; d < t->rank; d++)
        ac_pbw_int(&tensor, 1, t->dim[d]);
    ac_pbw_int(&tensor, 2, ONNX_TYPE[t->dtype]);
    ac_pbw_string(&tensor, 8, t->name);
    ac_pbw_bytes(&tensor, 9, bits == 4 ? packed(w, data, n) : data, (size_t)bytes);
    ac_pbw_message(graph, 5, &tensor);
    return AC_OK;
}

/* Removes identities: their readers read the original. A new value that replaces an output, or a tensor of the model,
 * gets that name. */
static void drop_copies(ac_onw *w, ac_tensor *const *output)
{
    const int32_t n = w->g->tensor.n;
    ac_tensor **as = AC_NEW_N(w->cx->region, ac_tensor *, n + 1), **under = AC_NEW_N(w->cx->region, ac_tensor *, n + 1);
    bool *fixed = AC_NEW_N(w->cx->region, bool, n + 1); /* the name counts: inputs, constants, outputs */
    for (int32_t i = 0; i < n; i++) {
        as[i] = under[i] = w->g->tensor.item[i];
        fixed[i] = as[i]->input || ac_tensor_is_const(as[i]);
    }
    for (int32_t i = 0; i < w->g->output.n; i++)
        fixed[output[i]->id] = true;
    for (int32_t i = 0; i < w->node.n; i++) {
        ac_onw_node *v = &w->node.item[i];
        for (int32_t k = 0; k < v->n_in; k++)
            v->in[k] = v->in[k] ? as[v->in[k]->id] : NULL;
        if (strcmp(v->type, "Identity") != 0)
            continue;
        ac_tensor *x = v->in[0], *y = v->out[0];
        if (fixed[y->id] && fixed[x->id])
            continue;
        if (fixed[y->id] || (y->id < w->own && x->id >= w->own && !fixed[x->id])) {
            under[x->id] = y;
            fixed[x->id] = true;
        }
        as[y->id] = x;
        v->type = NULL;
    }
    for (int32_t i = 0; i < w->node.n; i++) {
        ac_onw_node *v = &w->node.item[i];
        for (int32_t k = 0; k < v->n_in; k++)
            v->in[k] = v->in[k] ? under[v->in[k]->id] : NULL;
        for (int32_t k = 0; k < v->n_out; k++)
            v->out[k] = under[v->out[k]->id];
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < w->node.n; i++)
        if (w->node.item[i].type)
            w->node.item[kept++] = w->node.item[i];
    w->node.n = kept;
}

static void put_node(ac_onw *w, ac_sink *graph, const ac_onw_node *n)
{
    ac_sink node;
    ac_sink_open(&node, w->cx);
    for (int32_t i = 0; i < n->n_in; i++)
        ac_pbw_string(&node, 1, n->in[i] ? n->in[i]->name : "");
    for (int32_t i = 0; i < n->n_out; i++)
        ac_pbw_string(&node, 2, n->out[i]->name);
    ac_pbw_string(&node, 3, n->out[0]->name);
    ac_pbw_string(&node, 4, n->type);
    ac_put_n(&node, n->attrs.text, n->attrs.n);
    ac_pbw_message(graph, 1, &node);
}

/* Outputs that no node makes, and those named twice, become copies. */
static ac_tensor **settle_outputs(ac_onw *w)
{
    const ac_graph *g = w->g;
    ac_tensor **out = AC_NEW_N(w->cx->region, ac_tensor *, g->output.n + 1);
    for (int32_t i = 0; i < g->output.n; i++) {
        bool copy = g->output.item[i]->input || ac_tensor_is_const(g->output.item[i]);
        for (int32_t k = 0; k < i; k++)
            copy |= g->output.item[k] == g->output.item[i];
        out[i] = g->output.item[i];
        if (copy)
            out[i] = ac_onw_op(w, "Identity", &out[i], 1, out[i]->dtype, out[i]->rank, out[i]->dim);
    }
    return out;
}

/* The empty name means "left out" in ONNX. */
static void name_all(ac_onw *w)
{
    for (int32_t i = 0; i < w->g->tensor.n; i++)
        if (!w->g->tensor.item[i]->name[0])
            w->g->tensor.item[i]->name = ac_tensor_new(w->g, "unnamed", AC_NONE, 0, NULL)->name;
}

static int put_graph(ac_onw *w, ac_sink *graph)
{
    int status = AC_OK;
    ac_tensor **out = settle_outputs(w);
    name_all(w);
    drop_copies(w, out);
    bool *used = AC_NEW_N(w->cx->region, bool, w->g->tensor.n + 1),
         *live = AC_NEW_N(w->cx->region, bool, w->node.n + 1);
    for (int32_t i = 0; i < w->g->output.n; i++)
        used[out[i]->id] = true;
    for (int32_t i = w->node.n - 1; i >= 0; i--) {
        const ac_onw_node *n = &w->node.item[i];
        for (int32_t k = 0; k < n->n_out; k++)
            live[i] |= used[n->out[k]->id];
        for (int32_t k = 0; k < n->n_in && live[i]; k++)
            if (n->in[k])
                used[n->in[k]->id] = true;
    }
    for (int32_t i = 0; i < w->node.n; i++)
        if (live[i]) {
            const int since = ac_onw_since(&w->node.item[i]);
            w->opset = since > w->opset ? since : w->opset;
            put_node(w, graph, &w->node.item[i]);
        }
    ac_pbw_string(graph, 2, w->g->name[0] ? w->g->name : "graph");
    for (int32_t i = 0; i < w->g->tensor.n; i++)
        if (used[i] && check_type(w, w->g->tensor.item[i]) != AC_OK)
            status = AC_FAIL;
        else if (used[i] && ac_tensor_is_const(w->g->tensor.item[i]))
            AC_TRY(put_constant(w, graph, w->g->tensor.item[i]));
    for (int32_t i = 0; i < w->g->input.n; i++)
        if (used[w->g->input.item[i]->id] || check_type(w, w->g->input.item[i]) == AC_OK)
            put_value(w, graph, 11, w->g->input.item[i]);
    for (int32_t i = 0; i < w->g->output.n; i++)
        put_value(w, graph, 12, out[i]);
    return status;
}

int ac_onw_finish(ac_onw *w, ac_sink *to)
{
    ac_sink graph, opset;
    w->opset = AC_ONW_LEAST;
    ac_sink_open(&graph, w->cx);
    int64_t room = 0;
    for (int32_t i = 0; i < w->g->tensor.n; i++)
        if (ac_tensor_is_const(w->g->tensor.item[i]))
            room += ac_tensor_bytes(w->g->tensor.item[i]);
    if (room < MOST)
        ac_sink_room(&graph, (size_t)room);
    AC_TRY(put_graph(w, &graph));
    if (graph.n > MOST - 1024)
        return ac_error(w->cx, (ac_place){.file = w->g->file}, E0108,
                        "the ONNX file would have %s bytes, more than its limit of 2 GiB",
                        ac_commas(w->cx, (int64_t)graph.n));
    ac_sink_room(to, graph.n + 128);
    ac_pbw_int(to, 1, ac_onw_ir(w->opset));
    ac_pbw_string(to, 2, "arenac");
    ac_pbw_message(to, 7, &graph);
    ac_sink_open(&opset, w->cx);
    ac_pbw_string(&opset, 1, "");
    ac_pbw_int(&opset, 2, w->opset);
    ac_pbw_message(to, 8, &opset);
    return AC_OK;
}
