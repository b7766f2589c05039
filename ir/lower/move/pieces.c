/* pieces.c - lowers operators that only rename positions: reshape family, concatenation, split, slices, transpose,
 * tile, broadcast, reverse, depth and space. Each states a box of strides (move.h). Elements are bits of any type of at
 * least a byte; the result equals TFLite's reference kernels bit for bit. CONCATENATION of operands on other scales
 * than the result: see concat_value. */
#include "ir/lower/entries.h"
#include "ir/lower/move/move.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"

int ac_lo_copy(ac_lower *L)
{
    ac_tensor *x = L->node->in[0];
    AC_TRY(ac_lo_movable(L, x));
    ac_move m = {0};
    ac_move_dim(&m, ac_tensor_count(x), 1, 1);
    ac_lo_move_output(L, x, 0, &m);
    return AC_OK;
}

/* The conversion of an operand of a concatenation. */
typedef struct concat_rule {
    bool rescale;
    float scale,
        bias; /* TFLite's ConcatenationWithScaling: round(x * scale + bias) + zero, clamped; computed in float */
    ac_dtype dtype;
    int32_t zero;
    ac_act act; /* float results only */
} concat_rule;

/* Rounds halves away from zero. The fraction of |x| < 2^24 is exact. */
static ac_x round_away(ac_lb *b, ac_x x)
{
    const ac_x whole = ac_lb_trunc(b, x), part = ac_lb_sub(b, x, whole);
    const ac_x up = ac_lb_select(b, ac_lb_ge(b, part, ac_lb_like(b, x, 0.5)), ac_lb_like(b, x, 1), ac_lb_like(b, x, 0));
    const ac_x down =
        ac_lb_select(b, ac_lb_le(b, part, ac_lb_like(b, x, -0.5)), ac_lb_like(b, x, 1), ac_lb_like(b, x, 0));
    return ac_lb_sub(b, ac_lb_add(b, whole, up), down);
}

static ac_x concat_value(ac_lower *L, ac_x v, const void *ctx)
{
    const concat_rule *r = ctx;
    ac_lb *b = &L->b;
    if (!r->rescale)
        return ac_lo_act(L, v, r->act);
    ac_x f = ac_lb_cast(b, v, AC_F32);
    f = ac_lb_add(b, ac_lb_mul(b, f, ac_lb_like(b, f, (double)r->scale)), ac_lb_like(b, f, (double)r->bias));
    f = ac_lb_clamp(b, round_away(b, f), ac_lb_like(b, f, -1e6), ac_lb_like(b, f, 1e6)); /* fits in i32 */
    const ac_x i = ac_lb_cast(b, f, AC_I32);
    return ac_lb_satcast(b, ac_lb_add(b, i, ac_lb_like_int(b, i, r->zero)), r->dtype);
}

/* Elements of a copy: 16 bytes, if all rows and addresses are multiples of that; 0: the operands cannot be copied as
 * they are by one loop. */
static int64_t joint_copy(const ac_lower *L, const ac_node *n, int32_t axis)
{
    enum { MOST_OPERANDS = 8, BYTES = 16 };
    const ac_tensor *y = n->out[0];
    const int64_t size = ac_dtype_size(y->dtype, 1);
    int64_t unit = BYTES / size;
    bool same = n->attrs.axis.act == AC_ACT_NONE && ac_tensor_count(y) > 0 && !y->narrowed && n->n_in > 1 &&
                n->n_in <= MOST_OPERANDS && (size == 1 || size == 4);
    for (int32_t i = 0; i < n->n_in && same; i++) {
        const ac_tensor *x = n->in[i];
        same = x->dtype == y->dtype && !x->narrowed && ac_tensor_count(x) > 0 &&
               (!x->quant || !y->quant || ac_quant_equal(x->quant, y->quant));
        if (ac_dim_product(x->dim, axis, x->rank) % unit || ac_lo_align(L, x) < BYTES || ac_lo_align(L, y) < BYTES)
            unit = 1;
    }
    return same ? unit : 0;
}

