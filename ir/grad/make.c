/* make.c - the nodes of gradients, made one by one: each is resolved at once, so every shape is known. */
#include "ir/ops/shape/resolve.h"
#include "ir/grad/reverse.h"

#include <string.h>

ac_tensor *ac_mk(const ac_adjoint *a, ac_op op, ac_tensor *const *in, int32_t n_in, const ac_attrs *attrs)
{
    ac_region *r = a->cx->region;
    for (int32_t i = 0; i < n_in; i++)
        if (!in[i] && i < ac_ops[op].min_in)
            return NULL;
    const ac_tensor *y = a->node->out[0];
    ac_tensor *out = ac_tensor_new(a->g, ac_strf(r, "grad_%s", y->name), AC_NONE, 0, NULL);
    ac_node *made = ac_node_new(a->g, op, ac_strf(r, "grad of %s", a->node->name), in, n_in, &out, 1);
    made->gradient = true;
    made->at = a->node->at;
    made->at.node = made->name;
    if (attrs)
        made->attrs = *attrs;
    if (op == AC_OP_CAST)
        out->dtype = attrs->cast.to;
    return ac_node_resolve(a->cx, a->g, made) == AC_OK ? out : NULL;
}

ac_tensor *ac_mk_1(const ac_adjoint *a, ac_op op, ac_tensor *x)
{
    return x ? ac_mk(a, op, &x, 1, NULL) : NULL;
}

ac_tensor *ac_mk_2(const ac_adjoint *a, ac_op op, ac_tensor *x, ac_tensor *y)
{
    return x && y ? ac_mk(a, op, (ac_tensor *[]){x, y}, 2, NULL) : NULL;
}

ac_tensor *ac_mk_select(const ac_adjoint *a, ac_tensor *cond, ac_tensor *yes, ac_tensor *no)
{
    return cond && yes && no ? ac_mk(a, AC_OP_SELECT, (ac_tensor *[]){cond, yes, no}, 3, NULL) : NULL;
}

/* ------------------------------------------------------------------ constants */

static ac_tensor *constant(const ac_adjoint *a, ac_dtype type, int32_t rank, const int64_t *dim, const void *data)
{
    return ac_tensor_const(a->g, ac_strf(a->cx->region, "grad_%s_c", a->node->out[0]->name), type, rank, dim, data);
}

static void *number(const ac_adjoint *a, ac_dtype type, double v)
{
    void *data = ac_alloc(a->cx->region, 16);
    ac_dtype_put_num(type, data, v);
    return data;
}

ac_tensor *ac_mk_number(const ac_adjoint *a, const ac_tensor *like, double v)
{
    return like ? constant(a, like->dtype, 0, NULL, number(a, like->dtype, v)) : NULL;
}

ac_tensor *ac_mk_zeros(const ac_adjoint *a, ac_dtype type, int32_t rank, const int64_t *dim)
{
    ac_tensor *t = constant(a, type, rank, dim, number(a, type, 0));
    t->splat = true;
    return t;
}

ac_ints ac_mk_list(const ac_adjoint *a, int32_t n, const int64_t *v)
{
    int64_t *own = AC_NEW_N(a->cx->region, int64_t, n + 1);
    for (int32_t i = 0; i < n; i++)
        own[i] = v[i];
    return (ac_ints){n, own};
}

ac_tensor *ac_mk_ints(const ac_adjoint *a, int32_t rank, const int64_t *dim, const int64_t *v)
{
    return constant(a, AC_I64, rank, dim, ac_mk_list(a, (int32_t)ac_dim_product(dim, 0, rank), v).v);
}

/* ------------------------------------------------------------------ arithmetic */

ac_tensor *ac_mk_scale(const ac_adjoint *a, ac_tensor *x, double v)
{
    return ac_mk_2(a, AC_OP_MUL, x, ac_mk_number(a, x, v));
}

