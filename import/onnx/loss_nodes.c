/* loss_nodes.c - losses and class-wise operators of ONNX: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss,
 * Hardmax; and the triangular and diagonal ones: Trilu, EyeLike. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"
#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <string.h>

/* 1.0 where the class is the index, else 0.0, with the classes as dimension `axis`; indices outside of 0..classes-1
 * give zeros. */
static ac_tensor *one_hot(ac_onx_node *n, ac_tensor *index, int64_t classes, int32_t axis)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_ONE_HOT, &a);
    a.axis.axis = axis;
    ac_tensor *in[] = {index, ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &classes), 0, NULL), F32(1), F32(0)};
    return ac_make_op(&n->b, AC_OP_ONE_HOT, in, 4, &a, AC_NONE);
}

static ac_tensor *choose(ac_onx_node *n, ac_tensor *cond, ac_tensor *x, ac_tensor *y)
{
    ac_tensor *in[] = {cond, x, y};
    return cond && x && y ? ac_make_op(&n->b, AC_OP_SELECT, in, 3, NULL, AC_NONE) : NULL;
}

/* The mean (or sum) of -x[class] * weight[class] over all elements that are not ignored. x [N,C,..], target [N,..]. */
static ac_tensor *likelihood(ac_onx_node *n, ac_tensor *x, ac_tensor *target, ac_tensor *weight)
{
    const char *how = ac_attr_text(&n->attrs, A_loss_reduction);
    ac_onx_attr *ignore = ac_onx_attr_of(n, "ignore_index");
    ac_tensor *zero = F32(0), *w = NULL;
    if (x->rank < 2 || target->rank != x->rank - 1 || (weight && (weight->rank != 1 || weight->dim[0] != x->dim[1])))
        return ac_error(n->r->cx, n->at, E0104, "'%s' is %s, target '%s' is %s", x->name, ac_shape_str(n->r->cx, x),
                        target->name, ac_shape_str(n->r->cx, target)),
               NULL;
    if (x->dtype != AC_F32 || (weight && weight->dtype != AC_F32))
        return (void)ac_cannot(&n->b, "its input is %s", ac_dtype_name(x->dtype)), NULL;
    if (strcmp(how, "mean") != 0 && strcmp(how, "sum") != 0 && strcmp(how, "none") != 0)
        return ac_error(n->r->cx, n->at, E0103, "reduction is '%s'", how), NULL;
    target = ac_make_cast(&n->b, target, AC_I64);
    ac_tensor *hot = target ? one_hot(n, target, x->dim[1], 1) : NULL;
    ac_tensor *picked = choose(n, GREATER(hot, zero), x, zero);
    ac_tensor *loss = SUB(zero, ac_make_reduce(&n->b, AC_OP_SUM, picked, 2, false));
    if (weight && hot) {
        int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        dim[0] = weight->dim[0];
        w = ac_make_reduce(&n->b, AC_OP_SUM, MUL(hot, ac_make_reshape(&n->b, weight, x->rank - 1, dim)), 2, false);
    }
    if (ignore && loss) {
        ac_tensor *keep = OP2(NOT_EQUAL, target, I64(ignore->i));
        w = weight ? choose(n, keep, w, zero) : ac_make_cast(&n->b, keep, AC_F32);
    }
    if (weight || ignore)
        loss = MUL(loss, w);
    const uint32_t all = (1u << target->rank) - 1;
    if (!loss || !strcmp(how, "none"))
        return loss;
    if (!strcmp(how, "mean") && !w)
        return ac_make_reduce(&n->b, AC_OP_MEAN, loss, all, false);
    ac_tensor *sum = ac_make_reduce(&n->b, AC_OP_SUM, loss, all, false);
    return !strcmp(how, "sum") ? sum : DIV(sum, ac_make_reduce(&n->b, AC_OP_SUM, w, all, false));
}

