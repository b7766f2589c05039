/* window_rules.c - shape rules of sliding windows: convolutions and pools. All are channels-last.
 *
 * TFLite's formulas, for each of the two spatial dimensions, with k' = (kernel - 1) * dilation + 1:
 *
 *     same:   out = ceil(in / stride)
 *             padding = max(0, (out - 1) * stride + k' - in) in total, the smaller half first
 *     valid:  out = floor((in - k') / stride) + 1, no padding
 *
 * The rules resolve same and valid: pad_t, pad_b, pad_l, pad_r get the numbers and padding becomes explicit, which
 * gives the same shape when the rule runs again. Strides longer than the padded input become that long. */
#include "ir/ops/decode/expanded.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

/* One spatial dimension */
typedef struct window {
    const char *what; /* "height" or "width" */
    int64_t in, kernel, stride, dilation;
    int64_t before, after; /* given when explicit, else computed */
    int64_t out;
} window;

static int check_window(ac_ctx *cx, const ac_node *n, const window *w)
{
    if (w->kernel < 1)
        return ac_error(cx, n->at, E0103, "kernel %s is %lld, expected 1 or more", w->what, (long long)w->kernel);
    if (w->stride < 1)
        return ac_error(cx, n->at, E0103, "stride along the %s is %lld, expected 1 or more", w->what,
                        (long long)w->stride);
    if (w->dilation < 1)
        return ac_error(cx, n->at, E0103, "dilation along the %s is %lld, expected 1 or more", w->what,
                        (long long)w->dilation);
    if (w->kernel > INT32_MAX || (w->kernel - 1) * w->dilation >= INT32_MAX)
        return ac_error(cx, n->at, E0015, "kernel %s %lld with dilation %lld is too large", w->what,
                        (long long)w->kernel, (long long)w->dilation);
    if (w->before < 0 || w->after < 0)
        return ac_error(cx, n->at, E0103, "padding of the %s is %lld and %lld, expected 0 or more", w->what,
                        (long long)w->before, (long long)w->after);
    return AC_OK;
}

/* Fills out, before and after. */
static int slide(ac_ctx *cx, const ac_node *n, ac_padding padding, window *w)
{
    AC_TRY(check_window(cx, n, w));
    const int64_t k = (w->kernel - 1) * w->dilation + 1;
    if (w->in == 0) { /* an empty input has an empty result */
        w->out = 0;
        return AC_OK;
    }
    if (padding == AC_PAD_SAME) {
        w->out = (w->in - 1) / w->stride + 1;
        const int64_t need = (w->out - 1) * w->stride + k - w->in, total = need > 0 ? need : 0;
        w->before = total / 2;
        w->after = total - total / 2;
    }
    const int64_t room = w->in + w->before + w->after - k;
    if (room < 0) {
        ac_error(cx, n->at, E0104, "a window of %lld does not fit into the %s %lld of '%s'", (long long)k, w->what,
                 (long long)(w->in + w->before + w->after), ac_tensor_str(cx, n->in[0]));
        return ac_shape_show(cx, n);
    }
    w->out = room / w->stride + 1; /* same: this gives the number above again */
    return AC_OK;
}

/* Positions of the padded input are element indices of the loops, so they have to fit. */
static int check_reach(ac_ctx *cx, const ac_node *n, const ac_tensor *x, int64_t height, int64_t width)
{
    int64_t all = x->dim[0] > 1 ? x->dim[0] : 1;
    if (ac_mul_ok(all, x->dim[3] > 1 ? x->dim[3] : 1, &all) && ac_mul_ok(all, height, &all) &&
        ac_mul_ok(all, width, &all) && all <= INT32_MAX)
        return AC_OK;
    return ac_error(cx, n->at, E0015, "the windows reach over %lld x %lld positions of %s: more than %d elements",
                    (long long)height, (long long)width, ac_shape_str(cx, x), INT32_MAX);
}

/* All strides that leave the input with their first step are equivalent. */
static int32_t useful_stride(const window *w)
{
    const int64_t span = w->in + w->before + w->after;
    return (int32_t)(w->out == 1 && w->stride > span ? span : w->stride);
}

