/* html.c - the picture as one page that needs no network: the image of svg.c, two tables that say the same without
 * script, the plan as data (html_data.c), and the script of page/. docs/reports.md names the elements that tests may
 * rely on.
 *
 * Everything that comes from a model is text: escaped by ac_put_xml in the page, and written by the JSON writer with
 * '<' as an escape in the data, so no name can end the script element. A content security policy forbids the page to
 * fetch anything. */
#include "planner/report/page.h"
#include "planner/report/picture.h"

#include <string.h>

/* ------------------------------------------------------------------ tables: all there is without script */

/* A name that may be broken after its slashes. */
static void put_name(ac_sink *to, const char *name)
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
static void put_short(ac_sink *to, const ac_picture *pic, const char *name)
{
    const char *s = ac_name_short(pic->names, name);
    if (strcmp(s, name) != 0) {
        ac_put(to, " title=\"");
        ac_put_xml_text(to, name);
        ac_putc(to, '"');
    }
    ac_putc(to, '>');
    put_name(to, s);
}

static void put_row(ac_sink *to, const ac_picture *pic, int32_t row)
{
    const ac_report *r = pic->r;
    const ac_report_tensor *x = &pic->row[row];
    ac_putf(to, "<tr id=\"r%d\"><td", row);
    if (x->item < 0) {
        put_short(to, pic, x->name);
        ac_putf(to, "<td>%s<td class=\"n\">%s<td>constant\n", ac_page_type(to->cx, x), ac_commas(to->cx, x->bytes));
        return;
    }
    ac_putf(to, "><button class=\"link\" data-t=\"%d\"", row);
    put_short(to, pic, x->name);
    ac_put(to, "</button><td>");
    ac_put_xml_text(to, ac_page_type(to->cx, x));
    ac_bytes at = r->plan->offset[x->item] + x->delta;
    ac_putf(to, "<td class=\"n\">%s<td class=\"at\">0x%llx-0x%llx<td class=\"n\">%d<td class=\"n\">%d<td class=\"n\">",
            ac_commas(to->cx, x->bytes), (unsigned long long)at,
            (unsigned long long)(at + (x->bytes ? x->bytes - 1 : 0)), x->first, x->last);
    if (x->producer >= 0)
        ac_putf(to, "%d", x->producer);
    else
        ac_put(to, x->state ? "state" : x->input ? "input" : "");
    ac_put(to, "<td>");
    for (int32_t k = 0; k < x->n_consumers; k++)
        ac_putf(to, "%s%d", k ? ", " : "", x->consumers[k]);
    if (x->output)
        ac_put(to, x->n_consumers ? ", output" : "output");
    ac_put(to, "<td>");
    if (x->alias_of) {
        ac_putf(to, "%s of ", x->alias_how ? x->alias_how : "part");
        put_name(to, ac_name_short(pic->names, x->alias_of));
    }
    ac_putc(to, '\n');
}

/* A table whose columns the script makes sortable; a column's name begins with # where it is of numbers. */
static void put_columns(ac_sink *to, const char *id, const char *title, bool open, const char *const *column)
{
    ac_putf(to,
            "<details%s><summary>%s</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
            "<table id=\"%s\"><thead><tr>",
            open ? " open" : "", title, title, id);
    for (; *column; column++)
        ac_putf(to, "<th scope=\"col\"%s>%s", **column == '#' ? " class=\"n\"" : "", *column + (**column == '#'));
    ac_putf(to, "</thead><tbody id=\"%s\">\n", !strcmp(id, "tensors") ? "rows" : "step-rows");
}

static void put_tables(ac_sink *to, const ac_picture *pic)
{
    static const char *const TENSOR[] = {"tensor",     "type",      "#bytes",    "address", "#first step",
                                         "#last step", "#producer", "consumers", "shares",  NULL};
    static const char *const STEP[] = {"#step",          "operator", "name",     "#live bytes",
                                       "#multiply-adds", "#weights", "#traffic", NULL};
    const ac_report *r = pic->r;
    put_columns(to, "tensors", "All tensors", pic->n_rows <= AC_PAGE_MANY, TENSOR);
    for (int32_t t = 0; t < pic->n_rows; t++)
        put_row(to, pic, t);
    ac_put(to, "</tbody></table></div></details>\n");
    if (!r->n_steps)
        return;
    put_columns(to, "steps", "All steps", false, STEP);
    for (int32_t s = 0; s < r->n_steps; s++) {
        const ac_report_step *x = &r->step[s];
        ac_putf(to, "<tr id=\"s%d\"><td class=\"n\">%d<td>", s, s);
        ac_put_xml_text(to, x->op);
        ac_put(to, x->again ? " (again)<td" : "<td");
        put_short(to, pic, x->name);
        const int64_t figure[] = {x->live, x->macs, x->weights, x->traffic};
        for (size_t k = 0; k < sizeof figure / sizeof *figure; k++)
            ac_putf(to, "<td class=\"n\">%s", figure[k] < 0 ? "" : ac_commas(to->cx, figure[k]));
        ac_putc(to, '\n');
    }
    ac_put(to, "</tbody></table></div></details>\n");
}

