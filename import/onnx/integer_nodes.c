/* integer_nodes.c - products of bytes whose sums are exact: MatMulInteger and ConvInteger, which quantised operators
 * (quant_nodes.c, fused_quant_nodes.c) use as well.
 *
 *     sum((x - zx) * (w - zw)) = sum(x * w') - zx * sum(w' - zw') - zw' * sum(x)          w' = w, or w - 128 as i8
 *
 * Constant weights become w' of i8, or of i16 if i8 does not hold them; then fully_connected and conv_2d take
 * the bytes as they are and give i32 (AC_MACS_SUM of ir/lower/channel.h). The other sums are constants, but for sum(x),
 * which is needed only if w - zw does not fit i8. Computed weights are multiplied as floats: f32 holds sums below
 * 2^24, i32 (f64 in convolutions) all others. Sums wrap, as in ONNX Runtime. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"
#include "import/onnx/quant_nodes.h"
#include "import/onnx/window_nodes.h"

#include <string.h>

enum { SINCE = 13 }; /* the operator set of MatMul and Conv in here */

/* Sums stay exact in f32 below 2^24: so many products of two bytes. */
enum { EXACT = 257 };

bool ac_onx_byte_type(const ac_tensor *t)
{
    return t && (t->dtype == AC_I8 || t->dtype == AC_U8);
}

/* ------------------------------------------------------------------ constant weights */

/* Constant weights less their zero point. An output channel is an index of w's first or last dimension. */
typedef struct weights {
    ac_tensor *w;    /* i8 or i16; NULL: computed, or reported */
    ac_tensor *zero; /* i32, a number or one for each channel, still to be taken off; NULL: none */
} weights;

/* The zero point as whole numbers, one or one for each of `count` channels; NULL: it is computed, or has another size.
 */
static int32_t *zeros_of(ac_onx_node *n, const ac_tensor *w, ac_tensor *zero, int64_t count, int64_t *size)
{
    *size = zero ? ac_tensor_count(zero) : 1;
    if (zero && (!ac_tensor_is_const(zero) || zero->dtype != w->dtype || (*size != 1 && *size != count)))
        return NULL;
    const void *data = zero ? ac_tensor_force(n->r->cx, zero) : NULL;
    int32_t *z = AC_NEW_N(n->r->cx->region, int32_t, *size + 1);
    for (int64_t i = 0; i < *size; i++)
        z[i] = data ? (int32_t)ac_dtype_get_int(zero->dtype, data, i) : 0;
    return zero && !data ? NULL : z;
}

/* Does every w - zero fit a signed byte? */
static bool fit_bytes(ac_onx_node *n, ac_tensor *w, const int32_t *zero, int64_t zeros, bool columns)
{
    const int64_t all = ac_tensor_count(w), channels = w->dim[columns ? w->rank - 1 : 0];
    bool plain = true;
    for (int64_t i = 0; i < zeros; i++)
        plain &= zero[i] == (w->dtype == AC_U8 ? 128 : 0);
    if (plain || !channels)
        return true;
    const void *data = ac_tensor_is_const(w) ? ac_tensor_force(n->r->cx, w) : NULL;
    for (int64_t i = 0; data && i < all; i++) {
        const int64_t c = columns ? i % channels : i / (all / channels);
        const int64_t v = ac_dtype_get_int(w->dtype, data, i) - zero[zeros == 1 ? 0 : c];
        if (v < INT8_MIN || v > INT8_MAX)
            return false;
    }
    return data;
}

static ac_tensor *less(ac_onx_node *n, ac_tensor *w, ac_tensor *by, ac_dtype to)
{
    ac_tensor *v = ac_make_cast(&n->b, w, AC_I32);
    return ac_make_cast(&n->b, by ? SUB(v, by) : v, to);
}

