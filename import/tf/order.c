/* order.c - selects the nodes of a body that run, and gives each its position and its loop (frame). They are the nodes
 * that the results need, and those that change variables, themselves or in functions that they run: the results of the
 * latter are often unused. */
#include "import/tf/nodedefs.h"
#include "import/tf/variables.h"

#include <string.h>

/* ------------------------------------------------------------------ effects */

typedef struct func {
    ac_span name;
} func;

typedef struct list {
    ac_pb_list funcs;
} list;

static const ac_pb_field FUNC[] = {{1, AC_PB_BYTES, offsetof(func, name)}, {0, AC_PB_INT, 0}};
static const ac_pb_field LIST[] = {{9, AC_PB_MANY, offsetof(list, funcs)}, {0, AC_PB_INT, 0}};

static bool function_changes(ac_tf *r, ac_tf_body *body)
{
    if (!body || body->broken)
        return false;
    if (body->changes == AC_TF_UNKNOWN) {
        body->changes = AC_TF_NO; /* while it is looked at: a cycle adds nothing */
        for (int32_t i = 0; i < body->node.n && body->changes == AC_TF_NO; i++)
            if (ac_tf_changes(r, &body->node.item[i]))
                body->changes = AC_TF_YES;
    }
    return body->changes == AC_TF_YES;
}

static bool named_changes(ac_tf *r, ac_span message)
{
    func f = {{0}};
    const char *name = ac_pb_read(&r->pb, message, FUNC, &f) ? ac_pb_name(&r->pb, f.name) : NULL;
    return name && function_changes(r, ac_tf_function(r, name));
}

bool ac_tf_assigns(const ac_tf_node *n)
{
    return !strncmp(n->op, "Assign", 6) || !strncmp(n->op, "ResourceScatter", 15);
}

bool ac_tf_changes(ac_tf *r, ac_tf_node *n)
{
    if (n->argument || !ac_pb_spend(&r->pb, 1))
        return false;
    if (ac_tf_assigns(n))
        return true;
    if (!r->variable.n)
        return false;
    if (!n->row)
        return function_changes(r, ac_tf_function(r, n->op));
    if (!(n->row->flags & TF_RUNS) || ac_tf_attrs(r, n) != AC_OK)
        return false;
    for (int32_t i = 0; i < n->n_attr; i++) {
        list l = {.funcs = {.n = 0}};
        ac_span one;
        if (n->attr[i].func.p && named_changes(r, n->attr[i].func))
            return true;
        if (n->attr[i].list.p && !ac_pb_read(&r->pb, n->attr[i].list, LIST, &l))
            return false;
        while (ac_pb_next(&r->pb, &l.funcs, &one))
            if (named_changes(r, one))
                return true;
    }
    return false;
}

/* ------------------------------------------------------------------ order */

typedef struct walk {
    ac_tf *r;
    ac_tf_body *body;
    uint8_t *mark; /* by node: 0 new, 1 open, 2 done */
    AC_VEC(int32_t) order, later;
    AC_VEC(ac_tf_ref) stack; /* node, next input */
    const struct loop *loop; /* by frame; NULL in the first walk */
} walk;

typedef struct loop {
    AC_VEC(int32_t) must; /* Enter and NextIteration nodes and the condition: run before any Exit */
} loop;

static bool is(const ac_tf_node *n, const char *op)
{
    return !strcmp(n->op, op);
}

/* Does n read a variable, or call functions that may? */
static bool may_read(ac_tf *r, ac_tf_body *body, ac_tf_node *n)
{
    if (is(n, "Identity") && ac_tf_link(r, body, n) == AC_OK && n->n_in == 1) {
        const ac_tf_node *from = &body->node.item[n->in[0].node];
        return is(from, "VariableV2") || is(from, "Variable") || ac_tf_assigns(from);
    }
    return !strncmp(n->op, "ReadVariable", 12) || !strncmp(n->op, "ResourceGather", 14) || !n->row ||
           n->row->flags & TF_RUNS;
}

/* A control input orders two nodes. It matters here if it puts a node into a branch or a loop, as inputs from nodes
 * after a Switch do, or if its node changes a variable, or reads one that is state. */
