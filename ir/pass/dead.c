/* dead.c - pass dead: removes nodes and tensors that no output needs. */
#include "ir/pass/passes.h"

/* Marks the tensors of a node as needed. */
static void need(const ac_node *n, bool *live)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i])
            live[n->in[i]->id] = true;
    for (int32_t i = 0; i < n->n_out; i++)
        live[n->out[i]->id] = true;
    for (int32_t f = 0; f < n->n_fused; f++)
        need(n->fused[f], live);
}

/* State outlives the run, so a node that writes it is needed. */
static bool is_wanted(const ac_tensor *t, const bool *live)
{
    return live[t->id] || (t->root && t->root->state && t->def);
}

static bool makes_live(const ac_node *n, const bool *live)
{
    for (int32_t i = 0; i < n->n_out; i++)
        if (is_wanted(n->out[i], live))
            return true;
    return n->n_fused && is_wanted(ac_node_result(n), live);
}

static void erase(ac_node *n)
{
    for (int32_t f = 0; f < n->n_fused; f++)
        n->fused[f]->out[0]->def = NULL;
    n->n_fused = 0;
    ac_node_erase(n);
}

/* ac_pass_dead: nodes whose results lead to no graph output and to no state are removed, and tensors that no
 * node names.
 *   before:  %a = relu %x    %b = tanh %x    output %a
 *   after:   %a = relu %x    output %a
 * needs: nodes in execution order.  keeps: inputs, outputs and state, also unread ones; the order of what stays.
 * Tensors get new ids. */
int ac_pass_dead(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    bool *live = AC_NEW_N(tmp, bool, g->tensor.n + 1);
    for (int32_t i = 0; i < g->tensor.n; i++)
        live[i] = g->tensor.item[i]->input || g->tensor.item[i]->output || g->tensor.item[i]->state;
    for (int32_t i = g->node.n - 1; i >= 0; i--) {
        ac_node *n = g->node.item[i];
        if (makes_live(n, live)) {
            need(n, live);
        } else {
            erase(n);
            p->changed++;
        }
    }
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (live[i] && g->tensor.item[i]->root)
            live[g->tensor.item[i]->root->id] = true;
    int32_t n = 0;
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (live[i])
            g->tensor.item[n++] = g->tensor.item[i];
    p->changed += g->tensor.n - n;
    g->tensor.n = n;
    ac_graph_sweep(g);
    ac_graph_renumber(g);
    ac_region_close(tmp);
    return AC_OK;
}
