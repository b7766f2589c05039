/* norm_nodes.c - reductions and normalisations of ONNX. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static ac_tensor *add_number(ac_onx_node *n, ac_tensor *x, double v)
{
    return x ? ADD(x, NUM(x, v)) : NULL;
}

/* The reduced axes: an attribute, later an operand. Neither: all, or none with noop_with_empty_axes. */
static int axes_of(ac_onx_node *n, uint32_t *mask)
{
    const int32_t rank = n->in[0]->rank;
    const bool noop = ac_attr_bool(&n->attrs, A_noop_with_empty_axes);
    ac_ints axes = ac_attr_ints(&n->attrs, A_axes);
    if (ac_onx_in(n, 1))
        AC_TRY(ac_operand_values(&n->b, &n->in[1], &axes));
    *mask = axes.n || noop ? 0 : (1u << rank) - 1;
    for (int32_t i = 0; i < axes.n; i++) {
        int32_t d;
        AC_TRY(ac_operand_axis(&n->b, axes.v[i], rank, &d));
        *mask |= 1u << d;
    }
    return AC_OK;
}

static bool nothing_in(const ac_tensor *x, uint32_t mask)
{
    for (int32_t d = 0; d < x->rank; d++)
        if (mask >> d & 1 && x->dim[d] == 0)
            return true;
    return false;
}

/* The mean of no elements is NaN, the greatest one the least value of the type (floats: -inf), the least one the
 * greatest. */
static ac_tensor *of_nothing(ac_onx_node *n, const ac_tensor *x, uint32_t mask, bool keep)
{
    int64_t dim[AC_MAX_RANK];
    int32_t rank = 0;
    const bool max = n->row->op == AC_OP_REDUCE_MAX, real = ac_dtype_is_float(x->dtype);
    for (int32_t d = 0; d < x->rank; d++) {
        if (!(mask >> d & 1))
            dim[rank++] = x->dim[d];
        else if (keep)
            dim[rank++] = 1;
    }
    if (n->row->op == AC_OP_MEAN)
        return real ? ac_make_broadcast(&n->b, NUM(x, (double)NAN), rank, dim)
                    : ((void)ac_cannot(&n->b, "it is the mean of no integers"), NULL);
    double v = max ? -(double)INFINITY : (double)INFINITY;
    if (!real && ac_dtype_bits(x->dtype) > 32)
        return (void)ac_cannot(&n->b, "it reduces a dimension of size 0"), NULL;
    if (!real)
        v = (double)(max ? ac_dtype_min(x->dtype) : ac_dtype_max(x->dtype));
    return ac_make_broadcast(&n->b, NUM(x, v), rank, dim);
}

static int reduce(ac_onx_node *n, ac_tensor *x, ac_tensor **y)
{
    uint32_t mask;
    const bool keep = ac_attr_int(&n->attrs, A_keepdims) != 0;
    const ac_op op = n->row->op;
    AC_TRY(axes_of(n, &mask));
    if (!x)
        return AC_FAIL;
    if (nothing_in(x, mask) && op != AC_OP_SUM && op != AC_OP_REDUCE_PROD) {
        *y = of_nothing(n, x, mask, keep);
        return *y ? AC_OK : AC_FAIL;
    }
    *y = ac_make_reduce(&n->b, op, x, mask, keep);
    return *y ? AC_OK : AC_FAIL;
}

int ac_onx_do_reduce(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *y;
    const bool logical = x->dtype == AC_BOOL;
    AC_TRY(reduce(n, logical ? ac_make_cast(&n->b, x, AC_U8) : x, &y));
    return ac_onx_result(n, 0, logical ? ac_make_cast(&n->b, y, AC_BOOL) : y);
}

int ac_onx_do_reduce_abs(ac_onx_node *n)
{
    ac_tensor *y;
    AC_TRY(reduce(n, ABS(n->in[0]), &y));
    return ac_onx_result(n, 0, y);
}

