#include "import/frame.h"

#include <string.h>

static const int32_t TO_LAST[AC_MAX_RANK] = {0, 2, 3, 1}, TO_FIRST[AC_MAX_RANK] = {0, 3, 1, 2};

void ac_frame_open(ac_frame *w, const ac_tensor *x)
{
    *w = (ac_frame){.m = x->rank - 2, .in = {1, 1, 1}, .kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dil = {1, 1, 1}};
    for (int32_t i = 0; i < w->m; i++)
        w->in[AC_SPATIAL - w->m + i] = x->dim[2 + i];
}

int64_t ac_frame_reach(const ac_frame *w, int32_t d)
{
    return (w->kernel[d] - 1) * w->dil[d] + 1;
}

ac_tensor *ac_channels_last(const ac_build *b, ac_tensor *x)
{
    static const int32_t ROW[AC_MAX_RANK] = {0, 2, 1};
    if (!x || x->rank == 4)
        return ac_build_transpose(b, x, TO_LAST);
    x = ac_build_transpose(b, x, ROW);
    return x ? ac_build_reshape(b, x, 4, (int64_t[]){x->dim[0], 1, x->dim[1], x->dim[2]}) : NULL;
}

ac_tensor *ac_channels_first(const ac_build *b, ac_tensor *y, int32_t m)
{
    static const int32_t ROW[AC_MAX_RANK] = {0, 2, 1};
    if (!y || m == 2)
        return ac_build_transpose(b, y, TO_FIRST);
    return ac_build_transpose(b, ac_build_reshape(b, y, 3, (int64_t[]){y->dim[0], y->dim[2], y->dim[3]}), ROW);
}

static void conv_attrs(const ac_frame *w, ac_attrs_conv *a)
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
static ac_tensor *kernel_2d(const ac_build *b, ac_tensor *w)
{
    return !w || w->rank == 4 ? w : ac_build_reshape(b, w, 4, (int64_t[]){w->dim[0], w->dim[1], 1, w->dim[2]});
}

ac_tensor *ac_frame_conv(const ac_build *b, ac_tensor *x, ac_tensor *weights, ac_tensor *bias, const ac_frame *w,
                         int64_t groups)
{
    static const int32_t DEPTHWISE[AC_MAX_RANK] = {1, 2, 3, 0};
    ac_attrs a;
    if (!x || !weights)
        return NULL;
    const bool depthwise = groups > 1 && weights->dim[1] == 1;
    const ac_op op = depthwise ? AC_OP_DEPTHWISE_CONV_2D : AC_OP_CONV_2D;
    ac_attrs_init(op, &a);
    conv_attrs(w, &a.conv);
    ac_tensor *in[] = {ac_channels_last(b, x),
                       ac_build_transpose(b, kernel_2d(b, weights), depthwise ? DEPTHWISE : TO_LAST), bias};
    return ac_channels_first(b, ac_build_op(b, op, in, bias ? 3 : 2, &a, AC_NONE), w->m);
}

/* Zeros between the elements along H and W of x [A,H,W,B] or [A,B,H,W] (first): step - 1 behind each but the last. */
static ac_tensor *spread(const ac_build *b, ac_tensor *x, int64_t step_h, int64_t step_w, bool first)
{
    if (!x || (step_h == 1 && step_w == 1))
        return x;
    const int32_t h = first ? 2 : 1;
    int64_t wide[AC_MAX_RANK], zero[AC_MAX_RANK] = {0}, pad[AC_MAX_RANK] = {0}, dim[4];
    int32_t rank = 0;
    memcpy(dim, x->dim, sizeof dim);
    for (int32_t d = 0; d < 4; d++) {
        wide[rank++] = dim[d];
        if (d != h && d != h + 1)
            continue;
        pad[rank] = (d == h ? step_h : step_w) - 1;
        wide[rank++] = 1;
    }
    x = ac_build_pad(b, ac_build_reshape(b, x, rank, wide), zero, pad, NULL);
    const int64_t rows = (dim[h] - 1) * step_h + 1, columns = (dim[h + 1] - 1) * step_w + 1;
    dim[h] *= step_h;
    dim[h + 1] *= step_w;
    x = ac_build_reshape(b, x, 4, dim);
    return ac_build_slice(b, ac_build_slice(b, x, h, 0, rows), h + 1, 0, columns);
}

