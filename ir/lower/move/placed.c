/* placed.c - lowers operators that copy an operand except for a part whose position depends on data or is the diagonal:
 * REVERSE_SEQUENCE, DYNAMIC_UPDATE_SLICE, MATRIX_DIAG, MATRIX_SET_DIAG. Any type of a byte or more; elements are moved
 * as bits, so zeros of quantised tensors are stored zeros, as in TFLite's kernels (reverse_sequence.h,
 * dynamic_update_slice.cc, matrix_diag.cc, matrix_set_diag.cc). */
#include "ir/lower/entries.h"
#include "ir/lower/move/index.h"
#include "ir/lower/move/move.h"
#include "ir/ops/decode/axis.h"

/* result[.., n, .., t, ..] = x[.., n, .., t < length[n] ? length[n] - 1 - t : t, ..], where n counts along the batch
 * axis and t along the axis of the sequence, in either order. A length out of range ends the run. */
int ac_lo_reverse_sequence(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *x = n->in[0], *length = n->in[1];
    int32_t seq, batch;
    AC_TRY(ac_axis_norm(L->cx, n, n->attrs.sequence.seq_axis, x->rank, &seq));
    AC_TRY(ac_axis_norm(L->cx, n, n->attrs.sequence.batch_axis, x->rank, &batch));
    AC_TRY(ac_lo_movable(L, x));
    if (ac_tensor_count(x) == 0)
        return AC_OK;
    const int32_t first = seq < batch ? seq : batch, second = seq < batch ? batch : seq;
    const int64_t between = ac_dim_product(x->dim, first + 1, second),
                  inner = ac_dim_product(x->dim, second + 1, x->rank);
    const int32_t src = ac_lo_operand(L, x), dst = ac_lo_result_buf(L);
    const ac_x i = ac_lb_for_n(b, "i", ac_dim_product(x->dim, 0, first)), j = ac_lb_for_n(b, "j", x->dim[first]);
    const ac_x k = ac_lb_for_n(b, "k", between), l = ac_lb_for_n(b, "l", x->dim[second]);
    const ac_x t = seq < batch ? j : l, len = ac_index_at(L, length, seq < batch ? l : j, x->dim[seq] + 1, false);
    const ac_x back = ac_lb_sub(b, ac_lb_sub(b, len, ac_lb_i32(b, 1)), t);
    const ac_x from = ac_lb_select(b, ac_lb_lt(b, t, len), back, t);
    ac_x at[2]; /* in the operand, in the result */
    for (int32_t side = 0; side < 2; side++) {
        const ac_x p = side ? t : from;
        ac_x v = ac_lb_add(b, ac_lo_scaled(b, i, x->dim[first]), seq < batch ? p : j);
        v = ac_lb_add(b, ac_lo_scaled(b, v, between), k);
        v = ac_lb_add(b, ac_lo_scaled(b, v, x->dim[second]), seq < batch ? l : p);
        at[side] = ac_lo_scaled(b, v, inner);
    }
    ac_move m = {0};
    ac_move_dim(&m, inner, 1, 1);
    ac_lo_move_at(L, src, at[0], dst, at[1], &m);
    for (int32_t d = 0; d < 4; d++)
        ac_lb_end(b);
    return AC_OK;
}

/* result = x, except for the box at `start`, which is the update. The box is moved inside: each start is clamped to 0
 * .. extent of x less that of the update. */
int ac_lo_dynamic_update_slice(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *x = n->in[0], *update = n->in[1], *start = n->in[2];
    int64_t to[AC_MAX_RANK], from[AC_MAX_RANK];
    AC_TRY(ac_lo_movable(L, x));
    const int32_t dst = ac_lo_start_as(L, x);
    if (ac_tensor_count(update) == 0)
        return AC_OK;
    ac_move_strides(x, to);
    ac_move_strides(update, from);
    ac_x at = ac_lb_i32(b, 0);
    ac_move m = {0};
    for (int32_t d = 0; d < x->rank; d++) {
        const ac_x s = ac_index_load(L, start, ac_lb_i32(b, d));
        const ac_x least = ac_lb_max(b, s, ac_lb_like_int(b, s, 0));
        const ac_x fits = ac_lb_min(b, least, ac_lb_like_int(b, s, x->dim[d] - update->dim[d]));
        at = ac_lb_add(b, at, ac_lo_scaled(b, ac_lb_cast(b, fits, AC_I32), to[d]));
        ac_move_dim(&m, update->dim[d], from[d], to[d]);
    }
    ac_lo_move_at(L, ac_lo_operand(L, update), ac_lb_i32(b, 0), dst, at, &m);
    return AC_OK;
}

/* y[.., i, i] = diagonal[.., i], which has the `n` elements of the shorter side. */
static void put_diagonal(ac_lower *L, ac_tensor *diagonal, int32_t dst, const ac_tensor *y, int64_t n)
{
    const int64_t columns = y->dim[y->rank - 1], matrices = ac_dim_product(y->dim, 0, y->rank - 2);
    ac_move m = {0};
    ac_move_dim(&m, matrices, n, y->dim[y->rank - 2] * columns);
    ac_move_dim(&m, n, 1, columns + 1);
    ac_lo_move(L, ac_lo_operand(L, diagonal), dst, &m);
}

/* [.., N] -> [.., N, N], zero outside of the diagonal */
int ac_lo_matrix_diag(ac_lower *L)
{
    ac_tensor *x = L->node->in[0];
    const ac_tensor *y = L->node->out[0];
    AC_TRY(ac_lo_movable(L, x));
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    const int32_t dst = ac_lo_result_buf(L);
    const ac_x zero = ac_dtype_is_float(y->dtype) ? ac_lb_num(&L->b, y->dtype, 0) : ac_lb_int(&L->b, y->dtype, 0);
    ac_move m = {0};
    ac_move_dim(&m, ac_tensor_count(y), 0, 1);
    ac_lo_move_fill(L, zero, dst, &m);
    put_diagonal(L, x, dst, y, x->dim[x->rank - 1]);
    return AC_OK;
}

/* x [.., M, N] with another diagonal [.., min(M, N)] */
int ac_lo_matrix_set_diag(ac_lower *L)
{
    ac_tensor *x = L->node->in[0], *diagonal = L->node->in[1];
    AC_TRY(ac_lo_movable(L, x));
    const int32_t dst = ac_lo_start_as(L, x);
    if (ac_tensor_count(x) > 0)
        put_diagonal(L, diagonal, dst, x, diagonal->dim[diagonal->rank - 1]);
    return AC_OK;
}
