/* window_nodes.c - convolutions and pools of PyTorch: windows over images, with or without a batch (frame.h). */
#include "import/pt2/nodes.h"

#include "import/build/frame.h"
#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <string.h>

/* An image, which gets a batch of 1 if it has none. */
typedef struct image {
    ac_tensor *x;
    bool single;
} image;

static image batched(ac_ep_node *n, ac_tensor *x, int32_t m)
{
    int64_t dim[AC_MAX_RANK] = {1};
    if (x->rank != m + 1)
        return (image){x, false};
    memcpy(dim + 1, x->dim, (size_t)x->rank * sizeof *dim);
    return (image){ac_make_reshape(&n->b, x, x->rank + 1, dim), true};
}

static ac_tensor *unbatched(ac_ep_node *n, const image *i, ac_tensor *y)
{
    return i->single && y ? ac_make_reshape(&n->b, y, y->rank - 1, y->dim + 1) : y;
}

/* One number for all of m spatial dimensions, or one for each, into the last of v. */
static int spatial(ac_ep_node *n, int id, int32_t m, int64_t v[AC_SPATIAL])
{
    const ac_ints list = ac_attr_ints(&n->attrs, id);
    if (list.n > 1 && list.n != m)
        return ac_bad(&n->b, "%s has %d numbers for %d spatial dimensions", ac_attr_name(&n->attrs, id), list.n, m);
    for (int32_t i = 0; i < m && list.n; i++)
        v[AC_SPATIAL - m + i] = list.v[list.n == 1 ? 0 : i];
    return n->b.bad ? AC_FAIL : AC_OK;
}

/* ------------------------------------------------------------------ convolutions */

/* The image of operand 0, and the window of its weights. */
static int open_conv(ac_ep_node *n, image *img, ac_frame *w)
{
    const ac_tensor *weights = n->in[1];
    const int32_t m = weights->rank - 2;
    if (m < 1 || m > 3)
        return ac_cannot(&n->b, "its weights '%s' are %s", weights->name, ac_shape_str(n->r->cx, weights));
    *img = batched(n, n->in[0], m);
    if (!img->x || img->x->rank != m + 2)
        return img->x ? ac_bad(&n->b, "input '%s' is %s, weights '%s' are %s", img->x->name,
                               ac_shape_str(n->r->cx, img->x), weights->name, ac_shape_str(n->r->cx, weights))
                      : AC_FAIL;
    ac_frame_open(w, img->x);
    for (int32_t i = 0; i < m; i++) {
        w->kernel[AC_SPATIAL - m + i] = weights->dim[2 + i];
        if (weights->dim[2 + i] < 1)
            return ac_bad(&n->b, "weights '%s' are empty", weights->name);
    }
    AC_TRY(spatial(n, A_stride, m, w->stride));
    return spatial(n, A_dilation, m, w->dil);
}

static int check_reach(ac_ep_node *n, const ac_frame *w)
{
    for (int32_t d = AC_SPATIAL - w->m; d < AC_SPATIAL; d++)
        if (w->in[d] + w->before[d] + w->after[d] < ac_frame_reach(w, d))
            return ac_bad(&n->b, "the window (%" PRId64 ") is larger than the padded image (%" PRId64 ")",
                          ac_frame_reach(w, d), w->in[d] + w->before[d] + w->after[d]);
    return AC_OK;
}

static int convolve(ac_ep_node *n, const image *img, const ac_frame *w)
{
    const int64_t groups = ac_attr_int(&n->attrs, A_groups);
    const ac_tensor *weights = n->in[1];
    if (weights->dim[1] * groups != img->x->dim[1] || weights->dim[0] % groups)
        return ac_bad(&n->b, "%" PRId64 " groups of weights %s do not fit '%s' %s", groups,
                      ac_shape_str(n->r->cx, weights), img->x->name, ac_shape_str(n->r->cx, img->x));
    AC_TRY(check_reach(n, w));
    return ac_ep_result(n, 0, unbatched(n, img, ac_frame_conv(&n->b, img->x, n->in[1], ac_ep_in(n, 2), w, groups)));
}

int ac_ep_do_conv(ac_ep_node *n)
{
    ac_frame w;
    image img;
    if (ac_attr_bool(&n->attrs, A_transposed))
        return ac_ep_do_tconv(n);
    ac_attr_skip(&n->attrs, "output_padding");
    ac_attr_skip(&n->attrs, "benchmark");
    ac_attr_skip(&n->attrs, "deterministic");
    AC_TRY(open_conv(n, &img, &w));
    AC_TRY(spatial(n, A_padding, w.m, w.before));
    memcpy(w.after, w.before, sizeof w.after);
    return convolve(n, &img, &w);
}

