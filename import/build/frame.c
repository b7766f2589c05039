/* frame.c - composes window operators of channels-first images from channels-last operators; see frame.h. */
#include "import/build/frame.h"

enum { H = AC_HEIGHT, W = AC_WIDTH };

static const int32_t TO_LAST[AC_MAX_RANK] = {0, 2, 3, 1}, TO_FIRST[AC_MAX_RANK] = {0, 3, 1, 2};

void ac_frame_open(ac_frame *w, const ac_tensor *x)
{
    *w = (ac_frame){.m = x->rank - 2};
    for (int32_t d = 0; d < AC_SPATIAL; d++)
        w->in[d] = w->kernel[d] = w->stride[d] = w->dil[d] = 1;
    for (int32_t i = 0; i < w->m; i++)
        w->in[AC_SPATIAL - w->m + i] = x->dim[2 + i];
}

int64_t ac_frame_reach(const ac_frame *w, int32_t d)
{
    return (w->kernel[d] - 1) * w->dil[d] + 1;
}

/* ------------------------------------------------------------------ channels */

ac_tensor *ac_channels_last(const ac_maker *b, ac_tensor *x)
{
    static const int32_t ROW[AC_MAX_RANK] = {0, 2, 1};
    if (!x || x->rank == 4)
        return ac_make_transpose(b, x, TO_LAST);
    x = ac_make_transpose(b, x, ROW);
    return x ? ac_make_reshape(b, x, 4, (int64_t[]){x->dim[0], 1, x->dim[1], x->dim[2]}) : NULL;
}

ac_tensor *ac_channels_first(const ac_maker *b, ac_tensor *y, int32_t m)
{
    static const int32_t ROW[AC_MAX_RANK] = {0, 2, 1};
    if (!y || m == 2)
        return ac_make_transpose(b, y, TO_FIRST);
    return ac_make_transpose(b, ac_make_reshape(b, y, 3, (int64_t[]){y->dim[0], y->dim[2], y->dim[3]}), ROW);
}

/* Moves dimension 1 to the end (last), or the end to dimension 1; any rank. */
static ac_tensor *move_channels(const ac_maker *b, ac_tensor *x, bool last)
{
    int32_t to_last[AC_MAX_RANK], back[AC_MAX_RANK];
    if (!x)
        return NULL;
    ac_perm_axis_last(x->rank, 1, to_last, back);
    return ac_make_transpose(b, x, last ? to_last : back);
}

/* Weights [O,I,K] as [O,I,1,K]; [O,I,KH,KW] are unchanged. */
static ac_tensor *kernel_2d(const ac_maker *b, ac_tensor *w)
{
    return !w || w->rank == 4 ? w : ac_make_reshape(b, w, 4, (int64_t[]){w->dim[0], w->dim[1], 1, w->dim[2]});
}

/* ------------------------------------------------------------------ convolutions */

