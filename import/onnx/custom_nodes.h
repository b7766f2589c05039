/* custom_nodes.h - nodes of ONNX files that a row of --custom computes. */
#ifndef AC_IMPORT_ONNX_CUSTOM_NODES_H
#define AC_IMPORT_ONNX_CUSTOM_NODES_H
#include "import/onnx/proto/onnx.h"
#include "ir/ops/custom.h"

/* The row of n, whose operator --custom binds; NULL: it does not. */
const ac_operator *ac_onx_custom(const ac_onx_node *n);

#endif
