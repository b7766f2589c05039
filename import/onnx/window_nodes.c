/* window_nodes.c - convolutions, and blocks of images: reads windows of ONNX for frame.h. */
#include "import/onnx/proto/nodes.h"
#include "import/onnx/window_nodes.h"

#include <inttypes.h>
#include <string.h>

/* A list of one number for each spatial dimension, into the last of v. */
static int spatial(ac_onx_node *n, int id, int32_t m, int64_t v[AC_SPATIAL])
{
    const ac_ints list = ac_attr_ints(&n->attrs, id);
    if (list.n && list.n != m)
        return ac_error(n->r->cx, n->at, E0103, "%s has %d numbers for %d spatial dimensions",
                        ac_attr_name(&n->attrs, id), list.n, m);
    for (int32_t i = 0; i < list.n; i++)
        v[AC_SPATIAL - m + i] = list.v[i];
    return n->b.bad ? AC_FAIL : AC_OK;
}

/* Pads from auto_pad or pads. Where strides are larger than windows, SAME needs fewer than no elements: of a
 * convolution ONNX's reference adds none then; of a pool the formula of the specification stands, so that the first
 * window may begin inside of the image, as in ONNX Runtime. */
int ac_onx_window_pads(ac_onx_node *n, ac_frame *w, ac_last_window last)
{
    const bool ceil_mode = last == AC_LAST_BEGINS;
    const char *how = ac_attr_text(&n->attrs, A_auto_pad);
    const ac_ints pads = ac_attr_ints(&n->attrs, A_window_pads);
    const bool same = !strcmp(how, "SAME_UPPER") || !strcmp(how, "SAME_LOWER");
    if (!same && strcmp(how, "NOTSET") != 0 && strcmp(how, "VALID") != 0 && *how)
        return ac_error(n->r->cx, n->at, E0103,
                        "attribute 'auto_pad' is '%.60s', expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", how);
    if (pads.n && pads.n != 2 * w->m)
        return ac_error(n->r->cx, n->at, E0103, "pads has %d numbers for %d spatial dimensions", pads.n, w->m);
    for (int32_t i = 0; i < w->m; i++) {
        const int32_t d = AC_SPATIAL - w->m + i;
        const int64_t reach = ac_frame_reach(w, d);
        if (pads.n && !same && strcmp(how, "VALID") != 0) {
            w->before[d] = pads.v[i];
            w->after[d] = pads.v[i + w->m];
        }
        if (w->before[d] < 0 || w->after[d] < 0 || w->before[d] > INT32_MAX || w->after[d] > INT32_MAX)
            return ac_cannot(&n->b, "its pads are negative");
        if (same) {
            const int64_t out = (w->in[d] + w->stride[d] - 1) / w->stride[d];
            int64_t all = (out - 1) * w->stride[d] + reach - w->in[d];
            const bool upper = !strcmp(how, "SAME_UPPER");
            if (all < 0 && last == AC_LAST_WHOLE)
                all = 0;
            if (all < -1 && !upper)
                return ac_cannot(&n->b,
                                 "its windows leave out %" PRId64 " elements along spatial dimension %d: with "
                                 "SAME_LOWER, ONNX and ONNX Runtime do not agree where the first one begins; "
                                 "give pads instead of auto_pad",
                                 -all, i);
            w->before[d] = upper || all < 0 ? all / 2 : all - all / 2;
            w->after[d] = all > 0 ? all - w->before[d] : 0;
        }
        int64_t travel = w->in[d] + w->before[d] + w->after[d] - reach;
        if (travel < 0 && -travel < w->stride[d] && last != AC_LAST_WHOLE) { /* ONNX Runtime: one window, cut off */
            w->after[d] -= travel;
            travel = 0;
        }
        if (travel < 0)
            return ac_error(n->r->cx, n->at, E0104,
                            "the window (%" PRId64 ") is larger than the padded image (%" PRId64 ")", reach,
                            travel + reach);
        if (ceil_mode && !same && travel % w->stride[d]) {
            const int64_t out = travel / w->stride[d] + 2;
            if ((out - 1) * w->stride[d] < w->in[d] + w->before[d])
                w->after[d] = (out - 1) * w->stride[d] + reach - w->in[d] - w->before[d];
        }
    }
    return AC_OK;
}

int ac_onx_window_open(ac_onx_node *n, const ac_tensor *x, ac_frame *w)
{
    if (x->rank < 3)
        return ac_error(n->r->cx, n->at, E0104, "input '%s' is %s, expected at least 3 dimensions [N,C,..]", x->name,
                        ac_shape_str(n->r->cx, x));
    ac_frame_open(w, x);
    AC_TRY(spatial(n, A_window_strides, w->m, w->stride));
    AC_TRY(spatial(n, A_window_dilations, w->m, w->dil));
    return spatial(n, A_kernel_shape, w->m, w->kernel);
}

