/* quant_nodes.h - quantised values of ONNX in plain arithmetic, for the operators of ai.onnx (quant_nodes.c) and those
 * of ONNX Runtime (fused_quant_nodes.c). A scale or zero point has one element, or one for each index of dimension
 * `axis`, or the rank of the tensor; zero NULL is 0. NULL operands give NULL. */
#ifndef AC_IMPORT_ONNX_QUANT_NODES_H
#define AC_IMPORT_ONNX_QUANT_NODES_H
#include "import/onnx/proto/onnx.h"

/* A parameter of one element, or one for each index of dimension `axis`, in line with a tensor of this rank. */
ac_tensor *ac_onx_in_line(ac_onx_node *n, ac_tensor *p, int32_t rank, int32_t axis);
/* round(x / scale) + zero, saturated to the type; `precision` is the type it divides in. */
ac_tensor *ac_onx_quantized(ac_onx_node *n, ac_tensor *x, ac_tensor *scale, ac_tensor *zero, int32_t axis, ac_dtype to,
                            ac_dtype precision);
/* x - zero as f32. */
ac_tensor *ac_onx_centered(ac_onx_node *n, ac_tensor *x, ac_tensor *zero, int32_t axis);
ac_tensor *ac_onx_dequantized(ac_onx_node *n, ac_tensor *x, ac_tensor *scale, ac_tensor *zero, int32_t axis);
/* x as u8 over the range of its values and 0: DynamicQuantizeLinear. */
ac_tensor *ac_onx_dynamic_quantized(ac_onx_node *n, ac_tensor *x, ac_tensor **scale, ac_tensor **zero);

/* integer_nodes.c: exact sums of bytes less their zero points, i32 (wrapping); a zero point NULL is 0. */
bool ac_onx_byte_type(const ac_tensor *t);
/* x [..,K] or [K], a zero point or one for each row; y as MatMul has it, a zero point or one for each column. */
ac_tensor *ac_onx_integer_matmul(ac_onx_node *n, ac_tensor *x, ac_tensor *y, ac_tensor *zx, ac_tensor *zy);
/* E0108 unless both are bytes and w has filters; x NULL: AC_FAIL. */
int ac_onx_check_integer_conv(ac_onx_node *n, const ac_tensor *x, const ac_tensor *w);
/* x [N,C,..]; w [O,C/groups,..], a zero point or one for each filter; windows by n's attributes. */
ac_tensor *ac_onx_integer_conv(ac_onx_node *n, ac_tensor *x, ac_tensor *w, ac_tensor *zx, ac_tensor *zw);

#endif
