/* late_flow.c - branches and loops of which only data decides; see late_flow.h. */
#include "import/tf/late_flow.h"
#include "import/build/counted.h"
#include "import/build/flow/sub_graphs.h"
#include "import/tf/list_values.h"
#include "import/tf/regions.h"

#include <string.h>

/* Where nodes go, with what is known of it. */
typedef struct place {
    ac_sub s;
    ac_tf_here here;
} place;

static void swap_here(ac_tf *r, place *p)
{
    const ac_tf_here own = r->here;
    r->here = p->here;
    p->here = own;
}

static void enter(ac_tf_op *n, place *p)
{
    ac_sub_enter(&n->b, &n->r->g, &p->s);
    swap_here(n->r, p);
}

static void leave(ac_tf_op *n, place *p)
{
    swap_here(n->r, p);
    ac_sub_leave(&n->b, &n->r->g, &p->s);
}

/* Are they of one kind, type and shape, so that one may take the place of the other in a loop? */
static bool same_kind(const ac_tf_value *a, const ac_tf_value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == AC_TF_LIST)
        return a->list->n == b->list->n && a->list->dtype == b->list->dtype && !a->list->count && !b->list->count;
    if (a->kind == AC_TF_TENSOR)
        return a->t->dtype == b->t->dtype && ac_tensor_same_shape(a->t, b->t) && !a->t->count && !b->t->count;
    return a->variable == b->variable;
}

/* A value as a tensor of the graph that nodes go to; NULL: reported, or refused. */
static ac_tensor *tensor_of(ac_tf_op *n, const ac_tf_value *v)
{
    if (v->kind == AC_TF_LIST)
        return ac_tf_list_stack_all(n, v->list);
    if (v->kind == AC_TF_TENSOR)
        return v->t;
    if (v->kind == AC_TF_DEAD)
        (void)ac_error(n->r->cx, n->b.at, E0101, "a value comes from a branch that is not taken");
    else if (v->kind != AC_TF_BROKEN)
        (void)ac_build_cannot(&n->b, "%s changes where only data decides",
                              v->kind == AC_TF_VARIABLE ? "which variable is meant" : "a random number");
    return NULL;
}

/* The value of tensor t, in the place of `like`. */
static ac_tf_value value_of(ac_tf_op *n, ac_tensor *t, const ac_tf_value *like)
{
    if (like->kind == AC_TF_LIST) {
        const ac_tf_list *of = ac_tf_list_of(n, like->list, t);
        ac_tf_list *own = of ? ac_copy(n->r->cx->region, of, sizeof *of) : NULL;
        if (own)
            own->grows = like->list->grows;
        return (ac_tf_value){.kind = own ? AC_TF_LIST : AC_TF_BROKEN, .list = own};
    }
    return (ac_tf_value){.kind = like->kind, .t = t};
}

/* ------------------------------------------------------------------ loops */

/* The shape of elements that nothing wrote yet is what an iteration writes: one is run for that, and dropped. */
static int find_element_shapes(ac_tf_late_loop *l, ac_tf_value *now)
{
    ac_tf_op *n = l->n;
    bool unknown = false;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    for (int32_t i = 0; i < l->count; i++)
        unknown |= !l->same[i] && now[i].kind == AC_TF_LIST && !ac_tf_list_element_shape(now[i].list, &rank, dim);
    if (!unknown)
        return AC_OK;
    place trial = {.s = {0}};
    ac_tf_value *arg = AC_NEW_N(n->r->cx->region, ac_tf_value, l->count + 1);
    ac_tf_value *next = AC_NEW_N(n->r->cx->region, ac_tf_value, l->count + 1);
    trial.here.turns = true;
    enter(n, &trial);
    for (int32_t i = 0; i < l->count; i++) {
        arg[i] = now[i];
        arg[i].guard = NULL;
        if (!l->same[i] && arg[i].kind == AC_TF_TENSOR)
            arg[i].t = ac_sub_input(&trial.s, arg[i].t);
    }
    const int rc = l->body(l->own, arg, next);
    leave(n, &trial);
    AC_TRY(rc);
    for (int32_t i = 0; i < l->count; i++) {
        if (l->same[i] || now[i].kind != AC_TF_LIST || ac_tf_list_element_shape(now[i].list, &rank, dim) ||
            next[i].kind != AC_TF_LIST || !ac_tf_list_element_shape(next[i].list, &rank, dim))
            continue;
        ac_tf_list *own = ac_copy(n->r->cx->region, now[i].list, sizeof *own);
        own->rank = rank;
        memcpy(own->dim, dim, sizeof dim);
        now[i].list = own;
    }
    return AC_OK;
}

bool ac_tf_late_begin(ac_tf_op *n, int32_t turns, int32_t count, const ac_tf_value *before, const ac_tf_value *now,
                      int32_t first)
{
    ac_graph *g = n->r->g;
    bool same = turns == 1;
    for (int32_t i = 0; i < count && same; i++)
        same = same_kind(&before[i], &now[i]);
    for (int32_t i = first; i < g->node.n && same; i++)
        if (g->node.item[i]->op != AC_OP_NONE)
            ac_node_erase(g->node.item[i]);
    if (same)
        ac_counted_erased(&n->b);
    if (same)
        n->r->here.turned.n = n->r->here.turned_first.n = 0; /* some are gone */
    return same;
}

