/* window.c - computes tap limits of sliding windows; see window.h. */
#include "ir/lower/window.h"

ac_window ac_window_conv(const ac_node *n, const ac_tensor *x, int64_t kh, int64_t kw)
{
    const ac_attrs_conv *a = &n->attrs.conv;
    const ac_tensor *y = n->out[0];
    ac_window w = {.n = x->dim[0], .ic = x->dim[3], .oc = y->dim[3]};
    w.y = (ac_slide){x->dim[1], y->dim[1], kh, a->stride_h, a->dilation_h, a->pad_t};
    w.x = (ac_slide){x->dim[2], y->dim[2], kw, a->stride_w, a->dilation_w, a->pad_l};
    return w;
}

ac_window ac_window_pool(const ac_node *n, const ac_tensor *x)
{
    const ac_attrs_pool *a = &n->attrs.pool;
    const ac_tensor *y = n->out[0];
    ac_window w = {.n = x->dim[0], .ic = x->dim[3], .oc = y->dim[3]};
    w.y = (ac_slide){x->dim[1], y->dim[1], a->kernel_h, a->stride_h, 1, a->pad_t};
    w.x = (ac_slide){x->dim[2], y->dim[2], a->kernel_w, a->stride_w, 1, a->pad_l};
    return w;
}

bool ac_slide_inside(const ac_slide *a)
{
    return a->pad <= 0 && (a->out - 1) * a->stride - a->pad + (a->taps - 1) * a->dil < a->in;
}

void ac_slide_interior(const ac_slide *a, int64_t *begin, int64_t *end)
{
    int64_t first = a->pad > 0 ? (a->pad + a->stride - 1) / a->stride : 0;
    int64_t room = a->in - 1 - (a->taps - 1) * a->dil + a->pad; /* last o * stride allowed */
    int64_t last = room >= 0 ? room / a->stride + 1 : 0;
    *end = last < a->out ? last : a->out;
    *begin = first < a->out ? first : a->out;
    if (*end < *begin)
        *end = *begin;
}

/* ceil(max(v, 0) / dil): the number of taps whose reach is below v */
static ac_x taps_below(ac_lb *b, const ac_slide *a, ac_x v)
{
    v = ac_lb_max(b, v, ac_lb_i32(b, 0));
    return a->dil == 1 ? v : ac_lb_div(b, ac_lb_add(b, v, ac_lb_i32(b, a->dil - 1)), ac_lb_i32(b, a->dil));
}

void ac_slide_taps(ac_lb *b, const ac_slide *a, ac_x o, ac_x *lo, ac_x *hi)
{
    *lo = ac_lb_i32(b, 0);
    *hi = ac_lb_i32(b, a->taps);
    ac_x at = ac_lb_mul(b, o, ac_lb_i32(b, a->stride));
    if (a->pad > 0) {
        *lo = taps_below(b, a, ac_lb_sub(b, ac_lb_i32(b, a->pad), at));
        if (a->pad > (a->taps - 1) * a->dil) /* a window may end before the input begins */
            *lo = ac_lb_min(b, *lo, *hi);
    }
    if ((a->out - 1) * a->stride - a->pad + (a->taps - 1) * a->dil >= a->in)
        *hi = ac_lb_min(b, *hi, taps_below(b, a, ac_lb_sub(b, ac_lb_i32(b, a->in + a->pad), at)));
}

ac_x ac_slide_at(ac_lb *b, const ac_slide *a, ac_x o, ac_x k)
{
    ac_x at = ac_lb_add(b, ac_lb_mul(b, o, ac_lb_i32(b, a->stride)), ac_lb_mul(b, k, ac_lb_i32(b, a->dil)));
    return ac_lb_add(b, at, ac_lb_i32(b, -a->pad));
}
