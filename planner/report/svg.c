/* svg.c - draws the plan as an image, described in picture.h. Text and rectangles only, no script; the file reads well
 * as a picture in a README and describes the tensor under the pointer. */
#include "planner/report/threads.h"

#include "planner/pack/place.h"

#include <string.h>

static const double LEAST = 0.5; /* pixels: less padding is not drawn */

const char *const ac_svg_style =
    "text{font:11px system-ui,sans-serif;fill:#24292f}.h{font-size:15px;font-weight:600}.s,.ax text{fill:#57606a}"
    ".op{font-size:9px}.bg{fill:#fff}.plot{fill:#f6f8fa}.grid{stroke:#d8dee4}.hole{fill:#cdd3da}.peak{fill:#d1242f;"
    "fill-opacity:.12}.bound{stroke:#d1242f;stroke-width:1.5;stroke-dasharray:7 "
    "4}.budget{stroke:#24292f;stroke-width:1.5;"
    "stroke-dasharray:2 3}.ax .r{fill:#c1121f;font-weight:700}.t rect{stroke:#1f3a4d;stroke-width:.7}.labels "
    "text{fill:#10222e;pointer-events:none}"
    ".act rect{fill:#8cc4e6}.act.b rect{fill:#6aaed8}.act.c rect{fill:#b0d8ef}.in rect{fill:#2fae8a}.out "
    "rect{fill:#f0a830}"
    ".state rect{fill:#d58fb5}.scratch rect{fill:#f0e442}.alias rect{stroke-dasharray:3 2}"
    ".act.alias rect{fill:#fff;fill-opacity:.3}.t:hover rect{stroke:#000;stroke-width:2}.far .t "
    "rect{stroke-width:0}.over{pointer-events:none}";

/* For a step of training: tensors kept for the steps after the loss, and recomputed ones. */
static const char *const TRAINING_STYLE =
    ".kept rect{fill:#b8a4e3}.again rect{fill:#f08c5a}.band{fill:#57606a;fill-opacity:.07}";

/* A length in pixels: at most one decimal. */
static void put_px(ac_sink *to, const char *key, double v)
{
    long tenths = (long)(v * 10 + (v < 0 ? -0.5 : 0.5));
    if (tenths % 10)
        ac_putf(to, " %s=\"%.1f\"", key, (double)tenths / 10);
    else
        ac_putf(to, " %s=\"%ld\"", key, tenths / 10);
}

static void put_box(ac_sink *to, double x, double y, double w, double h)
{
    put_px(to, "x", x);
    put_px(to, "y", y);
    put_px(to, "width", w);
    put_px(to, "height", h);
}

static double x_of(const ac_picture *pic, ac_step s)
{
    return pic->w * (double)s / (double)pic->steps;
}

static double y_of(const ac_panel *at, ac_bytes b)
{
    return at->h * (1 - (double)b / (double)at->top);
}

/* ------------------------------------------------------------------ tensors */

/* The short name, if it has at most `most` characters; else 0. */
static size_t fit_name(const ac_picture *pic, const char *name, size_t most, const char **from)
{
    *from = ac_name_short(pic->names, name);
    const size_t n = strlen(*from);
    return n > most ? 0 : n;
}

static void put_upright(ac_sink *to, double x, double y, const char *text, size_t n)
{
    ac_putf(to, "<text text-anchor=\"end\" transform=\"translate(%.1f %.1f)rotate(-90)\">", x, y);
    ac_put_xml(to, text, n);
    ac_put(to, "</text>");
}

static void put_across(ac_sink *to, const char *class, double x, double y, const char *text, size_t n)
{
    ac_putf(to, "<text%s", class);
    put_px(to, "x", x);
    put_px(to, "y", y);
    ac_putc(to, '>');
    ac_put_xml(to, text, n);
    ac_put(to, "</text>");
}

