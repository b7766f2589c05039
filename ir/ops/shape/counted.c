/* counted.c - finds the dynamically sized dimension of a result from those of its operands; see counted.h. Operators
 * without a rule here mix valid and invalid elements. */
#include "ir/ops/shape/counted.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"

#include <string.h>

/* Dimension d of x in a result of the same elements in the same order; -1: it was merged with others. */
static int32_t in_view(const ac_tensor *x, const ac_tensor *y, int32_t d)
{
    const int64_t before = ac_dim_product(x->dim, 0, d);
    for (int32_t e = 0; e < y->rank; e++)
        if (y->dim[e] == x->dim[d] && ac_dim_product(y->dim, 0, e) == before)
            return e;
    return -1;
}

/* Broadcast together: operands that are not dynamically sized have one element there, which is repeated. */
static int32_t in_map(const ac_node *n)
{
    const ac_tensor *y = n->out[0];
    const ac_tensor *by = NULL;
    int32_t e = -1;
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->count) {
            e = n->in[i]->count_dim + y->rank - n->in[i]->rank;
            by = n->in[i];
        }
    for (int32_t i = 0; by && i < n->n_in; i++) {
        const ac_tensor *x = n->in[i];
        const int32_t d = x ? e - (y->rank - x->rank) : -1;
        if (x && x->count ? x->count != by->count || x->count_dim != d : d >= 0 && x->dim[d] != 1)
            return -1;
    }
    return by && y->dim[e] == by->dim[by->count_dim] ? e : -1;
}

/* Operands concatenated along another dimension; all have the same valid length. */
static int32_t in_concat(const ac_node *n, int32_t axis, bool new_axis)
{
    const ac_tensor *x = n->in[0];
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i]->count != x->count || n->in[i]->count_dim != x->count_dim)
            return -1;
    if (axis == x->count_dim && !new_axis)
        return -1;
    return x->count_dim + (new_axis && axis <= x->count_dim);
}

/* Only operand 0 may be dynamically sized, and not along one of these axes, which are removed or become 1. */
static int32_t beside(const ac_node *n, uint32_t axes, bool keep)
{
    int32_t d = n->in[0]->count_dim;
    if (axes >> d & 1)
        return -1;
    for (int32_t k = n->in[0]->count_dim - 1; k >= 0 && !keep; k--)
        d -= (int32_t)(axes >> k & 1);
    return d;
}

static int32_t in_gather(ac_ctx *cx, const ac_node *n)
{
    const ac_tensor *x = n->in[0], *at = n->in[1];
    int32_t axis, batch;
    if (ac_gather_of(cx, n, &axis, &batch) != AC_OK || batch || (x->count && at->count))
        return -1;
    if (at->count)
        return axis + at->count_dim;
    return x->count_dim == axis ? -1 : x->count_dim < axis ? x->count_dim : x->count_dim - 1 + at->rank;
}

static bool takes_all(const ac_slice *s, const ac_tensor *x)
{
    const int32_t d = x->count_dim;
    return s->begin[d] == 0 && s->step[d] == 1 && s->extent[d] == x->dim[d];
}

/* Entries take a dimension, or add one, or (the ellipsis) take the remaining ones. */
static int32_t in_strided(const ac_node *n, const ac_slice *s)
{
    const ac_attrs_strided *a = &n->attrs.strided;
    const ac_tensor *x = n->in[0];
    const int32_t entries = n->n_in > 1 && n->in[1] ? (int32_t)ac_tensor_count(n->in[1]) : a->begin.n;
    int32_t e = 0, d = 0, takers = 0;
    for (int32_t i = 0; i < entries; i++)
        takers += !((a->ellipsis_mask | a->new_axis_mask) >> i & 1);
    for (int32_t i = 0; i < entries && d <= x->count_dim; i++) {
        const bool ellipsis = a->ellipsis_mask >> i & 1, fresh = !ellipsis && a->new_axis_mask >> i & 1;
        const bool shrunk = !ellipsis && !fresh && a->shrink_axis_mask >> i & 1;
        const int32_t taken = ellipsis ? x->rank - takers : !fresh;
        if (d + taken > x->count_dim)
            return shrunk || !takes_all(s, x) ? -1 : e + x->count_dim - d;
        d += taken;
        e += fresh ? 1 : shrunk ? 0 : taken;
    }
    return e + x->count_dim - d;
}

