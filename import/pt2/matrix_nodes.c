/* matrix_nodes.c - products of matrices of PyTorch. */
#include "import/pt2/nodes.h"

#include "ir/make/compose_einsum.h"
#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Is w a constant, or the transposition of one? */
static bool is_weight(const ac_tensor *w)
{
    return ac_tensor_is_moved_const(w);
}

int ac_ep_do_linear(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *w = n->in[1], *bias = n->in[2], *y;
    if (w->rank > 2 || w->rank < 1 || !x->rank || x->dim[x->rank - 1] != w->dim[w->rank - 1])
        return ac_bad(&n->b, "weights '%s' %s do not fit '%s' %s", w->name, ac_shape_str(n->r->cx, w), x->name,
                      ac_shape_str(n->r->cx, x));
    if (w->rank == 1) {
        y = ac_make_reduce(&n->b, AC_OP_SUM, MUL(x, w), 1u << (x->rank - 1), false);
        return ac_ep_result(n, 0, bias ? ADD(y, bias) : y);
    }
    if (is_weight(w) && (!bias || bias->rank == 1))
        return ac_ep_result(n, 0, ac_make_dense(&n->b, x, w, bias));
    const bool vector = x->rank == 1;
    x = vector ? ac_make_reshape(&n->b, x, 2, (int64_t[]){1, x->dim[0]}) : x;
    y = ac_make_matmul(&n->b, x, w, false, true);
    y = vector && y ? ac_make_reshape(&n->b, y, 1, y->dim + 1) : y;
    return ac_ep_result(n, 0, bias ? ADD(y, bias) : y);
}

/* x times y; a list is a row on the left and a column on the right. */
static ac_tensor *product(ac_ep_node *n, ac_tensor *x, ac_tensor *y)
{
    static const int32_t SWAP[AC_MAX_RANK] = {1, 0};
    if (!x || !y || !x->rank || !y->rank)
        return x && y ? ((void)ac_bad(&n->b, "'%s' or '%s' is a scalar", x->name, y->name), NULL) : NULL;
    const bool row = x->rank == 1, column = y->rank == 1;
    if (column && x->rank > 1 && ac_tensor_count(y) == x->dim[x->rank - 1] && is_weight(y)) {
        ac_tensor *w = ac_make_reshape(&n->b, y, 2, (int64_t[]){1, y->dim[0]});
        ac_tensor *z = ac_make_dense(&n->b, x, w, NULL);
        return z ? ac_make_reshape(&n->b, z, z->rank - 1, z->dim) : NULL;
    }
    x = row ? ac_make_reshape(&n->b, x, 2, (int64_t[]){1, x->dim[0]}) : x;
    y = column ? ac_make_reshape(&n->b, y, 2, (int64_t[]){y->dim[0], 1}) : y;
    if (!x || !y)
        return NULL;
    ac_tensor *z;
    if (y->rank == 2 && is_weight(y) && x->dim[x->rank - 1] == y->dim[0] && x->dtype == AC_F32)
        z = ac_make_dense(&n->b, x, ac_make_transpose(&n->b, y, SWAP), NULL);
    else
        z = ac_make_matmul(&n->b, x, y, false, false);
    if (!z || (!row && !column))
        return z;
    int64_t dim[AC_MAX_RANK];
    int32_t rank = 0;
    for (int32_t d = 0; d < z->rank; d++)
        if (!(row && d == z->rank - 2) && !(column && d == z->rank - 1))
            dim[rank++] = z->dim[d];
    return ac_make_reshape(&n->b, z, rank, dim);
}

/* Products of integers: in f64, which holds them exactly up to 2^53. */
static ac_tensor *any_product(ac_ep_node *n, ac_tensor *x, ac_tensor *y)
{
    if (!ac_dtype_is_int(x->dtype))
        return product(n, x, y);
    const ac_dtype own = x->dtype;
    y = ac_make_cast(&n->b, y, AC_F64);
    x = ac_make_cast(&n->b, x, AC_F64);
    return ac_make_cast(&n->b, product(n, x, y), own);
}

