/* csv.c - problems and plans as MiniMalloc writes them. Fields may be quoted ("a,b", "" for a quote); lines end in LF
 * or CRLF; empty lines are skipped. Cost: O(n); O(n log n) when a name may have been used twice. */
#include "planner/pack/problem.h"

#include "base/ascii.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

typedef enum { COL_ID, COL_LOWER, COL_UPPER, COL_SIZE, COL_ALIGN, COL_GAPS, COL_OFFSET, COL_COUNT } column;

static const char *const COLUMN[COL_COUNT] = {"id", "lower", "upper", "size", "alignment", "gaps", "offset"};

/* A field of the current row, without blanks around it. */
typedef struct cell {
    const char *s;
    size_t n;
    int32_t col; /* where in the line it starts, 1-based; 0: farther than that */
} cell;

enum { FIELD_MOST = 1 << 28 }; /* bytes; names of more would not fit into messages */

typedef struct reader {
    ac_ctx *cx;
    const char *file, *text, *end; /* the whole input, without *end */
    const char *at;                /* next byte */
    const char *line_start;
    int32_t line;
    AC_VEC(cell) field;       /* of the current row */
    int32_t place[COL_COUNT]; /* column -> field index, -1: absent */
    int32_t n_fields;         /* of the header */
    bool end_inclusive;       /* the header has "end": the exclusive upper is one more */
} reader;

