/* window_symbols.c - convolutions, pools and resizes of MXNet. */
#include "import/build/compose_pads.h"
#include "ir/make/compose_math.h"
#include "import/build/frame.h"
#include "import/mxnet/symbols.h"

#include <inttypes.h>
#include <string.h>

#define SHAPE(t) ac_shape_str(n->r->cx, t)

/* A tuple of one number for each spatial dimension, into the last of v. */
static int spatial(ac_mx_node *n, int id, int32_t m, int64_t *v, bool *given)
{
    const ac_ints list = ac_attr_ints(&n->attrs, id);
    *given = list.n > 0;
    if (list.n && list.n != m)
        return ac_bad(&n->b, "%s has %d numbers for %d spatial dimensions", ac_attr_name(&n->attrs, id), list.n, m);
    for (int32_t i = 0; i < list.n; i++)
        v[AC_SPATIAL - m + i] = list.v[i];
    return AC_OK;
}

static int open_window(ac_mx_node *n, int32_t most, ac_frame *w)
{
    const ac_tensor *x = n->in[0];
    const char *layout = ac_attr_text(&n->attrs, A_layout);
    bool given;
    if (x->rank < 3 || x->rank > most + 2)
        return ac_cannot(&n->b, "its input has %d dimensions; supported are 3 to %d", x->rank, most + 2);
    if (layout && strcmp(layout, "NCHW") != 0 && strcmp(layout, "NCW") != 0 && strcmp(layout, "NCDHW") != 0)
        return ac_cannot(&n->b, "its layout is %s", layout);
    ac_frame_open(w, x);
    AC_TRY(spatial(n, A_stride, w->m, w->stride, &given));
    AC_TRY(spatial(n, A_pad, w->m, w->before, &given));
    memcpy(w->after, w->before, sizeof w->after);
    return spatial(n, A_kernel, w->m, w->kernel, &given);
}

int ac_mx_do_conv(ac_mx_node *n)
{
    const bool turned = n->row->op == AC_OP_TRANSPOSE_CONV;
    ac_tensor *x = n->in[0];
    ac_frame w;
    int64_t outputs, groups, dim[5], out[AC_SPATIAL], adjust[AC_SPATIAL] = {0}, target[AC_SPATIAL] = {0};
    bool given, has_target;
    AC_TRY(open_window(n, 3, &w));
    AC_TRY(spatial(n, A_dilate, w.m, w.dil, &given));
    outputs = ac_attr_int(&n->attrs, A_num_filter);
    groups = ac_attr_int(&n->attrs, A_num_group);
    const bool no_bias = ac_attr_bool_or(&n->attrs, A_no_bias, turned);
    AC_TRY(spatial(n, A_adj, w.m, adjust, &given));
    AC_TRY(spatial(n, A_window_target_shape, w.m, target, &has_target));
    if (x->dim[1] % groups || outputs % groups)
        return ac_bad(&n->b, "%" PRId64 " channels and %" PRId64 " filters do not divide into %" PRId64 " groups",
                      x->dim[1], outputs, groups);
    dim[0] = turned ? x->dim[1] : outputs;
    dim[1] = (turned ? outputs : x->dim[1]) / groups;
    for (int32_t i = 0; i < w.m; i++) {
        const int32_t d = AC_SPATIAL - w.m + i;
        const int64_t reach = ac_frame_reach(&w, d), travel = w.in[d] + 2 * w.before[d] - reach;
        dim[2 + i] = w.kernel[d];
        if (turned && has_target && target[d] > 0) { /* the pads follow from the size */
            const int64_t all = w.stride[d] * (w.in[d] - 1) + reach - target[d];
            if (all < 0)
                return ac_bad(&n->b, "target_shape is larger than the windows reach");
            adjust[d] = all % 2;
            w.before[d] = w.after[d] = (all + 1) / 2;
        }
        out[d] = turned ? w.stride[d] * (w.in[d] - 1) + reach - 2 * w.before[d] + adjust[d] : travel / w.stride[d] + 1;
        if (out[d] < 1 || out[d] > INT32_MAX || (!turned && travel < 0))
            return ac_bad(&n->b, "a window of %" PRId64 " does not fit '%s' %s", reach, x->name, SHAPE(x));
    }
    ac_tensor *weight = ac_mx_param(n, 1, x->rank, dim), *bias = no_bias ? NULL : ac_mx_param(n, 2, 1, &outputs);
    if (!weight || (!no_bias && !bias))
        return AC_FAIL;
    return ac_mx_result(n, 0,
                        turned ? ac_frame_tconv(&n->b, x, weight, bias, &w, groups, out)
                               : ac_frame_conv(&n->b, x, weight, bias, &w, groups));
}