/* The name if it fits and is unambiguous; else the size, which is more useful than a piece of a name. */
static void put_label(ac_sink *to, const ac_picture *pic, const ac_report_tensor *t, double x, double y, double w,
                      double h)
{
    enum { CHAR = 6 };
    const char *across = NULL, *up = NULL, *size = ac_picture_size(to->cx, t->bytes);
    size_t n = h >= 14 && w > 8 ? fit_name(pic, t->name, (size_t)((w - 6) / CHAR), &across) : 0;
    size_t m = w >= 14 && h > 8 ? fit_name(pic, t->name, (size_t)((h - 8) / CHAR), &up) : 0, k = strlen(size);
    if (n && (n >= m || w >= 72)) {
        put_across(to, "", x + 4, y + 12, across, n);
        if (h >= 30 && (double)k * CHAR + 6 <= w)
            put_across(to, " class=\"s\"", x + 4, y + 25, size, k);
    } else if (m) {
        put_upright(to, x + w / 2 + 4, y + 5, up, m);
    } else if (h >= 14 && (double)k * CHAR + 4 <= w) {
        put_across(to, "", x + 4, y + 12, size, k);
    } else if (w >= 14 && (double)k * CHAR + 8 <= h) {
        put_upright(to, x + w / 2 + 4, y + 5, size, k);
    }
}

static void put_step(ac_sink *to, const ac_report *r, ac_step s)
{
    ac_putf(to, "%d", s);
    if (s >= 0 && s < r->n_steps) {
        ac_putc(to, ' ');
        ac_put_xml_text(to, r->step[s].op);
    }
}

/* The text for the pointer: name, type, bytes, range, lifetime, producer, consumers. */
static void put_hover(ac_sink *to, const ac_picture *pic, int32_t row)
{
    const ac_report *r = pic->r;
    const ac_report_tensor *x = &pic->row[row];
    ac_bytes at = r->plan->offset[x->item] + x->delta;
    ac_put(to, "<title>");
    ac_put_xml_text(to, x->name);
    ac_putc(to, '\n');
    if (x->dtype && *x->dtype) {
        ac_put_xml_text(to, x->dtype);
        ac_putc(to, ' ');
        ac_put_xml_text(to, x->shape);
        ac_putc(to, ' ');
    }
    ac_putf(to, "%s B, 0x%llx-0x%llx\nsteps %d-%d", ac_commas(to->cx, x->bytes), (unsigned long long)at,
            (unsigned long long)(at + (x->bytes ? x->bytes - 1 : 0)), x->first, x->last);
    if (x->alias_of) {
        ac_putf(to, "\n%s of ", x->alias_how ? x->alias_how : "part");
        ac_put_xml_text(to, x->alias_of);
    }
    if (x->producer >= 0) {
        ac_put(to, "\nfrom ");
        put_step(to, r, x->producer);
    } else if (x->input || x->state) {
        ac_putf(to, "\n%s", x->state ? "state" : "graph input");
    }
    for (int32_t k = 0; k < x->n_consumers; k++) {
        ac_put(to, k ? ", " : "\nto ");
        put_step(to, r, x->consumers[k]);
    }
    ac_put(to, x->output ? (x->n_consumers ? ", graph output</title>" : "\nto graph output</title>") : "</title>");
}

/* The first step after the loss; the end where nothing is trained. */
static ac_step turn(const ac_report *r)
{
    ac_step s = 0;
    while (s < r->n_steps && !r->step[s].back)
        s++;
    return s;
}

const char *ac_picture_role(const ac_picture *pic, int32_t row)
{
    const ac_report *r = pic->r;
    const ac_report_tensor *x = &pic->row[row];
    if (turn(r) == r->n_steps || x->producer < 0 || x->producer >= r->n_steps || x->input || x->output || x->state)
        return "";
    if (r->step[x->producer].again)
        return "again";
    return !r->step[x->producer].back && r->problem->item[x->item].life.end > turn(r) + 1 ? "kept" : "";
}

/* Outlines would be all that is seen. */
static bool many(const ac_picture *pic)
{
    return pic->steps > AC_PAGE_MANY || pic->n_rows > AC_PAGE_MANY;
}

