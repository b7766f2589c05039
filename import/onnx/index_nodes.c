/* index_nodes.c - operators of ONNX that take elements by index, or put them there: Gather, Scatter and their kin,
 * OneHot, TopK, TensorScatter, ReverseSequence. */
#include "import/build/bounds.h"
#include "import/build/compose_counted.h"
#include "import/build/counted.h"
#include "import/onnx/proto/nodes.h"
#include "ir/ops/shape/resolve.h"

#include <inttypes.h>
#include <string.h>

/* Indices count from the end when they are negative; ours do not. Constants are put right now, others in the graph. */
static ac_tensor *indices(ac_onx_node *n, ac_tensor *i, int64_t extent)
{
    if (i->dtype != AC_I32 && i->dtype != AC_I64)
        return ac_error(n->r->cx, n->at, E0105, "indices '%s' are %s, expected i32 or i64", i->name,
                        ac_dtype_name(i->dtype)),
               NULL;
    if (ac_tensor_is_const(i)) {
        const void *data = ac_tensor_force(n->r->cx, i);
        const int64_t count = data ? ac_tensor_count(i) : 0;
        int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, count + 1);
        for (int64_t k = 0; k < count; k++) {
            v[k] = ac_dtype_get_int(i->dtype, data, k);
            v[k] += v[k] < 0 ? extent : 0;
            if (v[k] < 0 || v[k] >= extent)
                return ac_error(n->r->cx, n->at, E0103,
                                "index %" PRId64 " of '%s' is out of range for %" PRId64 " elements", k, i->name,
                                extent),
                       NULL;
        }
        return data ? ac_make_reshape(&n->b, ac_make_ints(&n->b, count, v), i->rank, i->dim) : NULL;
    }
    return ac_make_from_end(&n->b, i, ac_make_number(&n->b, i->dtype, (double)extent));
}

int ac_onx_do_gather(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    ac_attrs a;
    AC_TRY(ac_attr_axis(&n->attrs, A_axis, x->rank, &axis));
    if (x->count && x->count_dim == axis)
        return ac_onx_result(n, 0, ac_make_counted_gather(&n->b, x, n->in[1]));
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = axis;
    ac_tensor *in[] = {x, indices(n, n->in[1], x->dim[axis])};
    return ac_onx_result(n, 0, ac_make_op(&n->b, AC_OP_GATHER, in, 2, &a, AC_NONE));
}

/* 0, 1 .. along dimension d of `rank`, the others 1. */
static ac_tensor *iota(ac_onx_node *n, int64_t count, int32_t rank, int32_t d)
{
    int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (count > 1 << 24)
        return (void)ac_cannot(&n->b, "a dimension that it indexes is %" PRId64, count), NULL;
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        v[i] = i;
    dim[d] = count;
    return ac_make_reshape(&n->b, ac_make_ints(&n->b, count, v), rank, dim);
}

/* Negative indices [..,K] into the K dimensions of x from d on count from the end. */
static ac_tensor *tuples(ac_onx_node *n, ac_tensor *i, ac_tensor *x, int32_t d, int64_t k)
{
    i = ac_make_cast(&n->b, i, AC_I64);
    return ac_make_from_end(&n->b, i, ac_make_extents(&n->b, x, d, d + (int32_t)k));
}

/* batch_dims: the position in the leading dimensions is put before the indices. */
int ac_onx_do_gather_nd(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *i = n->in[1], *part[AC_MAX_RANK + 1];
    const int64_t batch = ac_attr_int(&n->attrs, A_batch_dims), k = i->rank ? i->dim[i->rank - 1] : 0;
    if (batch < 0 || batch >= i->rank || k < 1 || k > x->rank - batch || !ac_dtype_is_int(i->dtype))
        return ac_error(n->r->cx, n->at, E0104, "indices '%s' %s do not fit '%s' %s", i->name,
                        ac_tensor_str(n->r->cx, i), x->name, ac_tensor_str(n->r->cx, x));
    if (x->count && (batch || x->count_dim >= k))
        return ac_cannot(&n->b, "only data decides how many elements '%s' has", x->name);
    int64_t dim[AC_MAX_RANK];
    memcpy(dim, i->dim, sizeof dim);
    dim[i->rank - 1] = 1;
    for (int32_t b = 0; b < batch; b++) {
        if (i->dim[b] != x->dim[b])
            return ac_error(n->r->cx, n->at, E0104, "batch dimension %d of '%s' and '%s' differ", b, i->name, x->name);
        part[b] = ac_make_broadcast(&n->b, iota(n, x->dim[b], i->rank, b), i->rank, dim);
    }
    part[batch] = tuples(n, i, x, (int32_t)batch, k);
    ac_tensor *in[] = {x, ac_make_concat(&n->b, part, (int32_t)batch + 1, i->rank - 1)};
    return ac_onx_result(n, 0, ac_make_op(&n->b, AC_OP_GATHER_ND, in, 2, NULL, AC_NONE));
}

