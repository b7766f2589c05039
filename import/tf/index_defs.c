/* index_defs.c - operators of TensorFlow that take, place or find elements by index. */
#include "import/build/compose_bounded.h"
#include "import/build/counted.h"
#include "import/tf/nodedefs.h"
#include "ir/ops/shape/resolve.h"

#include <math.h>
#include <string.h>

#define RESULT(t) ac_tf_result(n, 0, t)

static int gather(ac_tf_op *n, int32_t axis, int32_t batch)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = axis;
    a.gather.batch_dims = batch;
    if (n->t[0]->count && n->t[0]->count_dim == axis && !batch)
        return RESULT(ac_make_counted_gather(&n->b, n->t[0], n->t[1]));
    return RESULT(ac_make_op(&n->b, AC_OP_GATHER, n->t, 2, &a, AC_NONE));
}

int ac_tf_do_gather(ac_tf_op *n)
{
    (void)ac_attr_bool(&n->attrs, A_validate_indices);
    return gather(n, 0, 0);
}

int ac_tf_do_gather_v2(ac_tf_op *n)
{
    int32_t axis;
    int64_t batch = ac_attr_int(&n->attrs, A_batch_dims);
    AC_TRY(ac_tf_axis(n, 2, n->t[0]->rank, &axis));
    batch += batch < 0 ? n->t[1]->rank : 0;
    if (batch < 0 || batch > axis)
        return ac_error(n->r->cx, n->b.at, E0103, "batch_dims is %lld, the axis %d", (long long)batch, axis);
    return gather(n, axis, (int32_t)batch);
}

int ac_tf_do_gather_nd(ac_tf_op *n)
{
    ac_attr_skip(&n->attrs, "bad_indices_policy");
    return RESULT(ac_make_2(&n->b, AC_OP_GATHER_ND, n->t[0], n->t[1]));
}

int ac_tf_do_one_hot(ac_tf_op *n)
{
    ac_attrs a;
    double depth;
    int32_t axis;
    AC_TRY(ac_operand_scalar(&n->b, &n->t[1], &depth));
    AC_TRY(ac_attr_axis(&n->attrs, A_one_hot_axis, n->t[0]->rank + 1, &axis));
    ac_attrs_init(AC_OP_ONE_HOT, &a);
    a.axis.axis = axis;
    for (int32_t i = 1; i < 4; i++)
        n->t[i] = ac_make_reshape(&n->b, n->t[i], 0, NULL);
    if (n->t[0]->dtype == AC_U8)
        n->t[0] = ac_make_cast(&n->b, n->t[0], AC_I32);
    return RESULT(ac_make_op(&n->b, AC_OP_ONE_HOT, n->t, 4, &a, AC_NONE));
}

int ac_tf_do_arg(ac_tf_op *n)
{
    ac_attrs a;
    int32_t axis = 0;
    AC_TRY(n->n_in > 1 ? ac_tf_axis(n, 1, n->t[0]->rank, &axis) : ac_operand_axis(&n->b, 0, n->t[0]->rank, &axis));
    ac_attrs_init(n->row->op, &a);
    a.arg.out_type = ac_attr_dtype(&n->attrs, A_output_type);
    if (a.arg.out_type != AC_I32 && a.arg.out_type != AC_I64)
        return ac_cannot(&n->b, "its output_type is %s", ac_dtype_name(a.arg.out_type));
    ac_tensor *x = n->t[0];
    x = x->dtype == AC_BOOL ? ac_make_cast(&n->b, x, AC_U8) : x;
    const int64_t where = axis;
    ac_tensor *in[] = {x, ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &where), 0, NULL)};
    return RESULT(ac_make_op(&n->b, n->row->op, in, 2, &a, a.arg.out_type));
}

int ac_tf_do_top_k(ac_tf_op *n)
{
    const int64_t k = ac_attr_int(&n->attrs, A_k);
    ac_tensor *out[2], *said = ac_make_ints(&n->b, 1, &k);
    (void)ac_attr_bool(&n->attrs, A_sorted); /* sorted is one of the orders that unsorted may have */
    ac_attr_skip(&n->attrs, "index_type");
    AC_TRY(ac_make_top_k(&n->b, n->t[0], n->n_in > 1 ? &n->t[1] : &said, out));
    AC_TRY(ac_tf_result(n, 0, out[0]));
    return ac_tf_result(n, 1, out[1]);
}

/* Scattering. The shape is a constant. */

static ac_tensor *scatter(ac_tf_op *n, ac_tensor *indices, ac_tensor *updates, int32_t rank, const int64_t *dim)
{
    ac_tensor *in[] = {indices, updates, ac_make_cast(&n->b, ac_make_ints(&n->b, rank, dim), indices->dtype)};
    return updates && in[2] ? ac_make_op(&n->b, AC_OP_SCATTER_ND, in, 3, NULL, AC_NONE) : NULL;
}

int ac_tf_do_scatter_nd(ac_tf_op *n)
{
    ac_ints shape;
    ac_attr_skip(&n->attrs, "bad_indices_policy");
    AC_TRY(ac_operand_values(&n->b, &n->t[2], &shape));
    if (shape.n > AC_MAX_RANK)
        return ac_cannot(&n->b, "the result has more than 8 dimensions");
    return RESULT(scatter(n, n->t[0], n->t[1], shape.n, shape.v));
}

