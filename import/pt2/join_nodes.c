/* join_nodes.c - operators of PyTorch that make one tensor of several, and several of one: joins, splits, slices. */
#include "import/pt2/nodes.h"

#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <string.h>

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
        if (!(x[i] = ac_ep_insert(n, n->in[i], axis)))
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
            x[i] = ac_ep_insert(n, x[i], front ? 0 : x[i]->rank);
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
        if (n->in[i]->rank < 2 && !(n->in[i] = ac_ep_insert(n, n->in[i], 0)))
            return AC_FAIL;
    return join_as(n, 3, 2, false);
}

int ac_ep_do_block_diag(ac_ep_node *n)
{
    ac_tensor **row = AC_NEW_N(n->r->cx->region, ac_tensor *, n->n_in + 1);
    int64_t columns = 0, at = 0;
    for (int32_t i = 0; i < n->n_in; i++) {
        while (n->in[i] && n->in[i]->rank < 2)
            n->in[i] = ac_ep_insert(n, n->in[i], 0);
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

static ac_tensor *without(ac_ep_node *n, ac_tensor *x, int32_t axis)
{
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; x && d < x->rank - 1; d++)
        dim[d] = x->dim[d + (d >= axis)];
    return x ? ac_make_reshape(&n->b, x, x->rank - 1, dim) : NULL;
}

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
