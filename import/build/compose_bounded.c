/* compose_bounded.c - composes operators with a size that may be computed at run time; see compose_bounded.h. */
#include "import/build/compose_bounded.h"
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/operands.h"

#include <inttypes.h>
#include <math.h>

static ac_tensor *number(const ac_maker *b, double v)
{
    return ac_make_number(b, AC_I64, v);
}

/* True if t is a constant and its first element is v. */
static bool is_number(const ac_maker *b, ac_tensor *t, double v)
{
    const void *data = ac_tensor_is_const(t) ? ac_tensor_force(b->cx, t) : NULL;
    return data && ac_dtype_get_num(t->dtype, data, 0) == v;
}

/* ------------------------------------------------------------------ ranges */

/* ceil((limit - start) / delta), exactly for integers. */
static ac_tensor *steps(const ac_maker *b, ac_tensor *start, ac_tensor *limit, ac_tensor *delta)
{
    const bool real = ac_dtype_is_float(start->dtype);
    ac_tensor *far = ac_make_2(b, AC_OP_SUB, limit, start);
    if (real)
        return ac_make_cast(b, ac_make_1(b, AC_OP_CEIL, ac_make_2(b, AC_OP_DIV, far, delta)), AC_I64);
    far = ac_make_cast(b, far, AC_I64);
    delta = ac_make_cast(b, delta, AC_I64);
    ac_tensor *back = ac_make_2(b, AC_OP_SUB, number(b, 0), far);
    ac_tensor *below = ac_make_2(b, AC_OP_FLOOR_DIV, back, delta);
    return ac_make_2(b, AC_OP_SUB, number(b, 0), below);
}

/* An upper bound of the number of steps, from that of the limit; -1: unknown. */
static int64_t most_steps(const ac_maker *b, ac_tensor *const *v)
{
    double start, delta;
    const int64_t limit = ac_most_of(b, v[1], 0);
    if (limit < 0 || !ac_known_element(b, v[0], 0, &start) || !ac_known_element(b, v[2], 0, &delta) || delta <= 0)
        return -1;
    const double far = ceil(((double)limit - start) / delta);
    return far < 0 ? 0 : far <= INT32_MAX ? (int64_t)far : -1;
}

static int late_range(const ac_maker *b, ac_tensor *const *of, ac_tensor *late, const char *result, ac_tensor **out)
{
    const ac_dtype d = of[0]->dtype;
    ac_tensor *v[3], *count = NULL;
    int64_t most = ac_bound_of(b, result), known;
    if (!b->reading->again)
        return ac_operand_late(b, late);
    for (int32_t i = 0; i < 3; i++) {
        if (ac_tensor_count(of[i]) != 1 || of[i]->dtype != d)
            return ac_bad(b, "'%s' is %s, expected one %s", of[i]->name, ac_tensor_str(b->cx, of[i]), ac_dtype_name(d));
        v[i] = ac_make_reshape(b, of[i], 0, NULL);
    }
    if (!v[0] || !v[1] || !v[2])
        return AC_FAIL;
    if (is_number(b, v[2], 0))
        return ac_error(b->cx, b->at, E0103, "a range by 0");
    /* the limit is the count of a tensor: the result gets the same count */
    if (is_number(b, v[0], 0) && is_number(b, v[2], 1) && (count = ac_count_behind(b, v[1], &known))) {
        if (most >= 0 && most < known)
            count = NULL;
        else
            most = known;
    }
    if (most < 0 && !ac_dtype_is_float(d))
        most = most_steps(b, v);
    if (most < 0)
        return ac_bound_missing(b, late, result);
    if (!count)
        count = ac_bounded_count(b, steps(b, v[0], v[1], v[2]), most);
    ac_tensor *at = ac_make_cast(b, ac_make_iota(b, most), d);
    ac_tensor *y = ac_make_2(b, AC_OP_ADD, v[0], ac_make_2(b, AC_OP_MUL, at, v[2]));
    *out = count ? ac_bounded(b, y, count, 0) : NULL;
    return *out ? AC_OK : AC_FAIL;
}

