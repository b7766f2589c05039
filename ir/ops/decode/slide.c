/* slide.c - decodes and checks the attributes of sliding windows; see slide.h. */
#include "ir/ops/decode/slide.h"

/* Fills in extents and checks strides, dilations and pads; out may be up to 2^31 - 1. after: positions added after the
 * input. */
static int open_slide(ac_ctx *cx, const ac_node *n, ac_slide *s, int64_t in, int64_t taps, int64_t after)
{
    s->in = in;
    s->taps = taps;
    if (s->stride < 1 || s->dil < 1 || taps < 1 || s->stride > INT32_MAX || s->dil > INT32_MAX || taps > INT32_MAX)
        return ac_error(cx, n->at, E0103, "stride %lld, dilation %lld and %lld taps must be at least 1",
                        (long long)s->stride, (long long)s->dil, (long long)taps);
    if (s->pad < 0 || after < 0 || s->pad > INT32_MAX || after > INT32_MAX)
        return ac_error(cx, n->at, E0103, "pads %lld and %lld", (long long)s->pad, (long long)after);
    const int64_t reach = (taps - 1) * s->dil + 1, room = in + s->pad + after;
    if (room < reach)
        return ac_error(cx, n->at, E0104, "a window that reaches over %lld positions does not fit in %lld",
                        (long long)reach, (long long)room);
    if (room > INT32_MAX)
        return ac_error(cx, n->at, E0015, "the padded input has %lld positions", (long long)room);
    s->out = (room - reach) / s->stride + 1;
    return AC_OK;
}

static int64_t item(ac_ints list, int32_t i, int64_t init)
{
    return i < list.n ? list.v[i] : init;
}

/* The attributes of both spellings; lists may be omitted. AC_FAIL: E0103. */
static int read_attrs(ac_ctx *cx, const ac_node *n, ac_conv_nd *c, int64_t *after)
{
    *c = (ac_conv_nd){.m = n->in[0]->rank - 2, .groups = 1};
    if (n->op == AC_OP_CONV_3D) {
        const ac_attrs_conv3d *a = &n->attrs.conv3d;
        const bool same = a->padding == AC_PAD_SAME;
        c->s[0] = (ac_slide){.stride = a->stride_d, .dil = a->dilation_d, .pad = same ? a->pad_f : 0};
        c->s[1] = (ac_slide){.stride = a->stride_h, .dil = a->dilation_h, .pad = same ? a->pad_t : 0};
        c->s[2] = (ac_slide){.stride = a->stride_w, .dil = a->dilation_w, .pad = same ? a->pad_l : 0};
        c->act = a->act;
        return AC_OK;
    }
    const ac_attrs_conv_nd *a = &n->attrs.conv_nd;
    if ((a->strides.n && a->strides.n != c->m) || (a->dilations.n && a->dilations.n != c->m) ||
        (a->pads.n && a->pads.n != 2 * c->m) || a->groups < 1)
        return ac_error(cx, n->at, E0103, "strides, dilations, pads or groups do not fit %d spatial dimensions", c->m);
    c->groups = a->groups;
    for (int32_t d = 0; d < c->m; d++) {
        c->s[d] = (ac_slide){
            .stride = item(a->strides, d, 1), .dil = item(a->dilations, d, 1), .pad = item(a->pads, 2 * d, 0)};
        after[d] = item(a->pads, 2 * d + 1, 0);
    }
    return AC_OK;
}

int ac_conv_nd_of(ac_ctx *cx, const ac_node *n, ac_conv_nd *c)
{
    int64_t after[AC_CONV_ND_DIMS] = {0};
    AC_TRY(read_attrs(cx, n, c, after));
    for (int32_t d = 0; d < c->m; d++) {
        const int64_t in = n->in[0]->dim[d + 1], taps = n->in[1]->dim[d];
        if (n->op == AC_OP_CONV_3D && n->attrs.conv3d.padding == AC_PAD_SAME) {
            const int64_t out = (in + c->s[d].stride - 1) / c->s[d].stride;
            const int64_t need = (out - 1) * c->s[d].stride + (taps - 1) * c->s[d].dil + 1 - in;
            after[d] = need > c->s[d].pad ? need - c->s[d].pad : 0;
        }
        AC_TRY(open_slide(cx, n, &c->s[d], in, taps, after[d]));
    }
    return AC_OK;
}

