/* counted_nodes.c - ONNX operators with results of dynamic size: NonZero, Compress, Unique, NonMaxSuppression.
 * Results have their maximum size and a count (import/build/counted.h). */
#include "import/build/compose_counted.h"
#include "import/build/counted.h"
#include "import/onnx/proto/nodes.h"
#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_LISTS = 4096 };

static ac_tensor *wide(ac_onx_node *n, int64_t v)
{
    return ac_make_number(&n->b, AC_I64, (double)v);
}

static ac_tensor *along(ac_onx_node *n, ac_tensor *const *x, int32_t count, int32_t axis)
{
    for (int32_t i = 0; i < count; i++)
        if (!x[i])
            return NULL;
    return ac_make_concat(&n->b, x, count, axis);
}

/* One row for each dimension: i64 [rank, elements]. */
int ac_onx_do_non_zero(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *row[AC_MAX_RANK];
    if (x->rank < 1)
        return ac_cannot(&n->b, "its input '%s' is a scalar", x->name);
    AC_TRY(ac_make_non_zero(&n->b, x, row));
    const int64_t line[] = {1, ac_tensor_count(row[0])};
    for (int32_t d = 0; d < x->rank; d++)
        row[d] = ac_make_reshape(&n->b, row[d], 2, line);
    return ac_onx_result(n, 0, along(n, row, x->rank, 0));
}

/* The parts of x along the axis whose condition holds; without an axis x is flat. The condition may be shorter. */
int ac_onx_do_compress(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *given = n->in[1];
    int32_t axis = 0;
    const int64_t count = ac_tensor_count(x);
    if (ac_attr_has(&n->attrs, A_axis))
        AC_TRY(ac_attr_axis(&n->attrs, A_axis, x->rank, &axis));
    else
        x = ac_make_reshape(&n->b, x, 1, &count);
    if (!x || given->rank != 1 || given->dim[0] > x->dim[axis])
        return ac_error(n->r->cx, n->at, E0104, "condition '%s' is %s, expected at most %" PRId64 " values",
                        given->name, ac_shape_str(n->r->cx, given), x ? x->dim[axis] : 0);
    ac_tensor *at = ac_make_true(&n->b, given);
    if (x->count && x->count_dim == axis)
        x = ac_make_counted_fill(&n->b, x, 0); /* all elements that are taken are valid */
    return ac_onx_result(n, 0, ac_make_gather(&n->b, x, axis, at));
}

int ac_onx_do_unique(ac_onx_node *n)
{
    ac_tensor *out[4];
    if (ac_attr_has(&n->attrs, A_axis))
        return ac_cannot(&n->b, "it has an axis; arenac reads the form that takes x as one list");
    AC_TRY(ac_make_unique(&n->b, n->in[0], ac_attr_int(&n->attrs, A_sorted) != 0, out));
    for (int32_t i = 0; i < 4; i++)
        AC_TRY(ac_onx_result(n, i, out[i]));
    return AC_OK;
}

/* Results: the distinct values in order of appearance, for each element the position of its value, and the number of
 * times that each value occurs. */
int ac_onx_do_unique_ms(ac_onx_node *n)
{
    ac_tensor *out[4];
    AC_TRY(ac_make_unique(&n->b, n->in[0], false, out));
    AC_TRY(ac_onx_result(n, 0, out[0]));
    AC_TRY(ac_onx_result(n, 1, out[2]));
    return ac_onx_result(n, 2, out[3]);
}

/* ------------------------------------------------------------------ NonMaxSuppression */

/* [..,4] of centre x, centre y, width, height as y1, x1, y2, x2 */
static ac_tensor *corners(ac_onx_node *n, ac_tensor *box)
{
    ac_tensor *v[4], *half = ac_make_number(&n->b, AC_F32, 0.5);
    for (int32_t i = 0; i < 4; i++)
        v[i] = ac_make_slice(&n->b, box, 2, i, 1);
    ac_tensor *w = ac_make_2(&n->b, AC_OP_MUL, v[2], half), *h = ac_make_2(&n->b, AC_OP_MUL, v[3], half);
    ac_tensor *part[] = {ac_make_2(&n->b, AC_OP_SUB, v[1], h), ac_make_2(&n->b, AC_OP_SUB, v[0], w),
                         ac_make_2(&n->b, AC_OP_ADD, v[1], h), ac_make_2(&n->b, AC_OP_ADD, v[0], w)};
    return along(n, part, 4, 2);
}

