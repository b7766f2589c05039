/* packed_nodes.c - com.microsoft: weights of 2, 4 or 8 bits in blocks, several to a byte: MatMulNBits,
 * GatherBlockQuantized. A block has a scale and a zero point; numbers of a byte count from its low bits. They keep the
 * layout of the file, except for blocks whose columns are not neighbours (g_idx) and zero points that are floats. */
#include "import/onnx/packed.h"
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"
#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------ MatMulNBits */

typedef ac_onx_blocks blocks;

int ac_onx_constant_bytes(ac_onx_node *n, int32_t i, int64_t count, const uint8_t **v)
{
    ac_tensor *t = ac_onx_in(n, i);
    *v = NULL;
    if (!t)
        return AC_OK;
    if (!ac_tensor_is_const(t))
        return ac_cannot(&n->b, "operand '%s' is not a constant", t->name);
    if (ac_tensor_count(t) != count)
        return ac_bad(&n->b, "'%s' is %s, expected %" PRId64 " elements", t->name, ac_shape_str(n->r->cx, t), count);
    *v = ac_tensor_force(n->r->cx, t);
    return *v ? AC_OK : AC_FAIL;
}

static int code(const uint8_t *row, int64_t i, int64_t bits)
{
    const int64_t at = i * bits;
    return row[at / 8] >> (at % 8) & ((1 << bits) - 1);
}

int64_t ac_onx_packed_bytes(int64_t count, int64_t bits)
{
    return (count * bits + 7) / 8;
}

const uint8_t *ac_onx_codes(ac_region *region, const uint8_t *packed, int64_t rows, int64_t count, int64_t bits)
{
    const int64_t bytes = ac_onx_packed_bytes(count, bits);
    uint8_t *out = ac_alloc(region, (uint64_t)(rows * count) + 1);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < count; i++)
            out[r * count + i] = (uint8_t)code(packed + r * bytes, i, bits);
    return out;
}

/* Zero points, packed in each row. */
static int read_zeros(ac_onx_node *n, blocks *b)
{
    const uint8_t *packed;
    AC_TRY(ac_onx_constant_bytes(n, 3, b->rows * ac_onx_packed_bytes(b->count, b->bits), &packed));
    b->zero = ac_onx_codes(n->r->cx->region, packed, b->rows, b->count, b->bits);
    return AC_OK;
}

static int read_blocks(ac_onx_node *n, blocks *b)
{
    const ac_tensor *codes = n->in[1], *scale = n->in[2], *zero = ac_onx_in(n, 3), *group = ac_onx_in(n, 4);
    int64_t all;
    const uint8_t *g;
    b->name = codes->name;
    b->rows = ac_attr_int(&n->attrs, A_N);
    b->depth = ac_attr_int(&n->attrs, A_K);
    b->size = ac_attr_int(&n->attrs, A_block_size);
    b->bits = ac_attr_int(&n->attrs, A_bits);
    (void)ac_attr_int(&n->attrs, A_accuracy_level); /* how exact it must be at least; ours is exact */
    if (ac_attr_int(&n->attrs, A_weight_prepacked) || (b->bits != 2 && b->bits != 4 && b->bits != 8))
        return ac_cannot(&n->b, "its weights have %" PRId64 " bits, or are packed for one device", b->bits);
    if (b->rows < 1 || b->depth < 1 || b->rows > INT32_MAX || b->depth > INT32_MAX || b->size < 8 ||
        b->size > 1 << 20 || b->size & (b->size - 1) || !ac_mul_ok(b->rows, b->depth, &all) || all > INT32_MAX)
        return ac_error(n->r->cx, n->at, E0103, "N is %" PRId64 ", K %" PRId64 ", block_size %" PRId64, b->rows,
                        b->depth, b->size);
    b->count = (b->depth + b->size - 1) / b->size;
    b->real = scale->dtype;
    if (codes->dtype != AC_U8 || !ac_dtype_is_float(b->real) || (group && group->dtype != AC_I32))
        return ac_error(n->r->cx, n->at, E0105, "weights '%s' are %s, scales '%s' are %s", codes->name,
                        ac_dtype_name(codes->dtype), scale->name, ac_dtype_name(b->real));
    AC_TRY(ac_onx_constant_bytes(n, 1, b->rows * b->count * (b->size * b->bits / 8), &b->codes));
    AC_TRY(ac_onx_constant_bytes(n, 2, b->rows * b->count, &b->scale));
    if (zero && zero->dtype == AC_U8)
        AC_TRY(read_zeros(n, b));
    else if (zero && zero->dtype == b->real)
        AC_TRY(ac_onx_constant_bytes(n, 3, b->rows * b->count, &b->real_zero));
    else if (zero)
        return ac_cannot(&n->b, "its zero points are %s", ac_dtype_name(zero->dtype));
    AC_TRY(ac_onx_constant_bytes(
        n, 4, group && ac_tensor_count(group) == b->count * b->size ? b->count * b->size : b->depth, &g));
    b->group = (const int32_t *)(const void *)g;
    for (int64_t k = 0; b->group && k < b->depth; k++)
        if (b->group[k] < 0 || b->group[k] >= b->count)
            return ac_error(n->r->cx, n->at, E0103, "g_idx has %d, and there are %" PRId64 " blocks", b->group[k],
                            b->count);
    bool in_order = true;
    for (int64_t k = 0; b->group && k < b->depth; k++)
        in_order &= b->group[k] == k / b->size;
    b->group = in_order ? NULL : b->group;
    return AC_OK;
}

