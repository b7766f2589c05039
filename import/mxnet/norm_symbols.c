/* norm_symbols.c - normalisations, products of matrices and recurrent layers of MXNet. */
#include "import/build/flow/sub_graphs.h"
#include "import/build/frame.h"
#include "import/mxnet/symbols.h"

#include <inttypes.h>
#include <string.h>

#define MAKER (&n->b)
#include "ir/make/formula.h"
#define SHAPE(t) ac_shape_str(n->r->cx, t)

/* fix_gamma: the factor is 1, and the file's value is ignored. Only constants are computed here. */
int ac_mx_do_batch_norm(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    const double eps = ac_attr_float(&n->attrs, A_eps);
    const bool fixed = ac_attr_bool(&n->attrs, A_fix_gamma);
    (void)ac_attr_bool(&n->attrs, A_use_global_stats);
    (void)ac_attr_bool(&n->attrs, A_output_mean_var);
    ac_attr_skip(&n->attrs, "ndev");
    ac_attr_skip(&n->attrs, "key");
    AC_TRY(ac_operand_axis(&n->b, ac_attr_int_or(&n->attrs, A_axis, x->rank > 1), x->rank, &axis));
    const int64_t *c = &x->dim[axis];
    ac_tensor *gamma = ac_mx_param(n, 1, 1, c), *beta = ac_mx_param(n, 2, 1, c);
    ac_tensor *mean = ac_mx_param(n, 3, 1, c), *variance = ac_mx_param(n, 4, 1, c);
    if (!gamma || !beta)
        return AC_FAIL;
    return ac_mx_result(n, 0, ac_make_batch_norm(&n->b, x, axis, mean, variance, eps, fixed ? NULL : gamma, beta));
}

/* (x - mean) / sqrt(variance + eps) over the dimensions of the mask. */
static ac_tensor *standard(ac_mx_node *n, ac_tensor *x, uint32_t mask, double eps)
{
    ac_tensor *far = SUB(x, MEAN(x, mask));
    ac_tensor *least = F32(eps);
    return DIV(far, SQRT(ADD(MEAN(SQUARE(far), mask), least)));
}

int ac_mx_do_layer_norm(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    const double eps = ac_attr_float(&n->attrs, A_layer_norm_eps);
    AC_TRY(ac_attr_axis(&n->attrs, A_axis, x->rank, &axis));
    (void)ac_attr_bool(&n->attrs, A_output_mean_var);
    ac_tensor *gamma = ac_mx_param(n, 1, 1, &x->dim[axis]), *beta = ac_mx_param(n, 2, 1, &x->dim[axis]);
    gamma = ac_make_along(&n->b, gamma, x->rank, axis);
    ac_tensor *y = MUL(standard(n, x, 1u << axis, eps), gamma);
    return ac_mx_result(n, 0, ADD(y, ac_make_along(&n->b, beta, x->rank, axis)));
}

int ac_mx_do_instance_norm(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const double eps = ac_attr_float(&n->attrs, A_eps);
    if (x->rank < 3)
        return ac_bad(&n->b, "'%s' is %s, expected 3 dimensions or more", x->name, SHAPE(x));
    ac_tensor *gamma = ac_mx_param(n, 1, 1, &x->dim[1]), *beta = ac_mx_param(n, 2, 1, &x->dim[1]);
    gamma = ac_make_along(&n->b, gamma, x->rank, 1);
    ac_tensor *y = MUL(standard(n, x, ((1u << x->rank) - 1) & ~3u, eps), gamma);
    return ac_mx_result(n, 0, ADD(y, ac_make_along(&n->b, beta, x->rank, 1)));
}

int ac_mx_do_group_norm(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const double eps = ac_attr_float(&n->attrs, A_layer_norm_eps);
    int64_t groups = ac_attr_int(&n->attrs, A_num_groups);
    (void)ac_attr_bool(&n->attrs, A_output_mean_var);
    if (x->rank < 3 || x->dim[1] % groups || !x->dim[0])
        return ac_bad(&n->b, "'%s' %s does not divide into %" PRId64 " groups", x->name, SHAPE(x), groups);
    const ac_tensor *given = n->in[1];
    const int64_t *c = given && given->rank == 1 && given->dim[0] == groups ? &groups : &x->dim[1];
    ac_tensor *gamma = ac_mx_param(n, 1, 1, c), *beta = ac_mx_param(n, 2, 1, c);
    const int64_t flat[3] = {x->dim[0], groups, ac_tensor_count(x) / x->dim[0] / groups}, column[3] = {1, groups, 1};
    ac_tensor *y = standard(n, ac_make_reshape(&n->b, x, 3, flat), 4, eps);
    if (c == &groups) {
        y = MUL(y, ac_make_reshape(&n->b, gamma, 3, column));
        return ac_mx_result(n, 0,
                            ac_make_reshape(&n->b, ADD(y, ac_make_reshape(&n->b, beta, 3, column)), x->rank, x->dim));
    }
    gamma = ac_make_along(&n->b, gamma, x->rank, 1);
    y = MUL(ac_make_reshape(&n->b, y, x->rank, x->dim), gamma);
    return ac_mx_result(n, 0, ADD(y, ac_make_along(&n->b, beta, x->rank, 1)));
}

