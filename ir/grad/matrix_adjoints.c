/* matrix_adjoints.c - gradients of products: again products, of the operands and the adjoint of the result. */
#include "ir/make/compose_moves.h"
#include "ir/grad/entries.h"
#include "ir/grad/formula.h"
#include "ir/ops/decode/blockwise.h"
#include "ir/ops/decode/einsum_labels.h"

/* [.., K] as [rows, K] */
static ac_tensor *flat(const ac_adjoint *a, ac_tensor *x, int64_t k)
{
    return x ? ac_make_reshape(&a->b, x, 2, (int64_t[]){k ? ac_tensor_count(x) / k : 0, k}) : NULL;
}

/* y = x w' + b: dx = dy w, dw = dy' x, db = sum of dy */
int ac_gr_dense(ac_adjoint *a)
{
    const ac_node *n = a->node;
    ac_tensor *x = n->in[0], *w = n->in[1], *dy = flat(a, ac_dy(a), w->dim[0]);
    if (ac_wants(a, 0)) {
        if (w->dtype != x->dtype)
            return ac_no_gradient(a, "its weights are %s", ac_dtype_name(w->dtype));
        ac_give(a, 0, ac_make_reshape_like(&a->b, ac_make_matmul(&a->b, dy, w, false, false), x));
    }
    if (ac_wants(a, 1))
        ac_give(a, 1, ac_make_matmul(&a->b, dy, flat(a, x, w->dim[1]), true, false));
    if (ac_wants(a, 2))
        ac_give(a, 2, ac_make_reshape_like(&a->b, ac_make_reduce(&a->b, AC_OP_SUM, dy, 1, false), n->in[2]));
    return AC_OK;
}

/* The same of weights that are packed: the product keeps them so, and its gradient reads them as a constant of floats.
 * Trained weights are unpacked before (ir/train/products.c). */
int ac_gr_blockwise_dense(ac_adjoint *a)
{
    ac_blockwise w;
    const ac_node *n = a->node;
    AC_TRY(ac_blockwise_of(a->b.cx, n, &w));
    ac_tensor *x = n->in[AC_BLOCKWISE_X], *dy = flat(a, ac_dy(a), w.rows);
    for (int32_t i = AC_BLOCKWISE_CODES; i <= AC_BLOCKWISE_ZERO; i++)
        if (ac_node_in(n, i) && (ac_wants(a, i) || !ac_tensor_is_const(n->in[i])))
            return ac_no_gradient(a, "its packed weights '%s' are no constant", n->in[i]->name);
    if (ac_wants(a, AC_BLOCKWISE_X)) {
        const float *v = ac_blockwise_floats(a->b.cx, n, &w, w.depth, true);
        if (!v)
            return AC_FAIL;
        ac_tensor *real = ac_tensor_const(a->b.g, ac_strf(a->b.cx->region, "grad_%s_w", n->out[0]->name), AC_F32, 2,
                                          (int64_t[]){w.rows, w.depth}, v);
        ac_give(a, AC_BLOCKWISE_X, ac_make_reshape_like(&a->b, ac_make_matmul(&a->b, dy, real, false, false), x));
    }
    if (ac_wants(a, AC_BLOCKWISE_BIAS))
        ac_give(a, AC_BLOCKWISE_BIAS, ac_make_reduce(&a->b, AC_OP_SUM, dy, 1, false));
    return AC_OK;
}

/* ------------------------------------------------------------------ batches of products */

/* True if z = x Y is one product of all rows of x, since all batches share Y. */
static bool is_shared(const ac_tensor *x, const ac_tensor *y, const ac_tensor *z)
{
    const int64_t batches = ac_dim_product(z->dim, 0, z->rank - 2);
    return batches > 1 && ac_dim_product(y->dim, 0, y->rank - 2) == 1 &&
           ac_dim_product(x->dim, 0, x->rank - 2) == batches;
}

/* dx has z's dimensions in front: sums where x had 1. */
static void give_summed(ac_adjoint *a, int32_t i, ac_tensor *dx)
{
    const ac_tensor *x = a->node->in[i];
    uint32_t mask = 0;
    for (int32_t d = 0; dx && d < dx->rank - 2; d++) {
        const int32_t own = d - (dx->rank - x->rank);
        if (dx->dim[d] != 1 && (own < 0 || x->dim[own] == 1))
            mask |= 1u << d;
    }
    ac_give(a, i, ac_make_reshape_like(&a->b, ac_make_reduce(&a->b, AC_OP_SUM, dx, mask, true), x));
}

/* z = X Y, where X is x or x' (adj_x) and Y is y or y': dX = dz Y', dY = X' dz, and x's adjoint is that of X or its
 * transpose. Weights that all batches share (y) are one product over all rows. */
