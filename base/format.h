/* format.h - printf's text in the C locale, whatever locale the program has: floats have points, and are exact. Library
 * code prints by these, by ac_putf or by ac_strf; tests/cli/tree/locale.sh forbids the others.
 *
 * Directives: d i u x X o with hh h l ll j z t; s c p %; e f g, and a without width and precision; the flags - + 0 and
 * blank; width and precision, also as *. */
#ifndef AC_BASE_FORMAT_H
#define AC_BASE_FORMAT_H
#include <stdarg.h>
#include <stddef.h>

/* Write and return the same as vsnprintf and snprintf in the C locale; -1: more than 2 GB. */
int ac_vprint(char *to, size_t cap, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
int ac_print(char *to, size_t cap, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
