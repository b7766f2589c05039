/* shape_symbols.c - operators of MXNet that move elements. */
#include "import/mxnet/symbols.h"
#include "ir/ops/shape/resolve.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SHAPE(t) ac_shape_str(n->r->cx, t)

static int results(ac_mx_node *n, int32_t count)
{
    n->n_out = count;
    n->out = AC_NEW_N(n->r->cx->region, ac_tensor *, count + 1);
    return AC_OK;
}

int ac_mx_do_flatten(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t width = 1;
    if (x->rank < 1)
        return ac_bad(&n->b, "'%s' has no dimensions", x->name);
    for (int32_t d = 1; d < x->rank; d++)
        width *= x->dim[d];
    return ac_mx_result(n, 0, ac_make_reshape(&n->b, x, 2, (int64_t[]){x->dim[0], width}));
}

/* 0 keeps a dimension, -1 takes the rest, -2 keeps all that are left, -3 joins two, -4 splits one into the next two. */
static int reshape_dims(ac_mx_node *n, const ac_tensor *x, const int64_t *v, int32_t count, int64_t *dim, int32_t *rank)
{
    int32_t at = 0, rest = -1;
    int64_t known = 1;
    *rank = 0;
    for (int32_t i = 0; i < count; i++) {
        int64_t put[AC_MAX_RANK];
        int32_t k = 1;
        if ((v[i] == 0 || v[i] == -4) && at >= x->rank)
            return ac_bad(&n->b, "shape needs more dimensions than '%s' %s has", x->name, SHAPE(x));
        if (v[i] > 0) {
            put[0] = v[i];
            at++;
        } else if (v[i] == 0) {
            put[0] = x->dim[at++];
        } else if (v[i] == -1) {
            put[0] = -1;
            at++;
        } else if (v[i] == -2) {
            for (k = 0; at < x->rank;)
                put[k++] = x->dim[at++];
        } else if (v[i] == -3 && at + 1 < x->rank) {
            put[0] = x->dim[at] * x->dim[at + 1];
            at += 2;
        } else if (v[i] == -4 && i + 2 < count) {
            put[0] = v[i + 1];
            put[1] = v[i + 2];
            k = 2;
            const int64_t whole = x->dim[at++];
            for (int32_t e = 0; e < 2; e++)
                if (put[e] == -1 && put[1 - e] > 0)
                    put[e] = whole / put[1 - e];
            if (put[0] < 1 || put[1] < 1 || put[0] > whole || put[0] * put[1] != whole)
                return ac_bad(&n->b, "shape splits %" PRId64 " into %" PRId64 " and %" PRId64, whole, put[0], put[1]);
            i += 2;
        } else {
            return ac_bad(&n->b, "shape has %" PRId64 ", which is invalid there", v[i]);
        }
        if (*rank + k > AC_MAX_RANK)
            return ac_cannot(&n->b, "its result has more than 8 dimensions");
        for (int32_t e = 0; e < k; e++) {
            if (put[e] == -1 && rest >= 0)
                return ac_bad(&n->b, "two dimensions of shape are -1");
            if (put[e] == -1)
                rest = *rank;
            else if (!ac_mul_ok(known, put[e], &known))
                return ac_bad(&n->b, "shape has more than 2^63 elements");
            dim[(*rank)++] = put[e];
        }
    }
    const int64_t all = ac_tensor_count(x);
    if (rest >= 0)
        dim[rest] = known ? all / known : 0;
    if (rest >= 0 ? !known || all % known : known != all)
        return ac_bad(&n->b, "'%s' %s does not fill the new shape", x->name, SHAPE(x));
    return AC_OK;
}

static void mirror(int64_t *v, int32_t n)
{
    for (int32_t i = 0; i < n / 2; i++) {
        const int64_t t = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = t;
    }
}

int ac_mx_do_reshape(ac_mx_node *n)
{
    ac_tensor *x = n->in[0], view = *x;
    int64_t v[3 * AC_MAX_RANK], dim[AC_MAX_RANK];
    int32_t count = ac_attr_ints_to(&n->attrs, A_reshape_shape, v), rank;
    if (count)
        ac_attr_skip(&n->attrs, "target_shape");
    else
        count = ac_attr_ints_to(&n->attrs, A_target_shape, v);
    const bool reverse = ac_attr_bool(&n->attrs, A_reverse), keep = ac_attr_bool(&n->attrs, A_keep_highest);
    if (keep && count)
        v[0] = 0;
    for (int32_t i = 0; reverse && i < count; i++)
        if (v[i] == -4)
            return ac_cannot(&n->b, "it splits dimensions from the end");
    if (reverse) {
        mirror(v, count);
        mirror(view.dim, view.rank);
    }
    AC_TRY(reshape_dims(n, &view, v, count, dim, &rank));
    if (reverse)
        mirror(dim, rank);
    return ac_mx_result(n, 0, ac_make_reshape(&n->b, x, rank, dim));
}