/* The weights as f32 [N,K]: (code - zero) * scale. */
static ac_tensor *unpacked(ac_onx_node *n, const blocks *b)
{
    const int64_t dim[2] = {b->rows, b->depth};
    const int64_t bytes = b->count * b->size * b->bits / 8;
    float *w = ac_alloc_n(n->r->cx->region, (uint64_t)(b->rows * b->depth), sizeof *w);
    for (int64_t r = 0; r < b->rows; r++)
        for (int64_t k = 0; k < b->depth; k++) {
            const int64_t g = b->group ? b->group[k] : k / b->size, at = r * b->count + g;
            const float scale = (float)ac_dtype_get_num(b->real, b->scale, at);
            float zero = (float)(1 << (b->bits - 1));
            if (b->zero)
                zero = (float)b->zero[at];
            else if (b->real_zero)
                zero = (float)ac_dtype_get_num(b->real, b->real_zero, at);
            w[r * b->depth + k] = ((float)code(b->codes + r * bytes, k, b->bits) - zero) * scale;
        }
    return ac_tensor_const(n->r->g, b->name, AC_F32, 2, dim, w);
}

/* May the weights stay packed? Blocks are whole words of 32 bits, zero points are codes. */
static bool stay_packed(const blocks *b)
{
    return !b->real_zero && !b->group && b->size * b->bits % 32 == 0;
}

/* The product with weights as the file has them. */
static ac_tensor *packed_product(ac_onx_node *n, const blocks *b, ac_tensor *x, ac_tensor *bias)
{
    ac_attrs a;
    ac_graph *g = n->r->g;
    const int64_t dim[2] = {b->rows, b->count}, wide[2] = {b->rows, b->count * b->size * b->bits / 8};
    ac_tensor *codes = ac_tensor_const(g, b->name, AC_U8, 2, wide, b->codes);
    codes->form_of = n->in[1];
    ac_tensor *scale = ac_tensor_const(g, ac_strf(n->r->cx->region, "%s_scale", b->name), b->real, 2, dim, b->scale);
    ac_tensor *zero = NULL;
    scale = ac_make_cast(&n->b, scale, AC_F32);
    if (b->zero)
        zero = ac_tensor_const(g, ac_strf(n->r->cx->region, "%s_zero", b->name), AC_U8, 2, dim, b->zero);
    ac_attrs_init(AC_OP_BLOCKWISE_DENSE, &a);
    a.blocks.bits = (int32_t)b->bits;
    a.blocks.size = (int32_t)b->size;
    a.blocks.zero = 1 << (b->bits - 1);
    ac_tensor *in[] = {x, codes, scale, zero, bias};
    return scale ? ac_make_op(&n->b, AC_OP_BLOCKWISE_DENSE, in, bias ? 5 : zero ? 4 : 3, &a, AC_NONE) : NULL;
}

