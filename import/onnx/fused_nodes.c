/* fused_nodes.c - com.microsoft: operators that ONNX Runtime's optimiser fuses with their neighbours. Each becomes the
 * operator of ai.onnx again (ac_onx_inner), with a transpose before it, or a bias or an activation after it. */
#include "ir/make/compose_math.h"
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <string.h>

enum { SINCE = 13 }; /* the operator set whose meaning the fused operators have */

/* ------------------------------------------------------------------ activations */

static ac_tensor *gelu(ac_onx_node *n, ac_tensor *x, bool tanh)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_GELU, &a);
    a.gelu.approximate = tanh;
    return x ? ac_make_op(&n->b, AC_OP_GELU, &x, 1, &a, AC_NONE) : NULL;
}

/* Activations that a fused operator may name; p are their parameters, in the order of the list. */
enum { RELU, LEAKY_RELU, TANH, SIGMOID, CLIP, HARD_SIGMOID, ELU, SOFTPLUS, GELU, QUICK_GELU, SILU };
static const struct {
    const char *name;
    int which;
    float p[2]; /* defaults */
} ACTIVATIONS[] = {
    {"Relu", RELU, {0}},
    {"LeakyRelu", LEAKY_RELU, {0.01f}},
    {"Tanh", TANH, {0}},
    {"Sigmoid", SIGMOID, {0}},
    {"Clip", CLIP, {-3.4028235e38f, 3.4028235e38f}},
    {"HardSigmoid", HARD_SIGMOID, {0.2f, 0.5f}},
    {"Elu", ELU, {1}},
    {"Softplus", SOFTPLUS, {0}},
    {"Gelu", GELU, {0}},
    {"QuickGelu", QUICK_GELU, {1.702f}},
    {"Silu", SILU, {0}},
};

static ac_tensor *between(ac_onx_node *n, ac_tensor *x, double lo, double hi)
{
    x = MAX(x, F32(lo));
    return x ? MIN(x, F32(hi)) : NULL;
}

static ac_tensor *apply(ac_onx_node *n, int which, const float *p, ac_tensor *x)
{
    const double a = (double)p[0], b = (double)p[1];
    ac_attrs leaky;
    switch (which) {
    case RELU:
        return ac_make_relu(&n->b, x);
    case LEAKY_RELU:
        ac_attrs_init(AC_OP_LEAKY_RELU, &leaky);
        leaky.alpha.alpha = p[0];
        return ac_make_op(&n->b, AC_OP_LEAKY_RELU, &x, 1, &leaky, AC_NONE);
    case TANH:
        return OP1(TANH, x);
    case SIGMOID:
        return OP1(LOGISTIC, x);
    case CLIP:
        return between(n, x, a, b);
    case HARD_SIGMOID:
        return ac_make_hard_sigmoid(&n->b, x, a, b);
    case ELU:
        return ac_make_elu(&n->b, x, a);
    case SOFTPLUS:
        return OP1(SOFTPLUS, x);
    case GELU:
        return gelu(n, x, false);
    default:
        return ac_make_swish(&n->b, x, which == SILU ? 1 : a);
    }
}

/* y through the activation that attribute `activation` names; its parameters are a list, or have names. */
static ac_tensor *activated(ac_onx_node *n, ac_tensor *y)
{
    static const int NAMES[] = {A_activation_alpha, A_activation_beta};
    const char *name = ac_attr_text(&n->attrs, A_fused_activation);
    int64_t count;
    const float *list = ac_onx_floats(n, "activation_params", &count);
    (void)ac_attr_float(&n->attrs, A_activation_gamma);
    (void)ac_attr_int(&n->attrs, A_activation_axis);
    for (size_t i = 0; i < sizeof ACTIVATIONS / sizeof *ACTIVATIONS; i++) {
        float p[2];
        for (int32_t k = 0; k < 2; k++)
            p[k] = k < count ? list[k] : (float)ac_attr_float_or(&n->attrs, NAMES[k], (double)ACTIVATIONS[i].p[k]);
        if (!strcmp(ACTIVATIONS[i].name, name))
            return y ? apply(n, ACTIVATIONS[i].which, p, y) : NULL;
    }
    return *name ? ((void)ac_cannot(&n->b, "its activation is %s", name), NULL) : y;
}

int ac_onx_do_gelu_exact(ac_onx_node *n)
{
    return ac_onx_result(n, 0, gelu(n, n->in[0], false));
}

