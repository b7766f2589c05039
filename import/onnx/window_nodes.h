/* window_nodes.h - windows over the spatial dimensions of a tensor [N,C,..], read from attributes: what convolutions
 * and pools share (frame.h).
 *
 *     ac_frame w;
 *     AC_TRY(ac_onx_window_open(n, x, &w));              strides, dilations, kernel_shape
 *     AC_TRY(ac_onx_window_pads(n, &w, ceil_mode));      pads or auto_pad, once the kernel is known */
#ifndef AC_IMPORT_ONNX_WINDOW_NODES_H
#define AC_IMPORT_ONNX_WINDOW_NODES_H
#include "import/build/frame.h"
#include "import/onnx/proto/onnx.h"

int ac_onx_window_open(ac_onx_node *n, const ac_tensor *x, ac_frame *w);
/* ceil_mode: a last window that begins in the image or its left pad counts; `after` grows accordingly. */
int ac_onx_window_pads(ac_onx_node *n, ac_frame *w, bool ceil_mode);

#endif
