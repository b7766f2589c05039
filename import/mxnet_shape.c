/* Operators of MXNet that move elements, make constants or reduce dimensions. */
#include "import/mxnet_ops.h"
#include "ir/ops/settle.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SHAPE(t) ac_shape_str(n->r->cx, t)

enum { NONE = INT32_MIN }; /* None inside of a tuple */

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
        return ac_mx_bad(n, "'%s' has no dimensions", x->name);
    for (int32_t d = 1; d < x->rank; d++)
        width *= x->dim[d];
    return ac_mx_result(n, 0, ac_build_reshape(&n->b, x, 2, (int64_t[]){x->dim[0], width}));
}

/* 0 keeps a dimension, -1 takes the rest, -2 keeps all that are left, -3 joins two, -4 splits one into the next two. */
static int reshape_dims(ac_mx_node *n, const ac_tensor *x, const int64_t *v, int32_t count, int64_t *dim, int32_t *rank)
{
    int32_t at = 0, open = -1;
    int64_t known = 1;
    *rank = 0;
    for (int32_t i = 0; i < count; i++) {
        int64_t put[AC_MAX_RANK];
        int32_t k = 1;
        if ((v[i] == 0 || v[i] == -4) && at >= x->rank)
            return ac_mx_bad(n, "shape asks for more dimensions than '%s' %s has", x->name, SHAPE(x));
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
                return ac_mx_bad(n, "shape splits %" PRId64 " into %" PRId64 " and %" PRId64, whole, put[0], put[1]);
            i += 2;
        } else {
            return ac_mx_bad(n, "shape holds %" PRId64 ", which means nothing there", v[i]);
        }
        if (*rank + k > AC_MAX_RANK)
            return ac_mx_cannot(n, "its result has more than 8 dimensions");
        for (int32_t e = 0; e < k; e++) {
            if (put[e] == -1 && open >= 0)
                return ac_mx_bad(n, "two dimensions of shape are -1");
            if (put[e] == -1)
                open = *rank;
            else if (!ac_mul_ok(known, put[e], &known))
                return ac_mx_bad(n, "shape has more than 2^63 elements");
            dim[(*rank)++] = put[e];
        }
    }
    const int64_t all = ac_tensor_count(x);
    if (open >= 0)
        dim[open] = known ? all / known : 0;
    if (open >= 0 ? !known || all % known : known != all)
        return ac_mx_bad(n, "'%s' %s does not fill the new shape", x->name, SHAPE(x));
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
    int32_t count, rank;
    bool reverse, keep;
    AC_TRY(ac_mx_ints(n, "shape", 3 * AC_MAX_RANK, 0, v, &count));
    if (!count)
        AC_TRY(ac_mx_ints(n, "target_shape", AC_MAX_RANK, 0, v, &count));
    else
        (void)ac_mx_attr(n, "target_shape");
    AC_TRY(ac_mx_bool(n, "reverse", false, &reverse));
    AC_TRY(ac_mx_bool(n, "keep_highest", false, &keep));
    if (keep && count)
        v[0] = 0;
    for (int32_t i = 0; reverse && i < count; i++)
        if (v[i] == -4)
            return ac_mx_cannot(n, "it splits dimensions from behind");
    if (reverse) {
        mirror(v, count);
        mirror(view.dim, view.rank);
    }
    AC_TRY(reshape_dims(n, &view, v, count, dim, &rank));
    if (reverse)
        mirror(dim, rank);
    return ac_mx_result(n, 0, ac_build_reshape(&n->b, x, rank, dim));
}

int ac_mx_do_reshape_like(ac_mx_node *n)
{
    const ac_tensor *like = n->in[1];
    if (ac_tensor_count(like) != ac_tensor_count(n->in[0]))
        return ac_mx_bad(n, "'%s' %s does not fill %s", n->in[0]->name, SHAPE(n->in[0]), SHAPE(like));
    return ac_mx_result(n, 0, ac_build_reshape(&n->b, n->in[0], like->rank, like->dim));
}