/* "same": of an odd number of pads there is one more at the end. */
int ac_ep_do_conv_same(ac_ep_node *n)
{
    ac_frame w;
    image img;
    AC_TRY(open_conv(n, &img, &w));
    if (!strcmp(ac_attr_text(&n->attrs, A_padding_word), "same"))
        for (int32_t d = AC_SPATIAL - w.m; d < AC_SPATIAL; d++) {
            const int64_t all = ac_frame_reach(&w, d) - 1;
            w.before[d] = all / 2;
            w.after[d] = all - all / 2;
        }
    return convolve(n, &img, &w);
}

/* Weights are [I,O/groups,K..]. */
int ac_ep_do_tconv(ac_ep_node *n)
{
    ac_frame w;
    image img;
    int64_t out[AC_SPATIAL], extra[AC_SPATIAL] = {0};
    ac_attr_skip(&n->attrs, "benchmark");
    ac_attr_skip(&n->attrs, "deterministic");
    AC_TRY(open_conv(n, &img, &w));
    AC_TRY(spatial(n, A_padding, w.m, w.before));
    AC_TRY(spatial(n, A_output_padding, w.m, extra));
    memcpy(w.after, w.before, sizeof w.after);
    const int64_t groups = ac_attr_int(&n->attrs, A_groups);
    if (img.x->dim[1] % groups || n->in[1]->dim[0] != img.x->dim[1])
        return ac_bad(&n->b, "%" PRId64 " groups of weights %s do not fit '%s' %s", groups,
                      ac_shape_str(n->r->cx, n->in[1]), img.x->name, ac_shape_str(n->r->cx, img.x));
    for (int32_t d = 0; d < AC_SPATIAL; d++) {
        out[d] = w.stride[d] * (w.in[d] - 1) + extra[d] + ac_frame_reach(&w, d) - w.before[d] - w.after[d];
        if (out[d] < 1)
            return ac_error(n->r->cx, n->at, E0201, "the result has %" PRId64 " elements along a dimension", out[d]);
    }
    return ac_ep_result(n, 0,
                        unbatched(n, &img, ac_frame_tconv(&n->b, img.x, n->in[1], ac_ep_in(n, 2), &w, groups, out)));
}

/* ------------------------------------------------------------------ pools */

static int32_t spatial_of(const ac_ep_node *n)
{
    return strstr(n->row->name, "1d") ? 1 : strstr(n->row->name, "2d") ? 2 : 3;
}

/* The elements that ceil_mode adds at the end: the last window begins inside of the image or of the pads before it. */
static void round_up(ac_frame *w, int32_t d)
{
    const int64_t reach = ac_frame_reach(w, d), travel = w->in[d] + w->before[d] + w->after[d] - reach;
    if (travel < 0 || travel % w->stride[d] == 0)
        return;
    const int64_t out = travel / w->stride[d] + 2;
    if ((out - 1) * w->stride[d] < w->in[d] + w->before[d])
        w->after[d] = (out - 1) * w->stride[d] + reach - w->in[d] - w->before[d];
}

/* *plain: the windows without what ceil_mode adds. */
static int open_pool(ac_ep_node *n, image *img, ac_frame *w, ac_frame *plain)
{
    const int32_t m = spatial_of(n);
    *img = batched(n, n->in[0], m);
    if (!img->x || img->x->rank != m + 2)
        return img->x ? ac_bad(&n->b, "input '%s' is %s", img->x->name, ac_shape_str(n->r->cx, img->x)) : AC_FAIL;
    ac_frame_open(w, img->x);
    if (!ac_attr_ints(&n->attrs, A_kernel_size).n)
        return ac_bad(&n->b, "kernel_size is missing");
    AC_TRY(spatial(n, A_kernel_size, m, w->kernel));
    memcpy(w->stride, w->kernel, sizeof w->stride);
    AC_TRY(spatial(n, A_stride, m, w->stride));
    AC_TRY(spatial(n, A_dilation, m, w->dil));
    AC_TRY(spatial(n, A_padding, m, w->before));
    memcpy(w->after, w->before, sizeof w->after);
    AC_TRY(check_reach(n, w));
    *plain = *w;
    for (int32_t d = AC_SPATIAL - m; d < AC_SPATIAL && ac_attr_bool(&n->attrs, A_ceil_mode); d++)
        round_up(w, d);
    (void)ac_attr_bool(&n->attrs, A_ceil_mode);
    return AC_OK;
}

