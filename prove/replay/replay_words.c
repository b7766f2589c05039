/* replay_words.c - lines and words of a certificate of code; see replay_read.h. */
#include "prove/replay/replay_read.h"

#include <errno.h>
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
    line_no++;
    if (!*rest)
        wrong("the last line does not end");
    *rest++ = '\0';
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

void end_of_line(void)
{
    if (*word())
        wrong("a line has too many words");
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

/* Digits, after a '-' or not; of 64 bits, signed or not. */
whole int_of(const char *w)
{
    const char *digits = w + (*w == '-');
    const size_t n = strspn(digits, "0123456789");
    if (!n || digits[n])
        wrong("a number is expected");
    errno = 0;
    const whole v = *w == '-' ? (whole)strtoll(w, NULL, 10) : (whole)strtoull(w, NULL, 10);
    if (errno)
        wrong("a number is out of range");
    return v;
}

static whole number_in(whole lo, whole hi, const char *what)
{
    const whole v = int_of(word());
    if (v < lo || v > hi)
        wrong(what);
    return v;
}

int64_t integer(void)
{
    return (int64_t)number_in(INT64_MIN, INT64_MAX, "a number is out of range");
}

int32_t integer_in(int64_t lo, int64_t hi)
{
    return (int32_t)number_in(lo, hi < INT32_MAX ? hi : INT32_MAX, "a number is out of range");
}

int64_t bytes_number(void)
{
    return (int64_t)number_in(0, (whole)1 << 40, "a size or place is out of range");
}

/* A constant of the type, u64 also as the i64 of its bits. */
whole integer_of(type t)
{
    const whole v = int_of(word()), all = t == U64 && v < 0 ? (whole)1 << 64 : 0;
    if (v + all < type_lo(t) || v + all > type_hi(t))
        wrong("a constant does not fit its type");
    return v + all;
}

/* ... rounded to the type of a float. */
double real_of(type t)
{
    const char *w = word();
    char *end;
    const double v = strtod(w, &end);
    if (!*w || *end)
        wrong("a number is expected");
    return real_as(t, v);
}

char *kept(const char *w)
{
    if (!*w)
        wrong("a name is expected");
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
