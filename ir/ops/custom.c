/* custom.c - rows of --custom: looked up by name, and the values of their attributes. */
#include "ir/ops/custom.h"

#include "base/ascii.h"
#include "base/decimal.h"

#include <math.h>
#include <string.h>

#define NAME(id, text) text,
const char *const ac_custom_type_name[AC_CUSTOM_N_TYPES] = {AC_CUSTOM_TYPES(NAME)};
#undef NAME

static const char OPTIONS[] = "options";

const ac_custom *ac_custom_find(const ac_ctx *cx, const char *name)
{
    for (int32_t i = 0; cx->customs && name && i < cx->customs->row.n; i++)
        if (!strcmp(cx->customs->row.item[i]->name, name))
            return cx->customs->row.item[i];
    return NULL;
}

const ac_custom *ac_custom_of(const ac_ctx *cx, ac_custom_format format, const char *domain, const char *name)
{
    for (int32_t i = 0; cx->customs && i < cx->customs->row.n; i++) {
        const ac_custom *c = cx->customs->row.item[i];
        for (int32_t k = 0; k < c->names.n; k++) {
            const ac_custom_name *own = &c->names.item[k];
            if (own->format == format && !strcmp(own->name, name) && !strcmp(own->domain, domain))
                return c;
        }
    }
    return NULL;
}

int32_t ac_custom_least(const ac_custom *c)
{
    int32_t n = 0;
    while (n < c->in.n && !c->in.item[n].optional && !c->in.item[n].repeated)
        n++;
    return n;
}

int32_t ac_custom_most(const ac_custom *c)
{
    return c->in.item[c->in.n - 1].repeated ? AC_CUSTOM_MOST : c->in.n;
}

/* ------------------------------------------------------------------ values */

/* A number of 32 bits, after which the text ends or goes on with a comma. */
static bool read_int(const char **text, int32_t *out)
{
    const char *s = *text;
    const bool minus = *s == '-';
    int64_t v = 0;
    s += minus;
    if (!ac_is_digit(*s))
        return false;
    for (; ac_is_digit(*s) && v <= INT32_MAX; s++)
        v = v * 10 + (*s - '0');
    v = minus ? -v : v;
    if ((*s && *s != ',') || v > INT32_MAX || v < INT32_MIN)
        return false;
    *out = (int32_t)v;
    *text = s + (*s == ',');
    return true;
}

static bool read_float(const char **text, float *out)
{
    const char *end;
    const double v = ac_read_real(*text, &end);
    if (end == *text || (*end && *end != ','))
        return false;
    *out = (float)v;
    if (!isfinite(*out))
        return false;
    *text = end + (*end == ',');
    return true;
}

bool ac_custom_value_read(ac_ctx *cx, ac_custom_type type, const char *text, ac_custom_value *v)
{
    *v = (ac_custom_value){0};
    if (type == AC_CUSTOM_TEXT) {
        v->text = text;
        return true;
    }
    const bool list = type == AC_CUSTOM_INTS || type == AC_CUSTOM_FLOATS;
    const bool floats = type == AC_CUSTOM_F32 || type == AC_CUSTOM_FLOATS;
    int32_t room = 1;
    for (const char *c = text; *c; c++)
        room += *c == ',';
    int32_t *i = AC_NEW_N(cx->region, int32_t, room);
    float *f = AC_NEW_N(cx->region, float, room);
    v->i = floats ? NULL : i;
    v->f = floats ? f : NULL;
    for (; *text && v->n < room; v->n++)
        if (!(floats ? read_float(&text, &f[v->n]) : read_int(&text, &i[v->n])))
            return false;
    return !*text && (list ? v->n == room || !v->n : v->n == 1 && room == 1);
}

static int bad_value(ac_ctx *cx, const ac_custom *c, ac_place at, const ac_custom_attr *a, const char *text)
{
    static const char *const EXPECTED[] = {"a number of 32 bits", "a finite float", "a list of numbers of 32 bits",
                                           "a list of finite floats", "text"};
    return ac_error(cx, at, E0103, "attribute '%s' of custom operator '%s' is '%s', expected %s", a->name, c->name,
                    text, EXPECTED[a->type]);
}