/* One channel in and out for each group: a depthwise convolution of the spread image with the kernel turned round. */
static ac_tensor *tconv_depthwise(const ac_build *b, ac_tensor *x, ac_tensor *weights, ac_tensor *bias,
                                  const ac_frame *w, const int64_t out[AC_SPATIAL])
{
    static const int32_t KERNEL[AC_MAX_RANK] = {1, 2, 3, 0};
    static const int64_t TURN[] = {2, 3};
    ac_attrs a;
    int64_t before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    ac_tensor *kernel = ac_build_2(b, AC_OP_REVERSE_V2, kernel_2d(b, weights), ac_build_ints(b, 1, TURN));
    kernel = ac_build_2(b, AC_OP_REVERSE_V2, kernel, ac_build_ints(b, 1, TURN + 1));
    x = spread(b, ac_channels_last(b, x), w->stride[1], w->stride[2], false);
    for (int32_t d = 1; d < AC_SPATIAL && x; d++) {
        const int64_t reach = ac_frame_reach(w, d), front = reach - 1 - w->before[d];
        const int64_t back = out[d] + reach - 1 - x->dim[d] - front;
        before[d] = front > 0 ? front : 0;
        after[d] = back > 0 ? back : 0;
        const int64_t skip = front < 0 ? -front : 0;
        x = ac_build_slice(b, x, d, skip, x->dim[d] - skip - (back < 0 ? -back : 0));
    }
    x = ac_build_pad(b, x, before, after, NULL);
    ac_attrs_init(AC_OP_DEPTHWISE_CONV_2D, &a);
    a.conv.dilation_h = (int32_t)w->dil[1];
    a.conv.dilation_w = (int32_t)w->dil[2];
    ac_tensor *in[] = {x, ac_build_transpose(b, kernel, KERNEL), bias};
    return ac_channels_first(b, ac_build_op(b, AC_OP_DEPTHWISE_CONV_2D, in, bias ? 3 : 2, &a, AC_NONE), w->m);
}

ac_tensor *ac_frame_tconv(const ac_build *b, ac_tensor *x, ac_tensor *weights, ac_tensor *bias, const ac_frame *w,
                          int64_t groups, const int64_t out[AC_SPATIAL])
{
    static const int32_t WEIGHTS[AC_MAX_RANK] = {1, 2, 3, 0}; /* [I,O,KH,KW] -> [O,KH,KW,I] */
    ac_attrs a;
    if (!x || !weights)
        return NULL;
    if (groups > 1 && groups == x->dim[1] && weights->dim[1] == 1)
        return tconv_depthwise(b, x, weights, bias, w, out);
    ac_attrs_init(AC_OP_TRANSPOSE_CONV, &a);
    conv_attrs(w, &a.conv);
    a.conv.dilation_h = a.conv.dilation_w = 1;
    x = ac_channels_last(b, x);
    weights = spread(b, kernel_2d(b, weights), w->dil[1], w->dil[2], true);
    if (!x || !weights)
        return NULL;
    ac_tensor **part = AC_NEW_N(b->cx->region, ac_tensor *, groups);
    const int64_t ic = x->dim[3] / groups, oc = weights->dim[1];
    for (int64_t g = 0; g < groups; g++) {
        ac_tensor *xg = groups == 1 ? x : ac_build_slice(b, x, 3, g * ic, ic);
        ac_tensor *wg = groups == 1 ? weights : ac_build_slice(b, weights, 0, g * ic, ic);
        ac_tensor *bg = groups == 1 || !bias ? bias : ac_build_slice(b, bias, 0, g * oc, oc);
        ac_tensor *in[] = {ac_build_ints(b, 4, (int64_t[]){x->dim[0], out[1], out[2], oc}),
                           ac_build_transpose(b, wg, WEIGHTS), xg, bg};
        part[g] = ac_build_op(b, AC_OP_TRANSPOSE_CONV, in, bg ? 4 : 3, &a, AC_NONE);
    }
    return ac_channels_first(b, groups == 1 ? part[0] : ac_build_concat(b, part, (int32_t)groups, 3), w->m);
}