/* columns: a matrix [K,N], a zero point for each column; else filters [O,..]. */
static weights read_weights(ac_onx_node *n, ac_tensor *w, ac_tensor *zero, bool columns)
{
    int64_t zeros;
    const int64_t channels = w->rank ? w->dim[columns ? w->rank - 1 : 0] : 0;
    const int32_t *z = channels && ac_tensor_is_moved_const(w) ? zeros_of(n, w, zero, channels, &zeros) : NULL;
    if (!z)
        return (weights){NULL, NULL};
    zero = zero ? ac_onx_in_line(n, ac_make_cast(&n->b, zero, AC_I32), w->rank, columns ? w->rank - 1 : 0) : NULL;
    if (fit_bytes(n, w, z, zeros, columns))
        return (weights){w->dtype == AC_I8 && (!zero || (zeros == 1 && !*z)) ? w : less(n, w, zero, AC_I8), NULL};
    if (!columns)
        return (weights){less(n, w, zero, AC_I16), NULL};
    if (w->dtype == AC_I8)
        return (weights){w, zero};
    ac_tensor *half = ac_make_number(&n->b, AC_I32, 128);
    return (weights){less(n, w, half, AC_I8), SUB(zero ? zero : ac_make_number(&n->b, AC_I32, 0), half)};
}

/* ------------------------------------------------------------------ matrices */

/* A zero point of x: one number, or one for each row (a vector, or x's shape with a 1 at the end). */
static ac_tensor *of_rows(ac_onx_node *n, ac_tensor *zero, ac_dtype type)
{
    if (zero && ac_tensor_count(zero) == 1)
        zero = ac_make_reshape(&n->b, zero, 0, NULL);
    else if (zero && zero->rank == 1)
        zero = ac_make_reshape(&n->b, zero, 2, (int64_t[]){zero->dim[0], 1});
    return zero ? ac_make_cast(&n->b, zero, type) : NULL;
}

/* x [..,K] of rank 2 and more, y [K,N]. */
static ac_tensor *dense(ac_onx_node *n, ac_tensor *x, const weights *y, ac_tensor *zx)
{
    static const int32_t FLIP[AC_MAX_RANK] = {1, 0};
    const int64_t depth = y->w->dim[0];
    ac_tensor *w = ac_make_transpose(&n->b, y->w, FLIP), *z = of_rows(n, zx, AC_I32), *off = NULL, *acc;
    if (z) { /* zx * sum(w' - zw') */
        ac_tensor *each = ac_make_cast(&n->b, y->w, AC_I32);
        each = y->zero ? SUB(each, y->zero) : each;
        off = MUL(z, ac_make_reduce(&n->b, AC_OP_SUM, each, 1, false));
        if (!off)
            return NULL;
    }
    if (off && ac_tensor_is_const(zx) && off->rank == 1)
        acc = ac_make_dense(&n->b, x, w, NEG(off));
    else
        acc = off ? SUB(ac_make_dense(&n->b, x, w, NULL), off) : ac_make_dense(&n->b, x, w, NULL);
    if (!y->zero || !acc)
        return acc;
    ac_tensor *ones = ac_make_broadcast(&n->b, ac_make_number(&n->b, AC_I8, 1), 2, (int64_t[]){1, depth});
    return SUB(acc, MUL(ones ? ac_make_dense(&n->b, x, ones, NULL) : NULL, y->zero));
}

/* Weights that are computed: less their zero points, in a type that holds the sums. */
static ac_tensor *computed(ac_onx_node *n, ac_tensor *x, ac_tensor *y, ac_tensor *zx, ac_tensor *zy)
{
    const ac_dtype type = x->dim[x->rank - 1] <= EXACT ? AC_F32 : AC_I32;
    ac_tensor *in[] = {ac_make_cast(&n->b, x, type), ac_make_cast(&n->b, y, type)};
    zx = of_rows(n, zx, type);
    in[0] = zx ? SUB(in[0], zx) : in[0];
    if (zy)
        in[1] =
            SUB(in[1], ac_make_cast(&n->b, ac_tensor_count(zy) == 1 ? ac_make_reshape(&n->b, zy, 0, NULL) : zy, type));
    ac_tensor *z = in[0] && in[1] ? ac_onx_inner(n, "MatMul", SINCE, in, 2) : NULL;
    return ac_make_cast(&n->b, z, AC_I32);
}

