/* slice_defs.c - Slice and StridedSlice of TensorFlow. What is known is cut first; dimensions of which data decides
 * where they begin or end follow one by one (import/build/compose_bounded.h). */
#include "import/build/compose_bounded.h"
#include "import/tf/nodedefs.h"

/* Do operands 1 .. last hold what data decides? true: one does, and it is too early to say which. */
static bool is_late(ac_tf_op *n, int32_t last)
{
    bool late = false;
    for (int32_t i = 1; i <= last; i++)
        late |= !ac_operand_known(&n->b, &n->t[i]);
    return late;
}

static ac_tensor *first_late(ac_tf_op *n)
{
    return n->t[ac_tensor_is_const(n->t[1]) ? 2 : 1];
}

/* Elements of a list operand. AC_FAIL: reported */
static int numbers(ac_tf_op *n, int32_t i, int32_t count, ac_late_number *out)
{
    if (n->t[i]->rank != 1 || ac_tensor_count(n->t[i]) != count || !ac_dtype_is_int(n->t[i]->dtype))
        return ac_error(n->r->cx, n->b.at, E0104, "'%s' is %s, expected %d integers", n->t[i]->name,
                        ac_tensor_str(n->r->cx, n->t[i]), count);
    for (int32_t k = 0; k < count; k++) {
        out[k] = ac_late_number_at(&n->b, n->t[i], k);
        if (!out[k].t)
            return AC_FAIL;
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ Slice */

static ac_tensor *plain_slice(ac_tf_op *n, ac_tensor *x, const int64_t *begin, const int64_t *size)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_SLICE, &a);
    for (int32_t d = 0; d < x->rank; d++)
        if (begin[d] < 0 || size[d] < 0 || begin[d] > x->dim[d] || size[d] > x->dim[d] - begin[d])
            return (void)ac_error(n->r->cx, n->b.at, E0104, "the slice reaches out of dimension %d of '%s' %s", d,
                                  x->name, ac_shape_str(n->r->cx, x)),
                   NULL;
    a.slice.begin = ac_build_list(&n->b, x->rank, begin);
    a.slice.size = ac_build_list(&n->b, x->rank, size);
    return x->rank ? ac_build_op(&n->b, AC_OP_SLICE, &x, 1, &a, AC_NONE) : x;
}

static int late_slice(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    ac_late_number from[AC_MAX_RANK], size[AC_MAX_RANK];
    int64_t begin[AC_MAX_RANK], extent[AC_MAX_RANK];
    if (!n->r->reading->again || x->count)
        return ac_operand_late(&n->b, first_late(n));
    AC_TRY(numbers(n, 1, x->rank, from));
    AC_TRY(numbers(n, 2, x->rank, size));
    for (int32_t d = 0; d < x->rank; d++) {
        const bool known = from[d].known && size[d].known;
        begin[d] = known ? from[d].value : 0;
        extent[d] = known && size[d].value != -1 ? size[d].value : x->dim[d] - begin[d];
    }
    ac_tensor *y = plain_slice(n, x, begin, extent);
    for (int32_t d = 0; d < x->rank && y; d++) {
        if (from[d].known && size[d].known)
            continue;
        if (y->count)
            return ac_operand_late(&n->b, first_late(n)); /* no count says how many of both there are */
        if (size[d].known && size[d].value != -1) {
            y = ac_build_late_window(&n->b, y, d, from[d].t, size[d].value);
            continue;
        }
        ac_tensor *all = ac_build_number(&n->b, AC_I64, (double)x->dim[d]), *end = all;
        if (!size[d].known) { /* -1: all that follow */
            ac_tensor *at = ac_build_cast(&n->b, from[d].t, AC_I64), *many = ac_build_cast(&n->b, size[d].t, AC_I64);
            ac_tensor *rest = ac_build_2(&n->b, AC_OP_LESS, many, ac_build_number(&n->b, AC_I64, 0));
            end = ac_build_2(&n->b, AC_OP_ADD, at, many);
            end = rest && end ? ac_build_select(&n->b, rest, all, end) : NULL;
        }
        y = end ? ac_build_late_slice(&n->b, y, d, from[d].t, end, n->node->name) : NULL;
    }
    return ac_tf_result(n, 0, y);
}

int ac_tf_do_slice(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    ac_ints begin, size;
    int64_t extent[AC_MAX_RANK];
    if (is_late(n, 2))
        return late_slice(n);
    AC_TRY(ac_operand_values(&n->b, &n->t[1], &begin));
    AC_TRY(ac_operand_values(&n->b, &n->t[2], &size));
    if (begin.n != x->rank || size.n != x->rank)
        return ac_error(n->r->cx, n->b.at, E0104, "%d begins and %d sizes for %d dimensions", begin.n, size.n, x->rank);
    for (int32_t d = 0; d < x->rank; d++)
        extent[d] = size.v[d] == -1 ? x->dim[d] - begin.v[d] : size.v[d];
    return ac_tf_result(n, 0, plain_slice(n, x, begin.v, extent));
}

/* ------------------------------------------------------------------ StridedSlice */

typedef struct strided {
    int32_t n; /* numbers in each list */
    ac_late_number begin[32], end[32], stride[32];
    int64_t from[32], to[32], step[32];
    int32_t begin_mask, end_mask, ellipsis, new_axis, shrink;
} strided;

