/* sequence_nodes.c - sequences of tensors in ONNX files: they are resolved while the file is read, and take no memory.
 * In a WHILE all elements of a sequence are one tensor with a new dimension 0, which may be counted
 * (import/build/counted.h).
 *
 * The value of a sequence is a tensor of no graph and no type, which only operators with ONX_SEQUENCES get. */
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/params.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_ELEMENTS = 4096 };

struct ac_onx_sequence {
    ac_tensor value;
    struct ac_onx_sequence *next;
    int64_t n;
    ac_tensor **item; /* NULL: those of `whole` */
    ac_tensor *whole; /* NULL, or all of them, along dimension 0 */
};
typedef struct ac_onx_sequence sequence;

ac_onx_sequence *ac_onx_sequence_of(const ac_onx *r, const ac_tensor *t)
{
    sequence *s = t && t->dtype == AC_NONE ? r->sequences : NULL;
    while (s && &s->value != t)
        s = s->next;
    return s;
}

static sequence *new_sequence(ac_onx_node *n, int64_t count, ac_tensor **item, ac_tensor *whole)
{
    if (count > MOST_ELEMENTS && item)
        return (void)ac_cannot(&n->b, "its sequence has more than %d elements", MOST_ELEMENTS), NULL;
    sequence *s = AC_NEW(n->r->cx->region, sequence);
    *s = (sequence){.n = count, .item = item, .whole = whole, .next = n->r->sequences};
    s->value = (ac_tensor){.name = n->b.base, .dtype = AC_NONE, .id = INT32_MAX};
    n->r->sequences = s;
    return s;
}

ac_tensor *ac_onx_sequence_all(ac_onx_node *n, ac_tensor *whole)
{
    sequence *s = whole ? new_sequence(n, whole->dim[0], NULL, whole) : NULL;
    return s ? &s->value : NULL;
}

static bool is_counted(const sequence *s)
{
    return s->whole && s->whole->count && s->whole->count_dim == 0;
}

/* Element i of those that there are. */
static ac_tensor *element(ac_onx_node *n, const sequence *s, int64_t i)
{
    if (s->item)
        return s->item[i];
    ac_tensor *x = s->whole;
    return ac_make_reshape(&n->b, ac_make_slice_there(&n->b, x, 0, i, 1), x->rank - 1, x->dim + 1);
}

/* x with a new dimension 0. */
static ac_tensor *as_row(ac_onx_node *n, ac_tensor *x)
{
    int64_t dim[AC_MAX_RANK] = {1};
    if (!x)
        return NULL;
    if (x->rank >= AC_MAX_RANK || x->count)
        return (void)ac_cannot(&n->b, "only data decides how long '%s' %s is, an element of its sequence", x->name,
                               ac_shape_str(n->r->cx, x)),
               NULL;
    memcpy(dim + 1, x->dim, (size_t)x->rank * sizeof *dim);
    return ac_make_reshape(&n->b, x, x->rank + 1, dim);
}

ac_tensor *ac_onx_sequence_whole(ac_onx_node *n, ac_onx_sequence *s, const ac_tensor *like)
{
    int64_t dim[AC_MAX_RANK] = {0};
    if (s->whole)
        return s->whole;
    if (!s->n && like && like->rank < AC_MAX_RANK) {
        static const uint64_t NOTHING[1] = {0};
        memcpy(dim + 1, like->dim, (size_t)like->rank * sizeof *dim);
        return ac_tensor_const(n->r->g, n->b.base, like->dtype, like->rank + 1, dim, NOTHING);
    }
    if (!s->n)
        return (void)ac_cannot(&n->b, "nothing says what the elements of its empty sequence are"), NULL;
    ac_tensor **row = AC_NEW_N(n->r->cx->region, ac_tensor *, s->n);
    for (int64_t i = 0; i < s->n; i++) {
        if (!ac_tensor_same_kind(s->item[i], s->item[0]))
            return (void)ac_cannot(&n->b, "elements of its sequence are %s and %s", ac_tensor_str(n->r->cx, s->item[0]),
                                   ac_tensor_str(n->r->cx, s->item[i])),
                   NULL;
        if (!(row[i] = as_row(n, s->item[i])))
            return NULL;
    }
    return s->n == 1 ? row[0] : ac_make_concat(&n->b, row, (int32_t)s->n, 0);
}

ac_tensor *ac_onx_sequence_first(ac_onx_node *n, ac_onx_sequence *s)
{
    return s->n ? element(n, s, 0) : NULL;
}

static sequence *sequence_operand(ac_onx_node *n)
{
    sequence *s = ac_onx_sequence_of(n->r, n->in[0]);
    if (!s)
        (void)ac_error(n->r->cx, n->at, E0105, "'%s' is not a sequence", n->in[0]->name);
    return s;
}

static int sequence_result(ac_onx_node *n, sequence *s)
{
    return s ? ac_onx_result(n, 0, &s->value) : AC_FAIL;
}

