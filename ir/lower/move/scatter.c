/* scatter.c - lowers operators that write by index: SCATTER_ND and UNSORTED_SEGMENT_SUM, _PROD, _MAX, _MIN.
 *
 * An index may come several times; its updates are combined in the order of the operand, so float sums are the
 * reference's. Integers wrap. Indices computed at run time are checked in the loops before use: the function returns
 * AC_STATUS_INDEX if one is out of range. Negative segments are skipped (TFLite). Constant indices are checked in the
 * same way; folding reports a failed check as E0104. */
#include "ir/lower/entries.h"
#include "ir/lower/move/index.h"
#include "ir/lower/map/map.h"
#include "ir/lower/move/move.h"

static void fill(ac_lower *L, int32_t dst, int64_t count, ac_x value)
{
    ac_move m = {0};
    ac_move_dim(&m, count, 0, 1);
    ac_lo_move_fill(L, value, dst, &m);
}

static int check_type(ac_lower *L, const ac_tensor *x)
{
    if (ac_mp_real(x) || ac_mp_plain_int(x))
        return AC_OK;
    ac_mp_refuse(L, L->node);
    return AC_FAIL;
}

/* result = 0; result[index[i]] += update[i] */
int ac_lo_scatter_nd(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *index = n->in[0], *update = n->in[1];
    const ac_tensor *y = n->out[0];
    AC_TRY(check_type(L, update));
    const int32_t dst = ac_lo_result_buf(L);
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    const ac_dtype d = y->dtype;
    fill(L, dst, ac_tensor_count(y), ac_dtype_is_float(d) ? ac_lb_num(b, d, 0) : ac_lb_int(b, d, 0));
    if (ac_tensor_count(update) == 0)
        return AC_OK;
    const int32_t k = (int32_t)index->dim[index->rank - 1];
    const int64_t inner = ac_dim_product(y->dim, k, y->rank);
    const int32_t src = ac_lo_operand(L, update);
    const ac_x i = ac_lb_for_n(b, "i", ac_dim_product(index->dim, 0, index->rank - 1));
    ac_x to = ac_lb_i32(b, 0);
    for (int32_t e = 0; e < k; e++) {
        const ac_x v =
            ac_index_at(L, index, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, k)), ac_lb_i32(b, e)), y->dim[e], false);
        to = ac_lb_add(b, ac_lb_mul(b, to, ac_lb_i32(b, y->dim[e])), v);
    }
    const ac_x c = ac_lb_for_n(b, "c", inner);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, to, ac_lb_i32(b, inner)), c);
    const ac_x v = ac_lb_load(b, src, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, inner)), c), 1);
    ac_lb_store(b, dst, at, ac_lb_add_wrap(b, ac_lb_load(b, dst, at, 1), v));
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

/* The value of an empty segment. */
static ac_x neutral(ac_lb *b, ac_op op, ac_dtype d)
{
    const bool real = ac_dtype_is_float(d);
    if (op == AC_OP_UNSORTED_SEGMENT_SUM)
        return real ? ac_lb_num(b, d, 0) : ac_lb_int(b, d, 0);
    if (op == AC_OP_UNSORTED_SEGMENT_PROD)
        return real ? ac_lb_num(b, d, 1) : ac_lb_int(b, d, 1);
    const double most = d == AC_F64 ? 1.7976931348623157e308 : 3.4028234663852886e38;
    if (op == AC_OP_UNSORTED_SEGMENT_MAX)
        return real ? ac_lb_num(b, d, -most) : ac_lb_int(b, d, ac_dtype_min(d));
    return real ? ac_lb_num(b, d, most) : ac_lb_int(b, d, ac_dtype_max(d));
}

static ac_x combine(ac_lb *b, ac_op op, ac_x v, ac_x old)
{
    if (op == AC_OP_UNSORTED_SEGMENT_SUM)
        return ac_lb_add_wrap(b, old, v);
    if (op == AC_OP_UNSORTED_SEGMENT_PROD)
        return ac_lb_mul_wrap(b, old, v);
    return op == AC_OP_UNSORTED_SEGMENT_MAX ? ac_lb_max(b, v, old) : ac_lb_min(b, v, old);
}

/* result = neutral; result[segment[i]] = result[segment[i]] o x[i] */
int ac_lo_segment(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *x = n->in[0], *segment = n->in[1];
    const ac_tensor *y = n->out[0];
    AC_TRY(check_type(L, x));
    const int32_t dst = ac_lo_result_buf(L);
    if (ac_tensor_count(y) > 0)
        fill(L, dst, ac_tensor_count(y), neutral(b, n->op, y->dtype));
    if (ac_tensor_count(x) == 0)
        return AC_OK;
    if (y->dim[0] == 0)
        return ac_lower_refuse(L, "'%s' has elements, but no segments", x->name);
    const int64_t inner = ac_dim_product(y->dim, 1, y->rank);
    const int32_t src = ac_lo_operand(L, x);
    const ac_x i = ac_lb_for_n(b, "i", ac_tensor_count(segment));
    const ac_x s = ac_index_load(L, segment, i);
    ac_lb_fail_if(b, ac_lb_ge(b, s, ac_lb_like_int(b, s, y->dim[0])), AC_STATUS_INDEX);
    ac_lb_if(b, ac_lb_ge(b, s, ac_lb_like_int(b, s, 0)));
    const ac_x row = ac_lb_mul(b, ac_lb_cast(b, s, AC_I32), ac_lb_i32(b, inner));
    const ac_x c = ac_lb_for_n(b, "c", inner);
    const ac_x at = ac_lb_add(b, row, c);
    const ac_x v = ac_lb_load(b, src, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, inner)), c), 1);
    ac_lb_store(b, dst, at, combine(b, n->op, v, ac_lb_load(b, dst, at, 1)));
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