int ac_make_range(const ac_maker *b, ac_tensor **of, const char *result, ac_tensor **out)
{
    enum { MOST = 1 << 20 };
    double v[3];
    const ac_dtype d = of[0]->dtype;
    (void)ac_bound_of(b, result);
    for (int32_t i = 0; i < 3; i++)
        if (ac_is_count(b, of[i]) || !ac_operand_known(b, &of[i]))
            return late_range(b, of, of[i], result, out);
    for (int32_t i = 0; i < 3; i++) {
        AC_TRY(ac_operand_scalar(b, &of[i], &v[i]));
        if (of[i]->dtype != d)
            return ac_error(b->cx, b->at, E0105, "'%s' is %s, but '%s' is %s", of[i]->name, ac_dtype_name(of[i]->dtype),
                            of[0]->name, ac_dtype_name(d));
        if (ac_dtype_is_int(d) && !(v[i] >= -9e15 && v[i] <= 9e15))
            return ac_cannot(b, "its numbers are above 9e15");
    }
    const double far = ceil((v[1] - v[0]) / v[2]);
    if (v[2] == 0 || far != far)
        return ac_error(b->cx, b->at, E0103, "a range from %g to %g by %g", v[0], v[1], v[2]);
    if (far > MOST)
        return ac_cannot(b, "it has %g elements", far);
    const int64_t count = far > 0 ? (int64_t)far : 0;
    const size_t size = (size_t)ac_dtype_size(d, 1);
    uint8_t *data = ac_alloc_n(b->cx->region, (uint64_t)count + 1, size);
    for (int64_t i = 0; i < count; i++)
        ac_dtype_put_num(d, data + (size_t)i * size, v[0] + (double)i * v[2]);
    *out = ac_tensor_const(b->g, b->name, d, 1, &count, data);
    return AC_OK;
}

int ac_make_late_broadcast(const ac_maker *b, ac_tensor *x, ac_tensor **size, const char *result, ac_tensor **out)
{
    ac_late_sizes s;
    AC_TRY(ac_late_sizes_of(b, size, result, &s));
    const int32_t own = s.at - (s.n - x->rank);
    if (s.count && own >= 0 && x->dim[own] != 1) {
        s.dim[s.at] = x->dim[own]; /* x is not broadcast here, so the size is that of x */
        s.count = NULL;
    }
    if (s.count && x->count)
        return ac_operand_late(b, *size);
    ac_tensor *y = ac_make_broadcast(b, x, s.n, s.dim);
    *out = s.count ? ac_bounded(b, y == x ? NULL : y, s.count, s.at) : y;
    return *out ? AC_OK : AC_FAIL;
}

int ac_make_late_reshape(const ac_maker *b, ac_tensor *x, ac_tensor **size, bool keep, ac_tensor **out)
{
    ac_late_sizes s;
    AC_TRY(ac_late_sizes_of(b, size, NULL, &s));
    for (int32_t d = 0; d < s.n && d < x->rank && keep; d++)
        s.dim[d] = s.dim[d] || d == s.at ? s.dim[d] : x->dim[d];
    *out = ac_make_reshape(b, x, s.n, s.dim);
    if (*out && s.count && ((*out)->count != s.count || (*out)->count_dim != s.at))
        return ac_cannot(b, "size %d of the new shape is computed, and is not the number of elements of '%s' %s", s.at,
                         x->name, ac_shape_str(b->cx, x));
    return *out ? AC_OK : AC_FAIL;
}

int ac_make_top_k(const ac_maker *b, ac_tensor *x, ac_tensor **k, ac_tensor *out[2])
{
    ac_tensor *count = NULL;
    const bool counted = x->count && x->count_dim == x->rank - 1;
    double known = 0;
    if (x->rank < 1)
        return ac_bad(b, "'%s' is a scalar", x->name);
    const int64_t all = x->dim[x->rank - 1], may = ac_most_of(b, *k, 0), size = may >= 0 && may < all ? may : all;
    if (ac_operand_known(b, k))
        AC_TRY(ac_operand_scalar(b, k, &known));
    else if (b->reading->again)
        count = ac_bounded_count(b, *k, size);
    else
        return ac_operand_late(b, *k);
    const int64_t number_of = count ? size : (int64_t)known;
    if (counted) {
        ac_tensor *most = count ? count : number(b, (double)number_of);
        count = ac_make_2(b, AC_OP_MINIMUM, ac_make_counted_extent(b, x, x->count_dim), most);
        x = ac_make_counted_neutral(b, x, AC_OP_REDUCE_MAX); /* invalid elements come last */
    }
    ac_tensor *in[] = {x, ac_make_reshape(b, ac_make_cast(b, ac_make_ints(b, 1, &number_of), AC_I32), 0, NULL)};
    if (!in[0] || !in[1] || (counted && !count))
        return AC_FAIL;
    ac_node *made = ac_make_node(b, AC_OP_TOPK_V2, in, 2, NULL, 2);
    out[0] = made->out[0];
    out[1] = made->out[1];
    AC_TRY(ac_make_resolve(b, made));
    for (int32_t i = 0; i < 2; i++)
        (void)ac_counted_as(out[i], count, x->rank - 1);
    return AC_OK;
}

