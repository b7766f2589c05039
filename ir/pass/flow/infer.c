/* infer.c - pass infer: types and shapes of everything, the constants that follow from shapes, and control flow, since
 * the condition of a loop is a constant only once shapes and small values are computed. Control flow is removed if it
 * can be: the nodes of subgraphs replace IF and WHILE.
 *
 *     before   %y = if %c %x (then %a = mul .., else %b = sub ..)
 *     after    %a = mul ..   %b = sub ..   %y = select %c %a %b
 *     before   %i %s = while 0 %x (cond i < 3, body s = f(s))
 *     after    %s1 = f %x   %s2 = f %s1   %s3 = f %s2
 *
 * A constant condition chooses its branch. With any other, two small branches both run, and a SELECT chooses the value,
 * unless a node in them has a side effect (state, or a check that may stop the model: OF_STATE, OF_CHECKS); other
 * branches stay (flow.c).
 * ir/flow/unroll.h unrolls loops: a loop over 24 time steps becomes 24 copies of the body's nodes (equal loops are
 * printed once), its counters cost nothing, and carried values are planned like any other tensor. Loops that it rolls
 * up stay (flow.c). Subgraphs are inferred as they are copied, so this file calls itself. */
#include "ir/ops/shape/resolve.h"
#include "ir/ops/decode/cells.h"
#include "ir/pass/flow/inline.h"
#include "ir/pass/flow/shapes.h"

#include <string.h>

enum { MOST_NESTED = 256 };
static const ac_unroll_rules RULES = {.copied = 1 << 12 /* nodes and tensors */, .trips = INT64_MAX, .most = INT64_MAX};

typedef struct infer {
    ac_shapes shapes;
    ac_inline *flow;
    int64_t unrolls; /* SCANs of up to that many steps become nodes */
    int32_t nested;  /* nodes that are being replaced, each one inside a copy made for the one before */
} infer;

static void infer_nodes(infer *s, int32_t from);
static int infer_graph(ac_pass *p, const ac_inline *outer, int64_t unrolls);

/* ------------------------------------------------------------------ control flow that stays */

static ac_graph *inferred_copy(infer *s, const ac_node *n, const ac_flow_copied *c)
{
    ac_graph *g = ac_flow_copy(s->flow, n, c);
    ac_pass inner = {.cx = s->flow->cx, .graph = g, .opt = s->shapes.p->opt};
    if (!g || infer_graph(&inner, s->flow, s->unrolls) != AC_OK)
        return NULL;
    s->flow->model->next_node = g->next_node;
    return g;
}

static int keep_loop(infer *s, ac_node *n, int32_t n_in)
{
    bool *changes = AC_NEW_N(s->flow->cx->region, bool, n->n_out + 1);
    const ac_flow_role *as = ac_flow_loop_roles(s->flow, n, n_in, changes);
    if (!as)
        return AC_FAIL;
    ac_flow_copied c = {.index = n->attrs.flow.first, .arg = n->in, .as = as, .n_arg = n_in, .n_out = 1};
    ac_graph *cond = inferred_copy(s, n, &c);
    c.index = n->attrs.flow.second;
    c.wanted = changes;
    c.n_out = n->n_out;
    ac_graph *body = cond ? inferred_copy(s, n, &c) : NULL;
    return body ? ac_flow_keep_loop(s->flow, n, n_in, as, cond, body) : AC_FAIL;
}

/* *stays false: n is as it was, since it is better to run both branches and select. */
static int keep_branch(infer *s, ac_node *n, bool *stays)
{
    const ac_flow_role *as = ac_flow_branch_roles(s->flow, n);
    ac_flow_copied c = {
        .index = n->attrs.flow.first, .arg = n->in + 1, .as = as, .n_arg = n->n_in - 1, .n_out = n->n_out};
    ac_graph *yes = inferred_copy(s, n, &c);
    c.index = n->attrs.flow.second;
    ac_graph *no = yes ? inferred_copy(s, n, &c) : NULL;
    return no ? ac_flow_keep_branch(s->flow, n, as, yes, no, stays) : AC_FAIL;
}

/* ------------------------------------------------------------------ IF */

