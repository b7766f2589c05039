/* layers.c - see layers.h. */
#include "planner/report/layers.h"

#include "base/visible.h"
#include "planner/report/names.h"

enum { NAME = 24 }; /* characters of a name */

typedef struct table {
    const ac_layers *l;
    ac_ctx *cx;
    const ac_name_list *names;
    double sum; /* of all costs */
} table;

/* ------------------------------------------------------------------ the columns */

typedef const char *cell_fn(const table *t, int32_t i);

static const char *count(const table *t, int64_t n)
{
    return n < 0 ? "?" : ac_commas(t->cx, n);
}

static const char *put_index(const table *t, int32_t i)
{
    return ac_strf(t->cx->region, "%d", i);
}

static const char *put_layer(const table *t, int32_t i)
{
    return ac_name_fit(t->names, t->l->step[i].name, NAME);
}

static const char *put_operator(const table *t, int32_t i)
{
    return ac_visible(t->cx->region, t->l->step[i].op);
}

static const char *put_result(const table *t, int32_t i)
{
    return t->l->step[i].result ? t->l->step[i].result : "?";
}

static const char *put_bytes(const table *t, int32_t i)
{
    return count(t, t->l->step[i].bytes);
}

static const char *put_weights(const table *t, int32_t i)
{
    return count(t, t->l->step[i].weights);
}

static const char *put_macs(const table *t, int32_t i)
{
    return count(t, t->l->step[i].macs);
}

static const char *put_live(const table *t, int32_t i)
{
    return count(t, t->l->step[i].live);
}

static const char *put_scratch(const table *t, int32_t i)
{
    return count(t, t->l->step[i].scratch);
}

static const char *put_ms(const table *t, int32_t i)
{
    return ac_strf(t->cx->region, "%.4f", t->l->cost[i]);
}

static const char *put_instructions(const table *t, int32_t i)
{
    return count(t, (int64_t)t->l->cost[i]);
}

static const char *put_share(const table *t, int32_t i)
{
    return ac_strf(t->cx->region, "%.1f %%", t->sum > 0 ? 100 * t->l->cost[i] / t->sum : 0);
}

static const char *put_speed(const table *t, int32_t i)
{
    const double macs = (double)t->l->step[i].macs, ms = t->l->cost[i];
    return macs > 0 && ms > 0 ? ac_strf(t->cx->region, "%.2f", macs / (ms * 1e6)) : t->l->bound ? "-" : "";
}

static const char *put_peak(const table *t, int32_t i)
{
    const ac_layer_bound *b = &t->l->bound[i];
    const double macs = (double)t->l->step[i].macs, ms = t->l->cost[i];
    return macs > 0 && ms > 0 && b->peak > 0 ? ac_strf(t->cx->region, "%.0f %%", 100 * macs / (ms * b->peak)) : "-";
}

static const char *put_moved(const table *t, int32_t i)
{
    const double ms = t->l->cost[i];
    return ms > 0 ? ac_strf(t->cx->region, "%.1f", (double)t->l->step[i].moved / (ms * 1e6)) : "-";
}

static const char *put_bound(const table *t, int32_t i)
{
    const ac_layer_bound *b = &t->l->bound[i];
    const double ms = t->l->cost[i];
    return ms > 0 && b->ms > 0 ? ac_strf(t->cx->region, "%s %.0f %%", b->by, 100 * b->ms / ms) : "-";
}

static const char *put_per_mac(const table *t, int32_t i)
{
    const double macs = (double)t->l->step[i].macs;
    return macs > 0 ? ac_strf(t->cx->region, "%.2f", t->l->cost[i] / macs) : "";
}

typedef enum when { ALWAYS, PLANNED, MEASURED, IN_MS, BOUND, IN_INSTRUCTIONS } when;

typedef struct column {
    const char *title;
    bool right; /* of numbers */
    when when;
    cell_fn *cell;
} column;

