/* sub_graphs.c - graphs that are attributes, as subgraphs of the model: what a node with IF or WHILE runs. Names of
 * graphs outside refer to tensors there, so they are found by looking at what the nodes read, and become inputs. */
#include "import/onnx/sub_graphs.h"

void ac_onx_sub_enter(ac_onx_node *n, ac_onx_sub *s)
{
    if (!s->g) {
        s->g = ac_graph_new(n->r->cx, n->name);
        s->g->file = n->r->g->file;
        s->g->promise = n->r->g->promise;
    }
    s->outer = n->r->g;
    n->r->g = n->b.g = s->g;
}

void ac_onx_sub_leave(ac_onx_node *n, ac_onx_sub *s)
{
    n->r->g = n->b.g = s->outer;
}

ac_tensor *ac_onx_sub_input(ac_onx_sub *s, const ac_tensor *like)
{
    ac_tensor *t = ac_tensor_like(s->g, like->name, like);
    t->input = true;
    ac_push(s->g->region, &s->g->input, t);
    return t;
}

static int note(ac_onx_node *n, const ac_onx_sub *s, ac_onx_captured *c, ac_tensor *t)
{
    if (!t || ac_graph_has(s->g, t))
        return AC_OK;
    for (int32_t i = 0; i < c->n; i++)
        if (c->item[i] == t)
            return AC_OK;
    if (t->count)
        return ac_build_cannot(
            &n->b, "its graph reads '%s' from outside, and only data decides how many elements that has", t->name);
    if (c->n == ac_ops[AC_OP_WHILE].max_in)
        return ac_build_cannot(&n->b, "its graphs read more than %d values from outside", c->n);
    ac_push(n->r->cx->region, c, t);
    return AC_OK;
}

int ac_onx_sub_captured(ac_onx_node *n, const ac_onx_sub *s, ac_onx_captured *c)
{
    for (int32_t i = 0; i < s->g->node.n; i++) {
        const ac_node *m = s->g->node.item[i];
        for (int32_t k = 0; k < m->n_in; k++)
            AC_TRY(note(n, s, c, m->in[k]));
    }
    for (int32_t i = 0; i < s->g->output.n; i++)
        AC_TRY(note(n, s, c, s->g->output.item[i]));
    return AC_OK;
}

int32_t ac_onx_sub_add(ac_onx_node *n, ac_onx_sub *s, const ac_onx_captured *c)
{
    ac_graph *g = s->g;
    for (int32_t i = 0; i < c->n; i++) {
        ac_tensor *own = ac_onx_sub_input(s, c->item[i]);
        for (int32_t k = 0; k < g->node.n; k++)
            for (int32_t j = 0; j < g->node.item[k]->n_in; j++)
                if (g->node.item[k]->in[j] == c->item[i])
                    g->node.item[k]->in[j] = own;
        for (int32_t k = 0; k < g->output.n; k++)
            if (g->output.item[k] == c->item[i])
                g->output.item[k] = own;
    }
    for (int32_t i = 0; i < g->output.n; i++)
        g->output.item[i]->output = true;
    ac_push(n->r->main->region, &n->r->main->sub, g);
    return n->r->main->sub.n;
}

ac_node *ac_onx_sub_run(ac_onx_node *n, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_onx_captured *c,
                        const int32_t sub[2], const ac_onx_sub *like)
{
    ac_attrs a;
    ac_attrs_init(op, &a);
    a.flow.first = sub[0];
    a.flow.second = sub[1];
    ac_tensor **all = AC_NEW_N(n->r->cx->region, ac_tensor *, n_in + c->n + 1);
    for (int32_t i = 0; i < n_in + c->n; i++)
        all[i] = i < n_in ? in[i] : c->item[i - n_in];
    if (n_in + c->n > ac_ops[op].max_in)
        return (void)ac_build_cannot(&n->b, "its graphs read %d values", n_in + c->n), NULL;
    ac_node *made = ac_onx_node_make(n, op, all, n_in + c->n, &a, like->g->output.n);
    for (int32_t i = 0; made && i < made->n_out; i++)
        ac_tensor_become(made->out[i], like->g->output.item[i]);
    if (!made)
        (void)ac_build_cannot(&n->b, "its graphs make %d values", like->g->output.n);
    return made;
}