/* valid rounds the number of windows down, full up. An average counts the pads, unless count_include_pad is false. */
int ac_mx_do_pool(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const char *kind = ac_attr_text(&n->attrs, A_pool_type), *rounding = ac_attr_text(&n->attrs, A_pooling_convention);
    const bool sum = !strcmp(kind, "sum"), average = sum || !strcmp(kind, "avg");
    ac_frame w;
    AC_TRY(open_window(n, 3, &w));
    const bool global = ac_attr_bool(&n->attrs, A_global_pool), include = ac_attr_bool(&n->attrs, A_count_include_pad);
    if (!average && strcmp(kind, "max") != 0)
        return ac_cannot(&n->b, "its pool_type is '%s'", kind);
    if (strcmp(rounding, "valid") != 0 && strcmp(rounding, "full") != 0)
        return ac_cannot(&n->b, "its pooling_convention is '%s'", rounding);
    int64_t area = 1;
    for (int32_t d = AC_SPATIAL - w.m; d < AC_SPATIAL; d++) {
        if (global) {
            w.kernel[d] = w.in[d];
            w.stride[d] = 1;
            w.before[d] = w.after[d] = 0;
        }
        const int64_t travel = w.in[d] + 2 * w.before[d] - w.kernel[d];
        if (travel < 0 || (w.before[d] && w.before[d] >= w.kernel[d]))
            return ac_bad(&n->b, "a window of %" PRId64 " with pad %" PRId64 " does not fit '%s' %s", w.kernel[d],
                          w.before[d], x->name, SHAPE(x));
        const int64_t more = *rounding == 'f' && travel % w.stride[d] ? w.stride[d] - travel % w.stride[d] : 0;
        area *= w.kernel[d];
        w.after[d] += more;
        if (sum || (average && include)) { /* a sum may count zeros that no average does */
            w.front[d] = w.before[d];
            w.back[d] = w.before[d] + (sum ? more : 0);
            w.before[d] = 0;
            w.after[d] = sum ? 0 : more;
        }
    }
    ac_tensor *y = ac_frame_pool(&n->b, average ? AC_OP_AVERAGE_POOL_2D : AC_OP_MAX_POOL_2D, x, &w);
    if (sum)
        y = ac_make_2(&n->b, AC_OP_MUL, y, ac_make_number(&n->b, AC_F32, (double)area));
    return ac_mx_result(n, 0, y);
}

/* Windows as equal as they can be: from floor(i in / out) to ceil((i + 1) in / out). */
int ac_mx_do_adaptive(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t size[2] = {1, 1};
    bool equal = true;
    ac_frame w;
    if (x->rank != 4)
        return ac_bad(&n->b, "'%s' is %s, expected [N,C,H,W]", x->name, SHAPE(x));
    if (ac_attr_ints_to(&n->attrs, A_output_size, size) == 1)
        size[1] = size[0];
    ac_frame_open(&w, x);
    for (int32_t d = 0; d < 2; d++) {
        if (size[d] < 1 || !x->dim[2 + d])
            return ac_bad(&n->b, "an output_size of %" PRId64 " for '%s' %s", size[d], x->name, SHAPE(x));
        equal = equal && x->dim[2 + d] % size[d] == 0;
        w.kernel[AC_HEIGHT + d] = w.stride[AC_HEIGHT + d] = x->dim[2 + d] / size[d];
    }
    if (equal)
        return ac_mx_result(n, 0, ac_frame_pool(&n->b, AC_OP_AVERAGE_POOL_2D, x, &w));
    for (int32_t d = 2; x && d < 4; d++) {
        const int64_t in = x->dim[d], out = size[d - 2];
        if (out > (1 << 24) / in)
            return ac_cannot(&n->b, "it pools %lld elements into %lld", (long long)in, (long long)out);
        float *m = AC_NEW_N(n->r->cx->region, float, in *out);
        for (int64_t o = 0; o < out; o++) {
            const int64_t from = o * in / out, to = ((o + 1) * in + out - 1) / out;
            for (int64_t i = from; i < to; i++)
                m[o * in + i] = (float)(1.0 / (double)(to - from));
        }
        x = ac_make_resample(&n->b, x, d, out, m);
    }
    return ac_mx_result(n, 0, x);
}

