/* slice.c - decodes and checks the slices of a node: begin, end and step for each dimension. */
#include "ir/ops/decode/slice.h"

int ac_slice_of(ac_ctx *cx, const ac_node *n, ac_slice *out)
{
    const ac_tensor *x = n->in[0];
    ac_ints begin, size;
    AC_TRY(ac_node_ints(cx, n, 1, n->attrs.slice.begin, &begin));
    AC_TRY(ac_node_ints(cx, n, 2, n->attrs.slice.size, &size));
    if (begin.n != x->rank || size.n != x->rank)
        return ac_error(cx, n->at, E0104, "%d begins and %d sizes for input '%s' %s, expected %d of each", begin.n,
                        size.n, x->name, ac_shape_str(cx, x), x->rank);
    out->out_rank = x->rank;
    for (int32_t d = 0; d < x->rank; d++) {
        const int64_t b = begin.v[d];
        if (b < 0 || b > x->dim[d])
            return ac_error(cx, n->at, E0103, "slice begins at %lld in dimension %d of '%s' %s", (long long)b, d,
                            x->name, ac_shape_str(cx, x));
        const int64_t s = size.v[d] == -1 ? x->dim[d] - b : size.v[d];
        if (s < 0)
            return ac_error(cx, n->at, E0201, "size %lld in dimension %d, expected 0 or more, or -1 for the rest",
                            (long long)size.v[d], d);
        if (s > x->dim[d] - b)
            return ac_error(cx, n->at, E0104, "slice of %lld from %lld leaves dimension %d of '%s' %s", (long long)s,
                            (long long)b, d, x->name, ac_shape_str(cx, x));
        out->begin[d] = b;
        out->step[d] = 1;
        out->extent[d] = out->out_dim[d] = s;
    }
    return AC_OK;
}

/* Begin and end of one entry, for a dimension of `extent`: negative ones count from the end, then both are clamped to
 * the dimension. end = -1 stands for "before the first" when stepping back. */
static int64_t bound(int64_t at, int64_t extent, int64_t step)
{
    const int64_t lo = step > 0 ? 0 : -1, hi = step > 0 ? extent : extent - 1;
    if (at < 0)
        at = at < -extent ? lo : at + extent;
    return at < lo ? lo : at > hi ? hi : at;
}

static int append(ac_ctx *cx, const ac_node *n, ac_slice *out, int64_t extent)
{
    if (out->out_rank == AC_MAX_RANK)
        return ac_error(cx, n->at, E0205, "the result would have more than %d dimensions", AC_MAX_RANK);
    out->out_dim[out->out_rank++] = extent;
    return AC_OK;
}

static int whole(ac_ctx *cx, const ac_node *n, ac_slice *out, int32_t d)
{
    out->begin[d] = 0;
    out->step[d] = 1;
    out->extent[d] = n->in[0]->dim[d];
    return append(cx, n, out, out->extent[d]);
}

/* Entry i of the specification takes dimension d of the input. */
static int entry(ac_ctx *cx, const ac_node *n, ac_slice *out, int32_t i, int32_t d, const ac_ints spec[3])
{
    const ac_attrs_strided *a = &n->attrs.strided;
    const ac_tensor *x = n->in[0];
    const uint32_t bit = 1u << i;
    const int64_t size = x->dim[d], step = spec[2].v[i];
    if ((uint32_t)a->shrink_axis_mask & bit) {
        /* begin_mask and a shrunk dimension: TFLite takes the first element */
        int64_t at = (uint32_t)a->begin_mask & bit ? 0 : spec[0].v[i];
        if (step <= 0)
            return ac_error(cx, n->at, E0103, "stride of the shrunk dimension %d is %lld, expected a positive number",
                            d, (long long)step);
        if (at < -size || at >= size)
            return ac_error(cx, n->at, E0103, "index %lld does not exist in dimension %d of '%s' %s", (long long)at, d,
                            x->name, ac_shape_str(cx, x));
        out->begin[d] = at < 0 ? at + size : at;
        out->step[d] = out->extent[d] = 1;
        return AC_OK;
    }
    int64_t begin = bound(spec[0].v[i], size, step), end = bound(spec[1].v[i], size, step);
    if ((uint32_t)a->begin_mask & bit)
        begin = step > 0 ? 0 : size - 1;
    if ((uint32_t)a->end_mask & bit)
        end = step > 0 ? size : -1;
    const int64_t span = step > 0 ? end - begin : begin - end, by = step > 0 ? step : -step;
    out->begin[d] = begin;
    out->step[d] = step;
    out->extent[d] = span > 0 ? (span - 1) / by + 1 : 0;
    return append(cx, n, out, out->extent[d]);
}

