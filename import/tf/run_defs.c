/* run_defs.c - runs a body: each node takes the values of its inputs and makes its own. Nodes of a branch that is not
 * taken are dead, and make nothing. */
#include "import/build/counted.h"
#include "import/tf/nodedefs.h"
#include "import/tf/regions.h"
#include "import/tf/variables.h"

#include <string.h>

enum { MAX_LEVEL = 16 };

ac_tf_value *ac_tf_value_of(ac_tf_call *c, ac_tf_ref ref)
{
    static ac_tf_value NONE;
    ac_tf_value *v = c->value[ref.node];
    return v && ref.out < c->body->node.item[ref.node].n_out ? &v[ref.out] : &NONE;
}

/* The properties of all inputs of a node together. */
typedef struct summary {
    bool dead, broken;
    const ac_tf_guard *guard; /* the innermost */
} summary;

static void add_to(summary *s, const ac_tf_value *v)
{
    s->dead |= v->kind == AC_TF_DEAD;
    s->broken |= v->kind == AC_TF_BROKEN || v->kind == AC_TF_NONE;
    if (v->guard && (!s->guard || v->guard->depth > s->guard->depth))
        s->guard = v->guard;
}

static summary take_inputs(ac_tf_call *c, ac_tf_op *n)
{
    const ac_tf_node *m = n->node;
    summary s = {.dead = false};
    n->n_in = m->n_in;
    n->in = AC_NEW_N(n->r->cx->region, ac_tf_value, m->n_in + 1);
    n->t = AC_NEW_N(n->r->cx->region, ac_tensor *, m->n_in + 1);
    for (int32_t k = 0; k < m->n_in; k++) {
        n->in[k] = *ac_tf_value_of(c, m->in[k]);
        if (n->in[k].kind == AC_TF_TENSOR && n->in[k].variable) { /* a reference: its value now */
            n->in[k].t = n->in[k].variable->t;
            n->in[k].variable = ac_tf_assigns(m) ? n->in[k].variable : NULL;
        }
        n->t[k] = n->in[k].kind == AC_TF_TENSOR ? n->in[k].t : NULL;
        add_to(&s, &n->in[k]);
    }
    for (int32_t k = 0; k < m->n_control; k++) { /* those that do not matter (bodies.c) have not run */
        const int32_t at = m->in[m->n_in + k].node;
        const ac_tf_node *from = &c->body->node.item[at];
        const ac_tf_value *v = c->value[at];
        if (v && !strcmp(from->op, "Switch")) { /* it runs whichever way it sends its value */
            for (int32_t i = 0; i < from->n_in; i++)
                add_to(&s, ac_tf_value_of(c, from->in[i]));
            continue;
        }
        if (v && v->kind != AC_TF_NONE && v->kind != AC_TF_BROKEN)
            add_to(&s, v);
    }
    return s;
}

/* A node of a run, or a run of a body, is about to be copied; false: they are too many, which is reported once. */
static bool count_node(ac_tf *r, ac_place at)
{
    ac_flow_budget *copies = &r->reading->copies;
    return !ac_flow_is_spent(copies) && ac_flow_spend(r->cx, copies, at, 1, 0) == AC_OK && ac_pb_spend(&r->pb, 1);
}

static int call_function(ac_tf_op *n, ac_tf_body *f)
{
    ac_tf *r = n->r;
    if (f->broken)
        return AC_FAIL;
    if (n->n_in != f->arg.n)
        return ac_error(r->cx, n->b.at, E0102, "calls '%s' with %d values; it takes %d", f->name, n->n_in, f->arg.n);
    ac_tf_value *ret = AC_NEW_N(r->cx->region, ac_tf_value, f->n_rets + 1);
    int rc = ac_tf_run(r, f, n, n->in, ret);
    if (n->n_out > f->n_rets)
        return ac_error(r->cx, n->b.at, E0101, "reads a result that '%s' does not have", f->name);
    memcpy(n->out, ret, (size_t)n->n_out * sizeof *ret);
    return rc;
}

int ac_tf_do_call(ac_tf_op *n)
{
    ac_tf_body *f = ac_tf_func(n, "f");
    ac_attr_skip(&n->attrs, "config");
    ac_attr_skip(&n->attrs, "config_proto"); /* a message, for the runtime */
    ac_attr_skip(&n->attrs, "executor_type");
    (void)ac_attr_bool(&n->attrs, A_read_only_resource_inputs);
    return f ? call_function(n, f) : AC_FAIL;
}

