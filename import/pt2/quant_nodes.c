/* quant_nodes.c - quantised tensors of PyTorch (PT2E, torchao) in plain arithmetic, as DequantizeLinear and
 * QuantizeLinear of ONNX: pass integers makes integer kernels of it.
 *
 *     quantize     clamp(round(x / scale) + zero, least, most)
 *     dequantize   (q - zero) * scale
 *
 * Scales and zero points are numbers, lists along an axis, or, of torchao, one for each block of elements. */
#include "import/pt2/nodes.h"

#include "ir/make/compose_moves.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct affine {
    ac_tensor *x, *scale, *zero; /* scale f32, zero f32 or NULL: both broadcast to x */
    double least, most;          /* of the integers; NaN: those of their type */
} affine;

/* A parameter that broadcasts to x of `rank` dimensions: one number, one for each element of an axis, or the last
 * dimension is 1 (tokens). */
static ac_tensor *in_line(ac_ep_node *n, ac_tensor *p, int32_t rank, int32_t axis)
{
    p = ac_make_cast(&n->b, p, AC_F32);
    if (!p)
        return NULL;
    if (ac_tensor_count(p) == 1)
        return ac_make_reshape(&n->b, p, 0, NULL);
    return p->rank == 1 && rank > 1 ? ac_make_along(&n->b, p, rank, axis) : p;
}

/* A zero point of nothing but 0 changes nothing. */
static bool is_nought(ac_ep_node *n, ac_tensor *t)
{
    if (!ac_tensor_is_const(t))
        return false;
    const void *data = ac_tensor_force(n->r->cx, t);
    bool nought = data != NULL;
    for (int64_t i = 0; nought && i < ac_tensor_count(t); i++)
        nought = ac_dtype_get_num(t->dtype, data, i) == 0;
    return nought;
}

/* Reads scale and zero point as tensors (operands 1 and 2) or as numbers. */
static int read_affine(ac_ep_node *n, affine *a)
{
    int32_t axis = 0;
    *a = (affine){.x = n->in[0]};
    if (n->n_in > 1) {
        if (a->x->rank)
            AC_TRY(ac_ep_axis(n, A_axis, a->x->rank, &axis));
        a->scale = in_line(n, n->in[1], a->x->rank, axis);
        a->zero = ac_ep_in(n, 2) && !is_nought(n, n->in[2]) ? in_line(n, n->in[2], a->x->rank, axis) : NULL;
    } else {
        const int64_t zero = ac_attr_int(&n->attrs, A_zero_point);
        a->scale = F32(ac_attr_float(&n->attrs, A_scale_number));
        a->zero = zero ? F32((double)zero) : NULL;
    }
    a->least = ac_attr_has(&n->attrs, A_quant_min) ? (double)ac_attr_int(&n->attrs, A_quant_min) : (double)NAN;
    a->most = ac_attr_has(&n->attrs, A_quant_max) ? (double)ac_attr_int(&n->attrs, A_quant_max) : (double)NAN;
    return a->scale ? AC_OK : AC_FAIL;
}

/* Bounds inside of the type need a step of their own. */
static ac_tensor *quantised(ac_ep_node *n, const affine *a, ac_dtype to)
{
    ac_attrs cast;
    ac_tensor *v = OP1(ROUND, DIV(ac_make_cast(&n->b, a->x, AC_F32), a->scale));
    v = a->zero ? ADD(v, a->zero) : v;
    if (!v || !ac_dtype_is_int(to))
        return v ? ((void)ac_cannot(&n->b, "it makes %s", ac_dtype_name(to)), NULL) : NULL;
    if (!isnan(a->least) && a->least > (double)ac_dtype_min(to))
        v = MAX(v, F32(a->least));
    if (!isnan(a->most) && a->most < (double)ac_dtype_max(to))
        v = MIN(v, F32(a->most));
    ac_attrs_init(AC_OP_CAST, &cast);
    cast.cast.to = to;
    cast.cast.clamp = true;
    return v ? ac_make_op(&n->b, AC_OP_CAST, &v, 1, &cast, to) : NULL;
}

static ac_tensor *dequantised(ac_ep_node *n, const affine *a)
{
    ac_tensor *v = ac_make_cast(&n->b, a->x, AC_F32);
    v = a->zero ? SUB(v, a->zero) : v;
    return MUL(v, a->scale);
}

int ac_ep_do_quantize(ac_ep_node *n)
{
    affine a;
    (void)ac_attr_has(&n->attrs, A_dtype);
    AC_TRY(read_affine(n, &a));
    return ac_ep_result(n, 0, quantised(n, &a, ac_ep_declared(n, 0)));
}