/* ------------------------------------------------------------------ slices */

/* Position t in a dimension of `count` elements, clamped to 0 .. count; a negative t counts from the end: i64
 * scalar. */
static ac_tensor *place(const ac_maker *b, ac_tensor *t, ac_tensor *count)
{
    t = count ? ac_make_from_end(b, ac_make_cast(b, ac_make_reshape(b, t, 0, NULL), AC_I64), count) : NULL;
    ac_tensor *least = number(b, 0);
    return ac_make_2(b, AC_OP_MAXIMUM, ac_make_2(b, AC_OP_MINIMUM, t, count), least);
}

/* `most` elements from `from`; positions past the end read the last element. Elements read from invalid positions are
 * invalid. */
static ac_tensor *rows(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *from, int64_t most)
{
    ac_tensor *at = ac_make_2(b, AC_OP_ADD, from, ac_make_iota(b, most));
    return ac_make_gather_there(b, x, d, ac_make_2(b, AC_OP_MINIMUM, at, number(b, (double)(x->dim[d] - 1))));
}

ac_tensor *ac_make_late_index(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *begin)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = d;
    ac_tensor *t = ac_make_cast(b, ac_make_reshape(b, begin, 0, NULL), AC_I64);
    ac_tensor *in[] = {x, ac_make_from_end(b, t, number(b, (double)x->dim[d]))};
    return in[1] ? ac_make_op(b, AC_OP_GATHER, in, 2, &a, AC_NONE) : NULL;
}

ac_tensor *ac_make_late_window(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *begin, int64_t size)
{
    if (size < 1 || size > x->dim[d])
        return (void)ac_error(b->cx, b->at, E0104, "%" PRId64 " elements of dimension %d of '%s' %s", size, d, x->name,
                              ac_shape_str(b->cx, x)),
               NULL;
    ac_tensor *all = ac_make_counted_extent(b, x, d), *last = ac_make_2(b, AC_OP_SUB, all, number(b, (double)size)),
              *least;
    if (all && !ac_tensor_is_const(all)) {
        least = number(b, 0);
        last = ac_make_2(b, AC_OP_MAXIMUM, last, least);
    }
    ac_tensor *from = ac_make_2(b, AC_OP_MINIMUM, place(b, begin, all), last);
    return from ? rows(b, x, d, from, size) : NULL;
}

ac_tensor *ac_make_late_slice(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *begin, ac_tensor *end,
                              const char *result)
{
    const ac_late_number first = {.t = begin}, last = {.t = end};
    const int64_t size = x->dim[d], said = ac_bound_of(b, result);
    int64_t most = said >= 0 && said < size ? said : size, apart;
    if (ac_late_distance(b, &first, &last, &apart) && apart > 0 && apart < most) /* x[i:i+1], for any i */
        most = apart;
    ac_tensor *all = ac_make_counted_extent(b, x, d), *from = place(b, begin, all), *to = place(b, end, all);
    ac_tensor *count = from && to ? ac_bounded_count(b, ac_make_2(b, AC_OP_SUB, to, from), most) : NULL;
    ac_tensor *y = count && size > 0 ? rows(b, x, d, from, most) : NULL;
    if (y)
        ac_note_cut(b, y, x, d, begin, end);
    return y ? ac_counted_as(y, count, d) : NULL;
}

/* Position `at` among `count` valid elements, clamped to 0 .. count; a negative one counts from `count`: i64 scalar. */
static ac_tensor *place_of(const ac_maker *b, ac_tensor *count, int64_t at)
{
    if (at >= 0)
        return ac_make_2(b, AC_OP_MINIMUM, count, number(b, (double)at));
    ac_tensor *least = number(b, 0);
    return ac_make_2(b, AC_OP_MAXIMUM, ac_make_2(b, AC_OP_ADD, count, number(b, (double)at)), least);
}