static int run_op(ac_tf_op *n, const summary *s)
{
    ac_tf *r = n->r;
    const ac_tf_node *m = n->node;
    const int32_t nodes = r->g->node.n;
    const bool merge = !strcmp(m->op, "Merge");
    if (s->dead && !merge)
        return ac_tf_all_results(n, AC_TF_DEAD);
    if (!m->row && !m->function) {
        (void)ac_tf_refuse_op(r, m);
        return AC_FAIL;
    }
    if (s->broken || (ac_tf_attrs(r, n->node) != AC_OK))
        return AC_FAIL;
    if (m->function)
        return call_function(n, m->function);
    if (merge)
        return ac_tf_merge_run(n);
    if (!strcmp(m->op, "Switch") || !strcmp(m->op, "_SwitchN"))
        return ac_tf_switch_run(n);
    AC_TRY(ac_tf_op_run(n));
    for (int32_t i = 0; i < n->n_out; i++)
        n->out[i].guard = s->guard;
    ac_tf_guard_nodes(r, nodes, s->guard);
    return AC_OK;
}

int ac_tf_node_run(ac_tf_call *c, int32_t node)
{
    ac_tf *r = c->r;
    ac_tf_node *m = &c->body->node.item[node];
    if (m->argument)
        return AC_OK;
    if (r->pb.failed || !count_node(r, m->at))
        return AC_FAIL;
    if (!m->n_out)
        m->n_out = 1; /* a place for its state */
    if (!c->value[node])
        c->value[node] = AC_NEW_N(r->cx->region, ac_tf_value, m->n_out);
    ac_tf_op *n = AC_NEW(r->cx->region, ac_tf_op); /* functions keep it as their caller */
    *n = (ac_tf_op){.r = r, .call = c, .node = m, .row = m->row, .out = c->value[node], .n_out = m->n_out};
    n->b = ac_reading_maker(r->reading, r->g, m->name, m->at);
    n->attrs = (ac_attrs_reader){.source = &ac_tf_attributes, .b = &n->b, .node = n};
    if (!strcmp(m->op, "Exit")) { /* set by its loop */
        if (n->out->kind == AC_TF_NONE)
            (void)ac_tf_frame_run(n, c->body->node.item[m->in[0].node].frame);
        if (n->out->kind == AC_TF_NONE)
            n->out->kind = AC_TF_BROKEN;
        return n->out->kind == AC_TF_BROKEN ? AC_FAIL : AC_OK;
    }
    const summary s = take_inputs(c, n);
    ac_tf_all_results(n, AC_TF_NONE);
    int rc = run_op(n, &s);
    for (int32_t i = 0; rc == AC_OK && i < n->n_out && n->row; i++)
        if (n->out[i].kind == AC_TF_NONE)
            rc = ac_cannot(&n->b, "its result %d is used", i);
    if (rc != AC_OK)
        ac_tf_all_results(n, AC_TF_BROKEN);
    return rc;
}

int ac_tf_run(ac_tf *r, ac_tf_body *body, const ac_tf_op *from, const ac_tf_value *arg, ac_tf_value *ret)
{
    ac_tf_call c = {.r = r, .body = body, .from = from, .level = from ? from->call->level + 1 : 0};
    int rc = AC_OK;
    if (c.level > MAX_LEVEL)
        return ac_error(r->cx, from->b.at, E0014, "functions call each other more than %d deep: perhaps in a cycle",
                        MAX_LEVEL);
    if (!count_node(r,
                    from ? from->b.at : (ac_place){.file = r->reading->file.path})) /* a loop over nothing ends too */
        return AC_FAIL;
    AC_TRY(ac_tf_body_order(r, body));
    c.value = AC_NEW_N(r->cx->region, ac_tf_value *, body->node.n + 1);
    for (int32_t i = 0; i < body->arg.n; i++) {
        ac_tf_value **v = &c.value[body->arg.item[i]];
        *v = AC_NEW_N(r->cx->region, ac_tf_value, body->node.item[body->arg.item[i]].n_out);
        **v = arg[i];
    }
    const ac_tf_frame *all = &body->frame.item[0];
    for (int32_t i = 0; i < all->node.n && !r->pb.failed; i++)
        if (ac_tf_node_run(&c, all->node.item[i]) != AC_OK)
            rc = AC_FAIL;
    for (int32_t i = 0; i < body->n_rets; i++) {
        ret[i] = *ac_tf_value_of(&c, body->ret[i]);
        if (ret[i].kind == AC_TF_NONE)
            ret[i].kind = AC_TF_BROKEN;
    }
    return r->pb.failed ? AC_FAIL : rc;
}