static int check_padding(ac_ctx *cx, const ac_node *n, ac_padding p)
{
    if ((int)p < 0 || p >= AC_PAD_COUNT)
        return ac_error(cx, n->at, E0103, "unknown padding %d", (int)p);
    return AC_OK;
}

/* Both dimensions of a convolution or pool, and the attributes resolved. kernel 0 is the height. */
static int slide_conv(ac_ctx *cx, ac_node *n, const ac_tensor *x, int64_t kh, int64_t kw, int64_t out[2])
{
    ac_attrs_conv *a = &n->attrs.conv;
    AC_TRY(check_padding(cx, n, a->padding));
    window h = {"height", x->dim[1], kh, a->stride_h, a->dilation_h, a->pad_t, a->pad_b, 0};
    window w = {"width", x->dim[2], kw, a->stride_w, a->dilation_w, a->pad_l, a->pad_r, 0};
    if (a->padding != AC_PAD_EXPLICIT)
        h.before = h.after = w.before = w.after = 0;
    AC_TRY(slide(cx, n, a->padding, &h));
    AC_TRY(slide(cx, n, a->padding, &w));
    a->pad_t = (int32_t)h.before;
    a->pad_b = (int32_t)h.after;
    a->pad_l = (int32_t)w.before;
    a->pad_r = (int32_t)w.after;
    a->padding = AC_PAD_EXPLICIT;
    if (n->op != AC_OP_TRANSPOSE_CONV) { /* there the stride determines where contributions go, and which are dropped */
        a->stride_h = useful_stride(&h);
        a->stride_w = useful_stride(&w);
    }
    AC_TRY(check_reach(cx, n, x, h.in + h.before + h.after, w.in + w.before + w.after));
    out[0] = h.out;
    out[1] = w.out;
    return AC_OK;
}

/* x [N,H,W,IC], w [OC,KH,KW,IC/groups] -> [N,OH,OW,OC] */
int ac_sh_conv(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 0, 4, "[N,H,W,C]"));
    AC_TRY(ac_shape_rank(cx, n, 1, 4, "[O,H,W,I]"));
    AC_TRY(ac_shape_weights(cx, n));
    AC_TRY(ac_shape_act(cx, n, n->attrs.conv.act));
    const ac_tensor *x = n->in[0], *w = n->in[1];
    const int64_t ic = w->dim[3], groups = ic > 0 ? x->dim[3] / ic : 0;
    if (ic < 1 || groups < 1 || x->dim[3] % ic || w->dim[0] % groups) {
        ac_error(cx, n->at, E0104, "weights '%s' take %lld input channels and make %lld, but input '%s' has %lld",
                 w->name, (long long)ic, (long long)w->dim[0], x->name, (long long)x->dim[3]);
        return ac_shape_show(cx, n);
    }
    AC_TRY(ac_shape_bias(cx, n, 2, w->dim[0]));
    int64_t o[2];
    AC_TRY(slide_conv(cx, n, x, w->dim[1], w->dim[2], o));
    return ac_shape_set(cx, n, 0, ac_shape_weights_type(n), 4, (int64_t[]){x->dim[0], o[0], o[1], w->dim[0]});
}

static bool is_pixel(const ac_tensor *t, int64_t n, int64_t c)
{
    return t->rank == 4 && t->dim[0] == n && t->dim[1] == 1 && t->dim[2] == 1 && t->dim[3] == c;
}

