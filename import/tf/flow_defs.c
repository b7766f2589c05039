/* flow_defs.c - control flow of TensorFlow graphs. v1: a Switch sends a value one way or the other, a Merge takes the
 * one that is there, and a loop is made of both, between Enter and Exit. v2: If, Case and While name functions.
 *
 *     Enter -> Merge -> Switch -> Exit        LoopCond decides; NextIteration carries what the body made to the next
 * turn ^        | NextIteration <- body
 *
 * What a condition is at the time of compiling decides: a known one chooses its branch; a loop turns as long as its
 * condition is known to be true. A branch whose condition is known at run time only runs both ways; its values carry
 * the condition as their guard, and where they meet again, they are selected from. */
#include "import/tf/nodedefs.h"

#include <string.h>

enum { MOST_BRANCHES = 64 };

/* ------------------------------------------------------------------ values that depend on conditions */

/* Input i as one bool; *known: its value is in *holds, else it is NULL or the scalar to select by. */
static ac_tensor *condition(ac_tf_op *n, int32_t i, bool *known, bool *holds)
{
    ac_tensor *t = n->t[i];
    double v = 0;
    *known = false;
    if (!t || ac_tensor_count(t) != 1)
        return (void)ac_error(n->r->cx, n->b.at, E0104, "its condition is %s, expected one bool",
                              t ? ac_tensor_str(n->r->cx, t) : "not a tensor"),
               NULL;
    if (ac_operand_known(&n->b, &n->t[i])) {
        if (ac_operand_scalar(&n->b, &n->t[i], &v) != AC_OK)
            return NULL;
        *known = true;
        *holds = v != 0;
        return t;
    }
    t = ac_build_reshape(&n->b, t, 0, NULL);
    return t && t->dtype != AC_BOOL ? ac_build_2(&n->b, AC_OP_NOT_EQUAL, t, ac_build_number(&n->b, t->dtype, 0)) : t;
}

/* cond ? yes : no */
static int choose(ac_tf_op *n, ac_tensor *cond, const ac_tf_value *yes, const ac_tf_value *no, ac_tf_value *out)
{
    if (yes->kind == AC_TF_BROKEN || no->kind == AC_TF_BROKEN)
        return AC_FAIL;
    *out = (ac_tf_value){.kind = yes->kind, .list = yes->list, .t = yes->t, .variable = yes->variable};
    if (yes->kind == no->kind && yes->t == no->t && yes->list == no->list && yes->variable == no->variable)
        return AC_OK;
    if (yes->kind != AC_TF_TENSOR || no->kind != AC_TF_TENSOR)
        return ac_build_cannot(&n->b, "its branches, chosen from at run time, leave different arrays or variables");
    if (yes->t->dtype != no->t->dtype || !ac_tensor_same_shape(yes->t, no->t))
        return ac_build_cannot(&n->b, "its branches, chosen from at run time, give %s and %s",
                               ac_tensor_str(n->r->cx, yes->t), ac_tensor_str(n->r->cx, no->t));
    out->t = ac_build_select(&n->b, cond, yes->t, no->t);
    return out->t ? AC_OK : AC_FAIL;
}

/* _SwitchN: input 1 says which of several results is there. */
static int switch_many(ac_tf_op *n)
{
    double v;
    (void)ac_tf_attr_of(n, "num_outs");
    if (!n->t[1] || !ac_operand_known(&n->b, &n->t[1])) {
        n->r->reading->late = true;
        return ac_build_cannot(&n->b, "which of its branches is taken is known only at run time");
    }
    AC_TRY(ac_operand_scalar(&n->b, &n->t[1], &v));
    const int64_t count = ac_tf_int(n, "num_outs", n->n_out), at = v >= 0 && v < (double)count ? (int64_t)v : count - 1;
    for (int32_t k = 0; k < n->n_out; k++)
        n->out[k] = k == at ? n->in[0] : (ac_tf_value){.kind = AC_TF_DEAD};
    return AC_OK;
}

