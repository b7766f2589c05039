/* onnx_matrix.c - products, reductions, softmax, search. */
#include "export/onnx_out.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/blockwise.h"

#include <string.h>

/* x [rows,K] times k [units,K]: sums of bytes without scales, in i32. */
static ac_tensor *integer_product(ac_onw *w, ac_tensor *x, ac_tensor *k, ac_tensor *bias, const int64_t *dim)
{
    ac_tensor *in[] = {x, ac_onw_transpose(w, k, (const int32_t[]){1, 0})};
    ac_tensor *v = ac_onw_op(w, "MatMulInteger", in, 2, AC_I32, 2, dim);
    return bias ? ac_onw_op(w, "Add", (ac_tensor *[]){v, bias}, 2, AC_I32, 2, dim) : v;
}

int ac_onw_dense(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = n->in[0], *k = n->in[1], *y = n->out[0], *bias = n->n_in > 2 ? n->in[2] : NULL;
    const int64_t units = k->dim[0], rows = k->dim[1] ? ac_tensor_count(x) / k->dim[1] : 0, flat[] = {rows, k->dim[1]};
    if (x->rank != 2 || x->dim[1] != flat[1])
        x = ac_onw_reshape(w, x, 2, flat);
    if (bias && bias->rank != 1)
        bias = ac_onw_reshape(w, bias, 1, &units);
    ac_tensor *v;
    if (y->dtype == AC_I32) {
        if (k->dtype != AC_I8)
            return ac_onw_cannot(w, n, "sums of products with weights of %s", ac_dtype_name(k->dtype));
        v = integer_product(w, x, k, bias, (int64_t[]){rows, units});
    } else {
        v = ac_onw_op(w, "Gemm", (ac_tensor *[]){x, k, bias}, 3, y->dtype, 2, (int64_t[]){rows, units});
        ac_onw_int(w, "transB", 1);
    }
    v = ac_onw_act(w, v, n->attrs.dense.act);
    if (y->rank == 2)
        ac_onw_same(w, v, y);
    else
        ac_onw_reshape_to(w, v, y);
    return AC_OK;
}

/* The codes, an element each, and a zero point of their type for every block. NULL: reported. */
static ac_tensor *codes_of(ac_onw *w, const ac_node *n, const ac_blockwise *b, ac_tensor **zero)
{
    const ac_tensor *packed = n->in[AC_BLOCKWISE_CODES], *given = ac_node_in(n, AC_BLOCKWISE_ZERO);
    const ac_dtype type = b->bits == 4 ? AC_U4 : AC_U8;
    const uint8_t *from = ac_tensor_force(w->cx, n->in[AC_BLOCKWISE_CODES]);
    const uint8_t *z = given ? ac_tensor_force(w->cx, n->in[AC_BLOCKWISE_ZERO]) : NULL;
    const int64_t bytes = packed->dim[1], blocks = b->rows * b->count;
    if (!from || (given && !z))
        return NULL;
    uint8_t *to = ac_alloc(w->cx->region, (uint64_t)(b->rows * b->depth) + 1);
    uint8_t *zeros = ac_alloc(w->cx->region, (uint64_t)blocks + 1);
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t k = 0; k < b->depth; k++) {
            const int64_t bit = k * b->bits;
            to[r * b->depth + k] = (uint8_t)(from[r * bytes + bit / 8] >> bit % 8 & ((1 << b->bits) - 1));
        }
    for (int64_t i = 0; i < blocks; i++)
        zeros[i] = z ? z[i] : (uint8_t)b->zero;
    *zero = ac_tensor_const(w->g, ac_internf(w->cx, "%s/zero", packed->name), type, 2, (int64_t[]){b->rows, b->count},
                            zeros);
    return ac_tensor_const(w->g, ac_internf(w->cx, "%s/codes", packed->name), type, 2, (int64_t[]){b->rows, b->depth},
                           to);
}

