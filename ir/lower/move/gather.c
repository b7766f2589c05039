/* gather.c - lowers operators that read or create elements by index: GATHER, GATHER_ND, ONE_HOT, FILL, RANGE; refuses
 * SHAPE and RANK.
 *
 * Indices are i16, i32 or i64 and must be in range, as in TFLite: negative ones do not count from the end. Constant
 * indices are checked here (E0103). The loops check others before any read with them: if one is out of range, the
 * function returns AC_STATUS_INDEX and the result is unspecified. ONE_HOT takes any index: one out of range is a row of
 * `off`. */
#include "ir/lower/entries.h"
#include "ir/lower/held.h"
#include "ir/lower/move/index.h"
#include "ir/lower/move/move.h"
#include "ir/ops/decode/axis.h"

/* True if every k-th index, from `first` on, of a constant is below `extent`; true for other tensors. */
static int check_const(ac_lower *L, ac_tensor *t, int64_t first, int64_t k, int64_t extent)
{
    const void *data = ac_tensor_is_const(t) ? ac_tensor_force(L->cx, t) : NULL;
    if (!data)
        return AC_OK;
    const int64_t count = ac_tensor_count(t);
    for (int64_t i = first; i < count; i += k) {
        const int64_t v = ac_dtype_get_int(t->dtype, data, i);
        if (v < 0 || v >= extent)
            return ac_error(L->cx, L->node->at, E0103, "index %lld of '%s' is %lld, expected 0 to %lld", (long long)i,
                            t->name, (long long)v, (long long)extent - 1);
    }
    return AC_OK;
}

/* Index number `at` of t as i32, checked against the extent unless t is constant. */
static ac_x load_index(ac_lower *L, ac_tensor *t, ac_x at, int64_t extent)
{
    if (ac_tensor_is_const(t))
        return ac_lb_cast(&L->b, ac_index_load(L, t, at), AC_I32);
    return ac_index_at(L, t, at, extent, false);
}

/* result[batch][outer][index][inner] = x[batch][outer][indices[batch][index]][inner] */
int ac_lo_gather(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *x = n->in[0], *index = n->in[1];
    int32_t axis, batch;
    AC_TRY(ac_gather_of(L->cx, n, &axis, &batch));
    AC_TRY(ac_lo_movable(L, x));
    AC_TRY(check_const(L, index, 0, 1, x->dim[axis]));
    if (ac_tensor_count(n->out[0]) == 0)
        return AC_OK;
    int64_t batches = 1, outer = 1, inner = 1, picks = 1;
    for (int32_t d = 0; d < x->rank; d++)
        *(d < batch ? &batches : d < axis ? &outer : &inner) *= d == axis ? 1 : x->dim[d];
    for (int32_t d = batch; d < index->rank; d++)
        picks *= index->dim[d];
    const ac_rows_held *held = batches * outer == 1 && ac_tensor_is_const(x) ? ac_held_of(L, x, x->dim[axis]) : NULL;
    const int32_t src = held ? -1 : ac_lo_operand(L, x), dst = ac_lo_result_buf(L);
    const ac_x n_ = ac_lb_for_n(b, "n", batches), o = ac_lb_for_n(b, "o", outer), k = ac_lb_for_n(b, "k", picks);
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, n_, ac_lb_i32(b, outer)), o);
    const ac_x pick = load_index(L, index, ac_lb_add(b, ac_lb_mul(b, n_, ac_lb_i32(b, picks)), k), x->dim[axis]);
    const ac_x from = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, x->dim[axis])), pick);
    const ac_x to = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, picks)), k);
    ac_move m = {0};
    ac_move_dim(&m, inner, 1, 1);
    if (held)
        ac_held_row(L, held, pick, inner, dst, ac_lb_mul(b, to, ac_lb_i32(b, inner)));
    else
        ac_lo_move_at(L, src, ac_lb_mul(b, from, ac_lb_i32(b, inner)), dst, ac_lb_mul(b, to, ac_lb_i32(b, inner)), &m);
    for (int32_t i = 0; i < 3; i++)
        ac_lb_end(b);
    return AC_OK;
}

