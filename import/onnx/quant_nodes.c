/* quant_nodes.c - quantised operators of ONNX in plain arithmetic: integers are exact in f32 up to 2^24, ONNX
 * rounds halves to even (ours rounds them away from zero), and scales may be operands. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"
#include "import/onnx/quant_nodes.h"

#include <inttypes.h>
#include <string.h>

ac_tensor *ac_onx_in_line(ac_onx_node *n, ac_tensor *p, int32_t rank, int32_t axis)
{
    int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (!p || (p->rank == rank && p->rank > 1)) /* of blocks: in line already */
        return p;
    if (ac_tensor_count(p) == 1)
        return ac_make_reshape(&n->b, p, 0, NULL);
    if (p->rank != 1 || axis >= rank)
        return (void)ac_cannot(&n->b, "scale or zero point '%s' is %s", p->name, ac_shape_str(n->r->cx, p)), NULL;
    dim[0] = p->dim[0];
    return ac_make_reshape(&n->b, p, rank - axis, dim);
}

/* x / scale: in f64 where x has more digits than f32, and rounded to 16 bits where the file divides in those. */
static ac_tensor *divided(ac_onx_node *n, ac_tensor *x, ac_tensor *scale, int32_t axis, ac_dtype precision)
{
    const ac_dtype wide = x && (x->dtype == AC_I32 || x->dtype == AC_F64) ? AC_F64 : AC_F32;
    ac_tensor *by = x ? ac_onx_in_line(n, ac_make_cast(&n->b, scale, wide), x->rank, axis) : NULL;
    ac_tensor *v = DIV(ac_make_cast(&n->b, x, wide), by);
    if (precision == AC_F16 || precision == AC_BF16)
        v = ac_make_cast(&n->b, ac_make_cast(&n->b, v, precision), wide);
    return v;
}

/* Floats of 8 and 4 bits are rounded by the cast alone. */
ac_tensor *ac_onx_quantized(ac_onx_node *n, ac_tensor *x, ac_tensor *scale, ac_tensor *zero, int32_t axis, ac_dtype to,
                            ac_dtype precision)
{
    ac_attrs a;
    ac_tensor *v = divided(n, x, scale, axis, precision);
    if (v && ac_dtype_is_int(to))
        v = OP1(ROUND, v);
    if (v && zero)
        v = ADD(v, ac_onx_in_line(n, ac_make_cast(&n->b, zero, v->dtype), x->rank, axis));
    ac_attrs_init(AC_OP_CAST, &a);
    a.cast.to = to;
    a.cast.clamp = ac_dtype_is_int(to);
    a.cast.wraps = ac_attr_int(&n->attrs, A_saturate) == 0;
    return v ? ac_make_op(&n->b, AC_OP_CAST, &v, 1, &a, to) : NULL;
}

ac_tensor *ac_onx_centered(ac_onx_node *n, ac_tensor *x, ac_tensor *zero, int32_t axis)
{
    ac_tensor *v = ac_make_cast(&n->b, x, AC_F32);
    if (!zero || !v)
        return v;
    return SUB(v, ac_onx_in_line(n, ac_make_cast(&n->b, zero, AC_F32), x->rank, axis));
}

ac_tensor *ac_onx_dequantized(ac_onx_node *n, ac_tensor *x, ac_tensor *scale, ac_tensor *zero, int32_t axis)
{
    ac_tensor *by = x ? ac_onx_in_line(n, ac_make_cast(&n->b, scale, AC_F32), x->rank, axis) : NULL;
    return x ? MUL(ac_onx_centered(n, x, zero, axis), by) : NULL;
}

/* The operands of QuantizeLinear and DequantizeLinear. Blocks along a dimension become a dimension of their own:
 *     x [4,6], scale [4,2], axis 1, block_size 3   ->   x [4,2,3], scale [4,2,1]
 * With a last block that is not full the scale is repeated instead. */
