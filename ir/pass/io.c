/* io.c - pass io: removes the quantisation of inputs and the dequantisation of outputs. */
#include "ir/pass/passes.h"

/* The only reader of every use of t; NULL: there are several, or t is an output. */
static ac_node *only_reader(const ac_graph *g, const ac_tensor *t)
{
    ac_node *reader = NULL;
    if (t->output)
        return NULL;
    for (int32_t i = 0; i < g->node.n; i++)
        for (int32_t k = 0; k < g->node.item[i]->n_in; k++) {
            if (g->node.item[i]->in[k] != t)
                continue;
            if (reader)
                return NULL;
            reader = g->node.item[i];
        }
    return reader;
}

/* ac_pass_io (--quantized-io): the caller converts float inputs to integers, and integer outputs to floats.
 *   before:  input %x f32    %q = quantize %x    ...    %y = dequantize %r    output %y
 *   after:   input %q i8     ...    output %r
 * needs: shapes known, no followers yet.  keeps: number and order of inputs and outputs. */
int ac_pass_io(ac_pass *p)
{
    ac_graph *g = p->graph;
    for (int32_t i = 0; i < g->input.n; i++) {
        ac_tensor *x = g->input.item[i];
        ac_node *n = only_reader(g, x);
        if (!n || n->op != AC_OP_QUANTIZE || n->out[0]->output || !ac_dtype_is_float(x->dtype))
            continue;
        ac_tensor *q = n->out[0];
        ac_node_erase(n);
        x->input = false;
        q->input = true;
        g->input.item[i] = q;
        p->changed++;
    }
    for (int32_t i = 0; i < g->output.n; i++) {
        ac_tensor *y = g->output.item[i];
        ac_node *n = y->def;
        if (!n || n->op != AC_OP_DEQUANTIZE || only_reader(g, y))
            continue;
        ac_tensor *q = n->in[0];
        bool twice = !q->def || q->input || q->output || q->state || ac_tensor_is_const(q);
        for (int32_t k = 0; k < g->node.n && !twice; k++) /* another node reads the float form */
            for (int32_t a = 0; a < g->node.item[k]->n_in; a++)
                twice |= g->node.item[k]->in[a] == y;
        for (int32_t k = 0; k < g->output.n && !twice; k++)
            twice = k != i && g->output.item[k] == y;
        if (twice)
            continue;
        ac_node_erase(n);
        y->output = false;
        q->output = true;
        g->output.item[i] = q;
        p->changed++;
    }
    ac_graph_sweep(g);
    return AC_OK;
}
