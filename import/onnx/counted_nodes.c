/* counted_nodes.c - ONNX operators whose result is as large as the data says: NonZero, Compress, Unique,
 * NonMaxSuppression. Their results are as long as they can become, with a count (import/build/counted.h). */
#include "import/build/counted.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_LISTS = 4096 };

static ac_tensor *wide(ac_onx_node *n, int64_t v)
{
    return ac_onx_number(n, AC_I64, (double)v);
}

static ac_tensor *take(ac_onx_node *n, ac_tensor *x, ac_tensor *at, int32_t axis)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = axis;
    ac_tensor *in[] = {x, at};
    return x && at ? ac_onx_make(n, AC_OP_GATHER, in, 2, &a, AC_NONE) : NULL;
}

static ac_tensor *along(ac_onx_node *n, ac_tensor *const *x, int32_t count, int32_t axis)
{
    for (int32_t i = 0; i < count; i++)
        if (!x[i])
            return NULL;
    return ac_onx_concat(n, x, count, axis);
}

/* Indices of what is not 0, one row for each dimension: i64 [rank, elements]. */
int ac_onx_do_non_zero(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *row[AC_MAX_RANK], *left;
    if (x->rank < 1)
        return ac_build_cannot(&n->b, "its input '%s' is a scalar", x->name);
    if (x->count)
        return ac_build_cannot(&n->b, "the size of '%s' itself depends on the data", x->name);
    const int64_t count = ac_tensor_count(x), line[] = {1, count};
    if (x->dtype != AC_BOOL)
        x = ac_onx_2(n, AC_OP_NOT_EQUAL, x, ac_onx_number(n, x->dtype, 0));
    left = ac_build_true(&n->b, x);
    for (int32_t d = n->in[0]->rank - 1; d >= 0; d--) {
        ac_tensor *size = wide(n, n->in[0]->dim[d] > 0 ? n->in[0]->dim[d] : 1);
        row[d] = ac_onx_reshape(n, d ? ac_onx_2(n, AC_OP_FLOOR_MOD, left, size) : left, 2, line);
        left = ac_onx_2(n, AC_OP_FLOOR_DIV, left, size);
    }
    return ac_onx_result(n, 0, along(n, row, n->in[0]->rank, 0));
}

/* The parts of x along the axis whose condition holds; without an axis x is flat. The condition may be shorter. */
int ac_onx_do_compress(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *given = n->in[1];
    int32_t axis = 0;
    const int64_t count = ac_tensor_count(x);
    if (ac_onx_attr_of(n, "axis"))
        AC_TRY(ac_onx_axis(n, ac_onx_int(n, "axis", 0), x->rank, &axis));
    else
        x = ac_onx_reshape(n, x, 1, &count);
    if (!x || given->rank != 1 || given->dim[0] > x->dim[axis])
        return ac_error(n->r->cx, n->at, E0104, "condition '%s' is %s, expected at most %" PRId64 " values",
                        given->name, ac_shape_str(n->r->cx, given), x ? x->dim[axis] : 0);
    return ac_onx_result(n, 0, take(n, x, ac_build_true(&n->b, given), axis));
}

/* ------------------------------------------------------------------ Unique */

/* x in rising order, and what is known of it; all i64 but `value` and `first` */
typedef struct sorted {
    int64_t n;
    ac_tensor *value, *at; /* [n]; where each was */
    ac_tensor *first;      /* bool [n]: it differs from the one before */
    ac_tensor *start;      /* counted: where runs of equal values start */
    ac_tensor *run;        /* [n]: in which run of equal values each element of x is */
} sorted;

static ac_tensor *less_one(ac_onx_node *n, ac_tensor *flags)
{
    const int64_t zero = 0;
    ac_tensor *in[] = {ac_onx_cast(n, flags, AC_I32), ac_onx_reshape(n, ac_onx_ints_const(n, 1, &zero), 0, NULL)};
    ac_tensor *sum = in[0] && in[1] ? ac_onx_make(n, AC_OP_CUMSUM, in, 2, NULL, AC_NONE) : NULL;
    return ac_onx_cast(n, ac_onx_2(n, AC_OP_SUB, sum, ac_onx_number(n, AC_I32, 1)), AC_I64);
}

/* y[at[i]] = v[i], 0 elsewhere */
static ac_tensor *scatter(ac_onx_node *n, int64_t size, ac_tensor *at, ac_tensor *v)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_SCATTER_ELEMENTS, &a);
    ac_tensor *in[] = {ac_onx_broadcast(n, v ? ac_onx_number(n, v->dtype, 0) : NULL, 1, &size), at, v};
    return in[0] && at && v ? ac_onx_make(n, AC_OP_SCATTER_ELEMENTS, in, 3, &a, AC_NONE) : NULL;
}