int ac_onx_do_reduce_square(ac_onx_node *n)
{
    ac_tensor *y;
    AC_TRY(reduce(n, SQUARE(n->in[0]), &y));
    return ac_onx_result(n, 0, y);
}

int ac_onx_do_reduce_l2(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *y;
    if (ac_dtype_is_int(x->dtype))
        return ac_cannot(&n->b, "its input is %s", ac_dtype_name(x->dtype));
    AC_TRY(reduce(n, SQUARE(x), &y));
    return ac_onx_result(n, 0, SQRT(y));
}

int ac_onx_do_reduce_log(ac_onx_node *n)
{
    ac_tensor *y;
    AC_TRY(reduce(n, n->in[0], &y));
    return ac_onx_result(n, 0, LOG(y));
}

/* log(sum(exp(x - m))) + m with m = max(x): nothing overflows. An infinite m becomes finite, since infinity minus
 * infinity is NaN. */
int ac_onx_do_reduce_log_exp(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *y;
    uint32_t mask;
    AC_TRY(axes_of(n, &mask));
    if (nothing_in(x, mask)) {
        AC_TRY(reduce(n, EXP(x), &y));
        return ac_onx_result(n, 0, LOG(y));
    }
    const double most = x->dtype == AC_F64 ? DBL_MAX : (double)FLT_MAX;
    ac_tensor *m = ac_make_reduce(&n->b, AC_OP_REDUCE_MAX, x, mask, true);
    ac_tensor *end = m ? NUM(m, most) : NULL;
    m = MIN(MAX(m, NUM(m, -most)), end);
    AC_TRY(reduce(n, EXP(SUB(x, m)), &y));
    ac_tensor *log = LOG(y);
    return ac_onx_result(n, 0, log ? ADD(log, ac_make_reshape(&n->b, m, log->rank, log->dim)) : NULL);
}

/* select_last_index: the index counted in the reversed tensor. */
int ac_onx_do_arg(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    ac_attrs a;
    const bool keep = ac_attr_int(&n->attrs, A_keepdims) != 0, last = ac_attr_bool(&n->attrs, A_select_last_index);
    AC_TRY(ac_attr_axis(&n->attrs, A_axis, x->rank, &axis));
    const int64_t at = axis, size = x->dim[axis];
    int64_t dim[AC_MAX_RANK];
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = 1;
    const int32_t rank = x->rank;
    ac_tensor *where = ac_make_ints(&n->b, 1, &at);
    if (last)
        x = OP2(REVERSE_V2, x, where);
    ac_attrs_init(n->row->op, &a);
    a.arg.out_type = AC_I64;
    ac_tensor *in[] = {x, ac_make_reshape(&n->b, where, 0, NULL)};
    ac_tensor *y = ac_make_op(&n->b, n->row->op, in, 2, &a, AC_I64);
    if (last && y)
        y = SUB(I64((size - 1)), y);
    return ac_onx_result(n, 0, keep ? ac_make_reshape(&n->b, y, rank, dim) : y);
}

int ac_onx_do_cumsum(ac_onx_node *n)
{
    int64_t at;
    int32_t axis;
    ac_attrs a;
    AC_TRY(ac_operand_int(&n->b, &n->in[1], &at));
    AC_TRY(ac_operand_axis(&n->b, at, n->in[0]->rank, &axis));
    ac_attrs_init(n->row->op, &a);
    a.cumsum.exclusive = ac_attr_bool(&n->attrs, A_exclusive);
    a.cumsum.reverse = ac_attr_bool(&n->attrs, A_reverse);
    const int64_t v = axis;
    ac_tensor *in[] = {n->in[0], ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &v), 0, NULL)};
    return ac_onx_result(n, 0, ac_make_op(&n->b, n->row->op, in, 2, &a, AC_NONE));
}