int ac_mx_do_l2norm(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const char *mode = ac_attr_text(&n->attrs, A_norm_mode);
    const double eps = ac_attr_float(&n->attrs, A_l2norm_eps);
    const uint32_t all = (1u << x->rank) - 1;
    const uint32_t mask = !strcmp(mode, "channel") ? 2u : !strcmp(mode, "spatial") ? all & ~3u : all & ~1u;
    return ac_mx_result(n, 0, ac_make_unit_length(&n->b, x, mask, eps));
}

int ac_mx_do_lrn(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const double alpha = ac_attr_float(&n->attrs, A_lrn_alpha), beta = ac_attr_float(&n->attrs, A_lrn_beta);
    const double k = ac_attr_float(&n->attrs, A_knorm);
    const int64_t size = ac_attr_int(&n->attrs, A_nsize);
    if (x->rank != 4 || size % 2 == 0)
        return ac_bad(&n->b, "'%s' is %s and nsize %" PRId64 ", expected [N,C,H,W] and an odd number", x->name,
                      SHAPE(x), size);
    return ac_mx_result(n, 0, ac_frame_lrn(&n->b, x, size, alpha, beta, k));
}

int ac_mx_do_softmax(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    AC_TRY(ac_attr_axis(&n->attrs, A_axis, x->rank, &axis));
    const double temperature = ac_attr_float(&n->attrs, A_temperature);
    (void)ac_attr_bool(&n->attrs, A_use_length);
    (void)ac_attr_dtype(&n->attrs, A_dtype);
    if (n->row->op == AC_OP_NEG)
        x = NEG(x);
    if (temperature < 1 || temperature > 1)
        x = DIV(x, F32(temperature));
    return ac_mx_result(
        n, 0, ac_make_softmax(&n->b, n->row->op == AC_OP_LOG_SOFTMAX ? AC_OP_LOG_SOFTMAX : AC_OP_SOFTMAX, x, axis));
}

/* The net's loss; in inference the softmax of its operand: of each item as a row, or along dimension 1. */
int ac_mx_do_softmax_output(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const bool multi = ac_attr_bool(&n->attrs, A_multi_output), keep = ac_attr_bool(&n->attrs, A_preserve_shape);
    if (x->rank < 1 || (multi && x->rank < 2))
        return ac_bad(&n->b, "'%s' is %s", x->name, SHAPE(x));
    if (multi)
        return ac_mx_result(n, 0, ac_make_softmax(&n->b, AC_OP_SOFTMAX, x, 1));
    if (keep || x->rank == 1 || !x->dim[0])
        return ac_mx_result(n, 0, OP1(SOFTMAX, x));
    const int64_t dim[2] = {x->dim[0], ac_tensor_count(x) / x->dim[0]};
    x = OP1(SOFTMAX, ac_make_reshape(&n->b, x, 2, dim));
    return ac_mx_result(n, 0, ac_make_reshape(&n->b, x, n->in[0]->rank, n->in[0]->dim));
}

/* Its instances are rows of the last dimension, contrary to MXNet's documentation. */
int ac_mx_do_softmax_activation(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const char *mode = ac_attr_text(&n->attrs, A_norm_mode);
    if (!strcmp(mode, "channel"))
        return x->rank < 2 ? ac_bad(&n->b, "'%s' has no channels", x->name)
                           : ac_mx_result(n, 0, ac_make_softmax(&n->b, AC_OP_SOFTMAX, x, 1));
    return ac_mx_result(n, 0, OP1(SOFTMAX, x));
}

/* Products. */