static int sort(ac_onx_node *n, ac_tensor *x, sorted *s)
{
    ac_attrs a;
    const int64_t size = ac_tensor_count(x);
    ac_attrs_init(AC_OP_TOPK_V2, &a);
    a.topk.smallest = true;
    ac_tensor *in[] = {ac_onx_reshape(n, x, 1, &size), ac_onx_reshape(n, ac_onx_ints_const(n, 1, &size), 0, NULL)};
    if (!in[0] || !in[1])
        return AC_FAIL;
    ac_node *made = ac_onx_node_make(n, AC_OP_TOPK_V2, in, 2, &a, 2);
    ac_tensor *value = made->out[0], *at = made->out[1];
    AC_TRY(ac_build_resolve(&n->b, made));
    *s = (sorted){.n = size, .value = value, .at = ac_onx_cast(n, at, AC_I64)};
    ac_tensor *differs = size > 1 ? ac_onx_2(n, AC_OP_NOT_EQUAL, ac_onx_slice(n, value, 0, 1, size - 1),
                                             ac_onx_slice(n, value, 0, 0, size - 1))
                                  : NULL;
    const int64_t one = 1;
    ac_tensor *part[] = {ac_onx_reshape(n, ac_onx_number(n, AC_BOOL, 1), 1, &one), differs};
    s->first = size > 1 ? along(n, part, 2, 0) : part[0];
    s->start = s->first ? ac_build_true(&n->b, s->first) : NULL;
    s->run = s->first ? scatter(n, size, s->at, less_one(n, s->first)) : NULL;
    return s->start && s->run && s->at ? AC_OK : AC_FAIL;
}

/* How long each run is: up to the next start, or the end. */
static ac_tensor *run_lengths(ac_onx_node *n, const sorted *s)
{
    ac_tensor *start = ac_build_counted_fill(&n->b, s->start, (double)s->n); /* those after the last one are the end */
    const int64_t one = 1;
    if (!start)
        return NULL;
    ac_tensor *end = ac_onx_reshape(n, wide(n, s->n), 1, &one);
    ac_tensor *part[] = {s->n > 1 ? ac_onx_slice(n, start, 0, 1, s->n - 1) : end, end};
    ac_tensor *next = s->n > 1 ? along(n, part, 2, 0) : end;
    return ac_counted_as(ac_onx_2(n, AC_OP_SUB, next, start), s->start->count, 0);
}

/* Values of x, each once, in rising order or in that of their first places; those places; where each element of x went;
 * how often each value is there. */
int ac_onx_do_unique(ac_onx_node *n)
{
    sorted s;
    if (ac_onx_attr_of(n, "axis"))
        return ac_build_cannot(&n->b, "it has an axis; arenac reads the form that takes x as one list");
    const bool rising = ac_onx_int(n, "sorted", 1) != 0;
    if (ac_tensor_count(n->in[0]) < 1 || n->in[0]->count)
        return ac_build_cannot(&n->b, "its input is empty, or its size depends on the data");
    AC_TRY(sort(n, n->in[0], &s));
    ac_tensor *place = take(n, s.at, s.start, 0), *run = s.run, *length = run_lengths(n, &s);
    if (!rising) { /* runs by their first places: the flags of these, in the order of x */
        ac_tensor *flags = scatter(n, s.n, s.at, ac_onx_cast(n, s.first, AC_I32));
        ac_tensor *here = flags ? ac_build_true(&n->b, ac_onx_cast(n, flags, AC_BOOL)) : NULL;
        ac_tensor *first = take(n, ac_build_counted_fill(&n->b, place, 0), s.run, 0); /* of the run of each element */
        if (!here || !length)
            return AC_FAIL;
        length = take(n, ac_build_counted_fill(&n->b, length, 0), take(n, s.run, here, 0), 0);
        run = take(n, less_one(n, flags), first, 0);
        place = here;
    }
    const int64_t size = s.n;
    ac_tensor *x = ac_onx_reshape(n, n->in[0], 1, &size);
    AC_TRY(ac_onx_result(n, 0, take(n, x, place, 0)));
    AC_TRY(ac_onx_result(n, 1, place));
    AC_TRY(ac_onx_result(n, 2, run));
    return ac_onx_result(n, 3, length);
}

/* ------------------------------------------------------------------ NonMaxSuppression */

/* [..,4] of centre x, centre y, width, height as y1, x1, y2, x2 */
static ac_tensor *corners(ac_onx_node *n, ac_tensor *box)
{
    ac_tensor *v[4], *half = ac_onx_number(n, AC_F32, 0.5);
    for (int32_t i = 0; i < 4; i++)
        v[i] = ac_onx_slice(n, box, 2, i, 1);
    ac_tensor *w = ac_onx_2(n, AC_OP_MUL, v[2], half), *h = ac_onx_2(n, AC_OP_MUL, v[3], half);
    ac_tensor *part[] = {ac_onx_2(n, AC_OP_SUB, v[1], h), ac_onx_2(n, AC_OP_SUB, v[0], w),
                         ac_onx_2(n, AC_OP_ADD, v[1], h), ac_onx_2(n, AC_OP_ADD, v[0], w)};
    return along(n, part, 4, 2);
}

