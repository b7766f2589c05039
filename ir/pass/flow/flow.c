/* flow.c - IF and WHILE that stay, since the condition depends on data: their subgraphs are copied for the shapes of
 * the operands, and go through the passes like the main graph. Part of pass infer.
 *
 *     before   %i %s %w = while 1 2 %a %b %c        each iteration: cond reads i s w; body reads and makes all three
 *     after    %i %s = while 3 4 %a %b %c           no iteration changes %w: it is only read
 *
 *     WHILE  operands 0 .. n_out-1 are the first values of the results, which are carried; the others are only read
 *     IF     operand 0 is the condition; both branches read the others
 *
 * Constant operands that no iteration changes become constants of the copies, so more can be folded.
 * planner/graph/flow_lower.c lowers nodes that stay to loops and branches. */
#include "ir/make/clones.h"
#include "ir/ops/shape/shape.h"
#include "ir/pass/flow/inline.h"

#include <inttypes.h>

/* Elements and multiply-adds of both branches: about the cost of a branch at run time. */
enum { SMALL = 1 << 10 };

/* The input of a copy for operand `from`. */
static int add_input(ac_inline *s, ac_graph *g, const ac_tensor *like, ac_tensor *from, ac_flow_role as,
                     ac_tensor **out)
{
    if (as == AC_FLOW_FIXED && !ac_tensor_is_const(from))
        return (*out = ac_clone_constant(g, from)) ? AC_OK : AC_FAIL;
    ac_tensor *t = *out = ac_tensor_like(g, like->name, from);
    if (as == AC_FLOW_FIXED)
        return (t->data = ac_tensor_force(s->cx, from)) ? AC_OK : AC_FAIL;
    t->input = true;
    ac_push(g->region, &g->input, t);
    return AC_OK;
}

static bool keeps_state(const ac_graph *g)
{
    bool any = false;
    for (int32_t i = 0; i < g->tensor.n; i++)
        any |= g->tensor.item[i]->state;
    return any;
}

ac_graph *ac_flow_copy(ac_inline *s, const ac_node *n, const ac_flow_copied *c)
{
    const ac_graph *sub = ac_inline_sub(s, n, c->index, c->n_arg, c->n_out);
    if (!sub)
        return NULL;
    if (keeps_state(sub)) {
        ac_error(s->cx, n->at, E0108, "its condition is only known when the model runs, and subgraph '%s' keeps state",
                 sub->name);
        (void)ac_help(s->cx,
                      "random numbers count their runs in state: draw them before, or fix the condition (--const)");
        return NULL;
    }
    ac_graph *g = ac_graph_new(s->cx, sub->name);
    g->file = s->model->file;
    g->promise = s->model->promise;
    g->next_node = s->model->next_node;
    ac_tensor **map = AC_NEW_N(s->cx->region, ac_tensor *, sub->tensor.n + 1);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < c->n_arg; i++) {
            if ((c->as[i] == AC_FLOW_CARRIED) != (pass == 0))
                continue;
            if (ac_inline_passes(s, n, c->arg[i], sub->input.item[i]) != AC_OK ||
                add_input(s, g, sub->input.item[i], c->arg[i], c->as[i], &map[sub->input.item[i]->id]) != AC_OK)
                return NULL;
        }
    for (int32_t i = 0; i < sub->tensor.n; i++)
        if (!map[i] && !(map[i] = ac_tensor_copy(g, sub->tensor.item[i])))
            return NULL;
    ac_inline_nodes(g, sub, map);
    for (int32_t i = 0; i < c->n_out; i++)
        if (!c->wanted || c->wanted[i]) {
            ac_tensor *t = map[sub->output.item[i]->id];
            t->output = true;
            ac_push(g->region, &g->output, t);
        }
    return g;
}

int32_t ac_flow_add_subgraph(ac_inline *s, ac_graph *g)
{
    ac_push(s->model->region, &s->model->sub, g);
    return s->model->sub.n;
}

/* ------------------------------------------------------------------ WHILE */

/* Carried values have the same type and shape after an iteration. */
static int check_carried(ac_inline *s, const ac_node *n, const ac_graph *body)
{
    int rc = AC_OK;
    for (int32_t i = 0; i < body->output.n; i++) {
        const ac_tensor *from = body->input.item[i], *to = body->output.item[i];
        if (ac_tensor_same_kind(from, to))
            continue;
        rc = ac_error(s->cx, n->at, E0203, "'%s' is %s, but %s after an iteration", from->name,
                      ac_tensor_str(s->cx, from), ac_tensor_str(s->cx, to));
        ac_reason(s->cx, "how often the loop runs depends on data, so its size cannot be known");
    }
    return rc;
}

/* Operands and results of n, for subgraphs of its own: carried values that change, then operands that are only read. */
static int rewrite_loop(ac_inline *s, ac_node *n, const ac_flow_role *as, int32_t n_in)
{
    ac_tensor **in = AC_NEW_N(s->cx->region, ac_tensor *, n_in + 1);
    const int32_t n_out = n->n_out;
    int32_t count = 0, results = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < n_in; i++)
            if (as[i] == (pass ? AC_FLOW_READ : AC_FLOW_CARRIED))
                in[count++] = n->in[i];
    for (int32_t i = 0; i < n_out; i++) {
        if (as[i] == AC_FLOW_CARRIED) {
            ac_tensor_become(n->out[i], n->in[i]);
            n->out[results++] = n->out[i];
        } else
            AC_TRY(ac_inline_rename(s, n, n->in[i], n->out[i]));
    }
    n->in = in;
    n->n_in = count;
    n->n_out = results;
    return AC_OK;
}