int ac_mx_do_transpose(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t v[AC_MAX_RANK];
    int32_t count, perm[AC_MAX_RANK];
    uint32_t seen = 0;
    AC_TRY(ac_mx_ints(n, "axes", AC_MAX_RANK, 0, v, &count));
    if (count && count != x->rank)
        return ac_mx_bad(n, "%d axes for '%s' %s", count, x->name, SHAPE(x));
    for (int32_t d = 0; d < x->rank; d++) {
        perm[d] = x->rank - 1 - d;
        if (count)
            AC_TRY(ac_build_axis(&n->b, v[d], x->rank, &perm[d]));
        if (seen >> perm[d] & 1)
            return ac_mx_bad(n, "axes names dimension %d twice", perm[d]);
        seen |= 1u << perm[d];
    }
    return ac_mx_result(n, 0, ac_build_transpose(&n->b, x, perm));
}

int ac_mx_do_swap(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t a, b, perm[AC_MAX_RANK];
    AC_TRY(ac_mx_axis(n, "dim1", 0, x->rank, &a));
    AC_TRY(ac_mx_axis(n, "dim2", 0, x->rank, &b));
    for (int32_t d = 0; d < x->rank; d++)
        perm[d] = d == a ? b : d == b ? a : d;
    return ac_mx_result(n, 0, ac_build_transpose(&n->b, x, perm));
}

static ac_tensor *insert(ac_mx_node *n, ac_tensor *x, int32_t axis)
{
    int64_t dim[AC_MAX_RANK + 1];
    if (!x || x->rank >= AC_MAX_RANK)
        return NULL;
    for (int32_t d = 0; d <= x->rank; d++)
        dim[d] = d < axis ? x->dim[d] : d == axis ? 1 : x->dim[d - 1];
    return ac_build_reshape(&n->b, x, x->rank + 1, dim);
}

int ac_mx_do_expand(ac_mx_node *n)
{
    int32_t axis;
    AC_TRY(ac_mx_axis(n, "axis", 0, n->in[0]->rank + 1, &axis));
    return ac_mx_result(n, 0, insert(n, n->in[0], axis));
}

static ac_tensor *squeeze(ac_mx_node *n, ac_tensor *x, uint32_t mask)
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
    return ac_build_reshape(&n->b, x, rank, dim);
}

int ac_mx_do_squeeze(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    uint32_t mask, ones = 0;
    AC_TRY(ac_mx_axes(n, x->rank, &mask));
    for (int32_t d = 0; d < x->rank; d++)
        ones |= x->dim[d] == 1 ? 1u << d : 0;
    if (ac_mx_attr(n, "axis") && mask & ~ones)
        return ac_mx_bad(n, "'%s' %s has other sizes than 1 there", x->name, SHAPE(x));
    return ac_mx_result(n, 0, squeeze(n, x, mask & ones));
}

int ac_mx_do_concat(ac_mx_node *n)
{
    int32_t axis;
    (void)ac_mx_str(n, "num_args", NULL);
    AC_TRY(ac_mx_axis(n, "dim", 1, n->in[0]->rank, &axis));
    return ac_mx_result(n, 0, n->n_in == 1 ? n->in[0] : ac_build_concat(&n->b, n->in, n->n_in, axis));
}

int ac_mx_do_stack(ac_mx_node *n)
{
    int32_t axis;
    ac_tensor **x = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_in + 1);
    (void)ac_mx_str(n, "num_args", NULL);
    AC_TRY(ac_mx_axis(n, "axis", 0, n->in[0]->rank + 1, &axis));
    for (int32_t i = 0; i < n->n_in; i++)
        x[i] = insert(n, n->in[i], axis);
    return ac_mx_result(n, 0, n->n_in == 1 ? x[0] : ac_build_concat(&n->b, x, n->n_in, axis));
}

