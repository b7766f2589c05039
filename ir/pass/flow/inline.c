/* inline.c - copies of subgraphs: their nodes in the graph that runs them. Part of pass infer. */
#include "ir/pass/flow/inline.h"
#include "ir/make/maker.h"

#include <string.h>

enum { DEPTH = 16 };

ac_inline *ac_inline_open(ac_pass *p, const ac_inline *outer)
{
    ac_inline *s = AC_NEW(p->cx->region, ac_inline);
    s->p = p;
    s->cx = p->cx;
    s->g = p->graph;
    s->model = outer ? outer->model : p->graph;
    s->n_sub = outer ? outer->n_sub : p->graph->sub.n;
    s->depth = outer ? outer->depth + 1 : 0;
    s->budget = outer ? outer->budget : AC_NEW(p->cx->region, ac_flow_budget);
    s->shared = AC_NEW_N(p->cx->region, ac_tensor **, s->n_sub + 1);
    return s;
}

int ac_inline_passes(ac_inline *s, const ac_node *n, const ac_tensor *from, const ac_tensor *to)
{
    if (to->dtype != AC_NONE && from->dtype != to->dtype)
        return ac_error(s->cx, n->at, E0105, "'%s' is %s, but becomes '%s', which is %s", from->name,
                        ac_dtype_name(from->dtype), to->name, ac_dtype_name(to->dtype));
    if (to->quant && !ac_quant_equal(from->quant, to->quant))
        return ac_error(s->cx, n->at, E0106, "'%s' becomes '%s', which is quantised in another way", from->name,
                        to->name);
    return AC_OK;
}

/* Constants and state exist once, everything else anew for each copy of the subgraph. */
static int copy_tensors(ac_inline *s, const ac_node *host, const ac_graph *sub, ac_tensor **shared, ac_tensor **map)
{
    for (int32_t i = 0; i < sub->tensor.n; i++) {
        ac_tensor *t = sub->tensor.item[i];
        const bool once = ac_tensor_is_const(t) || t->state;
        for (int32_t d = 0; d < t->rank && t->state; d++)
            if (t->dim[d] < 0)
                return ac_error(s->cx, host->at, E0204, "dimension %d of state '%s' is open", d, t->name);
        if (map[i])
            continue;
        if (once && shared[i])
            map[i] = shared[i];
        else
            map[i] = ac_tensor_copy(s->g, t);
        if (!map[i])
            return AC_FAIL;
        map[i]->state = t->state;
        if (once)
            shared[i] = map[i];
    }
    return AC_OK;
}

const ac_graph *ac_inline_sub(ac_inline *s, const ac_node *host, int32_t index, int32_t n_arg, int32_t n_result)
{
    if (index < 1 || index > s->n_sub)
        return (void)ac_error(s->cx, host->at, E0013, "runs subgraph %d, but the model has subgraphs 1 to %d to run",
                              index, s->n_sub),
               NULL;
    const ac_graph *sub = s->model->sub.item[index - 1];
    if (sub->input.n != n_arg || sub->output.n != n_result)
        return (void)ac_error(s->cx, host->at, E0102,
                              "subgraph %d ('%s') takes %d values and returns %d, expected %d and %d", index, sub->name,
                              sub->input.n, sub->output.n, n_arg, n_result),
               NULL;
    if (s->depth > DEPTH)
        return (void)ac_error(s->cx, host->at, E0014, "subgraphs run each other more than %d deep: perhaps in a cycle",
                              DEPTH),
               NULL;
    return ac_flow_spend(s->cx, s->budget, host->at, sub->node.n + sub->tensor.n + 1, 0) == AC_OK ? sub : NULL;
}

