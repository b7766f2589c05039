/* kept.h - claims about tensors that blocks of a cluster keep in shared memory (codegen/join/gives.h). */
#ifndef AC_PROVE_KEPT_H
#define AC_PROVE_KEPT_H
#include "ir/loop/loop.h"

/* True if every block has each of the first `count` elements of its copy when it loads it: the block has stored it in
 * an earlier phase, or another block did in an earlier cluster loop, and only in one cluster loop is any stored. */
bool ac_p_kept_in_time(ac_region *region, const ac_loop_fn *fn, int32_t buf, int64_t count);

#endif
