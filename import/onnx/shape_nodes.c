/* shape_nodes.c - operators of ONNX that change shapes, take slices, join, repeat, or make constants. */
#include "import/build/bounds.h"
#include "import/build/compose_bounded.h"
#include "import/build/compose_pads.h"
#include "import/build/counted.h"
#include "import/onnx/proto/nodes.h"
#include "import/onnx/proto/texts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Axes as a mask. */
static int mask_of(ac_onx_node *n, ac_ints axes, int32_t rank, uint32_t *mask)
{
    *mask = 0;
    for (int32_t i = 0; i < axes.n; i++) {
        int32_t d;
        AC_TRY(ac_operand_axis(&n->b, axes.v[i], rank, &d));
        if (*mask >> d & 1)
            return ac_error(n->r->cx, n->at, E0103, "axis %" PRId64 " is named twice", axes.v[i]);
        *mask |= 1u << d;
    }
    return AC_OK;
}

/* value_string, a scalar, or value_strings, a list. *out NULL: neither is given */
static int text_constant(ac_onx_node *n, ac_tensor **out)
{
    const ac_onx_attr *one = ac_onx_attr_of(n, "value_string"), *list = ac_onx_attr_of(n, "value_strings");
    *out = NULL;
    if (!one && !list)
        return AC_OK;
    int64_t *code = AC_NEW_N(n->r->cx->region, int64_t, (list ? list->strings.n : 0) + 1);
    AC_TRY(one ? ac_onx_text_code(n->r, n->at, one->s, code) : ac_onx_text_codes(n->r, n->at, list->strings, code));
    *out = ac_onx_coded(n, one ? 1 : list->strings.n, code);
    if (one)
        *out = ac_onx_text(n->r, ac_make_reshape(&n->b, *out, 0, NULL), false);
    return *out ? AC_OK : AC_FAIL;
}

int ac_onx_do_constant(ac_onx_node *n)
{
    ac_tensor *text;
    ac_onx_attr *a = ac_onx_attr_of(n, "value"), *sparse = ac_onx_attr_of(n, "sparse_value");
    int64_t count;
    AC_TRY(text_constant(n, &text));
    if (text)
        return ac_onx_result(n, 0, text);
    if ((a && a->has_tensor) || (sparse && sparse->sparse.p)) {
        ac_onx_const c;
        const char *refused;
        if ((a && a->has_tensor ? ac_onx_tensor(n->r, a->tensor, &c, &refused)
                                : ac_onx_sparse_tensor(n->r, sparse->sparse, &c, &refused)) != AC_OK)
            return refused ? ac_cannot(&n->b, "%s", refused) : AC_FAIL;
        return ac_onx_result(n, 0, ac_onx_constant(n->r, n->name, &c));
    }
    if ((a = ac_onx_attr_of(n, "value_int")))
        return ac_onx_result(n, 0, ac_make_reshape(&n->b, ac_make_ints(&n->b, 1, &a->i), 0, NULL));
    if ((a = ac_onx_attr_of(n, "value_float")))
        return ac_onx_result(n, 0, ac_make_floats(&n->b, 0, NULL, &a->f));
    if (ac_attr_has(&n->attrs, A_value_ints)) {
        const ac_ints v = ac_attr_ints(&n->attrs, A_value_ints);
        return ac_onx_result(n, 0, ac_make_ints(&n->b, v.n, v.v));
    }
    const float *f = ac_onx_floats(n, "value_floats", &count);
    if (f)
        return ac_onx_result(n, 0, ac_make_floats(&n->b, 1, &count, f));
    return ac_error(n->r->cx, n->at, E0103, "the constant has no value");
}

/* A splat: one element stands for all. */
int ac_onx_do_constant_of_shape(ac_onx_node *n)
{
    ac_late_sizes s;
    ac_onx_const c = {.dtype = AC_F32, .bytes = NULL};
    const char *refused;
    ac_onx_attr *a = ac_onx_attr_of(n, "value");
    AC_TRY(ac_late_sizes_of(&n->b, &n->in[0], ac_onx_result_name(n, 0), &s));
    if (a && ac_onx_tensor(n->r, a->tensor, &c, &refused) != AC_OK)
        return refused ? ac_cannot(&n->b, "%s", refused) : AC_FAIL;
    ac_tensor *one;
    if (c.bytes) {
        one = ac_onx_constant(n->r, n->name, &c);
        if (ac_tensor_count(one) != 1)
            return ac_error(n->r->cx, n->at, E0103, "the value has %" PRId64 " elements, expected one",
                            ac_tensor_count(one));
        one = ac_make_reshape(&n->b, one, 0, NULL);
    } else {
        one = ac_make_number(&n->b, AC_F32, 0);
    }
    ac_tensor *in[] = {ac_make_ints(&n->b, s.n, s.dim), one};
    return ac_onx_result(n, 0, ac_bounded(&n->b, ac_make_op(&n->b, AC_OP_FILL, in, 2, NULL, AC_NONE), s.count, s.at));
}