int ac_ep_do_dequantize(ac_ep_node *n)
{
    affine a;
    (void)ac_attr_has(&n->attrs, A_dtype);
    (void)ac_attr_has(&n->attrs, A_out_dtype);
    (void)ac_attr_has(&n->attrs, A_output_dtype);
    AC_TRY(read_affine(n, &a));
    return ac_ep_result(n, 0, dequantised(n, &a));
}

/* Quantised and back. */
int ac_ep_do_fake_quantize(ac_ep_node *n)
{
    affine a;
    ac_tensor *x = n->in[0];
    AC_TRY(read_affine(n, &a));
    if (isnan(a.least) || isnan(a.most))
        return ac_bad(&n->b, "quant_min or quant_max is missing");
    ac_tensor *v = OP1(ROUND, DIV(x, a.scale));
    v = a.zero ? ADD(v, a.zero) : v;
    v = MAX(v, F32(a.least));
    v = MIN(v, F32(a.most));
    v = a.zero ? SUB(v, a.zero) : v;
    return ac_ep_result(n, 0, MUL(v, a.scale));
}

/* The code of 0 where `low` has the code `least`; not above `most`. */
static ac_tensor *code_of_nought(ac_ep_node *n, ac_tensor *low, ac_tensor *scale, double least, double most)
{
    ac_tensor *first = F32(least), *steps = OP1(ROUND, DIV(low, scale));
    ac_tensor *code = MAX(SUB(first, steps), first);
    return MIN(code, F32(most));
}

/* Scale and zero point of x from its range, which holds 0. */
int ac_ep_do_choose(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *nought = F32(0);
    const bool symmetric = strstr(n->row->name, "symmetric") != NULL;
    const double least = (double)ac_attr_int(&n->attrs, A_quant_min),
                 most = (double)ac_attr_int(&n->attrs, A_quant_max);
    const double eps = ac_attr_float(&n->attrs, A_eps);
    const uint32_t all = (1u << x->rank) - 1;
    (void)ac_attr_has(&n->attrs, A_dtype);
    if (!ac_attr_has(&n->attrs, A_quant_min) || !(most > least))
        return ac_bad(&n->b, "quant_min or quant_max is missing");
    ac_tensor *high = MAX(ac_make_reduce(&n->b, AC_OP_REDUCE_MAX, x, all, false), nought),
              *low = MIN(ac_make_reduce(&n->b, AC_OP_REDUCE_MIN, x, all, false), nought);
    if (symmetric) {
        ac_tensor *bound = MAX(high, NEG(low));
        high = bound;
        low = NEG(bound);
    }
    ac_tensor *span = SUB(high, low), *step = DIV(span, F32(most - least)), *scale = MAX(step, F32(eps));
    ac_tensor *zero = symmetric ? F32(floor((most + least + 1) / 2)) : code_of_nought(n, low, scale, least, most);
    AC_TRY(ac_ep_result(n, 0, ac_make_reshape(&n->b, scale, 1, (int64_t[]){1})));
    return ac_ep_result(n, 1, ac_make_reshape(&n->b, zero, 1, (int64_t[]){1}));
}

/* ------------------------------------------------------------------ torchao */

/* x with each dimension split into blocks, and a parameter with one number for each block. */
static int in_blocks(ac_ep_node *n, affine *a)
{
    const ac_ints block = ac_attr_ints(&n->attrs, A_block_size);
    int64_t dim[AC_MAX_RANK], own[AC_MAX_RANK], count = 1;
    int32_t rank = 0;
    const ac_tensor *x = n->in[0];
    if (block.n != x->rank)
        return ac_bad(&n->b, "%d blocks for '%s' %s", block.n, x->name, ac_shape_str(n->r->cx, x));
    for (int32_t d = 0; d < x->rank; d++) {
        const int64_t size = block.v[d];
        if (size < 1 || x->dim[d] % size || rank + 2 > AC_MAX_RANK)
            return ac_cannot(&n->b, "blocks of %" PRId64 " of dimension %d of '%s' %s", size, d, x->name,
                             ac_shape_str(n->r->cx, x));
        const int64_t blocks = x->dim[d] / size;
        count *= blocks;
        if (blocks != 1 && size != 1) {
            own[rank] = blocks;
            dim[rank++] = blocks;
            own[rank] = 1;
            dim[rank++] = size;
        } else {
            own[rank] = blocks;
            dim[rank++] = x->dim[d];
        }
    }
    if (ac_tensor_count(n->in[1]) != count)
        return ac_bad(&n->b, "%" PRId64 " scales for %" PRId64 " blocks", ac_tensor_count(n->in[1]), count);
    *a = (affine){.x = ac_make_reshape(&n->b, n->in[0], rank, dim)};
    a->scale = ac_make_reshape(&n->b, ac_make_cast(&n->b, n->in[1], AC_F32), rank, own);
    if (ac_ep_in(n, 2) && !is_nought(n, n->in[2]))
        a->zero = ac_make_reshape(&n->b, ac_make_cast(&n->b, n->in[2], AC_F32), rank, own);
    a->least = ac_attr_has(&n->attrs, A_quant_min) ? ac_attr_float(&n->attrs, A_least) : (double)NAN;
    a->most = ac_attr_has(&n->attrs, A_quant_max) ? ac_attr_float(&n->attrs, A_most) : (double)NAN;
    (void)ac_attr_has(&n->attrs, A_input_dtype);
    (void)ac_attr_has(&n->attrs, A_output_dtype);
    const char *domain = ac_attr_text(&n->attrs, A_zero_point_domain);
    return domain && strcmp(domain, "INT") != 0 && *domain
               ? ac_cannot(&n->b, "its zero points are of domain %s", domain)
               : AC_OK;
}

