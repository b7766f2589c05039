/* resize_nodes.c - interpolation of PyTorch, and images that are read at computed places. Along each dimension the
 * place of result o in the input is computed here as PyTorch does, in f32. Where our nearest or bilinear operator has
 * these places, it is taken; else nearest is a gather along each dimension, and linear and cubic modes are products
 * with a constant matrix. */
#include "import/pt2/nodes.h"

#include "import/build/compose_counted.h"
#include "import/build/counted.h"
#include "import/build/frame.h"
#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef enum mode { NEAREST, EXACT, LINEAR, CUBIC } mode;

typedef struct resize {
    ac_tensor *x;
    mode mode;
    bool corners, smooth; /* align_corners; antialias */
    int64_t out[AC_MAX_RANK];
    double scale[AC_MAX_RANK]; /* how far neighbours of the result are apart in the input */
} resize;

static mode mode_of(const char *name)
{
    return strstr(name, "exact") ? EXACT : strstr(name, "nearest") ? NEAREST : strstr(name, "cubic") ? CUBIC : LINEAR;
}

/* The factor of spatial dimension i of m: scale_factors[i], or scales, scales_h and the like; 0: left out. */
static double factor(ac_ep_node *n, int32_t i, int32_t m)
{
    static const int NAME[] = {A_scales_d, A_scales_h, A_scales_w};
    int32_t count;
    const double *list = ac_attr_floats(&n->attrs, A_scale_factors, &count);
    if (count)
        return count == m ? list[i] : list[0];
    return m == 1 ? ac_attr_float(&n->attrs, A_scales) : ac_attr_float(&n->attrs, NAME[3 - m + i]);
}

static int read_resize(ac_ep_node *n, resize *r)
{
    const ac_tensor *x = n->in[0];
    const int32_t m = x->rank - 2;
    const ac_ints size = ac_attr_ints(&n->attrs, A_output_size);
    *r = (resize){.x = n->in[0], .mode = mode_of(n->row->name), .smooth = strstr(n->row->name, "_aa") != NULL};
    r->corners = ac_attr_bool(&n->attrs, A_align_corners);
    if (m < 1 || m > 3 || (size.n && size.n != m))
        return ac_bad(&n->b, "%d sizes for '%s' %s", size.n, x->name, ac_shape_str(n->r->cx, x));
    for (int32_t d = 0; d < x->rank; d++) {
        const double by = d < 2 ? 0 : factor(n, d - 2, m), in = (double)x->dim[d];
        const int64_t out = d < 2 ? x->dim[d] : size.n ? size.v[d - 2] : (int64_t)floor(in * by);
        if (out < 1 || out > 1 << 16 || x->dim[d] < 1)
            return ac_bad(&n->b, "dimension %d becomes %" PRId64, d, out);
        r->out[d] = out;
        r->scale[d] = r->corners ? (out > 1 ? (in - 1) / (double)(out - 1) : 0) : by > 0 ? 1 / by : in / (double)out;
    }
    return AC_OK;
}

static double place(const resize *r, int32_t d, int64_t o)
{
    const float scale = (float)r->scale[d], at = (float)o;
    if (r->mode == NEAREST)
        return (double)(at * scale);
    if (r->mode == EXACT)
        return (double)((at + 0.5f) * scale);
    if (r->corners)
        return (double)(scale * at);
    const float p = scale * (at + 0.5f) - 0.5f;
    return r->mode == LINEAR && p < 0 ? 0 : (double)p;
}

static int64_t nearest(const resize *r, int32_t d, int64_t o)
{
    const int64_t at = (int64_t)floor(place(r, d, o)), last = r->x->dim[d] - 1;
    return at < 0 ? 0 : at > last ? last : at;
}

static bool unchanged(const resize *r, int32_t d)
{
    return d < 2 || (r->out[d] == r->x->dim[d] && r->scale[d] == 1);
}

static ac_tensor *gathered(ac_ep_node *n, const resize *r, ac_tensor *x)
{
    for (int32_t d = 2; x && d < x->rank; d++) {
        if (unchanged(r, d))
            continue;
        int64_t *index = AC_NEW_N(n->r->cx->region, int64_t, r->out[d]);
        for (int64_t o = 0; o < r->out[d]; o++)
            index[o] = nearest(r, d, o);
        x = ac_make_gather(&n->b, x, d, ac_make_ints(&n->b, r->out[d], index));
    }
    return x;
}

