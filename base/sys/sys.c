/* sys.c - functions that are the same on all systems; see sys.h. */
#include "base/sys/sys.h"

#include <errno.h>
#include <stdlib.h>

void ac_sys_matches_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

int ac_sys_write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        const int64_t w = ac_sys_write(fd, p, n);
        if (w <= 0)
            return w < 0 ? errno : EIO;
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

char *ac_sys_text(const char *path, size_t *n)
{
    size_t room = 4096, all = 0;
    const int fd = ac_sys_open(path, AC_SYS_READ, 0);
    char *text = fd < 0 ? NULL : malloc(room + 1);
    int64_t got = 1;
    while (text && (got = ac_sys_read(fd, text + all, room - all)) > 0) {
        all += (size_t)got;
        if (all < room)
            continue;
        char *more = realloc(text, 2 * room + 1);
        if (!more)
            free(text);
        else
            room *= 2;
        text = more;
    }
    const int why = errno;
    if (fd >= 0)
        ac_sys_close(fd);
    if (got < 0) {
        free(text);
        text = NULL;
    }
    if (text)
        text[all] = 0;
    if (n)
        *n = text ? all : 0;
    errno = why;
    return text;
}
