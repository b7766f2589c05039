/* axis.c - decodes and checks axes, permutations and paddings of a node. */
#include "ir/ops/decode/axis.h"

int ac_axis_norm(ac_ctx *cx, const ac_node *n, int64_t axis, int32_t rank, int32_t *out)
{
    if (axis < -(int64_t)rank || axis >= rank) {
        if (rank == 0)
            return ac_error(cx, n->at, E0103, "axis %lld of a scalar: it has no dimensions", (long long)axis);
        return ac_error(cx, n->at, E0103, "axis %lld is out of range, expected %d to %d (%d dimensions)",
                        (long long)axis, -rank, rank - 1, rank);
    }
    *out = (int32_t)(axis < 0 ? axis + rank : axis);
    return AC_OK;
}

int ac_axes_of(ac_ctx *cx, const ac_node *n, int32_t i, ac_ints attr, int32_t rank, bool twice_ok, uint32_t *mask)
{
    ac_ints axes;
    AC_TRY(ac_node_ints(cx, n, i, attr, &axes));
    *mask = 0;
    for (int32_t k = 0; k < axes.n; k++) {
        int32_t d = 0;
        AC_TRY(ac_axis_norm(cx, n, axes.v[k], rank, &d));
        if (*mask & 1u << d && !twice_ok)
            return ac_error(cx, n->at, E0103, "axis %lld is named twice", (long long)axes.v[k]);
        *mask |= 1u << d;
    }
    return AC_OK;
}

int ac_reduce_axes(ac_ctx *cx, const ac_node *n, uint32_t *mask)
{
    const ac_ints attr = n->attrs.reduce.axes;
    const int32_t rank = n->in[0]->rank;
    if (attr.n == 0 && (n->n_in < 2 || !n->in[1])) {
        *mask = (1u << rank) - 1;
        return AC_OK;
    }
    return ac_axes_of(cx, n, 1, attr, rank, true, mask);
}

int ac_one_axis(ac_ctx *cx, const ac_node *n, int32_t i, int64_t attr, int32_t rank, int32_t *axis)
{
    ac_ints v;
    AC_TRY(ac_node_ints(cx, n, i, (ac_ints){1, &attr}, &v));
    if (v.n != 1)
        return ac_error(cx, n->at, E0104, "operand '%s' is %s, expected one axis", n->in[i]->name,
                        ac_shape_str(cx, n->in[i]));
    return ac_axis_norm(cx, n, v.v[0], rank, axis);
}

int ac_arg_axis(ac_ctx *cx, const ac_node *n, int32_t *axis)
{
    return ac_one_axis(cx, n, 1, -1, n->in[0]->rank, axis);
}

int ac_perm_of(ac_ctx *cx, const ac_node *n, int32_t perm[AC_MAX_RANK])
{
    const int32_t rank = n->in[0]->rank;
    ac_ints v;
    AC_TRY(ac_node_ints(cx, n, 1, n->attrs.perm.perm, &v));
    if (v.n == 0 && (n->n_in < 2 || !n->in[1])) {
        for (int32_t d = 0; d < rank; d++)
            perm[d] = rank - 1 - d;
        return AC_OK;
    }
    if (v.n != rank)
        return ac_error(cx, n->at, E0104, "permutation has %d entries, but input '%s' is %s", v.n, n->in[0]->name,
                        ac_shape_str(cx, n->in[0]));
    uint32_t seen = 0;
    for (int32_t d = 0; d < rank; d++) {
        AC_TRY(ac_axis_norm(cx, n, v.v[d], rank, &perm[d]));
        if (seen & 1u << perm[d])
            return ac_error(cx, n->at, E0103, "dimension %d occurs twice in the permutation", perm[d]);
        seen |= 1u << perm[d];
    }
    return AC_OK;
}

bool ac_perm_moves_nothing(const ac_tensor *x, const int32_t *perm)
{
    int32_t last = -1;
    for (int32_t d = 0; d < x->rank; d++) {
        if (x->dim[perm[d]] == 1)
            continue;
        if (perm[d] < last)
            return false;
        last = perm[d];
    }
    return true;
}

