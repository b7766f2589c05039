/* roofline.c - two pictures and a table of the steps of a run; see roofline.h. */
#include "planner/report/roofline.h"

#include "planner/report/names.h"
#include "planner/report/picture.h"

#include <math.h>

static const char STYLE[] =
    ":root{color-scheme:light dark;--bg:#fff;--text:#1f2328;--soft:#57606a;--grid:#d8dee4;--roof:#1f2328;"
    "--compute:#0a62b0;--l2:#a85400;--memory:#187a4a}"
    "@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--text:#e6edf3;--soft:#9aa4af;--grid:#30363d;--roof:#e6edf3;"
    "--compute:#6cb6ff;--l2:#f0a04b;--memory:#56d08c}}"
    "body{margin:1.5rem auto;max-width:62rem;padding:0 1rem;background:var(--bg);color:var(--text);font:15px/1.45 "
    "system-ui,sans-serif}h1{font-size:1.3rem}h2{font-size:1.05rem;margin:1.6rem 0 "
    ".3rem}p{color:var(--soft);margin:.3rem "
    "0}svg{width:100%;height:auto}svg text{fill:var(--soft);font:12px system-ui,sans-serif}.grid{stroke:var(--grid)}"
    ".roof{stroke:var(--roof);stroke-width:1.5;fill:none}.slope{stroke-dasharray:6 4}svg .name{fill:var(--text)}"
    ".compute{fill:var(--compute);stroke:var(--compute)}.l2{fill:var(--l2);stroke:var(--l2)}"
    ".memory{fill:var(--memory);stroke:var(--memory)}circle,.key{fill-opacity:.4}a:focus "
    "circle,circle:hover{fill-opacity"
    ":.9;stroke-width:2}table{border-collapse:collapse;font-size:13px;width:100%}.scroll{overflow-x:auto}"
    "th,td{padding:.15rem .5rem;border-bottom:1px solid var(--grid);text-align:left;white-space:nowrap}"
    ".n{text-align:right;font-variant-numeric:tabular-nums}tr:target{outline:2px solid var(--compute)}"
    ".key{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin:0 .3em 0 1em}"
    ".k{white-space:nowrap}span.compute{background:var(--compute)}span.l2{background:var(--l2)}span.memory{background:"
    "var(--memory)}";

enum { W = 900, H = 430, LEFT = 70, RIGHT = 20, TOP = 16, BOTTOM = 46 };

/* A picture with logarithmic axes from x0 and y0 to x1 and y1. */
typedef struct plot {
    ac_sink *to;
    double x0, x1, y0, y1;
} plot;

static double px(const plot *p, double x)
{
    return LEFT + (W - LEFT - RIGHT) * log(x / p->x0) / log(p->x1 / p->x0);
}

static double py(const plot *p, double y)
{
    return H - BOTTOM - (H - TOP - BOTTOM) * log(y / p->y0) / log(p->y1 / p->y0);
}

static void grow(double *lo, double *hi, double v)
{
    if (v > 0 && (*lo <= 0 || v < *lo))
        *lo = v;
    if (v > *hi)
        *hi = v;
}

/* To whole powers of ten around both ends. */
static void widen(double *lo, double *hi)
{
    if (*lo <= 0)
        *lo = *hi = 1;
    *lo = pow(10, floor(log10(*lo * 0.9)));
    *hi = pow(10, ceil(log10(*hi * 1.1)));
}

static const char *tick(ac_sink *to, double v)
{
    return v >= 1e9   ? ac_strf(to->cx->region, "%g G", v / 1e9)
           : v >= 1e6 ? ac_strf(to->cx->region, "%g M", v / 1e6)
           : v >= 1e3 ? ac_strf(to->cx->region, "%g k", v / 1e3)
                      : ac_strf(to->cx->region, "%g", v);
}

