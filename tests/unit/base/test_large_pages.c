/* test_large_pages.c - blocks that will be written whole are as others: zero, within the limit, and count. */
#include "base/large_pages.h"
#include "tests/unit/support/in_context.h"

static void over(void *arg)
{
    ac_alloc_whole(arg, 1 << 30);
}

static void tests(ac_ctx *cx)
{
    enum { MB = 1 << 20 };
    ac_region *r = ac_region_open(&cx->heap);
    static const size_t SIZE[] = {0, 1, 4096, 2 * MB - 1, 2 * MB, 5 * MB + 3, 33 * MB};
    for (size_t i = 0; i < sizeof SIZE / sizeof *SIZE; i++) {
        const size_t before = cx->heap.used, n = SIZE[i];
        unsigned char *p = ac_alloc_whole(r, n);
        unsigned any = 0;
        for (size_t k = 0; k < n; k++) {
            any |= p[k];
            p[k] = (unsigned char)k;
        }
        MUST(p && !any && (n < MB || cx->heap.used >= before + n));
    }
    cx->heap.limit = 64 * MB;
    MUST(!ac_heap_guard(&cx->heap, over, r));
    cx->heap.limit = 0;
    ac_region_close(r);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
