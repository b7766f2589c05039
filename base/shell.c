/* shell.c - words in quotes, unless every character is plain to every shell. */
#include "base/shell.h"

#include <string.h>

const char *ac_shell_word(ac_ctx *cx, const char *s)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@+%";
    if (*s && s[strspn(s, PLAIN)] == 0)
        return s;
    const char *text = "'";
    for (const char *end; (end = strchr(s, '\'')); s = end + 1)
        text = ac_strf(cx->region, "%s%.*s'\\''", text, (int)(end - s), s);
    return ac_strf(cx->region, "%s%s'", text, s);
}

const char *ac_shell_set(ac_ctx *cx, const char *name, const char *value)
{
    return ac_shell_word(cx, ac_strf(cx->region, "%s=%s", name, value));
}
