/* move_nodes.c - operators of PyTorch that give elements another shape or order: views, permutations,
 * copies. */
#include "import/pt2/nodes.h"

#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <string.h>

/* One size may be -1. */
static ac_tensor *shaped(ac_ep_node *n, ac_tensor *x, int32_t rank, const int64_t *size)
{
    int64_t dim[AC_MAX_RANK], known = 1, all = ac_tensor_count(x);
    int32_t rest = -1;
    if (rank > AC_MAX_RANK)
        return (void)ac_cannot(&n->b, "its result has %d dimensions", rank), NULL;
    for (int32_t d = 0; d < rank; d++) {
        dim[d] = size[d];
        if (size[d] == -1 && rest < 0)
            rest = d;
        else if (size[d] < 0 || !ac_mul_ok(known, size[d], &known))
            return (void)ac_bad(&n->b, "size %d is %" PRId64, d, size[d]), NULL;
    }
    if (rest >= 0)
        dim[rest] = known ? all / known : 0;
    if (rest >= 0 ? known && all % known : known != all)
        return (void)ac_bad(&n->b, "'%s' %s does not fill the new shape", x->name, ac_shape_str(n->r->cx, x)), NULL;
    return ac_make_reshape(&n->b, x, rank, dim);
}

int ac_ep_do_view(ac_ep_node *n)
{
    ac_ints size = ac_attr_ints(&n->attrs, A_size);
    if (!size.n)
        size = ac_attr_ints(&n->attrs, A_shape);
    return ac_ep_result(n, 0, shaped(n, n->in[0], size.n, size.v));
}

int ac_ep_do_view_as(ac_ep_node *n)
{
    return ac_ep_result(n, 0, shaped(n, n->in[0], n->in[1]->rank, n->in[1]->dim));
}

int ac_ep_do_flatten(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t from, to, rank = 0;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_ep_axis(n, A_start_dim, x->rank, &from));
    AC_TRY(ac_ep_axis(n, A_end_dim, x->rank, &to));
    if (!x->rank || to < from)
        return ac_ep_result(n, 0, shaped(n, x, 1, (int64_t[]){1}));
    for (int32_t d = 0; d < x->rank; d++) {
        if (d > from && d <= to)
            dim[rank - 1] *= x->dim[d];
        else
            dim[rank++] = x->dim[d];
    }
    return ac_ep_result(n, 0, shaped(n, x, rank, dim));
}

int ac_ep_do_unflatten(ac_ep_node *n)
{
    const ac_tensor *x = n->in[0];
    const ac_ints sizes = ac_attr_ints(&n->attrs, A_sizes);
    int64_t dim[2 * AC_MAX_RANK], known = 1;
    int32_t at, rank = 0;
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &at));
    if (!x->rank || x->rank + sizes.n > 2 * AC_MAX_RANK)
        return ac_bad(&n->b, "'%s' is a scalar", x->name);
    for (int32_t i = 0; i < sizes.n; i++)
        known *= sizes.v[i] > 0 ? sizes.v[i] : 1;
    for (int32_t d = 0; d < x->rank; d++)
        for (int32_t i = 0; i < (d == at ? sizes.n : 1); i++)
            dim[rank++] = d != at ? x->dim[d] : sizes.v[i] == -1 ? x->dim[d] / known : sizes.v[i];
    return ac_ep_result(n, 0, shaped(n, n->in[0], rank, dim));
}

int ac_ep_do_squeeze(ac_ep_node *n)
{
    const ac_tensor *x = n->in[0];
    uint32_t mask;
    int64_t dim[AC_MAX_RANK];
    int32_t rank = 0;
    const bool given = ac_attr_has(&n->attrs, A_dims);
    AC_TRY(ac_ep_axes(n, A_dims, x->rank, &mask));
    if (given && !ac_attr_ints(&n->attrs, A_dims).n)
        mask = 0;
    for (int32_t d = 0; d < x->rank; d++)
        if (!(mask >> d & 1) || x->dim[d] != 1)
            dim[rank++] = x->dim[d];
    return ac_ep_result(n, 0, shaped(n, n->in[0], rank, dim));
}

ac_tensor *ac_ep_insert(ac_ep_node *n, ac_tensor *x, int32_t axis)
{
    int64_t dim[AC_MAX_RANK + 1];
    if (!x || x->rank >= AC_MAX_RANK)
        return x ? ((void)ac_cannot(&n->b, "its result has more than 8 dimensions"), NULL) : NULL;
    for (int32_t d = 0; d <= x->rank; d++)
        dim[d] = d < axis ? x->dim[d] : d == axis ? 1 : x->dim[d - 1];
    return ac_make_reshape(&n->b, x, x->rank + 1, dim);
}

