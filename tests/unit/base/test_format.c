/* test_format.c - ac_format writes and returns what vsnprintf does, in buffers of every size. */
#include "base/format.h"
#include "tests/unit/support/expect.h"

#include <limits.h>
#include <stdarg.h>
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
        const int n = ac_format(own, cap, fmt, ap), m = vsnprintf(wanted, cap, fmt, again);
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
    same("%ld %hhd %p", 5L, (signed char)(300 - 256), (void *)0);
    return check_done();
}
