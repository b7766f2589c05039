/* resize_nodes.c - Resize and Upsample of ONNX. Along each dimension the position of result o in the input is
 * computed here, in double as in the specification. If our nearest or bilinear operator uses exactly these positions,
 * it is taken; else nearest is a gather along each dimension, and linear and cubic modes are products with a constant
 * matrix. Linear mode of integers is bit for bit as in ONNX Runtime, which truncates sums of f32; other modes, which it
 * does not compute, are rounded as in ONNX's reference. */
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"
#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FAR = 65536 }; /* the most that a region of interest may be away from the input, in lengths of the input */

typedef struct resize {
    const char *mode, *coords, *nearest;
    double cubic, extrapolation;
    bool exclude_outside, antialias;
    bool simple; /* up to operator set 10, as ONNX Runtime: positions in f32, nearest is up if a side shrinks, else
                  * down, and a result of x's shape is x */
    int64_t out[AC_MAX_RANK];
    double scale[AC_MAX_RANK], roi_start[AC_MAX_RANK], roi_end[AC_MAX_RANK];
} resize;

/* The position in the input of element o along dimension d. */
static double position(const resize *r, const ac_tensor *x, int32_t d, int64_t o)
{
    const double scale = r->scale[d], at = (double)o;
    const double in = (double)x->dim[d], out = scale * in; /* not rounded, as the reference has it */
    if (!strcmp(r->coords, "align_corners"))
        return out == 1 ? 0 : at * (in - 1) / (out - 1);
    if (r->simple)
        return (double)((float)at / (float)scale);
    if (!strcmp(r->coords, "asymmetric"))
        return at / scale;
    if (!strcmp(r->coords, "pytorch_half_pixel"))
        return r->out[d] > 1 ? (at + 0.5) / scale - 0.5 : 0; /* the length that there is, as ONNX Runtime has it */
    if (!strcmp(r->coords, "half_pixel_symmetric")) {
        const double adjust = (double)r->out[d] / out, center = in / 2, offset = center * (1 - adjust);
        return offset + (at + 0.5) / scale - 0.5;
    }
    if (!strcmp(r->coords, "tf_half_pixel_for_nn"))
        return (at + 0.5) / scale;
    if (!strcmp(r->coords, "tf_crop_and_resize")) {
        const double a = r->roi_start[d], b = r->roi_end[d];
        return out > 1 ? a * (in - 1) + at * (b - a) * (in - 1) / (out - 1) : 0.5 * (a + b) * (in - 1);
    }
    return (at + 0.5) / scale - 0.5; /* half_pixel */
}

/* A turn but for rounding is the turn: (4 + 1/2) * 7/9 - 1/2 is 3, in double a little less. */
static int64_t nearest_at(const resize *r, double at, int32_t d, int64_t size)
{
    double v;
    const double turn = floor(2 * at + 0.5) / 2;
    at = fabs(at - turn) < 1e-9 ? turn : at;
    if (r->simple)
        v = r->scale[d] < 1 ? ceil(at) : floor(at);
    else if (!strcmp(r->nearest, "floor"))
        v = floor(at);
    else if (!strcmp(r->nearest, "ceil"))
        v = ceil(at);
    else if (!strcmp(r->nearest, "round_prefer_ceil"))
        v = floor(at + 0.5);
    else
        v = ceil(at - 0.5);
    return v < 0 ? 0 : v > (double)(size - 1) ? size - 1 : (int64_t)v;
}

/* As ONNX Runtime computes it, in f32; of the kinds whose rounding matters. */
static double position_f32(const resize *r, const ac_tensor *x, int32_t d, int64_t o)
{
    const float scale = (float)r->scale[d], at = (float)o, half = at + 0.5f;
    if (!strcmp(r->coords, "asymmetric"))
        return (double)(at / scale);
    if (!strcmp(r->coords, "half_pixel") || !strcmp(r->coords, "pytorch_half_pixel"))
        return r->out[d] > 1 || r->coords[0] == 'h' ? (double)(half / scale - 0.5f) : 0;
    if (!strcmp(r->coords, "tf_half_pixel_for_nn"))
        return (double)(half / scale);
    if (!strcmp(r->coords, "align_corners") && r->out[d] > 1)
        return (double)(at * (float)(x->dim[d] - 1) / (float)(r->out[d] - 1));
    return position(r, x, d, o);
}

