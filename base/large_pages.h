/* large_pages.h - memory for constants that are made: of several MB, and written whole.
 *
 * The system makes such blocks in pages of 2 MB where it has them: one fault instead of 512, which are a third of the
 * time of compiling a large model. Blocks of which parts are never touched take ac_alloc, so that these stay unreal. */
#ifndef AC_BASE_LARGE_PAGES_H
#define AC_BASE_LARGE_PAGES_H
#include "base/region.h"

void *ac_alloc_whole(ac_region *r, uint64_t bytes); /* as ac_alloc */

#endif