ac_tensor *ac_make_counted_slice(const ac_maker *b, ac_tensor *x, int64_t begin, int64_t end)
{
    const int32_t d = x->count_dim;
    const int64_t size = x->dim[d];
    ac_tensor *count = ac_make_counted_extent(b, x, d), *y;
    begin = begin < -size ? -size : begin > size ? size : begin;
    end = end < -size ? -size : end > size ? size : end;
    if (!begin && end == size)
        return x;
    /* both from one side: their distance; begin from the end, end from the start: the smaller of both; else all
     * between */
    int64_t most = (begin < 0) == (end < 0) ? end - begin
                   : begin < 0              ? (end < -begin ? end : -begin)
                                            : size + end - begin;
    most = most < 0 ? 0 : most;
    ac_tensor *from = place_of(b, count, begin), *to = place_of(b, count, end);
    ac_tensor *left = from && to ? ac_bounded_count(b, ac_make_2(b, AC_OP_SUB, to, from), most) : NULL;
    if (!left)
        return NULL;
    y = begin >= 0 || most == 0 ? ac_make_slice_there(b, x, d, begin < 0 ? 0 : begin, most) : rows(b, x, d, from, most);
    return y ? ac_counted_as(y, left, d) : NULL;
}

/* ------------------------------------------------------------------ numbers of lists */

ac_late_number ac_late_number_at(const ac_maker *b, ac_tensor *list, int64_t i)
{
    int64_t at = i, none;
    ac_tensor *t = ac_list_element(b, list, &at);
    const void *data = t && ac_tensor_is_const(t) ? ac_tensor_force(b->cx, t) : NULL;
    ac_late_number n = {.known = data != NULL};
    if (data) {
        n.value = ac_dtype_get_int(t->dtype, data, at);
        return n;
    }
    if (!t) {
        t = list;
        at = i;
    }
    none = ac_tensor_count(t);
    ac_tensor *flat = ac_make_reshape(b, t, 1, &none);
    n.t = flat ? ac_make_reshape(b, none == 1 ? flat : ac_make_slice(b, flat, 0, at, 1), 0, NULL) : NULL;
    return n;
}

ac_tensor *ac_late_tensor(const ac_maker *b, const ac_late_number *n)
{
    return n->known ? number(b, (double)n->value) : ac_make_cast(b, n->t, AC_I64);
}

/* t = *sign * base + *plus */
static ac_tensor *base_of(const ac_maker *b, ac_tensor *t, int *sign, int64_t *plus)
{
    enum { MOST_STEPS = 32 };
    *plus = 0;
    *sign = 1;
    for (int32_t step = 0; step < MOST_STEPS && t && t->def; step++) {
        int64_t at = 0;
        ac_tensor *e = ac_list_element(b, t, &at);
        const ac_node *n = e && !at ? e->def : NULL;
        if (e && !at)
            t = e;
        if (!n || (n->op != AC_OP_ADD && n->op != AC_OP_SUB) || !ac_dtype_is_int(e->dtype))
            break;
        const bool second = ac_tensor_is_const(n->in[1]);
        if (!second && !ac_tensor_is_const(n->in[0]))
            break;
        ac_tensor *k = n->in[second], *rest = n->in[!second];
        const void *data = ac_tensor_count(k) == 1 ? ac_tensor_force(b->cx, k) : NULL;
        if (!data || ac_tensor_count(rest) != 1)
            break;
        const int64_t v = ac_dtype_get_int(k->dtype, data, 0);
        if (v != (int32_t)v)
            break;
        *plus += n->op == AC_OP_SUB && second ? -*sign * v : *sign * v;
        *sign = n->op == AC_OP_SUB && !second ? -*sign : *sign; /* v - rest */
        t = rest;
    }
    return t;
}

bool ac_late_distance(const ac_maker *b, const ac_late_number *first, const ac_late_number *last, int64_t *d)
{
    int64_t from, to;
    int sign[2];
    if (first->known || last->known || !first->t || !last->t)
        return false;
    if (base_of(b, first->t, &sign[0], &from) != base_of(b, last->t, &sign[1], &to) || sign[0] != sign[1])
        return false;
    *d = to - from;
    return true;
}

bool ac_late_sum(const ac_maker *b, const ac_late_number *x, const ac_late_number *y, int64_t *sum)
{
    int64_t more[2];
    int sign[2];
    *sum = x->value + y->value;
    if (x->known && y->known)
        return true;
    if (x->known || y->known || !x->t || !y->t ||
        base_of(b, x->t, &sign[0], &more[0]) != base_of(b, y->t, &sign[1], &more[1]) || sign[0] == sign[1])
        return false;
    *sum = more[0] + more[1];
    return true;
}
