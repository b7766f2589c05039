/* quant_nodes.c - quantised operators of ONNX, said in plain arithmetic: integers are exact in f32 up to 2^24, ONNX
 * rounds halves to even (ours rounds them away from zero), and scales may be operands. */
#include "import/onnx/nodes.h"

#include <inttypes.h>
#include <string.h>

#define ADD(x, y) ac_onx_2(n, AC_OP_ADD, x, y)
#define SUB(x, y) ac_onx_2(n, AC_OP_SUB, x, y)
#define MUL(x, y) ac_onx_2(n, AC_OP_MUL, x, y)
#define DIV(x, y) ac_onx_2(n, AC_OP_DIV, x, y)

/* A parameter of one element, or one for each index of dimension `axis`, in line with a tensor of this rank. */
static ac_tensor *in_line(ac_onx_node *n, ac_tensor *p, int32_t rank, int32_t axis)
{
    int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (!p || (p->rank == rank && p->rank > 1)) /* of blocks: in line already */
        return p;
    if (ac_tensor_count(p) == 1)
        return ac_onx_reshape(n, p, 0, NULL);
    if (p->rank != 1 || axis >= rank)
        return (void)ac_build_cannot(&n->b, "scale or zero point '%s' is %s", p->name, ac_shape_str(n->r->cx, p)), NULL;
    dim[0] = p->dim[0];
    return ac_onx_reshape(n, p, rank - axis, dim);
}

/* x / scale: in f64 where x has more digits than f32, and rounded to 16 bits where the file divides in those. */
static ac_tensor *divided(ac_onx_node *n, ac_tensor *x, ac_tensor *scale, int32_t axis, ac_dtype precision)
{
    const ac_dtype wide = x && (x->dtype == AC_I32 || x->dtype == AC_F64) ? AC_F64 : AC_F32;
    ac_tensor *v = DIV(ac_onx_cast(n, x, wide), x ? in_line(n, ac_onx_cast(n, scale, wide), x->rank, axis) : NULL);
    if (precision == AC_F16 || precision == AC_BF16)
        v = ac_onx_cast(n, ac_onx_cast(n, v, precision), wide);
    return v;
}

/* round(x / scale) + zero, saturated to the type; floats of 8 and 4 bits are rounded by the cast alone. */
static ac_tensor *quantize(ac_onx_node *n, ac_tensor *x, ac_tensor *scale, ac_tensor *zero, int32_t axis, ac_dtype to,
                           ac_dtype precision)
{
    ac_attrs a;
    ac_tensor *v = divided(n, x, scale, axis, precision);
    if (v && ac_dtype_is_int(to))
        v = ac_onx_1(n, AC_OP_ROUND, v);
    if (v && zero)
        v = ADD(v, in_line(n, ac_onx_cast(n, zero, v->dtype), x->rank, axis));
    if (v && ac_dtype_is_int(to) && ac_dtype_file_bits(to) < 8) {
        v = ac_onx_2(n, AC_OP_MAXIMUM, v, ac_onx_number(n, v->dtype, (double)ac_dtype_min(to)));
        v = v ? ac_onx_2(n, AC_OP_MINIMUM, v, ac_onx_number(n, v->dtype, (double)ac_dtype_max(to))) : NULL;
    }
    ac_attrs_init(AC_OP_CAST, &a);
    a.cast.to = to;
    a.cast.wraps = ac_onx_int(n, "saturate", 1) == 0;
    return v ? ac_onx_make(n, AC_OP_CAST, &v, 1, &a, to) : NULL;
}

/* x - zero as f32. */
static ac_tensor *centered(ac_onx_node *n, ac_tensor *x, ac_tensor *zero, int32_t axis)
{
    ac_tensor *v = ac_onx_cast(n, x, AC_F32);
    if (!zero || !v)
        return v;
    return SUB(v, in_line(n, ac_onx_cast(n, zero, AC_F32), x->rank, axis));
}

