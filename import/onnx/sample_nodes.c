/* sample_nodes.c - operators of ONNX that read images at computed positions: GridSample, AffineGrid, RoiAlign,
 * MaxRoiPool, DeformConv. */
#include "import/build/counted.h"
#include "import/build/frame.h"
#include "import/onnx/proto/nodes.h"
#include "import/onnx/window_nodes.h"

#include <inttypes.h>

/* Channels from dimension 1 to the end, and back; any rank from 2 on. */
static ac_tensor *to_last(ac_onx_node *n, ac_tensor *x, bool back)
{
    int32_t perm[AC_MAX_RANK], other[AC_MAX_RANK];
    if (!x)
        return NULL;
    ac_perm_axis_last(x->rank, 1, perm, other);
    return ac_make_transpose(&n->b, x, back ? other : perm);
}

int ac_onx_do_grid_sample(ac_onx_node *n)
{
    static const ac_word WORD[] = {AC_W_NEAREST, AC_W_LINEAR, AC_W_CUBIC, AC_W_LINEAR, AC_W_CUBIC};
    ac_tensor *x = n->in[0], *grid = n->in[1];
    ac_attrs a;
    if (x->rank < 3 || x->rank > 5)
        return ac_cannot(&n->b, "its input has %d dimensions; supported are 3 to 5", x->rank);
    ac_attrs_init(AC_OP_GRID_SAMPLE, &a);
    a.sample.mode = WORD[ac_attr_word(&n->attrs, A_sample_mode)];
    a.sample.padding = (ac_word)(AC_W_ZEROS + ac_attr_word(&n->attrs, A_padding_mode));
    a.sample.align_corners = ac_attr_bool(&n->attrs, A_align_corners);
    ac_tensor *in[] = {to_last(n, x, false), ac_make_cast(&n->b, grid, AC_F32)};
    return ac_onx_result(n, 0, to_last(n, ac_make_op(&n->b, AC_OP_GRID_SAMPLE, in, 2, &a, AC_NONE), true));
}

/* Positions -1 to 1 of all pixels, [P, m + 1]: the last dimension first, and a 1 at the end. */
static ac_tensor *base_grid(ac_onx_node *n, const int64_t *size, int32_t m, bool corners)
{
    int64_t count = 1;
    for (int32_t d = 0; d < m; d++)
        count *= size[d];
    float *v = AC_NEW_N(n->r->cx->region, float, count *(m + 1) + 1);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i;
        for (int32_t d = m - 1; d >= 0; rest /= size[d--]) {
            const double at = (double)(rest % size[d]), extent = (double)size[d];
            const double p = corners ? (extent > 1 ? 2 * at / (extent - 1) - 1 : -1) : (2 * at + 1) / extent - 1;
            v[i * (m + 1) + m - 1 - d] = (float)p;
        }
        v[i * (m + 1) + m] = 1;
    }
    return ac_make_floats(&n->b, 3, (int64_t[]){1, count, m + 1}, v);
}

int ac_onx_do_affine_grid(ac_onx_node *n)
{
    ac_tensor *theta = n->in[0];
    ac_ints size;
    AC_TRY(ac_operand_values(&n->b, &n->in[1], &size));
    const int32_t m = size.n - 2;
    if ((m != 2 && m != 3) || theta->rank != 3 || theta->dim[1] != m || theta->dim[2] != m + 1 ||
        theta->dim[0] != size.v[0])
        return ac_error(n->r->cx, n->at, E0104, "a grid of %d dimensions does not fit '%s' %s", size.n, theta->name,
                        ac_shape_str(n->r->cx, theta));
    int64_t dim[AC_MAX_RANK] = {size.v[0]}, count = 1;
    for (int32_t d = 0; d < m; d++) {
        dim[1 + d] = size.v[2 + d];
        if (size.v[2 + d] < 1 || !ac_mul_ok(count, size.v[2 + d], &count) || count > 1 << 24)
            return ac_cannot(&n->b, "a dimension of its grid is %" PRId64, size.v[2 + d]);
    }
    dim[m + 1] = m;
    ac_tensor *base = base_grid(n, size.v + 2, m, ac_attr_bool(&n->attrs, A_align_corners));
    ac_tensor *y = ac_make_matmul(&n->b, base, ac_make_cast(&n->b, theta, AC_F32), false, true);
    return ac_onx_result(n, 0, ac_make_cast(&n->b, ac_make_reshape(&n->b, y, m + 2, dim), theta->dtype));
}