int ac_mx_do_split(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t parts;
    int32_t axis;
    bool drop;
    AC_TRY(ac_mx_int(n, "num_outputs", 0, 1, 4096, &parts));
    AC_TRY(ac_mx_axis(n, "axis", 1, x->rank, &axis));
    AC_TRY(ac_mx_bool(n, "squeeze_axis", false, &drop));
    if (x->dim[axis] % parts || (drop && x->dim[axis] != parts))
        return ac_mx_bad(n, "'%s' %s does not divide into %" PRId64 " parts along axis %d", x->name, SHAPE(x), parts,
                         axis);
    AC_TRY(results(n, (int32_t)parts));
    const int64_t size = x->dim[axis] / parts;
    for (int32_t i = 0; i < parts; i++) {
        ac_tensor *y = parts == 1 ? x : ac_build_slice(&n->b, x, axis, i * size, size);
        AC_TRY(ac_mx_result(n, i, drop ? squeeze(n, y, 1u << axis) : y));
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
    step = step == NONE || !step ? 1 : step;
    begin = begin == NONE ? (step > 0 ? 0 : size - 1) : begin < 0 ? begin + size : begin;
    end = end == NONE ? (step > 0 ? size : -1) : end < 0 ? end + size : end;
    end = end > size ? size : end;
    if (begin < 0 || begin >= size || (step > 0 ? end <= begin : end >= begin)) {
        (void)ac_mx_bad(n, "'%s' %s has nothing from %" PRId64 " to %" PRId64, x->name, SHAPE(x), begin, end);
        return NULL;
    }
    if (step == 1)
        return end - begin == size ? x : ac_build_slice(&n->b, x, d, begin, end - begin);
    for (int32_t k = 0; k < x->rank; k++) {
        to[k] = x->dim[k];
        by[k] = 1;
    }
    from[d] = begin;
    to[d] = end;
    by[d] = step;
    ac_attrs_init(AC_OP_STRIDED_SLICE, &a);
    a.strided.begin = ac_build_list(&n->b, x->rank, from);
    a.strided.end = ac_build_list(&n->b, x->rank, to);
    a.strided.strides = ac_build_list(&n->b, x->rank, by);
    a.strided.end_mask = end < 0 ? 1 << d : 0;
    return ac_build_op(&n->b, AC_OP_STRIDED_SLICE, &x, 1, &a, AC_NONE);
}

int ac_mx_do_slice(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t begin[AC_MAX_RANK], end[AC_MAX_RANK], step[AC_MAX_RANK];
    int32_t n_begin, n_end, n_step;
    AC_TRY(ac_mx_ints(n, "begin", AC_MAX_RANK, NONE, begin, &n_begin));
    AC_TRY(ac_mx_ints(n, "end", AC_MAX_RANK, NONE, end, &n_end));
    AC_TRY(ac_mx_ints(n, "step", AC_MAX_RANK, NONE, step, &n_step));
    if (n_begin != n_end || n_begin > x->rank || (n_step && n_step != n_begin))
        return ac_mx_bad(n, "begin, end and step have %d, %d and %d numbers for '%s' %s", n_begin, n_end, n_step,
                         x->name, SHAPE(x));
    for (int32_t d = 0; d < n_begin && x; d++)
        x = range(n, x, d, begin[d], end[d], n_step ? step[d] : 1);
    return ac_mx_result(n, 0, x);
}

int ac_mx_do_slice_axis(ac_mx_node *n)
{
    int32_t axis;
    int64_t begin, end;
    AC_TRY(ac_mx_axis(n, "axis", 0, n->in[0]->rank, &axis));
    AC_TRY(ac_mx_int(n, "begin", 0, INT32_MIN, INT32_MAX, &begin));
    AC_TRY(ac_mx_int(n, "end", NONE, INT32_MIN, INT32_MAX, &end));
    return ac_mx_result(n, 0, range(n, n->in[0], axis, begin, end, 1));
}

int ac_mx_do_slice_like(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const ac_tensor *like = n->in[1];
    int64_t v[AC_MAX_RANK];
    int32_t count, d;
    AC_TRY(ac_mx_ints(n, "axes", AC_MAX_RANK, 0, v, &count));
    for (int32_t i = 0; i < (count ? count : x->rank) && x; i++) {
        d = i;
        if (count)
            AC_TRY(ac_build_axis(&n->b, v[i], x->rank, &d));
        if (d >= like->rank)
            return ac_mx_bad(n, "'%s' %s has no dimension %d", like->name, SHAPE(like), d);
        x = range(n, x, d, 0, like->dim[d], 1);
    }
    return ac_mx_result(n, 0, x);
}

int ac_mx_do_tile(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t reps[AC_MAX_RANK], times[AC_MAX_RANK];
    int32_t count;
    AC_TRY(ac_mx_ints(n, "reps", AC_MAX_RANK, 0, reps, &count));
    while (x && x->rank < count)
        x = insert(n, x, 0);
    for (int32_t d = 0; x && d < x->rank; d++) {
        times[d] = d < x->rank - count ? 1 : reps[d - (x->rank - count)];
        if (times[d] < 1)
            return ac_mx_bad(n, "reps is %" PRId64, times[d]);
    }
    return x ? ac_mx_result(n, 0, ac_build_2(&n->b, AC_OP_TILE, x, ac_build_ints(&n->b, x->rank, times))) : AC_FAIL;
}

int ac_mx_do_repeat(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t times, dim[AC_MAX_RANK];
    int32_t axis = 0;
    AC_TRY(ac_mx_int(n, "repeats", 0, 1, INT32_MAX, &times));
    if (ac_mx_attr(n, "axis"))
        AC_TRY(ac_mx_axis(n, "axis", 0, x->rank, &axis));
    else
        x = ac_build_reshape(&n->b, x, 1, (int64_t[]){ac_tensor_count(x)});
    if (!x || x->rank >= AC_MAX_RANK)
        return AC_FAIL;
    memcpy(dim, x->dim, sizeof dim);
    if (!ac_mul_ok(dim[axis], times, &dim[axis]))
        return ac_mx_bad(n, "it repeats too often");
    ac_tensor *wide = insert(n, x, axis + 1);
    int64_t to[AC_MAX_RANK];
    if (!wide)
        return AC_FAIL;
    memcpy(to, wide->dim, sizeof to);
    to[axis + 1] = times;
    return ac_mx_result(n, 0, ac_build_reshape(&n->b, ac_build_broadcast(&n->b, wide, wide->rank, to), x->rank, dim));
}

int ac_mx_do_reverse(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    uint32_t mask;
    AC_TRY(ac_mx_axes(n, x->rank, &mask));
    for (int64_t d = 0; d < n->in[0]->rank; d++)
        if (mask >> d & 1)
            x = ac_build_2(&n->b, AC_OP_REVERSE_V2, x, ac_build_ints(&n->b, 1, &d));
    return ac_mx_result(n, 0, x);
}

int ac_mx_do_broadcast_to(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t dim[AC_MAX_RANK];
    int32_t count;
    AC_TRY(ac_mx_ints(n, "shape", AC_MAX_RANK, 0, dim, &count));
    for (int32_t d = 0; d < count; d++)
        if (!dim[d] && d < x->rank)
            dim[d] = x->dim[d];
    return ac_mx_result(n, 0, ac_build_broadcast(&n->b, x, count, dim));
}

int ac_mx_do_broadcast_axis(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t axis[AC_MAX_RANK], size[AC_MAX_RANK], dim[AC_MAX_RANK];
    int32_t n_axis, n_size, d;
    AC_TRY(ac_mx_ints(n, "axis", AC_MAX_RANK, 0, axis, &n_axis));
    AC_TRY(ac_mx_ints(n, "size", AC_MAX_RANK, 0, size, &n_size));
    if (n_axis != n_size)
        return ac_mx_bad(n, "%d axes and %d sizes", n_axis, n_size);
    memcpy(dim, x->dim, sizeof dim);
    for (int32_t i = 0; i < n_axis; i++) {
        AC_TRY(ac_build_axis(&n->b, axis[i], x->rank, &d));
        dim[d] = size[i];
    }
    return ac_mx_result(n, 0, ac_build_broadcast(&n->b, x, x->rank, dim));
}

int ac_mx_do_broadcast_like(ac_mx_node *n)
{
    const ac_tensor *like = n->in[1];
    if (ac_mx_attr(n, "lhs_axes") || ac_mx_attr(n, "rhs_axes"))
        return ac_mx_cannot(n, "it names axes");
    return ac_mx_result(n, 0, ac_build_broadcast(&n->b, n->in[0], like->rank, like->dim));
}

/* Indices that are floats are whole numbers. */
static ac_tensor *gather(ac_mx_node *n, ac_tensor *x, ac_tensor *at, int32_t axis)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = axis;
    ac_tensor *in[] = {x, ac_dtype_is_float(at->dtype) ? ac_build_cast(&n->b, at, AC_I32) : at};
    return x && in[1] ? ac_build_op(&n->b, AC_OP_GATHER, in, 2, &a, AC_NONE) : NULL;
}

