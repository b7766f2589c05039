/* conv.c - conv_2d: operands, checks, and the plain schedule.
 *
 * x     [N,H,W,C]            f32, i8, u8, i16
 * w     [O,KH,KW,C/groups]   f32, i8 (also for f32 x: dynamic range), u8
 * bias  [O], may be absent   f32, i32, i64
 * y     [N,OH,OW,O]          x's type
 *
 * Number systems and references: channel.h. Dynamic range: x is quantised for each batch, with a zero point when the
 * weights have a scale for each channel.
 *
 * Plain schedule: for each output pixel, blocks of four output channels with an accumulator each; taps outside the
 * input are never visited. If filter columns and channels are contiguous in both operands (no groups, no dilation along
 * x) they are one loop. Vector schedules: gemm_conv.c. */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/hybrid.h"
#include "ir/lower/conv/panel.h"
#include "ir/lower/conv/wide.h"
#include "ir/lower/conv/winograd.h"
#include "ir/lower/entries.h"
#include "ir/lower/gpu/product.h"
#include "ir/lower/gpu/vector.h"
#include "ir/lower/window.h"

#include <assert.h>

enum { CHANNELS = 4 };

typedef struct conv {
    ac_lower *L;
    ac_channel c;
    ac_window win;
    int64_t group_in, group_out; /* channels of a group */
    int32_t x_buf, w_buf;
} conv;

/* One tap row: the inner loop(s) over columns and channels at (row, ky). */
static void tap_row(const conv *v, ac_x x_row, ac_x w_row, ac_x ox, ac_x group, const ac_x *acc, int32_t n)
{
    ac_lb *b = &v->L->b;
    const ac_slide *sx = &v->win.x;
    const int64_t ic = v->group_in, per_oc = v->win.y.taps * sx->taps * ic;
    const bool joined = sx->dil == 1 && v->group_in == v->win.ic;
    ac_x lo, hi, x_at, w_at, k;
    ac_slide_taps(b, sx, ox, &lo, &hi);
    if (joined) {
        x_at = ac_lb_mul(b, ac_lb_add(b, x_row, ac_slide_at(b, sx, ox, ac_lb_i32(b, 0))), ac_lb_i32(b, ic));
        w_at = w_row;
        k = ac_lb_for(b, "k", ac_lb_mul(b, lo, ac_lb_i32(b, ic)), ac_lb_mul(b, hi, ac_lb_i32(b, ic)), 1,
                      AC_MARK_SERIAL);
    } else {
        ac_x kx = ac_lb_for(b, "kx", lo, hi, 1, AC_MARK_SERIAL);
        x_at = ac_lb_mul(b, ac_lb_add(b, x_row, ac_slide_at(b, sx, ox, kx)), ac_lb_i32(b, v->win.ic));
        x_at = ac_lb_add(b, x_at, ac_lb_mul(b, group, ac_lb_i32(b, ic)));
        w_at = ac_lb_add(b, w_row, ac_lb_mul(b, kx, ac_lb_i32(b, ic)));
        k = ac_lb_for_n(b, "ic", ic);
    }
    ac_x x = ac_channel_x(&v->c, v->x_buf, ac_lb_add(b, x_at, k), 1);
    for (int32_t j = 0; j < n; j++) {
        ac_x w = ac_channel_w(&v->c, v->w_buf, ac_lb_add(b, ac_lb_add(b, w_at, ac_lb_i32(b, j * per_oc)), k), 1);
        ac_lb_set(b, acc[j], ac_channel_mac(&v->c, ac_lb_get(b, acc[j]), x, w));
    }
    ac_lb_end(b);
    if (!joined)
        ac_lb_end(b);
}

/* n output channels from oc on, at pixel p = {batch, oy, ox}. */
static void channels(const conv *v, const ac_x *p, ac_x group, ac_x oc, int32_t n)
{
    ac_lb *b = &v->L->b;
    const ac_window *win = &v->win;
    ac_x acc[CHANNELS], lo, hi;
    for (int32_t j = 0; j < n; j++)
        acc[j] = ac_lb_var(b, "acc", ac_channel_start(&v->c, ac_lb_add(b, oc, ac_lb_i32(b, j)), 1));
    ac_slide_taps(b, &win->y, p[1], &lo, &hi);
    ac_x ky = ac_lb_for(b, "ky", lo, hi, 1, AC_MARK_SERIAL);
    ac_x iy = ac_slide_at(b, &win->y, p[1], ky);
    if (v->c.kind != AC_MACS_HYBRID) /* there x is the quantised batch */
        iy = ac_lb_add(b, ac_lb_mul(b, p[0], ac_lb_i32(b, win->y.in)), iy);
    ac_x w_row = ac_lb_add(b, ac_lb_mul(b, oc, ac_lb_i32(b, win->y.taps)), ky);
    w_row = ac_lb_mul(b, w_row, ac_lb_i32(b, win->x.taps * v->group_in));
    tap_row(v, ac_lb_mul(b, iy, ac_lb_i32(b, win->x.in)), w_row, p[2], group, acc, n);
    ac_lb_end(b);
    for (int32_t j = 0; j < n; j++) {
        ac_x at = ac_lb_add(b, oc, ac_lb_i32(b, j));
        ac_x idx[4] = {p[0], p[1], p[2], at};
        ac_lo_result(v->L, ac_channel_done(&v->c, ac_lb_get(b, acc[j]), at), idx, 1);
    }
}

