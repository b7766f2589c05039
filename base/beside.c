/* beside.c - opens files that a model names; see beside.h. */
/* realpath is POSIX with XSI, O_NOFOLLOW POSIX. */
#define _XOPEN_SOURCE 700
#include "base/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

const char *ac_beside_why(ac_beside found)
{
    switch (found) {
    case AC_BESIDE_OK:
        return "is there";
    case AC_BESIDE_OUTSIDE:
        return "is outside of the model's folder";
    case AC_BESIDE_MISSING:
        return "is not there";
    case AC_BESIDE_SPECIAL:
        return "is no regular file";
    case AC_BESIDE_REFUSED:
        return "cannot be read";
    }
    return "";
}

/* Neither absolute nor with a step up; backslashes and drives are for others. */
static bool stays(const char *name)
{
    if (!*name || *name == '/' || strchr(name, '\\') || strchr(name, ':'))
        return false;
    for (const char *p = name; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (!strncmp(p, "..", 2) && (!p[2] || p[2] == '/'))
            return false;
    }
    return true;
}

/* The real path of the file, if it is in the folder. */
static ac_beside resolve(const char *folder, const char *path, char *real, char *in)
{
    if (!realpath(folder, in))
        return AC_BESIDE_REFUSED;
    if (!realpath(path, real))
        return errno == ENOENT || errno == ENOTDIR ? AC_BESIDE_MISSING : AC_BESIDE_REFUSED;
    const size_t n = strlen(in);
    const bool inside = !strncmp(real, in, n) && (in[n - 1] == '/' || real[n] == '/');
    return inside ? AC_BESIDE_OK : AC_BESIDE_OUTSIDE;
}

/* Not opened before it is known to be regular: opening a device can do something. */
static ac_beside is_regular(const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return AC_BESIDE_REFUSED;
    return S_ISREG(st.st_mode) ? AC_BESIDE_OK : AC_BESIDE_SPECIAL;
}

ac_beside ac_file_beside(ac_ctx *cx, const char *model, const char *name, ac_file *f)
{
    const int n = (int)(ac_path_name(model) - model);
    const char *path = ac_strf(cx->region, "%.*s%s", n, model, name);
    *f = (ac_file){.path = path};
    if (!stays(name))
        return AC_BESIDE_OUTSIDE;
    char *real = ac_alloc(cx->region, PATH_MAX + 1), *folder = ac_alloc(cx->region, PATH_MAX + 1);
    ac_beside found = resolve(n ? ac_strf(cx->region, "%.*s", n, model) : ".", path, real, folder);
    if (found == AC_BESIDE_OK)
        found = is_regular(real);
    if (found != AC_BESIDE_OK)
        return found;
    const int fd = open(real, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return AC_BESIDE_REFUSED;
    const int why = ac_file_load(cx, fd, f);
    close(fd);
    return why ? AC_BESIDE_REFUSED : AC_BESIDE_OK;
}