static void put_tensor(ac_sink *to, const ac_picture *pic, const ac_panel *at, int32_t row)
{
    static const char *const TINT[] = {"", " b", " c"};
    const ac_report_tensor *x = &pic->row[row];
    bool root = pic->root[x->item] == row;
    const char *kind = ac_picture_kind(pic, row), *role = root ? ac_picture_role(pic, row) : "";
    const ac_piece *p;
    int32_t n = ac_picture_pieces(to->cx, pic, row, &p);
    ac_putf(to, "<g id=\"t%d\" class=\"t %s%s%s%s%s\">", row, kind, root && !strcmp(kind, "act") ? TINT[row % 3] : "",
            *role ? " " : "", role, root ? "" : " alias");
    if (!many(pic))
        put_hover(to, pic, row);
    for (int32_t k = 0; k < n; k++) {
        double y = y_of(at, p[k].hi), h = y_of(at, p[k].lo) - y;
        ac_put(to, "<rect");
        put_box(to, x_of(pic, p[k].begin), h < 1 ? y + h - 1 : y, x_of(pic, p[k].end) - x_of(pic, p[k].begin),
                h < 1 ? 1 : h);
        ac_put(to, "/>");
    }
    ac_put(to, "</g>\n");
}

/* Too small to be seen among many: the script of a page creates its shape when it is enlarged. */
static bool is_dot(ac_ctx *cx, const ac_picture *pic, const ac_panel *at, int32_t row)
{
    enum { SMALL = 4 };
    const ac_piece *p;
    const int32_t n = ac_picture_pieces(cx, pic, row, &p);
    for (int32_t k = 0; k < n; k++)
        if (x_of(pic, p[k].end) - x_of(pic, p[k].begin) >= SMALL && y_of(at, p[k].lo) - y_of(at, p[k].hi) >= SMALL)
            return false;
    return many(pic);
}

/* All dots of a panel as one path, for readers without script. */
static void put_dots(ac_sink *to, const ac_picture *pic, const ac_panel *at)
{
    ac_put(to, "<path class=\"dots\" fill=\"#8cc4e6\" d=\"");
    for (int32_t i = 0; i < pic->r->problem->n; i++) {
        const ac_piece *p;
        if (pic->r->plan->mem[i] != at->mem || !is_dot(to->cx, pic, at, pic->root[i]))
            continue;
        for (int32_t n = ac_picture_pieces(to->cx, pic, pic->root[i], &p), k = 0; k < n; k++)
            ac_putf(to, "M%.0f %.0fh%.1fv%.1fH%.0fz", x_of(pic, p[k].begin), y_of(at, p[k].hi),
                    x_of(pic, p[k].end) - x_of(pic, p[k].begin), y_of(at, p[k].lo) - y_of(at, p[k].hi),
                    x_of(pic, p[k].begin));
    }
    ac_put(to, "\"/>\n");
}

/* In the widest piece of the row. */
static void put_row_label(ac_sink *to, const ac_picture *pic, const ac_panel *at, int32_t row)
{
    const ac_report_tensor *x = &pic->row[row];
    const ac_piece *p, *q = NULL;
    for (int32_t n = ac_picture_pieces(to->cx, pic, row, &p), k = 0; k < n; k++)
        if (!q || p[k].end - p[k].begin > q->end - q->begin)
            q = &p[k];
    if (!q || !x->bytes)
        return;
    ac_step end = pic->root[x->item] == row && pic->label_end[x->item] > q->begin && pic->label_end[x->item] < q->end
                      ? pic->label_end[x->item]
                      : q->end;
    double left = x_of(pic, q->begin), y = y_of(at, q->hi);
    put_label(to, pic, x, left, y, x_of(pic, end) - left, y_of(at, q->lo) - y);
}

/* ------------------------------------------------------------------ the background */

/* The free bytes below live ones: fills everything under the highest address in use; the tensors cover all but the
 * holes. */
static void put_holes(ac_sink *to, const ac_picture *pic, const ac_panel *at)
{
    enum { MAX = 2000 };
    const ac_report *r = pic->r;
    int32_t n = pic->steps < MAX ? pic->steps : MAX;
    ac_bytes *top = AC_NEW_N(to->cx->region, ac_bytes, n);
    for (int32_t row = 0; row < pic->n_rows; row++) {
        int32_t i = pic->row[row].item;
        const ac_piece *p;
        if (i < 0 || pic->root[i] != row || r->plan->mem[i] != at->mem)
            continue;
        for (int32_t k = ac_picture_pieces(to->cx, pic, row, &p); k--;)
            for (int64_t c = (int64_t)p[k].begin * n / pic->steps;
                 c < ((int64_t)p[k].end * n + pic->steps - 1) / pic->steps; c++)
                if (p[k].hi > top[c])
                    top[c] = p[k].hi;
    }
    ac_putf(to, "<path class=\"hole\" d=\"M0 %.1f", at->h);
    for (int32_t c = 0; c < n; c++) {
        if (!c || top[c] != top[c - 1])
            ac_putf(to, "V%.1f", y_of(at, top[c]));
        if (c == n - 1 || top[c + 1] != top[c])
            ac_putf(to, "H%.1f", pic->w * (c + 1) / n);
    }
    ac_putf(to, "V%.1f\"/>\n", at->h);
}

