/* pattern.c - see pattern.h. */
#include "base/text/pattern.h"

#include <string.h>

bool ac_pattern_match(ac_region *r, const char *pattern, const char *name, const char **text)
{
    const char *star = strchr(pattern, '*');
    const size_t before = star ? (size_t)(star - pattern) : strlen(pattern);
    if (strncmp(pattern, name, before) != 0 || (!star && name[before]))
        return false;
    if (!star) {
        if (text)
            *text = "";
        return true;
    }
    for (const char *rest = name + before;; rest++) {
        const char *more;
        if (ac_pattern_match(r, star + 1, rest, text ? &more : NULL)) {
            if (text)
                *text = ac_strf(r, "%.*s\n%s", (int)(rest - name) - (int)before, name + before, more);
            return true;
        }
        if (!*rest)
            return false;
    }
}
