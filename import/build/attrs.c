/* attrs.c - reads attributes by the rows of a table, and reports those that do not fit them. */
#include "import/build/attrs.h"

#include "base/format.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

static const ac_attr_spec *row_of(const ac_attrs_reader *a, int id)
{
    return &a->source->row[id];
}

static const char *name_of(const ac_attr_spec *row)
{
    return row->named ? row->named : row->name;
}

/* ------------------------------------------------------------------ messages */

/* " from 1 to 64", or nothing */
static const char *bounds(ac_ctx *cx, const ac_attr_spec *row)
{
    if (row->type == AC_ATTR_FLOAT && row->to && row->high >= (double)FLT_MAX)
        return " that is finite";
    if (row->from && row->to && row->low == row->high)
        return ac_strf(cx->region, " equal to %.15g", row->low);
    if (row->from && row->to)
        return ac_strf(cx->region, " from %.15g to %.15g", row->low, row->high);
    if (row->from || row->to)
        return ac_strf(cx->region, " of at %s %.15g", row->from ? "least" : "most", row->from ? row->low : row->high);
    return row->type == AC_ATTR_INT ? " of 32 bits" : "";
}

static const char *words(ac_ctx *cx, const char *p)
{
    const char *list = "";
    for (const char *first = p; *p; p += p[strcspn(p, "|")] ? strcspn(p, "|") + 1 : strcspn(p, "|"))
        list = ac_strf(cx->region, "%s%s%.*s", list,
                       p == first           ? ""
                       : p[strcspn(p, "|")] ? ", "
                                            : " or ",
                       (int)strcspn(p, "|"), p);
    return list;
}

static const char *expected(ac_ctx *cx, const ac_attr_spec *row)
{
    static const char *const TYPE[] = {"a whole number", "a whole number", "a float",       "true or false", "text",
                                       "a name",         "a type",         "whole numbers", "floats",        NULL};
    const bool list = row->type == AC_ATTR_INTS || row->type == AC_ATTR_FLOATS;
    const char *most = row->most ? ac_strf(cx->region, "at most %d ", row->most) : "";
    if (row->words)
        return words(cx, row->words);
    return ac_strf(cx->region, "%s%s%s%s", list ? "a list of " : "", most, TYPE[row->type], bounds(cx, row));
}

/* Once for each attribute. */
static void report(ac_attrs_reader *a, const ac_attr_spec *row, const ac_attr_value *v, const char *found)
{
    ac_ctx *cx = a->b->cx;
    if (a->b->bad && !strcmp(a->b->bad, name_of(row)))
        return;
    a->b->bad = name_of(row);
    const ac_place at = v->at.file ? v->at : a->b->at;
    if (found)
        ac_error(cx, at, E0103, "%s '%s' is %s, expected %s", a->source->what, a->b->bad, found, expected(cx, row));
    else
        ac_error(cx, at, E0103, "%s '%s' is missing", a->source->what, a->b->bad);
}

/* ------------------------------------------------------------------ values */

static void note(ac_attrs_read *read, const ac_attr_spec *row)
{
    for (int32_t i = 0; i < read->n; i++)
        if (!strcmp(name_of(read->row[i]), name_of(row)))
            return;
    if (read->n < AC_ATTRS_READ)
        read->row[read->n++] = row;
}

bool ac_attr_find(ac_attrs_reader *a, const ac_attr_spec *row, ac_attr_value *v)
{
    if (a->b->reading && a->b->reading->opt.read)
        note(a->b->reading->opt.read, row);
    *v = (ac_attr_value){.i = 0};
    if (!a->source->find(a, name_of(row), row, v))
        return false;
    if (v->said)
        a->b->bad = name_of(row);
    if (v->wrong)
        report(a, row, v, v->wrong);
    return !v->wrong && !v->said;
}

const char *ac_attr_name(const ac_attrs_reader *a, int id)
{
    return name_of(row_of(a, id));
}