int ac_onx_do_gather_elements(ac_onx_node *n)
{
    ac_attrs a;
    int32_t axis;
    AC_TRY(ac_attr_axis(&n->attrs, A_axis, n->in[0]->rank, &axis));
    ac_attrs_init(AC_OP_GATHER_ELEMENTS, &a);
    a.axis.axis = axis;
    return ac_onx_result(n, 0, ac_make_op(&n->b, AC_OP_GATHER_ELEMENTS, n->in, 2, &a, AC_NONE));
}

/* Scatter, ScatterElements and ScatterND (which has no axis): our names of reductions are ONNX's. */
int ac_onx_do_scatter(ac_onx_node *n)
{
    ac_attrs a;
    ac_attrs_init(n->row->op, &a);
    const char *how = ac_attr_text(&n->attrs, A_reduction);
    int32_t w = AC_W_NONE;
    while (w <= AC_W_MIN && strcmp(ac_word_name[w], how) != 0)
        w++;
    if (w > AC_W_MIN)
        return ac_error(n->r->cx, n->at, E0103, "reduction is '%s'", how);
    a.scatter.reduction = (ac_word)w;
    if (n->row->op == AC_OP_SCATTER_ELEMENTS)
        AC_TRY(ac_attr_axis(&n->attrs, A_axis, n->in[0]->rank, &a.scatter.axis));
    if (n->row->op == AC_OP_SCATTER_ELEMENTS && (n->in[0]->count || n->in[1]->count || n->in[2]->count)) {
        if (n->in[1]->count != n->in[2]->count || n->in[1]->count_dim != n->in[2]->count_dim)
            return ac_cannot(&n->b, "'%s' and '%s' differ in how many elements have a meaning", n->in[1]->name,
                             n->in[2]->name);
        return ac_onx_result(n, 0, ac_make_counted_scatter(&n->b, n->in, &a));
    }
    return ac_onx_result(n, 0, ac_make_op(&n->b, n->row->op, n->in, 3, &a, AC_NONE));
}

/* A cache [B,..,S,..] with new entries at position write_indices[b] + t of the axis; circular: modulo S. */
int ac_onx_do_tensor_scatter(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *u = n->in[1], *start = ac_onx_in(n, 2);
    const char *mode = ac_attr_text(&n->attrs, A_cache_mode);
    int32_t axis;
    ac_attrs a;
    int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    AC_TRY(ac_attr_axis(&n->attrs, A_cache_axis, x->rank, &axis));
    if (axis == 0 || u->rank != x->rank || (start && (start->rank != 1 || start->dim[0] != x->dim[0])))
        return ac_error(n->r->cx, n->at, E0104, "update '%s' %s does not fit cache '%s' %s", u->name,
                        ac_shape_str(n->r->cx, u), x->name, ac_shape_str(n->r->cx, x));
    ac_tensor *at = iota(n, u->dim[axis], x->rank, axis);
    dim[0] = x->dim[0];
    if (start)
        at = ac_make_2(&n->b, AC_OP_ADD, ac_make_reshape(&n->b, ac_make_cast(&n->b, start, AC_I64), x->rank, dim), at);
    if (!strcmp(mode, "circular"))
        at = ac_make_2(&n->b, AC_OP_FLOOR_MOD, at, ac_make_number(&n->b, AC_I64, (double)x->dim[axis]));
    ac_attrs_init(AC_OP_SCATTER_ELEMENTS, &a);
    a.scatter.axis = axis;
    ac_tensor *in[] = {x, ac_make_broadcast(&n->b, at, u->rank, u->dim), u};
    return ac_onx_result(n, 0, ac_make_op(&n->b, AC_OP_SCATTER_ELEMENTS, in, 3, &a, AC_NONE));
}

/* The first two axes are those of the sequence and of the batch. */
int ac_onx_do_reverse_sequence(ac_onx_node *n)
{
    ac_attrs a;
    const int64_t batch = ac_attr_int(&n->attrs, A_batch_axis), time = ac_attr_int(&n->attrs, A_time_axis);
    if ((batch != 0 && batch != 1) || time != 1 - batch)
        return ac_error(n->r->cx, n->at, E0103, "axes %" PRId64 " and %" PRId64 ", expected 0 and 1", batch, time);
    ac_attrs_init(AC_OP_REVERSE_SEQUENCE, &a);
    a.sequence.batch_axis = (int32_t)batch;
    a.sequence.seq_axis = (int32_t)time;
    return ac_onx_result(n, 0, ac_make_op(&n->b, AC_OP_REVERSE_SEQUENCE, n->in, 2, &a, AC_NONE));
}