/* Height in pixels of what alignment leaves free above item i; *y is its upper edge. */
static double padding(const ac_picture *pic, const ac_panel *at, int32_t i, double *y)
{
    const ac_item *it = &pic->r->problem->item[i];
    ac_bytes end = pic->r->plan->offset[i] + it->size, padded = ac_align_up(end, it->align);
    *y = y_of(at, padded);
    return it->size && pic->r->plan->mem[i] == at->mem ? y_of(at, end) - *y : 0;
}

static bool any_padding(const ac_picture *pic)
{
    double y;
    for (int32_t k = 0; k < pic->n_panels; k++)
        for (int32_t i = 0; i < pic->r->problem->n; i++)
            if (padding(pic, &pic->panel[k], i, &y) >= LEAST)
                return true;
    return false;
}

static void put_padding(ac_sink *to, const ac_picture *pic, const ac_panel *at)
{
    ac_put(to, "<g class=\"pads\">");
    for (int32_t i = 0; i < pic->r->problem->n; i++) {
        const ac_item *it = &pic->r->problem->item[i];
        double y, h = padding(pic, at, i, &y);
        if (h < LEAST)
            continue;
        ac_put(to, "<rect fill=\"url(#hatch)\"");
        put_box(to, x_of(pic, it->life.begin), y, x_of(pic, it->life.end) - x_of(pic, it->life.begin), h);
        ac_put(to, "/>");
    }
    ac_put(to, "</g>\n");
}

static void put_overlaps(ac_sink *to, const ac_picture *pic, const ac_panel *at)
{
    const ac_piece *p = at->overlap;
    ac_put(to, "<g class=\"over\">");
    for (int32_t k = 0; k < at->n_overlaps; k++) {
        ac_put(to, "<rect fill=\"url(#weave)\"");
        put_box(to, x_of(pic, p[k].begin), y_of(at, p[k].hi), x_of(pic, p[k].end) - x_of(pic, p[k].begin),
                y_of(at, p[k].lo) - y_of(at, p[k].hi));
        ac_put(to, "/>");
    }
    ac_put(to, "</g>\n");
}

static bool any_overlap(const ac_picture *pic)
{
    for (int32_t k = 0; k < pic->n_panels; k++)
        if (pic->panel[k].n_overlaps)
            return true;
    return false;
}

static void put_line(ac_sink *to, const ac_picture *pic, const char *class, double y)
{
    ac_putf(to, "<line class=\"%s\" x2=\"%.0f\"", class, pic->w);
    put_px(to, "y1", y);
    put_px(to, "y2", y);
    ac_put(to, "/>\n");
}

