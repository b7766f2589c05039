/* window_layers.c - layers of Caffe that slide over images: convolutions, pools, pyramids, Im2col, Interp. */
#include "import/caffe/layers.h"
#include "import/build/frame.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* One field for all dimensions, or for height and width (of older nets). */
static int spatial(ac_caf_layer *l, ac_attrs_reader *m, int id, int h, int wide, const ac_frame *w,
                   int64_t v[AC_SPATIAL])
{
    const ac_ints list = ac_attr_ints(m, id);
    const bool by_axis = ac_attr_has(m, h) || ac_attr_has(m, wide);
    if (by_axis && (w->m != 2 || list.n))
        return ac_bad(&l->b, "%s and %s are for images, and exclude %s", ac_attr_name(m, h), ac_attr_name(m, wide),
                      ac_attr_name(m, id));
    if (list.n > 1 && list.n != w->m)
        return ac_bad(&l->b, "%s has %d numbers for %d spatial dimensions", ac_attr_name(m, id), list.n, w->m);
    for (int32_t d = AC_SPATIAL - w->m; d < AC_SPATIAL; d++)
        v[d] = list.n ? list.v[list.n > 1 ? d - AC_SPATIAL + w->m : 0] : ac_attr_int(m, d == AC_HEIGHT ? h : wide);
    return AC_OK;
}

static int read_window(ac_caf_layer *l, ac_attrs_reader *m, ac_frame *w)
{
    AC_TRY(spatial(l, m, A_kernel_size, A_kernel_h, A_kernel_w, w, w->kernel));
    AC_TRY(spatial(l, m, A_stride, A_stride_h, A_stride_w, w, w->stride));
    AC_TRY(spatial(l, m, A_pad, A_pad_h, A_pad_w, w, w->before));
    memcpy(w->after, w->before, sizeof w->after);
    for (int32_t d = AC_SPATIAL - w->m; d < AC_SPATIAL; d++)
        if (w->kernel[d] < 1 || w->kernel[d] > INT16_MAX || w->stride[d] > INT16_MAX || w->before[d] > INT16_MAX)
            return ac_bad(&l->b, "kernel %" PRId64 ", stride %" PRId64 ", pad %" PRId64 " are not a window",
                          w->kernel[d], w->stride[d], w->before[d]);
    return AC_OK;
}

typedef struct conv {
    ac_frame w;
    int64_t num_output, groups;
    bool bias;
} conv;

static int read_conv(ac_caf_layer *l, conv *c)
{
    ac_attrs_reader *m = ac_caf_message(l, "convolution_param");
    const ac_tensor *x = l->in[0];
    int32_t axis;
    if (x->rank < 3)
        return ac_cannot(&l->b, "its input has %d dimensions; supported are 3 and more", x->rank);
    ac_frame_open(&c->w, x);
    AC_TRY(ac_attr_axis(m, A_axis, x->rank, &axis));
    if (axis != 1)
        return ac_cannot(&l->b, "its channels are dimension %d", axis);
    AC_TRY(read_window(l, m, &c->w));
    AC_TRY(spatial(l, m, A_dilation, A_dilation_h, A_dilation_w, &c->w, c->w.dil));
    c->num_output = ac_attr_int_in(m, A_num_output, 0, l->op != AC_OP_NONE, INT32_MAX);
    c->groups = ac_attr_int_in(m, A_group, l->op == AC_OP_DEPTHWISE_CONV_2D ? x->dim[1] : 1, 1, INT32_MAX);
    c->bias = ac_attr_bool(m, A_bias_term);
    if (x->dim[1] % c->groups || c->num_output % c->groups)
        return ac_bad(&l->b, "%" PRId64 " channels and %" PRId64 " outputs do not divide into %" PRId64 " groups",
                      x->dim[1], c->num_output, c->groups);
    return AC_OK;
}

