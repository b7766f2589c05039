/* inline.c - control flow disappears where it can: the nodes of subgraphs take the place of IF and WHILE. Part of pass
 * infer, because what decides a loop is only known while shapes and small values are found out.
 *
 *     before   %y = if %c %x (then %a = mul .., else %b = sub ..)     after   %a = mul ..  %b = sub ..  %y = select %c
 * %a %b before   %i %s = while 0 %x (cond i < 3, body s = f(s))         after   %s1 = f %x  %s2 = f %s1  %s3 = f %s2
 *
 * A condition that is a constant chooses its branch. With any other, small branches that are free of side effects (no
 * state, and no check that could stop the model: OF_STATE, OF_CHECKS) both run, and a value is selected; others stay
 * (flow.c).
 * A loop is unrolled as long as its condition comes out as a constant before the iteration. So a loop over 24 time
 * steps costs 24 copies of the body's nodes (equal loops are printed once), its counters cost nothing, and what is
 * carried round is planned like any other tensor. Once the condition depends on data, the rest of the loop stays, and
 * all of it when the copies become many, if its shapes allow.
 *
 * The state of the work is in the node itself, which stays after the nodes put in front of it until it is decided:
 *     WHILE  in = what is carried round, what else is read, and the condition once it is there; done: copies of
 *            condition and body, so odd when it is there
 *     IF     in = condition, then operands; with done: condition, results of `then` (or of the chosen one), of `else`
 */
#include "ir/pass/flow/inline.h"

#include <string.h>

enum { BUDGET = 1 << 19, MANY = 1 << 12, DEPTH = 16 }; /* nodes and tensors: of all copies, of a loop */

