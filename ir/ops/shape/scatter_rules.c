/* scatter_rules.c - shape rules of operators that read or change single elements by index: gather_elements,
 * scatter_elements, scatter_into, scatter_nd, unsorted_segment_*. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

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

/* x, i [R..,K], u [R.., rest of x after K dimensions] */
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

/* indices [..,K], updates [.., slice], static shape -> result of that shape. */
int ac_sh_scatter_nd(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_index(cx, n, 0));
    ac_ints shape;
    AC_TRY(ac_shape_new_shape(cx, n, 2, (ac_ints){0}, &shape));
    const ac_tensor *index = n->in[0], *update = n->in[1];
    const int64_t k = index->rank ? index->dim[index->rank - 1] : 0;
    bool fits =
        shape.n <= AC_MAX_RANK && k >= 1 && k <= shape.n && update->rank == index->rank - 1 + shape.n - (int32_t)k;
    for (int32_t d = 0; fits && d < update->rank; d++)
        fits = update->dim[d] == (d < index->rank - 1 ? index->dim[d] : shape.v[d - (index->rank - 1) + k]);
    if (!fits) {
        ac_error(cx, n->at, E0104, "indices '%s' %s and updates '%s' %s do not fit a result of %d dimensions",
                 index->name, ac_shape_str(cx, index), update->name, ac_shape_str(cx, update), shape.n);
        return ac_shape_show(cx, n);
    }
    return ac_shape_set_like(cx, n, 0, update, shape.n, shape.v);
}

/* x [S.., rest], segments [S..], count (static) -> [count, rest]. */
int ac_sh_segment(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_index(cx, n, 1));
    ac_ints count;
    AC_TRY(ac_node_ints(cx, n, 2, (ac_ints){0}, &count));
    const ac_tensor *x = n->in[0], *segment = n->in[1];
    bool fits = count.n == 1 && count.v[0] >= 0 && segment->rank >= 1 && segment->rank <= x->rank;
    for (int32_t d = 0; fits && d < segment->rank; d++)
        fits = segment->dim[d] == x->dim[d];
    if (!fits) {
        ac_error(cx, n->at, E0104,
                 "segments '%s' %s must be the leading dimensions of '%s' %s, and their number one value",
                 segment->name, ac_shape_str(cx, segment), x->name, ac_shape_str(cx, x));
        return ac_shape_show(cx, n);
    }
    int64_t dim[AC_MAX_RANK] = {count.v[0]};
    int32_t rank = 1;
    for (int32_t d = segment->rank; d < x->rank; d++)
        dim[rank++] = x->dim[d];
    return ac_shape_set_like(cx, n, 0, x, rank, dim);
}