typedef struct affine {
    ac_tensor *x, *scale, *zero;
    int32_t axis;
    bool blocks;
} affine;

static ac_tensor *split_axis(ac_onx_node *n, ac_tensor *t, int32_t axis, int64_t outer, int64_t inner)
{
    int64_t dim[AC_MAX_RANK];
    if (!t || t->rank >= AC_MAX_RANK)
        return NULL;
    for (int32_t d = 0; d < t->rank; d++)
        dim[d + (d > axis)] = t->dim[d];
    dim[axis] = outer;
    dim[axis + 1] = inner;
    return ac_make_reshape(&n->b, t, t->rank + 1, dim);
}

/* p [..,B,..] -> [..,B * size,..] cut to `count`, every element `size` times. */
static ac_tensor *repeat(ac_onx_node *n, ac_tensor *p, int32_t axis, int64_t size, int64_t count)
{
    int64_t dim[AC_MAX_RANK];
    ac_tensor *y = p ? split_axis(n, p, axis, p->dim[axis], 1) : NULL;
    if (!y)
        return NULL;
    memcpy(dim, y->dim, sizeof dim);
    dim[axis + 1] = size;
    y = ac_make_broadcast(&n->b, y, y->rank, dim);
    memcpy(dim, p->dim, sizeof dim);
    dim[axis] = p->dim[axis] * size;
    return ac_make_slice(&n->b, ac_make_reshape(&n->b, y, p->rank, dim), axis, 0, count);
}

static int read_blocks(ac_onx_node *n, affine *a, int64_t size)
{
    const ac_tensor *x = a->x, *s = a->scale;
    bool fits = s->rank == x->rank && (!a->zero || ac_tensor_same_shape(a->zero, s));
    for (int32_t d = 0; d < x->rank && fits; d++)
        fits = d == a->axis ? s->dim[d] == (x->dim[d] + size - 1) / size : s->dim[d] == x->dim[d];
    if (!fits)
        return ac_error(n->r->cx, n->at, E0104, "scale '%s' is %s, input '%s' is %s in blocks of %" PRId64, s->name,
                        ac_shape_str(n->r->cx, s), x->name, ac_shape_str(n->r->cx, x), size);
    a->blocks = x->dim[a->axis] % size == 0 && x->rank < AC_MAX_RANK;
    if (a->blocks) {
        const int64_t many = s->dim[a->axis];
        a->x = split_axis(n, a->x, a->axis, many, size);
        a->scale = split_axis(n, a->scale, a->axis, many, 1);
        a->zero = split_axis(n, a->zero, a->axis, many, 1);
    } else {
        a->scale = repeat(n, a->scale, a->axis, size, x->dim[a->axis]);
        a->zero = repeat(n, a->zero, a->axis, size, x->dim[a->axis]);
    }
    return a->x && a->scale ? AC_OK : AC_FAIL;
}

static int read_affine(ac_onx_node *n, affine *a)
{
    const int64_t given = ac_attr_int(&n->attrs, A_second_axis), size = ac_attr_int(&n->attrs, A_block_size);
    *a = (affine){n->in[0], n->in[1], ac_onx_in(n, 2), 0, false};
    const ac_tensor *x = a->x, *scale = a->scale;
    if (!ac_dtype_is_float(scale->dtype))
        return ac_error(n->r->cx, n->at, E0105, "scale '%s' is %s", scale->name, ac_dtype_name(scale->dtype));
    if (size < 0 || size > INT32_MAX)
        return ac_error(n->r->cx, n->at, E0103, "block_size is %" PRId64, size);
    if (ac_tensor_count(scale) == 1 && scale->rank < 2)
        return AC_OK;
    AC_TRY(ac_operand_axis(&n->b, given, x->rank, &a->axis));
    if (size)
        return read_blocks(n, a, size);
    if (scale->rank != 1 || scale->dim[0] != x->dim[a->axis])
        return ac_error(n->r->cx, n->at, E0104, "scale '%s' is %s, input '%s' is %s", scale->name,
                        ac_shape_str(n->r->cx, scale), x->name, ac_shape_str(n->r->cx, x));
    return AC_OK;
}

