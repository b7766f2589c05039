/* text_lex.c - splits the text form into words, numbers and strings, with their positions. */
#include "ir/graph/text_lex.h"

#include "base/ascii.h"
#include "base/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool letter(char c)
{
    return ac_is_letter(c) || c == '_';
}
static bool inside(char c)
{
    return letter(c) || ac_is_digit(c) || c == '.' || c == '/';
}

bool ac_lex_is_name(const char *s)
{
    if (!letter(*s))
        return false;
    while (inside(*s))
        s++;
    return !*s;
}

static void bad(ac_lex *x, const char *why)
{
    x->tok.kind = AC_T_BAD;
    x->tok.text = why;
    x->tok.len = strlen(why);
}

/* One escape after a backslash; -1: no such escape. */
static int escape(ac_lex *x)
{
    char c = *x->at;
    if (c)
        x->at++;
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case '"':
    case '\\':
        return c;
    case 'x': {
        int hi = ac_hex_digit(x->at[0]), lo = hi < 0 ? -1 : ac_hex_digit(x->at[1]);
        if (lo < 0 || hi * 16 + lo == 0)
            return -1;
        x->at += 2;
        return hi * 16 + lo;
    }
    default:
        return -1;
    }
}

static void string(ac_lex *x)
{
    const char *end = x->at + 1;
    size_t n = 0;
    while (*end && *end != '\n' && *end != '"')
        end += *end == '\\' && end[1] && end[1] != '\n' ? 2 : 1;
    if (*end != '"') {
        bad(x, "a string must end on the line it starts on");
        x->at = end;
        return;
    }
    char *s = ac_alloc(x->cx->region, (uint64_t)(end - x->at) + 1); /* escapes only make it shorter */
    for (x->at++; *x->at != '"';) {
        int c = (unsigned char)*x->at++;
        if (c == '\\' && (c = escape(x)) < 0) {
            x->at = end + 1;
            bad(x, "unknown escape; known are \\n \\t \\r \\\" \\\\ and \\x01 to \\xff");
            return;
        }
        s[n++] = (char)c;
    }
    x->at++;
    x->tok.kind = AC_T_STRING;
    x->tok.text = s;
    x->tok.len = n;
}

static void number(ac_lex *x)
{
    char copy[72];
    const char *p = x->at, *stop = copy;
    x->tok.negative = *p == '-';
    p += *p == '-' || *p == '+';
    bool whole = true;
    while (ac_is_digit(*p) || *p == '.' || ((*p == 'e' || *p == 'E') && p > x->at) ||
           ((*p == '-' || *p == '+') && (p[-1] == 'e' || p[-1] == 'E'))) {
        whole &= ac_is_digit(*p);
        p++;
    }
    size_t n = (size_t)(p - x->at);
    const char *start = x->at;
    x->at = p;
    if (n < sizeof copy) {
        memcpy(copy, start, n);
        copy[n] = 0;
        x->tok.num = ac_read_real(copy, &stop);
    }
    if (n >= sizeof copy || stop != copy + n || letter(*p)) {
        while (inside(*x->at))
            x->at++;
        bad(x, "malformed number");
        return;
    }
    x->tok.kind = whole ? AC_T_INT : AC_T_NUM;
    for (p = start + !ac_is_digit(*start); whole && ac_is_digit(*p); p++) {
        uint64_t d = (uint64_t)(*p - '0');
        if (x->tok.magnitude > (UINT64_MAX - d) / 10) {
            x->tok.kind = AC_T_NUM; /* too large for an integer: valid only for floats */
            break;
        }
        x->tok.magnitude = x->tok.magnitude * 10 + d;
    }
}

static void word(ac_lex *x)
{
    const char *start = x->at;
    while (inside(*x->at))
        x->at++;
    size_t n = (size_t)(x->at - start);
    x->tok.kind = AC_T_NAME;
    x->tok.text = ac_intern_n(x->cx, start, n);
    x->tok.len = n;
    if (!strcmp(x->tok.text, "inf") || !strcmp(x->tok.text, "nan")) /* also usable as a name */
        x->tok.num = *start == 'i' ? (double)INFINITY : (double)NAN;
}

static void skip_blanks(ac_lex *x)
{
    for (;; x->at++) {
        if (*x->at == '#')
            x->at += strcspn(x->at, "\n");
        if (*x->at == '\n' && x->depth) {
            x->line += x->line < INT32_MAX;
            x->source = x->at + 1;
        } else if (*x->at != ' ' && *x->at != '\t' && *x->at != '\r')
            return;
    }
}

void ac_lex_next(ac_lex *x)
{
    skip_blanks(x);
    x->tok = (ac_tok){.start = x->at, .line = x->line, .col = ac_column(x->source, x->at), .source = x->source};
    char c = *x->at;
    if (!c) {
        x->tok.kind = AC_T_END;
    } else if (c == '\n') {
        x->tok.kind = AC_T_NEWLINE;
        x->line += x->line < INT32_MAX;
        x->source = ++x->at;
    } else if (c == '"') {
        string(x);
    } else if (letter(c)) {
        word(x);
    } else if (c == '-' && !strncmp(x->at, "-inf", 4) && !inside(x->at[4])) {
        x->at += 4;
        x->tok.kind = AC_T_NUM;
        x->tok.num = -(double)INFINITY;
    } else if (ac_is_digit(c) || c == '.' || ((c == '-' || c == '+') && (ac_is_digit(x->at[1]) || x->at[1] == '.'))) {
        number(x);
    } else if (strchr("(){}[],:=@?+", c)) {
        x->depth += c == '(' || c == '[';
        x->depth -= x->depth && (c == ')' || c == ']');
        x->tok.kind = AC_T_PUNCT;
        x->tok.punct = c;
        x->at++;
    } else {
        bad(x, "unexpected character");
        x->at++;
    }
    x->tok.stop = x->at;
}

void ac_lex_open(ac_lex *x, ac_ctx *cx, const char *file, const char *text)
{
    *x = (ac_lex){.cx = cx, .file = file, .at = text, .source = text, .line = 1};
    ac_lex_next(x);
}

ac_place ac_lex_place(const ac_lex *x, const ac_tok *t)
{
    return (ac_place){.file = x->file, .line = t->line, .col = t->col, .source = t->source};
}

const char *ac_lex_show(const ac_lex *x, const ac_tok *t)
{
    if (t->kind == AC_T_END)
        return "end of file";
    if (t->kind == AC_T_NEWLINE)
        return "end of line";
    int n = (int)(t->stop - t->start < 40 ? t->stop - t->start : 40);
    return ac_strf(x->cx->region, "'%.*s%s'", n, t->start, t->stop - t->start > 40 ? "..." : "");
}