int ac_onx_do_quick_gelu(ac_onx_node *n)
{
    return ac_onx_result(n, 0, ac_make_swish(&n->b, n->in[0], ac_attr_float(&n->attrs, A_quick_gelu_alpha)));
}

int ac_onx_do_bias_gelu(ac_onx_node *n)
{
    return ac_onx_result(n, 0, gelu(n, ADD(n->in[0], n->in[1]), false));
}

int ac_onx_do_fast_gelu(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *bias = ac_onx_in(n, 1);
    return ac_onx_result(n, 0, gelu(n, bias ? ADD(x, bias) : x, true));
}

/* The left half of x + bias, times gelu of the right one. */
int ac_onx_do_bias_split_gelu(ac_onx_node *n)
{
    ac_tensor *x = ADD(n->in[0], n->in[1]);
    if (!x)
        return AC_FAIL;
    const int32_t last = x->rank - 1;
    const int64_t half = x->rank ? x->dim[last] / 2 : 0;
    if (x->rank < 1 || x->dim[last] % 2)
        return ac_bad(&n->b, "'%s' is %s, which has no halves", n->in[0]->name, ac_shape_str(n->r->cx, x));
    ac_tensor *right = gelu(n, ac_make_slice(&n->b, x, last, half, half), false);
    return ac_onx_result(n, 0, MUL(ac_make_slice(&n->b, x, last, 0, half), right));
}

/* The bias broadcasts as it does in the Add that was fused. */
int ac_onx_do_bias_softmax(ac_onx_node *n)
{
    int32_t axis;
    (void)ac_attr_int(&n->attrs, A_is_inner_broadcast);
    AC_TRY(ac_attr_axis(&n->attrs, A_second_axis, n->in[0]->rank, &axis));
    ac_tensor *x = ADD(n->in[0], n->in[1]);
    if (!x)
        return AC_FAIL;
    int64_t dim[2] = {1, 1};
    for (int32_t d = 0; d < x->rank; d++)
        dim[d >= axis] *= x->dim[d];
    ac_tensor *y = ac_onx_softmax(n, ac_make_reshape(&n->b, x, 2, dim), AC_F32);
    return ac_onx_result(n, 0, ac_make_reshape(&n->b, y, x->rank, x->dim));
}

/* ------------------------------------------------------------------ convolutions, pools */

ac_tensor *ac_onx_swapped_channels(ac_onx_node *n, ac_tensor *x, bool to_last)
{
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    if (!x || x->rank < 3)
        return x;
    ac_perm_axis_last(x->rank, 1, perm, back);
    return ac_make_transpose(&n->b, x, to_last ? perm : back);
}

/* Conv(X, W, B) + Z, activated. */
int ac_onx_do_fused_conv(ac_onx_node *n)
{
    const bool last = !strncmp(n->type, "Nhwc", 4);
    ac_tensor *in[] = {last ? ac_onx_swapped_channels(n, n->in[0], false) : n->in[0], n->in[1], ac_onx_in(n, 2)};
    ac_tensor *y = in[0] ? ac_onx_inner(n, "Conv", SINCE, in, 3) : NULL, *z = ac_onx_in(n, 3);
    if (last)
        y = ac_onx_swapped_channels(n, y, true);
    if (z && y)
        y = ADD(y, z);
    return ac_onx_result(n, 0, activated(n, y));
}

int ac_onx_do_nhwc_max_pool(ac_onx_node *n)
{
    ac_tensor *x = ac_onx_swapped_channels(n, n->in[0], false);
    return ac_onx_result(n, 0, x ? ac_onx_swapped_channels(n, ac_onx_inner(n, "MaxPool", SINCE, &x, 1), true) : NULL);
}

/* ------------------------------------------------------------------ products */

/* The operand of a product, transposed by its attributes: `batch` moves the first dimension after those of the batch,
 * then `adj` swaps the last two. */
static ac_tensor *turned(ac_onx_node *n, ac_tensor *x, bool batch, bool adj)
{
    int32_t perm[AC_MAX_RANK];
    const int32_t rank = x->rank;
    if (rank < 2)
        return x;
    for (int32_t d = 0; d < rank; d++)
        perm[d] = d;
    for (int32_t d = 0; batch && d < rank - 1; d++)
        perm[d] = d < rank - 2 ? d + 1 : 0;
    if (adj) {
        const int32_t was = perm[rank - 1];
        perm[rank - 1] = perm[rank - 2];
        perm[rank - 2] = was;
    }
    return ac_make_transpose(&n->b, x, perm);
}