/* The result without the dimension of the blocks. */
static int affine_result(ac_onx_node *n, ac_tensor *y)
{
    return y ? ac_onx_result(n, 0, ac_make_reshape(&n->b, y, n->in[0]->rank, n->in[0]->dim)) : AC_FAIL;
}

int ac_onx_do_quantize(ac_onx_node *n)
{
    affine a;
    AC_TRY(read_affine(n, &a));
    (void)ac_attr_int(&n->attrs, A_saturate);
    const int64_t type = ac_attr_int(&n->attrs, A_output_dtype), precision = ac_attr_int(&n->attrs, A_precision);
    const ac_dtype to = a.zero ? a.zero->dtype : type ? ac_onx_dtype(type) : AC_U8;
    if (to == AC_NONE || to == AC_F8E8M0 || !(ac_dtype_is_int(to) ? ac_dtype_bits(to) <= 16 : ac_dtype_bits(to) == 8))
        return ac_cannot(&n->b, "its result has elements of type %s",
                         type ? ac_onx_dtype_name(n->r->cx, type) : ac_dtype_name(to));
    const ac_dtype by = precision ? ac_onx_dtype(precision) : a.scale->dtype;
    if (by != AC_F32 && by != AC_F16 && by != AC_BF16 && by != AC_F8E8M0)
        return ac_cannot(&n->b, "it divides in %s", ac_dtype_name(by));
    return affine_result(n, ac_onx_quantized(n, a.x, a.scale, a.zero, a.axis, to, by));
}

int ac_onx_do_dequantize(ac_onx_node *n)
{
    affine a;
    const int64_t type = ac_attr_int(&n->attrs, A_output_dtype);
    AC_TRY(read_affine(n, &a));
    const ac_dtype from = a.x->dtype, to = type ? ac_onx_dtype(type) : n->in[1]->dtype;
    if (!ac_dtype_is_int(from) && !(ac_dtype_is_float(from) && ac_dtype_bits(from) == 8))
        return ac_cannot(&n->b, "its input has elements of type %s", ac_dtype_name(from));
    if (to != AC_F32 && to != AC_F16 && to != AC_BF16)
        return ac_cannot(&n->b, "its result has elements of type %s", ac_onx_dtype_name(n->r->cx, type));
    ac_tensor *y = ac_make_cast(&n->b, ac_onx_dequantized(n, a.x, a.scale, a.zero, a.axis), to);
    return affine_result(n, y);
}

/* A range of nothing but 0 has scale 1. */
ac_tensor *ac_onx_dynamic_quantized(ac_onx_node *n, ac_tensor *x, ac_tensor **scale, ac_tensor **zero)
{
    if (!x)
        return NULL;
    ac_tensor *nought = F32(0), *lo = nought, *hi = nought;
    const uint32_t all = (1u << x->rank) - 1;
    const uint32_t keep_nan = n->b.keep_nan;
    n->b.keep_nan = 0; /* ONNX Runtime passes over NaN here */
    if (ac_tensor_count(x) > 0) {
        hi = MAX(ac_make_reduce(&n->b, AC_OP_REDUCE_MAX, x, all, false), nought);
        lo = MIN(ac_make_reduce(&n->b, AC_OP_REDUCE_MIN, x, all, false), nought);
    }
    n->b.keep_nan = keep_nan;
    ac_tensor *steps = F32(255), *step = DIV(SUB(hi, lo), steps), *one = F32(1);
    *scale = WHERE(EQUAL(hi, lo), one, step);
    ac_tensor *z = OP1(ROUND, SUB(nought, DIV(lo, *scale)));
    *zero = ac_make_cast(&n->b, z, AC_U8);
    return *scale && *zero ? ac_onx_quantized(n, x, *scale, *zero, 0, AC_U8, AC_F32) : NULL;
}

