/* beside.c - opens files that a model names; see beside.h. */
#include "base/beside.h"

#include "base/sys/sys.h"

#include <errno.h>
#include <string.h>

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
    if (ac_sys_real(folder, in))
        return AC_BESIDE_REFUSED;
    if (ac_sys_real(path, real))
        return errno == ENOENT || errno == ENOTDIR ? AC_BESIDE_MISSING : AC_BESIDE_REFUSED;
    const size_t n = strlen(in);
    const bool inside = !strncmp(real, in, n) && (in[n - 1] == '/' || real[n] == '/');
    return inside ? AC_BESIDE_OK : AC_BESIDE_OUTSIDE;
}

/* Not opened before it is known to be regular: opening a device can do something. */
static ac_beside is_regular(const char *path)
{
    ac_sys_info of;
    if (ac_sys_info_of(path, &of))
        return AC_BESIDE_REFUSED;
    return of.kind == AC_SYS_FILE ? AC_BESIDE_OK : AC_BESIDE_SPECIAL;
}

ac_beside ac_file_beside(ac_ctx *cx, const char *model, const char *name, ac_file *f)
{
    const int n = (int)(ac_path_name(model) - model);
    const char *path = ac_strf(cx->region, "%.*s%s", n, model, name);
    *f = (ac_file){.path = path};
    if (!stays(name))
        return AC_BESIDE_OUTSIDE;
    char *real = ac_alloc(cx->region, AC_SYS_PATH), *folder = ac_alloc(cx->region, AC_SYS_PATH);
    ac_beside found = resolve(n ? ac_strf(cx->region, "%.*s", n, model) : ".", path, real, folder);
    if (found == AC_BESIDE_OK)
        found = is_regular(real);
    if (found != AC_BESIDE_OK)
        return found;
    const int fd = ac_sys_open(real, AC_SYS_READ_FILE, 0);
    if (fd < 0)
        return AC_BESIDE_REFUSED;
    const int why = ac_file_load(cx, fd, f);
    ac_sys_close(fd);
    return why ? AC_BESIDE_REFUSED : AC_BESIDE_OK;
}