/* alpha * A' * B', activated. */
int ac_onx_do_fused_matmul(ac_onx_node *n)
{
    const double alpha = ac_attr_float(&n->attrs, A_alpha);
    ac_tensor *in[] = {turned(n, n->in[0], ac_attr_bool(&n->attrs, A_transBatchA), ac_attr_bool(&n->attrs, A_transA)),
                       turned(n, n->in[1], ac_attr_bool(&n->attrs, A_transBatchB), ac_attr_bool(&n->attrs, A_transB))};
    ac_tensor *y = in[0] && in[1] ? ac_onx_inner(n, "MatMul", SINCE, in, 2) : NULL;
    if (alpha != 1)
        y = ac_make_mul_number(&n->b, y, alpha);
    return ac_onx_result(n, 0, activated(n, y));
}

int ac_onx_do_fused_gemm(ac_onx_node *n)
{
    ac_tensor *y = ac_onx_inner(n, "Gemm", SINCE, n->in, n->n_in);
    return ac_onx_result(n, 0, activated(n, y));
}

int ac_onx_do_gemm_fast_gelu(ac_onx_node *n)
{
    ac_tensor *y = ac_onx_inner(n, "MatMul", SINCE, n->in, 2), *bias = ac_onx_in(n, 2);
    return ac_onx_result(n, 0, gelu(n, bias ? ADD(y, bias) : y, true));
}

/* ------------------------------------------------------------------ operators that ai.onnx has under another form */

int ac_onx_do_expand_dims(ac_onx_node *n)
{
    int64_t v;
    int32_t axis;
    int64_t dim[AC_MAX_RANK];
    ac_tensor *x = n->in[0];
    AC_TRY(ac_operand_int(&n->b, &n->in[1], &v));
    if (x->rank >= AC_MAX_RANK)
        return ac_cannot(&n->b, "its result has more than %d dimensions", AC_MAX_RANK);
    AC_TRY(ac_operand_axis(&n->b, v, x->rank + 1, &axis));
    for (int32_t d = 0; d <= x->rank; d++)
        dim[d] = d == axis ? 1 : x->dim[d - (d > axis)];
    return ac_onx_result(n, 0, ac_make_reshape(&n->b, x, x->rank + 1, dim));
}

/* start and limit, and a step of 1 where it is left out; each is a scalar or has one element. */
int ac_onx_do_range_ms(ac_onx_node *n)
{
    ac_tensor *in[3];
    for (int32_t i = 0; i < 3; i++) {
        ac_tensor *x = ac_onx_in(n, i);
        in[i] = x && ac_tensor_count(x) == 1 ? ac_make_reshape(&n->b, x, 0, NULL) : x;
    }
    in[2] = in[2] ? in[2] : NUM(n->in[0], 1);
    return ac_onx_result(n, 0, ac_onx_inner(n, "Range", SINCE, in, 3));
}

/* Distances of the rows of A [M,K] to those of B [N,K]. */
int ac_onx_do_cdist(ac_onx_node *n)
{
    ac_tensor *a = n->in[0], *b = n->in[1];
    const char *metric = ac_attr_text(&n->attrs, A_metric);
    const bool root = !strcmp(metric, "euclidean");
    if (!root && strcmp(metric, "sqeuclidean") != 0)
        return ac_cannot(&n->b, "its metric is %s", metric);
    if (a->rank != 2 || b->rank != 2 || a->dim[1] != b->dim[1])
        return ac_bad(&n->b, "'%s' is %s, '%s' is %s", a->name, ac_shape_str(n->r->cx, a), b->name,
                      ac_shape_str(n->r->cx, b));
    a = ac_make_reshape(&n->b, a, 3, (int64_t[]){a->dim[0], 1, a->dim[1]});
    b = ac_make_reshape(&n->b, b, 3, (int64_t[]){1, b->dim[0], b->dim[1]});
    ac_tensor *d = OP2(SQUARED_DIFFERENCE, a, b);
    d = ac_make_reduce(&n->b, AC_OP_SUM, d, 4, false);
    return ac_onx_result(n, 0, root && d ? SQRT(d) : d);
}

/* The inner operator of the same name. */
int ac_onx_do_same_as(ac_onx_node *n)
{
    return ac_onx_result(n, 0, ac_onx_inner(n, n->type, SINCE, n->in, n->n_in));
}