void ac_inline_nodes(ac_graph *to, const ac_graph *sub, ac_tensor *const *map)
{
    for (int32_t i = 0; i < sub->node.n; i++) {
        const ac_node *n = sub->node.item[i];
        ac_tensor **in = AC_NEW_N(to->region, ac_tensor *, n->n_in + 1);
        ac_tensor **out = AC_NEW_N(to->region, ac_tensor *, n->n_out + 1);
        for (int32_t k = 0; k < n->n_in; k++)
            in[k] = n->in[k] ? map[n->in[k]->id] : NULL;
        for (int32_t k = 0; k < n->n_out; k++)
            out[k] = map[n->out[k]->id];
        ac_make_copy(to, n, in, out);
    }
}

int ac_inline_copy(ac_inline *s, const ac_node *host, int32_t index, ac_tensor *const *arg, int32_t n_arg,
                   ac_tensor **result, int32_t n_result)
{
    const ac_graph *sub = ac_inline_sub(s, host, index, n_arg, n_result);
    if (!sub)
        return AC_FAIL;
    if (!s->shared[index - 1])
        s->shared[index - 1] = AC_NEW_N(s->cx->region, ac_tensor *, sub->tensor.n + 1);
    ac_tensor **map = AC_NEW_N(s->cx->region, ac_tensor *, sub->tensor.n + 1);
    for (int32_t i = 0; i < n_arg; i++) {
        AC_TRY(ac_inline_passes(s, host, arg[i], sub->input.item[i]));
        map[sub->input.item[i]->id] = arg[i];
    }
    AC_TRY(copy_tensors(s, host, sub, s->shared[index - 1], map));
    ac_inline_nodes(s->g, sub, map);
    for (int32_t i = 0; i < n_result; i++)
        result[i] = map[sub->output.item[i]->id];
    return AC_OK;
}

/* Of nodes of other operators that replace n; pass infer resolves them later. */
static ac_maker maker_for(const ac_inline *s, const ac_node *n)
{
    ac_maker b = {.cx = s->cx, .g = s->g, .name = n->name, .at = n->at, .unsized = true};
    b.at.op = NULL;
    return b;
}

int ac_inline_rename(ac_inline *s, const ac_node *n, ac_tensor *from, ac_tensor *to)
{
    AC_TRY(ac_inline_passes(s, n, from, to));
    const ac_maker b = maker_for(s, n);
    ac_make_reshape_into(&b, from, from, to);
    return AC_OK;
}

static const ac_node *impure(const ac_inline *s, int32_t index, int32_t depth)
{
    const ac_graph *sub = index >= 1 && index <= s->n_sub ? s->model->sub.item[index - 1] : NULL;
    for (int32_t i = 0; sub && i < sub->node.n; i++) {
        ac_node *n = sub->node.item[i];
        const uint32_t flags = ac_ops[n->op].flags;
        if (flags & (OF_STATE | OF_CHECKS | OF_CALLS) || (flags & OF_FLOW && depth >= DEPTH))
            return n;
        const ac_node *inner = NULL;
        int32_t *number[2];
        for (int32_t k = flags & OF_FLOW ? ac_flow_numbers(n, number) : 0; k > 0 && !inner; k--)
            inner = impure(s, *number[k - 1], depth + 1);
        if (inner)
            return inner;
    }
    return NULL;
}

const ac_node *ac_inline_impure(const ac_inline *s, int32_t index)
{
    return impure(s, index, 0);
}

int ac_inline_select(ac_inline *s, const ac_node *n, ac_tensor *c, ac_tensor *yes, ac_tensor *no, ac_tensor *to)
{
    AC_TRY(ac_inline_passes(s, n, yes, to));
    AC_TRY(ac_inline_passes(s, n, no, to));
    const ac_maker b = maker_for(s, n);
    ac_make_into(&b, AC_OP_SELECT, (ac_tensor *[]){c, yes, no}, 3, NULL, to);
    return AC_OK;
}

ac_tensor *ac_inline_scalar(ac_inline *s, const ac_node *n, ac_tensor *c)
{
    ac_tensor *scalar = ac_tensor_new(s->g, c->name, AC_BOOL, 0, NULL);
    const ac_maker b = maker_for(s, n);
    return ac_make_into(&b, AC_OP_RESHAPE, &c, 1, NULL, scalar);
}
