/* format.h - printf's text, faster where it is plain: most of what the tool prints are names and whole numbers. */
#ifndef AC_BASE_FORMAT_H
#define AC_BASE_FORMAT_H
#include <stdarg.h>
#include <stddef.h>

/* Writes and returns the same as vsnprintf; consumes `ap`. */
int ac_format(char *to, size_t cap, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

#endif
