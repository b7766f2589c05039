/* onnx_patch.h - an ONNX file with other values in some of its initialisers, and everything else as it was, to the
 * byte.
 *
 *     ac_onnx_value v[] = {{"fc.weight", data, 40960}};
 *     AC_TRY(ac_onnx_patch(cx, "model.onnx", bytes, v, 1, to));
 *
 * A value is the raw little-endian data of the initialiser's own type and shape. Where the file keeps it in another
 * form (a list of floats, a file beside it), it becomes raw data. Errors: E0012 for what is no ONNX file, E0110 for an
 * initialiser that is not there. Cost: the file is copied once. */
#ifndef AC_EXPORT_ONNX_PATCH_H
#define AC_EXPORT_ONNX_PATCH_H
#include "base/bytes.h"
#include "base/sink.h"

typedef struct ac_onnx_value {
    const char *name;
    const void *data;
    size_t bytes;
} ac_onnx_value;

int ac_onnx_patch(ac_ctx *cx, const char *path, ac_span file, const ac_onnx_value *v, int32_t n, ac_sink *to);

#endif