/* Does the channels-last pool do it? It takes no dilation and no window without elements. */
static bool canonical(const ac_tensor *x, const ac_frame *w)
{
    bool plain = w->m <= 2 && (x->dtype == AC_F32 || x->dtype == AC_I8 || x->dtype == AC_U8);
    for (int32_t d = 0; d < AC_SPATIAL; d++)
        plain &= w->dil[d] == 1 && w->before[d] < w->kernel[d] && w->after[d] < w->kernel[d];
    return plain;
}

/* Places in all of the tensor become places in the image. */
static ac_tensor *in_image(ac_ep_node *n, ac_tensor *place, const ac_tensor *x)
{
    const int64_t plane = ac_dim_product(x->dim, 2, x->rank);
    return place ? OP2(FLOOR_MOD, place, I64(plane > 0 ? plane : 1)) : NULL;
}

int ac_ep_do_max_pool(ac_ep_node *n)
{
    ac_frame w, plain;
    image img;
    AC_TRY(open_pool(n, &img, &w, &plain));
    ac_tensor *y = canonical(img.x, &w) ? ac_frame_pool(&n->b, AC_OP_MAX_POOL_2D, img.x, &w)
                                        : ac_frame_slide(&n->b, AC_OP_WINDOW_MAX, img.x, &w);
    AC_TRY(ac_ep_result(n, 0, unbatched(n, &img, y)));
    if (!ac_ep_is_used(n, 1))
        return AC_OK;
    ac_tensor *place = in_image(n, ac_frame_slide(&n->b, AC_OP_WINDOW_ARGMAX, img.x, &w), img.x);
    return ac_ep_result(n, 1, unbatched(n, &img, place));
}

/* How many elements window o holds along d: of the image, or of the padded image. */
static int64_t holds(const ac_frame *w, const ac_frame *padded, int32_t d, int64_t o)
{
    const int64_t at = o * w->stride[d] - w->before[d], end = at + w->kernel[d];
    const int64_t low = padded ? -w->before[d] : 0, high = w->in[d] + (padded ? padded->after[d] : 0);
    const int64_t from = at < low ? low : at, to = end > high ? high : end;
    return to > from ? to - from : 1;
}

/* The number of elements of each window of `like` [N,C,..]. */
static ac_tensor *counts(ac_ep_node *n, const ac_frame *w, const ac_frame *padded, const ac_tensor *like)
{
    int64_t dim[AC_MAX_RANK] = {1, 1}, count = 1;
    for (int32_t d = 2; d < like->rank; d++)
        if (!ac_mul_ok(count, dim[d] = like->dim[d], &count) || count > 1 << 24)
            return (void)ac_cannot(&n->b, "its image has more than 2^24 positions"), NULL;
    float *v = AC_NEW_N(n->r->cx->region, float, count + 1);
    bool same = true;
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i;
        v[i] = 1;
        for (int32_t d = like->rank - 1; d >= 2; rest /= dim[d--])
            v[i] *= (float)holds(w, padded, AC_SPATIAL - w->m + d - 2, rest % dim[d]);
        same &= v[i] == v[0];
    }
    return same ? F32(count ? (double)v[0] : 1) : ac_make_floats(&n->b, like->rank, dim, v);
}

int ac_ep_do_avg_pool(ac_ep_node *n)
{
    ac_frame w, plain;
    image img;
    const bool include = ac_attr_bool(&n->attrs, A_count_include_pad);
    const int64_t divisor = ac_attr_int_or(&n->attrs, A_divisor_override, 0);
    AC_TRY(open_pool(n, &img, &w, &plain));
    if (!divisor && canonical(img.x, &w)) {
        for (int32_t d = AC_SPATIAL - w.m; d < AC_SPATIAL && include; d++) { /* pads become zeros around the image */
            w.front[d] = w.before[d];
            w.back[d] = plain.after[d];
            w.after[d] = w.after[d] > w.back[d] ? w.after[d] - w.back[d] : 0;
            w.before[d] = 0;
        }
        return ac_ep_result(n, 0, unbatched(n, &img, ac_frame_pool(&n->b, AC_OP_AVERAGE_POOL_2D, img.x, &w)));
    }
    ac_tensor *sum = ac_frame_slide(&n->b, AC_OP_WINDOW_SUM, img.x, &w);
    ac_tensor *by = !sum ? NULL : divisor ? F32((double)divisor) : counts(n, &w, include ? &plain : NULL, sum);
    return ac_ep_result(n, 0, unbatched(n, &img, DIV(sum, ac_make_cast(&n->b, by, sum ? sum->dtype : AC_F32))));
}

