/* window_defs.c - convolutions, pools and what else slides over images. Channels are last as with us, or first; then
 * each operator is wrapped in transposes, which pass layout cancels. */
#include "import/tf/nodedefs.h"

#include <inttypes.h>
#include <string.h>

enum { SPATIAL = 3 }; /* depth, height, width; of fewer dimensions the last ones */

#define RESULT(t) ac_tf_result(n, 0, t)

typedef struct window {
    int32_t m;  /* spatial dimensions: 2 or 3 */
    bool first; /* channels */
    ac_padding padding;
    int64_t kernel[SPATIAL], stride[SPATIAL], dil[SPATIAL], before[SPATIAL], after[SPATIAL];
} window;

static ac_tensor *channels_last(ac_tf_op *n, ac_tensor *x, bool first)
{
    static const int32_t PERM[2][AC_MAX_RANK] = {{0, 2, 3, 1}, {0, 2, 3, 4, 1}};
    return first && x ? ac_make_transpose(&n->b, x, PERM[x->rank - 4]) : x;
}

static ac_tensor *channels_back(ac_tf_op *n, ac_tensor *x, bool first)
{
    static const int32_t PERM[2][AC_MAX_RANK] = {{0, 3, 1, 2}, {0, 4, 1, 2, 3}};
    return first && x ? ac_make_transpose(&n->b, x, PERM[x->rank - 4]) : x;
}

/* A list of one number for each dimension, those of batch and channels 1, into the last of v. */
static int spatial(ac_tf_op *n, const char *name, const ac_ints *list, const window *w, int64_t v[SPATIAL])
{
    const int32_t rank = w->m + 2;
    if (!list->n)
        return AC_OK;
    if (list->n != rank)
        return ac_error(n->r->cx, n->b.at, E0103, "%s has %d numbers for %d dimensions", name, list->n, rank);
    for (int32_t d = 0; d < rank; d++) {
        const bool plain = d == 0 || d == (w->first ? 1 : rank - 1);
        const int64_t k = list->v[d];
        if (k < 1 || k > INT32_MAX)
            return ac_error(n->r->cx, n->b.at, E0103, "%s is %" PRId64, name, k);
        if (plain && k != 1)
            return ac_cannot(&n->b, "its %s along %s is %" PRId64, name, d ? "the channels" : "the batch", k);
        if (!plain)
            v[SPATIAL - w->m + d - (w->first ? 2 : 1)] = k;
    }
    return AC_OK;
}

static int open_window(ac_tf_op *n, const ac_tensor *x, int32_t m, window *w)
{
    const char *how = ac_attr_text(&n->attrs, A_padding);
    ac_ints list;
    *w = (window){.m = m, .kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dil = {1, 1, 1}};
    AC_TRY(ac_tf_channels_first(n, &w->first));
    if (x->rank != m + 2)
        return ac_error(n->r->cx, n->b.at, E0104, "'%s' is %s, expected %d dimensions", x->name,
                        ac_shape_str(n->r->cx, x), m + 2);
    list = ac_attr_ints(&n->attrs, A_strides);
    AC_TRY(spatial(n, "strides", &list, w, w->stride));
    list = ac_attr_ints(&n->attrs, A_dilations);
    AC_TRY(spatial(n, "dilations", &list, w, w->dil));
    list = ac_attr_ints(&n->attrs, A_explicit_paddings);
    if (!strcmp(how, "SAME"))
        w->padding = AC_PAD_SAME;
    else if (!strcmp(how, "VALID"))
        w->padding = AC_PAD_VALID;
    else if (!strcmp(how, "EXPLICIT") && list.n == 2 * (m + 2))
        w->padding = AC_PAD_EXPLICIT;
    else
        return ac_error(n->r->cx, n->b.at, E0103, "padding is '%s'", how);
    for (int32_t i = 0; w->padding == AC_PAD_EXPLICIT && i < m; i++) {
        const int32_t d = i + (w->first ? 2 : 1);
        w->before[SPATIAL - m + i] = list.v[2 * d];
        w->after[SPATIAL - m + i] = list.v[2 * d + 1];
        if (list.v[2 * d] < 0 || list.v[2 * d + 1] < 0 || list.v[2 * d] > INT32_MAX || list.v[2 * d + 1] > INT32_MAX)
            return ac_error(n->r->cx, n->b.at, E0103, "its explicit_paddings are negative");
    }
    return AC_OK;
}

static void conv_attrs(const window *w, ac_attrs_conv *a)
{
    a->stride_h = (int32_t)w->stride[1];
    a->stride_w = (int32_t)w->stride[2];
    a->dilation_h = (int32_t)w->dil[1];
    a->dilation_w = (int32_t)w->dil[2];
    a->padding = w->padding;
    a->pad_t = (int32_t)w->before[1];
    a->pad_b = (int32_t)w->after[1];
    a->pad_l = (int32_t)w->before[2];
    a->pad_r = (int32_t)w->after[2];
}

