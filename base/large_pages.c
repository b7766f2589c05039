/* large_pages.c - blocks in large pages, where Linux has them; see large_pages.h. */
#define _DEFAULT_SOURCE /* madvise is not POSIX */
#include "base/large_pages.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

void *ac_alloc_whole(ac_region *r, uint64_t bytes)
{
    void *p = ac_alloc(r, bytes);
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)2 << 20, at = (uintptr_t)p, begin = (at + page - 1) / page * page,
                    end = (at + (uintptr_t)bytes) / page * page;
    if (begin < end)
        (void)madvise((char *)p + (begin - at), end - begin, MADV_HUGEPAGE);
#endif
    return p;
}