/* Pools. */

static ac_tensor *pool_2d(const ac_build *b, ac_op op, ac_tensor *x, const int64_t kernel[2], const int64_t stride[2],
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
    return x ? ac_build_op(b, op, &x, 1, &a, AC_NONE) : NULL;
}

/* [N,D,H,W,C], channels last: first over the planes, then over the depth. Maxima and averages do not mind: the number
 * of elements in a window is a product of the numbers along each dimension. */
static ac_tensor *pool_3d(const ac_build *b, ac_op op, ac_tensor *x, const ac_frame *w)
{
    const int64_t kernel[2] = {w->kernel[0], 1}, stride[2] = {w->stride[0], 1}, before[2] = {w->before[0], 0};
    const int64_t after[2] = {w->after[0], 0};
    if (!x)
        return NULL;
    const int64_t batch = x->dim[0], depth = x->dim[1], c = x->dim[4];
    x = ac_build_reshape(b, x, 4, (int64_t[]){batch * depth, x->dim[2], x->dim[3], c});
    x = pool_2d(b, op, x, w->kernel + 1, w->stride + 1, w->before + 1, w->after + 1);
    if (!x)
        return NULL;
    const int64_t h = x->dim[1], v = x->dim[2];
    x = pool_2d(b, op, ac_build_reshape(b, x, 4, (int64_t[]){batch, depth, h * v, c}), kernel, stride, before, after);
    return x ? ac_build_reshape(b, x, 5, (int64_t[]){batch, x->dim[1], h, v, c}) : NULL;
}

ac_tensor *ac_frame_pool(const ac_build *b, ac_op op, ac_tensor *x, const ac_frame *w)
{
    static const int32_t LAST[AC_MAX_RANK] = {0, 2, 3, 4, 1}, FIRST[AC_MAX_RANK] = {0, 4, 1, 2, 3};
    int64_t front[AC_MAX_RANK] = {0}, back[AC_MAX_RANK] = {0};
    const int32_t first = w->m == 3 ? 0 : 1; /* what stands behind N in the channels-last form */
    for (int32_t d = first; d < AC_SPATIAL; d++) {
        front[1 + d - first] = w->front[d];
        back[1 + d - first] = w->back[d];
    }
    x = ac_build_pad(b, w->m == 3 ? ac_build_transpose(b, x, LAST) : ac_channels_last(b, x), front, back, NULL);
    if (w->m == 3)
        return ac_build_transpose(b, pool_3d(b, op, x, w), FIRST);
    return ac_channels_first(b, pool_2d(b, op, x, w->kernel + 1, w->stride + 1, w->before + 1, w->after + 1), w->m);
}

ac_tensor *ac_frame_lrn(const ac_build *b, ac_tensor *x, int64_t size, double alpha, double beta, double k)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_LRN, &a);
    a.lrn.radius = (int32_t)(size / 2);
    a.lrn.bias = (float)k;
    a.lrn.alpha = (float)(alpha / (double)size);
    a.lrn.beta = (float)beta;
    x = ac_channels_last(b, x);
    return ac_channels_first(b, x ? ac_build_op(b, AC_OP_LRN, &x, 1, &a, AC_NONE) : NULL, 2);
}