/* Indices outside are taken as the nearest inside (clip) or counted round (wrap). */
static ac_tensor *inside(ac_mx_node *n, ac_tensor *at, int64_t size, bool wrap)
{
    ac_tensor *last = ac_build_number(&n->b, at->dtype, (double)(wrap ? size : size - 1));
    if (wrap)
        return ac_build_2(&n->b, AC_OP_FLOOR_MOD, at, last);
    return ac_build_2(&n->b, AC_OP_MINIMUM, ac_build_2(&n->b, AC_OP_MAXIMUM, at, ac_build_number(&n->b, at->dtype, 0)),
                      last);
}

int ac_mx_do_embedding(ac_mx_node *n)
{
    int64_t dim[2];
    ac_dtype type;
    AC_TRY(ac_mx_int(n, "input_dim", 0, 1, INT32_MAX, &dim[0]));
    AC_TRY(ac_mx_int(n, "output_dim", 0, 1, INT32_MAX, &dim[1]));
    AC_TRY(ac_mx_dtype(n, "dtype", AC_F32, &type));
    (void)ac_mx_str(n, "deterministic", NULL);
    return ac_mx_result(n, 0, gather(n, ac_mx_param(n, 1, 2, dim), inside(n, n->in[0], dim[0], false), 0));
}

