/* matrix_rules.c - shape rules of products with weights or of tensors: fully_connected, blockwise_dense, batch_matmul,
 * einsum, attention, excite, det, inverse; and the checks that all operators with weights share. */
#include "ir/ops/decode/attention.h"
#include "ir/ops/decode/blockwise.h"
#include "ir/ops/decode/einsum_labels.h"
#include "ir/ops/decode/excite.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

int ac_shape_act(ac_ctx *cx, const ac_node *n, ac_act act)
{
    if ((int)act < 0 || act >= AC_ACT_COUNT)
        return ac_error(cx, n->at, E0103, "unknown activation %d", (int)act);
    return AC_OK;
}

/* True for bytes without scales: the result is their sums of products. */
static bool is_sums(const ac_node *n)
{
    const ac_filter filter = ac_ops[n->op].filter;
    const ac_filter_row *at = &ac_filter_of[filter];
    const ac_tensor *x = n->in[at->x], *w = n->in[at->w];
    return (filter == AC_FILTER_CONV || filter == AC_FILTER_DEPTHWISE || filter == AC_FILTER_DENSE ||
            filter == AC_FILTER_TRANSPOSED) &&
           !x->quant && !w->quant && (x->dtype == AC_I8 || x->dtype == AC_U8) &&
           (w->dtype == AC_I8 || w->dtype == AC_I16);
}

ac_dtype ac_shape_weights_type(const ac_node *n)
{
    return is_sums(n) ? AC_I32 : n->in[ac_filter_of[ac_ops[n->op].filter].x]->dtype;
}

static int sums_operands(ac_ctx *cx, const ac_node *n, const ac_filter_row *at)
{
    const ac_tensor *b = ac_node_in(n, at->bias);
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_I32));
    if (n->out[0]->quant)
        return ac_error(cx, n->at, E0106, "result '%s' has a scale, but input '%s' has none", n->out[0]->name,
                        n->in[at->x]->name);
    if (b && b->dtype != AC_I32)
        return ac_error(cx, n->at, E0105, "bias '%s' is %s, expected i32", b->name, ac_dtype_name(b->dtype));
    if (ac_node_act(n) != AC_ACT_NONE)
        return ac_error(cx, n->at, E0103, "sums of bytes without a scale have no activation");
    return AC_OK;
}

int ac_shape_weights(ac_ctx *cx, const ac_node *n)
{
    const ac_filter_row *at = &ac_filter_of[ac_ops[n->op].filter];
    const int32_t channel = at->channel;
    const ac_tensor *x = n->in[at->x], *w = n->in[at->w], *b = ac_node_in(n, at->bias), *y = n->out[0];
    const bool real = ac_dtype_is_float(x->dtype), sums = is_sums(n);
    const int32_t zero = ac_ops[n->op].filter == AC_FILTER_DENSE ? 0 : n->attrs.conv.zero;
    if (zero && (!sums || zero < ac_dtype_min(x->dtype) || zero > ac_dtype_max(x->dtype)))
        return ac_error(cx, n->at, E0103, "zero is %d for input '%s' of %s: it is for bytes without a scale", (int)zero,
                        x->name, ac_dtype_name(x->dtype));
    if (sums)
        return sums_operands(cx, n, at);
    AC_TRY(ac_shape_result_type(cx, n, 0, x->dtype));
    if (real ? w->dtype != x->dtype && w->dtype != AC_I8 && w->dtype != AC_I4 : !ac_dtype_is_int(w->dtype)) {
        ac_error(cx, n->at, E0105, "input '%s' is %s, weights '%s' are %s", x->name, ac_dtype_name(x->dtype), w->name,
                 ac_dtype_name(w->dtype));
        return ac_shape_show(cx, n);
    }
    if (b && (real ? b->dtype != x->dtype : b->dtype != AC_I32 && b->dtype != AC_I64))
        return ac_error(cx, n->at, E0105, "bias '%s' is %s, expected %s", b->name, ac_dtype_name(b->dtype),
                        real ? ac_dtype_name(x->dtype) : "i32 or i64");
    if (!real && !y->quant) {
        ac_error(cx, n->at, E0106, "result '%s' of a quantised %s has no scale", y->name, ac_ops[n->op].text);
        return ac_help(cx, "declare the scale and zero point of '%s'", y->name);
    }
    if (!real && !x->quant)
        return ac_error(cx, n->at, E0106, "input '%s' is %s without a scale", x->name, ac_dtype_name(x->dtype));
    if (ac_dtype_is_int(w->dtype) && !w->quant)
        return ac_error(cx, n->at, E0106, "weights '%s' are %s without a scale", w->name, ac_dtype_name(w->dtype));
    if (x->quant && x->quant->n != 1)
        return ac_error(cx, n->at, E0106, "input '%s' has %d scales, expected one", x->name, x->quant->n);
    if (!real && y->quant->n != 1)
        return ac_error(cx, n->at, E0106, "result '%s' has %d scales, expected one", y->name, y->quant->n);
    if (w->quant && w->quant->n > 1 && (w->quant->axis != channel || w->quant->n != w->dim[channel])) {
        ac_error(cx, n->at, E0106,
                 "weights '%s' have %d scales along dimension %d, expected 1, or %lld along dimension %d", w->name,
                 w->quant->n, w->quant->axis, (long long)w->dim[channel], channel);
        return ac_shape_show(cx, n);
    }
    return AC_OK;
}

