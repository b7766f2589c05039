/* padding.c - lowers operators that put elements around others: PAD, PADV2, MIRROR_PAD, and SPACE_TO_BATCH_ND /
 * BATCH_TO_SPACE_ND, which pad and crop. Elements are bits of any type of at least a byte. Padding of a quantised
 * result is its zero point (TFLite); PADV2 stores its value as it is. */
#include "ir/lower/entries.h"
#include "ir/lower/move/move.h"
#include "ir/ops/decode/axis.h"

/* The element that stands for 0 in y. */
static ac_x zero_of(ac_lower *L, const ac_tensor *y)
{
    if (ac_dtype_is_half(y->dtype))
        return ac_lb_cast(&L->b, ac_lb_f32(&L->b, 0), y->dtype);
    if (ac_dtype_is_float(ac_dtype_loops(y->dtype)))
        return ac_lb_num(&L->b, y->dtype, 0);
    return ac_lb_int(&L->b, ac_dtype_loops(y->dtype), y->quant ? ac_quant_zero(y) : 0);
}

/* The border is cut into slabs, so that the middle and each slab is one box:
 *     tttttt      dimension 0: rows t and b, whole       dimension 1: columns l and r, between t and b
 *     lxxxxr
 *     bbbbbb */
int ac_lo_pad(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[0];
    const ac_tensor *y = n->out[0];
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK], from[AC_MAX_RANK], to[AC_MAX_RANK];
    AC_TRY(ac_pads_of(L->cx, n, before, after));
    AC_TRY(ac_lo_movable(L, x));
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    const int32_t dst = ac_lo_result_buf(L);
    const ac_x value = n->op == AC_OP_PADV2 ? ac_lo_load(L, n->in[2], NULL, 1) : zero_of(L, y);
    ac_move_strides(x, from);
    ac_move_strides(y, to);
    for (int32_t d = 0; d < x->rank; d++)
        for (int32_t side = 0; side < 2; side++) {
            ac_move m = {.to = side ? (before[d] + x->dim[d]) * to[d] : 0, .once = true};
            for (int32_t k = 0; k < x->rank; k++) {
                const int64_t edge = side ? after[d] : before[d];
                ac_move_dim(&m, k < d ? x->dim[k] : k == d ? edge : y->dim[k], 0, to[k]);
                m.to += k < d ? before[k] * to[k] : 0;
            }
            ac_lo_move_fill(L, value, dst, &m);
        }
    ac_move m = {.once = true};
    for (int32_t d = 0; d < x->rank; d++) {
        m.to += before[d] * to[d];
        ac_move_dim(&m, x->dim[d], from[d], to[d]);
    }
    ac_lo_move(L, ac_lo_operand(L, x), dst, &m);
    return AC_OK;
}

/* Result position i of a dimension -> input position: i - before, reflected at both ends. `edge` 1: the end itself is
 * not repeated (reflect), 0: it is (symmetric). The pads are at most the dimension less `edge`, so one reflection is
 * enough. */
static ac_x mirror(ac_lb *b, ac_x i, int64_t before, int64_t extent, int64_t after, int64_t edge)
{
    ac_x p = ac_lb_sub(b, i, ac_lb_i32(b, before));
    if (before)
        p = ac_lb_select(b, ac_lb_lt(b, p, ac_lb_i32(b, 0)), ac_lb_sub(b, ac_lb_i32(b, edge - 1), p), p);
    if (after)
        p = ac_lb_select(b, ac_lb_ge(b, p, ac_lb_i32(b, extent)), ac_lb_sub(b, ac_lb_i32(b, 2 * extent - 1 - edge), p),
                         p);
    return p;
}

int ac_lo_mirror_pad(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *x = n->in[0];
    const ac_tensor *y = n->out[0];
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK], from[AC_MAX_RANK], to[AC_MAX_RANK];
    AC_TRY(ac_pads_of(L->cx, n, before, after));
    AC_TRY(ac_lo_movable(L, x));
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    ac_move_strides(x, from);
    ac_move_strides(y, to);
    int32_t inner = x->rank; /* dimensions from here on are copied whole */
    while (inner > 0 && !before[inner - 1] && !after[inner - 1])
        inner--;
    static const char *const letter[AC_MAX_RANK] = {"n", "y", "x", "c", "d4", "d5", "d6", "d7"};
    const int64_t edge = n->attrs.mirror.symmetric ? 0 : 1;
    ac_x src = ac_lb_i32(b, 0), dst = ac_lb_i32(b, 0);
    for (int32_t d = 0; d < inner; d++) {
        const ac_x i = ac_lb_for_n(b, letter[d], y->dim[d]);
        const ac_x p = mirror(b, i, before[d], x->dim[d], after[d], edge);
        src = ac_lb_add(b, src, ac_lb_mul(b, p, ac_lb_i32(b, from[d])));
        dst = ac_lb_add(b, dst, ac_lb_mul(b, i, ac_lb_i32(b, to[d])));
    }
    ac_move m = {0};
    for (int32_t d = inner; d < x->rank; d++)
        ac_move_dim(&m, x->dim[d], from[d], to[d]);
    const int32_t result = ac_lo_result_buf(L);
    ac_lo_move_at(L, ac_lo_operand(L, x), src, result, dst, &m);
    for (int32_t d = 0; d < inner; d++)
        ac_lb_end(b);
    return AC_OK;
}

