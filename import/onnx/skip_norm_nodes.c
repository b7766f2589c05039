/* skip_norm_nodes.c - normalisations as ONNX Runtime's optimiser writes them: with the sum before them (skip, bias), of
 * embeddings, with an activation after them, over groups of channels that may come last. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <string.h>

/* (x - mean) / sqrt(variance + eps) * gamma + beta over the dimensions of the mask; without the mean where `centred` is
 * false. gamma and beta may be NULL. */
static ac_tensor *normal(ac_onx_node *n, ac_tensor *x, uint32_t mask, double eps, bool centred, ac_tensor *gamma,
                         ac_tensor *beta)
{
    ac_tensor *d = centred && x ? SUB(x, ac_make_reduce(&n->b, AC_OP_MEAN, x, mask, true)) : x;
    ac_tensor *square = d ? ac_make_reduce(&n->b, AC_OP_MEAN, SQUARE(d), mask, true) : NULL;
    ac_tensor *more = square ? ADD(square, F32(eps)) : NULL;
    ac_tensor *y = more ? DIV(d, SQRT(more)) : NULL;
    y = gamma ? MUL(y, gamma) : y;
    return beta ? ADD(y, beta) : y;
}

/* A vector of the last dimension's size, or NULL. */
static int check_vector(ac_onx_node *n, const ac_tensor *v, int64_t size)
{
    if (!v || (v->rank == 1 && v->dim[0] == size))
        return AC_OK;
    return ac_error(n->r->cx, n->at, E0104, "'%s' is %s, expected [%" PRId64 "]", v->name, ac_shape_str(n->r->cx, v),
                    size);
}

/* Are the statistics of training results? CPU providers of ONNX Runtime do not make them either. */
static int check_statistics(ac_onx_node *n)
{
    for (int32_t i = 1; i < 3 && i < n->n_out; i++)
        if (n->out[i])
            return ac_cannot(&n->b, "its results for training (mean, inverse deviation) are used");
    return AC_OK;
}

/* input, skip, gamma, beta, bias -> y, -, -, sum. The simplified form has no beta and takes no mean away. */
int ac_onx_do_skip_norm(ac_onx_node *n)
{
    const bool simple = !strcmp(n->type, "SkipSimplifiedLayerNormalization");
    ac_tensor *x = n->in[0], *skip = n->in[1], *gamma = n->in[2], *beta = simple ? NULL : ac_onx_in(n, 3);
    ac_tensor *bias = ac_onx_in(n, simple ? 3 : 4);
    const double eps = ac_attr_float(&n->attrs, A_skip_norm_epsilon);
    if (x->rank < 2)
        return ac_bad(&n->b, "input '%s' is %s, expected 2 or 3 dimensions", x->name, ac_shape_str(n->r->cx, x));
    const int64_t size = x->dim[x->rank - 1];
    AC_TRY(check_vector(n, gamma, size));
    AC_TRY(check_vector(n, beta, size));
    AC_TRY(check_vector(n, bias, size));
    AC_TRY(check_statistics(n));
    ac_tensor *sum = ADD(bias ? ADD(x, bias) : x, skip);
    if (!sum || !ac_tensor_same_shape(sum, x))
        return sum ? ac_bad(&n->b, "skip '%s' is %s, input '%s' is %s", skip->name, ac_shape_str(n->r->cx, skip),
                            x->name, ac_shape_str(n->r->cx, x))
                   : AC_FAIL;
    AC_TRY(ac_onx_result(n, 0, normal(n, sum, 1u << (x->rank - 1), eps, !simple, gamma, beta)));
    return ac_onx_result(n, 3, sum);
}

/* RMS normalisation over the dimensions from the axis on; its second result is the inverse deviation. */
int ac_onx_do_simplified_norm(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    AC_TRY(ac_attr_axis(&n->attrs, A_last_axis, x->rank, &axis));
    (void)ac_attr_int(&n->attrs, A_stash_type);
    const uint32_t mask = ((1u << x->rank) - 1) & ~((1u << axis) - 1);
    AC_TRY(check_statistics(n));
    return ac_onx_result(n, 0, normal(n, x, mask, ac_attr_float(&n->attrs, A_epsilon), false, n->in[1], NULL));
}

/* ------------------------------------------------------------------ embeddings */

/* Rows of a table [V,H] by the numbers of ids. */
static ac_tensor *rows(ac_onx_node *n, ac_tensor *table, ac_tensor *ids)
{
    ac_tensor *in[] = {table, ids};
    return table && ids ? ac_make_op(&n->b, AC_OP_GATHER, in, 2, NULL, AC_NONE) : NULL;
}

/* How many ones each row of the mask has. */
static ac_tensor *lengths(ac_onx_node *n, ac_tensor *mask, int64_t batch)
{
    if (!mask)
        return ac_make_broadcast(&n->b, ac_make_number(&n->b, AC_I32, 0), 1, &batch);
    ac_tensor *one = EQUAL(mask, NUM(mask, 1));
    return ac_make_reduce(&n->b, AC_OP_SUM, ac_make_cast(&n->b, one, AC_I32), 2, false);
}