/* Inputs of a subgraph for what is carried; the rest is read as it is. arg[]: all of them. */
static void make_inputs(ac_tf_late_loop *l, place *p, const ac_tf_value *now, const ac_carried *c, ac_tf_value *arg)
{
    ac_tensor **own = AC_NEW_N(l->n->r->cx->region, ac_tensor *, c->n + 1);
    ac_carried_inputs(c, &p->s, own);
    for (int32_t i = 0, k = 0; i < l->count; i++) {
        arg[i] = now[i];
        if (!l->same[i])
            arg[i] = value_of(l->n, own[k++], &now[i]);
        arg[i].guard = NULL;
    }
}

/* Value i, carried as number `wrong`, is not what it was. */
static int changes(ac_tf_late_loop *l, const ac_tf_value *now, const ac_carried *c, int32_t wrong, const ac_tensor *to)
{
    ac_tf_op *n = l->n;
    int32_t i = 0;
    for (int32_t k = 0; i < l->count && (l->same[i] || k++ < wrong); i++)
        ;
    return ac_refuse(n->r->reading, n->b.at, E0203, n->node->op,
                     ac_strf(n->r->cx->region, "%s %d is %s, but %s after an iteration%s",
                             now[i].kind == AC_TF_LIST ? "array" : "value", i, ac_tensor_str(n->r->cx, c->first[wrong]),
                             ac_tensor_str(n->r->cx, to), to->count ? ", of which data decides the length" : ""),
                     "how often the loop runs depends on data, so its values must keep their shapes; an array "
                     "of tensors must be as long as it becomes before the loop");
}

static int read_body(ac_tf_late_loop *l, const ac_sub *cond, place *p, const ac_tf_value *now, ac_carried *c,
                     bool *again)
{
    ac_tf_op *n = l->n;
    ac_tf_value *arg = AC_NEW_N(n->r->cx->region, ac_tf_value, l->count + 1);
    ac_tf_value *next = AC_NEW_N(n->r->cx->region, ac_tf_value, l->count + 1);
    ac_tensor **to = AC_NEW_N(n->r->cx->region, ac_tensor *, l->count + 1);
    int32_t wrong = -1;
    p->here.turns = true;
    enter(n, p);
    make_inputs(l, p, now, c, arg);
    int rc = l->body(l->own, arg, next);
    for (int32_t i = 0, k = 0; i < l->count && rc == AC_OK; i++) {
        if (l->same[i])
            continue;
        const bool list = now[i].kind == AC_TF_LIST;
        if (!(to[k] = tensor_of(n, &next[i])))
            rc = AC_FAIL;
        else if (list != (next[i].kind == AC_TF_LIST))
            rc = ac_error(n->r->cx, n->b.at, E0105, "value %d is %s, but not after an iteration", i,
                          list ? "an array of tensors" : "a tensor");
        k++;
    }
    rc = rc == AC_OK ? ac_tf_regions_end(n->r) : rc;
    leave(n, p);
    AC_TRY(rc);
    rc = ac_carried_outputs(&n->b, &n->r->g, c, cond, &p->s, to, again, &wrong);
    return rc != AC_OK && wrong >= 0 ? changes(l, now, c, wrong, to[wrong]) : rc;
}

static int read_condition(ac_tf_late_loop *l, place *p, const ac_tf_value *now, const ac_carried *carried)
{
    ac_tf_op *n = l->n;
    ac_tf_value *arg = AC_NEW_N(n->r->cx->region, ac_tf_value, l->count + 1), again = {.kind = AC_TF_NONE};
    enter(n, p);
    make_inputs(l, p, now, carried, arg);
    int rc = l->condition(l->own, arg, &again);
    if (rc == AC_OK && (again.kind != AC_TF_TENSOR || ac_tensor_count(again.t) != 1)) {
        rc = again.kind == AC_TF_BROKEN
                 ? AC_FAIL
                 : ac_error(n->r->cx, n->b.at, E0104, "its condition is %s, expected one bool",
                            again.kind == AC_TF_TENSOR ? ac_tensor_str(n->r->cx, again.t) : "not a tensor");
    } else if (rc == AC_OK) {
        ac_tensor *t = ac_build_reshape(&n->b, again.t, 0, NULL);
        if (t && t->dtype != AC_BOOL)
            t = ac_build_2(&n->b, AC_OP_NOT_EQUAL, t, ac_build_number(&n->b, t->dtype, 0));
        rc = t ? AC_OK : AC_FAIL;
        if (t)
            ac_push(p->s.g->region, &p->s.g->output, t);
    }
    rc = rc == AC_OK ? ac_tf_regions_end(n->r) : rc;
    leave(n, p);
    return rc;
}