int ac_ep_do_unsqueeze(ac_ep_node *n)
{
    int32_t axis;
    AC_TRY(ac_ep_axis(n, A_need_dim, n->in[0]->rank + 1, &axis));
    return ac_ep_result(n, 0, ac_ep_insert(n, n->in[0], axis));
}

int ac_ep_do_atleast(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const int32_t want = strstr(n->row->name, "2d") ? 2 : 1;
    while (x && x->rank < want)
        x = ac_ep_insert(n, x, 0);
    return ac_ep_result(n, 0, x);
}

/* ------------------------------------------------------------------ permutations */

static int swap(ac_ep_node *n, int a, int b)
{
    const ac_tensor *x = n->in[0];
    int32_t i, k, perm[AC_MAX_RANK];
    AC_TRY(ac_ep_axis(n, a, x->rank, &i));
    AC_TRY(ac_ep_axis(n, b, x->rank, &k));
    for (int32_t d = 0; d < x->rank; d++)
        perm[d] = d == i ? k : d == k ? i : d;
    return ac_ep_result(n, 0, ac_make_transpose(&n->b, n->in[0], perm));
}

int ac_ep_do_transpose(ac_ep_node *n)
{
    return swap(n, A_dim0, A_dim1);
}

int ac_ep_do_swapaxes(ac_ep_node *n)
{
    return swap(n, A_axis0, A_axis1);
}

static int check_perm(ac_ep_node *n, const int32_t *perm, int32_t rank)
{
    uint32_t seen = 0;
    for (int32_t d = 0; d < rank; d++)
        seen |= 1u << perm[d];
    return seen == (1u << rank) - 1 ? AC_OK : ac_bad(&n->b, "it names a dimension twice");
}

int ac_ep_do_permute(ac_ep_node *n)
{
    const ac_tensor *x = n->in[0];
    const ac_ints dims = ac_attr_ints(&n->attrs, A_dim_list);
    int32_t perm[AC_MAX_RANK];
    if (dims.n != x->rank)
        return ac_bad(&n->b, "%d dimensions for '%s' %s", dims.n, x->name, ac_shape_str(n->r->cx, x));
    for (int32_t d = 0; d < x->rank; d++)
        AC_TRY(ac_operand_axis(&n->b, dims.v[d], x->rank, &perm[d]));
    AC_TRY(check_perm(n, perm, x->rank));
    return ac_ep_result(n, 0, ac_make_transpose(&n->b, n->in[0], perm));
}

int ac_ep_do_turned(ac_ep_node *n)
{
    const int32_t rank = n->in[0]->rank;
    int32_t perm[AC_MAX_RANK];
    for (int32_t d = 0; d < rank; d++)
        perm[d] = rank - 1 - d;
    return ac_ep_result(n, 0, ac_make_transpose(&n->b, n->in[0], perm));
}

int ac_ep_do_mt(ac_ep_node *n)
{
    return ac_ep_result(n, 0, ac_make_swapped(&n->b, n->in[0]));
}

static int axes_named(ac_ep_node *n, const char *name, int32_t *to, int32_t *count)
{
    const ac_ints v = ac_attr_list(&n->attrs, name);
    *count = v.n;
    for (int32_t i = 0; i < v.n; i++) {
        if (i >= AC_MAX_RANK)
            return ac_bad(&n->b, "it names more than 8 dimensions");
        AC_TRY(ac_operand_axis(&n->b, v.v[i], n->in[0]->rank, &to[i]));
    }
    return AC_OK;
}

int ac_ep_do_movedim(ac_ep_node *n)
{
    const int32_t rank = n->in[0]->rank;
    int32_t from[AC_MAX_RANK], to[AC_MAX_RANK], perm[AC_MAX_RANK], count, other, k = 0;
    uint32_t taken = 0;
    AC_TRY(axes_named(n, "source", from, &count));
    AC_TRY(axes_named(n, "destination", to, &other));
    if (count != other)
        return ac_bad(&n->b, "%d dimensions move to %d places", count, other);
    for (int32_t d = 0; d < rank; d++)
        perm[d] = -1;
    for (int32_t i = 0; i < count; i++) {
        perm[to[i]] = from[i];
        taken |= 1u << from[i];
    }
    for (int32_t d = 0; d < rank; d++) {
        if (perm[d] >= 0)
            continue;
        while (taken >> k & 1)
            k++;
        perm[d] = k++;
    }
    for (int32_t d = 0; d < rank; d++)
        if (perm[d] >= rank)
            return ac_bad(&n->b, "it names a dimension twice");
    AC_TRY(check_perm(n, perm, rank));
    return ac_ep_result(n, 0, ac_make_transpose(&n->b, n->in[0], perm));
}

