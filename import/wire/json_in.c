/* json_in.c - parses JSON of hostile files into a tree. */
#include "import/wire/json_in.h"

#include "base/visible.h"

#include <string.h>

typedef struct reader {
    ac_js *js;
    const uint8_t *at, *end, *line_start;
    int32_t line;
    ac_js_node *open; /* array or object that is not closed yet */
    int32_t depth;
} reader;

static int fail(reader *x, const uint8_t *at, ac_code code, const char *what)
{
    const ac_place place = {.file = x->js->file, .line = x->line, .col = ac_column(x->line_start, at)};
    return ac_error(x->js->cx, place, code, "%s", what);
}

ac_place ac_js_place(const ac_js *js, const ac_js_node *x)
{
    return (ac_place){.file = js->file, .line = x ? x->line : 0, .col = x ? x->col : 0};
}

static void skip(reader *x)
{
    for (; x->at < x->end && strchr(" \t\r\n", *x->at) && *x->at; x->at++)
        if (*x->at == '\n') {
            x->line += x->line < INT32_MAX;
            x->line_start = x->at + 1;
        }
}

static bool accept(reader *x, char c)
{
    skip(x);
    if (x->at >= x->end || *x->at != (uint8_t)c)
        return false;
    x->at++;
    return true;
}

static bool hex4(const uint8_t *p, uint32_t *v)
{
    *v = 0;
    for (int i = 0; i < 4; i++) {
        const uint8_t c = p[i] | 32;
        if (p[i] >= '0' && p[i] <= '9')
            *v = *v * 16 + (uint32_t)(p[i] - '0');
        else if (c >= 'a' && c <= 'f')
            *v = *v * 16 + (uint32_t)(c - 'a' + 10);
        else
            return false;
    }
    return true;
}

/* \uXXXX after the u, with its second half if there is one, as UTF-8. */
static char *unicode(reader *x, char *to)
{
    uint32_t c, low;
    if (x->end - x->at < 4 || !hex4(x->at, &c))
        return NULL;
    x->at += 4;
    if (c >= 0xd800 && c < 0xdc00) {
        if (x->end - x->at < 6 || x->at[0] != '\\' || x->at[1] != 'u' || !hex4(x->at + 2, &low) || low < 0xdc00 ||
            low > 0xdfff)
            return NULL;
        x->at += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c < 0xe000) {
        return NULL;
    }
    return c ? to + ac_utf8_put(to, c) : NULL; /* names hold no 0 */
}

static int read_string(reader *x, const char **out)
{
    static const char NAME[] = "\"\\/bfnrt", MEANS[] = "\"\\/\b\f\n\r\t";
    const uint8_t *from = x->at++, *stop = x->at;
    while (stop < x->end && *stop != '"')
        stop += *stop == '\\' && x->end - stop > 1 ? 2 : 1;
    if (stop >= x->end)
        return fail(x, from, E0010, "a string is not closed");
    char *own = ac_alloc(x->js->cx->region, (uint64_t)(stop - from) + 1), *to = own;
    while (x->at < stop) {
        if (*x->at < 0x20)
            return fail(x, x->at, E0020, "a string holds a control byte");
        if (*x->at != '\\') {
            *to++ = (char)*x->at++;
            continue;
        }
        const char c = (char)x->at[1];
        const char *plain = c ? strchr(NAME, c) : NULL;
        x->at += 2;
        if (plain)
            *to++ = MEANS[plain - NAME];
        else if (c != 'u' || !(to = unicode(x, to)))
            return fail(x, x->at, E0020, "a string has an unknown escape");
    }
    x->at = stop + 1;
    *out = ac_intern_n(x->js->cx, own, (size_t)(to - own));
    return AC_OK;
}

static void digits(reader *x)
{
    while (x->at < x->end && *x->at >= '0' && *x->at <= '9')
        x->at++;
}

static int read_number(reader *x, const char **out)
{
    const uint8_t *from = x->at;
    x->at += *x->at == '-';
    const uint8_t *first = x->at;
    digits(x);
    bool good = x->at > first && (*first != '0' || x->at == first + 1);
    if (x->at < x->end && *x->at == '.') {
        const uint8_t *point = x->at++;
        digits(x);
        good &= x->at > point + 1;
    }
    if (x->at < x->end && (*x->at | 32) == 'e') {
        x->at++;
        x->at += x->at < x->end && (*x->at == '+' || *x->at == '-');
        const uint8_t *power = x->at;
        digits(x);
        good &= x->at > power;
    }
    if (!good)
        return fail(x, from, E0020, "expected a value");
    *out = ac_intern_n(x->js->cx, (const char *)from, (size_t)(x->at - from));
    return AC_OK;
}

