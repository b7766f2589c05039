/* ascii.h - classes of characters and ends of names, the same under every locale: <ctype.h> takes the locale of the
 * program that embeds the library, where 'I' may have another small letter and byte 0xE4 may be one. Bytes above 127
 * are in no class. */
#ifndef AC_BASE_ASCII_H
#define AC_BASE_ASCII_H
#include <stdbool.h>
#include <string.h>

static inline bool ac_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ac_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool ac_is_alnum(char c)
{
    return ac_is_letter(c) || ac_is_digit(c);
}

static inline char ac_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline char ac_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* The value of a hexadecimal digit; -1: it is not one. */
static inline int ac_hex_digit(char c)
{
    const char small = ac_lower(c);
    return ac_is_digit(c) ? c - '0' : small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/* Equal but for the case of letters? */
static inline bool ac_same_letters(const char *a, const char *b)
{
    for (; *a && ac_lower(*a) == ac_lower(*b); a++)
        b++;
    return ac_lower(*a) == ac_lower(*b);
}

/* Is `end` the end of the text, or all of it? */
static inline bool ac_ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), k = strlen(end);
    return n >= k && !memcmp(text + n - k, end, k);
}

/* "net.c" has the ending ".c", but ".c" has none. */
static inline bool ac_has_ending(const char *name, const char *ending)
{
    return *name && ac_ends_in(name + 1, ending);
}

#endif
