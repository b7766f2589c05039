/* elements.c - reads or changes single elements by index: gather_elements, scatter_elements, scatter_into. ONNX's
 * operators; negative indices count from the end.
 *
 *     gather_elements    y[p] = x[p with p[axis] = i[p]]
 *     scatter_elements   y = x; for all p in order:  y[p with p[axis] = i[p]] = combine(that, u[p])
 *     scatter_into       y = x; for all rows r of i in order:  y[i[r], ..] = combine(that, u[r, ..])
 *
 * combine: the update (none), or the sum, product, maximum or minimum of both. Several updates of one element are
 * combined in order, so float results are the reference's. Integers wrap. Any type of a byte or more can be replaced;
 * the others need f32, f64 or plain integers. */
#include "ir/lower/entries.h"
#include "ir/lower/move/index.h"
#include "ir/lower/map/map.h"
#include "ir/lower/move/move.h"
#include "ir/ops/decode/axis.h"

static const char *const LOOP[AC_MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};

/* Opens a loop for each dimension of t. */
static void open_loops(ac_lower *L, const ac_tensor *t, ac_x *idx)
{
    for (int32_t d = 0; d < t->rank; d++)
        idx[d] = ac_lb_for_n(&L->b, LOOP[d], t->dim[d]);
}

static void close_loops(ac_lower *L, const ac_tensor *t)
{
    for (int32_t d = 0; d < t->rank; d++)
        ac_lb_end(&L->b);
}

int ac_lo_gather_elements(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[0], *index = n->in[1];
    int32_t axis;
    AC_TRY(ac_axis_norm(L->cx, n, n->attrs.axis.axis, x->rank, &axis));
    AC_TRY(ac_lo_movable(L, x));
    const int32_t src = ac_lo_operand(L, x), dst = ac_lo_result_buf(L);
    if (ac_tensor_count(index) == 0)
        return AC_OK;
    ac_x idx[AC_MAX_RANK];
    open_loops(L, index, idx);
    const ac_x at = ac_lo_flat(L, index, idx);
    idx[axis] = ac_index_at(L, index, at, x->dim[axis], true);
    ac_lb_store(&L->b, dst, at, ac_lb_load(&L->b, src, ac_lo_flat(L, x, idx), 1));
    close_loops(L, index);
    return AC_OK;
}

static int check_type(ac_lower *L, const ac_tensor *x)
{
    if (L->node->attrs.scatter.reduction == AC_W_NONE)
        return ac_lo_movable(L, x);
    if (ac_mp_real(x) || ac_mp_plain_int(x))
        return AC_OK;
    return ac_lower_refuse(L, "reduction %s of %s: f32, f64 and plain integers are supported",
                           ac_word_name[L->node->attrs.scatter.reduction], ac_dtype_name(x->dtype));
}

static void combine(ac_lower *L, int32_t dst, ac_x at, ac_x v)
{
    ac_lb *b = &L->b;
    const ac_word w = L->node->attrs.scatter.reduction;
    if (w != AC_W_NONE) {
        const ac_x old = ac_lb_load(b, dst, at, 1);
        const bool keep_nan = L->node->attrs.scatter.keep_nan;
        v = w == AC_W_ADD   ? ac_lb_add_wrap(b, old, v)
            : w == AC_W_MUL ? ac_lb_mul_wrap(b, old, v)
            : w == AC_W_MAX ? (keep_nan ? ac_lb_max_nan : ac_lb_max)(b, old, v)
                            : (keep_nan ? ac_lb_min_nan : ac_lb_min)(b, old, v);
    }
    ac_lb_store(b, dst, at, v);
}

int ac_lo_scatter_elements(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[0], *index = n->in[1], *update = n->in[2];
    int32_t axis;
    AC_TRY(ac_axis_norm(L->cx, n, n->attrs.scatter.axis, x->rank, &axis));
    AC_TRY(check_type(L, x));
    const int32_t dst = ac_lo_start_as(L, x);
    if (ac_tensor_count(index) == 0)
        return AC_OK;
    const int32_t src = ac_lo_operand(L, update);
    ac_x idx[AC_MAX_RANK];
    open_loops(L, index, idx);
    const ac_x at = ac_lo_flat(L, index, idx), v = ac_lb_load(&L->b, src, at, 1);
    idx[axis] = ac_index_at(L, index, at, x->dim[axis], true);
    combine(L, dst, ac_lo_flat(L, x, idx), v);
    close_loops(L, index);
    return AC_OK;
}

int ac_lo_scatter_into(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *x = n->in[0], *index = n->in[1], *update = n->in[2];
    AC_TRY(check_type(L, x));
    const int32_t dst = ac_lo_start_as(L, x), k = (int32_t)index->dim[index->rank - 1];
    int64_t rows = 1, inner = 1;
    for (int32_t d = 0; d < index->rank - 1; d++)
        rows *= index->dim[d];
    for (int32_t d = k; d < x->rank; d++)
        inner *= x->dim[d];
    if (rows == 0 || inner == 0)
        return AC_OK;
    const int32_t src = ac_lo_operand(L, update);
    const ac_x r = ac_lb_for_n(b, "r", rows);
    ac_x to = ac_lb_i32(b, 0);
    for (int32_t e = 0; e < k; e++) {
        const ac_x at = ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, k)), ac_lb_i32(b, e));
        const ac_x place = ac_index_at(L, index, at, x->dim[e], true);
        to = ac_lb_add(b, ac_lb_mul(b, to, ac_lb_i32(b, x->dim[e])), place);
    }
    const ac_x c = ac_lb_for_n(b, "c", inner);
    combine(L, dst, ac_lb_add(b, ac_lb_mul(b, to, ac_lb_i32(b, inner)), c),
            ac_lb_load(b, src, ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, inner)), c), 1));
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