/* ------------------------------------------------------------------ convolutions */

static int check_filter(ac_tf_op *n, const ac_tensor *x, const ac_tensor *w, int32_t rank)
{
    bool fits = w->rank == rank && x->rank == rank;
    for (int32_t d = 0; fits && d < rank; d++)
        fits = w->dim[d] >= 1;
    return fits ? AC_OK
                : ac_error(n->r->cx, n->b.at, E0104, "input '%s' is %s, the filter '%s' %s", x->name,
                           ac_shape_str(n->r->cx, x), w->name, ac_shape_str(n->r->cx, w));
}

static ac_tensor *convolve(ac_tf_op *n, ac_op op, const window *w, ac_tensor *x, ac_tensor *filter)
{
    ac_attrs a;
    ac_tensor *in[] = {channels_last(n, x, w->first), filter};
    ac_attrs_init(op, &a);
    conv_attrs(w, &a.conv);
    return channels_back(n, ac_make_op(&n->b, op, in, 2, &a, AC_NONE), w->first);
}

/* The filter is [H,W,I,O]; with I fewer than the channels there are groups. */
int ac_tf_do_conv(ac_tf_op *n)
{
    static const int32_t OHWI[AC_MAX_RANK] = {3, 0, 1, 2};
    ac_tensor *x = n->t[0], *f = n->t[1];
    window w;
    AC_TRY(check_filter(n, x, f, 4));
    AC_TRY(open_window(n, x, 2, &w));
    const int64_t channels = x->dim[w.first ? 1 : 3], inner = f->dim[2];
    if (channels % inner || f->dim[3] % (channels / inner ? channels / inner : 1))
        return ac_error(n->r->cx, n->b.at, E0104, "%" PRId64 " channels of '%s' do not fit the filter '%s' %s",
                        channels, x->name, f->name, ac_shape_str(n->r->cx, f));
    if (channels > inner && inner == 1)
        return RESULT(convolve(n, AC_OP_DEPTHWISE_CONV_2D, &w, x,
                               ac_make_reshape(&n->b, f, 4, (int64_t[]){1, f->dim[0], f->dim[1], f->dim[3]})));
    return RESULT(convolve(n, AC_OP_CONV_2D, &w, x, ac_tf_weights(n, f, OHWI)));
}

/* The filter is [H,W,C,M]: channel c gives results c * M .. c * M + M - 1. */
int ac_tf_do_depthwise(ac_tf_op *n)
{
    ac_tensor *x = n->t[0], *f = n->t[1];
    window w;
    AC_TRY(check_filter(n, x, f, 4));
    AC_TRY(open_window(n, x, 2, &w));
    if (f->dim[2] != x->dim[w.first ? 1 : 3])
        return ac_error(n->r->cx, n->b.at, E0104, "the channels of '%s' do not fit the filter '%s' %s", x->name,
                        f->name, ac_shape_str(n->r->cx, f));
    f = ac_make_reshape(&n->b, f, 4, (int64_t[]){1, f->dim[0], f->dim[1], f->dim[2] * f->dim[3]});
    return RESULT(convolve(n, AC_OP_DEPTHWISE_CONV_2D, &w, x, f));
}

/* The gradient of Conv2D is what others call a transposed convolution; the filter is [H,W,O,I]. */
int ac_tf_do_conv_transpose(ac_tf_op *n)
{
    static const int32_t OHWI[AC_MAX_RANK] = {2, 0, 1, 3};
    ac_tensor *f = n->t[1], *x = n->t[2];
    window w;
    ac_ints size;
    ac_attrs a;
    int64_t out[4];
    AC_TRY(check_filter(n, x, f, 4));
    AC_TRY(open_window(n, x, 2, &w));
    AC_TRY(ac_operand_values(&n->b, &n->t[0], &size));
    if (size.n != 4 && size.n != 2)
        return ac_error(n->r->cx, n->b.at, E0104, "the size of its result has %d numbers", size.n);
    if (w.dil[1] != 1 || w.dil[2] != 1)
        return ac_cannot(&n->b, "its dilation is not 1");
    out[0] = x->dim[0];
    out[1] = size.v[size.n == 2 ? 0 : w.first ? 2 : 1];
    out[2] = size.v[size.n == 2 ? 1 : w.first ? 3 : 2];
    out[3] = f->dim[2];
    if (f->dim[3] != x->dim[w.first ? 1 : 3] || (size.n == 4 && size.v[w.first ? 1 : 3] != out[3]))
        return ac_error(n->r->cx, n->b.at, E0104, "the channels do not fit the filter '%s' %s", f->name,
                        ac_shape_str(n->r->cx, f));
    ac_attrs_init(AC_OP_TRANSPOSE_CONV, &a);
    conv_attrs(&w, &a.conv);
    ac_tensor *in[] = {ac_make_ints(&n->b, 4, out), ac_tf_weights(n, f, OHWI), channels_last(n, x, w.first)};
    return RESULT(channels_back(n, ac_make_op(&n->b, AC_OP_TRANSPOSE_CONV, in, 3, &a, AC_NONE), w.first));
}

