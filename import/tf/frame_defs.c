/* frame_defs.c - loops of TensorFlow 1, made of Switch and Merge between Enter and Exit.
 *
 *     Enter -> Merge -> Switch -> Exit        LoopCond decides; NextIteration carries a result of the body to the next
 *            ^          |                     iteration
 *            NextIteration <- body
 *
 * The condition is LoopCond and all nodes before it, the body the nodes after it. */
#include "import/tf/late_flow.h"
#include "import/tf/nodedefs.h"

#include <string.h>

typedef struct merge {
    int32_t node;
    ac_tf_ref enter, next;
} merge;

typedef struct loop {
    ac_tf_flow loop; /* its values: those of the Merge nodes; n: the Exit that runs it */
    ac_tf_call *c;
    int32_t frame, condition; /* the node LoopCond */
    AC_VEC(merge) merge;
    AC_VEC(int32_t) exit; /* nodes */
    int32_t ran;          /* nodes of the frame that ran in this iteration */
    const ac_graph *in;   /* where they went; NULL: the iteration is over */
    bool failed;          /* one of them did */
} loop;

static bool is(const ac_tf_node *n, const char *op)
{
    return !strcmp(n->op, op);
}

/* Its Merge and Exit nodes. */
static int open_loop(loop *l)
{
    ac_tf_body *body = l->c->body;
    ac_region *region = l->c->r->cx->region;
    const ac_tf_frame *f = &body->frame.item[l->frame];
    for (int32_t i = 0; i < f->node.n; i++) {
        const ac_tf_node *n = &body->node.item[f->node.item[i]];
        if (!is(n, "Merge") || n->n_in != 2)
            continue;
        const bool second = is(&body->node.item[n->in[1].node], "NextIteration");
        if (!second && !is(&body->node.item[n->in[0].node], "NextIteration"))
            continue;
        const merge m = {.node = f->node.item[i], .enter = n->in[!second], .next = n->in[second]};
        ac_push(region, &l->merge, m);
    }
    const ac_tf_frame *outer = &body->frame.item[f->parent];
    for (int32_t i = 0; i < outer->node.n; i++) {
        const ac_tf_node *n = &body->node.item[outer->node.item[i]];
        if (!is(n, "Exit") || body->node.item[n->in[0].node].frame != l->frame)
            continue;
        const ac_tf_node *from = &body->node.item[n->in[0].node];
        if (!is(from, "Switch") || from->n_in != 2 || from->in[1].node != f->condition || n->in[0].out != 0)
            return ac_error(l->c->r->cx, n->at, E0108, "does not leave the loop through a Switch of its condition");
        ac_push(region, &l->exit, outer->node.item[i]);
    }
    return AC_OK;
}

static void put(ac_tf_call *c, int32_t node, ac_tf_value v)
{
    ac_tf_node *n = &c->body->node.item[node];
    if (!n->n_out)
        n->n_out = 1;
    if (!c->value[node])
        c->value[node] = AC_NEW_N(c->r->cx->region, ac_tf_value, n->n_out);
    c->value[node][0] = v;
}

/* Nodes of inner loops are run again. */
static void begin_iteration(loop *l)
{
    const ac_tf_body *body = l->c->body;
    const ac_tf_frame *f = &body->frame.item[l->frame];
    for (int32_t i = 0; i < f->node.n; i++)
        if (is(&body->node.item[f->node.item[i]], "Exit"))
            put(l->c, f->node.item[i], (ac_tf_value){.kind = AC_TF_NONE});
}

/* Runs nodes of the frame from l->ran on until `end` has run, or all. Merge nodes have their values. */
static int run_nodes(loop *l, int32_t end)
{
    const ac_tf_frame *f = &l->c->body->frame.item[l->frame];
    int rc = AC_OK;
    while (l->ran < f->node.n && !l->c->r->pb.failed) {
        const int32_t node = f->node.item[l->ran++];
        bool is_merge = false;
        for (int32_t k = 0; k < l->merge.n && !is_merge; k++)
            is_merge = l->merge.item[k].node == node;
        if (!is_merge && ac_tf_node_run(l->c, node) != AC_OK)
            rc = AC_FAIL;
        if (node == end)
            return rc;
    }
    return rc;
}

/* Runs the nodes up to the condition. */
static int begin_with(loop *l, const ac_tf_value *now)
{
    begin_iteration(l);
    for (int32_t k = 0; k < l->merge.n; k++)
        put(l->c, l->merge.item[k].node, now[k]);
    l->ran = 0;
    l->in = l->c->r->g;
    return run_nodes(l, l->condition);
}