/* x [N,H,W,C], w [O,1,1,C], gate [N,1,1,C] -> [N,H,W,O]; all f32 */
int ac_sh_gated_conv(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 0, 4, "[N,H,W,C]"));
    AC_TRY(ac_shape_act(cx, n, n->attrs.act.act));
    const ac_tensor *x = n->in[0], *w = n->in[1], *gate = n->in[2];
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->dtype != AC_F32)
            return ac_error(cx, n->at, E0105, "'%s' is %s, expected f32", n->in[i]->name,
                            ac_dtype_name(n->in[i]->dtype));
    const int64_t channels = x->dim[3];
    if (channels < 1 || !is_pixel(w, w->rank ? w->dim[0] : 0, channels) || !is_pixel(gate, x->dim[0], channels))
        return ac_error(cx, n->at, E0104, "'%s' is %s, '%s' %s and '%s' %s, expected [N,H,W,C], [O,1,1,C], [N,1,1,C]",
                        x->name, ac_shape_str(cx, x), w->name, ac_shape_str(cx, w), gate->name, ac_shape_str(cx, gate));
    AC_TRY(ac_shape_bias(cx, n, 3, w->dim[0]));
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_F32));
    return ac_shape_set(cx, n, 0, AC_F32, 4, (int64_t[]){x->dim[0], x->dim[1], x->dim[2], w->dim[0]});
}

int ac_sh_expanded(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    ac_expanded e;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_act(cx, n, n->attrs.expanded.act));
    AC_TRY(ac_shape_act(cx, n, n->attrs.expanded.inner));
    AC_TRY(ac_expanded_of(cx, n, &e));
    AC_TRY(ac_shape_result_type(cx, n, 0, AC_F32));
    AC_TRY(ac_shape_set(cx, n, 0, AC_F32, 4, (int64_t[]){e.images, e.down.out, e.across.out, e.channels}));
    if (n->n_out != (e.tiles ? 2 : 1))
        return ac_error(cx, n->at, E0102, "%d results, expected %d", n->n_out, e.tiles ? 2 : 1);
    return e.tiles ? ac_shape_set(cx, n, 1, AC_F32, 4, (int64_t[]){e.images, e.tiles, 1, e.channels}) : AC_OK;
}

/* x [N,H,W,C], w [1,KH,KW,C*M] -> [N,OH,OW,C*M]; channel c gives channels c*M .. c*M + M-1. */
int ac_sh_depthwise(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 0, 4, "[N,H,W,C]"));
    AC_TRY(ac_shape_rank(cx, n, 1, 4, "[1,H,W,C*M]"));
    AC_TRY(ac_shape_weights(cx, n));
    AC_TRY(ac_shape_act(cx, n, n->attrs.conv.act));
    const ac_tensor *x = n->in[0], *w = n->in[1];
    if (w->dim[0] != 1 || x->dim[3] < 1 || w->dim[3] < 1 || w->dim[3] % x->dim[3]) {
        ac_error(cx, n->at, E0104,
                 "weights '%s' are %s, expected [1,H,W,C] with C a multiple of the %lld channels of '%s'", w->name,
                 ac_shape_str(cx, w), (long long)x->dim[3], x->name);
        return ac_shape_show(cx, n);
    }
    AC_TRY(ac_shape_bias(cx, n, 2, w->dim[3]));
    int64_t o[2];
    AC_TRY(slide_conv(cx, n, x, w->dim[1], w->dim[2], o));
    return ac_shape_set(cx, n, 0, ac_shape_weights_type(n), 4, (int64_t[]){x->dim[0], o[0], o[1], w->dim[3]});
}

/* in[0] static output shape [N,OH,OW,OC], w [OC,KH,KW,IC], x [N,H,W,IC] -> that shape. The padding is that of the
 * inverse convolution, from the output to the input: input element i adds to outputs i * stride - pad .. + k'-1, those
 * outside are dropped (TFLite requires no more). */
