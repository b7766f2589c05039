/* Convolutions, and blocks of images. ONNX puts channels first, [N,C,H,W]; our operators have them last, so each is
 * wrapped in transposes, which pass layout cancels. Images of one dimension become rows of height 1; those of three and
 * more, and transposed convolutions that are dilated, go the general way of conv_nd. */
#include "import/onnx_ops.h"
#include "import/onnx_window.h"

#include <inttypes.h>
#include <string.h>

static const int32_t TO_LAST[AC_MAX_RANK] = {0, 2, 3, 1}, TO_FIRST[AC_MAX_RANK] = {0, 3, 1, 2};

/* [N,C,L] -> [N,1,L,C], [N,C,H,W] -> [N,H,W,C] */
ac_tensor *ac_onx_channels_last(ac_onx_node *n, ac_tensor *x)
{
    static const int32_t ROW[AC_MAX_RANK] = {0, 2, 1};
    if (!x || x->rank == 4)
        return ac_onx_transpose(n, x, TO_LAST);
    x = ac_onx_transpose(n, x, ROW);
    return x ? ac_onx_reshape(n, x, 4, (int64_t[]){x->dim[0], 1, x->dim[1], x->dim[2]}) : NULL;
}

ac_tensor *ac_onx_channels_first(ac_onx_node *n, ac_tensor *y, int32_t m)
{
    static const int32_t ROW[AC_MAX_RANK] = {0, 2, 1};
    if (!y || m == 2)
        return ac_onx_transpose(n, y, TO_FIRST);
    return ac_onx_transpose(n, ac_onx_reshape(n, y, 3, (int64_t[]){y->dim[0], y->dim[2], y->dim[3]}), ROW);
}

/* A list of one number for each spatial dimension, into the last of v. */
static int spatial(ac_onx_node *n, const char *name, int32_t m, int64_t lo, int64_t v[SPATIAL])
{
    ac_ints list;
    AC_TRY(ac_onx_list(n, name, &list));
    if (list.n && list.n != m)
        return ac_error(n->r->cx, n->at, E0103, "%s has %d numbers for %d spatial dimensions", name, list.n, m);
    for (int32_t i = 0; i < list.n; i++) {
        v[SPATIAL - m + i] = list.v[i];
        if (list.v[i] < lo || list.v[i] > INT32_MAX)
            return ac_error(n->r->cx, n->at, E0103, "%s is %" PRId64, name, list.v[i]);
    }
    return AC_OK;
}

/* Pads from auto_pad or pads, and ceil_mode: a last window that begins in the image or its left pad counts. */
int ac_onx_window_pads(ac_onx_node *n, ac_onx_window *w, bool ceil_mode)
{
    const char *how = ac_onx_str(n, "auto_pad", "NOTSET");
    ac_ints pads;
    AC_TRY(ac_onx_list(n, "pads", &pads));
    const bool same = !strcmp(how, "SAME_UPPER") || !strcmp(how, "SAME_LOWER");
    if (!same && strcmp(how, "NOTSET") != 0 && strcmp(how, "VALID") != 0 && *how)
        return ac_error(n->r->cx, n->at, E0103, "auto_pad is '%s'", how);
    if (pads.n && pads.n != 2 * w->m)
        return ac_error(n->r->cx, n->at, E0103, "pads has %d numbers for %d spatial dimensions", pads.n, w->m);
    for (int32_t i = 0; i < w->m; i++) {
        const int32_t d = SPATIAL - w->m + i;
        const int64_t reach = (w->kernel[d] - 1) * w->dil[d] + 1;
        if (pads.n && !same && strcmp(how, "VALID") != 0) {
            w->before[d] = pads.v[i];
            w->after[d] = pads.v[i + w->m];
        }
        if (w->before[d] < 0 || w->after[d] < 0 || w->before[d] > INT32_MAX || w->after[d] > INT32_MAX)
            return ac_onx_cannot(n, "its pads are negative");
        if (same) {
            const int64_t out = (w->in[d] + w->stride[d] - 1) / w->stride[d];
            int64_t all = (out - 1) * w->stride[d] + reach - w->in[d];
            all = all > 0 ? all : 0;
            w->before[d] = !strcmp(how, "SAME_UPPER") ? all / 2 : all - all / 2;
            w->after[d] = all - w->before[d];
        }
        const int64_t room = w->in[d] + w->before[d] + w->after[d] - reach;
        if (room < 0)
            return ac_error(n->r->cx, n->at, E0104,
                            "the window (%" PRId64 ") is larger than the padded image (%" PRId64 ")", reach,
                            room + reach);
        if (ceil_mode && !same && room % w->stride[d]) {
            const int64_t out = room / w->stride[d] + 2;
            if ((out - 1) * w->stride[d] < w->in[d] + w->before[d])
                w->after[d] = (out - 1) * w->stride[d] + reach - w->in[d] - w->before[d];
        }
    }
    return AC_OK;
}