int ac_window_slides_of(ac_ctx *cx, const ac_node *n, ac_slide *s)
{
    const ac_attrs_window *a = &n->attrs.window;
    const ac_tensor *x = n->in[0];
    const int32_t r = x->rank;
    if ((a->kernel.n && a->kernel.n != r) || (a->strides.n && a->strides.n != r) ||
        (a->dilations.n && a->dilations.n != r) || (a->pads.n && a->pads.n != 2 * r))
        return ac_error(cx, n->at, E0103, "kernel, strides, dilations or pads do not fit '%s' %s", x->name,
                        ac_shape_str(cx, x));
    for (int32_t d = 0; d < r; d++) {
        s[d] = (ac_slide){.stride = a->strides.n ? a->strides.v[d] : 1,
                          .dil = a->dilations.n ? a->dilations.v[d] : 1,
                          .pad = a->pads.n ? a->pads.v[2 * d] : 0};
        const int64_t taps = a->kernel.n ? a->kernel.v[d] : 1, after = a->pads.n ? a->pads.v[2 * d + 1] : 0;
        AC_TRY(open_slide(cx, n, &s[d], x->dim[d], taps, after));
    }
    return AC_OK;
}

/* in, out and taps are known. */
static int check_back(ac_ctx *cx, const ac_node *n, const ac_slide *s)
{
    if (s->stride < 1 || s->dil < 1 || s->taps < 1 || s->pad < 0 || s->in < 0)
        return ac_error(
            cx, n->at, E0103, "stride %lld, dilation %lld and %lld taps must be at least 1, pad %lld and extent %lld 0",
            (long long)s->stride, (long long)s->dil, (long long)s->taps, (long long)s->pad, (long long)s->in);
    if (s->stride > INT32_MAX || s->dil > INT32_MAX || s->taps > INT32_MAX || s->pad > INT32_MAX || s->in > INT32_MAX ||
        s->out * s->stride > INT32_MAX || s->taps * s->dil > INT32_MAX ||
        s->out * s->stride + s->taps * s->dil + s->pad > INT32_MAX)
        return ac_error(cx, n->at, E0015, "windows reach over more than %d positions", INT32_MAX);
    return AC_OK;
}

int ac_conv_back_of(ac_ctx *cx, const ac_node *n, ac_conv_nd *c)
{
    const ac_attrs_conv_back *a = &n->attrs.conv_back;
    const ac_tensor *x = n->in[0], *y = n->in[1];
    const bool data = n->op == AC_OP_CONV_ND_DATA;
    *c = (ac_conv_nd){.m = x->rank - 2, .groups = a->groups};
    if ((a->strides.n && a->strides.n != c->m) || (a->dilations.n && a->dilations.n != c->m) ||
        (a->before.n && a->before.n != c->m) || a->extent.n != c->m)
        return ac_error(cx, n->at, E0103, "strides, dilations, before or extent do not fit %d spatial dimensions",
                        c->m);
    for (int32_t d = 0; d < c->m; d++) {
        c->s[d] = (ac_slide){.in = data ? a->extent.v[d] : x->dim[d + 1],
                             .out = data ? x->dim[d + 1] : y->dim[d + 1],
                             .taps = data ? y->dim[d] : a->extent.v[d],
                             .stride = item(a->strides, d, 1),
                             .dil = item(a->dilations, d, 1),
                             .pad = item(a->before, d, 0)};
        AC_TRY(check_back(cx, n, &c->s[d]));
    }
    return AC_OK;
}

int ac_window_back_of(ac_ctx *cx, const ac_node *n, ac_slide *s)
{
    const ac_attrs_window_back *a = &n->attrs.window_back;
    const ac_tensor *dy = n->in[0];
    const int32_t r = dy->rank;
    if ((a->kernel.n && a->kernel.n != r) || (a->strides.n && a->strides.n != r) ||
        (a->dilations.n && a->dilations.n != r) || (a->pads.n && a->pads.n != 2 * r) || a->extent.n != r)
        return ac_error(cx, n->at, E0103, "kernel, strides, dilations, pads or extent do not fit '%s' %s", dy->name,
                        ac_shape_str(cx, dy));
    for (int32_t d = 0; d < r; d++) {
        s[d] = (ac_slide){.in = a->extent.v[d],
                          .out = dy->dim[d],
                          .taps = item(a->kernel, d, 1),
                          .stride = item(a->strides, d, 1),
                          .dil = item(a->dilations, d, 1),
                          .pad = item(a->pads, 2 * d, 0)};
        AC_TRY(check_back(cx, n, &s[d]));
    }
    return AC_OK;
}