/* Every bottom gets the same filters and its own top. */
int ac_caf_do_conv(ac_caf_layer *l)
{
    conv c;
    int64_t dim[AC_MAX_RANK] = {0}, out[AC_SPATIAL];
    AC_TRY(read_conv(l, &c));
    const ac_tensor *x = l->in[0];
    const bool turned = l->op == AC_OP_TRANSPOSE_CONV;
    if (l->n_in != l->n_out)
        return ac_error(l->r->cx, l->at, E0102, "has %d bottoms and %d tops, expected equal numbers", l->n_in,
                        l->n_out);
    dim[0] = turned ? x->dim[1] : c.num_output;
    dim[1] = (turned ? c.num_output : x->dim[1]) / c.groups;
    for (int32_t i = 0; i < c.w.m; i++)
        dim[2 + i] = c.w.kernel[AC_SPATIAL - c.w.m + i];
    ac_tensor *weights = ac_caf_weight(l, "weights", x->rank, dim);
    ac_tensor *bias = c.bias ? ac_caf_weight(l, "bias", 1, &c.num_output) : NULL;
    if (!weights || (c.bias && !bias))
        return AC_FAIL;
    for (int32_t i = 0; i < l->n_in; i++) {
        if (!ac_tensor_same_shape(l->in[i], x))
            return ac_bad(&l->b, "bottoms '%s' and '%s' have different shapes", x->name, l->in[i]->name);
        for (int32_t d = AC_SPATIAL - c.w.m; d < AC_SPATIAL; d++) {
            const int64_t reach = ac_frame_reach(&c.w, d), travel = c.w.in[d] + 2 * c.w.before[d] - reach;
            out[d] = turned ? c.w.stride[d] * (c.w.in[d] - 1) + reach - 2 * c.w.before[d] : travel / c.w.stride[d] + 1;
            if (out[d] < 1 || out[d] > INT32_MAX || (!turned && travel < 0))
                return ac_bad(&l->b, "a window of %" PRId64 " does not fit bottom '%s' %s with pad %" PRId64, reach,
                              x->name, ac_shape_str(l->r->cx, x), c.w.before[d]);
        }
        ac_tensor *y = turned ? ac_frame_tconv(&l->b, l->in[i], weights, bias, &c.w, c.groups, out)
                              : ac_frame_conv(&l->b, l->in[i], weights, bias, &c.w, c.groups);
        AC_TRY(ac_caf_result(l, i, y));
    }
    return AC_OK;
}

/* Caffe rounds the number of windows up, and drops a last one that would start after the image and its front pad. An
 * average counts the pads, but nothing after the back one. */
static ac_tensor *pool(ac_caf_layer *l, ac_tensor *x, ac_frame *w, int32_t method, bool ceil_mode)
{
    const bool average = method != 0;
    for (int32_t d = AC_SPATIAL - w->m; d < AC_SPATIAL; d++) {
        const int64_t pad = w->before[d], travel = w->in[d] + 2 * pad - w->kernel[d];
        int64_t out =
            travel < 0 ? 1 : (ceil_mode ? (travel + w->stride[d] - 1) / w->stride[d] : travel / w->stride[d]) + 1;
        if (travel < 0 && (!ceil_mode || -travel >= w->stride[d]))
            return (void)ac_bad(&l->b, "the window (%" PRId64 ") is larger than the padded image (%" PRId64 ")",
                                w->kernel[d], w->in[d] + 2 * pad),
                   NULL;
        if (pad && (out - 1) * w->stride[d] >= w->in[d] + pad)
            out--;
        const int64_t beyond = (out - 1) * w->stride[d] + w->kernel[d] - w->in[d] - pad;
        w->after[d] = beyond > 0 ? beyond : 0;
        if (average) {
            w->front[d] = pad;
            w->before[d] = 0;
            w->back[d] = beyond < 0 ? 0 : beyond < pad ? beyond : pad;
            w->after[d] -= w->back[d];
        }
    }
    if (method == 2) { /* STOCHASTIC, when a net is not trained: values weighted by themselves */
        ac_tensor *sum = ac_frame_pool(&l->b, AC_OP_AVERAGE_POOL_2D, x, w);
        ac_tensor *square = ac_frame_pool(&l->b, AC_OP_AVERAGE_POOL_2D, ac_make_1(&l->b, AC_OP_SQUARE, x), w);
        return ac_make_2(&l->b, AC_OP_DIV, square,
                         ac_make_2(&l->b, AC_OP_ADD, sum, ac_make_number(&l->b, AC_F32, 1.1754943508222875e-38)));
    }
    return ac_frame_pool(&l->b, average ? AC_OP_AVERAGE_POOL_2D : AC_OP_MAX_POOL_2D, x, w);
}