static int check_kernel(ac_onx_node *n, const ac_tensor *x, const ac_tensor *w, ac_frame *win)
{
    if (w->rank != x->rank)
        return ac_error(n->r->cx, n->at, E0104, "input '%s' is %s, weights '%s' are %s", x->name,
                        ac_shape_str(n->r->cx, x), w->name, ac_shape_str(n->r->cx, w));
    for (int32_t i = 0; i < win->m; i++) {
        const int32_t d = AC_SPATIAL - win->m + i;
        if (ac_attr_has(&n->attrs, A_kernel_shape) && win->kernel[d] != w->dim[2 + i])
            return ac_error(n->r->cx, n->at, E0104, "kernel_shape is %" PRId64 ", but weights '%s' have shape %s",
                            win->kernel[d], w->name, ac_shape_str(n->r->cx, w));
        if (w->dim[2 + i] < 1)
            return ac_error(n->r->cx, n->at, E0104, "weights '%s' are empty", w->name);
        win->kernel[d] = w->dim[2 + i];
    }
    return AC_OK;
}

/* The window's padding as a step of its own. */
static ac_tensor *padded(ac_onx_node *n, ac_tensor *x, ac_frame *w, ac_tensor *value)
{
    int64_t before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0}, any = 0;
    for (int32_t i = 0; i < w->m; i++) {
        const int32_t d = AC_SPATIAL - w->m + i;
        before[2 + i] = w->before[d], after[2 + i] = w->after[d];
        any += w->before[d] + w->after[d];
        w->in[d] += w->before[d] + w->after[d];
        w->before[d] = w->after[d] = 0;
    }
    return any ? ac_make_pad(&n->b, x, before, after, value) : x;
}

static int read_conv(ac_onx_node *n, const ac_tensor *x, const ac_tensor *w, ac_frame *win, int64_t *groups)
{
    AC_TRY(ac_onx_window_open(n, x, win));
    AC_TRY(check_kernel(n, x, w, win));
    AC_TRY(ac_onx_window_pads(n, win, AC_LAST_WHOLE));
    *groups = ac_attr_int(&n->attrs, A_group);
    if (*groups < 1 || *groups > INT32_MAX || w->dim[1] * *groups != x->dim[1] || w->dim[0] % *groups)
        return ac_error(n->r->cx, n->at, E0104, "%" PRId64 " groups of weights %s do not fit input '%s' %s", *groups,
                        ac_shape_str(n->r->cx, w), x->name, ac_shape_str(n->r->cx, x));
    return AC_OK;
}

ac_tensor *ac_onx_conv(ac_onx_node *n, ac_tensor *x, ac_tensor *w, ac_tensor *bias, int32_t zero, ac_tensor *pad)
{
    ac_frame win;
    int64_t groups;
    if (read_conv(n, x, w, &win, &groups) != AC_OK)
        return NULL;
    win.zero = zero;
    return ac_frame_conv(&n->b, pad ? padded(n, x, &win, pad) : x, w, bias, &win, groups);
}

int ac_onx_do_conv(ac_onx_node *n)
{
    return ac_onx_result(n, 0, ac_onx_conv(n, n->in[0], n->in[1], ac_onx_in(n, 2), 0, NULL));
}

/* Output o gets stride * (in - 1) + output_padding + reach - pads elements; output_shape gives it and makes the pads.
 * SAME_UPPER and SAME_LOWER cut it to stride * in; a shorter one stays as it is, as in ONNX Runtime. */
static int tconv_shape(ac_onx_node *n, ac_frame *w, int64_t out[AC_SPATIAL])
{
    const char *how = ac_attr_text(&n->attrs, A_auto_pad);
    int64_t extra[AC_SPATIAL] = {0};
    const ac_ints pads = ac_attr_ints(&n->attrs, A_window_pads), want = ac_attr_ints(&n->attrs, A_output_shape);
    AC_TRY(spatial(n, A_output_padding, w->m, extra));
    const bool upper = !strcmp(how, "SAME_UPPER"), lower = !strcmp(how, "SAME_LOWER");
    if ((pads.n && pads.n != 2 * w->m) || (want.n && want.n != w->m && want.n != w->m + 2))
        return ac_error(n->r->cx, n->at, E0103, "pads or output_shape do not fit %d spatial dimensions", w->m);
    for (int32_t i = 0; i < w->m; i++) {
        const int32_t d = AC_SPATIAL - w->m + i;
        const int64_t whole = w->stride[d] * (w->in[d] - 1) + extra[d] + ac_frame_reach(w, d);
        if (pads.n && !upper && !lower) {
            w->before[d] = pads.v[i];
            w->after[d] = pads.v[i + w->m];
        }
        const int64_t same = w->in[d] * w->stride[d];
        out[d] = whole - w->before[d] - w->after[d];
        if (want.n)
            out[d] = want.v[want.n - w->m + i];
        else if ((upper || lower) && same < whole)
            out[d] = same;
        if (want.n || upper || lower) {
            const int64_t all = whole - out[d] > 0 ? whole - out[d] : 0;
            w->before[d] = upper ? all / 2 : all - all / 2;
            w->after[d] = all - w->before[d];
            if (!upper && !lower) { /* the specification: with NOTSET the larger half is at the end */
                w->before[d] = all / 2;
                w->after[d] = all - all / 2;
            }
        }
        if (out[d] < 1 || w->before[d] < 0 || w->after[d] < 0)
            return ac_error(n->r->cx, n->at, E0201, "the result has %" PRId64 " elements along spatial dimension %d",
                            out[d], i);
    }
    return AC_OK;
}

