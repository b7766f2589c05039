/* test_limit.c - the memory limit of a compilation: four fifths of what the process may use, or --max-memory. */
#define _DEFAULT_SOURCE
#include "driver/door/door.h"
#include "driver/request/memory.h"
#include "tests/unit/support/expect.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t GIB = (size_t)1 << 30;

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    MUST(f);
    fputs(text, f);
    fclose(f);
}

/* A tree as /proc and /sys have it: version 2 with a limit above the group of the process, version 1 with one. */
static void test_groups(void)
{
    static const char *const FOLDERS[] = {"limit",
                                          "limit/proc",
                                          "limit/proc/self",
                                          "limit/sys",
                                          "limit/sys/fs",
                                          "limit/sys/fs/cgroup",
                                          "limit/sys/fs/cgroup/a",
                                          "limit/sys/fs/cgroup/a/b",
                                          "limit/sys/fs/cgroup/memory",
                                          "limit/sys/fs/cgroup/memory/c"};
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++)
        (void)mkdir(FOLDERS[i], 0777);
    put("limit/proc/self/cgroup", ""); /* an earlier run has left files */
    const size_t machine = ac_memory_here("limit");
    CHECK(machine > 0);
    put("limit/proc/self/cgroup", "0::/a/b\n");
    put("limit/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("limit/sys/fs/cgroup/a/memory.max", "max\n");
    CHECK(ac_memory_here("limit") == machine);
    put("limit/sys/fs/cgroup/a/memory.max", "50000000\n");
    CHECK(ac_memory_here("limit") == 50000000);
    put("limit/sys/fs/cgroup/a/b/memory.max", "40000000\n");
    CHECK(ac_memory_here("limit") == 40000000);
    put("limit/proc/self/cgroup", "11:cpu,memory:/c\n4:pids:/a\n");
    put("limit/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "9223372036854771712\n"); /* "max" in version 1 */
    CHECK(ac_memory_here("limit") == machine);
    put("limit/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "30000000\n");
    CHECK(ac_memory_here("limit") == 30000000);
    put("limit/proc/self/cgroup", "");
}

static void test_address_space(void)
{
    struct rlimit was, less;
    MUST(getrlimit(RLIMIT_AS, &was) == 0);
    less = was;
    less.rlim_cur = (rlim_t)1 << 44; /* above what sanitizers map */
    if (setrlimit(RLIMIT_AS, &less) == 0)
        CHECK(ac_memory_here("limit") <= (size_t)1 << 44);
    MUST(setrlimit(RLIMIT_AS, &was) == 0);
}

int main(void)
{
    test_groups();
    test_address_space();
    arenac *a = arenac_open();
    MUST(a);
    const size_t here = ac_memory_here("");
    CHECK(a->work.cx.heap.limit == here / 5 * 4);
    CHECK(arenac_set(a, "max-memory", "1G") == AC_OK && a->work.cx.heap.limit == GIB);
    CHECK(arenac_set(a, "quiet", NULL) == AC_OK && a->work.cx.heap.limit == GIB);
    arenac_close(a);
    return check_done();
}