/* GPUs: one loop over the result's pieces, each from one of the operands, so that it is one launch. */
static int concat_at_once(ac_lower *L, int32_t axis, int64_t unit)
{
    const ac_node *n = L->node;
    const ac_tensor *y = n->out[0];
    ac_lb *b = &L->b;
    const int32_t dst = ac_lo_result_buf(L), lanes = (int32_t)unit;
    const uint8_t flags = unit > 1 ? AC_F_ALIGNED : 0;
    const int64_t row = ac_dim_product(y->dim, axis, y->rank) / unit;
    int64_t at = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        ac_lo_operand(L, n->in[i]);
    const ac_x e = ac_lb_for_each(b, "i", ac_tensor_count(y) / unit), o = ac_lb_div(b, e, ac_lb_i32(b, row)),
               c = ac_lb_mod(b, e, ac_lb_i32(b, row)), to = ac_lb_mul(b, e, ac_lb_i32(b, unit));
    for (int32_t i = 0; i < n->n_in; i++) {
        const int64_t part = ac_dim_product(n->in[i]->dim, axis, n->in[i]->rank) / unit;
        if (i + 1 < n->n_in)
            ac_lb_if(b, ac_lb_lt(b, c, ac_lb_i32(b, at + part)));
        const ac_x in_part = ac_lb_sub(b, c, ac_lb_i32(b, at)),
                   piece = ac_lb_add(b, ac_lb_mul(b, o, ac_lb_i32(b, part)), in_part);
        const ac_x v =
            ac_lb_load_flags(b, ac_lo_operand(L, n->in[i]), ac_lb_mul(b, piece, ac_lb_i32(b, unit)), lanes, flags);
        ac_lb_store_flags(b, dst, to, v, flags);
        if (i + 1 < n->n_in)
            ac_lb_else(b);
        at += part;
    }
    for (int32_t i = 0; i < n->n_in; i++)
        ac_lb_end(b);
    return AC_OK;
}

int ac_lo_concat(ac_lower *L)
{
    const ac_node *n = L->node;
    const ac_tensor *y = n->out[0];
    const ac_act act = n->attrs.axis.act;
    int32_t axis;
    AC_TRY(ac_axis_norm(L->cx, n, n->attrs.axis.axis, y->rank, &axis));
    AC_TRY(ac_lo_movable(L, y));
    if (act != AC_ACT_NONE && y->dtype != AC_F32)
        return ac_lower_refuse(L, "activation %s of a concatenation of %s; only f32 can have one", ac_act_name[act],
                               ac_dtype_name(y->dtype));
    const int64_t unit = L->target->isa == AC_ISA_CUDA ? joint_copy(L, n, axis) : 0;
    if (unit)
        return concat_at_once(L, axis, unit);
    const int32_t dst = ac_lo_result_buf(L);
    int64_t lead[2], at = 0;
    ac_lo_lead(L, y, axis, lead);
    const int64_t outer = ac_dim_product(y->dim, 0, axis) / (lead[0] * lead[1]),
                  row = ac_dim_product(y->dim, axis, y->rank);
    ac_lb *b = &L->b;
    const ac_x oy = ac_lb_for_n(b, "oy", lead[0]), ox = ac_lb_for_n(b, "ox", lead[1]);
    const ac_x first = ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, oy, ac_lb_i32(b, lead[1])), ox), ac_lb_i32(b, outer));
    for (int32_t i = 0; i < n->n_in; i++) {
        ac_tensor *x = n->in[i];
        const int64_t part = ac_dim_product(x->dim, axis, x->rank);
        ac_move m = {.to = at, .once = true};
        ac_move_dim(&m, outer, part, row);
        ac_move_dim(&m, part, 1, 1);
        at += part;
        const ac_x from = ac_lb_mul(b, first, ac_lb_i32(b, part)), to = ac_lb_mul(b, first, ac_lb_i32(b, row));
        const bool small = y->dtype == AC_I8 || y->dtype == AC_U8 || y->dtype == AC_I16;
        concat_rule r = {.dtype = y->dtype, .zero = ac_quant_zero(y), .act = act};
        r.rescale = small && x->quant && y->quant &&
                    (ac_quant_scale(x) != ac_quant_scale(y) || ac_quant_zero(x) != ac_quant_zero(y));
        if (!r.rescale && act == AC_ACT_NONE) {
            ac_lo_move_at(L, ac_lo_operand(L, x), from, dst, to, &m);
            continue;
        }
        r.scale = ac_quant_scale(x) * (1.0f / ac_quant_scale(y));
        r.bias = -(float)ac_quant_zero(x) * r.scale;
        ac_lo_move_each(L, ac_lo_operand(L, x), from, dst, to, &m, ac_target_lanes(L->target, AC_F32), concat_value,
                        &r);
    }
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

