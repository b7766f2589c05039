/* conv3d.c - CONV_3D: x [N,D,H,W,C], w [KD,KH,KW,C,O], bias [O] or none -> y [N,OD,OH,OW,O]; f32.
 *
 * One output element at a time, taps in the reference's order (kd, kh, kw, channel), then bias and activation
 * (reference/conv3d.h). Taps outside of the input are never visited. */
#include "ir/ops/map.h"
#include "ir/ops/shape.h"
#include "ir/ops/window.h"

typedef struct axis_of {
    int32_t *stride, *dilation, *pad;
} axis_of;

/* Depth, height and width of the attributes. */
static void axes_of(ac_attrs_conv3d *a, axis_of out[3])
{
    out[0] = (axis_of){&a->stride_d, &a->dilation_d, &a->pad_f};
    out[1] = (axis_of){&a->stride_h, &a->dilation_h, &a->pad_t};
    out[2] = (axis_of){&a->stride_w, &a->dilation_w, &a->pad_l};
}

/* Output extent along one axis; pads of `same` are written to the attributes. */
static int slide_axis(ac_ctx *cx, const ac_node *n, ac_padding p, int64_t in, int64_t taps, const axis_of *a,
                      int64_t *out)
{
    const int64_t stride = *a->stride, dil = *a->dilation;
    if (stride < 1 || dil < 1 || taps < 1 || *a->pad < 0)
        return ac_error(cx, n->at, E0103, "stride %lld, dilation %lld and %lld taps must be at least 1",
                        (long long)stride, (long long)dil, (long long)taps);
    const int64_t reach = (taps - 1) * dil + 1; /* both below 2^31 */
    if (p == AC_PAD_SAME) {
        *out = (in + stride - 1) / stride;
        const int64_t need = (*out - 1) * stride + reach - in;
        *a->pad = need > 0 && need / 2 <= INT32_MAX ? (int32_t)(need / 2) : 0;
        return AC_OK;
    }
    if (in < reach)
        return ac_error(cx, n->at, E0104, "a filter that reaches over %lld positions does not fit in %lld",
                        (long long)reach, (long long)in);
    *out = (in - reach) / stride + 1;
    return AC_OK;
}

int sh_conv3d(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_sh_operands(cx, n));
    AC_TRY(ac_sh_rank(cx, n, 0, 5, "[N,D,H,W,C]"));
    AC_TRY(ac_sh_rank(cx, n, 1, 5, "[KD,KH,KW,C,O]"));
    AC_TRY(ac_sh_same_type(cx, n, 0, 1));
    const ac_tensor *x = n->in[0], *w = n->in[1], *bias = ac_sh_in(n, 2);
    ac_attrs_conv3d *a = &n->attrs.conv3d;
    AC_TRY(ac_sh_act(cx, n, a->act));
    if (w->dim[3] != x->dim[4] || (bias && (bias->rank != 1 || bias->dim[0] != w->dim[4]))) {
        ac_error(cx, n->at, E0104, "channels of input, filter [KD,KH,KW,C,O] and bias [O] do not go together");
        return ac_sh_show(cx, n);
    }
    axis_of axis[3];
    axes_of(a, axis);
    int64_t dim[5] = {x->dim[0], 0, 0, 0, w->dim[4]};
    for (int32_t d = 0; d < 3; d++)
        AC_TRY(slide_axis(cx, n, a->padding, x->dim[d + 1], w->dim[d], &axis[d], &dim[d + 1]));
    return ac_sh_set(cx, n, 0, x->dtype, 5, dim);
}

int lo_conv3d(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    ac_tensor *x = n->in[0], *w = n->in[1], *bias = ac_sh_in(n, 2);
    const ac_tensor *y = n->out[0];
    ac_attrs_conv3d a = n->attrs.conv3d;
    if (x->dtype != AC_F32 || w->dtype != AC_F32 || (bias && bias->dtype != AC_F32) || y->dtype != AC_F32)
        return ac_lower_refuse(L, "conv_3d of %s: only f32 is supported", ac_dtype_name(x->dtype));
    axis_of axis[3];
    axes_of(&a, axis);
    ac_slide s[3];
    for (int32_t d = 0; d < 3; d++)
        s[d] = (ac_slide){.in = x->dim[d + 1],
                          .out = y->dim[d + 1],
                          .taps = w->dim[d],
                          .stride = *axis[d].stride,
                          .dil = *axis[d].dilation,
                          .pad = a.padding == AC_PAD_SAME ? *axis[d].pad : 0};
    lo_result_buf(L);
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    const int32_t xb = lo_operand(L, x), wb = lo_operand(L, w);
    static const char *const out_name[5] = {"n", "oz", "oy", "ox", "oc"}, *const tap_name[3] = {"kz", "ky", "kx"};
    ac_x idx[5], xi[5], wi[5];
    for (int32_t d = 0; d < 5; d++)
        idx[d] = lb_for_n(b, out_name[d], y->dim[d]);
    const ac_x acc = lb_var(b, "acc", lb_f32(b, 0));
    xi[0] = idx[0];
    wi[4] = idx[4];
    for (int32_t d = 0; d < 3; d++) {
        ac_x lo, hi;
        ac_slide_taps(b, &s[d], idx[d + 1], &lo, &hi);
        wi[d] = lb_for(b, tap_name[d], lo, hi, 1, AC_MARK_SERIAL);
        xi[d + 1] = ac_slide_at(b, &s[d], idx[d + 1], wi[d]);
    }
    xi[4] = wi[3] = lb_for_n(b, "ic", w->dim[3]);
    const ac_x product = lb_mul(b, lb_load(b, xb, lo_flat(L, x, xi), 1), lb_load(b, wb, lo_flat(L, w, wi), 1));
    lb_set(b, acc, lb_add(b, lb_get(b, acc), product));
    for (int32_t d = 0; d < 4; d++)
        lb_end(b);
    ac_x v = lb_get(b, acc);
    if (bias)
        v = lb_add(b, v, lb_load(b, lo_operand(L, bias), idx[4], 1));
    lo_result(L, lo_act(L, v, a.act), idx, 1);
    for (int32_t d = 0; d < 5; d++)
        lb_end(b);
    L->out->macs = ac_tensor_count(y) * w->dim[0] * w->dim[1] * w->dim[2] * w->dim[3];
    return AC_OK;
}
