/* late_flow.c - loops and branches of TensorFlow; see late_flow.h. */
#include "import/tf/late_flow.h"
#include "import/tf/list_values.h"
#include "import/tf/regions.h"

#include <string.h>

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

ac_tensor *ac_tf_tensor_of(ac_tf_op *n, const ac_tf_value *v)
{
    if (v->kind == AC_TF_LIST)
        return ac_tf_list_stack_all(n, v->list);
    if (v->kind == AC_TF_TENSOR)
        return v->t;
    if (v->kind == AC_TF_DEAD)
        (void)ac_error(n->r->cx, n->b.at, E0101, "a value comes from a branch that is not taken");
    else if (v->kind != AC_TF_BROKEN)
        (void)ac_cannot(&n->b, "it selects a variable depending on data");
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

int ac_tf_condition(ac_tf_op *n, const ac_tf_value *v, ac_tensor **t)
{
    ac_tensor *x = v->t;
    *t = x;
    if (v->kind == AC_TF_BROKEN)
        return AC_FAIL;
    if (v->kind != AC_TF_TENSOR || x->count || x->words)
        return ac_error(n->r->cx, n->b.at, E0104, "its condition is %s, expected one bool",
                        v->kind == AC_TF_TENSOR ? ac_tensor_str(n->r->cx, x) : "not a tensor");
    if (x->rank > 0)
        *t = ac_make_number(&n->b, AC_BOOL, ac_tensor_count(x) > 0);
    else if (x->dtype != AC_BOOL)
        *t = ac_make_2(&n->b, AC_OP_NOT_EQUAL, x, ac_make_number_like(&n->b, x, 0));
    return *t ? AC_OK : AC_FAIL;
}

static bool is_alike(const void *own, const void *first, const void *now)
{
    const ac_tf_flow *l = own;
    const ac_tf_value *a = first, *b = now;
    bool alike = true;
    for (int32_t i = 0; i < l->flow.n && alike; i++)
        alike = same_kind(&a[i], &b[i]);
    return alike;
}

static void forget_transposed(void *own)
{
    const ac_tf_flow *l = own;
    l->n->r->here.turned.n = l->n->r->here.turned_first.n = 0; /* some are gone */
}

/* The reader's notes on the graph that nodes go to change with it. */
static void swap_notes(void *own, ac_sub *s, bool body)
{
    ac_tf *r = ((const ac_tf_flow *)own)->n->r;
    ac_tf_here *other = s->notes, was = r->here;
    if (!other) {
        s->notes = other = AC_NEW(r->cx->region, ac_tf_here);
        other->turns = body;
    }
    r->here = *other;
    *other = was;
}

static int end_graph(void *own)
{
    const ac_tf_flow *l = own;
    return ac_tf_regions_end(l->n->r);
}

/* Elements that nothing wrote yet have the shape that an iteration writes: runs one for that, and drops it. */
static int find_element_shapes(ac_tf_flow *l, ac_tf_value *now)
{
    ac_tf_op *n = l->n;
    const bool *kept = l->flow.kept;
    bool unknown = false;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    for (int32_t i = 0; i < l->flow.n; i++)
        unknown |= !kept[i] && now[i].kind == AC_TF_LIST && !ac_tf_list_element_shape(now[i].list, &rank, dim);
    if (!unknown)
        return AC_OK;
    ac_sub trial = {.g = NULL};
    ac_tf_value *arg = AC_NEW_N(n->r->cx->region, ac_tf_value, l->flow.n + 1);
    ac_flow_enter(&l->flow, &trial, true);
    for (int32_t i = 0; i < l->flow.n; i++) {
        arg[i] = now[i];
        arg[i].guard = NULL;
        if (!kept[i] && arg[i].kind == AC_TF_TENSOR)
            arg[i].t = ac_sub_input(&trial, arg[i].t);
    }
    const ac_tf_value *next = l->flow.body(l, arg);
    ac_flow_leave(&l->flow, &trial, true);
    for (int32_t i = 0; i < l->flow.n && next; i++) {
        if (kept[i] || now[i].kind != AC_TF_LIST || ac_tf_list_element_shape(now[i].list, &rank, dim) ||
            next[i].kind != AC_TF_LIST || !ac_tf_list_element_shape(next[i].list, &rank, dim))
            continue;
        ac_tf_list *own = ac_copy(n->r->cx->region, now[i].list, sizeof *own);
        own->rank = rank;
        memcpy(own->dim, dim, sizeof dim);
        now[i].list = own;
    }
    return next ? AC_OK : AC_FAIL;
}

static const void *open_loop(void *own, const void *values, int64_t done)
{
    ac_tf_flow *l = own;
    ac_tf_value *now = ac_copy(l->n->r->cx->region, values, (size_t)l->flow.n * sizeof *now);
    (void)done;
    l->nodes = l->n->r->g->node.n;
    l->first = now;
    return l->find_kept(l) == AC_OK && find_element_shapes(l, now) == AC_OK ? now : NULL;
}

static const void *values_with(void *own, const void *like, ac_tensor *const *t)
{
    ac_tf_flow *l = own;
    ac_tf_value *v = ac_copy(l->n->r->cx->region, like, (size_t)l->flow.n * sizeof *v);
    for (int32_t i = 0; i < l->flow.n; i++) {
        v[i] = t[i] ? value_of(l->n, t[i], &v[i]) : v[i];
        v[i].guard = NULL;
    }
    return v;
}

static ac_tensor *carried_tensor(void *own, const void *values, int32_t i)
{
    ac_tf_flow *l = own;
    const ac_tf_value *v = values;
    const bool list = (l->first ? l->first : v)[i].kind == AC_TF_LIST;
    ac_tensor *t = ac_tf_tensor_of(l->n, &v[i]);
    if (!t || list == (v[i].kind == AC_TF_LIST))
        return t;
    (void)ac_error(l->n->r->cx, l->n->b.at, E0105, "value %d is %s, but not after an iteration", i,
                   list ? "an array of tensors" : "a tensor");
    return NULL;
}

/* Both branches leave one thing. */
static int is_same(void *own, const void *first, const void *second, int32_t i, bool *same)
{
    const ac_tf_flow *l = own;
    const ac_tf_value *a = (const ac_tf_value *)first + i, *b = (const ac_tf_value *)second + i;
    if (a->kind == AC_TF_BROKEN || b->kind == AC_TF_BROKEN)
        return AC_FAIL;
    *same = a->kind == b->kind && a->t == b->t && a->list == b->list && a->variable == b->variable;
    if (*same || (a->kind == b->kind && (a->kind != AC_TF_LIST || a->list->dtype == b->list->dtype)))
        return AC_OK;
    return ac_cannot(&l->n->b, "its branches, chosen from at run time, leave different arrays or variables");
}

static const ac_flow_format FORMAT = {
    .rules = {.restart = 1, .copied = INT64_MAX, .trips = INT64_MAX, .most = INT64_MAX},
    .code = E0203,
    .help = "how often the loop runs depends on data, so its values must keep their shapes; an array of tensors "
            "must be as long as it becomes before the loop",
    .alike = is_alike,
    .erased = forget_transposed,
    .open = open_loop,
    .values = values_with,
    .tensor = carried_tensor,
    .swap = swap_notes,
    .end = end_graph,
    .same = is_same,
    .any_type = true};

const ac_tf_value *ac_tf_loop_run(ac_tf_flow *l, int (*condition)(void *own, const void *now, ac_tensor **again),
                                  const void *(*body)(void *own, const void *now), int32_t count,
                                  const ac_tf_value *first, int64_t *turns)
{
    ac_tf *r = l->n->r;
    const ac_tf_guard *guard = NULL;
    l->flow = (ac_flow){
        .b = &l->n->b, .now = &r->g, .of = &FORMAT, .condition = condition, .body = body, .n = count, .trips = -1};
    const ac_tf_value *last = ac_flow_loop(&l->flow, first, turns);
    if (!last || *turns >= 0)
        return last;
    ac_tf_value *out = ac_copy(r->cx->region, last, (size_t)count * sizeof *out);
    for (int32_t i = 0; i < count; i++)
        guard = l->first[i].guard && (!guard || l->first[i].guard->depth > guard->depth) ? l->first[i].guard : guard;
    ac_tf_guard_nodes(r, l->nodes, guard);
    for (int32_t i = 0; i < count; i++)
        out[i].guard = guard;
    return out;
}

const ac_tf_value *ac_tf_branch_run(ac_tf_flow *l, const void *(*run)(void *own, int32_t which), int32_t count,
                                    ac_tensor *condition)
{
    ac_tf_op *n = l->n;
    const char **name = AC_NEW_N(n->r->cx->region, const char *, n->n_out + 1);
    for (int32_t i = 0; i < n->n_out; i++)
        name[i] = i ? ac_strf(n->r->cx->region, "%s:%d", n->node->name, i) : n->node->name;
    l->flow =
        (ac_flow){.b = &n->b, .now = &n->r->g, .of = &FORMAT, .run = run, .n = n->n_out, .count = count, .name = name};
    return ac_flow_branch(&l->flow, condition);
}