int ac_ep_do_matmul(ac_ep_node *n)
{
    return ac_ep_result(n, 0, any_product(n, n->in[0], n->in[1]));
}

/* Bytes, with sums of 32 bits. */
int ac_ep_do_int_matmul(ac_ep_node *n)
{
    ac_tensor *y = ac_make_cast(&n->b, n->in[1], AC_I32);
    ac_tensor *x = ac_make_cast(&n->b, n->in[0], AC_I32);
    return x ? ac_ep_result(n, 0, any_product(n, x, y)) : AC_FAIL;
}

int ac_ep_do_inner(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[1];
    if (!x->rank || !y->rank)
        return ac_ep_result(n, 0, MUL(x, y));
    if (y->rank > 2)
        return ac_cannot(&n->b, "'%s' has %d dimensions", y->name, y->rank);
    return ac_ep_result(n, 0, any_product(n, x, y->rank == 2 ? ac_make_swapped(&n->b, y) : y));
}

int ac_ep_do_vecdot(ac_ep_node *n)
{
    int32_t d;
    ac_tensor *p = MUL(n->in[0], n->in[1]);
    if (!p)
        return AC_FAIL;
    AC_TRY(ac_ep_axis(n, A_last_dim, p->rank, &d));
    return ac_ep_result(n, 0, ac_make_reduce(&n->b, AC_OP_SUM, p, 1u << d, false));
}

/* beta * self + alpha * product */
static ac_tensor *scaled_sum(ac_ep_node *n, ac_tensor *self, ac_tensor *y)
{
    const double alpha = ac_attr_float(&n->attrs, A_alpha), beta = ac_attr_float(&n->attrs, A_beta);
    y = alpha == 1 || !y ? y : TIMES(y, alpha);
    if (beta == 0)
        return y;
    return ADD(y, beta == 1 ? self : TIMES(self, beta));
}

int ac_ep_do_addmm(ac_ep_node *n)
{
    static const int32_t SWAP[AC_MAX_RANK] = {1, 0};
    ac_tensor *self = n->in[0], *x = n->in[1], *w = n->in[2];
    const bool plain = ac_attr_float(&n->attrs, A_alpha) == 1 && ac_attr_float(&n->attrs, A_beta) == 1;
    if (plain && w->rank == 2 && x->rank == 2 && is_weight(w) && self->rank == 1 && self->dim[0] == w->dim[1] &&
        x->dtype == AC_F32)
        return ac_ep_result(n, 0, ac_make_dense(&n->b, x, ac_make_transpose(&n->b, w, SWAP), self));
    return ac_ep_result(n, 0, scaled_sum(n, self, any_product(n, x, w)));
}

int ac_ep_do_addbmm(ac_ep_node *n)
{
    ac_tensor *y = product(n, n->in[1], n->in[2]);
    y = y ? ac_make_reduce(&n->b, AC_OP_SUM, y, 1, false) : NULL;
    return ac_ep_result(n, 0, scaled_sum(n, n->in[0], y));
}

static ac_tensor *outer_product(ac_ep_node *n, ac_tensor *x, ac_tensor *y)
{
    ac_tensor *column = ac_make_along(&n->b, x, 2, 0);
    return MUL(column, ac_make_along(&n->b, y, 2, 1));
}

int ac_ep_do_outer(ac_ep_node *n)
{
    return ac_ep_result(n, 0, outer_product(n, n->in[0], n->in[1]));
}

int ac_ep_do_addr(ac_ep_node *n)
{
    return ac_ep_result(n, 0, scaled_sum(n, n->in[0], outer_product(n, n->in[1], n->in[2])));
}

/* ------------------------------------------------------------------ sums of products */

static ac_tensor *einsum(ac_ep_node *n, const char *equation, ac_tensor *const *x, int32_t count)
{
    const char *reason = NULL;
    ac_tensor *y = ac_make_einsum(&n->b, equation, x, count, &reason);
    if (!y && reason)
        (void)ac_cannot(&n->b, "%s", reason);
    return y;
}

