/* layout.c - pass layout: moves transposes down through the graph until they meet their inverse. */
#include "ir/pass/layout.h"

static bool identity(const int32_t *perm, int32_t rank)
{
    for (int32_t d = 0; d < rank; d++)
        if (perm[d] != d)
            return false;
    return true;
}

/* T_q(T_p(x)): one transpose, or x itself. */
static void compose(ac_layout *s, ac_node *n, const ac_turn *in)
{
    int32_t outer[AC_MAX_RANK], both[AC_MAX_RANK];
    ac_tensor *y = n->out[0];
    if (!ac_layout_perm(s->cx, n, outer) || !ac_layout_one_scale(y)) {
        ac_layout_place(s, n);
        return;
    }
    for (int32_t d = 0; d < y->rank; d++)
        both[d] = in->perm[outer[d]];
    s->changed++;
    if (identity(both, y->rank) && !y->output && y->dtype == in->x->dtype && y->id < s->n_alias) {
        ac_node_erase(n);
        s->alias[y->id] = in->x;
        return;
    }
    const ac_maker b = ac_layout_maker(s, n);
    n->in[0] = in->x;
    n->n_in = 1;
    n->attrs.perm.perm = ac_make_perm(&b, y->rank, both);
    ac_layout_place(s, n);
}

/* n now makes y' with y = T_q(y'). */
static void turn_result(ac_layout *s, ac_node *n, const int32_t *q)
{
    ac_tensor *y = n->out[0];
    int64_t dim[AC_MAX_RANK];
    ac_layout_place(s, n);
    s->changed++;
    if (identity(q, y->rank))
        return;
    for (int32_t d = 0; d < y->rank; d++)
        dim[q[d]] = y->dim[d];
    ac_tensor *early = ac_tensor_new(s->g, y->name, y->dtype, y->rank, dim);
    early->quant = y->quant;
    early->def = n;
    n->out[0] = early;
    const ac_maker b = ac_layout_maker(s, n);
    ac_layout_place(s, ac_layout_new(s, ac_make_transpose_into(&b, early, q, y)));
}

static void move_past_node(ac_layout *s, ac_node *n)
{
    ac_turn in;
    int32_t q[AC_MAX_RANK];
    bool plain = n->n_out == 1 && !n->n_fused && n->n_in > 0 && ac_layout_one_scale(n->out[0]);
    for (int32_t i = 0; i < n->n_in; i++) {
        while (n->in[i] && n->in[i]->id < s->n_alias && s->alias[n->in[i]->id])
            n->in[i] = s->alias[n->in[i]->id];
        plain = plain && (!n->in[i] || ac_layout_one_scale(n->in[i]));
    }
    if (n->op == AC_OP_TRANSPOSE && plain && ac_layout_turned(s, n->in[0], &in))
        compose(s, n, &in);
    else if (plain && n->op != AC_OP_TRANSPOSE && ac_layout_rule(s, n, q))
        turn_result(s, n, q);
    else
        ac_layout_place(s, n);
}

/* An unused transpose gives its name, which is the file's, to its operand. */
static void hand_down_names(ac_layout *s)
{
    int32_t *uses = ac_graph_uses(s->g, s->cx->region);
    for (int32_t i = s->order.n - 1; i >= 0; i--) {
        ac_node *n = s->order.item[i];
        if (n->op != AC_OP_TRANSPOSE || uses[n->out[0]->id] || n->out[0]->output)
            continue;
        ac_tensor *x = n->in[0], *y = n->out[0];
        uses[x->id]--;
        if (x->input || x->output || x->state || !x->def)
            continue;
        const char *name = x->name;
        x->name = y->name;
        y->name = name;
    }
    ac_graph_renumber(s->g);
}

/* ac_pass_layout: importers put transposes around operators that have channels first in the file, since ours have them
 * last. Each transpose moves down past the operators that can work before it, until it meets its inverse or the end.
 *   before:  %a = transpose %x [0,2,3,1]   %b = conv_2d %a %w      %c = transpose %b [0,3,1,2]   %d = relu %c
 *            %e = transpose %d [0,2,3,1]   %f = conv_2d %e %v
 *   after:   %a = transpose %x [0,2,3,1]   %b = conv_2d %a %w      %d = relu %b                  %f = conv_2d %d %v
 * needs: shapes known, no epilogues, nodes in execution order.  keeps: shapes and names of inputs and outputs; values
 * bit for bit, but for the order of sums in reductions.  Does nothing to formats that have channels last. One walk:
 * O(nodes). */
int ac_pass_layout(ac_pass *p)
{
    ac_layout s = {.cx = p->cx, .g = p->graph, .n_alias = p->graph->tensor.n};
    s.alias = AC_NEW_N(p->cx->region, ac_tensor *, s.n_alias + 1);
    for (int32_t i = 0; i < p->graph->node.n; i++)
        move_past_node(&s, p->graph->node.item[i]);
    p->graph->node.item = s.order.item;
    p->graph->node.n = s.order.n;
    p->graph->node.cap = s.order.cap;
    ac_graph_sweep(p->graph);
    s.order.n = p->graph->node.n;
    hand_down_names(&s);
    p->channels_first = false;
    p->changed += s.changed;
    return AC_OK;
}
