/* dead.c - pass dead: removes nodes and tensors that no output needs. */
#include "ir/ops/decode/scan.h"
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

static bool makes_live(const ac_graph *g, const ac_node *n, const bool *live)
{
    if (ac_node_acts(g->cx, n))
        return true;
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

static bool is_output(const ac_graph *g, const ac_tensor *t)
{
    bool is = false;
    for (int32_t i = 0; i < g->output.n; i++)
        is |= g->output.item[i] == t;
    return is;
}

/* Removes collected result i of SCAN n, and its elements from the outputs of the body, which are only elements now:
 * pass state took out the states. */
static int drop_collected(ac_ctx *cx, ac_node *n, ac_graph *body, int32_t i)
{
    ac_scan c;
    AC_TRY(ac_scan_of(cx, n, &c));
    const int32_t from = (i - c.states) * c.parts;
    ac_scan_splice_back(cx, n, c.sequences + c.elements, c.sequences + from, c.parts, 0, false);
    n->out[i]->def = NULL;
    for (int32_t k = i; k + 1 < n->n_out; k++)
        n->out[k] = n->out[k + 1];
    n->n_out--;
    for (int32_t k = 0; k < c.parts; k++) {
        ac_tensor *t = body->output.item[from];
        body->output.n--;
        for (int32_t j = from; j < body->output.n; j++)
            body->output.item[j] = body->output.item[j + 1];
        t->output = is_output(body, t);
    }
    return AC_OK;
}

/* Removes results that n, if it is a SCAN, collects but no node reads. */
static int drop_unread(ac_pass *p, ac_node *n, const bool *live)
{
    const ac_graph *g = p->graph;
    const int32_t first = n->op == AC_OP_SCAN ? n->attrs.scan.first : 0;
    if (first < 1 || first > g->sub.n || !g->sub.item[first - 1]->carry)
        return AC_OK;
    for (int32_t i = n->n_out - 1; i >= n->attrs.scan.states; i--)
        if (!live[n->out[i]->id]) {
            AC_TRY(drop_collected(p->cx, n, g->sub.item[first - 1], i));
            p->changed++;
        }
    return AC_OK;
}

/* ac_pass_dead: nodes whose results lead to no graph output and to no state are removed, tensors that no node
 * names, and results that a SCAN collects for no reader.
 *   before:  %a = relu %x    %b = tanh %x    output %a
 *   after:   %a = relu %x    output %a
 * needs: nodes in execution order.  keeps: inputs, outputs and state, also unread ones; nodes with effects of their
 * own; the order of what stays. Tensors get new ids. */
int ac_pass_dead(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    bool *live = AC_NEW_N(tmp, bool, g->tensor.n + 1);
    int status = AC_OK;
    for (int32_t i = 0; i < g->tensor.n; i++)
        live[i] = g->tensor.item[i]->input || g->tensor.item[i]->output || g->tensor.item[i]->state;
    for (int32_t i = g->node.n - 1; i >= 0; i--) {
        ac_node *n = g->node.item[i];
        if (makes_live(g, n, live)) {
            status |= drop_unread(p, n, live);
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
    return status;
}
