/* prototext_value.c - parses values of protobuf's text format, for readers that know the type of a field. */
#include "import/wire/prototext.h"

#include "base/decimal.h"
#include "base/visible.h"

#include <inttypes.h>
#include <string.h>

enum { NUMBER_MAX = 400 };

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static int wrong(ac_pt *pt, const ac_pt_node *x, const char *expected)
{
    if (x->kind == AC_PT_MESSAGE)
        return ac_error(pt->cx, ac_pt_place(pt, x), E0012, "field '%s' is a message, expected %s", x->name, expected);
    return ac_error(pt->cx, ac_pt_place(pt, x), E0012, "field '%s' is %.*s, expected %s", x->name,
                    (int)(x->text.n < 60 ? x->text.n : 60), (const char *)x->text.p, expected);
}

/* Sign and magnitude of an integer: decimal, 0x.. or 0.. */
static bool whole(const ac_pt_node *x, bool *negative, uint64_t *v)
{
    size_t i = 0;
    uint64_t base = 10;
    if (x->kind != AC_PT_NUMBER)
        return false;
    *v = 0;
    *negative = x->text.p[0] == '-';
    for (i = *negative; i < x->text.n && !is_digit(x->text.p[i]) && x->text.p[i] != '.';)
        i++; /* blanks after the sign */
    if (x->text.n - i > 1 && x->text.p[i] == '0') {
        const bool hex = x->text.p[i + 1] == 'x' || x->text.p[i + 1] == 'X';
        base = hex ? 16 : 8;
        i += hex ? 2 : 1;
        if (i >= x->text.n)
            return false;
    }
    for (; i < x->text.n; i++) {
        const uint8_t c = x->text.p[i];
        uint64_t digit = is_digit(c)                          ? (uint64_t)(c - '0')
                         : (c | 32) >= 'a' && (c | 32) <= 'f' ? (uint64_t)((c | 32) - 'a' + 10)
                                                              : 99;
        if (digit >= base || *v > (UINT64_MAX - digit) / base)
            return false;
        *v = *v * base + digit;
    }
    return true;
}

int ac_pt_int(ac_pt *pt, const ac_pt_node *x, int64_t init, int64_t low, int64_t high, int64_t *out)
{
    bool negative;
    uint64_t v;
    *out = init;
    if (!x)
        return AC_OK;
    if (!whole(x, &negative, &v) || v > (uint64_t)INT64_MAX)
        return wrong(pt, x, "a whole number");
    *out = negative ? -(int64_t)v : (int64_t)v;
    if (*out >= low && *out <= high)
        return AC_OK;
    const int64_t seen = *out;
    *out = init;
    return ac_error(pt->cx, ac_pt_place(pt, x), E0012, "field '%s' is %" PRId64 ", expected %" PRId64 " to %" PRId64,
                    x->name, seen, low, high);
}

int ac_pt_u64(ac_pt *pt, const ac_pt_node *x, uint64_t init, uint64_t *out)
{
    bool negative;
    *out = init;
    if (!x)
        return AC_OK;
    if (whole(x, &negative, out) && !(negative && *out))
        return AC_OK;
    *out = init;
    return wrong(pt, x, "an integer that is not negative");
}