int ac_tf_do_conv_3d(ac_tf_op *n)
{
    ac_tensor *x = n->t[0], *f = n->t[1];
    window w;
    ac_attrs a;
    AC_TRY(check_filter(n, x, f, 5));
    AC_TRY(open_window(n, x, 3, &w));
    if (w.padding == AC_PAD_EXPLICIT || f->dim[3] != x->dim[w.first ? 1 : 4])
        return ac_cannot(&n->b, "it has explicit pads or groups");
    ac_attrs_init(AC_OP_CONV_3D, &a);
    a.conv3d.stride_d = (int32_t)w.stride[0];
    a.conv3d.stride_h = (int32_t)w.stride[1];
    a.conv3d.stride_w = (int32_t)w.stride[2];
    a.conv3d.dilation_d = (int32_t)w.dil[0];
    a.conv3d.dilation_h = (int32_t)w.dil[1];
    a.conv3d.dilation_w = (int32_t)w.dil[2];
    a.conv3d.padding = w.padding;
    ac_tensor *in[] = {channels_last(n, x, w.first), f};
    return RESULT(channels_back(n, ac_make_op(&n->b, AC_OP_CONV_3D, in, 2, &a, AC_NONE), w.first));
}

/* ------------------------------------------------------------------ pools */

static ac_tensor *pool(ac_tf_op *n, ac_tensor *x, const window *w, int32_t from)
{
    ac_attrs a;
    ac_attrs_init(n->row->op, &a);
    a.pool.kernel_h = (int32_t)w->kernel[from];
    a.pool.stride_h = (int32_t)w->stride[from];
    a.pool.kernel_w = (int32_t)(from + 1 < SPATIAL ? w->kernel[from + 1] : 1);
    a.pool.stride_w = (int32_t)(from + 1 < SPATIAL ? w->stride[from + 1] : 1);
    a.pool.padding = w->padding;
    a.pool.pad_t = (int32_t)w->before[1];
    a.pool.pad_b = (int32_t)w->after[1];
    a.pool.pad_l = (int32_t)w->before[2];
    a.pool.pad_r = (int32_t)w->after[2];
    return x ? ac_make_op(&n->b, n->row->op, &x, 1, &a, AC_NONE) : NULL;
}

/* [N,D,H,W,C]: first over the planes, then over the depth. The number of elements in a window is a product of the
 * numbers along each dimension, so averages come out right too. */
static ac_tensor *pool_3d(ac_tf_op *n, ac_tensor *x, const window *w)
{
    window depth = *w;
    const int64_t batch = x->dim[0], deep = x->dim[1], c = x->dim[4];
    x = pool(n, ac_make_reshape(&n->b, x, 4, (int64_t[]){batch * deep, x->dim[2], x->dim[3], c}), w, 1);
    if (!x)
        return NULL;
    const int64_t h = x->dim[1], v = x->dim[2];
    depth.kernel[1] = w->kernel[0];
    depth.stride[1] = w->stride[0];
    depth.kernel[2] = depth.stride[2] = 1;
    x = pool(n, ac_make_reshape(&n->b, x, 4, (int64_t[]){batch, deep, h * v, c}), &depth, 1);
    return x ? ac_make_reshape(&n->b, x, 5, (int64_t[]){batch, x->dim[1], h, v, c}) : NULL;
}

/* ksize and strides are attributes; of MaxPoolV2 inputs. Results other than the first are not made. */
int ac_tf_do_pool(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    const int32_t m = strstr(n->node->op, "3D") ? 3 : 2;
    window w;
    ac_ints size, stride = {0};
    AC_TRY(open_window(n, x, m, &w));
    size = ac_attr_ints(&n->attrs, A_ksize);
    (void)ac_attr_bool(&n->attrs, A_include_batch_in_index);
    if (n->n_in == 3) {
        AC_TRY(ac_operand_values(&n->b, &n->t[1], &size));
        AC_TRY(ac_operand_values(&n->b, &n->t[2], &stride));
        AC_TRY(spatial(n, "strides", &stride, &w, w.stride));
    }
    if (!size.n)
        return n->b.bad ? AC_FAIL : ac_error(n->r->cx, n->b.at, E0103, "attribute 'ksize' is missing");
    AC_TRY(spatial(n, "ksize", &size, &w, w.kernel));
    x = channels_last(n, x, w.first);
    if (!x)
        return AC_FAIL;
    return RESULT(channels_back(n, m == 3 ? pool_3d(n, x, &w) : pool(n, x, &w, 1), w.first));
}