static ac_tensor *resize(ac_mx_node *n, ac_tensor *x, ac_op op, const int64_t size[2], bool corners, bool half)
{
    ac_attrs a;
    ac_attrs_init(op, &a);
    a.resize.align_corners = corners;
    a.resize.half_pixel_centers = half;
    a.resize.size = ac_make_list(&n->b, 2, size);
    x = ac_channels_last(&n->b, x);
    return ac_channels_first(&n->b, x ? ac_make_op(&n->b, op, &x, 1, &a, AC_NONE) : NULL, 2);
}

int ac_mx_do_upsampling(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const char *kind = ac_attr_text(&n->attrs, A_sample_type);
    const int64_t scale = ac_attr_int(&n->attrs, A_scale);
    (void)ac_attr_int(&n->attrs, A_upsampling_num_filter);
    (void)ac_attr_int(&n->attrs, A_num_args);
    ac_attr_skip(&n->attrs, "multi_input_mode");
    if (x->rank != 4)
        return ac_bad(&n->b, "'%s' is %s, expected [N,C,H,W]", x->name, SHAPE(x));
    if (!strcmp(kind, "nearest")) {
        if (n->n_in != 1)
            return ac_cannot(&n->b, "it joins several images");
        const int64_t size[2] = {x->dim[2] * scale, x->dim[3] * scale};
        return ac_mx_result(n, 0, resize(n, x, AC_OP_RESIZE_NEAREST_NEIGHBOR, size, false, false));
    }
    if (strcmp(kind, "bilinear") != 0)
        return ac_bad(&n->b, "sample_type is '%s'", kind);
    const int64_t kernel = 2 * scale - scale % 2, pad = (scale + 1) / 2 - (scale % 2 ? 1 : 0);
    const int64_t dim[4] = {x->dim[1], 1, kernel, kernel};
    int64_t out[AC_SPATIAL];
    ac_frame w;
    ac_frame_open(&w, x);
    for (int32_t d = AC_HEIGHT; d < AC_SPATIAL; d++) {
        w.kernel[d] = kernel;
        w.stride[d] = scale;
        w.before[d] = w.after[d] = pad;
        out[d] = w.in[d] * scale;
    }
    return ac_mx_result(n, 0, ac_frame_tconv(&n->b, x, ac_mx_param(n, 1, 4, dim), NULL, &w, x->dim[1], out));
}

int ac_mx_do_resize(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t size[2];
    double scale[2];
    const char *mode = ac_attr_text(&n->attrs, A_resize_mode);
    if (x->rank != 4 || n->n_in != 1)
        return ac_cannot(&n->b, "its input is not one image [N,C,H,W]");
    size[0] = ac_attr_int(&n->attrs, A_height);
    size[1] = ac_attr_int(&n->attrs, A_width);
    scale[0] = ac_attr_float(&n->attrs, A_scale_height);
    scale[1] = ac_attr_float(&n->attrs, A_scale_width);
    const bool corners = ac_attr_bool(&n->attrs, A_align_corners);
    if (strcmp(mode, "size") != 0)
        return ac_cannot(&n->b, "its mode is '%s'", mode);
    for (int32_t d = 0; d < 2; d++)
        if (scale[d] > 0) {
            const double scaled = scale[d] * (double)x->dim[2 + d];
            if (!(scaled < INT32_MAX))
                return ac_error(n->r->cx, n->at, E0103, "a scale of %g", scale[d]);
            size[d] = (int64_t)scaled;
        }
    for (int32_t d = 0; !corners && d < 2; d++)
        if (size[d] == 1) /* the first element, not the middle */
            x = ac_make_slice(&n->b, x, 2 + d, 0, 1);
    return x ? ac_mx_result(n, 0, resize(n, x, AC_OP_RESIZE_BILINEAR, size, corners, !corners)) : AC_FAIL;
}

int ac_mx_do_crop(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t offset[2] = {0, 0}, size[2] = {0, 0};
    ac_attr_ints_to(&n->attrs, A_offset, offset);
    ac_attr_ints_to(&n->attrs, A_h_w, size);
    const bool center = ac_attr_bool(&n->attrs, A_center_crop);
    ac_attr_skip(&n->attrs, "num_args");
    if (x->rank != 4 || (n->n_in == 2 && n->in[1]->rank != 4))
        return ac_bad(&n->b, "'%s' is %s, expected [N,C,H,W]", x->name, SHAPE(x));
    for (int32_t d = 0; d < 2; d++) {
        if (n->n_in == 2)
            size[d] = n->in[1]->dim[2 + d];
        if (center)
            offset[d] = (x->dim[2 + d] - size[d]) / 2;
        if (offset[d] < 0 || size[d] < 1 || offset[d] + size[d] > x->dim[2 + d])
            return ac_bad(&n->b, "'%s' %s does not hold %" PRId64 " at %" PRId64, x->name, SHAPE(x), size[d],
                          offset[d]);
    }
    x = ac_make_slice(&n->b, x, 2, offset[0], size[0]);
    return ac_mx_result(n, 0, ac_make_slice(&n->b, x, 3, offset[1], size[1]));
}

