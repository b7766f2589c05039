/* reduce_adjoints.c - gradients of reductions, sums along an axis, and normalisations by one. */
#include "ir/make/compose_moves.h"
#include "ir/grad/entries.h"
#include "ir/grad/formula.h"
#include "ir/ops/decode/axis.h"

#include <string.h>

/* A reduced tensor with its dimensions kept as 1: it broadcasts to the operand. */
static ac_tensor *kept(const ac_adjoint *a, ac_tensor *t, uint32_t mask)
{
    const ac_tensor *x = a->node->in[0];
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = mask >> d & 1 ? 1 : x->dim[d];
    return ac_make_reshape(&a->b, t, x->rank, dim);
}

static double reduced(const ac_tensor *x, uint32_t mask)
{
    double n = 1;
    for (int32_t d = 0; d < x->rank; d++)
        n *= mask >> d & 1 ? (double)x->dim[d] : 1;
    return n;
}

int ac_gr_sum(ac_adjoint *a)
{
    uint32_t mask;
    AC_TRY(ac_reduce_axes(a->b.cx, a->node, &mask));
    ac_give(a, 0, kept(a, ac_dy(a), mask));
    return AC_OK;
}

int ac_gr_mean(ac_adjoint *a)
{
    uint32_t mask;
    AC_TRY(ac_reduce_axes(a->b.cx, a->node, &mask));
    const double n = reduced(a->node->in[0], mask);
    ac_give(a, 0, TIMES(kept(a, ac_dy(a), mask), n > 0 ? 1 / n : 0));
    return AC_OK;
}

/* Equal extremes get equal shares. */
int ac_gr_reduce_extreme(ac_adjoint *a)
{
    uint32_t mask;
    AC_TRY(ac_reduce_axes(a->b.cx, a->node, &mask));
    ac_tensor *x = a->node->in[0], *taken = OP2(EQUAL, x, kept(a, ac_y(a), mask));
    ac_tensor *n = ac_make_reduce(&a->b, AC_OP_SUM, ac_make_cast(&a->b, taken, x->dtype), mask, true);
    ac_tensor *share = DIV(kept(a, ac_dy(a), mask), n), *zero = NUM(share, 0);
    ac_give(a, 0, WHERE(taken, share, zero));
    return AC_OK;
}

static ac_tensor *running(const ac_adjoint *a, ac_op op, ac_tensor *x, int32_t axis, bool exclusive, bool reverse)
{
    ac_attrs t;
    const int64_t v = axis;
    ac_attrs_init(op, &t);
    t.cumsum.exclusive = exclusive;
    t.cumsum.reverse = reverse;
    return x ? ac_make_op(&a->b, op, (ac_tensor *[]){x, ac_make_ints_shaped(&a->b, 0, NULL, &v)}, 2, &t, AC_NONE)
             : NULL;
}

/* The product of all others: of those before times of those after. The reduced dimensions become one, the last. */
int ac_gr_reduce_prod(ac_adjoint *a)
{
    uint32_t mask;
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK], at = 0;
    AC_TRY(ac_reduce_axes(a->b.cx, a->node, &mask));
    ac_tensor *x = a->node->in[0];
    for (int32_t last = 0; last < 2; last++)
        for (int32_t d = 0; d < x->rank; d++)
            if ((mask >> d & 1) == (uint32_t)last)
                perm[at++] = d;
    for (int32_t d = 0; d < x->rank; d++)
        back[perm[d]] = d;
    ac_tensor *moved = ac_make_transpose(&a->b, x, perm);
    const int64_t n = (int64_t)reduced(x, mask), count = ac_tensor_count(x);
    ac_tensor *rows = ac_make_reshape(&a->b, moved, 2, (int64_t[]){n ? count / n : 0, n});
    ac_tensor *after = running(a, AC_OP_CUMPROD, rows, 1, true, true);
    ac_tensor *others = MUL(running(a, AC_OP_CUMPROD, rows, 1, true, false), after);
    if (!moved || !others)
        return AC_FAIL;
    others = ac_make_transpose(&a->b, ac_make_reshape_like(&a->b, others, moved), back);
    ac_give(a, 0, MUL(kept(a, ac_dy(a), mask), others));
    return AC_OK;
}