/* The places of the maxima: h * W + w in each image, f32. */
static ac_tensor *places(ac_caf_layer *l, ac_tensor *x, const ac_frame *w)
{
    const int64_t plane = x->dim[2] * x->dim[3];
    ac_tensor *flat = ac_frame_slide(&l->b, AC_OP_WINDOW_ARGMAX, x, w);
    ac_tensor *size = flat ? ac_make_number(&l->b, AC_I64, (double)plane) : NULL;
    return ac_make_cast(&l->b, size ? ac_make_2(&l->b, AC_OP_FLOOR_MOD, flat, size) : NULL, AC_F32);
}

int ac_caf_do_pool(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "pooling_param");
    ac_tensor *x = l->in[0];
    ac_frame w;
    if (x->rank != 4)
        return ac_bad(&l->b, "bottom '%s' is %s, expected 4 dimensions [N,C,H,W]", x->name, ac_shape_str(l->r->cx, x));
    ac_frame_open(&w, x);
    const int32_t method = ac_attr_word(m, A_pool);
    const bool global = ac_attr_bool(m, A_global_pooling);
    const int32_t rounding = ac_attr_word(m, A_round_mode);
    const bool ceil_mode = ac_attr_bool_or(m, A_ceil_mode, rounding == 0);
    if (!global)
        AC_TRY(read_window(l, m, &w));
    for (int32_t d = AC_HEIGHT; d < AC_SPATIAL; d++) {
        if (global && (ac_attr_has(m, A_kernel_size) || ac_attr_has(m, A_kernel_h) || ac_attr_has(m, A_kernel_w)))
            return ac_bad(&l->b, "global_pooling has the size of the image; kernel_size must not be given");
        if (global)
            w.kernel[d] = w.in[d];
        if (w.before[d] >= w.kernel[d])
            return ac_bad(&l->b, "pad %" PRId64 " is not smaller than the window (%" PRId64 ")", w.before[d],
                          w.kernel[d]);
        if (method == 2 && w.before[d])
            return ac_bad(&l->b, "stochastic pooling has no pads");
    }
    if (global)
        AC_TRY(spatial(l, m, A_stride, A_stride_h, A_stride_w, &w, w.stride));
    if (global)
        AC_TRY(spatial(l, m, A_pad, A_pad_h, A_pad_w, &w, w.before));
    if (global && (w.before[AC_HEIGHT] || w.before[AC_WIDTH] || w.stride[AC_HEIGHT] != 1 || w.stride[AC_WIDTH] != 1))
        return ac_bad(&l->b, "global_pooling goes with stride 1 and pad 0");
    if (l->n_out > 1 && method != 0)
        return ac_cannot(&l->b, "its second top has places, which only the pool MAX has");
    AC_TRY(ac_caf_result(l, 0, pool(l, x, &w, method, ceil_mode)));
    return l->n_out > 1 ? ac_caf_result(l, 1, places(l, x, &w)) : AC_OK;
}

/* Pools over 1, 4, 16 .. windows that cover the image, one after the other. */
int ac_caf_do_spp(ac_caf_layer *l)
{
    enum { MOST = 12 };
    ac_attrs_reader *m = ac_caf_message(l, "spp_param");
    ac_tensor *x = l->in[0], *part[MOST];
    if (x->rank != 4)
        return ac_bad(&l->b, "bottom '%s' is %s, expected 4 dimensions [N,C,H,W]", x->name, ac_shape_str(l->r->cx, x));
    const int64_t levels = ac_attr_int(m, A_pyramid_height);
    const int32_t method = ac_attr_word(m, A_pool);
    for (int32_t i = 0; i < levels; i++) {
        const int64_t bins = (int64_t)1 << i;
        ac_frame w;
        ac_frame_open(&w, x);
        for (int32_t d = AC_HEIGHT; d < AC_SPATIAL; d++) {
            w.kernel[d] = w.stride[d] = (w.in[d] + bins - 1) / bins;
            w.before[d] = (w.kernel[d] * bins - w.in[d] + 1) / 2;
            if (w.before[d] >= w.kernel[d])
                return ac_bad(&l->b, "%d levels are too many for bottom '%s' %s", (int)levels, x->name,
                              ac_shape_str(l->r->cx, x));
        }
        ac_tensor *y = pool(l, x, &w, method, true);
        part[i] = y ? ac_make_reshape(&l->b, y, 2, (int64_t[]){y->dim[0], y->dim[1] * y->dim[2] * y->dim[3]}) : NULL;
    }
    return ac_caf_result(l, 0, levels == 1 ? part[0] : ac_make_concat(&l->b, part, (int32_t)levels, 1));
}