static ac_tensor *plain_strided(ac_tf_op *n, const strided *s)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_STRIDED_SLICE, &a);
    a.strided.begin = ac_build_list(&n->b, s->n, s->from);
    a.strided.end = ac_build_list(&n->b, s->n, s->to);
    a.strided.strides = ac_build_list(&n->b, s->n, s->step);
    a.strided.begin_mask = s->begin_mask;
    a.strided.end_mask = s->end_mask;
    a.strided.ellipsis_mask = s->ellipsis;
    a.strided.new_axis_mask = s->new_axis;
    a.strided.shrink_axis_mask = s->shrink;
    return ac_build_op(&n->b, AC_OP_STRIDED_SLICE, n->t, 1, &a, AC_NONE);
}

/* The dimension of the result that entry i makes. */
static int32_t dimension_of(const strided *s, int32_t i, int32_t rank)
{
    int32_t own = 0, d = 0;
    for (int32_t k = 0; k < s->n; k++)
        own += !(s->ellipsis >> k & 1) && !(s->new_axis >> k & 1);
    for (int32_t k = 0; k < i; k++)
        d += s->ellipsis >> k & 1 ? rank - own : s->new_axis >> k & 1 ? 1 : !(s->shrink >> k & 1);
    return d;
}

/* Entry i of y, of which all elements are there: from the last one on, since some go. */
static ac_tensor *cut(ac_tf_op *n, const strided *s, int32_t i, bool shrink, bool from_first, bool to_last,
                      ac_tensor *y)
{
    const int32_t d = dimension_of(s, i, n->t[0]->rank);
    int64_t many;
    if (shrink)
        return ac_build_late_index(&n->b, y, d, s->begin[i].t);
    if (!from_first && !to_last && ac_late_distance(&n->b, &s->begin[i], &s->end[i], &many) && many > 0 &&
        many <= y->dim[d])
        return ac_build_late_window(&n->b, y, d, s->begin[i].t, many);
    if (y->count)
        return (void)ac_operand_late(&n->b, first_late(n)), NULL;
    ac_tensor *from = from_first ? ac_build_number(&n->b, AC_I64, 0) : s->begin[i].t;
    ac_tensor *to = to_last ? ac_build_number(&n->b, AC_I64, (double)y->dim[d]) : s->end[i].t;
    return ac_build_late_slice(&n->b, y, d, from, to, n->node->name);
}

static int late_strided(ac_tf_op *n, strided *s)
{
    uint32_t late = 0;
    const int32_t shrink = s->shrink, from_first = s->begin_mask, to_last = s->end_mask;
    for (int32_t i = 0; i < s->n; i++) {
        const bool whole = s->ellipsis >> i & 1 || s->new_axis >> i & 1;
        const bool from = s->begin[i].known || s->begin_mask >> i & 1;
        const bool to = s->end[i].known || s->end_mask >> i & 1 || s->shrink >> i & 1;
        s->from[i] = s->begin[i].known ? s->begin[i].value : 0;
        s->to[i] = s->end[i].known ? s->end[i].value : 0;
        s->step[i] = s->stride[i].value;
        if (!s->stride[i].known)
            return ac_operand_late(&n->b, n->t[3]);
        if (whole || (from && to))
            continue;
        if (s->step[i] != 1)
            return ac_build_cannot(&n->b, "data decides where it begins or ends, and its stride is %lld",
                                   (long long)s->step[i]);
        late |= 1u << i;
        s->begin_mask |= 1 << i;
        s->end_mask |= 1 << i;
        s->shrink &= ~(1 << i);
    }
    ac_tensor *y = plain_strided(n, s);
    for (int32_t i = s->n - 1; i >= 0 && y; i--)
        if (late >> i & 1)
            y = cut(n, s, i, shrink >> i & 1, from_first >> i & 1, to_last >> i & 1, y);
    return ac_tf_result(n, 0, y);
}

int ac_tf_do_strided_slice(ac_tf_op *n)
{
    const int64_t count = ac_tensor_count(n->t[1]);
    strided s = {.n = (int32_t)count};
    const bool late = is_late(n, 3);
    ac_ints v[3];
    s.begin_mask = (int32_t)ac_tf_int(n, "begin_mask", 0);
    s.end_mask = (int32_t)ac_tf_int(n, "end_mask", 0);
    s.ellipsis = (int32_t)ac_tf_int(n, "ellipsis_mask", 0);
    s.new_axis = (int32_t)ac_tf_int(n, "new_axis_mask", 0);
    s.shrink = (int32_t)ac_tf_int(n, "shrink_axis_mask", 0);
    if (late && !n->r->reading->again)
        return ac_operand_late(&n->b, first_late(n));
    if (count != ac_tensor_count(n->t[2]) || count != ac_tensor_count(n->t[3]) || count > 31)
        return ac_error(n->r->cx, n->b.at, E0104, "%lld begins, %lld ends and %lld strides", (long long)count,
                        (long long)ac_tensor_count(n->t[2]), (long long)ac_tensor_count(n->t[3]));
    if (late) {
        if (n->t[0]->count)
            return ac_operand_late(&n->b, first_late(n));
        AC_TRY(numbers(n, 1, s.n, s.begin));
        AC_TRY(numbers(n, 2, s.n, s.end));
        AC_TRY(numbers(n, 3, s.n, s.stride));
        return late_strided(n, &s);
    }
    for (int32_t i = 0; i < 3; i++)
        AC_TRY(ac_operand_values(&n->b, &n->t[1 + i], &v[i]));
    for (int32_t i = 0; i < s.n; i++) {
        s.from[i] = v[0].v[i];
        s.to[i] = v[1].v[i];
        s.step[i] = v[2].v[i];
    }
    return ac_tf_result(n, 0, plain_strided(n, &s));
}