int ac_onx_do_dynamic_quantize(ac_onx_node *n)
{
    ac_tensor *scale, *zero, *y = ac_onx_dynamic_quantized(n, n->in[0], &scale, &zero);
    AC_TRY(ac_onx_result(n, 0, y));
    AC_TRY(ac_onx_result(n, 1, scale));
    return ac_onx_result(n, 2, zero);
}

/* acc * (sx * sw / sy), rounded, plus zero, saturated. */
static ac_tensor *requantize(ac_onx_node *n, ac_tensor *acc, ac_tensor *real, ac_tensor *sy, ac_tensor *zy, ac_dtype to)
{
    ac_tensor *v = OP1(ROUND, MUL(acc, DIV(real, ac_make_reshape(&n->b, sy, 0, NULL))));
    if (zy)
        v = ADD(v, ac_make_cast(&n->b, ac_make_reshape(&n->b, zy, 0, NULL), AC_F32));
    return ac_make_cast(&n->b, v, to);
}

/* x, sx, zx, w, sw, zw, sy, zy, bias */
int ac_onx_do_qlinear_conv(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *w = n->in[3], *sw = n->in[4], *bias = ac_onx_in(n, 8);
    const bool last = *n->domain && ac_attr_bool(&n->attrs, A_channels_last);
    x = last ? ac_onx_swapped_channels(n, x, false) : x;
    AC_TRY(ac_onx_check_integer_conv(n, x, w));
    if (!ac_onx_byte_type(n->in[7]))
        return ac_cannot(&n->b, "its operands are not i8 or u8");
    ac_tensor *acc = ac_onx_integer_conv(n, x, w, n->in[2], n->in[5]);
    if (bias && acc)
        acc = ADD(acc, ac_onx_in_line(n, bias, acc->rank, 1));
    acc = ac_make_cast(&n->b, acc, AC_F32);
    sw = ac_onx_in_line(n, sw, x->rank, 1);
    ac_tensor *real = MUL(ac_make_reshape(&n->b, n->in[1], 0, NULL), sw);
    ac_tensor *y = requantize(n, acc, real, n->in[6], n->in[7], n->in[7]->dtype);
    return ac_onx_result(n, 0, last ? ac_onx_swapped_channels(n, y, true) : y);
}

/* x, sx, zx, y, sy, zy, s, z */
int ac_onx_do_qlinear_matmul(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[3];
    if (!ac_onx_byte_type(x) || !ac_onx_byte_type(y) || !ac_onx_byte_type(n->in[7]) || x->rank < 1 || y->rank < 1)
        return ac_cannot(&n->b, "its operands are not i8 or u8");
    for (int32_t i = 1; i < 8; i++)
        if (i != 3 && ac_tensor_count(n->in[i]) != 1 && (i < 4 || i > 5 || y->rank < 2))
            return ac_cannot(&n->b, "operand '%s' is %s: scales for rows", n->in[i]->name,
                             ac_shape_str(n->r->cx, n->in[i]));
    for (int32_t i = 1; i < 8; i += i == 1 ? 3 : 2)
        n->in[i] = ac_make_cast(&n->b, n->in[i], AC_F32);
    if (!n->in[1] || !n->in[4] || !n->in[6])
        return AC_FAIL;
    ac_tensor *acc = ac_make_cast(&n->b, ac_onx_integer_matmul(n, x, y, n->in[2], n->in[5]), AC_F32);
    ac_tensor *sw = ac_onx_in_line(n, n->in[4], y->rank, y->rank - 1);
    ac_tensor *real = MUL(ac_make_reshape(&n->b, n->in[1], 0, NULL), sw);
    return ac_onx_result(n, 0, requantize(n, acc, real, n->in[6], n->in[7], n->in[7]->dtype));
}
