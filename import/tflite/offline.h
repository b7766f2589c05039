/* offline.h - memory plans for TFLite Micro (TFLM) inside TFLite files: reads the operators that TFLM runs from the
 * file, and writes the file again with a plan in it.
 *
 *     ac_offline m;
 *     AC_TRY(ac_offline_read(cx, &file, &m));        every operator, also those arenac cannot compile
 *     ac_offline_lives(&m, NULL);                    first and last operator of every tensor, as TFLM counts them
 *     ... an offset for every m.tensor[i].planned ...
 *     AC_TRY(ac_offline_write(cx, &file, &m, offset, NULL, &sink));
 *
 * The plan is the metadata entry "OfflineMemoryAllocation", a buffer of 32-bit numbers: version 1, subgraph 0, the
 * number of tensors of all subgraphs, then for each its offset in the arena or -1: TFLM places it. Constants,
 * variables, empty tensors and those of further subgraphs get -1; TFLM places them around the plan.
 *
 *     | new root, buffers, metadata, plan | the old file, byte for byte |   offsets of FlatBuffers only point forward
 *
 * Memory: the context's region. Errors: those of fb.h; E0013 numbers out of range; E0502 files that cannot be
 * extended. */
#ifndef AC_IMPORT_TFLITE_OFFLINE_H
#define AC_IMPORT_TFLITE_OFFLINE_H
#include "base/file.h"
#include "base/sink.h"
#include "ir/dtype/dtype.h"

typedef struct ac_offline_tensor {
    const char *name, *shape; /* shape: "[1,96,96,3]" */
    ac_dtype dtype;
    ac_bytes bytes;
    int64_t elements;
    int32_t first, last; /* positions of operators, inclusive; -1: never */
    int64_t stored;      /* offset in the file's own plan; -1: none */
    bool planned;        /* gets an offset: computed, used, of a known size */
    bool variable, input, output;
} ac_offline_tensor;

enum { AC_OFFLINE_SCRATCH = 4 };
typedef struct ac_offline_op {
    const char *name;
    int32_t *in, *out; /* tensors; -1: left out */
    int32_t n_in, n_out;
    ac_bytes scratch[AC_OFFLINE_SCRATCH]; /* bytes of each scratch buffer that TFLM's reference kernel requests */
    int32_t n_scratch;
    bool known; /* else it may have side effects and keeps its order among similar operators */
} ac_offline_op;

typedef struct ac_offline {
    ac_offline_tensor *tensor;
    int32_t n_tensors; /* of the main subgraph */
    ac_offline_op *op;
    int32_t n_ops;
    int32_t n_all, n_subgraphs; /* tensors of all subgraphs */
    int32_t n_constants;
    ac_bytes weight_bytes; /* of the main subgraph's constants, shared bytes once */
    bool has_plan;
    int32_t n_stored; /* tensors the file's plan speaks of */
} ac_offline;

bool ac_offline_is_tflite(const ac_file *f);
int ac_offline_read(ac_ctx *cx, const ac_file *f, ac_offline *out);
void ac_offline_scratch(ac_offline *m); /* offline_scratch.c: fills op[].scratch; ac_offline_read calls it */
/* order[i] is the operator that runs i-th; NULL: the file's order. Sets first, last and planned. */
void ac_offline_lives(ac_ctx *cx, ac_offline *m, const int32_t *order);
/* offset: by tensor, used if it is planned; order: NULL keeps the file's. */
int ac_offline_write(ac_ctx *cx, const ac_file *f, const ac_offline *m, const ac_bytes *offset, const int32_t *order,
                     ac_sink *to);

/* For offline_write.c: numbers of Model's fields. */
enum {
    AC_MODEL_VERSION,
    AC_MODEL_CODES,
    AC_MODEL_SUBGRAPHS,
    AC_MODEL_TEXT,
    AC_MODEL_BUFFERS,
    AC_MODEL_META_BUFFER,
    AC_MODEL_META,
    AC_MODEL_SIGNATURES,
    AC_MODEL_FIELDS
};
#define AC_OFFLINE_NAME "OfflineMemoryAllocation"

#endif
