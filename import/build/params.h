/* params.h - parameters of networks whose weights stand in a file of their own: where their bytes are, and what stands
 * for them when no file gives them. For importers. */
#ifndef AC_IMPORT_BUILD_PARAMS_H
#define AC_IMPORT_BUILD_PARAMS_H
#include "import/build/reading.h"

/* t is a constant whose dense little-endian bytes stand at `bytes`, at any address; they are not copied until they are
 * used. NULL: there are none, t is empty. */
void ac_param_place(ac_tensor *t, const void *bytes);

/* No file gives t. With --random it gets seeded values, small enough that sums over its rows keep their size (positive:
 * 0.5 to 1.5, for variances); else a splat stands for it, and it is counted as missing. */
void ac_param_invent(ac_reading *r, ac_tensor *t, bool positive);

#endif
