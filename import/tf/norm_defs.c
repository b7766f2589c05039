/* norm_defs.c - reductions and normalisations of TensorFlow. */
#include "import/tf/nodedefs.h"

#include <string.h>

#define MAKER (&n->b)
#include "ir/make/formula.h"

#define RESULT(t) ac_tf_result(n, 0, t)

int ac_tf_do_reduce(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    const ac_op op = n->row->op;
    uint32_t mask;
    const bool keep = ac_attr_bool_or(&n->attrs, A_keep_dims, ac_attr_bool(&n->attrs, A_keepdims));
    const bool euclid = n->node->op[0] == 'E';
    AC_TRY(ac_tf_axes(n, 1, x->rank, &mask));
    for (int32_t d = 0; d < x->rank; d++)
        if (mask >> d & 1 && x->dim[d] == 0 && op != AC_OP_SUM && op != AC_OP_REDUCE_PROD)
            return ac_cannot(&n->b, "it reduces a dimension of size 0");
    if (op == AC_OP_MEAN && ac_dtype_is_int(x->dtype))
        return ac_cannot(&n->b, "its input is %s", ac_dtype_name(x->dtype));
    x = euclid ? SQUARE(x) : x;
    x = ac_make_reduce(&n->b, op, x, mask, keep);
    return RESULT(euclid ? SQRT(x) : x);
}

int ac_tf_do_cumsum(ac_tf_op *n)
{
    ac_attrs a;
    int32_t axis;
    AC_TRY(ac_tf_axis(n, 1, n->t[0]->rank, &axis));
    const int64_t where = axis;
    ac_attrs_init(n->row->op, &a);
    a.cumsum.exclusive = ac_attr_bool(&n->attrs, A_exclusive);
    a.cumsum.reverse = ac_attr_bool(&n->attrs, A_reverse);
    ac_tensor *in[] = {n->t[0],
                       ac_make_reshape(&n->b, ac_make_cast(&n->b, ac_make_ints(&n->b, 1, &where), AC_I32), 0, NULL)};
    return RESULT(ac_make_op(&n->b, n->row->op, in, 2, &a, AC_NONE));
}

int ac_tf_do_softmax(ac_tf_op *n)
{
    if (!n->t[0]->rank)
        return ac_error(n->r->cx, n->b.at, E0104, "'%s' is a scalar", n->t[0]->name);
    return RESULT(ac_make_1(&n->b, n->row->op, n->t[0]));
}

/* Along the channels, which are last. */
int ac_tf_do_lrn(ac_tf_op *n)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_LRN, &a);
    a.lrn.radius = (int32_t)ac_attr_int(&n->attrs, A_depth_radius);
    a.lrn.bias = (float)ac_attr_float(&n->attrs, A_bias);
    a.lrn.alpha = (float)ac_attr_float(&n->attrs, A_lrn_alpha);
    a.lrn.beta = (float)ac_attr_float(&n->attrs, A_beta);
    return RESULT(ac_make_op(&n->b, AC_OP_LRN, n->t, 1, &a, AC_NONE));
}

/* ------------------------------------------------------------------ batch normalisation */

/* A number for each channel, as an operand of x. */
static ac_tensor *per_channel(ac_tf_op *n, ac_tensor *v, const ac_tensor *x, bool first)
{
    int64_t dim[AC_MAX_RANK] = {0};
    if (!v || !first)
        return v;
    dim[0] = v->dim[0];
    for (int32_t d = 1; d < x->rank - 1; d++)
        dim[d] = 1;
    return ac_make_reshape(&n->b, v, x->rank - 1, dim);
}

/* x * m + (offset - mean * m) with m = scale / sqrt(variance + epsilon): two constants for each channel. */
static ac_tensor *normalise(ac_tf_op *n, ac_tensor *x, ac_tensor *const v[4], double epsilon, bool first)
{
    ac_tensor *sum = ADD(v[3], F32(epsilon));
    ac_tensor *m = OP1(RSQRT, sum);
    m = v[0] ? MUL(v[0], m) : m;
    ac_tensor *shift = v[1] ? SUB(v[1], MUL(v[2], m)) : NEG(MUL(v[2], m));
    shift = per_channel(n, shift, x, first);
    return ADD(MUL(x, per_channel(n, m, x, first)), shift);
}

/* FusedBatchNorm, V2, V3: scale, offset, mean, variance. In training mode the last two come from the batch. */
int ac_tf_do_fused_batch_norm(ac_tf_op *n)
{
    bool first;
    ac_tensor *x = n->t[0], *v[4] = {n->t[1], n->t[2], n->t[3], n->t[4]};
    const double epsilon = ac_attr_float(&n->attrs, A_epsilon);
    const bool training = ac_attr_bool(&n->attrs, A_is_training);
    const float factor = (float)ac_attr_float(&n->attrs, A_exponential_avg_factor);
    AC_TRY(ac_tf_channels_first(n, &first));
    const int32_t at = first ? 1 : x->rank - 1;
    if (x->rank != 4 && x->rank != 5)
        return ac_error(n->r->cx, n->b.at, E0104, "'%s' is %s", x->name, ac_shape_str(n->r->cx, x));
    const int64_t c = x->dim[at];
    if (training) {
        const uint32_t mask = ((1u << x->rank) - 1) & ~(1u << at);
        ac_tensor *mean = MEAN(x, mask);
        ac_tensor *var = MEAN(OP2(SQUARED_DIFFERENCE, x, mean), mask);
        v[2] = ac_make_reshape(&n->b, mean, 1, &c);
        v[3] = ac_make_reshape(&n->b, var, 1, &c);
        if (n->n_out > 1 || factor != 1)
            return ac_cannot(&n->b, "is_training is true, and its statistics are used");
    }
    for (int32_t i = 0; i < 4; i++)
        if (!v[i] || v[i]->rank != 1 || v[i]->dim[0] != c)
            return ac_error(n->r->cx, n->b.at, E0104, "input %d does not have a number for each of %lld channels",
                            i + 1, (long long)c);
    AC_TRY(RESULT(normalise(n, x, v, epsilon, first)));
    AC_TRY(ac_tf_result(n, 1, v[2]));
    return ac_tf_result(n, 2, v[3]);
}

/* The older form: x, mean, variance, offset, scale. */
int ac_tf_do_batch_norm_global(ac_tf_op *n)
{
    const bool scaled = ac_attr_bool(&n->attrs, A_scale_after_normalization);
    ac_tensor *v[4] = {scaled ? n->t[4] : NULL, n->t[3], n->t[1], n->t[2]};
    return RESULT(normalise(n, n->t[0], v, ac_attr_float(&n->attrs, A_variance_epsilon), false));
}
