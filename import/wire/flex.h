/* flex.h - reads one number from a FlexBuffer map, the format of the options of custom operators in TFLite.
 *
 *     double scale;
 *     switch (ac_flex_number(options, "y_scale", &scale)) ...
 *
 * A FlexBuffer is read from its end: [.. map ..] root, type of the root, width of the root. A map is a vector of values
 * with their types after it and the offset of its keys before it. Every offset is checked, as the file may be hostile.
 * Nothing is allocated; a look-up scans the keys. */
#ifndef AC_IMPORT_WIRE_FLEX_H
#define AC_IMPORT_WIRE_FLEX_H
#include "base/bytes.h"

typedef enum ac_flex { AC_FLEX_FOUND, AC_FLEX_ABSENT, AC_FLEX_BROKEN } ac_flex; /* BROKEN: no map, or not a number */

ac_flex ac_flex_number(ac_span s, const char *key, double *out); /* integers, floats and booleans */

#endif