int ac_ep_do_quantize_affine(ac_ep_node *n)
{
    affine a;
    AC_TRY(in_blocks(n, &a));
    ac_tensor *y = quantised(n, &a, ac_ep_declared(n, 0));
    return ac_ep_result(n, 0, y ? ac_make_reshape_like(&n->b, y, n->in[0]) : NULL);
}

int ac_ep_do_dequantize_affine(ac_ep_node *n)
{
    affine a;
    AC_TRY(in_blocks(n, &a));
    ac_tensor *y = dequantised(n, &a);
    return ac_ep_result(n, 0, y ? ac_make_reshape_like(&n->b, y, n->in[0]) : NULL);
}

/* The reduced dimensions: a block has more than one element there, and must have all. */
static int block_axes(ac_ep_node *n, uint32_t *mask)
{
    const ac_ints block = ac_attr_ints(&n->attrs, A_block_size);
    const ac_tensor *x = n->in[0];
    *mask = 0;
    if (block.n != x->rank)
        return ac_bad(&n->b, "%d blocks for '%s' %s", block.n, x->name, ac_shape_str(n->r->cx, x));
    for (int32_t d = 0; d < x->rank; d++) {
        if (block.v[d] != 1 && block.v[d] != x->dim[d])
            return ac_cannot(&n->b, "blocks of %" PRId64 " of a dimension of %" PRId64, block.v[d], x->dim[d]);
        *mask |= block.v[d] != 1 ? 1u << d : 0;
    }
    return AC_OK;
}

/* Scale and zero point of each block from its range, which holds 0. */
int ac_ep_do_choose_affine(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *nought = F32(0), *zero;
    const bool symmetric = !strcmp(ac_attr_text(&n->attrs, A_mapping_type), "SYMMETRIC"),
               keep = ac_attr_bool(&n->attrs, A_keepdim);
    const double least = ac_attr_float(&n->attrs, A_least), most = ac_attr_float(&n->attrs, A_most),
                 eps = ac_attr_float_or(&n->attrs, A_eps, (double)FLT_MIN);
    uint32_t mask;
    ac_attr_skip(&n->attrs, "target_dtype");
    ac_attr_skip(&n->attrs, "scale_dtype");
    ac_attr_skip(&n->attrs, "zero_point_dtype");
    AC_TRY(block_axes(n, &mask));
    if (!(most > least))
        return ac_bad(&n->b, "quant_min or quant_max is missing");
    ac_tensor *high = MAX(ac_make_reduce(&n->b, AC_OP_REDUCE_MAX, x, mask, keep), nought),
              *low = MIN(ac_make_reduce(&n->b, AC_OP_REDUCE_MIN, x, mask, keep), nought);
    ac_tensor *span = symmetric ? MAX(high, NEG(low)) : SUB(high, low);
    ac_tensor *step = DIV(span, F32((most - least) / (symmetric ? 2 : 1))), *scale = MAX(step, F32(eps));
    if (symmetric)
        zero = scale ? ac_make_broadcast(&n->b, F32(trunc((most + least + 1) / 2)), scale->rank, scale->dim) : NULL;
    else
        zero = code_of_nought(n, low, scale, least, most);
    AC_TRY(ac_ep_result(n, 0, scale));
    return ac_ep_result(n, 1, zero);
}
