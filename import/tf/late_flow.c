/* late_flow.c - loops and branches of TensorFlow; see late_flow.h. */
#include "import/tf/late_flow.h"
#include "import/tf/list_values.h"
#include "import/tf/regions.h"

#include <string.h>

/* The reader's notes on the graph that nodes go to change with it. */
static void swap_here(ac_tf *r, ac_sub *s)
{
    ac_tf_here *other = s->notes, own = r->here;
    if (!other)
        s->notes = other = AC_NEW(r->cx->region, ac_tf_here);
    r->here = *other;
    *other = own;
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
        (void)ac_cannot(&n->b, "%s changes where only data decides",
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

int ac_tf_condition(ac_tf_op *n, const ac_tf_value *v, ac_tensor **t)
{
    *t = v->t;
    if (v->kind == AC_TF_BROKEN || (v->kind == AC_TF_TENSOR && ac_tensor_count(v->t) == 1))
        return v->kind == AC_TF_BROKEN ? AC_FAIL : AC_OK;
    return ac_error(n->r->cx, n->b.at, E0104, "its condition is %s, expected one bool",
                    v->kind == AC_TF_TENSOR ? ac_tensor_str(n->r->cx, v->t) : "not a tensor");
}

static bool is_alike(const void *own, const void *first, const void *now)
{
    const ac_tf_loop *l = own;
    const ac_tf_value *a = first, *b = now;
    bool alike = true;
    for (int32_t i = 0; i < l->loop.n && alike; i++)
        alike = same_kind(&a[i], &b[i]);
    return alike;
}

static void forget_transposed(void *own)
{
    const ac_tf_loop *l = own;
    l->n->r->here.turned.n = l->n->r->here.turned_first.n = 0; /* some are gone */
}

static void swap_notes(void *own, ac_sub *s, bool body)
{
    const ac_tf_loop *l = own;
    const bool new = !s->notes;
    swap_here(l->n->r, s);
    if (new)
        l->n->r->here.turns = body;
}

static int end_graph(void *own)
{
    const ac_tf_loop *l = own;
    return ac_tf_regions_end(l->n->r);
}

/* Elements that nothing wrote yet have the shape that an iteration writes: runs one for that, and drops it. */
static int find_element_shapes(ac_tf_loop *l, ac_tf_value *now)
{
    ac_tf_op *n = l->n;
    const bool *kept = l->loop.kept;
    bool unknown = false;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    for (int32_t i = 0; i < l->loop.n; i++)
        unknown |= !kept[i] && now[i].kind == AC_TF_LIST && !ac_tf_list_element_shape(now[i].list, &rank, dim);
    if (!unknown)
        return AC_OK;
    ac_sub trial = {.g = NULL};
    ac_tf_value *arg = AC_NEW_N(n->r->cx->region, ac_tf_value, l->loop.n + 1);
    ac_loop_enter(&l->loop, &trial, true);
    for (int32_t i = 0; i < l->loop.n; i++) {
        arg[i] = now[i];
        arg[i].guard = NULL;
        if (!kept[i] && arg[i].kind == AC_TF_TENSOR)
            arg[i].t = ac_sub_input(&trial, arg[i].t);
    }
    const ac_tf_value *next = l->loop.body(l, arg);
    ac_loop_leave(&l->loop, &trial, true);
    for (int32_t i = 0; i < l->loop.n && next; i++) {
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
    ac_tf_loop *l = own;
    ac_tf_value *now = ac_copy(l->n->r->cx->region, values, (size_t)l->loop.n * sizeof *now);
    (void)done;
    l->nodes = l->n->r->g->node.n;
    l->first = now;
    return l->find_kept(l) == AC_OK && find_element_shapes(l, now) == AC_OK ? now : NULL;
}

static const void *values_with(void *own, const void *like, ac_tensor *const *t)
{
    ac_tf_loop *l = own;
    ac_tf_value *v = ac_copy(l->n->r->cx->region, like, (size_t)l->loop.n * sizeof *v);
    for (int32_t i = 0; i < l->loop.n; i++) {
        v[i] = t[i] ? value_of(l->n, t[i], &v[i]) : v[i];
        v[i].guard = NULL;
    }
    return v;
}

static ac_tensor *carried_tensor(void *own, const void *values, int32_t i)
{
    ac_tf_loop *l = own;
    const ac_tf_value *v = values;
    const bool list = l->first[i].kind == AC_TF_LIST;
    ac_tensor *t = tensor_of(l->n, &v[i]);
    if (!t || list == (v[i].kind == AC_TF_LIST))
        return t;
    (void)ac_error(l->n->r->cx, l->n->b.at, E0105, "value %d is %s, but not after an iteration", i,
                   list ? "an array of tensors" : "a tensor");
    return NULL;
}

const ac_tf_value *ac_tf_loop_run(ac_tf_loop *l, int (*condition)(void *own, const void *now, ac_tensor **again),
                                  const void *(*body)(void *own, const void *now), int32_t count,
                                  const ac_tf_value *first, int64_t *turns)
{
    static const ac_loop_format FORMAT = {
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
        .end = end_graph};
    ac_tf *r = l->n->r;
    const ac_tf_guard *guard = NULL;
    l->loop = (ac_loop){
        .b = &l->n->b, .now = &r->g, .of = &FORMAT, .condition = condition, .body = body, .n = count, .trips = -1};
    const ac_tf_value *last = ac_loop_run(&l->loop, first, turns);
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

/* ------------------------------------------------------------------ branches */

/* Both branches leave the same thing: it takes no part. */
static bool is_same(const ac_tf_value *a, const ac_tf_value *b)
{
    return a->kind == b->kind && a->t == b->t && a->list == b->list && a->variable == b->variable;
}

static void enter(ac_tf_op *n, ac_sub *s)
{
    ac_sub_enter(&n->b, &n->r->g, s);
    swap_here(n->r, s);
}

static void leave(ac_tf_op *n, ac_sub *s)
{
    swap_here(n->r, s);
    ac_sub_leave(&n->b, &n->r->g, s);
}

int ac_tf_late_branch(ac_tf_op *n, ac_tensor *cond, ac_tf_branch *run, void *own, int32_t n_out, ac_tf_value *out)
{
    ac_sub p[2] = {{.g = NULL}, {.g = NULL}};
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
            return ac_cannot(&n->b, "its branches, chosen from at run time, leave different arrays or variables");
        for (int32_t k = 0; k < 2; k++) {
            enter(n, &p[k]);
            ac_tensor *x = tensor_of(n, &ret[k][i]);
            leave(n, &p[k]);
            if (!x)
                return AC_FAIL;
            ac_push(p[k].g->region, &p[k].g->output, x);
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
        AC_TRY(ac_sub_branches(&n->b, &n->r->g, cond, &p[0], &p[1], count, name, t));
    count = 0;
    for (int32_t i = 0; i < n_out; i++)
        out[i] = is_same(&ret[0][i], &ret[1][i]) ? ret[0][i] : value_of(n, t[count++], &ret[0][i]);
    return AC_OK;
}
