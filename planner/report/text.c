/* text.c - the report for people. From top to bottom: the file; RAM and ROM; the quality of the plan; the tensors alive
 * at the peak; options that would take less; notes; the map. -v adds the table of tensors, -vv the result of each
 * strategy. */
#include "planner/report/report.h"
#include "base/visible.h"
#include "planner/report/arena_map.h"
#include "planner/report/cuts.h"
#include "planner/report/section.h"
#include "planner/report/threads.h"

#include <string.h>

enum {
    NAME_WIDTH = 30, /* of a tensor's name in the peak list */
    CELL = 24,       /* of one in a table */
    LINE = 100
};

typedef struct text {
    ac_sink *to;
    const ac_report *r;
    const ac_name_list *names;
    bool color, whole; /* tables have whole names: -vv */
} text;

static const char *commas(const text *t, int64_t n)
{
    return ac_commas(t->to->cx, n);
}

static const char *tint(const text *t, const char *code)
{
    return t->color ? code : "";
}
#define BOLD  "\033[1m"
#define RED   "\033[1;31m"
#define GREEN "\033[32m"
#define PLAIN "\033[0m"

static void put_header(const text *t)
{
    const ac_report *r = t->r;
    ac_putf(t->to, "%s%s%s", tint(t, BOLD), r->file ? r->file : "-", tint(t, PLAIN));
    if (r->format)
        ac_putf(t->to, "   %s", r->format);
    if (!ac_report_is_intervals(r))
        ac_putf(t->to, "%s %d operator%s, %d activation%s, %d constant%s\n\n", r->format ? "," : "  ", r->n_file_ops,
                r->n_file_ops == 1 ? "" : "s", r->n_activations, r->n_activations == 1 ? "" : "s", r->n_constants,
                r->n_constants == 1 ? "" : "s");
    else
        ac_putf(t->to, "%s %s item%s, %s steps\n\n", r->format ? "," : "  ", commas(t, r->problem->n),
                r->problem->n == 1 ? "" : "s", commas(t, r->problem->steps));
}

/* "54.0 KiB"; sizes below 1 KiB say nothing more than their bytes. */
static const char *binary(const text *t, ac_bytes n)
{
    if (n < 1024)
        return "";
    double v = (double)n;
    const char *unit = "KiB";
    v /= 1024;
    if (v >= 10240) {
        v /= 1024;
        unit = "MiB";
    }
    return ac_strf(t->to->cx->region, "%.1f %s", v, unit);
}

static const char *visible(const text *t, const char *name)
{
    return ac_visible(t->to->cx->region, name);
}

static void put_size(const text *t, const char *group, const char *name, ac_bytes n)
{
    ac_putf(t->to, "  %-4s %-14s %11s B", group, name, commas(t, n));
    const char *b = binary(t, n);
    if (*b)
        ac_putf(t->to, " %10s", b);
}

static void put_budget(const text *t, ac_bytes used, ac_bytes budget)
{
    enum { WIDTH = 20 };
    double part = ac_report_percent(used, budget);
    int filled = part >= 100 ? WIDTH : (int)(part * WIDTH / 100 + 0.5);
    char bar[WIDTH + 1] = {0};
    memset(bar, '-', WIDTH);
    memset(bar, '#', (size_t)filled);
    const char *whole = binary(t, budget);
    ac_putf(t->to, "   of %s", *whole ? whole : ac_strf(t->to->cx->region, "%s B", commas(t, budget)));
    ac_putf(t->to, "  %s[%s] %3.0f %%%s", used > budget ? tint(t, RED) : "", bar, part,
            used > budget ? tint(t, PLAIN) : "");
    if (used > budget)
        ac_put(t->to, "  OVER");
}

/* One more phrase of a sentence that is broken at 100 columns; the lines that follow begin with `indent` blanks. */
static void put_phrase(const text *t, size_t *line, int indent, const char *phrase)
{
    if (t->to->n - *line + strlen(phrase) > LINE) {
        while (t->to->n > *line && t->to->text[t->to->n - 1] == ' ')
            t->to->n--;
        ac_putc(t->to, '\n');
        *line = t->to->n;
        ac_putf(t->to, "%*s", indent, "");
    }
    ac_put(t->to, phrase);
}

