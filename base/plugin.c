/* plugin.c - opens shared libraries; see plugin.h. */
#include "base/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef ARENAC_LIBDIR
#define ARENAC_LIBDIR "lib"
#endif

/* The folder of the running program; NULL when the system does not tell. */
static char *own_folder(ac_ctx *cx)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return NULL;
    path[n] = 0;
    char *slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    *slash = 0;
    return ac_strdup(cx->region, path);
}

static void *open_library(ac_ctx *cx, const char *path, int scope)
{
    errno = 0;
    void *so = dlopen(path, RTLD_NOW | scope);
    if (!so && errno == ENOMEM) /* do not parse the loader's message: it differs between systems */
        ac_heap_exhausted(&cx->heap);
    return so;
}

void *ac_library_open(ac_ctx *cx, const char *path)
{
    return open_library(cx, path, RTLD_LOCAL);
}

void *ac_library_share(ac_ctx *cx, const char *path)
{
    return open_library(cx, path, RTLD_GLOBAL);
}

void *ac_plugin_open(ac_ctx *cx, const char *name, const char **path)
{
    const char *own = own_folder(cx), *given = getenv("ARENAC_BACKENDS");
    const char *folders[] = {given && *given ? given : NULL, own,
                             own ? ac_strf(cx->region, "%s/../%s/arenac", own, ARENAC_LIBDIR) : NULL};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        *path = folders[i] ? ac_strf(cx->region, "%s/arenac-%s.so", folders[i], name) : NULL;
        if (*path && access(*path, F_OK) == 0)
            return ac_library_open(cx, *path);
    }
    *path = NULL;
    return NULL;
}
