/* pool_nodes.c - pools of ONNX. Over images of one or two dimensions, without dilation, they are our channels-last
 * pools; all others are windows that slide over the tensor as it is (window_max, window_sum, window_argmax). */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"
#include "import/onnx/window_nodes.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------ windows over the tensor as it is */

/* How many elements window o holds along spatial dimension s: those inside of the image, or, with `padded`, of the
 * padded image without what ceil_mode adds at the end; at least 1. */
static int64_t holds(const ac_frame *w, const ac_frame *padded, int32_t s, int64_t o)
{
    const int64_t at = o * w->stride[s] - w->before[s], dil = w->dil[s];
    const int64_t first = padded ? -w->before[s] : 0, end = w->in[s] + (padded ? padded->after[s] : 0);
    const int64_t lo = first > at ? (first - at + dil - 1) / dil : 0, hi = end > at ? (end - at + dil - 1) / dil : 0;
    const int64_t inside = (hi < w->kernel[s] ? hi : w->kernel[s]) - lo;
    return inside > 1 ? inside : 1;
}

/* The number of elements of each window of `like` [N,C,..]; one number where all windows hold as many. */
static ac_tensor *counts(ac_onx_node *n, const ac_frame *w, const ac_frame *padded, const ac_tensor *like)
{
    int64_t dim[AC_MAX_RANK] = {1, 1}, count = 1;
    double all = 1;
    bool same = true;
    for (int32_t d = 2; d < like->rank; d++) {
        const int32_t s = AC_SPATIAL - w->m + d - 2;
        const int64_t first = like->dim[d] ? holds(w, padded, s, 0) : 1;
        dim[d] = like->dim[d];
        count *= dim[d];
        all *= (double)first;
        for (int64_t o = 1; same && o < dim[d]; o++)
            same = holds(w, padded, s, o) == first;
    }
    if (same || count == 0)
        return ac_make_cast(&n->b, F32(all), like->dtype);
    if (count > 1 << 24)
        return (void)ac_cannot(&n->b, "its image has %" PRId64 " positions", count), NULL;
    float *v = AC_NEW_N(n->r->cx->region, float, count);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i;
        v[i] = 1;
        for (int32_t d = like->rank - 1; d >= 2; rest /= dim[d--])
            v[i] *= (float)holds(w, padded, AC_SPATIAL - w->m + d - 2, rest % dim[d]);
    }
    return ac_make_cast(&n->b, ac_make_floats(&n->b, like->rank, dim, v), like->dtype);
}

/* ------------------------------------------------------------------ our pools */

/* Does the channels-last pool do it? It takes no dilation and no window without elements. */
static bool canonical(const ac_tensor *x, const ac_frame *w)
{
    bool plain = w->m <= 2 && (x->dtype == AC_F32 || x->dtype == AC_I8 || x->dtype == AC_U8);
    for (int32_t d = 0; d < AC_SPATIAL; d++)
        plain &= w->dil[d] == 1 && w->before[d] < w->kernel[d] && w->after[d] < w->kernel[d];
    return plain;
}

/* Elements before the first window are cut off x, and out of both windows. */
static int crop(ac_onx_node *n, ac_tensor **x, ac_frame *w, ac_frame *plain)
{
    for (int32_t i = 0; i < w->m; i++) {
        const int32_t s = AC_SPATIAL - w->m + i;
        if (w->before[s] >= 0)
            continue;
        if (n->n_out > 1)
            return ac_cannot(&n->b, "its windows leave out %" PRId64 " elements, and places are a result",
                             -w->before[s]);
        w->in[s] += w->before[s];
        *x = ac_make_slice(&n->b, *x, 2 + i, -w->before[s], w->in[s]);
        plain->in[s] = w->in[s];
        w->before[s] = plain->before[s] = 0;
    }
    return *x ? AC_OK : AC_FAIL;
}

/* The windows of a pool over *x, the input without leading elements that are in no window; plain: windows without those
 * that ceil_mode adds. */
static int open_pool(ac_onx_node *n, ac_tensor **x, ac_frame *w, ac_frame *plain)
{
    *x = n->in[0];
    const bool ceil_mode = ac_attr_bool(&n->attrs, A_ceil_mode);
    AC_TRY(ac_onx_window_open(n, n->in[0], w));
    if (!ac_attr_has(&n->attrs, A_kernel_shape))
        return ac_error(n->r->cx, n->at, E0103, "kernel_shape is missing");
    *plain = *w;
    AC_TRY(ac_onx_window_pads(n, w, ceil_mode ? AC_LAST_BEGINS : AC_LAST_FITS));
    AC_TRY(ac_onx_window_pads(n, plain, AC_LAST_FITS));
    return crop(n, x, w, plain);
}

