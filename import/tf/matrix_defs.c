/* matrix_defs.c - matrices of TensorFlow: MatMul, BatchMatMul, Einsum, MatrixInverse; and weights in the order our
 * operators want. */
#include "ir/make/compose_einsum.h"
#include "import/tf/nodedefs.h"

#include <string.h>

#define RESULT(t) ac_tf_result(n, 0, t)

/* A constant transposed: made once for all copies of a loop's body. */
ac_tensor *ac_tf_weights(ac_tf_op *n, ac_tensor *t, const int32_t *perm)
{
    ac_tf *r = n->r;
    if (!t)
        return NULL;
    ac_tf_here *h = &r->here;
    for (int32_t i = t->id < h->turned_first.n ? h->turned_first.item[t->id] : 0; i; i = h->turned.item[i - 1].next) {
        const ac_tf_turned *was = &h->turned.item[i - 1];
        if (was->from == t && !memcmp(was->perm, perm, (size_t)t->rank * sizeof *perm))
            return was->to;
    }
    ac_tf_turned x = {.from = t, .to = ac_make_transpose(&n->b, t, perm)};
    if (!x.to || !ac_tensor_is_moved_const(t))
        return x.to;
    while (h->turned_first.n <= t->id)
        ac_push(r->cx->region, &h->turned_first, 0);
    memcpy(x.perm, perm, (size_t)t->rank * sizeof *perm);
    x.next = h->turned_first.item[t->id];
    ac_push(r->cx->region, &h->turned, x);
    h->turned_first.item[t->id] = h->turned.n;
    return x.to;
}

static ac_tensor *product(ac_tf_op *n, ac_tensor *x, ac_tensor *y, bool adj_x, bool adj_y)
{
    static const int32_t FLIP[AC_MAX_RANK] = {1, 0};
    if (!adj_x && y->rank == 2 && x->rank >= 2 && ac_tensor_is_moved_const(y) && y->dim[adj_y ? 1 : 0] > 0 &&
        y->dim[adj_y ? 1 : 0] == x->dim[x->rank - 1])
        return ac_make_dense(&n->b, x, adj_y ? y : ac_tf_weights(n, y, FLIP), NULL);
    return ac_make_matmul(&n->b, x, y, adj_x, adj_y);
}

int ac_tf_do_matmul(ac_tf_op *n)
{
    ac_tensor *x = n->t[0], *y = n->t[1];
    const bool batch = n->node->op[0] == 'B';
    const bool adj_x = ac_attr_bool(&n->attrs, batch ? A_adj_x : A_transpose_a);
    const bool adj_y = ac_attr_bool(&n->attrs, batch ? A_adj_y : A_transpose_b);
    if (x->rank < 2 || y->rank < 2 || (!batch && (x->rank != 2 || y->rank != 2)))
        return ac_error(n->r->cx, n->b.at, E0104, "'%s' is %s, '%s' %s", x->name, ac_shape_str(n->r->cx, x), y->name,
                        ac_shape_str(n->r->cx, y));
    if (!ac_dtype_is_float(x->dtype))
        return ac_cannot(&n->b, "its inputs are %s", ac_dtype_name(x->dtype));
    return RESULT(product(n, x, y, adj_x, adj_y));
}

/* `adjoint`: of the transposed matrices. */
int ac_tf_do_inverse(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    int32_t perm[AC_MAX_RANK];
    ac_perm_swapped(x->rank, perm);
    if (ac_attr_bool(&n->attrs, A_adjoint))
        x = ac_make_transpose(&n->b, x, perm);
    return RESULT(x ? ac_make_1(&n->b, AC_OP_INVERSE, x) : NULL);
}

int ac_tf_do_einsum(ac_tf_op *n)
{
    const char *equation = ac_attr_text(&n->attrs, A_equation), *reason = NULL;
    ac_tensor *y = ac_make_einsum(&n->b, equation, n->t, n->n_in, &reason);
    return reason ? ac_cannot(&n->b, "%s", reason) : RESULT(y);
}