static int32_t in_matmul(const ac_node *n)
{
    const ac_tensor *x = n->in[0];
    const int32_t row = x->rank - 1 - !n->attrs.matmul.adj_x;
    return x->count_dim == row && n->out[0]->rank >= 2 ? n->out[0]->rank - 2 : -1;
}

/* Only the second operand is dynamically sized, and not in the summed dimension: columns of the result. */
static int32_t columns(const ac_node *n)
{
    const ac_tensor *w = n->in[1], *y = n->out[0];
    const bool rows = n->op == AC_OP_FULLY_CONNECTED || n->attrs.matmul.adj_y;
    return w->count_dim == w->rank - 1 - rows && w->dim[w->count_dim] == y->dim[y->rank - 1] ? y->rank - 1 : -1;
}

/* The axes that the operator works along. */
static bool axes_of(ac_ctx *cx, const ac_node *n, uint32_t *axes, bool *keep)
{
    int32_t axis = n->in[0]->rank - 1;
    *keep = true;
    switch ((int)n->op) {
    case AC_OP_MEAN:
    case AC_OP_SUM:
    case AC_OP_REDUCE_MAX:
    case AC_OP_REDUCE_MIN:
    case AC_OP_REDUCE_PROD:
    case AC_OP_REDUCE_ANY:
    case AC_OP_REDUCE_ALL:
        *keep = n->attrs.reduce.keep_dims;
        return ac_reduce_axes(cx, n, axes) == AC_OK;
    case AC_OP_ARG_MAX:
    case AC_OP_ARG_MIN:
        *keep = false;
        if (ac_arg_axis(cx, n, &axis) != AC_OK)
            return false;
        break;
    case AC_OP_CUMSUM:
    case AC_OP_CUMPROD:
        if (ac_one_axis(cx, n, 1, -1, n->in[0]->rank, &axis) != AC_OK)
            return false;
        break;
    case AC_OP_UNPACK:
        *keep = false;
        if (ac_axis_norm(cx, n, n->attrs.axis.axis, n->in[0]->rank, &axis) != AC_OK)
            return false;
        break;
    case AC_OP_SOFTMAX:
    case AC_OP_LOG_SOFTMAX:
    case AC_OP_L2_NORMALIZATION:
    case AC_OP_TOPK_V2:
        break;
    default:
        return false;
    }
    *axes = 1u << axis;
    return true;
}

/* True if the operator may work along a dynamically sized dimension. Importers have replaced invalid elements by
 * neutral ones. */
static bool may_be_along(const ac_node *n)
{
    switch ((int)n->op) {
    case AC_OP_CUMSUM:
    case AC_OP_CUMPROD:
        return true;
    case AC_OP_SOFTMAX:
    case AC_OP_LOG_SOFTMAX:
    case AC_OP_L2_NORMALIZATION:
        return ac_dtype_is_float(n->in[0]->dtype);
    default:
        return false;
    }
}

