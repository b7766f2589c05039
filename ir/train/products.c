/* products.c - products with weights that change, as operators whose loops do not expect constants. */
#include "ir/ops/decode/blockwise.h"
#include "ir/train/make.h"

ac_tensor *ac_train_activated(const ac_maker *m, ac_act act, ac_tensor *x)
{
    switch (act) {
    case AC_ACT_RELU:
        return ac_make_1(m, AC_OP_RELU, x);
    case AC_ACT_RELU_N1_TO_1:
        return ac_make_1(m, AC_OP_RELU_N1_TO_1, x);
    case AC_ACT_RELU6:
        return ac_make_1(m, AC_OP_RELU6, x);
    case AC_ACT_TANH:
        return ac_make_1(m, AC_OP_TANH, x);
    case AC_ACT_NONE:
    case AC_ACT_COUNT:
        break;
    }
    return x;
}

static bool fits(const ac_node *n)
{
    return n->op == AC_OP_FULLY_CONNECTED && !n->n_fused && n->in[0]->dtype == AC_F32 && n->in[1]->dtype == AC_F32 &&
           !ac_tensor_is_const(n->in[1]) && n->in[1]->rank == 2;
}

void ac_train_take_place(ac_tensor *v, ac_tensor *y)
{
    v->def->out[0] = y;
    y->def = v->def;
    v->def = NULL;
}

/* y of n = act(x w' + bias); w [N,K], NULL: failed, reported; alone: it has no other reader. */
static int product(const ac_maker *m, const ac_node *n, ac_tensor *w, ac_tensor *bias, bool alone)
{
    ac_tensor *x = n->in[0], *y = n->out[0];
    static const int64_t TURN[] = {1, 0};
    ac_attrs a, turn;
    if (!w)
        return AC_FAIL;
    const int64_t k = w->dim[1], rows = k ? ac_tensor_count(x) / k : 0;
    ac_attrs_init(AC_OP_BATCH_MATMUL, &a);
    ac_attrs_init(AC_OP_TRANSPOSE, &turn);
    turn.perm.perm = (ac_ints){2, TURN};
    if (alone)
        w = ac_make_op(m, AC_OP_TRANSPOSE, &w, 1, &turn, AC_NONE);
    else
        a.matmul.adj_y = true;
    if (x->rank != 2 || x->dim[1] != k)
        x = ac_make_reshape(m, x, 2, (int64_t[]){rows, k});
    ac_tensor *v = ac_make_op(m, AC_OP_BATCH_MATMUL, (ac_tensor *[]){x, w}, 2, &a, AC_NONE);
    v = ac_train_activated(m, ac_node_act(n), bias ? ac_make_2(m, AC_OP_ADD, v, bias) : v);
    if (v && !ac_tensor_same_shape(v, y))
        v = ac_make_reshape(m, v, y->rank, y->dim);
    if (!v)
        return AC_FAIL;
    ac_train_take_place(v, y);
    return AC_OK;
}

/* Weights in blocks whose scales train: the codes stay as floats that the scales are multiplied with.
 *
 * before:  %y = blockwise_dense %x %codes %scale size=8        scale is state [3,2], and K is 12
 * after:   const %n: f32[3,2,8]   %s = reshape %scale [3,2,1]   %m = mul %n %s   %w = slice %m.. [3,12]   .. */