static void put_panel(ac_sink *to, const ac_picture *pic, const ac_panel *at, ac_svg_use use)
{
    const bool dots = use == AC_SVG_INLINE && many(pic);
    const ac_report *r = pic->r;
    ac_putf(to, "<svg id=\"m%d\" class=\"panel%s\"", at->mem, many(pic) ? " far" : "");
    put_box(to, pic->x, at->y, pic->w, at->h);
    ac_put(to, "><g class=\"back\">\n");
    put_holes(to, pic, at);
    if (turn(r) < r->n_steps) {
        ac_put(to, "<rect class=\"band\"");
        put_box(to, x_of(pic, turn(r)), 0, pic->w - x_of(pic, turn(r)), at->h);
        ac_put(to, "/>\n");
    }
    const bool ram = r->problem->mem[at->mem].use == AC_MEM_RAM && (!at->mem || r->n_memories);
    if (ram && r->plan->mem_bytes[at->mem]) {
        ac_put(to, "<rect class=\"peak\"");
        double w = x_of(pic, 1) < 2 ? 2 : x_of(pic, 1);
        put_box(to, x_of(pic, ac_report_peak_of(r, at->mem)), 0, w, at->h);
        ac_put(to, "/>\n");
    }
    ac_put(to, "</g>\n");
    put_padding(to, pic, at);
    ac_bytes *size = AC_NEW_N(to->cx->region, ac_bytes, r->problem->n);
    for (int32_t i = 0; i < r->problem->n; i++)
        size[i] = r->problem->item[i].size;
    const int32_t *order = ac_order_by(r->problem, size, to->cx->region); /* small ones last: never hidden */
    if (dots)
        put_dots(to, pic, at);
    for (int32_t k = 0; k < r->problem->n; k++) {
        const int32_t row = pic->root[order[k]];
        if (r->plan->mem[order[k]] == at->mem && size[order[k]] && !(dots && is_dot(to->cx, pic, at, row)))
            put_tensor(to, pic, at, row);
    }
    for (int32_t t = 0; t < pic->n_rows; t++) {
        int32_t i = pic->row[t].item;
        if (i >= 0 && pic->root[i] != t && r->plan->mem[i] == at->mem && pic->row[t].bytes &&
            !(dots && is_dot(to->cx, pic, at, t)))
            put_tensor(to, pic, at, t);
    }
    put_overlaps(to, pic, at);
    ac_put(to, "<g class=\"labels\">\n");
    for (int32_t t = 0; t < pic->n_rows; t++)
        if (ac_picture_labelled(pic, t) && r->plan->mem[pic->row[t].item] == at->mem)
            put_row_label(to, pic, at, t);
    ac_put(to, "</g>\n");
    if (ram)
        put_line(to, pic, "bound", y_of(at, ac_report_bound_of(r, at->mem)));
    if (!at->mem && r->budget >= 0 && r->budget < at->top)
        put_line(to, pic, "budget", y_of(at, r->budget));
    ac_put(to, "</svg>\n");
}

/* ------------------------------------------------------------------ axes, head, legend */

static void put_y_axis(ac_sink *to, const ac_picture *pic, const ac_panel *at)
{
    ac_bytes unit = 1;
    while (at->top / unit > (at->h > 120 ? 9 : 2))
        unit *= 2;
    ac_bytes scale = unit >= (1 << 20) ? 1 << 20 : unit >= 512 ? 1024 : 1;
    const char *name = scale > 1024 ? "MiB" : scale > 1 ? "KiB" : "B";
    ac_putf(to, "<g class=\"ax\" id=\"y%d\" text-anchor=\"end\"><rect class=\"plot\"", at->mem);
    put_box(to, pic->x, at->y, pic->w, at->h);
    ac_put(to, "/>\n");
    for (ac_bytes b = 0; b < at->top; b += unit) {
        double y = at->y + y_of(at, b);
        ac_putf(to, "<path class=\"grid\" d=\"M%.0f %.1fh%.0f\"/>", pic->x, y, pic->w);
        ac_putf(to, "<text x=\"%.0f\" y=\"%.1f\">%g %s</text>\n", pic->x - 7, y + 4, (double)b / (double)scale, name);
    }
    ac_put(to, "</g>\n");
    if (pic->n_panels > 1) {
        ac_putf(to, "<text class=\"s\" id=\"n%d\" x=\"%.0f\" y=\"%.1f\">", at->mem, pic->x, at->y - 5);
        ac_put_xml_text(to, pic->r->problem->mem[at->mem].name);
        const ac_bytes used = pic->r->plan->mem_bytes[at->mem], all = pic->r->problem->mem[at->mem].capacity;
        ac_putf(to, " %s B", ac_commas(to->cx, used));
        if (all > 0)
            ac_putf(to, " of %s B, %.0f %%", ac_commas(to->cx, all), ac_report_percent(used, all));
        ac_put(to, "</text>\n");
    }
}