int ac_onx_do_shape(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t from = ac_attr_int(&n->attrs, A_start), to = ac_attr_int_or(&n->attrs, A_end, x->rank);
    from = from < 0 ? from + x->rank : from;
    to = to < 0 ? to + x->rank : to;
    from = from < 0 ? 0 : from > x->rank ? x->rank : from;
    to = to < from ? from : to > x->rank ? x->rank : to;
    return ac_onx_result(n, 0, ac_make_extents(&n->b, x, (int32_t)from, (int32_t)to));
}

/* 0 keeps the input's size (unless allowzero), -1 takes the rest. A shape that is computed at run time is taken from
 * the declared result, when that is known. */
int ac_onx_do_reshape(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_ints shape;
    bool given;
    int64_t dim[AC_MAX_RANK];
    const bool zero = ac_attr_bool(&n->attrs, A_allowzero);
    const ac_tensor *late = ac_onx_in(n, 1);
    const ac_onx_value *y = n->out[0];
    if (late && x->count && n->r->reading->again && ac_is_count(&n->b, n->in[1])) {
        ac_tensor *made;
        AC_TRY(ac_make_late_reshape(&n->b, x, &n->in[1], !zero, &made));
        return ac_onx_result(n, 0, made);
    }
    if (late && !ac_operand_known(&n->b, &n->in[1]) && y && y->rank >= 0) {
        bool closed = true;
        for (int32_t d = 0; d < y->rank; d++)
            closed &= y->dim[d] >= 0;
        if (closed) {
            ac_warn(n->r->cx, n->at, W0001,
                    "'%s' gives a shape at run time; the declared shape of '%s' is used instead", late->name, y->name);
            return ac_onx_result(n, 0, ac_make_reshape(&n->b, x, y->rank, y->dim));
        }
    }
    AC_TRY(ac_onx_list_or(n, A_shape, 1, &shape, &given));
    if (!given)
        return ac_error(n->r->cx, n->at, E0102, "the new shape is missing");
    if (shape.n > AC_MAX_RANK)
        return ac_refuse(n->r->reading, n->at, E0205, n->type, "the new shape has more than 8 dimensions", NULL);
    for (int32_t d = 0; d < shape.n; d++) {
        dim[d] = shape.v[d];
        if (dim[d] == 0 && !zero) {
            if (d >= x->rank)
                return ac_error(n->r->cx, n->at, E0104, "dimension %d of the new shape is kept, but '%s' has %d", d,
                                x->name, x->rank);
            dim[d] = x->dim[d];
        }
    }
    return ac_onx_result(n, 0, ac_make_reshape(&n->b, x, shape.n, dim));
}

int ac_onx_do_flatten(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t axis = ac_attr_int(&n->attrs, A_second_axis), dim[2] = {1, 1};
    if (axis < -(int64_t)x->rank || axis > x->rank)
        return ac_error(n->r->cx, n->at, E0103, "axis %" PRId64 " is out of range for %d dimensions", axis, x->rank);
    axis = axis < 0 ? axis + x->rank : axis;
    for (int32_t d = 0; d < x->rank; d++)
        dim[d >= axis] *= x->dim[d];
    return ac_onx_result(n, 0, ac_make_reshape(&n->b, x, 2, dim));
}

int ac_onx_do_squeeze(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_ints axes;
    bool given;
    uint32_t mask;
    int64_t dim[AC_MAX_RANK];
    int32_t rank = 0;
    AC_TRY(ac_onx_list_or(n, A_axes, 1, &axes, &given));
    AC_TRY(mask_of(n, axes, x->rank, &mask));
    for (int32_t d = 0; d < x->rank; d++) {
        if (mask >> d & 1 && x->dim[d] != 1)
            return ac_error(n->r->cx, n->at, E0104, "dimension %d of '%s' %s is not 1", d, x->name,
                            ac_shape_str(n->r->cx, x));
        if (given ? !(mask >> d & 1) : x->dim[d] != 1)
            dim[rank++] = x->dim[d];
    }
    return ac_onx_result(n, 0, ac_make_reshape(&n->b, x, rank, dim));
}

