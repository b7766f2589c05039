/* compose_slices.c - composes Slice and StridedSlice of TensorFlow and TFLite; see compose_slices.h. The dynamically
 * sized dimension is sliced first, then all dimensions with constant ranges; those with data-dependent ranges follow
 * one by one (compose_bounded.h). */
#include "import/build/compose_slices.h"
#include "import/build/compose_bounded.h"
#include "import/build/counted.h"
#include "import/build/operands.h"

static ac_tensor *number(const ac_maker *b, int64_t v)
{
    return ac_make_number(b, AC_I64, (double)v);
}

/* True if one of operands 1 .. last is computed at run time. */
static bool is_late(const ac_maker *b, ac_tensor **t, int32_t last)
{
    bool late = false;
    for (int32_t i = 1; i <= last; i++)
        late |= !ac_operand_known(b, &t[i]);
    return late;
}

static ac_tensor *first_late(ac_tensor **t)
{
    return t[ac_tensor_is_const(t[1]) ? 2 : 1];
}

/* The elements of a list operand. AC_FAIL: reported */
static int numbers(const ac_maker *b, ac_tensor *t, int32_t count, ac_late_number *out)
{
    if (t->rank != 1 || ac_tensor_count(t) != count || !ac_dtype_is_int(t->dtype))
        return ac_error(b->cx, b->at, E0104, "'%s' is %s, expected %d integers", t->name, ac_tensor_str(b->cx, t),
                        count);
    for (int32_t k = 0; k < count; k++) {
        out[k] = ac_late_number_at(b, t, k);
        if (!out[k].known && !out[k].t)
            return AC_FAIL;
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ Slice */

static ac_tensor *plain_slice(const ac_maker *b, ac_tensor *x, const int64_t *begin, const int64_t *size)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_SLICE, &a);
    for (int32_t d = 0; d < x->rank; d++)
        if (begin[d] < 0 || size[d] < 0 || begin[d] > x->dim[d] || size[d] > x->dim[d] - begin[d])
            return (void)ac_error(b->cx, b->at, E0104, "the slice exceeds dimension %d of '%s' %s", d, x->name,
                                  ac_shape_str(b->cx, x)),
                   NULL;
    a.slice.begin = ac_make_list(b, x->rank, begin);
    a.slice.size = ac_make_list(b, x->rank, size);
    return x->rank ? ac_make_op(b, AC_OP_SLICE, &x, 1, &a, AC_NONE) : x;
}

/* begin + size; `all` if size is negative */
static ac_tensor *end_of(const ac_maker *b, const ac_late_number *from, const ac_late_number *size, int64_t all)
{
    if (size->known)
        return number(b, all); /* known sizes are -1 here: others are windows */
    ac_tensor *at = ac_late_tensor(b, from), *many = ac_late_tensor(b, size);
    ac_tensor *rest = ac_make_2(b, AC_OP_LESS, many, number(b, 0)), *end = ac_make_2(b, AC_OP_ADD, at, many);
    return rest && end ? ac_make_select(b, rest, number(b, all), end) : NULL;
}

int ac_make_slice_of(const ac_maker *b, ac_tensor **t, const char *result, ac_tensor **out)
{
    ac_tensor *x = t[0], *y = x;
    ac_late_number from[AC_MAX_RANK], size[AC_MAX_RANK];
    int64_t begin[AC_MAX_RANK], extent[AC_MAX_RANK];
    if (is_late(b, t, 2) && !b->reading->again)
        return ac_operand_late(b, first_late(t));
    AC_TRY(numbers(b, t[1], x->rank, from));
    AC_TRY(numbers(b, t[2], x->rank, size));
    for (int32_t d = 0; d < x->rank; d++) {
        const bool known = from[d].known && size[d].known, all = known && size[d].value == -1;
        begin[d] = known ? from[d].value : 0;
        extent[d] = known && !all ? size[d].value : x->dim[d] - begin[d];
        if (!x->count || x->count_dim != d || (known && !begin[d] && (all || extent[d] == x->dim[d])))
            continue;
        if (!known)
            continue; /* below */
        if (begin[d] < 0)
            return ac_operand_late(b, first_late(t));
        y = ac_make_counted_slice(b, x, begin[d], all ? x->dim[d] : begin[d] + extent[d]);
        if (!y)
            return AC_FAIL;
        begin[d] = 0;
        extent[d] = y->dim[d];
    }
    y = plain_slice(b, y, begin, extent);
    for (int32_t d = 0; d < x->rank && y; d++) {
        if (from[d].known && size[d].known)
            continue;
        const bool window = size[d].known && size[d].value != -1;
        if (y->count && y->count_dim != d && !window)
            return ac_operand_late(b, first_late(t)); /* a tensor has one dynamically sized dimension */
        if (window) {
            y = ac_make_late_window(b, y, d, ac_late_tensor(b, &from[d]), size[d].value);
        } else {
            ac_tensor *end = end_of(b, &from[d], &size[d], x->dim[d]), *of = y;
            y = end ? ac_make_late_slice(b, y, d, ac_late_tensor(b, &from[d]), end, result) : NULL;
            if (y && from[d].known && !from[d].value && !size[d].known) /* if a part follows, size is not -1 */
                ac_note_cut(b, y, of, d, NULL, size[d].t);
        }
    }
    *out = y;
    return y ? AC_OK : AC_FAIL;
}

