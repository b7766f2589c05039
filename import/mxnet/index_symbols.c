/* index_symbols.c - operators of MXNet that read elements by index or by length, create constants, or reduce
 * dimensions. */
#include "import/mxnet/symbols.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define SHAPE(t) ac_shape_str(n->r->cx, t)

/* Indices that are floats are whole numbers. */
static ac_tensor *gather(ac_mx_node *n, ac_tensor *x, ac_tensor *at, int32_t axis)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = axis;
    ac_tensor *in[] = {x, ac_dtype_is_float(at->dtype) ? ac_make_cast(&n->b, at, AC_I32) : at};
    return x && in[1] ? ac_make_op(&n->b, AC_OP_GATHER, in, 2, &a, AC_NONE) : NULL;
}

/* Indices out of range become the nearest valid one (clip) or wrap around (wrap). */
static ac_tensor *inside(ac_mx_node *n, ac_tensor *at, int64_t size, bool wrap)
{
    ac_tensor *last = ac_make_number(&n->b, at->dtype, (double)(wrap ? size : size - 1));
    if (wrap)
        return ac_make_2(&n->b, AC_OP_FLOOR_MOD, at, last);
    return ac_make_2(&n->b, AC_OP_MINIMUM, ac_make_2(&n->b, AC_OP_MAXIMUM, at, ac_make_number(&n->b, at->dtype, 0)),
                     last);
}

int ac_mx_do_embedding(ac_mx_node *n)
{
    const int64_t dim[2] = {ac_attr_int(&n->attrs, A_input_dim), ac_attr_int(&n->attrs, A_output_dim)};
    (void)ac_attr_dtype(&n->attrs, A_dtype);
    ac_attr_skip(&n->attrs, "deterministic");
    ac_tensor *row = inside(n, n->in[0], dim[0], false);
    return ac_mx_result(n, 0, gather(n, ac_mx_param(n, 1, 2, dim), row, 0));
}

int ac_mx_do_take(ac_mx_node *n)
{
    const char *mode = ac_attr_text(&n->attrs, A_mode);
    int32_t axis;
    AC_TRY(ac_attr_axis(&n->attrs, A_first_axis, n->in[0]->rank, &axis));
    if (strcmp(mode, "clip") != 0 && strcmp(mode, "wrap") != 0)
        return ac_cannot(&n->b, "its mode is '%s'", mode);
    return ac_mx_result(n, 0, gather(n, n->in[0], inside(n, n->in[1], n->in[0]->dim[axis], *mode == 'w'), axis));
}

/* Indices are [M,..], one row for each dimension, from its end if they are negative; ours are the last dimension. */
int ac_mx_do_gather_nd(ac_mx_node *n)
{
    ac_tensor *x = n->in[0], *at = n->in[1];
    int32_t perm[AC_MAX_RANK];
    if (at->rank < 1 || at->dim[0] > x->rank)
        return ac_bad(&n->b, "indices '%s' %s do not fit '%s' %s", at->name, ac_shape_str(n->r->cx, at), x->name,
                      ac_shape_str(n->r->cx, x));
    for (int32_t d = 0; d < at->rank; d++)
        perm[d] = (d + 1) % at->rank;
    ac_tensor *size = ac_make_cast(&n->b, ac_make_ints(&n->b, at->dim[0], x->dim), AC_I32);
    at = ac_make_transpose(&n->b, ac_make_cast(&n->b, at, AC_I32), perm);
    return ac_mx_result(n, 0, ac_make_2(&n->b, AC_OP_GATHER_ND, x, ac_make_from_end(&n->b, at, size)));
}

int ac_mx_do_one_hot(ac_mx_node *n)
{
    ac_attrs a;
    const int64_t depth = ac_attr_int(&n->attrs, A_depth);
    const double on = ac_attr_float(&n->attrs, A_on_value), off = ac_attr_float(&n->attrs, A_off_value);
    const ac_dtype type = ac_attr_dtype(&n->attrs, A_dtype);
    ac_attrs_init(AC_OP_ONE_HOT, &a);
    a.axis.axis = -1;
    ac_tensor *in[] = {ac_make_cast(&n->b, n->in[0], AC_I32), ac_make_number(&n->b, AC_I32, (double)depth),
                       ac_make_number(&n->b, type, on), ac_make_number(&n->b, type, off)};
    return ac_mx_result(n, 0, in[0] ? ac_make_op(&n->b, AC_OP_ONE_HOT, in, 4, &a, AC_NONE) : NULL);
}