int ac_onx_do_unsqueeze(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_ints axes;
    bool given;
    uint32_t mask;
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_onx_list_or(n, A_axes, 1, &axes, &given));
    if (!given)
        return ac_error(n->r->cx, n->at, E0102, "the axes are missing");
    const int32_t rank = x->rank + axes.n;
    if (rank > AC_MAX_RANK)
        return ac_refuse(n->r->reading, n->at, E0205, n->type, "the result has more than 8 dimensions", NULL);
    AC_TRY(mask_of(n, axes, rank, &mask));
    for (int32_t d = 0, from = 0; d < rank; d++)
        dim[d] = mask >> d & 1 ? 1 : x->dim[from++];
    return ac_onx_result(n, 0, ac_make_reshape(&n->b, x, rank, dim));
}

int ac_onx_do_transpose(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_ints list;
    int32_t perm[AC_MAX_RANK];
    uint32_t seen = 0;
    list = ac_attr_ints(&n->attrs, A_perm);
    if (list.n && list.n != x->rank)
        return ac_error(n->r->cx, n->at, E0103, "perm has %d numbers for %d dimensions", list.n, x->rank);
    for (int32_t d = 0; d < x->rank; d++) {
        perm[d] = x->rank - 1 - d;
        if (list.n)
            AC_TRY(ac_operand_axis(&n->b, list.v[d], x->rank, &perm[d]));
        if (seen >> perm[d] & 1)
            return ac_error(n->r->cx, n->at, E0103, "perm names dimension %d twice", perm[d]);
        seen |= 1u << perm[d];
    }
    return ac_onx_result(n, 0, ac_make_transpose(&n->b, x, perm));
}

int ac_onx_do_concat(ac_onx_node *n)
{
    int32_t axis, count = 0;
    AC_TRY(ac_attr_axis(&n->attrs, A_second_axis, n->in[0]->rank, &axis));
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i])
            n->in[count++] = n->in[i];
    return ac_onx_result(n, 0, count == 1 ? n->in[0] : ac_make_concat(&n->b, n->in, count, axis));
}

