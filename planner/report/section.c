/* section.c - prints the rows and columns of a section in four forms; see section.h. */
#include "planner/report/section.h"

#include "base/visible.h"
#include "planner/report/xml.h"

#include <stdlib.h>
#include <string.h>

static bool is_met(const ac_section *s, int32_t c)
{
    return !(s->column[c].when & ~s->meets);
}

/* The cells of a row as people read them: none after one that ends the row. */
static void cells_of(const ac_section *s, int32_t row, ac_cell *cell)
{
    s->cells(s, row, cell);
    for (int32_t c = 1; c < s->n_columns; c++)
        if (cell[c - 1].ends)
            cell[c] = (ac_cell){.kind = AC_CELL_ABSENT, .ends = true};
}

static const char *list_text(ac_ctx *cx, const ac_cell *x, const char *between)
{
    enum { DIGITS = 11 };
    ac_sink to;
    ac_sink_open(&to, cx);
    ac_sink_room(&to, (size_t)x->n * (DIGITS + strlen(between)) + (x->text ? strlen(x->text) : 0) + 1);
    for (int64_t k = 0; k < x->n; k++)
        ac_putf(&to, "%s%d", k ? between : "", x->list[k]);
    if (x->text)
        ac_putf(&to, "%s%s", x->n ? between : "", x->text);
    return ac_sink_text(&to);
}

static const char *name_text(const ac_section *s, const char *name)
{
    return s->fit ? ac_name_fit(s->names, name, s->fit) : ac_visible(s->cx->region, name);
}

/* In text and Markdown; NULL: nothing. */
static const char *text_of(const ac_section *s, const ac_cell *x)
{
    switch (x->kind) {
    case AC_CELL_NONE:
    case AC_CELL_ABSENT:
    case AC_CELL_TEXT:
    case AC_CELL_ADDRESS:
    case AC_CELL_SHAPE:
        return x->text;
    case AC_CELL_CODE:
        return ac_visible(s->cx->region, x->text);
    case AC_CELL_NAME:
        return name_text(s, x->text);
    case AC_CELL_ALIAS:
        return ac_strf(s->cx->region, "%s of %s", x->text, name_text(s, x->of));
    case AC_CELL_NUMBER:
        return ac_strf(s->cx->region, "%lld", (long long)x->n);
    case AC_CELL_COUNT:
        return ac_commas(s->cx, x->n);
    case AC_CELL_LIST:
        return list_text(s->cx, x, ",");
    }
    return NULL;
}

/* ------------------------------------------------------------------ text */

