/* any_rank_rules.c - shape rules of windows over any number of dimensions: conv_3d, conv_nd, window_max, window_sum,
 * window_argmax. */
#include "ir/ops/decode/slide.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

/* TFLite's `same`: pads are stored in the attributes, so that running the rule again gives the same result. */
static int resolve_same(ac_ctx *cx, ac_node *n)
{
    ac_attrs_conv3d *a = &n->attrs.conv3d;
    const int32_t stride[3] = {a->stride_d, a->stride_h, a->stride_w};
    const int32_t dil[3] = {a->dilation_d, a->dilation_h, a->dilation_w};
    int32_t *const pad[3] = {&a->pad_f, &a->pad_t, &a->pad_l};
    for (int32_t d = 0; d < 3; d++) {
        const int64_t in = n->in[0]->dim[d + 1], taps = n->in[1]->dim[d];
        if (stride[d] < 1 || dil[d] < 1 || taps < 1)
            return ac_error(cx, n->at, E0103, "stride %d, dilation %d and %lld taps must be at least 1", (int)stride[d],
                            (int)dil[d], (long long)taps);
        const int64_t out = (in + stride[d] - 1) / stride[d];
        const int64_t need = (out - 1) * stride[d] + (taps - 1) * dil[d] + 1 - in;
        *pad[d] = need > 0 && need / 2 <= INT32_MAX ? (int32_t)(need / 2) : 0;
    }
    return AC_OK;
}

int ac_sh_conv_nd(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_conv_nd c;
    AC_TRY(ac_shape_operands(cx, n));
    const bool fixed = n->op == AC_OP_CONV_3D;
    const ac_tensor *x = n->in[0], *w = n->in[1], *bias = ac_node_in(n, 2);
    if (fixed) {
        AC_TRY(ac_shape_rank(cx, n, 0, 5, "[N,D,H,W,C]"));
        AC_TRY(ac_shape_rank(cx, n, 1, 5, "[KD,KH,KW,C,O]"));
        AC_TRY(ac_shape_act(cx, n, n->attrs.conv3d.act));
        if (n->attrs.conv3d.padding == AC_PAD_SAME)
            AC_TRY(resolve_same(cx, n));
    }
    AC_TRY(ac_shape_same_type(cx, n, 0, 1));
    const int64_t groups = fixed ? 1 : n->attrs.conv_nd.groups;
    const int32_t last = w->rank - 1;
    if (x->rank < 3 || w->rank != x->rank || groups < 1 || w->dim[last] % groups ||
        w->dim[last - 1] * groups != x->dim[x->rank - 1] ||
        (bias && (bias->rank != 1 || bias->dim[0] != w->dim[last] || bias->dtype != x->dtype))) {
        ac_error(cx, n->at, E0104,
                 "channels of input [N,..,C], filter [K..,C/groups,O] and bias [O] do not go together");
        return ac_shape_show(cx, n);
    }
    AC_TRY(ac_conv_nd_of(cx, n, &c));
    int64_t dim[AC_MAX_RANK] = {x->dim[0]};
    for (int32_t d = 0; d < c.m; d++)
        dim[d + 1] = c.s[d].out;
    dim[c.m + 1] = w->dim[last];
    return ac_shape_set(cx, n, 0, x->dtype, x->rank, dim);
}

int ac_sh_window(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_slide s[AC_MAX_RANK];
    int64_t dim[AC_MAX_RANK];
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_window_slides_of(cx, n, s));
    const ac_tensor *x = n->in[0];
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = s[d].out;
    if (n->op != AC_OP_WINDOW_ARGMAX)
        return ac_shape_set_like(cx, n, 0, x, x->rank, dim);
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_I64));
    return ac_shape_set(cx, n, 0, AC_I64, x->rank, dim);
}