static int hex_digit(char c)
{
    return ac_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_options(ac_ctx *cx, ac_place at, const char *text, const uint8_t **options, int32_t *n)
{
    const size_t digits = strlen(text);
    uint8_t *bytes = AC_NEW_N(cx->region, uint8_t, (int64_t)(digits / 2) + 1);
    for (size_t i = 0; i < digits; i += 2) {
        const int high = hex_digit(text[i]), low = high < 0 ? -1 : hex_digit(text[i + 1]);
        if (low < 0)
            return ac_error(cx, at, E0103, "the options of the custom operator are not pairs of hexadecimal digits");
        bytes[i / 2] = (uint8_t)(high * 16 + low);
    }
    *options = bytes;
    *n = (int32_t)(digits / 2);
    return AC_OK;
}

static int32_t find_attr(const ac_custom *c, const char *name, size_t n)
{
    for (int32_t i = 0; i < c->attr.n; i++)
        if (strlen(c->attr.item[i].name) == n && !strncmp(c->attr.item[i].name, name, n))
            return i;
    return -1;
}

/* One word NAME=VALUE. */
static int read_word(ac_ctx *cx, const ac_custom *c, ac_place at, const char *word, ac_custom_value *value, bool *given,
                     const uint8_t **options, int32_t *n_options)
{
    const char *equals = strchr(word, '=');
    const size_t n = equals ? (size_t)(equals - word) : strlen(word);
    const int32_t i = find_attr(c, word, n);
    if (equals && c->options && n == strlen(OPTIONS) && !strncmp(word, OPTIONS, n))
        return read_options(cx, at, equals + 1, options, n_options);
    if (!equals || i < 0)
        return ac_error(cx, at, E0103, "custom operator '%s' has no attribute '%.*s'", c->name, (int)n, word);
    if (given[i])
        return ac_error(cx, at, E0103, "attribute '%s' of custom operator '%s' is given twice", c->attr.item[i].name,
                        c->name);
    given[i] = true;
    if (!ac_custom_value_read(cx, c->attr.item[i].type, equals + 1, &value[i]))
        return bad_value(cx, c, at, &c->attr.item[i], equals + 1);
    return AC_OK;
}

int ac_custom_values(ac_ctx *cx, const ac_custom *c, ac_place at, const char *with, ac_custom_value *value,
                     const uint8_t **options, int32_t *n_options)
{
    bool given[AC_CUSTOM_MOST] = {false};
    *options = NULL;
    *n_options = 0;
    if (with) {
        ac_words r = {.cx = cx, .at = with, .end = with + strlen(with)};
        while (ac_words_line(&r))
            for (const char *s = r.line, *word; (word = ac_words_take(&r, &s));)
                AC_TRY(read_word(cx, c, at, word, value, given, options, n_options));
    }
    for (int32_t i = 0; i < c->attr.n; i++) {
        const ac_custom_attr *a = &c->attr.item[i];
        if (given[i])
            continue;
        value[i] = (ac_custom_value){0};
        if (!a->init && a->optional)
            continue;
        if (!a->init)
            return ac_error(cx, at, E0103, "custom operator '%s' needs attribute '%s', which has no default", c->name,
                            a->name);
        if (!ac_custom_value_read(cx, a->type, a->init, &value[i]))
            return bad_value(cx, c, at, a, a->init);
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ written */

static void begin(ac_sink *to, const char *name)
{
    ac_put(to, to->n ? " " : "");
    ac_put(to, name);
    ac_putc(to, '=');
}

void ac_custom_put_ints(ac_sink *to, const char *name, const int64_t *v, int64_t n)
{
    begin(to, name);
    for (int64_t i = 0; i < n; i++)
        ac_putf(to, "%s%lld", i ? "," : "", (long long)v[i]);
}

void ac_custom_put_floats(ac_sink *to, const char *name, const float *v, int64_t n)
{
    begin(to, name);
    for (int64_t i = 0; i < n; i++) {
        ac_put(to, i ? "," : "");
        if (isfinite(v[i]))
            ac_putf(to, "%.*g", ac_shortest((double)v[i], true, 1), (double)v[i]);
        else
            ac_put(to, isnan(v[i]) ? "nan" : v[i] > 0 ? "inf" : "-inf"); /* refused when it is read */
    }
}

void ac_custom_put_text(ac_sink *to, const char *name, const char *text)
{
    begin(to, name);
    if (*text)
        ac_words_put(to, text);
}

void ac_custom_put_options(ac_sink *to, const uint8_t *bytes, int64_t n)
{
    begin(to, OPTIONS);
    for (int64_t i = 0; i < n; i++)
        ac_putf(to, "%02x", bytes[i]);
}

void ac_custom_attrs(const ac_custom *c, ac_sink *with, ac_attrs *out)
{
    ac_attrs_init(AC_OP_CUSTOM, out);
    out->custom.call = c->name;
    out->custom.with = with->n ? ac_intern(with->cx, ac_sink_text(with)) : NULL;
}
