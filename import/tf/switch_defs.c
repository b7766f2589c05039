/* switch_defs.c - branches of TensorFlow 1: a Switch sends a value to one of its results, a Merge takes the one that
 * arrives. A constant condition chooses its branch, and the other one is dead. If the condition depends on data, values
 * after the Switch have its guard, and regions.c makes a branch at the Merge. */
#include "import/tf/late_flow.h"
#include "import/tf/list_values.h"
#include "import/tf/nodedefs.h"
#include "import/tf/regions.h"

enum { MOST_WAYS = 64 };

/* Sends the value to one result of n, if the condition is constant; if not, to all, each with a guard. */
int ac_tf_switch_run(ac_tf_op *n)
{
    int32_t sent;
    const bool many = n->node->op[0] == '_'; /* _SwitchN: an index; out of range is the last one */
    if (n->n_in != 2)
        return ac_error(n->r->cx, n->b.at, E0102, "has %d operands, expected 2", n->n_in);
    ac_attr_skip(&n->attrs, "num_outs");
    const int32_t count = many ? (int32_t)ac_attr_int_or(&n->attrs, A_num_outs, n->n_out) : 2;
    if (!n->t[1] || ac_tensor_count(n->t[1]) != 1)
        return ac_error(n->r->cx, n->b.at, E0104, "its condition is %s, expected one %s",
                        n->t[1] ? ac_tensor_str(n->r->cx, n->t[1]) : "not a tensor", many ? "number" : "bool");
    ac_tensor *const key = n->t[1];
    (void)ac_operand_known(&n->b, &n->t[1]);
    AC_TRY(ac_flow_choose(n->r->cx, n->b.at, n->t[1], count, &sent));
    for (int32_t k = 0; k < n->n_out && sent >= 0; k++)
        n->out[k] = k == sent ? n->in[0] : (ac_tf_value){.kind = AC_TF_DEAD};
    if (sent >= 0)
        return AC_OK;
    if (count < 2 || count > MOST_WAYS)
        return ac_cannot(&n->b, "it has %d results, and the choice between them depends on data", count);
    const ac_tf_guard *outer = n->in[0].guard,
                      *other = n->in[1].guard; /* the condition may come from a branch as well */
    outer = other && (!outer || other->depth > outer->depth) ? other : outer;
    for (int32_t k = 0; k < n->n_out && k < count; k++) {
        ac_tf_guard *g = AC_NEW(n->r->cx->region, ac_tf_guard);
        *g = (ac_tf_guard){.key = key,
                           .mask = (uint64_t)1 << k,
                           .count = count,
                           .outer = outer,
                           .depth = outer ? outer->depth + 1 : 1};
        n->out[k] = n->in[0];
        n->out[k].guard = g;
    }
    return AC_OK;
}

/* A bool scalar: true if by->key sends values to one of the results in `mask`. NULL: reported. */
static ac_tensor *is_sent(ac_tf_op *n, const ac_tf_guard *by, uint64_t mask)
{
    ac_tensor *t = (ac_tensor *)(uintptr_t)by->key, *any = NULL;
    t = by->count == 2 ? ac_flow_truth(&n->b, t) : ac_make_reshape(&n->b, t, 0, NULL);
    if (t && by->count == 2)
        return mask == 2 ? t : ac_make_1(&n->b, AC_OP_LOGICAL_NOT, t);
    for (int32_t k = 0; t && k < by->count; k++) {
        if (!(mask >> k & 1))
            continue;
        ac_tensor *last = ac_make_number(&n->b, t->dtype, by->count - 1), *c;
        if (k < by->count - 1)
            c = ac_make_2(&n->b, AC_OP_EQUAL, t, ac_make_number(&n->b, t->dtype, k));
        else {
            ac_tensor *below = ac_make_2(&n->b, AC_OP_LESS, t, ac_make_number(&n->b, t->dtype, 0));
            c = ac_make_2(&n->b, AC_OP_LOGICAL_OR, ac_make_2(&n->b, AC_OP_GREATER_EQUAL, t, last), below);
        }
        any = any ? ac_make_2(&n->b, AC_OP_LOGICAL_OR, any, c) : c;
    }
    return any;
}

/* A value that arrives at a Merge, and the results of the Switch that it may come from */
typedef struct way {
    ac_tf_value v;
    uint64_t mask;
    int32_t at; /* the input */
} way;