/* Pairs (before, after) for m dimensions, laid out as TFLite's [m,2] operand. */
static int pairs(ac_ctx *cx, const ac_node *n, ac_ints v, const char *what, int32_t m, int64_t *before, int64_t *after)
{
    if (v.n != 2 * m)
        return ac_error(cx, n->at, E0104, "%d numbers for %s, expected %d: before and after for each of %d dimensions",
                        v.n, what, 2 * m, m);
    for (int32_t d = 0; d < m; d++) {
        before[d] = v.v[2 * d];
        after[d] = v.v[2 * d + 1];
        if (before[d] < 0 || after[d] < 0 || before[d] > INT32_MAX || after[d] > INT32_MAX)
            return ac_error(cx, n->at, E0103, "%s of dimension %d: %lld, %lld; expected 0 or more", what, d,
                            (long long)before[d], (long long)after[d]);
    }
    return AC_OK;
}

int ac_pads_of(ac_ctx *cx, const ac_node *n, int64_t before[AC_MAX_RANK], int64_t after[AC_MAX_RANK])
{
    const ac_ints attr = n->op == AC_OP_MIRROR_PAD ? n->attrs.mirror.pads : n->attrs.pad.pads;
    const int32_t rank = n->in[0]->rank;
    ac_ints v;
    AC_TRY(ac_node_ints(cx, n, 1, attr, &v));
    if (v.n == 0 && (n->n_in < 2 || !n->in[1])) {
        for (int32_t d = 0; d < rank; d++)
            before[d] = after[d] = 0;
        return AC_OK;
    }
    return pairs(cx, n, v, "padding", rank, before, after);
}

ac_tensor *ac_split_value(const ac_node *n)
{
    return n->op == AC_OP_SPLIT && n->n_in > 1 ? n->in[1] : n->in[0];
}

int ac_split_of(ac_ctx *cx, const ac_node *n, int32_t *axis, const int64_t **sizes)
{
    const ac_attrs_split *a = &n->attrs.split;
    const ac_tensor *x = ac_split_value(n);
    const bool v = n->op == AC_OP_SPLIT_V;
    const int32_t at = v ? 2 : n->n_in > 1 ? 0 : -1;
    ac_ints list = a->sizes;
    AC_TRY(ac_one_axis(cx, n, at, a->axis, x->rank, axis));
    if (v)
        AC_TRY(ac_node_ints(cx, n, 1, a->sizes, &list));
    int64_t *s = AC_NEW_N(cx->region, int64_t, n->n_out + 1);
    const int64_t extent = x->dim[*axis];
    *sizes = s;
    if (list.n == 0) {
        if (n->n_out < 1 || extent % n->n_out)
            return ac_error(cx, n->at, E0104, "dimension %d of '%s' %s does not divide into %d equal parts", *axis,
                            x->name, ac_shape_str(cx, x), n->n_out);
        for (int32_t i = 0; i < n->n_out; i++)
            s[i] = extent / n->n_out;
        return AC_OK;
    }
    if (list.n != n->n_out)
        return ac_error(cx, n->at, E0104, "%d sizes for %d outputs", list.n, n->n_out);
    int64_t sum = 0;
    int32_t rest = -1;
    for (int32_t i = 0; i < list.n; i++) {
        s[i] = list.v[i];
        if (s[i] == -1 && rest < 0)
            rest = i;
        else if (s[i] < 0)
            return ac_error(cx, n->at, E0201, "size %d of the split is %lld%s", i, (long long)s[i],
                            s[i] == -1 ? ", but only one size may be left open" : "");
        else if (!ac_add_ok(sum, s[i], &sum))
            return ac_error(cx, n->at, E0015, "the sizes of the split do not fit in 63 bits");
    }
    if (rest >= 0 && sum <= extent) {
        s[rest] = extent - sum;
        sum = extent;
    }
    if (sum != extent)
        return ac_error(cx, n->at, E0104, "the sizes of the split add up to %lld, but dimension %d of '%s' is %lld",
                        (long long)sum, *axis, x->name, (long long)extent);
    return AC_OK;
}

