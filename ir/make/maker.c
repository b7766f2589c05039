/* maker.c - makes canonical nodes one by one. */
#include "ir/make/maker.h"
#include "ir/ops/shape/resolve.h"

#include <string.h>

bool ac_dims_equal(const ac_tensor *t, int32_t rank, const int64_t *dim)
{
    return t->rank == rank && (!rank || !memcmp(t->dim, dim, (size_t)rank * sizeof *dim));
}

ac_maker ac_maker_named(ac_graph *g, const char *name)
{
    const ac_place at = {.file = g->file, .node = name};
    return (ac_maker){.cx = g->cx, .g = g, .name = name, .base = name, .at = at};
}

ac_maker ac_maker_at(ac_graph *g, const ac_node *n)
{
    return (ac_maker){.cx = g->cx, .g = g, .name = n->name, .base = n->out[0]->name, .at = n->at, .bare = true};
}

/* All operands that the operator needs are there. */
static bool has_operands(ac_op op, ac_tensor *const *in, int32_t n_in)
{
    bool all = true;
    for (int32_t i = 0; i < n_in && i < ac_ops[op].min_in; i++)
        all &= in[i] != NULL;
    return all;
}

ac_node *ac_make_results(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                         ac_tensor *const *out, int32_t n_out)
{
    ac_node *n = ac_node_new(b->g, op, b->name, in, n_in, out, n_out);
    n->at = b->at;
    n->gradient = b->gradient;
    n->part = b->part;
    if (attrs)
        n->attrs = *attrs;
    if (b->keep_nan && n_in && in[0] && ac_dtype_is_float(in[0]->dtype))
        ac_attrs_keep_nan(op, b->keep_nan, &n->attrs);
    return n;
}

ac_node *ac_make_node(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                      int32_t n_out)
{
    ac_tensor *out[64];
    if (n_out > 64)
        return NULL;
    const char *name = b->bare ? b->base : ac_strf(b->cx->region, "%s_%s", b->base, ac_ops[op].text);
    for (int32_t i = 0; i < n_out; i++)
        out[i] = ac_tensor_new(b->g, name, AC_NONE, 0, NULL);
    return ac_make_results(b, op, in, n_in, attrs, out, n_out);
}

ac_tensor *ac_make_into(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                        ac_tensor *y)
{
    if (!has_operands(op, in, n_in))
        return NULL;
    ac_node *n = ac_make_results(b, op, in, n_in, attrs, &y, 1);
    return b->unsized || ac_make_resolve(b, n) == AC_OK ? y : NULL;
}

ac_tensor *ac_make_called(ac_graph *g, const char *name, ac_op op, ac_tensor *const *in, int32_t n_in,
                          const ac_attrs *attrs)
{
    ac_tensor *y = ac_tensor_new(g, name, AC_NONE, 0, NULL);
    const ac_maker b = ac_maker_named(g, y->name);
    return ac_make_into(&b, op, in, n_in, attrs, y);
}

ac_node *ac_make_copy(ac_graph *g, const ac_node *n, ac_tensor *const *in, ac_tensor *const *out)
{
    const ac_maker b = {.cx = g->cx, .g = g, .name = n->name, .at = n->at};
    return ac_make_results(&b, n->op, in, n->n_in, &n->attrs, out, n->n_out);
}

int ac_make_resolve(const ac_maker *b, ac_node *n)
{
    return b->rules ? b->rules->resolve(b, n) : ac_node_resolve(b->cx, b->g, n);
}

/* x has a dynamic valid length that the rules of b treat. */
static bool counted(const ac_maker *b, const ac_tensor *x)
{
    return b->rules && !b->unsized && x->count;
}

ac_tensor *ac_make_op(const ac_maker *b, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs,
                      ac_dtype type)
{
    ac_tensor *own[3];
    if (!has_operands(op, in, n_in))
        return NULL;
    const bool safe = b->rules && b->rules->operands(b, op, in, n_in, attrs, own);
    ac_node *made = ac_make_node(b, op, safe ? own : in, n_in, attrs, 1);
    ac_tensor *y = made->out[0];
    y->dtype = type;
    return b->unsized || ac_make_resolve(b, made) == AC_OK ? y : NULL;
}

ac_tensor *ac_make_1(const ac_maker *b, ac_op op, ac_tensor *x)
{
    return x ? ac_make_op(b, op, &x, 1, NULL, AC_NONE) : NULL;
}

ac_tensor *ac_make_2(const ac_maker *b, ac_op op, ac_tensor *x, ac_tensor *y)
{
    ac_tensor *in[] = {x, y};
    return x && y ? ac_make_op(b, op, in, 2, NULL, AC_NONE) : NULL;
}

