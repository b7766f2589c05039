/* headers.c - which headers of C a text needs, and which properties of a compiler: one row for each word that a printer
 * may write. */
#include "base/ascii.h"
#include "codegen/c/printer.h"

#include <string.h>

static const struct {
    const char *word;
    int need;
} WORDS[] = {
    // clang-format off
    {"bool",    AC_C_STDBOOL},
    {"true",    AC_C_STDBOOL},
    {"false",   AC_C_STDBOOL},
    {"memcpy",  AC_C_STRING},
    {"memmove", AC_C_STRING},
    {"memset",  AC_C_STRING},
    {"float",   AC_C_FLOATS},
    {"double",  AC_C_FLOATS},
    {"double",  AC_C_DOUBLES},
    // clang-format on
};

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
                need[WORDS[i].need] = true;
        p += p == from;
    }
}

const char *ac_c_includes(ac_region *r, const bool need[AC_C_HEADERS])
{
    return ac_strf(r, "%s#include <limits.h>\n%s%s", need[AC_C_DOUBLES] ? "#include <float.h>\n" : "",
                   need[AC_C_STDBOOL] ? "#include <stdbool.h>\n" : "",
                   need[AC_C_STRING] ? "#include <string.h>\n" : "");
}

const char *ac_c_demands(ac_region *r, const bool need[AC_C_HEADERS])
{
    return ac_strf(r, "%s%s%s",
                   "#if INT_MAX < 2147483647\n"
                   "#error \"int has fewer than 32 bits here; this code computes small integers in int\"\n#endif\n",
                   !need[AC_C_DOUBLES] ? ""
                                       : "#if DBL_MANT_DIG < 53\n"
                                         "#error \"double has fewer than 64 bits here\"\n#endif\n",
                   !need[AC_C_FLOATS]
                       ? ""
                       : "#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)\n"
                         "#error \"compile without -ffast-math: results and NaN would differ\"\n#endif\n");
}
