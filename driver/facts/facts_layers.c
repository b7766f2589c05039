/* facts_layers.c - the headline of a model, and the row of a node in the layer table, before and after passes. */
#include "driver/facts/facts.h"

#include "ir/ops/shape/shape.h"

#include <string.h>

/* True if one of these tensors has an element type for values, not for indices or masks. */
static bool has_values(ac_tensor *const *t, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const ac_dtype d = t[i]->dtype;
        if (d != AC_I64 && d != AC_I32 && d != AC_BOOL)
            return true;
    }
    return false;
}

/* The types of the inputs; of the outputs, if a model has no inputs, or takes indices and computes values from them. */
const char *ac_facts_title(const ac_made *a, const ac_graph *g)
{
    const bool values = has_values(g->input.item, g->input.n) || !has_values(g->output.item, g->output.n);
    const bool inputs = g->input.n > 0 && values;
    const char *title = a->model->format ? a->model->format : "graph", *between = ", ";
    bool named[AC_DTYPE_COUNT] = {false};
    for (int32_t i = 0; i < (inputs ? g->input.n : g->output.n); i++) {
        const ac_dtype d = (inputs ? g->input.item[i] : g->output.item[i])->dtype;
        if (!named[d])
            title = ac_strf(a->cx->region, "%s%s%s", title, between, ac_dtype_name(d));
        named[d] = true;
        between = "/";
    }
    return title;
}

static const char *op_title(const ac_node *n)
{
    const char *op = n->at.op ? n->at.op : ac_ops[n->op].tflite;
    return *op ? op : ac_ops[n->op].text; /* those that no format has */
}

/* "CONV_2D 3x3 8->16": operator, window and channels, as far as the operands tell. */
static const char *title(ac_ctx *cx, const ac_node *n)
{
    const char *op = op_title(n);
    const ac_tensor *w = n->n_in > 1 ? n->in[1] : NULL;
    if (n->op == AC_OP_CONV_2D && w && w->rank == 4)
        return ac_strf(cx->region, "%s %lldx%lld %lld->%lld", op, (long long)w->dim[1], (long long)w->dim[2],
                       (long long)w->dim[3], (long long)w->dim[0]);
    if (n->op == AC_OP_DEPTHWISE_CONV_2D && w && w->rank == 4)
        return ac_strf(cx->region, "%s %lldx%lld x%lld", op, (long long)w->dim[1], (long long)w->dim[2],
                       (long long)w->dim[3]);
    if (n->op == AC_OP_FULLY_CONNECTED && w && w->rank == 2)
        return ac_strf(cx->region, "%s %lld->%lld", op, (long long)w->dim[1], (long long)w->dim[0]);
    return op;
}

/* "i8 [1,8,8,12]", of several results one and how many there are besides. */
static const char *results_text(ac_ctx *cx, const ac_tensor *t, int32_t n)
{
    if (!t || t->dtype == AC_NONE)
        return NULL;
    return n == 1 ? ac_tensor_str(cx, t) : ac_strf(cx->region, "%s +%d", ac_tensor_str(cx, t), n - 1);
}

/* -1: its shape is open. */
static ac_bytes bytes_of(const ac_tensor *t)
{
    bool known = t->dtype != AC_NONE && !t->any_rank;
    for (int32_t d = 0; d < t->rank; d++)
        known = known && t->dim[d] >= 0;
    return known ? ac_tensor_bytes(t) : -1;
}

static ac_bytes result_bytes(const ac_node *n)
{
    ac_bytes sum = 0;
    for (int32_t i = 0; i < n->n_out && sum >= 0; i++) {
        const ac_bytes one = bytes_of(i ? n->out[i] : ac_node_result(n));
        sum = one < 0 ? -1 : sum + one;
    }
    return sum;
}

/* As the file holds them; not those that are parameters of the code (axes, shapes). */
static ac_bytes constant_bytes(const ac_node *n)
{
    ac_bytes sum = 0;
    for (int32_t i = 0; i < n->n_in && sum >= 0; i++) {
        const ac_tensor *t = n->in[i];
        if (!t || !(ac_tensor_is_const(t) || t->weight) || ac_node_is_static(n, i))
            continue;
        const ac_bytes one = bytes_of(t);
        sum = one < 0 ? -1 : sum + one;
    }
    return sum;
}

