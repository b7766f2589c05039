/* onnx_window.c - convolutions, pools, resizing: operators over pixels. */
#include "export/onnx_out.h"
#include "ir/ops/decode/axis.h"

#include <string.h>

static void window_attrs(ac_onw *w, int32_t m, const int64_t *kernel, const int64_t *stride, const int64_t *pads,
                         const int64_t *dilation)
{
    ac_onw_ints(w, "kernel_shape", m, kernel);
    ac_onw_ints(w, "strides", m, stride);
    ac_onw_ints(w, "pads", 2 * m, pads);
    if (dilation)
        ac_onw_ints(w, "dilations", m, dilation);
}

static ac_tensor *flat(ac_onw *w, ac_tensor *bias)
{
    const int64_t n = bias ? ac_tensor_count(bias) : 0;
    return bias && bias->rank != 1 ? ac_onw_reshape(w, bias, 1, &n) : bias;
}

/* The result's shape with channels first. */
static ac_tensor *run(ac_onw *w, const char *type, ac_tensor *const *in, int32_t n_in, const ac_tensor *y)
{
    int64_t dim[AC_MAX_RANK] = {y->dim[0], y->dim[y->rank - 1]};
    for (int32_t d = 2; d < y->rank; d++)
        dim[d] = y->dim[d - 1];
    return ac_onw_op(w, type, in, n_in, y->dtype, y->rank, dim);
}

static int conv(ac_onw *w, const ac_node *n, ac_tensor *weights, const int32_t *perm, int64_t groups, int64_t kh,
                int64_t kw)
{
    const ac_attrs_conv *a = &n->attrs.conv;
    const bool sums = n->out[0]->dtype == AC_I32;
    ac_tensor *bias = n->n_in > 2 ? n->in[2] : NULL;
    if (sums && weights->dtype != AC_I8)
        return ac_onw_cannot(w, n, "sums of products with weights of %s", ac_dtype_name(weights->dtype));
    ac_tensor *in[] = {ac_onw_first(w, n->in[0]), ac_onw_transpose(w, weights, perm), flat(w, bias)};
    if (sums)
        in[2] = a->zero ? ac_onw_const(w, n->in[0]->dtype, a->zero) : NULL;
    ac_tensor *y = run(w, sums ? "ConvInteger" : "Conv", in, 3, n->out[0]);
    window_attrs(w, 2, (int64_t[]){kh, kw}, (int64_t[]){a->stride_h, a->stride_w},
                 (int64_t[]){a->pad_t, a->pad_l, a->pad_b, a->pad_r}, (int64_t[]){a->dilation_h, a->dilation_w});
    ac_onw_int(w, "group", groups);
    if (sums && bias) {
        bias = ac_onw_reshape(w, bias, 3, (int64_t[]){y->dim[1], 1, 1});
        y = ac_onw_op(w, "Add", (ac_tensor *[]){y, bias}, 2, AC_I32, y->rank, y->dim);
    }
    ac_onw_last(w, ac_onw_act(w, y, a->act), n->out[0]);
    return AC_OK;
}

int ac_onw_conv(ac_onw *w, const ac_node *n)
{
    ac_tensor *k = n->in[1]; /* [O,H,W,I] */
    return conv(w, n, k, (const int32_t[]){0, 3, 1, 2}, n->in[0]->dim[3] / k->dim[3], k->dim[1], k->dim[2]);
}

int ac_onw_depthwise(ac_onw *w, const ac_node *n)
{
    ac_tensor *k = n->in[1]; /* [1,H,W,C*M] */
    return conv(w, n, k, (const int32_t[]){3, 0, 1, 2}, n->in[0]->dim[3], k->dim[1], k->dim[2]);
}

int ac_onw_conv_3d(ac_onw *w, const ac_node *n)
{
    const ac_attrs_conv3d *a = &n->attrs.conv3d;
    const ac_tensor *x = n->in[0], *k = n->in[1], *y = n->out[0]; /* [D,H,W,I,O] */
    const int64_t stride[] = {a->stride_d, a->stride_h, a->stride_w},
                  dilation[] = {a->dilation_d, a->dilation_h, a->dilation_w};
    int64_t pads[6] = {a->pad_f, a->pad_t, a->pad_l};
    for (int32_t i = 0; i < 3; i++) {
        const int64_t need =
            (y->dim[1 + i] - 1) * stride[i] + (k->dim[i] - 1) * dilation[i] + 1 - x->dim[1 + i] - pads[i];
        pads[3 + i] = need > 0 ? need : 0;
    }
    ac_tensor *in[] = {ac_onw_first(w, n->in[0]), ac_onw_transpose(w, n->in[1], (const int32_t[]){4, 3, 0, 1, 2}),
                       flat(w, n->n_in > 2 ? n->in[2] : NULL)};
    ac_tensor *v = run(w, "Conv", in, 3, y);
    window_attrs(w, 3, k->dim, stride, pads, dilation);
    ac_onw_int(w, "group", x->dim[4] / k->dim[3]);
    ac_onw_last(w, ac_onw_act(w, v, a->act), n->out[0]);
    return AC_OK;
}

/* ONNX subtracts pads from the whole product of input and kernel; ours has the size of the result and the pad before
 * it.
 */