/* Operands become the slices of a new dimension. */
int ac_lo_pack(ac_lower *L)
{
    const ac_node *n = L->node;
    const ac_tensor *y = n->out[0];
    int32_t axis;
    AC_TRY(ac_axis_norm(L->cx, n, n->attrs.axis.axis, y->rank, &axis));
    AC_TRY(ac_lo_movable(L, y));
    const int32_t dst = ac_lo_result_buf(L);
    const int64_t outer = ac_dim_product(y->dim, 0, axis), inner = ac_dim_product(y->dim, axis + 1, y->rank);
    for (int32_t i = 0; i < n->n_in; i++) {
        ac_move m = {.to = i * inner, .once = true};
        ac_move_dim(&m, outer, inner, inner * n->n_in);
        ac_move_dim(&m, inner, 1, 1);
        ac_lo_move(L, ac_lo_operand(L, n->in[i]), dst, &m);
    }
    return AC_OK;
}

int ac_lo_unpack(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[0];
    int32_t axis;
    AC_TRY(ac_axis_norm(L->cx, n, n->attrs.axis.axis, x->rank, &axis));
    AC_TRY(ac_lo_movable(L, x));
    const int64_t outer = ac_dim_product(x->dim, 0, axis), inner = ac_dim_product(x->dim, axis + 1, x->rank);
    for (int32_t i = 0; i < n->n_out; i++) {
        ac_move m = {.from = i * inner};
        ac_move_dim(&m, outer, inner * x->dim[axis], inner);
        ac_move_dim(&m, inner, 1, 1);
        ac_lo_move_output(L, x, i, &m);
    }
    return AC_OK;
}

int ac_lo_split(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = ac_split_value(n);
    const int64_t *size;
    int32_t axis;
    AC_TRY(ac_split_of(L->cx, n, &axis, &size));
    AC_TRY(ac_lo_movable(L, x));
    const int64_t outer = ac_dim_product(x->dim, 0, axis), inner = ac_dim_product(x->dim, axis + 1, x->rank);
    int64_t at = 0;
    for (int32_t i = 0; i < n->n_out; i++) {
        ac_move m = {.from = at * inner};
        ac_move_dim(&m, outer, inner * x->dim[axis], inner * size[i]);
        ac_move_dim(&m, inner * size[i], 1, 1);
        ac_lo_move_output(L, x, i, &m);
        at += size[i];
    }
    return AC_OK;
}

/* SLICE and STRIDED_SLICE; the result is dense, removed and added dimensions have extent 1. */
static int take(ac_lower *L, const ac_slice *s)
{
    ac_tensor *x = L->node->in[0];
    AC_TRY(ac_lo_movable(L, x));
    int64_t stride[AC_MAX_RANK], to[AC_MAX_RANK], t = 1;
    ac_move_strides(x, stride);
    for (int32_t d = x->rank - 1; d >= 0; t *= s->extent[d--])
        to[d] = t;
    ac_move m = {0};
    for (int32_t d = 0; d < x->rank; d++) {
        m.from += s->begin[d] * stride[d];
        ac_move_dim(&m, s->extent[d], s->step[d] * stride[d], to[d]);
    }
    ac_lo_move_output(L, x, 0, &m);
    return AC_OK;
}

int ac_lo_slice(ac_lower *L)
{
    ac_slice s;
    AC_TRY(ac_slice_of(L->cx, L->node, &s));
    return take(L, &s);
}

int ac_lo_strided(ac_lower *L)
{
    ac_slice s;
    AC_TRY(ac_strided_slice_of(L->cx, L->node, &s));
    return take(L, &s);
}

int ac_lo_transpose(ac_lower *L)
{
    ac_tensor *x = L->node->in[0];
    const ac_tensor *y = L->node->out[0];
    int32_t perm[AC_MAX_RANK];
    int64_t from[AC_MAX_RANK], to[AC_MAX_RANK];
    AC_TRY(ac_perm_of(L->cx, L->node, perm));
    AC_TRY(ac_lo_movable(L, x));
    ac_move_strides(x, from);
    ac_move_strides(y, to);
    ac_move m = {0};
    for (int32_t d = 0; d < y->rank; d++)
        ac_move_dim(&m, y->dim[d], from[perm[d]], to[d]);
    ac_lo_move_output(L, x, 0, &m);
    return AC_OK;
}