int ac_gr_cumsum(ac_adjoint *a)
{
    const ac_attrs_cumsum *t = &a->node->attrs.cumsum;
    int32_t axis;
    AC_TRY(ac_one_axis(a->b.cx, a->node, 1, 0, a->node->in[0]->rank, &axis));
    ac_give(a, 0, running(a, AC_OP_CUMSUM, ac_dy(a), axis, t->exclusive, !t->reverse));
    return AC_OK;
}

/* 1 where element (i, j) of [n, n] is on the diagonal, or (above) right of it */
static ac_tensor *corner(const ac_adjoint *a, int64_t n, bool above, bool diagonal)
{
    uint8_t *data = AC_NEW_N(a->b.cx->region, uint8_t, n * n + 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            data[i * n + j] = (i == j && diagonal) || (j > i && above);
    const char *name = ac_strf(a->b.cx->region, "grad_%s_c", a->node->out[0]->name);
    return ac_tensor_const(a->b.g, name, AC_BOOL, 2, (int64_t[]){n, n}, data);
}

/* Rows [R, n]: dx[i] = sum over j of dy[j] * (product up to j without element i), without a division, so that zeros do
 * no harm. Takes n * n numbers for each row. */
static ac_tensor *cumprod_rows(const ac_adjoint *a, ac_tensor *x, ac_tensor *dy, bool exclusive)
{
    const int64_t r = x ? x->dim[0] : 0, n = x ? x->dim[1] : 0;
    ac_tensor *one = NUM(x, 1), *all = ac_make_reshape(&a->b, x, 3, (int64_t[]){r, 1, n});
    ac_tensor *but = running(a, AC_OP_CUMPROD, WHERE(corner(a, n, false, true), one, all), 2, exclusive, false);
    ac_tensor *each = MUL(but, ac_make_reshape(&a->b, dy, 3, (int64_t[]){r, 1, n}));
    ac_tensor *zero = NUM(each, 0);
    return ac_make_reduce(&a->b, AC_OP_SUM, WHERE(corner(a, n, true, !exclusive), each, zero), 4, false);
}

int ac_gr_cumprod(ac_adjoint *a)
{
    const ac_attrs_cumsum *t = &a->node->attrs.cumsum;
    ac_tensor *x = a->node->in[0], *dy = ac_dy(a);
    int32_t axis, perm[AC_MAX_RANK], back[AC_MAX_RANK];
    AC_TRY(ac_one_axis(a->b.cx, a->node, 1, 0, x->rank, &axis));
    const int64_t n = x->dim[axis], count = ac_tensor_count(x);
    if (n > 1 << 12)
        return ac_no_gradient(a, "its axis has %lld elements, supported are 4096", (long long)n);
    for (int32_t d = 0; d < x->rank; d++)
        perm[d] = d < axis ? d : d == x->rank - 1 ? axis : d + 1;
    for (int32_t d = 0; d < x->rank; d++)
        back[perm[d]] = d;
    ac_tensor *in[2] = {x, dy}, *moved = NULL;
    for (int32_t i = 0; i < 2; i++) {
        in[i] = t->reverse && in[i] ? ac_make_reverse(&a->b, in[i], axis) : in[i];
        moved = ac_make_transpose(&a->b, in[i], perm);
        in[i] = ac_make_reshape(&a->b, moved, 2, (int64_t[]){n ? count / n : 0, n});
    }
    ac_tensor *dx = cumprod_rows(a, in[0], in[1], t->exclusive);
    if (!moved)
        return AC_FAIL;
    dx = ac_make_transpose(&a->b, ac_make_reshape_like(&a->b, dx, moved), back);
    ac_give(a, 0, t->reverse ? ac_make_reverse(&a->b, dx, axis) : dx);
    return AC_OK;
}

/* ------------------------------------------------------------------ normalised along the last dimension */

static ac_tensor *row_sum(const ac_adjoint *a, ac_tensor *x)
{
    return x ? ac_make_reduce(&a->b, AC_OP_SUM, x, 1u << (x->rank - 1), true) : NULL;
}

/* y = softmax(beta * x): dx = beta * y * (dy - sum(dy * y)) */
int ac_gr_softmax(ac_adjoint *a)
{
    const double beta = (double)a->node->attrs.softmax.beta;
    ac_tensor *y = ac_y(a), *dy = ac_dy(a), *dx = MUL(y, SUB(dy, row_sum(a, MUL(dy, y))));
    ac_give(a, 0, beta > 1 || beta < 1 ? TIMES(dx, beta) : dx);
    return AC_OK;
}

/* dx = dy - exp(y) * sum(dy) */
int ac_gr_log_softmax(ac_adjoint *a)
{
    ac_tensor *dy = ac_dy(a), *sum = row_sum(a, dy);
    ac_give(a, 0, SUB(dy, MUL(OP1(EXP, ac_y(a)), sum)));
    return AC_OK;
}

/* y = x / r with r = |x|, at least 1e-6: dx = (dy - y * sum(dy * y)) / r, or dy / r where r is the bound */
int ac_gr_l2norm(ac_adjoint *a)
{
    const double least = 1e-12; /* of the square */
    ac_tensor *x = a->node->in[0], *y = ac_y(a), *dy = ac_dy(a), *square = row_sum(a, SQUARE(x));
    ac_tensor *by = OP1(RSQRT, OP2(MAXIMUM, square, NUM(x, least)));
    ac_tensor *sum = row_sum(a, MUL(dy, y)), *zero = NUM(sum, 0);
    ac_tensor *along = WHERE(GREATER(square, NUM(square, least)), sum, zero);
    ac_give(a, 0, MUL(SUB(dy, MUL(y, along)), by));
    return AC_OK;
}

/* y = x * s^-beta, s = bias + alpha * (sum of the squares of 2 * radius + 1 neighbours): dx = dy * s^-beta - 2 alpha *
 * beta * x * (the same sum of dy * x * s^(-beta - 1)) */
int ac_gr_lrn(ac_adjoint *a)
{
    const ac_attrs_lrn *t = &a->node->attrs.lrn;
    const double alpha = (double)t->alpha, beta = (double)t->beta;
    ac_tensor *x = a->node->in[0], *dy = ac_dy(a), *sum[2] = {SQUARE(x), NULL};
    int64_t ones[AC_MAX_RANK], kernel[AC_MAX_RANK], pads[2 * AC_MAX_RANK] = {0};
    for (int32_t d = 0; d < x->rank; d++)
        ones[d] = kernel[d] = 1;
    kernel[x->rank - 1] = 2 * (int64_t)t->radius + 1;
    pads[2 * x->rank - 2] = pads[2 * x->rank - 1] = t->radius;
    ac_attrs w;
    ac_attrs_init(AC_OP_WINDOW_SUM, &w);
    w.window.kernel = ac_make_list(&a->b, x->rank, kernel);
    w.window.strides = w.window.dilations = ac_make_list(&a->b, x->rank, ones);
    w.window.pads = ac_make_list(&a->b, 2 * x->rank, pads);
    sum[0] = ac_make_op(&a->b, AC_OP_WINDOW_SUM, &sum[0], 1, &w, AC_NONE);
    ac_tensor *s = PLUS(TIMES(sum[0], alpha), (double)t->bias);
    ac_tensor *power = OP2(POW, s, NUM(x, -beta)), *own = MUL(dy, power);
    sum[1] = DIV(MUL(own, x), s);
    sum[1] = ac_make_op(&a->b, AC_OP_WINDOW_SUM, &sum[1], 1, &w, AC_NONE);
    ac_give(a, 0, SUB(own, MUL(TIMES(x, 2 * alpha * beta), sum[1])));
    return AC_OK;
}
