/* xml.c - escapes text for XML and HTML; see xml.h. */
#include "planner/report/xml.h"

#include <string.h>

/* The length of a well-formed sequence of UTF-8 at s, or 0. */
static size_t sequence(const unsigned char *s, size_t n)
{
    static const struct {
        unsigned char lo, hi, next_lo, next_hi, len;
    } FORM[] = {/* first byte, second byte, length */
                {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t k = 0; k < sizeof FORM / sizeof *FORM; k++) {
        if (s[0] < FORM[k].lo || s[0] > FORM[k].hi)
            continue;
        if (FORM[k].len > n || (FORM[k].len > 1 && (s[1] < FORM[k].next_lo || s[1] > FORM[k].next_hi)))
            return 0;
        for (size_t i = 2; i < FORM[k].len; i++)
            if ((s[i] & 0xc0) != 0x80)
                return 0;
        return FORM[k].len;
    }
    return 0;
}

void ac_put_xml(ac_sink *to, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text, *end = s + n;
    while (s < end) {
        size_t len = sequence(s, (size_t)(end - s));
        bool unassigned = len == 3 && s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe; /* U+FFFE, U+FFFF: not XML */
        if (!len || unassigned)
            ac_put(to, "\xef\xbf\xbd");
        else if (*s == '&')
            ac_put(to, "&amp;");
        else if (*s == '<')
            ac_put(to, "&lt;");
        else if (*s == '>')
            ac_put(to, "&gt;");
        else if (*s == '"')
            ac_put(to, "&quot;");
        else if (*s < 0x20 || *s == 0x7f)
            ac_putc(to, ' ');
        else
            ac_put_n(to, s, len);
        s += len ? len : 1;
    }
}

void ac_put_xml_text(ac_sink *to, const char *text)
{
    ac_put_xml(to, text, strlen(text));
}
