/* tconv.c - transpose_conv: operands, checks, and the plain schedule.
 *
 * shape [4], static           the output's
 * w     [O,KH,KW,C]           f32, i8 (also for f32 x: dynamic range), u8
 * x     [N,H,W,C]             f32, i8, u8, i16
 * bias  [O], may be absent    f32, i32, i64
 * y     [N,OH,OW,O]           x's type
 *
 * TFLite's reference scatters every input pixel into a 32-bit image; here every output pixel gathers its sum, which
 * needs no image. Output position o is reached by tap k from input i = (o + pad - k) / stride if the division is exact.
 * With q = (o + pad) / stride and r = (o + pad) % stride these are k = r + t * stride, i = q - t, and the input's
 * borders are bounds of t. Integers bit for bit; floats in another order of summation. Vector schedule:
 * gemm_tconv.c. */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/hybrid.h"
#include "ir/lower/entries.h"

enum { CHANNELS = 4 };

typedef struct tconv {
    ac_lower *L;
    ac_channel c;
    ac_window win;
    int32_t x_buf, w_buf;
} tconv;

void ac_phase_taps(ac_lb *b, const ac_slide *s, ac_x o, ac_phase *p)
{
    ac_x at = ac_lb_add(b, o, ac_lb_i32(b, s->pad)), stride = ac_lb_i32(b, s->stride);
    p->q = ac_lb_div(b, at, stride);
    p->r = ac_lb_mod(b, at, stride);
    ac_x taps = ac_lb_div(b, ac_lb_sub(b, ac_lb_i32(b, s->taps + s->stride - 1), p->r), stride);
    p->lo = ac_lb_max(b, ac_lb_sub(b, p->q, ac_lb_i32(b, s->in - 1)), ac_lb_i32(b, 0));
    p->hi = ac_lb_min(b, taps, ac_lb_add(b, p->q, ac_lb_i32(b, 1)));
}

/* n output channels from oc on, at pixel p = {batch, oy, ox}. */
static void channels(const tconv *v, const ac_x *p, const ac_phase *y, const ac_phase *x, ac_x oc, int32_t n)
{
    ac_lb *b = &v->L->b;
    const ac_window *win = &v->win;
    const int64_t ic = win->ic, per_oc = win->y.taps * win->x.taps * ic;
    ac_x acc[CHANNELS];
    for (int32_t j = 0; j < n; j++)
        acc[j] = ac_lb_var(b, "acc", ac_channel_start(&v->c, ac_lb_add(b, oc, ac_lb_i32(b, j)), 1));
    ac_x ty = ac_lb_for(b, "ty", y->lo, y->hi, 1, AC_MARK_SERIAL);
    ac_x ky = ac_lb_add(b, y->r, ac_lb_mul(b, ty, ac_lb_i32(b, win->y.stride)));
    ac_x row = ac_lb_sub(b, y->q, ty);
    if (v->c.kind != AC_MACS_HYBRID) /* there x is the quantised batch */
        row = ac_lb_add(b, ac_lb_mul(b, p[0], ac_lb_i32(b, win->y.in)), row);
    ac_x tx = ac_lb_for(b, "tx", x->lo, x->hi, 1, AC_MARK_SERIAL);
    ac_x kx = ac_lb_add(b, x->r, ac_lb_mul(b, tx, ac_lb_i32(b, win->x.stride)));
    ac_x x_at = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, win->x.in)), ac_lb_sub(b, x->q, tx));
    ac_x tap = ac_lb_add(b, ac_lb_mul(b, ky, ac_lb_i32(b, win->x.taps)), kx);
    ac_x w_at = ac_lb_add(b, ac_lb_mul(b, oc, ac_lb_i32(b, per_oc)), ac_lb_mul(b, tap, ac_lb_i32(b, ic)));
    ac_x k = ac_lb_for_n(b, "ic", ic);
    ac_x value = ac_channel_x(&v->c, v->x_buf, ac_lb_add(b, ac_lb_mul(b, x_at, ac_lb_i32(b, ic)), k), 1);
    for (int32_t j = 0; j < n; j++) {
        ac_x w = ac_channel_w(&v->c, v->w_buf, ac_lb_add(b, ac_lb_add(b, w_at, ac_lb_i32(b, j * per_oc)), k), 1);
        ac_lb_set(b, acc[j], ac_channel_mac(&v->c, ac_lb_get(b, acc[j]), value, w));
    }
    for (int i = 0; i < 3; i++)
        ac_lb_end(b);
    for (int32_t j = 0; j < n; j++) {
        ac_x at = ac_lb_add(b, oc, ac_lb_i32(b, j));
        ac_x idx[4] = {p[0], p[1], p[2], at};
        ac_lo_result(v->L, ac_channel_done(&v->c, ac_lb_get(b, acc[j]), at), idx, 1);
    }
}