/* flatten: each item is one row; else the last dimension is. */
int ac_mx_do_dense(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t dim[AC_MAX_RANK];
    int64_t hidden = ac_attr_int(&n->attrs, A_num_hidden);
    const bool no_bias = ac_attr_bool(&n->attrs, A_no_bias), flat = ac_attr_bool(&n->attrs, A_flatten);
    if (x->rank < 1 || !ac_tensor_count(x))
        return ac_bad(&n->b, "'%s' is %s", x->name, SHAPE(x));
    const int64_t rows = flat ? x->dim[0] : ac_tensor_count(x) / x->dim[x->rank - 1], width = ac_tensor_count(x) / rows;
    ac_tensor *w = ac_mx_param(n, 1, 2, (int64_t[]){hidden, width}),
              *bias = no_bias ? NULL : ac_mx_param(n, 2, 1, &hidden);
    if (!no_bias && !bias)
        return AC_FAIL;
    ac_tensor *y = ac_make_dense(&n->b, ac_make_reshape(&n->b, x, 2, (int64_t[]){rows, width}), w, bias);
    memcpy(dim, x->dim, sizeof dim);
    dim[flat ? 1 : x->rank - 1] = hidden;
    return ac_mx_result(n, 0, ac_make_reshape(&n->b, y, flat ? 2 : x->rank, dim));
}

int ac_mx_do_batch_dot(ac_mx_node *n)
{
    const bool turn_x = ac_attr_bool(&n->attrs, A_transpose_a), turn_y = ac_attr_bool(&n->attrs, A_transpose_b);
    ac_attr_skip(&n->attrs, "forward_stype");
    return ac_mx_result(n, 0, ac_make_matmul(&n->b, n->in[0], n->in[1], turn_x, turn_y));
}

int ac_mx_do_gemm2(ac_mx_node *n)
{
    const bool turn_x = ac_attr_bool(&n->attrs, A_transpose_a), turn_y = ac_attr_bool(&n->attrs, A_transpose_b);
    const double alpha = ac_attr_float(&n->attrs, A_product_alpha);
    (void)ac_attr_int(&n->attrs, A_product_axis);
    ac_tensor *y = ac_make_matmul(&n->b, n->in[0], n->in[1], turn_x, turn_y);
    return ac_mx_result(n, 0, alpha < 1 || alpha > 1 ? MUL(y, F32(alpha)) : y);
}

/* Sums over the last dimension of the first and the first of the second operand. */
int ac_mx_do_dot(ac_mx_node *n)
{
    static const int32_t SWAP[AC_MAX_RANK] = {1, 0};
    ac_tensor *x = n->in[0], *y = n->in[1];
    int64_t dim[AC_MAX_RANK];
    int32_t rank = 0;
    const bool turn_x = ac_attr_bool(&n->attrs, A_transpose_a), turn_y = ac_attr_bool(&n->attrs, A_transpose_b);
    ac_attr_skip(&n->attrs, "forward_stype");
    if ((turn_x && x->rank > 2) || (turn_y && y->rank > 2) || x->rank < 1 || y->rank < 1)
        return ac_cannot(&n->b, "it turns operands of more than two dimensions");
    x = turn_x && x->rank == 2 ? ac_make_transpose(&n->b, x, SWAP) : x;
    y = turn_y && y->rank == 2 ? ac_make_transpose(&n->b, y, SWAP) : y;
    if (!x || !y)
        return AC_FAIL;
    const int64_t k = x->dim[x->rank - 1];
    if (k != y->dim[0] || !k || x->rank + y->rank - 2 > AC_MAX_RANK)
        return ac_bad(&n->b, "'%s' %s and '%s' %s do not fit", x->name, SHAPE(x), y->name, SHAPE(y));
    for (int32_t d = 0; d + 1 < x->rank; d++)
        dim[rank++] = x->dim[d];
    for (int32_t d = 1; d < y->rank; d++)
        dim[rank++] = y->dim[d];
    y = ac_make_reshape(&n->b, y, 2, (int64_t[]){k, ac_tensor_count(y) / k});
    x = ac_make_reshape(&n->b, x, 2, (int64_t[]){ac_tensor_count(x) / k, k});
    ac_tensor *z = ac_make_matmul(&n->b, x, y, false, false);
    if (!rank)
        dim[rank++] = 1;
    return ac_mx_result(n, 0, ac_make_reshape(&n->b, z, rank, dim));
}

/* RNN, fused: all weights are in one vector, those of each layer and direction first, then their biases. */

