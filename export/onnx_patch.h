/* onnx_patch.h - replaces the values of some initialisers of an ONNX file; all other bytes stay the same.
 *
 *     ac_onnx_value v[] = {{"fc.weight", data, 40960}};
 *     AC_TRY(ac_onnx_patch(cx, "model.onnx", bytes, v, 1, to));
 *
 * A value is the raw little-endian data of the initialiser's own type and shape. If the file stores it in another form
 * (a list of floats, an external file), it becomes raw data. Errors: E0012 if it is not an ONNX file, E0110 for a
 * missing initialiser. Cost: the file is copied once. */
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