int ac_onx_window_open(ac_onx_node *n, const ac_tensor *x, ac_onx_window *w)
{
    *w = (ac_onx_window){.m = x->rank - 2};
    for (int32_t d = 0; d < SPATIAL; d++)
        w->in[d] = w->kernel[d] = w->stride[d] = w->dil[d] = 1;
    if (w->m < 1)
        return ac_error(n->r->cx, n->at, E0104, "input '%s' is %s, expected at least 3 dimensions [N,C,..]", x->name,
                        ac_shape_str(n->r->cx, x));
    for (int32_t i = 0; i < w->m; i++)
        w->in[SPATIAL - w->m + i] = x->dim[2 + i];
    AC_TRY(spatial(n, "strides", w->m, 1, w->stride));
    AC_TRY(spatial(n, "dilations", w->m, 1, w->dil));
    return spatial(n, "kernel_shape", w->m, 1, w->kernel);
}

static void conv_attrs(const ac_onx_window *w, ac_attrs_conv *a)
{
    enum { H = SPATIAL - 2, W = SPATIAL - 1 };
    a->stride_h = (int32_t)w->stride[H];
    a->stride_w = (int32_t)w->stride[W];
    a->dilation_h = (int32_t)w->dil[H];
    a->dilation_w = (int32_t)w->dil[W];
    a->padding = AC_PAD_EXPLICIT;
    a->pad_t = (int32_t)w->before[H];
    a->pad_b = (int32_t)w->after[H];
    a->pad_l = (int32_t)w->before[W];
    a->pad_r = (int32_t)w->after[W];
}

/* Weights [O,I,K] or [O,I,KH,KW] with height 1 put in. */
static ac_tensor *kernel_2d(ac_onx_node *n, ac_tensor *w)
{
    return w->rank == 4 ? w : ac_onx_reshape(n, w, 4, (int64_t[]){w->dim[0], w->dim[1], 1, w->dim[2]});
}

static int check_kernel(ac_onx_node *n, const ac_tensor *x, const ac_tensor *w, ac_onx_window *win)
{
    if (w->rank != x->rank)
        return ac_error(n->r->cx, n->at, E0104, "input '%s' is %s, weights '%s' are %s", x->name,
                        ac_shape_str(n->r->cx, x), w->name, ac_shape_str(n->r->cx, w));
    for (int32_t i = 0; i < win->m; i++) {
        const int32_t d = SPATIAL - win->m + i;
        if (ac_onx_attr_of(n, "kernel_shape") && win->kernel[d] != w->dim[2 + i])
            return ac_error(n->r->cx, n->at, E0104, "kernel_shape says %" PRId64 ", weights '%s' are %s",
                            win->kernel[d], w->name, ac_shape_str(n->r->cx, w));
        if (w->dim[2 + i] < 1)
            return ac_error(n->r->cx, n->at, E0104, "weights '%s' are empty", w->name);
        win->kernel[d] = w->dim[2 + i];
    }
    return AC_OK;
}