static ac_tensor *rounded(ac_onx_node *n, ac_tensor *x, ac_dtype half)
{
    return half == AC_NONE ? x : ac_make_cast(&n->b, ac_make_cast(&n->b, x, half), AC_F32);
}

ac_tensor *ac_onx_rounded(ac_onx_node *n, ac_tensor *x)
{
    return rounded(n, x, n->half);
}

/* 16-bit floats: each step of the operator's function body gives a 16-bit result. */
static ac_tensor *half_softmax(ac_onx_node *n, ac_tensor *x, int32_t axis, ac_dtype half)
{
    x = rounded(n, x, half);
    ac_tensor *far = rounded(n, SUB(x, ac_make_reduce(&n->b, AC_OP_REDUCE_MAX, x, 1u << axis, true)), half);
    ac_tensor *e = far ? rounded(n, EXP(far), half) : NULL;
    return DIV(e, rounded(n, ac_make_reduce(&n->b, AC_OP_SUM, e, 1u << axis, true), half));
}

ac_tensor *ac_onx_softmax(ac_onx_node *n, ac_tensor *x, ac_dtype precision)
{
    if (!x || ac_tensor_count(x) == 0)
        return x;
    if (precision == AC_F16 || precision == AC_BF16)
        return half_softmax(n, x, x->rank - 1, precision);
    return OP1(SOFTMAX, x);
}

/* Ours is along the last dimension. Up to opset 12 the dimensions from the axis on are taken as one. */
int ac_onx_do_softmax(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis, perm[AC_MAX_RANK], back[AC_MAX_RANK];
    const int32_t rank = x->rank;
    AC_TRY(ac_operand_axis(&n->b, ac_attr_int_or(&n->attrs, A_axis, n->version < 13 ? 1 : -1),
                           rank + (n->version < 13 && rank == 1), &axis));
    if (x->dtype != AC_F32 && x->dtype != AC_F64)
        return ac_cannot(&n->b, "its input is %s", ac_dtype_name(x->dtype));
    if (ac_tensor_count(x) == 0)
        return ac_onx_result(n, 0, x);
    if (n->version < 13) {
        int64_t dim[2] = {1, 1};
        for (int32_t d = 0; d < rank; d++)
            dim[d >= axis] *= x->dim[d];
        ac_tensor *y = ac_make_1(&n->b, n->row->op, axis == rank - 1 ? x : ac_make_reshape(&n->b, x, 2, dim));
        return ac_onx_result(n, 0, ac_make_reshape(&n->b, y, rank, x->dim));
    }
    ac_perm_axis_last(rank, axis, perm, back);
    if (n->half != AC_NONE && n->row->op == AC_OP_SOFTMAX)
        return ac_onx_result(n, 0, half_softmax(n, x, axis, n->half));
    return ac_onx_result(
        n, 0, ac_make_transpose(&n->b, ac_make_1(&n->b, n->row->op, ac_make_transpose(&n->b, x, perm)), back));
}

/* A parameter [C] reshaped to broadcast along dimension 1 of a tensor of this rank. */
static ac_tensor *along_channels(ac_onx_node *n, ac_tensor *p, int32_t rank)
{
    int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    dim[0] = ac_tensor_count(p);
    return rank < 2 ? p : ac_make_reshape(&n->b, p, rank - 1, dim);
}

/* The mean over the batch and over positions: first along the rows, so that fewer numbers are added to one sum, and
 * less is rounded away. */
static ac_tensor *mean_of_batch(ac_onx_node *n, ac_tensor *x)
{
    if (x && x->rank > 2)
        x = MEAN(x, 1u << (x->rank - 1));
    return x ? MEAN(x, ((1u << x->rank) - 1) & ~2u) : NULL;
}

/* In training: (x - mean) * scale / sqrt(var + epsilon) + B with mean and variance of the batch; the running variance
 * follows the unbiased one. */