static bool word(reader *x, const char *w)
{
    const size_t n = strlen(w);
    if ((size_t)(x->end - x->at) < n || memcmp(x->at, w, n) != 0)
        return false;
    x->at += n;
    return true;
}

static ac_js_node *append(reader *x, const ac_js_node *n)
{
    ac_js_node *own = ac_copy(x->js->cx->region, n, sizeof *n);
    own->up = x->open;
    if (!x->open)
        x->js->root = own;
    else if (x->open->last)
        x->open->last->next = own;
    else
        x->open->first = own;
    if (x->open) {
        x->open->last = own;
        x->open->n++;
    }
    return own;
}

/* A value; an array or object is only opened. */
static int read_value(reader *x, const char *key)
{
    skip(x);
    ac_js_node n = {.key = key, .text = "", .line = x->line, .col = ac_column(x->line_start, x->at)};
    if (x->at >= x->end)
        return fail(x, x->at, E0010, "the text ends where a value is expected");
    if (*x->at == '{' || *x->at == '[') {
        n.kind = *x->at == '{' ? AC_JS_OBJECT : AC_JS_ARRAY;
        if (x->depth++ >= AC_JS_DEPTH)
            return fail(x, x->at, E0014, "values are nested more than 64 deep");
        x->at++;
        x->open = append(x, &n);
        return AC_OK;
    }
    if (*x->at == '"') {
        n.kind = AC_JS_STRING;
        AC_TRY(read_string(x, &n.text));
    } else if (word(x, "true")) {
        n.kind = AC_JS_TRUE;
    } else if (word(x, "false")) {
        n.kind = AC_JS_FALSE;
    } else if (!word(x, "null")) {
        n.kind = AC_JS_NUMBER;
        AC_TRY(read_number(x, &n.text));
    }
    (void)append(x, &n);
    return AC_OK;
}

/* The next element or member of the open array or object, or its end. */
static int read_next(reader *x)
{
    const bool object = x->open->kind == AC_JS_OBJECT;
    const char *key = NULL;
    if (accept(x, object ? '}' : ']')) {
        x->open = x->open->up;
        x->depth--;
        return AC_OK;
    }
    if (x->open->n && !accept(x, ','))
        return fail(x, x->at, x->at < x->end ? E0020 : E0010, object ? "expected , or }" : "expected , or ]");
    skip(x);
    if (object) {
        if (x->at >= x->end || *x->at != '"')
            return fail(x, x->at, x->at < x->end ? E0020 : E0010, "expected a name in quotes");
        AC_TRY(read_string(x, &key));
        if (!accept(x, ':'))
            return fail(x, x->at, E0020, "expected : after a name");
    }
    return read_value(x, key);
}

int ac_js_parse(ac_js *js, ac_ctx *cx, const char *file, ac_span text)
{
    *js = (ac_js){.cx = cx, .file = file};
    reader x = {.js = js, .at = text.p, .end = text.p + text.n, .line_start = text.p, .line = 1};
    if (ac_span_starts(text, 0, "\xef\xbb\xbf", 3))
        x.at += 3;
    AC_TRY(read_value(&x, NULL));
    while (x.open)
        AC_TRY(read_next(&x));
    skip(&x);
    return x.at == x.end ? AC_OK : fail(&x, x.at, E0020, "unexpected text after the value");
}

const ac_js_node *ac_js_get(const ac_js_node *object, const char *key)
{
    const ac_js_node *found = NULL;
    for (const ac_js_node *n = object && object->kind == AC_JS_OBJECT ? object->first : NULL; n; n = n->next)
        if (!strcmp(n->key, key))
            found = n;
    return found;
}

bool ac_js_int(const ac_js_node *x, int64_t *out)
{
    if (!x || x->kind != AC_JS_NUMBER)
        return false;
    const bool negative = *x->text == '-';
    const uint64_t most = (uint64_t)INT64_MAX + negative;
    uint64_t v = 0;
    for (const char *p = x->text + negative; *p; p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (*p < '0' || *p > '9' || v > (most - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *out = negative ? -(int64_t)(v - (v > 0)) - (v > 0) : (int64_t)v;
    return true;
}
