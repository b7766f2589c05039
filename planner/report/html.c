/* html.c - the picture as one page that needs no network: the image of svg.c, two tables that say the same without
 * script, the plan as data, and the script of html_script.inc. docs/reports.md names the elements that tests may rely
 * on.
 *
 * Everything that comes from a model is text: escaped by ac_put_xml in the page, and written by the JSON writer with
 * '<' as an escape in the data, so no name can end the script element. A content security policy forbids the page to
 * fetch anything. */
#include "base/json_out.h"
#include "planner/report/picture.h"

#include <string.h>

#define TEXT(...) #__VA_ARGS__
#include "planner/report/html_style.inc"
#include "planner/report/html_script.inc"
#undef TEXT

/* ------------------------------------------------------------------ data */

typedef struct data {
    ac_json j;
    const ac_picture *pic;
    const ac_report *r;
    const ac_plan **plan; /* the report's own first */
    int32_t n_plans;
} data;

static void list_plans(ac_ctx *cx, data *d)
{
    const ac_report *r = d->r;
    d->plan = AC_NEW_N(cx->region, const ac_plan *, r->n_others + 1);
    d->plan[d->n_plans++] = r->plan;
    for (int32_t k = 0; k < r->n_others; k++)
        if (!r->plan->strategy || strcmp(r->other[k].strategy, r->plan->strategy))
            d->plan[d->n_plans++] = &r->other[k];
}

static void put_plans(data *d)
{
    ac_json *j = &d->j;
    const ac_problem *p = d->r->problem;
    ac_json_arr(j, "planners");
    for (int32_t k = 0; k < d->n_plans; k++)
        ac_json_str(j, NULL, d->plan[k]->strategy ? d->plan[k]->strategy : "plan");
    ac_json_end(j);
    ac_json_arr(j, "arena");
    for (int32_t k = 0; k < d->n_plans; k++)
        ac_json_int(j, NULL, d->plan[k]->arena_bytes);
    ac_json_end(j);
    ac_json_arr(j, "used"); /* by planner, by memory */
    for (int32_t k = 0; k < d->n_plans; k++) {
        ac_json_arr(j, NULL);
        for (int32_t m = 0; m < p->n_mems; m++)
            ac_json_int(j, NULL, d->plan[k]->mem_bytes[m]);
        ac_json_end(j);
    }
    ac_json_end(j);
    ac_json_arr(j, "offsets"); /* by planner, by item */
    for (int32_t k = 0; k < d->n_plans; k++) {
        ac_json_arr(j, NULL);
        for (int32_t i = 0; i < p->n; i++)
            ac_json_int(j, NULL, d->plan[k]->offset[i]);
        ac_json_end(j);
    }
    ac_json_end(j);
    ac_json_arr(j, "mem");
    for (int32_t k = 0; k < d->n_plans; k++) {
        ac_json_arr(j, NULL);
        for (int32_t i = 0; i < p->n; i++)
            ac_json_int(j, NULL, d->plan[k]->mem[i]);
        ac_json_end(j);
    }
    ac_json_end(j);
}

#define COLUMN(key, n, put, value)        \
    do {                                  \
        ac_json_arr(j, key);              \
        for (int32_t i = 0; i < (n); i++) \
            put(j, NULL, value);          \
        ac_json_end(j);                   \
    } while (0)

static void put_items(data *d)
{
    ac_json *j = &d->j;
    const ac_problem *p = d->r->problem;
    COLUMN("memories", p->n_mems, ac_json_str, p->mem[i].name);
    COLUMN("top", d->pic->n_panels, ac_json_int, d->pic->panel[i].top);
    COLUMN("size", p->n, ac_json_int, p->item[i].size);
    COLUMN("align", p->n, ac_json_int, p->item[i].align);
    COLUMN("begin", p->n, ac_json_int, p->item[i].life.begin);
    COLUMN("end", p->n, ac_json_int, p->item[i].life.end);
    COLUMN("root", p->n, ac_json_int, d->pic->root[i]);
    COLUMN("label_end", p->n, ac_json_int, d->pic->label_end[i]);
    ac_json_obj(j, "gaps"); /* by item: [from step, to step, low byte, high byte] */
    for (int32_t i = 0; i < p->n; i++) {
        if (!p->item[i].n_gaps)
            continue;
        ac_json_arr(j, ac_strf(j->to->cx->region, "%d", i));
        for (int32_t g = 0; g < p->item[i].n_gaps; g++) {
            const ac_gap *x = &p->item[i].gaps[g];
            ac_json_arr(j, NULL);
            ac_json_int(j, NULL, x->life.begin);
            ac_json_int(j, NULL, x->life.end);
            ac_json_int(j, NULL, x->lo);
            ac_json_int(j, NULL, x->hi);
            ac_json_end(j);
        }
        ac_json_end(j);
    }
    ac_json_end(j);
}

static const char *type_text(ac_ctx *cx, const ac_report_tensor *x)
{
    return *x->dtype ? ac_strf(cx->region, "%s %s", x->dtype, x->shape) : "";
}

