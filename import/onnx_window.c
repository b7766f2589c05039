/* Convolutions, pools and what else slides over images. ONNX puts channels first, [N,C,H,W]; our operators have them
 * last, so each is wrapped in transposes, which pass layout cancels. Images of one dimension become rows of height 1.
 */
#include "import/onnx_ops.h"

#include <inttypes.h>
#include <string.h>

enum { SPATIAL = 3 }; /* depth, height, width: what a model has fewer of stands at the end */

/* The geometry of a window along the spatial dimensions of a tensor [N,C,..]. */
typedef struct window {
    int32_t m; /* spatial dimensions of the model: 1 to 3 */
    int64_t in[SPATIAL], kernel[SPATIAL], stride[SPATIAL], dil[SPATIAL], before[SPATIAL], after[SPATIAL];
    bool padded; /* pools: the image gets zeros first, front and back, pad in all */
    int64_t front[SPATIAL], back[SPATIAL], pad[SPATIAL];
} window;

static const int32_t TO_LAST[AC_MAX_RANK] = {0, 2, 3, 1}, TO_FIRST[AC_MAX_RANK] = {0, 3, 1, 2};

/* [N,C,L] -> [N,1,L,C], [N,C,H,W] -> [N,H,W,C] */
static ac_tensor *channels_last(ac_onx_node *n, ac_tensor *x)
{
    static const int32_t ROW[AC_MAX_RANK] = {0, 2, 1};
    if (!x || x->rank == 4)
        return ac_onx_transpose(n, x, TO_LAST);
    x = ac_onx_transpose(n, x, ROW);
    return x ? ac_onx_reshape(n, x, 4, (int64_t[]){x->dim[0], 1, x->dim[1], x->dim[2]}) : NULL;
}

static ac_tensor *channels_first(ac_onx_node *n, ac_tensor *y, int32_t m)
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
static int read_pads(ac_onx_node *n, window *w, bool ceil_mode)
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

static int open_window(ac_onx_node *n, const ac_tensor *x, int32_t most, window *w)
{
    *w = (window){.m = x->rank - 2, .in = {1, 1, 1}, .kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dil = {1, 1, 1}};
    if (w->m < 1 || w->m > most)
        return ac_onx_cannot(n, "its input has %d dimensions; supported are 3 to %d", x->rank, most + 2);
    for (int32_t i = 0; i < w->m; i++)
        w->in[SPATIAL - w->m + i] = x->dim[2 + i];
    AC_TRY(spatial(n, "strides", w->m, 1, w->stride));
    AC_TRY(spatial(n, "dilations", w->m, 1, w->dil));
    return spatial(n, "kernel_shape", w->m, 1, w->kernel);
}

static void conv_attrs(const window *w, ac_attrs_conv *a)
{
    a->stride_h = (int32_t)w->stride[1];
    a->stride_w = (int32_t)w->stride[2];
    a->dilation_h = (int32_t)w->dil[1];
    a->dilation_w = (int32_t)w->dil[2];
    a->padding = AC_PAD_EXPLICIT;
    a->pad_t = (int32_t)w->before[1];
    a->pad_b = (int32_t)w->after[1];
    a->pad_l = (int32_t)w->before[2];
    a->pad_r = (int32_t)w->after[2];
}

/* Weights [O,I,K] or [O,I,KH,KW] with height 1 put in. */
static ac_tensor *kernel_2d(ac_onx_node *n, ac_tensor *w)
{
    return w->rank == 4 ? w : ac_onx_reshape(n, w, 4, (int64_t[]){w->dim[0], w->dim[1], 1, w->dim[2]});
}

static int check_kernel(ac_onx_node *n, const ac_tensor *x, const ac_tensor *w, window *win)
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

int ac_onx_do_conv(ac_onx_node *n)
{
    static const int32_t DEPTHWISE[AC_MAX_RANK] = {1, 2, 3, 0};
    ac_tensor *x = n->in[0], *w = n->in[1], *bias = ac_onx_in(n, 2);
    window win;
    ac_attrs a;
    AC_TRY(open_window(n, x, 2, &win));
    AC_TRY(check_kernel(n, x, w, &win));
    AC_TRY(read_pads(n, &win, false));
    const int64_t groups = ac_onx_int(n, "group", 1);
    if (groups < 1 || groups > INT32_MAX || w->dim[1] * groups != x->dim[1] || w->dim[0] % groups)
        return ac_error(n->r->cx, n->at, E0104, "%" PRId64 " groups of weights %s do not fit input '%s' %s", groups,
                        ac_shape_str(n->r->cx, w), x->name, ac_shape_str(n->r->cx, x));
    const bool depthwise = groups > 1 && w->dim[1] == 1;
    const ac_op op = depthwise ? AC_OP_DEPTHWISE_CONV_2D : AC_OP_CONV_2D;
    ac_attrs_init(op, &a);
    conv_attrs(&win, &a.conv);
    ac_tensor *in[] = {channels_last(n, x), ac_onx_transpose(n, kernel_2d(n, w), depthwise ? DEPTHWISE : TO_LAST),
                       bias};
    return ac_onx_result(n, 0, channels_first(n, ac_onx_make(n, op, in, bias ? 3 : 2, &a, AC_NONE), win.m));
}