ac_tensor *ac_make_matmul(const ac_maker *b, ac_tensor *x, ac_tensor *y, bool adj_x, bool adj_y)
{
    ac_attrs a;
    ac_tensor *in[] = {x, y};
    ac_attrs_init(AC_OP_BATCH_MATMUL, &a);
    a.matmul.adj_x = adj_x;
    a.matmul.adj_y = adj_y;
    return ac_make_op(b, AC_OP_BATCH_MATMUL, in, 2, &a, AC_NONE);
}

ac_tensor *ac_make_dense(const ac_maker *b, ac_tensor *x, ac_tensor *w, ac_tensor *bias)
{
    ac_attrs a;
    ac_tensor *in[] = {x, w, bias};
    ac_attrs_init(AC_OP_FULLY_CONNECTED, &a);
    a.dense.keep_dims = true;
    return ac_make_op(b, AC_OP_FULLY_CONNECTED, in, bias ? 3 : 2, &a, AC_NONE);
}

ac_tensor *ac_make_cast(const ac_maker *b, ac_tensor *x, ac_dtype to)
{
    ac_attrs a;
    if (!x || x->dtype == to)
        return x;
    ac_attrs_init(AC_OP_CAST, &a);
    a.cast.to = to;
    return ac_make_op(b, AC_OP_CAST, &x, 1, &a, to);
}

ac_ints ac_make_list(const ac_maker *b, int64_t count, const int64_t *v)
{
    int64_t *own = AC_NEW_N(b->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        own[i] = v[i];
    return (ac_ints){(int32_t)count, own};
}

ac_ints ac_make_perm(const ac_maker *b, int32_t rank, const int32_t *perm)
{
    int64_t *own = AC_NEW_N(b->cx->region, int64_t, rank + 1);
    for (int32_t d = 0; d < rank; d++)
        own[d] = perm[d];
    return (ac_ints){rank, own};
}

ac_tensor *ac_make_select(const ac_maker *b, ac_tensor *cond, ac_tensor *yes, ac_tensor *no)
{
    ac_tensor *in[] = {cond, yes, no};
    return cond && yes && no ? ac_make_op(b, AC_OP_SELECT, in, 3, NULL, AC_NONE) : NULL;
}

static ac_attrs perm_attrs(const ac_maker *b, int32_t rank, const int32_t *perm)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_TRANSPOSE, &a);
    a.perm.perm = ac_make_perm(b, rank, perm);
    return a;
}

ac_tensor *ac_make_transpose(const ac_maker *b, ac_tensor *x, const int32_t *perm)
{
    bool same = true;
    if (!x)
        return NULL;
    for (int32_t d = 0; d < x->rank; d++)
        same &= perm[d] == d;
    if (same)
        return x;
    const ac_attrs a = perm_attrs(b, x->rank, perm);
    return ac_make_op(b, AC_OP_TRANSPOSE, &x, 1, &a, AC_NONE);
}

ac_tensor *ac_make_transpose_into(const ac_maker *b, ac_tensor *x, const int32_t *perm, ac_tensor *y)
{
    const ac_attrs a = perm_attrs(b, y->rank, perm);
    return ac_make_into(b, AC_OP_TRANSPOSE, &x, 1, &a, y);
}

void ac_perm_axis_last(int32_t rank, int32_t axis, int32_t *perm, int32_t *back)
{
    for (int32_t d = 0, k = 0; d < rank; d++)
        if (d != axis)
            perm[k++] = d;
    perm[rank - 1] = axis;
    for (int32_t d = 0; d < rank; d++)
        back[perm[d]] = d;
}

static ac_attrs shape_attrs(const ac_maker *b, ac_op op, int32_t rank, const int64_t *dim)
{
    ac_attrs a;
    ac_attrs_init(op, &a);
    a.shape.shape = ac_make_list(b, rank, dim);
    return a;
}

ac_tensor *ac_make_reshape(const ac_maker *b, ac_tensor *x, int32_t rank, const int64_t *dim)
{
    if (!x)
        return NULL;
    if (!b->unsized && ac_dims_equal(x, rank, dim))
        return x;
    if (counted(b, x))
        return b->rules->reshape(b, x, rank, dim);
    const ac_attrs a = shape_attrs(b, AC_OP_RESHAPE, rank, dim);
    return ac_make_op(b, AC_OP_RESHAPE, &x, 1, &a, AC_NONE);
}