/* result[i][inner] = x[indices[i][0]]..[indices[i][k-1]][inner] */
int ac_lo_gather_nd(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *x = n->in[0], *index = n->in[1];
    AC_TRY(ac_lo_movable(L, x));
    const int64_t k = index->dim[index->rank - 1];
    int64_t stride[AC_MAX_RANK], picks = 1, inner = 1;
    for (int32_t d = 0; d < index->rank - 1; d++)
        picks *= index->dim[d];
    for (int32_t d = (int32_t)k; d < x->rank; d++)
        inner *= x->dim[d];
    ac_move_strides(x, stride);
    for (int32_t d = 0; d < k; d++)
        AC_TRY(check_const(L, index, d, k, x->dim[d]));
    if (ac_tensor_count(n->out[0]) == 0)
        return AC_OK;
    for (int32_t d = 0; d < k; d++)
        if (x->dim[d] == 0)
            return ac_error(L->cx, n->at, E0104, "indices into '%s' %s, which is empty", x->name,
                            ac_shape_str(L->cx, x));
    const int32_t src = ac_lo_operand(L, x), dst = ac_lo_result_buf(L);
    const ac_x i = ac_lb_for_n(b, "i", picks);
    ac_x from = ac_lb_i32(b, 0);
    for (int32_t d = 0; d < k; d++) {
        const ac_x at = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, k)), ac_lb_i32(b, d));
        const ac_x v = load_index(L, index, at, x->dim[d]);
        from = ac_lb_add(b, from, ac_lb_mul(b, v, ac_lb_i32(b, stride[d])));
    }
    ac_move m = {0};
    ac_move_dim(&m, inner, 1, 1);
    ac_lo_move_at(L, src, from, dst, ac_lb_mul(b, i, ac_lb_i32(b, inner)), &m);
    ac_lb_end(b);
    return AC_OK;
}

/* result[prefix][depth][suffix] = indices[prefix][suffix] == depth ? on : off */
int ac_lo_one_hot(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *index = n->in[0];
    const ac_tensor *y = n->out[0];
    int32_t axis;
    AC_TRY(ac_axis_norm(L->cx, n, n->attrs.axis.axis, y->rank, &axis));
    AC_TRY(ac_lo_movable(L, y));
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    int64_t prefix = 1, suffix = 1;
    for (int32_t d = 0; d < y->rank; d++)
        *(d < axis ? &prefix : &suffix) *= d == axis ? 1 : y->dim[d];
    const int32_t dst = ac_lo_result_buf(L);
    const ac_x on = ac_lo_load(L, n->in[2], NULL, 1);
    const ac_x off = ac_lo_load(L, n->in[3], NULL, 1);
    const ac_x p = ac_lb_for_n(b, "p", prefix), k = ac_lb_for_n(b, "k", y->dim[axis]), s = ac_lb_for_n(b, "s", suffix);
    const ac_x i = ac_index_load(L, index, ac_lb_add(b, ac_lb_mul(b, p, ac_lb_i32(b, suffix)), s));
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, p, ac_lb_i32(b, y->dim[axis])), k);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, suffix)), s);
    ac_lb_store(b, dst, at, ac_lb_select(b, ac_lb_eq(b, i, ac_lb_cast(b, k, ac_lb_dtype(b, i))), on, off));
    for (int32_t d = 0; d < 3; d++)
        ac_lb_end(b);
    return AC_OK;
}

int ac_lo_fill(ac_lower *L)
{
    const ac_tensor *y = L->node->out[0];
    AC_TRY(ac_lo_movable(L, y));
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    ac_move m = {0};
    ac_move_dim(&m, ac_tensor_count(y), 0, 1);
    const int32_t dst = ac_lo_result_buf(L);
    ac_lo_move_fill(L, ac_lo_load(L, L->node->in[1], NULL, 1), dst, &m);
    return AC_OK;
}

/* start, start + delta, ... by repeated addition, rounded each time (TFLite). */
int ac_lo_range(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    const ac_dtype d = n->out[0]->dtype;
    const int64_t count = ac_tensor_count(n->out[0]);
    const void *start = ac_tensor_force(L->cx, n->in[0]), *delta = ac_tensor_force(L->cx, n->in[2]);
    if (!start || !delta)
        return AC_FAIL;
    const bool real = ac_dtype_is_float(d);
    const ac_x first =
        real ? ac_lb_num(b, d, ac_dtype_get_num(d, start, 0)) : ac_lb_int(b, d, ac_dtype_get_int(d, start, 0));
    const ac_x step =
        real ? ac_lb_num(b, d, ac_dtype_get_num(d, delta, 0)) : ac_lb_int(b, d, ac_dtype_get_int(d, delta, 0));
    if (count == 0)
        return AC_OK;
    const int32_t dst = ac_lo_result_buf(L);
    const ac_x value = ac_lb_var(b, "value", first);
    const ac_x i = ac_lb_for_n(b, "i", count);
    ac_lb_store(b, dst, i, ac_lb_get(b, value));
    ac_lb_set(b, value, real ? ac_lb_add(b, ac_lb_get(b, value), step) : ac_lb_add_wrap(b, ac_lb_get(b, value), step));
    ac_lb_end(b);
    return AC_OK;
}

/* SHAPE and RANK: known once shapes are; pass fold turns them into constants. */
int ac_lo_never(ac_lower *L)
{
    ac_lower_refuse(L, "%s is computed when the model is compiled, but pass fold was skipped",
                    ac_ops[L->node->op].text);
    return ac_help(L->cx, "do not skip pass fold");
}