ac_tensor *ac_mk_shift(const ac_adjoint *a, ac_tensor *x, double v)
{
    return ac_mk_2(a, AC_OP_ADD, x, ac_mk_number(a, x, v));
}

ac_tensor *ac_mk_cast(const ac_adjoint *a, ac_tensor *x, ac_dtype to)
{
    ac_attrs t;
    if (!x || x->dtype == to)
        return x;
    ac_attrs_init(AC_OP_CAST, &t);
    t.cast.to = to;
    return ac_mk(a, AC_OP_CAST, &x, 1, &t);
}

ac_tensor *ac_mk_matmul(const ac_adjoint *a, ac_tensor *x, bool adj_x, ac_tensor *y, bool adj_y)
{
    ac_attrs t;
    ac_attrs_init(AC_OP_BATCH_MATMUL, &t);
    t.matmul.adj_x = adj_x;
    t.matmul.adj_y = adj_y;
    return x && y ? ac_mk(a, AC_OP_BATCH_MATMUL, (ac_tensor *[]){x, y}, 2, &t) : NULL;
}

ac_tensor *ac_mk_reduce(const ac_adjoint *a, ac_op op, ac_tensor *x, uint32_t axes, bool keep)
{
    ac_attrs t;
    int64_t list[AC_MAX_RANK];
    int32_t n = 0;
    if (!x || !axes) /* nothing is reduced; an empty list would mean everything */
        return x;
    for (int32_t d = 0; d < x->rank; d++)
        if (axes >> d & 1)
            list[n++] = d;
    ac_attrs_init(op, &t);
    t.reduce.axes = ac_mk_list(a, n, list);
    t.reduce.keep_dims = keep;
    return ac_mk(a, op, &x, 1, &t);
}

/* ------------------------------------------------------------------ moving */

/* RESHAPE or BROADCAST_TO, where x does not have the shape. */
static ac_tensor *to_shape(const ac_adjoint *a, ac_op op, ac_tensor *x, int32_t rank, const int64_t *dim)
{
    ac_attrs t;
    if (!x || (x->rank == rank && !memcmp(x->dim, dim, (size_t)rank * sizeof *dim)))
        return x;
    ac_attrs_init(op, &t);
    t.shape.shape = ac_mk_list(a, rank, dim);
    return ac_mk(a, op, &x, 1, &t);
}

ac_tensor *ac_mk_reshape(const ac_adjoint *a, ac_tensor *x, int32_t rank, const int64_t *dim)
{
    return to_shape(a, AC_OP_RESHAPE, x, rank, dim);
}

ac_tensor *ac_mk_reshape_like(const ac_adjoint *a, ac_tensor *x, const ac_tensor *like)
{
    return ac_mk_reshape(a, x, like->rank, like->dim);
}

ac_tensor *ac_mk_transpose(const ac_adjoint *a, ac_tensor *x, const int32_t *perm)
{
    ac_attrs t;
    int64_t wide[AC_MAX_RANK];
    bool same = true;
    for (int32_t d = 0; x && d < x->rank; d++) {
        wide[d] = perm[d];
        same &= perm[d] == d;
    }
    if (!x || same)
        return x;
    ac_attrs_init(AC_OP_TRANSPOSE, &t);
    t.perm.perm = ac_mk_list(a, x->rank, wide);
    return ac_mk(a, AC_OP_TRANSPOSE, &x, 1, &t);
}

ac_tensor *ac_mk_swapped(const ac_adjoint *a, ac_tensor *x)
{
    int32_t perm[AC_MAX_RANK];
    ac_perm_swapped(x ? x->rank : 0, perm);
    return ac_mk_transpose(a, x, perm);
}

ac_tensor *ac_mk_slice(const ac_adjoint *a, ac_tensor *x, int32_t axis, int64_t begin, int64_t size)
{
    ac_attrs t;
    int64_t from[AC_MAX_RANK] = {0}, extent[AC_MAX_RANK];
    if (!x || (begin == 0 && size == x->dim[axis]))
        return x;
    memcpy(extent, x->dim, sizeof extent);
    from[axis] = begin;
    extent[axis] = size;
    ac_attrs_init(AC_OP_SLICE, &t);
    t.slice.begin = ac_mk_list(a, x->rank, from);
    t.slice.size = ac_mk_list(a, x->rank, extent);
    return ac_mk(a, AC_OP_SLICE, &x, 1, &t);
}

