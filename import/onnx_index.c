/* Operators of ONNX that take elements by index: Gather, GatherND, OneHot. */
#include "import/onnx_ops.h"

#include <inttypes.h>

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
        return data ? ac_onx_reshape(n, ac_onx_ints_const(n, count, v), i->rank, i->dim) : NULL;
    }
    ac_tensor *in[] = {ac_onx_2(n, AC_OP_LESS, i, ac_onx_number(n, i->dtype, 0)),
                       ac_onx_2(n, AC_OP_ADD, i, ac_onx_number(n, i->dtype, (double)extent)), i};
    return in[0] && in[1] ? ac_onx_make(n, AC_OP_SELECT, in, 3, NULL, AC_NONE) : NULL;
}

int ac_onx_do_gather(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    ac_attrs a;
    AC_TRY(ac_onx_axis(n, ac_onx_int(n, "axis", 0), x->rank, &axis));
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = axis;
    ac_tensor *in[] = {x, indices(n, n->in[1], x->dim[axis])};
    return ac_onx_result(n, 0, ac_onx_make(n, AC_OP_GATHER, in, 2, &a, AC_NONE));
}

int ac_onx_do_gather_nd(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *i = n->in[1];
    if (ac_onx_int(n, "batch_dims", 0))
        return ac_onx_cannot(n, "batch_dims is not 0");
    if (!ac_onx_known(n, 1) && (n->r->late = true))
        return ac_onx_cannot(n, "its indices are computed at run time and may be negative");
    i = n->in[1];
    const void *data = ac_tensor_force(n->r->cx, i);
    const int64_t count = data ? ac_tensor_count(i) : 0, k = i->rank ? i->dim[i->rank - 1] : 0;
    if (!data || !ac_dtype_is_int(i->dtype) || k > x->rank || k < 1)
        return data ? ac_error(n->r->cx, n->at, E0104, "indices '%s' do not fit '%s'", i->name, x->name) : AC_FAIL;
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, count + 1);
    for (int64_t j = 0; j < count; j++) {
        v[j] = ac_dtype_get_int(i->dtype, data, j);
        v[j] += v[j] < 0 ? x->dim[j % k] : 0;
    }
    ac_tensor *in[] = {x, ac_onx_reshape(n, ac_onx_ints_const(n, count, v), i->rank, i->dim)};
    return ac_onx_result(n, 0, ac_onx_make(n, AC_OP_GATHER_ND, in, 2, NULL, AC_NONE));
}

/* Values [off, on]; an index counts from the end when it is negative. */
int ac_onx_do_one_hot(ac_onx_node *n)
{
    ac_tensor *i = n->in[0], *values = n->in[2];
    double depth;
    int32_t axis;
    ac_attrs a;
    AC_TRY(ac_onx_scalar(n, 1, &depth));
    AC_TRY(ac_onx_axis(n, ac_onx_int(n, "axis", -1), i->rank + 1, &axis));
    if (ac_tensor_count(values) != 2 || values->rank != 1)
        return ac_error(n->r->cx, n->at, E0104, "values '%s' is %s, expected [2]", values->name,
                        ac_shape_str(n->r->cx, values));
    if (!(depth >= 0 && depth < INT32_MAX))
        return ac_error(n->r->cx, n->at, E0103, "the depth is %g", depth);
    const int64_t size = (int64_t)depth;
    i = ac_onx_cast(n, i, AC_I64);
    if (!i)
        return AC_FAIL;
    ac_tensor *pick[] = {ac_onx_2(n, AC_OP_LESS, i, ac_onx_number(n, AC_I64, 0)),
                         ac_onx_2(n, AC_OP_ADD, i, ac_onx_number(n, AC_I64, depth)), i};
    ac_attrs_init(AC_OP_ONE_HOT, &a);
    a.axis.axis = axis;
    ac_tensor *in[] = {ac_onx_make(n, AC_OP_SELECT, pick, 3, NULL, AC_NONE),
                       ac_onx_reshape(n, ac_onx_ints_const(n, 1, &size), 0, NULL),
                       ac_onx_reshape(n, ac_onx_slice(n, values, 0, 1, 1), 0, NULL),
                       ac_onx_reshape(n, ac_onx_slice(n, values, 0, 0, 1), 0, NULL)};
    return ac_onx_result(n, 0, ac_onx_make(n, AC_OP_ONE_HOT, in, 4, &a, AC_NONE));
}
