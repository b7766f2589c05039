/* plugin.c - opens shared libraries; see plugin.h. */
#include "base/plugin.h"

#include "base/file.h"
#include "base/sys/sys.h"

#include <errno.h>
#include <stdlib.h>

#ifndef ARENAC_LIBDIR
#define ARENAC_LIBDIR "lib"
#endif

/* The folder of the running program; NULL when the system does not tell. */
static char *own_folder(ac_ctx *cx)
{
    char path[AC_SYS_PATH];
    if (ac_sys_own_path(path))
        return NULL;
    const size_t n = (size_t)(ac_path_name(path) - path);
    return n ? ac_strf(cx->region, "%.*s", (int)n - 1, path) : NULL;
}

static void *open_library(ac_ctx *cx, const char *path, bool shared)
{
    void *so = ac_sys_library(path, shared);
    if (!so && errno == ENOMEM) /* do not parse the loader's message: it differs between systems */
        ac_heap_exhausted(&cx->heap);
    return so;
}

void *ac_library_open(ac_ctx *cx, const char *path)
{
    return open_library(cx, path, false);
}

void *ac_library_share(ac_ctx *cx, const char *path)
{
    return open_library(cx, path, true);
}

void *ac_plugin_open(ac_ctx *cx, const char *name, const char **path)
{
    const char *own = own_folder(cx), *given = getenv("ARENAC_BACKENDS");
    const char *folders[] = {given && *given ? given : NULL, own,
                             own ? ac_strf(cx->region, "%s/../%s/arenac", own, ARENAC_LIBDIR) : NULL};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        *path = folders[i] ? ac_strf(cx->region, "%s/arenac-%s" AC_SYS_LIBRARY, folders[i], name) : NULL;
        if (*path && ac_sys_may_read(*path))
            return ac_library_open(cx, *path);
    }
    *path = NULL;
    return NULL;
}
