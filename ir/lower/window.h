/* window.h - the input positions of a sliding window's taps: geometry shared by convolutions, depthwise and pooling.
 *
 * Along one axis, output position o reads input positions o * stride - pad + k * dil for taps k = 0 .. taps-1.
 * Positions outside the input are skipped, not read: the tap limits become loop bounds, so that no loop body tests
 * anything.
 *
 *     ac_x lo, hi;
 *     ac_slide_taps(b, &win.y, oy, &lo, &hi);
 *     ac_x ky = ac_lb_for(b, "ky", lo, hi, 1, AC_MARK_SERIAL);
 *     ac_x iy = ac_slide_at(b, &win.y, oy, ky);        always inside
 *
 * Pads come from the attributes, which pass infer has made explicit. */
#ifndef AC_IR_LOWER_WINDOW_H
#define AC_IR_LOWER_WINDOW_H
#include "ir/lower/arithmetic.h"
#include "ir/ops/decode/slide.h"

typedef struct ac_window {
    int64_t n, ic, oc; /* batch, channels of input and output */
    ac_slide y, x;
} ac_window;

/* Geometry of a node with tensors x and y [N,H,W,C] and kh x kw taps; attrs are those of set conv or pool. */
ac_window ac_window_conv(const ac_node *n, const ac_tensor *x, int64_t kh, int64_t kw);
ac_window ac_window_pool(const ac_node *n, const ac_tensor *x);

/* Input positions from the first tap of a window to its last, both counted. */
static inline int64_t ac_slide_reach(const ac_slide *a)
{
    return (a->taps - 1) * a->dil + 1;
}
bool ac_slide_inside(const ac_slide *a); /* no output position reaches outside the input */
/* First tap inside and one past the last; constants if every position has all taps. */
void ac_slide_taps(ac_lb *b, const ac_slide *a, ac_x o, ac_x *lo, ac_x *hi);
ac_x ac_slide_at(ac_lb *b, const ac_slide *a, ac_x o, ac_x k); /* input position of tap k */
/* 0 <= v < n */
static inline ac_x ac_lo_within(ac_lb *lb, ac_x v, int64_t n)
{
    return ac_lb_and(lb, ac_lb_le(lb, ac_lb_i32(lb, 0), v), ac_lb_lt(lb, v, ac_lb_i32(lb, n)));
}
/* Output positions begin .. end-1 have all their taps inside. */
void ac_slide_interior(const ac_slide *a, int64_t *begin, int64_t *end);

#endif