int ac_mx_do_reshape_like(ac_mx_node *n)
{
    const ac_tensor *like = n->in[1];
    if (ac_tensor_count(like) != ac_tensor_count(n->in[0]))
        return ac_bad(&n->b, "'%s' %s does not fill %s", n->in[0]->name, SHAPE(n->in[0]), SHAPE(like));
    return ac_mx_result(n, 0, ac_make_reshape(&n->b, n->in[0], like->rank, like->dim));
}

int ac_mx_do_transpose(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const ac_ints axes = ac_attr_ints(&n->attrs, A_axes);
    int32_t perm[AC_MAX_RANK];
    uint32_t seen = 0;
    if (axes.n && axes.n != x->rank)
        return ac_bad(&n->b, "%d axes for '%s' %s", axes.n, x->name, SHAPE(x));
    for (int32_t d = 0; d < x->rank; d++) {
        perm[d] = x->rank - 1 - d;
        if (axes.n)
            AC_TRY(ac_operand_axis(&n->b, axes.v[d], x->rank, &perm[d]));
        if (seen >> perm[d] & 1)
            return ac_bad(&n->b, "axes names dimension %d twice", perm[d]);
        seen |= 1u << perm[d];
    }
    return ac_mx_result(n, 0, ac_make_transpose(&n->b, x, perm));
}

int ac_mx_do_swap(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t a, b, perm[AC_MAX_RANK];
    AC_TRY(ac_attr_axis(&n->attrs, A_dim1, x->rank, &a));
    AC_TRY(ac_attr_axis(&n->attrs, A_dim2, x->rank, &b));
    for (int32_t d = 0; d < x->rank; d++)
        perm[d] = d == a ? b : d == b ? a : d;
    return ac_mx_result(n, 0, ac_make_transpose(&n->b, x, perm));
}

static ac_tensor *insert(ac_mx_node *n, ac_tensor *x, int32_t axis)
{
    int64_t dim[AC_MAX_RANK + 1];
    if (!x || x->rank >= AC_MAX_RANK)
        return NULL;
    for (int32_t d = 0; d <= x->rank; d++)
        dim[d] = d < axis ? x->dim[d] : d == axis ? 1 : x->dim[d - 1];
    return ac_make_reshape(&n->b, x, x->rank + 1, dim);
}

int ac_mx_do_expand(ac_mx_node *n)
{
    int32_t axis;
    AC_TRY(ac_attr_axis(&n->attrs, A_first_axis, n->in[0]->rank + 1, &axis));
    return ac_mx_result(n, 0, insert(n, n->in[0], axis));
}

ac_tensor *ac_mx_squeeze(ac_mx_node *n, ac_tensor *x, uint32_t mask)
{
    int64_t dim[AC_MAX_RANK];
    int32_t rank = 0;
    if (!x)
        return NULL;
    for (int32_t d = 0; d < x->rank; d++)
        if (!(mask >> d & 1))
            dim[rank++] = x->dim[d];
    if (!rank && n->r->version < 20000)
        dim[rank++] = 1; /* before NumPy's shapes there were no scalars */
    return ac_make_reshape(&n->b, x, rank, dim);
}

int ac_mx_do_squeeze(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    uint32_t mask, ones = 0;
    AC_TRY(ac_mx_axes(n, x->rank, &mask));
    for (int32_t d = 0; d < x->rank; d++)
        ones |= x->dim[d] == 1 ? 1u << d : 0;
    if (ac_attr_has(&n->attrs, A_axis) && mask & ~ones)
        return ac_bad(&n->b, "'%s' %s has a size other than 1 there", x->name, SHAPE(x));
    return ac_mx_result(n, 0, ac_mx_squeeze(n, x, mask & ones));
}

int ac_mx_do_concat(ac_mx_node *n)
{
    int32_t axis;
    ac_attr_skip(&n->attrs, "num_args");
    AC_TRY(ac_attr_axis(&n->attrs, A_dim, n->in[0]->rank, &axis));
    return ac_mx_result(n, 0, n->n_in == 1 ? n->in[0] : ac_make_concat(&n->b, n->in, n->n_in, axis));
}

