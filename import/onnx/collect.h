/* collect.h - joins the results that iterations of Scan and Loop collect (flow_nodes.c). */
#ifndef AC_IMPORT_ONNX_COLLECT_H
#define AC_IMPORT_ONNX_COLLECT_H
#include "import/onnx/proto/onnx.h"

/* Every `stride`th of `part`, `count` of them, as one tensor with a new dimension `axis`. NULL: reported. */
ac_tensor *ac_onx_collect(ac_onx_node *n, ac_tensor *const *part, int64_t count, int32_t stride, int64_t axis,
                          bool backwards);

#endif