static int check_rois(ac_onx_node *n, const ac_tensor *x, const ac_tensor *roi, int64_t columns)
{
    if (x->rank == 4 && roi->rank == 2 && roi->dim[1] == columns && x->dtype == AC_F32 && roi->dtype == AC_F32)
        return AC_OK;
    if (x->dtype == AC_F64)
        return ac_cannot(&n->b, "its input is f64");
    return ac_error(n->r->cx, n->at, E0104, "expected images [N,C,H,W] and regions [R,%" PRId64 "], found %s and %s",
                    columns, ac_tensor_str(n->r->cx, x), ac_tensor_str(n->r->cx, roi));
}

/* Regions without a meaning are at 0, in image 0. */
static ac_tensor *present(ac_onx_node *n, ac_tensor *t)
{
    return t->count ? ac_counted_as(ac_make_counted_fill(&n->b, t, 0), t->count, t->count_dim) : t;
}

int ac_onx_do_roi_align(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_attrs a;
    AC_TRY(check_rois(n, x, n->in[1], 4));
    ac_attrs_init(AC_OP_ROI_ALIGN, &a);
    a.roi.mode = ac_attr_word(&n->attrs, A_roi_mode) ? AC_W_MAX : AC_W_AVERAGE;
    a.roi.half_pixel = n->version >= 16 && ac_attr_word(&n->attrs, A_roi_coordinates);
    a.roi.scale = (float)ac_attr_float(&n->attrs, A_spatial_scale);
    a.roi.height = (int32_t)ac_attr_int(&n->attrs, A_output_height);
    a.roi.width = (int32_t)ac_attr_int(&n->attrs, A_output_width);
    a.roi.ratio = (int32_t)ac_attr_int(&n->attrs, A_sampling_ratio);
    ac_tensor *in[] = {to_last(n, x, false), present(n, n->in[1]), present(n, n->in[2])};
    if (!in[1] || !in[2])
        return AC_FAIL;
    return ac_onx_result(n, 0, to_last(n, ac_make_op(&n->b, AC_OP_ROI_ALIGN, in, 3, &a, AC_NONE), true));
}

/* Regions [R,5]: the number of the image comes before the corners. */
int ac_onx_do_max_roi_pool(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *roi = n->in[1];
    ac_attrs a;
    ac_ints shape;
    AC_TRY(check_rois(n, x, roi, 5));
    shape = ac_attr_ints(&n->attrs, A_pooled_shape);
    if (shape.n != 2)
        return n->b.bad ? AC_FAIL
                        : ac_error(n->r->cx, n->at, E0103, "pooled_shape has %d numbers, expected 2", shape.n);
    ac_attrs_init(AC_OP_ROI_POOL, &a);
    a.roi.height = (int32_t)shape.v[0];
    a.roi.width = (int32_t)shape.v[1];
    a.roi.scale = (float)ac_attr_float(&n->attrs, A_spatial_scale);
    return ac_onx_result(n, 0, ac_frame_regions(&n->b, AC_OP_ROI_POOL, x, roi, &a));
}

/* Where the taps of a kernel fall without offsets: [1, K, P, 2] in pixels, x before y. */
static ac_tensor *tap_grid(ac_onx_node *n, const ac_frame *w, int64_t oh, int64_t ow)
{
    enum { H = AC_SPATIAL - 2, W = AC_SPATIAL - 1 };
    const int64_t kh = w->kernel[H], kw = w->kernel[W], p = oh * ow;
    float *v = AC_NEW_N(n->r->cx->region, float, kh *kw *p * 2 + 1);
    for (int64_t i = 0; i < kh * kw * p; i++) {
        const int64_t k = i / p, o = i % p;
        v[2 * i] = (float)(o % ow * w->stride[W] - w->before[W] + k % kw * w->dil[W]);
        v[2 * i + 1] = (float)(o / ow * w->stride[H] - w->before[H] + k / kw * w->dil[H]);
    }
    return ac_make_floats(&n->b, 4, (int64_t[]){1, kh * kw, p, 2}, v);
}

/* The taps of each pixel, read at their offsets: [N, P, C * K], times the mask. */
static ac_tensor *deformed(ac_onx_node *n, const ac_frame *w, int64_t oh, int64_t ow, int64_t og)
{
    static const int32_t YX_LAST[AC_MAX_RANK] = {0, 1, 3, 2}, GATHERED[AC_MAX_RANK] = {0, 3, 1, 4, 2};
    ac_tensor *x = n->in[0], *off = n->in[2], *mask = ac_onx_in(n, 4);
    const int64_t batch = x->dim[0], c = x->dim[1], p = oh * ow,
                  k = w->kernel[AC_SPATIAL - 2] * w->kernel[AC_SPATIAL - 1];
    off = ac_make_transpose(&n->b, ac_make_reshape(&n->b, off, 4, (int64_t[]){batch * og, k, 2, p}), YX_LAST);
    off = off ? ac_make_2(&n->b, AC_OP_REVERSE_V2, off, ac_make_ints(&n->b, 1, (int64_t[]){3})) : NULL;
    ac_attrs a;
    ac_attrs_init(AC_OP_GRID_SAMPLE, &a);
    a.sample.pixels = true;
    x = ac_make_reshape(&n->b, x, 4, (int64_t[]){batch * og, c / og, x->dim[2], x->dim[3]});
    ac_tensor *in[] = {to_last(n, x, false), ac_make_2(&n->b, AC_OP_ADD, off, tap_grid(n, w, oh, ow))};
    ac_tensor *y = ac_make_op(&n->b, AC_OP_GRID_SAMPLE, in, 2, &a, AC_NONE); /* [N * og, K, P, C / og] */
    if (mask)
        y = ac_make_2(&n->b, AC_OP_MUL, y, ac_make_reshape(&n->b, mask, 4, (int64_t[]){batch * og, k, p, 1}));
    y = ac_make_transpose(&n->b, ac_make_reshape(&n->b, y, 5, (int64_t[]){batch, og, k, p, c / og}), GATHERED);
    return ac_make_reshape(&n->b, y, 3, (int64_t[]){batch, p, c * k});
}