/* Ours is along the last dimension, with indices of 32 bits, and always sorted. */
int ac_onx_do_topk(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis, perm[AC_MAX_RANK], back[AC_MAX_RANK];
    ac_attrs a;
    AC_TRY(ac_attr_axis(&n->attrs, A_last_axis, x->rank, &axis));
    (void)ac_attr_int(&n->attrs, A_sorted);
    double v = -1;
    if (n->version >= 10 && !ac_onx_in(n, 1))
        return ac_error(n->r->cx, n->at, E0102, "k is missing");
    ac_tensor *count = NULL;
    if (n->version >= 10 && n->r->reading->again && !ac_operand_known(&n->b, &n->in[1])) {
        const int64_t most = ac_most_of(&n->b, n->in[1], 0);
        v = (double)(most >= 0 && most < x->dim[axis] ? most : x->dim[axis]); /* computed: k of these have a meaning */
        ac_tensor *all = ac_make_number(&n->b, AC_I64, v);
        count = ac_make_2(&n->b, AC_OP_MINIMUM, ac_make_reshape(&n->b, ac_make_cast(&n->b, n->in[1], AC_I64), 0, NULL),
                          all);
    } else if (n->version >= 10) {
        AC_TRY(ac_operand_scalar(&n->b, &n->in[1], &v));
    }
    const int64_t k = n->version < 10 ? ac_attr_int(&n->attrs, A_k) : v >= 0 && v <= INT32_MAX ? (int64_t)v : -1;
    if (x->count && x->count_dim == axis) { /* invalid elements come last */
        ac_tensor *most = count ? count : ac_make_number(&n->b, AC_I64, (double)k);
        count = ac_make_2(&n->b, AC_OP_MINIMUM, ac_make_reshape(&n->b, ac_make_cast(&n->b, x->count, AC_I64), 0, NULL),
                          most);
        x = ac_make_counted_neutral(&n->b, x, ac_attr_int(&n->attrs, A_largest) ? AC_OP_REDUCE_MAX : AC_OP_REDUCE_MIN);
        if (!x || !count)
            return AC_FAIL;
    }
    ac_perm_axis_last(x->rank, axis, perm, back);
    ac_attrs_init(AC_OP_TOPK_V2, &a);
    a.topk.smallest = !ac_attr_int(&n->attrs, A_largest);
    ac_tensor *in[] = {ac_make_transpose(&n->b, x, perm), ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &k), 0, NULL)};
    if (!in[0] || !in[1])
        return AC_FAIL;
    ac_node *made = ac_make_node(&n->b, AC_OP_TOPK_V2, in, 2, &a, 2);
    if (ac_make_resolve(&n->b, made) != AC_OK)
        return AC_FAIL;
    ac_tensor *where = made->out[1];
    (void)ac_counted_as(made->out[0], count, x->rank - 1);
    (void)ac_counted_as(where, count, x->rank - 1);
    AC_TRY(ac_onx_result(n, 0, ac_make_transpose(&n->b, made->out[0], back)));
    return ac_onx_result(n, 1, ac_make_cast(&n->b, ac_make_transpose(&n->b, where, back), AC_I64));
}

/* Values [off, on]; an index counts from the end when it is negative. */
int ac_onx_do_one_hot(ac_onx_node *n)
{
    ac_tensor *i = n->in[0], *values = n->in[2];
    double depth;
    int32_t axis;
    ac_attrs a;
    AC_TRY(ac_operand_scalar(&n->b, &n->in[1], &depth));
    AC_TRY(ac_attr_axis(&n->attrs, A_last_axis, i->rank + 1, &axis));
    if (ac_tensor_count(values) != 2 || values->rank != 1)
        return ac_error(n->r->cx, n->at, E0104, "values '%s' is %s, expected [2]", values->name,
                        ac_shape_str(n->r->cx, values));
    if (!(depth >= 0 && depth < INT32_MAX))
        return ac_error(n->r->cx, n->at, E0103, "the depth is %g", depth);
    const int64_t size = (int64_t)depth;
    i = ac_make_cast(&n->b, i, AC_I64);
    if (!i)
        return AC_FAIL;
    i = ac_make_from_end(&n->b, i, ac_make_number(&n->b, AC_I64, depth));
    ac_attrs_init(AC_OP_ONE_HOT, &a);
    a.axis.axis = axis;
    ac_tensor *in[] = {i, ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &size), 0, NULL),
                       ac_make_reshape(&n->b, ac_make_slice(&n->b, values, 0, 1, 1), 0, NULL),
                       ac_make_reshape(&n->b, ac_make_slice(&n->b, values, 0, 0, 1), 0, NULL)};
    return ac_onx_result(n, 0, ac_make_op(&n->b, AC_OP_ONE_HOT, in, 4, &a, AC_NONE));
}
