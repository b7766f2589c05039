/* plugin.h - parts of the tool that are shared libraries, arenac-NAME.so, and are opened only when they are needed.
 *
 *     const char *path;
 *     void *so = ac_plugin_open(cx, "llvm", &path);      path NULL: not found; so NULL: ac_sys_library_why()
 *
 * They are searched in $ARENAC_BACKENDS, in the folder of the executable, and in the install prefix. Memory: the path
 * is in the context's region; an open library stays open until the process ends. */
#ifndef AC_BASE_PLUGIN_H
#define AC_BASE_PLUGIN_H
#include "base/ctx.h"

/* Any shared library; NULL: the reason is in ac_sys_library_why(). Running out of memory is handled as everywhere. */
void *ac_library_open(ac_ctx *cx, const char *path);
/* The same, and libraries that are opened later may call its functions. */
void *ac_library_share(ac_ctx *cx, const char *path);
void *ac_plugin_open(ac_ctx *cx, const char *name, const char **path);

#endif