int ac_gr_matmul(ac_adjoint *a)
{
    const ac_node *n = a->node;
    ac_tensor *x = n->in[0], *y = n->in[1], *dz = ac_dy(a);
    const bool adj_x = n->attrs.matmul.adj_x, adj_y = n->attrs.matmul.adj_y;
    if (x->dtype != y->dtype)
        return ac_no_gradient(a, "its operands are %s and %s", ac_dtype_name(x->dtype), ac_dtype_name(y->dtype));
    if (ac_wants(a, 0))
        give_summed(a, 0,
                    adj_x ? ac_make_matmul(&a->b, y, dz, adj_y, true) : ac_make_matmul(&a->b, dz, y, false, !adj_y));
    if (!ac_wants(a, 1))
        return AC_OK;
    if (!adj_x && is_shared(x, y, n->out[0])) {
        x = flat(a, x, x->dim[x->rank - 1]);
        dz = dz ? flat(a, dz, dz->dim[dz->rank - 1]) : NULL;
        ac_tensor *dy = adj_y ? ac_make_matmul(&a->b, dz, x, true, false) : ac_make_matmul(&a->b, x, dz, true, false);
        ac_give(a, 1, ac_make_reshape_like(&a->b, dy, n->in[1]));
        return AC_OK;
    }
    give_summed(a, 1, adj_y ? ac_make_matmul(&a->b, dz, x, true, adj_x) : ac_make_matmul(&a->b, x, dz, !adj_x, false));
    return AC_OK;
}

/* ------------------------------------------------------------------ determinants and inverses */

/* y = |x|: dx = dy y inverse(x)'; infinite or no number where x has no inverse. */
int ac_gr_det(ac_adjoint *a)
{
    const ac_node *n = a->node;
    ac_tensor *x = n->in[0], *by = MUL(ac_dy(a), n->out[0]);
    int64_t dim[AC_MAX_RANK] = {0};
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = d < x->rank - 2 ? x->dim[d] : 1;
    by = by ? ac_make_reshape(&a->b, by, x->rank, dim) : NULL;
    ac_give(a, 0, MUL(by, ac_make_swapped(&a->b, OP1(INVERSE, x))));
    return AC_OK;
}

/* Y = inverse(X): dX = -Y' dY Y' */
int ac_gr_inverse(ac_adjoint *a)
{
    ac_tensor *y = a->node->out[0];
    ac_give(a, 0, NEG(ac_make_matmul(&a->b, ac_make_matmul(&a->b, y, ac_dy(a), true, false), y, false, true)));
    return AC_OK;
}

/* ------------------------------------------------------------------ einsum */

/* The adjoint of operand i is an einsum of the other operands and the result's adjoint; labels that only operand i has
 * were summed: there the adjoint is the same everywhere. */
static ac_tensor *einsum_share(const ac_adjoint *a, const ac_einsum_labels *l, int32_t i)
{
    const ac_node *n = a->node;
    ac_tensor *in[AC_EINSUM_OPERANDS + 1], *x = n->in[i];
    int64_t labels[(AC_EINSUM_OPERANDS + 1) * AC_MAX_RANK], dim[AC_MAX_RANK];
    int32_t n_in = 0, n_labels = 0;
    bool elsewhere[AC_EINSUM_LABELS] = {false};
    for (int32_t k = 0; k <= l->n_in; k++) {
        const bool result = k == l->n_in;
        ac_tensor *t = k == i ? NULL : result ? ac_dy(a) : n->in[k];
        if (k == i)
            continue;
        if (!t)
            return NULL;
        for (int32_t d = 0; d < t->rank; d++) {
            labels[n_labels++] = l->of[k][d];
            elsewhere[l->of[k][d]] = true;
        }
        in[n_in++] = t;
    }
    for (int32_t d = 0; d < x->rank; d++) {
        dim[d] = elsewhere[l->of[i][d]] ? x->dim[d] : 1;
        if (elsewhere[l->of[i][d]] && x->dim[d] == l->extent[l->of[i][d]])
            labels[n_labels++] = l->of[i][d];
    }
    ac_attrs t;
    ac_attrs_init(AC_OP_EINSUM, &t);
    t.einsum.labels = ac_make_list(&a->b, n_labels, labels);
    return ac_make_reshape(&a->b, ac_make_op(&a->b, AC_OP_EINSUM, in, n_in, &t, AC_NONE), x->rank, dim);
}

int ac_gr_einsum(ac_adjoint *a)
{
    ac_einsum_labels l;
    AC_TRY(ac_einsum_labels_of(a->b.cx, a->node, &l));
    for (int32_t i = 0; i < l.n_in; i++) {
        const ac_tensor *x = a->node->in[i];
        for (int32_t d = 0; d < x->rank; d++)
            for (int32_t e = 0; e < d; e++)
                if (l.of[i][d] == l.of[i][e] && ac_wants(a, i))
                    return ac_no_gradient(a, "operand %d has a label twice", i);
        if (ac_wants(a, i))
            ac_give(a, i, einsum_share(a, &l, i));
    }
    return AC_OK;
}