/* Flat places count the last dimension fastest; storage_order 1 counts the first spatial dimension fastest. */
static ac_tensor *column_major(ac_onx_node *n, ac_tensor *place, const ac_tensor *x)
{
    int64_t plane = 1, stride;
    for (int32_t d = 2; d < x->rank; d++)
        plane *= x->dim[d];
    stride = plane;
    if (plane == 0)
        return place;
    ac_tensor *rest = OP2(FLOOR_MOD, place, I64(plane)), *sum = SUB(place, rest);
    for (int32_t d = x->rank - 1; d >= 2; d--) {
        stride /= x->dim[d];
        ac_tensor *digit = OP2(FLOOR_MOD, rest, I64(x->dim[d]));
        sum = ADD(sum, MUL(digit, I64(stride)));
        rest = OP2(FLOOR_DIV, rest, I64(x->dim[d]));
    }
#undef I64
    return sum;
}

int ac_onx_do_max_pool(ac_onx_node *n)
{
    ac_tensor *x, *y;
    const bool columns = ac_attr_bool(&n->attrs, A_storage_order);
    ac_frame w, plain;
    AC_TRY(open_pool(n, &x, &w, &plain));
    if (canonical(x, &w))
        y = ac_frame_pool(&n->b, n->row->op, x, &w);
    else
        y = ac_frame_slide(&n->b, AC_OP_WINDOW_MAX, x, &w);
    AC_TRY(ac_onx_result(n, 0, y));
    if (n->n_out < 2)
        return AC_OK;
    ac_tensor *place = ac_frame_slide(&n->b, AC_OP_WINDOW_ARGMAX, x, &w);
    return ac_onx_result(n, 1, columns && place ? column_major(n, place, x) : place);
}

/* Pads become zeros around the image; the part that ceil_mode adds at the end stays a pad. */
static void count_pads(ac_frame *w, const ac_frame *plain)
{
    for (int32_t s = AC_SPATIAL - w->m; s < AC_SPATIAL; s++) {
        w->front[s] = w->before[s];
        w->back[s] = plain->after[s];
        w->after[s] = w->after[s] > w->back[s] ? w->after[s] - w->back[s] : 0;
        w->before[s] = 0;
    }
}

/* A window may be larger than the padded image. Up to version 18 ONNX Runtime counts all of it; since then, what ends
 * after the pads does not count. */
static int end_at_pads(ac_onx_node *n, ac_frame *plain)
{
    ac_ints pads;
    const char *mode = ac_attr_text(&n->attrs, A_auto_pad);
    pads = ac_attr_ints(&n->attrs, A_pads);
    for (int32_t i = 0; n->version >= 19 && !strcmp(mode, "NOTSET") && i < plain->m; i++) {
        const int32_t s = AC_SPATIAL - plain->m + i;
        const int64_t after = pads.n == 2 * plain->m ? pads.v[plain->m + i] : 0;
        plain->after[s] = plain->after[s] < after ? plain->after[s] : after;
    }
    return AC_OK;
}

/* count_include_pad: pads count as zeros, except for the part that ceil_mode adds at the end (QLinearAveragePool counts
 * that as well). */
int ac_onx_do_average_pool(ac_onx_node *n)
{
    ac_tensor *x;
    const bool include = ac_attr_bool(&n->attrs, A_count_include_pad);
    ac_frame w, plain;
    AC_TRY(open_pool(n, &x, &w, &plain));
    if (n->whole_windows)
        plain = w;
    else
        AC_TRY(end_at_pads(n, &plain));
    if (canonical(x, &w)) {
        if (include)
            count_pads(&w, &plain);
        return ac_onx_result(n, 0, ac_frame_pool(&n->b, n->row->op, x, &w));
    }
    if (!ac_dtype_is_float(x->dtype))
        return ac_cannot(&n->b, "its input is %s", ac_dtype_name(x->dtype));
    ac_tensor *sum = ac_frame_slide(&n->b, AC_OP_WINDOW_SUM, x, &w);
    return ac_onx_result(n, 0, sum ? DIV(sum, counts(n, &w, include ? &plain : NULL, sum)) : NULL);
}

static double power_of(ac_onx_node *n)
{
    return n->version < 2 ? ac_attr_float(&n->attrs, A_float_p) : (double)ac_attr_int(&n->attrs, A_p);
}

