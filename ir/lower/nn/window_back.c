/* window_back.c - lowers gradients of windows: distributes each window's gradient to its elements.
 *
 *     window_sum_back   dy -> dx: every element of a window gets its dy
 *     window_max_back   x, dy -> dx: only the maximum of the window does, the first of equal ones
 *
 * Attributes as of window_sum and window_max (reduce_window.c). Windows in order, so sums of overlapping ones are the
 * same for every schedule; images (dimension 0, where windows do not slide along it) are independent. f32, f64. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/window.h"

#include <math.h>

typedef struct back {
    ac_tensor *x, *dy; /* x: NULL for sums */
    const ac_tensor *dx;
    int32_t rank, x_buf, dy_buf, dx_buf;
    ac_slide s[AC_MAX_RANK];
    ac_x idx[AC_MAX_RANK], image; /* image: the one that contains the current elements */
    bool apart;                   /* windows do not overlap */
} back;

static const char *const TAP[AC_MAX_RANK] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};

/* Opens the loops over the taps of a window; at: where they are in x; *number: of the tap, i32. */
static void open_taps(ac_lower *L, const back *w, ac_x *at, ac_x *number)
{
    ac_lb *b = &L->b;
    *number = ac_lb_i32(b, 0);
    for (int32_t d = 0; d < w->rank; d++) {
        ac_x lo, hi;
        ac_slide_taps(b, &w->s[d], w->idx[d], &lo, &hi);
        const ac_x k = ac_lb_for(b, TAP[d], lo, hi, 1, AC_MARK_SERIAL);
        at[d] = ac_slide_at(b, &w->s[d], w->idx[d], k);
        *number = ac_lb_add(b, ac_lb_mul(b, *number, ac_lb_i32(b, w->s[d].taps)), k);
    }
}

static void close_taps(ac_lower *L, const back *w)
{
    for (int32_t d = 0; d < w->rank; d++)
        ac_lb_end(&L->b);
}

/* The number of the tap with the maximum, as a float of x's type; -1 for an empty window. */
static ac_x greatest(ac_lower *L, const back *w, int32_t lanes)
{
    ac_lb *b = &L->b;
    const ac_dtype d = w->x->dtype;
    ac_x at[AC_MAX_RANK], number;
    const ac_x most = ac_lb_var(b, "most", ac_lb_splat(b, ac_lb_num(b, d, (double)-INFINITY), lanes));
    const ac_x which = ac_lb_var(b, "which", ac_lb_splat(b, ac_lb_num(b, d, -1), lanes));
    open_taps(L, w, at, &number);
    const ac_x v = ac_lb_load(b, w->x_buf, ac_lo_flat(L, w->x, at), lanes), wins = ac_lb_gt(b, v, ac_lb_get(b, most));
    const ac_x here = ac_lb_splat(b, ac_lb_cast(b, number, d), lanes);
    ac_lb_set(b, which, ac_lb_select(b, wins, here, ac_lb_get(b, which)));
    ac_lb_set(b, most, ac_lb_select(b, wins, v, ac_lb_get(b, most)));
    close_taps(L, w);
    return ac_lb_get(b, which);
}

/* One window, or `lanes` neighbouring ones along the last dimension. */
static void one_window(ac_lower *L, const back *w, int32_t lanes)
{
    ac_lb *b = &L->b;
    ac_x at[AC_MAX_RANK], number;
    const ac_x which = w->x ? greatest(L, w, lanes) : 0;
    const ac_x dy = ac_lb_load(b, w->dy_buf, ac_lo_flat(L, w->dy, w->idx), lanes);
    open_taps(L, w, at, &number);
    const ac_x to = ac_lo_flat(L, w->dx, at);
    ac_x v = dy;
    if (w->x) {
        const ac_x here = ac_lb_splat(b, ac_lb_cast(b, number, w->x->dtype), lanes);
        v = ac_lb_select(b, ac_lb_eq(b, which, here), dy, ac_lb_like(b, dy, 0));
    }
    ac_lb_store(b, w->dx_buf, to, w->apart ? v : ac_lb_add(b, ac_lb_load(b, w->dx_buf, to, lanes), v));
    close_taps(L, w);
}

static void strip(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    back *w = with;
    w->idx[w->rank - 1] = i;
    one_window(L, w, lanes);
}

static void zero(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    const back *w = with;
    ac_lb *b = &L->b;
    ac_lb_store(b, w->dx_buf, ac_lb_add(b, w->image, i), ac_lb_splat(b, ac_lb_num(b, w->dx->dtype, 0), lanes));
}

/* Windows do not slide along this dimension: element i of dx depends only on element i of dy. */
static bool still(const ac_slide *s)
{
    return s->taps == 1 && s->stride == 1 && s->pad == 0 && s->in == s->out;
}

/* Every element is in one window along this dimension. */
static bool tiles(const ac_slide *s)
{
    return s->dil == 1 && s->stride == s->taps && s->out * s->stride - s->pad >= s->in;
}

static void windows(ac_lower *L, back *w)
{
    static const char *const name[AC_MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    ac_lb *b = &L->b;
    const int32_t last = w->rank - 1, lanes = ac_lo_max_lanes(L, w->dx->dtype);
    const bool images = w->rank > 1 && still(&w->s[0]), wide = last >= 0 && still(&w->s[last]);
    const int64_t first = images ? w->dx->dim[0] : 1, count = ac_tensor_count(w->dx) / (first ? first : 1);
    w->apart = true;
    for (int32_t d = 0; d < w->rank; d++)
        w->apart &= still(&w->s[d]) || tiles(&w->s[d]);
    const ac_x image = ac_lb_for_each(b, "image", first);
    w->image = ac_lb_mul(b, image, ac_lb_i32(b, count));
    w->idx[0] = image;
    if (!w->apart)
        ac_lo_strip(L, "z", count, lanes, zero, w);
    for (int32_t d = images; d < w->rank - wide; d++)
        w->idx[d] = ac_lb_for_n(b, name[d], w->dy->dim[d]);
    if (wide)
        ac_lo_strip(L, "c", w->s[last].out, lanes, strip, w);
    else
        one_window(L, w, 1);
    for (int32_t d = images; d < w->rank - wide; d++)
        ac_lb_end(b);
    ac_lb_end(b);
}

int ac_lo_window_back(ac_lower *L)
{
    const ac_node *n = L->node;
    const bool max = n->op == AC_OP_WINDOW_MAX_BACK;
    back w = {.x = max ? n->in[0] : NULL, .dy = n->in[max], .dx = n->out[0], .rank = n->out[0]->rank};
    AC_TRY(max ? ac_window_slides_of(L->cx, n, w.s) : ac_window_back_of(L->cx, n, w.s));
    if (!ac_mp_real(w.dy) || w.dx->dtype != w.dy->dtype)
        return ac_lower_refuse(L, "%s of %s: f32 and f64 are supported", ac_ops[n->op].text,
                               ac_dtype_name(w.dy->dtype));
    w.dx_buf = ac_lo_result_buf(L);
    if (ac_tensor_count(w.dx) == 0)
        return AC_OK;
    w.x_buf = max ? ac_lo_operand(L, w.x) : 0;
    w.dy_buf = ac_lo_operand(L, w.dy);
    windows(L, &w);
    return AC_OK;
}
