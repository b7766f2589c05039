/* compose_pads.c - composes Pad and Tile with data-dependent amounts or dynamically sized operands; see compose_pads.h.
 * A PAD or TILE node handles the dimensions with constant amounts and sizes; then a gather with computed indices
 * handles the remaining one. */
#include "import/build/compose_pads.h"
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/operands.h"

#include <string.h>

enum { MOST_COPIES = 64 };

static ac_tensor *number(const ac_maker *b, int64_t v)
{
    return ac_make_number(b, AC_I64, (double)v);
}

/* ------------------------------------------------------------------ Pad */

/* flags, a list, reshaped so that they extend along dimension d of t. */
static ac_tensor *along(const ac_maker *b, ac_tensor *flags, const ac_tensor *t, int32_t d)
{
    int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    dim[d] = t->dim[d];
    return ac_make_reshape(b, flags, t->rank, dim);
}

/* The maximum size of the padded dimension d, and its count; NULL: all elements are valid. */
static int padded_size(const ac_maker *b, const ac_tensor *x, int32_t d, const ac_late_number *before,
                       const ac_late_number *after, ac_tensor *late, const char *result, int64_t *size,
                       ac_tensor **count)
{
    const int64_t said = ac_bound_of(b, result);
    int64_t both;
    ac_tensor *n = ac_make_counted_extent(b, x, d);
    *count = NULL;
    if (ac_late_sum(b, before, after, &both)) {
        *size = x->dim[d] + both;
        if (x->count && x->count_dim == d)
            *count = ac_make_2(b, AC_OP_ADD, n, number(b, both));
        return *size >= 0 && (!x->count || x->count_dim != d || *count) ? AC_OK : AC_FAIL;
    }
    const ac_late_number here = {.t = n};
    if (x->count && x->count_dim == d && /* padded to a constant length */
        ((before->known && ac_late_sum(b, after, &here, &both)) ||
         (after->known && ac_late_sum(b, before, &here, &both)))) {
        *size = both + before->value + after->value;
        return *size > 0 ? AC_OK : AC_FAIL;
    }
    ac_tensor *first = ac_late_tensor(b, before), *last = ac_late_tensor(b, after);
    if (!first || !last)
        return AC_FAIL;
    const int64_t most[] = {ac_most_of(b, first, 0), ac_most_of(b, last, 0)};
    *size = most[0] < 0 || most[1] < 0 ? -1 : x->dim[d] + most[0] + most[1];
    *size = said >= 0 && (*size < 0 || said < *size) ? said : *size;
    if (*size < 0)
        return ac_bound_missing(b, late, result);
    *count = ac_bounded_count(b, ac_make_2(b, AC_OP_ADD, first, ac_make_2(b, AC_OP_ADD, n, last)), *size);
    return *count ? AC_OK : AC_FAIL;
}

static int pad_late(const ac_maker *b, ac_tensor *x, int32_t d, const ac_late_number *before,
                    const ac_late_number *after, ac_tensor *value, ac_tensor *late, const char *result, ac_tensor **y)
{
    int64_t size;
    ac_tensor *count;
    if (!before->known || !after->known)
        if (!b->reading->again || (x->count && x->count_dim != d))
            return ac_operand_late(b, late);
    if (x->quant)
        return ac_cannot(b, "only data decides how long its result is, and '%s' is quantised", x->name);
    AC_TRY(padded_size(b, x, d, before, after, late, result, &size, &count));
    ac_tensor *n = ac_make_counted_extent(b, x, d), *zero = number(b, 0), *last = number(b, x->dim[d] - 1);
    ac_tensor *first = ac_late_tensor(b, before);
    ac_tensor *at = ac_make_2(b, AC_OP_SUB, ac_make_iota(b, size), first);
    ac_tensor *begun = ac_make_2(b, AC_OP_GREATER_EQUAL, at, zero);
    ac_tensor *inside = ac_make_2(b, AC_OP_LOGICAL_AND, begun, ac_make_2(b, AC_OP_LESS, at, n));
    ac_tensor *from = ac_make_2(b, AC_OP_MINIMUM, ac_make_2(b, AC_OP_MAXIMUM, at, zero), last);
    value = value ? ac_make_reshape(b, value, 0, NULL) : ac_make_number(b, x->dtype, 0);
    ac_tensor *t = inside && x->dim[d] > 0 ? ac_make_gather_there(b, x, d, from) : NULL;
    *y = t ? ac_make_select(b, along(b, inside, t, d), t, value) : NULL;
    if (*y && count)
        (void)ac_counted_as(*y, count, d);
    return *y ? AC_OK : AC_FAIL;
}