/* ------------------------------------------------------------------ StridedSlice */

typedef struct strided {
    int32_t n; /* length of each list */
    ac_late_number begin[32], end[32], stride[32];
    int64_t from[32], to[32], step[32];
    ac_strided_masks mask;
} strided;

static ac_tensor *plain_strided(const ac_maker *b, ac_tensor *x, const strided *s)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_STRIDED_SLICE, &a);
    a.strided.begin = ac_make_list(b, s->n, s->from);
    a.strided.end = ac_make_list(b, s->n, s->to);
    a.strided.strides = ac_make_list(b, s->n, s->step);
    a.strided.begin_mask = s->mask.begin;
    a.strided.end_mask = s->mask.end;
    a.strided.ellipsis_mask = s->mask.ellipsis;
    a.strided.new_axis_mask = s->mask.new_axis;
    a.strided.shrink_axis_mask = s->mask.shrink;
    return ac_make_op(b, AC_OP_STRIDED_SLICE, &x, 1, &a, AC_NONE);
}

/* The number of entries that apply to one dimension of x each. */
static int32_t takers(const strided *s)
{
    int32_t own = 0;
    for (int32_t k = 0; k < s->n; k++)
        own += !(s->mask.ellipsis >> k & 1) && !(s->mask.new_axis >> k & 1);
    return own;
}

/* The dimension of the result that entry i gives. */
static int32_t dimension_of(const strided *s, int32_t i, int32_t rank)
{
    int32_t d = 0;
    for (int32_t k = 0; k < i; k++)
        d += s->mask.ellipsis >> k & 1 ? rank - takers(s) : s->mask.new_axis >> k & 1 ? 1 : !(s->mask.shrink >> k & 1);
    return d;
}

/* The entry that applies to dimension d of x; -1: none, or the ellipsis. */
static int32_t entry_of(const strided *s, int32_t d, int32_t rank)
{
    for (int32_t k = 0; k < s->n; k++) {
        if (s->mask.new_axis >> k & 1 && !(s->mask.ellipsis >> k & 1))
            continue;
        if (s->mask.ellipsis >> k & 1)
            d -= rank - takers(s);
        else if (!d--)
            return k;
        if (d < 0)
            return -1;
    }
    return -1;
}

/* Applies the entry of the dynamically sized dimension of x, and changes the entry so that it keeps all elements. NULL:
 * reported, or refused */
static ac_tensor *cut_counted(const ac_maker *b, ac_tensor *x, strided *s)
{
    const int32_t i = entry_of(s, x->count_dim, x->rank), d = x->count_dim;
    const bool first = i >= 0 && s->mask.begin >> i & 1, last = i >= 0 && s->mask.end >> i & 1;
    const int64_t one = 1;
    if (i < 0)
        return x;
    if (s->mask.shrink >> i & 1) {
        ac_tensor *at = first ? number(b, 0) : ac_late_tensor(b, &s->begin[i]);
        at = ac_make_reshape(b, at, 1, &one);
        x = at ? ac_make_counted_gather(b, x, at) : NULL; /* [.., 1, ..]: the entry selects element 0 */
        s->from[i] = 0;
        s->begin[i].known = true;
        return x;
    }
    if (s->step[i] != 1)
        return (void)ac_cannot(b, "data decides how many elements '%s' %s has there, and its stride is %lld", x->name,
                               ac_shape_str(b->cx, x), (long long)s->step[i]),
               NULL;
    if ((!first && !s->begin[i].known) || (!last && !s->end[i].known))
        return x; /* postponed by set_aside */
    if (!first || !last)
        x = ac_make_counted_slice(b, x, first ? 0 : s->from[i], last ? x->dim[d] : s->to[i]);
    s->mask.begin |= 1 << i;
    s->mask.end |= 1 << i;
    return x;
}

