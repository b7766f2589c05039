/* moe_nodes.c - com.microsoft: MoE and QMoE: a router chooses k of E feed-forward layers for each token.
 *
 *     x [N,H], router [N,E]  ->  y [N,H] = sum over the chosen experts e of weight e * fc2(act(fc1(x)))
 *
 *     MoE    weights are those of a softmax over all experts, divided by the sum of the chosen ones if
 *            normalize_routing_weights is set
 *     QMoE   weights are a softmax over the chosen experts, or those of another operand (router_weights)
 *
 * Each expert is a branch, taken if a token has chosen it, whose products read that expert's weights where they are
 * constant: no expert is copied into RAM, and only chosen ones are computed. The branch computes all tokens. */
#include "import/build/compose_bounded.h"
#include "import/build/flow/file_flow.h"
#include "import/onnx/packed.h"
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FC1, FC2, FC3, LAYERS };
enum { RELU, GELU, SILU, IDENTITY, SWIGLU };
enum { SPLIT_GATE, NEIGHBOUR_GATE, HALVES_GATE };

/* A layer of all experts: [E,rows,depth]. */
typedef struct layer {
    int32_t weight, scale, bias, zero; /* operands; scale -1: floats */
    bool there;
    int64_t rows, depth, bits;
    int64_t block, count; /* size and number of the blocks of a row; block 0: the row is one */
    const float *floats, *biases;
    const uint8_t *codes, *scales, *zeros;
    ac_dtype real; /* of scales */
} layer;

typedef struct moe {
    ac_onx_node *n;
    bool packed;
    int64_t tokens, hidden, experts, k;
    int32_t activation, gate;
    double alpha, beta, limit;
    layer of[LAYERS];
    ac_tensor *x, *other;       /* [N,H]; QMoE: the router_weights [N,E], or NULL */
    ac_tensor *chosen, *weight; /* [N,k]: experts and their weights */
} moe;

/* ------------------------------------------------------------------ weights */

static int read_floats(moe *m, layer *l)
{
    ac_onx_node *n = m->n;
    const uint8_t *v;
    if (n->in[l->weight]->dtype != AC_F32)
        return ac_cannot(&n->b, "weights '%s' are %s", n->in[l->weight]->name, ac_dtype_name(n->in[l->weight]->dtype));
    AC_TRY(ac_onx_constant_bytes(n, l->weight, m->experts * l->rows * l->depth, &v));
    l->floats = (const float *)(const void *)v;
    return AC_OK;
}

static int read_codes(moe *m, layer *l)
{
    ac_onx_node *n = m->n;
    const int64_t rows = m->experts * l->rows;
    const ac_tensor *scale = ac_onx_in(n, l->scale);
    if (l->depth * l->bits % 8 || (l->block && (l->depth % l->block || l->block * l->bits % 8)))
        return ac_cannot(&n->b, "rows of %" PRId64 " weights of %" PRId64 " bits in blocks of %" PRId64, l->depth,
                         l->bits, l->block);
    if (!scale || !ac_dtype_is_float(scale->dtype))
        return ac_bad(&n->b, "the scales of '%s' are missing, or not floats", n->in[l->weight]->name);
    l->real = scale->dtype;
    l->count = l->block ? l->depth / l->block : 1;
    AC_TRY(ac_onx_constant_bytes(n, l->weight, rows * ac_onx_packed_bytes(l->depth, l->bits), &l->codes));
    AC_TRY(ac_onx_constant_bytes(n, l->scale, rows * l->count, &l->scales));
    return ac_onx_constant_bytes(n, l->zero,
                                 l->block ? rows * ac_onx_packed_bytes(l->count, l->bits)
                                          : m->experts * ac_onx_packed_bytes(l->rows, l->bits),
                                 &l->zeros);
}

static int read_layer(moe *m, layer *l, int64_t rows, int64_t depth)
{
    ac_onx_node *n = m->n;
    const ac_tensor *w = ac_onx_in(n, l->weight), *bias = ac_onx_in(n, l->bias);
    const uint8_t *v;
    l->there = w != NULL;
    if (!w)
        return AC_OK;
    l->rows = rows;
    l->depth = depth;
    const int64_t columns = m->packed ? ac_onx_packed_bytes(depth, l->bits) : depth;
    if (w->rank != 3 || w->dim[0] != m->experts || w->dim[1] != rows || w->dim[2] != columns)
        return ac_bad(&n->b, "weights '%s' are %s, expected [%" PRId64 ",%" PRId64 ",%" PRId64 "]", w->name,
                      ac_shape_str(n->r->cx, w), m->experts, rows, columns);
    if (bias && bias->dtype != AC_F32)
        return ac_bad(&n->b, "bias '%s' is %s, expected floats", bias->name, ac_dtype_name(bias->dtype));
    AC_TRY(ac_onx_constant_bytes(n, l->bias, m->experts * rows, &v));
    l->biases = (const float *)(const void *)v;
    return m->packed ? read_codes(m, l) : read_floats(m, l);
}