int ac_make_pad_of(const ac_maker *b, ac_tensor *x, const ac_late_number *before, const ac_late_number *after,
                   ac_tensor *value, ac_tensor *late, const char *result, ac_tensor **out)
{
    int64_t first[AC_MAX_RANK] = {0}, last[AC_MAX_RANK] = {0};
    ac_tensor *y = x;
    (void)ac_bound_of(b, result);
    for (int32_t d = 0; d < x->rank; d++) {
        const bool own = !before[d].known || !after[d].known || (x->count && x->count_dim == d);
        first[d] = own ? 0 : before[d].value;
        last[d] = own ? 0 : after[d].value;
    }
    if (value && value->dtype != x->dtype)
        return ac_error(b->cx, b->at, E0105, "'%s' is %s, but '%s' is %s", value->name, ac_dtype_name(value->dtype),
                        x->name, ac_dtype_name(x->dtype));
    y = ac_make_pad(b, x, first, last, value);
    for (int32_t d = 0; d < x->rank && y; d++) {
        const bool known = before[d].known && after[d].known;
        if (!known || (x->count && x->count_dim == d && (before[d].value || after[d].value)))
            AC_TRY(pad_late(b, y, d, &before[d], &after[d], value, late, result, &y));
    }
    *out = y;
    return y ? AC_OK : AC_FAIL;
}

int ac_make_pad_pairs(const ac_maker *b, ac_tensor *x, ac_tensor *pairs, ac_tensor *value, const char *result,
                      ac_tensor **y)
{
    ac_late_number before[AC_MAX_RANK], after[AC_MAX_RANK];
    if (!ac_dtype_is_int(pairs->dtype) || ac_tensor_count(pairs) != 2 * x->rank)
        return ac_error(b->cx, b->at, E0104, "'%s' is %s, expected pads for %d dimensions", pairs->name,
                        ac_tensor_str(b->cx, pairs), x->rank);
    for (int32_t d = 0; d < x->rank; d++) {
        before[d] = ac_late_number_at(b, pairs, 2 * d);
        after[d] = ac_late_number_at(b, pairs, 2 * d + 1);
        if ((!before[d].known && !before[d].t) || (!after[d].known && !after[d].t))
            return AC_FAIL;
    }
    return ac_make_pad_of(b, x, before, after, value, pairs, result, y);
}

/* x extended along dimension d by pads above its size: a slice of several copies. */
static ac_tensor *wrapped(const ac_maker *b, ac_tensor *x, int32_t d, int64_t before, int64_t after)
{
    const int64_t size = x->dim[d];
    int64_t times[AC_MAX_RANK], total;
    if (size == 0)
        return (void)ac_error(b->cx, b->at, E0104, "dimension %d of '%s' has no elements to repeat", d, x->name), NULL;
    const int64_t first = (size - before % size) % size, all = before + size + after;
    for (int32_t i = 0; i < x->rank; i++)
        times[i] = i == d ? (first + all + size - 1) / size : 1;
    if (!ac_mul_ok(ac_tensor_count(x), times[d], &total) || total > INT32_MAX)
        return (void)ac_error(b->cx, b->at, E0015, "the result of wrapping round '%s' is too large", x->name), NULL;
    ac_tensor *in[] = {x, ac_make_cast(b, ac_make_ints(b, x->rank, times), AC_I32)};
    return ac_make_slice(b, ac_make_op(b, AC_OP_TILE, in, 2, NULL, AC_NONE), d, first, all);
}