typedef struct rnn {
    int64_t batch, hidden, gates, at; /* at: place in the vector */
    int32_t layers, directions;
    char kind; /* r relu, t tanh, l LSTM, g GRU */
    ac_tensor *all;
} rnn;

static ac_tensor *take(ac_mx_node *n, rnn *r, int32_t rank, int64_t rows, int64_t columns)
{
    const int64_t from = r->at, dim[2] = {rows, columns};
    r->at += rows * columns;
    return ac_make_reshape(&n->b, ac_make_slice(&n->b, r->all, 0, from, rows * columns), rank, dim);
}

static ac_tensor *part(ac_mx_node *n, ac_tensor *x, int32_t i, int64_t width)
{
    return ac_make_slice(&n->b, x, 1, i * width, width);
}

static void step(ac_mx_node *n, const rnn *r, ac_tensor *x, ac_tensor *h2, ac_tensor **h, ac_tensor **c)
{
    const int64_t w = r->hidden;
    if (r->kind == 'r' || r->kind == 't') {
        *h = r->kind == 'r' ? OP1(RELU, ADD(x, h2)) : OP1(TANH, ADD(x, h2));
    } else if (r->kind == 'l') {
        ac_tensor *all = ADD(x, h2);
        ac_tensor *in = OP1(LOGISTIC, part(n, all, 0, w)), *forget = OP1(LOGISTIC, part(n, all, 1, w));
        ac_tensor *fresh = MUL(in, OP1(TANH, part(n, all, 2, w)));
        *c = ADD(MUL(forget, *c), fresh);
        ac_tensor *shown = OP1(TANH, *c);
        *h = MUL(OP1(LOGISTIC, part(n, all, 3, w)), shown);
    } else {
        ac_tensor *from_h = part(n, h2, 0, w), *reset = OP1(LOGISTIC, ADD(part(n, x, 0, w), from_h));
        from_h = part(n, h2, 1, w);
        ac_tensor *keep = OP1(LOGISTIC, ADD(part(n, x, 1, w), from_h));
        from_h = MUL(reset, part(n, h2, 2, w));
        ac_tensor *fresh = OP1(TANH, ADD(part(n, x, 2, w), from_h)), *kept = MUL(keep, *h);
        *h = ADD(MUL(SUB(F32(1), keep), fresh), kept);
    }
}

/* One layer in one direction: sequence [T,N,I] -> [T,N,H]; h and c go from the first state to the last. */
static ac_tensor *direction(ac_mx_node *n, const rnn *r, ac_tensor *seq, ac_tensor *const w[4], bool back,
                            ac_tensor **h, ac_tensor **c)
{
    ac_sub sub = {0};
    ac_attrs a;
    ac_tensor *in[3] = {*h}, *now[2] = {NULL};
    ac_attrs_init(AC_OP_SCAN, &a);
    if (!seq || !*h || (r->kind == 'l' && !*c))
        return NULL;
    a.scan.states = *c ? 2 : 1;
    a.scan.back = back ? ac_make_list(&n->b, 2, (int64_t[]){1, 1}) : a.scan.back;
    if (*c)
        in[1] = *c;
    in[a.scan.states] = seq;
    ac_sub_enter(&n->b, &n->r->g, &sub);
    for (int32_t i = 0; i < a.scan.states; i++)
        now[i] = ac_sub_input(&sub, in[i]);
    ac_tensor *x = ac_make_dense(&n->b, ac_sub_element(&sub, seq), w[0], w[2]);
    step(n, r, x, ac_make_dense(&n->b, now[0], w[1], w[3]), &now[0], &now[1]);
    for (int32_t i = 0; i < a.scan.states; i++)
        ac_push(sub.g->region, &sub.g->output, now[i]);
    ac_push(sub.g->region, &sub.g->output, now[0]);
    ac_sub_leave(&n->b, &n->r->g, &sub);
    const ac_node *made = now[0] && (!*c || now[1]) ? ac_sub_scan(&n->b, &sub, in, &a.scan) : NULL;
    if (!made)
        return NULL;
    *h = made->out[0];
    *c = *c ? made->out[1] : NULL;
    return made->out[a.scan.states];
}