static ac_place place_of(const reader *r, int32_t f)
{
    enum { SHOWN = 4096 }; /* a line of more is not shown at all */
    const int32_t col = f >= 0 && f < r->field.n ? r->field.item[f].col : 1;
    if (ac_diags_full(&r->cx->diags)) /* this error is only counted */
        return (ac_place){.file = r->file, .line = r->line, .col = col};
    const size_t rest = (size_t)(r->end - r->line_start), most = rest < SHOWN ? rest : SHOWN;
    const char *line = ac_strf(r->cx->region, "%.*s", (int)most, r->line_start);
    return (ac_place){.file = r->file, .line = r->line, .col = col, .source = line};
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

static int too_long(reader *r)
{
    return ac_error(r->cx, place_of(r, r->field.n - 1), E0015, "the field has %d bytes or more", FIELD_MOST);
}

/* A field that begins with a quote: everything up to the closing one, doubled quotes undone. */
static int read_quoted(reader *r, cell *out)
{
    const char *const from = r->at + 1, *p = from;
    const char *const end = r->end - from > FIELD_MOST ? from + FIELD_MOST : r->end;
    for (; p < end && *p != '\n' && *p != '\r' && !(*p == '"' && (p + 1 == r->end || p[1] != '"')); p++)
        p += *p == '"';
    if (p >= end && end < r->end)
        return too_long(r);
    if (p >= end || *p != '"')
        return ac_error(r->cx, place_of(r, r->field.n - 1), E0020, "the quote is not closed on its line");
    char *s = ac_alloc(r->cx->region, (uint64_t)(p - from) + 1);
    size_t n = 0;
    for (const char *q = from; q < p; q += 1 + (*q == '"'))
        s[n++] = *q;
    for (p++; p < r->end && blank(*p); p++)
        ;
    if (p < r->end && *p != ',' && *p != '\n' && *p != '\r')
        return ac_error(r->cx, place_of(r, r->field.n - 1), E0020, "text after the closing quote");
    r->at = p;
    out->s = s;
    out->n = n;
    return AC_OK;
}

static int read_plain(reader *r, cell *out)
{
    const char *p = r->at, *const end = r->end - p > FIELD_MOST ? p + FIELD_MOST : r->end;
    while (p < end && *p != ',' && *p != '\n' && *p != '\r')
        p++;
    if (p == end && end < r->end)
        return too_long(r);
    out->s = r->at;
    r->at = p;
    while (p > out->s && blank(p[-1]))
        p--;
    out->n = (size_t)(p - out->s);
    return AC_OK;
}

/* Splits the next line that is not empty into r->field. *got is false at the end of the text. */
static int read_row(reader *r, bool *got)
{
    r->field.n = 0;
    *got = false;
    while (r->at < r->end && (*r->at == '\n' || *r->at == '\r')) {
        r->line += *r->at == '\n' && r->line < INT32_MAX;
        r->at++;
    }
    if (r->at == r->end)
        return AC_OK;
    *got = true;
    r->line_start = r->at;
    for (;;) {
        ac_push(r->cx->region, &r->field, ((cell){r->at, 0, ac_column(r->line_start, r->at)}));
        cell *f = &r->field.item[r->field.n - 1];
        while (r->at < r->end && blank(*r->at))
            r->at++;
        if (r->at < r->end && *r->at == '"')
            AC_TRY(read_quoted(r, f));
        else
            AC_TRY(read_plain(r, f));
        if (r->at == r->end || *r->at != ',')
            return AC_OK;
        r->at++;
    }
}

static bool is_text(const cell *f, const char *s)
{
    return f->n == strlen(s) && !memcmp(f->s, s, f->n);
}

static column column_named(const cell *name)
{
    static const struct {
        const char *name;
        column col;
    } ALIAS[] = {
        {"buffer", COL_ID}, {"buffer_id", COL_ID}, {"start", COL_LOWER}, {"begin", COL_LOWER}, {"end", COL_UPPER}};
    for (int i = 0; i < COL_COUNT; i++)
        if (is_text(name, COLUMN[i]))
            return (column)i;
    for (size_t i = 0; i < sizeof ALIAS / sizeof *ALIAS; i++)
        if (is_text(name, ALIAS[i].name))
            return ALIAS[i].col;
    return COL_COUNT;
}

static int read_header(reader *r, bool ignore_offsets)
{
    bool got;
    AC_TRY(read_row(r, &got));
    if (!got)
        return ac_error(r->cx, (ac_place){.file = r->file}, E0001,
                        "the file is empty, expected a line of column names");
    for (int i = 0; i < COL_COUNT; i++)
        r->place[i] = -1;
    r->n_fields = r->field.n;
    for (int32_t f = 0; f < r->n_fields; f++) {
        column c = column_named(&r->field.item[f]);
        if (c == COL_COUNT)
            continue;
        if (r->place[c] >= 0)
            return ac_error(r->cx, place_of(r, f), E0022, "column '%s' is given twice", COLUMN[c]);
        r->place[c] = f;
        if (c == COL_UPPER)
            r->end_inclusive = is_text(&r->field.item[f], "end");
    }
    for (int c = COL_ID; c <= COL_SIZE; c++)
        if (r->place[c] < 0) {
            ac_error(r->cx, place_of(r, 0), E0012, "no column '%s'", COLUMN[c]);
            return ac_help(r->cx, "an interval CSV starts with a line like id,lower,upper,size");
        }
    if (ignore_offsets)
        r->place[COL_OFFSET] = -1;
    return AC_OK;
}

/* A whole number at s, which ends before `end`. *rest is what follows it; NULL: nothing may. */
static int to_int(reader *r, int32_t f, const char *s, const char *end, const char **rest, int64_t *out)
{
    const int shown = end - s < 100 ? (int)(end - s) : 100;
    const char *digits = s + (s < end && (*s == '-' || *s == '+')), *p = digits;
    int64_t v = 0;
    for (; p < end && ac_is_digit(*p); p++) {
        if (v > (INT64_MAX - (*p - '0')) / 10)
            return ac_error(r->cx, place_of(r, f), E0015, "'%.*s' does not fit in 63 bits", shown, s);
        v = v * 10 + (*p - '0');
    }
    if (p == digits || (!rest && p < end))
        return ac_error(r->cx, place_of(r, f), E0020, "'%.*s' is not an integer", shown, s);
    *out = *s == '-' ? -v : v;
    if (rest)
        *rest = p;
    return AC_OK;
}

static int field_int(reader *r, column c, int64_t *out)
{
    const cell *f = &r->field.item[r->place[c]];
    return to_int(r, r->place[c], f->s, f->s + f->n, NULL, out);
}

static const cell *optional(const reader *r, column c)
{
    return r->place[c] >= 0 && r->field.item[r->place[c]].n ? &r->field.item[r->place[c]] : NULL;
}

static int to_step(reader *r, int32_t field, int64_t v, ac_step *out)
{
    if (v < 0)
        return ac_error(r->cx, place_of(r, field), E0012, "a step is %lld, expected 0 or more", (long long)v);
    if (v > INT32_MAX)
        return ac_error(r->cx, place_of(r, field), E0015, "step %lld is above %d", (long long)v, INT32_MAX);
    *out = (ac_step)v;
    return AC_OK;
}

/* "a-b" or "a-b@lo:hi" */
static int read_gap(reader *r, const char *s, const char *end, const char **rest, const ac_item *it, ac_gap *g)
{
    int32_t f = r->place[COL_GAPS];
    int64_t a, b, lo = 0, hi = 0;
    AC_TRY(to_int(r, f, s, end, &s, &a));
    if (s == end || *s != '-')
        return ac_error(r->cx, place_of(r, f), E0020, "a gap is written first-last or first-last@lo:hi");
    AC_TRY(to_int(r, f, s + 1, end, &s, &b));
    b += r->end_inclusive && b < INT32_MAX;
    if (s < end && *s == '@') {
        AC_TRY(to_int(r, f, s + 1, end, &s, &lo));
        if (s == end || *s != ':')
            return ac_error(r->cx, place_of(r, f), E0020, "a gap's window is written @lo:hi");
        AC_TRY(to_int(r, f, s + 1, end, &s, &hi));
    }
    AC_TRY(to_step(r, f, a, &g->life.begin));
    AC_TRY(to_step(r, f, b, &g->life.end));
    if (g->life.begin >= g->life.end || g->life.begin < it->life.begin || g->life.end > it->life.end)
        return ac_error(r->cx, place_of(r, f), E0012, "gap %lld-%lld of '%s' is empty or outside its life [%d, %d)",
                        (long long)a, (long long)b, it->name, it->life.begin, it->life.end);
    if (lo < 0 || lo > hi || hi > it->size)
        return ac_error(r->cx, place_of(r, f), E0012, "window %lld:%lld of '%s' is not inside its %lld bytes",
                        (long long)lo, (long long)hi, it->name, (long long)it->size);
    g->lo = lo;
    g->hi = hi;
    *rest = s;
    return AC_OK;
}

static int by_begin(const void *a, const void *b)
{
    const ac_gap *x = a, *y = b;
    return (x->life.begin > y->life.begin) - (x->life.begin < y->life.begin);
}

static int read_gaps(reader *r, const cell *f, ac_item *it)
{
    AC_VEC(ac_gap) v = {0};
    const char *s = f->s, *end = f->s + f->n;
    while (s < end) {
        ac_gap g;
        AC_TRY(read_gap(r, s, end, &s, it, &g));
        if (s < end && !blank(*s))
            return ac_error(r->cx, place_of(r, r->place[COL_GAPS]), E0020, "gaps are separated by blanks");
        while (s < end && blank(*s))
            s++;
        ac_push(r->cx->region, &v, g);
    }
    if (!v.n)
        return AC_OK;
    qsort(v.item, (size_t)v.n, sizeof *v.item, by_begin);
    for (int32_t i = 1; i < v.n; i++)
        if (v.item[i].life.begin < v.item[i - 1].life.end)
            return ac_error(r->cx, place_of(r, r->place[COL_GAPS]), E0012, "gaps of '%s' overlap at step %d", it->name,
                            v.item[i].life.begin);
    it->gaps = v.item;
    it->n_gaps = v.n;
    return AC_OK;
}

static int read_item(reader *r, ac_item *it)
{
    int64_t lower, upper, fixed;
    *it = (ac_item){.align = 1, .fixed = -1, .mem = -1, .kind = AC_ITEM_TENSOR};
    if (r->field.n != r->n_fields)
        return ac_error(r->cx, place_of(r, 0), E0020, "the row has %d fields, the header has %d", r->field.n,
                        r->n_fields);
    const cell *id = &r->field.item[r->place[COL_ID]];
    it->name = ac_intern_n(r->cx, id->s, id->n);
    AC_TRY(field_int(r, COL_LOWER, &lower));
    AC_TRY(field_int(r, COL_UPPER, &upper));
    AC_TRY(field_int(r, COL_SIZE, &it->size));
    if (r->end_inclusive && upper < INT64_MAX)
        upper++;
    AC_TRY(to_step(r, r->place[COL_LOWER], lower, &it->life.begin));
    AC_TRY(to_step(r, r->place[COL_UPPER], upper, &it->life.end));
    if (upper <= lower)
        return ac_error(r->cx, place_of(r, r->place[COL_UPPER]), E0012,
                        "'%s' ends at step %lld, not after its begin %lld", it->name, (long long)upper,
                        (long long)lower);
    if (it->size < 0)
        return ac_error(r->cx, place_of(r, r->place[COL_SIZE]), E0012, "'%s' has a negative size, %lld", it->name,
                        (long long)it->size);
    if (optional(r, COL_ALIGN)) {
        AC_TRY(field_int(r, COL_ALIGN, &it->align));
        if (it->align < 1 || it->align & (it->align - 1))
            return ac_error(r->cx, place_of(r, r->place[COL_ALIGN]), E0012,
                            "'%s' has alignment %lld, expected a power of two", it->name, (long long)it->align);
    }
    if (optional(r, COL_OFFSET)) {
        AC_TRY(field_int(r, COL_OFFSET, &fixed));
        it->fixed = fixed < 0 ? -1 : fixed;
    }
    const cell *gaps = optional(r, COL_GAPS);
    return gaps ? read_gaps(r, gaps, it) : AC_OK;
}

typedef struct named {
    const char *name;
    int32_t line;
} named;

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    int c = strcmp(x->name, y->name);
    return c ? c : (x->line > y->line) - (x->line < y->line);
}