/* Sampled taps times weights; the columns of a group are contiguous. */
int ac_onx_do_deform_conv(ac_onx_node *n)
{
    enum { H = AC_SPATIAL - 2, W = AC_SPATIAL - 1 };
    static const int32_t GROUP_FIRST[AC_MAX_RANK] = {0, 2, 1, 3}, CHANNEL_FIRST[AC_MAX_RANK] = {0, 1, 3, 2};
    ac_tensor *x = n->in[0], *w = n->in[1], *off = n->in[2], *bias = ac_onx_in(n, 3), *mask = ac_onx_in(n, 4);
    ac_frame win;
    AC_TRY(ac_onx_window_open(n, x, &win));
    const int64_t groups = ac_attr_int(&n->attrs, A_group), og = ac_attr_int(&n->attrs, A_offset_group);
    if (x->rank != 4 || x->dtype != AC_F32)
        return ac_cannot(&n->b, "its input is %s; supported are 2 spatial dimensions of f32",
                         ac_tensor_str(n->r->cx, x));
    if (w->rank != 4 || groups < 1 || og < 1 || og > INT32_MAX || x->dim[1] % og || w->dim[1] * groups != x->dim[1] ||
        w->dim[0] % groups)
        return ac_error(n->r->cx, n->at, E0104, "groups of weights %s do not fit input %s", ac_shape_str(n->r->cx, w),
                        ac_shape_str(n->r->cx, x));
    win.kernel[H] = w->dim[2];
    win.kernel[W] = w->dim[3];
    AC_TRY(ac_onx_window_pads(n, &win, AC_LAST_WHOLE));
    int64_t out[2];
    for (int32_t d = 0; d < 2; d++) {
        const int32_t s = H + d;
        const int64_t reach = (win.kernel[s] - 1) * win.dil[s] + 1;
        out[d] = (win.in[s] + win.before[s] + win.after[s] - reach) / win.stride[s] + 1;
    }
    const int64_t k = w->dim[2] * w->dim[3], columns = w->dim[1] * k, o = w->dim[0] / groups;
    int64_t p, taps_all, all;
    if (!ac_mul_ok(out[0], out[1], &p) || !ac_mul_ok(p, k, &taps_all) || taps_all > 1 << 24)
        return ac_cannot(&n->b, "its result has %" PRId64 " x %" PRId64 " pixels", out[0], out[1]);
    if (!ac_mul_ok(taps_all, x->dim[0], &all) || !ac_mul_ok(all, 2 * og, &all) || ac_tensor_count(off) != all ||
        (mask && ac_tensor_count(mask) != all / 2) || (bias && ac_tensor_count(bias) != w->dim[0]))
        return ac_error(n->r->cx, n->at, E0104, "offsets, mask or bias do not fit a result of %" PRId64 " x %" PRId64,
                        out[0], out[1]);
    ac_tensor *taps = deformed(n, &win, out[0], out[1], og);
    taps = ac_make_reshape(&n->b, taps, 4, (int64_t[]){x->dim[0], p, groups, columns});
    ac_tensor *rows = ac_make_reshape(&n->b, w, 4, (int64_t[]){1, groups, o, columns});
    ac_tensor *y = ac_make_matmul(&n->b, ac_make_transpose(&n->b, taps, GROUP_FIRST), rows, false, true);
    y = ac_make_transpose(&n->b, y, CHANNEL_FIRST);
    y = ac_make_reshape(&n->b, y, 4, (int64_t[]){x->dim[0], w->dim[0], out[0], out[1]});
    if (bias)
        y = ac_make_2(&n->b, AC_OP_ADD, y, ac_make_reshape(&n->b, bias, 3, (int64_t[]){w->dim[0], 1, 1}));
    return ac_onx_result(n, 0, y);
}