static int32_t result_dim(ac_ctx *cx, const ac_node *n, bool only_first)
{
    const ac_tensor *x = n->in[0], *y = n->out[0];
    int32_t perm[AC_MAX_RANK], axis;
    int64_t times[AC_MAX_RANK];
    uint32_t axes;
    bool keep;
    ac_slice s;
    if (ac_ops[n->op].map)
        return in_map(n);
    if (n->op == AC_OP_CONCATENATION)
        return ac_axis_norm(cx, n, n->attrs.axis.axis, x->rank, &axis) == AC_OK ? in_concat(n, axis, false) : -1;
    if (n->op == AC_OP_PACK)
        return ac_axis_norm(cx, n, n->attrs.axis.axis, y->rank, &axis) == AC_OK ? in_concat(n, axis, true) : -1;
    if (n->op == AC_OP_GATHER)
        return in_gather(cx, n);
    if (n->op == AC_OP_GATHER_ND)
        return x->count || n->in[1]->count_dim == n->in[1]->rank - 1 ? -1 : n->in[1]->count_dim;
    if (n->op == AC_OP_ROI_ALIGN) /* regions, and the image of each */
        return !x->count && n->in[1]->count && n->in[1]->count_dim == 0 && n->in[2]->count ? 0 : -1;
    if (n->op == AC_OP_TRANSPOSE_CONV) /* images, each for itself */
        return n->n_in > 2 && n->in[2]->count && n->in[2]->count_dim == 0 && !x->count && !n->in[1]->count ? 0 : -1;
    if ((n->op == AC_OP_BATCH_MATMUL || n->op == AC_OP_FULLY_CONNECTED) && !x->count && n->in[1]->count)
        return columns(n);
    if (!only_first)
        return -1;
    if (axes_of(cx, n, &axes, &keep))
        return may_be_along(n) ? x->count_dim : beside(n, axes, keep);
    switch ((int)n->op) {
    case AC_OP_RESHAPE:
    case AC_OP_SQUEEZE:
    case AC_OP_EXPAND_DIMS:
        return in_view(x, y, x->count_dim);
    case AC_OP_REVERSE_V2: /* importers move the last valid element to the end */
        return x->count_dim;
    case AC_OP_ONE_HOT:
        axis = n->attrs.axis.axis < 0 ? n->attrs.axis.axis + y->rank : n->attrs.axis.axis;
        return x->count_dim + (axis <= x->count_dim);
    case AC_OP_TRANSPOSE:
        if (ac_perm_of(cx, n, perm) != AC_OK)
            return -1;
        for (int32_t e = 0; e < x->rank; e++)
            if (perm[e] == x->count_dim)
                return e;
        return -1;
    case AC_OP_BROADCAST_TO:
        axis = x->count_dim + y->rank - x->rank;
        return y->dim[axis] == x->dim[x->count_dim] ? axis : -1;
    case AC_OP_TILE:
        return ac_tile_of(cx, n, times) == AC_OK && times[x->count_dim] == 1 ? x->count_dim : -1;
    case AC_OP_SLICE:
        return ac_slice_of(cx, n, &s) == AC_OK && takes_all(&s, x) ? x->count_dim : -1;
    case AC_OP_STRIDED_SLICE:
        return ac_strided_slice_of(cx, n, &s) == AC_OK ? in_strided(n, &s) : -1;
    case AC_OP_CONV_2D: /* images, each for itself */
    case AC_OP_DEPTHWISE_CONV_2D:
    case AC_OP_MAX_POOL_2D:
    case AC_OP_AVERAGE_POOL_2D:
    case AC_OP_RESIZE_BILINEAR:
    case AC_OP_RESIZE_NEAREST_NEIGHBOR:
        return x->count_dim == 0 ? 0 : -1;
    case AC_OP_PAD:
    case AC_OP_PADV2:
        return y->dim[x->count_dim] == x->dim[x->count_dim] ? x->count_dim : -1;
    case AC_OP_BATCH_MATMUL:
        return in_matmul(n);
    case AC_OP_BLOCKWISE_DENSE:
    case AC_OP_FULLY_CONNECTED:
        return x->count_dim < x->rank - 1 && y->rank == x->rank ? x->count_dim : -1;
    default:
        return -1;
    }
}

bool ac_counted_dim(ac_ctx *cx, const ac_node *n, int32_t *dim, ac_tensor **count)
{
    bool only_first = true;
    *count = NULL;
    for (int32_t i = 0; i < n->n_in; i++) {
        if (!n->in[i] || !n->in[i]->count)
            continue;
        if (*count && *count != n->in[i]->count)
            return false;
        *count = n->in[i]->count;
        only_first &= i == 0;
    }
    *dim = result_dim(cx, n, only_first && n->n_in > 0 && n->in[0] && n->in[0]->count);
    return *dim >= 0;
}