ac_inline *ac_inline_open(ac_pass *p)
{
    ac_inline *s = AC_NEW(p->cx->region, ac_inline);
    const ac_inline *outer = p->within;
    s->p = p;
    s->cx = p->cx;
    s->g = p->graph;
    s->model = outer ? outer->model : p->graph;
    s->n_sub = outer ? outer->n_sub : p->graph->sub.n;
    s->depth = outer ? outer->depth + 1 : 0;
    s->spent = outer ? outer->spent : AC_NEW(p->cx->region, int64_t);
    s->shared = AC_NEW_N(p->cx->region, ac_tensor **, s->n_sub + 1);
    if (!outer)
        ac_inline_begin(s->g);
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
    *s->spent += sub->node.n + sub->tensor.n + 1;
    if (*s->spent <= BUDGET)
        return sub;
    ac_error(s->cx, host->at, E0108, "unrolled, its subgraphs are more than %d operators and tensors", BUDGET);
    return (void)ac_help(s->cx, "split the model, or make the loop shorter"), NULL;
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
static int call(ac_inline *s, const ac_node *host, int32_t index, ac_tensor *const *arg, int32_t n_arg,
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

int ac_inline_condition(ac_inline *s, const ac_node *n, const ac_tensor *c)
{
    if (c->dtype == AC_BOOL && ac_tensor_count(c) == 1)
        return AC_OK;
    return ac_error(s->cx, n->at, E0104, "the condition '%s' is %s, expected one bool", c->name,
                    ac_tensor_str(s->cx, c));
}

static void set_operands(ac_inline *s, ac_node *n, const ac_tensor *const *list, int32_t count)
{
    n->in = ac_copy(s->cx->region, list, (size_t)count * sizeof *list);
    n->n_in = count;
    n->attrs.flow.done++;
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

static int begin_if(ac_inline *s, ac_node *n, int32_t at)
{
    ac_tensor *c = n->in[0];
    const ac_attrs_flow *a = &n->attrs.flow;
    const int32_t first = s->g->node.n, args = n->n_in - 1;
    AC_TRY(ac_inline_condition(s, n, c));
    ac_tensor **list = AC_NEW_N(s->cx->region, ac_tensor *, 1 + 2 * n->n_out);
    list[0] = c;
    int32_t count = 1 + n->n_out;
    if (ac_tensor_is_const(c)) {
        const bool *value = ac_tensor_force(s->cx, c);
        if (!value)
            return AC_FAIL;
        AC_TRY(call(s, n, *value ? a->first : a->second, n->in + 1, args, list + 1, n->n_out));
    } else {
        bool stays;
        AC_TRY(ac_flow_branch(s, n, &stays));
        if (stays)
            return AC_OK;
        AC_TRY(call(s, n, a->first, n->in + 1, args, list + 1, n->n_out));
        AC_TRY(call(s, n, a->second, n->in + 1, args, list + count, n->n_out));
        count += n->n_out;
    }
    ac_graph_place(s->g, first, at);
    set_operands(s, n, (const ac_tensor *const *)list, count);
    return AC_OK;
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

static int end_if(ac_inline *s, ac_node *n, int32_t at)
{
    ac_tensor *c = n->in[0], *const *in = n->in + 1, *const *out = n->out;
    const int32_t first = s->g->node.n, n_out = n->n_out;
    const bool both = n->n_in > 1 + n_out;
    ac_node was = *n;
    ac_node_erase(n);
    if (both && c->rank > 0) { /* a scalar broadcasts to every shape */
        ac_tensor *scalar = ac_tensor_new(s->g, c->name, AC_BOOL, 0, NULL);
        make(s, &was, AC_OP_RESHAPE, &c, 1, scalar);
        c = scalar;
    }
    for (int32_t i = 0; i < n_out; i++) {
        if (both)
            AC_TRY(select_value(s, &was, c, in[i], in[n_out + i], out[i]));
        else
            AC_TRY(ac_inline_rename(s, &was, in[i], out[i]));
    }
    ac_graph_place(s->g, first, at);
    return AC_OK;
}

/* ------------------------------------------------------------------ WHILE */

/* The loop at position `at`, as it was before the first copy. */
static ac_unrolled *unrolled_of(ac_inline *s, const ac_node *n, int32_t at)
{
    for (int32_t i = s->unrolled.n - 1; i >= 0; i--)
        if (s->unrolled.item[i].n == n)
            return &s->unrolled.item[i];
    const ac_unrolled now = {.n = n, .from = at, .spent = *s->spent, .in = n->in, .n_in = n->n_in};
    ac_push(s->cx->region, &s->unrolled, now);
    return &s->unrolled.item[s->unrolled.n - 1];
}

/* The loop is gone, or stays; those inside its copies are, too. */
static int decided(ac_inline *s, const ac_unrolled *u)
{
    s->unrolled.n = (int32_t)(u - s->unrolled.item);
    return AC_OK;
}

/* A loop of many iterations: the copies so far go, and it stays a loop. *stays false: it cannot. */
static int roll_up(ac_inline *s, ac_unrolled *u, ac_node *n, int32_t at, bool *stays)
{
    const ac_diags before = s->cx->diags;
    const int32_t first = s->g->node.n;
    const ac_node was = *n;
    u->tried = true;
    n->in = u->in;
    n->n_in = u->n_in;
    *stays = ac_quietly(s->cx, before, ac_flow_loop(s, n, u->n_in));
    if (!*stays) {
        *n = was;
        return AC_OK;
    }
    for (int32_t i = u->from; i < at; i++)
        if (s->g->node.item[i]->op != AC_OP_NONE)
            ac_node_erase(s->g->node.item[i]);
    ac_graph_place(s->g, first, at);
    return AC_OK;
}

/* A copy of the body on what is carried round, or of the condition. n_in: values that they take. */
static int next_copy(ac_inline *s, ac_node *n, int32_t at, int32_t n_in, bool body)
{
    const int32_t carried = n->n_out, first = s->g->node.n;
    ac_tensor **list = AC_NEW_N(s->cx->region, ac_tensor *, n_in + 1);
    memcpy(list, n->in, (size_t)n_in * sizeof *list);
    if (body)
        AC_TRY(call(s, n, n->attrs.flow.second, n->in, n_in, list, carried));
    else
        AC_TRY(call(s, n, n->attrs.flow.first, n->in, n_in, list + n_in, 1));
    ac_graph_place(s->g, first, at);
    set_operands(s, n, (const ac_tensor *const *)list, body ? n_in : n_in + 1);
    return AC_OK;
}

static int while_node(ac_inline *s, ac_node *n, int32_t at)
{
    const bool asked = n->attrs.flow.done % 2; /* the condition is there */
    ac_unrolled *u = unrolled_of(s, n, at);
    const int32_t n_in = n->n_in - asked, carried = n->n_out;
    if (n_in < carried)
        return ac_error(s->cx, n->at, E0102, "takes %d values and makes %d: a loop carries all of them round", n_in,
                        carried);
    if (!asked)
        return next_copy(s, n, at, n_in, false);
    ac_tensor *c = n->in[n_in];
    AC_TRY(ac_inline_condition(s, n, c));
    const int32_t first = s->g->node.n;
    if (!ac_tensor_is_const(c)) {
        AC_TRY(ac_flow_loop(s, n, n_in));
        ac_graph_place(s->g, first, at);
        return decided(s, u);
    }
    const bool *again = ac_tensor_force(s->cx, c);
    if (!again)
        return AC_FAIL;
    if (*again) {
        bool stays = false;
        if (*s->spent - u->spent > MANY && !u->tried)
            AC_TRY(roll_up(s, u, n, at, &stays));
        return stays ? decided(s, u) : next_copy(s, n, at, n_in, true);
    }
    ac_tensor *const *in = n->in, *const *out = n->out;
    ac_node was = *n;
    ac_node_erase(n);
    for (int32_t i = 0; i < carried; i++)
        AC_TRY(ac_inline_rename(s, &was, in[i], out[i]));
    ac_graph_place(s->g, first, at);
    return decided(s, u);
}

int ac_inline_node(ac_inline *s, int32_t at)
{
    ac_node *n = s->g->node.item[at];
    for (int32_t i = 0; i < n->n_in; i++)
        if (!n->in[i])
            return ac_error(s->cx, n->at, E0102, "operand %d of %s is left out", i, ac_ops[n->op].text);
    if (n->op == AC_OP_WHILE)
        return while_node(s, n, at);
    return n->attrs.flow.done ? end_if(s, n, at) : begin_if(s, n, at);
}