/* With several memories: a memory's share of the traffic and, after the first, its tensors. */
static void put_traffic(const text *t, int32_t m)
{
    enum { SHOWN = 6 };
    const ac_report *r = t->r;
    const ac_problem *p = r->problem;
    double here = 0, all = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < p->n; i++) {
        const double x = (double)p->item[i].traffic;
        all += x;
        here += r->plan->mem[i] == m ? x : 0;
    }
    size_t line = t->to->n + 1;
    ac_putf(t->to, "  %5.1f %% of the traffic", all > 0 ? 100 * here / all : 0);
    for (int32_t i = 0; i < p->n && m; i++) {
        if (r->plan->mem[i] != m || !p->item[i].size)
            continue;
        if (!n)
            ac_put(t->to, "\n                      tensors: ");
        if (n++ < SHOWN)
            put_phrase(t, &line, 31,
                       ac_strf(t->to->cx->region, "%s, ", ac_name_fit(t->names, p->item[i].name, NAME_WIDTH)));
    }
    t->to->n -= n ? 2 : 0; /* the last comma */
    if (n > SHOWN) {
        ac_putc(t->to, ' ');
        put_phrase(t, &line, 31, ac_strf(t->to->cx->region, "and %d more", n - SHOWN));
    }
}

static void put_sizes(const text *t)
{
    const ac_report *r = t->r;
    const ac_problem *p = r->problem;
    for (int32_t m = 0; m < p->n_mems; m++) {
        ac_bytes budget = p->mem[m].capacity;
        if (!m && r->budget >= 0)
            budget = r->budget;
        put_size(t, m ? "" : "RAM", p->mem[m].name, r->plan->mem_bytes[m]);
        if (budget >= 0)
            put_budget(t, r->plan->mem_bytes[m], budget);
        if (r->n_memories && p->mem[m].use == AC_MEM_RAM)
            put_traffic(t, m);
        ac_putc(t->to, '\n');
    }
    if (ac_report_is_intervals(r)) /* a problem has no code and no data */
        return;
    bool own = false; /* state in a memory of its own is already listed */
    for (int32_t m = 1; m < p->n_mems; m++)
        own = own || !strcmp(p->mem[m].name, "state");
    if (!own) {
        put_size(t, "", "state", r->state_bytes);
        ac_putc(t->to, '\n');
    }
    put_size(t, "", "kernel scratch", r->scratch_bytes);
    ac_put(t->to, r->scratch_bytes
                      ? (r->n_memories ? "   (largest step, inside these)\n" : "   (largest step, inside the arena)\n")
                      : "\n");
    if (r->stack_bytes) {
        put_size(t, "", "stack", r->stack_bytes);
        ac_putf(t->to, "   (%s)\n", r->built_by ? r->built_by : "estimate");
    }
    put_size(t, "ROM", "weights", r->weight_bytes);
    if (r->weight_memory) {
        put_budget(t, r->weight_bytes, r->weight_budget);
        ac_putf(t->to, "  %s", r->weight_memory);
    }
    ac_putc(t->to, '\n');
    if (r->weight_memory || r->cached) {
        put_size(t, "", "weights read", r->weights_read);
        ac_putf(t->to, "   (in a run, %.2f times their size)\n",
                r->weight_bytes ? (double)r->weights_read / (double)r->weight_bytes : 0);
    }
    if (r->code_bytes) {
        put_size(t, "", "code", r->code_bytes);
        if (r->small_code_bytes)
            ac_putf(t->to, "   (-O2; -Os: %s B; ", commas(t, r->small_code_bytes));
        else if (r->built_by)
            ac_putf(t->to, "   (%s; ", r->built_by);
        else
            ac_putf(t->to, "   (estimate%s%s, ", r->target ? ", " : "", r->target ? r->target : "");
        ac_putf(t->to, "%d kernel%s)\n", r->n_kernels, r->n_kernels == 1 ? "" : "s");
    }
    if (r->macs)
        ac_putf(t->to, "       %s multiply-adds\n", commas(t, r->macs));
    if (r->insns)
        ac_putf(t->to, "  Time instructions %s%s   (%s)\n", r->insns == r->least_insns ? "" : "at most ",
                commas(t, r->insns), r->timed_by);
    if (r->insns && r->cycles_max)
        ac_putf(t->to, "       cycles at most %s\n", commas(t, r->cycles_max));
}

