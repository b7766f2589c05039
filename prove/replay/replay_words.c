/* replay_words.c - lines and words of a certificate of code; see replay_read.h. */
#include "prove/replay/replay_read.h"

#include <stdlib.h>
#include <string.h>

const char *const type_name[N_TYPES] = {"bool", "i8",  "u8",  "i16",  "u16", "i32", "u32",
                                        "i64",  "u64", "f16", "bf16", "f32", "f64"};
const char *const role_name[N_ROLES] = {"in", "out", "inout", "const", "scratch", "local"};

static char *at; /* the rest of the line */
static char *rest;
static long line_no;

void begin_text(char *text)
{
    rest = text;
}

void wrong(const char *what)
{
    refuse("line %ld: %s", line_no, what);
}

const char *next_line(void)
{
    if (!*rest)
        return NULL;
    at = rest;
    rest += strcspn(rest, "\n");
    if (*rest)
        *rest++ = '\0';
    line_no++;
    return at;
}

const char *need_line(void)
{
    const char *line = next_line();
    if (!line)
        wrong("the file ends too early");
    return line;
}

const char *word(void)
{
    for (at += strspn(at, " "); *at == '"'; at += strspn(at, " ")) {
        char *close = strchr(at + 1, '"');
        at = close ? close + 1 : at + strlen(at);
    }
    char *w = at;
    at += strcspn(at, " ");
    if (*at)
        *at++ = '\0';
    return w;
}

bool next_is(char c)
{
    at += strspn(at, " ");
    return *at == c;
}

bool is_indented(void)
{
    return *rest == ' ';
}

bool took(const char *expected)
{
    at += strspn(at, " ");
    const size_t n = strlen(expected);
    if (strncmp(at, expected, n) != 0 || (at[n] && at[n] != ' '))
        return false;
    at += n;
    return true;
}

int64_t int_of(const char *w)
{
    char *end;
    const unsigned long long big = *w == '-' ? 0 : strtoull(w, &end, 10);
    const long long v = *w == '-' ? strtoll(w, &end, 10) : (long long)big;
    if (!*w || *end)
        wrong("a number is expected");
    return (int64_t)v;
}

int64_t integer(void)
{
    return int_of(word());
}

int32_t integer_in(int64_t lo, int64_t hi)
{
    const int64_t v = integer();
    if (v < lo || v > hi || v > INT32_MAX)
        wrong("a number is out of range");
    return (int32_t)v;
}

int64_t bytes_number(void)
{
    const int64_t v = integer();
    if (v < 0 || v > (int64_t)1 << 40)
        wrong("a size or place is out of range");
    return v;
}

double real_number(void)
{
    const char *w = word();
    char *end;
    const double v = strtod(w, &end);
    if (!*w || *end)
        wrong("a number is expected");
    return v;
}

char *kept(const char *w)
{
    const size_t n = strlen(w) + 1;
    return memcpy(room(NULL, n, 1), w, n);
}

int32_t choice(const char *w, const char *const *name, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (!strcmp(w, name[i]))
            return i;
    wrong("a word is not known");
    return 0;
}