static const column COLUMNS[] = {
    {"#", true, ALWAYS, put_index},
    {"layer", false, ALWAYS, put_layer},
    {"operator", false, ALWAYS, put_operator},
    {"result", false, ALWAYS, put_result},
    {"bytes", true, ALWAYS, put_bytes},
    {"weights", true, ALWAYS, put_weights},
    {"multiply-adds", true, ALWAYS, put_macs},
    {"live", true, PLANNED, put_live},
    {"scratch", true, PLANNED, put_scratch},
    {"ms", true, IN_MS, put_ms},
    {"instructions", true, IN_INSTRUCTIONS, put_instructions},
    {"share", true, MEASURED, put_share},
    {"GMAC/s", true, IN_MS, put_speed},
    {"peak", true, BOUND, put_peak},
    {"GB/s", true, BOUND, put_moved},
    {"bound", true, BOUND, put_bound},
    {"per MAC", true, IN_INSTRUCTIONS, put_per_mac},
};
enum { COLS = sizeof COLUMNS / sizeof *COLUMNS };

static bool is_shown(const ac_layers *l, when w)
{
    return w == ALWAYS || (w == PLANNED && l->planned) || (w == MEASURED && l->unit != AC_LAYER_NONE) ||
           (w == IN_MS && l->unit == AC_LAYER_MS) || (w == BOUND && l->unit == AC_LAYER_MS && l->bound) ||
           (w == IN_INSTRUCTIONS && l->unit == AC_LAYER_INSTRUCTIONS);
}

static table table_of(ac_sink *to, const ac_layers *l)
{
    table t = {.l = l, .cx = to->cx};
    const char **name = AC_NEW_N(to->cx->region, const char *, l->n + 1);
    for (int32_t i = 0; i < l->n; i++) {
        name[i] = l->step[i].name;
        t.sum += l->unit == AC_LAYER_NONE ? 0 : l->cost[i];
    }
    t.names = l->names ? l->names : ac_names_new(to->cx, name, l->n);
    return t;
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

static void put_cell(ac_sink *to, const char *text, int32_t wide, bool right)
{
    const int32_t pad = wide - width_of(text);
    ac_putf(to, "  %*s%s%*s", right && pad > 0 ? pad : 0, "", text, !right && pad > 0 ? pad : 0, "");
}

static void end_line(ac_sink *to)
{
    while (to->n && to->text[to->n - 1] == ' ')
        to->n--;
    ac_putc(to, '\n');
}

/* What else is known of a step, after its row. */
static void put_more(ac_sink *to, const ac_report_step *x)
{
    if (x->fused)
        ac_putf(to, "  + %s", x->fused);
    if (x->requant)
        ac_putf(to, "  | %s", x->requant);
}

void ac_layers_text(ac_sink *to, const ac_layers *l)
{
    const table t = table_of(to, l);
    const char **cell = AC_NEW_N(to->cx->region, const char *, (int64_t)(l->n + 1) * COLS);
    int32_t wide[COLS];
    for (int c = 0; c < COLS; c++) {
        if (!is_shown(l, COLUMNS[c].when))
            continue;
        wide[c] = width_of(COLUMNS[c].title);
        for (int32_t i = 0; i < l->n; i++) {
            const char *text = COLUMNS[c].cell(&t, i);
            cell[i * COLS + c] = text;
            wide[c] = width_of(text) > wide[c] ? width_of(text) : wide[c];
        }
    }
    for (int32_t i = -1; i < l->n; i++) {
        for (int c = 0; c < COLS; c++)
            if (is_shown(l, COLUMNS[c].when))
                put_cell(to, i < 0 ? COLUMNS[c].title : cell[i * COLS + c], wide[c], COLUMNS[c].right);
        if (i >= 0)
            put_more(to, &l->step[i]);
        end_line(to);
    }
}

/* ------------------------------------------------------------------ Markdown */

void ac_layers_md(ac_sink *to, const ac_layers *l, void (*put_name)(ac_sink *to, const char *name))
{
    const table t = table_of(to, l);
    for (int32_t i = -2; i < l->n; i++) {
        for (int c = 0; c < COLS; c++) {
            const column *x = &COLUMNS[c];
            if (!is_shown(l, x->when))
                continue;
            if (i == -1) {
                ac_put(to, x->right ? "|---:" : "|---");
                continue;
            }
            ac_put(to, "| ");
            if (i < 0)
                ac_put(to, x->title);
            else if (x->right)
                ac_put(to, x->cell(&t, i));
            else
                put_name(to, x->cell(&t, i));
            ac_putc(to, ' ');
        }
        ac_put(to, "|\n");
    }
}