int ac_onx_do_conv_transpose(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *w = n->in[1], *bias = ac_onx_in(n, 2);
    ac_frame win;
    int64_t out[AC_SPATIAL];
    AC_TRY(ac_onx_window_open(n, x, &win));
    AC_TRY(check_kernel(n, x, w, &win));
    AC_TRY(tconv_shape(n, &win, out));
    const int64_t groups = ac_attr_int(&n->attrs, A_group);
    if (groups < 1 || x->dim[1] % groups || w->dim[0] != x->dim[1])
        return ac_error(n->r->cx, n->at, E0104, "%" PRId64 " groups of weights %s do not fit input '%s' %s", groups,
                        ac_shape_str(n->r->cx, w), x->name, ac_shape_str(n->r->cx, x));
    return ac_onx_result(n, 0, ac_frame_tconv(&n->b, x, w, bias, &win, groups, out));
}

/* DCR is our order when channels are last; CRD splits them the other way round, which takes a transpose of its own. */
int ac_onx_do_depth_to_space(ac_onx_node *n)
{
    static const int32_t CRD[AC_MAX_RANK] = {0, 1, 4, 2, 5, 3}; /* [N,C,b,b,H,W] -> [N,C,H,b,W,b] */
    ac_tensor *x = n->in[0];
    const int64_t b = ac_attr_int(&n->attrs, A_blocksize);
    const char *mode = ac_attr_text(&n->attrs, A_block_mode);
    if (x->rank != 4 || b < 1 || b > 1 << 15 || x->dim[1] % (b * b))
        return ac_error(n->r->cx, n->at, E0104, "'%s' %s does not divide into blocks of %" PRId64, x->name,
                        ac_shape_str(n->r->cx, x), b);
    const int64_t c = x->dim[1] / (b * b), h = x->dim[2], w = x->dim[3];
    if (!strcmp(mode, "CRD")) {
        x = ac_make_reshape(&n->b, x, 6, (int64_t[]){x->dim[0], c, b, b, h, w});
        x = ac_make_transpose(&n->b, x, CRD);
        return ac_onx_result(n, 0, x ? ac_make_reshape(&n->b, x, 4, (int64_t[]){x->dim[0], c, h * b, w * b}) : NULL);
    }
    ac_attrs a;
    ac_attrs_init(AC_OP_DEPTH_TO_SPACE, &a);
    a.block.block = (int32_t)b;
    x = ac_channels_last(&n->b, x);
    return ac_onx_result(
        n, 0, ac_channels_first(&n->b, x ? ac_make_op(&n->b, AC_OP_DEPTH_TO_SPACE, &x, 1, &a, AC_NONE) : NULL, 2));
}

int ac_onx_do_space_to_depth(ac_onx_node *n)
{
    static const int32_t CRD[AC_MAX_RANK] = {0, 1, 3, 5, 2, 4}; /* [N,C,H,b,W,b] -> [N,C,b,b,H,W] */
    ac_tensor *x = n->in[0];
    ac_attrs a;
    const int64_t b = ac_attr_int(&n->attrs, A_blocksize);
    const char *mode = ac_attr_text(&n->attrs, A_block_mode);
    if (x->rank != 4 || b < 1 || b > 1 << 15 || x->dim[2] % b || x->dim[3] % b)
        return ac_error(n->r->cx, n->at, E0104, "'%s' %s does not divide into blocks of %" PRId64, x->name,
                        ac_shape_str(n->r->cx, x), b);
    if (!strcmp(mode, "CRD")) {
        const int64_t c = x->dim[1], h = x->dim[2] / b, w = x->dim[3] / b;
        x = ac_make_transpose(&n->b, ac_make_reshape(&n->b, x, 6, (int64_t[]){x->dim[0], c, h, b, w, b}), CRD);
        return ac_onx_result(n, 0, x ? ac_make_reshape(&n->b, x, 4, (int64_t[]){x->dim[0], c * b * b, h, w}) : NULL);
    }
    ac_attrs_init(AC_OP_SPACE_TO_DEPTH, &a);
    a.block.block = (int32_t)b;
    x = ac_channels_last(&n->b, x);
    return ac_onx_result(
        n, 0, ac_channels_first(&n->b, x ? ac_make_op(&n->b, AC_OP_SPACE_TO_DEPTH, &x, 1, &a, AC_NONE) : NULL, 2));
}