int ac_mx_do_stack(ac_mx_node *n)
{
    int32_t axis;
    ac_tensor **x = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_in + 1);
    ac_attr_skip(&n->attrs, "num_args");
    AC_TRY(ac_attr_axis(&n->attrs, A_first_axis, n->in[0]->rank + 1, &axis));
    for (int32_t i = 0; i < n->n_in; i++)
        x[i] = insert(n, n->in[i], axis);
    return ac_mx_result(n, 0, n->n_in == 1 ? x[0] : ac_make_concat(&n->b, x, n->n_in, axis));
}

int ac_mx_do_split(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    const int64_t parts = ac_attr_int(&n->attrs, A_num_outputs);
    AC_TRY(ac_attr_axis(&n->attrs, A_second_axis, x->rank, &axis));
    const bool drop = ac_attr_bool(&n->attrs, A_squeeze_axis);
    if (x->dim[axis] % parts || (drop && x->dim[axis] != parts))
        return ac_bad(&n->b, "'%s' %s does not divide into %" PRId64 " parts along axis %d", x->name, SHAPE(x), parts,
                      axis);
    AC_TRY(results(n, (int32_t)parts));
    const int64_t size = x->dim[axis] / parts;
    for (int32_t i = 0; i < parts; i++) {
        ac_tensor *y = parts == 1 ? x : ac_make_slice(&n->b, x, axis, i * size, size);
        AC_TRY(ac_mx_result(n, i, drop ? ac_mx_squeeze(n, y, 1u << axis) : y));
    }
    return AC_OK;
}

/* begin:end:step along dimension d, as Python counts. */
static ac_tensor *range(ac_mx_node *n, ac_tensor *x, int32_t d, int64_t begin, int64_t end, int64_t step)
{
    ac_attrs a;
    int64_t from[AC_MAX_RANK] = {0}, to[AC_MAX_RANK], by[AC_MAX_RANK];
    if (!x)
        return NULL;
    const int64_t size = x->dim[d];
    step = step == AC_MX_NONE || !step ? 1 : step;
    begin = begin == AC_MX_NONE ? (step > 0 ? 0 : size - 1) : begin < 0 ? begin + size : begin;
    end = end == AC_MX_NONE ? (step > 0 ? size : -1) : end < 0 ? end + size : end;
    end = end > size ? size : end;
    if (begin < 0 || begin >= size || (step > 0 ? end <= begin : end >= begin)) {
        (void)ac_bad(&n->b, "'%s' %s has nothing from %" PRId64 " to %" PRId64, x->name, SHAPE(x), begin, end);
        return NULL;
    }
    if (step == 1)
        return end - begin == size ? x : ac_make_slice(&n->b, x, d, begin, end - begin);
    for (int32_t k = 0; k < x->rank; k++) {
        to[k] = x->dim[k];
        by[k] = 1;
    }
    from[d] = begin;
    to[d] = end;
    by[d] = step;
    ac_attrs_init(AC_OP_STRIDED_SLICE, &a);
    a.strided.begin = ac_make_list(&n->b, x->rank, from);
    a.strided.end = ac_make_list(&n->b, x->rank, to);
    a.strided.strides = ac_make_list(&n->b, x->rank, by);
    a.strided.end_mask = end < 0 ? 1 << d : 0;
    return ac_make_op(&n->b, AC_OP_STRIDED_SLICE, &x, 1, &a, AC_NONE);
}

int ac_mx_do_slice(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const ac_ints begin = ac_attr_ints(&n->attrs, A_begin), end = ac_attr_ints(&n->attrs, A_end),
                  step = ac_attr_ints(&n->attrs, A_slice_step);
    if (begin.n != end.n || begin.n > x->rank || (step.n && step.n != begin.n))
        return ac_bad(&n->b, "begin, end and step have %d, %d and %d numbers for '%s' %s", begin.n, end.n, step.n,
                      x->name, SHAPE(x));
    for (int32_t d = 0; d < begin.n && x; d++)
        x = range(n, x, d, begin.v[d], end.v[d], step.n ? step.v[d] : 1);
    return ac_mx_result(n, 0, x);
}

int ac_mx_do_slice_axis(ac_mx_node *n)
{
    int32_t axis;
    AC_TRY(ac_attr_axis(&n->attrs, A_first_axis, n->in[0]->rank, &axis));
    const int64_t begin = ac_attr_int(&n->attrs, A_axis_begin), end = ac_attr_int(&n->attrs, A_axis_end);
    return ac_mx_result(n, 0, range(n, n->in[0], axis, begin, end, 1));
}