int ac_onw_tconv(ac_onw *w, const ac_node *n)
{
    const ac_attrs_conv *a = &n->attrs.conv;
    const ac_tensor *k = n->in[1], *x = n->in[2], *y = n->out[0]; /* k [O,H,W,I] */
    const int64_t stride[] = {a->stride_h, a->stride_w}, dilation[] = {a->dilation_h, a->dilation_w};
    int64_t pads[4] = {a->pad_t, a->pad_l}, more[2] = {0};
    for (int32_t i = 0; i < 2; i++) {
        const int64_t full = stride[i] * (x->dim[1 + i] - 1) + (k->dim[1 + i] - 1) * dilation[i] + 1;
        const int64_t after = full - y->dim[1 + i] - pads[i];
        pads[2 + i] = after > 0 ? after : 0;
        more[i] = after < 0 ? -after : 0;
        if (more[i] && more[i] >= stride[i])
            return ac_onw_cannot(w, n, "the result reaches %lld pixels past the last window", (long long)more[i]);
    }
    ac_tensor *in[] = {ac_onw_first(w, n->in[2]), ac_onw_transpose(w, n->in[1], (const int32_t[]){3, 0, 1, 2}),
                       flat(w, n->n_in > 3 ? n->in[3] : NULL)};
    ac_tensor *v = run(w, "ConvTranspose", in, 3, y);
    window_attrs(w, 2, k->dim + 1, stride, pads, dilation);
    ac_onw_ints(w, "output_padding", 2, more);
    ac_onw_last(w, ac_onw_act(w, v, a->act), n->out[0]);
    return AC_OK;
}

int ac_onw_pool(ac_onw *w, const ac_node *n)
{
    const ac_attrs_pool *a = &n->attrs.pool;
    const int64_t pads[] = {a->pad_t, a->pad_l, a->pad_b, a->pad_r};
    ac_tensor *x = ac_onw_first(w, n->in[0]);
    if (n->op == AC_OP_L2_POOL_2D)
        x = ac_onw_op(w, "Mul", (ac_tensor *[]){x, x}, 2, x->dtype, x->rank, x->dim);
    ac_tensor *y = run(w, ac_onw_rows[n->op].name, &x, 1, n->out[0]);
    window_attrs(w, 2, (int64_t[]){a->kernel_h, a->kernel_w}, (int64_t[]){a->stride_h, a->stride_w}, pads, NULL);
    if (n->op == AC_OP_L2_POOL_2D)
        y = ac_onw_op(w, "Sqrt", &y, 1, y->dtype, y->rank, y->dim);
    ac_onw_last(w, ac_onw_act(w, y, a->act), n->out[0]);
    return AC_OK;
}

static ac_tensor *scales_of(ac_onw *w, float h, float wide)
{
    const int64_t n = 4;
    const float v[] = {1, 1, h, wide};
    return ac_tensor_const(w->g, "onnx/scales", AC_F32, 1, &n, ac_copy(w->cx->region, v, sizeof v));
}

int ac_onw_resize(ac_onw *w, const ac_node *n)
{
    const ac_attrs_resize *a = &n->attrs.resize;
    const ac_tensor *y = n->out[0];
    const bool nearest = n->op == AC_OP_RESIZE_NEAREST_NEIGHBOR;
    if (a->align_corners && a->half_pixel_centers)
        return ac_onw_cannot(w, n, "align_corners with half_pixel_centers");
    const int64_t size[] = {y->dim[0], y->dim[3], y->dim[1], y->dim[2]};
    const ac_tensor *x = n->in[0];
    ac_tensor *in[] = {ac_onw_first(w, n->in[0]), NULL, NULL, NULL};
    if (w->open && y->dim[1] % x->dim[1] == 0 && y->dim[2] % x->dim[2] == 0)
        in[2] = scales_of(w, (float)(y->dim[1] / x->dim[1]), (float)(y->dim[2] / x->dim[2]));
    else
        in[3] = ac_onw_const_ints(w, 4, size);
    ac_tensor *v = run(w, "Resize", in, 4, y);
    ac_onw_string(w, "mode", nearest ? "nearest" : "linear");
    ac_onw_string(w, "coordinate_transformation_mode",
                  a->align_corners        ? "align_corners"
                  : a->half_pixel_centers ? "half_pixel"
                                          : "asymmetric");
    if (nearest)
        ac_onw_string(w, "nearest_mode", a->align_corners || a->half_pixel_centers ? "round_prefer_ceil" : "floor");
    ac_onw_last(w, v, n->out[0]);
    return AC_OK;
}

/* Over the last dimension: bias + alpha * the sum of 2 * radius + 1 squares; ONNX takes their mean. */
int ac_onw_lrn(ac_onw *w, const ac_node *n)
{
    const ac_attrs_lrn *a = &n->attrs.lrn;
    const int64_t size = 2 * (int64_t)a->radius + 1;
    ac_tensor *x = n->in[0], *wide = x;
    if (x->rank < 2)
        wide = ac_onw_reshape(w, x, 2, (int64_t[]){1, ac_tensor_count(x)});
    wide = ac_onw_first(w, wide);
    ac_tensor *y = ac_onw_op(w, "LRN", &wide, 1, x->dtype, wide->rank, wide->dim);
    ac_onw_int(w, "size", size);
    ac_onw_float(w, "alpha", a->alpha * (float)size);
    ac_onw_float(w, "beta", a->beta);
    ac_onw_float(w, "bias", a->bias);
    if (x->rank < 2)
        ac_onw_reshape_to(w, y, n->out[0]);
    else
        ac_onw_last(w, y, n->out[0]);
    return AC_OK;
}

int ac_onw_block(ac_onw *w, const ac_node *n)
{
    ac_tensor *x = ac_onw_first(w, n->in[0]);
    ac_tensor *y = run(w, ac_onw_rows[n->op].name, &x, 1, n->out[0]);
    ac_onw_int(w, "blocksize", n->attrs.block.block);
    ac_onw_last(w, y, n->out[0]);
    return AC_OK;
}
