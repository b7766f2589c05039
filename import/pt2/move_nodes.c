/* move_nodes.c - operators of PyTorch that give elements another shape or order: views, permutations, slices, joins. */
#include "import/pt2/nodes.h"

#include "import/build/counted.h"
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

static ac_tensor *insert(ac_ep_node *n, ac_tensor *x, int32_t axis)
{
    int64_t dim[AC_MAX_RANK + 1];
    if (!x || x->rank >= AC_MAX_RANK)
        return x ? ((void)ac_cannot(&n->b, "its result has more than 8 dimensions"), NULL) : NULL;
    for (int32_t d = 0; d <= x->rank; d++)
        dim[d] = d < axis ? x->dim[d] : d == axis ? 1 : x->dim[d - 1];
    return ac_make_reshape(&n->b, x, x->rank + 1, dim);
}

static ac_tensor *without(ac_ep_node *n, ac_tensor *x, int32_t axis)
{
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; x && d < x->rank - 1; d++)
        dim[d] = x->dim[d + (d >= axis)];
    return x ? ac_make_reshape(&n->b, x, x->rank - 1, dim) : NULL;
}

int ac_ep_do_unsqueeze(ac_ep_node *n)
{
    int32_t axis;
    AC_TRY(ac_ep_axis(n, A_need_dim, n->in[0]->rank + 1, &axis));
    return ac_ep_result(n, 0, insert(n, n->in[0], axis));
}

int ac_ep_do_atleast(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const int32_t want = strstr(n->row->name, "2d") ? 2 : 1;
    while (x && x->rank < want)
        x = insert(n, x, 0);
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
        x = insert(n, x, 0);
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
    ac_tensor *y = insert(n, x, d + 1);
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

/* ------------------------------------------------------------------ joins */

/* More than 64 parts are joined by groups. */
static ac_tensor *joined(ac_ep_node *n, ac_tensor **x, int32_t count, int32_t axis)
{
    enum { AT_ONCE = 64 };
    while (count > AT_ONCE) {
        int32_t k = 0;
        for (int32_t i = 0; i < count; i += AT_ONCE) {
            const int32_t m = count - i < AT_ONCE ? count - i : AT_ONCE;
            x[k] = m == 1 ? x[i] : ac_make_concat(&n->b, x + i, m, axis);
            if (!x[k++])
                return NULL;
        }
        count = k;
    }
    return count == 1 ? x[0] : ac_make_concat(&n->b, x, count, axis);
}

/* Empty tensors of one dimension are left out, as PyTorch does. */
int ac_ep_do_cat(ac_ep_node *n)
{
    ac_tensor **x = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_in + 1);
    int32_t axis, k = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i]->rank != 1 || n->in[i]->dim[0] || n->n_in == 1)
            x[k++] = n->in[i];
    if (!k)
        x[k++] = n->in[0];
    AC_TRY(ac_ep_axis(n, A_dim, x[0]->rank, &axis));
    return ac_ep_result(n, 0, joined(n, x, k, axis));
}

/* Each with a new dimension at `axis`, joined along it. */
static ac_tensor *stacked(ac_ep_node *n, int32_t axis)
{
    ac_tensor **x = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_in + 1);
    for (int32_t i = 0; i < n->n_in; i++)
        if (!(x[i] = insert(n, n->in[i], axis)))
            return NULL;
    return joined(n, x, n->n_in, axis);
}

int ac_ep_do_stack(ac_ep_node *n)
{
    int32_t axis;
    if (!n->n_in)
        return ac_bad(&n->b, "it stacks nothing");
    AC_TRY(ac_ep_axis(n, A_dim, n->in[0]->rank + 1, &axis));
    return ac_ep_result(n, 0, stacked(n, axis));
}

/* Tensors of fewer dimensions get some in front, or at the end; then they are joined along `axis`. */
static int join_as(ac_ep_node *n, int32_t least, int32_t axis, bool front)
{
    ac_tensor **x = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_in + 1);
    if (!n->n_in)
        return ac_bad(&n->b, "it joins nothing");
    for (int32_t i = 0; i < n->n_in; i++) {
        x[i] = n->in[i];
        while (x[i] && x[i]->rank < least)
            x[i] = insert(n, x[i], front ? 0 : x[i]->rank);
        if (!x[i])
            return AC_FAIL;
    }
    return ac_ep_result(n, 0, joined(n, x, n->n_in, axis));
}

int ac_ep_do_hstack(ac_ep_node *n)
{
    return join_as(n, 1, n->n_in && n->in[0]->rank > 1, true);
}

int ac_ep_do_vstack(ac_ep_node *n)
{
    return join_as(n, 2, 0, true);
}

int ac_ep_do_column_stack(ac_ep_node *n)
{
    return join_as(n, 2, 1, false);
}

