/* memory.c - the memory that this process may use; see memory.h. */
#include "driver/request/memory.h"
#include "base/format.h"
#include "base/sys/sys.h"

#include <stdlib.h>
#include <string.h>

enum { PATH = 1024 };

static size_t lesser(size_t a, size_t b)
{
    return !a || (b && b < a) ? b : a; /* 0: no limit */
}

/* The number in a file; 0: no limit ("max", or a larger number than fits). */
static size_t number_in(const char *path)
{
    char *text = ac_sys_text(path, NULL);
    const unsigned long long v = text ? strtoull(text, NULL, 10) : 0;
    free(text);
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
    char path[PATH];
    size_t most = 0;
    ac_print(path, sizeof path, "%s/proc/self/cgroup", root);
    char *text = ac_sys_text(path, NULL);
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
    free(text);
    return most;
}

size_t ac_memory_here(const char *root)
{
    return lesser(ac_sys_memory(), groups_limit(root));
}