static int batch_norm_of_batch(ac_onx_node *n, double epsilon, double momentum)
{
    ac_tensor *x = n->in[0];
    const int64_t count = x->dim[1] ? ac_tensor_count(x) / x->dim[1] : 0;
    ac_tensor *mean = mean_of_batch(n, x), *d = SUB(x, mean);
    ac_tensor *var = mean_of_batch(n, d ? SQUARE(d) : NULL);
    ac_tensor *inv = OP1(RSQRT, add_number(n, var, epsilon));
    ac_tensor *s = MUL(inv, along_channels(n, n->in[1], x->rank));
    ac_tensor *shift = along_channels(n, n->in[2], x->rank), *y = ADD(MUL(d, s), shift);
    ac_tensor *wide = MUL(var, NUM(x, count > 1 ? (double)count / (double)(count - 1) : 1));
    for (int32_t i = 0; i < 2; i++) {
        ac_tensor *old = n->in[3 + i], *now = ac_make_reshape(&n->b, i ? wide : mean, 1, old->dim);
        if (!now)
            return AC_FAIL;
        ac_push(n->r->cx->region, &n->r->reading->out.running, ((ac_running){old, now, momentum}));
        if (n->n_out > 1 + i) {
            ac_tensor *share = MUL(now, NUM(old, 1 - momentum));
            AC_TRY(ac_onx_result(n, 1 + i, ADD(MUL(old, NUM(old, momentum)), share)));
        }
    }
    return ac_onx_result(n, 0, y);
}

/* Inference: x * s + (B - mean * s) with s = scale / sqrt(var + epsilon). */
int ac_onx_do_batch_norm(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *scale = n->in[1], *b = n->in[2], *mean = n->in[3], *var = n->in[4];
    const double epsilon = ac_attr_float(&n->attrs, A_epsilon);
    const double momentum = ac_attr_float(&n->attrs, A_momentum);
    const bool training = ac_attr_bool(&n->attrs, A_training_mode);
    (void)ac_attr_int(&n->attrs, A_is_test);
    if (ac_attr_int(&n->attrs, A_spatial) != 1)
        return ac_cannot(&n->b, "spatial is 0");
    if (n->n_out > 1 && !training)
        return ac_refuse(n->r->reading, n->at, E0108, n->type, "its training results are used",
                         "export the model after model.eval()");
    for (int32_t i = 1; i < 5; i++)
        if (x->rank < 2 || n->in[i]->rank != 1 || n->in[i]->dim[0] != x->dim[1])
            return ac_error(n->r->cx, n->at, E0104, "parameter '%s' is %s, but input '%s' is %s", n->in[i]->name,
                            ac_shape_str(n->r->cx, n->in[i]), x->name, ac_shape_str(n->r->cx, x));
    if (n->r->reading->opt.batch_norm && n->in[3]->weight && n->in[4]->weight)
        return batch_norm_of_batch(n, epsilon, momentum);
    if (training) { /* over the batch; running statistics are results */
        const uint32_t axes = ((1u << x->rank) - 1) & ~2u;
        ac_tensor *old[2] = {mean, var}, *keep = NUM(mean, momentum);
        mean = ac_make_reshape(&n->b, MEAN(x, axes), 1, scale->dim);
        ac_tensor *d = mean ? SUB(x, along_channels(n, mean, x->rank)) : NULL;
        var = ac_make_reshape(&n->b, MEAN(d ? SQUARE(d) : NULL, axes), 1, scale->dim);
        for (int32_t i = 0; i < 2; i++) {
            ac_tensor *now = MUL(i ? var : mean, NUM(scale, 1 - momentum));
            AC_TRY(ac_onx_result(n, 1 + i, ADD(MUL(old[i], keep), now)));
        }
    }
    ac_tensor *s = DIV(scale, SQRT(add_number(n, var, epsilon)));
    ac_tensor *t = SUB(b, MUL(mean, s));
    if (!s || !t)
        return AC_FAIL;
    t = along_channels(n, t, x->rank);
    return ac_onx_result(n, 0, ADD(MUL(x, along_channels(n, s, x->rank)), t));
}