int ac_mx_do_take(ac_mx_node *n)
{
    const char *mode = ac_mx_str(n, "mode", "clip");
    int32_t axis;
    AC_TRY(ac_mx_axis(n, "axis", 0, n->in[0]->rank, &axis));
    if (strcmp(mode, "clip") != 0 && strcmp(mode, "wrap") != 0)
        return ac_mx_cannot(n, "its mode is '%s'", mode);
    return ac_mx_result(n, 0, gather(n, n->in[0], inside(n, n->in[1], n->in[0]->dim[axis], *mode == 'w'), axis));
}

/* Indices stand as [M,..], one row for each dimension; ours stand last. */
int ac_mx_do_gather_nd(ac_mx_node *n)
{
    ac_tensor *at = n->in[1];
    int32_t perm[AC_MAX_RANK];
    for (int32_t d = 0; d < at->rank; d++)
        perm[d] = (d + 1) % at->rank;
    at = ac_build_transpose(&n->b, ac_build_cast(&n->b, at, AC_I32), perm);
    return ac_mx_result(n, 0, ac_build_2(&n->b, AC_OP_GATHER_ND, n->in[0], at));
}

int ac_mx_do_one_hot(ac_mx_node *n)
{
    int64_t depth;
    double on, off;
    ac_dtype type;
    ac_attrs a;
    AC_TRY(ac_mx_int(n, "depth", 0, 1, INT32_MAX, &depth));
    AC_TRY(ac_mx_float(n, "on_value", 1, &on));
    AC_TRY(ac_mx_float(n, "off_value", 0, &off));
    AC_TRY(ac_mx_dtype(n, "dtype", AC_F32, &type));
    ac_attrs_init(AC_OP_ONE_HOT, &a);
    a.axis.axis = -1;
    ac_tensor *in[] = {ac_build_cast(&n->b, n->in[0], AC_I32), ac_build_number(&n->b, AC_I32, (double)depth),
                       ac_build_number(&n->b, type, on), ac_build_number(&n->b, type, off)};
    return ac_mx_result(n, 0, in[0] ? ac_build_op(&n->b, AC_OP_ONE_HOT, in, 4, &a, AC_NONE) : NULL);
}

/* A dimension of 0 is the batch, which is that of the first input. */
int ac_mx_do_fill(ac_mx_node *n)
{
    int64_t dim[AC_MAX_RANK];
    int32_t rank;
    double value;
    ac_dtype type;
    AC_TRY(ac_mx_ints(n, "shape", AC_MAX_RANK, 0, dim, &rank));
    AC_TRY(ac_mx_float(n, "value", !strcmp(n->type, "_ones"), &value));
    AC_TRY(ac_mx_dtype(n, "dtype", AC_F32, &type));
    for (int32_t d = 0; d < rank; d++)
        if (dim[d] < 1)
            dim[d] = d == 0 && n->r->g->input.n && n->r->g->input.item[0]->rank ? n->r->g->input.item[0]->dim[0] : -1;
    for (int32_t d = 0; d < rank; d++)
        if (dim[d] < 0 || dim[d] > INT32_MAX)
            return ac_mx_bad(n, "dimension %d of its shape is open", d);
    return ac_mx_result(n, 0, ac_build_broadcast(&n->b, ac_build_number(&n->b, type, value), rank, dim));
}