int ac_blocks_of(ac_ctx *cx, const ac_node *n, ac_blocks *out)
{
    const ac_tensor *x = n->in[0];
    ac_ints block, edge;
    AC_TRY(ac_node_ints(cx, n, 1, (ac_ints){0}, &block));
    AC_TRY(ac_node_ints(cx, n, 2, (ac_ints){0}, &edge));
    if (block.n < 1 || block.n >= x->rank)
        return ac_error(cx, n->at, E0104, "%d block sizes for input '%s' %s, expected 1 to %d", block.n, x->name,
                        ac_shape_str(cx, x), x->rank - 1);
    out->m = block.n;
    for (int32_t i = 0; i < block.n; i++) {
        out->block[i] = block.v[i];
        if (block.v[i] < 1 || block.v[i] > INT32_MAX)
            return ac_error(cx, n->at, E0103, "block size %d is %lld, expected 1 or more", i, (long long)block.v[i]);
    }
    return pairs(cx, n, edge, n->op == AC_OP_SPACE_TO_BATCH_ND ? "padding" : "crops", out->m, out->before, out->after);
}

int ac_resize_of(ac_ctx *cx, const ac_node *n, int64_t *h, int64_t *w)
{
    ac_ints v;
    AC_TRY(ac_node_ints(cx, n, 1, n->attrs.resize.size, &v));
    if (v.n != 2)
        return ac_error(cx, n->at, E0104, "the new size has %d numbers, expected 2: height and width", v.n);
    *h = v.v[0];
    *w = v.v[1];
    if (*h < 1 || *w < 1 || *h > INT32_MAX || *w > INT32_MAX)
        return ac_error(cx, n->at, E0201, "the new size is %lld x %lld, expected at least 1 x 1", (long long)*h,
                        (long long)*w);
    return AC_OK;
}

int ac_tile_of(ac_ctx *cx, const ac_node *n, int64_t times[AC_MAX_RANK])
{
    const ac_tensor *x = n->in[0];
    ac_ints v;
    AC_TRY(ac_node_ints(cx, n, 1, (ac_ints){0}, &v));
    if (v.n != x->rank)
        return ac_error(cx, n->at, E0104, "%d repeat counts for input '%s' %s, expected %d", v.n, x->name,
                        ac_shape_str(cx, x), x->rank);
    for (int32_t d = 0; d < x->rank; d++) {
        times[d] = v.v[d];
        if (times[d] < 0)
            return ac_error(cx, n->at, E0201, "dimension %d is repeated %lld times", d, (long long)times[d]);
    }
    return AC_OK;
}

int ac_gather_of(ac_ctx *cx, const ac_node *n, int32_t *axis, int32_t *batch)
{
    const ac_attrs_gather *a = &n->attrs.gather;
    const ac_tensor *x = n->in[0], *index = n->in[1];
    AC_TRY(ac_axis_norm(cx, n, a->axis, x->rank, axis));
    *batch = a->batch_dims < 0 ? a->batch_dims + index->rank : a->batch_dims;
    if (*batch < 0 || *batch > index->rank || *batch > *axis)
        return ac_error(cx, n->at, E0103, "batch_dims is %d, expected 0 to %d (axis %d, indices '%s' %s)",
                        a->batch_dims, *axis < index->rank ? *axis : index->rank, *axis, index->name,
                        ac_shape_str(cx, index));
    for (int32_t d = 0; d < *batch; d++)
        if (x->dim[d] != index->dim[d]) {
            ac_error(cx, n->at, E0104, "batch dimension %d of '%s' is %lld, of '%s' %lld", d, x->name,
                     (long long)x->dim[d], index->name, (long long)index->dim[d]);
            ac_detail(cx, "input   %s  '%s'", ac_tensor_str(cx, x), x->name);
            return ac_detail(cx, "indices %s  '%s'", ac_tensor_str(cx, index), index->name);
        }
    return AC_OK;
}
