/* large_pages.h - memory for computed constants of several MB that are fully written.
 *
 * The system backs such blocks with pages of 2 MB if it has them: one page fault instead of 512, which are a third of
 * the time of compiling a large model. Use ac_alloc for sparsely used blocks, whose unused pages then cost nothing. */
#ifndef AC_BASE_LARGE_PAGES_H
#define AC_BASE_LARGE_PAGES_H
#include "base/region.h"

void *ac_alloc_whole(ac_region *r, uint64_t bytes); /* as ac_alloc */

#endif
