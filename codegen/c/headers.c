/* headers.c - which headers of C a text needs: one row for each word that a printer may write. */
#include "base/ascii.h"
#include "codegen/c/printer.h"

#include <string.h>

static const struct {
    const char *word, *header;
} WORDS[] = {
    // clang-format off
    {"bool",    "stdbool.h"},
    {"true",    "stdbool.h"},
    {"false",   "stdbool.h"},
    {"memcpy",  "string.h"},
    {"memmove", "string.h"},
    {"memset",  "string.h"},
    // clang-format on
};
static const char *const HEADERS[AC_C_HEADERS] = {"stdbool.h", "string.h"}; /* in order */

/* After the comment, string or character constant at p, or p. */
static const char *skipped(const char *p, const char *end)
{
    if (p + 1 < end && p[0] == '/' && p[1] == '*') {
        for (p += 2; p + 1 < end && !(p[0] == '*' && p[1] == '/');)
            p++;
        return p + 2 < end ? p + 2 : end;
    }
    if (*p != '"' && *p != '\'')
        return p;
    const char quote = *p++;
    for (; p < end && *p != quote; p++)
        p += *p == '\\' && p + 1 < end;
    return p < end ? p + 1 : end;
}

static bool in_word(char c)
{
    return ac_is_alnum(c) || c == '_';
}

void ac_c_find_headers(const char *text, size_t n, bool need[AC_C_HEADERS])
{
    const char *end = text + n;
    for (const char *p = text; p < end;) {
        const char *from = p;
        if ((p = skipped(p, end)) > from)
            continue;
        while (p < end && in_word(*p))
            p++;
        for (size_t i = 0; p > from && i < sizeof WORDS / sizeof *WORDS; i++)
            if (strlen(WORDS[i].word) == (size_t)(p - from) && !memcmp(WORDS[i].word, from, (size_t)(p - from)))
                for (int h = 0; h < AC_C_HEADERS; h++)
                    need[h] |= !strcmp(HEADERS[h], WORDS[i].header);
        p += p == from;
    }
}

const char *ac_c_includes(ac_region *r, const bool need[AC_C_HEADERS])
{
    const char *text = "";
    for (int h = 0; h < AC_C_HEADERS; h++)
        if (need[h])
            text = ac_strf(r, "%s#include <%s>\n", text, HEADERS[h]);
    return text;
}