/* Called only when some name was known before it was read: as another row's, or as something else's. Reads all again
 * for the lines. */
static int check_names(reader r)
{
    AC_VEC(named) names = {0};
    bool got = true;
    r.at = r.text;
    r.line = 1;
    AC_TRY(read_row(&r, &got));
    while (got) {
        AC_TRY(read_row(&r, &got));
        const cell *id = &r.field.item[r.place[COL_ID]];
        if (got)
            ac_push(r.cx->region, &names, ((named){ac_intern_n(r.cx, id->s, id->n), r.line}));
    }
    if (names.n) /* qsort takes no NULL, even for nothing */
        qsort(names.item, (size_t)names.n, sizeof *names.item, by_name);
    int rc = AC_OK;
    for (int32_t i = 1; i < names.n; i++)
        if (names.item[i].name == names.item[i - 1].name)
            rc = ac_error(r.cx, (ac_place){.file = r.file, .line = names.item[i].line, .col = 1}, E0022,
                          "id '%s' is used twice, first in line %d", names.item[i].name, names.item[i - 1].line);
    return rc;
}

/* After an error inside a row: to the end of its line. */
static void skip_line(reader *r)
{
    while (r->at < r->end && *r->at != '\n' && *r->at != '\r')
        r->at++;
}

static size_t count(const char *text, size_t n, char c)
{
    size_t found = 0;
    for (const char *p = text, *end = text + n; p < end && (p = memchr(p, c, (size_t)(end - p))); p++)
        found++;
    return found;
}