/* The branch that a constant condition chooses, or both: values are yes[], and no[] if it is not NULL. */
static int copy_branches(infer *s, const ac_node *n, ac_tensor **yes, ac_tensor **no)
{
    const ac_attrs_flow *a = &n->attrs.flow;
    const int32_t first = s->flow->g->node.n, args = n->n_in - 1;
    int32_t holds;
    AC_TRY(ac_flow_choose(s->flow->cx, n->at, n->in[0], 2, &holds));
    AC_TRY(ac_inline_copy(s->flow, n, holds ? a->first : a->second, n->in + 1, args, yes, n->n_out));
    if (no)
        AC_TRY(ac_inline_copy(s->flow, n, a->second, n->in + 1, args, no, n->n_out));
    s->shapes.p->changed++;
    infer_nodes(s, first);
    return ac_shapes_known(&s->shapes, yes, n->n_out) && (!no || ac_shapes_known(&s->shapes, no, n->n_out)) ? AC_OK
                                                                                                            : AC_FAIL;
}

static int if_node(infer *s, ac_node *n)
{
    ac_tensor *c = n->in[0], *const *out = n->out;
    const bool both = !ac_tensor_is_const(c);
    const int32_t n_out = n->n_out;
    bool stays = false;
    AC_TRY(ac_flow_is_condition(s->flow->cx, n->at, c));
    if (both)
        AC_TRY(keep_branch(s, n, &stays));
    if (stays)
        return AC_OK;
    ac_tensor **yes = AC_NEW_N(s->flow->cx->region, ac_tensor *, n_out + 1);
    ac_tensor **no = both ? AC_NEW_N(s->flow->cx->region, ac_tensor *, n_out + 1) : NULL;
    AC_TRY(copy_branches(s, n, yes, no));
    const int32_t first = s->flow->g->node.n;
    const ac_node was = *n;
    ac_node_erase(n);
    if (both && c->rank > 0)
        c = ac_inline_scalar(s->flow, &was, c);
    for (int32_t i = 0; i < n_out; i++) {
        if (both)
            AC_TRY(ac_inline_select(s->flow, &was, c, yes[i], no[i], out[i]));
        else
            AC_TRY(ac_inline_rename(s->flow, &was, yes[i], out[i]));
    }
    infer_nodes(s, first);
    return AC_OK;
}

/* ------------------------------------------------------------------ WHILE */

typedef struct loop {
    infer *s;
    ac_node *n;
    int32_t n_in;
} loop;

/* A copy of subgraph `index` on the loop's values. */
static int copy_iteration(const loop *l, int32_t index, ac_tensor *const *now, ac_tensor **result, int32_t n_result)
{
    infer *s = l->s;
    const int32_t first = s->flow->g->node.n;
    s->shapes.p->changed++;
    AC_TRY(ac_inline_copy(s->flow, l->n, index, now, l->n_in, result, n_result));
    infer_nodes(s, first);
    return ac_shapes_known(&s->shapes, result, n_result) ? AC_OK : AC_FAIL;
}

static int copy_condition(void *own, const void *now, ac_tensor **again)
{
    const loop *l = own;
    AC_TRY(copy_iteration(l, l->n->attrs.flow.first, now, again, 1));
    return ac_flow_is_condition(l->s->flow->cx, l->n->at, *again);
}

static const void *copy_body(void *own, const void *now)
{
    const loop *l = own;
    ac_tensor **next = ac_copy(l->s->flow->cx->region, now, (size_t)l->n_in * sizeof *next);
    return copy_iteration(l, l->n->attrs.flow.second, now, next, l->n->n_out) == AC_OK ? next : NULL;
}

static const void *roll_loop(void *own, const void *now, int64_t done, bool trial)
{
    const loop *l = own;
    const ac_node was = *l->n;
    const int32_t first = l->s->flow->g->node.n;
    (void)done;
    l->n->in = ac_copy(l->s->flow->cx->region, now, (size_t)l->n_in * sizeof *l->n->in);
    if (keep_loop(l->s, l->n, l->n_in) != AC_OK) {
        if (trial)
            *l->n = was;
        return NULL;
    }
    infer_nodes(l->s, first);
    return now;
}

