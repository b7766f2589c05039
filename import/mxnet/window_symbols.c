/* window_symbols.c - convolutions, pools and resizes of MXNet. */
#include "import/build/compose_pads.h"
#include "ir/make/compose_math.h"
#include "import/build/frame.h"
#include "import/mxnet/symbols.h"

#include <inttypes.h>
#include <string.h>

#define SHAPE(t) ac_shape_str(n->r->cx, t)

/* A tuple of one number for each spatial dimension, into the last of v. */
static int spatial(ac_mx_node *n, const char *name, int32_t m, int64_t low, int64_t *v, bool *given)
{
    int64_t list[AC_MAX_RANK];
    int32_t count;
    AC_TRY(ac_mx_ints(n, name, AC_MAX_RANK, 0, list, &count));
    *given = count > 0;
    if (count && count != m)
        return ac_bad(&n->b, "%s has %d numbers for %d spatial dimensions", name, count, m);
    for (int32_t i = 0; i < count; i++) {
        if (list[i] < low || list[i] > INT16_MAX)
            return ac_bad(&n->b, "%s is %" PRId64, name, list[i]);
        v[AC_SPATIAL - m + i] = list[i];
    }
    return AC_OK;
}

static int open_window(ac_mx_node *n, int32_t most, ac_frame *w)
{
    const ac_tensor *x = n->in[0];
    const char *layout = ac_mx_str(n, "layout", NULL);
    bool given;
    if (x->rank < 3 || x->rank > most + 2)
        return ac_cannot(&n->b, "its input has %d dimensions; supported are 3 to %d", x->rank, most + 2);
    if (layout && strcmp(layout, "NCHW") != 0 && strcmp(layout, "NCW") != 0 && strcmp(layout, "NCDHW") != 0)
        return ac_cannot(&n->b, "its layout is %s", layout);
    ac_frame_open(w, x);
    AC_TRY(spatial(n, "stride", w->m, 1, w->stride, &given));
    AC_TRY(spatial(n, "pad", w->m, 0, w->before, &given));
    memcpy(w->after, w->before, sizeof w->after);
    return spatial(n, "kernel", w->m, 1, w->kernel, &given);
}