/* The position that operand i names, of `count` that there are; -1: only data decides. AC_FAIL: reported */
static int position_of(ac_onx_node *n, int32_t i, int64_t count, int64_t *at)
{
    int64_t v;
    *at = -1;
    if (!ac_operand_known(&n->b, &n->in[i]))
        return AC_OK;
    AC_TRY(ac_operand_int(&n->b, &n->in[i], &v));
    *at = v + (v < 0 ? count : 0);
    if (*at < 0 || *at > count)
        return ac_error(n->r->cx, n->at, E0103, "position %" PRId64 " of %" PRId64 " elements", v, count);
    return AC_OK;
}

int ac_onx_do_sequence_empty(ac_onx_node *n)
{
    (void)ac_attr_int(&n->attrs, A_sequence_dtype);
    return sequence_result(n, new_sequence(n, 0, AC_NEW_N(n->r->cx->region, ac_tensor *, 1), NULL));
}

int ac_onx_do_sequence_construct(ac_onx_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        AC_TRY(ac_onx_need(n, i));
    return sequence_result(
        n, new_sequence(n, n->n_in, ac_copy(n->r->cx->region, n->in, (size_t)n->n_in * sizeof *n->in), NULL));
}

/* At the end, unless a position is given. */
int ac_onx_do_sequence_insert(ac_onx_node *n)
{
    sequence *s = sequence_operand(n);
    int64_t at = s ? s->n : 0;
    if (!s)
        return AC_FAIL;
    if (is_counted(s)) {
        if (ac_onx_in(n, 2))
            return ac_cannot(&n->b, "only data decides how many elements its sequence has; arenac appends to it");
        ac_tensor *x[] = {s->whole, as_row(n, n->in[1])};
        return x[1] ? ac_onx_result(n, 0, ac_onx_sequence_all(n, ac_make_concat(&n->b, x, 2, 0))) : AC_FAIL;
    }
    if (ac_onx_in(n, 2))
        AC_TRY(position_of(n, 2, s->n, &at));
    if (at < 0)
        return ac_operand_late(&n->b, n->in[2]);
    ac_tensor **item = AC_NEW_N(n->r->cx->region, ac_tensor *, s->n + 1);
    for (int64_t i = 0; i <= s->n; i++)
        if (!(item[i] = i == at ? n->in[1] : element(n, s, i - (i > at))))
            return AC_FAIL;
    return sequence_result(n, new_sequence(n, s->n + 1, item, NULL));
}

int ac_onx_do_sequence_erase(ac_onx_node *n)
{
    sequence *s = sequence_operand(n);
    int64_t at = s ? s->n - 1 : 0;
    if (!s)
        return AC_FAIL;
    if (is_counted(s))
        return ac_cannot(&n->b, "only data decides how many elements its sequence has");
    if (ac_onx_in(n, 1))
        AC_TRY(position_of(n, 1, s->n, &at));
    if (at < 0 || at >= s->n)
        return s->n && ac_onx_in(n, 1) && at < 0
                   ? ac_operand_late(&n->b, n->in[1])
                   : ac_error(n->r->cx, n->at, E0103, "it erases an element that does not exist");
    ac_tensor **item = AC_NEW_N(n->r->cx->region, ac_tensor *, s->n + 1);
    for (int64_t i = 0; i + 1 < s->n; i++)
        if (!(item[i] = element(n, s, i + (i >= at))))
            return AC_FAIL;
    return sequence_result(n, new_sequence(n, s->n - 1, item, NULL));
}

int ac_onx_do_sequence_at(ac_onx_node *n)
{
    sequence *s = sequence_operand(n);
    int64_t at;
    if (!s)
        return AC_FAIL;
    if (!is_counted(s)) {
        AC_TRY(position_of(n, 1, s->n, &at));
        if (at >= s->n)
            return ac_error(n->r->cx, n->at, E0103, "element %" PRId64 " of %" PRId64, at, s->n);
        if (at >= 0)
            return ac_onx_result(n, 0, element(n, s, at));
    }
    ac_tensor *x = ac_onx_sequence_whole(n, s, NULL);
    if (!x)
        return AC_FAIL;
    ac_tensor *i = ac_make_cast(&n->b, ac_make_reshape(&n->b, n->in[1], 0, NULL), AC_I64);
    i = ac_make_from_end(&n->b, i, ac_make_counted_extent(&n->b, x, 0));
    return ac_onx_result(n, 0, ac_make_gather_there(&n->b, x, 0, i));
}

int ac_onx_do_sequence_length(ac_onx_node *n)
{
    sequence *s = sequence_operand(n);
    if (!s)
        return AC_FAIL;
    return ac_onx_result(
        n, 0, is_counted(s) ? ac_make_counted_extent(&n->b, s->whole, 0) : ac_make_number(&n->b, AC_I64, (double)s->n));
}