/* The boxes of one image that are kept for one class: i32 [most], and how many. */
static int suppress(ac_onx_node *n, ac_tensor *box, ac_tensor *score, ac_tensor *const limit[3], ac_tensor **kept,
                    ac_tensor **count)
{
    ac_tensor *in[] = {box, score, limit[0], limit[1], limit[2]};
    for (int32_t i = 0; i < 5; i++)
        if (!in[i])
            return AC_FAIL;
    ac_node *made = ac_onx_node_make(n, AC_OP_NON_MAX_SUPPRESSION_V4, in, 5, NULL, 2);
    *kept = made->out[0];
    *count = made->out[1];
    return ac_build_resolve(&n->b, made);
}

static int scalar_or(ac_onx_node *n, int32_t i, double init, double *v)
{
    *v = init;
    return ac_onx_in(n, i) ? ac_operand_scalar(&n->b, &n->in[i], v) : AC_OK;
}

/* Boxes [images,N,4], scores [images,classes,N] -> rows of image, class, box: of each image and class those kept, by
 * falling score. A box goes that overlaps a kept one by more than the threshold (ours: by no less). */
int ac_onx_do_nms(ac_onx_node *n)
{
    ac_tensor *box = n->in[0], *score = n->in[1], *limit[3];
    double most, overlap, least;
    AC_TRY(scalar_or(n, 2, 0, &most));
    AC_TRY(scalar_or(n, 3, 0, &overlap));
    AC_TRY(scalar_or(n, 4, -INFINITY, &least));
    if (box->rank != 3 || box->dim[2] != 4 || score->rank != 3 || score->dim[0] != box->dim[0] ||
        score->dim[2] != box->dim[1])
        return ac_error(n->r->cx, n->at, E0104, "boxes '%s' are %s, scores '%s' %s; expected [B,N,4] and [B,C,N]",
                        box->name, ac_shape_str(n->r->cx, box), score->name, ac_shape_str(n->r->cx, score));
    const int64_t images = box->dim[0], classes = score->dim[1], boxes = box->dim[1], lists = images * classes;
    const int64_t k = most < 0 ? 0 : most < (double)boxes ? (int64_t)most : boxes, all = lists * k;
    if (images > MOST_LISTS || lists > MOST_LISTS || lists < 1 || all > INT32_MAX || k < 1)
        return ac_build_cannot(&n->b, "%" PRId64 " images of %" PRId64 " classes, at most %" PRId64 " boxes of each",
                               images, classes, k);
    if (ac_onx_int(n, "center_point_box", 0))
        box = corners(n, box);
    limit[0] = ac_onx_reshape(n, ac_onx_ints_const(n, 1, &k), 0, NULL);
    limit[1] = ac_onx_number(n, AC_F32, (double)nextafterf((float)overlap, INFINITY));
    limit[2] = ac_onx_number(n, AC_F32, least);
    ac_tensor **index = AC_NEW_N(n->r->cx->region, ac_tensor *, lists);
    ac_tensor **there = AC_NEW_N(n->r->cx->region, ac_tensor *, lists);
    const int64_t box_dim[] = {boxes, 4};
    for (int64_t i = 0; i < lists; i++) {
        ac_tensor *b = ac_onx_reshape(n, ac_onx_slice(n, box, 0, i / classes, 1), 2, box_dim);
        ac_tensor *s = ac_onx_slice(n, ac_onx_slice(n, score, 0, i / classes, 1), 1, i % classes, 1), *count;
        AC_TRY(suppress(n, b, ac_onx_reshape(n, s, 1, &boxes), limit, &index[i], &count));
        index[i] = ac_onx_cast(n, index[i], AC_I64);
        there[i] = ac_onx_2(n, AC_OP_LESS, ac_build_iota(&n->b, k), ac_onx_cast(n, count, AC_I64));
    }
    ac_tensor *flags = along(n, there, (int32_t)lists, 0), *at = flags ? ac_build_true(&n->b, flags) : NULL;
    ac_tensor *list = ac_onx_2(n, AC_OP_FLOOR_DIV, at, wide(n, k));
    ac_tensor *row[] = {ac_onx_2(n, AC_OP_FLOOR_DIV, list, wide(n, classes)),
                        ac_onx_2(n, AC_OP_FLOOR_MOD, list, wide(n, classes)),
                        take(n, along(n, index, (int32_t)lists, 0), at, 0)};
    const int64_t column[] = {all, 1};
    for (int32_t i = 0; i < 3; i++)
        row[i] = ac_onx_reshape(n, row[i], 2, column);
    return ac_onx_result(n, 0, along(n, row, 3, 1));
}