/* ------------------------------------------------------------------ adaptive pools */

/* Window o of `out` along a dimension of `in` elements. */
static int64_t begin_of(int64_t o, int64_t in, int64_t out)
{
    return o * in / out;
}

static int64_t end_of(int64_t o, int64_t in, int64_t out)
{
    return ((o + 1) * in + out - 1) / out;
}

/* x pooled along d to `out` elements. */
static ac_tensor *adapt(ac_ep_node *n, ac_tensor *x, int32_t d, int64_t out)
{
    const int64_t in = x->dim[d];
    if (out == 1)
        return ac_make_reduce(&n->b, n->row->op, x, 1u << d, true);
    if (n->row->op == AC_OP_MEAN && out * in <= 1 << 22) {
        float *m = AC_NEW_N(n->r->cx->region, float, out *in + 1);
        for (int64_t o = 0; o < out; o++)
            for (int64_t i = begin_of(o, in, out); i < end_of(o, in, out); i++)
                m[o * in + i] = 1 / (float)(end_of(o, in, out) - begin_of(o, in, out));
        return ac_make_resample(&n->b, x, d, out, m);
    }
    ac_tensor *part[64];
    if (out > 64)
        return (void)ac_cannot(&n->b, "it pools to %" PRId64 " elements", out), NULL;
    for (int64_t o = 0; o < out; o++) {
        const int64_t from = begin_of(o, in, out), to = end_of(o, in, out);
        ac_tensor *piece = ac_make_part(&n->b, x, d, from, to - from);
        part[o] = piece ? ac_make_reduce(&n->b, n->row->op, piece, 1u << d, true) : NULL;
    }
    return ac_make_concat(&n->b, part, (int32_t)out, d);
}

/* Pools whose windows have one size and one stride are plain pools. */
static bool is_even(const image *img, const ac_ints *size, ac_frame *w)
{
    ac_frame_open(w, img->x);
    for (int32_t i = 0; i < w->m; i++) {
        const int32_t d = AC_SPATIAL - w->m + i;
        const int64_t out = size->v[i];
        if (out < 1 || w->in[d] % out)
            return false;
        w->kernel[d] = w->stride[d] = w->in[d] / out;
    }
    return true;
}

int ac_ep_do_adaptive(ac_ep_node *n)
{
    const int32_t m = spatial_of(n);
    image img = batched(n, n->in[0], m);
    ac_ints size = ac_attr_ints(&n->attrs, A_output_size);
    ac_frame w;
    bool whole = true;
    if (!img.x || img.x->rank != m + 2 || size.n != m)
        return ac_bad(&n->b, "%d sizes for '%s' %s", size.n, n->in[0]->name, ac_shape_str(n->r->cx, n->in[0]));
    const bool places = n->row->op != AC_OP_MEAN && ac_ep_is_used(n, 1);
    if (places && !is_even(&img, &size, &w))
        return ac_cannot(&n->b, "its windows differ in size, and their places may be a result");
    for (int32_t i = 0; i < m; i++) {
        if (size.v[i] < 1)
            return ac_bad(&n->b, "a size is 0");
        whole &= size.v[i] == 1;
    }
    const bool mean = n->row->op == AC_OP_MEAN, even = is_even(&img, &size, &w);
    ac_tensor *x = img.x;
    if (whole)
        x = ac_make_reduce(&n->b, n->row->op, x, ((1u << x->rank) - 1) & ~3u, true);
    else if (even && m <= 2 && x->dtype == AC_F32)
        x = ac_frame_pool(&n->b, mean ? AC_OP_AVERAGE_POOL_2D : AC_OP_MAX_POOL_2D, x, &w);
    else
        for (int32_t i = 0; x && i < m; i++)
            x = adapt(n, x, 2 + i, size.v[i]);
    AC_TRY(ac_ep_result(n, 0, unbatched(n, &img, x)));
    if (!places)
        return AC_OK;
    ac_tensor *place = in_image(n, ac_frame_slide(&n->b, AC_OP_WINDOW_ARGMAX, img.x, &w), img.x);
    return ac_ep_result(n, 1, unbatched(n, &img, place));
}
