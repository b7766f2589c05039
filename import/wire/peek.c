/* peek.c - recognises the format of a file from its first bytes. */
#include "import/wire/peek.h"

#include <string.h>

enum { PEEK = 65536 }; /* number of bytes to search for words */

bool ac_peek_contains(ac_span s, const char *word)
{
    size_t n = strlen(word), end = s.n < PEEK ? s.n : PEEK;
    for (size_t i = 0; i + n <= end; i++)
        if (s.p[i] == (uint8_t)word[0] && !memcmp(s.p + i, word, n))
            return true;
    return false;
}

bool ac_peek_text(ac_span s)
{
    for (size_t i = 0; i < s.n && i < 1024; i++)
        if ((s.p[i] < 0x20 && s.p[i] != '\n' && s.p[i] != '\r' && s.p[i] != '\t') || s.p[i] == 0x7f)
            return false;
    return s.n > 0;
}

ac_span ac_peek_word(ac_span s)
{
    size_t i = ac_span_starts(s, 0, "\xef\xbb\xbf", 3) ? 3 : 0;
    for (; i < s.n && i < PEEK; i++) {
        if (s.p[i] == '#')
            while (i < s.n && s.p[i] != '\n')
                i++;
        if (i >= s.n || !strchr(" \t\r\n", s.p[i]) || !s.p[i])
            break;
    }
    return (ac_span){s.p + i, s.n - i};
}

bool ac_peek_starts(ac_span s, const char *word)
{
    return ac_span_starts(s, 0, word, strlen(word));
}

ac_outline ac_peek_outline(ac_span s)
{
    ac_outline o = {0};
    uint64_t at = 0, tag, v;
    for (int i = 0; i < 1000 && at < s.n; i++) {
        if (!ac_span_varint(s, &at, &tag))
            break;
        uint64_t field = tag >> 3, kind = tag & 7;
        if (!field || field > 1000 || (kind != 0 && kind != 2) || !ac_span_varint(s, &at, &v)) {
            o.other = true;
            break;
        }
        if (field >= 64) {
            o.layer |= field == 100 && kind == 2;
            o.other |= field < 100 || field > 200;
        } else if (kind == 0) {
            o.numbers |= AC_FIELD(field);
        } else {
            uint64_t left = s.n - at;
            if (field == 1 && !(o.messages & 2))
                ac_span_sub(s, at, v < left ? v : left, &o.first);
            o.messages |= AC_FIELD(field);
        }
        if (kind == 2) {
            if (v > s.n - at)
                break;
            at += v;
        }
    }
    return o;
}
