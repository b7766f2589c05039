/* onnx_write.h - a graph as an ONNX model (docs/convert.md): the lowest operator set that suffices (13 to
 * 21), standard domain only.
 *
 *     AC_TRY(ac_onnx_write(g, false, &sink));       g: after pass infer; it is used up
 *
 * open: the first dimension of inputs and outputs is a name in the file, if the inputs name theirs alike. That is
 * right if the batch is dimension 0 of each reshape's result.
 *
 * Quantised tensors become pairs of QuantizeLinear and DequantizeLinear around the operator of real numbers. Every
 * operator that ONNX has no counterpart of is reported (E0108), all of them. */
#ifndef AC_EXPORT_ONNX_WRITE_H
#define AC_EXPORT_ONNX_WRITE_H
#include "base/sink.h"
#include "ir/graph/graph.h"

int ac_onnx_write(ac_graph *g, bool open, ac_sink *to);

#endif
