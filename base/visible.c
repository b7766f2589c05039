/* visible.c - names as people can see them; see visible.h. */
#include "base/visible.h"

#include "base/ascii.h"
#include "base/format.h"

#include <string.h>

int ac_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned c = s[0], low = 0x80, high = 0xbf;
    int n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (c == 0xe0)
        low = 0xa0;
    if (c == 0xed)
        high = 0x9f;
    if (c == 0xf0)
        low = 0x90;
    if (c == 0xf4)
        high = 0x8f;
    for (int i = 1; i < n; i++, low = 0x80, high = 0xbf)
        if (s[i] < low || s[i] > high)
            return 0;
    return n;
}

int ac_utf8_get(const char *s, uint32_t *code)
{
    static const unsigned char BITS[] = {0xff, 0x7f, 0x1f, 0x0f, 0x07};
    const int n = ac_utf8_length(s);
    *code = (unsigned char)*s & BITS[n];
    for (int i = 1; i < n; i++)
        *code = *code << 6 | ((unsigned char)s[i] & 0x3f);
    return n;
}

int ac_utf8_put(char *to, uint32_t code)
{
    static const unsigned char LEAD[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    for (int i = n; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(LEAD[n] | code);
    return n;
}

static const struct {
    uint32_t first, last;
} HIDDEN[] = {
    {0x01, 0x08},     {0x0a, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
    {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff},
};

int ac_hidden(const char *s, uint32_t *code)
{
    const int n = ac_utf8_get(s, code);
    for (size_t k = 0; n && k < sizeof HIDDEN / sizeof *HIDDEN; k++)
        if (*code >= HIDDEN[k].first && *code <= HIDDEN[k].last)
            return n;
    return n ? 0 : 1;
}

const char *ac_visible(ac_region *r, const char *s)
{
    uint32_t code;
    size_t hidden = 0;
    for (const char *p = s; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
            hidden++; /* at most */
    if (!hidden)
        return s;
    char *out = ac_alloc(r, strlen(s) + hidden * AC_VISIBLE_MOST + 1), *to = out;
    for (int n; *s; s += n) {
        n = ac_hidden(s, &code);
        if (n) {
            to += ac_print(to, AC_VISIBLE_MOST + 1, ac_utf8_length(s) ? "<U+%04X>" : "<%02X>", (unsigned)code);
        } else {
            n = ac_utf8_length(s);
            memcpy(to, s, (size_t)n);
            to += n;
        }
    }
    return out;
}

/* Copies a name of n bytes, or its beginning; returns the end of the copy. */
static char *put_brief(char *to, const char *s, size_t n)
{
    size_t k = n;
    if (n > AC_BRIEF_MOST)
        for (k = AC_BRIEF_MOST - 2; k && ((unsigned char)s[k] & 0xc0) == 0x80;)
            k--;
    memcpy(to, s, k);
    memcpy(to + k, "..", k < n ? 2 : 0);
    return to + k + (k < n ? 2 : 0);
}

const char *ac_brief_name(ac_region *r, const char *s)
{
    const size_t n = strlen(s);
    if (n <= AC_BRIEF_MOST)
        return s;
    char *out = ac_alloc(r, n + 1);
    *put_brief(out, s, n) = '\0';
    return out;
}

static bool in_word(char c)
{
    return ac_is_alnum(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* The end of the name at s: its closing quote, which no letter follows; else the next blank or the end. */
static const char *name_end(const char *s, bool quoted)
{
    for (const char *p = s; quoted && *p; p++)
        if (*p == '\'' && !in_word(p[1]))
            return p;
    return s + strcspn(s, " \t\n");
}

const char *ac_brief(ac_region *r, const char *s)
{
    const size_t all = strlen(s);
    if (all <= AC_BRIEF_MOST)
        return s;
    char *out = ac_alloc(r, all + 1), *to = out;
    for (char before = ' '; *s; before = to[-1]) {
        const bool quoted = *s == '\'' && !in_word(before);
        if (quoted)
            *to++ = *s++;
        const size_t n = (size_t)(name_end(s, quoted) - s);
        to = put_brief(to, s, n);
        s += n;
        if (*s)
            *to++ = *s++;
    }
    *to = '\0';
    return out;
}

void ac_hide(char *s)
{
    uint32_t code;
    for (int n; *s; s += n) {
        n = ac_hidden(s, &code);
        if (n)
            memset(s, '?', (size_t)n);
        else
            n = ac_utf8_length(s);
    }
}
