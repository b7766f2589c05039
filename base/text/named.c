/* named.c - see named.h. */
#include "base/text/named.h"

#include <string.h>

enum { SHOWN = 8 }; /* candidates in a message */

static bool ends_part(char c)
{
    return !c || c == '/' || c == ';';
}

bool ac_named_part(const char *word, const char *name)
{
    const size_t n = strlen(word);
    for (const char *at = name; n && (at = strstr(at, word)) != NULL; at++)
        if ((at == name || ends_part(at[-1])) && ends_part(at[n]))
            return true;
    return false;
}

int32_t ac_named(const char *word, const char *const *name, int32_t n)
{
    int32_t found = -1;
    bool several = false;
    for (int32_t i = 0; i < n; i++) {
        if (!strcmp(word, name[i]))
            return i;
        if (!ac_named_part(word, name[i]))
            continue;
        several |= found >= 0 && strcmp(name[i], name[found]) != 0;
        found = found < 0 ? i : found;
    }
    return several ? -1 : found;
}

int ac_named_help(ac_ctx *cx, const char *word, const char *const *name, int32_t n)
{
    int32_t found = 0;
    for (int32_t i = 0; i < n; i++)
        if (ac_named_part(word, name[i]) && ++found <= SHOWN)
            ac_detail(cx, "'%s' is part of '%s'", word, name[i]);
    if (found > SHOWN)
        ac_detail(cx, "and of %d more", found - SHOWN);
    if (found)
        return ac_help(cx, "write more of the name, until it is unique");
    const char *near = ac_closest(word, name, n);
    return near ? ac_help(cx, "did you mean '%s'?", near) : AC_FAIL;
}

int ac_named_list(ac_ctx *cx, const char *word, const char *const *name, int32_t n)
{
    bool part = ac_closest(word, name, n) != NULL;
    for (int32_t i = 0; i < n && !part; i++)
        part = ac_named_part(word, name[i]);
    for (int32_t i = 0; i < n && i < SHOWN && !part; i++)
        ac_detail(cx, "there is '%s'", name[i]);
    if (part)
        return ac_named_help(cx, word, name, n);
    return n > SHOWN ? ac_detail(cx, "and %d more", n - SHOWN) : AC_FAIL;
}