/* (sum |x|^p)^(1/p) */
int ac_onx_do_lp_pool(ac_onx_node *n)
{
    ac_tensor *x;
    const double p = power_of(n);
    ac_frame w, plain;
    AC_TRY(open_pool(n, &x, &w, &plain));
    if (!ac_dtype_is_float(x->dtype))
        return ac_cannot(&n->b, "its input is %s", ac_dtype_name(x->dtype));
    if (!(p > 0))
        return ac_error(n->r->cx, n->at, E0103, "p is %g", p);
    if (p == 2)
        return ac_onx_result(n, 0, SQRT(ac_frame_slide(&n->b, AC_OP_WINDOW_SUM, SQUARE(x), &w)));
    x = ABS(x);
    if (p != 1)
        x = x ? OP2(POW, x, NUM(x, p)) : NULL;
    ac_tensor *y = ac_frame_slide(&n->b, AC_OP_WINDOW_SUM, x, &w);
    if (p != 1)
        y = y ? OP2(POW, y, NUM(y, 1 / p)) : NULL;
    return ac_onx_result(n, 0, y);
}

int ac_onx_do_global_pool(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    if (x->rank < 2)
        return ac_error(n->r->cx, n->at, E0104, "input '%s' has %d dimensions", x->name, x->rank);
    return ac_onx_result(n, 0, ac_make_reduce(&n->b, n->row->op, x, ((1u << x->rank) - 1) & ~3u, true));
}

int ac_onx_do_global_lp_pool(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    const double p = power_of(n);
    if (!ac_dtype_is_float(x->dtype))
        return ac_cannot(&n->b, "its input is %s", ac_dtype_name(x->dtype));
    if (x->rank < 2 || !(p > 0))
        return ac_error(n->r->cx, n->at, E0104, "input '%s' has %d dimensions, p is %g", x->name, x->rank, p);
    x = ABS(x);
    x = p == 1 || !x ? x : OP2(POW, x, NUM(x, p));
    x = x ? ac_make_reduce(&n->b, AC_OP_SUM, x, ((1u << x->rank) - 1) & ~3u, true) : NULL;
    return ac_onx_result(n, 0, p == 1 || !x ? x : OP2(POW, x, NUM(x, 1 / p)));
}

/* ------------------------------------------------------------------ the ways back */

/* x put at the places it was found at, in a tensor of zeros of the size the pool had; output_shape pads that. */
int ac_onx_do_max_unpool(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *place = n->in[1];
    ac_frame w;
    ac_ints pads, want = {0};
    AC_TRY(ac_onx_window_open(n, x, &w));
    pads = ac_attr_ints(&n->attrs, A_pads);
    if (ac_onx_in(n, 2))
        AC_TRY(ac_operand_values(&n->b, &n->in[2], &want));
    if (!ac_tensor_same_shape(x, place) || (pads.n && pads.n != 2 * w.m) || (want.n && want.n != x->rank))
        return ac_error(n->r->cx, n->at, E0104, "indices '%s' %s, pads or output shape do not fit '%s' %s", place->name,
                        ac_shape_str(n->r->cx, place), x->name, ac_shape_str(n->r->cx, x));
    int64_t dim[AC_MAX_RANK] = {x->dim[0], x->dim[1]}, count = x->dim[0] * x->dim[1], none[AC_MAX_RANK] = {0};
    int64_t more[AC_MAX_RANK] = {0};
    for (int32_t i = 0; i < w.m; i++) {
        const int32_t s = AC_SPATIAL - w.m + i;
        for (int32_t side = 0; side < 2 && pads.n; side++)
            if (pads.v[i + side * w.m] < 0 || pads.v[i + side * w.m] > INT32_MAX)
                return ac_error(n->r->cx, n->at, E0103, "pads has %" PRId64, pads.v[i + side * w.m]);
        const int64_t pad = pads.n ? pads.v[i] + pads.v[i + w.m] : 0;
        dim[2 + i] = (w.in[s] - 1) * w.stride[s] + w.kernel[s] - pad;
        if (dim[2 + i] < 1 || !ac_mul_ok(count, dim[2 + i], &count) || count > INT32_MAX)
            return ac_error(n->r->cx, n->at, E0104, "a result of %" PRId64 " elements along a dimension", dim[2 + i]);
    }
    ac_attrs a;
    ac_attrs_init(AC_OP_SCATTER_ELEMENTS, &a);
    const int64_t flat = ac_tensor_count(x);
    ac_tensor *in[] = {ac_make_broadcast(&n->b, NUM(x, 0), 1, &count), ac_make_reshape(&n->b, place, 1, &flat),
                       ac_make_reshape(&n->b, x, 1, &flat)};
    ac_tensor *y = ac_make_reshape(&n->b, ac_make_op(&n->b, AC_OP_SCATTER_ELEMENTS, in, 3, &a, AC_NONE), x->rank, dim);
    for (int32_t d = 0; y && d < want.n; d++) {
        if (want.v[d] < 1 || want.v[d] > INT32_MAX)
            return ac_error(n->r->cx, n->at, E0201, "the output shape has %" PRId64, want.v[d]);
        if (want.v[d] < y->dim[d])
            y = ac_make_slice(&n->b, y, d, 0, want.v[d]);
        more[d] = y ? want.v[d] - y->dim[d] : 0;
    }
    return ac_onx_result(n, 0, ac_make_pad(&n->b, y, none, more, y ? NUM(y, 0) : NULL));
}