int ac_ep_do_einsum(ac_ep_node *n)
{
    const char *equation = ac_attr_text(&n->attrs, A_equation);
    ac_attr_skip(&n->attrs, "path");
    return equation ? ac_ep_result(n, 0, einsum(n, equation, n->in, n->n_in)) : ac_bad(&n->b, "it has no equation");
}

int ac_ep_do_tensordot(ac_ep_node *n)
{
    const ac_ints a = ac_attr_list(&n->attrs, "dims_self"), c = ac_attr_list(&n->attrs, "dims_other");
    char text[64], *to = text, x[AC_MAX_RANK], y[AC_MAX_RANK];
    const int32_t rank = n->in[0]->rank, other = n->in[1]->rank;
    if (a.n != c.n)
        return ac_bad(&n->b, "%d dimensions and %d", a.n, c.n);
    for (int32_t d = 0; d < rank; d++)
        x[d] = (char)('a' + d);
    for (int32_t d = 0; d < other; d++)
        y[d] = (char)('A' + d);
    for (int32_t i = 0; i < a.n; i++) {
        int32_t d, e;
        AC_TRY(ac_operand_axis(&n->b, a.v[i], rank, &d));
        AC_TRY(ac_operand_axis(&n->b, c.v[i], other, &e));
        y[e] = x[d];
    }
    for (int32_t d = 0; d < rank; d++)
        *to++ = x[d];
    *to++ = ',';
    for (int32_t d = 0; d < other; d++)
        *to++ = y[d];
    *to++ = '-';
    *to++ = '>';
    for (int32_t d = 0; d < rank; d++)
        if (!memchr(y, x[d], (size_t)other))
            *to++ = x[d];
    for (int32_t d = 0; d < other; d++)
        if (y[d] < 'a')
            *to++ = y[d];
    *to = '\0';
    return ac_ep_result(n, 0, einsum(n, text, n->in, 2));
}

int ac_ep_do_bilinear(ac_ep_node *n)
{
    ac_tensor *in[] = {n->in[0], n->in[2], n->in[1]}, *y = einsum(n, "...i,kij,...j->...k", in, 3);
    return ac_ep_result(n, 0, n->in[3] ? ADD(y, n->in[3]) : y);
}

int ac_ep_do_kron(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[1];
    int64_t a[AC_MAX_RANK], b[AC_MAX_RANK], dim[AC_MAX_RANK];
    const int32_t rank = x->rank > y->rank ? x->rank : y->rank;
    if (2 * rank > AC_MAX_RANK)
        return ac_cannot(&n->b, "its operands have more than 4 dimensions");
    for (int32_t d = 0; d < rank; d++) {
        const int32_t i = d - (rank - x->rank), k = d - (rank - y->rank);
        a[2 * d] = i < 0 ? 1 : x->dim[i];
        b[2 * d + 1] = k < 0 ? 1 : y->dim[k];
        a[2 * d + 1] = b[2 * d] = 1;
        dim[d] = a[2 * d] * b[2 * d + 1];
    }
    ac_tensor *wide = ac_make_reshape(&n->b, x, 2 * rank, a);
    ac_tensor *p = MUL(wide, ac_make_reshape(&n->b, y, 2 * rank, b));
    return ac_ep_result(n, 0, ac_make_reshape(&n->b, p, rank, dim));
}

static ac_tensor *turned(ac_ep_node *n, ac_tensor *x, int32_t d, int64_t by)
{
    ac_tensor *part[2];
    if (!x)
        return NULL;
    part[0] = ac_make_slice(&n->b, x, d, by, 3 - by);
    part[1] = ac_make_slice(&n->b, x, d, 0, by);
    return ac_make_concat(&n->b, part, 2, d);
}