/* Warns if ONNX Runtime takes other positions. It truncates a fractional length before it aligns corners, and it
 * computes positions in f32, so that one in the middle of two elements may round to the other one. ONNX's reference
 * does neither; arenac follows the reference. */
static void warn_of_other_places(ac_onx_node *n, const resize *r, const ac_tensor *x)
{
    const bool corners = !strcmp(r->coords, "align_corners") || !strcmp(r->coords, "tf_crop_and_resize");
    for (int32_t d = 0; d < x->rank; d++) {
        const double length = r->scale[d] * (double)x->dim[d];
        const bool whole = fabs(length - (double)r->out[d]) < 1e-4;
        bool differs = corners && r->out[d] > 1 && !whole;
        for (int64_t o = 0; o < r->out[d] && !differs && !strcmp(r->mode, "nearest"); o++)
            differs = nearest_at(r, position(r, x, d, o), d, x->dim[d]) !=
                      nearest_at(r, position_f32(r, x, d, o), d, x->dim[d]);
        if (!differs)
            continue;
        ac_warn(n->r->cx, n->at, W0001,
                "dimension %d of '%s' becomes %.6g elements%s: ONNX Runtime may place them differently from ONNX's "
                "reference, which arenac follows",
                d, x->name, length, whole ? "" : ac_strf(n->r->cx->region, ", rounded down to %" PRId64, r->out[d]));
        return;
    }
}

static bool same_shape(const resize *r, const ac_tensor *x)
{
    for (int32_t d = 0; d < x->rank; d++)
        if (r->out[d] != x->dim[d])
            return false;
    return true;
}

static bool unchanged(const resize *r, const ac_tensor *x, int32_t d)
{
    return r->out[d] == x->dim[d] && strcmp(r->coords, "tf_crop_and_resize") != 0 && r->scale[d] == 1;
}

static ac_tensor *resize_nearest(ac_onx_node *n, const resize *r, ac_tensor *x)
{
    for (int32_t d = 0; x && d < x->rank; d++) {
        if (unchanged(r, x, d))
            continue;
        int64_t *index = AC_NEW_N(n->r->cx->region, int64_t, r->out[d] + 1);
        for (int64_t o = 0; o < r->out[d]; o++)
            index[o] = nearest_at(r, position(r, x, d, o), d, x->dim[d]);
        x = ac_make_gather(&n->b, x, d, ac_make_ints(&n->b, r->out[d], index));
    }
    return x;
}