static bool is_other(const ac_report *r, const ac_result *x)
{
    return x->arena_bytes >= 0 && strcmp(x->strategy, r->plan->strategy) != 0 && strcmp(x->strategy, "none") != 0;
}

static void put_others(const text *t)
{
    const ac_report *r = t->r;
    ac_bytes arena = r->plan->arena_bytes;
    size_t line = t->to->n;
    int32_t same = 0;
    ac_put(t->to, "        ");
    if (r->n_memories) /* planners are compared by the first one */
        ac_putf(t->to, "%s by others: ", visible(t, r->problem->mem[0].name));
    for (int32_t k = 0; k < r->n_rows; k++) {
        const ac_result *x = &r->rows[k];
        if (is_other(r, x) && x->arena_bytes != arena)
            put_phrase(t, &line, 8,
                       ac_strf(t->to->cx->region, "%s %s B (%+.1f %%), ", x->strategy, commas(t, x->arena_bytes),
                               ac_report_percent(x->arena_bytes - arena, arena)));
        same += is_other(r, x) && x->arena_bytes == arena;
    }
    for (int32_t k = 0, n = 0; k < r->n_rows; k++) {
        const ac_result *x = &r->rows[k];
        if (is_other(r, x) && x->arena_bytes == arena) {
            n++;
            put_phrase(t, &line, 8, ac_strf(t->to->cx->region, "%s%s", x->strategy, n == same ? " the same, " : ", "));
        }
    }
    put_phrase(t, &line, 8,
               ac_strf(t->to->cx->region, "no sharing %s B%s.", commas(t, r->no_sharing),
                       r->n_memories ? " in all memories" : ""));
    ac_putc(t->to, '\n');
}

/* With several memories: the bytes that cross from and to all but the first, and the steps that move most of them. */
static void put_slow(const text *t)
{
    const ac_report *r = t->r;
    const int64_t slow = ac_report_slow(r);
    if (!slow || !r->n_steps)
        return;
    bool *done = AC_NEW_N(t->to->cx->region, bool, r->n_steps + 1);
    ac_putf(t->to, "        %s B a run cross between %s and slower memories\n", commas(t, slow),
            visible(t, r->problem->mem[0].name));
    for (int k = 0; k < 4; k++) {
        int32_t best = -1;
        for (int32_t s = 0; s < r->n_steps; s++)
            if (!done[s] && r->step[s].slow > (best < 0 ? 0 : r->step[best].slow))
                best = s;
        if (best < 0)
            break;
        done[best] = true;
        ac_putf(t->to, "%s op %d %s B", k ? " |" : "          most:", best, commas(t, r->step[best].slow));
    }
    ac_putc(t->to, '\n');
}

/* A line for each memory: the bound of its items. */
static void put_memories(const text *t)
{
    const ac_report *r = t->r;
    const bool optimal = ac_report_bytes(r) == ac_report_lower_bound(r);
    int32_t wide = 0;
    for (int32_t k = 0; k < r->n_memories; k++) {
        const int32_t n = (int32_t)strlen(r->problem->mem[r->memory[k].mem].name);
        wide = n > wide ? n : wide;
    }
    ac_putf(t->to, "\n  Plan: %s%s%sfound by %s.\n", optimal ? tint(t, GREEN) : "",
            optimal ? "optimal for what each memory holds" : "",
            optimal ? ac_strf(t->to->cx->region, "%s, ", tint(t, PLAIN)) : "", r->plan->strategy);
    for (int32_t k = 0; k < r->n_memories; k++) {
        const ac_report_memory *x = &r->memory[k];
        const ac_bytes used = r->plan->mem_bytes[x->mem], above = used - x->bound;
        const double gap = ac_report_percent(above, x->bound);
        ac_putf(t->to, "        %-*s  lower bound %11s B", wide, r->problem->mem[x->mem].name, commas(t, x->bound));
        if (above)
            ac_putf(t->to, ", used %s B more, gap %.*f %%\n", commas(t, above), gap < 0.1 ? 4 : 1, gap);
        else
            ac_put(t->to, " = used, gap 0.0 %\n");
    }
    put_others(t);
    put_slow(t);
}

