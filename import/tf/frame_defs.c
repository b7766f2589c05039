/* frame_defs.c - loops of TensorFlow 1, made of Switch and Merge between Enter and Exit.
 *
 *     Enter -> Merge -> Switch -> Exit        LoopCond decides; NextIteration carries what the body made to the next
 * turn ^        | NextIteration <- body
 *
 * A loop is unrolled as long as its condition is known before the turn; of the rest late_flow.c makes a loop. */
#include "import/tf/late_flow.h"
#include "import/tf/nodedefs.h"

#include <string.h>

typedef struct turn {
    int32_t merge;
    ac_tf_ref enter, next;
    ac_tf_value now;
} turn;

typedef struct loop {
    ac_tf_op *n; /* the Exit that asked for it */
    ac_tf_call *c;
    int32_t frame;
    AC_VEC(turn) carried;
    AC_VEC(int32_t) exit; /* nodes */
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
        const turn t = {.merge = f->node.item[i], .enter = n->in[!second], .next = n->in[second]};
        ac_push(region, &l->carried, t);
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
static void begin_turn(loop *l)
{
    const ac_tf_body *body = l->c->body;
    const ac_tf_frame *f = &body->frame.item[l->frame];
    for (int32_t i = 0; i < f->node.n; i++)
        if (is(&body->node.item[f->node.item[i]], "Exit"))
            put(l->c, f->node.item[i], (ac_tf_value){.kind = AC_TF_NONE});
}

/* Runs nodes *i .. of the frame until `end` has run, or all. Merge nodes have their values. */
static int run_nodes(loop *l, int32_t *i, int32_t end)
{
    const ac_tf_frame *f = &l->c->body->frame.item[l->frame];
    int rc = AC_OK;
    for (; *i < f->node.n && !l->c->r->pb.failed; ++*i) {
        const int32_t node = f->node.item[*i];
        bool merge = false;
        for (int32_t k = 0; k < l->carried.n && !merge; k++)
            merge = l->carried.item[k].merge == node;
        if (!merge && ac_tf_node_run(l->c, node) != AC_OK)
            rc = AC_FAIL;
        if (node == end) {
            ++*i;
            return rc;
        }
    }
    return rc;
}

typedef enum outcome { ENDS, GOES_ON, LATE } outcome;

/* One turn: the condition, and the body where it holds. */
static int run_turn(loop *l, outcome *what)
{
    ac_tf *r = l->c->r;
    const ac_tf_body *body = l->c->body;
    const int32_t condition = body->frame.item[l->frame].condition;
    int32_t i = 0;
    begin_turn(l);
    for (int32_t k = 0; k < l->carried.n; k++)
        put(l->c, l->carried.item[k].merge, l->carried.item[k].now);
    *what = ENDS;
    int rc = run_nodes(l, &i, condition);
    ac_tf_value *v = l->c->value[condition];
    ac_tensor *t = v && v->kind == AC_TF_TENSOR ? v->t : NULL;
    if (!t)
        return v && v->kind == AC_TF_DEAD ? ac_error(r->cx, body->node.item[condition].at, E0101,
                                                     "its condition comes from a branch that is not taken")
                                          : AC_FAIL;
    if (!ac_tensor_is_const(t)) {
        *what = LATE;
        return rc;
    }
    const uint8_t *holds = ac_tensor_count(t) == 1 && t->dtype == AC_BOOL ? ac_tensor_force(r->cx, t) : NULL;
    if (!holds)
        return ac_error(r->cx, body->node.item[condition].at, E0104, "its condition is %s, expected one bool",
                        ac_tensor_str(r->cx, t));
    if (!*holds)
        return rc;
    *what = GOES_ON;
    if (run_nodes(l, &i, -1) != AC_OK)
        rc = AC_FAIL;
    return r->pb.failed || r->unrolled >= INT32_MAX ? AC_FAIL : rc;
}

/* ------------------------------------------------------------------ turns of which data decides */

static int late_condition(void *own, const ac_tf_value *arg, ac_tf_value *again)
{
    loop *l = own;
    const int32_t condition = l->c->body->frame.item[l->frame].condition;
    int32_t i = 0;
    begin_turn(l);
    for (int32_t k = 0; k < l->carried.n; k++)
        put(l->c, l->carried.item[k].merge, arg[k]);
    AC_TRY(run_nodes(l, &i, condition));
    *again = *l->c->value[condition];
    return AC_OK;
}

/* What comes before the condition belongs to the body, too; there the condition holds. */
static int late_body(void *own, const ac_tf_value *arg, ac_tf_value *next)
{
    loop *l = own;
    ac_tf_value again;
    const int32_t condition = l->c->body->frame.item[l->frame].condition;
    int32_t i = 0;
    AC_TRY(late_condition(own, arg, &again));
    const ac_build b = {.cx = l->c->r->cx, .g = l->c->r->g, .name = "true", .base = "true"};
    put(l->c, condition, (ac_tf_value){.kind = AC_TF_TENSOR, .t = ac_build_number(&b, AC_BOOL, 1)});
    while (l->c->body->frame.item[l->frame].node.item[i++] != condition)
        ;
    AC_TRY(run_nodes(l, &i, -1));
    for (int32_t k = 0; k < l->carried.n; k++)
        next[k] = *ac_tf_value_of(l->c, l->carried.item[k].next);
    return AC_OK;
}

/* Does the loop leave this value as it is? */
static bool is_passed(const loop *l, const turn *t)
{
    const ac_tf_body *body = l->c->body;
    int32_t at = t->next.node, out = t->next.out;
    for (int32_t step = 0; step < body->node.n && at != t->merge; step++) {
        const ac_tf_node *m = &body->node.item[at];
        if (!(is(m, "Identity") || is(m, "NextIteration") || (is(m, "Switch") && out == 1)) || m->n_in < 1)
            return false;
        out = m->in[0].out;
        at = m->in[0].node;
    }
    return at == t->merge;
}

static int rest_of(loop *l)
{
    ac_region *region = l->n->r->cx->region;
    ac_tf_value *now = AC_NEW_N(region, ac_tf_value, l->carried.n + 1), again;
    ac_tf_value *out = AC_NEW_N(region, ac_tf_value, l->carried.n + 1);
    bool *same = AC_NEW_N(region, bool, l->carried.n + 1);
    const char **name = AC_NEW_N(region, const char *, l->carried.n + 1);
    for (int32_t i = 0; i < l->exit.n; i++) {
        const ac_tf_node *leaves = &l->c->body->node.item[l->exit.item[i]];
        for (int32_t k = 0; k < l->carried.n; k++)
            if (l->c->body->node.item[leaves->in[0].node].in[0].node == l->carried.item[k].merge)
                name[k] = leaves->name;
    }
    for (int32_t k = 0; k < l->carried.n; k++) {
        now[k] = l->carried.item[k].now;
        same[k] = is_passed(l, &l->carried.item[k]);
    }
    ac_tf_late_loop late = {.n = l->n,
                            .count = l->carried.n,
                            .now = now,
                            .same = same,
                            .result = name,
                            .own = l,
                            .condition = late_condition,
                            .body = late_body};
    AC_TRY(ac_tf_late_loop_run(&late, out));
    return late_condition(l, out, &again); /* what leaves the loop may be computed before the condition */
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
    loop l = {.n = n, .c = c, .frame = frame};
    outcome what = GOES_ON;
    bool dead = false;
    const int32_t nodes = n->r->g->node.n;
    if (open_loop(&l) != AC_OK)
        return set_exits(&l, AC_TF_BROKEN);
    const ac_tf_frame *f = &c->body->frame.item[frame];
    ac_tf_value *first = AC_NEW_N(c->r->cx->region, ac_tf_value, l.carried.n + 1);
    ac_tf_value *now = AC_NEW_N(c->r->cx->region, ac_tf_value, l.carried.n + 1);
    for (int32_t i = 0; i < l.carried.n; i++) {
        first[i] = l.carried.item[i].now = *ac_tf_value_of(c, l.carried.item[i].enter);
        dead |= first[i].kind == AC_TF_DEAD;
    }
    if (dead)
        return set_exits(&l, AC_TF_DEAD);
    if (f->condition < 0 || !l.carried.n) {
        const ac_place at =
            l.exit.n ? c->body->node.item[l.exit.item[0]].at : (ac_place){.file = c->r->reading->file.path};
        (void)ac_error(c->r->cx, at, E0012, "loop '%s' has no %s", f->name, f->condition < 0 ? "condition" : "state");
        return set_exits(&l, AC_TF_BROKEN);
    }
    for (int32_t k = 0; what == GOES_ON; k++) {
        if (run_turn(&l, &what) != AC_OK)
            return set_exits(&l, AC_TF_BROKEN);
        for (int32_t i = 0; i < l.carried.n; i++) {
            if (what == GOES_ON)
                l.carried.item[i].now = *ac_tf_value_of(c, l.carried.item[i].next);
            now[i] = l.carried.item[i].now;
        }
        if (what == LATE && ac_tf_late_begin(n, k, l.carried.n, first, now, nodes))
            for (int32_t i = 0; i < l.carried.n; i++)
                l.carried.item[i].now = first[i];
    }
    if (what == LATE && rest_of(&l) != AC_OK)
        return set_exits(&l, AC_TF_BROKEN);
    return set_exits(&l, AC_TF_NONE);
}