int ac_tf_switch_run(ac_tf_op *n)
{
    bool known, holds = false;
    if (n->n_in != 2)
        return ac_error(n->r->cx, n->b.at, E0102, "has %d operands, expected 2", n->n_in);
    if (n->node->op[0] == '_')
        return switch_many(n);
    ac_tensor *c = condition(n, 1, &known, &holds);
    if (!c)
        return AC_FAIL;
    for (int32_t k = 0; k < n->n_out && k < 2; k++) {
        n->out[k] = n->in[0];
        if (known && holds != (k == 1)) {
            n->out[k] = (ac_tf_value){.kind = AC_TF_DEAD};
        } else if (!known) {
            ac_tf_guard *g = AC_NEW(n->r->cx->region, ac_tf_guard);
            *g = (ac_tf_guard){c, k == 1, n->in[0].guard, n->in[0].guard ? n->in[0].guard->depth + 1 : 1};
            n->out[k].guard = g;
            n->r->reading->late = true;
        }
    }
    return AC_OK;
}

/* Not of a loop. One input that is there passes; two are selected from by the condition that parts them. */
int ac_tf_merge_run(ac_tf_op *n)
{
    const ac_tf_value *there[2];
    int32_t at[2] = {0}, count = 0;
    for (int32_t i = 0; i < n->n_in; i++) {
        if (n->in[i].kind == AC_TF_BROKEN || n->in[i].kind == AC_TF_NONE)
            return AC_FAIL;
        if (n->in[i].kind == AC_TF_DEAD)
            continue;
        if (count == 2)
            return ac_build_cannot(&n->b, "it merges more than two branches whose condition is known only at run time");
        at[count] = i;
        there[count++] = &n->in[i];
    }
    if (!count)
        return ac_tf_all_results(n, AC_TF_DEAD);
    if (count == 1) {
        n->out[0] = *there[0];
        if (n->n_out > 1)
            n->out[1] = (ac_tf_value){.kind = AC_TF_TENSOR, .t = ac_build_number(&n->b, AC_I32, at[0])};
        return AC_OK;
    }
    const ac_tf_guard *a = there[0]->guard, *b = there[1]->guard;
    const int32_t da = a ? a->depth : 0, db = b ? b->depth : 0;
    const bool parted = a && b && da == db && a->condition == b->condition && a->holds != b->holds;
    if (!parted && da == db)
        return ac_build_cannot(&n->b, "the branches it merges do not come from one condition");
    const ac_tf_guard *by = da >= db ? a : b; /* the other one may hang on nothing that the condition sends */
    const bool first = da >= db ? a->holds : !b->holds;
    AC_TRY(choose(n, by->condition, there[first ? 0 : 1], there[first ? 1 : 0], &n->out[0]));
    n->out[0].guard = by->outer;
    if (n->n_out > 1) {
        ac_tensor *index[] = {ac_build_number(&n->b, AC_I32, at[0]), ac_build_number(&n->b, AC_I32, at[1])};
        ac_tensor *t = ac_build_select(&n->b, by->condition, index[first ? 0 : 1], index[first ? 1 : 0]);
        n->out[1] = (ac_tf_value){.kind = AC_TF_TENSOR, .t = t, .guard = by->outer};
        return t ? AC_OK : AC_FAIL;
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ loops of v1 */

typedef struct turn {
    int32_t merge;
    ac_tf_ref enter, next;
    ac_tf_value now;
} turn;

typedef struct loop {
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
        const turn t = {f->node.item[i], n->in[!second], n->in[second], {.kind = AC_TF_NONE}};
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

/* One turn. *again: the condition held, and the body ran. */
static int run_turn(loop *l, int32_t number, bool *again)
{
    ac_tf *r = l->c->r;
    ac_tf_body *body = l->c->body;
    const ac_tf_frame *f = &body->frame.item[l->frame];
    int rc = AC_OK;
    for (int32_t i = 0; i < f->node.n; i++)
        if (is(&body->node.item[f->node.item[i]], "Exit"))
            put(l->c, f->node.item[i], (ac_tf_value){.kind = AC_TF_NONE});
    for (int32_t i = 0; i < l->carried.n; i++)
        put(l->c, l->carried.item[i].merge, l->carried.item[i].now);
    *again = false;
    for (int32_t i = 0, k = 0; i < f->node.n && !r->pb.failed; i++) {
        const int32_t node = f->node.item[i];
        if (k < l->carried.n && l->carried.item[k].merge == node) {
            k++;
            continue;
        }
        if (ac_tf_node_run(l->c, node) != AC_OK)
            rc = AC_FAIL;
        if (node != f->condition)
            continue;
        ac_tf_value *v = l->c->value[node];
        ac_tensor *t = v->kind == AC_TF_TENSOR ? v->t : NULL;
        if (!t)
            return v->kind == AC_TF_DEAD ? ac_error(r->cx, body->node.item[node].at, E0101,
                                                    "its condition comes from a branch that is not taken")
                                         : AC_FAIL;
        if (!ac_tensor_is_const(t)) {
            r->reading->late = true;
            return ac_refuse(r->reading, body->node.item[node].at, E0203, "a loop",
                             ac_strf(r->cx->region, "after %d iterations its condition depends on data", number),
                             "loops are unrolled: the number of iterations must be known when the plan is made");
        }
        const uint8_t *holds = ac_tensor_count(t) == 1 && t->dtype == AC_BOOL ? ac_tensor_force(r->cx, t) : NULL;
        if (!holds)
            return ac_error(r->cx, body->node.item[node].at, E0104, "its condition is %s, expected one bool",
                            ac_tensor_str(r->cx, t));
        if (!*holds)
            return rc;
        *again = true;
    }
    return r->pb.failed || r->unrolled >= INT32_MAX ? AC_FAIL : rc;
}

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

int ac_tf_frame_run(ac_tf_call *c, int32_t frame)
{
    loop l = {.c = c, .frame = frame};
    bool again = true, dead = false;
    if (open_loop(&l) != AC_OK)
        return set_exits(&l, AC_TF_BROKEN);
    const ac_tf_frame *f = &c->body->frame.item[frame];
    for (int32_t i = 0; i < l.carried.n; i++) {
        l.carried.item[i].now = *ac_tf_value_of(c, l.carried.item[i].enter);
        dead |= l.carried.item[i].now.kind == AC_TF_DEAD;
    }
    if (dead)
        return set_exits(&l, AC_TF_DEAD);
    if (f->condition < 0 || !l.carried.n) {
        const ac_place at =
            l.exit.n ? c->body->node.item[l.exit.item[0]].at : (ac_place){.file = c->r->reading->file.path};
        (void)ac_error(c->r->cx, at, E0012, "loop '%s' has no %s", f->name, f->condition < 0 ? "condition" : "state");
        return set_exits(&l, AC_TF_BROKEN);
    }
    for (int32_t k = 0; again; k++) {
        if (run_turn(&l, k, &again) != AC_OK)
            return set_exits(&l, AC_TF_BROKEN);
        for (int32_t i = 0; again && i < l.carried.n; i++)
            l.carried.item[i].now = *ac_tf_value_of(c, l.carried.item[i].next);
    }
    return set_exits(&l, AC_TF_NONE);
}

/* ------------------------------------------------------------------ If, Case, While */

/* Runs function f on the inputs after `skip`; ret holds its results. */
static int run_branch(ac_tf_op *n, ac_tf_body *f, int32_t skip, const ac_tf_value *arg, int32_t n_arg,
                      ac_tf_value **ret)
{
    if (f->broken)
        return AC_FAIL;
    if (n_arg - skip != f->arg.n)
        return ac_error(n->r->cx, n->b.at, E0102, "runs '%s' on %d values; it takes %d", f->name, n_arg - skip,
                        f->arg.n);
    if (f->n_rets < n->n_out)
        return ac_error(n->r->cx, n->b.at, E0101, "'%s' has %d results, expected %d", f->name, f->n_rets, n->n_out);
    *ret = AC_NEW_N(n->r->cx->region, ac_tf_value, f->n_rets + 1);
    return ac_tf_run(n->r, f, n, arg + skip, *ret);
}

static void ignore_types(ac_tf_op *n)
{
    static const char *const NAME[] = {"Tcond", "Tin", "Tout", "output_shapes", "parallel_iterations", "T"};
    for (size_t i = 0; i < sizeof NAME / sizeof *NAME; i++)
        (void)ac_tf_attr_of(n, NAME[i]);
}

static int run_if(ac_tf_op *n, ac_tf_body *yes, ac_tf_body *no)
{
    bool known, holds = false;
    ac_tf_value *a = NULL, *b = NULL;
    ac_tensor *c = condition(n, 0, &known, &holds);
    if (!c)
        return AC_FAIL;
    if (known) {
        AC_TRY(run_branch(n, holds ? yes : no, 1, n->in, n->n_in, &a));
        memcpy(n->out, a, (size_t)n->n_out * sizeof *a);
        return AC_OK;
    }
    n->r->reading->late = true;
    AC_TRY(run_branch(n, yes, 1, n->in, n->n_in, &a));
    AC_TRY(run_branch(n, no, 1, n->in, n->n_in, &b));
    for (int32_t i = 0; i < n->n_out; i++)
        AC_TRY(choose(n, c, &a[i], &b[i], &n->out[i]));
    return AC_OK;
}

int ac_tf_do_if(ac_tf_op *n)
{
    ac_tf_body *yes = ac_tf_func(n, "then_branch"), *no = ac_tf_func(n, "else_branch");
    const int32_t nodes = n->r->g->node.n;
    ignore_types(n);
    if (!yes || !no)
        return AC_FAIL;
    AC_TRY(run_if(n, yes, no));
    if (ac_operand_known(&n->b, &n->t[0]))
        return AC_OK;
    return ac_tf_check_guarded(n, nodes);
}

/* An index out of range takes the last branch. */
int ac_tf_do_case(ac_tf_op *n)
{
    ac_tf_body *f[MOST_BRANCHES];
    int32_t count;
    double v;
    ac_tf_value *ret = NULL;
    ignore_types(n);
    AC_TRY(ac_tf_funcs(n, "branches", f, MOST_BRANCHES, &count));
    if (!count)
        return ac_error(n->r->cx, n->b.at, E0103, "it has no branches");
    if (ac_operand_known(&n->b, &n->t[0])) {
        AC_TRY(ac_operand_scalar(&n->b, &n->t[0], &v));
        AC_TRY(run_branch(n, f[v >= 0 && v < count ? (int32_t)v : count - 1], 1, n->in, n->n_in, &ret));
        memcpy(n->out, ret, (size_t)n->n_out * sizeof *ret);
        return AC_OK;
    }
    n->r->reading->late = true;
    const int32_t nodes = n->r->g->node.n;
    ac_tensor *index = ac_build_reshape(&n->b, n->t[0], 0, NULL);
    for (int32_t k = count - 1; k >= 0; k--) {
        ac_tensor *c = index ? ac_build_2(&n->b, AC_OP_EQUAL, index, ac_build_number(&n->b, index->dtype, k)) : NULL;
        if (!c || run_branch(n, f[k], 1, n->in, n->n_in, &ret) != AC_OK)
            return AC_FAIL;
        for (int32_t i = 0; i < n->n_out; i++) {
            const ac_tf_value last = n->out[i];
            if (k + 1 == count)
                n->out[i] = ret[i];
            else
                AC_TRY(choose(n, c, &ret[i], &last, &n->out[i]));
        }
    }
    return ac_tf_check_guarded(n, nodes);
}

int ac_tf_do_while(ac_tf_op *n)
{
    ac_tf_body *cond = ac_tf_func(n, "cond"), *body = ac_tf_func(n, "body");
    ac_tf *r = n->r;
    ac_tf_value *c = NULL, *now = n->in;
    const int32_t carried = n->n_in, wanted = n->n_out;
    ignore_types(n);
    if (!cond || !body)
        return AC_FAIL;
    if (wanted > carried)
        return ac_error(r->cx, n->b.at, E0101, "carries %d values, but result %d is read", carried, wanted - 1);
    for (int32_t k = 0;; k++) {
        n->n_out = 1;
        int rc = run_branch(n, cond, 0, now, carried, &c);
        n->n_out = carried;
        if (rc != AC_OK || c->kind != AC_TF_TENSOR)
            return AC_FAIL;
        if (ac_tensor_count(c->t) != 1)
            return ac_error(r->cx, n->b.at, E0104, "its condition is %s, expected one bool",
                            ac_tensor_str(r->cx, c->t));
        if (!ac_tensor_is_const(c->t)) {
            r->reading->late = true;
            return ac_refuse(r->reading, n->b.at, E0203, "a loop",
                             ac_strf(r->cx->region, "after %d iterations its condition depends on data", k),
                             "loops are unrolled: the number of iterations must be known when the plan is made");
        }
        const void *data = ac_tensor_force(r->cx, c->t);
        if (!data)
            return AC_FAIL;
        if (ac_dtype_get_num(c->t->dtype, data, 0) == 0)
            break;
        AC_TRY(run_branch(n, body, 0, now, carried, &now));
    }
    n->n_out = wanted;
    memcpy(n->out, now, (size_t)wanted * sizeof *now);
    return AC_OK;
}
