/* taps.h - compares the tensors of a run with stored marks of another implementation, to find the first wrong operator
 * (`run --taps FILE.json`).
 *
 * The file is a list of objects in the order of the model's nodes, one for each result:
 *     {"node": 3, "type": "Conv", "tensor": "y", "shape": [1,8], "dtype": "float32", "sum": .., "abs_max": .., "first":
 * [..]}
 *     {"op": 3, "type": "CONV_2D", "tensor": 59, "shape": [1,8], "dtype": "int8", "crc32": ..}
 * A tensor is found by its name ("node"), or by the number of its operator ("op"; results in the order of their marks).
 * Integers must have the same bytes (CRC-32); of floats the first values, the largest magnitude and the sum must be
 * within 2e-4 of the largest value, 2e-2 for 16 bits.
 *
 *     ac_taps t;
 *     AC_TRY(ac_taps_open(w, path, &t));
 *     ac_taps_look(&t, step);                 after each step
 *     AC_TRY(ac_taps_close(&t, to));          constants, the list of what differs, the verdict: E0601
 *
 * Memory: the context's region. Errors: E0020 and E0012 for a file that is not such a list, E0301. */
#ifndef AC_DRIVER_TAPS_H
#define AC_DRIVER_TAPS_H
#include "driver/stage/stage.h"

struct ac_tap;
typedef struct ac_taps {
    ac_work *w;
    const char *path;
    struct ac_tap *tap;
    int32_t n;
} ac_taps;

int ac_taps_open(ac_work *w, const char *path, ac_taps *t);
void ac_taps_look(ac_taps *t, int32_t step);
int ac_taps_close(ac_taps *t, ac_sink *to);

#endif