ac_tensor *ac_make_reshape_into(const ac_maker *b, ac_tensor *x, const ac_tensor *shape, ac_tensor *y)
{
    const ac_attrs a = shape_attrs(b, AC_OP_RESHAPE, shape->rank, shape->dim);
    return ac_make_into(b, AC_OP_RESHAPE, &x, 1, &a, y);
}

ac_tensor *ac_make_reduce(const ac_maker *b, ac_op op, ac_tensor *x, uint32_t axes, bool keep_dims)
{
    ac_attrs a;
    int64_t list[AC_MAX_RANK];
    int32_t count = 0;
    if (!x || !axes) /* nothing is reduced; an empty list would mean everything */
        return x;
    if (op == AC_OP_MEAN && counted(b, x) && axes >> x->count_dim & 1 && ac_dtype_is_float(x->dtype))
        return b->rules->mean(b, x, axes, keep_dims);
    for (int32_t d = 0; d < x->rank; d++)
        if (axes >> d & 1)
            list[count++] = d;
    ac_attrs_init(op, &a);
    a.reduce.axes = ac_make_list(b, count, list);
    a.reduce.keep_dims = keep_dims;
    return ac_make_op(b, op, &x, 1, &a, AC_NONE);
}

ac_tensor *ac_make_slice(const ac_maker *b, ac_tensor *x, int32_t axis, int64_t begin, int64_t size)
{
    ac_attrs a;
    int64_t from[AC_MAX_RANK] = {0}, extent[AC_MAX_RANK];
    if (!x)
        return NULL;
    memcpy(extent, x->dim, sizeof extent);
    from[axis] = begin;
    extent[axis] = size;
    ac_attrs_init(AC_OP_SLICE, &a);
    a.slice.begin = ac_make_list(b, x->rank, from);
    a.slice.size = ac_make_list(b, x->rank, extent);
    return ac_make_op(b, AC_OP_SLICE, &x, 1, &a, AC_NONE);
}

/* CONCATENATION takes 64 operands; more are joined in steps. */
ac_tensor *ac_make_concat(const ac_maker *b, ac_tensor *const *x, int32_t count, int32_t axis)
{
    enum { MOST = 64 };
    ac_attrs a;
    ac_attrs_init(AC_OP_CONCATENATION, &a);
    a.axis.axis = axis;
    bool along = false; /* one has a dynamic valid length there */
    for (int32_t i = 0; i < count; i++) {
        if (!x[i])
            return NULL;
        along |= counted(b, x[i]) && x[i]->count_dim == axis;
    }
    if (along)
        return count == 1 ? x[0] : b->rules->concat(b, x, count, axis);
    if (count <= MOST)
        return ac_make_op(b, AC_OP_CONCATENATION, x, count, &a, AC_NONE);
    const int32_t parts = (count + MOST - 1) / MOST;
    ac_tensor **part = AC_NEW_N(b->cx->region, ac_tensor *, parts);
    for (int32_t i = 0; i < parts; i++)
        part[i] = ac_make_concat(b, x + i * MOST, i + 1 < parts ? MOST : count - i * MOST, axis);
    return ac_make_concat(b, part, parts, axis);
}

ac_tensor *ac_make_broadcast(const ac_maker *b, ac_tensor *x, int32_t rank, const int64_t *dim)
{
    if (!x || ac_dims_equal(x, rank, dim))
        return x;
    const ac_attrs a = shape_attrs(b, AC_OP_BROADCAST_TO, rank, dim);
    return ac_make_op(b, AC_OP_BROADCAST_TO, &x, 1, &a, AC_NONE);
}

ac_tensor *ac_make_from_end(const ac_maker *b, ac_tensor *at, ac_tensor *size)
{
    ac_tensor *back = ac_make_2(b, AC_OP_ADD, at, size);
    ac_tensor *below = at ? ac_make_2(b, AC_OP_LESS, at, ac_make_number(b, at->dtype, 0)) : NULL;
    return back && below ? ac_make_select(b, below, back, at) : NULL;
}

ac_tensor *ac_make_put(const ac_maker *b, ac_tensor *x, ac_tensor *element, ac_tensor *at)
{
    int64_t dim[AC_MAX_RANK] = {1}, one = 1;
    ac_tensor *start[AC_MAX_RANK];
    if (!x || !element || !at)
        return NULL;
    for (int32_t d = 0; d < element->rank; d++)
        dim[1 + d] = element->dim[d];
    at = ac_make_cast(b, ac_make_reshape(b, at, 1, &one), AC_I64);
    for (int32_t d = 0; d < x->rank; d++)
        start[d] = d ? ac_make_ints(b, 1, (const int64_t[]){0}) : at;
    ac_tensor *in[] = {x, ac_make_reshape(b, element, x->rank, dim), ac_make_concat(b, start, x->rank, 0)};
    return in[1] && in[2] ? ac_make_op(b, AC_OP_DYNAMIC_UPDATE_SLICE, in, 3, NULL, AC_NONE) : NULL;
}