/* Zero points of expert e, a byte for each block; those of single-block rows are packed along the rows. */
static const uint8_t *zeros_of(const moe *m, const layer *l, int64_t e)
{
    const int64_t rows = l->block ? l->rows : 1, count = l->block ? l->count : l->rows;
    if (!l->zeros)
        return NULL;
    const uint8_t *packed = l->zeros + e * rows * ac_onx_packed_bytes(count, l->bits);
    return ac_onx_codes(m->n->r->cx->region, packed, rows, count, l->bits);
}

/* x times layer l of expert e, plus its bias. */
static ac_tensor *dense(const moe *m, const layer *l, int64_t e, ac_tensor *x)
{
    ac_onx_node *n = m->n;
    ac_graph *g = n->r->g;
    const char *name = n->in[l->weight]->name;
    const int64_t all = l->rows * l->depth, dim[2] = {l->rows, l->depth};
    ac_tensor *bias =
        l->biases ? ac_tensor_const(g, n->in[l->bias]->name, AC_F32, 1, &l->rows, l->biases + e * l->rows) : NULL;
    if (!m->packed)
        return ac_make_dense(&n->b, x, ac_tensor_const(g, name, AC_F32, 2, dim, l->floats + e * all), bias);
    const ac_onx_blocks b = {.name = name,
                             .rows = l->rows,
                             .depth = l->depth,
                             .size = l->block ? l->block : l->depth,
                             .bits = l->bits,
                             .count = l->count,
                             .codes = l->codes + e * l->rows * ac_onx_packed_bytes(l->depth, l->bits),
                             .zero = zeros_of(m, l, e),
                             .scale = l->scales + e * l->rows * l->count * ac_dtype_size(l->real, 1),
                             .real = l->real};
    return ac_onx_packed_dense(n, &b, x, bias);
}

/* ------------------------------------------------------------------ an expert */

/* Part `which` of y [N,2*I]: neighbours in pairs, or halves. */
static ac_tensor *half(const moe *m, ac_tensor *y, int64_t which)
{
    ac_onx_node *n = m->n;
    if (!y)
        return NULL;
    const int64_t size = y->dim[1] / 2;
    if (m->gate == HALVES_GATE)
        return ac_make_slice(&n->b, y, 1, which * size, size);
    y = ac_make_reshape(&n->b, y, 3, (int64_t[]){m->tokens, size, 2});
    return ac_make_reshape(&n->b, ac_make_slice(&n->b, y, 2, which, 1), 2, (int64_t[]){m->tokens, size});
}

/* G sigmoid(alpha G) (L + beta), with G at most the limit and L between its negative and it. */
static ac_tensor *swiglu(const moe *m, ac_tensor *gate, ac_tensor *linear)
{
    ac_onx_node *n = m->n;
    if (isfinite(m->limit)) {
        ac_tensor *most = F32(m->limit);
        gate = MIN(gate, most);
        linear = MAX(linear, F32(-m->limit));
        linear = MIN(linear, most);
    }
    gate = ac_make_swish(&n->b, gate, m->alpha);
    return MUL(gate, m->beta < 0 || m->beta > 0 ? PLUS(linear, m->beta) : linear);
}

static ac_tensor *activated(const moe *m, ac_tensor *y)
{
    ac_onx_node *n = m->n;
    ac_attrs a;
    switch (m->activation) {
    case RELU:
        return ac_make_relu(&n->b, y);
    case GELU:
        ac_attrs_init(AC_OP_GELU, &a);
        a.gelu.approximate = true;
        return y ? ac_make_op(&n->b, AC_OP_GELU, &y, 1, &a, AC_NONE) : NULL;
    case SILU:
        return ac_make_swish(&n->b, y, 1);
    default:
        return y;
    }
}

static ac_tensor *feed_forward(const moe *m, int64_t e)
{
    ac_onx_node *n = m->n;
    ac_tensor *y = dense(m, &m->of[FC1], e, m->x), *third = NULL;
    if (m->of[FC3].there)
        third = dense(m, &m->of[FC3], e, m->x);
    if (m->activation == SWIGLU && m->gate == SPLIT_GATE) {
        y = swiglu(m, y, third);
    } else if (m->activation == SWIGLU) {
        ac_tensor *linear = half(m, y, 1);
        y = swiglu(m, half(m, y, 0), linear);
    } else {
        y = activated(m, y);
        y = third ? MUL(y, third) : y;
    }
    return y ? dense(m, &m->of[FC2], e, y) : NULL;
}

