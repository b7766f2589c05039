/* large_pages.c - blocks in large pages, where Linux has them; see large_pages.h. */
#include "base/large_pages.h"

#include "base/sys/sys.h"

void *ac_alloc_whole(ac_region *r, uint64_t bytes)
{
    void *p = ac_alloc(r, bytes);
    const uintptr_t page = (uintptr_t)2 << 20, at = (uintptr_t)p, begin = (at + page - 1) / page * page,
                    end = (at + (uintptr_t)bytes) / page * page;
    if (begin < end)
        ac_sys_large_pages((char *)p + (begin - at), end - begin);
    return p;
}