ac_flow_role *ac_flow_loop_roles(ac_inline *s, const ac_node *n, int32_t n_in, bool *changes)
{
    const int32_t n_out = n->n_out;
    const ac_graph *body = ac_inline_sub(s, n, n->attrs.flow.second, n_in, n_out);
    if (!body)
        return NULL;
    ac_flow_role *as = AC_NEW_N(s->cx->region, ac_flow_role, n_in + 1);
    bool any = false;
    for (int32_t i = 0; i < n_in; i++) {
        if (i < n_out)
            any |= changes[i] = body->output.item[i] != body->input.item[i];
        as[i] = i < n_out && changes[i] ? AC_FLOW_CARRIED : ac_tensor_is_const(n->in[i]) ? AC_FLOW_FIXED : AC_FLOW_READ;
    }
    if (any)
        return as;
    ac_error(s->cx, n->at, E0104, "an iteration changes nothing, so a loop that begins never ends");
    return NULL;
}

int ac_flow_keep_loop(ac_inline *s, ac_node *n, int32_t n_in, const ac_flow_role *as, ac_graph *cond, ac_graph *body)
{
    AC_TRY(ac_flow_is_condition(s->cx, n->at, cond->output.item[0]));
    AC_TRY(check_carried(s, n, body));
    AC_TRY(rewrite_loop(s, n, as, n_in));
    body->carried = n->n_out;
    n->attrs.flow.first = ac_flow_add_subgraph(s, cond);
    n->attrs.flow.second = ac_flow_add_subgraph(s, body);
    return AC_OK;
}

/* ------------------------------------------------------------------ IF */

int64_t ac_flow_cost(const ac_graph *g)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        if (ac_ops[n->op].flags & OF_FLOW)
            return INT64_MAX / 4;
        sum += ac_op_macs(n);
        for (int32_t k = 0; k < n->n_out; k++)
            sum += ac_tensor_count(n->out[k]);
    }
    return sum;
}

ac_flow_role *ac_flow_branch_roles(ac_inline *s, const ac_node *n)
{
    ac_flow_role *as = AC_NEW_N(s->cx->region, ac_flow_role, n->n_in + 1);
    for (int32_t i = 0; i < n->n_in - 1; i++)
        as[i] = ac_tensor_is_const(n->in[1 + i]) ? AC_FLOW_FIXED : AC_FLOW_READ;
    return as;
}

int ac_flow_keep_branch(ac_inline *s, ac_node *n, const ac_flow_role *as, ac_graph *yes, ac_graph *no, bool *stays)
{
    const int32_t args = n->n_in - 1, n_out = n->n_out;
    *stays = false;
    for (int32_t i = 0; i < n_out; i++)
        if (!ac_tensor_same_kind(yes->output.item[i], no->output.item[i]))
            return ac_error(s->cx, n->at, E0108, "its branches give %s and %s: '%s' has no shape until the model runs",
                            ac_tensor_str(s->cx, yes->output.item[i]), ac_tensor_str(s->cx, no->output.item[i]),
                            n->out[i]->name);
    if (ac_flow_cost(yes) + ac_flow_cost(no) <= SMALL && !ac_inline_impure(s, n->attrs.flow.first) &&
        !ac_inline_impure(s, n->attrs.flow.second))
        return AC_OK;
    *stays = true;
    int32_t count = 1;
    for (int32_t i = 0; i < args; i++)
        if (as[i] == AC_FLOW_READ)
            n->in[count++] = n->in[1 + i];
    n->n_in = count;
    for (int32_t i = 0; i < n_out; i++) {
        AC_TRY(ac_inline_passes(s, n, yes->output.item[i], n->out[i]));
        ac_tensor_become(n->out[i], yes->output.item[i]);
    }
    n->attrs.flow.first = ac_flow_add_subgraph(s, yes);
    n->attrs.flow.second = ac_flow_add_subgraph(s, no);
    return AC_OK;
}

/* ------------------------------------------------------------------ numbers */

/* Subgraph numbers become smaller by `less`. */
static void renumber_subgraphs(ac_graph *g, int32_t less)
{
    for (int32_t i = 0; i < g->node.n; i++)
        if (ac_ops[g->node.item[i]->op].flags & OF_FLOW) {
            int32_t *number[2];
            for (int32_t k = ac_flow_numbers(g->node.item[i], number) - 1; k >= 0; k--)
                *number[k] -= less;
        }
}

void ac_inline_end(ac_inline *s)
{
    ac_graph *g = s->model;
    if (s->depth)
        return;
    g->sub.n -= s->n_sub;
    for (int32_t i = 0; i < g->sub.n; i++)
        g->sub.item[i] = g->sub.item[s->n_sub + i];
    renumber_subgraphs(g, s->n_sub);
    for (int32_t i = 0; i < g->sub.n; i++)
        renumber_subgraphs(g->sub.item[i], s->n_sub);
}
