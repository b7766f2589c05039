/* state_lengths.c - does a model compute something else when its caches have room for more rows? */
#include "ir/pass/pass.h"
#include "ir/pass/passes.h"

#include <string.h>

typedef struct pair {
    ac_tensor *a, *b;
    const ac_node *reader;
} pair;

typedef struct lengths {
    ac_ctx *cx;
    ac_region *tmp;
    ac_graph *a, *b;
    bool *constant, *differs; /* by tensor of a: nothing of it depends on inputs; it is not what it is in b */
    AC_VEC(pair) suspect;
} lengths;

static bool same_bytes(const ac_tensor *a, const ac_tensor *b)
{
    const void *x = a->data ? a->data : a->raw, *y = b->data ? b->data : b->raw;
    if (!ac_tensor_same_shape(a, b) || a->dtype != b->dtype || a->splat != b->splat)
        return false;
    const ac_bytes n = a->splat ? ac_dtype_size(a->dtype, 1) : ac_tensor_bytes(a);
    return x == y || (x && y && !memcmp(x, y, (size_t)n));
}

static int unlike(const lengths *l, const ac_node *n)
{
    return ac_error(
        l->cx, n->at, E0502,
        "--state: what '%s' computes depends on how many rows the cache has room for, not on how many there "
        "are",
        n->name);
}

/* The integers of operand i, or of the attribute, of a slice that can be known. */
static ac_ints ints_of(const lengths *l, const ac_node *n, int32_t i, ac_ints attr)
{
    ac_ints v = {0};
    const bool known = n->n_in <= i || !n->in[i] || ac_tensor_is_const(n->in[i]);
    return known && ac_node_ints(l->cx, n, i, attr, &v) == AC_OK ? v : (ac_ints){0};
}

static bool any_negative(ac_ints v)
{
    bool any = false;
    for (int32_t i = 0; i < v.n; i++)
        any |= v.v[i] < 0;
    return any;
}

/* Do both read their operand from the same place on, which is not said from its end? */
static bool same_begin(const lengths *l, const ac_node *n, const ac_node *m)
{
    const bool plain = n->op == AC_OP_SLICE;
    if (n->op == AC_OP_REVERSE_V2 || n->op == AC_OP_REVERSE_SEQUENCE)
        return ac_tensor_same_shape(n->in[0], m->in[0]);
    if (!plain && n->op != AC_OP_STRIDED_SLICE)
        return true;
    const ac_ints a = ints_of(l, n, 1, plain ? n->attrs.slice.begin : n->attrs.strided.begin),
                  b = ints_of(l, m, 1, plain ? m->attrs.slice.begin : m->attrs.strided.begin);
    const bool same = a.n == b.n && (!a.n || !memcmp(a.v, b.v, (size_t)a.n * sizeof *a.v));
    if (!same || plain || ac_tensor_same_shape(n->in[0], m->in[0]))
        return same;
    return !any_negative(a) && !any_negative(ints_of(l, n, 3, n->attrs.strided.strides));
}

static void look_at_operands(lengths *l, const ac_node *n, const ac_node *m, bool *constant, bool *differs)
{
    for (int32_t i = 0; i < n->n_in; i++) {
        ac_tensor *x = n->in[i], *y = m->in[i];
        if (!x || !y)
            continue;
        if (ac_tensor_is_const(x) && ac_tensor_is_const(y)) {
            l->constant[x->id] = true;
            l->differs[x->id] = !same_bytes(x, y);
        }
        *constant &= l->constant[x->id];
        *differs |= l->differs[x->id];
    }
}

static int look_at(lengths *l, const ac_node *n, const ac_node *m)
{
    bool constant = !(ac_ops[n->op].flags & OF_STATE), differs = false;
    if (n->op != m->op || n->n_in != m->n_in || n->n_out != m->n_out)
        return unlike(l, n);
    look_at_operands(l, n, m, &constant, &differs);
    for (int32_t i = 0; i < n->n_out; i++) {
        l->constant[n->out[i]->id] = constant;
        l->differs[n->out[i]->id] =
            constant && (differs || !same_begin(l, n, m) || !ac_tensor_same_shape(n->out[i], m->out[i]));
    }
    if (!constant && !same_begin(l, n, m))
        return unlike(l, n);
    for (int32_t i = 0; i < n->n_in && !constant; i++) {
        const ac_tensor *x = n->in[i];
        if (!x || !m->in[i] || !l->constant[x->id] || !l->differs[x->id])
            continue;
        if (!ac_node_is_static(n, i)) /* sizes may differ */
            ac_push(l->tmp, &l->suspect, ((pair){n->in[i], m->in[i], n}));
    }
    return AC_OK;
}

static void fold(ac_graph *g)
{
    for (int32_t i = 0; i < g->node.n; i++)
        ac_fold_node(g, g->node.item[i]);
}

/* Is one what the other begins with, along the one dimension in which they differ? */
static bool same_beginning(const ac_tensor *a, const uint8_t *x, const ac_tensor *b, const uint8_t *y)
{
    int32_t axis = -1, differ = 0;
    for (int32_t d = 0; d < a->rank && a->rank == b->rank; d++)
        if (a->dim[d] != b->dim[d]) {
            axis = d;
            differ++;
        }
    if (a->dtype != b->dtype || a->rank != b->rank || differ > 1)
        return false;
    if (axis < 0)
        return !memcmp(x, y, (size_t)ac_tensor_bytes(a));
    const ac_bytes row = ac_dtype_size(a->dtype, ac_dim_product(a->dim, axis + 1, a->rank));
    const int64_t n = ac_dim_product(a->dim, 0, axis), less = a->dim[axis] < b->dim[axis] ? a->dim[axis] : b->dim[axis];
    bool same = true;
    for (int64_t i = 0; i < n && same; i++)
        same = !memcmp(x + i * a->dim[axis] * row, y + i * b->dim[axis] * row, (size_t)(less * row));
    return same;
}

static int judge(const lengths *l, const pair *p)
{
    const void *x = ac_tensor_force(l->cx, p->a), *y = ac_tensor_force(l->cx, p->b);
    if (!x || !y)
        return unlike(l, p->reader);
    return same_beginning(p->a, x, p->b, y) ? AC_OK : unlike(l, p->reader);
}

int ac_state_lengths(ac_ctx *cx, ac_graph *a, ac_graph *b)
{
    lengths l = {.cx = cx, .tmp = ac_region_open(&cx->heap), .a = a, .b = b};
    int status = AC_OK;
    l.constant = AC_NEW_N(l.tmp, bool, a->tensor.n + 1);
    l.differs = AC_NEW_N(l.tmp, bool, a->tensor.n + 1);
    if (a->node.n != b->node.n)
        status = ac_error(cx, (ac_place){.file = a->file}, E0502,
                          "--state: the model has other operators when its caches have room for more rows");
    for (int32_t i = 0; i < a->node.n && status == AC_OK; i++)
        status = look_at(&l, a->node.item[i], b->node.item[i]);
    if (status == AC_OK && l.suspect.n) {
        fold(a);
        fold(b);
    }
    for (int32_t i = 0; i < l.suspect.n && status == AC_OK; i++)
        status = judge(&l, &l.suspect.item[i]);
    if (status != AC_OK)
        ac_help(cx, "positions and masks have to be inputs of the model; or leave the --state of its caches out");
    ac_region_close(l.tmp);
    return status;
}
