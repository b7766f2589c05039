/* outputs.h - the rows of outputs.def; private to driver/emit. */
#ifndef AC_DRIVER_EMIT_OUTPUTS_H
#define AC_DRIVER_EMIT_OUTPUTS_H
#include "driver/emit/emit.h"

typedef enum where { ONE_FILE, PICTURE, FILES, FOLDER } where;
typedef enum needs { NONE, PLAN, STEPS, MODEL, TFLM, PROOF, CODE } needs;

typedef struct emission {
    const char *kind, *path;
} emission;

typedef int put_fn(const ac_made *a, const emission *e, ac_sink *to);

typedef struct ac_output_row {
    const char *kind, *ext;
    where where;
    needs needs;
    put_fn *put;
} ac_output_row;

const ac_output_row *ac_output_find(const char *kind); /* NULL: a kind of code, or unknown */
/* Several outputs are written there in order, without their names: standard output, a device. */
bool ac_output_is_stream(const char *path);

#endif
