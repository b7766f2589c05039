/* math_defs.c - element-wise operators of TensorFlow. Most are an operator of ours; the others become a few
 * nodes, which the passes fuse. */
#include "import/tf/nodedefs.h"

#include <math.h>
#include <string.h>

#define MAKER (&n->b)
#include "ir/make/formula.h"

#define RESULT(t) ac_tf_result(n, 0, t)

static bool both_bool(const ac_tf_op *n)
{
    return n->t[0]->dtype == AC_BOOL && n->t[1]->dtype == AC_BOOL;
}

int ac_tf_do_binary(ac_tf_op *n)
{
    (void)ac_attr_bool(&n->attrs, A_incompatible_shape_error);
    if ((n->row->op == AC_OP_EQUAL || n->row->op == AC_OP_NOT_EQUAL) && both_bool(n)) /* bytes 0 and 1 */
        for (int32_t i = 0; i < 2; i++)
            n->t[i] = ac_make_cast(&n->b, n->t[i], AC_U8);
    return RESULT(ac_make_2(&n->b, n->row->op, n->t[0], n->t[1]));
}

int ac_tf_do_add_n(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    ac_attr_skip(&n->attrs, "shape"); /* AccumulateNV2 */
    for (int32_t i = 1; i < n->n_in; i++)
        x = ADD(x, n->t[i]);
    return RESULT(x);
}

/* Passes on whatever it gets; IdentityN several. */
int ac_tf_do_identity(ac_tf_op *n)
{
    ac_attr_skip(&n->attrs, "message");
    ac_attr_skip(&n->attrs, "dtype");
    ac_attr_skip(&n->attrs, "shape");
    for (int32_t i = 0; i < n->n_out && i < n->n_in; i++)
        n->out[i] = n->in[i];
    return AC_OK;
}

/* Makes nothing that could be read: NoOp, Assert. */
int ac_tf_do_nothing(ac_tf_op *n)
{
    ac_attr_skip(&n->attrs, "summarize");
    return ac_tf_all_results(n, AC_TF_DONE);
}

int ac_tf_do_cast(ac_tf_op *n)
{
    (void)ac_attr_bool(&n->attrs, A_Truncate);
    const ac_dtype to = ac_attr_dtype(&n->attrs, A_DstT);
    ac_attr_skip(&n->attrs, "SrcT");
    if (to == AC_NONE)
        return AC_FAIL;
    ac_tensor *x = n->t[0];
    if (to == AC_BOOL && (x->dtype == AC_F16 || x->dtype == AC_BF16))
        x = ac_make_cast(&n->b, x, AC_F32);
    return RESULT(ac_make_cast(&n->b, x, to));
}

/* Arithmetic. */

/* 0 where the second operand (for Mul) or the divisor is 0, whatever the first one is. */
int ac_tf_do_no_nan(ac_tf_op *n)
{
    ac_tensor *x = n->t[0], *y = n->t[1];
    ac_tensor *z = ac_make_2(&n->b, n->row->op, x, y), *zero = NUM(x, 0);
    return RESULT(WHERE(EQUAL(y, NUM(x, 0)), zero, z));
}

/* x * f(y), 0 where x is 0: Xlogy, Xlog1py, Xdivy. */
int ac_tf_do_x_of_y(ac_tf_op *n)
{
    ac_tensor *x = n->t[0], *y = n->t[1], *z;
    if (n->row->op == AC_OP_DIV)
        z = DIV(x, y);
    else
        z = MUL(x, n->row->op == AC_OP_LOG ? LOG(y) : OP1(LOG1P, y));
    ac_tensor *zero = NUM(x, 0);
    return RESULT(WHERE(EQUAL(x, NUM(x, 0)), zero, z));
}

int ac_tf_do_truncate_div(ac_tf_op *n)
{
    ac_tensor *x = DIV(n->t[0], n->t[1]);
    if (!x || ac_dtype_is_int(x->dtype))
        return RESULT(x);
    ac_tensor *sign = SIGN(x);
    return RESULT(MUL(OP1(FLOOR, ABS(x)), sign));
}

int ac_tf_do_approximate_equal(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    const double tolerance = ac_attr_float(&n->attrs, A_tolerance);
    ac_tensor *most = NUM(x, tolerance);
    return RESULT(LESS(ABS(SUB(x, n->t[1])), most));
}

int ac_tf_do_bitwise_not(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    const bool wide = x->dtype == AC_U64 || x->dtype == AC_U32;
    if (wide)
        return ac_cannot(&n->b, "its input is %s", ac_dtype_name(x->dtype));
    return RESULT(ac_dtype_is_signed(x->dtype) ? SUB(NUM(x, -1), x) : SUB(NUM(x, (double)ac_dtype_max(x->dtype)), x));
}

/* Select: a condition of one dimension chooses rows. SelectV2 broadcasts. */
int ac_tf_do_select(ac_tf_op *n)
{
    ac_tensor *c = n->t[0];
    const ac_tensor *x = n->t[1];
    if (!strcmp(n->node->op, "Select") && c->rank == 1 && x->rank > 1) {
        int64_t dim[AC_MAX_RANK] = {c->dim[0], 1, 1, 1, 1, 1, 1, 1};
        if (c->dim[0] != x->dim[0])
            return ac_error(n->r->cx, n->b.at, E0104, "condition '%s' %s does not fit '%s' %s", c->name,
                            ac_shape_str(n->r->cx, c), x->name, ac_shape_str(n->r->cx, x));
        c = ac_make_reshape(&n->b, c, x->rank, dim);
    }
    return RESULT(WHERE(c, n->t[1], n->t[2]));
}

/* The bias is along the channels. */
int ac_tf_do_bias_add(ac_tf_op *n)
{
    ac_tensor *x = n->t[0], *bias = n->t[1];
    bool first;
    AC_TRY(ac_tf_channels_first(n, &first));
    if (bias->rank != 1 || x->rank < 2 || bias->dim[0] != x->dim[first ? 1 : x->rank - 1])
        return ac_error(n->r->cx, n->b.at, E0104, "bias '%s' %s does not fit '%s' %s", bias->name,
                        ac_shape_str(n->r->cx, bias), x->name, ac_shape_str(n->r->cx, x));
    int64_t dim[AC_MAX_RANK] = {bias->dim[0], 1, 1, 1, 1, 1, 1, 1};
    if (first)
        bias = ac_make_reshape(&n->b, bias, x->rank - 1, dim);
    return RESULT(ADD(x, bias));
}

/* Activations and functions. */

int ac_tf_do_leaky_relu(ac_tf_op *n)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_LEAKY_RELU, &a);
    a.alpha.alpha = (float)ac_attr_float(&n->attrs, A_alpha);
    return RESULT(ac_make_op(&n->b, AC_OP_LEAKY_RELU, n->t, 1, &a, AC_NONE));
}

int ac_tf_do_softsign(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    ac_tensor *size = ABS(x);
    return RESULT(DIV(x, ADD(NUM(x, 1), size)));
}

int ac_tf_do_is_finite(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    if (!ac_dtype_is_float(x->dtype))
        return RESULT(ac_make_broadcast(&n->b, ac_make_number(&n->b, AC_BOOL, 1), x->rank, x->dim));
    ac_tensor *infinity = NUM(x, (double)INFINITY);
    return RESULT(LESS(ABS(x), infinity));
}

int ac_tf_do_l2_loss(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    ac_tensor *sum = ac_make_reduce(&n->b, AC_OP_SUM, SQUARE(x), (1u << x->rank) - 1, false);
    return RESULT(MUL(sum, NUM(x, 0.5)));
}
