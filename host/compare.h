/* compare.h - how far an array is from its reference. */
#ifndef AC_HOST_COMPARE_H
#define AC_HOST_COMPARE_H
#include "ir/dtype/dtype.h"

typedef struct ac_difference {
    int64_t count, differ;           /* elements; how many are not equal */
    int64_t first;                   /* first element that differs, -1: none */
    double max_abs, mean_abs, scale; /* scale: largest finite magnitude of the reference */
    double max_ulp;                  /* floats: distance in representable numbers; integers: max_abs */
    bool nan_mismatch;
} ac_difference;

ac_difference ac_compare(ac_dtype d, const void *got, const void *want, int64_t count);
/* Integers: equal. Floats: within max_ulp when >= 0, else |a-b| <= 2e-4 * scale + 1e-6. */
bool ac_close_enough(ac_dtype d, const ac_difference *x, int64_t max_ulp);

#endif