static ac_tensor *dequantize(ac_onx_node *n, ac_tensor *x, ac_tensor *scale, ac_tensor *zero, int32_t axis)
{
    return x ? MUL(centered(n, x, zero, axis), in_line(n, ac_onx_cast(n, scale, AC_F32), x->rank, axis)) : NULL;
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
    return ac_onx_reshape(n, t, t->rank + 1, dim);
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
    y = ac_onx_broadcast(n, y, y->rank, dim);
    memcpy(dim, p->dim, sizeof dim);
    dim[axis] = p->dim[axis] * size;
    return ac_onx_slice(n, ac_onx_reshape(n, y, p->rank, dim), axis, 0, count);
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
    const int64_t given = ac_onx_int(n, "axis", 1), size = ac_onx_int(n, "block_size", 0);
    *a = (affine){n->in[0], n->in[1], ac_onx_in(n, 2), 0, false};
    const ac_tensor *x = a->x, *scale = a->scale;
    if (!ac_dtype_is_float(scale->dtype))
        return ac_error(n->r->cx, n->at, E0105, "scale '%s' is %s", scale->name, ac_dtype_name(scale->dtype));
    if (size < 0 || size > INT32_MAX)
        return ac_error(n->r->cx, n->at, E0103, "block_size is %" PRId64, size);
    if (ac_tensor_count(scale) == 1 && scale->rank < 2)
        return AC_OK;
    AC_TRY(ac_onx_axis(n, given, x->rank, &a->axis));
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
    return y ? ac_onx_result(n, 0, ac_onx_reshape(n, y, n->in[0]->rank, n->in[0]->dim)) : AC_FAIL;
}

int ac_onx_do_quantize(ac_onx_node *n)
{
    affine a;
    AC_TRY(read_affine(n, &a));
    (void)ac_onx_int(n, "saturate", 1);
    const int64_t type = ac_onx_int(n, "output_dtype", 0), precision = ac_onx_int(n, "precision", 0);
    const ac_dtype to = a.zero ? a.zero->dtype : type ? ac_onx_dtype(type) : AC_U8;
    if (to == AC_NONE || to == AC_F8E8M0 || !(ac_dtype_is_int(to) ? ac_dtype_bits(to) <= 16 : ac_dtype_bits(to) == 8))
        return ac_build_cannot(&n->b, "its result has elements of type %s",
                               type ? ac_onx_dtype_name(n->r->cx, type) : ac_dtype_name(to));
    const ac_dtype by = precision ? ac_onx_dtype(precision) : a.scale->dtype;
    if (by != AC_F32 && by != AC_F16 && by != AC_BF16 && by != AC_F8E8M0)
        return ac_build_cannot(&n->b, "it divides in %s", ac_dtype_name(by));
    return affine_result(n, quantize(n, a.x, a.scale, a.zero, a.axis, to, by));
}

int ac_onx_do_dequantize(ac_onx_node *n)
{
    affine a;
    const int64_t type = ac_onx_int(n, "output_dtype", 0);
    AC_TRY(read_affine(n, &a));
    const ac_dtype from = a.x->dtype, to = type ? ac_onx_dtype(type) : n->in[1]->dtype;
    if (!ac_dtype_is_int(from) && !(ac_dtype_is_float(from) && ac_dtype_bits(from) == 8))
        return ac_build_cannot(&n->b, "its input has elements of type %s", ac_dtype_name(from));
    if (to != AC_F32 && to != AC_F16 && to != AC_BF16)
        return ac_build_cannot(&n->b, "its result has elements of type %s", ac_onx_dtype_name(n->r->cx, type));
    ac_tensor *y = ac_onx_cast(n, dequantize(n, a.x, a.scale, a.zero, a.axis), to);
    return affine_result(n, y);
}

/* u8 with the range of the values and 0. */
int ac_onx_do_dynamic_quantize(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *zero = ac_onx_number(n, AC_F32, 0);
    const uint32_t all = (1u << x->rank) - 1;
    ac_tensor *hi = ac_onx_2(n, AC_OP_MAXIMUM, ac_onx_reduce(n, AC_OP_REDUCE_MAX, x, all, false), zero);
    ac_tensor *lo = ac_onx_2(n, AC_OP_MINIMUM, ac_onx_reduce(n, AC_OP_REDUCE_MIN, x, all, false), zero);
    ac_tensor *scale = DIV(SUB(hi, lo), ac_onx_number(n, AC_F32, 255));
    ac_tensor *z = ac_onx_1(n, AC_OP_ROUND, SUB(zero, DIV(lo, scale)));
    z = ac_onx_cast(n, z, AC_U8);
    if (!scale || !z)
        return AC_FAIL;
    AC_TRY(ac_onx_result(n, 0, quantize(n, x, scale, z, 0, AC_U8, AC_F32)));
    AC_TRY(ac_onx_result(n, 1, scale));
    return ac_onx_result(n, 2, z);
}