const char *ac_attr_default(ac_ctx *cx, const ac_attr_spec *row)
{
    const char *name = name_of(row);
    switch (row->type) {
    case AC_ATTR_INT:
    case AC_ATTR_INT64:
    case AC_ATTR_FLOAT:
        if (row->from && row->init < row->low)
            return name;
        return ac_strf(cx->region, "%s=%.6g", name, row->init);
    case AC_ATTR_BOOL:
        return ac_strf(cx->region, "%s=%d", name, row->init != 0);
    case AC_ATTR_TEXT:
    case AC_ATTR_WORD:
        if (row->words || row->text)
            return ac_strf(cx->region, "%s=%s", name, row->words ? row->words : *row->text ? row->text : "\"\"");
        return name;
    case AC_ATTR_INTS:
    case AC_ATTR_FLOATS:
        return ac_strf(cx->region, "%s=[]", name);
    case AC_ATTR_TYPE:
    case AC_ATTR_ANY:
        break;
    }
    return name;
}

bool ac_attr_has(ac_attrs_reader *a, int id)
{
    const ac_attr_spec row = {.type = AC_ATTR_ANY};
    ac_attr_value v = {.i = 0};
    return a->source->find(a, ac_attr_name(a, id), &row, &v);
}

void ac_attr_skip(ac_attrs_reader *a, const char *name)
{
    const ac_attr_spec row = {.name = name, .type = AC_ATTR_ANY};
    ac_attr_value v = {.i = 0};
    (void)a->source->find(a, name, &row, &v);
}

/* x within the bounds of the row */
static double bounded(const ac_attr_spec *row, double x)
{
    if (row->from && x < row->low)
        return row->low;
    return row->to && x > row->high ? row->high : x;
}

static int64_t whole(ac_attrs_reader *a, const ac_attr_spec *row)
{
    ac_attr_value v;
    const bool given = ac_attr_find(a, row, &v);
    const int64_t low = row->from ? (int64_t)row->low : row->type == AC_ATTR_INT ? INT32_MIN : INT64_MIN;
    const int64_t high = row->to ? (int64_t)row->high : row->type == AC_ATTR_INT ? INT32_MAX : INT64_MAX;
    if (given && v.i >= low && v.i <= high)
        return v.i;
    const bool missing = !given && !v.wrong && !v.said && row->from && row->init < row->low;
    if (given)
        report(a, row, &v, ac_strf(a->b->cx->region, "%" PRId64, v.i));
    else if (missing)
        report(a, row, &v, NULL);
    return given || missing ? (int64_t)bounded(row, row->init) : (int64_t)row->init;
}

int64_t ac_attr_int(ac_attrs_reader *a, int id)
{
    return whole(a, row_of(a, id));
}

int64_t ac_attr_int_or(ac_attrs_reader *a, int id, int64_t init)
{
    return ac_attr_has(a, id) ? ac_attr_int(a, id) : init;
}

int64_t ac_attr_int_in(ac_attrs_reader *a, int id, int64_t init, int64_t low, int64_t high)
{
    ac_attr_spec row = *row_of(a, id);
    row.init = (double)init;
    row.from = row.to = true;
    row.low = (double)low;
    row.high = (double)high;
    return whole(a, &row);
}

double ac_attr_float(ac_attrs_reader *a, int id)
{
    return ac_attr_float_or(a, id, row_of(a, id)->init);
}

double ac_attr_float_or(ac_attrs_reader *a, int id, double init)
{
    const ac_attr_spec *row = row_of(a, id);
    ac_attr_value v;
    if (!ac_attr_find(a, row, &v))
        return init;
    const bool in = (!row->from || v.f >= row->low) && (!row->to || v.f <= row->high);
    if (!in)
        report(a, row, &v, ac_strf(a->b->cx->region, "%g", v.f));
    return in ? v.f : bounded(row, init);
}

bool ac_attr_bool(ac_attrs_reader *a, int id)
{
    return ac_attr_bool_or(a, id, row_of(a, id)->init > 0);
}

bool ac_attr_bool_or(ac_attrs_reader *a, int id, bool init)
{
    ac_attr_value v;
    return ac_attr_find(a, row_of(a, id), &v) ? v.i != 0 : init;
}

ac_dtype ac_attr_dtype_or(ac_attrs_reader *a, int id, ac_dtype init)
{
    ac_attr_value v;
    return ac_attr_find(a, row_of(a, id), &v) ? v.dtype : init;
}

ac_dtype ac_attr_dtype(ac_attrs_reader *a, int id)
{
    const ac_attr_spec *row = row_of(a, id);
    ac_attr_value v;
    if (ac_attr_find(a, row, &v))
        return v.dtype;
    if ((ac_dtype)row->init == AC_NONE && !v.wrong)
        report(a, row, &v, NULL);
    return (ac_dtype)row->init;
}