static void pixel(const conv *v, const ac_x *p)
{
    ac_lb *b = &v->L->b;
    ac_x group = ac_lb_for_each(b, "g", v->win.ic / v->group_in);
    ac_x first = ac_lb_mul(b, group, ac_lb_i32(b, v->group_out));
    const int32_t each = v->L->target->gpu && v->group_out % CHANNELS ? 1 : CHANNELS; /* no launch for a remainder */
    const int64_t whole = v->group_out / each * each;
    if (whole == each) {
        channels(v, p, group, first, each);
    } else if (whole) {
        ac_x oc = ac_lb_for(b, "oc", ac_lb_i32(b, 0), ac_lb_i32(b, whole), each, AC_MARK_PARALLEL);
        channels(v, p, group, ac_lb_add(b, first, oc), each);
        ac_lb_end(b);
    }
    if (v->group_out > whole)
        channels(v, p, group, ac_lb_add(b, first, ac_lb_i32(b, whole)), (int32_t)(v->group_out - whole));
    ac_lb_end(b);
}

static int plain(conv *v)
{
    ac_lower *L = v->L;
    ac_lb *b = &L->b;
    const ac_window *win = &v->win;
    ac_channel *c = &v->c;
    const ac_rows rows = {win->y.taps * win->x.taps * v->group_in, win->y.taps * win->x.taps * v->group_in, 1};
    const bool inside = ac_slide_inside(&win->y) && ac_slide_inside(&win->x);
    const bool fold = inside && ac_tensor_is_const(c->w) && (!c->bias || ac_tensor_is_const(c->bias)) && !c->zw;
    ac_channel_tables(c, c->n, fold ? &rows : NULL, c->zx);
    const int32_t x = ac_lo_operand(L, c->x);
    const int64_t image = win->y.in * win->x.in * win->ic;
    v->x_buf = c->kind == AC_MACS_HYBRID ? ac_lo_scratch(L, "xq", AC_I8, image) : x;
    v->w_buf = ac_lo_operand(L, c->w);
    ac_x n = ac_lb_for_each(b, "n", win->n);
    if (c->kind == AC_MACS_HYBRID)
        ac_hybrid_quantize(c, x, ac_lb_mul(b, n, ac_lb_i32(b, image)), v->x_buf, ac_lb_i32(b, 0), image,
                           c->per_channel);
    ac_x oy = ac_lb_for_each(b, "oy", win->y.out), ox = ac_lb_for_each(b, "ox", win->x.out);
    const ac_x p[3] = {n, oy, ox};
    pixel(v, p);
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

/* The number of output pixels if they read consecutive rows of x, each pixel all of its row; else 0. */
static int64_t contiguous_rows(const ac_window *win)
{
    const ac_slide *y = &win->y, *x = &win->x;
    const bool point = y->taps == 1 && x->taps == 1 && y->out == y->in && x->out == x->in;
    const bool all = y->taps == y->in && x->taps == x->in && y->out == 1 && x->out == 1;
    return (point || all) && ac_slide_inside(y) && ac_slide_inside(x) ? win->n * y->out * x->out : 0;
}

int ac_lo_conv(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[0], *w = n->in[1], *bias = n->n_in > 2 ? n->in[2] : NULL;
    if (x->rank != 4 || w->rank != 4 || n->out[0]->rank != 4)
        return ac_lower_refuse(L, "input is %s, weights are %s: supported are 4 dimensions each",
                               ac_shape_str(L->cx, x), ac_shape_str(L->cx, w));
    if (w->dim[3] < 1 || x->dim[3] % w->dim[3] || w->dim[0] % (x->dim[3] / w->dim[3]))
        return ac_lower_refuse(L, "%lld channels in, %lld out do not divide into groups of %lld", (long long)x->dim[3],
                               (long long)w->dim[0], (long long)w->dim[3]);
    conv v = {.L = L, .win = ac_window_conv(n, x, w->dim[1], w->dim[2]), .group_in = w->dim[3]};
    v.group_out = v.win.oc / (v.win.ic / v.group_in);
    AC_TRY(ac_channel_open(L, &v.c, x, w, bias, v.win.oc, 0, n->attrs.conv.act, AC_ROUND_FIXED));
    if (v.group_in != v.win.ic && L->hint.winograd && L->hint.winograd != AC_WINOGRAD_NEVER)
        L->out->schedule.refused = "it is for one group";
    const int64_t groups = v.win.ic / v.group_in;
    if (ac_gpu_gemm_fits(L, &v.c, groups, v.win.n * v.win.y.out * v.win.x.out, v.group_out,
                         w->dim[1] * w->dim[2] * v.group_in))
        return ac_gpu_conv(L, &v.c, &v.win, groups);
    const int64_t rows = groups == 1 ? contiguous_rows(&v.win) : 0, depth = v.win.y.taps * v.win.x.taps * v.win.ic;
    if (rows && ac_gpu_vector_fits(L, &v.c, rows, depth))
        return ac_gpu_vector(L, &v.c, NULL, rows, depth);
    if (v.group_in == v.win.ic && ac_winograd_take(L, &v.c, &v.win))
        return AC_OK;
    if (ac_gemm_fits(L, &v.c))
        return ac_gemm_conv(L, &v.c, &v.win, NULL, v.group_in);
    if (v.group_in == v.win.ic && (ac_quad_conv(L, &v.c, &v.win) || ac_wide_conv(L, &v.c, &v.win)))
        return AC_OK;
    if (v.group_in == v.win.ic && ac_panel_fits(L, &v.c, v.win.y.taps * v.win.x.taps * v.win.ic))
        return ac_panel_conv(L, &v.c, &v.win);
    return plain(&v);
}
