/* norm_nodes.c - normalisations of PyTorch, and distances between vectors. */
#include "import/pt2/nodes.h"

#include "ir/make/compose_moves.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* (x - mean) / sqrt(variance + eps) over the dimensions of the mask; *mean and *inv (1 / sqrt), if wanted. */
static ac_tensor *standardised(ac_ep_node *n, ac_tensor *x, uint32_t mask, double eps, ac_tensor **mean,
                               ac_tensor **inv)
{
    ac_tensor *m = x ? MEAN(x, mask) : NULL, *far = SUB(x, m);
    ac_tensor *var = far ? MEAN(SQUARE(far), mask) : NULL;
    ac_tensor *s = SQRT(PLUS(var, eps));
    if (mean)
        *mean = m;
    if (inv)
        *inv = s ? DIV(NUM(s, 1), s) : NULL;
    return DIV(far, s);
}

/* y * weight + bias, each NULL or for each channel, along dimension 1. */
static ac_tensor *affine(ac_ep_node *n, ac_tensor *y, ac_tensor *weight, ac_tensor *bias)
{
    if (weight && y)
        y = MUL(y, ac_make_along(&n->b, weight, y->rank, 1));
    return bias && y ? ADD(y, ac_make_along(&n->b, bias, y->rank, 1)) : y;
}

static int check_channels(ac_ep_node *n, int32_t from)
{
    const ac_tensor *x = n->in[0];
    for (int32_t i = from; i < n->n_in; i++)
        if (n->in[i] && (x->rank < 2 || ac_tensor_count(n->in[i]) != x->dim[1]))
            return ac_bad(&n->b, "parameter '%s' %s does not fit '%s' %s", n->in[i]->name,
                          ac_shape_str(n->r->cx, n->in[i]), x->name, ac_shape_str(n->r->cx, x));
    return AC_OK;
}

/* Results after the first are for training: empty, or statistics. */
static int empty_rest(ac_ep_node *n)
{
    for (int32_t i = 1; i < n->n_out; i++)
        if (n->out[i])
            AC_TRY(ac_ep_result(n, i, ac_make_zeros(&n->b, AC_F32, 1, (int64_t[]){0})));
    return AC_OK;
}

/* By the statistics of the batch: without running ones, or in training. */
static int by_batch(ac_ep_node *n, double eps)
{
    const ac_tensor *x = n->in[0];
    ac_tensor *y = standardised(n, n->in[0], ((1u << x->rank) - 1) & ~2u, eps, NULL, NULL);
    return ac_ep_result(n, 0, affine(n, y, n->in[1], n->in[2]));
}

int ac_ep_do_batch_norm_free(ac_ep_node *n)
{
    (void)ac_attr_bool(&n->attrs, A_training);
    (void)ac_attr_float(&n->attrs, A_momentum);
    AC_TRY(check_channels(n, 1));
    return by_batch(n, ac_attr_float(&n->attrs, A_eps));
}

int ac_ep_do_batch_norm(ac_ep_node *n)
{
    const bool training = ac_attr_bool(&n->attrs, A_training);
    const double eps = ac_attr_float(&n->attrs, A_eps);
    (void)ac_attr_float(&n->attrs, A_momentum);
    AC_TRY(check_channels(n, 1));
    if (training && (n->in[3] || n->in[4]))
        return ac_ep_refuse_training(n, "changes running statistics");
    if (training || !n->in[3] || !n->in[4])
        return by_batch(n, eps);
    ac_tensor *y = ac_make_batch_norm(&n->b, n->in[0], 1, n->in[3], n->in[4], eps, n->in[1], n->in[2]);
    AC_TRY(ac_ep_result(n, 0, y));
    return empty_rest(n);
}

/* The last dimensions, as many as normalized_shape has. */
static int last_axes(ac_ep_node *n, uint32_t *mask)
{
    const ac_tensor *x = n->in[0];
    const ac_ints shape = ac_attr_ints(&n->attrs, A_normalized_shape);
    if (shape.n < 1 || shape.n > x->rank)
        return ac_bad(&n->b, "%d dimensions of '%s' %s", shape.n, x->name, ac_shape_str(n->r->cx, x));
    *mask = ((1u << x->rank) - 1) & ~((1u << (x->rank - shape.n)) - 1);
    return AC_OK;
}

int ac_ep_do_layer_norm(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *weight = n->in[1], *bias = n->in[2], *mean, *inv;
    uint32_t mask = 0;
    AC_TRY(last_axes(n, &mask));
    ac_tensor *y = standardised(n, x, mask, ac_attr_float(&n->attrs, A_eps), &mean, ac_ep_is_used(n, 2) ? &inv : NULL);
    y = weight ? MUL(y, weight) : y;
    AC_TRY(ac_ep_result(n, 0, bias ? ADD(y, bias) : y));
    AC_TRY(ac_ep_is_used(n, 1) ? ac_ep_result(n, 1, mean) : AC_OK);
    return ac_ep_is_used(n, 2) ? ac_ep_result(n, 2, inv) : AC_OK;
}

int ac_ep_do_rms_norm(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *weight = n->in[1];
    uint32_t mask = 0;
    const double least = x->dtype == AC_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
    AC_TRY(last_axes(n, &mask));
    ac_tensor *s = SQRT(PLUS(MEAN(SQUARE(x), mask), ac_attr_float_or(&n->attrs, A_eps, least)));
    ac_tensor *y = DIV(x, s);
    AC_TRY(ac_ep_result(n, 0, weight ? MUL(y, weight) : y));
    return ac_ep_is_used(n, 1) ? ac_ep_result(n, 1, s ? DIV(NUM(s, 1), s) : NULL) : AC_OK;
}