int ac_mx_do_conv(ac_mx_node *n)
{
    const bool turned = n->row->op == AC_OP_TRANSPOSE_CONV;
    ac_tensor *x = n->in[0];
    ac_frame w;
    int64_t outputs, groups, dim[5], out[AC_SPATIAL], adjust[AC_SPATIAL] = {0}, target[AC_SPATIAL] = {0};
    bool no_bias, given, has_target;
    AC_TRY(open_window(n, 3, &w));
    AC_TRY(spatial(n, "dilate", w.m, 1, w.dil, &given));
    AC_TRY(ac_mx_int(n, "num_filter", 0, 1, INT32_MAX, &outputs));
    AC_TRY(ac_mx_int(n, "num_group", 1, 1, INT32_MAX, &groups));
    AC_TRY(ac_mx_bool(n, "no_bias", turned, &no_bias));
    AC_TRY(spatial(n, "adj", w.m, 0, adjust, &given));
    AC_TRY(spatial(n, "target_shape", w.m, 0, target, &has_target));
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
    const char *kind = ac_mx_str(n, "pool_type", "max"), *rounding = ac_mx_str(n, "pooling_convention", "valid");
    const bool sum = !strcmp(kind, "sum"), average = sum || !strcmp(kind, "avg");
    ac_frame w;
    bool global, include;
    AC_TRY(open_window(n, 3, &w));
    AC_TRY(ac_mx_bool(n, "global_pool", false, &global));
    AC_TRY(ac_mx_bool(n, "count_include_pad", true, &include));
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
    int32_t count;
    bool equal = true;
    ac_frame w;
    if (x->rank != 4)
        return ac_bad(&n->b, "'%s' is %s, expected [N,C,H,W]", x->name, SHAPE(x));
    AC_TRY(ac_mx_ints(n, "output_size", 2, 0, size, &count));
    if (count == 1)
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
    const char *kind = ac_mx_str(n, "sample_type", "nearest");
    int64_t scale, filters, args;
    AC_TRY(ac_mx_int(n, "scale", 1, 1, INT16_MAX, &scale));
    AC_TRY(ac_mx_int(n, "num_filter", 0, 0, INT32_MAX, &filters));
    AC_TRY(ac_mx_int(n, "num_args", 1, 1, 2, &args));
    (void)ac_mx_str(n, "multi_input_mode", NULL);
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
    const char *mode = ac_mx_str(n, "mode", "size");
    bool corners;
    if (x->rank != 4 || n->n_in != 1)
        return ac_cannot(&n->b, "its input is not one image [N,C,H,W]");
    AC_TRY(ac_mx_int(n, "height", 1, 1, INT16_MAX, &size[0]));
    AC_TRY(ac_mx_int(n, "width", 1, 1, INT16_MAX, &size[1]));
    AC_TRY(ac_mx_float(n, "scale_height", 0, &scale[0]));
    AC_TRY(ac_mx_float(n, "scale_width", 0, &scale[1]));
    AC_TRY(ac_mx_bool(n, "align_corners", true, &corners));
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
    int32_t count;
    bool center;
    AC_TRY(ac_mx_ints(n, "offset", 2, 0, offset, &count));
    AC_TRY(ac_mx_ints(n, "h_w", 2, 0, size, &count));
    AC_TRY(ac_mx_bool(n, "center_crop", false, &center));
    (void)ac_mx_str(n, "num_args", NULL);
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
    const char *mode = ac_mx_str(n, "mode", "constant");
    int64_t width[2 * AC_MAX_RANK], before[AC_MAX_RANK], after[AC_MAX_RANK];
    int32_t count;
    double value;
    AC_TRY(ac_mx_ints(n, "pad_width", 2 * AC_MAX_RANK, 0, width, &count));
    AC_TRY(ac_mx_float(n, "constant_value", 0, &value));
    if (count != 2 * x->rank)
        return ac_bad(&n->b, "%d pads for '%s' %s", count, x->name, SHAPE(x));
    for (int32_t d = 0; d < x->rank; d++) {
        before[d] = width[2 * d];
        after[d] = width[2 * d + 1];
        if (before[d] < 0 || after[d] < 0 || before[d] > INT32_MAX || after[d] > INT32_MAX)
            return ac_bad(&n->b, "pad_width is negative");
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
    if (strcmp(mode, "reflect") != 0)
        return ac_bad(&n->b, "its mode is '%s'", mode);
    ac_attrs a;
    ac_attrs_init(AC_OP_MIRROR_PAD, &a);
    a.mirror.pads = ac_make_list(&n->b, count, width);
    return ac_mx_result(n, 0, ac_make_op(&n->b, AC_OP_MIRROR_PAD, &x, 1, &a, AC_NONE));
}

static int blocks(ac_mx_node *n, ac_op op)
{
    ac_tensor *x = n->in[0];
    int64_t b;
    ac_attrs a;
    AC_TRY(ac_mx_int(n, "block_size", 0, 1, INT16_MAX, &b));
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
    int64_t size[2], ratio = -1;
    int32_t count;
    double scale;
    bool apart = false, aligned = false;
    ac_attrs a;
    AC_TRY(ac_mx_ints(n, "pooled_size", 2, 0, size, &count));
    AC_TRY(ac_mx_float(n, "spatial_scale", 1, &scale));
    if (op == AC_OP_ROI_ALIGN) {
        AC_TRY(ac_mx_int(n, "sample_ratio", -1, INT16_MIN, INT16_MAX, &ratio));
        AC_TRY(ac_mx_bool(n, "position_sensitive", false, &apart));
        AC_TRY(ac_mx_bool(n, "aligned", false, &aligned));
    }
    if (apart)
        return ac_cannot(&n->b, "each bin has channels of its own");
    if (count != 2 || size[0] < 1 || size[1] < 1 || size[0] > INT16_MAX || size[1] > INT16_MAX)
        return ac_bad(&n->b, "pooled_size is needed, at least 1 x 1");
    if (x->rank != 4 || roi->rank != 2 || roi->dim[1] != 5)
        return ac_bad(&n->b, "operands are %s and %s, expected [N,C,H,W] and regions [R,5]", SHAPE(x), SHAPE(roi));
    ac_attrs_init(op, &a);
    a.roi.height = (int32_t)size[0];
    a.roi.width = (int32_t)size[1];
    a.roi.scale = (float)scale;
    a.roi.ratio = ratio > 0 ? (int32_t)ratio : 0;
    a.roi.half_pixel = aligned;
    return ac_mx_result(n, 0, ac_frame_regions(&n->b, op, x, roi, &a));
}