/* Update: a scattered mask selects the new elements; Add and Sub: x plus or minus the scattered sums. */
int ac_tf_do_tensor_scatter(ac_tf_op *n)
{
    ac_tensor *x = n->t[0], *i = n->t[1], *u = n->t[2];
    ac_attr_skip(&n->attrs, "bad_indices_policy");
    ac_tensor *y = scatter(n, i, u, x->rank, x->dim);
    if (n->row->op != AC_OP_SELECT)
        return RESULT(ac_make_2(&n->b, n->row->op, x, y));
    ac_tensor *ones = ac_make_broadcast(&n->b, ac_make_number(&n->b, AC_F32, 1), u->rank, u->dim);
    ac_tensor *mask = scatter(n, i, ones, x->rank, x->dim);
    mask = mask ? ac_make_2(&n->b, AC_OP_NOT_EQUAL, mask, ac_make_number(&n->b, AC_F32, 0)) : NULL;
    return RESULT(ac_make_select(&n->b, mask, y, x));
}

int ac_tf_do_segment(ac_tf_op *n)
{
    int64_t count;
    if (n->n_in > 2) {
        AC_TRY(ac_operand_int(&n->b, &n->t[2], &count));
    } else { /* sorted ids: the last one is the highest */
        ac_ints ids;
        AC_TRY(ac_operand_values(&n->b, &n->t[1], &ids));
        count = ids.n ? ids.v[ids.n - 1] + 1 : 0;
        for (int32_t i = 1; i < ids.n; i++)
            if (ids.v[i] < ids.v[i - 1])
                return ac_error(n->r->cx, n->b.at, E0103, "the ids of segments are not sorted");
        if (n->row->op != AC_OP_UNSORTED_SEGMENT_SUM)
            return ac_cannot(&n->b, "what it gives for empty segments differs");
    }
    if (count < 0 || count > INT32_MAX)
        return ac_error(n->r->cx, n->b.at, E0103, "%lld segments", (long long)count);
    ac_tensor *in[] = {n->t[0], n->t[1],
                       ac_make_reshape(&n->b, ac_make_cast(&n->b, ac_make_ints(&n->b, 1, &count), AC_I32), 0, NULL)};
    return RESULT(ac_make_op(&n->b, n->row->op, in, 3, NULL, AC_NONE));
}

int ac_tf_do_reverse_sequence(ac_tf_op *n)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_REVERSE_SEQUENCE, &a);
    AC_TRY(ac_attr_axis(&n->attrs, A_seq_dim, n->t[0]->rank, &a.sequence.seq_axis));
    AC_TRY(ac_attr_axis(&n->attrs, A_batch_dim, n->t[0]->rank, &a.sequence.batch_axis));
    return RESULT(ac_make_op(&n->b, AC_OP_REVERSE_SEQUENCE, n->t, 2, &a, AC_NONE));
}

int ac_tf_do_nms_v4(ac_tf_op *n)
{
    if (!ac_attr_bool(&n->attrs, A_pad_to_max_output_size))
        return ac_cannot(&n->b, "pad_to_max_output_size is false, so the size of its result depends on the data");
    n->t[0] = ac_make_counted_fill(&n->b, n->t[0], 0);
    n->t[1] = ac_make_counted_neutral(&n->b, n->t[1], AC_OP_REDUCE_MAX); /* not above any score */
    for (int32_t i = 2; i < 5; i++)
        n->t[i] = ac_make_reshape(&n->b, n->t[i], 0, NULL);
    for (int32_t i = 0; i < 5; i++)
        if (!n->t[i])
            return AC_FAIL;
    ac_node *m = ac_make_node(&n->b, AC_OP_NON_MAX_SUPPRESSION_V4, n->t, 5, NULL, 2);
    AC_TRY(ac_make_resolve(&n->b, m));
    AC_TRY(ac_tf_result(n, 0, m->out[0]));
    return ac_tf_result(n, 1, m->out[1]);
}

/* The number of boundaries that are not above x, by binary search: they ascend, and infinity fills up the table. NaN is
 * above all of them. */
int ac_tf_do_bucketize(ac_tf_op *n)
{
    ac_tensor *x = n->t[0], *at = ac_make_number(&n->b, AC_I32, 0);
    int32_t count;
    int64_t size = 1;
    const double *v = ac_attr_floats(&n->attrs, A_boundaries, &count);
    const ac_dtype type = x->dtype == AC_F64 ? AC_F64 : AC_F32; /* TensorFlow compares integers as f32 */
    for (int32_t i = 1; i < count; i++)
        if (!(v[i - 1] <= v[i]))
            return ac_error(n->r->cx, n->b.at, E0103, "boundaries do not rise: %g comes before %g", v[i - 1], v[i]);
    while (size <= count)
        size *= 2;
    float *table = AC_NEW_N(n->r->cx->region, float, size);
    for (int64_t i = 0; i < size; i++)
        table[i] = i < count ? (float)v[i] : HUGE_VALF;
    ac_tensor *bounds = ac_make_cast(&n->b, ac_make_floats(&n->b, 1, &size, table), type);
    x = ac_make_cast(&n->b, x, type);
    at = x && at ? ac_make_broadcast(&n->b, at, x->rank, x->dim) : NULL;
    for (int64_t step = size / 2; step > 0 && at; step /= 2) {
        ac_tensor *next = ac_make_2(&n->b, AC_OP_ADD, at, ac_make_number(&n->b, AC_I32, (double)step));
        ac_tensor *last = ac_make_2(&n->b, AC_OP_SUB, next, ac_make_number(&n->b, AC_I32, 1));
        ac_tensor *below = ac_make_2(&n->b, AC_OP_LESS, x, ac_make_2(&n->b, AC_OP_GATHER, bounds, last));
        at = ac_make_select(&n->b, below, at, next);
    }
    return RESULT(ac_make_2(&n->b, AC_OP_MINIMUM, at, ac_make_number(&n->b, AC_I32, (double)count)));
}
