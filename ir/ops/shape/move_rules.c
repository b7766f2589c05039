/* move_rules.c - shape rules of operators that move elements and do not compute: pad, reshape, concatenate, split,
 * transpose, tile, blocks; and resize. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

/* PAD, PADV2, MIRROR_PAD: every dimension grows. A mirror reaches at most to the other edge. */
int ac_sh_pad(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0], *value = n->op == AC_OP_PADV2 ? n->in[2] : NULL;
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK], dim[AC_MAX_RANK];
    AC_TRY(ac_pads_of(cx, n, before, after));
    if (value) {
        AC_TRY(ac_shape_same_type(cx, n, 0, 2));
        if (ac_tensor_count(value) != 1)
            return ac_error(cx, n->at, E0104, "pad value '%s' is %s, expected one element", value->name,
                            ac_shape_str(cx, value));
    }
    const int64_t edge = n->op == AC_OP_MIRROR_PAD && !n->attrs.mirror.symmetric ? 1 : 0;
    for (int32_t d = 0; d < x->rank; d++) {
        if (n->op == AC_OP_MIRROR_PAD && (before[d] || after[d]) &&
            (before[d] > x->dim[d] - edge || after[d] > x->dim[d] - edge))
            return ac_error(cx, n->at, E0103, "padding %lld, %lld of dimension %d mirrors more than '%s' %s has",
                            (long long)before[d], (long long)after[d], d, x->name, ac_shape_str(cx, x));
        dim[d] = x->dim[d] + before[d] + after[d];
    }
    return ac_shape_set_like(cx, n, 0, x, x->rank, dim);
}

int ac_sh_resize(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 0, 4, "[N,H,W,C]"));
    const ac_tensor *x = n->in[0];
    const ac_attrs_resize *a = &n->attrs.resize;
    int64_t h, w;
    AC_TRY(ac_resize_of(cx, n, &h, &w));
    if (n->op == AC_OP_RESIZE_BILINEAR && a->align_corners && a->half_pixel_centers)
        return ac_error(cx, n->at, E0103, "align_corners and half_pixel_centers exclude each other");
    if (x->dim[1] < 1 || x->dim[2] < 1)
        return ac_error(cx, n->at, E0104, "input '%s' %s has no pixels", x->name, ac_shape_str(cx, x));
    return ac_shape_set_like(cx, n, 0, x, 4, (int64_t[]){x->dim[0], h, w, x->dim[3]});
}

/* -1 in the new shape is computed from the number of elements. The shape [0] is TFLite's old spelling of a scalar;
 * other zeros are sizes. */
int ac_sh_reshape(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    const int64_t count = ac_tensor_count(x);
    ac_ints want;
    AC_TRY(ac_shape_new_shape(cx, n, 1, n->attrs.shape.shape, &want));
    ac_shape_rebatch(cx, g, n, true, &want);
    if (want.n == 1 && want.v[0] == 0 && count == 1)
        return ac_shape_set_like(cx, n, 0, x, 0, NULL);
    if (want.n > AC_MAX_RANK)
        return ac_error(cx, n->at, E0205, "the new shape has %d dimensions, at most %d are possible", want.n,
                        AC_MAX_RANK);
    int64_t dim[AC_MAX_RANK], known = 1;
    int32_t rest = -1;
    for (int32_t d = 0; d < want.n; d++) {
        dim[d] = want.v[d];
        if (dim[d] == -1 && rest < 0)
            rest = d;
        else if (dim[d] < 0)
            return ac_error(cx, n->at, E0201, "dimension %d of the new shape is %lld%s", d, (long long)dim[d],
                            dim[d] == -1 ? ", but only one may be left open" : "");
        else if (!ac_mul_ok(known, dim[d], &known))
            return ac_error(cx, n->at, E0015, "the new shape of '%s' does not fit in 63 bits", x->name);
    }
    if (rest >= 0) {
        if (known ? count % known : count)
            return ac_error(cx, n->at, E0104,
                            "the %lld elements of '%s' %s do not divide by the %lld of the new shape's known "
                            "dimensions",
                            (long long)count, x->name, ac_shape_str(cx, x), (long long)known);
        dim[rest] = known ? count / known : 0;
    } else if (known != count) {
        ac_error(cx, n->at, E0104, "the new shape has %lld elements, but '%s' %s has %lld", (long long)known, x->name,
                 ac_shape_str(cx, x), (long long)count);
        return ac_shape_show(cx, n);
    }
    return ac_shape_set_like(cx, n, 0, x, want.n, dim);
}

/* Drops the given dimensions of size 1; none given: all of size 1. */
int ac_sh_squeeze(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    const ac_ints axes = n->attrs.squeeze.axes;
    uint32_t mask;
    AC_TRY(ac_axes_of(cx, n, -1, axes, x->rank, true, &mask));
    int32_t rank = 0;
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++) {
        if (mask & 1u << d && x->dim[d] != 1)
            return ac_error(cx, n->at, E0104, "dimension %d of '%s' %s is %lld, only a 1 can be dropped", d, x->name,
                            ac_shape_str(cx, x), (long long)x->dim[d]);
        if (axes.n ? !(mask & 1u << d) : x->dim[d] != 1)
            dim[rank++] = x->dim[d];
    }
    return ac_shape_set_like(cx, n, 0, x, rank, dim);
}

