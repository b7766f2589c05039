/* arithmetic.h - formulas of tensors (ir/make/formula.h), for adapters whose node is `n`. */
#ifndef AC_IMPORT_ONNX_PROTO_ARITHMETIC_H
#define AC_IMPORT_ONNX_PROTO_ARITHMETIC_H
#include "import/onnx/proto/onnx.h"

#define MAKER (&n->b)
#include "ir/make/formula.h"

#endif
