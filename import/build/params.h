/* params.h - constants of a file: how many elements their shape says, where their bytes are; and parameters of networks
 * whose weights are in a file of their own, which may not be there. */
#ifndef AC_IMPORT_BUILD_PARAMS_H
#define AC_IMPORT_BUILD_PARAMS_H
#include "import/build/reading.h"

/* No dimension is negative, and there are at most 2^31-1 elements (dimensions of 0 left out); *count of them. */
bool ac_dims_fit(int32_t rank, const int64_t *dim, int64_t *count);
const char *ac_dims_str(ac_ctx *cx, int32_t rank, const int64_t *dim); /* "[1,96,96,3]" */

/* t is a constant whose dense little-endian bytes are at `bytes`, at any address; they are not copied until they are
 * used. NULL: there are none, t is empty. */
void ac_param_place(ac_tensor *t, const void *bytes);

/* No file gives t. With --random it gets seeded values, small enough that sums over its rows keep their size (positive:
 * 0.5 to 1.5, for variances); else a splat stands for it, and it is counted as missing. */
void ac_param_invent(ac_reading *r, ac_tensor *t, bool positive);

#endif
