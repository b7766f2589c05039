/* inline.c - removes control flow where it can: the nodes of subgraphs replace IF and WHILE. Part of pass infer, since
 * the condition of a loop is a constant only once shapes and small values are computed.
 *
 *     before   %y = if %c %x (then %a = mul .., else %b = sub ..)     after   %a = mul ..  %b = sub ..  %y = select %c
 * %a %b before   %i %s = while 0 %x (cond i < 3, body s = f(s))         after   %s1 = f %x  %s2 = f %s1  %s3 = f %s2
 *
 * A constant condition chooses its branch. With any other, two small branches both run, and a SELECT chooses the value,
 * unless a node in them has a side effect (state, or a check that may stop the model: OF_STATE, OF_CHECKS); other
 * branches stay (flow.c).
 * ir/flow/unroll.h unrolls loops: a loop over 24 time steps becomes 24 copies of the body's nodes (equal loops are
 * printed once), its counters cost nothing, and carried values are planned like any other tensor. What it rolls up
 * stays (flow.c). */
#include "ir/pass/flow/inline.h"

#include <string.h>

enum { DEPTH = 16, MOST_NESTED = 256 };
static const ac_unroll_rules RULES = {.copied = 1 << 12 /* nodes and tensors */, .trips = INT64_MAX};

ac_inline *ac_inline_open(ac_pass *p, ac_infer *infer)
{
    ac_inline *s = AC_NEW(p->cx->region, ac_inline);
    const ac_inline *outer = p->within;
    s->p = p;
    s->infer = infer;
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
                              "subgraph %d ('%s') takes %d values and makes %d, expected %d and %d", index, sub->name,
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
        ac_node *c = ac_node_new(to, n->op, n->name, in, n->n_in, out, n->n_out);
        c->at = n->at;
        c->attrs = n->attrs;
    }
}

