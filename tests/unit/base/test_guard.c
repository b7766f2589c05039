/* test_guard.c - running out of memory ends the innermost guard, frees everything opened inside it, and leaves the
 * guards around it in force. */
#include "base/region.h"
#include "tests/unit/support/expect.h"

#include <stddef.h>

enum { LIMIT = 1 << 20 };

typedef struct depth {
    ac_heap *heap;
    int left;    /* guards still to open */
    int reached; /* how many came to their end */
} depth;

static void take_too_much(void *arg)
{
    ac_heap *heap = arg;
    ac_region *r = ac_region_open(heap);
    ac_alloc(r, LIMIT / 2);
    ac_alloc(ac_region_open(heap), LIMIT / 2); /* with what regions need themselves: over the limit */
    FAILED("memory did not run out");
}

static void nest(void *arg)
{
    depth *d = arg;
    ac_region *mine = ac_region_open(d->heap);
    char *bytes = ac_alloc(mine, 1000);
    const size_t used = d->heap->used;
    if (d->left) {
        d->left--;
        CHECK(ac_heap_guard(d->heap, nest, d));
    }
    for (int i = 0; i < 2; i++) {
        CHECK(!ac_heap_guard(d->heap, take_too_much, d->heap));
        CHECK(d->heap->open == mine && d->heap->used == used && bytes[999] == 0);
    }
    ac_region_close(mine);
    d->reached++;
}

/* The guard inside came back; now memory runs out in the one around it. */
static void out_after_inner(void *arg)
{
    ac_heap *heap = arg;
    CHECK(!ac_heap_guard(heap, take_too_much, heap));
    take_too_much(heap);
}

int main(void)
{
    ac_heap heap = {.limit = LIMIT};
    depth d = {.heap = &heap, .left = 3};
    CHECK(ac_heap_guard(&heap, nest, &d) && d.reached == 4);
    CHECK(!heap.open && heap.used == 0 && !heap.on_oom);
    CHECK(!ac_heap_guard(&heap, out_after_inner, &heap));
    CHECK(!heap.open && heap.used == 0 && !heap.on_oom);
    return check_done();
}
