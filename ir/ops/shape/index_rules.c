/* index_rules.c - shape rules of operators that take parts by index, and of those that create tensors from numbers:
 * slices, gather, fill, range, one_hot, shape, rank. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

#include <math.h>

int ac_sh_slice(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_slice s;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_slice_of(cx, n, &s));
    return ac_shape_set_like(cx, n, 0, n->in[0], s.out_rank, s.out_dim);
}

int ac_sh_strided(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_slice s;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_strided_slice_of(cx, n, &s));
    return ac_shape_set_like(cx, n, 0, n->in[0], s.out_rank, s.out_dim);
}

/* x[.., axis, ..] by indices: x's dimensions before the axis, the indices' dimensions after the batch, x's after the
 * axis. */
int ac_sh_gather(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_index(cx, n, 1));
    const ac_tensor *x = n->in[0], *index = n->in[1];
    int32_t axis, batch, rank = 0;
    AC_TRY(ac_gather_of(cx, n, &axis, &batch));
    int64_t dim[3 * AC_MAX_RANK];
    for (int32_t d = 0; d < axis; d++)
        dim[rank++] = x->dim[d];
    for (int32_t d = batch; d < index->rank; d++)
        dim[rank++] = index->dim[d];
    for (int32_t d = axis + 1; d < x->rank; d++)
        dim[rank++] = x->dim[d];
    return ac_shape_set_like(cx, n, 0, x, rank, dim);
}

/* indices [..,K]: each K-tuple names a block of x: the leading dimensions of the indices, then x's after the first K.
 */
int ac_sh_gather_nd(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_index(cx, n, 1));
    const ac_tensor *x = n->in[0], *index = n->in[1];
    const int64_t k = index->rank ? index->dim[index->rank - 1] : -1;
    if (k < 0 || k > x->rank) {
        ac_error(cx, n->at, E0104, "the last dimension of indices '%s' %s must name at most the %d dimensions of '%s'",
                 index->name, ac_shape_str(cx, index), x->rank, x->name);
        return ac_shape_show(cx, n);
    }
    int64_t dim[2 * AC_MAX_RANK];
    int32_t rank = 0;
    for (int32_t d = 0; d < index->rank - 1; d++)
        dim[rank++] = index->dim[d];
    for (int32_t d = (int32_t)k; d < x->rank; d++)
        dim[rank++] = x->dim[d];
    return ac_shape_set_like(cx, n, 0, x, rank, dim);
}

static int one_element(ac_ctx *cx, const ac_node *n, int32_t i)
{
    const ac_tensor *t = n->in[i];
    if (ac_tensor_count(t) == 1)
        return AC_OK;
    return ac_error(cx, n->at, E0104, "operand '%s' is %s, expected one element", t->name, ac_shape_str(cx, t));
}

int ac_sh_fill(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(one_element(cx, n, 1));
    ac_ints want;
    AC_TRY(ac_shape_new_shape(cx, n, 0, (ac_ints){0}, &want));
    return ac_shape_set_like(cx, n, 0, n->in[1], want.n, want.v);
}

/* The shape of the operand, as one dimension of i32 or i64. */
int ac_sh_shape(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    ac_attrs_arg *a = &n->attrs.arg;
    if (n->out[0]->dtype != AC_NONE)
        a->out_type = n->out[0]->dtype;
    if (a->out_type != AC_I32 && a->out_type != AC_I64)
        return ac_error(cx, n->at, E0105, "result '%s' is %s, expected i32 or i64", n->out[0]->name,
                        ac_dtype_name(a->out_type));
    return ac_shape_set(cx, n, 0, a->out_type, 1, (int64_t[]){n->in[0]->rank});
}

int ac_sh_rank(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_I32));
    return ac_shape_set(cx, n, 0, AC_I32, 0, NULL);
}

