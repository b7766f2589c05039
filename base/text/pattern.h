/* pattern.h - matches names with patterns; * matches any text. */
#ifndef AC_BASE_TEXT_PATTERN_H
#define AC_BASE_TEXT_PATTERN_H
#include "base/region.h"

#include <stdbool.h>

/* True if the whole of `name` matches. Sets *text (NULL: unused), in r, to the texts matched by the stars, one a line,
 * each as short as possible from the left. */
bool ac_pattern_match(ac_region *r, const char *pattern, const char *name, const char **text);

#endif
