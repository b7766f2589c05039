/* format.c - text of %s, %c, %d, %lld and %% is put together here; a format with anything else, or a result that does
 * not fit, is vsnprintf's. Printing C took a third of the time of `compile` in it. */
#include "base/format.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct text {
    char *at, *end; /* end: the byte for the final 0 */
} text;

static bool put(text *t, const char *s, size_t n)
{
    if ((size_t)(t->end - t->at) < n)
        return false;
    memcpy(t->at, s, n);
    t->at += n;
    return true;
}

static bool put_int(text *t, int64_t v)
{
    char digits[20], *p = digits + sizeof digits;
    uint64_t rest = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + rest % 10);
    while (rest /= 10);
    if (v < 0)
        *--p = '-';
    return put(t, p, (size_t)(digits + sizeof digits - p));
}

int ac_format(char *to, size_t cap, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    text t = {to, cap ? to + cap - 1 : to};
    bool fits = cap > 0 && cap <= INT32_MAX;
    for (const char *f = fmt; fits && *f;) {
        const size_t plain = strcspn(f, "%");
        fits = put(&t, f, plain);
        f += plain;
        if (!fits || !*f)
            break;
        if (f[1] == 's') {
            const char *s = va_arg(ap, const char *);
            fits = s && put(&t, s, strlen(s));
        } else if (f[1] == 'c') {
            const char c = (char)va_arg(ap, int);
            fits = put(&t, &c, 1);
        } else if (f[1] == 'd') {
            fits = put_int(&t, va_arg(ap, int));
        } else if (f[1] == '%') {
            fits = put(&t, "%", 1);
        } else {
            fits = !strncmp(f, "%lld", 4) && put_int(&t, va_arg(ap, long long));
            f += 2;
        }
        f += 2;
    }
    if (fits)
        *t.at = '\0';
    const int n = fits ? (int)(t.at - to) : vsnprintf(to, cap, fmt, again);
    va_end(again);
    return n;
}