ac_tensor *ac_mk_concat(const ac_adjoint *a, ac_tensor *const *x, int32_t n, int32_t axis)
{
    enum { MOST = 64 }; /* operands of CONCATENATION; more are joined in steps */
    ac_attrs t;
    for (int32_t i = 0; i < n; i++)
        if (!x[i])
            return NULL;
    if (n == 1)
        return x[0];
    ac_attrs_init(AC_OP_CONCATENATION, &t);
    t.axis.axis = axis;
    if (n <= MOST)
        return ac_mk(a, AC_OP_CONCATENATION, x, n, &t);
    const int32_t parts = (n + MOST - 1) / MOST;
    ac_tensor **part = AC_NEW_N(a->cx->region, ac_tensor *, parts);
    for (int32_t i = 0; i < parts; i++)
        part[i] = ac_mk_concat(a, x + i * MOST, i + 1 < parts ? MOST : n - i * MOST, axis);
    return ac_mk_concat(a, part, parts, axis);
}

ac_tensor *ac_mk_broadcast(const ac_adjoint *a, ac_tensor *x, int32_t rank, const int64_t *dim)
{
    return to_shape(a, AC_OP_BROADCAST_TO, x, rank, dim);
}

ac_tensor *ac_mk_pad(const ac_adjoint *a, ac_tensor *x, const int64_t *before, const int64_t *after)
{
    ac_attrs t;
    int64_t list[2 * AC_MAX_RANK];
    bool any = false;
    for (int32_t d = 0; x && d < x->rank; d++) {
        const int64_t b = before[d] > 0 ? before[d] : 0, e = after[d] > 0 ? after[d] : 0;
        const int64_t from = b - before[d], until = x->dim[d] - (e - after[d]);
        if (from || until < x->dim[d])
            x = ac_mk_slice(a, x, d, from, until - from);
        list[2 * d] = b;
        list[2 * d + 1] = e;
        any |= b || e;
    }
    if (!x || !any)
        return x;
    ac_attrs_init(AC_OP_PAD, &t);
    t.pad.pads = ac_mk_list(a, 2 * x->rank, list);
    return ac_mk(a, AC_OP_PAD, &x, 1, &t);
}

ac_tensor *ac_mk_reverse(const ac_adjoint *a, ac_tensor *x, int32_t axis)
{
    const int64_t one = 1, at = axis;
    if (!x || x->dim[axis] < 2)
        return x;
    return ac_mk_2(a, AC_OP_REVERSE_V2, x, ac_mk_ints(a, 1, &one, &at));
}

ac_tensor *ac_mk_spread(const ac_adjoint *a, ac_tensor *x, int32_t axis, int64_t step)
{
    if (!x || step == 1 || x->dim[axis] < 2)
        return x;
    /* [outer, n, inner] -> [outer, n, step * inner] padded with zeros -> [outer, n * step, inner] without the last */
    int64_t dim[AC_MAX_RANK];
    memcpy(dim, x->dim, sizeof dim);
    const int32_t rank = x->rank;
    const int64_t n = x->dim[axis], outer = ac_dim_product(dim, 0, axis), inner = ac_dim_product(dim, axis + 1, rank);
    const int64_t none[2] = {0, 0}, zeros[2] = {0, (step - 1) * inner};
    ac_tensor *t = ac_mk_reshape(a, x, 2, (int64_t[]){outer * n, inner});
    t = ac_mk_pad(a, t, none, zeros);
    dim[axis] = n * step;
    return ac_mk_slice(a, ac_mk_reshape(a, t, rank, dim), axis, 0, (n - 1) * step + 1);
}