/* Output o gets stride * (in - 1) + output_padding + reach - pads elements; output_shape gives it and makes the pads.
 */
static int tconv_shape(ac_onx_node *n, window *w, int64_t out[SPATIAL])
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

int ac_onx_do_conv_transpose(ac_onx_node *n)
{
    static const int32_t WEIGHTS[AC_MAX_RANK] = {1, 2, 3, 0}; /* [I,O,KH,KW] -> [O,KH,KW,I] */
    ac_tensor *x = n->in[0], *w = n->in[1], *bias = ac_onx_in(n, 2), *part[64];
    window win;
    ac_attrs a;
    int64_t out[SPATIAL] = {1, 1, 1};
    AC_TRY(open_window(n, x, 2, &win));
    AC_TRY(check_kernel(n, x, w, &win));
    AC_TRY(tconv_shape(n, &win, out));
    const int64_t groups = ac_onx_int(n, "group", 1);
    if (groups < 1 || x->dim[1] % groups || w->dim[0] != x->dim[1])
        return ac_error(n->r->cx, n->at, E0104, "%" PRId64 " groups of weights %s do not fit input '%s' %s", groups,
                        ac_shape_str(n->r->cx, w), x->name, ac_shape_str(n->r->cx, x));
    if (groups > 64)
        return ac_onx_cannot(n, "it has %" PRId64 " groups; supported are up to 64", groups);
    if (win.dil[1] != 1 || win.dil[2] != 1)
        return ac_onx_cannot(n, "its dilation is not 1");
    ac_attrs_init(AC_OP_TRANSPOSE_CONV, &a);
    conv_attrs(&win, &a.conv);
    x = channels_last(n, x);
    w = kernel_2d(n, w);
    if (!x || !w)
        return AC_FAIL;
    const int64_t ic = x->dim[3] / groups, oc = w->dim[1];
    for (int64_t g = 0; g < groups; g++) {
        ac_tensor *xg = groups == 1 ? x : ac_onx_slice(n, x, 3, g * ic, ic);
        ac_tensor *wg = groups == 1 ? w : ac_onx_slice(n, w, 0, g * ic, ic);
        ac_tensor *bg = groups == 1 || !bias ? bias : ac_onx_slice(n, bias, 0, g * oc, oc);
        ac_tensor *in[] = {ac_onx_ints_const(n, 4, (int64_t[]){x->dim[0], out[1], out[2], oc}),
                           ac_onx_transpose(n, wg, WEIGHTS), xg, bg};
        part[g] = ac_onx_make(n, AC_OP_TRANSPOSE_CONV, in, bg ? 4 : 3, &a, AC_NONE);
    }
    return ac_onx_result(n, 0,
                         channels_first(n, groups == 1 ? part[0] : ac_onx_concat(n, part, (int32_t)groups, 3), win.m));
}

/* Pools. */

static ac_tensor *pool_2d(ac_onx_node *n, ac_tensor *x, const int64_t kernel[2], const int64_t stride[2],
                          const int64_t before[2], const int64_t after[2])
{
    ac_attrs a;
    ac_attrs_init(n->row->op, &a);
    a.pool.kernel_h = (int32_t)kernel[0];
    a.pool.kernel_w = (int32_t)kernel[1];
    a.pool.stride_h = (int32_t)stride[0];
    a.pool.stride_w = (int32_t)stride[1];
    a.pool.padding = AC_PAD_EXPLICIT;
    a.pool.pad_t = (int32_t)before[0];
    a.pool.pad_b = (int32_t)after[0];
    a.pool.pad_l = (int32_t)before[1];
    a.pool.pad_r = (int32_t)after[1];
    return x ? ac_onx_make(n, n->row->op, &x, 1, &a, AC_NONE) : NULL;
}

/* [N,C,D,H,W]: first over the planes, then over the depth. Maxima and averages do not mind: the number of elements in a
 * window is a product of the numbers along each dimension. */