static void put_x_axis(ac_sink *to, const ac_picture *pic)
{
    const ac_report *r = pic->r;
    const ac_panel *last = &pic->panel[pic->n_panels - 1];
    double y = last->y + last->h, column = x_of(pic, 1);
    ac_step every = 1;
    for (int32_t k = 0; column * every < 22; k++) /* 1, 2, 5, 10, 20 ... */
        every = k % 3 == 1 ? every / 2 * 5 : every * 2;
    ac_put(to, "<g class=\"ax\" id=\"x\">\n");
    for (ac_step s = 0; s < pic->steps; s += every)
        ac_putf(to, "<text%s text-anchor=\"middle\" x=\"%.1f\" y=\"%.0f\">%d</text>\n",
                s == r->peak ? " class=\"r\"" : "", pic->x + x_of(pic, s) + column / 2, y + 15, s);
    for (ac_step s = 0; s < r->n_steps && pic->named; s++) {
        ac_putf(to, "<text class=\"op%s\" text-anchor=\"end\" transform=\"translate(%.1f %.0f)rotate(-45)\">",
                s == r->peak ? " r" : "", pic->x + x_of(pic, s) + column / 2 + 4, y + 28);
        ac_put_xml(to, r->step[s].op, strcspn(r->step[s].op, " "));
        ac_put(to, "<title>");
        put_step(to, r, s);
        ac_putf(to, ", %s B live</title></text>\n", ac_commas(to->cx, r->step[s].live));
    }
    ac_putf(to, "<text text-anchor=\"end\" x=\"%.0f\" y=\"%.0f\">step</text>\n</g>\n", pic->x - 7, y + 15);
}

typedef struct keys {
    ac_sink *to;
    const ac_picture *pic;
    double x, y; /* of the next */
} keys;

static void put_key(keys *k, const char *shape, const char *text)
{
    enum { SWATCH = 14, LETTER = 6, LINE = 16 };
    const double w = SWATCH + 4 + (double)(LETTER * strlen(text));
    if (k->x + w > k->pic->width - 6 && k->x > k->pic->x) {
        k->x = k->pic->x;
        k->y += LINE;
    }
    ac_putf(k->to, "<g class=\"key\" transform=\"translate(%.0f %.0f)\">%s<text x=\"%d\" y=\"9\">%s</text></g>\n", k->x,
            k->y, shape, SWATCH + 4, text);
    k->x += w + 13;
}

static void put_legend(ac_sink *to, const ac_picture *pic)
{
    static const struct {
        const char *kind, *text;
    } KIND[] = {{"in", "input"}, {"act", "activation"}, {"out", "output"}, {"state", "state"}, {"scratch", "scratch"}};
    keys at = {to, pic, pic->x, 52};
    bool aliases = false;
    for (size_t k = 0; k < sizeof KIND / sizeof *KIND; k++) {
        bool used = false;
        for (int32_t t = 0; t < pic->n_rows; t++) {
            used = used || !strcmp(ac_picture_kind(pic, t), KIND[k].kind);
            aliases = aliases || (pic->row[t].item >= 0 && pic->root[pic->row[t].item] != t);
        }
        if (used)
            put_key(&at,
                    ac_strf(to->cx->region, "<g class=\"t %s\"><rect width=\"14\" height=\"10\"/></g>", KIND[k].kind),
                    KIND[k].text);
    }
    if (turn(pic->r) < pic->r->n_steps) {
        put_key(&at, "<g class=\"t kept\"><rect width=\"14\" height=\"10\"/></g>", "kept for after the loss");
        if (pic->r->again)
            put_key(&at, "<g class=\"t again\"><rect width=\"14\" height=\"10\"/></g>", "computed again");
        put_key(&at, "<rect class=\"band\" width=\"14\" height=\"10\"/>", "after the loss");
    }
    if (aliases)
        put_key(&at,
                "<g class=\"t act\"><rect width=\"14\" height=\"10\"/></g><g class=\"t act alias\"><rect "
                "width=\"14\" height=\"10\"/></g>",
                "view, in-place");
    put_key(&at, "<rect class=\"hole\" width=\"14\" height=\"10\"/>", "hole");
    if (any_overlap(pic))
        put_key(&at,
                "<g class=\"t act\"><rect width=\"14\" height=\"10\"/></g><rect fill=\"url(#weave)\" "
                "width=\"14\" height=\"10\"/>",
                "overlap");
    if (any_padding(pic))
        put_key(&at, "<rect fill=\"url(#hatch)\" width=\"14\" height=\"10\"/>", "padding");
    put_key(&at, "<rect class=\"peak\" width=\"14\" height=\"10\"/>", "peak step");
    put_key(&at, "<path class=\"bound\" d=\"M0 5h16\"/>", "lower bound");
    if (pic->r->budget >= 0)
        put_key(&at, "<path class=\"budget\" d=\"M0 5h16\"/>", "budget");
}

