/* reduce_rules.c - shape rules of operators that reduce dimensions: mean, sum, reduce_*, arg_max, arg_min. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

/* x -> x without the reduced dimensions, or with 1 in their place (keep_dims). */
int ac_sh_reduce(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    const bool logical = n->op == AC_OP_REDUCE_ANY || n->op == AC_OP_REDUCE_ALL;
    if (logical != (x->dtype == AC_BOOL))
        return ac_error(cx, n->at, E0105, "input '%s' is %s, expected %s", x->name, ac_dtype_name(x->dtype),
                        logical ? "bool" : "numbers");
    AC_TRY(ac_shape_result_type(cx, n, 0, x->dtype));
    uint32_t mask;
    AC_TRY(ac_reduce_axes(cx, n, &mask));
    int32_t rank = 0;
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        if (!(mask & 1u << d))
            dim[rank++] = x->dim[d];
        else if (n->attrs.reduce.keep_dims)
            dim[rank++] = 1;
    AC_TRY(ac_shape_set(cx, n, 0, x->dtype, rank, dim));
    if (x->quant && x->quant->n == 1 && !n->out[0]->quant && x->dtype != AC_I32 && x->dtype != AC_I64) {
        if (n->op == AC_OP_SUM || n->op == AC_OP_REDUCE_PROD) {
            ac_error(cx, n->at, E0106, "'%s' is quantised, but result '%s' has no scale", x->name, n->out[0]->name);
            return ac_help(cx, "declare the scale and zero point of '%s'", n->out[0]->name);
        }
        n->out[0]->quant = x->quant;
    }
    return AC_OK;
}

/* x -> x without one dimension, i32 or i64. The declared type of the result overrides out_type=. */
int ac_sh_arg(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    ac_attrs_arg *a = &n->attrs.arg;
    if (n->out[0]->dtype != AC_NONE)
        a->out_type = n->out[0]->dtype;
    if (a->out_type != AC_I32 && a->out_type != AC_I64)
        return ac_error(cx, n->at, E0105, "result '%s' is %s, expected i32 or i64", n->out[0]->name,
                        ac_dtype_name(a->out_type));
    int32_t axis, rank = 0;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_arg_axis(cx, n, &axis));
    if (x->dim[axis] == 0)
        return ac_error(cx, n->at, E0104, "dimension %d of '%s' is empty: it has no largest element", axis, x->name);
    for (int32_t d = 0; d < x->rank; d++)
        if (d != axis)
            dim[rank++] = x->dim[d];
    return ac_shape_set(cx, n, 0, a->out_type, rank, dim);
}
