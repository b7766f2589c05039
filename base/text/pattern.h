/* pattern.h - names by patterns, in which * matches any text. */
#ifndef AC_BASE_TEXT_PATTERN_H
#define AC_BASE_TEXT_PATTERN_H
#include "base/region.h"

#include <stdbool.h>

/* Does the whole of `name` match? *text (NULL: not wanted), in r: what the stars stand for, each with a line end, as
 * little as will do from the left on. */
bool ac_pattern_match(ac_region *r, const char *pattern, const char *name, const char **text);

#endif
