/* fused_quant_nodes.c - com.microsoft: quantised operators as ONNX Runtime's quantiser writes them. By their
 * definition the operands are dequantised and the result is quantised; they round where ONNX Runtime does on x86-64
 * with AVX2. Most are the float operator between a dequantisation and a quantisation (ac_onx_inner); sums and products
 * scale by ratios of scales; products of matrices are MatMulInteger with a scale. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"
#include "import/onnx/quant_nodes.h"

#include <inttypes.h>
#include <string.h>

enum { SINCE = 13 };

/* ------------------------------------------------------------------ element-wise, pools, softmax */

/* An operand or the result of a sum or product: its scale and zero point are f32 scalars; zero NULL: 0. */
typedef struct affine {
    ac_tensor *x, *scale, *zero;
} affine;

static ac_tensor *scalar(ac_onx_node *n, ac_tensor *x)
{
    return x ? ac_make_cast(&n->b, ac_make_reshape(&n->b, x, 0, NULL), AC_F32) : NULL;
}

static affine operand(ac_onx_node *n, int32_t i)
{
    return (affine){ac_make_cast(&n->b, n->in[i], AC_F32), scalar(n, n->in[i + 1]), scalar(n, ac_onx_in(n, i + 2))};
}

/* x * y + z, rounded once. */
static ac_tensor *mul_add(ac_onx_node *n, ac_tensor *x, ac_tensor *y, ac_tensor *z)
{
    ac_tensor *in[] = {x, y, z};
    return x && y && z ? ac_make_op(&n->b, AC_OP_MUL_ADD, in, 3, NULL, AC_F32) : NULL;
}

/* True if x is broadcast along the last dimension that is not 1 in both. ONNX Runtime treats such an x as a scalar. */
static bool is_repeated(const ac_tensor *x, const ac_tensor *y)
{
    for (int32_t d = 1; d <= x->rank || d <= y->rank; d++) {
        const int64_t nx = d <= x->rank ? x->dim[x->rank - d] : 1, ny = d <= y->rank ? y->dim[y->rank - d] : 1;
        if (nx != 1 || ny != 1)
            return nx == 1;
    }
    return true;
}

/* (x - zx) * sx / s + (y - zy) * sy / s + z with rx = sx / s, ry = sy / s:
 *     x * rx + (y * ry + (z - (zx * rx + zy * ry)))
 * Sums with a product are rounded once; the product that is rounded by itself is that of zy and ry. */
static ac_tensor *affine_sum(ac_onx_node *n, affine x, affine y, affine to)
{
    ac_tensor *none = F32(0);
    ac_tensor *rx = DIV(x.scale, to.scale), *ry = DIV(y.scale, to.scale);
    ac_tensor *away = mul_add(n, rx, x.zero ? x.zero : none, MUL(ry, y.zero ? y.zero : none));
    ac_tensor *rest = SUB(to.zero ? to.zero : none, away);
    return mul_add(n, x.x, rx, mul_add(n, y.x, ry, rest));
}

/* (x - zx) * (y - zy) * (sx * sy / s) + z */
static ac_tensor *affine_product(ac_onx_node *n, affine x, affine y, affine to)
{
    ac_tensor *ratio = DIV(MUL(x.scale, y.scale), to.scale);
    ac_tensor *a = x.zero ? SUB(x.x, x.zero) : x.x, *b = y.zero ? SUB(y.x, y.zero) : y.x;
    ac_tensor *v = MUL(MUL(a, b), ratio);
    return to.zero ? ADD(v, to.zero) : v;
}