/* Component i is x(i+1) * y(i+2) - x(i+2) * y(i+1). */
int ac_ep_do_cross(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[1];
    int32_t d = -1;
    if (ac_attr_has(&n->attrs, A_last_dim) || strstr(n->row->name, "linalg"))
        AC_TRY(ac_ep_axis(n, A_last_dim, x->rank, &d));
    for (int32_t k = 0; d < 0 && k < x->rank; k++)
        d = x->dim[k] == 3 ? k : d;
    if (d < 0 || x->rank != y->rank || x->dim[d] != 3 || y->dim[d] != 3)
        return ac_bad(&n->b, "'%s' %s has no dimension of 3", x->name, ac_shape_str(n->r->cx, x));
    ac_tensor *x1 = turned(n, x, d, 1), *y2 = turned(n, y, d, 2), *x2 = turned(n, x, d, 2), *y1 = turned(n, y, d, 1);
    ac_tensor *first = MUL(x1, y2);
    return ac_ep_result(n, 0, SUB(first, MUL(x2, y1)));
}

/* Distances of all rows of x [..,P,M] to all of y [..,R,M]. */
int ac_ep_do_cdist(ac_ep_node *n)
{
    const double p = ac_attr_float(&n->attrs, A_p);
    ac_tensor *x = n->in[0], *y = n->in[1];
    int64_t a[AC_MAX_RANK + 1], c[AC_MAX_RANK + 1];
    ac_attr_skip(&n->attrs, "compute_mode");
    if (x->rank < 2 || y->rank < 2 || x->rank >= AC_MAX_RANK || y->rank >= AC_MAX_RANK)
        return ac_cannot(&n->b, "its operands are '%s' and '%s'", x->name, y->name);
    for (int32_t d = 0; d < x->rank - 1; d++)
        a[d] = x->dim[d];
    for (int32_t d = 0; d < y->rank - 2; d++)
        c[d] = y->dim[d];
    a[x->rank - 1] = c[y->rank - 2] = 1;
    a[x->rank] = x->dim[x->rank - 1];
    c[y->rank - 1] = y->dim[y->rank - 2];
    c[y->rank] = y->dim[y->rank - 1];
    ac_tensor *rows = ac_make_reshape(&n->b, x, x->rank + 1, a);
    ac_tensor *far = SUB(rows, ac_make_reshape(&n->b, y, y->rank + 1, c));
    if (!far)
        return AC_FAIL;
    const uint32_t mask = 1u << (far->rank - 1);
    if (p == 2)
        return ac_ep_result(n, 0, SQRT(ac_make_reduce(&n->b, AC_OP_SUM, SQUARE(far), mask, false)));
    far = ABS(far);
    if (p == 1 || isinf(p))
        return ac_ep_result(n, 0, ac_make_reduce(&n->b, p == 1 ? AC_OP_SUM : AC_OP_REDUCE_MAX, far, mask, false));
    ac_tensor *sum = far ? ac_make_reduce(&n->b, AC_OP_SUM, OP2(POW, far, NUM(far, p)), mask, false) : NULL;
    return ac_ep_result(n, 0, sum ? OP2(POW, sum, NUM(sum, 1 / p)) : NULL);
}

int ac_ep_do_inv_ex(ac_ep_node *n)
{
    const ac_tensor *x = n->in[0];
    ac_attr_skip(&n->attrs, "check_errors");
    AC_TRY(ac_ep_result(n, 0, OP1(INVERSE, n->in[0])));
    return ac_ep_result(n, 1, ac_make_zeros(&n->b, AC_I32, x->rank > 2 ? x->rank - 2 : 0, x->dim));
}

int ac_ep_do_matrix_power(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *y = NULL;
    int64_t k = ac_attr_int_in(&n->attrs, A_rows, 0, -64, 64);
    if (x->rank < 2)
        return ac_bad(&n->b, "'%s' is not a matrix", x->name);
    if (k == 0) {
        y = ac_make_cast(&n->b, ac_make_band(&n->b, x->dim[x->rank - 2], x->dim[x->rank - 1], 0, 0), x->dtype);
        return ac_ep_result(n, 0, ac_make_broadcast(&n->b, y, x->rank, x->dim));
    }
    x = k < 0 ? OP1(INVERSE, x) : x;
    for (k = k < 0 ? -k : k; k > 0; k--)
        y = y ? ac_make_matmul(&n->b, y, x, false, false) : x;
    return ac_ep_result(n, 0, y);
}
