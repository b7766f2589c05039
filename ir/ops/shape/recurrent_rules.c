/* recurrent_rules.c - shape rules of recurrent operators: unidirectional_sequence_lstm, svdf. */
#include "ir/ops/decode/operand_names.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

static bool has_shape(const ac_tensor *t, int64_t rows, int64_t cols)
{
    return t->rank == 2 && t->dim[0] == rows && t->dim[1] == cols;
}

int ac_sh_lstm(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, AC_LSTM_X, 3, "[N,T,I]"));
    for (int32_t i = 0; i < n->n_in; i++) {
        const bool variant = (i >= AC_LSTM_PEEPHOLE && i < AC_LSTM_BIAS) ||
                             (i >= AC_LSTM_PROJECTION && i < AC_LSTM_HIDDEN) || i >= AC_LSTM_NORM;
        if (variant && n->in[i])
            return ac_error(cx, n->at, E0108, "'%s' makes it an LSTM with %s, which is not supported", n->in[i]->name,
                            i < AC_LSTM_BIAS     ? "peepholes"
                            : i < AC_LSTM_HIDDEN ? "a projection"
                                                 : "layer normalisation");
        if (!variant && !n->in[i])
            return ac_error(cx, n->at, i == AC_LSTM_W || i == AC_LSTM_R || i == AC_LSTM_BIAS ? E0108 : E0102,
                            "operand %d is missing%s", i,
                            i == AC_LSTM_W || i == AC_LSTM_R || i == AC_LSTM_BIAS
                                ? ": coupled input and forget gates are not supported"
                                : "");
    }
    if (n->n_in < AC_LSTM_NORM)
        return ac_error(cx, n->at, E0102, "has %d operands, expected weights, biases and two states", n->n_in);
    AC_TRY(ac_shape_state(cx, g, n, AC_LSTM_HIDDEN));
    AC_TRY(ac_shape_state(cx, g, n, AC_LSTM_CELL));
    int64_t batch, steps, inputs, dim[3];
    AC_TRY(ac_shape_rank(cx, n, AC_LSTM_W, 2, "[S,I]"));
    ac_lstm_sizes(n, &batch, &steps, &inputs);
    const int64_t s = n->in[AC_LSTM_W]->dim[0];
    bool fits = batch < 1 || s <= INT32_MAX / batch;
    for (int32_t k = 0; k < AC_LSTM_GATES; k++)
        fits = fits && has_shape(n->in[AC_LSTM_W + k], s, inputs) && has_shape(n->in[AC_LSTM_R + k], s, s) &&
               n->in[AC_LSTM_BIAS + k]->rank == 1 && n->in[AC_LSTM_BIAS + k]->dim[0] == s;
    fits = fits && ac_tensor_count(n->in[AC_LSTM_HIDDEN]) == batch * s &&
           ac_tensor_count(n->in[AC_LSTM_CELL]) == batch * s;
    if (!fits || n->in[AC_LSTM_HIDDEN] == n->in[AC_LSTM_CELL]) {
        ac_error(cx, n->at, E0104, "weights [S,I] and [S,S], biases [S] and states [N,S] do not go together");
        return ac_shape_show(cx, n);
    }
    for (int32_t d = 0; d < 3; d++)
        dim[d] = d < 2 ? n->in[AC_LSTM_X]->dim[d] : s;
    return ac_shape_set(cx, n, 0, n->in[AC_LSTM_X]->dtype, 3, dim);
}

int ac_sh_svdf(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, AC_SVDF_X, 2, "[N,I]"));
    AC_TRY(ac_shape_rank(cx, n, AC_SVDF_W, 2, "[F,I]"));
    AC_TRY(ac_shape_rank(cx, n, AC_SVDF_TIME, 2, "[F,M]"));
    AC_TRY(ac_shape_state(cx, g, n, AC_SVDF_STATE));
    const ac_tensor *x = n->in[AC_SVDF_X], *w = n->in[AC_SVDF_W], *time = n->in[AC_SVDF_TIME],
                    *bias = ac_node_in(n, AC_SVDF_BIAS), *state = n->in[AC_SVDF_STATE];
    const int64_t rank = n->attrs.svdf.rank, filters = w->dim[0];
    AC_TRY(ac_shape_act(cx, n, n->attrs.svdf.act));
    int64_t memory;
    if (rank < 1 || filters % rank || x->dim[1] != w->dim[1] || time->dim[0] != filters || time->dim[1] < 1 ||
        !ac_mul_ok(x->dim[0], filters, &memory) || !ac_mul_ok(memory, time->dim[1], &memory) ||
        ac_tensor_count(state) != memory || (bias && (bias->rank != 1 || bias->dim[0] != filters / rank))) {
        ac_error(
            cx, n->at, E0104,
            "rank %lld, input [N,I], weights [F,I] and [F,M], bias [F / rank] and state [N,F * M] do not go together",
            (long long)rank);
        return ac_shape_show(cx, n);
    }
    return ac_shape_set(cx, n, 0, x->dtype, 2, (int64_t[]){x->dim[0], filters / rank});
}