/* ------------------------------------------------------------------ the branch of an expert */

typedef struct branch {
    ac_flow flow;
    const moe *m;
    int64_t e;
    ac_tensor *is;  /* bool [N,k]: the choices of this expert */
    ac_tensor *sum; /* [N,H]: of the experts before it */
} branch;

/* Alternative 0: the sum with this expert; 1: without it. */
static const void *run_expert(void *own, int32_t which)
{
    const branch *x = own;
    ac_onx_node *n = x->m->n;
    ac_tensor **out = AC_NEW_N(n->r->cx->region, ac_tensor *, 1);
    *out = x->sum;
    if (which)
        return out;
    ac_tensor *none = F32(0);
    ac_tensor *weight = ac_make_reduce(&n->b, AC_OP_SUM, WHERE(x->is, x->m->weight, none), 2u, true);
    ac_tensor *y = MUL(feed_forward(x->m, x->e), weight);
    *out = ADD(x->sum, y);
    return *out ? out : NULL;
}

static ac_tensor *all_experts(moe *m)
{
    static const ac_flow_format FORMAT = {.rules = {.copied = INT64_MAX}}; /* it has no loops */
    ac_onx_node *n = m->n;
    ac_tensor *sum = ac_make_zeros(&n->b, AC_F32, 2, (int64_t[]){m->tokens, m->hidden});
    const char *name = NULL;
    for (int64_t e = 0; e < m->experts && sum; e++) {
        branch x = {.flow = {.b = &n->b, .now = &n->r->g, .of = &FORMAT, .run = run_expert, .n = 1, .name = &name},
                    .m = m,
                    .e = e};
        if (ac_flow_spend_call(n->r->cx, &n->r->reading->copies, n->at, n->r->g, 0) != AC_OK)
            return NULL;
        x.is = EQUAL(m->chosen, NUM(m->chosen, (double)e));
        x.sum = sum;
        ac_tensor *any = ac_make_reduce(&n->b, AC_OP_REDUCE_ANY, x.is, 3u, false);
        ac_tensor *const *y = any ? ac_flow_branch(&x.flow, any) : NULL;
        sum = y ? *y : NULL;
    }
    return sum;
}

/* ------------------------------------------------------------------ the router */

static int choose(moe *m)
{
    ac_onx_node *n = m->n;
    ac_tensor *logits = n->in[1], *other = m->other, *top[2];
    const bool normalise = ac_attr_bool(&n->attrs, A_normalize_routing_weights);
    ac_tensor *k = ac_make_number(&n->b, AC_I32, (double)m->k);
    ac_tensor *from = m->packed ? logits : ac_make_softmax(&n->b, AC_OP_SOFTMAX, logits, 1);
    if (!from)
        return AC_FAIL;
    AC_TRY(ac_make_top_k(&n->b, from, &k, top));
    m->chosen = top[1];
    m->weight = top[0];
    if (other) {
        ac_attrs a;
        ac_attrs_init(AC_OP_GATHER_ELEMENTS, &a);
        a.axis.axis = 1;
        m->weight = ac_make_op(&n->b, AC_OP_GATHER_ELEMENTS, (ac_tensor *[]){other, top[1]}, 2, &a, AC_NONE);
    } else if (m->packed) {
        m->weight = ac_make_softmax(&n->b, AC_OP_SOFTMAX, m->weight, 1);
    }
    if (normalise && (other || !m->packed))
        m->weight = DIV(m->weight, ac_make_reduce(&n->b, AC_OP_SUM, m->weight, 2u, true));
    return m->weight ? AC_OK : AC_FAIL;
}

/* ------------------------------------------------------------------ the operators */

