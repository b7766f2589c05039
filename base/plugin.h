/* plugin.h - parts of the tool that are shared libraries, arenac-NAME.so, and are opened only when they are needed.
 *
 *     const char *path;
 *     void *so = ac_plugin_open(cx, "llvm", &path);      path NULL: there is none; so NULL: dlerror() says why
 *
 * They are looked for in $ARENAC_BACKENDS, beside the executable, and in the install prefix. Memory: the path is the
 * context's region's; what was opened stays open until the process ends. */
#ifndef AC_BASE_PLUGIN_H
#define AC_BASE_PLUGIN_H
#include "base/ctx.h"

/* Any shared library; NULL: dlerror() says why, unless there is no memory, which is handled as everywhere. */
void *ac_library_open(ac_ctx *cx, const char *path);
void *ac_plugin_open(ac_ctx *cx, const char *name, const char **path);

#endif