/* a, sa, za, b, sb, zb, s, z. The zero point is added before the number is rounded. */
int ac_onx_do_qlinear_binary(ac_onx_node *n)
{
    for (int32_t i = 3; i < 7; i += i == 3 ? 1 : 2)
        AC_TRY(ac_onx_need(n, i));
    affine a = operand(n, 0), b = operand(n, 3), to = {NULL, scalar(n, n->in[6]), scalar(n, ac_onx_in(n, 7))}, swap = a;
    if (a.x && b.x && is_repeated(a.x, b.x))
        a = b, b = swap;
    ac_tensor *y = n->row->op == AC_OP_ADD ? affine_sum(n, a, b, to) : affine_product(n, a, b, to);
    return ac_onx_result(n, 0, ac_make_cast(&n->b, y ? OP1(ROUND, y) : NULL, n->in[0]->dtype));
}

/* x, sx, zx, s, z: QLinear<Type> of the float operator <Type>; channels may come last. Pools add the zero point before
 * the number is rounded. */
int ac_onx_do_qlinear_unary(ac_onx_node *n)
{
    const char *type = n->type + strlen("QLinear");
    const bool last = ac_attr_bool(&n->attrs, A_channels_last), pool = !strcmp(type, "AveragePool");
    const int64_t version = ac_attr_int_or(&n->attrs, A_opset, SINCE);
    ac_tensor *x = last ? ac_onx_swapped_channels(n, n->in[0], false) : n->in[0];
    ac_tensor *real = ac_onx_dequantized(n, x, n->in[1], ac_onx_in(n, 2), 0);
    AC_TRY(ac_onx_need(n, 3));
    n->whole_windows = pool;
    ac_tensor *y = real ? ac_onx_inner(n, type, version, &real, 1) : NULL, *z = ac_onx_in(n, 4);
    const ac_dtype to = z ? z->dtype : x->dtype;
    if (pool && y && z) {
        ac_tensor *zero = scalar(n, z);
        y = ac_make_cast(&n->b, OP1(ROUND, ADD(DIV(y, scalar(n, n->in[3])), zero)), to);
    } else
        y = y ? ac_onx_quantized(n, y, n->in[3], z, 0, to, AC_F32) : NULL;
    return ac_onx_result(n, 0, last ? ac_onx_swapped_channels(n, y, true) : y);
}

/* x, sx, zx, s, z: an exact sum of integers, times sx / (s * count). */
int ac_onx_do_qlinear_global_pool(ac_onx_node *n)
{
    const bool last = ac_attr_bool(&n->attrs, A_channels_last);
    AC_TRY(ac_onx_need(n, 3));
    ac_tensor *x = last ? ac_onx_swapped_channels(n, n->in[0], false) : n->in[0], *z = ac_onx_in(n, 4);
    if (!x || x->rank < 3)
        return x ? ac_bad(&n->b, "'%s' is %s, expected 3 dimensions or more", x->name, ac_shape_str(n->r->cx, x))
                 : AC_FAIL;
    int64_t count = 1;
    for (int32_t d = 2; d < x->rank; d++)
        count *= x->dim[d];
    ac_tensor *wide = ac_make_cast(&n->b, x, AC_I32), *zero = ac_make_cast(&n->b, ac_onx_in(n, 2), AC_I32);
    if (zero)
        wide = SUB(wide, ac_make_reshape(&n->b, zero, 0, NULL));
    ac_tensor *sum = wide ? ac_make_reduce(&n->b, AC_OP_SUM, wide, (1u << x->rank) - 4, true) : NULL;
    ac_tensor *elements = F32((double)count), *size = MUL(scalar(n, n->in[3]), elements);
    ac_tensor *factor = DIV(scalar(n, n->in[1]), size);
    ac_tensor *y = MUL(ac_make_cast(&n->b, sum, AC_F32), factor);
    ac_tensor *one = F32(1);
    y = y ? ac_onx_quantized(n, y, one, z, 0, z ? z->dtype : x->dtype, AC_F32) : NULL;
    return ac_onx_result(n, 0, last ? ac_onx_swapped_channels(n, y, true) : y);
}