static bool orders_branch(ac_tf *r, ac_tf_body *body, ac_tf_node *n)
{
    if (ac_tf_has_state(r) && may_read(r, body, n))
        return true;
    if (is(n, "Switch") || is(n, "_SwitchN") || is(n, "NoOp") || ac_tf_changes(r, n))
        return true;
    if (!is(n, "Identity") || ac_tf_link(r, body, n) != AC_OK || n->n_in != 1)
        return false;
    const ac_tf_node *from = &body->node.item[n->in[0].node];
    return is(from, "Switch") || is(from, "_SwitchN");
}

static bool is_back_edge(const ac_tf_node *n, const ac_tf_node *from)
{
    return is(n, "Merge") && is(from, "NextIteration");
}

/* Input k of n in the walk; -1: none that counts. After the inputs come, for an Exit, what its loop must have run. */
static int32_t input_of(walk *w, ac_tf_node *n, int32_t k)
{
    ac_tf_body *body = w->body;
    if (k < n->n_in + n->n_control) {
        const int32_t from = n->in[k].node;
        ac_tf_node *m = &body->node.item[from];
        if (k >= n->n_in && !orders_branch(w->r, body, m))
            return -1;
        if (is_back_edge(n, m)) {
            if (!w->loop)
                ac_push(w->r->cx->region, &w->later, from);
            return -1;
        }
        return from;
    }
    const loop *l = w->loop && is(n, "Exit") ? &w->loop[body->node.item[n->in[0].node].frame] : NULL;
    k -= n->n_in + n->n_control;
    return l && k < l->must.n ? l->must.item[k] : -2;
}