/* The three lists, of one length; strides default to ones. */
static int lists(ac_ctx *cx, const ac_node *n, ac_ints spec[3])
{
    const ac_attrs_strided *a = &n->attrs.strided;
    AC_TRY(ac_node_ints(cx, n, 1, a->begin, &spec[0]));
    AC_TRY(ac_node_ints(cx, n, 2, a->end, &spec[1]));
    AC_TRY(ac_node_ints(cx, n, 3, a->strides, &spec[2]));
    if (spec[2].n == 0 && spec[0].n > 0) {
        int64_t *ones = AC_NEW_N(cx->region, int64_t, spec[0].n);
        for (int32_t i = 0; i < spec[0].n; i++)
            ones[i] = 1;
        spec[2] = (ac_ints){spec[0].n, ones};
    }
    if (spec[0].n != spec[1].n || spec[0].n != spec[2].n)
        return ac_error(cx, n->at, E0104, "%d begins, %d ends and %d strides; expected as many of each", spec[0].n,
                        spec[1].n, spec[2].n);
    if (spec[0].n > 2 * AC_MAX_RANK)
        return ac_error(cx, n->at, E0205, "%d entries in the slice", spec[0].n);
    for (int32_t i = 0; i < spec[2].n; i++)
        if (spec[2].v[i] == 0 || spec[2].v[i] < -INT32_MAX || spec[2].v[i] > INT32_MAX)
            return ac_error(cx, n->at, E0103, "stride %d is %lld", i, (long long)spec[2].v[i]);
    return AC_OK;
}

int ac_strided_slice_of(ac_ctx *cx, const ac_node *n, ac_slice *out)
{
    const ac_attrs_strided *a = &n->attrs.strided;
    const ac_tensor *x = n->in[0];
    ac_ints spec[3];
    AC_TRY(lists(cx, n, spec));
    const uint32_t used = spec[0].n < 32 ? (1u << spec[0].n) - 1 : ~0u;
    const uint32_t ellipsis = (uint32_t)a->ellipsis_mask & used;
    const uint32_t fresh = (uint32_t)a->new_axis_mask & used & ~ellipsis;
    if (ellipsis & (ellipsis - 1))
        return ac_error(cx, n->at, E0103, "more than one ellipsis");
    int32_t takes = 0; /* entries that take a dimension of the input */
    for (int32_t i = 0; i < spec[0].n; i++)
        takes += !((ellipsis | fresh) & 1u << i);
    if (takes > x->rank)
        return ac_error(cx, n->at, E0104, "slice names %d dimensions, but input '%s' is %s", takes, x->name,
                        ac_shape_str(cx, x));
    int32_t d = 0;
    out->out_rank = 0;
    for (int32_t i = 0; i < spec[0].n; i++) {
        if (ellipsis & 1u << i)
            for (int32_t k = x->rank - takes; k > 0; k--)
                AC_TRY(whole(cx, n, out, d++));
        else if (fresh & 1u << i)
            AC_TRY(append(cx, n, out, 1));
        else {
            AC_TRY(entry(cx, n, out, i, d, spec));
            d++;
        }
    }
    for (; d < x->rank; d++) /* dimensions without an entry are taken entirely */
        AC_TRY(whole(cx, n, out, d));
    return AC_OK;
}
