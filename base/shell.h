/* shell.h - names in the command lines that messages suggest: one word for the shell, whatever the name has in it.
 *
 *     ac_shell_word(cx, "my model.c")           'my model.c'; plain words stay as they are
 *     ac_shell_set(cx, "batch size", "N")       'batch size=N'
 *
 * Memory: the context's region. */
#ifndef AC_BASE_SHELL_H
#define AC_BASE_SHELL_H
#include "base/ctx.h"

const char *ac_shell_word(ac_ctx *cx, const char *s);
const char *ac_shell_set(ac_ctx *cx, const char *name, const char *value); /* NAME=VALUE */

#endif