int ac_ep_do_dstack(ac_ep_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i]->rank < 2 && !(n->in[i] = insert(n, n->in[i], 0)))
            return AC_FAIL;
    return join_as(n, 3, 2, false);
}

int ac_ep_do_block_diag(ac_ep_node *n)
{
    ac_tensor **row = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_in + 1);
    int64_t columns = 0, at = 0;
    for (int32_t i = 0; i < n->n_in; i++) {
        while (n->in[i] && n->in[i]->rank < 2)
            n->in[i] = insert(n, n->in[i], 0);
        if (!n->in[i] || n->in[i]->rank != 2)
            return ac_bad(&n->b, "operand %d is not a matrix", i);
        columns += n->in[i]->dim[1];
    }
    for (int32_t i = 0; i < n->n_in; at += n->in[i++]->dim[1]) {
        const int64_t before[AC_MAX_RANK] = {0, at}, after[AC_MAX_RANK] = {0, columns - at - n->in[i]->dim[1]};
        row[i] = ac_make_pad(&n->b, n->in[i], before, after, NUM(n->in[i], 0));
    }
    return n->n_in ? ac_ep_result(n, 0, joined(n, row, n->n_in, 0)) : ac_bad(&n->b, "it joins nothing");
}

int ac_ep_do_meshgrid(ac_ep_node *n)
{
    const bool xy = n->n_in > 1 && !strcmp(ac_attr_text(&n->attrs, A_indexing), "xy");
    int64_t size[AC_MAX_RANK] = {0};
    if (n->n_in > AC_MAX_RANK)
        return ac_cannot(&n->b, "its results have %d dimensions", n->n_in);
    for (int32_t i = 0; i < n->n_in; i++)
        size[xy && i < 2 ? 1 - i : i] = ac_tensor_count(n->in[i]);
    for (int32_t i = 0; i < n->n_in; i++) {
        ac_tensor *x = ac_make_along(&n->b, n->in[i], n->n_in, xy && i < 2 ? 1 - i : i);
        AC_TRY(ac_ep_result(n, i, ac_make_broadcast(&n->b, x, n->n_in, size)));
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ parts */

/* Parts of these sizes along d. */
static int parts(ac_ep_node *n, int32_t d, const int64_t *size, int32_t count)
{
    ac_tensor *x = n->in[0];
    int64_t at = 0;
    for (int32_t i = 0; i < count; at += size[i++]) {
        if (size[i] < 0 || at + size[i] > x->dim[d])
            return ac_bad(&n->b, "part %d has %" PRId64 " elements of '%s' %s", i, size[i], x->name,
                          ac_shape_str(n->r->cx, x));
        AC_TRY(ac_ep_result(n, i, ac_make_part(&n->b, x, d, at, size[i])));
    }
    return AC_OK;
}

/* Parts of `size` elements, the last one with the rest. */
static int even_parts(ac_ep_node *n, int32_t d, int64_t size)
{
    const int64_t all = n->in[0]->rank ? n->in[0]->dim[d] : 0;
    const int64_t count = size > 0 ? (all + size - 1) / size : 1;
    if (!n->in[0]->rank || (size < 1 && all) || count > AC_EP_MOST)
        return ac_bad(&n->b, "parts of %" PRId64 " elements", size);
    int64_t *each = AC_NEW_N(n->r->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        each[i] = all - i * size < size ? all - i * size : size;
    return parts(n, d, each, (int32_t)count);
}

int ac_ep_do_split(ac_ep_node *n)
{
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_dim, n->in[0]->rank, &d));
    return even_parts(n, d, ac_attr_int(&n->attrs, A_split_size));
}

int ac_ep_do_split_sizes(ac_ep_node *n)
{
    int32_t d;
    ac_ints sizes = ac_attr_ints(&n->attrs, A_split_sizes);
    if (!sizes.n)
        sizes = ac_attr_list(&n->attrs, "split_size");
    AC_TRY(ac_ep_axis(n, A_dim, n->in[0]->rank, &d));
    return n->in[0]->rank ? parts(n, d, sizes.v, sizes.n) : ac_bad(&n->b, "it splits a scalar");
}

int ac_ep_do_chunk(ac_ep_node *n)
{
    int32_t d;
    const int64_t chunks = ac_attr_int(&n->attrs, A_chunks);
    AC_TRY(ac_ep_axis(n, A_dim, n->in[0]->rank, &d));
    const int64_t all = n->in[0]->rank ? n->in[0]->dim[d] : 0;
    return even_parts(n, d, (all + chunks - 1) / chunks);
}

int ac_ep_do_tensor_split(ac_ep_node *n)
{
    int32_t d;
    const ac_ints sections = ac_attr_list(&n->attrs, "sections");
    const int64_t count = sections.n == 1 ? sections.v[0] : 0;
    AC_TRY(ac_ep_axis(n, A_dim, n->in[0]->rank, &d));
    if (count < 1 || count > AC_EP_MOST || !n->in[0]->rank)
        return ac_bad(&n->b, "%" PRId64 " sections", count);
    int64_t *each = AC_NEW_N(n->r->cx->region, int64_t, count);
    for (int64_t i = 0; i < count; i++)
        each[i] = n->in[0]->dim[d] / count + (i < n->in[0]->dim[d] % count);
    return parts(n, d, each, (int32_t)count);
}

int ac_ep_do_tensor_split_at(ac_ep_node *n)
{
    int32_t d;
    const ac_ints at = ac_attr_list(&n->attrs, "indices");
    int64_t from = 0, *each = AC_NEW_N(n->r->cx->region, int64_t, at.n + 1);
    AC_TRY(ac_ep_axis(n, A_dim, n->in[0]->rank, &d));
    const int64_t all = n->in[0]->rank ? n->in[0]->dim[d] : 0;
    for (int32_t i = 0; i <= at.n; i++) {
        int64_t to = i < at.n ? at.v[i] : all;
        to = to < 0 ? to + all : to;
        to = to > all ? all : to < from ? from : to;
        each[i] = to - from;
        from = to;
    }
    return all ? parts(n, d, each, at.n + 1) : ac_bad(&n->b, "it splits a scalar");
}

int ac_ep_do_unbind(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_dim, x->rank, &d));
    if (!x->rank || x->dim[d] > AC_EP_MOST)
        return ac_bad(&n->b, "it takes '%s' %s apart", x->name, ac_shape_str(n->r->cx, x));
    for (int32_t i = 0; i < x->dim[d]; i++)
        AC_TRY(ac_ep_result(n, i, without(n, ac_make_part(&n->b, x, d, i, 1), d)));
    return AC_OK;
}