int ac_sh_expand_dims(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    int32_t axis;
    if (x->rank == AC_MAX_RANK)
        return ac_error(cx, n->at, E0205, "'%s' has %d dimensions already", x->name, x->rank);
    AC_TRY(ac_one_axis(cx, n, 1, n->attrs.axis.axis, x->rank + 1, &axis));
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d <= x->rank; d++)
        dim[d] = d < axis ? x->dim[d] : d == axis ? 1 : x->dim[d - 1];
    return ac_shape_set_like(cx, n, 0, x, x->rank + 1, dim);
}

/* The operands of CONCATENATION and PACK must all be present, of one type, and equal in all dimensions except
 * `except`. */
static int check_parts(ac_ctx *cx, const ac_node *n, int32_t except)
{
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *x = n->in[0], *t = n->in[i];
        if (!t)
            return ac_error(cx, n->at, E0102, "operand %d of %s is missing", i, ac_ops[n->op].text);
        AC_TRY(ac_shape_same_type(cx, n, 0, i));
        bool fits = t->rank == x->rank;
        for (int32_t d = 0; fits && d < x->rank; d++)
            fits = d == except || t->dim[d] == x->dim[d];
        if (!fits) {
            ac_error(cx, n->at, E0104, "operand '%s' is %s, which does not match '%s' %s", t->name, ac_shape_str(cx, t),
                     x->name, ac_shape_str(cx, x));
            return ac_shape_show(cx, n);
        }
    }
    return AC_OK;
}

int ac_sh_concat(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    int32_t axis;
    AC_TRY(ac_axis_norm(cx, n, n->attrs.axis.axis, x->rank, &axis));
    AC_TRY(ac_shape_act(cx, n, n->attrs.axis.act));
    AC_TRY(check_parts(cx, n, axis));
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = x->dim[d];
    for (int32_t i = 1; i < n->n_in; i++)
        if (!ac_add_ok(dim[axis], n->in[i]->dim[axis], &dim[axis]))
            return ac_error(cx, n->at, E0015, "the sum of dimension %d does not fit in 63 bits", axis);
    return ac_shape_set_like(cx, n, 0, x, x->rank, dim);
}

/* `split %x` with the axis as an attribute is the same operator as split_v without sizes: it becomes that, because
 * operand 0 of SPLIT is the static axis. */
int ac_sh_split(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    if (n->op == AC_OP_SPLIT && n->n_in == 1)
        n->op = AC_OP_SPLIT_V;
    const ac_tensor *x = ac_split_value(n);
    if (!x)
        return ac_error(cx, n->at, E0102, "the tensor to split is missing");
    const int64_t *size;
    int32_t axis;
    AC_TRY(ac_split_of(cx, n, &axis, &size));
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = x->dim[d];
    for (int32_t i = 0; i < n->n_out; i++) {
        dim[axis] = size[i];
        AC_TRY(ac_shape_set_like(cx, n, i, x, x->rank, dim));
    }
    return AC_OK;
}

int ac_sh_pack(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    int32_t axis;
    if (x->rank == AC_MAX_RANK)
        return ac_error(cx, n->at, E0205, "'%s' has %d dimensions already", x->name, x->rank);
    AC_TRY(ac_axis_norm(cx, n, n->attrs.axis.axis, x->rank + 1, &axis));
    AC_TRY(check_parts(cx, n, -1));
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d <= x->rank; d++)
        dim[d] = d < axis ? x->dim[d] : d == axis ? n->n_in : x->dim[d - 1];
    return ac_shape_set_like(cx, n, 0, x, x->rank + 1, dim);
}

int ac_sh_unpack(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    int32_t axis, rank = 0;
    AC_TRY(ac_axis_norm(cx, n, n->attrs.axis.axis, x->rank, &axis));
    if (x->dim[axis] != n->n_out)
        return ac_error(cx, n->at, E0104, "dimension %d of '%s' %s is %lld, but there are %d outputs", axis, x->name,
                        ac_shape_str(cx, x), (long long)x->dim[axis], n->n_out);
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        if (d != axis)
            dim[rank++] = x->dim[d];
    for (int32_t i = 0; i < n->n_out; i++)
        AC_TRY(ac_shape_set_like(cx, n, i, x, rank, dim));
    return AC_OK;
}

int ac_sh_transpose(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    int32_t perm[AC_MAX_RANK];
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_perm_of(cx, n, perm));
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = x->dim[perm[d]];
    return ac_shape_set_like(cx, n, 0, x, x->rank, dim);
}