/* Weights in blocks: DequantizeLinear, and the product with its transpose. */
int ac_onw_blockwise(ac_onw *w, const ac_node *n)
{
    static const int32_t TURNED[AC_MAX_RANK] = {1, 0};
    const ac_tensor *y = n->out[0];
    ac_blockwise b;
    ac_tensor *zero = NULL, *bias = ac_node_in(n, AC_BLOCKWISE_BIAS);
    AC_TRY(ac_blockwise_of(w->cx, n, &b));
    if (!ac_tensor_is_const(n->in[AC_BLOCKWISE_CODES]))
        return ac_onw_cannot(w, n, "its codes are computed");
    ac_tensor *in[] = {codes_of(w, n, &b, &zero), n->in[AC_BLOCKWISE_SCALE], NULL};
    if (!in[0])
        return AC_FAIL;
    in[2] = zero;
    ac_tensor *k = ac_onw_op(w, "DequantizeLinear", in, 3, AC_F32, 2, in[0]->dim);
    ac_onw_int(w, "axis", 1);
    ac_onw_int(w, "block_size", b.size);
    k = ac_onw_transpose(w, k, TURNED);
    ac_tensor *v = ac_onw_op(w, "MatMul", (ac_tensor *[]){n->in[AC_BLOCKWISE_X], k}, 2, AC_F32, y->rank, y->dim);
    if (bias)
        v = ac_onw_op(w, "Add", (ac_tensor *[]){v, bias}, 2, AC_F32, y->rank, y->dim);
    ac_onw_same(w, ac_onw_act(w, v, n->attrs.blocks.act), n->out[0]);
    return AC_OK;
}

static ac_tensor *swapped(ac_onw *w, ac_tensor *x)
{
    int32_t perm[AC_MAX_RANK];
    ac_perm_swapped(x->rank, perm);
    return ac_onw_transpose(w, x, perm);
}

int ac_onw_matmul(ac_onw *w, const ac_node *n)
{
    const ac_attrs_matmul *a = &n->attrs.matmul;
    ac_tensor *in[] = {a->adj_x ? swapped(w, n->in[0]) : n->in[0], a->adj_y ? swapped(w, n->in[1]) : n->in[1]};
    ac_onw_node_to(w, "MatMul", in, 2, n->out, 1);
    return AC_OK;
}

int ac_onw_softmax(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = n->in[0];
    if (n->op == AC_OP_SOFTMAX && n->attrs.softmax.beta != 1)
        x = ac_onw_op(w, "Mul", (ac_tensor *[]){x, ac_onw_const(w, x->dtype, (double)n->attrs.softmax.beta)}, 2,
                      x->dtype, x->rank, x->dim);
    ac_onw_node_to(w, ac_onw_rows[n->op].name, &x, 1, n->out, 1);
    ac_onw_int(w, "axis", -1);
    return AC_OK;
}

int ac_onw_reduce(ac_onw *w, const ac_node *n)
{
    const bool logic = n->op == AC_OP_REDUCE_ANY || n->op == AC_OP_REDUCE_ALL;
    const char *name = ac_onw_rows[n->op].name;
    ac_tensor *x = n->in[0], *y = n->out[0];
    int64_t axes[AC_MAX_RANK];
    uint32_t mask;
    int32_t m = 0;
    AC_TRY(ac_reduce_axes(w->cx, n, &mask));
    for (int32_t d = 0; d < x->rank; d++)
        if (mask & 1u << d)
            axes[m++] = d;
    if (!m) {
        ac_onw_reshape_to(w, x, y);
        return AC_OK;
    }
    if (logic)
        x = ac_onw_cast(w, x, AC_I32);
    ac_tensor *in[] = {x, ac_onw_const_ints(w, m, axes)};
    ac_tensor *v = logic ? ac_onw_op(w, name, in, 2, AC_I32, y->rank, y->dim) : y;
    if (!logic)
        ac_onw_node_to(w, name, in, 2, &y, 1);
    ac_onw_int(w, "keepdims", n->attrs.reduce.keep_dims);
    if (logic)
        ac_onw_same(w, ac_onw_cast(w, v, AC_BOOL), y);
    return AC_OK;
}