/* A dimension of 0 is the batch, which is that of the first input. */
int ac_mx_full_shape(ac_mx_node *n, int64_t dim[AC_MAX_RANK], int32_t *rank)
{
    *rank = ac_attr_ints_to(&n->attrs, A_shape, dim);
    for (int32_t d = 0; d < *rank; d++)
        if (dim[d] < 1)
            dim[d] = d == 0 && n->r->g->input.n && n->r->g->input.item[0]->rank ? n->r->g->input.item[0]->dim[0] : -1;
    for (int32_t d = 0; d < *rank; d++)
        if (dim[d] < 0 || dim[d] > INT32_MAX)
            return ac_bad(&n->b, "the size of dimension %d of its shape is unknown", d);
    return AC_OK;
}

int ac_mx_do_fill(ac_mx_node *n)
{
    int64_t dim[AC_MAX_RANK];
    int32_t rank;
    AC_TRY(ac_mx_full_shape(n, dim, &rank));
    const double value = ac_attr_float_or(&n->attrs, A_value, !strcmp(n->type, "_ones"));
    const ac_dtype type = ac_attr_dtype(&n->attrs, A_dtype);
    return ac_mx_result(n, 0, ac_make_broadcast(&n->b, ac_make_number(&n->b, type, value), rank, dim));
}

/* start, start + step, ..; each `repeat` times. */
static const float *numbers(ac_mx_node *n, int64_t count, double start, double step, int64_t repeat)
{
    float *v = AC_NEW_N(n->r->cx->region, float, count + 1);
    for (int64_t i = 0; i < count; i++)
        v[i] = (float)(start + step * (double)(i / repeat));
    return v;
}

int ac_mx_do_arange(ac_mx_node *n)
{
    const bool bounded = ac_attr_has(&n->attrs, A_stop);
    double start = ac_attr_float(&n->attrs, A_start);
    double stop = ac_attr_float(&n->attrs, A_stop);
    const double step = ac_attr_float(&n->attrs, A_step);
    const int64_t repeat = ac_attr_int(&n->attrs, A_repeat);
    const ac_dtype type = ac_attr_dtype(&n->attrs, A_dtype);
    ac_attr_skip(&n->attrs, "infer_range");
    if (!bounded) {
        stop = start;
        start = 0;
    }
    const double count = ceil((stop - start) / step);
    if (!(count >= 1 && count * (double)repeat <= 1 << 20) || type != AC_F32)
        return ac_cannot(&n->b, "it makes %g numbers", count);
    const int64_t all = (int64_t)count * repeat;
    return ac_mx_result(n, 0, ac_make_floats(&n->b, 1, &all, numbers(n, all, start, step, repeat)));
}

/* Numbers for the elements of dimension `axis` of x, or, without one, for all elements, in the shape of x. */
int ac_mx_do_arange_like(ac_mx_node *n)
{
    const ac_tensor *x = n->in[0];
    const bool along = ac_attr_has(&n->attrs, A_arange_axis);
    const double start = ac_attr_float(&n->attrs, A_start), step = ac_attr_float(&n->attrs, A_step);
    const int64_t repeat = ac_attr_int(&n->attrs, A_repeat);
    int32_t axis = 0;
    if (along)
        AC_TRY(ac_attr_axis(&n->attrs, A_arange_axis, x->rank, &axis));
    const int64_t all = along ? x->dim[axis] : ac_tensor_count(x);
    if (all > 1 << 20)
        return ac_cannot(&n->b, "it makes %" PRId64 " numbers", all);
    const float *v = numbers(n, all, start, step, repeat);
    ac_tensor *y = ac_make_floats(&n->b, along ? 1 : x->rank, along ? &all : x->dim, v);
    return ac_mx_result(n, 0, ac_make_cast(&n->b, y, x->dtype));
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
        return ac_bad(&n->b, "it does not have a length for each of %" PRId64 " items", batch);
    const ac_maker *b = &n->b;
    ac_tensor *length = ac_make_reshape(b, ac_make_cast(b, n->in[1], AC_I64), 2, column),
              *t = ac_make_ints(b, steps, each);
    ac_tensor *inside = ac_make_2(b, AC_OP_LESS, t, length); /* [N,T] */
    ac_tensor *last = ac_make_2(b, AC_OP_SUB, length, ac_make_number(b, AC_I64, 1)), *at = NULL;
    x = axis ? x : ac_make_transpose(b, x, swap);
    if (!x)
        return AC_FAIL;
    if (!strcmp(n->type, "SequenceMask")) {
        for (int32_t d = 0; d < x->rank; d++)
            dim[d] = d < 2 ? x->dim[d] : 1;
        ac_tensor *outside = ac_make_number(b, AC_F32, value);
        x = ac_make_select(b, ac_make_reshape(b, inside, x->rank, dim), x, outside);
        return ac_mx_result(n, 0, axis ? x : ac_make_transpose(b, x, swap));
    }
    if (!strcmp(n->type, "SequenceLast"))
        at = ac_make_2(b, AC_OP_MAXIMUM, last, ac_make_number(b, AC_I64, 0));
    else
        at = ac_make_select(b, inside, ac_make_2(b, AC_OP_SUB, last, t), t);
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = a.gather.batch_dims = 1;
    ac_tensor *in[] = {x, at}, *y = at ? ac_make_op(b, AC_OP_GATHER, in, 2, &a, AC_NONE) : NULL;
    if (!strcmp(n->type, "SequenceLast"))
        return ac_mx_result(n, 0, y ? ac_mx_squeeze(n, y, 2) : NULL);
    return ac_mx_result(n, 0, axis ? y : ac_make_transpose(b, y, swap));
}

