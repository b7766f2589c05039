/* elements.c - single elements taken or changed by index: gather_elements, scatter_elements, scatter_into. ONNX's
 * operators; negative indices count from the end.
 *
 *     gather_elements    y[p] = x[p with p[axis] = i[p]]
 *     scatter_elements   y = x; for all p in order:  y[p with p[axis] = i[p]] = combine(that, u[p])
 *     scatter_into       y = x; for all rows r of i in order:  y[i[r], ..] = combine(that, u[r, ..])
 *
 * combine: the update (none), or the sum, product, greater or lesser of both. Several updates of one element are
 * combined in order, so float results are the reference's. Integers wrap. Any type of a byte or more can be replaced;
 * the others need f32, f64 or plain integers. */
#include "ir/ops/axis.h"
#include "ir/lower/index.h"
#include "ir/lower/map/map.h"
#include "ir/lower/move/move.h"
#include "ir/ops/shape/shape.h"

/* ------------------------------------------------------------------ shapes */

static int misfit(ac_ctx *cx, const ac_node *n, const char *why)
{
    ac_error(cx, n->at, E0104, "%s", why);
    return ac_shape_show(cx, n);
}

/* Indices of x's rank, below its extents except along the axis. */
static int check_elements(ac_ctx *cx, const ac_node *n, int32_t axis_attr)
{
    const ac_tensor *x = n->in[0], *index = n->in[1];
    int32_t axis;
    AC_TRY(ac_shape_index(cx, n, 1));
    AC_TRY(ac_axis_norm(cx, n, axis_attr, x->rank, &axis));
    bool fits = index->rank == x->rank;
    for (int32_t d = 0; fits && d < x->rank; d++)
        fits = d == axis || index->dim[d] <= x->dim[d];
    if (!fits)
        return misfit(cx, n, "the indices must have as many dimensions as what they index, none larger");
    if (x->dim[axis] == 0 && ac_tensor_count(index) > 0)
        return misfit(cx, n, "indices into an axis without elements");
    return AC_OK;
}

int ac_sh_gather_elements(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(check_elements(cx, n, n->attrs.axis.axis));
    return ac_shape_set_like(cx, n, 0, n->in[0], n->in[1]->rank, n->in[1]->dim);
}

static int check_reduction(ac_ctx *cx, const ac_node *n)
{
    const ac_word w = n->attrs.scatter.reduction;
    if ((int)w >= AC_W_NONE && w <= AC_W_MIN)
        return AC_OK;
    return ac_error(cx, n->at, E0103, "reduction is not one of none, add, mul, max, min");
}

int ac_sh_scatter_elements(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_same_type(cx, n, 0, 2));
    AC_TRY(check_reduction(cx, n));
    AC_TRY(check_elements(cx, n, n->attrs.scatter.axis));
    if (!ac_tensor_same_shape(n->in[1], n->in[2]))
        return misfit(cx, n, "indices and updates must have the same shape");
    return ac_shape_set_like(cx, n, 0, n->in[0], n->in[0]->rank, n->in[0]->dim);
}

/* x, i [R..,K], u [R.., rest of x behind K dimensions] */
int ac_sh_scatter_into(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_same_type(cx, n, 0, 2));
    AC_TRY(ac_shape_index(cx, n, 1));
    AC_TRY(check_reduction(cx, n));
    const ac_tensor *x = n->in[0], *index = n->in[1], *update = n->in[2];
    const int32_t rows = index->rank - 1;
    const int64_t k = rows >= 0 ? index->dim[rows] : -1;
    bool fits = k >= 0 && k <= x->rank && update->rank == rows + x->rank - (int32_t)k;
    for (int32_t d = 0; fits && d < update->rank; d++)
        fits = update->dim[d] == (d < rows ? index->dim[d] : x->dim[d - rows + k]);
    if (!fits)
        return misfit(cx, n, "indices [R..,K] and updates [R.., rest] do not fit what they change");
    for (int32_t d = 0; d < k; d++)
        if (x->dim[d] == 0 && ac_tensor_count(index) > 0)
            return misfit(cx, n, "indices into an axis without elements");
    return ac_shape_set_like(cx, n, 0, x, x->rank, x->dim);
}

/* ------------------------------------------------------------------ loops */

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

/* The result starts as x. */
static void copy_all(ac_lower *L, ac_tensor *x, int32_t dst)
{
    ac_move m = {0};
    ac_move_dim(&m, ac_tensor_count(x), 1, 1);
    ac_lo_move(L, ac_lo_operand(L, x), dst, &m);
}

static void combine(ac_lower *L, int32_t dst, ac_x at, ac_x v)
{
    ac_lb *b = &L->b;
    const ac_word w = L->node->attrs.scatter.reduction;
    if (w != AC_W_NONE) {
        const ac_x old = ac_lb_load(b, dst, at, 1);
        v = w == AC_W_ADD   ? ac_lb_add_wrap(b, old, v)
            : w == AC_W_MUL ? ac_lb_mul_wrap(b, old, v)
            : w == AC_W_MAX ? ac_lb_max(b, old, v)
                            : ac_lb_min(b, old, v);
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
    const int32_t dst = ac_lo_result_buf(L);
    copy_all(L, x, dst);
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
    const int32_t dst = ac_lo_result_buf(L), k = (int32_t)index->dim[index->rank - 1];
    copy_all(L, x, dst);
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
        to = ac_lb_add(b, ac_lb_mul(b, to, ac_lb_i32(b, x->dim[e])), ac_index_at(L, index, at, x->dim[e], true));
    }
    const ac_x c = ac_lb_for_n(b, "c", inner);
    combine(L, dst, ac_lb_add(b, ac_lb_mul(b, to, ac_lb_i32(b, inner)), c),
            ac_lb_load(b, src, ac_lb_add(b, ac_lb_mul(b, r, ac_lb_i32(b, inner)), c), 1));
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