/* Are these two parameters the same constant (or the same tensor)? */
static bool same_number(ac_onx_node *n, ac_tensor *a, ac_tensor *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->dtype != b->dtype || ac_tensor_count(a) != 1 || ac_tensor_count(b) != 1 ||
        !ac_tensor_is_const(a) || !ac_tensor_is_const(b))
        return false;
    const void *p = ac_tensor_force(n->r->cx, a), *q = ac_tensor_force(n->r->cx, b);
    return p && q && !memcmp(p, q, (size_t)ac_dtype_size(a->dtype, 1));
}

/* x with another scale and zero point; x itself where they are the same. */
static ac_tensor *rescaled(ac_onx_node *n, ac_tensor *x, ac_tensor *sx, ac_tensor *zx, ac_tensor *s, ac_tensor *z)
{
    const ac_dtype to = z ? z->dtype : x->dtype;
    if (x->dtype == to && same_number(n, sx, s) && same_number(n, zx, z))
        return x;
    ac_tensor *real = ac_onx_dequantized(n, x, sx, zx, 0);
    return real ? ac_onx_quantized(n, real, s, z, 0, to, AC_F32) : NULL;
}

/* s, z, then x, scale, zero of each */
int ac_onx_do_qlinear_concat(ac_onx_node *n)
{
    const int32_t count = (n->n_in - 2) / 3;
    ac_tensor **in = AC_NEW_N(n->r->cx->region, ac_tensor *, count + 1);
    if (n->n_in != 2 + 3 * count || count < 1)
        return ac_error(n->r->cx, n->at, E0102, "has %d operands, expected 2 and 3 for each tensor", n->n_in);
    for (int32_t i = 0; i < count; i++) {
        ac_tensor **of = n->in + 2 + 3 * i;
        if (!of[0] || !of[1])
            return ac_error(n->r->cx, n->at, E0102, "tensor %d or its scale is missing", i);
        in[i] = rescaled(n, of[0], of[1], of[2], n->in[0], n->in[1]);
        if (!in[i])
            return AC_FAIL;
    }
    return ac_onx_result(n, 0, ac_onx_inner(n, "Concat", SINCE, in, count));
}

/* condition, x, sx, zx, y, sy, zy, s, z */
int ac_onx_do_qlinear_where(ac_onx_node *n)
{
    ac_tensor *x = rescaled(n, n->in[1], n->in[2], n->in[3], n->in[7], n->in[8]);
    ac_tensor *y = rescaled(n, n->in[4], n->in[5], n->in[6], n->in[7], n->in[8]);
    return ac_onx_result(n, 0, WHERE(n->in[0], x, y));
}

/* ------------------------------------------------------------------ products */

/* A scale of one element as a scalar; one for each column stays. */
static ac_tensor *scale_of(ac_onx_node *n, ac_tensor *s)
{
    s = ac_make_cast(&n->b, s, AC_F32);
    return s && ac_tensor_count(s) == 1 ? ac_make_reshape(&n->b, s, 0, NULL) : s;
}

/* x * y of integers less their zero points, times sx * sy, plus bias: f32. A scale of x may be for its rows. */
static ac_tensor *real_product(ac_onx_node *n, ac_tensor *x, ac_tensor *y, ac_tensor *zx, ac_tensor *zy, ac_tensor *sx,
                               ac_tensor *sy, ac_tensor *bias)
{
    ac_tensor *in[] = {x, y, zx, zy};
    ac_tensor *acc = x && y ? ac_make_cast(&n->b, ac_onx_inner(n, "MatMulInteger", 10, in, 4), AC_F32) : NULL;
    sx = scale_of(n, sx);
    if (sx && sx->rank == 1)
        sx = ac_make_reshape(&n->b, sx, 2, (int64_t[]){sx->dim[0], 1});
    acc = MUL(acc, MUL(sx, scale_of(n, sy)));
    return bias ? ADD(acc, bias) : acc;
}

/* a, b, scale of b, zero of b, bias */
int ac_onx_do_dynamic_quantize_matmul(ac_onx_node *n)
{
    ac_tensor *scale = NULL, *zero = NULL, *x = ac_onx_dynamic_quantized(n, n->in[0], &scale, &zero);
    ac_tensor *y = real_product(n, x, n->in[1], zero, ac_onx_in(n, 3), scale, n->in[2], ac_onx_in(n, 4));
    return ac_onx_result(n, 0, y);
}

