/* onnx_window.h - windows over the spatial dimensions of a tensor [N,C,..], read from attributes: what convolutions and
 * pools share. Included by onnx_window.c and onnx_pool.c.
 *
 *     ac_onx_window w;
 *     AC_TRY(ac_onx_window_open(n, x, &w));              strides, dilations, kernel_shape
 *     AC_TRY(ac_onx_window_pads(n, &w, ceil_mode));      pads or auto_pad, once the kernel is known */
#ifndef AC_IMPORT_ONNX_WINDOW_H
#define AC_IMPORT_ONNX_WINDOW_H
#include "import/onnx.h"

enum { SPATIAL = AC_MAX_RANK - 2 }; /* what a model has fewer of stands at the end: the width is SPATIAL - 1 */

typedef struct ac_onx_window {
    int32_t m; /* spatial dimensions of the model */
    int64_t in[SPATIAL], kernel[SPATIAL], stride[SPATIAL], dil[SPATIAL], before[SPATIAL], after[SPATIAL];
} ac_onx_window;

int ac_onx_window_open(ac_onx_node *n, const ac_tensor *x, ac_onx_window *w);
/* ceil_mode: a last window that begins in the image or its left pad counts; `after` grows accordingly. */
int ac_onx_window_pads(ac_onx_node *n, ac_onx_window *w, bool ceil_mode);
/* [N,C,L] -> [N,1,L,C], [N,C,H,W] -> [N,H,W,C], and back for m spatial dimensions, 1 or 2. NULL gives NULL. */
ac_tensor *ac_onx_channels_last(ac_onx_node *n, ac_tensor *x);
ac_tensor *ac_onx_channels_first(ac_onx_node *n, ac_tensor *y, int32_t m);

#endif