/* Appends root after all nodes that it needs, depth first and without recursion. */
static int visit(walk *w, int32_t root)
{
    ac_region *region = w->r->cx->region;
    if (w->mark[root])
        return AC_OK;
    w->mark[root] = 1;
    ac_push(region, &w->stack, ((ac_tf_ref){root, 0}));
    while (w->stack.n) {
        ac_tf_ref *top = &w->stack.item[w->stack.n - 1];
        ac_tf_node *n = &w->body->node.item[top->node];
        if (ac_tf_link(w->r, w->body, n) != AC_OK || !ac_pb_spend(&w->r->pb, 1))
            return AC_FAIL;
        const int32_t from = input_of(w, n, top->out++);
        if (from == -2) {
            w->mark[top->node] = 2;
            ac_push(region, &w->order, top->node);
            w->stack.n--;
        } else if (from >= 0 && w->mark[from] == 1) {
            return ac_error(w->r->cx, n->at, E0101, "needs its own result: nodes '%s' and '%s' are part of a cycle",
                            n->name, w->body->node.item[from].name);
        } else if (from >= 0 && !w->mark[from]) {
            w->mark[from] = 1;
            ac_push(region, &w->stack, ((ac_tf_ref){from, 0}));
        }
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ frames */

static int32_t frame_named(ac_tf *r, ac_tf_body *body, int32_t parent, const char *name)
{
    for (int32_t i = 1; i < body->frame.n; i++)
        if (body->frame.item[i].parent == parent && body->frame.item[i].name == name)
            return i;
    const ac_tf_frame f = {.name = name, .parent = parent, .condition = -1};
    ac_push(r->cx->region, &body->frame, f);
    return body->frame.n - 1;
}

static bool inside(const ac_tf_body *body, int32_t frame, int32_t outer)
{
    while (frame > outer)
        frame = body->frame.item[frame].parent; /* a frame's number is above its parent's */
    return frame == outer;
}

static int find_frame(ac_tf *r, ac_tf_body *body, ac_tf_node *n)
{
    for (int32_t k = 0; k < n->n_in + n->n_control; k++) {
        ac_tf_node *from = &body->node.item[n->in[k].node];
        if (is_back_edge(n, from) || (k >= n->n_in && !orders_branch(r, body, from)))
            continue;
        if (inside(body, from->frame, n->frame))
            n->frame = from->frame;
        else if (!inside(body, n->frame, from->frame))
            return ac_error(r->cx, n->at, E0012, "its inputs come from two loops, '%s' and '%s'",
                            body->frame.item[n->frame].name, body->frame.item[from->frame].name);
    }
    if (is(n, "Enter")) {
        AC_TRY(ac_tf_attrs(r, n));
        const char *name = "";
        for (int32_t i = 0; i < n->n_attr; i++)
            if (!strcmp(n->attr[i].name, "frame_name") && !(name = ac_pb_name(&r->pb, n->attr[i].s)))
                return AC_FAIL;
        n->frame = frame_named(r, body, n->frame, name);
    } else if (is(n, "Exit")) {
        if (!n->frame)
            return ac_error(r->cx, n->at, E0012, "exits a loop, but is not in one");
        n->frame = body->frame.item[n->frame].parent;
    } else if (is(n, "LoopCond")) {
        if (!n->frame || body->frame.item[n->frame].condition >= 0)
            return ac_error(r->cx, n->at, E0012, n->frame ? "its loop has two conditions" : "is not in a loop");
        body->frame.item[n->frame].condition = (int32_t)(n - body->node.item);
    }
    return AC_OK;
}

/* Where a node runs: an Enter outside of the loop it leads into. */
static int32_t runs_in(const ac_tf_body *body, const ac_tf_node *n)
{
    return is(n, "Enter") ? body->frame.item[n->frame].parent : n->frame;
}

/* A loop runs for its Exit nodes: a result must not be a node inside, and a change of a variable needs an Exit. */
static int check_frames(ac_tf *r, ac_tf_body *body, const int32_t *order, int32_t count)
{
    bool *left = AC_NEW_N(r->cx->region, bool, body->frame.n);
    for (int32_t i = 0; i < count; i++) {
        const ac_tf_node *n = &body->node.item[order[i]];
        if (is(n, "Exit"))
            left[body->node.item[n->in[0].node].frame] = true;
    }
    for (int32_t i = 0; i < body->n_rets; i++) {
        const ac_tf_node *n = &body->node.item[body->ret[i].node];
        if (runs_in(body, n))
            return ac_error(r->cx, n->at, E0012, "cannot be an output: it is inside loop '%s'",
                            body->frame.item[runs_in(body, n)].name);
    }
    for (int32_t i = 0; i < count; i++) {
        ac_tf_node *n = &body->node.item[order[i]];
        int32_t f = runs_in(body, n);
        while (f && left[f])
            f = body->frame.item[f].parent;
        if (f && ac_tf_changes(r, n))
            return ac_error(r->cx, n->at, E0012, "changes a variable in loop '%s', whose results are unused",
                            body->frame.item[f].name);
    }
    return AC_OK;
}

int ac_tf_body_order(ac_tf *r, ac_tf_body *body)
{
    ac_region *region = r->cx->region;
    walk w = {.r = r, .body = body};
    if (body->ordered || body->broken)
        return body->broken ? AC_FAIL : AC_OK;
    body->ordered = body->broken = true;
    w.mark = ac_alloc(region, (uint64_t)body->node.n + 1);
    memset(w.mark, 0, (size_t)body->node.n + 1);
    for (int32_t i = 0; i < body->n_rets; i++)
        AC_TRY(visit(&w, body->ret[i].node));
    for (int32_t i = 0; i < body->effect.n; i++)
        if (ac_tf_changes(r, &body->node.item[body->effect.item[i]]))
            AC_TRY(visit(&w, body->effect.item[i]));
    for (int32_t i = 0; i < w.later.n; i++)
        AC_TRY(visit(&w, w.later.item[i]));
    ac_push(region, &body->frame, ((ac_tf_frame){.name = "none", .parent = -1, .condition = -1}));
    for (int32_t i = 0; i < w.order.n; i++)
        AC_TRY(find_frame(r, body, &body->node.item[w.order.item[i]]));
    loop *loops = AC_NEW_N(region, loop, body->frame.n);
    for (int32_t i = 0; i < w.order.n; i++) {
        const ac_tf_node *n = &body->node.item[w.order.item[i]];
        if (n->frame && (is(n, "Enter") || is(n, "NextIteration") || is(n, "LoopCond")))
            ac_push(region, &loops[n->frame].must, w.order.item[i]);
    }
    walk v = {.r = r, .body = body, .loop = loops, .mark = w.mark};
    memset(v.mark, 0, (size_t)body->node.n + 1);
    for (int32_t i = 0; i < w.order.n; i++)
        AC_TRY(visit(&v, w.order.item[i]));
    for (int32_t i = 0; i < v.order.n; i++) {
        ac_tf_frame *f = &body->frame.item[runs_in(body, &body->node.item[v.order.item[i]])];
        ac_push(region, &f->node, v.order.item[i]);
    }
    AC_TRY(check_frames(r, body, v.order.item, v.order.n));
    body->broken = false;
    return AC_OK;
}