int ac_onw_arg(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = n->in[0], *y = n->out[0];
    int32_t axis;
    AC_TRY(ac_arg_axis(w->cx, n, &axis));
    ac_tensor *v = ac_onw_op(w, ac_onw_rows[n->op].name, &x, 1, AC_I64, y->rank, y->dim);
    ac_onw_int(w, "axis", axis);
    ac_onw_int(w, "keepdims", y->rank == x->rank);
    ac_onw_same(w, ac_onw_cast(w, v, y->dtype), y);
    return AC_OK;
}

int ac_onw_cumsum(ac_onw *w, const ac_node *n)
{
    int32_t axis;
    AC_TRY(ac_one_axis(w->cx, n, 1, 0, n->in[0]->rank, &axis));
    ac_onw_node_to(w, "CumSum", (ac_tensor *[]){n->in[0], ac_onw_const(w, AC_I64, axis)}, 2, n->out, 1);
    ac_onw_int(w, "exclusive", n->attrs.cumsum.exclusive);
    ac_onw_int(w, "reverse", n->attrs.cumsum.reverse);
    return AC_OK;
}

/* Labels are letters: ij,jk->ik. */
int ac_onw_einsum(ac_onw *w, const ac_node *n)
{
    const ac_ints l = n->attrs.einsum.labels;
    int64_t extent[26] = {0};
    ac_sink s;
    int32_t at = 0;
    ac_sink_open(&s, w->cx);
    for (int32_t i = 0; i <= n->n_in; i++) {
        const ac_tensor *t = i < n->n_in ? n->in[i] : n->out[0];
        ac_put(&s, i == n->n_in ? "->" : i ? "," : "");
        for (int32_t d = 0; d < t->rank; d++, at++) {
            if (extent[l.v[at]] && extent[l.v[at]] != t->dim[d])
                return ac_onw_cannot(w, n, "a dimension of one element in place of %lld", (long long)extent[l.v[at]]);
            extent[l.v[at]] = t->dim[d];
            ac_putc(&s, (char)('a' + l.v[at]));
        }
    }
    ac_onw_node_to(w, "Einsum", n->in, n->n_in, n->out, 1);
    ac_onw_string(w, "equation", ac_sink_text(&s));
    return AC_OK;
}

int ac_onw_topk(ac_onw *w, const ac_node *n)
{
    ac_tensor *values = n->out[0], *index = n->out[1], *k = ac_onw_const_ints(w, 1, values->dim + values->rank - 1);
    ac_tensor *wide = ac_onw_value(w, index, AC_I64, index->rank, index->dim);
    ac_onw_node_to(w, "TopK", (ac_tensor *[]){n->in[0], k}, 2, (ac_tensor *[]){values, wide}, 2);
    ac_onw_int(w, "largest", !n->attrs.topk.smallest);
    ac_onw_same(w, ac_onw_cast(w, wide, index->dtype), index);
    return AC_OK;
}

/* x / max(sqrt(sum x^2), 1e-6) along the last dimension */
int ac_onw_l2(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = n->in[0];
    const int64_t last = x->rank - 1;
    int64_t dim[AC_MAX_RANK];
    memcpy(dim, x->dim, sizeof dim);
    dim[last] = 1;
    ac_tensor *norm =
        ac_onw_op(w, "ReduceL2", (ac_tensor *[]){x, ac_onw_const_ints(w, 1, &last)}, 2, x->dtype, x->rank, dim);
    ac_tensor *floor =
        ac_onw_op(w, "Max", (ac_tensor *[]){norm, ac_onw_const(w, x->dtype, 1e-6)}, 2, x->dtype, x->rank, dim);
    ac_onw_node_to(w, "Div", (ac_tensor *[]){x, floor}, 2, n->out, 1);
    return AC_OK;
}