/* acc * (sx * sw / sy), rounded, plus zero, saturated. */
static ac_tensor *requantize(ac_onx_node *n, ac_tensor *acc, ac_tensor *real, ac_tensor *sy, ac_tensor *zy, ac_dtype to)
{
    ac_tensor *v = ac_onx_1(n, AC_OP_ROUND, MUL(acc, DIV(real, ac_onx_reshape(n, sy, 0, NULL))));
    if (zy)
        v = ADD(v, ac_onx_cast(n, ac_onx_reshape(n, zy, 0, NULL), AC_F32));
    return ac_onx_cast(n, v, to);
}

/* The node as another one: operands, then results, are those of the float operator. */
static ac_tensor *float_op(ac_onx_node *n, int (*fn)(ac_onx_node *n), ac_tensor **in, int32_t n_in)
{
    ac_onx_node inner = *n;
    ac_onx_value value = {.name = n->out[0]->name, .rank = -1}, *out[] = {&value};
    inner.in = in;
    inner.n_in = n_in;
    inner.out = out;
    inner.n_out = 1;
    for (int32_t i = 0; i < n_in; i++)
        if (!in[i])
            return NULL;
    return fn(&inner) == AC_OK ? value.t : NULL;
}

static bool byte_type(const ac_tensor *t)
{
    return t && (t->dtype == AC_I8 || t->dtype == AC_U8);
}

/* x, sx, zx, w, sw, zw, sy, zy, bias */
int ac_onx_do_qlinear_conv(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *w = n->in[3], *sw = n->in[4], *bias = ac_onx_in(n, 8);
    if (!byte_type(x) || !byte_type(w) || !byte_type(n->in[7]))
        return ac_build_cannot(&n->b, "its operands are not i8 or u8");
    ac_tensor *in[] = {centered(n, x, n->in[2], 0), centered(n, w, n->in[5], 0),
                       bias ? ac_onx_cast(n, bias, AC_F32) : NULL};
    ac_tensor *acc = float_op(n, ac_onx_do_conv, in, bias ? 3 : 2);
    ac_tensor *real = MUL(ac_onx_reshape(n, n->in[1], 0, NULL), in_line(n, sw, x->rank, 1));
    return ac_onx_result(n, 0, requantize(n, acc, real, n->in[6], n->in[7], n->in[7]->dtype));
}

/* x, sx, zx, y, sy, zy, s, z */
int ac_onx_do_qlinear_matmul(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[3];
    if (!byte_type(x) || !byte_type(y) || !byte_type(n->in[7]) || x->rank < 1 || y->rank < 1)
        return ac_build_cannot(&n->b, "its operands are not i8 or u8");
    for (int32_t i = 1; i < 8; i++)
        if (i != 3 && ac_tensor_count(n->in[i]) != 1)
            return ac_build_cannot(&n->b, "it has scales for rows or columns");
    for (int32_t i = 1; i < 8; i += i == 1 ? 3 : 2)
        n->in[i] = ac_onx_cast(n, n->in[i], AC_F32);
    if (!n->in[1] || !n->in[4] || !n->in[6])
        return AC_FAIL;
    ac_tensor *in[] = {centered(n, x, n->in[2], 0), centered(n, y, n->in[5], 0)};
    ac_tensor *acc = float_op(n, ac_onx_do_matmul, in, 2);
    ac_tensor *real = MUL(ac_onx_reshape(n, n->in[1], 0, NULL), ac_onx_reshape(n, n->in[4], 0, NULL));
    return ac_onx_result(n, 0, requantize(n, acc, real, n->in[6], n->in[7], n->in[7]->dtype));
}

/* Sums stay exact in f32 below 2^24: so many products of two bytes. Longer ones are added up in i32. */
enum { EXACT = 257 };

/* A zero point: one number, one for each column of y, or one for each row of x (a vector, or x's shape with a 1 at the
 * end). */