int ac_onx_do_nll_loss(ac_onx_node *n)
{
    return ac_onx_result(n, 0, likelihood(n, n->in[0], n->in[1], ac_onx_in(n, 2)));
}

int ac_onx_do_cross_entropy(ac_onx_node *n)
{
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    ac_tensor *x = n->in[0];
    const int32_t rank = x->rank;
    if (rank < 2 || x->dtype != AC_F32)
        return ac_cannot(&n->b, "its input is %s %s", ac_dtype_name(x->dtype), ac_shape_str(n->r->cx, x));
    for (int32_t d = 0; d < rank; d++)
        perm[d] = d == 0 ? 0 : d == rank - 1 ? 1 : d + 1;
    for (int32_t d = 0; d < rank; d++)
        back[perm[d]] = d;
    ac_tensor *log = ac_make_transpose(&n->b, OP1(LOG_SOFTMAX, ac_make_transpose(&n->b, x, perm)), back);
    if (!log)
        return AC_FAIL;
    AC_TRY(ac_onx_result(n, 0, likelihood(n, log, n->in[1], ac_onx_in(n, 2))));
    return n->n_out > 1 ? ac_onx_result(n, 1, log) : AC_OK;
}

/* 1 at the first largest element along the axis; up to opset 12 along all dimensions from it on, taken as one. */
int ac_onx_do_hardmax(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    ac_attrs a;
    int64_t dim[2] = {1, 1};
    const int32_t rank = x->rank;
    AC_TRY(ac_operand_axis(&n->b, ac_attr_int_or(&n->attrs, A_axis, n->version < 13 ? 1 : -1), rank, &axis));
    if (n->version < 13) {
        for (int32_t d = 0; d < rank; d++)
            dim[d >= axis] *= x->dim[d];
        x = ac_make_reshape(&n->b, x, 2, dim);
        axis = 1;
    }
    if (!x || x->dtype != AC_F32 || x->dim[axis] < 1)
        return ac_cannot(&n->b, "its input is %s", ac_dtype_name(n->in[0]->dtype));
    const int64_t at = axis;
    ac_attrs_init(AC_OP_ARG_MAX, &a);
    a.arg.out_type = AC_I64;
    ac_tensor *in[] = {x, ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &at), 0, NULL)};
    ac_tensor *index = ac_make_op(&n->b, AC_OP_ARG_MAX, in, 2, &a, AC_I64);
    ac_tensor *y = index ? one_hot(n, index, x->dim[axis], axis) : NULL;
    return ac_onx_result(n, 0, ac_make_reshape(&n->b, y, rank, n->in[0]->dim));
}

/* upper: elements on and above diagonal k; else on and below. */
int ac_onx_do_trilu(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t k = 0;
    const bool upper = ac_attr_bool(&n->attrs, A_upper);
    if (ac_onx_in(n, 1))
        AC_TRY(ac_operand_int(&n->b, &n->in[1], &k));
    if (x->rank < 2)
        return ac_error(n->r->cx, n->at, E0104, "input '%s' has %d dimensions", x->name, x->rank);
    const int64_t rows = x->dim[x->rank - 2], cols = x->dim[x->rank - 1];
    ac_tensor *mask =
        upper ? ac_make_band(&n->b, rows, cols, k, INT64_MAX) : ac_make_band(&n->b, rows, cols, INT64_MIN, k);
    return ac_onx_result(n, 0, choose(n, mask, x, NUM(x, 0)));
}

int ac_onx_do_eye_like(ac_onx_node *n)
{
    const ac_tensor *x = n->in[0];
    const int64_t k = ac_attr_int(&n->attrs, A_diagonal);
    ac_dtype to;
    AC_TRY(ac_onx_dtype_or(n, x->dtype, &to));
    if (x->rank != 2)
        return ac_cannot(&n->b, "its input is %s", ac_shape_str(n->r->cx, x));
    return ac_onx_result(n, 0, ac_make_cast(&n->b, ac_make_band(&n->b, x->dim[0], x->dim[1], k, k), to));
}