/* native_group_norm has the sizes N, C and HxW as arguments. */
int ac_ep_do_group_norm(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *mean, *inv;
    const int64_t groups =
        ac_attr_has(&n->attrs, A_group) ? ac_attr_int(&n->attrs, A_group) : ac_attr_int(&n->attrs, A_num_groups);
    ac_attr_skip(&n->attrs, "N");
    ac_attr_skip(&n->attrs, "C");
    ac_attr_skip(&n->attrs, "HxW");
    AC_TRY(check_channels(n, 1));
    if (x->rank < 2 || x->dim[1] % groups)
        return ac_bad(&n->b, "%" PRId64 " groups do not divide the channels of '%s' %s", groups, x->name,
                      ac_shape_str(n->r->cx, x));
    const int64_t rows = x->dim[0] * groups, dim[2] = {rows, rows ? ac_tensor_count(x) / rows : 0};
    ac_tensor *y = standardised(n, ac_make_reshape(&n->b, x, 2, dim), 2, ac_attr_float(&n->attrs, A_eps), &mean,
                                ac_ep_is_used(n, 2) ? &inv : NULL);
    y = y ? ac_make_reshape_like(&n->b, y, x) : NULL;
    AC_TRY(ac_ep_result(n, 0, affine(n, y, n->in[1], n->in[2])));
    const int64_t parts[2] = {x->dim[0], groups};
    AC_TRY(ac_ep_is_used(n, 1) ? ac_ep_result(n, 1, ac_make_reshape(&n->b, mean, 2, parts)) : AC_OK);
    return ac_ep_is_used(n, 2) ? ac_ep_result(n, 2, ac_make_reshape(&n->b, inv, 2, parts)) : AC_OK;
}

int ac_ep_do_instance_norm(ac_ep_node *n)
{
    const ac_tensor *x = n->in[0];
    const bool own = ac_attr_bool(&n->attrs, A_use_input_stats);
    const double eps = ac_attr_float(&n->attrs, A_eps);
    (void)ac_attr_float(&n->attrs, A_momentum);
    AC_TRY(check_channels(n, 1));
    if (!own && n->in[3] && n->in[4])
        return ac_ep_result(n, 0, ac_make_batch_norm(&n->b, n->in[0], 1, n->in[3], n->in[4], eps, n->in[1], n->in[2]));
    if (x->rank < 3)
        return ac_bad(&n->b, "'%s' has %d dimensions", x->name, x->rank);
    ac_tensor *y = standardised(n, n->in[0], ((1u << x->rank) - 1) & ~3u, eps, NULL, NULL);
    return ac_ep_result(n, 0, affine(n, y, n->in[1], n->in[2]));
}

/* ------------------------------------------------------------------ distances */

static ac_tensor *sum_along(ac_ep_node *n, ac_tensor *x, int32_t d, bool keep)
{
    return x ? ac_make_reduce(&n->b, AC_OP_SUM, x, 1u << d, keep) : NULL;
}

/* x / max(|x|, eps) * y / max(|y|, eps), summed */
int ac_ep_do_cosine(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[1];
    const double eps = ac_attr_float(&n->attrs, A_small_eps);
    int32_t d;
    int64_t dim[AC_MAX_RANK];
    const ac_tensor *wide = x->rank > y->rank ? x : y, *other = wide == x ? y : x;
    memcpy(dim, wide->dim, sizeof dim);
    for (int32_t k = 0; k < other->rank; k++) {
        int64_t *to = &dim[wide->rank - other->rank + k];
        *to = *to == 1 ? other->dim[k] : *to;
    }
    const int32_t rank = wide->rank;
    AC_TRY(ac_ep_axis(n, A_second, rank, &d));
    x = ac_make_broadcast(&n->b, x, rank, dim);
    y = ac_make_broadcast(&n->b, y, rank, dim);
    if (!x || !y)
        return AC_FAIL;
    ac_tensor *a = SQRT(sum_along(n, SQUARE(x), d, true)), *b = SQRT(sum_along(n, SQUARE(y), d, true));
    a = DIV(x, MAX(a, NUM(x, eps)));
    b = DIV(y, MAX(b, NUM(x, eps)));
    return ac_ep_result(n, 0, sum_along(n, MUL(a, b), d, false));
}

int ac_ep_do_distance(ac_ep_node *n)
{
    const double p = ac_attr_float(&n->attrs, A_p), eps = ac_attr_float_or(&n->attrs, A_eps, 1e-6);
    const bool keep = ac_attr_bool(&n->attrs, A_keepdim);
    ac_tensor *x = ABS(PLUS(SUB(n->in[0], n->in[1]), eps));
    if (!x || x->rank < 1)
        return AC_FAIL;
    if (p == 2)
        return ac_ep_result(n, 0, SQRT(sum_along(n, SQUARE(x), x->rank - 1, keep)));
    if (p == 1)
        return ac_ep_result(n, 0, sum_along(n, x, x->rank - 1, keep));
    ac_tensor *sum = sum_along(n, OP2(POW, x, NUM(x, p)), x->rank - 1, keep);
    return ac_ep_result(n, 0, sum ? OP2(POW, sum, NUM(sum, 1 / p)) : NULL);
}