static ac_tensor *off_zero(ac_onx_node *n, ac_tensor *x, ac_tensor *zero, bool rows, ac_dtype type)
{
    ac_tensor *v = ac_onx_cast(n, x, type);
    if (!v || !zero)
        return v;
    if (ac_tensor_count(zero) == 1)
        zero = ac_onx_reshape(n, zero, 0, NULL);
    else if (rows && zero->rank == 1)
        zero = ac_onx_reshape(n, zero, 2, (int64_t[]){zero->dim[0], 1});
    return SUB(v, ac_onx_cast(n, zero, type));
}

int ac_onx_do_matmul_integer(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[1];
    if (!byte_type(x) || !byte_type(y) || x->rank < 1)
        return ac_build_cannot(&n->b, "its operands are not bytes");
    const ac_dtype type = x->dim[x->rank - 1] > EXACT ? AC_I32 : AC_F32;
    ac_tensor *in[] = {off_zero(n, x, ac_onx_in(n, 2), true, type), off_zero(n, y, ac_onx_in(n, 3), false, type)};
    return ac_onx_result(n, 0, ac_onx_cast(n, float_op(n, ac_onx_do_matmul, in, 2), AC_I32));
}

int ac_onx_do_conv_integer(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *w = n->in[1], *zw = ac_onx_in(n, 3);
    if (!byte_type(x) || !byte_type(w) || !w->dim[0] || ac_tensor_count(w) / w->dim[0] > EXACT)
        return ac_build_cannot(&n->b, "its operands are not bytes, or more than %d are added up", EXACT);
    ac_tensor *in[] = {centered(n, x, ac_onx_in(n, 2), 0), centered(n, w, zw, 0)};
    return ac_onx_result(n, 0, ac_onx_cast(n, float_op(n, ac_onx_do_conv, in, 2), AC_I32));
}

/* com.microsoft: a, sa, za, b, sb, zb, s, z */
int ac_onx_do_qlinear_binary(ac_onx_node *n)
{
    ac_tensor *a = dequantize(n, n->in[0], n->in[1], n->in[2], 0),
              *b = dequantize(n, n->in[3], n->in[4], ac_onx_in(n, 5), 0);
    ac_tensor *y = ac_onx_2(n, n->row->op, a, b);
    return ac_onx_result(n, 0, y ? quantize(n, y, n->in[6], ac_onx_in(n, 7), 0, n->in[0]->dtype, AC_F32) : NULL);
}

/* com.microsoft: x, sx, zx, s, z */
int ac_onx_do_qlinear_global_pool(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    const bool last = ac_onx_int(n, "channels_last", 0) != 0;
    if (last || x->rank < 3)
        return ac_build_cannot(&n->b, "channels_last is set");
    ac_tensor *y = ac_onx_reduce(n, AC_OP_MEAN, centered(n, x, n->in[2], 0), ((1u << x->rank) - 1) & ~3u, true);
    return ac_onx_result(n, 0, requantize(n, y, ac_onx_reshape(n, n->in[1], 0, NULL), n->in[3], n->in[4], x->dtype));
}

/* com.microsoft: a, sa, za, b, sb, zb, c, s, z; without s the result is f32. */
int ac_onx_do_qgemm(ac_onx_node *n)
{
    ac_tensor *a = n->in[0], *b = n->in[3], *c = ac_onx_in(n, 6), *s = ac_onx_in(n, 7), *z = ac_onx_in(n, 8);
    const bool adj = ac_onx_int(n, "transB", 0) != 0;
    if (ac_onx_float(n, "alpha", 1) != 1.0f)
        return ac_build_cannot(&n->b, "alpha is not 1");
    ac_tensor *in[] = {centered(n, a, n->in[2], 0), centered(n, b, ac_onx_in(n, 5), adj ? 0 : 1),
                       c ? ac_onx_cast(n, c, AC_F32) : NULL};
    ac_tensor *acc = float_op(n, ac_onx_do_gemm, in, c ? 3 : 2);
    ac_tensor *real = MUL(ac_onx_reshape(n, n->in[1], 0, NULL), in_line(n, n->in[4], 2, 1));
    if (!s)
        return ac_onx_result(n, 0, MUL(acc, real));
    return ac_onx_result(n, 0, requantize(n, acc, real, s, z, z ? z->dtype : AC_U8));
}