ac_tensor *ac_onx_integer_matmul(ac_onx_node *n, ac_tensor *x, ac_tensor *y, ac_tensor *zx, ac_tensor *zy)
{
    if (!x || !y)
        return NULL;
    const bool matrix = y->rank == 2 && x->rank > 0 && y->dim[0] == x->dim[x->rank - 1] && y->dim[0] > 0;
    const weights w = matrix ? read_weights(n, y, zy, true) : (weights){NULL, NULL};
    if (!w.w)
        return computed(n, x, y, zx, zy);
    const bool row = x->rank == 1;
    ac_tensor *z = dense(n, row ? ac_make_reshape(&n->b, x, 2, (int64_t[]){1, x->dim[0]}) : x, &w, zx);
    return row && z ? ac_make_reshape(&n->b, z, 1, (int64_t[]){z->dim[1]}) : z;
}

int ac_onx_do_matmul_integer(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[1];
    if (!ac_onx_byte_type(x) || !ac_onx_byte_type(y) || x->rank < 1 || y->rank < 1)
        return ac_cannot(&n->b, "its operands are not bytes");
    return ac_onx_result(n, 0, ac_onx_integer_matmul(n, x, y, ac_onx_in(n, 2), ac_onx_in(n, 3)));
}

/* ------------------------------------------------------------------ convolutions */

/* The sums of filters [O,..] as [O,1,..], in line with a result [N,O,..]. */
static ac_tensor *filter_sums(ac_onx_node *n, ac_tensor *w)
{
    int64_t dim[AC_MAX_RANK] = {w->dim[0], 1, 1, 1, 1, 1, 1, 1};
    ac_tensor *sum = ac_make_reduce(&n->b, AC_OP_SUM, ac_make_cast(&n->b, w, AC_I32), (1u << w->rank) - 2, false);
    return ac_make_reshape(&n->b, sum, w->rank - 1, dim);
}

/* Computed weights, or windows of three dimensions. */
static ac_tensor *conv_of_floats(ac_onx_node *n, ac_tensor *x, ac_tensor *w, ac_tensor *zx, ac_tensor *zw)
{
    const ac_dtype type = ac_tensor_count(w) / w->dim[0] <= EXACT ? AC_F32 : AC_F64;
    ac_tensor *in[] = {ac_make_cast(&n->b, ac_onx_centered(n, x, zx, 0), type),
                       ac_make_cast(&n->b, ac_onx_centered(n, w, zw, 0), type)};
    ac_tensor *y = in[0] && in[1] ? ac_onx_inner(n, "Conv", SINCE, in, 2) : NULL;
    return ac_make_cast(&n->b, y, AC_I32);
}

int ac_onx_check_integer_conv(ac_onx_node *n, const ac_tensor *x, const ac_tensor *w)
{
    if (!x)
        return AC_FAIL;
    if (!ac_onx_byte_type(x) || !ac_onx_byte_type(w) || w->rank < 3 || !w->dim[0])
        return ac_cannot(&n->b, "its operands are not bytes, or its weights are %s", ac_shape_str(n->r->cx, w));
    return AC_OK;
}

ac_tensor *ac_onx_integer_conv(ac_onx_node *n, ac_tensor *x, ac_tensor *w, ac_tensor *zx, ac_tensor *zw)
{
    const bool plane = x->rank == 3 || x->rank == 4;
    const weights v = plane && w->rank == x->rank ? read_weights(n, w, zw, false) : (weights){NULL, NULL};
    int64_t zero = 0;
    if (!v.w || (zx && ac_tensor_count(zx) != 1))
        return conv_of_floats(n, x, w, zx, zw);
    const void *known = zx && ac_tensor_is_const(zx) ? ac_tensor_force(n->r->cx, zx) : NULL;
    if (known)
        zero = ac_dtype_get_int(zx->dtype, known, 0);
    ac_tensor *moving = zx && !known ? ac_make_reshape(&n->b, zx, 0, NULL) : NULL;
    ac_tensor *y = ac_onx_conv(n, x, v.w, NULL, (int32_t)zero, moving);
    if (!moving)
        return y;
    ac_tensor *sums = filter_sums(n, v.w);
    return SUB(y, MUL(ac_make_cast(&n->b, moving, AC_I32), sums));
}

int ac_onx_do_conv_integer(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *w = n->in[1];
    AC_TRY(ac_onx_check_integer_conv(n, x, w));
    return ac_onx_result(n, 0, ac_onx_integer_conv(n, x, w, ac_onx_in(n, 2), ac_onx_in(n, 3)));
}