int ac_mx_do_arange(ac_mx_node *n)
{
    double start, stop, step;
    int64_t repeat;
    ac_dtype type;
    const bool bounded = ac_mx_attr(n, "stop") != NULL;
    AC_TRY(ac_mx_float(n, "start", 0, &start));
    AC_TRY(ac_mx_float(n, "stop", 0, &stop));
    AC_TRY(ac_mx_float(n, "step", 1, &step));
    AC_TRY(ac_mx_int(n, "repeat", 1, 1, 1 << 20, &repeat));
    AC_TRY(ac_mx_dtype(n, "dtype", AC_F32, &type));
    (void)ac_mx_str(n, "infer_range", NULL);
    if (!bounded) {
        stop = start;
        start = 0;
    }
    const double count = ceil((stop - start) / step);
    if (!(count >= 1 && count * (double)repeat <= 1 << 20) || type != AC_F32)
        return ac_mx_cannot(n, "it makes %g numbers", count);
    const int64_t all = (int64_t)count * repeat;
    float *v = AC_NEW_N(n->r->cx->region, float, all);
    for (int64_t i = 0; i < all; i++)
        v[i] = (float)(start + step * (double)(i / repeat));
    return ac_mx_result(n, 0, ac_build_floats(&n->b, 1, &all, v));
}

/* With a length for each item of the batch: x [T,N,..], or [N,T,..] with `axis` 1. */
static int by_length(ac_mx_node *n, ac_tensor *x, int32_t axis, double value)
{
    const int32_t swap[AC_MAX_RANK] = {1, 0, 2, 3, 4, 5, 6, 7};
    const int64_t steps = x->dim[axis], batch = x->dim[1 - axis], column[2] = {batch, 1};
    int64_t *each = AC_NEW_N(n->r->cx->region, int64_t, steps + 1), dim[AC_MAX_RANK];
    ac_attrs a;
    for (int64_t t = 0; t < steps; t++)
        each[t] = t;
    if (n->n_in < 2 || ac_tensor_count(n->in[1]) != batch || !steps)
        return ac_mx_bad(n, "it has not a length for each of %" PRId64 " items", batch);
    const ac_build *b = &n->b;
    ac_tensor *length = ac_build_reshape(b, ac_build_cast(b, n->in[1], AC_I64), 2, column),
              *t = ac_build_ints(b, steps, each);
    ac_tensor *inside = ac_build_2(b, AC_OP_LESS, t, length); /* [N,T] */
    ac_tensor *last = ac_build_2(b, AC_OP_SUB, length, ac_build_number(b, AC_I64, 1)), *at = NULL;
    x = axis ? x : ac_build_transpose(b, x, swap);
    if (!x)
        return AC_FAIL;
    if (!strcmp(n->type, "SequenceMask")) {
        for (int32_t d = 0; d < x->rank; d++)
            dim[d] = d < 2 ? x->dim[d] : 1;
        x = ac_build_select(b, ac_build_reshape(b, inside, x->rank, dim), x, ac_build_number(b, AC_F32, value));
        return ac_mx_result(n, 0, axis ? x : ac_build_transpose(b, x, swap));
    }
    if (!strcmp(n->type, "SequenceLast"))
        at = ac_build_2(b, AC_OP_MAXIMUM, last, ac_build_number(b, AC_I64, 0));
    else
        at = ac_build_select(b, inside, ac_build_2(b, AC_OP_SUB, last, t), t);
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = a.gather.batch_dims = 1;
    ac_tensor *in[] = {x, at}, *y = at ? ac_build_op(b, AC_OP_GATHER, in, 2, &a, AC_NONE) : NULL;
    if (!strcmp(n->type, "SequenceLast"))
        return ac_mx_result(n, 0, y ? squeeze(n, y, 2) : NULL);
    return ac_mx_result(n, 0, axis ? y : ac_build_transpose(b, y, swap));
}