/* No text has more rows: one a line, and the shortest is ",0,1,1". */
static int32_t most_rows(const char *text, size_t n)
{
    const size_t lines = count(text, n, '\n') + count(text, n, '\r') + 1, most = lines < n / 7 + 1 ? lines : n / 7 + 1;
    return most < INT32_MAX ? (int32_t)most : INT32_MAX;
}

int ac_problem_read_csv(ac_ctx *cx, const char *file, const char *text, size_t n, bool ignore_offsets, ac_problem *out)
{
    const char *nul = n ? memchr(text, 0, n) : NULL;
    if (nul)
        return ac_error(cx, (ac_place){.file = file, .byte = nul - text + 1}, E0020, "a zero byte in a text file");
    const size_t mark = n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    reader r = {.cx = cx, .file = file, .text = text + mark, .end = text + n, .at = text + mark, .line_start = text};
    r.line = 1;
    AC_TRY(read_header(&r, ignore_offsets));

    const int32_t most = most_rows(text, n);
    ac_item *item = AC_NEW_N(cx->region, ac_item, most);
    ac_intern_room(cx, (uint32_t)most);
    int32_t rows = 0;
    int64_t total = 0;
    bool seen_before = false;
    ac_step steps = 0;
    ac_bytes align = 1;
    int rc = AC_OK; /* rows are independent: report the errors of all */
    for (bool got;;) {
        if (read_row(&r, &got) != AC_OK) {
            rc = AC_FAIL;
            skip_line(&r);
            continue;
        }
        if (!got)
            break;
        if (rows == most)
            return ac_error(cx, (ac_place){.file = file}, E0015, "more than %d rows", most);
        const int64_t known = cx->names.n;
        ac_item *it = &item[rows];
        if (read_item(&r, it) != AC_OK) {
            rc = AC_FAIL;
            continue;
        }
        rows++;
        seen_before = seen_before || cx->names.n == known;
        /* Everything a planner adds up stays below this sum, so no later sum needs a check. */
        const int64_t part[] = {it->size, it->align, it->fixed > 0 ? it->fixed : 0};
        static const column FROM[] = {COL_SIZE, COL_ALIGN, COL_OFFSET};
        for (int k = 0; k < 3; k++)
            if (!ac_add_ok(total, part[k], &total) || total > INT64_MAX / 4)
                return ac_error(cx, place_of(&r, r.place[FROM[k]] < 0 ? r.place[COL_SIZE] : r.place[FROM[k]]), E0015,
                                "the sizes%s add up to more than 61 bits hold",
                                k == 2 ? " and fixed offsets"
                                : k    ? " and alignments"
                                       : "");
        steps = it->life.end > steps ? it->life.end : steps;
        align = it->align > align ? it->align : align;
    }
    AC_TRY(rc);
    if (seen_before)
        AC_TRY(check_names(r));
    ac_memory *mem = AC_NEW(cx->region, ac_memory);
    *mem = (ac_memory){.name = "arena", .capacity = -1, .align = align};
    *out = (ac_problem){.item = item, .n = rows, .mem = mem, .n_mems = 1, .steps = steps};
    return AC_OK;
}