static int while_node(infer *s, ac_node *n)
{
    loop l = {s, n, n->n_in};
    const int32_t carried = n->n_out;
    int64_t turns;
    if (n->n_in < carried)
        return ac_error(s->flow->cx, n->at, E0102,
                        "takes %d values and returns %d, but a loop returns as many as it takes", n->n_in, carried);
    const ac_unroll u = {.cx = s->flow->cx,
                         .g = s->flow->g,
                         .at = n->at,
                         .rules = &RULES,
                         .trips = -1,
                         .copied = &s->flow->budget->steps,
                         .own = &l,
                         .condition = copy_condition,
                         .body = copy_body,
                         .roll = roll_loop};
    ac_tensor *const *last = ac_unroll_loop(&u, n->in, &turns);
    if (!last || turns < 0)
        return last ? AC_OK : AC_FAIL;
    const int32_t first = s->flow->g->node.n;
    const ac_node was = *n;
    ac_node_erase(n);
    for (int32_t i = 0; i < carried; i++)
        AC_TRY(ac_inline_rename(s->flow, &was, last[i], was.out[i]));
    infer_nodes(s, first);
    return AC_OK;
}

/* ------------------------------------------------------------------ SCAN */

/* *stays false: n is as it was, since all of its steps together cost less than a loop would add. */
static int keep_scan(infer *s, ac_node *n, const ac_scan *c, bool *stays)
{
    ac_flow_role *as = AC_NEW_N(s->flow->cx->region, ac_flow_role, n->n_in + 1);
    ac_tensor **arg = AC_NEW_N(s->flow->cx->region, ac_tensor *, n->n_in + 1);
    AC_TRY(ac_scan_roles(s->flow, n, c, as, arg));
    const ac_flow_copied copied = {
        .index = n->attrs.scan.first, .arg = arg, .as = as, .n_arg = n->n_in, .n_out = c->states + c->elements};
    ac_graph *body = inferred_copy(s, n, &copied);
    *stays = body && (s->shapes.p->opt->unrolls > 0 || ac_scan_is_long(c, body));
    return !body ? AC_FAIL : *stays ? ac_flow_keep_scan(s->flow, n, c, as, body) : AC_OK;
}

static int unroll_scan(infer *s, ac_node *n, const ac_scan *c)
{
    ac_region *region = s->flow->cx->region;
    const int32_t n_out = c->states + c->elements;
    ac_tensor **arg = AC_NEW_N(region, ac_tensor *, n->n_in + 1), **out = AC_NEW_N(region, ac_tensor *, n_out + 1);
    ac_tensor **element = AC_NEW_N(region, ac_tensor *, c->steps * c->elements + 1);
    memcpy(out, n->in, (size_t)c->states * sizeof *out);
    for (int64_t t = 0; t < c->steps; t++) {
        int32_t first = s->flow->g->node.n;
        AC_TRY(ac_scan_step(s->flow, n, c, t, out, arg));
        AC_TRY(ac_inline_copy(s->flow, n, n->attrs.scan.first, arg, n->n_in, out, n_out));
        infer_nodes(s, first);
        if (!ac_shapes_known(&s->shapes, out, n_out))
            return AC_FAIL;
        memcpy(element + t * c->elements, out + c->states, (size_t)c->elements * sizeof *out);
    }
    const int32_t first = s->flow->g->node.n;
    const ac_node was = *n;
    ac_node_erase(n);
    for (int32_t i = 0; i < c->states; i++)
        AC_TRY(ac_inline_rename(s->flow, &was, out[i], was.out[i]));
    for (int32_t i = 0; i < was.n_out - c->states; i++)
        AC_TRY(ac_scan_collect(s->flow, &was, c, i, element));
    infer_nodes(s, first);
    return AC_OK;
}

/* In pass unroll: a GPU runs n, a layer of cells, as one launch. */
static bool is_launch(const infer *s, const ac_node *n)
{
    const ac_pass_options *o = s->shapes.p->opt;
    ac_cells c;
    return s->unrolls > 1 && o->cells &&
           ac_cells_of(s->flow->cx, s->flow->cx->region, n, s->flow->model->sub.item[n->attrs.scan.first - 1], &c) &&
           ac_cells_fit(&c, o->cells);
}

/* One step needs no loop. */
static int scan_node(infer *s, ac_node *n)
{
    ac_scan c;
    bool stays = false;
    AC_TRY(ac_scan_of(s->flow->cx, n, &c));
    s->shapes.p->changed++;
    if (c.steps > s->unrolls || is_launch(s, n))
        AC_TRY(keep_scan(s, n, &c, &stays));
    return stays ? AC_OK : unroll_scan(s, n, &c);
}