/* ------------------------------------------------------------------ page */

static void put_file(ac_sink *to, const char *name)
{
    for (int k = 0; k < ac_page_count; k++)
        if (!strcmp(ac_page_files[k].name, name))
            ac_put_n(to, ac_page_files[k].data, ac_page_files[k].n);
}

static void put_head(ac_sink *to, const ac_report *r)
{
    ac_put(to, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
               "script-src 'unsafe-inline'; img-src data:\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<link rel=\"icon\" href=\"data:,\">\n<title>");
    ac_put_xml_text(to, ac_picture_title(to->cx, r));
    ac_put(to, "</title>\n<style>");
    ac_put(to, ac_svg_style);
    ac_putc(to, '\n');
    put_file(to, "page.css");
    ac_put(to, "</style>\n</head>\n<body>\n");
}

static void put_bar(ac_sink *to, const ac_report *r)
{
    ac_put(to, "<section aria-label=\"Controls\"><div class=\"bar\" role=\"toolbar\" aria-label=\"Picture\">\n"
               "<span class=\"tabs\" role=\"group\" aria-label=\"View\"><button id=\"show-map\" aria-pressed=\"true\">"
               "Memory</button><button id=\"show-graph\" aria-pressed=\"false\">Graph</button></span>\n"
               "<label>Search <input type=\"search\" id=\"search\" placeholder=\"name, type or shape\" "
               "autocomplete=\"off\" spellcheck=\"false\"></label><output id=\"hits\" for=\"search\" "
               "aria-live=\"polite\"></output>\n");
    ac_putf(to, "<label>Step <input type=\"number\" id=\"step\" min=\"0\" max=\"%d\"></label>\n",
            r->problem->steps - 1);
    ac_put(to, "<label>Compare with <select id=\"than\"><option value=\"\">nothing</option></select></label>"
               "<input type=\"file\" id=\"than-file\" hidden aria-label=\"A page, JSON report or lock to compare "
               "with\" accept=\".html,.json,.lock\">\n"
               "<span class=\"end\"><button id=\"zoom-in\" aria-label=\"Zoom in\">+</button><button id=\"zoom-out\" "
               "aria-label=\"Zoom out\">&minus;</button><button id=\"fit\">Fit</button><button id=\"theme\" "
               "aria-label=\"Dark or light\">&#9680;</button></span>\n</div></section>\n");
}

void ac_report_html(ac_sink *to, const ac_report *r)
{
    static const char *const SCRIPT[] = {"data.js",   "map.js",     "lanes.js", "threads.js", "select.js",
                                         "tables.js", "compare.js", "graph.js", "start.js"};
    ac_picture *pic = ac_picture_of(to->cx, r, AC_SVG_INLINE);
    put_head(to, r);
    ac_put(to, "<header><h1>");
    ac_put_xml_text(to, ac_picture_title(to->cx, r));
    ac_put(to, "</h1><dl id=\"figures\"></dl></header>\n");
    put_bar(to, r);
    ac_put(to, "<noscript><p>Search, zoom and the other planners need script. The picture (rest the pointer on a "
               "tensor) and the tables do not.</p></noscript>\n<main>\n<div id=\"map\">\n"
               "<ul id=\"legend\" aria-label=\"Legend\"></ul>\n<div id=\"alive\"></div>\n"
               "<div class=\"picture\" id=\"plot\">\n");
    ac_picture_draw(to, pic, AC_SVG_INLINE);
    ac_put(to, "</div>\n<div id=\"lanes\"></div>\n<div id=\"threads\"></div>\n<div id=\"mini\"></div>\n<div "
               "id=\"before\"></div>\n"
               "<p class=\"keys\" id=\"keys\">Drag to move, <kbd>Ctrl</kbd>+wheel to zoom (<kbd>Shift</kbd> steps "
               "only, <kbd>Alt</kbd> addresses only). Keys: <kbd>&larr;</kbd> <kbd>&rarr;</kbd> step, "
               "<kbd>&uarr;</kbd> <kbd>&darr;</kbd> tensor, <kbd>p</kbd> peak, <kbd>+</kbd> <kbd>-</kbd> "
               "<kbd>0</kbd> zoom. <kbd>/</kbd> search, <kbd>Esc</kbd> clears.</p>\n</div>\n"
               "<div id=\"graph\" hidden></div>\n"
               "<aside><section id=\"step-view\" aria-live=\"polite\" aria-label=\"Step\"></section>"
               "<section id=\"tensor-view\" aria-live=\"polite\" aria-label=\"Tensor\"></section>"
               "<section id=\"planners\" aria-label=\"Planners\"></section>"
               "<section id=\"lower\" aria-label=\"To go lower\"></section></aside>\n</main>\n"
               "<div id=\"card\" role=\"tooltip\" hidden></div>\n");
    ac_report_curve(to, r);
    put_tables(to, pic);
    ac_page_data(to, pic);
    ac_put(to, "<script>\n\"use strict\";\n");
    for (size_t k = 0; k < sizeof SCRIPT / sizeof *SCRIPT; k++)
        put_file(to, SCRIPT[k]);
    ac_put(to, "</script>\n</body>\n</html>\n");
}