/* Each position of the window is a channel: a depthwise convolution with kernels that pick one element. */
int ac_caf_do_im2col(ac_caf_layer *l)
{
    conv c;
    AC_TRY(read_conv(l, &c));
    if (l->n_in != 1 || l->n_out != 1 || l->in[0]->rank != 4)
        return ac_cannot(&l->b, "it has several bottoms, or images that are not [N,C,H,W]");
    const int64_t area = c.w.kernel[AC_HEIGHT] * c.w.kernel[AC_WIDTH], channels = l->in[0]->dim[1];
    if (area > 1024 || channels * area * area > 1 << 20)
        return ac_cannot(&l->b, "its windows have %" PRId64 " elements in %" PRId64 " channels", area, channels);
    float *pick = AC_NEW_N(l->r->cx->region, float, channels *area *area + 1);
    for (int64_t k = 0; k < channels * area; k++)
        pick[k * area + k % area] = 1;
    ac_tensor *w =
        ac_make_floats(&l->b, 4, (int64_t[]){channels * area, 1, c.w.kernel[AC_HEIGHT], c.w.kernel[AC_WIDTH]}, pick);
    return ac_caf_result(l, 0, ac_frame_conv(&l->b, l->in[0], w, NULL, &c.w, channels));
}

/* x [N,C,H,W] in another size; linear: corners stay corners. */
static ac_tensor *resized(ac_caf_layer *l, ac_tensor *x, ac_op op, const int64_t size[2])
{
    ac_attrs a;
    x = ac_channels_last(&l->b, x);
    ac_attrs_init(op, &a);
    a.resize.align_corners = op == AC_OP_RESIZE_BILINEAR;
    a.resize.size = ac_make_list(&l->b, 2, size);
    return ac_channels_first(&l->b, x ? ac_make_op(&l->b, op, &x, 1, &a, AC_NONE) : NULL, 2);
}

/* Bilinear, with the corners of both images on each other; negative pads cut the image first. */
int ac_caf_do_interp(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "interp_param");
    ac_tensor *x = l->in[0];
    int64_t want[2], size[2];
    if (x->rank != 4)
        return ac_bad(&l->b, "bottom '%s' is %s, expected 4 dimensions [N,C,H,W]", x->name, ac_shape_str(l->r->cx, x));
    want[0] = ac_attr_int(m, A_height);
    want[1] = ac_attr_int(m, A_width);
    const int64_t zoom = ac_attr_int(m, A_zoom_factor), shrink = ac_attr_int(m, A_shrink_factor);
    const int64_t from = ac_attr_int(m, A_pad_beg), to = ac_attr_int(m, A_pad_end);
    for (int32_t d = 0; d < 2; d++) {
        const int64_t in = x->dim[2 + d] + from + to;
        if (in < 1)
            return ac_bad(&l->b, "nothing of bottom '%s' %s is left", x->name, ac_shape_str(l->r->cx, x));
        size[d] = in;
        if (shrink)
            size[d] = (size[d] - 1) / shrink + 1;
        if (zoom)
            size[d] += (size[d] - 1) * (zoom - 1);
        if (want[d])
            size[d] = want[d];
        if (l->n_in == 2)
            size[d] = l->in[1]->rank == 4 ? l->in[1]->dim[2 + d] : 0;
        if (size[d] < 1)
            return ac_bad(&l->b, "the result has no size");
        x = ac_make_slice(&l->b, x, 2 + d, -from, in);
    }
    return ac_caf_result(l, 0, resized(l, x, AC_OP_RESIZE_BILINEAR, size));
}

/* The size of the result with a mask: as given, or `scale` times that of x, less 1 with pad_out (SegNet). */
static void unpooled_size(ac_attrs_reader *m, const ac_tensor *x, int64_t size[2])
{
    static const int WANT[] = {A_upsample_h, A_upsample_w}, SCALE[] = {A_scale_h, A_scale_w},
                     PAD[] = {A_pad_out_h, A_pad_out_w};
    for (int32_t d = 0; d < 2; d++) {
        const int64_t want = ac_attr_int(m, WANT[d]), both = ac_attr_int_or(m, A_upsample_scale, 2);
        const int64_t own = ac_attr_int(m, SCALE[d]), pad = ac_attr_bool(m, PAD[d]);
        size[d] = want ? want : x->dim[2 + d] * (own ? own : both) - pad;
    }
}

