/* sub_graphs.c - turns graphs of a file into subgraphs of the model, which an IF or a WHILE runs. Their nodes may read
 * tensors of enclosing graphs; a scan of the operands finds these and turns them into inputs. */
#include "import/build/flow/sub_graphs.h"
#include "import/build/operands.h"
#include "import/build/reading.h"

void ac_sub_enter(ac_maker *b, ac_graph **now, ac_sub *s)
{
    if (!s->g) {
        s->g = ac_graph_new(b->cx, b->name);
        s->g->file = (*now)->file;
        s->g->promise = (*now)->promise;
    }
    s->outer = *now;
    *now = b->g = s->g;
}

void ac_sub_leave(ac_maker *b, ac_graph **now, ac_sub *s)
{
    *now = b->g = s->outer;
}

ac_tensor *ac_sub_input(ac_sub *s, const ac_tensor *like)
{
    ac_tensor *t = ac_tensor_like(s->g, like->name, like);
    t->input = true;
    ac_push(s->g->region, &s->g->input, t);
    return t;
}

static int capture(const ac_maker *b, const ac_sub *s, ac_sub_tensors *c, ac_tensor *t)
{
    if (!t || ac_graph_has(s->g, t))
        return AC_OK;
    for (int32_t i = 0; i < c->n; i++)
        if (c->item[i] == t)
            return AC_OK;
    if (c->n == ac_ops[AC_OP_WHILE].max_in)
        return ac_cannot(b, "its graphs read more than %d values from outside", c->n);
    ac_push(b->cx->region, c, t);
    return AC_OK;
}

int ac_sub_capture(const ac_maker *b, ac_sub_pair *p)
{
    for (const ac_sub *s = p->side; s < p->side + 2; s++) {
        for (int32_t i = 0; i < s->g->node.n; i++) {
            const ac_node *m = s->g->node.item[i];
            for (int32_t k = 0; k < m->n_in; k++)
                AC_TRY(capture(b, s, &p->captured, m->in[k]));
        }
        for (int32_t i = 0; i < s->g->output.n; i++)
            AC_TRY(capture(b, s, &p->captured, s->g->output.item[i]));
    }
    return AC_OK;
}

static int32_t add_graph(const ac_maker *b, ac_sub *s, const ac_sub_tensors *c)
{
    ac_graph *g = s->g;
    for (int32_t i = 0; i < c->n; i++) {
        ac_tensor *own = ac_sub_input(s, c->item[i]);
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
    ac_push(b->reading->g->region, &b->reading->g->sub, g);
    return b->reading->g->sub.n;
}

void ac_sub_add(const ac_maker *b, ac_sub_pair *p, ac_attrs_flow *to)
{
    to->first = add_graph(b, &p->side[0], &p->captured);
    to->second = add_graph(b, &p->side[1], &p->captured);
}

ac_node *ac_sub_run(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, ac_sub_pair *p)
{
    const ac_sub *like = &p->side[op == AC_OP_WHILE];
    const ac_sub_tensors *c = &p->captured;
    ac_attrs a;
    ac_attrs_init(op, &a);
    if (ac_sub_capture(b, p) != AC_OK)
        return NULL;
    ac_sub_add(b, p, &a.flow);
    ac_tensor **all = AC_NEW_N(b->cx->region, ac_tensor *, n_in + c->n + 1);
    for (int32_t i = 0; i < n_in + c->n; i++)
        all[i] = i < n_in ? in[i] : c->item[i - n_in];
    for (int32_t i = 0; i < like->g->output.n && op == AC_OP_WHILE; i++)
        if (like->g->output.item[i]->count)
            return (void)ac_cannot(b, "only data decides how many elements '%s' of its graph has",
                                   like->g->output.item[i]->name),
                   NULL;
    if (n_in + c->n > ac_ops[op].max_in)
        return (void)ac_cannot(b, "its graphs read %d values", n_in + c->n), NULL;
    ac_node *made = ac_make_node(b, op, all, n_in + c->n, &a, like->g->output.n);
    for (int32_t i = 0; made && i < made->n_out; i++)
        ac_tensor_become(made->out[i], like->g->output.item[i]);
    if (!made)
        (void)ac_cannot(b, "its graphs make %d values", like->g->output.n);
    return made;
}