/* a, b, scales, zero points, bias */
int ac_onx_do_matmul_integer_to_float(ac_onx_node *n)
{
    ac_tensor *y =
        real_product(n, n->in[0], n->in[1], ac_onx_in(n, 4), ac_onx_in(n, 5), n->in[2], n->in[3], ac_onx_in(n, 6));
    return ac_onx_result(n, 0, y);
}

/* a, sa, za, b, sb, zb, c, s, z; without s the result is f32. c is i32 at the scale of the products. */
int ac_onx_do_qgemm(ac_onx_node *n)
{
    static const int32_t FLIP[AC_MAX_RANK] = {1, 0};
    ac_tensor *a = n->in[0], *b = n->in[3], *c = ac_onx_in(n, 6), *s = ac_onx_in(n, 7), *z = ac_onx_in(n, 8);
    const bool adj_a = ac_attr_bool(&n->attrs, A_transA), adj_b = ac_attr_bool(&n->attrs, A_transB);
    const double alpha = ac_attr_float(&n->attrs, A_alpha);
    if (a->rank != 2 || b->rank != 2)
        return ac_bad(&n->b, "'%s' is %s, '%s' is %s; expected 2 dimensions each", a->name, ac_shape_str(n->r->cx, a),
                      b->name, ac_shape_str(n->r->cx, b));
    ac_tensor *in[] = {adj_a ? ac_make_transpose(&n->b, a, FLIP) : a, adj_b ? ac_make_transpose(&n->b, b, FLIP) : b,
                       n->in[2], ac_onx_in(n, 5)};
    ac_tensor *acc = in[0] && in[1] ? ac_onx_inner(n, "MatMulInteger", 10, in, 4) : NULL;
    acc = ac_make_cast(&n->b, c ? ADD(acc, c) : acc, AC_F32);
    ac_tensor *real = scale_of(n, n->in[1]);
    if (alpha != 1)
        real = MUL(real, F32(alpha));
    real = MUL(real, scale_of(n, n->in[4]));
    if (!s)
        return ac_onx_result(n, 0, MUL(acc, real));
    ac_tensor *y = MUL(acc, DIV(real, scale_of(n, s)));
    ac_tensor *one = F32(1);
    return ac_onx_result(n, 0, y ? ac_onx_quantized(n, y, one, z, 0, z ? z->dtype : AC_U8, AC_F32) : NULL);
}

/* ------------------------------------------------------------------ whole numbers */

/* a, za, b, zb -> i32 */
int ac_onx_do_mul_integer(ac_onx_node *n)
{
    ac_tensor *part[2];
    AC_TRY(ac_onx_need(n, 2));
    for (int32_t i = 0; i < 2; i++) {
        ac_tensor *zero = ac_make_cast(&n->b, ac_onx_in(n, 2 * i + 1), AC_I32),
                  *x = ac_make_cast(&n->b, n->in[2 * i], AC_I32);
        part[i] = zero ? SUB(x, ac_make_reshape(&n->b, zero, 0, NULL)) : x;
    }
    return ac_onx_result(n, 0, MUL(part[0], part[1]));
}

int ac_onx_do_matmul_integer16(ac_onx_node *n)
{
    ac_tensor *in[] = {ac_make_cast(&n->b, n->in[0], AC_I32), ac_make_cast(&n->b, n->in[1], AC_I32)};
    return ac_onx_result(n, 0, in[0] && in[1] ? ac_onx_inner(n, "MatMul", SINCE, in, 2) : NULL);
}

int ac_onx_do_reduce_sum_integer(ac_onx_node *n)
{
    ac_tensor *x = ac_make_cast(&n->b, n->in[0], AC_I32);
    return ac_onx_result(n, 0, x ? ac_onx_inner(n, "ReduceSum", 11, &x, 1) : NULL);
}