int ac_lo_tile(ac_lower *L)
{
    ac_tensor *x = L->node->in[0];
    int64_t times[AC_MAX_RANK], from[AC_MAX_RANK], to[AC_MAX_RANK];
    AC_TRY(ac_tile_of(L->cx, L->node, times));
    AC_TRY(ac_lo_movable(L, x));
    ac_move_strides(x, from);
    ac_move_strides(L->node->out[0], to);
    ac_move m = {0};
    for (int32_t d = 0; d < x->rank; d++) {
        ac_move_dim(&m, times[d], 0, x->dim[d] * to[d]);
        ac_move_dim(&m, x->dim[d], from[d], to[d]);
    }
    ac_lo_move_output(L, x, 0, &m);
    return AC_OK;
}

int ac_lo_broadcast_to(ac_lower *L)
{
    ac_tensor *x = L->node->in[0];
    const ac_tensor *y = L->node->out[0];
    int64_t from[AC_MAX_RANK], to[AC_MAX_RANK];
    AC_TRY(ac_lo_movable(L, x));
    ac_move_strides(x, from);
    ac_move_strides(y, to);
    ac_move m = {0};
    for (int32_t d = 0; d < y->rank; d++) {
        const int32_t k = d - (y->rank - x->rank);
        ac_move_dim(&m, y->dim[d], k < 0 || x->dim[k] == 1 ? 0 : from[k], to[d]);
    }
    ac_lo_move_output(L, x, 0, &m);
    return AC_OK;
}

int ac_lo_reverse(ac_lower *L)
{
    ac_tensor *x = L->node->in[0];
    uint32_t mask;
    int64_t stride[AC_MAX_RANK];
    AC_TRY(ac_axes_of(L->cx, L->node, 1, (ac_ints){0}, x->rank, false, &mask));
    AC_TRY(ac_lo_movable(L, x));
    ac_move_strides(x, stride);
    ac_move m = {0};
    for (int32_t d = 0; d < x->rank; d++) {
        const bool back = mask & 1u << d;
        m.from += back ? (x->dim[d] - 1) * stride[d] : 0;
        ac_move_dim(&m, x->dim[d], back ? -stride[d] : stride[d], stride[d]);
    }
    ac_lo_move_output(L, x, 0, &m);
    return AC_OK;
}

/* space[n][y*b + dy][x*b + dx][c] and depth[n][y][x][(dy*b + dx)*C + c] are the same element. The box runs in the order
 * of the result. */
static int space_depth(ac_lower *L, const ac_tensor *space, bool to_depth)
{
    ac_tensor *x = L->node->in[0];
    AC_TRY(ac_lo_movable(L, x));
    const int64_t b = L->node->attrs.block.block, h = space->dim[1] / b, w = space->dim[2] / b, c = space->dim[3];
    const int64_t row = w * b * c; /* of the space side; b rows are as long as one row of the depth side */
    const struct {
        int64_t extent, space, depth;
    } axis[6] = {{space->dim[0], h * b * row, h * b * row},
                 {h, b * row, b * row},
                 {b, row, b * c},
                 {w, b * c, b * b * c},
                 {b, c, c},
                 {c, 1, 1}};
    static const int8_t depth_order[6] = {0, 1, 3, 2, 4, 5};
    ac_move m = {0};
    for (int32_t i = 0; i < 6; i++) {
        const int32_t k = to_depth ? depth_order[i] : i;
        ac_move_dim(&m, axis[k].extent, to_depth ? axis[k].space : axis[k].depth,
                    to_depth ? axis[k].depth : axis[k].space);
    }
    ac_lo_move_output(L, x, 0, &m);
    return AC_OK;
}

int ac_lo_space_to_depth(ac_lower *L)
{
    return space_depth(L, L->node->in[0], true);
}

int ac_lo_depth_to_space(ac_lower *L)
{
    return space_depth(L, L->node->out[0], false);
}