static void put_plan(const text *t)
{
    const ac_report *r = t->r;
    ac_bytes arena = r->plan->arena_bytes, bound = ac_report_lower_bound(r);
    double gap = bound ? ac_report_percent(arena - bound, bound) : 0;
    if (r->n_memories) {
        put_memories(t);
        return;
    }
    if (arena == bound)
        ac_putf(t->to, "\n  Plan: %soptimal%s. Lower bound %s B = arena, gap 0.0 %%. Found by %s.\n", tint(t, GREEN),
                tint(t, PLAIN), commas(t, bound), r->plan->strategy);
    else
        ac_putf(t->to, "\n  Plan: found by %s. Lower bound %s B, arena %s B above it, gap %.*f %%.\n",
                r->plan->strategy, commas(t, bound), commas(t, arena - bound), gap < 0.1 ? 4 : 1, gap);
    put_others(t);
    if (r->reference_tflite)
        ac_put(t->to, "        This is what TensorFlow Lite itself would do (--reference tflite).\n");
}

static const char *step_label(const text *t, ac_step s)
{
    if (s < 0 || s >= t->r->n_steps)
        return ac_strf(t->to->cx->region, "step %d", s);
    return ac_strf(t->to->cx->region, "%d %s", s, t->r->step[s].op);
}

/* " of a" where there are several memories. */
static const char *of_memory(const text *t, int32_t m)
{
    return t->r->n_memories ? ac_strf(t->to->cx->region, " of %s", visible(t, t->r->problem->mem[m].name)) : "";
}

static void put_peak(const text *t, int32_t m)
{
    enum { SHOWN = 12, LEAST = 16 };
    const ac_report *r = t->r;
    ac_section s = ac_section_peak(t->to->cx, r, t->names, m);
    const ac_report_alive *alive = s.from;
    const int32_t n = s.n;
    int32_t wide, over;
    if (!n)
        return;
    ac_putf(t->to, "\n  %sThe peak%s is %s%s%s\n", tint(t, BOLD), of_memory(t, m),
            s.step < r->n_steps ? "operator " : "", step_label(t, s.step), tint(t, PLAIN));
    s.n = n < SHOWN ? n : SHOWN;
    s.fit = NAME_WIDTH;
    if (ac_section_width(&s, &wide) > LINE) { /* brief roles, then shorter names */
        s.meets |= AC_BRIEF;
        over = ac_section_width(&s, &wide) - LINE;
        s.fit = over <= 0 ? NAME_WIDTH : wide - over > LEAST ? (size_t)(wide - over) : LEAST;
    }
    ac_section_text(t->to, &s);
    ac_bytes rest = 0;
    for (int32_t k = SHOWN; k < n; k++)
        rest += alive[k].bytes;
    if (n > SHOWN)
        ac_putf(t->to, "       and %d more, %s B together\n", n - SHOWN, commas(t, rest));
}

/* The four steps with the next most live bytes: they limit the gain of lowering the peak. */
static void put_next(const text *t, int32_t m)
{
    const ac_report *r = t->r;
    const ac_step peak = ac_report_peak_of(r, m);
    bool *done = AC_NEW_N(t->to->cx->region, bool, r->n_steps);
    const ac_bytes *live = r->n_memories ? ac_report_live(t->to->cx, r, m, r->n_steps) : NULL;
    for (int k = 0; k < 4 && k < r->n_steps - 1; k++) {
        int32_t best = -1;
        ac_bytes most = -1;
        for (int32_t s = 0; s < r->n_steps; s++) {
            const ac_bytes here = live ? live[s] : r->step[s].live;
            if (!done[s] && s != peak && here > most) {
                best = s;
                most = here;
            }
        }
        if (best < 0)
            break;
        done[best] = true;
        ac_putf(t->to, "%s op %d %s B", k ? " |" : "  Next:", best, commas(t, most));
    }
    if (r->n_steps > 1)
        ac_putc(t->to, '\n');
}