static int plain(tconv *v)
{
    ac_lower *L = v->L;
    ac_lb *b = &L->b;
    const ac_window *win = &v->win;
    ac_channel_tables(&v->c, v->c.n, NULL, 0);
    const int32_t input = ac_lo_operand(L, v->c.x);
    const bool hybrid = v->c.kind == AC_MACS_HYBRID;
    const int64_t image = win->y.in * win->x.in * win->ic;
    v->x_buf = hybrid ? ac_lo_scratch(L, "xq", AC_I8, image) : input;
    v->w_buf = ac_lo_operand(L, v->c.w);
    ac_phase y, x;
    ac_x n = ac_lb_for_each(b, "n", win->n);
    if (hybrid)
        ac_hybrid_quantize(&v->c, input, ac_lb_mul(b, n, ac_lb_i32(b, image)), v->x_buf, ac_lb_i32(b, 0), image,
                           v->c.per_channel);
    ac_x oy = ac_lb_for_each(b, "oy", win->y.out);
    ac_phase_taps(b, &win->y, oy, &y);
    ac_x ox = ac_lb_for_each(b, "ox", win->x.out);
    ac_phase_taps(b, &win->x, ox, &x);
    const ac_x p[3] = {n, oy, ox};
    const int64_t whole = win->oc / CHANNELS * CHANNELS;
    if (whole) {
        ac_x oc = whole == CHANNELS
                      ? ac_lb_for_n(b, "oc", 1)
                      : ac_lb_for(b, "oc", ac_lb_i32(b, 0), ac_lb_i32(b, whole), CHANNELS, AC_MARK_PARALLEL);
        channels(v, p, &y, &x, oc, CHANNELS);
        ac_lb_end(b);
    }
    if (win->oc > whole)
        channels(v, p, &y, &x, ac_lb_i32(b, whole), (int32_t)(win->oc - whole));
    for (int i = 0; i < 3; i++)
        ac_lb_end(b);
    return AC_OK;
}

int ac_lo_tconv(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *w = n->in[1], *x = n->in[2], *bias = n->n_in > 3 ? n->in[3] : NULL;
    if (x->rank != 4 || w->rank != 4 || n->out[0]->rank != 4 || w->dim[3] != x->dim[3] ||
        w->dim[0] != n->out[0]->dim[3])
        return ac_lower_refuse(L, "input is %s, weights are %s: supported are [N,H,W,C] and [O,KH,KW,C]",
                               ac_shape_str(L->cx, x), ac_shape_str(L->cx, w));
    if (n->attrs.conv.dilation_h != 1 || n->attrs.conv.dilation_w != 1)
        return ac_lower_refuse(L, "dilation %dx%d: supported is 1x1", (int)n->attrs.conv.dilation_h,
                               (int)n->attrs.conv.dilation_w);
    tconv v = {.L = L, .win = ac_window_conv(n, x, w->dim[1], w->dim[2])};
    AC_TRY(ac_channel_open(L, &v.c, x, w, bias, v.win.oc, 0, n->attrs.conv.act, AC_ROUND_FIXED));
    if (ac_gemm_fits(L, &v.c) && ac_tensor_is_const(v.c.w))
        return ac_gemm_tconv(L, &v.c, &v.win);
    return plain(&v);
}
