/* slide.h - sliding windows: the geometry along one axis, and functions that decode and check the attributes of
 * operators with windows of any rank.
 *
 * Along an axis, output position o reads input positions o * stride - pad + k * dil for taps k = 0 .. taps-1; those
 * outside of the input are skipped.
 *
 *     ac_conv_nd c;
 *     AC_TRY(ac_conv_nd_of(cx, n, &c));               c.s[d].out is the extent of spatial dimension d of the result
 *
 * Shape rules and lowerings both call these functions, so a lowering gets exactly the values that a rule accepted.
 * Errors: E0103 attributes, E0104 a window that does not fit, E0015 too many positions. Allocates nothing. */
#ifndef AC_IR_OPS_DECODE_SLIDE_H
#define AC_IR_OPS_DECODE_SLIDE_H
#include "ir/graph/graph.h"

typedef struct ac_slide {
    int64_t in, out, taps; /* extents */
    int64_t stride, dil;
    int64_t pad; /* positions before the input */
} ac_slide;

enum { AC_CONV_ND_DIMS = AC_MAX_RANK - 2 };
/* CONV_ND and CONV_3D: x [N,S..,C], w [K..,C/groups,O]. */
typedef struct ac_conv_nd {
    int32_t m; /* spatial dimensions */
    int64_t groups;
    ac_act act;
    ac_slide s[AC_CONV_ND_DIMS];
} ac_conv_nd;
int ac_conv_nd_of(ac_ctx *cx, const ac_node *n, ac_conv_nd *c);

/* WINDOW_MAX, WINDOW_SUM, WINDOW_ARGMAX, WINDOW_MAX_BACK: one for each dimension of the input. */
int ac_window_slides_of(ac_ctx *cx, const ac_node *n, ac_slide *s);

/* The gradients of both. CONV_ND_DATA: dy [N,OS..,O], w [K..,O,C/groups], extents of the input; CONV_ND_FILTER: x
 * [N,S..,C], dy [N,OS..,O], extents of the filter. WINDOW_SUM_BACK: dy, extents of the input. Windows may reach beyond
 * the input by any number of positions. */
int ac_conv_back_of(ac_ctx *cx, const ac_node *n, ac_conv_nd *c);
int ac_window_back_of(ac_ctx *cx, const ac_node *n, ac_slide *s);

#endif