/* ids, segments, words, positions, segment table, gamma, beta, mask, position ids -> y, mask index, sum */
int ac_onx_do_embed_norm(ac_onx_node *n)
{
    for (int32_t i = 2; i < 7; i += i == 3 ? 2 : 1)
        AC_TRY(ac_onx_need(n, i));
    ac_tensor *ids = n->in[0], *segments = ac_onx_in(n, 1), *words = n->in[2], *places = n->in[3];
    ac_tensor *table = ac_onx_in(n, 4), *gamma = n->in[5], *beta = n->in[6], *mask = ac_onx_in(n, 7);
    ac_tensor *at = ac_onx_in(n, 8);
    (void)ac_attr_int(&n->attrs, A_mask_index_type);
    const double eps = ac_attr_float(&n->attrs, A_skip_norm_epsilon);
    if (ids->rank != 2 || words->rank != 2 || places->rank != 2 || words->dim[1] != places->dim[1] ||
        !segments != !table || (table && (table->rank != 2 || table->dim[1] != words->dim[1])) ||
        (mask && mask->rank != 2))
        return ac_bad(&n->b, "ids %s, words %s and positions %s do not fit", ac_shape_str(n->r->cx, ids),
                      ac_shape_str(n->r->cx, words), ac_shape_str(n->r->cx, places));
    AC_TRY(check_vector(n, gamma, words->dim[1]));
    AC_TRY(check_vector(n, beta, words->dim[1]));
    if (!at && ids->dim[1] > places->dim[0])
        return ac_bad(&n->b, "%" PRId64 " tokens, but '%s' is %s", ids->dim[1], places->name,
                      ac_shape_str(n->r->cx, places));
    ac_tensor *place = at ? rows(n, places, at) : ac_make_slice(&n->b, places, 0, 0, ids->dim[1]);
    ac_tensor *sum = ADD(rows(n, words, ids), place);
    if (segments)
        sum = ADD(sum, rows(n, table, segments));
    if (!sum)
        return AC_FAIL;
    AC_TRY(ac_onx_result(n, 0, normal(n, sum, 1u << (sum->rank - 1), eps, true, gamma, beta)));
    if (n->n_out > 1 && n->out[1])
        AC_TRY(ac_onx_result(n, 1, lengths(n, mask, ids->dim[0])));
    return ac_onx_result(n, 2, sum);
}

/* ------------------------------------------------------------------ groups */

/* x, gamma, beta; SkipGroupNorm: x, gamma, beta, skip, bias -> y, sum. Channels come last by default. */
int ac_onx_do_group_norm_ms(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *gamma = n->in[1], *beta = n->in[2], *skip = ac_onx_in(n, 3), *bias = ac_onx_in(n, 4);
    const bool last = ac_attr_bool(&n->attrs, A_group_norm_channels_last);
    const int64_t groups = ac_attr_int(&n->attrs, A_groups), act = ac_attr_int(&n->attrs, A_group_norm_activation);
    const double eps = ac_attr_float(&n->attrs, A_epsilon);
    if (x->rank != 4 || act < 0 || act > 1)
        return ac_bad(&n->b, "'%s' is %s, activation is %" PRId64, x->name, ac_shape_str(n->r->cx, x), act);
    const int64_t c = x->dim[last ? 3 : 1], per = groups > 0 ? c / groups : 0;
    if (groups < 1 || c % groups)
        return ac_error(n->r->cx, n->at, E0103, "%" PRId64 " groups of %" PRId64 " channels", groups, c);
    AC_TRY(check_vector(n, gamma, c));
    AC_TRY(check_vector(n, beta, c));
    AC_TRY(check_vector(n, bias, c));
    if (skip && skip->rank == 2)
        skip = ac_make_reshape(&n->b, skip, 4, (int64_t[]){skip->dim[0], 1, 1, skip->dim[1]});
    x = last ? x : ac_onx_swapped_channels(n, x, true);
    skip = last || !skip || ac_onx_in(n, 3)->rank == 2 ? skip : ac_onx_swapped_channels(n, skip, true);
    x = skip ? ADD(x, skip) : x;
    x = bias ? ADD(x, bias) : x;
    if (!x)
        return AC_FAIL;
    const int64_t apart[5] = {x->dim[0], x->dim[1], x->dim[2], groups, per};
    ac_tensor *y = normal(n, ac_make_reshape(&n->b, x, 5, apart), 0x16, eps, true, NULL, NULL);
    y = ADD(MUL(ac_make_reshape(&n->b, y, 4, x->dim), gamma), beta);
    if (act && y)
        y = MUL(y, OP1(LOGISTIC, y));
    AC_TRY(ac_onx_result(n, 0, last ? y : ac_onx_swapped_channels(n, y, false)));
    return ac_onx_result(n, 1, last ? x : ac_onx_swapped_channels(n, x, false));
}
