/* arithmetic.h - arithmetic of tensors, for adapters whose node is `n`. Operands may be NULL, then so is the result. */
#ifndef AC_IMPORT_ONNX_PROTO_ARITHMETIC_H
#define AC_IMPORT_ONNX_PROTO_ARITHMETIC_H
#include "import/onnx/proto/onnx.h"

#define ADD(x, y) ac_onx_2(n, AC_OP_ADD, x, y)
#define SUB(x, y) ac_onx_2(n, AC_OP_SUB, x, y)
#define MUL(x, y) ac_onx_2(n, AC_OP_MUL, x, y)
#define DIV(x, y) ac_onx_2(n, AC_OP_DIV, x, y)
#define MIN(x, y) ac_onx_2(n, AC_OP_MINIMUM, x, y)
#define MAX(x, y) ac_onx_2(n, AC_OP_MAXIMUM, x, y)
#define EXP(x)    ac_onx_1(n, AC_OP_EXP, x)

#endif