/* (x - mean) / sqrt(var + epsilon) over some dimensions; *shift and *scale, if wanted, are mean and 1 / sqrt. */
static ac_tensor *standardise(ac_onx_node *n, ac_tensor *x, uint32_t axes, double epsilon, ac_tensor **mean,
                              ac_tensor **inv)
{
    ac_tensor *m = MEAN(x, axes), *d = SUB(x, m);
    ac_tensor *var = MEAN(d ? SQUARE(d) : NULL, axes);
    ac_tensor *s = SQRT(add_number(n, var, epsilon));
    if (mean)
        *mean = m;
    if (inv)
        *inv = s ? DIV(F32(1), s) : NULL;
    return DIV(d, s);
}

int ac_onx_do_instance_norm(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    if (x->rank < 3)
        return ac_error(n->r->cx, n->at, E0104, "input '%s' has %d dimensions", x->name, x->rank);
    const uint32_t spatial = ((1u << x->rank) - 1) & ~3u;
    ac_tensor *y = standardise(n, x, spatial, ac_attr_float(&n->attrs, A_epsilon), NULL, NULL);
    y = MUL(y, along_channels(n, n->in[1], x->rank));
    return ac_onx_result(n, 0, ADD(y, along_channels(n, n->in[2], x->rank)));
}

/* Groups of channels become a dimension of their own. Before opset 21 scale and bias are for each group. */
int ac_onx_do_group_norm(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *scale = n->in[1], *bias = n->in[2];
    const int64_t groups = ac_attr_int(&n->attrs, A_num_groups);
    const double epsilon = ac_attr_float(&n->attrs, A_epsilon);
    (void)ac_attr_int(&n->attrs, A_stash_type);
    if (x->rank < 2 || groups < 1 || x->dim[1] % groups)
        return ac_error(n->r->cx, n->at, E0103, "%" PRId64 " groups do not divide the channels of '%s' %s", groups,
                        x->name, ac_shape_str(n->r->cx, x));
    const int64_t n_ = x->dim[0] * groups, per = x->dim[1] / groups;
    int64_t spatial = 1;
    for (int32_t d = 2; d < x->rank; d++)
        spatial *= x->dim[d];
    ac_tensor *y = ac_make_reshape(&n->b, x, 2, (int64_t[]){n_, per * spatial});
    y = standardise(n, y, 2, epsilon, NULL, NULL);
    if (n->version < 21) {
        y = ac_make_reshape(&n->b, y, 3, (int64_t[]){x->dim[0], groups, per * spatial});
        y = MUL(y, ac_make_reshape(&n->b, scale, 2, (int64_t[]){groups, 1}));
        y = ADD(y, ac_make_reshape(&n->b, bias, 2, (int64_t[]){groups, 1}));
        return ac_onx_result(n, 0, ac_make_reshape(&n->b, y, x->rank, x->dim));
    }
    y = ac_make_reshape(&n->b, y, x->rank, x->dim);
    y = MUL(y, along_channels(n, scale, x->rank));
    return ac_onx_result(n, 0, ADD(y, along_channels(n, bias, x->rank)));
}

int ac_onx_do_layer_norm(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *bias = ac_onx_in(n, 2), *mean, *inv;
    int32_t axis;
    AC_TRY(ac_attr_axis(&n->attrs, A_last_axis, x->rank, &axis));
    (void)ac_attr_int(&n->attrs, A_stash_type);
    const uint32_t axes = ((1u << x->rank) - 1) & ~((1u << axis) - 1);
    ac_tensor *y = MUL(standardise(n, x, axes, ac_attr_float(&n->attrs, A_epsilon), &mean, &inv), n->in[1]);
    AC_TRY(ac_onx_result(n, 0, bias ? ADD(y, bias) : y));
    const ac_dtype half = n->half; /* the statistics stay f32 */
    n->half = AC_NONE;
    int rc = n->n_out > 1 ? ac_onx_result(n, 1, mean) : AC_OK;
    if (rc == AC_OK && n->n_out > 2)
        rc = ac_onx_result(n, 2, inv);
    n->half = half;
    return rc;
}

