/* sub_graphs.c - turns graphs of a file into subgraphs of the model, for IF, WHILE or SCAN. Their nodes may read
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

static int capture_all(const ac_maker *b, const ac_sub *s, ac_sub_tensors *c)
{
    for (int32_t i = 0; i < s->g->node.n; i++) {
        const ac_node *m = s->g->node.item[i];
        for (int32_t k = 0; k < m->n_in; k++)
            AC_TRY(capture(b, s, c, m->in[k]));
    }
    for (int32_t i = 0; i < s->g->output.n; i++)
        AC_TRY(capture(b, s, c, s->g->output.item[i]));
    return AC_OK;
}

int ac_sub_capture(const ac_maker *b, ac_sub_pair *p)
{
    AC_TRY(capture_all(b, &p->side[0], &p->captured));
    return capture_all(b, &p->side[1], &p->captured);
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
    for (int32_t i = 0; made && i < made->n_out; i++) {
        ac_tensor_become(made->out[i], like->g->output.item[i]);
        made->out[i]->words = like->g->output.item[i]->words;
    }
    if (!made)
        (void)ac_cannot(b, "its graphs make %d values", like->g->output.n);
    return made;
}

ac_tensor *ac_sub_element(ac_sub *s, const ac_tensor *x)
{
    ac_tensor *t = ac_tensor_new(s->g, x->name, x->dtype, x->rank - 1, x->dim + 1);
    t->quant = x->quant;
    t->input = true;
    ac_push(s->g->region, &s->g->input, t);
    return t;
}

/* The types and shapes of the results. */
static void set_results(ac_node *n, const ac_graph *g, int64_t steps)
{
    const ac_attrs_scan *a = &n->attrs.scan;
    for (int32_t i = 0; i < a->states; i++)
        ac_tensor_become(n->out[i], g->output.item[i]);
    for (int32_t i = a->states; i < n->n_out; i++) {
        ac_tensor *const *element = g->output.item + a->states + (i - a->states) * a->parts, *y = n->out[i];
        ac_tensor_become(y, element[0]);
        for (int32_t d = y->rank++; d > 0; d--)
            y->dim[d] = y->dim[d - 1];
        y->dim[0] = steps;
        for (int32_t k = 1; k < a->parts; k++)
            y->dim[1] += element[k]->dim[0];
    }
}

ac_node *ac_sub_scan(const ac_maker *b, ac_sub *s, ac_tensor *const *in, const ac_attrs_scan *a)
{
    ac_sub_tensors c = {0};
    ac_attrs attrs;
    ac_attrs_init(AC_OP_SCAN, &attrs);
    attrs.scan = *a;
    if (capture_all(b, s, &c) != AC_OK)
        return NULL;
    for (int32_t i = 0; i < s->g->output.n; i++) {
        const ac_tensor *t = s->g->output.item[i];
        if (t->count || (i >= a->states && t->rank >= AC_MAX_RANK))
            return (void)ac_cannot(b, "'%s', which each step makes, has %s", t->name,
                                   t->count ? "a size that depends on data" : "8 dimensions"),
                   NULL;
    }
    const int32_t own = a->states + a->sequences, n_in = own + c.n,
                  n_out = a->states + (s->g->output.n - a->states) / a->parts;
    ac_tensor **all = AC_NEW_N(b->cx->region, ac_tensor *, n_in + 1);
    for (int32_t i = 0; i < n_in; i++)
        all[i] = i < own ? in[i] : c.item[i - own];
    for (int32_t i = 0; i < n_in; i++)
        if (all[i]->count)
            return (void)ac_cannot(b, "the size of '%s' depends on data", all[i]->name), NULL;
    if (n_in > ac_ops[AC_OP_SCAN].max_in)
        return (void)ac_cannot(b, "a step reads %d values", n_in), NULL;
    attrs.scan.first = add_graph(b, s, &c);
    ac_node *made = ac_make_node(b, AC_OP_SCAN, all, n_in, &attrs, n_out);
    if (made)
        set_results(made, s->g, in[a->states]->dim[0]);
    else
        (void)ac_cannot(b, "a step makes %d values", n_out);
    return made;
}