/* ------------------------------------------------------------------ copies of elements */

/* -1 keeps a size. */
static ac_tensor *expanded(ac_ep_node *n, ac_tensor *x, int32_t rank, const int64_t *size)
{
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < rank; d++) {
        const int32_t own = d - (rank - x->rank);
        dim[d] = size[d] == -1 && own >= 0 ? x->dim[own] : size[d];
        if (dim[d] < 0)
            return (void)ac_bad(&n->b, "size %d is %" PRId64, d, dim[d]), NULL;
    }
    return ac_make_broadcast(&n->b, x, rank, dim);
}

int ac_ep_do_expand(ac_ep_node *n)
{
    const ac_ints size = ac_attr_ints(&n->attrs, A_size);
    if (size.n < n->in[0]->rank)
        return ac_bad(&n->b, "%d sizes for '%s' %s", size.n, n->in[0]->name, ac_shape_str(n->r->cx, n->in[0]));
    return ac_ep_result(n, 0, expanded(n, n->in[0], size.n, size.v));
}

int ac_ep_do_expand_as(ac_ep_node *n)
{
    return ac_ep_result(n, 0, ac_make_broadcast(&n->b, n->in[0], n->in[1]->rank, n->in[1]->dim));
}

int ac_ep_do_broadcast_tensors(ac_ep_node *n)
{
    int64_t dim[AC_MAX_RANK];
    int32_t rank = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        rank = n->in[i]->rank > rank ? n->in[i]->rank : rank;
    for (int32_t d = 0; d < rank; d++) {
        dim[d] = 1;
        for (int32_t i = 0; i < n->n_in; i++) {
            const int32_t own = d - (rank - n->in[i]->rank);
            dim[d] = own >= 0 && n->in[i]->dim[own] != 1 ? n->in[i]->dim[own] : dim[d];
        }
    }
    for (int32_t i = 0; i < n->n_in; i++)
        AC_TRY(ac_ep_result(n, i, ac_make_broadcast(&n->b, n->in[i], rank, dim)));
    return AC_OK;
}

int ac_ep_do_repeat(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    ac_ints times = ac_attr_ints(&n->attrs, A_repeats);
    int64_t all[AC_MAX_RANK];
    if (!times.n)
        times = ac_attr_ints(&n->attrs, A_dim_list); /* tile */
    while (x && x->rank < times.n)
        x = ac_ep_insert(n, x, 0);
    for (int32_t d = 0; x && d < x->rank; d++) {
        const int32_t own = d - (x->rank - times.n);
        all[d] = own < 0 ? 1 : times.v[own];
        if (all[d] < 0)
            return ac_bad(&n->b, "it repeats %" PRId64 " times", all[d]);
    }
    if (x && !x->rank)
        return ac_ep_result(n, 0, x);
    return x ? ac_ep_result(n, 0, ac_make_2(&n->b, AC_OP_TILE, x, ac_make_ints(&n->b, x->rank, all))) : AC_FAIL;
}

/* Dimension d of x, or all of x in a row, to be repeated element by element. */
static int open_repeat(ac_ep_node *n, ac_tensor **x, int32_t *d)
{
    const int64_t all = ac_tensor_count(n->in[0]);
    ac_attr_skip(&n->attrs, "output_size");
    *x = n->in[0];
    *d = 0;
    if (ac_attr_has(&n->attrs, A_need_dim))
        return ac_ep_axis(n, A_need_dim, n->in[0]->rank, d);
    *x = ac_make_reshape(&n->b, n->in[0], 1, &all);
    return *x ? AC_OK : AC_FAIL;
}

int ac_ep_do_repeat_each(ac_ep_node *n)
{
    ac_tensor *x;
    int32_t d;
    int64_t dim[AC_MAX_RANK], wide[AC_MAX_RANK];
    const int64_t times = ac_attr_int(&n->attrs, A_repeat_count);
    AC_TRY(open_repeat(n, &x, &d));
    ac_tensor *y = ac_ep_insert(n, x, d + 1);
    if (!y)
        return AC_FAIL;
    memcpy(wide, y->dim, sizeof wide);
    memcpy(dim, x->dim, sizeof dim);
    wide[d + 1] = times;
    if (!ac_mul_ok(dim[d], times, &dim[d]))
        return ac_bad(&n->b, "it repeats too often");
    return ac_ep_result(n, 0, ac_make_reshape(&n->b, ac_make_broadcast(&n->b, y, y->rank, wide), x->rank, dim));
}