int ac_onx_do_rms_norm(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    AC_TRY(ac_attr_axis(&n->attrs, A_last_axis, x->rank, &axis));
    (void)ac_attr_int(&n->attrs, A_stash_type);
    const double epsilon = ac_attr_float(&n->attrs, A_epsilon);
    const uint32_t axes = ((1u << x->rank) - 1) & ~((1u << axis) - 1);
    ac_tensor *ms = MEAN(SQUARE(x), axes);
    return ac_onx_result(n, 0, MUL(DIV(x, SQRT(add_number(n, ms, epsilon))), n->in[1]));
}

int ac_onx_do_mean_variance(ac_onx_node *n)
{
    static const int64_t INIT[] = {0, 2, 3};
    ac_tensor *x = n->in[0];
    ac_ints axes;
    uint32_t mask = 0;
    axes = ac_attr_ints(&n->attrs, A_axes);
    if (!axes.n)
        axes = (ac_ints){3, INIT};
    for (int32_t i = 0; i < axes.n; i++) {
        int32_t d;
        AC_TRY(ac_operand_axis(&n->b, axes.v[i], x->rank, &d));
        mask |= 1u << d;
    }
    ac_tensor *m = MEAN(x, mask), *d = SUB(x, m);
    ac_tensor *s = SQRT(MEAN(SQUARE(d), mask));
    return ac_onx_result(n, 0, DIV(d, add_number(n, s, 1e-9)));
}

int ac_onx_do_lp_norm(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    AC_TRY(ac_attr_axis(&n->attrs, A_last_axis, x->rank, &axis));
    const int64_t p = ac_attr_int(&n->attrs, A_p);
    if (p != 1 && p != 2)
        return ac_error(n->r->cx, n->at, E0103, "p is %" PRId64 ", expected 1 or 2", p);
    ac_tensor *s =
        ac_make_reduce(&n->b, AC_OP_SUM, ac_make_1(&n->b, p == 1 ? AC_OP_ABS : AC_OP_SQUARE, x), 1u << axis, true);
    if (p == 2)
        s = SQRT(s);
    if (!s)
        return AC_FAIL;
    /* where the norm is 0 the result is 0 */
    ac_tensor *zero = NUM(x, 0);
    ac_tensor *in[] = {EQUAL(s, zero), zero, DIV(x, s)};
    return ac_onx_result(n, 0, ac_make_op(&n->b, AC_OP_SELECT, in, 3, NULL, AC_NONE));
}

int ac_onx_do_lrn(ac_onx_node *n)
{
    static const int32_t TO_LAST[] = {0, 2, 3, 1}, TO_FIRST[] = {0, 3, 1, 2};
    ac_attrs a;
    const int64_t size = ac_attr_int(&n->attrs, A_size);
    if (size % 2 == 0 || n->in[0]->rank != 4)
        return ac_cannot(&n->b, "its size is even or its input has not 4 dimensions");
    ac_attrs_init(AC_OP_LRN, &a);
    a.lrn.radius = (int32_t)(size / 2);
    a.lrn.alpha = (float)ac_attr_float(&n->attrs, A_lrn_alpha) / (float)size;
    a.lrn.beta = (float)ac_attr_float(&n->attrs, A_lrn_beta);
    a.lrn.bias = (float)ac_attr_float(&n->attrs, A_lrn_bias);
    ac_tensor *x = ac_make_transpose(&n->b, n->in[0], TO_LAST);
    return ac_onx_result(n, 0, ac_make_transpose(&n->b, ac_make_op(&n->b, AC_OP_LRN, &x, 1, &a, AC_NONE), TO_FIRST));
}
