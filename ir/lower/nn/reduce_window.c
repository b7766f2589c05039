/* reduce_window.c - lowers sums, maxima and argmax over windows that slide along any of the dimensions.
 *
 *     window_sum, window_max   x [..] -> y [..]; x's type
 *     window_argmax            i64: the index of the maximum in x, the first of equal ones
 *
 * kernel, strides and dilations have a number for each dimension, pads two (before, after): by default 1, 1, 1 and 0.
 * Only elements inside of x count. Over no elements: sum 0, maximum the lowest value (floats: -inf), index 0. NaN is
 * never the maximum; with keep_nan the first one always is. f32, f64 and integers (sums wrap); sums of floats in order
 * of the windows, outermost dimension first. Other pools of ONNX are built from these: see import/onnx/pool_nodes.c. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/window.h"

#include <math.h>

typedef struct sliding {
    ac_tensor *x;
    int32_t x_buf;
    ac_slide s[AC_MAX_RANK];
    ac_x idx[AC_MAX_RANK];
} sliding;

static ac_x start(ac_lb *b, ac_op op, ac_dtype d)
{
    if (ac_dtype_is_float(d))
        return ac_lb_num(b, d, op == AC_OP_WINDOW_SUM ? 0 : (double)-INFINITY);
    return ac_lb_int(b, d, op == AC_OP_WINDOW_SUM ? 0 : ac_dtype_min(d));
}

/* One window, or `lanes` neighbouring ones along the last dimension. */
static void one_window(ac_lower *L, sliding *w, int32_t lanes)
{
    static const char *const tap[AC_MAX_RANK] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};
    ac_lb *b = &L->b;
    const ac_op op = L->node->op;
    const bool places = op == AC_OP_WINDOW_ARGMAX;
    const bool keep_nan = L->node->attrs.window.keep_nan && ac_dtype_is_float(w->x->dtype);
    ac_x at[AC_MAX_RANK];
    const ac_x acc = ac_lb_var(b, "acc", ac_lb_splat(b, start(b, op, w->x->dtype), lanes));
    const ac_x where = places ? ac_lb_var(b, "where", ac_lb_i32(b, -1)) : 0;
    for (int32_t d = 0; d < w->x->rank; d++) {
        ac_x lo, hi;
        ac_slide_taps(b, &w->s[d], w->idx[d], &lo, &hi);
        at[d] = ac_slide_at(b, &w->s[d], w->idx[d], ac_lb_for(b, tap[d], lo, hi, 1, AC_MARK_SERIAL));
    }
    const ac_x flat = ac_lo_flat(L, w->x, at), v = ac_lb_load(b, w->x_buf, flat, lanes), old = ac_lb_get(b, acc);
    if (places) {
        const ac_x first = ac_lb_lt(b, ac_lb_get(b, where), ac_lb_i32(b, 0));
        ac_x wins = ac_lb_or(b, ac_lb_gt(b, v, old), ac_lb_and(b, first, ac_lb_eq(b, v, v)));
        if (keep_nan)
            wins = ac_lb_or(b, wins, ac_lb_and(b, ac_lb_ne(b, v, v), ac_lb_eq(b, old, old)));
        ac_lb_set(b, where, ac_lb_select(b, wins, flat, ac_lb_get(b, where)));
        ac_lb_set(b, acc, ac_lb_select(b, wins, v, old));
    } else {
        ac_lb_set(b, acc,
                  op == AC_OP_WINDOW_SUM ? ac_lb_add_wrap(b, old, v)
                  : keep_nan             ? ac_lb_max_nan(b, v, old)
                                         : ac_lb_max(b, v, old));
    }
    for (int32_t d = 0; d < w->x->rank; d++)
        ac_lb_end(b);
    const ac_x y =
        places ? ac_lb_cast(b, ac_lb_max(b, ac_lb_get(b, where), ac_lb_i32(b, 0)), AC_I64) : ac_lb_get(b, acc);
    ac_lo_result(L, y, w->idx, lanes);
}

static void strip(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    sliding *w = with;
    w->idx[w->x->rank - 1] = i;
    one_window(L, w, lanes);
}

int ac_lo_window(ac_lower *L)
{
    static const char *const name[AC_MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    sliding w = {.x = n->in[0]};
    AC_TRY(ac_window_slides_of(L->cx, n, w.s));
    if ((!ac_mp_real(w.x) && !ac_mp_plain_int(w.x) && (n->op == AC_OP_WINDOW_SUM || !ac_dtype_is_int(w.x->dtype))) ||
        (n->op != AC_OP_WINDOW_ARGMAX && n->out[0]->dtype != w.x->dtype))
        return ac_lower_refuse(L, "%s of %s: f32, f64 and integers are supported", ac_ops[n->op].text,
                               ac_dtype_name(w.x->dtype));
    ac_lo_result_buf(L);
    if (ac_tensor_count(n->out[0]) == 0)
        return AC_OK;
    w.x_buf = ac_lo_operand(L, w.x);
    const int32_t last = w.x->rank - 1;
    const bool wide = last >= 0 && n->op != AC_OP_WINDOW_ARGMAX && w.s[last].taps == 1 && w.s[last].stride == 1 &&
                      w.s[last].out == w.s[last].in; /* neighbours have neighbouring windows */
    for (int32_t d = 0; d < w.x->rank - wide; d++)
        w.idx[d] = ac_lb_for_n(b, name[d], n->out[0]->dim[d]);
    if (wide)
        ac_lo_strip(L, "c", w.s[last].out, ac_lo_max_lanes(L, w.x->dtype), strip, &w);
    else
        one_window(L, &w, 1);
    for (int32_t d = 0; d < w.x->rank - wide; d++)
        ac_lb_end(b);
    return AC_OK;
}