/* A number for each element, constant. */
int ac_ep_do_repeat_list(ac_ep_node *n)
{
    ac_tensor *x;
    ac_ints times;
    int32_t d;
    int64_t all = 0, k = 0;
    AC_TRY(open_repeat(n, &x, &d));
    AC_TRY(ac_operand_values(&n->b, &n->in[1], &times));
    const int64_t size = x->rank ? x->dim[d] : 1;
    if (times.n != 1 && times.n != size)
        return ac_bad(&n->b, "%d numbers for %" PRId64 " elements", times.n, size);
    for (int64_t i = 0; i < size; i++) {
        const int64_t t = times.v[times.n == 1 ? 0 : i];
        if (t < 0 || t > INT32_MAX || (all += t) > INT32_MAX)
            return ac_bad(&n->b, "it repeats too often");
    }
    int64_t *from = AC_NEW_N(n->r->cx->region, int64_t, all + 1);
    for (int64_t i = 0; i < size; i++)
        for (int64_t t = times.v[times.n == 1 ? 0 : i]; t > 0; t--)
            from[k++] = i;
    return ac_ep_result(n, 0, ac_make_gather(&n->b, x, d, ac_make_ints(&n->b, all, from)));
}

/* ------------------------------------------------------------------ order along a dimension */

int ac_ep_do_flip(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    ac_ints dims = ac_attr_ints(&n->attrs, A_dim_list);
    const int64_t own = strstr(n->row->name, "fliplr") != NULL;
    int32_t d;
    if (!dims.n && !strstr(n->row->name, "flip.default"))
        dims = (ac_ints){1, &own};
    for (int32_t i = 0; i < dims.n; i++) {
        AC_TRY(ac_operand_axis(&n->b, dims.v[i], n->in[0]->rank, &d));
        x = ac_make_reverse(&n->b, x, d);
    }
    return ac_ep_result(n, 0, x);
}

static ac_tensor *rolled(ac_ep_node *n, ac_tensor *x, int32_t d, int64_t by)
{
    if (!x || !x->dim[d])
        return x;
    const int64_t size = x->dim[d], cut = ((by % size) + size) % size;
    if (!cut)
        return x;
    ac_tensor *part[] = {ac_make_slice(&n->b, x, d, size - cut, cut), ac_make_slice(&n->b, x, d, 0, size - cut)};
    return ac_make_concat(&n->b, part, 2, d);
}

int ac_ep_do_roll(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const ac_ints by = ac_attr_ints(&n->attrs, A_shifts), dims = ac_attr_ints(&n->attrs, A_dim_list);
    const int64_t all = ac_tensor_count(x);
    if (!dims.n && by.n == 1)
        return ac_ep_result(
            n, 0, ac_make_reshape(&n->b, rolled(n, ac_make_reshape(&n->b, x, 1, &all), 0, by.v[0]), x->rank, x->dim));
    if (by.n != dims.n)
        return ac_bad(&n->b, "%d shifts for %d dimensions", by.n, dims.n);
    for (int32_t i = 0; i < by.n; i++) {
        int32_t d;
        AC_TRY(ac_operand_axis(&n->b, dims.v[i], n->in[0]->rank, &d));
        x = rolled(n, x, d, by.v[i]);
    }
    return ac_ep_result(n, 0, x);
}

int ac_ep_do_rot90(ac_ep_node *n)
{
    static const int64_t FIRST[] = {0, 1};
    ac_tensor *x = n->in[0];
    ac_ints dims = ac_attr_ints(&n->attrs, A_dim_list);
    const int64_t k = ac_attr_int(&n->attrs, A_turns) & 3;
    int32_t a, c, perm[AC_MAX_RANK];
    dims = dims.n ? dims : (ac_ints){2, FIRST};
    if (dims.n != 2)
        return ac_bad(&n->b, "it turns %d dimensions", dims.n);
    AC_TRY(ac_operand_axis(&n->b, dims.v[0], x->rank, &a));
    AC_TRY(ac_operand_axis(&n->b, dims.v[1], x->rank, &c));
    for (int32_t d = 0; d < x->rank; d++)
        perm[d] = d == a ? c : d == c ? a : d;
    if (k == 1 || k == 2)
        x = ac_make_reverse(&n->b, x, c);
    if (k == 2 || k == 3)
        x = ac_make_reverse(&n->b, x, a);
    return ac_ep_result(n, 0, k & 1 ? ac_make_transpose(&n->b, x, perm) : x);
}