/* Without lengths: the whole sequence. */
int ac_mx_do_sequence(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    bool lengths;
    int64_t axis;
    double value;
    AC_TRY(ac_mx_bool(n, "use_sequence_length", false, &lengths));
    AC_TRY(ac_mx_int(n, "axis", 0, 0, 1, &axis));
    AC_TRY(ac_mx_float(n, "value", 0, &value));
    if (x->rank < 2 || (!lengths && n->n_in != 1))
        return ac_mx_cannot(n, "it has lengths that do not count");
    if (lengths)
        return by_length(n, x, (int32_t)axis, value);
    if (!strcmp(n->type, "SequenceMask"))
        return ac_mx_result(n, 0, x);
    if (!strcmp(n->type, "SequenceReverse"))
        return ac_mx_result(n, 0, ac_build_2(&n->b, AC_OP_REVERSE_V2, x, ac_build_ints(&n->b, 1, &axis)));
    const int32_t d = (int32_t)axis;
    return ac_mx_result(n, 0, squeeze(n, ac_build_slice(&n->b, x, d, x->dim[d] - 1, 1), 1u << d));
}

/* Reductions. What is left without dimensions is [1], as MXNet had it before NumPy's shapes. */
static ac_tensor *reduced(ac_mx_node *n, ac_op op, ac_tensor *x, uint32_t mask, bool keep)
{
    ac_tensor *y = ac_build_reduce(&n->b, op, x, mask, keep);
    return y && !y->rank ? ac_build_reshape(&n->b, y, 1, (int64_t[]){1}) : y;
}

int ac_mx_do_reduce(ac_mx_node *n)
{
    uint32_t mask;
    bool keep;
    AC_TRY(ac_mx_axes(n, n->in[0]->rank, &mask));
    AC_TRY(ac_mx_bool(n, "keepdims", false, &keep));
    return ac_mx_result(n, 0, reduced(n, n->row->op, n->in[0], mask, keep));
}

int ac_mx_do_norm(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    uint32_t mask;
    bool keep;
    int64_t ord;
    AC_TRY(ac_mx_axes(n, x->rank, &mask));
    AC_TRY(ac_mx_bool(n, "keepdims", false, &keep));
    AC_TRY(ac_mx_int(n, "ord", 2, 1, 2, &ord));
    x = reduced(n, AC_OP_SUM, ac_build_1(&n->b, ord == 1 ? AC_OP_ABS : AC_OP_SQUARE, x), mask, keep);
    return ac_mx_result(n, 0, ord == 1 ? x : ac_build_1(&n->b, AC_OP_SQRT, x));
}

/* The place of the greatest or least along an axis, as a float; without one, of all elements. */
static int arg(ac_mx_node *n, ac_tensor *x, int32_t axis, bool keep)
{
    ac_attrs a;
    int64_t dim[AC_MAX_RANK];
    int32_t rank = 0;
    if (!x || !x->dim[axis])
        return AC_FAIL;
    for (int32_t d = 0; d < x->rank; d++)
        if (d != axis || keep)
            dim[rank++] = d == axis ? 1 : x->dim[d];
    if (!rank)
        dim[rank++] = 1;
    ac_attrs_init(n->row->op, &a);
    a.arg.out_type = AC_I32;
    ac_tensor *in[] = {x, ac_build_number(&n->b, AC_I32, axis)};
    ac_tensor *y = ac_build_cast(&n->b, ac_build_op(&n->b, n->row->op, in, 2, &a, AC_I32), AC_F32);
    return ac_mx_result(n, 0, ac_build_reshape(&n->b, y, rank, dim));
}

int ac_mx_do_arg(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    bool keep;
    int32_t axis;
    const char *given = ac_mx_attr(n, "axis");
    AC_TRY(ac_mx_bool(n, "keepdims", false, &keep));
    if (!given || (n->r->version < 905 && !strcmp(given, "-1"))) /* -1 once meant None */
        return arg(n, ac_build_reshape(&n->b, x, 1, (int64_t[]){ac_tensor_count(x)}), 0, false);
    AC_TRY(ac_mx_axis(n, "axis", 0, x->rank, &axis));
    return arg(n, x, axis, keep);
}

int ac_mx_do_arg_channel(ac_mx_node *n)
{
    return n->in[0]->rank < 2 ? ac_mx_bad(n, "'%s' has no channels", n->in[0]->name) : arg(n, n->in[0], 1, false);
}
