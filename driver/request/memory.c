/* memory.c - the memory that this process may use; see memory.h. */
/* sysconf is POSIX; how much memory there is, is not. */
#define _DEFAULT_SOURCE
#include "driver/request/memory.h"
#include "base/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH = 1024, TEXT = 4096 };

static size_t lesser(size_t a, size_t b)
{
    return !a || (b && b < a) ? b : a; /* 0: no limit */
}

/* The first bytes of a small file, as a string. false: it cannot be read. */
static bool read_text(const char *path, char text[TEXT])
{
    const int f = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t all = 0, n = f < 0 ? -1 : 1;
    while (n > 0 && all < TEXT - 1) {
        n = read(f, text + all, (size_t)(TEXT - 1 - all)); /* may be short */
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            all += n;
    }
    if (f >= 0)
        close(f);
    text[all] = 0;
    return n >= 0;
}

/* The number in a file; 0: no limit ("max", or a larger number than fits). */
static size_t number_in(const char *path)
{
    char text[TEXT];
    const unsigned long long v = read_text(path, text) ? strtoull(text, NULL, 10) : 0;
    return v < SIZE_MAX ? (size_t)v : 0;
}

/* The least limit of a control group and those above it: `file` in `top`/`group` and its parents. */
static size_t group_limit(const char *root, const char *top, const char *group, const char *file)
{
    char at[PATH], path[2 * PATH];
    size_t most = 0;
    ac_print(at, sizeof at, "%s", group);
    for (;;) {
        ac_print(path, sizeof path, "%s%s%s/%s", root, top, at, file);
        most = lesser(most, number_in(path));
        char *last = strrchr(at, '/');
        if (!last)
            return most;
        *last = 0;
    }
}

/* Lines of /proc/self/cgroup: "0::/user/7" (version 2), "4:cpu,memory:/user/7" (version 1). */
static size_t groups_limit(const char *root)
{
    char path[PATH], text[TEXT];
    size_t most = 0;
    ac_print(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!read_text(path, text))
        return 0;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        char *kinds = strchr(line, ':'), *group = kinds ? strchr(kinds + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        if (!kinds[1])
            most = lesser(most, group_limit(root, "/sys/fs/cgroup", group, "memory.max"));
        else if (strstr(kinds, "memory"))
            most = lesser(most, group_limit(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
    return most;
}

static size_t machine(void)
{
#ifdef _SC_PHYS_PAGES
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (pages > 0 && size > 0)
        return (size_t)pages > SIZE_MAX / (size_t)size ? SIZE_MAX : (size_t)pages * (size_t)size;
#endif
    return 0;
}

size_t ac_memory_here(const char *root)
{
    size_t most = lesser(machine(), groups_limit(root));
#ifdef RLIMIT_AS
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY && (uint64_t)space.rlim_cur < SIZE_MAX)
        most = lesser(most, (size_t)space.rlim_cur);
#endif
    return most;
}