static void conv_attrs(const ac_frame *w, ac_attrs_conv *a)
{
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

/* x [N,S..,C], weights [K..,C/groups,O]; the result [N,O,S..]. */
static ac_tensor *conv_nd(const ac_maker *b, ac_tensor *x, ac_tensor *weights, ac_tensor *bias, const ac_frame *w,
                          int64_t groups)
{
    const int32_t from = AC_SPATIAL - w->m;
    int64_t pads[2 * AC_SPATIAL];
    ac_attrs a;
    ac_attrs_init(AC_OP_CONV_ND, &a);
    for (int32_t d = 0; d < w->m; d++) {
        pads[2 * d] = w->before[from + d];
        pads[2 * d + 1] = w->after[from + d];
    }
    a.conv_nd.strides = ac_make_list(b, w->m, w->stride + from);
    a.conv_nd.dilations = ac_make_list(b, w->m, w->dil + from);
    a.conv_nd.pads = ac_make_list(b, 2 * w->m, pads);
    a.conv_nd.groups = (int32_t)groups;
    ac_tensor *in[] = {x, weights, bias};
    return move_channels(b, ac_make_op(b, AC_OP_CONV_ND, in, bias ? 3 : 2, &a, AC_NONE), false);
}

/* x [N,H,W,C], weights [C,1,KH,KW] or [O,C/groups,KH,KW]. */
static ac_tensor *conv_2d(const ac_maker *b, ac_tensor *x, ac_tensor *weights, ac_tensor *bias, const ac_frame *w,
                          bool depthwise)
{
    static const int32_t DEPTHWISE[AC_MAX_RANK] = {1, 2, 3, 0};
    const ac_op op = depthwise ? AC_OP_DEPTHWISE_CONV_2D : AC_OP_CONV_2D;
    ac_attrs a;
    ac_attrs_init(op, &a);
    conv_attrs(w, &a.conv);
    a.conv.zero = w->zero;
    ac_tensor *in[] = {x, ac_make_transpose(b, weights, depthwise ? DEPTHWISE : TO_LAST), bias};
    return ac_channels_first(b, ac_make_op(b, op, in, bias ? 3 : 2, &a, AC_NONE), w->m);
}

ac_tensor *ac_frame_conv(const ac_maker *b, ac_tensor *x, ac_tensor *weights, ac_tensor *bias, const ac_frame *w,
                         int64_t groups)
{
    if (!x || !weights)
        return NULL;
    if (w->m <= 2 && x->dtype != AC_F64) {
        ac_tensor *kernel = kernel_2d(b, weights);
        return conv_2d(b, ac_channels_last(b, x), kernel, bias, w, groups > 1 && weights->dim[1] == 1);
    }
    int32_t perm[AC_MAX_RANK]; /* [O,I,K..] -> [K..,I,O] */
    for (int32_t d = 0; d < x->rank; d++)
        perm[d] = d < w->m ? d + 2 : x->rank - 1 - d;
    weights = ac_make_transpose(b, weights, perm);
    return conv_nd(b, move_channels(b, x, true), weights, bias, w, groups);
}

/* ------------------------------------------------------------------ transposed convolutions */

/* x with step - 1 zeros between neighbours along dimension d. */
static ac_tensor *spread_dim(const ac_maker *b, ac_tensor *x, int32_t d, int64_t step)
{
    int64_t outer = 1, inner = 1, dim[AC_MAX_RANK];
    if (!x || step == 1)
        return x;
    const int32_t rank = x->rank;
    for (int32_t k = 0; k < rank; k++) {
        dim[k] = x->dim[k] * (k == d ? step : 1);
        *(k < d ? &outer : &inner) *= k == d ? 1 : x->dim[k];
    }
    const int64_t none[4] = {0}, back[4] = {0, 0, step - 1, 0};
    ac_tensor *y = ac_make_reshape(b, x, 4, (int64_t[]){outer, x->dim[d], 1, inner});
    y = ac_make_reshape(b, ac_make_pad(b, y, none, back, NULL), rank, dim);
    return ac_make_slice(b, y, d, 0, dim[d] - step + 1);
}

/* x [N,S..,C] spread so that a plain convolution with the reversed kernel computes the transposed one: w gets stride 1
 * and new pads. If a pad would be negative, x is sliced instead. */
static ac_tensor *spread_all(const ac_maker *b, ac_tensor *x, ac_frame *w, const int64_t out[AC_SPATIAL])
{
    for (int32_t i = 0; x && i < x->rank - 2; i++) {
        const int32_t d = AC_SPATIAL - (x->rank - 2) + i;
        x = spread_dim(b, x, i + 1, w->stride[d]);
        if (!x)
            return NULL;
        const int64_t reach = ac_frame_reach(w, d), before = reach - 1 - w->before[d],
                      n = i < x->rank - 2 - w->m ? 1 : out[d];
        if (-before >= x->dim[i + 1]) {
            ac_error(b->cx, b->at, E0108, "its pads remove all of '%s'", x->name);
            return NULL;
        }
        if (before < 0) /* removes elements that only reach results before the first */
            x = ac_make_slice(b, x, i + 1, -before, x->dim[i + 1] + before);
        w->before[d] = before > 0 ? before : 0;
        w->after[d] = x ? n - 1 + reach - x->dim[i + 1] - w->before[d] : 0;
        if (w->after[d] < 0)
            x = ac_make_slice(b, x, i + 1, 0, x->dim[i + 1] + w->after[d]);
        w->after[d] = w->after[d] > 0 ? w->after[d] : 0;
        w->stride[d] = 1;
    }
    return x;
}

/* A convolution of the spread image with the reversed kernel: any number of dimensions, any dilation. */
static ac_tensor *tconv_nd(const ac_maker *b, ac_tensor *x, ac_tensor *weights, ac_tensor *bias, ac_frame w,
                           int64_t groups, const int64_t out[AC_SPATIAL])
{
    const int32_t m = w.m, rank = m + 2;
    const int64_t in_channels = weights->dim[0] / groups, channels = weights->dim[1];
    int64_t split[AC_MAX_RANK] = {groups, in_channels, channels}, whole[AC_MAX_RANK], axes[AC_SPATIAL];
    int32_t perm[AC_MAX_RANK];
    if (rank + 1 > AC_MAX_RANK) {
        ac_error(b->cx, b->at, E0108, "it has %d spatial dimensions", m);
        return NULL;
    }
    for (int32_t d = 0; d < m; d++) {
        split[3 + d] = whole[d] = weights->dim[2 + d];
        perm[d] = 3 + d;
        axes[d] = d;
    }
    perm[m] = 1;
    perm[m + 1] = 0;
    perm[m + 2] = 2;
    whole[m] = in_channels;
    whole[m + 1] = groups * channels;
    x = spread_all(b, move_channels(b, x, true), &w, out);
    weights = ac_make_transpose(b, ac_make_reshape(b, weights, rank + 1, split), perm);
    ac_tensor *reversed = ac_make_ints(b, m, axes);
    weights = ac_make_2(b, AC_OP_REVERSE_V2, ac_make_reshape(b, weights, rank, whole), reversed);
    return conv_nd(b, x, weights, bias, &w, groups);
}

/* The same for groups of one input and one output channel: a depthwise convolution. */
static ac_tensor *tconv_depthwise(const ac_maker *b, ac_tensor *x, ac_tensor *weights, ac_tensor *bias, ac_frame w,
                                  const int64_t out[AC_SPATIAL])
{
    ac_tensor *axes = ac_make_ints(b, 2, (int64_t[]){2, 3});
    ac_tensor *kernel = ac_make_2(b, AC_OP_REVERSE_V2, kernel_2d(b, weights), axes);
    x = spread_all(b, ac_channels_last(b, x), &w, out);
    return conv_2d(b, x, kernel, bias, &w, true);
}

ac_tensor *ac_frame_tconv(const ac_maker *b, ac_tensor *x, ac_tensor *weights, ac_tensor *bias, const ac_frame *w,
                          int64_t groups, const int64_t out[AC_SPATIAL])
{
    static const int32_t WEIGHTS[AC_MAX_RANK] = {1, 2, 3, 0}; /* [I,O,KH,KW] -> [O,KH,KW,I] */
    enum { MOST = 64 };
    ac_tensor *part[MOST];
    ac_attrs a;
    if (!x || !weights)
        return NULL;
    if (w->m <= 2 && groups > 1 && groups == x->dim[1] && weights->dim[1] == 1)
        return tconv_depthwise(b, x, weights, bias, *w, out);
    if (w->m > 2 || groups > MOST || w->dil[H] != 1 || w->dil[W] != 1)
        return tconv_nd(b, x, weights, bias, *w, groups, out);
    ac_attrs_init(AC_OP_TRANSPOSE_CONV, &a);
    conv_attrs(w, &a.conv);
    x = ac_channels_last(b, x);
    weights = kernel_2d(b, weights);
    if (!x || !weights)
        return NULL;
    const int64_t ic = x->dim[3] / groups, oc = weights->dim[1];
    for (int64_t g = 0; g < groups; g++) {
        ac_tensor *xg = groups == 1 ? x : ac_make_slice(b, x, 3, g * ic, ic);
        ac_tensor *wg = groups == 1 ? weights : ac_make_slice(b, weights, 0, g * ic, ic);
        ac_tensor *bg = groups == 1 || !bias ? bias : ac_make_slice(b, bias, 0, g * oc, oc);
        ac_tensor *in[] = {ac_make_ints(b, 4, (int64_t[]){x->dim[0], w->m > 1 ? out[H] : 1, out[W], oc}),
                           ac_make_transpose(b, wg, WEIGHTS), xg, bg};
        part[g] = ac_make_op(b, AC_OP_TRANSPOSE_CONV, in, bg ? 4 : 3, &a, AC_NONE);
    }
    return ac_channels_first(b, groups == 1 ? part[0] : ac_make_concat(b, part, (int32_t)groups, 3), w->m);
}

/* ------------------------------------------------------------------ pools */

static ac_tensor *pool_2d(const ac_maker *b, ac_op op, ac_tensor *x, const int64_t kernel[2], const int64_t stride[2],
                          const int64_t before[2], const int64_t after[2])
{
    ac_attrs a;
    ac_attrs_init(op, &a);
    a.pool.kernel_h = (int32_t)kernel[0];
    a.pool.kernel_w = (int32_t)kernel[1];
    a.pool.stride_h = (int32_t)stride[0];
    a.pool.stride_w = (int32_t)stride[1];
    a.pool.padding = AC_PAD_EXPLICIT;
    a.pool.pad_t = (int32_t)before[0];
    a.pool.pad_b = (int32_t)after[0];
    a.pool.pad_l = (int32_t)before[1];
    a.pool.pad_r = (int32_t)after[1];
    return x ? ac_make_op(b, op, &x, 1, &a, AC_NONE) : NULL;
}

/* Pools [N,D,H,W,C], channels last: over the planes, then over the depth. This is exact for maxima, and for averages
 * since the size of a window is the product of its sizes along each dimension. */
static ac_tensor *pool_3d(const ac_maker *b, ac_op op, ac_tensor *x, const ac_frame *w)
{
    enum { D = AC_HEIGHT - 1 };
    const int64_t kernel[2] = {w->kernel[D], 1}, stride[2] = {w->stride[D], 1}, before[2] = {w->before[D], 0};
    const int64_t after[2] = {w->after[D], 0};
    if (!x)
        return NULL;
    const int64_t batch = x->dim[0], depth = x->dim[1], c = x->dim[4];
    x = ac_make_reshape(b, x, 4, (int64_t[]){batch * depth, x->dim[2], x->dim[3], c});
    x = pool_2d(b, op, x, w->kernel + H, w->stride + H, w->before + H, w->after + H);
    if (!x)
        return NULL;
    const int64_t h = x->dim[1], v = x->dim[2];
    x = pool_2d(b, op, ac_make_reshape(b, x, 4, (int64_t[]){batch, depth, h * v, c}), kernel, stride, before, after);
    return x ? ac_make_reshape(b, x, 5, (int64_t[]){batch, x->dim[1], h, v, c}) : NULL;
}

ac_tensor *ac_frame_pool(const ac_maker *b, ac_op op, ac_tensor *x, const ac_frame *w)
{
    int64_t front[AC_MAX_RANK] = {0}, back[AC_MAX_RANK] = {0};
    const int32_t first = AC_SPATIAL - (w->m == 3 ? 3 : 2); /* the dimension after N in the channels-last form */
    for (int32_t d = first; d < AC_SPATIAL; d++) {
        front[1 + d - first] = w->front[d];
        back[1 + d - first] = w->back[d];
    }
    x = ac_make_pad(b, w->m == 3 ? move_channels(b, x, true) : ac_channels_last(b, x), front, back, NULL);
    if (w->m == 3)
        return move_channels(b, pool_3d(b, op, x, w), false);
    return ac_channels_first(b, pool_2d(b, op, x, w->kernel + H, w->stride + H, w->before + H, w->after + H), w->m);
}

ac_tensor *ac_frame_slide(const ac_maker *b, ac_op op, ac_tensor *x, const ac_frame *w)
{
    ac_attrs a;
    const int32_t rank = w->m + 2;
    int64_t *v = AC_NEW_N(b->g->cx->region, int64_t, 5 * AC_MAX_RANK);
    for (int32_t d = 0; d < rank; d++) {
        const int32_t s = AC_SPATIAL - w->m + d - 2;
        v[d] = d < 2 ? 1 : w->kernel[s];
        v[AC_MAX_RANK + d] = d < 2 ? 1 : w->stride[s];
        v[2 * AC_MAX_RANK + d] = d < 2 ? 1 : w->dil[s];
        v[3 * AC_MAX_RANK + 2 * d] = d < 2 ? 0 : w->before[s];
        v[3 * AC_MAX_RANK + 2 * d + 1] = d < 2 ? 0 : w->after[s];
    }
    ac_attrs_init(op, &a);
    a.window.kernel = (ac_ints){rank, v};
    a.window.strides = (ac_ints){rank, v + AC_MAX_RANK};
    a.window.dilations = (ac_ints){rank, v + 2 * AC_MAX_RANK};
    a.window.pads = (ac_ints){2 * rank, v + 3 * AC_MAX_RANK};
    return x ? ac_make_op(b, op, &x, 1, &a, AC_NONE) : NULL;
}

ac_tensor *ac_frame_lrn(const ac_maker *b, ac_tensor *x, int64_t size, double alpha, double beta, double k)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_LRN, &a);
    a.lrn.radius = (int32_t)(size / 2);
    a.lrn.bias = (float)k;
    a.lrn.alpha = (float)(alpha / (double)size);
    a.lrn.beta = (float)beta;
    x = ac_channels_last(b, x);
    return ac_channels_first(b, x ? ac_make_op(b, AC_OP_LRN, &x, 1, &a, AC_NONE) : NULL, 2);
}

ac_tensor *ac_frame_regions(const ac_maker *b, ac_op op, ac_tensor *x, ac_tensor *roi, const ac_attrs *a)
{
    const int64_t regions = roi ? roi->dim[0] : 0;
    ac_tensor *image = ac_make_cast(b, ac_make_slice(b, roi, 1, 0, 1), AC_I32);
    ac_tensor *in[] = {ac_channels_last(b, x), ac_make_slice(b, roi, 1, 1, 4), ac_make_reshape(b, image, 1, &regions)};
    return ac_channels_first(b, in[0] && in[1] && in[2] ? ac_make_op(b, op, in, 3, a, AC_NONE) : NULL, 2);
}
