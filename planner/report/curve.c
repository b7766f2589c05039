/* curve.c - draws the cost of other budgets for a step of training, as a part of the page: bytes to the right,
 * recomputed work upwards. It is a staircase, since a plan serves every budget above it.
 *
 *     40 % |*
 *          |**                     o this plan, | the budget
 *     20 % |  *o
 *          |   |***
 *      0 % |   |   *********
 *           0      2 MiB   4 MiB */
#include "planner/report/picture.h"

enum { WIDTH = 640, HEIGHT = 220, LEFT = 58, TOP = 10, BELOW = 24 };

typedef struct axes {
    ac_sink *to;
    double bytes, work; /* at their ends */
} axes;

static double x_of(const axes *a, ac_bytes b)
{
    return LEFT + (WIDTH - LEFT) * (double)b / a->bytes;
}

static double y_of(const axes *a, int64_t work)
{
    return TOP + HEIGHT * (1 - (double)work / a->work);
}

static void put_grid(const axes *a, const ac_report_again *x)
{
    ac_bytes unit = 1;
    int64_t every = 1; /* per cent: 1, 2, 5, 10, 20 ... */
    while ((double)unit * 8 < a->bytes)
        unit *= 2;
    for (int32_t k = 0; (double)every * 5 < 100 * a->work / (double)x->work; k++)
        every = k % 3 == 1 ? every / 2 * 5 : every * 2;
    ac_put(a->to, "<g class=\"ax\">\n");
    for (ac_bytes b = 0; (double)b <= a->bytes; b += unit)
        ac_putf(a->to,
                "<path class=\"grid\" d=\"M%.1f %dv%d\"/><text text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%s</text>\n",
                x_of(a, b), TOP, HEIGHT, x_of(a, b), TOP + HEIGHT + 16, ac_picture_size(a->to->cx, b));
    for (int64_t p = 0; (double)p * (double)x->work <= 100 * a->work; p += every) {
        const double y = TOP + HEIGHT * (1 - (double)p * (double)x->work / 100 / a->work);
        ac_putf(
            a->to,
            "<path class=\"grid\" d=\"M%d %.1fh%d\"/><text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%lld %%</text>\n",
            LEFT, y, WIDTH - LEFT, LEFT - 6, y + 4, (long long)p);
    }
    ac_put(a->to, "</g>\n");
}

static void put_points(const axes *a, const ac_report_again *x)
{
    ac_put(a->to, "<path fill=\"none\" stroke=\"#8250df\" stroke-width=\"2\" d=\"");
    for (int32_t i = 0; i < x->n; i++)
        ac_putf(a->to, i ? "V%.1fH%.1f" : "M%.1f %.1fH%.1f", i ? y_of(a, x->curve[i].again) : WIDTH,
                i ? x_of(a, x->curve[i].bytes) : y_of(a, 0), x_of(a, x->curve[i].bytes));
    ac_put(a->to, "\"/>\n");
    for (int32_t i = 0; i < x->n; i++)
        ac_putf(
            a->to,
            "<circle fill=\"#8250df\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s B alive at most, %.3g %% of the work "
            "again</title></circle>\n",
            x_of(a, x->curve[i].bytes), y_of(a, x->curve[i].again), ac_commas(a->to->cx, x->curve[i].bytes),
            100 * (double)x->curve[i].again / (double)x->work);
}

void ac_report_curve(ac_sink *to, const ac_report *r)
{
    const ac_report_again *x = r->again;
    if (!x || x->n < 2 || !x->work)
        return;
    const axes a = {to, (double)x->curve[0].bytes * 1.05, (double)x->curve[x->n - 1].again * 1.08 + 1};
    ac_putf(to,
            "<h2>Bytes and work</h2>\n<svg id=\"curve\" viewBox=\"0 0 %d %d\" style=\"max-width:%dpx;width:100%%\" "
            "role=\"img\" aria-label=\"bytes against work done again\">\n",
            WIDTH + 10, TOP + HEIGHT + BELOW, WIDTH + 10);
    put_grid(&a, x);
    put_points(&a, x);
    if (r->budget >= 0 && (double)r->budget <= a.bytes)
        ac_putf(to, "<path class=\"budget\" d=\"M%.1f %dv%d\"/>\n", x_of(&a, r->budget), TOP, HEIGHT);
    ac_putf(
        to,
        "<circle fill=\"#d1242f\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>this plan</title></circle>\n</svg>\n<p "
        "class=\"keys\">The work that is done again (multiply-adds and results, of all that a step does once) against "
        "the bytes that are alive at most, for plans of other budgets; red is this plan, dotted the budget.</p>\n",
        x_of(&a, r->plan->arena_bytes), y_of(&a, x->again));
}
