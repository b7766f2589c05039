/* shape_defs.c - operators of TensorFlow that make constants and shapes, and give elements another shape. */
#include "import/build/counted.h"
#include "import/build/bounds.h"
#include "import/build/compose_bounded.h"
#include "import/tf/nodedefs.h"

#include <inttypes.h>

#define RESULT(t) ac_tf_result(n, 0, t)

/* Numbers as a constant of another integer type. */
static ac_tensor *ints_of(ac_tf_op *n, ac_dtype type, int64_t count, const int64_t *v)
{
    return type == AC_NONE ? NULL : ac_make_cast(&n->b, ac_make_ints(&n->b, count, v), type);
}

/* Constants. */

int ac_tf_do_const(ac_tf_op *n)
{
    const ac_tf_attr *a = ac_tf_attr_of(n, "value");
    const char *refused;
    ac_attr_skip(&n->attrs, "dtype");
    if (!a || !a->tensor.p)
        return ac_error(n->r->cx, n->b.at, E0103, "the constant has no value");
    ac_tensor *t = ac_tf_tensor(n->r, a->tensor, n->node->name, n->b.at, &refused);
    return refused ? ac_cannot(&n->b, "%s", refused) : RESULT(t);
}

int ac_tf_do_fill(ac_tf_op *n)
{
    ac_late_sizes s;
    ac_attr_skip(&n->attrs, "index_type");
    AC_TRY(ac_late_sizes_of(&n->b, &n->t[0], n->node->name, &s));
    ac_tensor *in[] = {ac_make_ints(&n->b, s.n, s.dim), ac_make_reshape(&n->b, n->t[1], 0, NULL)};
    return RESULT(ac_bounded(&n->b, ac_make_op(&n->b, AC_OP_FILL, in, 2, NULL, AC_NONE), s.count, s.at));
}

int ac_tf_do_range(ac_tf_op *n)
{
    ac_tensor *y = NULL;
    for (int32_t i = 0; i < 3; i++)
        if (ac_tensor_count(n->t[i]) != 1)
            return ac_bad(&n->b, "'%s' is %s, expected one number", n->t[i]->name, ac_tensor_str(n->r->cx, n->t[i]));
    AC_TRY(ac_make_range(&n->b, n->t, n->node->name, &y));
    return RESULT(y);
}

int ac_tf_do_lin_space(ac_tf_op *n)
{
    enum { MOST = 1 << 20 };
    double v[3];
    for (int32_t i = 0; i < 3; i++)
        AC_TRY(ac_operand_scalar(&n->b, &n->t[i], &v[i]));
    if (!(v[2] >= 1 && v[2] <= MOST) || n->t[0]->dtype != AC_F32)
        return ac_cannot(&n->b, "it makes %g numbers of type %s", v[2], ac_dtype_name(n->t[0]->dtype));
    const int64_t count = (int64_t)v[2];
    float *out = AC_NEW_N(n->r->cx->region, float, count);
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)(count == 1 || i == 0 ? v[0]
                         : i == count - 1     ? v[1]
                                              : v[0] + (v[1] - v[0]) * (double)i / (double)(count - 1));
    return RESULT(ac_make_floats(&n->b, 1, &count, out));
}

/* Shapes as data. */

int ac_tf_do_shape(ac_tf_op *n)
{
    const ac_dtype type = ac_attr_dtype(&n->attrs, A_out_type);
    for (int32_t i = 0; i < n->n_in && i < n->n_out; i++)
        AC_TRY(ac_tf_result(
            n, i,
            type == AC_NONE ? NULL : ac_make_cast(&n->b, ac_make_extents(&n->b, n->t[i], 0, n->t[i]->rank), type)));
    return AC_OK;
}

int ac_tf_do_size(ac_tf_op *n)
{
    const ac_dtype type = ac_attr_dtype(&n->attrs, A_out_type);
    return RESULT(type == AC_NONE ? NULL : ac_make_cast(&n->b, ac_make_counted_size(&n->b, n->t[0]), type));
}

int ac_tf_do_rank(ac_tf_op *n)
{
    const int64_t rank = n->t[0]->rank;
    return RESULT(ac_make_reshape(&n->b, ints_of(n, AC_I32, 1, &rank), 0, NULL));
}

int ac_tf_do_broadcast_args(ac_tf_op *n)
{
    ac_ints x, y;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_operand_values(&n->b, &n->t[0], &x));
    AC_TRY(ac_operand_values(&n->b, &n->t[1], &y));
    const int32_t rank = x.n > y.n ? x.n : y.n;
    if (rank > AC_MAX_RANK)
        return ac_cannot(&n->b, "a shape has %d dimensions; arenac handles up to 8", rank);
    for (int32_t d = 0; d < rank; d++) {
        const int32_t i = d - (rank - x.n), k = d - (rank - y.n);
        const int64_t a = i < 0 ? 1 : x.v[i], b = k < 0 ? 1 : y.v[k];
        if (a != b && a != 1 && b != 1)
            return ac_error(n->r->cx, n->b.at, E0104, "the shapes do not fit at dimension %d", d);
        dim[d] = a == 1 ? b : a;
    }
    return RESULT(ints_of(n, n->t[0]->dtype, rank, dim));
}