/* The filter at distance t. */
static double filter(const resize *r, double t)
{
    const double a = r->cubic;
    t = fabs(t);
    if (strcmp(r->mode, "cubic") != 0)
        return t < 1 ? 1 - t : 0;
    if (t <= 1)
        return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/* Row o of the matrix [out, in]: the weight of each input in result o. */
static void weights(const resize *r, const ac_tensor *x, int32_t d, int64_t o, float *row)
{
    const int64_t size = x->dim[d];
    const double at = position(r, x, d, o), wide = !strcmp(r->mode, "cubic") ? 2 : 1;
    const double shrink = r->antialias && r->scale[d] < 1 ? r->scale[d] : 1, reach = wide / shrink;
    double sum = 0;
    const int64_t first = (int64_t)floor(at - reach), last = (int64_t)ceil(at + reach);
    for (int64_t i = first; i <= last; i++) {
        const double w = filter(r, ((double)i - at) * shrink);
        sum += r->exclude_outside && (i < 0 || i >= size) ? 0 : w;
    }
    for (int64_t i = first; i <= last; i++) {
        const double w = filter(r, ((double)i - at) * shrink) / (sum != 0 ? sum : 1);
        const int64_t k = i < 0 ? 0 : i >= size ? size - 1 : i;
        if (!r->exclude_outside || (i >= 0 && i < size))
            row[k] += (float)w;
    }
}

/* x along dimension d times a constant matrix. */
static ac_tensor *resize_linear(ac_onx_node *n, const resize *r, ac_tensor *x, int32_t d)
{
    const int64_t in = x->dim[d], out = r->out[d];
    float *m = AC_NEW_N(n->r->cx->region, float, out *in + 1);
    for (int64_t o = 0; o < out; o++)
        weights(r, x, d, o, m + o * in);
    return ac_make_resample(&n->b, x, d, out, m);
}

/* ------------------------------------------------------------------ integers, linear */

/* The two elements around the position of each result along a dimension, and their weights. */
typedef struct taps {
    ac_tensor *at[2], *weight[2];
} taps;

/* fixed: weights are i32, in 1/1024; else f32. */
static taps taps_of(ac_onx_node *n, const resize *r, const ac_tensor *x, int32_t d, bool fixed)
{
    const int64_t out = r->out[d], last = x->dim[d] - 1;
    const float unit = fixed ? 1024 : 1, end = unit * (float)last;
    const int64_t dim[AC_MAX_RANK] = {out, 1, 1, 1, 1, 1, 1, 1};
    int64_t *at = AC_NEW_N(n->r->cx->region, int64_t, 2 * out);
    float *weight = AC_NEW_N(n->r->cx->region, float, 2 * out);
    for (int64_t o = 0; o < out; o++) {
        const float p = (float)position_f32(r, x, d, o), v = fixed ? truncf(p * unit) : p;
        const float q = v < 0 ? 0 : v > end ? end : v;
        const int64_t low = (int64_t)(q / unit), high = low < last ? low + 1 : last;
        at[o] = low;
        at[out + o] = high;
        weight[o] = low == high ? unit / 2 : fabsf(q - unit * (float)high);
        weight[out + o] = low == high ? unit / 2 : fabsf(q - unit * (float)low);
    }
    taps t;
    for (int32_t k = 0; k < 2; k++) {
        t.at[k] = ac_make_ints(&n->b, out, at + k * out);
        t.weight[k] = ac_make_floats(&n->b, x->rank - d, dim, weight + k * out);
        t.weight[k] = ac_make_cast(&n->b, t.weight[k], fixed ? AC_I32 : AC_F32);
    }
    return t;
}

/* The sum of four neighbours, each times (its weight along the row * its weight along the column), in f32 and in this
 * order; bytes with channels last in fixed point. */
static ac_tensor *resize_integers(ac_onx_node *n, const resize *r, ac_tensor *x)
{
    const bool last = x->rank == 4 && unchanged(r, x, 0) && !unchanged(r, x, 1) && unchanged(r, x, 3);
    const bool fixed = last && ac_dtype_bits(x->dtype) == 8;
    const int32_t dy = x->rank - 2 - last, dx = dy + 1;
    const ac_dtype own = x->dtype;
    if (same_shape(r, x))
        return x;
    for (int32_t d = 0; d < x->rank; d++)
        if ((x->rank != 2 && x->rank != 4) || (d != dy && d != dx && !unchanged(r, x, d)))
            return (void)ac_cannot(&n->b, "it interpolates elements of type %s in %d dimensions, along dimension %d",
                                   ac_dtype_name(own), x->rank, d),
                   NULL;
    const taps column = taps_of(n, r, x, dy, fixed), row = taps_of(n, r, x, dx, fixed);
    ac_tensor *sum = NULL;
    for (int32_t k = 0; k < 4; k++) {
        ac_tensor *v = ac_make_gather(&n->b, ac_make_gather(&n->b, x, dy, column.at[k / 2]), dx, row.at[k % 2]);
        ac_tensor *by = MUL(row.weight[k % 2], column.weight[k / 2]);
        v = MUL(by, ac_make_cast(&n->b, v, fixed ? AC_I32 : AC_F32));
        sum = sum ? ADD(sum, v) : v;
    }
    if (fixed)
        sum = DIV(sum, NUM(sum, 1 << 20));
    return ac_make_cast(&n->b, sum, own);
}

/* ------------------------------------------------------------------ the operators */

/* Can one of our operators do it? They take [N,H,W,C] and know three ways to place pixels, with scale = in / out. */
static bool canonical(const resize *r, const ac_tensor *x, ac_attrs_resize *a)
{
    const bool near = !strcmp(r->mode, "nearest");
    if (x->rank != 4 || !unchanged(r, x, 0) || !unchanged(r, x, 1) || r->antialias || r->exclude_outside ||
        x->dtype != AC_F32 || (!near && strcmp(r->mode, "linear") != 0))
        return false;
    for (int32_t d = 2; d < 4; d++) {
        const double in = (double)x->dim[d], out = (double)r->out[d];
        if (fabs(r->scale[d] * in - out) > 1e-6)
            return false;
        for (int64_t o = 0; near && o < r->out[d]; o++) /* floor(o * in / out), exactly */
            if (nearest_at(r, position(r, x, d, o), d, x->dim[d]) != o * x->dim[d] / r->out[d] || r->out[d] % x->dim[d])
                return false;
        if (!strcmp(r->coords, "pytorch_half_pixel") && out <= 1)
            return false;
    }
    if (near)
        return true;
    a->align_corners = !strcmp(r->coords, "align_corners");
    a->half_pixel_centers = !strcmp(r->coords, "half_pixel") || !strcmp(r->coords, "pytorch_half_pixel");
    return a->align_corners || a->half_pixel_centers || !strcmp(r->coords, "asymmetric");
}

static ac_tensor *with_ours(ac_onx_node *n, const resize *r, ac_tensor *x, ac_attrs *a)
{
    static const int32_t TO_LAST[] = {0, 2, 3, 1}, TO_FIRST[] = {0, 3, 1, 2};
    int64_t *size = AC_NEW_N(n->r->cx->region, int64_t, 2);
    size[0] = r->out[2];
    size[1] = r->out[3];
    a->resize.size = (ac_ints){2, size};
    x = ac_make_transpose(&n->b, x, TO_LAST);
    const ac_op op = !strcmp(r->mode, "nearest") ? AC_OP_RESIZE_NEAREST_NEIGHBOR : AC_OP_RESIZE_BILINEAR;
    return ac_make_transpose(&n->b, x ? ac_make_op(&n->b, op, &x, 1, a, AC_NONE) : NULL, TO_FIRST);
}

/* tf_crop_and_resize: results outside of the input get a constant value. y is the resized n->in[0]. */
static ac_tensor *extrapolate(ac_onx_node *n, const resize *r, ac_tensor *y)
{
    for (int32_t d = 0; y && !strcmp(r->coords, "tf_crop_and_resize") && d < y->rank; d++) {
        int64_t dim[AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        uint8_t *outside = ac_alloc(n->r->cx->region, (uint64_t)r->out[d] + 1);
        bool any = false;
        for (int64_t o = 0; o < r->out[d]; o++) {
            const double at = position(r, n->in[0], d, o);
            outside[o] = at < 0 || at > (double)(n->in[0]->dim[d] - 1);
            any |= outside[o];
        }
        dim[d] = r->out[d];
        if (!any)
            continue;
        ac_tensor *mask = ac_tensor_const(n->r->g, "outside", AC_BOOL, y->rank, dim, outside);
        ac_tensor *in[] = {mask, ac_make_number(&n->b, y->dtype, r->extrapolation), y};
        y = ac_make_op(&n->b, AC_OP_SELECT, in, 3, NULL, AC_NONE);
    }
    return y;
}

/* y to the nearest integers of a type, halves to even; beyond its range the nearest. */
static ac_tensor *rounded(ac_onx_node *n, ac_tensor *y, ac_dtype type)
{
    y = OP1(ROUND, y);
    y = MAX(y, F32((double)ac_dtype_min(type)));
    return ac_make_cast(&n->b, MIN(y, F32((double)ac_dtype_max(type))), type);
}

static int finish(ac_onx_node *n, const resize *r)
{
    ac_tensor *x = n->in[0];
    ac_attrs a;
    ac_attrs_init(AC_OP_RESIZE_BILINEAR, &a);
    for (int32_t d = 0; d < x->rank; d++)
        if (r->out[d] < 1 || r->out[d] > 1 << 16 || x->dim[d] < 1)
            return r->out[d] < 1 || x->dim[d] < 1 ? ac_cannot(&n->b, "a size is 0")
                                                  : ac_cannot(&n->b, "a size is above 65536");
    for (int32_t d = 0; d < x->rank; d++)
        if (!ac_pb_spend(&n->r->pb, r->out[d] / 16)) /* each place is looked at */
            return AC_FAIL;
    if (r->simple && same_shape(r, x))
        return ac_onx_result(n, 0, x);
    warn_of_other_places(n, r, x);
    if (canonical(r, x, &a.resize))
        return ac_onx_result(n, 0, with_ours(n, r, x, &a));
    if (!strcmp(r->mode, "nearest"))
        return ac_onx_result(n, 0, extrapolate(n, r, resize_nearest(n, r, x)));
    if (strcmp(r->mode, "linear") != 0 && strcmp(r->mode, "cubic") != 0)
        return ac_error(n->r->cx, n->at, E0103, "mode is '%s'", r->mode);
    if (ac_dtype_is_int(x->dtype) && ac_dtype_bits(x->dtype) <= 32 && !strcmp(r->mode, "linear") && !r->antialias &&
        !r->exclude_outside && strcmp(r->coords, "tf_crop_and_resize") != 0)
        return ac_onx_result(n, 0, resize_integers(n, r, x));
    const ac_dtype own = x->dtype;
    const bool rounds = ac_dtype_is_int(own) && ac_dtype_bits(own) <= 16;
    if (own != AC_F32 && !rounds)
        return ac_cannot(&n->b, "it interpolates elements of type %s", ac_dtype_name(own));
    x = ac_make_cast(&n->b, x, AC_F32);
    for (int32_t d = x ? x->rank - 1 : -1; x && d >= 0; d--)
        if (!unchanged(r, x, d))
            x = resize_linear(n, r, x, d);
    x = extrapolate(n, r, x);
    return ac_onx_result(n, 0, rounds ? rounded(n, x, own) : x);
}

static const double *numbers(ac_onx_node *n, int32_t i, int64_t *count)
{
    if (!ac_operand_known(&n->b, &n->in[i]))
        return (void)ac_operand_late(&n->b, n->in[i]), NULL;
    ac_tensor *t = n->in[i];
    const void *data = ac_tensor_force(n->r->cx, t);
    if (!data)
        return NULL;
    *count = ac_tensor_count(t);
    double *v = AC_NEW_N(n->r->cx->region, double, *count + 1);
    for (int64_t k = 0; k < *count; k++)
        v[k] = ac_dtype_get_num(t->dtype, data, k);
    return v;
}

/* Scales of all dimensions; the size is floor(in * scale), in f32 as ONNX infers it. */
static int take_scales(ac_onx_node *n, resize *r, const double *v, int64_t count, const int32_t *axis)
{
    const ac_tensor *x = n->in[0];
    for (int64_t i = 0; i < count; i++) {
        if (!(v[i] > 0 && v[i] <= 65536))
            return ac_error(n->r->cx, n->at, E0103, "scale %" PRId64 " is %g", i, v[i]);
        r->scale[axis[i]] = v[i];
        const float size = (float)x->dim[axis[i]] * (float)v[i];
        r->out[axis[i]] = (int64_t)floorf(size);
    }
    return AC_OK;
}

static void init(resize *r, const ac_onx_node *n)
{
    const ac_tensor *x = n->in[0];
    *r = (resize){
        .mode = "nearest", .coords = "asymmetric", .nearest = "floor", .cubic = -0.75, .simple = n->version < 11};
    for (int32_t d = 0; d < x->rank; d++) {
        r->scale[d] = r->roi_end[d] = 1;
        r->out[d] = x->dim[d];
    }
}

static const int32_t ALL[AC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};

int ac_onx_do_upsample(ac_onx_node *n)
{
    resize r;
    int64_t count = 0;
    const ac_tensor *x = n->in[0];
    init(&r, n);
    r.mode = ac_attr_text(&n->attrs, A_mode);
    double *v = AC_NEW_N(n->r->cx->region, double, AC_MAX_RANK);
    if (n->n_in > 1) {
        const double *given = numbers(n, 1, &count);
        if (!given)
            return AC_FAIL;
        for (int64_t i = 0; i < count && i < AC_MAX_RANK; i++)
            v[i] = given[i];
    } else {
        const float *given = ac_onx_floats(n, "scales", &count);
        for (int64_t i = 0; i < count && i < AC_MAX_RANK; i++)
            v[i] = (double)given[i];
    }
    if (count != x->rank)
        return ac_error(n->r->cx, n->at, E0104, "%" PRId64 " scales for %d dimensions", count, x->rank);
    if (!strcmp(r.mode, "bilinear") || !strcmp(r.mode, "trilinear"))
        r.mode = "linear";
    AC_TRY(take_scales(n, &r, v, count, ALL));
    return finish(n, &r);
}

/* Sizes; keep_aspect_ratio_policy picks one scale for all of them. */
static int take_sizes(ac_onx_node *n, resize *r, const double *v, int64_t count, const int32_t *axis)
{
    const ac_tensor *x = n->in[0];
    const char *policy = ac_attr_text(&n->attrs, A_keep_aspect_ratio_policy);
    const bool larger = !strcmp(policy, "not_smaller"), stretch = !strcmp(policy, "stretch");
    double one = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!(v[i] >= 0 && v[i] < INT32_MAX))
            return ac_error(n->r->cx, n->at, E0103, "size %" PRId64 " is %g", i, v[i]);
        const double in = (double)x->dim[axis[i]], s = in > 0 ? v[i] / in : 1;
        one = i == 0 || (larger ? s > one : s < one) ? s : one;
        r->scale[axis[i]] = s;
        r->out[axis[i]] = (int64_t)v[i];
    }
    for (int64_t i = 0; !stretch && i < count; i++) {
        r->scale[axis[i]] = one;
        r->out[axis[i]] = (int64_t)floor((double)x->dim[axis[i]] * one + 0.5);
    }
    return AC_OK;
}