/* The number of the word that the file has, by name or number; -1: none. */
static int32_t word_of(const ac_attrs_reader *a, const ac_attr_spec *row, const ac_attr_value *v)
{
    int32_t number = (int32_t)row->low;
    for (const char *p = row->words; *p; number++) {
        const size_t n = strcspn(p, "|");
        char digits[16];
        ac_print(digits, sizeof digits, "%d", number);
        if ((strlen(v->text) == n && !memcmp(p, v->text, n)) || (a->source->numbers && !strcmp(v->text, digits)))
            return number;
        p += n + (p[n] == '|');
    }
    return -1;
}

static const char *quoted(const ac_attrs_reader *a, const char *text)
{
    return ac_strf(a->b->cx->region, "'%.60s'", text);
}

int32_t ac_attr_word(ac_attrs_reader *a, int id)
{
    const ac_attr_spec *row = row_of(a, id);
    ac_attr_value v;
    const bool given = ac_attr_find(a, row, &v);
    const int32_t word = given ? word_of(a, row, &v) : (int32_t)row->init;
    if (word < 0)
        report(a, row, &v, given ? quoted(a, v.text) : NULL);
    return word < 0 ? (int32_t)row->init : word;
}

const char *ac_attr_text(ac_attrs_reader *a, int id)
{
    const ac_attr_spec *row = row_of(a, id);
    ac_attr_value v;
    if (ac_attr_find(a, row, &v) && (!row->words || word_of(a, row, &v) >= 0))
        return v.text;
    if (v.text)
        report(a, row, &v, quoted(a, v.text));
    return row->words ? ac_intern_n(a->b->cx, row->words, strcspn(row->words, "|")) : row->text;
}

static bool fits(ac_attrs_reader *a, const ac_attr_spec *row, const ac_attr_value *v)
{
    const int64_t most = row->most ? row->most : 1 << 20;
    if (v->n > most)
        report(a, row, v, ac_strf(a->b->cx->region, "%" PRId64 " numbers", v->n));
    return v->n <= most;
}

static ac_ints list_of(ac_attrs_reader *a, const ac_attr_spec *row)
{
    ac_attr_value v;
    if (!ac_attr_find(a, row, &v) || !fits(a, row, &v))
        return (ac_ints){0};
    for (int64_t i = 0; i < v.n; i++)
        if ((row->from && (double)v.ints[i] < row->low) || (row->to && (double)v.ints[i] > row->high)) {
            report(a, row, &v, ac_strf(a->b->cx->region, "a list with %" PRId64, v.ints[i]));
            return (ac_ints){0};
        }
    return (ac_ints){(int32_t)v.n, v.ints};
}

ac_ints ac_attr_ints(ac_attrs_reader *a, int id)
{
    return list_of(a, row_of(a, id));
}

ac_ints ac_attr_list(ac_attrs_reader *a, const char *name)
{
    return list_of(a, &(ac_attr_spec){.name = name, .type = AC_ATTR_INTS});
}

bool ac_attr_is(ac_attrs_reader *a, const char *name, ac_attr_kind type)
{
    ac_attr_value v;
    return ac_attr_find(a, &(ac_attr_spec){.name = name, .type = type}, &v);
}

const double *ac_attr_floats(ac_attrs_reader *a, int id, int32_t *n)
{
    const ac_attr_spec *row = row_of(a, id);
    ac_attr_value v;
    *n = ac_attr_find(a, row, &v) && fits(a, row, &v) ? (int32_t)v.n : 0;
    return *n ? v.floats : NULL;
}

int32_t ac_attr_ints_to(ac_attrs_reader *a, int id, int64_t *v)
{
    const ac_ints list = ac_attr_ints(a, id);
    for (int32_t i = 0; i < list.n; i++)
        v[i] = list.v[i];
    return list.n;
}

int32_t ac_attr_floats_to(ac_attrs_reader *a, int id, double *v)
{
    int32_t n;
    const double *list = ac_attr_floats(a, id, &n);
    for (int32_t i = 0; i < n; i++)
        v[i] = list[i];
    return n;
}

int ac_attr_axis(ac_attrs_reader *a, int id, int32_t rank, int32_t *axis)
{
    return ac_operand_axis(a->b, ac_attr_int(a, id), rank, axis);
}