ac_tensor *ac_make_extend(const ac_maker *b, ac_tensor *x, int32_t d, int64_t before, int64_t after, bool wrap)
{
    ac_tensor *part[3];
    int32_t count = 0;
    int64_t dim[AC_MAX_RANK];
    if (!x)
        return NULL;
    const int64_t size = x->dim[d];
    memcpy(dim, x->dim, sizeof dim);
    if (wrap && (before > size || after > size))
        return wrapped(b, x, d, before, after);
    if (before) {
        dim[d] = before;
        part[count++] = wrap ? ac_make_slice(b, x, d, size - before, before)
                             : ac_make_broadcast(b, ac_make_slice(b, x, d, 0, 1), x->rank, dim);
    }
    part[count++] = x;
    if (after) {
        dim[d] = after;
        part[count++] = wrap ? ac_make_slice(b, x, d, 0, after)
                             : ac_make_broadcast(b, ac_make_slice(b, x, d, size - 1, 1), x->rank, dim);
    }
    return count == 1 ? x : ac_make_concat(b, part, count, d);
}

/* ------------------------------------------------------------------ Tile */

static int tile_late(const ac_maker *b, ac_tensor *x, int32_t d, const ac_late_number *times, ac_tensor *list,
                     const char *result, ac_tensor **y)
{
    const int64_t said = ac_bound_of(b, result);
    ac_tensor *copies = ac_late_tensor(b, times), *n = ac_make_counted_extent(b, x, d);
    if (!copies || !n || x->dim[d] < 1)
        return AC_FAIL;
    if ((x->count && x->count_dim != d) || (!times->known && !b->reading->again))
        return ac_operand_late(b, list);
    int64_t most = ac_most_of(b, copies, 0);
    most = most < 0 ? -1 : most * x->dim[d];
    most = said >= 0 && (most < 0 || said < most) ? said : most;
    if (most < 0)
        return ac_bound_missing(b, list, result);
    ac_tensor *count = ac_bounded_count(b, ac_make_2(b, AC_OP_MUL, copies, n), most);
    n = ac_make_2(b, AC_OP_MAXIMUM, n, number(b, 1));
    ac_tensor *t = ac_make_gather_there(b, x, d, ac_make_2(b, AC_OP_FLOOR_MOD, ac_make_iota(b, most), n));
    *y = count && t ? ac_bounded(b, t, count, d) : NULL;
    return *y ? AC_OK : AC_FAIL;
}

int ac_make_tile_of(const ac_maker *b, ac_tensor *x, ac_tensor **times, const char *result, ac_tensor **out)
{
    ac_late_number of[AC_MAX_RANK];
    int64_t plain[AC_MAX_RANK];
    bool any = false;
    (void)ac_bound_of(b, result);
    if (!ac_dtype_is_int((*times)->dtype) || (*times)->rank != 1 || ac_tensor_count(*times) != x->rank)
        return ac_error(b->cx, b->at, E0104, "'%s' is %s, expected one value for each of %d dimensions", (*times)->name,
                        ac_tensor_str(b->cx, *times), x->rank);
    if (!ac_is_count(b, *times))
        (void)ac_operand_known(b, times);
    for (int32_t d = 0; d < x->rank; d++) {
        of[d] = ac_late_number_at(b, *times, d);
        if (!of[d].known && !of[d].t)
            return AC_FAIL;
        plain[d] = of[d].known && (!x->count || x->count_dim != d) ? of[d].value : 1;
        any |= plain[d] != 1;
    }
    ac_tensor *y = x, *in[] = {x, ac_make_ints(b, x->rank, plain)};
    if (any || (ac_tensor_is_const(*times) && !x->count && x->rank))
        y = ac_make_op(b, AC_OP_TILE, in, 2, NULL, AC_NONE);
    for (int32_t d = 0; d < x->rank && y; d++)
        if (!of[d].known || (x->count && x->count_dim == d && of[d].value != 1))
            AC_TRY(tile_late(b, y, d, &of[d], *times, result, &y));
    *out = y;
    return y ? AC_OK : AC_FAIL;
}