ac_tensor *ac_onx_packed_dense(ac_onx_node *n, const ac_onx_blocks *b, ac_tensor *x, ac_tensor *bias)
{
    return stay_packed(b) ? packed_product(n, b, x, bias) : ac_make_dense(&n->b, x, unpacked(n, b), bias);
}

/* a, packed weights, scales, zero points, g_idx, bias */
int ac_onx_do_matmul_nbits(ac_onx_node *n)
{
    blocks b = {.rows = 0};
    ac_tensor *x = n->in[0], *bias = ac_onx_in(n, 5);
    AC_TRY(read_blocks(n, &b));
    if (x->rank < 1 || x->dim[x->rank - 1] != b.depth || x->dtype != AC_F32 ||
        (bias && (bias->rank != 1 || bias->dim[0] != b.rows)))
        return ac_bad(&n->b, "input '%s' is %s, the weights have %" PRId64 " columns", x->name,
                      ac_tensor_str(n->r->cx, x), b.depth);
    const bool row = x->rank == 1;
    x = row ? ac_make_reshape(&n->b, x, 2, (int64_t[]){1, b.depth}) : x;
    const bool fixed = bias && ac_tensor_is_const(bias);
    ac_tensor *first = fixed ? bias : NULL;
    ac_tensor *y = ac_onx_packed_dense(n, &b, x, first);
    y = bias && !fixed ? ADD(y, bias) : y;
    return ac_onx_result(n, 0, row ? ac_make_reshape(&n->b, y, 1, &b.rows) : y);
}

/* ------------------------------------------------------------------ GatherBlockQuantized */

/* Numbers of `bits` in the bytes of x, the last dimension as much longer, cut to `last`. */
static ac_tensor *spread(ac_onx_node *n, ac_tensor *x, int64_t bits, int64_t last)
{
    const int64_t per = 8 / bits;
    ac_tensor *part[4];
    int64_t dim[AC_MAX_RANK];
    if (!x || per == 1)
        return x;
    if (x->rank >= AC_MAX_RANK)
        return (void)ac_cannot(&n->b, "its weights have %d dimensions", x->rank), NULL;
    memcpy(dim, x->dim, sizeof dim);
    dim[x->rank] = 1;
    for (int64_t i = 0; i < per; i++) {
        ac_tensor *low = i ? OP2(SHIFT_RIGHT, x, ac_make_number(&n->b, AC_U8, (double)(i * bits))) : x;
        low = OP2(BITWISE_AND, low, ac_make_number(&n->b, AC_U8, (double)((1 << bits) - 1)));
        part[i] = ac_make_reshape(&n->b, low, x->rank + 1, dim);
    }
    dim[x->rank - 1] *= per;
    ac_tensor *y = ac_make_reshape(&n->b, ac_make_concat(&n->b, part, (int32_t)per, x->rank), x->rank, dim);
    return y && y->dim[y->rank - 1] > last ? ac_make_slice(&n->b, y, y->rank - 1, 0, last) : y;
}

