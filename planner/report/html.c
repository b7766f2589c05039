/* html.c - the picture as one page that needs no network: the image of svg.c, two tables that say the same without
 * script, the plan as data (html_data.c), and the script of page/. docs/reports.md names the elements that tests may
 * rely on.
 *
 * Everything that comes from a model is text: escaped by ac_put_xml in the page, and written by the JSON writer with
 * '<' as an escape in the data, so no name can end the script element. A content security policy forbids the page to
 * fetch anything. */
#include "planner/report/page.h"
#include "planner/report/picture.h"
#include "planner/report/section.h"

#include <string.h>

/* All there is without script. */
static void put_tables(ac_sink *to, const ac_picture *pic)
{
    const ac_report *r = pic->r;
    const ac_section tensors = ac_section_tensors(to->cx, r, pic->names, pic->row, pic->n_rows);
    ac_section_page(to, &tensors, "rows", pic->n_rows <= AC_PAGE_MANY);
    if (!r->n_steps)
        return;
    const ac_layers layers = {.step = r->step, .n = r->n_steps, .names = pic->names, .planned = true};
    const ac_section steps = ac_section_steps(to->cx, &layers);
    ac_section_page(to, &steps, "step-rows", false);
}

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
    ac_put(to, r->watched ? "</style>\n</head>\n<body data-watch>\n" : "</style>\n</head>\n<body>\n");
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
               "<label hidden>Fold <select id=\"fold\"><option value=\"0\">nothing</option><option value=\"1\">modules"
               "</option><option value=\"2\">submodules</option></select></label>\n"
               "<label>Colour by <select id=\"color\"></select></label>\n"
               "<label><input type=\"checkbox\" id=\"log\"> log</label>\n"
               "<span class=\"end\"><select id=\"save\" aria-label=\"Save the map as a file\"><option value=\"\">Save"
               "</option><option value=\"svg\">as SVG</option><option value=\"png\">as PNG</option></select><button "
               "id=\"zoom-in\" aria-label=\"Zoom in\">+</button><button id=\"zoom-out\" "
               "aria-label=\"Zoom out\">&minus;</button><button id=\"fit\">Fit</button><button id=\"theme\" "
               "aria-label=\"Dark or light\">&#9680;</button></span>\n</div></section>\n");
}

void ac_report_html(ac_sink *to, const ac_report *r)
{
    static const char *const SCRIPT[] = {"data.js",    "map.js",   "lanes.js", "threads.js", "select.js", "tables.js",
                                         "compare.js", "graph.js", "look.js",  "whatif.js",  "start.js"};
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
               "<section id=\"lower\" aria-label=\"To go lower\"></section>"
               "<section id=\"what-if\" aria-label=\"What if\"></section>"
               "<section id=\"largest\" aria-label=\"Largest tensors\"></section></aside>\n</main>\n"
               "<div id=\"card\" role=\"tooltip\" hidden></div>\n");
    ac_report_curve(to, r);
    put_tables(to, pic);
    ac_page_data(to, pic);
    ac_put(to, "<script>\n\"use strict\";\n");
    for (size_t k = 0; k < sizeof SCRIPT / sizeof *SCRIPT; k++)
        put_file(to, SCRIPT[k]);
    ac_put(to, "</script>\n</body>\n</html>\n");
}