ac_report_step ac_facts_layer(ac_ctx *cx, const ac_node *n)
{
    ac_report_step s = {.op = title(cx, n),
                        .name = n->name,
                        .result = results_text(cx, n->n_out ? ac_node_result(n) : NULL, n->n_out),
                        .bytes = result_bytes(n),
                        .weights = constant_bytes(n),
                        .macs = -1};
    for (int32_t i = 0; i < n->n_fused; i++) {
        const char *op = op_title(n->fused[i]);
        s.fused = s.fused ? ac_strf(cx->region, "%s %s", s.fused, op) : op;
    }
    return s;
}

/* ------------------------------------------------------------------ operators of the file */

/* Is b made of the same operator of the file as a, which comes before it? */
static bool is_same_op(const ac_node *a, const ac_node *b)
{
    return a->at.op && b->at.op && !strcmp(a->at.op, b->at.op) && a->at.op_index == b->at.op_index &&
           a->at.subgraph == b->at.subgraph && a->name == b->name;
}

/* Of each tensor the layer that alone reads it; SEVERAL also where the graph returns it. */
enum { NOBODY = -2, SEVERAL = -1 };
static int32_t *readers(ac_ctx *cx, const ac_graph *g, const int32_t *layer_of)
{
    int32_t *reader = AC_NEW_N(cx->region, int32_t, g->tensor.n + 1);
    for (int32_t i = 0; i < g->tensor.n; i++)
        reader[i] = g->tensor.item[i]->output ? SEVERAL : NOBODY;
    for (int32_t i = 0; i < g->node.n; i++)
        for (int32_t k = 0; k < g->node.item[i]->n_in; k++) {
            const ac_tensor *t = g->node.item[i]->in[k];
            if (t)
                reader[t->id] = reader[t->id] == NOBODY || reader[t->id] == layer_of[i] ? layer_of[i] : SEVERAL;
        }
    return reader;
}

static int64_t add(int64_t a, int64_t b)
{
    return a < 0 || b < 0 ? -1 : a + b;
}

ac_report_step *ac_facts_layers(const ac_made *a, bool macs, int32_t **layer_of, int32_t *n)
{
    ac_ctx *cx = a->cx;
    const ac_graph *g = a->model->graph;
    ac_report_step *row = AC_NEW_N(cx->region, ac_report_step, g->node.n + 1);
    int32_t *of = AC_NEW_N(cx->region, int32_t, g->node.n + 1);
    int32_t *n_results = AC_NEW_N(cx->region, int32_t, g->node.n + 1);
    const ac_tensor **result = AC_NEW_N(cx->region, const ac_tensor *, g->node.n + 1);
    *n = 0;
    for (int32_t i = 0; i < g->node.n; i++)
        of[i] = i && is_same_op(g->node.item[i - 1], g->node.item[i]) ? *n - 1 : (*n)++;
    const int32_t *reader = readers(cx, g, of);
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *node = g->node.item[i];
        ac_report_step *to = &row[of[i]], one = ac_facts_layer(cx, node);
        one.macs = macs ? ac_op_macs(node) : -1;
        if (!i || of[i] != of[i - 1])
            *to = (ac_report_step){.op = one.op, .name = one.name, .fused = one.fused};
        if (one.macs > to->macs) /* the name of the one that computes */
            to->op = one.op;
        to->macs = add(to->macs, one.macs);
        to->weights = add(to->weights, one.weights);
        for (int32_t k = 0; k < node->n_out; k++) {
            const ac_tensor *t = k ? node->out[k] : ac_node_result(node);
            if (reader[t->id] == of[i]) /* made and used up inside the layer */
                continue;
            to->bytes = add(to->bytes, bytes_of(t));
            if (!n_results[of[i]]++ || bytes_of(t) > bytes_of(result[of[i]])) /* the largest is shown */
                result[of[i]] = t;
        }
    }
    for (int32_t i = 0; i < *n; i++)
        row[i].result = results_text(cx, result[i], n_results[i]);
    *layer_of = of;
    return row;
}