static int scalar_or(ac_onx_node *n, int32_t i, double init, double *v)
{
    *v = init;
    return ac_onx_in(n, i) ? ac_operand_scalar(&n->b, &n->in[i], v) : AC_OK;
}

/* Boxes [images,N,4], scores [images,classes,N] -> rows of image, class, box: of each image and class those kept, by
 * falling score. */
int ac_onx_do_nms(ac_onx_node *n)
{
    ac_tensor *box = n->in[0], *score = n->in[1];
    ac_nms_limits limit;
    double most;
    AC_TRY(scalar_or(n, 2, 0, &most));
    AC_TRY(scalar_or(n, 3, 0, &limit.overlap));
    AC_TRY(scalar_or(n, 4, -(double)INFINITY, &limit.least));
    if (box->rank != 3 || box->dim[2] != 4 || score->rank != 3 || score->dim[0] != box->dim[0] ||
        score->dim[2] != box->dim[1])
        return ac_error(n->r->cx, n->at, E0104, "boxes '%s' are %s, scores '%s' %s; expected [B,N,4] and [B,C,N]",
                        box->name, ac_shape_str(n->r->cx, box), score->name, ac_shape_str(n->r->cx, score));
    if (score->count && score->count_dim == 2) /* no box without a meaning is above the least score */
        score = ac_make_counted_neutral(&n->b, score, AC_OP_REDUCE_MAX);
    if (box->count && box->count_dim == 1)
        box = ac_make_counted_fill(&n->b, box, 0);
    if (!score || !box)
        return AC_FAIL;
    const int64_t images = box->dim[0], classes = score->dim[1], boxes = box->dim[1], lists = images * classes;
    const int64_t k = most < 0 ? 0 : most < (double)boxes ? (int64_t)most : boxes, all = lists * k;
    if (images > MOST_LISTS || lists > MOST_LISTS || lists < 1 || all > INT32_MAX || k < 1)
        return ac_cannot(&n->b, "%" PRId64 " images of %" PRId64 " classes, at most %" PRId64 " boxes of each", images,
                         classes, k);
    if (ac_attr_int(&n->attrs, A_center_point_box))
        box = corners(n, box);
    limit.most = k;
    ac_tensor **index = AC_NEW_N(n->r->cx->region, ac_tensor *, lists);
    ac_tensor **there = AC_NEW_N(n->r->cx->region, ac_tensor *, lists);
    const int64_t box_dim[] = {boxes, 4};
    for (int64_t i = 0; i < lists; i++) {
        ac_tensor *b = ac_make_reshape(&n->b, ac_make_slice(&n->b, box, 0, i / classes, 1), 2, box_dim);
        ac_tensor *s = ac_make_slice(&n->b, ac_make_slice(&n->b, score, 0, i / classes, 1), 1, i % classes, 1), *count;
        AC_TRY(ac_make_nms(&n->b, b, ac_make_reshape(&n->b, s, 1, &boxes), &limit, &index[i], &count));
        index[i] = ac_make_cast(&n->b, index[i], AC_I64);
        count = ac_make_cast(&n->b, count, AC_I64);
        there[i] = ac_make_2(&n->b, AC_OP_LESS, ac_make_iota(&n->b, k), count);
    }
    ac_tensor *flags = along(n, there, (int32_t)lists, 0), *at = flags ? ac_make_true(&n->b, flags) : NULL;
    ac_tensor *list = ac_make_2(&n->b, AC_OP_FLOOR_DIV, at, wide(n, k));
    ac_tensor *row[] = {ac_make_2(&n->b, AC_OP_FLOOR_DIV, list, wide(n, classes)),
                        ac_make_2(&n->b, AC_OP_FLOOR_MOD, list, wide(n, classes)),
                        ac_make_gather(&n->b, along(n, index, (int32_t)lists, 0), 0, at)};
    const int64_t column[] = {all, 1};
    for (int32_t i = 0; i < 3; i++)
        row[i] = ac_make_reshape(&n->b, row[i], 2, column);
    return ac_onx_result(n, 0, along(n, row, 3, 1));
}