static int read_attributes(moe *m)
{
    ac_onx_node *n = m->n;
    m->activation = ac_attr_word(&n->attrs, A_activation_type);
    m->gate = (int32_t)ac_attr_int(&n->attrs, A_swiglu_fusion);
    m->alpha = ac_attr_float(&n->attrs, A_moe_alpha);
    m->beta = ac_attr_float(&n->attrs, A_moe_beta);
    m->limit = ac_attr_float_or(&n->attrs, A_swiglu_limit, HUGE_VAL);
    m->k = ac_attr_int(&n->attrs, A_moe_k);
    if (ac_attr_bool(&n->attrs, A_use_sparse_mixer) || ac_attr_bool(&n->attrs, A_swiglu_limit_after_activation))
        return ac_cannot(&n->b, "it has a sparse mixer, or clamps after the activation");
    if (!m->packed)
        return AC_OK;
    const int64_t bits = ac_attr_int(&n->attrs, A_expert_weight_bits), block = ac_attr_int(&n->attrs, A_moe_block_size);
    const int own[LAYERS] = {A_fc1_expert_weight_bits, A_fc2_expert_weight_bits, A_fc3_expert_weight_bits};
    (void)ac_attr_int(&n->attrs, A_accuracy_level); /* how exact it must be at least; ours is exact */
    for (int32_t i = 0; i < LAYERS; i++) {
        m->of[i].bits = ac_attr_int_or(&n->attrs, own[i], bits);
        m->of[i].block = block;
        if (m->of[i].bits != 2 && m->of[i].bits != 4 && m->of[i].bits != 8)
            return ac_cannot(&n->b, "its weights have %" PRId64 " bits", m->of[i].bits);
    }
    if (strcmp(ac_attr_text(&n->attrs, A_quant_type), "int") != 0 || ac_attr_int(&n->attrs, A_weights_prepacked) > 0)
        return ac_cannot(&n->b, "its weights are floats of few bits, or packed for one device");
    for (int32_t i = 15; i < n->n_in; i++)
        if (n->in[i])
            return ac_cannot(&n->b, "it has scales for '%s', of another kind of quantisation", n->in[i]->name);
    return AC_OK;
}

static int mixture(moe *m)
{
    ac_onx_node *n = m->n;
    ac_tensor *x = n->in[0];
    AC_TRY(ac_onx_need(n, m->of[FC2].weight));
    const ac_tensor *router = n->in[1], *second = n->in[m->of[FC2].weight];
    m->other = m->packed ? ac_onx_in(n, 14) : NULL;
    AC_TRY(read_attributes(m));
    if ((x->rank != 2 && x->rank != 3) || x->dtype != AC_F32 || router->rank != 2 || second->rank != 3 ||
        x->dim[x->rank - 1] < 1)
        return ac_bad(&n->b, "'%s' is %s, router '%s' %s, weights '%s' %s; expected [..,H], [N,E] and [E,H,..]",
                      x->name, ac_tensor_str(n->r->cx, x), router->name, ac_shape_str(n->r->cx, router), second->name,
                      ac_shape_str(n->r->cx, second));
    m->hidden = x->dim[x->rank - 1];
    m->tokens = ac_tensor_count(x) / m->hidden;
    m->experts = router->dim[1];
    if (router->dim[0] != m->tokens || m->k < 1 || m->k > m->experts ||
        (m->other && !ac_tensor_same_shape(m->other, router)))
        return ac_bad(&n->b, "router '%s' is %s for %" PRId64 " tokens, and %" PRId64 " experts are chosen",
                      router->name, ac_shape_str(n->r->cx, router), m->tokens, m->k);
    const int64_t inner = m->packed ? second->dim[2] * 8 / m->of[FC2].bits : second->dim[2];
    const bool joined = m->activation == SWIGLU && m->gate != SPLIT_GATE;
    AC_TRY(read_layer(m, &m->of[FC1], joined ? 2 * inner : inner, m->hidden));
    AC_TRY(read_layer(m, &m->of[FC2], m->hidden, inner));
    AC_TRY(read_layer(m, &m->of[FC3], inner, m->hidden));
    if (m->activation == SWIGLU && m->of[FC3].there == joined)
        return ac_bad(&n->b, "swiglu_fusion is %d, %s a third layer", m->gate, joined ? "and there is" : "without");
    AC_TRY(choose(m));
    m->x = ac_make_reshape(&n->b, x, 2, (int64_t[]){m->tokens, m->hidden});
    return m->x ? ac_onx_result(n, 0, ac_make_reshape(&n->b, all_experts(m), x->rank, x->dim)) : AC_FAIL;
}

/* x, router, then weights and bias of the layers */
int ac_onx_do_moe(ac_onx_node *n)
{
    moe m = {.n = n,
             .of = {
                 {.weight = 2, .scale = -1, .bias = 3, .zero = -1},
                 {.weight = 4, .scale = -1, .bias = 5, .zero = -1},
                 {.weight = 6, .scale = -1, .bias = 7, .zero = -1},
             }};
    return mixture(&m);
}

/* x, router, then weights, scales and bias of the layers, their zero points, router_weights */
int ac_onx_do_qmoe(ac_onx_node *n)
{
    moe m = {.n = n,
             .packed = true,
             .of = {
                 {.weight = 2, .scale = 3, .bias = 4, .zero = 11},
                 {.weight = 5, .scale = 6, .bias = 7, .zero = 12},
                 {.weight = 8, .scale = 9, .bias = 10, .zero = 13},
             }};
    return mixture(&m);
}