int ac_onx_do_split(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    int32_t axis;
    ac_ints size;
    bool given;
    int64_t at = 0;
    const int64_t parts = ac_attr_int_or(&n->attrs, A_num_outputs, n->n_out);
    AC_TRY(ac_attr_axis(&n->attrs, A_axis, x->rank, &axis));
    AC_TRY(ac_onx_list_or(n, A_split, 1, &size, &given));
    if (n->n_out < 1 || (given && size.n != n->n_out && size.n) || (!size.n && parts < n->n_out))
        return ac_error(n->r->cx, n->at, E0104, "%d sizes for %d results", given ? size.n : (int)parts, n->n_out);
    const int64_t whole = x->dim[axis], each = size.n ? 0 : whole / parts + (whole % parts > 0);
    for (int32_t i = 0; i < n->n_out; i++) {
        int64_t take = size.n ? size.v[i] : each > whole - at ? whole - at : each;
        if (take < 0 || take > whole - at)
            return ac_error(n->r->cx, n->at, E0104, "the parts do not add up to dimension %d of '%s', %" PRId64, axis,
                            x->name, whole);
        AC_TRY(ac_onx_result(n, i, ac_make_slice(&n->b, x, axis, at, take)));
        at += take;
    }
    if (at != whole)
        return ac_error(n->r->cx, n->at, E0104, "the parts do not add up to dimension %d of '%s', %" PRId64, axis,
                        x->name, whole);
    return AC_OK;
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* The elements taken along each dimension: from, from + by, .. before to; `extent` of them. */
typedef struct cut {
    int64_t from[AC_MAX_RANK], to[AC_MAX_RANK], by[AC_MAX_RANK], extent[AC_MAX_RANK];
    bool strided, empty, counted; /* counted: from begin to end of the elements that have a meaning */
    int64_t begin, end;
} cut;

static void cut_dim(cut *c, int32_t d, int64_t size, int64_t begin, int64_t end, int64_t step)
{
    c->by[d] = clamp(step, -INT32_MAX, INT32_MAX);
    c->from[d] = begin < 0 ? begin + size : begin;
    c->to[d] = end < 0 ? end + size : end;
    c->from[d] = step > 0 ? clamp(c->from[d], 0, size) : clamp(c->from[d], size ? 0 : -1, size - 1);
    c->to[d] = step > 0 ? clamp(c->to[d], 0, size) : clamp(c->to[d], -1, size - 1);
    const int64_t span = step > 0 ? c->to[d] - c->from[d] : c->from[d] - c->to[d];
    const int64_t stride = c->by[d] > 0 ? c->by[d] : -c->by[d];
    c->extent[d] = span > 0 ? (span - 1) / stride + 1 : 0;
    c->empty |= c->extent[d] == 0;
    c->strided |= c->by[d] != 1;
}

static int read_cut(ac_onx_node *n, const ac_tensor *x, cut *c)
{
    ac_ints begin, end, axes, step = {0};
    bool have_begin, have_end, have_axes;
    uint32_t seen = 0;
    AC_TRY(ac_onx_list_or(n, A_starts, 1, &begin, &have_begin));
    AC_TRY(ac_onx_list_or(n, A_ends, 2, &end, &have_end));
    AC_TRY(ac_onx_list_or(n, A_axes, 3, &axes, &have_axes));
    if (ac_onx_in(n, 4))
        AC_TRY(ac_operand_values(&n->b, &n->in[4], &step));
    if (!have_begin || !have_end || begin.n != end.n || (have_axes && axes.n != begin.n) ||
        (step.n && step.n != begin.n) || begin.n > x->rank)
        return ac_error(n->r->cx, n->at, E0104, "%d starts, %d ends, %d axes, %d steps for %d dimensions", begin.n,
                        end.n, axes.n, step.n, x->rank);
    *c = (cut){.strided = false};
    for (int32_t d = 0; d < x->rank; d++) {
        c->extent[d] = c->to[d] = x->dim[d];
        c->by[d] = 1;
    }
    for (int32_t i = 0; i < begin.n; i++) {
        int32_t d;
        AC_TRY(ac_operand_axis(&n->b, have_axes ? axes.v[i] : i, x->rank, &d));
        const int64_t s = step.n ? step.v[i] : 1;
        if (s == 0 || seen >> d & 1)
            return ac_error(n->r->cx, n->at, E0103, s ? "axis %d is named twice" : "the step of axis %d is 0", d);
        seen |= 1u << d;
        if (x->count && d == x->count_dim && s == 1) {
            c->counted = true;
            c->begin = begin.v[i];
            c->end = end.v[i];
            continue;
        }
        cut_dim(c, d, x->dim[d], begin.v[i], end.v[i], s);
    }
    return AC_OK;
}

int ac_onx_do_slice(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    cut c;
    int32_t end_mask = 0;
    if (ac_onx_is_late_slice(n))
        return ac_onx_late_slice(n);
    AC_TRY(read_cut(n, x, &c));
    for (int32_t d = 0; d < x->rank; d++)
        if (c.empty)
            c.from[d] = 0;
        else if (c.by[d] < 0 && c.to[d] < 0)
            end_mask |= 1 << d, c.to[d] = 0;
    ac_attrs a;
    if (c.empty || !c.strided) {
        ac_attrs_init(AC_OP_SLICE, &a);
        a.slice.begin = ac_make_list(&n->b, x->rank, c.from);
        a.slice.size = ac_make_list(&n->b, x->rank, c.extent);
        x = x->rank ? ac_make_op(&n->b, AC_OP_SLICE, &x, 1, &a, AC_NONE) : x;
        return ac_onx_result(n, 0, x && c.counted ? ac_make_counted_slice(&n->b, x, c.begin, c.end) : x);
    }
    ac_attrs_init(AC_OP_STRIDED_SLICE, &a);
    a.strided.begin = ac_make_list(&n->b, x->rank, c.from);
    a.strided.end = ac_make_list(&n->b, x->rank, c.to);
    a.strided.strides = ac_make_list(&n->b, x->rank, c.by);
    a.strided.end_mask = end_mask;
    x = ac_make_op(&n->b, AC_OP_STRIDED_SLICE, &x, 1, &a, AC_NONE);
    return ac_onx_result(n, 0, x && c.counted ? ac_make_counted_slice(&n->b, x, c.begin, c.end) : x);
}

int ac_onx_do_tile(ac_onx_node *n)
{
    ac_tensor *y;
    AC_TRY(ac_make_tile_of(&n->b, n->in[0], &n->in[1], ac_onx_result_name(n, 0), &y));
    return ac_onx_result(n, 0, y);
}