/* Position p of the padded space is element p % block of block p / block. Batches hold the elements of the blocks, the
 * last spatial dimension fastest: batch = (element of dim 1, element of dim 2, ..) * N + n. */
static void split_position(ac_lb *b, ac_x p, int64_t block, ac_x *whole, ac_x *element)
{
    *whole = block == 1 ? p : ac_lb_div(b, p, ac_lb_i32(b, block));
    *element = block == 1 ? ac_lb_i32(b, 0) : ac_lb_mod(b, p, ac_lb_i32(b, block));
}

/* Loops over the space side (n and m spatial dimensions, without padding or crops); both sides' positions are made from
 * the same indices. */
static int space_batch(ac_lower *L, ac_tensor *space, bool to_batch)
{
    ac_lb *b = &L->b;
    const ac_tensor *batch = to_batch ? L->node->out[0] : L->node->in[0];
    ac_blocks k;
    AC_TRY(ac_blocks_of(L->cx, L->node, &k));
    int64_t ss[AC_MAX_RANK], bs[AC_MAX_RANK], padding = 0;
    ac_move_strides(space, ss);
    ac_move_strides(batch, bs);
    for (int32_t i = 0; i < k.m; i++)
        padding += k.before[i] + k.after[i];
    const int32_t dst = ac_lo_result_buf(L);
    if (to_batch && padding) {
        ac_move all = {0};
        ac_move_dim(&all, ac_tensor_count(batch), 0, 1);
        ac_lo_move_fill(L, zero_of(L, batch), dst, &all);
    }
    if (ac_tensor_count(space) == 0 || ac_tensor_count(batch) == 0)
        return AC_OK;
    static const char *const letter[AC_MAX_RANK] = {"n", "y", "x", "d3", "d4", "d5", "d6", "d7"};
    const ac_x image = ac_lb_for_n(b, letter[0], space->dim[0]);
    ac_x at_space = ac_lb_mul(b, image, ac_lb_i32(b, ss[0])), at_batch = ac_lb_i32(b, 0), element = ac_lb_i32(b, 0);
    for (int32_t i = 0; i < k.m; i++) {
        const ac_x p = ac_lb_for_n(b, letter[i + 1], space->dim[i + 1]);
        ac_x whole, part;
        split_position(b, ac_lb_add(b, p, ac_lb_i32(b, k.before[i])), k.block[i], &whole, &part);
        element = ac_lb_add(b, ac_lb_mul(b, element, ac_lb_i32(b, k.block[i])), part);
        at_space = ac_lb_add(b, at_space, ac_lb_mul(b, p, ac_lb_i32(b, ss[i + 1])));
        at_batch = ac_lb_add(b, at_batch, ac_lb_mul(b, whole, ac_lb_i32(b, bs[i + 1])));
    }
    const ac_x slot = ac_lb_add(b, ac_lb_mul(b, element, ac_lb_i32(b, space->dim[0])), image);
    at_batch = ac_lb_add(b, at_batch, ac_lb_mul(b, slot, ac_lb_i32(b, bs[0])));
    ac_move m = {0};
    for (int32_t d = k.m + 1; d < space->rank; d++)
        ac_move_dim(&m, space->dim[d], ss[d], bs[d]);
    const int32_t src = ac_lo_operand(L, L->node->in[0]);
    ac_lo_move_at(L, src, to_batch ? at_space : at_batch, dst, to_batch ? at_batch : at_space, &m);
    for (int32_t i = 0; i <= k.m; i++)
        ac_lb_end(b);
    return AC_OK;
}

int ac_lo_space_to_batch(ac_lower *L)
{
    AC_TRY(ac_lo_movable(L, L->node->in[0]));
    return space_batch(L, L->node->in[0], true);
}

int ac_lo_batch_to_space(ac_lower *L)
{
    AC_TRY(ac_lo_movable(L, L->node->in[0]));
    return space_batch(L, L->node->out[0], false);
}