static bool is_word(const ac_pt_node *x, const char *word)
{
    size_t n = strlen(word);
    if (x->text.n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((x->text.p[i] | 32) != (uint8_t)word[i])
            return false;
    return true;
}

int ac_pt_double(ac_pt *pt, const ac_pt_node *x, double init, double *out)
{
    char digits[NUMBER_MAX + 1];
    size_t n = 0;
    *out = init;
    if (!x)
        return AC_OK;
    bool negative = x->text.n && x->text.p[0] == '-';
    if (x->kind == AC_PT_WORD) {
        ac_pt_node rest = *x;
        while (negative && rest.text.n && !is_letter(*rest.text.p))
            rest.text.p++, rest.text.n--;
        if (is_word(&rest, "inf") || is_word(&rest, "infinity"))
            *out = negative ? -__builtin_inf() : __builtin_inf();
        else if (is_word(&rest, "nan"))
            *out = __builtin_nan("");
        else
            return wrong(pt, x, "a number");
        return AC_OK;
    }
    uint64_t v;
    if (whole(x, &negative, &v)) {
        *out = negative ? -(double)v : (double)v;
        return AC_OK;
    }
    if (x->kind != AC_PT_NUMBER || x->text.n > NUMBER_MAX)
        return wrong(pt, x, "a number");
    for (size_t i = 0; i < x->text.n; i++)
        if (is_letter(x->text.p[i]) || is_digit(x->text.p[i]) || strchr("+-.", x->text.p[i]))
            digits[n++] = (char)x->text.p[i];
    if (n && (digits[n - 1] == 'f' || digits[n - 1] == 'F'))
        n--;
    digits[n] = 0;
    for (size_t i = 0; i < n; i++)
        if (is_letter((uint8_t)digits[i]) && (digits[i] | 32) != 'e')
            return wrong(pt, x, "a number");
    const char *end = digits;
    const double parsed = ac_read_real(digits, &end);
    if (!n || *end)
        return wrong(pt, x, "a number");
    *out = parsed;
    return AC_OK;
}

int ac_pt_bool(ac_pt *pt, const ac_pt_node *x, bool init, bool *out)
{
    bool negative;
    uint64_t v;
    *out = init;
    if (!x)
        return AC_OK;
    if (x->kind == AC_PT_WORD && (is_word(x, "true") || is_word(x, "t")))
        *out = true;
    else if (x->kind == AC_PT_WORD && (is_word(x, "false") || is_word(x, "f")))
        *out = false;
    else if (whole(x, &negative, &v) && v < 2)
        *out = v;
    else
        return wrong(pt, x, "true or false");
    return AC_OK;
}

int ac_pt_word(ac_pt *pt, const ac_pt_node *x, const char *init, const char **out)
{
    *out = init;
    if (!x)
        return AC_OK;
    if (x->kind != AC_PT_WORD && x->kind != AC_PT_NUMBER)
        return wrong(pt, x, "a name");
    *out = ac_intern_n(pt->cx, (const char *)x->text.p, x->text.n);
    return AC_OK;
}

/* Strings. */

static bool digit_of(uint8_t c, uint32_t base, uint32_t *v)
{
    const uint32_t d = is_digit(c)                          ? (uint32_t)(c - '0')
                       : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32u) - 'a' + 10
                                                            : 99;
    if (d >= base)
        return false;
    *v = *v * base + d;
    return true;
}

/* The escape after a backslash at p; *p moves past it. 0 bytes: invalid. */
static size_t escape(const uint8_t **p, const uint8_t *end, uint8_t *to)
{
    static const char NAME[] = "abfnrtv\\'\"?", MEANS[] = "\a\b\f\n\r\t\v\\'\"?";
    const uint8_t c = *(*p)++;
    uint32_t v = 0;
    const char *plain = c ? strchr(NAME, c) : NULL;
    if (plain) {
        *to = (uint8_t)MEANS[plain - NAME];
        return 1;
    }
    if (digit_of(c, 8, &v)) {
        for (int i = 0; i < 2 && *p < end && digit_of(**p, 8, &v); i++)
            ++*p;
        *to = (uint8_t)v;
        return v < 256;
    }
    const int most = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    int n = 0;
    for (; n < most && *p < end && digit_of(**p, 16, &v); n++)
        ++*p;
    if (most == 2 && n) {
        *to = (uint8_t)v;
        return 1;
    }
    return most > 2 && n == most ? (size_t)ac_utf8_put((char *)to, v) : 0;
}

int ac_pt_bytes(ac_pt *pt, const ac_pt_node *x, ac_span *out)
{
    *out = (ac_span){NULL, 0};
    if (!x)
        return AC_OK;
    if (x->kind != AC_PT_STRING)
        return wrong(pt, x, "a string in quotes");
    const uint8_t *p = x->text.p, *end = p + x->text.n, quote = *p;
    const uint8_t *stop = memchr(p + 1, quote, x->text.n - 1);
    if (stop == end - 1 && !memchr(p, '\\', x->text.n)) {
        *out = (ac_span){p + 1, x->text.n - 2};
        return AC_OK;
    }
    uint8_t *own = ac_alloc(pt->cx->region, x->text.n), *to = own;
    while (p < end) {
        if (*p != '"' && *p != '\'') { /* blanks and comments between strings */
            if (*p == '#')
                while (p < end && *p != '\n')
                    p++;
            else
                p++;
            continue;
        }
        const uint8_t mark = *p++;
        while (p < end && *p != mark) {
            if (*p != '\\') {
                *to++ = *p++;
                continue;
            }
            const size_t n = ++p < end ? escape(&p, end, to) : 0;
            if (!n)
                return ac_error(pt->cx, ac_pt_place(pt, x), E0012, "string '%s' has an unknown escape", x->name);
            to += n;
        }
        p++;
    }
    *out = (ac_span){own, (size_t)(to - own)};
    return AC_OK;
}

int ac_pt_str(ac_pt *pt, const ac_pt_node *x, const char *init, const char **out)
{
    ac_span s;
    *out = init;
    if (!x)
        return AC_OK;
    AC_TRY(ac_pt_bytes(pt, x, &s));
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 0x20 || s.p[i] == 0x7f)
            return ac_error(pt->cx, ac_pt_place(pt, x), E0012, "text of '%s' holds the control byte 0x%02x", x->name,
                            s.p[i]);
    *out = ac_intern_n(pt->cx, s.n ? (const char *)s.p : "", s.n);
    return AC_OK;
}
