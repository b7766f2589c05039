/* protos.h - messages of ONNX files, and what reading them shares: for onnx.c (models, graphs) and graph_nodes.c
 * (nodes, functions, subgraphs) only. */
#ifndef AC_IMPORT_ONNX_PROTOS_H
#define AC_IMPORT_ONNX_PROTOS_H
#include "import/onnx/proto/onnx.h"

/* GraphProto */
typedef struct ac_onx_body {
    ac_span name;
    ac_pb_list nodes, constants, inputs, outputs, values, sparse;
} ac_onx_body;

/* FunctionProto */
typedef struct ac_onx_function_body {
    ac_span name, domain;
    ac_pb_list inputs, outputs, nodes, opsets, defaults;
} ac_onx_function_body;

/* OperatorSetIdProto, ValueInfoProto */
typedef struct ac_onx_pair {
    ac_span name, type;
    int64_t version;
} ac_onx_pair;

#define AC_ONX_ROW(number, kind, type, field)       \
    {                                               \
        number, AC_PB_##kind, offsetof(type, field) \
    }
extern const ac_pb_field ac_onx_body_fields[], ac_onx_function_fields[], ac_onx_value_fields[];

/* onnx.c: ai.onnx is the long name of the domain "". */
const char *ac_onx_domain_name(ac_onx *r, ac_span s);
int ac_onx_read_opsets(ac_onx *r, ac_onx_scope *s, ac_pb_list list, const char *what);
int ac_onx_read_constants(ac_onx *r, ac_onx_scope *s, const ac_onx_body *b);
/* graph_nodes.c: in the order of the file, which is that of execution. */
int ac_onx_read_nodes(ac_onx *r, ac_onx_scope *s, ac_pb_list list);

#endif
