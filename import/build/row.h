/* row.h - a row of a format's table of operators. */
#ifndef AC_IMPORT_BUILD_ROW_H
#define AC_IMPORT_BUILD_ROW_H
#include "ir/graph/op.h"

/* Rows with a reason are known, but not supported. */
typedef struct ac_operator {
    const char *name, *domain, *reason; /* domain: of ONNX operators, "" is ai.onnx; reason NULL: supported */
    int32_t since, until;               /* ONNX: versions of the domain; until 99: the newest; 0: no versions */
    ac_op op;                           /* what it becomes; AC_OP_NONE: several operators, or by its attributes */
} ac_operator;

#endif