/* Characters on a terminal: the bytes that begin one. */
static int32_t width_of(const char *s)
{
    int32_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static const char *title_of(const ac_section_column *c)
{
    return c->text + strspn(c->text, " ");
}

/* A line, up to its last cell that is not empty (NULL). */
static void put_line(ac_sink *to, const ac_section *s, const char *const *text, const int32_t *wide)
{
    int32_t n = s->n_columns;
    while (n && !text[n - 1])
        n--;
    for (int32_t c = 0, gap = 2; c < n; c++) {
        const ac_section_column *x = &s->column[c];
        if (!x->text || !is_met(s, c))
            continue;
        const char *cell = text[c] ? text[c] : "";
        const int32_t pad = wide[c] > width_of(cell) ? wide[c] - width_of(cell) : 0;
        ac_putf(to, "%*s", gap + (int)(title_of(x) - x->text) + (x->wide > 0 ? pad : 0), "");
        ac_put(to, cell);
        ac_putf(to, "%*s", x->wide > 0 ? 0 : pad, "");
        gap = 1;
    }
    ac_putc(to, '\n');
}

/* The cells of all lines, the titles first; by column, the width it gets and that of its widest cell. */
typedef struct layout {
    const char **text;
    int32_t wide[AC_COLUMNS], most[AC_COLUMNS];
} layout;

static layout lay_out(ac_ctx *cx, const ac_section *s)
{
    layout l = {.text = AC_NEW_N(cx->region, const char *, (int64_t)(s->n + 1) * s->n_columns)};
    ac_cell cell[AC_COLUMNS];
    for (int32_t i = -1; i < s->n; i++) {
        const char **row = l.text + (int64_t)(i + 1) * s->n_columns;
        if (i >= 0)
            cells_of(s, i, cell);
        for (int32_t c = 0; c < s->n_columns; c++) {
            const ac_section_column *x = &s->column[c];
            if (!x->text || !is_met(s, c))
                continue;
            row[c] = i >= 0 ? text_of(s, &cell[c]) : *title_of(x) ? title_of(x) : NULL;
            l.most[c] = row[c] && width_of(row[c]) > l.most[c] ? width_of(row[c]) : l.most[c];
            l.wide[c] = x->wide == AC_RAGGED ? 0 : abs(x->wide) == AC_RIGHT ? l.most[c] : abs(x->wide);
        }
    }
    return l;
}

void ac_section_text(ac_sink *to, const ac_section *s)
{
    const layout l = lay_out(to->cx, s);
    bool titles = false;
    for (int32_t c = 0; c < s->n_columns; c++)
        titles |= l.text[c] != NULL;
    for (int32_t i = titles ? 0 : 1; i <= s->n; i++)
        put_line(to, s, l.text + (int64_t)i * s->n_columns, l.wide);
}

int32_t ac_section_width(const ac_section *s, int32_t *first)
{
    const layout l = lay_out(s->cx, s);
    int32_t all = 1; /* the first gap is 2 */
    for (int32_t c = 0; c < s->n_columns; c++)
        if (s->column[c].text && is_met(s, c))
            all += 1 + (int32_t)(title_of(&s->column[c]) - s->column[c].text) + l.most[c];
    *first = l.most[0];
    return all;
}

/* ------------------------------------------------------------------ JSON */

/* "[1,96,96,3]" as an array; a size that is known at run time is its text. */
static void put_shape(ac_json *j, const char *key, const char *shape)
{
    ac_region *r = j->to->cx->region;
    ac_json_arr(j, key);
    for (const char *p = shape + strspn(shape, "["); *p && *p != ']'; p += *p == ',') {
        const char *end = p + strcspn(p, ",]");
        char *rest;
        const long long v = strtoll(p, &rest, 10);
        if (rest == end && end > p)
            ac_json_int(j, NULL, v);
        else
            ac_json_str(j, NULL, ac_strf(r, "%.*s", (int)(end - p), p));
        p = end;
    }
    ac_json_end(j);
}

static void put_member(ac_json *j, const char *key, const ac_cell *x)
{
    if (x->kind == AC_CELL_NUMBER || x->kind == AC_CELL_COUNT)
        ac_json_int(j, key, x->n);
    else if (x->kind == AC_CELL_SHAPE)
        put_shape(j, key, x->text);
    else if (x->kind == AC_CELL_LIST) {
        AC_JSON_COLUMN(j, key, x->n, ac_json_int, x->list[i]);
    } else if (x->kind != AC_CELL_ABSENT)
        ac_json_str(j, key, x->kind == AC_CELL_NONE ? NULL : x->text);
}

void ac_section_members(ac_json *j, const ac_section *s, int32_t row)
{
    ac_cell cell[AC_COLUMNS];
    s->cells(s, row, cell);
    for (int32_t c = 0; c < s->n_columns; c++)
        if (s->column[c].key)
            put_member(j, s->column[c].key, &cell[c]);
}

void ac_section_json(ac_json *j, const ac_section *s)
{
    enum { USUAL_TEXT = 384 }; /* bytes of one row */
    ac_sink_room(j->to, USUAL_TEXT * (size_t)s->n);
    ac_json_arr(j, s->key);
    for (int32_t i = 0; i < s->n; i++) {
        ac_json_obj(j, NULL);
        ac_section_members(j, s, i);
        ac_json_end(j);
    }
    ac_json_end(j);
}

/* ------------------------------------------------------------------ Markdown */

void ac_put_md_code(ac_sink *to, const char *s)
{
    ac_putc(to, '`');
    for (; *s; s++) {
        if (*s == '|')
            ac_putc(to, '\\');
        ac_putc(to, *s == '`' || (unsigned char)*s < ' ' ? '\'' : *s);
    }
    ac_putc(to, '`');
}

void ac_section_md(ac_sink *to, const ac_section *s)
{
    ac_cell cell[AC_COLUMNS];
    for (int32_t i = -2; i < s->n; i++) {
        if (i >= 0)
            cells_of(s, i, cell);
        for (int32_t c = 0; c < s->n_columns; c++) {
            const ac_section_column *x = &s->column[c];
            const char *title = x->md ? x->md + strspn(x->md, " ") : "";
            if (!*title || !is_met(s, c))
                continue;
            if (i == -1) {
                ac_put(to, x->wide > 0 ? "|---:" : "|---");
                continue;
            }
            const char *text = i < 0 ? title : text_of(s, &cell[c]);
            ac_put(to, "| ");
            if (i >= 0 && (cell[c].kind == AC_CELL_NAME || cell[c].kind == AC_CELL_CODE))
                ac_put_md_code(to, text);
            else
                ac_put(to, text ? text : "");
            ac_putc(to, ' ');
        }
        ac_put(to, "|\n");
    }
}

/* ------------------------------------------------------------------ the page */

/* A name that may be broken after its slashes. */
static void put_broken(ac_sink *to, const char *name)
{
    for (const char *end = name + strlen(name); name < end;) {
        const char *slash = memchr(name, '/', (size_t)(end - name));
        const size_t part = slash ? (size_t)(slash + 1 - name) : (size_t)(end - name);
        ac_put_xml(to, name, part);
        name += part;
        if (slash && name < end)
            ac_put(to, "<wbr>");
    }
}

/* The rest of an element's tag, and its text: a short name, with the whole one where the pointer rests on it. */
static void put_short(ac_sink *to, const ac_section *s, const char *name)
{
    const char *brief = ac_name_short(s->names, name);
    if (strcmp(brief, name) != 0) {
        ac_put(to, " title=\"");
        ac_put_xml_text(to, name);
        ac_putc(to, '"');
    }
    ac_putc(to, '>');
    put_broken(to, brief);
}

static void put_page_cell(ac_sink *to, const ac_section *s, const ac_section_column *c, const ac_cell *x)
{
    const bool link = x->kind == AC_CELL_NAME && x->n >= 0, address = x->kind == AC_CELL_ADDRESS;
    ac_putf(to, "<td%s", address ? " class=\"at\"" : c->wide > 0 ? " class=\"n\"" : "");
    if (link)
        ac_putf(to, "><button class=\"link\" data-t=\"%d\"", (int)x->n);
    if (x->kind == AC_CELL_NAME) {
        put_short(to, s, x->text);
        ac_put(to, link ? "</button>" : "");
        return;
    }
    ac_putc(to, '>');
    if (x->kind == AC_CELL_ALIAS) {
        ac_putf(to, "%s of ", x->text);
        put_broken(to, ac_name_short(s->names, x->of));
        return;
    }
    const char *text = x->kind == AC_CELL_LIST ? list_text(to->cx, x, ", ") : text_of(s, x);
    ac_put_xml_text(to, text ? text : "");
}

void ac_section_page(ac_sink *to, const ac_section *s, const char *body, bool open)
{
    ac_cell cell[AC_COLUMNS];
    ac_putf(to,
            "<details%s><summary>All %s</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
            "aria-label=\"All %s\"><table id=\"%s\"><thead><tr>",
            open ? " open" : "", s->key, s->key, s->key);
    for (int32_t c = 0; c < s->n_columns; c++)
        if (s->column[c].page)
            ac_putf(to, "<th scope=\"col\"%s>%s", s->column[c].wide > 0 ? " class=\"n\"" : "", s->column[c].page);
    ac_putf(to, "</thead><tbody id=\"%s\">\n", body);
    for (int32_t i = 0; i < s->n; i++) {
        if (i == AC_PAGE_ROWS) /* the script makes rows of these lines when they are needed */
            ac_putf(to, "</tbody></table></div></details>\n<script type=\"text/plain\" id=\"more-%s\">\n", body);
        cells_of(s, i, cell);
        ac_putf(to, "<tr id=\"%c%d\">", body[0], i);
        for (int32_t c = 0; c < s->n_columns; c++)
            if (s->column[c].page && cell[c].kind != AC_CELL_ABSENT)
                put_page_cell(to, s, &s->column[c], &cell[c]);
        ac_putc(to, '\n');
    }
    ac_put(to, s->n > AC_PAGE_ROWS ? "</script>\n" : "</tbody></table></div></details>\n");
}
