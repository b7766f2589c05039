/* params.h - sets the data of constants of a file, and replaces parameters whose weights are in a second file that is
 * missing. */
#ifndef AC_IMPORT_BUILD_PARAMS_H
#define AC_IMPORT_BUILD_PARAMS_H
#include "import/build/reading.h"

/* True if no dimension is negative, and the product of those that are not 0 is at most 2^31-1. *count: the elements. */
bool ac_dims_fit(int32_t rank, const int64_t *dim, int64_t *count);
const char *ac_dims_str(ac_ctx *cx, int32_t rank, const int64_t *dim); /* "[1,96,96,3]" */

/* Makes t a constant with the dense little-endian data at `bytes`, which may be unaligned; it is not copied before it
 * is used. NULL: t is empty. */
void ac_param_place(ac_tensor *t, const void *bytes);

/* Replaces parameter t, which no file contains. With --random it gets seeded values, scaled so that sums over its rows
 * keep the magnitude of their inputs (positive: 0.5 to 1.5, for variances); otherwise it becomes a splat and is listed
 * as missing. */
void ac_param_invent(ac_reading *r, ac_tensor *t, bool positive);

#endif