int ac_sh_tconv(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 1, 4, "[O,H,W,I]"));
    AC_TRY(ac_shape_rank(cx, n, 2, 4, "[N,H,W,C]"));
    AC_TRY(ac_shape_weights(cx, n));
    ac_attrs_conv *a = &n->attrs.conv;
    AC_TRY(ac_shape_act(cx, n, a->act));
    AC_TRY(check_padding(cx, n, a->padding));
    const ac_tensor *w = n->in[1], *x = n->in[2];
    ac_ints want;
    AC_TRY(ac_shape_new_shape(cx, n, 0, (ac_ints){0}, &want));
    if (want.n != 4)
        return ac_error(cx, n->at, E0104, "the output shape has %d numbers, expected 4: [N,H,W,C]", want.n);
    if (w->dim[3] != x->dim[3] || want.v[3] != w->dim[0] || want.v[0] != x->dim[0]) {
        ac_error(cx, n->at, E0104,
                 "output shape [%lld,%lld,%lld,%lld] does not fit: expected %lld images of %lld channels, and "
                 "weights that take the input's %lld channels",
                 (long long)want.v[0], (long long)want.v[1], (long long)want.v[2], (long long)want.v[3],
                 (long long)x->dim[0], (long long)w->dim[0], (long long)x->dim[3]);
        return ac_shape_show(cx, n);
    }
    AC_TRY(ac_shape_bias(cx, n, 3, w->dim[0]));
    for (int32_t i = 1; i < 3; i++)
        if (want.v[i] < 1 || want.v[i] > INT32_MAX)
            return ac_error(cx, n->at, E0201, "the output %s is %lld", i == 1 ? "height" : "width",
                            (long long)want.v[i]);
    AC_TRY(ac_shape_set(cx, n, 0, ac_shape_weights_type(n), 4, want.v));
    if (a->padding == AC_PAD_VALID && (want.v[1] < (w->dim[1] - 1) * (int64_t)a->dilation_h + 1 ||
                                       want.v[2] < (w->dim[2] - 1) * (int64_t)a->dilation_w + 1))
        return ac_error(cx, n->at, E0104, "output '%s' is smaller than the kernel '%s' %s", ac_shape_str(cx, n->out[0]),
                        w->name, ac_shape_str(cx, w));
    int64_t back[2];
    AC_TRY(slide_conv(cx, n, n->out[0], w->dim[1], w->dim[2], back));
    return check_reach(cx, n, n->out[0], x->dim[1] * a->stride_h + (w->dim[1] - 1) * a->dilation_h,
                       x->dim[2] * a->stride_w + (w->dim[2] - 1) * a->dilation_w);
}

/* x [N,H,W,C] -> [N,OH,OW,C]. Every window holds at least one element of the input. */
int ac_sh_pool(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 0, 4, "[N,H,W,C]"));
    ac_attrs_pool *a = &n->attrs.pool;
    const ac_tensor *x = n->in[0];
    AC_TRY(ac_shape_act(cx, n, a->act));
    AC_TRY(check_padding(cx, n, a->padding));
    AC_TRY(ac_shape_result_type(cx, n, 0, x->dtype));
    window h = {"height", x->dim[1], a->kernel_h, a->stride_h, 1, a->pad_t, a->pad_b, 0};
    window w = {"width", x->dim[2], a->kernel_w, a->stride_w, 1, a->pad_l, a->pad_r, 0};
    if (a->padding != AC_PAD_EXPLICIT)
        h.before = h.after = w.before = w.after = 0;
    AC_TRY(slide(cx, n, a->padding, &h));
    AC_TRY(slide(cx, n, a->padding, &w));
    if (h.before >= h.kernel || h.after >= h.kernel || w.before >= w.kernel || w.after >= w.kernel)
        return ac_error(cx, n->at, E0103,
                        "padding %lld,%lld,%lld,%lld reaches the pool's kernel %lldx%lld: a window would hold no "
                        "element",
                        (long long)h.before, (long long)h.after, (long long)w.before, (long long)w.after,
                        (long long)h.kernel, (long long)w.kernel);
    a->pad_t = (int32_t)h.before;
    a->pad_b = (int32_t)h.after;
    a->pad_l = (int32_t)w.before;
    a->pad_r = (int32_t)w.after;
    a->padding = AC_PAD_EXPLICIT;
    a->stride_h = useful_stride(&h);
    a->stride_w = useful_stride(&w);
    AC_TRY(check_reach(cx, n, x, h.in + h.before + h.after, w.in + w.before + w.after));
    AC_TRY(ac_shape_set(cx, n, 0, x->dtype, 4, (int64_t[]){x->dim[0], h.out, w.out, x->dim[3]}));
    if (!n->out[0]->quant && x->quant && x->quant->n == 1)
        n->out[0]->quant = x->quant;
    return AC_OK;
}