int ac_tf_do_invert_permutation(ac_tf_op *n)
{
    ac_ints x;
    AC_TRY(ac_operand_values(&n->b, &n->t[0], &x));
    int64_t *out = AC_NEW_N(n->r->cx->region, int64_t, x.n + 1);
    bool *seen = AC_NEW_N(n->r->cx->region, bool, x.n + 1);
    for (int32_t i = 0; i < x.n; i++) {
        if (x.v[i] < 0 || x.v[i] >= x.n || seen[x.v[i]])
            return ac_error(n->r->cx, n->b.at, E0103, "'%s' is not a permutation", n->t[0]->name);
        seen[x.v[i]] = true;
        out[x.v[i]] = i;
    }
    return RESULT(ints_of(n, n->t[0]->dtype, x.n, out));
}

/* Where each part of a concatenation starts. */
int ac_tf_do_concat_offset(ac_tf_op *n)
{
    int64_t axis, at = 0;
    ac_attr_skip(&n->attrs, "shape_type");
    AC_TRY(ac_operand_int(&n->b, &n->t[0], &axis));
    for (int32_t i = 1; i < n->n_in; i++) {
        ac_ints shape;
        int64_t out[AC_MAX_RANK] = {0};
        AC_TRY(ac_operand_values(&n->b, &n->t[i], &shape));
        const int64_t d = axis < 0 ? axis + shape.n : axis;
        if (shape.n > AC_MAX_RANK || d < 0 || d >= shape.n)
            return ac_error(n->r->cx, n->b.at, E0103, "axis %" PRId64 " is out of range", axis);
        out[d] = at;
        at += shape.v[d];
        AC_TRY(ac_tf_result(n, i - 1, ints_of(n, n->t[i]->dtype, shape.n, out)));
    }
    return AC_OK;
}

/* The same elements in another shape. */

int ac_tf_do_reshape(ac_tf_op *n)
{
    ac_ints shape;
    ac_tensor *y;
    if (ac_is_count(&n->b, n->t[1]) || (n->t[0]->count && !ac_operand_known(&n->b, &n->t[1]))) {
        AC_TRY(ac_make_late_reshape(&n->b, n->t[0], &n->t[1], false, &y));
        return RESULT(y);
    }
    AC_TRY(ac_operand_values(&n->b, &n->t[1], &shape));
    if (shape.n > AC_MAX_RANK)
        return ac_cannot(&n->b, "the new shape has %d dimensions; arenac handles up to 8", shape.n);
    return RESULT(ac_make_reshape(&n->b, n->t[0], shape.n, shape.v));
}

int ac_tf_do_squeeze(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    ac_ints axes, older;
    uint32_t mask = 0;
    int64_t dim[AC_MAX_RANK];
    int32_t rank = 0;
    axes = ac_attr_ints(&n->attrs, A_squeeze_dims);
    older = ac_attr_ints(&n->attrs, A_squeeze_axis);
    axes = axes.n ? axes : older;
    for (int32_t i = 0; i < axes.n; i++) {
        int32_t d;
        AC_TRY(ac_operand_axis(&n->b, axes.v[i], x->rank, &d));
        if (x->dim[d] != 1)
            return ac_error(n->r->cx, n->b.at, E0104, "dimension %d of '%s' %s is not 1", d, x->name,
                            ac_shape_str(n->r->cx, x));
        mask |= 1u << d;
    }
    for (int32_t d = 0; d < x->rank; d++)
        if (axes.n ? !(mask >> d & 1) : x->dim[d] != 1)
            dim[rank++] = x->dim[d];
    return RESULT(ac_make_reshape(&n->b, x, rank, dim));
}

int ac_tf_do_expand_dims(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    int64_t dim[AC_MAX_RANK];
    int32_t axis;
    AC_TRY(ac_tf_axis(n, 1, x->rank + 1, &axis));
    if (x->rank == AC_MAX_RANK)
        return ac_cannot(&n->b, "the result has more than 8 dimensions");
    for (int32_t d = 0, from = 0; d <= x->rank; d++)
        dim[d] = d == axis ? 1 : x->dim[from++];
    return RESULT(ac_make_reshape(&n->b, x, x->rank + 1, dim));
}

int ac_tf_do_ensure_shape(ac_tf_op *n)
{
    const ac_tf_attr *a = ac_tf_attr_of(n, "shape");
    const ac_tensor *x = n->t[0];
    const char *refused;
    int32_t rank = -1;
    int64_t dim[AC_MAX_RANK];
    if (a && ac_tf_shape(&n->r->pb, a->shape, &rank, dim, &refused) != AC_OK)
        return refused ? ac_cannot(&n->b, "%s", refused) : AC_FAIL;
    bool fits = rank < 0 || rank == x->rank;
    for (int32_t d = 0; fits && d < rank; d++)
        fits = dim[d] < 0 || dim[d] == x->dim[d];
    if (!fits)
        return ac_error(n->r->cx, n->b.at, E0104, "'%s' is %s, which is not the shape it must have", x->name,
                        ac_shape_str(n->r->cx, x));
    return RESULT(n->t[0]);
}

int ac_tf_do_bitcast(ac_tf_op *n)
{
    const ac_dtype to = ac_attr_dtype(&n->attrs, A_type);
    if (to == AC_NONE)
        return AC_FAIL;
    return to == n->t[0]->dtype
               ? RESULT(n->t[0])
               : ac_cannot(&n->b, "it reads %s as %s", ac_dtype_name(n->t[0]->dtype), ac_dtype_name(to));
}