static bool small_positive(int64_t v)
{
    return v > 0 && v <= 1 << 24;
}

/* Blocks [N, C * block, L] added up where they lay in the image: element k of block l is added to one place. */
int ac_onx_do_col2im(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_ints image, block, dil, stride, pads;
    AC_TRY(ac_operand_values(&n->b, &n->in[1], &image));
    AC_TRY(ac_operand_values(&n->b, &n->in[2], &block));
    dil = ac_attr_ints(&n->attrs, A_dilations);
    stride = ac_attr_ints(&n->attrs, A_strides);
    pads = ac_attr_ints(&n->attrs, A_pads);
    const int32_t m = image.n;
    if (m < 1 || m > AC_SPATIAL || block.n != m || (dil.n && dil.n != m) || (stride.n && stride.n != m) ||
        (pads.n && pads.n != 2 * m) || x->rank != 3)
        return ac_error(n->r->cx, n->at, E0104, "image, block, strides, dilations or pads do not fit '%s' %s", x->name,
                        ac_shape_str(n->r->cx, x));
    int64_t taps = 1, blocks = 1, pixels = 1, all, along[AC_SPATIAL];
    for (int32_t d = 0; d < m; d++) {
        const int64_t before = pads.n ? pads.v[d] : 0, after = pads.n ? pads.v[d + m] : 0;
        const int64_t step = stride.n ? stride.v[d] : 1, far = dil.n ? dil.v[d] : 1;
        const bool small = small_positive(image.v[d]) && small_positive(block.v[d]) && small_positive(step) &&
                           small_positive(far) && before >= 0 && before < 1 << 24 && after >= 0 && after < 1 << 24;
        const int64_t reach = small ? (block.v[d] - 1) * far + 1 : 0;
        if (!small || reach > image.v[d] + before + after)
            return ac_error(n->r->cx, n->at, E0103, "blocks of %" PRId64 " in an image of %" PRId64, block.v[d],
                            image.v[d]);
        along[d] = (image.v[d] + before + after - reach) / step + 1;
        if (!ac_mul_ok(taps, block.v[d], &taps) || !ac_mul_ok(blocks, along[d], &blocks) ||
            !ac_mul_ok(pixels, image.v[d], &pixels) || pixels > INT32_MAX)
            return ac_error(n->r->cx, n->at, E0015, "the image is too large");
    }
    if (x->dim[2] != blocks || x->dim[1] % taps)
        return ac_error(n->r->cx, n->at, E0104, "'%s' is %s, expected %" PRId64 " blocks of C * %" PRId64 " elements",
                        x->name, ac_shape_str(n->r->cx, x), blocks, taps);
    if (!ac_mul_ok(taps, blocks, &all) || all > 1 << 24)
        return ac_cannot(&n->b, "its blocks have more than 2^24 elements");
    int64_t *to = AC_NEW_N(n->r->cx->region, int64_t, all + 1); /* pixels: outside */
    for (int64_t i = 0; i < all; i++) {
        int64_t k = i / blocks, l = i % blocks, at = 0, weight = 1;
        bool inside = true;
        for (int32_t d = m - 1; d >= 0; d--) {
            const int64_t p = l % along[d] * (stride.n ? stride.v[d] : 1) + k % block.v[d] * (dil.n ? dil.v[d] : 1) -
                              (pads.n ? pads.v[d] : 0);
            inside &= p >= 0 && p < image.v[d];
            at += p * weight;
            weight *= image.v[d];
            k /= block.v[d];
            l /= along[d];
        }
        to[i] = inside ? at : pixels;
    }
    const int64_t rows = x->dim[0] * (x->dim[1] / taps);
    ac_tensor *in[] = {
        ac_make_reshape(&n->b, ac_make_ints(&n->b, all, to), 2, (int64_t[]){all, 1}),
        ac_make_transpose(&n->b, ac_make_reshape(&n->b, x, 2, (int64_t[]){rows, all}), (int32_t[]){1, 0}),
        ac_make_ints(&n->b, 2, (int64_t[]){pixels + 1, rows})};
    ac_tensor *y = in[1] ? ac_make_op(&n->b, AC_OP_SCATTER_ND, in, 3, NULL, AC_NONE) : NULL;
    y = ac_make_transpose(&n->b, ac_make_slice(&n->b, y, 0, 0, pixels), (int32_t[]){1, 0});
    int64_t dim[AC_MAX_RANK] = {x->dim[0], x->dim[1] / taps};
    for (int32_t d = 0; d < m; d++)
        dim[2 + d] = image.v[d];
    return ac_onx_result(n, 0, ac_make_reshape(&n->b, y, m + 2, dim));
}