static void put_lower(const text *t)
{
    const ac_report *r = t->r;
    const ac_section s = ac_section_lower(t->to->cx, r);
    int32_t untried = 0;
    for (int32_t k = 0; k < r->n_lower; k++)
        untried += r->lower[k].bytes < 0;
    if (r->n_lower)
        ac_putf(t->to, "\n  To go lower%s\n", untried ? "   (-v tries them)" : "");
    ac_section_text(t->to, &s);
}

static void put_notes(const text *t)
{
    if (t->r->n_notes)
        ac_put(t->to, "\n  Notes\n");
    for (int32_t k = 0; k < t->r->n_notes; k++) {
        size_t line = t->to->n;
        ac_put(t->to, "       ");
        for (const char *w = t->r->notes[k]; *w;) { /* word by word */
            const size_t n = strcspn(w, " ") + (w[strcspn(w, " ")] == ' ');
            put_phrase(t, &line, 9, ac_strf(t->to->cx->region, "%.*s", (int)n, w));
            w += n;
        }
        ac_putc(t->to, '\n');
    }
}

static void put_strategies(const text *t)
{
    const ac_report *r = t->r;
    const ac_bytes bound = ac_report_bound_of(r, 0); /* the rows are about the first memory */
    ac_putf(t->to, "\n  planner      %12s     above the bound\n",
            ac_strf(t->to->cx->region, "%s B",
                    r->n_memories ? ac_name_fit(t->names, r->problem->mem[0].name, 10) : "arena"));
    for (int32_t k = 0; k < r->n_rows; k++)
        if (r->rows[k].arena_bytes < 0)
            ac_putf(t->to, "  %-12s %12s\n", r->rows[k].strategy, "refused");
        else
            ac_putf(t->to, "  %-12s %12s %15.2f %%%s\n", r->rows[k].strategy, commas(t, r->rows[k].arena_bytes),
                    ac_report_percent(r->rows[k].arena_bytes - bound, bound),
                    strcmp(r->rows[k].strategy, r->plan->strategy) ? "" : "   <- this plan");
    for (int32_t k = 0; k < r->n_passes; k++)
        ac_putf(t->to, "%s  %-20s %6d changed\n", k ? "" : "\n", r->pass[k].name, r->pass[k].changed);
}

static void put_table(const text *t, ac_section s)
{
    ac_putc(t->to, '\n');
    ac_section_text(t->to, &s);
}

static void put_tables(const text *t)
{
    ac_ctx *cx = t->to->cx;
    const ac_report *r = t->r;
    const bool intervals = ac_report_is_intervals(r);
    ac_section rows =
        intervals ? ac_section_items(cx, r, t->names) : ac_section_tensors(cx, r, t->names, r->tensor, r->n_tensors);
    rows.fit = t->whole ? 0 : CELL;
    put_table(t, rows);
    const ac_layers layers = {.step = r->step, .n = r->n_steps, .names = t->names, .planned = true};
    if (!intervals)
        put_table(t, ac_section_steps(cx, &layers));
    const ac_section launches = ac_section_launches(cx, r);
    if (launches.n)
        put_table(t, launches);
    const ac_section cuts = ac_report_cuts_section(cx, r->cuts);
    if (cuts.n)
        put_table(t, cuts);
}

void ac_report_text(ac_sink *to, const ac_report *r, int verbose, bool color)
{
    text t = {to, r, ac_names_of(to->cx, r), color, verbose >= 2};
    put_header(&t);
    put_sizes(&t);
    put_plan(&t);
    ac_report_threads_text(to, r);
    for (int32_t k = 0; k < (r->n_memories ? r->n_memories : 1); k++) {
        const int32_t m = r->n_memories ? r->memory[k].mem : 0;
        put_peak(&t, m);
        put_next(&t, m);
    }
    put_lower(&t);
    put_notes(&t);
    for (int32_t k = 0; k < (r->n_memories ? r->n_memories : 1); k++)
        ac_report_map(to, r, r->n_memories ? r->memory[k].mem : 0);
    if (verbose >= 1)
        put_tables(&t);
    if (verbose >= 2)
        put_strategies(&t);
}
