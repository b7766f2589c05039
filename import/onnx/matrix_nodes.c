/* matrix_nodes.c - matrix products of ONNX: MatMul, Gemm, Einsum. */
#include "ir/make/compose_einsum.h"
#include "import/onnx/proto/nodes.h"

#include <string.h>

static ac_tensor *flip(ac_onx_node *n, ac_tensor *x)
{
    static const int32_t PERM[] = {1, 0};
    return ac_make_transpose(&n->b, x, PERM);
}

/* A vector on the left is a row, on the right a column; the dimension is taken out again. */
int ac_onx_do_matmul(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[1], *z;
    int64_t dim[AC_MAX_RANK];
    int32_t rank = 0;
    if (!x->rank || !y->rank)
        return ac_error(n->r->cx, n->at, E0104, "'%s' or '%s' is a scalar", x->name, y->name);
    const bool row = x->rank == 1, column = y->rank == 1;
    if (row)
        x = ac_make_reshape(&n->b, x, 2, (int64_t[]){1, x->dim[0]});
    if (column)
        y = ac_make_reshape(&n->b, y, 2, (int64_t[]){y->dim[0], 1});
    if (!x || !y)
        return AC_FAIL;
    if (x->dtype == AC_F32 && y->rank == 2 && ac_tensor_is_moved_const(y) && y->dim[0] == x->dim[x->rank - 1] &&
        y->dim[0] > 0)
        z = ac_make_dense(&n->b, x, flip(n, y), NULL);
    else
        z = ac_make_matmul(&n->b, x, y, false, false);
    if (!z || (!row && !column))
        return ac_onx_result(n, 0, z);
    for (int32_t d = 0; d < z->rank; d++)
        if (!(row && d == z->rank - 2) && !(column && d == z->rank - 1))
            dim[rank++] = z->dim[d];
    return ac_onx_result(n, 0, ac_make_reshape(&n->b, z, rank, dim));
}

/* alpha * A' * B' + beta * C */
int ac_onx_do_gemm(ac_onx_node *n)
{
    ac_tensor *a = n->in[0], *b = n->in[1], *c = ac_onx_in(n, 2);
    const double alpha = ac_attr_float(&n->attrs, A_alpha), beta = ac_attr_float(&n->attrs, A_gemm_beta);
    const bool adj_a = ac_attr_bool(&n->attrs, A_transA), adj_b = ac_attr_bool(&n->attrs, A_transB);
    (void)ac_attr_int(&n->attrs, A_gemm_broadcast);
    if (a->rank != 2 || b->rank != 2)
        return ac_error(n->r->cx, n->at, E0104, "'%s' is %s, '%s' is %s; expected 2 dimensions each", a->name,
                        ac_shape_str(n->r->cx, a), b->name, ac_shape_str(n->r->cx, b));
    if (!ac_dtype_is_float(a->dtype) && (alpha != 1 || (c && beta != 1)))
        return ac_cannot(&n->b, "its operands are %s, and alpha or beta is not 1", ac_dtype_name(a->dtype));
    const int64_t units = b->dim[adj_b ? 0 : 1], depth = b->dim[adj_b ? 1 : 0];
    const bool packs = a->dtype == AC_F32 && ac_tensor_is_moved_const(b) && a->dim[adj_a ? 0 : 1] == depth && depth > 0;
    ac_tensor *bias = NULL;
    if (packs && c && beta == 1 && alpha == 1 && a->dtype == AC_F32 && ac_tensor_is_moved_const(c) &&
        ac_tensor_count(c) == units && (c->rank == 1 || (c->rank == 2 && c->dim[0] == 1))) {
        bias = ac_make_reshape(&n->b, c, 1, &units);
        c = NULL;
    }
    ac_tensor *y;
    if (packs) {
        b = adj_b ? b : flip(n, b);
        y = ac_make_dense(&n->b, adj_a ? flip(n, a) : a, b, bias);
    } else
        y = ac_make_matmul(&n->b, a, b, adj_a, adj_b);
    if (y && alpha != 1)
        y = ac_make_2(&n->b, AC_OP_MUL, y, ac_make_number(&n->b, y->dtype, alpha));
    if (y && c && beta != 0)
        y = ac_make_2(&n->b, AC_OP_ADD, y,
                      beta == 1 ? c : ac_make_2(&n->b, AC_OP_MUL, c, ac_make_number(&n->b, c->dtype, beta)));
    return ac_onx_result(n, 0, y);
}

int ac_onx_do_einsum(ac_onx_node *n)
{
    const char *reason;
    ac_tensor *y = ac_make_einsum(&n->b, ac_attr_text(&n->attrs, A_equation), n->in, n->n_in, &reason);
    return reason ? ac_cannot(&n->b, "%s", reason) : ac_onx_result(n, 0, y);
}