/* The value of a branch as a tensor; NULL: reported, or refused. */
static ac_tensor *tensor_of(ac_tf_op *n, const ac_tf_value *v)
{
    const int32_t nodes = n->r->g->node.n;
    ac_tensor *t = ac_tf_tensor_of(n, v);
    ac_tf_guard_nodes(n->r, nodes, v->guard);
    return t;
}

/* cond ? a : b */
static int join(ac_tf_op *n, const ac_tf_guard *by, const way *a, const way *b, ac_tf_value *out)
{
    if (by->count == 2 && a->mask == 1)
        return join(n, by, b, a, out); /* the condition is a bool already */
    const ac_tf_value *x = &a->v, *y = &b->v;
    *out = *x;
    out->guard = by->outer;
    if (x->kind == y->kind && x->t == y->t && x->list == y->list && x->variable == y->variable)
        return AC_OK;
    const bool lists = x->kind == AC_TF_LIST && y->kind == AC_TF_LIST && x->list->n == y->list->n;
    if (x->kind != y->kind || (x->kind != AC_TF_TENSOR && !lists))
        return ac_cannot(&n->b, "its branches, chosen from at run time, leave different arrays or variables");
    ac_tensor *cond = is_sent(n, by, a->mask), *yes = tensor_of(n, x), *no = tensor_of(n, y);
    if (!cond || !yes || !no)
        return AC_FAIL;
    ac_tensor *t = ac_tf_region_join(n, cond, by->key, a->mask, yes, b->mask, no, by->outer);
    if (!t)
        return AC_FAIL;
    if (lists)
        out->list = ac_tf_list_of(n, x->list, t);
    else
        out->t = t;
    return AC_OK;
}

/* Not of a loop. One input that is there passes; several are chosen from by the condition that parts them. */
int ac_tf_merge_run(ac_tf_op *n)
{
    way *there = AC_NEW_N(n->r->cx->region, way, n->n_in + 1);
    int32_t count = 0, free = -1;
    const ac_tf_guard *by = NULL;
    uint64_t all = 0;
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tf_value *v = &n->in[i];
        if (v->kind == AC_TF_BROKEN || v->kind == AC_TF_NONE)
            return AC_FAIL;
        if (v->kind == AC_TF_DEAD)
            continue;
        if (v->guard && (!by || v->guard->depth > by->depth))
            by = v->guard;
        there[count++] = (way){.v = *v, .at = i};
    }
    if (!count)
        return ac_tf_all_results(n, AC_TF_DEAD);
    if (count == 1) {
        n->out[0] = there[0].v;
        if (n->n_out > 1)
            n->out[1] = (ac_tf_value){.kind = AC_TF_TENSOR, .t = ac_make_number(&n->b, AC_I32, there[0].at)};
        return AC_OK;
    }
    for (int32_t i = 0; i < count; i++) {
        const ac_tf_guard *g = by ? ac_tf_guard_by(there[i].v.guard, by->key) : NULL;
        there[i].mask = g ? g->mask : 0;
        if ((!g && free >= 0) || all & there[i].mask)
            return ac_cannot(&n->b, "the branches it merges do not come from one condition");
        free = g ? free : i; /* one may hang on nothing that the condition sends */
        all |= there[i].mask;
    }
    const uint64_t every = by->count == 64 ? UINT64_MAX : ((uint64_t)1 << by->count) - 1;
    if (free >= 0)
        there[free].mask = every & ~all;
    else if (all != every)
        return ac_cannot(&n->b, "the branches it merges do not come from one condition");
    way rest = there[count - 1], index = rest;
    index.v = (ac_tf_value){.kind = AC_TF_TENSOR, .t = ac_make_number(&n->b, AC_I32, rest.at)};
    for (int32_t i = count - 2; i >= 0; i--) {
        way number = there[i];
        ac_tf_guard *g = AC_NEW(n->r->cx->region, ac_tf_guard); /* of values chosen from the other branches */
        number.v = (ac_tf_value){.kind = AC_TF_TENSOR, .t = ac_make_number(&n->b, AC_I32, there[i].at)};
        *g = *by;
        const int32_t nodes = n->r->g->node.n;
        AC_TRY(join(n, by, &there[i], &rest, &n->out[0]));
        if (n->n_out > 1)
            AC_TRY(join(n, by, &number, &index, &n->out[1]));
        g->mask = rest.mask |= there[i].mask;
        index.mask = rest.mask;
        ac_tf_guard_nodes(n->r, nodes, i ? g : by->outer);
        rest.v = n->out[0];
        index.v = n->n_out > 1 ? n->out[1] : index.v;
    }
    return AC_OK;
}