/* Channels from dimension 1 to the end, and back; any rank. */
static ac_tensor *to_last(ac_onx_node *n, ac_tensor *x)
{
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    if (!x)
        return NULL;
    ac_onx_axis_last(x->rank, 1, perm, back);
    return ac_onx_transpose(n, x, perm);
}

static ac_tensor *to_first(ac_onx_node *n, ac_tensor *x)
{
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    if (!x)
        return NULL;
    ac_onx_axis_last(x->rank, 1, perm, back);
    return ac_onx_transpose(n, x, back);
}

/* x [N,S..,C], w [K..,C/groups,O] */
static ac_tensor *conv_nd(ac_onx_node *n, ac_tensor *x, ac_tensor *w, ac_tensor *bias, const ac_onx_window *win,
                          int64_t groups)
{
    ac_attrs a;
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, 4 * SPATIAL);
    const int32_t from = SPATIAL - win->m;
    if (!x || !w)
        return NULL;
    ac_attrs_init(AC_OP_CONV_ND, &a);
    for (int32_t d = 0; d < win->m; d++) {
        v[d] = win->stride[from + d];
        v[SPATIAL + d] = win->dil[from + d];
        v[2 * SPATIAL + 2 * d] = win->before[from + d];
        v[2 * SPATIAL + 2 * d + 1] = win->after[from + d];
    }
    a.conv_nd.strides = (ac_ints){win->m, v};
    a.conv_nd.dilations = (ac_ints){win->m, v + SPATIAL};
    a.conv_nd.pads = (ac_ints){2 * win->m, v + 2 * SPATIAL};
    a.conv_nd.groups = (int32_t)groups;
    ac_tensor *in[] = {x, w, bias};
    return to_first(n, ac_onx_make(n, AC_OP_CONV_ND, in, bias ? 3 : 2, &a, AC_NONE));
}

int ac_onx_do_conv(ac_onx_node *n)
{
    static const int32_t DEPTHWISE[AC_MAX_RANK] = {1, 2, 3, 0};
    ac_tensor *x = n->in[0], *w = n->in[1], *bias = ac_onx_in(n, 2);
    ac_onx_window win;
    ac_attrs a;
    AC_TRY(ac_onx_window_open(n, x, &win));
    AC_TRY(check_kernel(n, x, w, &win));
    AC_TRY(ac_onx_window_pads(n, &win, false));
    const int64_t groups = ac_onx_int(n, "group", 1);
    if (groups < 1 || groups > INT32_MAX || w->dim[1] * groups != x->dim[1] || w->dim[0] % groups)
        return ac_error(n->r->cx, n->at, E0104, "%" PRId64 " groups of weights %s do not fit input '%s' %s", groups,
                        ac_shape_str(n->r->cx, w), x->name, ac_shape_str(n->r->cx, x));
    if (win.m > 2) { /* [O,I,K..] -> [K..,I,O] */
        int32_t perm[AC_MAX_RANK];
        for (int32_t d = 0; d < x->rank; d++)
            perm[d] = d < win.m ? d + 2 : x->rank - 1 - d;
        return ac_onx_result(n, 0, conv_nd(n, to_last(n, x), ac_onx_transpose(n, w, perm), bias, &win, groups));
    }
    const bool depthwise = groups > 1 && w->dim[1] == 1;
    const ac_op op = depthwise ? AC_OP_DEPTHWISE_CONV_2D : AC_OP_CONV_2D;
    ac_attrs_init(op, &a);
    conv_attrs(&win, &a.conv);
    ac_tensor *in[] = {ac_onx_channels_last(n, x),
                       ac_onx_transpose(n, kernel_2d(n, w), depthwise ? DEPTHWISE : TO_LAST), bias};
    return ac_onx_result(n, 0, ac_onx_channels_first(n, ac_onx_make(n, op, in, bias ? 3 : 2, &a, AC_NONE), win.m));
}

/* Output o gets stride * (in - 1) + output_padding + reach - pads elements; output_shape gives it and makes the pads.
 */
