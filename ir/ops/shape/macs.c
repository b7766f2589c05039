/* macs.c - counts the multiply-adds of operators from their arithmetic: result elements times summands per element.
 * Products with padding count. */
#include "ir/ops/decode/einsum_labels.h"
#include "ir/ops/decode/excite.h"
#include "ir/ops/decode/expanded.h"
#include "ir/ops/decode/operand_names.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

int64_t ac_macs_of_none(const ac_node *n)
{
    (void)n;
    return 0;
}

/* `results` of them, each over all weights that share an index of dimension `d`. */
static int64_t over_weights(int64_t results, const ac_tensor *w, int32_t d)
{
    return w->rank < 2 || w->dim[0] == 0 || w->dim[w->rank - 1] == 0 ? 0 : results * (ac_tensor_count(w) / w->dim[d]);
}

/* Weights [O,H,W,I], or [O,I]. */
int64_t ac_macs_of_conv(const ac_node *n)
{
    return over_weights(ac_tensor_count(n->out[0]), n->in[1], 0);
}

/* [1,H,W,C] */
int64_t ac_macs_of_depthwise(const ac_node *n)
{
    return over_weights(ac_tensor_count(n->out[0]), n->in[1], n->in[1]->rank - 1);
}

/* Every element of x adds to a window of the result. */
int64_t ac_macs_of_transposed(const ac_node *n)
{
    return over_weights(ac_tensor_count(n->in[2]), n->in[1], n->in[1]->rank - 1);
}

/* [K..,C/groups,O] */
int64_t ac_macs_of_conv_nd(const ac_node *n)
{
    return over_weights(ac_tensor_count(n->out[0]), n->in[1], n->in[1]->rank - 1);
}

/* As the convolution: filter [K..,O,C/groups] */
int64_t ac_macs_of_conv_nd_data(const ac_node *n)
{
    return over_weights(ac_tensor_count(n->in[0]), n->in[1], n->in[1]->rank - 2);
}

int64_t ac_macs_of_conv_nd_filter(const ac_node *n)
{
    return over_weights(ac_tensor_count(n->in[1]), n->out[0], n->out[0]->rank - 1);
}

int64_t ac_macs_of_blocks(const ac_node *n)
{
    const ac_tensor *x = n->in[0];
    return x->rank < 1 ? 0 : ac_tensor_count(n->out[0]) * x->dim[x->rank - 1];
}

int64_t ac_macs_of_matmul(const ac_node *n)
{
    const ac_tensor *x = n->in[0];
    return x->rank < 2 ? 0 : ac_tensor_count(n->out[0]) * x->dim[x->rank - (n->attrs.matmul.adj_x ? 2 : 1)];
}

/* Every result, times the extents of the summed labels. */
int64_t ac_macs_of_einsum(const ac_node *n)
{
    const ac_ints list = n->attrs.einsum.labels;
    int64_t macs = ac_tensor_count(n->out[0]);
    int64_t extent[AC_EINSUM_LABELS];
    int32_t at = 0;
    for (int32_t k = 0; k < AC_EINSUM_LABELS; k++)
        extent[k] = 1;
    for (int32_t i = 0; i < n->n_in; i++)
        for (int32_t d = 0; d < n->in[i]->rank; d++, at++)
            if (extent[list.v[at]] == 1)
                extent[list.v[at]] = n->in[i]->dim[d];
    for (; at < list.n; at++) /* those of the result are counted already */
        extent[list.v[at]] = 1;
    for (int32_t k = 0; k < AC_EINSUM_LABELS; k++)
        macs *= extent[k];
    return macs;
}

int64_t ac_macs_of_norm_dense(const ac_node *n)
{
    return ac_tensor_count(n->out[0]) * n->in[1]->dim[1];
}

/* Scores, then weighted values. */
int64_t ac_macs_of_attention(const ac_node *n)
{
    const int64_t *size = n->attrs.attention.size.v;
    const int64_t scores = size[0] * size[1] * size[2] * size[3] * size[4];
    return scores * (size[5] + size[6]);
}

/* Each expanded value once. */
int64_t ac_macs_of_expanded(const ac_node *n)
{
    const ac_tensor *x = n->in[AC_EXPANDED_X], *v = n->in[AC_EXPANDED_V];
    return (v ? ac_tensor_count(x) * v->dim[0] : 0) + over_weights(ac_tensor_count(n->out[0]), n->in[AC_EXPANDED_W], 3);
}

/* The sums of the mean do not count. */
int64_t ac_macs_of_excite(const ac_node *n)
{
    const ac_tensor *w1 = n->in[AC_EXCITE_W1], *w2 = n->in[AC_EXCITE_W2];
    return n->in[AC_EXCITE_X]->dim[0] * (ac_tensor_count(w1) + ac_tensor_count(w2));
}

int64_t ac_macs_of_excited(const ac_node *n)
{
    const ac_tensor *x = n->in[AC_EXCITED_X], *w1 = n->in[AC_EXCITED_W1], *w2 = n->in[AC_EXCITED_W2];
    return over_weights(ac_tensor_count(n->out[0]), n->in[AC_EXCITED_W], 0) +
           x->dim[0] * (ac_tensor_count(w1) + ac_tensor_count(w2));
}

int64_t ac_macs_of_lstm(const ac_node *n)
{
    int64_t batch, steps, inputs;
    ac_lstm_sizes(n, &batch, &steps, &inputs);
    const int64_t size = n->in[AC_LSTM_W]->dim[0];
    return batch * steps * size * AC_LSTM_GATES * (inputs + size);
}

int64_t ac_macs_of_svdf(const ac_node *n)
{
    return ac_tensor_count(n->out[0]) * n->attrs.svdf.rank * (n->in[AC_SVDF_X]->dim[1] + n->in[AC_SVDF_TIME]->dim[1]);
}