static ac_tensor *pool_3d(ac_onx_node *n, ac_tensor *x, const window *w)
{
    static const int32_t LAST[AC_MAX_RANK] = {0, 2, 3, 4, 1}, FIRST[AC_MAX_RANK] = {0, 4, 1, 2, 3};
    const int64_t batch = x->dim[0], depth = w->in[0] + w->pad[0], c = x->dim[1];
    const int64_t kernel[2] = {w->kernel[0], 1}, stride[2] = {w->stride[0], 1}, before[2] = {w->before[0], 0};
    const int64_t after[2] = {w->after[0], 0};
    x = ac_onx_transpose(n, x, LAST);
    if (w->padded) {
        const int64_t front[5] = {0, w->front[0], w->front[1], w->front[2], 0};
        const int64_t back[5] = {0, w->back[0], w->back[1], w->back[2], 0};
        x = ac_onx_pad(n, x, front, back, NULL);
    }
    x = x ? ac_onx_reshape(n, x, 4, (int64_t[]){batch * depth, x->dim[2], x->dim[3], c}) : NULL;
    x = pool_2d(n, x, w->kernel + 1, w->stride + 1, w->before + 1, w->after + 1);
    if (!x)
        return NULL;
    const int64_t h = x->dim[1], v = x->dim[2];
    x = pool_2d(n, ac_onx_reshape(n, x, 4, (int64_t[]){batch, depth, h * v, c}), kernel, stride, before, after);
    x = x ? ac_onx_reshape(n, x, 5, (int64_t[]){batch, x->dim[1], h, v, c}) : NULL;
    return ac_onx_transpose(n, x, FIRST);
}

/* count_include_pad: the image is padded with zeros first; what ceil_mode adds behind never counts. */
int ac_onx_do_pool(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    const bool average = n->row->op == AC_OP_AVERAGE_POOL_2D, ceil_mode = ac_onx_int(n, "ceil_mode", 0) != 0;
    const bool include = average && ac_onx_int(n, "count_include_pad", 0) != 0;
    window w, plain;
    if (!average)
        (void)ac_onx_int(n, "storage_order", 0); /* of the indices */
    AC_TRY(open_window(n, x, 3, &w));
    if (!ac_onx_attr_of(n, "kernel_shape"))
        return ac_error(n->r->cx, n->at, E0103, "kernel_shape is left out");
    plain = w;
    AC_TRY(read_pads(n, &w, ceil_mode));
    AC_TRY(read_pads(n, &plain, false));
    for (int32_t d = 0; d < SPATIAL; d++) {
        if (w.dil[d] != 1)
            return ac_onx_cannot(n, "its dilation is not 1");
        if (!include)
            continue;
        w.padded = true;
        w.front[d] = w.before[d];
        w.back[d] = plain.after[d];
        w.pad[d] = w.front[d] + w.back[d];
        w.before[d] = 0;
        w.after[d] = w.after[d] > plain.after[d] ? w.after[d] - plain.after[d] : 0;
    }
    if (w.m == 3)
        return ac_onx_result(n, 0, pool_3d(n, x, &w));
    x = channels_last(n, x);
    if (w.padded) {
        const int64_t front[4] = {0, w.front[1], w.front[2], 0}, back[4] = {0, w.back[1], w.back[2], 0};
        x = ac_onx_pad(n, x, front, back, NULL);
    }
    x = pool_2d(n, x, w.kernel + 1, w.stride + 1, w.before + 1, w.after + 1);
    return ac_onx_result(n, 0, channels_first(n, x, w.m));
}

int ac_onx_do_global_pool(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    if (x->rank < 2)
        return ac_error(n->r->cx, n->at, E0104, "input '%s' has %d dimensions", x->name, x->rank);
    return ac_onx_result(n, 0, ac_onx_reduce(n, n->row->op, x, ((1u << x->rank) - 1) & ~3u, true));
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
    x = channels_last(n, x);
    return ac_onx_result(n, 0,
                         channels_first(n, x ? ac_onx_make(n, AC_OP_DEPTH_TO_SPACE, &x, 1, &a, AC_NONE) : NULL, 2));
}

int ac_onx_do_space_to_depth(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_attrs a;
    const int64_t b = ac_onx_int(n, "blocksize", 0);
    if (x->rank != 4 || b < 1 || b > 1 << 15)
        return ac_error(n->r->cx, n->at, E0104, "'%s' %s does not divide into blocks of %" PRId64, x->name,
                        ac_shape_str(n->r->cx, x), b);
    ac_attrs_init(AC_OP_SPACE_TO_DEPTH, &a);
    a.block.block = (int32_t)b;
    x = channels_last(n, x);
    return ac_onx_result(n, 0,
                         channels_first(n, x ? ac_onx_make(n, AC_OP_SPACE_TO_DEPTH, &x, 1, &a, AC_NONE) : NULL, 2));
}