static void put_field(ac_sink *to, const char *s)
{
    if (!strpbrk(s, ",\"\r\n") && *s && !blank(*s) && !blank(s[strlen(s) - 1])) {
        ac_put(to, s);
        return;
    }
    ac_putc(to, '"');
    for (; *s; s++) {
        if (*s == '"')
            ac_putc(to, '"');
        ac_putc(to, *s == '\n' || *s == '\r' ? ' ' : *s); /* a row is a line */
    }
    ac_putc(to, '"');
}

static void put_gaps(ac_sink *to, const ac_item *it)
{
    for (int32_t g = 0; g < it->n_gaps; g++) {
        const ac_gap *x = &it->gaps[g];
        ac_putf(to, "%s%d-%d", g ? " " : "", x->life.begin, x->life.end);
        if (x->hi > x->lo)
            ac_putf(to, "@%lld:%lld", (long long)x->lo, (long long)x->hi);
    }
}

static void put_number(ac_sink *to, int64_t v)
{
    ac_putc(to, ',');
    ac_put_int(to, v);
}

void ac_problem_write_csv(ac_sink *to, const ac_problem *p, const ac_plan *plan)
{
    bool align = false, gaps = false, offset = plan != NULL;
    for (int32_t i = 0; i < p->n; i++) {
        if (p->item[i].mem > 0)
            continue;
        align |= p->item[i].align > 1;
        gaps |= p->item[i].n_gaps > 0;
        offset |= p->item[i].fixed >= 0;
    }
    ac_putf(to, "id,lower,upper,size%s%s%s\n", align ? ",alignment" : "", gaps ? ",gaps" : "", offset ? ",offset" : "");
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        if (it->mem > 0)
            continue; /* pinned elsewhere (state): the file is about memory 0 */
        put_field(to, it->name);
        put_number(to, it->life.begin);
        put_number(to, it->life.end);
        put_number(to, it->size);
        if (align)
            put_number(to, it->align);
        if (gaps) {
            ac_putc(to, ',');
            put_gaps(to, it);
        }
        if (offset)
            put_number(to, plan ? plan->offset[i] : it->fixed);
        ac_putc(to, '\n');
    }
}