static int tconv_shape(ac_onx_node *n, ac_onx_window *w, int64_t out[SPATIAL])
{
    const char *how = ac_onx_str(n, "auto_pad", "NOTSET");
    ac_ints pads, want;
    int64_t extra[SPATIAL] = {0};
    AC_TRY(ac_onx_list(n, "pads", &pads));
    AC_TRY(ac_onx_list(n, "output_shape", &want));
    AC_TRY(spatial(n, "output_padding", w->m, 0, extra));
    const bool upper = !strcmp(how, "SAME_UPPER"), lower = !strcmp(how, "SAME_LOWER");
    if ((pads.n && pads.n != 2 * w->m) || (want.n && want.n != w->m && want.n != w->m + 2))
        return ac_error(n->r->cx, n->at, E0103, "pads or output_shape do not fit %d spatial dimensions", w->m);
    for (int32_t i = 0; i < w->m; i++) {
        const int32_t d = SPATIAL - w->m + i;
        const int64_t whole = w->stride[d] * (w->in[d] - 1) + extra[d] + (w->kernel[d] - 1) * w->dil[d] + 1;
        if (pads.n && !upper && !lower) {
            w->before[d] = pads.v[i];
            w->after[d] = pads.v[i + w->m];
        }
        out[d] = whole - w->before[d] - w->after[d];
        if (want.n)
            out[d] = want.v[want.n - w->m + i];
        else if (upper || lower)
            out[d] = w->in[d] * w->stride[d];
        if (want.n || upper || lower) {
            const int64_t all = whole - out[d] > 0 ? whole - out[d] : 0;
            w->before[d] = upper ? all / 2 : all - all / 2;
            w->after[d] = all - w->before[d];
            if (!upper && !lower) { /* the specification: with NOTSET the larger half stands behind */
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

/* x with stride - 1 zeros between neighbours along dimension d. */
static ac_tensor *spread(ac_onx_node *n, ac_tensor *x, int32_t d, int64_t stride)
{
    int64_t outer = 1, inner = 1, dim[AC_MAX_RANK];
    const int32_t rank = x->rank;
    for (int32_t k = 0; k < rank; k++) {
        dim[k] = x->dim[k] * (k == d ? stride : 1);
        *(k < d ? &outer : &inner) *= k == d ? 1 : x->dim[k];
    }
    const int64_t none[4] = {0}, behind[4] = {0, 0, stride - 1, 0};
    ac_tensor *y = ac_onx_reshape(n, x, 4, (int64_t[]){outer, x->dim[d], 1, inner});
    y = ac_onx_reshape(n, ac_onx_pad(n, y, none, behind, NULL), rank, dim);
    return ac_onx_slice(n, y, d, 0, dim[d] - stride + 1);
}

/* The convolution of the spread input with the flipped kernel: any number of dimensions, dilated. */
static ac_tensor *tconv(ac_onx_node *n, ac_onx_window *win, const int64_t *out, int64_t groups)
{
    ac_tensor *x = to_last(n, n->in[0]), *w = n->in[1];
    const int32_t m = win->m, rank = m + 2;
    const int64_t in_channels = w->dim[0] / groups, channels = w->dim[1];
    for (int32_t i = 0; x && i < m; i++) {
        const int32_t d = SPATIAL - m + i;
        if (win->stride[d] > 1)
            x = spread(n, x, i + 1, win->stride[d]);
        if (!x)
            return NULL;
        const int64_t reach = (win->kernel[d] - 1) * win->dil[d] + 1, before = reach - 1 - win->before[d];
        if (before < 0) { /* results only the front reaches are cut off */
            if (-before >= x->dim[i + 1])
                return (void)ac_onx_cannot(n, "its pads leave nothing of the input"), NULL;
            x = ac_onx_slice(n, x, i + 1, -before, x->dim[i + 1] + before);
        }
        win->before[d] = before > 0 ? before : 0;
        win->after[d] = x ? out[d] - 1 + reach - x->dim[i + 1] - win->before[d] : 0;
        if (x && win->after[d] < 0) {
            x = ac_onx_slice(n, x, i + 1, 0, x->dim[i + 1] + win->after[d]);
            win->after[d] = 0;
        }
        win->stride[d] = 1;
    }
    int64_t split[AC_MAX_RANK] = {groups, in_channels, channels}, whole[AC_MAX_RANK];
    int32_t perm[AC_MAX_RANK];
    int64_t axes[SPATIAL];
    for (int32_t d = 0; d < m; d++) {
        split[3 + d] = whole[d] = w->dim[2 + d];
        perm[d] = 3 + d;
        axes[d] = d;
    }
    perm[m] = 1;
    perm[m + 1] = 0;
    perm[m + 2] = 2;
    whole[m] = in_channels;
    whole[m + 1] = groups * channels;
    w = ac_onx_reshape(n, ac_onx_transpose(n, ac_onx_reshape(n, w, rank + 1, split), perm), rank, whole);
    w = ac_onx_2(n, AC_OP_REVERSE_V2, w, ac_onx_ints_const(n, m, axes));
    return conv_nd(n, x, w, ac_onx_in(n, 2), win, groups);
}

static int tconv_nd(ac_onx_node *n, ac_onx_window *win, const int64_t *out, int64_t groups)
{
    if (win->m + 3 > AC_MAX_RANK)
        return ac_onx_cannot(n, "it has %d spatial dimensions", win->m);
    return ac_onx_result(n, 0, tconv(n, win, out, groups));
}

int ac_onx_do_conv_transpose(ac_onx_node *n)
{
    static const int32_t WEIGHTS[AC_MAX_RANK] = {1, 2, 3, 0}; /* [I,O,KH,KW] -> [O,KH,KW,I] */
    ac_tensor *x = n->in[0], *w = n->in[1], *bias = ac_onx_in(n, 2), *part[64];
    ac_onx_window win;
    ac_attrs a;
    int64_t out[SPATIAL];
    AC_TRY(ac_onx_window_open(n, x, &win));
    AC_TRY(check_kernel(n, x, w, &win));
    AC_TRY(tconv_shape(n, &win, out));
    const int64_t groups = ac_onx_int(n, "group", 1);
    if (groups < 1 || x->dim[1] % groups || w->dim[0] != x->dim[1])
        return ac_error(n->r->cx, n->at, E0104, "%" PRId64 " groups of weights %s do not fit input '%s' %s", groups,
                        ac_shape_str(n->r->cx, w), x->name, ac_shape_str(n->r->cx, x));
    if (win.m > 2 || groups > 64 || win.dil[SPATIAL - 2] != 1 || win.dil[SPATIAL - 1] != 1)
        return tconv_nd(n, &win, out, groups);
    ac_attrs_init(AC_OP_TRANSPOSE_CONV, &a);
    conv_attrs(&win, &a.conv);
    x = ac_onx_channels_last(n, x);
    w = kernel_2d(n, w);
    if (!x || !w)
        return AC_FAIL;
    const int64_t ic = x->dim[3] / groups, oc = w->dim[1];
    for (int64_t g = 0; g < groups; g++) {
        ac_tensor *xg = groups == 1 ? x : ac_onx_slice(n, x, 3, g * ic, ic);
        ac_tensor *wg = groups == 1 ? w : ac_onx_slice(n, w, 0, g * ic, ic);
        ac_tensor *bg = groups == 1 || !bias ? bias : ac_onx_slice(n, bias, 0, g * oc, oc);
        ac_tensor *in[] = {
            ac_onx_ints_const(n, 4, (int64_t[]){x->dim[0], win.m > 1 ? out[SPATIAL - 2] : 1, out[SPATIAL - 1], oc}),
            ac_onx_transpose(n, wg, WEIGHTS), xg, bg};
        part[g] = ac_onx_make(n, AC_OP_TRANSPOSE_CONV, in, bg ? 4 : 3, &a, AC_NONE);
    }
    return ac_onx_result(
        n, 0, ac_onx_channels_first(n, groups == 1 ? part[0] : ac_onx_concat(n, part, (int32_t)groups, 3), win.m));
}

/* DCR is our order when channels are last; CRD splits them the other way round, which takes a transpose of its own. */
int ac_onx_do_depth_to_space(ac_onx_node *n)
{
    static const int32_t CRD[AC_MAX_RANK] = {0, 1, 4, 2, 5, 3}; /* [N,C,b,b,H,W] -> [N,C,H,b,W,b] */
    ac_tensor *x = n->in[0];
    const int64_t b = ac_onx_int(n, "blocksize", 0);
    const char *mode = ac_onx_str(n, "mode", "DCR");
    if (x->rank != 4 || b < 1 || b > 1 << 15 || x->dim[1] % (b * b))
        return ac_error(n->r->cx, n->at, E0104, "'%s' %s does not divide into blocks of %" PRId64, x->name,
                        ac_shape_str(n->r->cx, x), b);
    const int64_t c = x->dim[1] / (b * b), h = x->dim[2], w = x->dim[3];
    if (!strcmp(mode, "CRD")) {
        x = ac_onx_reshape(n, x, 6, (int64_t[]){x->dim[0], c, b, b, h, w});
        x = ac_onx_transpose(n, x, CRD);
        return ac_onx_result(n, 0, x ? ac_onx_reshape(n, x, 4, (int64_t[]){x->dim[0], c, h * b, w * b}) : NULL);
    }
    if (strcmp(mode, "DCR") != 0)
        return ac_error(n->r->cx, n->at, E0103, "mode is '%s', expected DCR or CRD", mode);
    ac_attrs a;
    ac_attrs_init(AC_OP_DEPTH_TO_SPACE, &a);
    a.block.block = (int32_t)b;
    x = ac_onx_channels_last(n, x);
    return ac_onx_result(
        n, 0, ac_onx_channels_first(n, x ? ac_onx_make(n, AC_OP_DEPTH_TO_SPACE, &x, 1, &a, AC_NONE) : NULL, 2));
}

int ac_onx_do_space_to_depth(ac_onx_node *n)
{
    static const int32_t CRD[AC_MAX_RANK] = {0, 1, 3, 5, 2, 4}; /* [N,C,H,b,W,b] -> [N,C,b,b,H,W] */
    ac_tensor *x = n->in[0];
    ac_attrs a;
    const int64_t b = ac_onx_int(n, "blocksize", 0);
    const char *mode = ac_onx_str(n, "mode", "DCR");
    if (x->rank != 4 || b < 1 || b > 1 << 15 || x->dim[2] % b || x->dim[3] % b)
        return ac_error(n->r->cx, n->at, E0104, "'%s' %s does not divide into blocks of %" PRId64, x->name,
                        ac_shape_str(n->r->cx, x), b);
    if (!strcmp(mode, "CRD")) {
        const int64_t c = x->dim[1], h = x->dim[2] / b, w = x->dim[3] / b;
        x = ac_onx_transpose(n, ac_onx_reshape(n, x, 6, (int64_t[]){x->dim[0], c, h, b, w, b}), CRD);
        return ac_onx_result(n, 0, x ? ac_onx_reshape(n, x, 4, (int64_t[]){x->dim[0], c * b * b, h, w}) : NULL);
    }
    if (strcmp(mode, "DCR") != 0)
        return ac_error(n->r->cx, n->at, E0103, "mode is '%s', expected DCR or CRD", mode);
    ac_attrs_init(AC_OP_SPACE_TO_DEPTH, &a);
    a.block.block = (int32_t)b;
    x = ac_onx_channels_last(n, x);
    return ac_onx_result(
        n, 0, ac_onx_channels_first(n, x ? ac_onx_make(n, AC_OP_SPACE_TO_DEPTH, &x, 1, &a, AC_NONE) : NULL, 2));
}