/* Sizes along the axis: 1 for each element, or those of operand 1, a number or a list. */
static int split_sizes(ac_onx_node *n, const ac_tensor *x, int32_t axis, ac_ints *size)
{
    ac_ints given = {0};
    int64_t each = 1, all = 0;
    const bool list = ac_onx_in(n, 1) && n->in[1]->rank == 1;
    if (ac_onx_in(n, 1))
        AC_TRY(ac_operand_values(&n->b, &n->in[1], &given));
    if (given.n && !list)
        each = given.v[0];
    const int64_t count = list ? given.n : each > 0 ? x->dim[axis] / each + (x->dim[axis] % each > 0) : -1;
    if (count < 0 || count > MOST_ELEMENTS)
        return ac_cannot(&n->b, "it makes %" PRId64 " parts of %" PRId64 " elements", count, x->dim[axis]);
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++) {
        v[i] = list ? given.v[i] : x->dim[axis] - all < each ? x->dim[axis] - all : each;
        if (v[i] < 0 || v[i] > x->dim[axis])
            return ac_error(n->r->cx, n->at, E0104, "part %" PRId64 " has %" PRId64 " elements of '%s' %s", i, v[i],
                            x->name, ac_shape_str(n->r->cx, x));
        all += v[i];
    }
    *size = (ac_ints){(int32_t)count, v};
    return all == x->dim[axis] ? AC_OK
                               : ac_error(n->r->cx, n->at, E0104, "parts of %" PRId64 " elements of '%s' %s", all,
                                          x->name, ac_shape_str(n->r->cx, x));
}

int ac_onx_do_split_to_sequence(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_ints size = {0};
    int64_t dim[AC_MAX_RANK], from = 0;
    int32_t axis;
    const bool list = ac_onx_in(n, 1) && n->in[1]->rank == 1, keep = ac_attr_int(&n->attrs, A_keepdims) || list;
    AC_TRY(ac_attr_axis(&n->attrs, A_axis, x->rank, &axis));
    if (x->count && x->count_dim == axis) {
        if (keep || axis || ac_onx_in(n, 1))
            return ac_cannot(&n->b, "only data decides how many parts '%s' %s has", x->name, ac_shape_str(n->r->cx, x));
        return ac_onx_result(n, 0, ac_onx_sequence_all(n, x));
    }
    AC_TRY(split_sizes(n, x, axis, &size));
    if (!keep && size.n != x->dim[axis]) /* the definition keeps them; ONNX Runtime refuses */
        return ac_cannot(&n->b, "keepdims is 0, and its parts have more than one element");
    if (!keep && !axis)
        return ac_onx_result(n, 0, ac_onx_sequence_all(n, x));
    ac_tensor **item = AC_NEW_N(n->r->cx->region, ac_tensor *, size.n + 1);
    for (int32_t i = 0; i < size.n; i++) {
        item[i] = ac_make_slice(&n->b, x, axis, from, size.v[i]);
        from += size.v[i];
        for (int32_t d = 0; d < x->rank; d++)
            if (d != axis)
                dim[d - (d > axis)] = x->dim[d];
        if (!(item[i] = keep ? item[i] : ac_make_reshape(&n->b, item[i], x->rank - 1, dim)))
            return AC_FAIL;
    }
    return sequence_result(n, new_sequence(n, size.n, item, NULL));
}

/* Of as many elements as data decides. */
static ac_tensor *joined(ac_onx_node *n, ac_tensor *x, int64_t axis, bool fresh)
{
    int64_t dim[AC_MAX_RANK] = {-1};
    if (axis || (!fresh && x->rank < 2))
        return (void)ac_cannot(&n->b,
                               "only data decides how many elements its sequence has, and its axis is "
                               "%" PRId64,
                               axis),
               NULL;
    if (fresh)
        return x;
    memcpy(dim + 1, x->dim + 2, (size_t)(x->rank - 2) * sizeof *dim);
    return ac_make_reshape(&n->b, x, x->rank - 1, dim);
}

int ac_onx_do_concat_from_sequence(ac_onx_node *n)
{
    sequence *s = sequence_operand(n);
    const bool fresh = ac_attr_bool(&n->attrs, A_new_axis);
    const int64_t given = ac_attr_int(&n->attrs, A_axis);
    int64_t dim[AC_MAX_RANK];
    int32_t axis;
    if (!s)
        return AC_FAIL;
    if (s->whole && !given && (is_counted(s) || fresh))
        return ac_onx_result(n, 0, joined(n, s->whole, given, fresh));
    if (is_counted(s) || !s->n)
        return ac_cannot(&n->b, "it joins %s elements along axis %" PRId64, s->n ? "as many as data decides" : "no",
                         given);
    ac_tensor **x = AC_NEW_N(n->r->cx->region, ac_tensor *, s->n);
    for (int64_t i = 0; i < s->n; i++) {
        if (!(x[i] = element(n, s, i)))
            return AC_FAIL;
        AC_TRY(ac_operand_axis(&n->b, given, x[i]->rank + fresh, &axis));
        for (int32_t d = 0; d < x[i]->rank; d++)
            dim[d + (d >= axis)] = x[i]->dim[d];
        dim[axis] = fresh ? 1 : dim[axis];
        if (fresh && (x[i]->rank == AC_MAX_RANK || !(x[i] = ac_make_reshape(&n->b, x[i], x[i]->rank + 1, dim))))
            return AC_FAIL;
    }
    return ac_onx_result(n, 0, s->n == 1 ? x[0] : ac_make_concat(&n->b, x, (int32_t)s->n, axis));
}
