/* test_format.c - ac_vprint writes and returns the same as vsnprintf, in buffers of every size. */
#include "base/format.h"
#include "tests/unit/support/expect.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 96 };

__attribute__((format(printf, 1, 2))) static void same(const char *fmt, ...)
{
    for (size_t cap = 0; cap < ROOM; cap++) {
        char own[ROOM], wanted[ROOM];
        memset(own, '#', sizeof own);
        memset(wanted, '#', sizeof wanted);
        va_list ap, again;
        va_start(ap, fmt);
        va_copy(again, ap);
        const int n = ac_vprint(own, cap, fmt, ap), m = vsnprintf(wanted, cap, fmt, again);
        va_end(again);
        va_end(ap);
        CHECK(n == m);
        CHECK(!memcmp(own, wanted, cap < (size_t)m + 1 ? cap : (size_t)m + 1));
        CHECK(cap == ROOM || own[cap] == '#'); /* nothing beyond */
    }
}

int main(void)
{
    same("%s", "");
    same("nothing to fill in");
    same("%s[%d] = %lld;%c", "name", -7, 1234567890123LL, '\n');
    same("%d %d %d %d", 0, 9, INT_MAX, INT_MIN);
    same("%lld %lld", LLONG_MAX, LLONG_MIN);
    same("100 %% of %s", "them");
    same("%5d|%-5s|%05lld|%.*s|%x|%u|%zu", 42, "ab", 7LL, 2, "xyz", 255u, 4000000000u, (size_t)3);
    same("%s, then %g and %s", "text", 0.1, "more text");
    same("%ld %hhd %hd %p", 5L, (signed char)(300 - 256), (short)-7, (void *)&failures);
    same("%hhu %hu %lu %llu %jd %zu %td", (unsigned char)200, (unsigned short)60000, 7UL, ULLONG_MAX, INTMAX_MIN,
         SIZE_MAX, PTRDIFF_MIN);
    same("%08.3f|%-9.1f|%+.2e|% g|%+5d|% d|%-6d|%06d", 3.14159, -2.5, 12345.678, 1.5, 3, 4, 5, -6);
    same("%*d|%-*s|%.*s|%.0s|%*s", -6, 1, 4, "ab", -1, "whole", "none", 5, "x");
    same("%.3d|%8.3d|%.0d|%x|%X|%04x|%o|%02x", 5, 6, 0, 0xbeefu, 0xbeefu, 0xau, 8u, 0u);
    same("%g %g %g %5g %05g", (double)INFINITY, -(double)INFINITY, (double)NAN, (double)INFINITY, (double)INFINITY);
    same("%.0f %.0f %.0f %.0f %.1f %g %g", 0.5, 1.5, 2.5, -0.4, 0.05, 1e15, 1e-5);
    same("%5c|%-5c|%s", 'x', 'y', (const char *)"%");
    return check_done();
}