/* What --bound calls each value that an iteration changes. */
static const char *const *names_of(const ac_tf_late_loop *l)
{
    const char **name = AC_NEW_N(l->n->r->cx->region, const char *, l->count + 1);
    for (int32_t i = 0, k = 0; i < l->count && l->result; i++)
        if (!l->same[i])
            name[k++] = l->result[i];
    return name;
}

int ac_tf_late_loop_run(ac_tf_late_loop *l, ac_tf_value *out)
{
    ac_tf_op *n = l->n;
    place cond = {.s = {0}}, body = {.s = {0}};
    ac_sub_tensors c = {0};
    ac_carried carried;
    bool again;
    int32_t sub[2], count = 0;
    const int32_t nodes = n->r->g->node.n;
    const ac_tf_guard *guard = NULL;
    ac_tf_value *now = AC_NEW_N(n->r->cx->region, ac_tf_value, l->count + 1);
    ac_tensor **first = AC_NEW_N(n->r->cx->region, ac_tensor *, l->count + 1);
    memcpy(now, l->now, (size_t)l->count * sizeof *now);
    AC_TRY(find_element_shapes(l, now));
    for (int32_t i = 0; i < l->count; i++) {
        if (l->same[i])
            continue;
        if (!(first[count] = tensor_of(n, &now[i])))
            return AC_FAIL;
        count++;
    }
    AC_TRY(ac_carried_begin(&n->b, &carried, count, first));
    carried.result = names_of(l);
    do {
        cond = body = (place){.s = {0}};
        AC_TRY(read_condition(l, &cond, now, &carried));
        AC_TRY(read_body(l, &cond.s, &body, now, &carried, &again));
    } while (again);
    AC_TRY(ac_sub_captured(&n->b, &cond.s, &c));
    AC_TRY(ac_sub_captured(&n->b, &body.s, &c));
    sub[0] = ac_sub_add(&n->b, &cond.s, &c);
    sub[1] = ac_sub_add(&n->b, &body.s, &c);
    ac_node *made = ac_sub_run(&n->b, AC_OP_WHILE, carried.first, carried.all, &c, sub, &body.s);
    if (!made)
        return AC_FAIL;
    ac_carried_results(&carried, made, first);
    for (int32_t i = 0; i < l->count; i++)
        guard = now[i].guard && (!guard || now[i].guard->depth > guard->depth) ? now[i].guard : guard;
    ac_tf_guard_nodes(n->r, nodes, guard);
    for (int32_t i = 0, k = 0; i < l->count; i++) {
        out[i] = l->same[i] ? now[i] : value_of(n, first[k++], &now[i]);
        out[i].guard = guard;
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ branches */

/* Both branches leave the same thing: it takes no part. */
static bool is_same(const ac_tf_value *a, const ac_tf_value *b)
{
    return a->kind == b->kind && a->t == b->t && a->list == b->list && a->variable == b->variable;
}

int ac_tf_late_branch(ac_tf_op *n, ac_tensor *cond, ac_tf_branch *run, void *own, int32_t n_out, ac_tf_value *out)
{
    place p[2] = {{.s = {0}}, {.s = {0}}};
    ac_tf_value *ret[2];
    const char **name = AC_NEW_N(n->r->cx->region, const char *, n_out + 1);
    ac_tensor **t = AC_NEW_N(n->r->cx->region, ac_tensor *, n_out + 1);
    int32_t count = 0;
    for (int32_t k = 0; k < 2; k++) {
        ret[k] = AC_NEW_N(n->r->cx->region, ac_tf_value, n_out + 1);
        enter(n, &p[k]);
        const int rc = run(own, k, ret[k]);
        leave(n, &p[k]);
        AC_TRY(rc);
    }
    for (int32_t i = 0; i < n_out; i++) {
        const ac_tf_value *a = &ret[0][i], *b = &ret[1][i];
        if (a->kind == AC_TF_BROKEN || b->kind == AC_TF_BROKEN)
            return AC_FAIL;
        if (is_same(a, b))
            continue;
        if (a->kind != b->kind || (a->kind == AC_TF_LIST && a->list->dtype != b->list->dtype))
            return ac_build_cannot(&n->b, "its branches, chosen from at run time, leave different arrays or variables");
        for (int32_t k = 0; k < 2; k++) {
            enter(n, &p[k]);
            ac_tensor *x = tensor_of(n, &ret[k][i]);
            leave(n, &p[k]);
            if (!x)
                return AC_FAIL;
            ac_push(p[k].s.g->region, &p[k].s.g->output, x);
        }
        name[count++] = i ? ac_strf(n->r->cx->region, "%s:%d", n->node->name, i) : n->node->name;
    }
    for (int32_t k = 0; k < 2 && count; k++) {
        enter(n, &p[k]);
        const int rc = ac_tf_regions_end(n->r);
        leave(n, &p[k]);
        AC_TRY(rc);
    }
    if (count)
        AC_TRY(ac_sub_branches(&n->b, &n->r->g, cond, &p[0].s, &p[1].s, count, name, t));
    count = 0;
    for (int32_t i = 0; i < n_out; i++)
        out[i] = is_same(&ret[0][i], &ret[1][i]) ? ret[0][i] : value_of(n, t[count++], &ret[0][i]);
    return AC_OK;
}