int ac_shape_bias(ac_ctx *cx, const ac_node *n, int32_t i, int64_t channels)
{
    const ac_tensor *b = ac_node_in(n, i);
    if (!b || ac_tensor_count(b) == channels)
        return AC_OK;
    ac_error(cx, n->at, E0104, "bias '%s' is %s, expected %lld elements, one for each output channel", b->name,
             ac_shape_str(cx, b), (long long)channels);
    return ac_shape_show(cx, n);
}

/* x of any rank, w [units, K]: [elements / K, units]; with keep_dims x's leading dimensions and units. */
int ac_sh_dense(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 1, 2, "[units, inputs]"));
    AC_TRY(ac_shape_weights(cx, n));
    AC_TRY(ac_shape_act(cx, n, n->attrs.dense.act));
    const ac_tensor *x = n->in[0], *w = n->in[1];
    const int64_t k = w->dim[1], count = ac_tensor_count(x);
    const ac_dtype type = ac_shape_weights_type(n);
    const bool keep = n->attrs.dense.keep_dims;
    if (k < 1 || count % k || (keep && (x->rank < 1 || x->dim[x->rank - 1] != k))) {
        ac_error(cx, n->at, E0104, "weights '%s' take %lld inputs, but '%s' is %s", w->name, (long long)k, x->name,
                 ac_shape_str(cx, x));
        return ac_shape_show(cx, n);
    }
    AC_TRY(ac_shape_bias(cx, n, 2, w->dim[0]));
    if (!keep)
        return ac_shape_set(cx, n, 0, type, 2, (int64_t[]){count / k, w->dim[0]});
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = d == x->rank - 1 ? w->dim[0] : x->dim[d];
    return ac_shape_set(cx, n, 0, type, x->rank, dim);
}

/* x [..,K], w [units, K], bias [units], gain and shift of K elements: [.., units], and the normalised rows [..,K]. */
int ac_sh_norm_dense(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 1, 2, "[units, inputs]"));
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_F32));
    const ac_tensor *x = n->in[0], *w = n->in[1];
    const int64_t k = w->dim[1];
    if (k < 1 || x->rank < 1 || x->dim[x->rank - 1] != k)
        return ac_error(cx, n->at, E0104, "weights '%s' take %lld inputs, but '%s' is %s", w->name, (long long)k,
                        x->name, ac_shape_str(cx, x));
    AC_TRY(ac_shape_bias(cx, n, 2, w->dim[0]));
    AC_TRY(ac_shape_bias(cx, n, 3, k));
    AC_TRY(ac_shape_bias(cx, n, 4, k));
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->dtype != AC_F32)
            return ac_error(cx, n->at, E0104, "'%s' is %s: norm_connected is of f32", n->in[i]->name,
                            ac_dtype_name(n->in[i]->dtype));
    const ac_dtype type = n->attrs.norm_dense.rows;
    if (type != AC_F32 && !ac_dtype_is_half(type))
        return ac_error(cx, n->at, E0104, "rows are of f32, f16 or bf16, not of %s", ac_dtype_name(type));
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = d == x->rank - 1 ? w->dim[0] : x->dim[d];
    AC_TRY(ac_shape_set(cx, n, 0, AC_F32, x->rank, dim));
    if (n->n_out > 2)
        return ac_error(cx, n->at, E0102, "%d results, expected 1 or 2", n->n_out);
    return n->n_out == 2 ? ac_shape_set(cx, n, 1, AC_F32, x->rank, x->dim) : AC_OK;
}

/* x [..,K], codes of [N,K] in blocks: [..,N]. */
int ac_sh_blockwise_dense(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_blockwise w;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_act(cx, n, n->attrs.blocks.act));
    if (ac_blockwise_of(cx, n, &w) != AC_OK)
        return ac_shape_show(cx, n);
    AC_TRY(ac_shape_bias(cx, n, AC_BLOCKWISE_BIAS, w.rows));
    const ac_tensor *x = n->in[AC_BLOCKWISE_X];
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = d == x->rank - 1 ? w.rows : x->dim[d];
    return ac_shape_set(cx, n, 0, AC_F32, x->rank, dim);
}

static void rows_cols(const ac_tensor *t, bool adjoint, int64_t *rows, int64_t *cols)
{
    *rows = t->dim[t->rank - (adjoint ? 1 : 2)];
    *cols = t->dim[t->rank - (adjoint ? 2 : 1)];
}

/* Bytes without scales, whose sums are i32. */
static bool is_sum_of_bytes(const ac_node *n)
{
    bool bytes = n->out[0]->dtype == AC_I32;
    for (int32_t i = 0; i < 2; i++)
        bytes = bytes && !n->in[i]->quant && (n->in[i]->dtype == AC_I8 || n->in[i]->dtype == AC_U8);
    return bytes;
}

