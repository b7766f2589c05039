/* fused_quant_nodes.c - com.microsoft: quantised operators as ONNX Runtime's quantiser writes them. Most are the float
 * operator between a dequantisation and a quantisation (ac_onx_inner); products are MatMulInteger with a scale. */
#include "import/onnx/proto/nodes.h"
#include "import/onnx/quant_nodes.h"

#include <inttypes.h>
#include <string.h>

#define ADD(x, y) ac_onx_2(n, AC_OP_ADD, x, y)
#define MUL(x, y) ac_onx_2(n, AC_OP_MUL, x, y)

enum { SINCE = 13 };

/* ------------------------------------------------------------------ element-wise, pools, softmax */

/* a, sa, za, b, sb, zb, s, z */
int ac_onx_do_qlinear_binary(ac_onx_node *n)
{
    for (int32_t i = 3; i < 7; i += i == 3 ? 1 : 2)
        AC_TRY(ac_onx_need(n, i));
    ac_tensor *a = ac_onx_dequantized(n, n->in[0], n->in[1], n->in[2], 0),
              *b = ac_onx_dequantized(n, n->in[3], n->in[4], ac_onx_in(n, 5), 0);
    ac_tensor *y = ac_onx_2(n, n->row->op, a, b);
    const ac_dtype to = n->in[0]->dtype;
    return ac_onx_result(n, 0, y ? ac_onx_quantized(n, y, n->in[6], ac_onx_in(n, 7), 0, to, AC_F32) : NULL);
}

/* x, sx, zx, s, z: QLinear<Type> of the float operator <Type>; channels may come last. */
int ac_onx_do_qlinear_unary(ac_onx_node *n)
{
    const char *type = n->type + strlen("QLinear");
    const bool last = ac_onx_int(n, "channels_last", 0) != 0;
    const int64_t version = ac_onx_int(n, "opset", SINCE);
    ac_tensor *x = last ? ac_onx_swapped_channels(n, n->in[0], false) : n->in[0];
    ac_tensor *real = ac_onx_dequantized(n, x, n->in[1], ac_onx_in(n, 2), 0);
    AC_TRY(ac_onx_need(n, 3));
    ac_tensor *y = real ? ac_onx_inner(n, type, version, &real, 1) : NULL, *z = ac_onx_in(n, 4);
    y = y ? ac_onx_quantized(n, y, n->in[3], z, 0, z ? z->dtype : x->dtype, AC_F32) : NULL;
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
            return ac_error(n->r->cx, n->at, E0102, "tensor %d or its scale is left out", i);
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
    return ac_onx_result(n, 0, ac_onx_select(n, n->in[0], x, y));
}

/* ------------------------------------------------------------------ products */

/* A scale of one element as a scalar; one for each column stays. */
static ac_tensor *scale_of(ac_onx_node *n, ac_tensor *s)
{
    s = ac_onx_cast(n, s, AC_F32);
    return s && ac_tensor_count(s) == 1 ? ac_onx_reshape(n, s, 0, NULL) : s;
}

/* x * y of integers less their zero points, times sx * sy, plus bias: f32. A scale of x may be for its rows. */
static ac_tensor *real_product(ac_onx_node *n, ac_tensor *x, ac_tensor *y, ac_tensor *zx, ac_tensor *zy, ac_tensor *sx,
                               ac_tensor *sy, ac_tensor *bias)
{
    ac_tensor *in[] = {x, y, zx, zy};
    ac_tensor *acc = x && y ? ac_onx_cast(n, ac_onx_inner(n, "MatMulInteger", 10, in, 4), AC_F32) : NULL;
    sx = scale_of(n, sx);
    if (sx && sx->rank == 1)
        sx = ac_onx_reshape(n, sx, 2, (int64_t[]){sx->dim[0], 1});
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
    const bool adj_a = ac_onx_int(n, "transA", 0) != 0, adj_b = ac_onx_int(n, "transB", 0) != 0;
    const double alpha = (double)ac_onx_float(n, "alpha", 1);
    if (a->rank != 2 || b->rank != 2)
        return ac_build_bad(&n->b, "'%s' is %s, '%s' is %s; expected 2 dimensions each", a->name,
                            ac_shape_str(n->r->cx, a), b->name, ac_shape_str(n->r->cx, b));
    ac_tensor *in[] = {adj_a ? ac_onx_transpose(n, a, FLIP) : a, adj_b ? ac_onx_transpose(n, b, FLIP) : b, n->in[2],
                       ac_onx_in(n, 5)};
    ac_tensor *acc = in[0] && in[1] ? ac_onx_inner(n, "MatMulInteger", 10, in, 4) : NULL;
    acc = ac_onx_cast(n, c ? ADD(acc, c) : acc, AC_F32);
    ac_tensor *real = MUL(scale_of(n, n->in[1]), scale_of(n, n->in[4]));
    if (alpha != 1)
        real = MUL(real, ac_onx_number(n, AC_F32, alpha));
    if (!s)
        return ac_onx_result(n, 0, MUL(acc, real));
    ac_tensor *y = MUL(acc, ac_onx_2(n, AC_OP_DIV, real, scale_of(n, s)));
    ac_tensor *one = ac_onx_number(n, AC_F32, 1);
    return ac_onx_result(n, 0, y ? ac_onx_quantized(n, y, one, z, 0, z ? z->dtype : AC_U8, AC_F32) : NULL);
}

/* ------------------------------------------------------------------ whole numbers */

/* a, za, b, zb -> i32 */
int ac_onx_do_mul_integer(ac_onx_node *n)
{
    ac_tensor *part[2];
    AC_TRY(ac_onx_need(n, 2));
    for (int32_t i = 0; i < 2; i++) {
        ac_tensor *zero = ac_onx_cast(n, ac_onx_in(n, 2 * i + 1), AC_I32), *x = ac_onx_cast(n, n->in[2 * i], AC_I32);
        part[i] = zero ? ac_onx_2(n, AC_OP_SUB, x, ac_onx_reshape(n, zero, 0, NULL)) : x;
    }
    return ac_onx_result(n, 0, MUL(part[0], part[1]));
}

int ac_onx_do_matmul_integer16(ac_onx_node *n)
{
    ac_tensor *in[] = {ac_onx_cast(n, n->in[0], AC_I32), ac_onx_cast(n, n->in[1], AC_I32)};
    return ac_onx_result(n, 0, in[0] && in[1] ? ac_onx_inner(n, "MatMul", SINCE, in, 2) : NULL);
}

int ac_onx_do_reduce_sum_integer(ac_onx_node *n)
{
    ac_tensor *x = ac_onx_cast(n, n->in[0], AC_I32);
    return ac_onx_result(n, 0, x ? ac_onx_inner(n, "ReduceSum", 11, &x, 1) : NULL);
}