static void put_head(ac_sink *to, const ac_picture *pic)
{
    const ac_report *r = pic->r;
    enum { LETTER = 9, EDGE = 16 };
    const char *title = ac_picture_title(to->cx, r);
    size_t n = strlen(title), most = (size_t)((pic->width - EDGE) / LETTER);
    bool wide = (double)n * LETTER > pic->width - pic->x;
    ac_putf(to, "<text class=\"h\" x=\"%.0f\" y=\"24\">", wide ? EDGE : pic->x);
    if (n > most && r->file && n - most + 2 < strlen(r->file)) { /* a long file name loses its beginning */
        ac_put(to, "..");
        title += n - most + 2;
        n = most - 2;
    }
    ac_put_xml(to, title, n);
    ac_putf(to, "</text>\n<text class=\"s\" x=\"%.0f\" y=\"42\">", pic->x);
    if (r->format) {
        ac_put_xml_text(to, r->format);
        ac_put(to, ", ");
    }
    ac_putf(to, "%d steps, planner %s", pic->steps, r->plan->strategy ? r->plan->strategy : "unknown");
    if (!pic->named && r->peak < r->n_steps) {
        ac_put(to, ", peak at ");
        put_step(to, r, r->peak);
    }
    ac_put(to, "</text>\n");
}

void ac_picture_draw(ac_sink *to, const ac_picture *pic, ac_svg_use use)
{
    ac_putf(to, "<svg %sviewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
            use == AC_SVG_FILE ? "xmlns=\"http://www.w3.org/2000/svg\" " : "id=\"picture\" ", pic->width, pic->height);
    ac_put_xml_text(to, ac_picture_title(to->cx, pic->r));
    ac_put(to, "\">\n");
    if (use == AC_SVG_FILE)
        ac_putf(to,
                "<style>%s@media(prefers-color-scheme:dark){text{fill:#e6edf3}.bg{fill:#0d1117}.plot{fill:#161b22}"
                ".grid{stroke:#30363d}.hole{fill:#484f58}.s,.ax text{fill:#9da7b1}.labels text{fill:#10222e}.ax "
                ".r{fill:#ff7b72}"
                ".peak{fill:#ff7b72;fill-opacity:.2}.budget{stroke:#e6edf3}}</style>\n",
                ac_svg_style);
    if (turn(pic->r) < pic->r->n_steps)
        ac_putf(to, "<style>%s</style>\n", TRAINING_STYLE);
    ac_put(to, "<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
               "patternTransform=\"rotate(45)\">"
               "<rect width=\"5\" height=\"5\" fill=\"#fff\"/><path d=\"M1 0v5\" stroke=\"#57606a\"/></pattern>"
               "<pattern id=\"weave\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
               "patternTransform=\"rotate(-45)\"><rect width=\"7\" height=\"7\" fill=\"#fff\" fill-opacity=\".3\"/>"
               "<path d=\"M1 0v7\" stroke=\"#10222e\" stroke-width=\"1.5\" stroke-opacity=\".5\"/></pattern></defs>\n");
    if (use == AC_SVG_FILE)
        ac_putf(to, "<rect class=\"bg\" width=\"%.0f\" height=\"%.0f\"/>\n", pic->width, pic->height);
    ac_put(to, "<g class=\"head\">\n");
    put_head(to, pic);
    put_legend(to, pic);
    ac_put(to, "</g>\n");
    for (int32_t k = 0; k < pic->n_panels; k++) {
        put_y_axis(to, pic, &pic->panel[k]);
        put_panel(to, pic, &pic->panel[k], use);
    }
    put_x_axis(to, pic);
    if (use == AC_SVG_FILE)
        ac_report_threads_svg(to, pic, pic->height - ac_report_threads_height(pic->r));
    ac_put(to, "</svg>\n");
}

void ac_report_svg(ac_sink *to, const ac_report *r)
{
    ac_picture_draw(to, ac_picture_of(to->cx, r, AC_SVG_FILE), AC_SVG_FILE);
}