/* ------------------------------------------------------------------ space and depth, space and batch */

int ac_tf_do_block(ac_tf_op *n)
{
    ac_tensor *x = n->t[0];
    ac_attrs a;
    bool first;
    const int64_t b = ac_attr_int(&n->attrs, A_block_size);
    AC_TRY(ac_tf_channels_first(n, &first));
    if (x->rank != 4 || b < 1 || b > 1 << 15)
        return ac_error(n->r->cx, n->b.at, E0104, "'%s' %s does not divide into blocks of %" PRId64, x->name,
                        ac_shape_str(n->r->cx, x), b);
    ac_attrs_init(n->row->op, &a);
    a.block.block = (int32_t)b;
    x = channels_last(n, x, first);
    return RESULT(channels_back(n, x ? ac_make_op(&n->b, n->row->op, &x, 1, &a, AC_NONE) : NULL, first));
}

/* SpaceToBatchND(x, block, pads); the older form has one block size and [2,2] pads. */
int ac_tf_do_space_batch(ac_tf_op *n)
{
    const int64_t old = ac_attr_int(&n->attrs, A_block_size), square[2] = {old, old};
    ac_ints block = {2, square}, pads;
    const int32_t at = n->n_in - 1;
    if (n->n_in == 3)
        AC_TRY(ac_operand_values(&n->b, &n->t[1], &block));
    AC_TRY(ac_operand_values(&n->b, &n->t[at], &pads));
    if (pads.n != 2 * block.n)
        return ac_error(n->r->cx, n->b.at, E0104, "%d blocks, but %d pads", block.n, pads.n);
    const int64_t dim[2] = {block.n, 2};
    ac_tensor *in[] = {n->t[0], ac_make_ints(&n->b, block.n, block.v),
                       ac_make_reshape(&n->b, ac_make_ints(&n->b, pads.n, pads.v), 2, dim)};
    return RESULT(ac_make_op(&n->b, n->row->op, in, 3, NULL, AC_NONE));
}

/* Every patch of the window, its pixels row by row along the channels. */
int ac_tf_do_extract_patches(ac_tf_op *n)
{
    enum { MOST = 1024 };
    ac_tensor *x = n->t[0], *part[MOST];
    window w;
    ac_ints list;
    int64_t out[2], before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    AC_TRY(open_window(n, x, 2, &w));
    list = ac_attr_ints(&n->attrs, A_ksizes);
    AC_TRY(spatial(n, "ksizes", &list, &w, w.kernel));
    list = ac_attr_ints(&n->attrs, A_rates);
    AC_TRY(spatial(n, "rates", &list, &w, w.dil));
    if (w.kernel[1] * w.kernel[2] > MOST)
        return ac_cannot(&n->b, "its patches have more than %d pixels", MOST);
    for (int32_t i = 0; i < 2; i++) {
        const int64_t size = x->dim[1 + i], reach = (w.kernel[1 + i] - 1) * w.dil[1 + i] + 1, s = w.stride[1 + i];
        out[i] = w.padding == AC_PAD_SAME ? (size + s - 1) / s : (size - reach + s) / s;
        const int64_t all = (out[i] - 1) * s + reach - size;
        before[1 + i] = all > 0 ? all / 2 : 0;
        after[1 + i] = all > 0 ? all - all / 2 : 0;
        if (out[i] < 1 || reach > INT32_MAX)
            return ac_error(n->r->cx, n->b.at, E0104, "the window is larger than the image '%s' %s", x->name,
                            ac_shape_str(n->r->cx, x));
    }
    x = ac_make_pad(&n->b, x, before, after, NULL);
    for (int64_t k = 0; x && k < w.kernel[1] * w.kernel[2]; k++) {
        const int64_t y = k / w.kernel[2] * w.dil[1], v = k % w.kernel[2] * w.dil[2];
        const int64_t begin[] = {0, y, v, 0}, step[] = {1, w.stride[1], w.stride[2], 1};
        const int64_t end[] = {x->dim[0], y + (out[0] - 1) * w.stride[1] + 1, v + (out[1] - 1) * w.stride[2] + 1,
                               x->dim[3]};
        ac_attrs a;
        ac_attrs_init(AC_OP_STRIDED_SLICE, &a);
        a.strided.begin = ac_make_list(&n->b, 4, begin);
        a.strided.end = ac_make_list(&n->b, 4, end);
        a.strided.strides = ac_make_list(&n->b, 4, step);
        part[k] = ac_make_op(&n->b, AC_OP_STRIDED_SLICE, &x, 1, &a, AC_NONE);
    }
    return RESULT(x ? ac_make_concat(&n->b, part, (int32_t)(w.kernel[1] * w.kernel[2]), 3) : NULL);
}