/* (codes - zero) * scale, blocks of `size` along the axis; zero NULL: `init`. */
static ac_tensor *real_of(ac_onx_node *n, ac_tensor *codes, ac_tensor *scale, ac_tensor *zero, int32_t axis,
                          int64_t size, double init)
{
    if (!codes || !scale)
        return NULL;
    const int64_t count = scale->dim[axis], whole = count * size;
    int64_t none[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0}, dim[AC_MAX_RANK], one[AC_MAX_RANK];
    if (codes->rank >= AC_MAX_RANK)
        return (void)ac_cannot(&n->b, "its weights have %d dimensions", codes->rank), NULL;
    for (int32_t d = 0; d <= codes->rank; d++) {
        dim[d] = d <= axis ? codes->dim[d] : codes->dim[d - 1];
        one[d] = dim[d];
    }
    dim[axis] = one[axis] = count;
    dim[axis + 1] = size;
    one[axis + 1] = 1;
    after[axis] = whole - codes->dim[axis];
    ac_tensor *x = ac_make_reshape(&n->b, ac_make_pad(&n->b, codes, none, after, NULL), codes->rank + 1, dim);
    ac_tensor *z = zero ? ac_make_cast(&n->b, ac_make_reshape(&n->b, zero, codes->rank + 1, one), AC_F32) : F32(init);
    x = SUB(ac_make_cast(&n->b, x, AC_F32), z);
    x = MUL(x, ac_make_cast(&n->b, ac_make_reshape(&n->b, scale, codes->rank + 1, one), AC_F32));
    memcpy(dim, codes->dim, sizeof dim);
    dim[axis] = whole;
    return ac_make_slice(&n->b, ac_make_reshape(&n->b, x, codes->rank, dim), axis, 0, codes->dim[axis]);
}

/* data, indices, scales, zero points. Packed elements of the table become floats after the Gather. */
int ac_onx_do_gather_block_quantized(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *at = n->in[1], *scale = n->in[2], *zero = ac_onx_in(n, 3);
    const bool bytes = x->dtype == AC_U8;
    const int64_t bits = ac_attr_int(&n->attrs, A_bits), size = ac_attr_int(&n->attrs, A_gather_block_size);
    int32_t from, along;
    AC_TRY(ac_attr_axis(&n->attrs, A_gather_axis, x->rank, &from));
    AC_TRY(ac_attr_axis(&n->attrs, A_quantize_axis, x->rank, &along));
    if ((bits != 2 && bits != 4 && bits != 8) || !ac_dtype_is_int(x->dtype))
        return ac_cannot(&n->b, "its table is %s of %" PRId64 " bits", ac_tensor_str(n->r->cx, x), bits);
    const int64_t per = bytes ? 8 / bits : 1;
    if (size < 1 || size > 1 << 20 || scale->rank != x->rank || !ac_dtype_is_float(scale->dtype))
        return ac_error(n->r->cx, n->at, E0103, "block_size is %" PRId64 ", scales '%s' are %s", size, scale->name,
                        ac_tensor_str(n->r->cx, scale));
    if (bytes && per > 1 && (from == x->rank - 1 || along != x->rank - 1))
        return ac_cannot(&n->b, "numbers of a byte lie along the axis that it gathers, or beside the blocks");
    const int64_t width = x->dim[x->rank - 1] * per; /* of the last dimension, in numbers */
    for (int32_t d = 0; d < x->rank; d++) {
        const int64_t extent = d == x->rank - 1 ? width : x->dim[d];
        if (scale->dim[d] != (d == along ? (extent + size - 1) / size : extent))
            return ac_bad(&n->b, "scales '%s' are %s, the table '%s' is %s in blocks of %" PRId64, scale->name,
                          ac_shape_str(n->r->cx, scale), x->name, ac_shape_str(n->r->cx, x), size);
    }
    const double init = bytes ? (double)(1 << (bits - 1)) : 0;
    ac_tensor *stay = NUM(at, 0), *move = NUM(at, (double)x->dim[from]);
    ac_tensor *below = LESS(at, NUM(at, 0));
    at = ADD(at, WHERE(below, move, stay));
    if (!at)
        return AC_FAIL;
    if (from == along) {
        ac_tensor *real = real_of(n, x, scale, zero, along, size, init);
        return ac_onx_result(n, 0, ac_make_gather(&n->b, real, from, at));
    }
    ac_tensor *codes = spread(n, ac_make_gather(&n->b, x, from, at), bytes ? bits : 8, width);
    ac_tensor *z = zero ? spread(n, ac_make_gather(&n->b, zero, from, at), bytes ? bits : 8, scale->dim[along]) : NULL;
    const int32_t moved = along + (along > from ? at->rank - 1 : 0);
    if (!codes || (zero && !z))
        return AC_FAIL;
    return ac_onx_result(n, 0, real_of(n, codes, ac_make_gather(&n->b, scale, from, at), z, moved, size, init));
}