static void put_axes(const plot *p, const char *label, const char *along, const char *up)
{
    ac_putf(p->to, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", W, H, label);
    for (double x = p->x0; x <= p->x1 * 1.001; x *= 10)
        ac_putf(p->to,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                px(p, x), TOP, H - BOTTOM, px(p, x), H - BOTTOM + 16, tick(p->to, x));
    for (double y = p->y0; y <= p->y1 * 1.001; y *= 10)
        ac_putf(p->to,
                "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                LEFT, py(p, y), W - RIGHT, LEFT - 6, py(p, y) + 4, tick(p->to, y));
    ac_putf(p->to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (LEFT + W - RIGHT) / 2, H - 8, along);
    ac_putf(p->to, "<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
            (TOP + H - BOTTOM) / 2, up);
}

/* A horizontal roof from x on. */
static void put_roof(const plot *p, double x, double y, const char *name, const char *unit)
{
    if (y <= 0)
        return;
    x = x < p->x0 ? p->x0 : x;
    ac_putf(p->to,
            "<path class=\"roof\" d=\"M%.1f %.1fH%d\"/><text class=\"name\" x=\"%d\" y=\"%.1f\" "
            "text-anchor=\"end\">%s, %.3g %s</text>\n",
            px(p, x), py(p, y), W - RIGHT, W - RIGHT - 4, py(p, y) - 5, name, y, unit);
}

/* Of so many bytes a ms: y = x * speed, up to `top`. */
static void put_slope(const plot *p, double speed, double top, const char *name)
{
    const double gb = speed / 1e6;
    if (gb <= 0)
        return;
    const double from = p->y0 / gb > p->x0 ? p->y0 / gb : p->x0, end = top / gb < p->x1 ? top / gb : p->x1;
    if (from >= end)
        return;
    const double angle =
        -atan2(py(p, from * gb) - py(p, end * gb), px(p, end) - px(p, from)) * 180 / 3.14159265358979323846;
    ac_putf(
        p->to,
        "<path class=\"roof slope\" d=\"M%.1f %.1fL%.1f %.1f\"/><text class=\"name\" transform=\"translate(%.1f %.1f) "
        "rotate(%.1f)\" x=\"8\" y=\"-5\">%s, %.3g GB/s</text>\n",
        px(p, from), py(p, from * gb), px(p, end), py(p, end * gb), px(p, from), py(p, from * gb), angle, name, gb);
}

static const char *class_of(const ac_layer_bound *b)
{
    return !b->by ? "compute" : b->by[0] == 'c' ? "compute" : b->by[0] == 'L' ? "l2" : "memory";
}

/* The time of all steps, which each is a share of. */
static double sum_of(const ac_roofline *v)
{
    double sum = 0;
    for (int32_t i = 0; i < v->report->n_steps; i++)
        sum += v->ms[i] > 0 ? v->ms[i] : 0;
    return sum > 0 ? sum : 1;
}

static void put_point(const plot *p, const ac_roofline *v, int32_t i, double x, double y, double whole)
{
    const ac_report_step *s = &v->report->step[i];
    const double share = v->ms[i] / whole;
    ac_putf(p->to, "<a href=\"#s%d\"><circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>step %d, ", (int)i,
            class_of(&v->bound[i]), px(p, x), py(p, y), 3 + 40 * sqrt(share), (int)i);
    ac_put_xml_text(p->to, s->op);
    ac_put(p->to, " ");
    ac_put_xml_text(p->to, s->name);
    ac_putf(p->to, ": %.4f ms, %.1f %% of the time</title></circle></a>\n", v->ms[i], 100 * share);
}

static bool computes(const ac_roofline *v, int32_t i)
{
    return v->report->step[i].macs > 0 && v->report->step[i].moved > 0 && v->ms[i] > 0;
}

static bool moves(const ac_roofline *v, int32_t i)
{
    return v->report->step[i].macs <= 0 && v->report->step[i].moved > 0 && v->ms[i] > 0;
}

static double speed_of(const ac_roofline *v, int32_t i) /* G multiply-adds/s */
{
    return (double)v->report->step[i].macs / (v->ms[i] * 1e6);
}

static double bytes_of(const ac_roofline *v, int32_t i) /* GB/s */
{
    return (double)v->report->step[i].moved / (v->ms[i] * 1e6);
}

static double density_of(const ac_roofline *v, int32_t i)
{
    return (double)v->report->step[i].macs / (double)v->report->step[i].moved;
}

static void put_compute(ac_sink *to, const ac_roofline *v, double whole)
{
    plot p = {.to = to};
    const double most = (v->f32 > v->bytes ? v->f32 : v->bytes) / 1e6;
    int32_t n = 0;
    for (int32_t i = 0; i < v->report->n_steps; i++)
        if (computes(v, i)) {
            n++;
            grow(&p.x0, &p.x1, density_of(v, i));
            grow(&p.y0, &p.y1, speed_of(v, i));
        }
    ac_put(to, "<h2>Steps that multiply and add</h2>\n");
    if (!n) {
        ac_put(to, "<p>There are none.</p>\n");
        return;
    }
    grow(&p.y0, &p.y1, most);
    if (v->l2 > 0)
        grow(&p.x0, &p.x1, most / (v->l2 / 1e6) / 2);
    if (v->memory > 0)
        grow(&p.x0, &p.x1, most / (v->memory / 1e6)); /* where memory is as fast as arithmetic */
    widen(&p.x0, &p.x1);
    widen(&p.y0, &p.y1);
    put_axes(&p, "roofline", "multiply-adds for each byte that the step touches", "G multiply-adds/s");
    put_slope(&p, v->memory, most, "memory");
    put_slope(&p, v->l2, most, "L2");
    put_roof(&p, v->l2 > 0 ? v->f32 / v->l2 : p.x0, v->f32 / 1e6, "f32", "G/s");
    put_roof(&p, v->l2 > 0 ? v->bytes / v->l2 : p.x0, v->bytes / 1e6, "bytes", "G/s");
    for (int32_t i = 0; i < v->report->n_steps; i++)
        if (computes(v, i))
            put_point(&p, v, i, density_of(v, i), speed_of(v, i), whole);
    ac_put(to, "</svg>\n");
}

static void put_moves(ac_sink *to, const ac_roofline *v, double whole)
{
    plot p = {.to = to};
    for (int32_t i = 0; i < v->report->n_steps; i++)
        if (moves(v, i)) {
            grow(&p.x0, &p.x1, (double)v->report->step[i].moved);
            grow(&p.y0, &p.y1, bytes_of(v, i));
        }
    if (p.x1 <= 0)
        return;
    grow(&p.y0, &p.y1, v->memory / 1e6);
    grow(&p.y0, &p.y1, v->l2 / 1e6);
    widen(&p.x0, &p.x1);
    widen(&p.y0, &p.y1);
    ac_put(to, "<h2>Steps that only move, compare or look up</h2>\n");
    put_axes(&p, "bandwidth", "bytes that the step touches", "GB/s");
    put_roof(&p, p.x0, v->memory / 1e6, "memory", "GB/s");
    put_roof(&p, p.x0, v->l2 / 1e6, "L2", "GB/s");
    for (int32_t i = 0; i < v->report->n_steps; i++)
        if (moves(v, i))
            put_point(&p, v, i, (double)v->report->step[i].moved, bytes_of(v, i), whole);
    ac_put(to, "</svg>\n");
}

static void put_row(ac_sink *to, const ac_roofline *v, int32_t i, double whole)
{
    const ac_report_step *s = &v->report->step[i];
    const ac_layer_bound *b = &v->bound[i];
    ac_putf(to, "<tr id=\"s%d\"><td class=\"n\">%d<td>", (int)i, (int)i);
    ac_put_xml_text(to, s->op);
    ac_put(to, "<td>");
    ac_put_xml_text(to, s->name);
    ac_putf(to, "<td class=\"n\">%.4f<td class=\"n\">%.1f %%<td class=\"n\">", v->ms[i], 100 * v->ms[i] / whole);
    if (computes(v, i))
        ac_putf(to, "%.1f<td class=\"n\">%.2f", speed_of(v, i), density_of(v, i));
    else
        ac_put(to, "<td>");
    ac_putf(to, "<td class=\"n\">%.1f<td>", v->ms[i] > 0 ? bytes_of(v, i) : 0);
    if (b->by && b->ms > 0 && v->ms[i] > 0)
        ac_putf(to, "%s %.0f %%", b->by, 100 * b->ms / v->ms[i]);
    ac_put(to, "\n");
}

static void put_key(ac_sink *to, const char *class, const char *text)
{
    ac_putf(to, "<span class=\"k\"><span class=\"key %s\"></span>%s</span> ", class, text);
}

void ac_roofline_html(ac_sink *to, const ac_roofline *v)
{
    const double whole = sum_of(v);
    ac_put(to, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
               "img-src data:\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<link rel=\"icon\" href=\"data:,\">\n<title>roofline of ");
    ac_put_xml_text(to, v->report->file);
    ac_putf(to, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>", STYLE);
    ac_put_xml_text(to, v->report->file);
    ac_putf(
        to,
        " on %s</h1>\n<p>A run takes %.4g ms on one thread. A circle is a step; its area is its share of the time, ",
        v->target, v->whole_ms);
    ac_put(to, "its colour what limits it:");
    put_key(to, "compute", "arithmetic");
    put_key(to, "l2", "second cache");
    put_key(to, "memory", "memory");
    ac_put(to, "</p>\n<p>Lines are what this machine attains, measured: below them is what a step's code loses. What "
               "limits a step is measured for as many bytes "
               "as it touches, so a third cache lies between L2 and memory.</p>\n");
    put_compute(to, v, whole);
    put_moves(to, v, whole);
    ac_put(
        to,
        "<h2>All steps</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All steps\">\n<table>\n"
        "<thead><tr><th class=\"n\">step<th>operator<th>layer<th class=\"n\">ms<th class=\"n\">share<th class=\"n\">"
        "G/s<th class=\"n\">per byte<th class=\"n\">GB/s<th>of bound\n<tbody>\n");
    for (int32_t i = 0; i < v->report->n_steps; i++)
        put_row(to, v, i, whole);
    ac_put(to, "</table>\n</div>\n</main>\n</body>\n</html>\n");
}