/* Elements begin, begin + step .. before end, along d. */
static ac_tensor *range(ac_ep_node *n, ac_tensor *x, int32_t d, int64_t begin, int64_t end, int64_t step)
{
    ac_attrs a;
    int64_t from[AC_MAX_RANK] = {0}, to[AC_MAX_RANK], by[AC_MAX_RANK];
    if (step == 1)
        return ac_make_part(&n->b, x, d, begin, end - begin);
    for (int32_t k = 0; k < x->rank; k++) {
        to[k] = x->dim[k];
        by[k] = 1;
    }
    from[d] = begin;
    to[d] = end;
    by[d] = step;
    ac_attrs_init(AC_OP_STRIDED_SLICE, &a);
    a.strided.begin = ac_make_list(&n->b, x->rank, from);
    a.strided.end = ac_make_list(&n->b, x->rank, to);
    a.strided.strides = ac_make_list(&n->b, x->rank, by);
    return ac_make_op(&n->b, AC_OP_STRIDED_SLICE, &x, 1, &a, AC_NONE);
}

int ac_ep_do_slice(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_dim, x->rank, &d));
    const int64_t size = x->rank ? x->dim[d] : 0, step = ac_attr_int(&n->attrs, A_step);
    const int64_t from = ac_ep_inside(ac_attr_int(&n->attrs, A_start), size),
                  to = ac_ep_inside(ac_attr_int_or(&n->attrs, A_end, INT64_MAX), size);
    if (!x->rank || step < 1 || step > INT32_MAX)
        return ac_bad(&n->b, "step %" PRId64 " through '%s' %s", step, x->name, ac_shape_str(n->r->cx, x));
    return ac_ep_result(n, 0, range(n, x, d, from, to < from ? from : to, step));
}

int ac_ep_do_narrow(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    const int64_t size = x->rank ? x->dim[d] : 0, length = ac_attr_int(&n->attrs, A_length);
    const int64_t from = ac_ep_inside(ac_attr_int(&n->attrs, A_start), size);
    if (!x->rank || length > size - from)
        return ac_bad(&n->b, "%" PRId64 " elements from %" PRId64 " of '%s' %s", length, from, x->name,
                      ac_shape_str(n->r->cx, x));
    return ac_ep_result(n, 0, ac_make_part(&n->b, x, d, from, length));
}

int ac_ep_do_select(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t d;
    AC_TRY(ac_ep_axis(n, A_need_dim, x->rank, &d));
    int64_t at = ac_attr_int(&n->attrs, A_index);
    at += at < 0 && x->rank ? x->dim[d] : 0;
    if (!x->rank || at < 0 || at >= x->dim[d])
        return ac_bad(&n->b, "element %" PRId64 " of '%s' %s", at, x->name, ac_shape_str(n->r->cx, x));
    return ac_ep_result(n, 0, without(n, ac_make_part(&n->b, x, d, at, 1), d));
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