static double filter(const resize *r, double t)
{
    const double a = r->smooth ? -0.5 : -0.75;
    t = fabs(t);
    if (r->mode == LINEAR)
        return t < 1 ? 1 - t : 0;
    if (t <= 1)
        return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/* Row o of the matrix [out, in]. */
static void weights(const resize *r, int32_t d, int64_t o, float *row)
{
    const int64_t size = r->x->dim[d];
    const double at = place(r, d, o), low = floor(at);
    for (int64_t i = (int64_t)low - 1; i <= (int64_t)low + 2; i++) {
        const int64_t k = i < 0 ? 0 : i >= size ? size - 1 : i;
        row[k] += (float)filter(r, (double)i - at);
    }
}

/* With antialias the filter covers all elements that shrink into one; elements outside of the image do not count. */
static void smooth_weights(const resize *r, int32_t d, int64_t o, float *row)
{
    const double scale = r->scale[d], wide = scale > 1 ? scale : 1, reach = (r->mode == LINEAR ? 1 : 2) * wide;
    const double center = scale * ((double)o + 0.5);
    const int64_t size = r->x->dim[d];
    int64_t from = (int64_t)floor(center - reach + 0.5), to = (int64_t)floor(center + reach + 0.5);
    double sum = 0;
    from = from < 0 ? 0 : from;
    to = to > size ? size : to;
    for (int64_t i = from; i < to; i++)
        sum += filter(r, ((double)i - center + 0.5) / wide);
    for (int64_t i = from; i < to && sum != 0; i++)
        row[i] = (float)(filter(r, ((double)i - center + 0.5) / wide) / sum);
}

static ac_tensor *products(ac_ep_node *n, const resize *r, ac_tensor *x)
{
    for (int32_t d = x->rank - 1; x && d >= 2; d--) {
        const int64_t in = r->x->dim[d], out = r->out[d];
        if (unchanged(r, d))
            continue;
        float *m = AC_NEW_N(n->r->cx->region, float, out *in + 1);
        for (int64_t o = 0; o < out; o++)
            (r->smooth ? smooth_weights : weights)(r, d, o, m + o * in);
        x = ac_make_resample(&n->b, x, d, out, m);
    }
    return x;
}

/* Our operators take [N,H,W,C], with scale = in / out. */
static bool canonical(const resize *r)
{
    if (r->x->rank != 4 || r->x->dtype != AC_F32 || r->smooth || r->mode == EXACT || r->mode == CUBIC)
        return false;
    for (int32_t d = 2; d < 4; d++) {
        const double in = (double)r->x->dim[d], out = (double)r->out[d];
        if (!r->corners && fabs(r->scale[d] - in / out) > 1e-9)
            return false;
        for (int64_t o = 0; r->mode == NEAREST && o < r->out[d]; o++)
            if (r->out[d] % r->x->dim[d] || nearest(r, d, o) != o * r->x->dim[d] / r->out[d])
                return false;
    }
    return true;
}

static ac_tensor *with_ours(ac_ep_node *n, const resize *r)
{
    ac_attrs a;
    const ac_op op = r->mode == NEAREST ? AC_OP_RESIZE_NEAREST_NEIGHBOR : AC_OP_RESIZE_BILINEAR;
    ac_attrs_init(op, &a);
    a.resize.align_corners = r->corners && r->mode == LINEAR;
    a.resize.half_pixel_centers = !r->corners && r->mode == LINEAR;
    a.resize.size = ac_make_list(&n->b, 2, r->out + 2);
    ac_tensor *x = ac_channels_last(&n->b, r->x);
    return ac_channels_first(&n->b, x ? ac_make_op(&n->b, op, &x, 1, &a, AC_NONE) : NULL, 2);
}

int ac_ep_do_upsample(ac_ep_node *n)
{
    resize r;
    AC_TRY(read_resize(n, &r));
    for (int32_t d = 2; d < r.x->rank; d++) {
        int64_t cells;
        if (!ac_mul_ok(r.out[d], r.x->dim[d], &cells) || cells > 1 << 26)
            return ac_cannot(&n->b, "it makes %" PRId64 " elements of %" PRId64, r.out[d], r.x->dim[d]);
        AC_TRY(ac_reading_spend(n->r->reading, r.out[d] / 16));
    }
    if (canonical(&r))
        return ac_ep_result(n, 0, with_ours(n, &r));
    if (r.mode == NEAREST || r.mode == EXACT)
        return ac_ep_result(n, 0, gathered(n, &r, r.x));
    if (r.x->dtype != AC_F32)
        return ac_cannot(&n->b, "it interpolates elements of type %s", ac_dtype_name(r.x->dtype));
    return ac_ep_result(n, 0, products(n, &r, r.x));
}

/* ------------------------------------------------------------------ computed places */

/* Channels from dimension 1 to the end, and back. */
static ac_tensor *to_last(ac_ep_node *n, ac_tensor *x, bool back)
{
    int32_t perm[AC_MAX_RANK], other[AC_MAX_RANK];
    if (!x)
        return NULL;
    ac_perm_axis_last(x->rank, 1, perm, other);
    return ac_make_transpose(&n->b, x, back ? other : perm);
}

int ac_ep_do_grid_sampler(ac_ep_node *n)
{
    static const ac_word MODE[] = {AC_W_LINEAR, AC_W_NEAREST, AC_W_CUBIC};
    ac_attrs a;
    ac_attrs_init(AC_OP_GRID_SAMPLE, &a);
    a.sample.mode = MODE[ac_attr_int(&n->attrs, A_interpolation_mode)];
    a.sample.padding = (ac_word)(AC_W_ZEROS + ac_attr_int(&n->attrs, A_padding_mode));
    a.sample.align_corners = ac_attr_bool(&n->attrs, A_align_corners);
    ac_tensor *in[] = {to_last(n, n->in[0], false), n->in[1]};
    return ac_ep_result(n, 0, to_last(n, ac_make_op(&n->b, AC_OP_GRID_SAMPLE, in, 2, &a, AC_NONE), true));
}

/* Places -1 to 1 of all pixels, [1, P, m + 1]: the last dimension first, and a 1 at the end. */
static ac_tensor *base_grid(ac_ep_node *n, const int64_t *size, int32_t m, int64_t count, bool corners)
{
    float *v = AC_NEW_N(n->r->cx->region, float, count *(m + 1) + 1);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i;
        for (int32_t d = m - 1; d >= 0; rest /= size[d--]) {
            const double at = (double)(rest % size[d]), extent = (double)size[d];
            const double p = corners ? (extent > 1 ? 2 * at / (extent - 1) - 1 : 0) : (2 * at + 1) / extent - 1;
            v[i * (m + 1) + m - 1 - d] = (float)p;
        }
        v[i * (m + 1) + m] = 1;
    }
    return ac_make_floats(&n->b, 3, (int64_t[]){1, count, m + 1}, v);
}