static int open_rnn(ac_mx_node *n, rnn *r)
{
    static const char *const MODES[] = {"rnn_relu", "rnn_tanh", "lstm", "gru"};
    const char *mode = ac_attr_text(&n->attrs, A_rnn_mode);
    const ac_tensor *x = n->in[0];
    *r = (rnn){.gates = 0};
    for (int32_t i = 0; i < 4; i++)
        if (!strcmp(mode, MODES[i])) {
            r->kind = "rtlg"[i];
            r->gates = i < 2 ? 1 : i == 2 ? 4 : 3;
        }
    r->hidden = ac_attr_int(&n->attrs, A_state_size);
    const int64_t layers = ac_attr_int(&n->attrs, A_num_layers);
    const bool both = ac_attr_bool(&n->attrs, A_bidirectional);
    const bool lengths = ac_attr_bool(&n->attrs, A_use_sequence_length);
    ac_attr_skip(&n->attrs, "p");
    if (!r->gates || lengths || ac_mx_attr(n, "projection_size"))
        return ac_cannot(&n->b, "its mode is '%s', or it has lengths or a projection", mode);
    if (x->rank != 3 || x->dim[0] < 1)
        return ac_bad(&n->b, "'%s' is %s, expected [T,N,C] with 1 step or more", x->name, SHAPE(x));
    r->batch = x->dim[1];
    r->layers = (int32_t)layers;
    r->directions = both ? 2 : 1;
    return AC_OK;
}

static ac_tensor *state(ac_mx_node *n, const rnn *r, int32_t operand, int32_t i)
{
    ac_tensor *s = n->in[operand];
    return ac_make_reshape(&n->b, ac_make_slice(&n->b, s, 0, i, 1), 2, (int64_t[]){r->batch, r->hidden});
}

int ac_mx_do_rnn(ac_mx_node *n)
{
    enum { MOST = 128 };
    rnn r;
    ac_tensor *w[MOST][4], *last[MOST], *cell[MOST], *seq = n->in[0];
    AC_TRY(open_rnn(n, &r));
    const bool states = ac_attr_bool(&n->attrs, A_state_outputs);
    const int32_t parts = r.layers * r.directions, width = (int32_t)(r.gates * r.hidden);
    int64_t count = 0;
    for (int32_t l = 0; l < r.layers; l++)
        count += r.directions * width * ((l ? r.directions * r.hidden : seq->dim[2]) + r.hidden + 2);
    r.all = ac_mx_param(n, 1, 1, &count);
    const int64_t want[3] = {parts, r.batch, r.hidden};
    for (int32_t i = 2; i < (r.kind == 'l' ? 4 : 3); i++)
        if (i >= n->n_in || n->in[i]->rank != 3 || memcmp(n->in[i]->dim, want, sizeof want) != 0)
            return ac_bad(&n->b, "it has no state of %d layers, batch %" PRId64 " and size %" PRId64, parts, r.batch,
                          r.hidden);
    if (!r.all)
        return AC_FAIL;
    for (int32_t i = 0; i < parts; i++) {
        w[i][0] = take(n, &r, 2, width, i < r.directions ? seq->dim[2] : r.directions * r.hidden);
        w[i][1] = take(n, &r, 2, width, r.hidden);
    }
    for (int32_t i = 0; i < parts; i++)
        for (int32_t k = 2; k < 4; k++)
            w[i][k] = take(n, &r, 1, width, 1);
    for (int32_t l = 0; l < r.layers; l++) {
        ac_tensor *out[2] = {NULL, NULL};
        for (int32_t d = 0; d < r.directions; d++) {
            const int32_t i = l * r.directions + d;
            last[i] = state(n, &r, 2, i);
            cell[i] = r.kind == 'l' ? state(n, &r, 3, i) : NULL;
            out[d] = direction(n, &r, seq, w[i], d == 1, &last[i], &cell[i]);
        }
        seq = r.directions == 2 ? ac_make_concat(&n->b, out, 2, 2) : out[0];
    }
    n->n_out = states ? r.kind == 'l' ? 3 : 2 : 1;
    n->out = AC_NEW_N(n->r->cx->region, ac_tensor *, 4);
    const int64_t one[3] = {1, r.batch, r.hidden};
    for (int32_t i = 0; states && i < parts; i++) {
        last[i] = ac_make_reshape(&n->b, last[i], 3, one);
        cell[i] = ac_make_reshape(&n->b, cell[i], 3, one);
    }
    if (states)
        AC_TRY(ac_mx_result(n, 1, parts == 1 ? last[0] : ac_make_concat(&n->b, last, parts, 0)));
    if (states && r.kind == 'l')
        AC_TRY(ac_mx_result(n, 2, parts == 1 ? cell[0] : ac_make_concat(&n->b, cell, parts, 0)));
    return ac_mx_result(n, 0, seq);
}
