/* test_limit.c - the memory limit of a compilation: the machine's memory, at least 8 GiB, or --max-memory. */
#define _DEFAULT_SOURCE
#include "driver/door/door.h"
#include "tests/unit/support/expect.h"

#include <unistd.h>

int main(void)
{
    const size_t GIB = (size_t)1 << 30;
    arenac *a = arenac_open();
    MUST(a);
    const size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    CHECK(a->work.cx.heap.limit >= 8 * GIB && a->work.cx.heap.limit >= machine);
    CHECK(arenac_set(a, "max-memory", "1G") == AC_OK && a->work.cx.heap.limit == GIB);
    CHECK(arenac_set(a, "quiet", NULL) == AC_OK && a->work.cx.heap.limit == GIB);
    arenac_close(a);
    return check_done();
}
