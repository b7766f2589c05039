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

/* The field at *at, whose content is *in, at most up to the end of s. False: s ends, or *broken: it is not a field. */
static bool next_field(ac_span s, uint64_t *at, uint64_t *field, uint64_t *kind, ac_span *in, bool *broken)
{
    enum { VARINT, FIXED64, BYTES, FIXED32 = 5 };
    const uint64_t most = UINT64_C(536870911); /* 2^29 - 1, by protobuf's rules */
    uint64_t tag, n = 0;
    if (!ac_span_varint(s, at, &tag))
        return false;
    *field = tag >> 3;
    *kind = tag & 7;
    *broken = !*field || *field > most || (*kind > BYTES && *kind != FIXED32);
    if (*broken)
        return false;
    if ((*kind == VARINT || *kind == BYTES) && !ac_span_varint(s, at, &n))
        return false;
    const uint64_t bytes = *kind == VARINT ? 0 : *kind == FIXED64 ? 8 : *kind == FIXED32 ? 4 : n, left = s.n - *at;
    *in = (ac_span){s.p + *at, bytes < left ? bytes : left};
    *at += in->n;
    return true;
}

ac_outline ac_peek_outline(ac_span s)
{
    enum { FIELDS = 1 << 22, CAFFE_LAYER = 100, HIGH = 200 };
    ac_outline o = {0};
    uint64_t at = 0, field, kind;
    ac_span in;
    for (int i = 0; i < FIELDS && at < s.n && next_field(s, &at, &field, &kind, &in, &o.broken); i++) {
        o.high |= field >= HIGH;
        o.layer |= field == CAFFE_LAYER && kind == 2;
        if (field >= 64 || (kind != 0 && kind != 2))
            continue;
        if (kind == 2 && !(o.messages & AC_FIELD(field)) && (field == 1 || field == 7))
            *(field == 1 ? &o.first : &o.seventh) = in;
        *(kind == 0 ? &o.numbers : &o.messages) |= AC_FIELD(field);
    }
    return o;
}

static bool holds(const uint8_t *p, size_t n, const char *name, size_t length)
{
    for (const uint8_t *end = p + n; (size_t)(end - p) >= length; p++) {
        p = memchr(p, *name, (size_t)(end - p) - length + 1);
        if (!p)
            return false;
        if (!memcmp(p, name, length))
            return true;
    }
    return false;
}

/* The name of each member is before its bytes, and the directory at the end lists all names. */
bool ac_peek_member(ac_span s, const char *name)
{
    enum { ENDS = 1 << 18 };
    const size_t n = strlen(name), all = (size_t)s.n;
    const bool whole = s.n <= 2 * ENDS;
    return holds(s.p, whole ? all : ENDS + n - 1, name, n) || (!whole && holds(s.p + all - ENDS, ENDS, name, n));
}