int ac_mx_do_slice_like(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const ac_tensor *like = n->in[1];
    const ac_ints axes = ac_attr_ints(&n->attrs, A_axes);
    for (int32_t i = 0; i < (axes.n ? axes.n : x->rank) && x; i++) {
        int32_t d = i;
        if (axes.n)
            AC_TRY(ac_operand_axis(&n->b, axes.v[i], x->rank, &d));
        if (d >= like->rank)
            return ac_bad(&n->b, "'%s' %s has no dimension %d", like->name, SHAPE(like), d);
        x = range(n, x, d, 0, like->dim[d], 1);
    }
    return ac_mx_result(n, 0, x);
}

int ac_mx_do_tile(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const ac_ints reps = ac_attr_ints(&n->attrs, A_reps);
    int64_t times[AC_MAX_RANK];
    while (x && x->rank < reps.n)
        x = insert(n, x, 0);
    for (int32_t d = 0; x && d < x->rank; d++) {
        times[d] = d < x->rank - reps.n ? 1 : reps.v[d - (x->rank - reps.n)];
        if (times[d] < 1)
            return ac_bad(&n->b, "reps is %" PRId64, times[d]);
    }
    return x ? ac_mx_result(n, 0, ac_make_2(&n->b, AC_OP_TILE, x, ac_make_ints(&n->b, x->rank, times))) : AC_FAIL;
}

int ac_mx_do_repeat(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t dim[AC_MAX_RANK];
    int32_t axis = 0;
    const int64_t times = ac_attr_int(&n->attrs, A_repeats);
    if (ac_attr_has(&n->attrs, A_axis))
        AC_TRY(ac_attr_axis(&n->attrs, A_first_axis, x->rank, &axis));
    else
        x = ac_make_reshape(&n->b, x, 1, (int64_t[]){ac_tensor_count(x)});
    if (!x || x->rank >= AC_MAX_RANK)
        return AC_FAIL;
    memcpy(dim, x->dim, sizeof dim);
    if (!ac_mul_ok(dim[axis], times, &dim[axis]))
        return ac_bad(&n->b, "it repeats too often");
    ac_tensor *wide = insert(n, x, axis + 1);
    int64_t to[AC_MAX_RANK];
    if (!wide)
        return AC_FAIL;
    memcpy(to, wide->dim, sizeof to);
    to[axis + 1] = times;
    return ac_mx_result(n, 0, ac_make_reshape(&n->b, ac_make_broadcast(&n->b, wide, wide->rank, to), x->rank, dim));
}

int ac_mx_do_reverse(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    uint32_t mask;
    AC_TRY(ac_mx_axes(n, x->rank, &mask));
    for (int64_t d = 0; d < n->in[0]->rank; d++)
        if (mask >> d & 1)
            x = ac_make_2(&n->b, AC_OP_REVERSE_V2, x, ac_make_ints(&n->b, 1, &d));
    return ac_mx_result(n, 0, x);
}

int ac_mx_do_broadcast_to(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t dim[AC_MAX_RANK];
    const int32_t count = ac_attr_ints_to(&n->attrs, A_shape, dim);
    for (int32_t d = 0; d < count; d++)
        if (!dim[d] && d < x->rank)
            dim[d] = x->dim[d];
    return ac_mx_result(n, 0, ac_make_broadcast(&n->b, x, count, dim));
}

int ac_mx_do_broadcast_axis(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const ac_ints axes = ac_attr_ints(&n->attrs, A_axis_list), size = ac_attr_ints(&n->attrs, A_size);
    int64_t dim[AC_MAX_RANK];
    int32_t d;
    if (axes.n != size.n)
        return ac_bad(&n->b, "%d axes and %d sizes", axes.n, size.n);
    memcpy(dim, x->dim, sizeof dim);
    for (int32_t i = 0; i < axes.n; i++) {
        AC_TRY(ac_operand_axis(&n->b, axes.v[i], x->rank, &d));
        dim[d] = size.v[i];
    }
    return ac_mx_result(n, 0, ac_make_broadcast(&n->b, x, x->rank, dim));
}

int ac_mx_do_broadcast_like(ac_mx_node *n)
{
    const ac_tensor *like = n->in[1];
    if (ac_mx_attr(n, "lhs_axes") || ac_mx_attr(n, "rhs_axes"))
        return ac_cannot(&n->b, "it names axes");
    return ac_mx_result(n, 0, ac_make_broadcast(&n->b, n->in[0], like->rank, like->dim));
}