ac_tensor *ac_make_pad(const ac_maker *b, ac_tensor *x, const int64_t *before, const int64_t *after, ac_tensor *value)
{
    ac_attrs a;
    int64_t list[2 * AC_MAX_RANK];
    bool any = false;
    if (!x)
        return NULL;
    for (int32_t d = 0; d < x->rank; d++) {
        list[2 * d] = before[d];
        list[2 * d + 1] = after[d];
        any |= before[d] || after[d];
    }
    if (!any)
        return x;
    if (!value) {
        ac_attrs_init(AC_OP_PAD, &a);
        a.pad.pads = ac_make_list(b, 2 * x->rank, list);
        return ac_make_op(b, AC_OP_PAD, &x, 1, &a, AC_NONE);
    }
    int64_t dim[2] = {x->rank, 2};
    ac_tensor *pads = ac_tensor_const(b->g, ac_strf(b->cx->region, "%s_pads", b->base), AC_I64, 2, dim,
                                      ac_make_list(b, 2 * x->rank, list).v);
    ac_tensor *in[] = {x, pads, value};
    return ac_make_op(b, AC_OP_PADV2, in, 3, NULL, AC_NONE);
}

/* ------------------------------------------------------------------ constants */

static ac_tensor *constant(const ac_maker *b, ac_dtype type, int32_t rank, const int64_t *dim, const void *data)
{
    return ac_tensor_const(b->g, ac_strf(b->cx->region, "%s_c", b->base), type, rank, dim, data);
}

static const void *one(const ac_maker *b, ac_dtype type, double v)
{
    void *data = ac_alloc(b->cx->region, 16);
    ac_dtype_put_num(type, data, v);
    return data;
}

ac_tensor *ac_make_number(const ac_maker *b, ac_dtype type, double v)
{
    return constant(b, type, 0, NULL, one(b, type, v));
}

ac_tensor *ac_make_number_like(const ac_maker *b, const ac_tensor *like, double v)
{
    return like ? ac_make_number(b, like->dtype, v) : NULL;
}

ac_tensor *ac_make_assign(const ac_maker *b, ac_tensor *state, int64_t at, ac_tensor *x)
{
    if (!x)
        return NULL;
    ac_tensor *y = ac_tensor_new(b->g, ac_internf(b->cx, "%s_next", state->name), x->dtype, x->rank, x->dim);
    y->root = state;
    y->view_offset = ac_dtype_size(state->dtype, at);
    return ac_make_into(b, AC_OP_ASSIGN, &x, 1, NULL, y);
}

ac_tensor *ac_make_steps(ac_graph *g, const char *name, int64_t count, int64_t first, int64_t step)
{
    int32_t *v = AC_NEW_N(g->region, int32_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        v[i] = (int32_t)(first + i * step);
    return ac_tensor_const(g, name, AC_I32, 1, &count, v);
}

ac_tensor *ac_make_zeros(const ac_maker *b, ac_dtype type, int32_t rank, const int64_t *dim)
{
    ac_tensor *t = constant(b, type, rank, dim, one(b, type, 0));
    t->splat = true;
    return t;
}

ac_tensor *ac_make_floats(const ac_maker *b, int32_t rank, const int64_t *dim, const float *v)
{
    ac_tensor *t = constant(b, AC_F32, rank, dim, NULL);
    t->data = ac_copy(b->cx->region, v, (size_t)ac_tensor_bytes(t) + (ac_tensor_bytes(t) == 0));
    return t;
}

ac_tensor *ac_make_ints(const ac_maker *b, int64_t count, const int64_t *v)
{
    return ac_make_ints_shaped(b, 1, &count, v);
}

ac_tensor *ac_make_ints_shaped(const ac_maker *b, int32_t rank, const int64_t *dim, const int64_t *v)
{
    return constant(b, AC_I64, rank, dim, ac_make_list(b, ac_dim_product(dim, 0, rank), v).v);
}

bool ac_tensor_is_moved_const(const ac_tensor *t)
{
    while (t && !ac_tensor_is_const(t) && t->def && (t->def->op == AC_OP_TRANSPOSE || t->def->op == AC_OP_RESHAPE))
        t = t->def->in[0];
    return t && ac_tensor_is_const(t);
}