/* Elements go to the places in the mask, h * W + w of the result; it is 0 elsewhere. */
static int unpool(ac_caf_layer *l, ac_attrs_reader *m)
{
    ac_tensor *x = l->in[0], *mask = l->in[1];
    int64_t size[2];
    unpooled_size(m, x, size);
    if (!ac_tensor_same_shape(x, mask) || size[0] < 1 || size[1] < 1 || size[0] * size[1] > INT32_MAX)
        return ac_bad(&l->b, "mask '%s' is %s, bottom '%s' %s, and the result has %" PRId64 " by %" PRId64 " elements",
                      mask->name, ac_shape_str(l->r->cx, mask), x->name, ac_shape_str(l->r->cx, x), size[0], size[1]);
    const int64_t images = x->dim[0] * x->dim[1], part[2] = {images, x->dim[2] * x->dim[3]};
    const int64_t whole[2] = {images, size[0] * size[1]}, dim[4] = {x->dim[0], x->dim[1], size[0], size[1]};
    ac_attrs a;
    ac_attrs_init(AC_OP_SCATTER_ELEMENTS, &a);
    a.scatter.axis = 1;
    ac_tensor *in[] = {ac_make_zeros(&l->b, AC_F32, 2, whole),
                       ac_make_cast(&l->b, ac_make_reshape(&l->b, mask, 2, part), AC_I32),
                       ac_make_reshape(&l->b, x, 2, part)};
    ac_tensor *y = in[0] && in[1] && in[2] ? ac_make_op(&l->b, AC_OP_SCATTER_ELEMENTS, in, 3, &a, AC_NONE) : NULL;
    return ac_caf_result(l, 0, ac_make_reshape(&l->b, y, 4, dim));
}

/* Repeats each element `scale` times in both directions; with a mask, the second top of a pool, undoes that pool. */
int ac_caf_do_upsample(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "upsample_param");
    ac_tensor *x = l->in[0];
    if (x->rank != 4)
        return ac_bad(&l->b, "bottom '%s' is %s, expected 4 dimensions [N,C,H,W]", x->name, ac_shape_str(l->r->cx, x));
    if (l->n_in > 1)
        return unpool(l, m);
    const int64_t scale = ac_attr_int(m, A_upsample_scale), size[2] = {x->dim[2] * scale, x->dim[3] * scale};
    return ac_caf_result(l, 0, resized(l, x, AC_OP_RESIZE_NEAREST_NEIGHBOR, size));
}

/* Regions [R,5] or [R,5,1,1]: image, x1, y1, x2, y2. */
int ac_caf_do_roi_pool(ac_caf_layer *l)
{
    ac_attrs_reader *m = ac_caf_message(l, "roi_pooling_param");
    ac_tensor *x = l->in[0], *roi = l->in[1];
    const int64_t regions = roi->rank > 0 ? roi->dim[0] : 0;
    int64_t size[2];
    ac_attrs a;
    size[0] = ac_attr_int(m, A_pooled_h);
    size[1] = ac_attr_int(m, A_pooled_w);
    const double scale = ac_attr_float(m, A_spatial_scale);
    if (!size[0] || !size[1])
        return ac_bad(&l->b, "pooled_h and pooled_w are needed, at least 1 each");
    if (x->rank != 4 || regions < 1 || ac_tensor_count(roi) != regions * 5)
        return ac_bad(&l->b, "bottoms are %s and %s, expected [N,C,H,W] and regions [R,5]", ac_shape_str(l->r->cx, x),
                      ac_shape_str(l->r->cx, roi));
    ac_attrs_init(AC_OP_ROI_POOL, &a);
    a.roi.height = (int32_t)size[0];
    a.roi.width = (int32_t)size[1];
    a.roi.scale = (float)scale;
    roi = ac_make_reshape(&l->b, roi, 2, (int64_t[]){regions, 5});
    return ac_caf_result(l, 0, ac_frame_regions(&l->b, AC_OP_ROI_POOL, x, roi, &a));
}