static void put_rows(data *d)
{
    ac_json *j = &d->j;
    const ac_report_tensor *x = d->pic->row;
    int32_t n = d->pic->n_rows;
    COLUMN("name", n, ac_json_str, x[i].name);
    COLUMN("type", n, ac_json_str, type_text(j->to->cx, &x[i]));
    COLUMN("kind", n, ac_json_str, ac_picture_kind(d->pic, i));
    COLUMN("bytes", n, ac_json_int, x[i].bytes);
    COLUMN("item", n, ac_json_int, x[i].item);
    COLUMN("delta", n, ac_json_int, x[i].delta);
    COLUMN("first", n, ac_json_int, x[i].first);
    COLUMN("last", n, ac_json_int, x[i].last);
    COLUMN("producer", n, ac_json_int, x[i].producer);
    COLUMN("labelled", n, ac_json_int, ac_picture_labelled(d->pic, i));
    COLUMN("short", n, ac_json_str, ac_name_short(d->pic->names, x[i].name));
    COLUMN("alias", n, ac_json_str, x[i].alias_of);
    COLUMN("how", n, ac_json_str, x[i].alias_how);
    ac_json_arr(j, "readers");
    for (int32_t t = 0; t < n; t++)
        COLUMN(NULL, x[t].n_consumers, ac_json_int, x[t].consumers[i]);
    ac_json_end(j);
    COLUMN("step_op", d->r->n_steps, ac_json_str, d->r->step[i].op);
    COLUMN("step_name", d->r->n_steps, ac_json_str, d->r->step[i].name);
}

static void put_data(ac_sink *to, const ac_picture *pic)
{
    ac_sink text;
    ac_sink_open(&text, to->cx);
    data d = {.j = ac_json_open(&text), .pic = pic, .r = pic->r};
    list_plans(to->cx, &d);
    ac_json_obj(&d.j, NULL);
    ac_json_int(&d.j, "steps", pic->steps);
    ac_json_int(&d.j, "peak", pic->r->peak);
    ac_json_int(&d.j, "bound", ac_report_lower_bound(pic->r));
    ac_json_int(&d.j, "budget", pic->r->budget);
    put_plans(&d);
    put_items(&d);
    put_rows(&d);
    ac_json_end(&d.j);
    ac_put(to, "<script type=\"application/json\" id=\"plan-data\">");
    for (size_t i = 0; i < text.n; i++) /* '<' is only inside strings; escaped, it cannot open or end an element */
        if (text.text[i] == '<')
            ac_put(to, "\\u003c");
        else
            ac_putc(to, text.text[i]);
    ac_put(to, "</script>\n");
}

/* ------------------------------------------------------------------ tables: all there is without script */

/* A name of n bytes that may be broken after its slashes. */
static void put_name(ac_sink *to, const char *name, size_t n)
{
    for (const char *end = name + n; name < end;) {
        const char *slash = memchr(name, '/', (size_t)(end - name));
        const size_t part = slash ? (size_t)(slash + 1 - name) : (size_t)(end - name);
        ac_put_xml(to, name, part);
        name += part;
        if (slash && name < end)
            ac_put(to, "<wbr>");
    }
}

static void put_row(ac_sink *to, const ac_picture *pic, int32_t row)
{
    const ac_report *r = pic->r;
    const ac_report_tensor *x = &pic->row[row];
    ac_putf(to, "<tr id=\"r%d\"><td>", row);
    if (x->item < 0) {
        ac_put_xml_text(to, x->name);
        ac_putf(to, "<td>%s<td class=\"n\">%s<td>constant\n", type_text(to->cx, x), ac_commas(to->cx, x->bytes));
        return;
    }
    ac_putf(to, "<button class=\"link\" data-t=\"%d\"", row);
    size_t n = ac_name_first(x->name);
    if (x->name[n]) {
        ac_put(to, " title=\"");
        ac_put_xml_text(to, x->name);
        ac_put(to, "\">");
        put_name(to, x->name, n);
        ac_put(to, "; ..");
    } else {
        ac_putc(to, '>');
        put_name(to, x->name, n);
    }
    ac_put(to, "</button><td>");
    ac_put_xml_text(to, type_text(to->cx, x));
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
        put_name(to, x->alias_of, ac_name_first(x->alias_of));
    }
    ac_putc(to, '\n');
}

static void put_tables(ac_sink *to, const ac_picture *pic)
{
    const ac_report *r = pic->r;
    ac_put(to,
           "<details open><summary>All tensors</summary><div class=\"scroll\"><table "
           "id=\"tensors\"><thead><tr><th>tensor<th>type"
           "<th class=\"n\">bytes<th>address<th class=\"n\">first step<th class=\"n\">last step<th class=\"n\">producer"
           "<th>consumers<th>shares</thead><tbody id=\"rows\">\n");
    for (int32_t t = 0; t < pic->n_rows; t++)
        put_row(to, pic, t);
    ac_put(to, "</tbody></table></div></details>\n");
    if (!r->n_steps)
        return;
    ac_put(
        to,
        "<details><summary>All steps</summary><div class=\"scroll\"><table id=\"steps\"><thead><tr><th class=\"n\">step"
        "<th>operator<th>name<th class=\"n\">live bytes</thead><tbody>\n");
    for (int32_t s = 0; s < r->n_steps; s++) {
        ac_putf(to, "<tr><td class=\"n\">%d<td>", s);
        ac_put_xml_text(to, r->step[s].op);
        ac_put(to, r->step[s].again ? " (again)<td>" : "<td>");
        ac_put_xml_text(to, r->step[s].name);
        ac_putf(to, "<td class=\"n\">%s\n", ac_commas(to->cx, r->step[s].live));
    }
    ac_put(to, "</tbody></table></div></details>\n");
}