/* Without lengths: the whole sequence. */
int ac_mx_do_sequence(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const bool lengths = ac_attr_bool(&n->attrs, A_use_sequence_length);
    int64_t axis = ac_attr_int(&n->attrs, A_time_axis);
    const double value = ac_attr_float(&n->attrs, A_value);
    if (x->rank < 2 || (!lengths && n->n_in != 1))
        return ac_cannot(&n->b, "it has lengths that do not count");
    if (lengths)
        return by_length(n, x, (int32_t)axis, value);
    if (!strcmp(n->type, "SequenceMask"))
        return ac_mx_result(n, 0, x);
    if (!strcmp(n->type, "SequenceReverse"))
        return ac_mx_result(n, 0, ac_make_2(&n->b, AC_OP_REVERSE_V2, x, ac_make_ints(&n->b, 1, &axis)));
    const int32_t d = (int32_t)axis;
    return ac_mx_result(n, 0, ac_mx_squeeze(n, ac_make_slice(&n->b, x, d, x->dim[d] - 1, 1), 1u << d));
}

/* Reductions. A result without dimensions is [1], as in MXNet before NumPy's shapes. */
static ac_tensor *reduced(ac_mx_node *n, ac_op op, ac_tensor *x, uint32_t mask, bool keep)
{
    ac_tensor *y = ac_make_reduce(&n->b, op, x, mask, keep);
    return y && !y->rank ? ac_make_reshape(&n->b, y, 1, (int64_t[]){1}) : y;
}

int ac_mx_do_reduce(ac_mx_node *n)
{
    uint32_t mask;
    AC_TRY(ac_mx_axes(n, n->in[0]->rank, &mask));
    const bool keep = ac_attr_bool(&n->attrs, A_keepdims);
    return ac_mx_result(n, 0, reduced(n, n->row->op, n->in[0], mask, keep));
}

int ac_mx_do_norm(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    uint32_t mask;
    AC_TRY(ac_mx_axes(n, x->rank, &mask));
    const bool keep = ac_attr_bool(&n->attrs, A_keepdims);
    const int64_t ord = ac_attr_int(&n->attrs, A_ord);
    x = reduced(n, AC_OP_SUM, ac_make_1(&n->b, ord == 1 ? AC_OP_ABS : AC_OP_SQUARE, x), mask, keep);
    return ac_mx_result(n, 0, ord == 1 ? x : ac_make_1(&n->b, AC_OP_SQRT, x));
}

/* The index of the maximum or minimum along an axis, in the operand's type; without an axis, of all elements. */
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
    ac_tensor *in[] = {x, ac_make_number(&n->b, AC_I32, axis)};
    ac_tensor *y = ac_make_cast(&n->b, ac_make_op(&n->b, n->row->op, in, 2, &a, AC_I32), x->dtype);
    return ac_mx_result(n, 0, ac_make_reshape(&n->b, y, rank, dim));
}

int ac_mx_do_arg(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    const bool given = ac_attr_has(&n->attrs, A_axis), keep = ac_attr_bool(&n->attrs, A_keepdims);
    if (!given || (n->r->version < 905 && ac_attr_int(&n->attrs, A_axis) == -1)) /* -1 once meant None */
        return arg(n, ac_make_reshape(&n->b, x, 1, (int64_t[]){ac_tensor_count(x)}), 0, false);
    AC_TRY(ac_attr_axis(&n->attrs, A_first_axis, x->rank, &axis));
    return arg(n, x, axis, keep);
}

int ac_mx_do_arg_channel(ac_mx_node *n)
{
    return n->in[0]->rank < 2 ? ac_bad(&n->b, "'%s' has no channels", n->in[0]->name) : arg(n, n->in[0], 1, false);
}