int ac_onx_do_resize(ac_onx_node *n)
{
    resize r;
    const ac_tensor *x = n->in[0];
    int64_t count = 0, n_roi = 0;
    int32_t axis[AC_MAX_RANK];
    ac_ints axes;
    const int32_t scales = n->version < 11 ? 1 : 2;
    init(&r, n);
    r.mode = ac_attr_text(&n->attrs, A_mode);
    if (n->version >= 11) {
        r.coords = ac_attr_text(&n->attrs, A_coordinate_transformation_mode);
        r.nearest = ac_attr_text(&n->attrs, A_nearest_mode);
        r.cubic = ac_attr_float(&n->attrs, A_cubic_coeff_a);
        r.extrapolation = ac_attr_float(&n->attrs, A_extrapolation_value);
        r.exclude_outside = ac_attr_bool(&n->attrs, A_exclude_outside);
        r.antialias = ac_attr_bool(&n->attrs, A_antialias);
    }
    ac_attr_skip(&n->attrs, "keep_aspect_ratio_policy");
    axes = ac_attr_ints(&n->attrs, A_axes);
    if (axes.n > x->rank)
        return ac_error(n->r->cx, n->at, E0103, "%d axes for %d dimensions", axes.n, x->rank);
    const int32_t m = axes.n ? axes.n : x->rank;
    for (int32_t i = 0; i < m; i++) {
        axis[i] = i;
        if (axes.n)
            AC_TRY(ac_operand_axis(&n->b, axes.v[i], x->rank, &axis[i]));
    }
    if (!strcmp(r.coords, "tf_crop_and_resize")) {
        const double *roi = ac_onx_in(n, 1) ? numbers(n, 1, &n_roi) : NULL;
        if (!roi || n_roi != 2 * m)
            return roi ? ac_error(n->r->cx, n->at, E0104, "the region of interest has %" PRId64 " numbers", n_roi)
                       : AC_FAIL;
        for (int32_t i = 0; i < m; i++) {
            for (int32_t k = i; k <= i + m; k += m)
                if (!(fabs(roi[k]) <= FAR))
                    return ac_error(n->r->cx, n->at, E0103, "number %d of the region of interest is %g", k, roi[k]);
            r.roi_start[axis[i]] = roi[i];
            r.roi_end[axis[i]] = roi[i + m];
        }
    }
    const bool by_size = ac_onx_in(n, 3) != NULL;
    if (!by_size && !ac_onx_in(n, scales))
        return ac_error(n->r->cx, n->at, E0102, "neither scales nor sizes are given");
    const double *v = numbers(n, by_size ? 3 : scales, &count);
    if (!v)
        return AC_FAIL;
    if (count != m)
        return ac_error(n->r->cx, n->at, E0104, "%" PRId64 " scales or sizes for %d dimensions", count, m);
    AC_TRY(by_size ? take_sizes(n, &r, v, count, axis) : take_scales(n, &r, v, count, axis));
    return finish(n, &r);
}