static ac_tensor *scaled(const ac_maker *m, const ac_node *n)
{
    ac_blockwise w;
    ac_attrs a;
    if (ac_blockwise_of(m->cx, n, &w) != AC_OK)
        return NULL;
    const int64_t all = w.count * w.size, dim[] = {w.rows, w.count, w.size}, one[] = {w.rows, w.count, 1};
    const int64_t none[] = {0, 0}, size[] = {w.rows, w.depth};
    const float *v = ac_blockwise_floats(m->cx, n, &w, all, false);
    if (!v)
        return NULL;
    ac_tensor *x = ac_tensor_const(m->g, ac_internf(m->cx, "%s_codes", m->name), AC_F32, 3, dim, v);
    x = ac_make_2(m, AC_OP_MUL, x, ac_make_reshape(m, n->in[AC_BLOCKWISE_SCALE], 3, one));
    x = ac_make_reshape(m, x, 2, (int64_t[]){w.rows, all});
    if (all == w.depth)
        return x;
    ac_attrs_init(AC_OP_SLICE, &a);
    a.slice.begin = (ac_ints){2, ac_copy(m->cx->region, none, sizeof none)};
    a.slice.size = (ac_ints){2, ac_copy(m->cx->region, size, sizeof size)};
    return ac_make_op(m, AC_OP_SLICE, &x, 1, &a, AC_NONE);
}

/* Loops of convolutions take weights that change, but no bias of that kind: it is added to the result.
 *
 * before:  %y = conv_2d %x %w %b act=relu
 * after:   %c = conv_2d %x %w   %a = add %c %b   %y = relu %a */
static int part_bias(ac_ctx *cx, ac_graph *g, ac_node *n, int32_t at)
{
    const ac_maker m = ac_train_maker(g, n->name, 0);
    ac_tensor *y = n->out[0], *bias = n->in[at];
    const ac_act act = ac_node_act(n);
    ac_tensor *c = ac_tensor_new(g, ac_internf(cx, "%s_linear", y->name), y->dtype, y->rank, y->dim);
    c->def = n;
    n->out[0] = c;
    n->n_in = at;
    ac_node_set_act(n, AC_ACT_NONE);
    ac_push(g->region, &g->node, n);
    ac_tensor *v = ac_train_activated(&m, act, ac_make_2(&m, AC_OP_ADD, c, bias));
    if (!v)
        return AC_FAIL;
    ac_train_take_place(v, y);
    return AC_OK;
}

static bool changes(const ac_node *n, int32_t i)
{
    return ac_node_in(n, i) && !ac_tensor_is_const(n->in[i]);
}

/* The operand that is a bias which changes; 0: none. */
static int32_t bias_of(const ac_node *n)
{
    const bool blocks = n->op == AC_OP_BLOCKWISE_DENSE;
    const bool conv = n->op == AC_OP_CONV_2D || n->op == AC_OP_DEPTHWISE_CONV_2D;
    const int32_t at = blocks ? (int32_t)AC_BLOCKWISE_BIAS : 2;
    return (blocks || conv) && !n->n_fused && changes(n, at) && n->in[0]->dtype == AC_F32 ? at : 0;
}

/* before:  %y = fully_connected %x %w %b            w is state
 * after:   %t = transpose %w   %p = batch_matmul %x %t   %y = add %p %b
 *
 * Then the state is kept transposed (weights.c): rows of x meet it in the order of its bytes, also in its gradient.
 * Weights with several readers stay as they are, and the product transposes them each time. */
int ac_train_products(ac_ctx *cx, ac_graph *g)
{
    const int32_t n = g->node.n, *uses = ac_graph_uses(g, cx->region);
    ac_node **old = ac_copy(cx->region, g->node.item, (size_t)(n + 1) * sizeof *old);
    g->node.n = 0;
    for (int32_t i = 0; i < n; i++) {
        ac_node *one = old[i];
        const ac_maker m = ac_train_maker(g, one->name, 0);
        const bool blocks = one->op == AC_OP_BLOCKWISE_DENSE && changes(one, AC_BLOCKWISE_SCALE);
        if (!blocks && bias_of(one)) {
            AC_TRY(part_bias(cx, g, one, bias_of(one)));
            continue;
        }
        if (!blocks && !fits(one)) {
            ac_push(g->region, &g->node, one);
            continue;
        }
        one->out[0]->def = NULL;
        AC_TRY(blocks ? product(&m, one, scaled(&m, one), ac_node_in(one, AC_BLOCKWISE_BIAS), true)
                      : product(&m, one, one->in[1], ac_node_in(one, 2), uses[one->in[1]->id] == 1));
    }
    return AC_OK;
}
