/* words.c - files of lines of words, read with places. */
#include "base/text/words.h"

#include <string.h>

void ac_words_put(ac_sink *to, const char *s)
{
    if (!*s)
        ac_put(to, "%");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c <= ' ' || c == '%' || c == 0x7f || c == '#')
            ac_putf(to, "%%%02x", c);
        else
            ac_putc(to, *s);
    }
}

int ac_words_complain(const ac_words *r, const char *at, const char *what)
{
    enum { SHOWN = 4096 };
    const ptrdiff_t n = r->stop - r->line;
    const char *source = ac_strf(r->cx->region, "%.*s", n < SHOWN ? (int)n : SHOWN, r->line);
    const ac_place place = {.file = r->file, .line = r->number, .col = ac_column(r->line, at), .source = source};
    return ac_error(r->cx, place, E0020, "%s", what);
}

bool ac_words_line(ac_words *r)
{
    if (r->at >= r->end)
        return false;
    const char *nl = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->line = r->at;
    r->stop = nl ? nl : r->end;
    r->at = nl ? nl + 1 : r->end;
    if (r->stop > r->line && r->stop[-1] == '\r')
        r->stop--;
    r->number += r->number < INT32_MAX;
    return true;
}

static int hex_digit(char c)
{
    static const char DIGITS[] = "0123456789abcdef";
    const char *d = c ? strchr(DIGITS, c) : NULL;
    return d ? (int)(d - DIGITS) : -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word of the line, with its escapes undone; moves *at after it. */
const char *ac_words_take(const ac_words *r, const char **at)
{
    const char *s = *at;
    while (s < r->stop && is_blank(*s))
        s++;
    const char *e = s;
    while (e < r->stop && !is_blank(*e))
        e++;
    char *word = ac_alloc(r->cx->region, (uint64_t)(e - s) + 1), *to = word;
    for (const char *c = s; c < e; c++) {
        int hi = *c == '%' && e - c > 2 ? hex_digit(c[1]) : -1, lo = hi >= 0 ? hex_digit(c[2]) : -1;
        if (lo >= 0 && hi + lo > 0) {
            *to++ = (char)(hi * 16 + lo);
            c += 2;
        } else if (*c && *c != '%') {
            *to++ = *c;
        }
    }
    *at = e;
    return s < e ? ac_intern(r->cx, word) : NULL;
}

bool ac_words_number(const ac_words *r, const char **at, int64_t max, int64_t *out)
{
    const char *word = ac_words_take(r, at);
    int64_t v = 0;
    if (!word || !*word || strlen(word) > 19)
        return false;
    for (; *word; word++) {
        if (*word < '0' || *word > '9' || !ac_mul_ok(v, 10, &v) || !ac_add_ok(v, *word - '0', &v))
            return false;
    }
    *out = v;
    return v <= max;
}