/* ------------------------------------------------------------------ page */

static void put_dark(ac_sink *to, const char *selector)
{
    ac_putf(to, "%s%s", selector, DARK);
}

static void put_head(ac_sink *to, const ac_report *r)
{
    ac_put(to, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
               "script-src 'unsafe-inline'; img-src data:\">\n"
               "<meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
    ac_put_xml_text(to, ac_picture_title(to->cx, r));
    ac_put(to, "</title>\n<style>");
    ac_put(to, ac_svg_style);
    for (size_t k = 0; k < sizeof STYLE / sizeof *STYLE; k++)
        ac_put(to, STYLE[k]);
    ac_put(to, "\n@media screen and (prefers-color-scheme:dark){");
    put_dark(to, ":root:not([data-theme=light])");
    ac_put(to, "}\n@media screen{");
    put_dark(to, ":root[data-theme=dark]");
    ac_put(to, "}:root[data-theme=light]{color-scheme:light}</style>\n</head>\n<body>\n");
}

static void put_bar(ac_sink *to, const ac_report *r, int32_t n_plans)
{
    const char *strategy = r->plan->strategy ? r->plan->strategy : "plan";
    ac_put(
        to,
        "<div class=\"bar\" role=\"toolbar\" aria-label=\"Picture\">\n"
        "<label>Search <input type=\"search\" id=\"search\" placeholder=\"name, type or shape\" autocomplete=\"off\" "
        "spellcheck=\"false\"></label><output id=\"hits\" for=\"search\" aria-live=\"polite\"></output>\n");
    ac_putf(to, "<label>Step <input type=\"number\" id=\"step\" min=\"0\" max=\"%d\"></label>\n",
            r->problem->steps - 1);
    ac_putf(to,
            "<label>Planner <input type=\"range\" id=\"planner\" min=\"0\" max=\"%d\" value=\"0\" "
            "aria-valuetext=\"%s\"%s></label>"
            "<output id=\"planner-name\" for=\"planner\">%s&nbsp; %s B</output>\n",
            n_plans - 1, strategy, n_plans > 1 ? "" : " disabled", strategy, ac_commas(to->cx, r->plan->arena_bytes));
    ac_put(to, "<span class=\"end\"><button id=\"zoom-in\" aria-label=\"Zoom in\">+</button><button id=\"zoom-out\" "
               "aria-label=\"Zoom out\">&minus;</button><button id=\"fit\">Fit</button><button id=\"theme\" "
               "aria-label=\"Dark or light\">&#9680;</button></span>\n</div>\n");
}

void ac_report_html(ac_sink *to, const ac_report *r)
{
    ac_picture *pic = ac_picture_of(to->cx, r, AC_SVG_INLINE);
    data d = {.r = r};
    list_plans(to->cx, &d);
    put_head(to, r);
    put_bar(to, r, d.n_plans);
    ac_put(to, "<h1>");
    ac_put_xml_text(to, ac_picture_title(to->cx, r));
    ac_put(to, "</h1>\n<noscript><p>Search, zoom and the other planners need script. The picture (rest the pointer on "
               "a tensor) and the tables "
               "do not.</p></noscript>\n<main>\n<div><div class=\"picture\" id=\"plot\">\n");
    ac_picture_draw(to, pic, AC_SVG_INLINE);
    ac_put(to, "</div>\n<p class=\"keys\">Drag to move, <kbd>Ctrl</kbd>+wheel to zoom (<kbd>Shift</kbd> steps only, "
               "<kbd>Alt</kbd> addresses "
               "only). In the picture: <kbd>&larr;</kbd> <kbd>&rarr;</kbd> step, <kbd>&uarr;</kbd> <kbd>&darr;</kbd> "
               "tensor, <kbd>p</kbd> peak, "
               "<kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd> zoom. <kbd>/</kbd> search, <kbd>Esc</kbd> clears.</p>\n</div>\n"
               "<aside><section id=\"step-view\" aria-live=\"polite\" aria-label=\"Step\"></section><section "
               "id=\"tensor-view\" "
               "aria-live=\"polite\" aria-label=\"Tensor\"></section></aside>\n</main>\n");
    ac_report_curve(to, r);
    put_tables(to, pic);
    put_data(to, pic);
    ac_put(to, "<script>");
    for (size_t k = 0; k < sizeof SCRIPT / sizeof *SCRIPT; k++)
        ac_putf(to, "%s\n", SCRIPT[k]);
    ac_put(to, "</script>\n</body>\n</html>\n");
}