/* Applies entry i to y, which has all elements along it. Called from the last entry on, since entries may remove
 * dimensions. */
static ac_tensor *cut(const ac_maker *b, const strided *s, ac_strided_masks was, int32_t i, ac_tensor **t,
                      const char *result, ac_tensor *y)
{
    const bool from_first = was.begin >> i & 1, to_last = was.end >> i & 1;
    const int32_t d = dimension_of(s, i, t[0]->rank);
    int64_t many;
    if (was.shrink >> i & 1)
        return ac_make_late_index(b, y, d, ac_late_tensor(b, &s->begin[i]));
    if (!from_first && !to_last && ac_late_distance(b, &s->begin[i], &s->end[i], &many) && many > 0 &&
        many <= y->dim[d])
        return ac_make_late_window(b, y, d, ac_late_tensor(b, &s->begin[i]), many);
    if (y->count && y->count_dim != d)
        return (void)ac_operand_late(b, first_late(t)), NULL;
    ac_tensor *from = from_first ? number(b, 0) : ac_late_tensor(b, &s->begin[i]);
    ac_tensor *to = to_last ? number(b, y->dim[d]) : ac_late_tensor(b, &s->end[i]);
    return ac_make_late_slice(b, y, d, from, to, result);
}

/* Makes entries with a data-dependent begin or end keep all elements for now. *late: a mask of them. AC_FAIL:
 * refused */
static int set_aside(const ac_maker *b, strided *s, uint32_t *late)
{
    *late = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const bool whole = s->mask.ellipsis >> i & 1 || s->mask.new_axis >> i & 1;
        const bool from = s->begin[i].known || s->mask.begin >> i & 1;
        const bool to = s->end[i].known || s->mask.end >> i & 1 || s->mask.shrink >> i & 1;
        if (whole || (from && to))
            continue;
        if (s->step[i] != 1)
            return ac_cannot(b, "data decides where it begins or ends, and its stride is %lld", (long long)s->step[i]);
        *late |= 1u << i;
        s->mask.begin |= 1 << i;
        s->mask.end |= 1 << i;
        s->mask.shrink &= ~(1 << i);
    }
    return AC_OK;
}

int ac_make_strided_of(const ac_maker *b, ac_tensor **t, ac_strided_masks masks, const char *result, ac_tensor **out)
{
    const int64_t count = ac_tensor_count(t[1]);
    strided s = {.n = (int32_t)count, .mask = masks};
    uint32_t late;
    ac_tensor *y = t[0];
    if (is_late(b, t, 3) && !b->reading->again)
        return ac_operand_late(b, first_late(t));
    if (count != ac_tensor_count(t[2]) || count != ac_tensor_count(t[3]) || count > 31)
        return ac_error(b->cx, b->at, E0104, "%lld begins, %lld ends and %lld strides", (long long)count,
                        (long long)ac_tensor_count(t[2]), (long long)ac_tensor_count(t[3]));
    AC_TRY(numbers(b, t[1], s.n, s.begin));
    AC_TRY(numbers(b, t[2], s.n, s.end));
    AC_TRY(numbers(b, t[3], s.n, s.stride));
    for (int32_t i = 0; i < s.n; i++) {
        s.from[i] = s.begin[i].known ? s.begin[i].value : 0;
        s.to[i] = s.end[i].known ? s.end[i].value : 0;
        s.step[i] = s.stride[i].value;
        if (!s.stride[i].known)
            return ac_operand_late(b, t[3]);
    }
    if (takers(&s) > y->rank)
        return ac_error(b->cx, b->at, E0104, "slice names %d dimensions, but '%s' is %s", takers(&s), y->name,
                        ac_shape_str(b->cx, y));
    if (y->count)
        y = cut_counted(b, y, &s);
    const ac_strided_masks was = s.mask;
    AC_TRY(y ? set_aside(b, &s, &late) : AC_FAIL);
    y = plain_strided(b, y, &s);
    for (int32_t i = s.n - 1; i >= 0 && y; i--)
        if (late >> i & 1)
            y = cut(b, &s, was, i, t, result, y);
    *out = y;
    return y ? AC_OK : AC_FAIL;
}
