/* json_out.c - writing JSON: escapes, indentation, numbers that read back equal. */
#include "base/json_out.h"
#include "base/visible.h"

#include <assert.h>
#include <math.h>
#include <string.h>

ac_json ac_json_open(ac_sink *to)
{
    return (ac_json){.to = to, .first = true};
}

static void new_line(ac_json *j)
{
    const size_t blanks = 2 * (size_t)j->depth;
    char *p = ac_sink_end(j->to, 1 + blanks);
    *p = '\n';
    memset(p + 1, ' ', blanks);
    j->to->n += 1 + blanks;
}

/* Printed as it is. */
static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void quote(ac_sink *to, const char *text)
{
    ac_putc(to, '"');
    const unsigned char *s = (const unsigned char *)text;
    while (*s) {
        const unsigned char *run = s;
        while (is_plain(*s))
            s++;
        ac_put_n(to, run, (size_t)(s - run));
        if (!*s)
            break;
        int n = ac_utf8_length((const char *)s);
        if (n == 0)
            ac_put(to, "\xef\xbf\xbd");
        else if (*s == '"' || *s == '\\')
            ac_putf(to, "\\%c", *s);
        else if (*s == '\n')
            ac_put(to, "\\n");
        else if (*s == '\t')
            ac_put(to, "\\t");
        else if (*s < 0x20 || *s == 0x7f)
            ac_putf(to, "\\u%04x", *s);
        else
            ac_put_n(to, s, (size_t)n);
        s += n ? n : 1;
    }
    ac_putc(to, '"');
}

/* Writes the text before a value: comma, line or blank, key. */
static void lead(ac_json *j, const char *key, bool plain)
{
    bool element = j->depth && j->close[j->depth - 1] == ']';
    assert(!j->depth || element == !key);
    if (!j->first)
        ac_putc(j->to, ',');
    if (element && plain && (j->first || j->flat)) {
        if (!j->first)
            ac_putc(j->to, ' ');
    } else if (j->depth) {
        new_line(j);
    }
    if (key) {
        quote(j->to, key);
        ac_put(j->to, ": ");
    }
    j->flat = element && plain;
    j->first = false;
}

static void open_level(ac_json *j, const char *key, char open, char close)
{
    lead(j, key, false);
    assert(j->depth < (int)sizeof j->close && "documents are written by us, never this deep");
    ac_putc(j->to, open);
    j->close[j->depth++] = close;
    j->first = true;
    j->flat = false;
}

void ac_json_obj(ac_json *j, const char *key)
{
    open_level(j, key, '{', '}');
}
void ac_json_arr(ac_json *j, const char *key)
{
    open_level(j, key, '[', ']');
}

void ac_json_end(ac_json *j)
{
    assert(j->depth > 0);
    j->depth--;
    if (!j->first && !j->flat)
        new_line(j);
    ac_putc(j->to, j->close[j->depth]);
    j->first = j->flat = false;
    if (!j->depth)
        ac_putc(j->to, '\n');
}

void ac_json_int(ac_json *j, const char *key, int64_t v)
{
    lead(j, key, true);
    ac_put_int(j->to, v);
}

void ac_json_num(ac_json *j, const char *key, double v)
{
    lead(j, key, true);
    if (isnan(v))
        ac_put(j->to, "\"nan\"");
    else if (isinf(v))
        ac_put(j->to, v < 0 ? "\"-inf\"" : "\"inf\"");
    else
        ac_putf(j->to, "%.9g", v);
}

void ac_json_str(ac_json *j, const char *key, const char *v)
{
    lead(j, key, true);
    if (v)
        quote(j->to, v);
    else
        ac_put(j->to, "null");
}

void ac_json_int_if(ac_json *j, const char *key, int64_t v, bool known)
{
    if (known)
        ac_json_int(j, key, v);
    else
        ac_json_str(j, key, NULL);
}

void ac_json_bool(ac_json *j, const char *key, bool v)
{
    lead(j, key, true);
    ac_put(j->to, v ? "true" : "false");
}
