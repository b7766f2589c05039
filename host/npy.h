/* npy.h - NumPy's .npy files, versions 1 to 3, little-endian, C order. A reader of foreign files: every length is
 * checked. Types are the element types of dtype.def, and texts; bf16 travels as u2, i4/u4 as one byte each. */
#ifndef AC_HOST_NPY_H
#define AC_HOST_NPY_H
#include "base/file.h"
#include "base/sink.h"
#include "ir/graph/graph.h"

typedef struct ac_npy {
    const char *path;
    char descr[16]; /* "<f4"; texts: "<U12", "|S12" */
    int32_t rank;
    int64_t dim[32];
    const uint8_t *data; /* inside the file */
    int64_t unit;        /* bytes of an element */
    int64_t bytes;
    ac_file file;
} ac_npy;

int ac_npy_read(ac_ctx *cx, const char *path, ac_npy *out); /* E0301, E0304 */
/* The same of bytes in memory, n of them; path names them in messages. *out is zeroed, but for its file. */
int ac_npy_parse(ac_ctx *cx, const char *path, const uint8_t *p, size_t n, ac_npy *out);
void ac_npy_close(ac_npy *a);
void ac_npy_write_head(ac_sink *to, const char *descr, int32_t rank, const int64_t *dim); /* without the data */
void ac_npy_write(ac_sink *to, ac_dtype dtype, int32_t rank, const int64_t *dim, const void *data);
/* Does the array fit the tensor (type, and shape where the tensor's is known)? E0304 naming both. */
int ac_npy_fits(ac_ctx *cx, const ac_npy *a, const ac_tensor *t, const char *option);

#endif
