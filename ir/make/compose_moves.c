/* compose_moves.c - composes moves of elements from canonical operators. */
#include "ir/make/compose_moves.h"

#include <string.h>

ac_tensor *ac_make_reshape_like(const ac_maker *b, ac_tensor *x, const ac_tensor *like)
{
    return ac_make_reshape(b, x, like->rank, like->dim);
}

ac_tensor *ac_make_swapped(const ac_maker *b, ac_tensor *x)
{
    int32_t perm[AC_MAX_RANK];
    ac_perm_swapped(x ? x->rank : 0, perm);
    return ac_make_transpose(b, x, perm);
}

ac_tensor *ac_make_part(const ac_maker *b, ac_tensor *x, int32_t axis, int64_t begin, int64_t size)
{
    return !x || (begin == 0 && size == x->dim[axis]) ? x : ac_make_slice(b, x, axis, begin, size);
}

ac_tensor *ac_make_gather(const ac_maker *b, ac_tensor *x, int32_t axis, ac_tensor *at)
{
    ac_attrs a;
    ac_tensor *in[] = {x, at};
    ac_attrs_init(AC_OP_GATHER, &a);
    a.gather.axis = axis;
    return x && at ? ac_make_op(b, AC_OP_GATHER, in, 2, &a, AC_NONE) : NULL;
}

ac_tensor *ac_make_pad_or_crop(const ac_maker *b, ac_tensor *x, const int64_t *before, const int64_t *after)
{
    int64_t front[AC_MAX_RANK], end[AC_MAX_RANK];
    for (int32_t d = 0; x && d < x->rank; d++) {
        front[d] = before[d] > 0 ? before[d] : 0;
        end[d] = after[d] > 0 ? after[d] : 0;
        const int64_t from = front[d] - before[d], until = x->dim[d] - (end[d] - after[d]);
        x = ac_make_part(b, x, d, from, until - from);
    }
    return ac_make_pad(b, x, front, end, NULL);
}

ac_tensor *ac_make_reverse(const ac_maker *b, ac_tensor *x, int32_t axis)
{
    const int64_t at = axis;
    return !x || x->dim[axis] < 2 ? x : ac_make_2(b, AC_OP_REVERSE_V2, x, ac_make_ints(b, 1, &at));
}

ac_tensor *ac_make_spread(const ac_maker *b, ac_tensor *x, int32_t axis, int64_t step)
{
    if (!x || step == 1 || x->dim[axis] < 2)
        return x;
    /* [outer, n, inner] -> [outer, n, step * inner] padded with zeros -> [outer, n * step, inner] without the last */
    int64_t dim[AC_MAX_RANK];
    memcpy(dim, x->dim, sizeof dim);
    const int32_t rank = x->rank;
    const int64_t n = x->dim[axis], outer = ac_dim_product(dim, 0, axis), inner = ac_dim_product(dim, axis + 1, rank);
    const int64_t none[2] = {0, 0}, zeros[2] = {0, (step - 1) * inner};
    ac_tensor *t = ac_make_reshape(b, x, 2, (int64_t[]){outer * n, inner});
    t = ac_make_pad(b, t, none, zeros, NULL);
    dim[axis] = n * step;
    return ac_make_part(b, ac_make_reshape(b, t, rank, dim), axis, 0, (n - 1) * step + 1);
}

/* The numbers first, first + 1, .. along dimension `axis` of a matrix. */
static ac_tensor *count_along(const ac_maker *b, int32_t axis, int64_t count, int64_t first)
{
    const int64_t dim[2] = {axis ? 1 : count, axis ? count : 1};
    return ac_make_reshape(b, ac_make_steps(b->g, b->name, count, first, 1), 2, dim);
}

ac_tensor *ac_make_band(const ac_maker *b, int64_t rows, int64_t cols, int64_t from, int64_t to)
{
    from = from < -rows ? -rows : from > cols ? cols : from;
    to = to < -rows ? -rows : to > cols ? cols : to;
    ac_tensor *col = count_along(b, 1, cols, 0);
    if (from == to)
        return ac_make_2(b, AC_OP_EQUAL, col, count_along(b, 0, rows, from));
    ac_tensor *above = from > -rows ? ac_make_2(b, AC_OP_GREATER_EQUAL, col, count_along(b, 0, rows, from)) : NULL;
    if (above && to >= cols)
        return above;
    ac_tensor *below = ac_make_2(b, AC_OP_LESS_EQUAL, col, count_along(b, 0, rows, to));
    return from > -rows ? ac_make_2(b, AC_OP_LOGICAL_AND, above, below) : below;
}