/* x [..,M,K] (adj_x: [..,K,M]), y [..,K,N] (adj_y: [..,N,K]) -> [..,M,N]; leading dimensions broadcast. */
int ac_sh_matmul(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0], *y = n->in[1];
    if (x->rank < 2 || y->rank < 2) {
        ac_error(cx, n->at, E0104, "both operands need at least 2 dimensions");
        return ac_shape_show(cx, n);
    }
    /* f32 and i16 times quantised weights of i8 are allowed */
    const bool sums = is_sum_of_bytes(n);
    if ((n->attrs.matmul.zero_x || n->attrs.matmul.zero_y) && !sums)
        return ac_error(cx, n->at, E0103, "zero_x and zero_y are for bytes without a scale and a result of i32");
    if (!sums && (y->dtype != AC_I8 || !(ac_dtype_is_float(x->dtype) || (x->dtype == AC_I16 && x->quant && y->quant))))
        AC_TRY(ac_shape_same_type(cx, n, 0, 1));
    if (!sums && !(x->dtype == AC_I8 && n->out[0]->dtype == AC_I32))
        AC_TRY(ac_shape_result_type(cx, n, 0, x->dtype));
    if (x->quant && ac_dtype_is_int(x->dtype) && !n->out[0]->quant && n->out[0]->dtype != AC_I32)
        return ac_error(cx, n->at, E0106, "result '%s' of a quantised batch_matmul has no scale", n->out[0]->name);
    int64_t m, k, k2, cols;
    rows_cols(x, n->attrs.matmul.adj_x, &m, &k);
    rows_cols(y, n->attrs.matmul.adj_y, &k2, &cols);
    if (k != k2) {
        ac_error(cx, n->at, E0104, "'%s' has %lld columns, but '%s' has %lld rows", x->name, (long long)k, y->name,
                 (long long)k2);
        return ac_shape_show(cx, n);
    }
    const int32_t rank = x->rank > y->rank ? x->rank : y->rank;
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < rank - 2; d++) {
        const int32_t dx = d - (rank - x->rank), dy = d - (rank - y->rank);
        const int64_t ex = dx < 0 ? 1 : x->dim[dx], ey = dy < 0 ? 1 : y->dim[dy];
        if (ex != ey && ex != 1 && ey != 1) {
            ac_error(cx, n->at, E0104, "leading dimensions %lld and %lld do not broadcast", (long long)ex,
                     (long long)ey);
            return ac_shape_show(cx, n);
        }
        dim[d] = ex == 1 ? ey : ex;
    }
    dim[rank - 2] = m;
    dim[rank - 1] = cols;
    return ac_shape_set(cx, n, 0, x->dtype, rank, dim);
}

int ac_sh_einsum(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_einsum_labels l;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_shape_operands(cx, n));
    for (int32_t i = 1; i < n->n_in; i++)
        AC_TRY(ac_shape_same_type(cx, n, 0, i));
    AC_TRY(ac_einsum_labels_of(cx, n, &l));
    for (int32_t d = 0; d < l.rank; d++)
        dim[d] = l.extent[l.of[n->n_in][d]];
    return ac_shape_set(cx, n, 0, n->in[0]->dtype, l.rank, dim);
}

int ac_sh_attention(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_attention a;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_attention_of(cx, n, &a));
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_F32));
    const bool first = n->attrs.attention.heads_first;
    const int64_t heads = a.groups * a.heads,
                  dim[4] = {a.batch, first ? heads : a.rows, first ? a.rows : heads, a.width};
    return ac_shape_set(cx, n, 0, AC_F32, 4, dim);
}

int ac_sh_excited(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_excite e;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_act(cx, n, n->attrs.excited.act));
    AC_TRY(ac_excited_of(cx, n, &e));
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_F32));
    const ac_tensor *x = n->in[AC_EXCITED_X];
    return ac_shape_set(cx, n, 0, AC_F32, 4, (int64_t[]){x->dim[0], x->dim[1], x->dim[2], n->in[AC_EXCITED_W]->dim[0]});
}

int ac_sh_excite(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_excite e;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_excite_of(cx, n, &e));
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_F32));
    const int64_t dim[4] = {e.images, 1, 1, e.results};
    return ac_shape_set(cx, n, 0, AC_F32, 4, dim);
}

static int square_matrices(ac_ctx *cx, const ac_node *n)
{
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    if (x->rank < 2 || x->dim[x->rank - 1] != x->dim[x->rank - 2])
        return ac_error(cx, n->at, E0104, "'%s' is %s, expected square matrices [..,M,M]", x->name,
                        ac_shape_str(cx, x));
    return AC_OK;
}

int ac_sh_det(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(square_matrices(cx, n));
    const ac_tensor *x = n->in[0];
    return ac_shape_set(cx, n, 0, x->dtype, x->rank - 2, x->dim);
}

int ac_sh_inverse(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(square_matrices(cx, n));
    const ac_tensor *x = n->in[0];
    return ac_shape_set(cx, n, 0, x->dtype, x->rank, x->dim);
}