/* How many of start, start + delta, .. come before limit, as TFLite counts them: for floats in their own type. */
static int count_range(ac_ctx *cx, const ac_node *n, int64_t *count)
{
    const void *p[3];
    for (int32_t i = 0; i < 3; i++) {
        if (!ac_tensor_is_const(n->in[i])) {
            ac_error(cx, n->at, E0203, "'%s' is computed at run time, but the size of the result depends on it",
                     n->in[i]->name);
            return ac_help(cx, "make start, limit and delta of the range constants");
        }
        p[i] = ac_tensor_force(cx, n->in[i]);
        if (!p[i])
            return AC_FAIL;
    }
    const ac_dtype d = n->in[0]->dtype;
    if (d == AC_F32) {
        const float start = (float)ac_dtype_get_num(d, p[0], 0), limit = (float)ac_dtype_get_num(d, p[1], 0);
        const float delta = (float)ac_dtype_get_num(d, p[2], 0);
        const float steps = ceilf(fabsf((limit - start) / delta));
        if (!(delta > 0 ? start <= limit : delta < 0 && start >= limit))
            return ac_error(cx, n->at, E0103, "a range from %g by %g never reaches %g", (double)start, (double)delta,
                            (double)limit);
        if (!(steps <= 2147483520.0f))
            return ac_error(cx, n->at, E0015, "the range from %g by %g to %g has too many numbers", (double)start,
                            (double)delta, (double)limit);
        *count = (int64_t)steps;
        return AC_OK;
    }
    const int64_t start = ac_dtype_get_int(d, p[0], 0), limit = ac_dtype_get_int(d, p[1], 0);
    const int64_t delta = ac_dtype_get_int(d, p[2], 0);
    if (!(delta > 0 ? start <= limit : delta < 0 && start >= limit))
        return ac_error(cx, n->at, E0103, "a range from %lld by %lld never reaches %lld", (long long)start,
                        (long long)delta, (long long)limit);
    const uint64_t span = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    const uint64_t by = delta > 0 ? (uint64_t)delta : 0u - (uint64_t)delta;
    const uint64_t steps = span / by + (span % by != 0);
    *count = steps > INT32_MAX ? (int64_t)INT32_MAX + 1 : (int64_t)steps;
    return AC_OK;
}

int ac_sh_range(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_dtype d = n->in[0]->dtype;
    if (d != AC_F32 && d != AC_I32 && d != AC_I64)
        return ac_error(cx, n->at, E0105, "start '%s' is %s, expected f32, i32 or i64", n->in[0]->name,
                        ac_dtype_name(d));
    for (int32_t i = 0; i < 3; i++) {
        AC_TRY(one_element(cx, n, i));
        AC_TRY(ac_shape_same_type(cx, n, 0, i));
    }
    int64_t count;
    AC_TRY(ac_shape_result_type(cx, n, 0, d));
    AC_TRY(count_range(cx, n, &count));
    return ac_shape_set(cx, n, 0, d, 1, &count);
}

/* indices, depth (static), on, off -> the indices' shape with a dimension of `depth` inserted at the axis. */
int ac_sh_one_hot(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    AC_TRY(ac_shape_index(cx, n, 0));
    AC_TRY(ac_shape_same_type(cx, n, 2, 3));
    for (int32_t i = 1; i < 4; i++)
        AC_TRY(one_element(cx, n, i));
    ac_ints depth;
    int32_t axis;
    AC_TRY(ac_node_ints(cx, n, 1, (ac_ints){0}, &depth));
    if (depth.v[0] < 0)
        return ac_error(cx, n->at, E0201, "the depth is %lld", (long long)depth.v[0]);
    if (x->rank == AC_MAX_RANK)
        return ac_error(cx, n->at, E0205, "'%s' has %d dimensions already", x->name, x->rank);
    AC_TRY(ac_axis_norm(cx, n, n->attrs.axis.axis, x->rank + 1, &axis));
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d <= x->rank; d++)
        dim[d] = d < axis ? x->dim[d] : d == axis ? depth.v[0] : x->dim[d - 1];
    return ac_shape_set_like(cx, n, 0, n->in[2], x->rank + 1, dim);
}