int ac_mx_do_pad(ac_mx_node *n)
{
    ac_tensor *x = n->in[0];
    const char *mode = ac_attr_text(&n->attrs, A_pad_mode);
    const ac_ints width = ac_attr_ints(&n->attrs, A_pad_width);
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK];
    const double value = ac_attr_float(&n->attrs, A_constant_value);
    if (width.n != 2 * x->rank)
        return ac_bad(&n->b, "%d pads for '%s' %s", width.n, x->name, SHAPE(x));
    for (int32_t d = 0; d < x->rank; d++) {
        before[d] = width.v[2 * d];
        after[d] = width.v[2 * d + 1];
    }
    if (!strcmp(mode, "constant"))
        return ac_mx_result(n, 0,
                            ac_make_pad(&n->b, x, before, after,
                                        value < 0 || value > 0 ? ac_make_number(&n->b, x->dtype, value) : NULL));
    if (!strcmp(mode, "edge")) {
        for (int32_t d = 0; x && d < x->rank; d++)
            x = ac_make_extend(&n->b, x, d, before[d], after[d], false);
        return ac_mx_result(n, 0, x);
    }
    ac_attrs a;
    ac_attrs_init(AC_OP_MIRROR_PAD, &a);
    a.mirror.pads = width;
    return ac_mx_result(n, 0, ac_make_op(&n->b, AC_OP_MIRROR_PAD, &x, 1, &a, AC_NONE));
}

static int blocks(ac_mx_node *n, ac_op op)
{
    ac_tensor *x = n->in[0];
    ac_attrs a;
    const int64_t b = ac_attr_int(&n->attrs, A_block_size);
    if (x->rank != 4)
        return ac_bad(&n->b, "'%s' is %s, expected [N,C,H,W]", x->name, SHAPE(x));
    ac_attrs_init(op, &a);
    a.block.block = (int32_t)b;
    x = ac_channels_last(&n->b, x);
    return ac_mx_result(n, 0, ac_channels_first(&n->b, x ? ac_make_op(&n->b, op, &x, 1, &a, AC_NONE) : NULL, 2));
}

int ac_mx_do_depth_to_space(ac_mx_node *n)
{
    return blocks(n, AC_OP_DEPTH_TO_SPACE);
}

int ac_mx_do_space_to_depth(ac_mx_node *n)
{
    return blocks(n, AC_OP_SPACE_TO_DEPTH);
}

/* Regions [R,5]: image, x1, y1, x2, y2. */
int ac_mx_do_regions(ac_mx_node *n)
{
    ac_tensor *x = n->in[0], *roi = n->in[1];
    const ac_op op = n->row->op;
    const ac_ints size = ac_attr_ints(&n->attrs, A_pooled_size);
    int64_t ratio = -1;
    bool apart = false, aligned = false;
    ac_attrs a;
    const double scale = ac_attr_float(&n->attrs, A_spatial_scale);
    if (op == AC_OP_ROI_ALIGN) {
        ratio = ac_attr_int(&n->attrs, A_sample_ratio);
        apart = ac_attr_bool(&n->attrs, A_position_sensitive);
        aligned = ac_attr_bool(&n->attrs, A_aligned);
    }
    if (apart)
        return ac_cannot(&n->b, "each bin has channels of its own");
    if (size.n != 2)
        return ac_bad(&n->b, "pooled_size has %d numbers, expected 2", size.n);
    if (x->rank != 4 || roi->rank != 2 || roi->dim[1] != 5)
        return ac_bad(&n->b, "operands are %s and %s, expected [N,C,H,W] and regions [R,5]", SHAPE(x), SHAPE(roi));
    ac_attrs_init(op, &a);
    a.roi.height = (int32_t)size.v[0];
    a.roi.width = (int32_t)size.v[1];
    a.roi.scale = (float)scale;
    a.roi.ratio = ratio > 0 ? (int32_t)ratio : 0;
    a.roi.half_pixel = aligned;
    return ac_mx_result(n, 0, ac_frame_regions(&n->b, op, x, roi, &a));
}