/* ------------------------------------------------------------------ the graph */

/* n runs subgraphs, its operands are known. Appends the nodes that replace it, or that rename values which it leaves
 * unchanged, and infers them; n is erased unless it stays. */
static int replace_node(infer *s, ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (!n->in[i])
            return ac_error(s->flow->cx, n->at, E0102, "operand %d of %s is missing", i, ac_ops[n->op].text);
    if (s->nested >= MOST_NESTED)
        return ac_error(s->flow->cx, n->at, E0108, "subgraphs replace each other more than %d deep: perhaps in a cycle",
                        MOST_NESTED);
    s->nested++;
    const int status = n->op == AC_OP_WHILE ? while_node(s, n) : n->op == AC_OP_SCAN ? scan_node(s, n) : if_node(s, n);
    s->nested--;
    return status;
}

/* Node number i, which runs subgraphs, is replaced by the nodes in front of it, or stays. The number of new nodes. */
static int32_t infer_flow(infer *s, int32_t i)
{
    const ac_node was = *s->flow->g->node.item[i]; /* its results, should it fail after it was erased */
    const int32_t end = s->flow->g->node.n;
    const int status = replace_node(s, s->flow->g->node.item[i]);
    ac_shapes_see(&s->shapes);
    if (status != AC_OK)
        ac_shapes_give_up(&s->shapes, &was);
    s->shapes.p->changed++;
    ac_graph_place(s->flow->g, end, i);
    return s->flow->g->node.n - end;
}

static void infer_nodes(infer *s, int32_t from)
{
    ac_shapes_see(&s->shapes);
    for (int32_t i = from; i < s->flow->g->node.n; i++) {
        ac_node *n = s->flow->g->node.item[i];
        if (n->op == AC_OP_NONE)
            continue;
        const bool known = ac_shapes_operands(&s->shapes, n);
        if (known && ac_ops[n->op].flags & OF_FLOW)
            i += infer_flow(s, i);
        else if (known && ac_shapes_node(&s->shapes, n) == AC_OK)
            s->shapes.p->changed += ac_node_is_shape(s->shapes.p->cx, n) || ac_shapes_fold(&s->shapes, n);
        else
            ac_shapes_give_up(&s->shapes, n);
    }
}

static int infer_graph(ac_pass *p, const ac_inline *outer, int64_t unrolls)
{
    infer s = {.shapes = {.p = p, .g = p->graph}, .flow = ac_inline_open(p, outer), .unrolls = unrolls};
    infer_nodes(&s, 0);
    ac_inline_end(s.flow);
    ac_graph_sweep(p->graph);
    return s.shapes.failed ? AC_FAIL : AC_OK;
}

/* ac_pass_infer: types and shapes of everything.
 *   before:  input %x: f32[4,8]   %s = shape %x   %y: ? = reshape %z %s
 *   after:   input %x: f32[4,8]   const %s: i32[2] = [4, 8]   %y: f32[4,8] = reshape %z %s
 * needs: nodes in execution order, inputs whose dimensions are numbers.  guarantees: every type and dimension is known,
 * no tensor has more than 2^31-1 elements, paddings are explicit numbers; results of small constants and of shapes are
 * constants, so static operands computed from shapes are; an IF or WHILE that is left (flow.c) decides on data, and
 * its subgraphs are as the graph is. Every independent error is reported; readers of a failed result are skipped. */
int ac_pass_infer(ac_pass *p)
{
    return infer_graph(p, NULL, p->opt->nodes ? INT64_MAX : 1);
}

/* ac_pass_unroll: SCANs of up to `unrolls` steps become nodes, once pass ahead has moved products in front of them. On
 * a GPU a loop is one thread, nodes are launches of many.
 *   before:  %h %y = scan %h0 %p (body %h1 = tanh %h + %p)
 *   after:   %p0 = slice %p 0   %h1 = tanh %h0 + %p0   %p1 = slice %p 1   %h2 = tanh %h1 + %p1 ..
 * needs, guarantees: those of pass infer. */
int ac_pass_unroll(ac_pass *p)
{
    return infer_graph(p, NULL, p->opt->unrolls);
}
