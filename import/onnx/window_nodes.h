/* window_nodes.h - windows over the spatial dimensions of a tensor [N,C,..], read from attributes, for convolutions
 * and pools (frame.h).
 *
 *     ac_frame w;
 *     AC_TRY(ac_onx_window_open(n, x, &w));              strides, dilations, kernel_shape
 *     AC_TRY(ac_onx_window_pads(n, &w, AC_LAST_WHOLE));  pads or auto_pad, once the kernel is known */
#ifndef AC_IMPORT_ONNX_WINDOW_NODES_H
#define AC_IMPORT_ONNX_WINDOW_NODES_H
#include "import/build/frame.h"
#include "import/onnx/proto/onnx.h"

int ac_onx_window_open(ac_onx_node *n, const ac_tensor *x, ac_frame *w);
/* Which windows count: those inside of the padded image; of a pool also the only one, if it is larger than the
 * image by less than a stride (AC_LAST_FITS), and with ceil_mode a last one that begins in the image or its left pad
 * (AC_LAST_BEGINS): `after` grows accordingly. Of a pool with auto_pad `before` may be negative: so many elements at
 * the beginning of the image are in no window. */
typedef enum ac_last_window { AC_LAST_WHOLE, AC_LAST_FITS, AC_LAST_BEGINS } ac_last_window;
int ac_onx_window_pads(ac_onx_node *n, ac_frame *w, ac_last_window last);

/* A convolution by n's attributes: x [N,C,..], w [O,C/groups,..], bias [O] or NULL. zero: the value of
 * padding of bytes, their zero point; or, if that is computed, pad: a scalar of x's type that x is padded with. */
ac_tensor *ac_onx_conv(ac_onx_node *n, ac_tensor *x, ac_tensor *w, ac_tensor *bias, int32_t zero, ac_tensor *pad);

#endif