int ac_sh_tile(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    int64_t times[AC_MAX_RANK], dim[AC_MAX_RANK];
    AC_TRY(ac_tile_of(cx, n, times));
    for (int32_t d = 0; d < x->rank; d++)
        if (!ac_mul_ok(x->dim[d], times[d], &dim[d]))
            return ac_error(cx, n->at, E0015, "dimension %d of '%s' %s, repeated %lld times, does not fit in 63 bits",
                            d, x->name, ac_shape_str(cx, x), (long long)times[d]);
    return ac_shape_set_like(cx, n, 0, x, x->rank, dim);
}

int ac_sh_broadcast_to(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    ac_ints want;
    AC_TRY(ac_shape_new_shape(cx, n, 1, n->attrs.shape.shape, &want));
    ac_shape_rebatch(cx, g, n, false, &want);
    if (want.n > AC_MAX_RANK)
        return ac_error(cx, n->at, E0205, "the new shape has %d dimensions, at most %d are possible", want.n,
                        AC_MAX_RANK);
    bool fits = want.n >= x->rank;
    for (int32_t d = 0; fits && d < x->rank; d++)
        fits = x->dim[d] == 1 || x->dim[d] == want.v[want.n - x->rank + d];
    if (!fits) {
        ac_error(cx, n->at, E0104, "'%s' %s does not broadcast to the new shape", x->name, ac_shape_str(cx, x));
        for (int32_t d = 0; d < want.n; d++)
            (void)ac_detail(cx, "new dimension %d  %lld", d, (long long)want.v[d]);
        return AC_FAIL;
    }
    return ac_shape_set_like(cx, n, 0, x, want.n, want.v);
}

/* SPACE_TO_DEPTH [N,H,W,C] -> [N,H/b,W/b,C*b*b]; DEPTH_TO_SPACE the inverse. */
int ac_sh_space_depth(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 0, 4, "[N,H,W,C]"));
    const ac_tensor *x = n->in[0];
    const int64_t b = n->attrs.block.block;
    if (b < 1 || b > 1 << 15)
        return ac_error(cx, n->at, E0103, "block size is %lld, expected 1 or more", (long long)b);
    const bool down = n->op == AC_OP_SPACE_TO_DEPTH;
    if (down ? x->dim[1] % b || x->dim[2] % b : x->dim[3] % (b * b))
        return ac_error(cx, n->at, E0104, "'%s' %s does not divide into blocks of %lldx%lld", x->name,
                        ac_shape_str(cx, x), (long long)b, (long long)b);
    if (down)
        return ac_shape_set_like(cx, n, 0, x, 4,
                                 (int64_t[]){x->dim[0], x->dim[1] / b, x->dim[2] / b, x->dim[3] * b * b});
    return ac_shape_set_like(cx, n, 0, x, 4, (int64_t[]){x->dim[0], x->dim[1] * b, x->dim[2] * b, x->dim[3] / (b * b)});
}

/* SPACE_TO_BATCH_ND pads, then blocks become batches; BATCH_TO_SPACE_ND the inverse, then crops. */
int ac_sh_space_batch(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    ac_blocks b;
    AC_TRY(ac_blocks_of(cx, n, &b));
    int64_t dim[AC_MAX_RANK], blocks = 1;
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = x->dim[d];
    const bool out = n->op == AC_OP_BATCH_TO_SPACE_ND;
    for (int32_t i = 0; i < b.m; i++) {
        const int64_t size = x->dim[i + 1], block = b.block[i];
        if (!ac_mul_ok(blocks, block, &blocks))
            return ac_error(cx, n->at, E0015, "the product of the block sizes does not fit in 63 bits");
        if (out) {
            if (!ac_mul_ok(size, block, &dim[i + 1]))
                return ac_error(cx, n->at, E0015, "dimension %d does not fit in 63 bits", i + 1);
            dim[i + 1] -= b.before[i] + b.after[i];
            if (dim[i + 1] < 0)
                return ac_error(cx, n->at, E0201, "crops %lld, %lld leave nothing of dimension %d of '%s' %s",
                                (long long)b.before[i], (long long)b.after[i], i + 1, x->name, ac_shape_str(cx, x));
        } else {
            dim[i + 1] = size + b.before[i] + b.after[i];
            if (dim[i + 1] % block)
                return ac_error(cx, n->at, E0104,
                                "dimension %d of '%s' %s is %lld with its padding, which does not divide by "
                                "the block size %lld",
                                i + 1, x->name, ac_shape_str(cx, x), (long long)dim[i + 1], (long long)block);
            dim[i + 1] /= block;
        }
    }
    if (out && dim[0] % blocks)
        return ac_error(cx, n->at, E0104, "%lld batches of '%s' do not divide by the %lld elements of a block",
                        (long long)dim[0], x->name, (long long)blocks);
    if (out)
        dim[0] /= blocks;
    else if (!ac_mul_ok(dim[0], blocks, &dim[0]))
        return ac_error(cx, n->at, E0015, "the number of batches does not fit in 63 bits");
    return ac_shape_set_like(cx, n, 0, x, x->rank, dim);
}