static int run_condition(void *own, const void *now, ac_tensor **again)
{
    loop *l = own;
    ac_tf *r = l->c->r;
    const ac_place at = l->c->body->node.item[l->condition].at;
    l->failed = begin_with(l, now) != AC_OK;
    const ac_tf_value *v = l->c->value[l->condition];
    if (!v || v->kind != AC_TF_TENSOR)
        return v && v->kind == AC_TF_DEAD
                   ? ac_error(r->cx, at, E0101, "its condition comes from a branch that is not taken")
                   : AC_FAIL;
    int32_t holds;
    AC_TRY(ac_tf_condition(l->loop.n, v, again));
    AC_TRY(ac_flow_choose(r->cx, at, *again, 2, &holds));
    return holds > 0 || !l->failed ? AC_OK : AC_FAIL; /* of nodes that failed, run_body reports more */
}

/* Nodes before the condition may belong to the body as well: in a WHILE they run again, and the condition holds. */
static const void *run_body(void *own, const void *now)
{
    loop *l = own;
    ac_tf *r = l->c->r;
    if (l->in != r->g) {
        if (begin_with(l, now) != AC_OK)
            return NULL;
        const ac_maker b = {.cx = r->cx, .g = r->g, .name = "true", .base = "true"};
        put(l->c, l->condition, (ac_tf_value){.kind = AC_TF_TENSOR, .t = ac_make_number(&b, AC_BOOL, 1)});
        l->failed = false;
    }
    ac_tf_value *next = AC_NEW_N(r->cx->region, ac_tf_value, l->merge.n + 1);
    const bool failed = run_nodes(l, -1) != AC_OK || l->failed;
    l->in = NULL;
    for (int32_t k = 0; k < l->merge.n; k++)
        next[k] = *ac_tf_value_of(l->c, l->merge.item[k].next);
    return failed || r->pb.failed ? NULL : next;
}

/* True if no iteration changes this value. */
static bool is_passed(const loop *l, const merge *m)
{
    const ac_tf_body *body = l->c->body;
    int32_t at = m->next.node, out = m->next.out;
    for (int32_t step = 0; step < body->node.n && at != m->node; step++) {
        const ac_tf_node *n = &body->node.item[at];
        if (!(is(n, "Identity") || is(n, "NextIteration") || (is(n, "Switch") && out == 1)) || n->n_in < 1)
            return false;
        out = n->in[0].out;
        at = n->in[0].node;
    }
    return at == m->node;
}

static int find_passed(ac_tf_flow *of)
{
    const loop *l = (const loop *)of;
    const ac_tf_body *body = l->c->body;
    for (int32_t k = 0; k < l->merge.n; k++)
        of->flow.kept[k] = is_passed(l, &l->merge.item[k]);
    for (int32_t i = 0; i < l->exit.n; i++) {
        const ac_tf_node *leaves = &body->node.item[l->exit.item[i]];
        for (int32_t k = 0; k < l->merge.n; k++)
            if (body->node.item[leaves->in[0].node].in[0].node == l->merge.item[k].node)
                of->flow.name[k] = leaves->name;
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ the loop */

static int set_exits(loop *l, ac_tf_kind all)
{
    const ac_tf_body *body = l->c->body;
    for (int32_t i = 0; i < l->exit.n; i++) {
        const ac_tf_node *n = &body->node.item[l->exit.item[i]];
        const ac_tf_ref from = body->node.item[n->in[0].node].in[0];
        const ac_tf_value *v = ac_tf_value_of(l->c, from);
        put(l->c, l->exit.item[i], all == AC_TF_NONE ? *v : (ac_tf_value){.kind = all});
    }
    return all == AC_TF_BROKEN ? AC_FAIL : AC_OK;
}

int ac_tf_frame_run(ac_tf_op *n, int32_t frame)
{
    ac_tf_call *c = n->call;
    loop l = {.loop = {.n = n, .find_kept = find_passed}, .c = c, .frame = frame};
    bool dead = false;
    int64_t turns;
    if (open_loop(&l) != AC_OK)
        return set_exits(&l, AC_TF_BROKEN);
    const ac_tf_frame *f = &c->body->frame.item[frame];
    ac_tf_value *first = AC_NEW_N(c->r->cx->region, ac_tf_value, l.merge.n + 1);
    for (int32_t i = 0; i < l.merge.n; i++) {
        first[i] = *ac_tf_value_of(c, l.merge.item[i].enter);
        dead |= first[i].kind == AC_TF_DEAD;
    }
    if (dead)
        return set_exits(&l, AC_TF_DEAD);
    if (f->condition < 0 || !l.merge.n) {
        const ac_place at =
            l.exit.n ? c->body->node.item[l.exit.item[0]].at : (ac_place){.file = c->r->reading->file.path};
        (void)ac_error(c->r->cx, at, E0012, "loop '%s' has no %s", f->name, f->condition < 0 ? "condition" : "state");
        return set_exits(&l, AC_TF_BROKEN);
    }
    l.condition = f->condition;
    const ac_tf_value *last = ac_tf_loop_run(&l.loop, run_condition, run_body, l.merge.n, first, &turns);
    if (last && turns < 0 && begin_with(&l, last) != AC_OK) /* exits may be computed before the condition */
        last = NULL;
    return set_exits(&l, last ? AC_TF_NONE : AC_TF_BROKEN);
}