int ac_ep_do_affine_grid(ac_ep_node *n)
{
    ac_tensor *theta = n->in[0];
    const ac_ints size = ac_attr_ints(&n->attrs, A_size);
    const int32_t m = size.n - 2;
    const bool corners = ac_attr_bool(&n->attrs, A_align_corners);
    if ((m != 2 && m != 3) || theta->rank != 3 || theta->dim[1] != m || theta->dim[2] != m + 1)
        return ac_bad(&n->b, "a grid of %d dimensions does not fit '%s' %s", size.n, theta->name,
                      ac_shape_str(n->r->cx, theta));
    int64_t dim[AC_MAX_RANK] = {theta->dim[0]}, count = 1;
    for (int32_t d = 0; d < m; d++) {
        dim[1 + d] = size.v[2 + d];
        if (dim[1 + d] < 1 || !ac_mul_ok(count, dim[1 + d], &count) || count > 1 << 24)
            return ac_cannot(&n->b, "a dimension of its grid is %" PRId64, dim[1 + d]);
    }
    dim[m + 1] = m;
    ac_tensor *y = ac_make_matmul(&n->b, base_grid(n, size.v + 2, m, count, corners), theta, false, true);
    return ac_ep_result(n, 0, ac_make_reshape(&n->b, y, m + 2, dim));
}

/* Regions [R,5]: the number of the image, then corners. */
int ac_ep_do_roi_align(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *roi = n->in[1];
    ac_attrs a;
    const int64_t ratio = ac_attr_int(&n->attrs, A_sampling_ratio);
    if (x->rank != 4 || roi->rank != 2 || roi->dim[1] != 5)
        return ac_bad(&n->b, "regions '%s' %s of '%s' %s", roi->name, ac_shape_str(n->r->cx, roi), x->name,
                      ac_shape_str(n->r->cx, x));
    ac_attrs_init(AC_OP_ROI_ALIGN, &a);
    a.roi.mode = AC_W_AVERAGE;
    a.roi.half_pixel = ac_attr_bool(&n->attrs, A_aligned);
    a.roi.scale = (float)ac_attr_float(&n->attrs, A_spatial_scale);
    a.roi.height = (int32_t)ac_attr_int(&n->attrs, A_pooled_height);
    a.roi.width = (int32_t)ac_attr_int(&n->attrs, A_pooled_width);
    a.roi.ratio = ratio < 0 || ratio > 1 << 15 ? 0 : (int32_t)ratio;
    return ac_ep_result(n, 0, ac_frame_regions(&n->b, AC_OP_ROI_ALIGN, x, roi, &a));
}

/* The kept boxes by falling score: as many as there are boxes, counted. */
int ac_ep_do_nms(ac_ep_node *n)
{
    ac_tensor *kept, *count;
    const ac_tensor *box = n->in[0];
    if (box->rank != 2 || box->dim[1] != 4)
        return ac_bad(&n->b, "boxes '%s' are %s", box->name, ac_shape_str(n->r->cx, box));
    const ac_nms_limits limit = {
        .most = box->dim[0], .overlap = ac_attr_float(&n->attrs, A_iou_threshold), .least = -(double)INFINITY};
    AC_TRY(ac_make_nms(&n->b, n->in[0], n->in[1], &limit, &kept, &count));
    return ac_ep_result(n, 0, ac_counted_as(ac_make_cast(&n->b, kept, AC_I64), count, 0));
}