/* The nodes of subgraph number `index` on `arg` are appended to the graph; result[] are its outputs. */
static int copy_subgraph(ac_inline *s, const ac_node *host, int32_t index, ac_tensor *const *arg, int32_t n_arg,
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

/* Node n makes `to` out of one to three operands. */
static ac_node *make(ac_inline *s, const ac_node *n, ac_op op, ac_tensor *const *in, int32_t n_in, ac_tensor *to)
{
    ac_node *m = ac_node_new(s->g, op, n->name, in, n_in, &to, 1);
    m->at = n->at;
    m->at.op = NULL;
    return m;
}

int ac_inline_rename(ac_inline *s, const ac_node *n, ac_tensor *from, ac_tensor *to)
{
    AC_TRY(ac_inline_passes(s, n, from, to));
    int64_t *shape = AC_NEW_N(s->cx->region, int64_t, AC_MAX_RANK);
    for (int32_t d = 0; d < from->rank; d++)
        shape[d] = from->dim[d];
    make(s, n, AC_OP_RESHAPE, &from, 1, to)->attrs.shape.shape = (ac_ints){from->rank, shape};
    return AC_OK;
}

/* ------------------------------------------------------------------ IF */

static const ac_node *impure(const ac_inline *s, int32_t index, int32_t depth)
{
    const ac_graph *sub = index >= 1 && index <= s->n_sub ? s->model->sub.item[index - 1] : NULL;
    for (int32_t i = 0; sub && i < sub->node.n; i++) {
        const ac_node *n = sub->node.item[i];
        const uint32_t flags = ac_ops[n->op].flags;
        if (flags & (OF_STATE | OF_CHECKS) || (flags & OF_FLOW && depth >= DEPTH))
            return n;
        const ac_node *inner = NULL;
        if (flags & OF_FLOW)
            inner = impure(s, n->attrs.flow.first, depth + 1);
        if (flags & OF_FLOW && !inner)
            inner = impure(s, n->attrs.flow.second, depth + 1);
        if (inner)
            return inner;
    }
    return NULL;
}

const ac_node *ac_inline_impure(const ac_inline *s, int32_t index)
{
    return impure(s, index, 0);
}

/* to = condition ? yes : no */
static int select_value(ac_inline *s, const ac_node *n, ac_tensor *c, ac_tensor *yes, ac_tensor *no, ac_tensor *to)
{
    AC_TRY(ac_inline_passes(s, n, yes, to));
    AC_TRY(ac_inline_passes(s, n, no, to));
    if (!ac_tensor_same_kind(yes, no))
        return ac_error(s->cx, n->at, E0108, "its branches give %s and %s: '%s' has no shape until the model runs",
                        ac_tensor_str(s->cx, yes), ac_tensor_str(s->cx, no), to->name);
    make(s, n, AC_OP_SELECT, (ac_tensor *[]){c, yes, no}, 3, to);
    return AC_OK;
}

/* The branch that a constant condition chooses, or both: values are yes[], and no[] if it is not NULL. */
static int copy_branches(ac_inline *s, const ac_node *n, ac_tensor **yes, ac_tensor **no)
{
    const ac_attrs_flow *a = &n->attrs.flow;
    const int32_t first = s->g->node.n, args = n->n_in - 1;
    int32_t chosen = a->first;
    if (!no) {
        const bool *value = ac_tensor_force(s->cx, n->in[0]);
        if (!value)
            return AC_FAIL;
        chosen = *value ? a->first : a->second;
    }
    AC_TRY(copy_subgraph(s, n, chosen, n->in + 1, args, yes, n->n_out));
    if (no)
        AC_TRY(copy_subgraph(s, n, a->second, n->in + 1, args, no, n->n_out));
    s->p->changed++;
    ac_infer_nodes(s->infer, first);
    return ac_infer_knows(s->infer, yes, n->n_out) && (!no || ac_infer_knows(s->infer, no, n->n_out)) ? AC_OK : AC_FAIL;
}

static int if_node(ac_inline *s, ac_node *n)
{
    ac_tensor *c = n->in[0], *const *out = n->out;
    const bool both = !ac_tensor_is_const(c);
    const int32_t n_out = n->n_out;
    bool stays = false;
    AC_TRY(ac_flow_is_condition(s->cx, n->at, c));
    if (both)
        AC_TRY(ac_flow_branch(s, n, &stays));
    if (stays)
        return AC_OK;
    ac_tensor **yes = AC_NEW_N(s->cx->region, ac_tensor *, n_out + 1);
    ac_tensor **no = both ? AC_NEW_N(s->cx->region, ac_tensor *, n_out + 1) : NULL;
    AC_TRY(copy_branches(s, n, yes, no));
    const int32_t first = s->g->node.n;
    const ac_node was = *n;
    ac_node_erase(n);
    if (both && c->rank > 0) { /* a scalar broadcasts to every shape */
        ac_tensor *scalar = ac_tensor_new(s->g, c->name, AC_BOOL, 0, NULL);
        make(s, &was, AC_OP_RESHAPE, &c, 1, scalar);
        c = scalar;
    }
    for (int32_t i = 0; i < n_out; i++) {
        if (both)
            AC_TRY(select_value(s, &was, c, yes[i], no[i], out[i]));
        else
            AC_TRY(ac_inline_rename(s, &was, yes[i], out[i]));
    }
    ac_infer_nodes(s->infer, first);
    return AC_OK;
}

/* ------------------------------------------------------------------ WHILE */

typedef struct loop {
    ac_inline *s;
    ac_node *n;
    int32_t n_in;
} loop;

/* A copy of subgraph `index` on the loop's values. */
static int copy_iteration(const loop *l, int32_t index, ac_tensor *const *now, ac_tensor **result, int32_t n_result)
{
    ac_inline *s = l->s;
    const int32_t first = s->g->node.n;
    s->p->changed++;
    AC_TRY(copy_subgraph(s, l->n, index, now, l->n_in, result, n_result));
    ac_infer_nodes(s->infer, first);
    return ac_infer_knows(s->infer, result, n_result) ? AC_OK : AC_FAIL;
}

static int copy_condition(void *own, const void *now, ac_tensor **again)
{
    const loop *l = own;
    AC_TRY(copy_iteration(l, l->n->attrs.flow.first, now, again, 1));
    return ac_flow_is_condition(l->s->cx, l->n->at, *again);
}

static const void *copy_body(void *own, const void *now)
{
    const loop *l = own;
    ac_tensor **next = ac_copy(l->s->cx->region, now, (size_t)l->n_in * sizeof *next);
    return copy_iteration(l, l->n->attrs.flow.second, now, next, l->n->n_out) == AC_OK ? next : NULL;
}

static const void *keep_loop(void *own, const void *now, int64_t done, bool trial)
{
    const loop *l = own;
    const ac_node was = *l->n;
    const int32_t first = l->s->g->node.n;
    (void)done;
    l->n->in = ac_copy(l->s->cx->region, now, (size_t)l->n_in * sizeof *l->n->in);
    if (ac_flow_loop(l->s, l->n, l->n_in) != AC_OK) {
        if (trial)
            *l->n = was;
        return NULL;
    }
    ac_infer_nodes(l->s->infer, first);
    return now;
}

static int while_node(ac_inline *s, ac_node *n)
{
    loop l = {s, n, n->n_in};
    const int32_t carried = n->n_out;
    int64_t turns;
    if (n->n_in < carried)
        return ac_error(s->cx, n->at, E0102, "takes %d values and makes %d: a loop carries all of them round", n->n_in,
                        carried);
    const ac_unroll u = {.cx = s->cx,
                         .g = s->g,
                         .rules = &RULES,
                         .trips = -1,
                         .copied = &s->budget->steps,
                         .own = &l,
                         .condition = copy_condition,
                         .body = copy_body,
                         .roll = keep_loop};
    ac_tensor *const *last = ac_unroll_loop(&u, n->in, &turns);
    if (!last || turns < 0)
        return last ? AC_OK : AC_FAIL;
    const int32_t first = s->g->node.n;
    const ac_node was = *n;
    ac_node_erase(n);
    for (int32_t i = 0; i < carried; i++)
        AC_TRY(ac_inline_rename(s, &was, last[i], was.out[i]));
    ac_infer_nodes(s->infer, first);
    return AC_OK;
}

int ac_inline_node(ac_inline *s, ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (!n->in[i])
            return ac_error(s->cx, n->at, E0102, "operand %d of %s is left out", i, ac_ops[n->op].text);
    if (s->nested >= MOST_NESTED)
        return ac_error(s->cx, n->at, E0108, "subgraphs replace each other more than %d deep: perhaps in a cycle",
                        MOST_NESTED);
    s->nested++;
    const int status = n->op == AC_OP_WHILE ? while_node(s, n) : if_node(s, n);
    s->nested--;
    return status;
}
