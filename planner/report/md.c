/* md.c - the report as a table for a merge request. Names are put between backticks, with what would end a cell
 * escaped; in sentences, what would be markup is. */
#include "planner/report/cuts.h"
#include "planner/report/section.h"

#include <string.h>

static void put_sentence(ac_sink *to, const char *s)
{
    for (; *s; s++) {
        if (strchr("\\`*[]<>&|", *s))
            ac_putc(to, '\\');
        ac_putc(to, *s == '\n' || *s == '\r' ? ' ' : *s);
    }
    ac_putc(to, '\n');
}

/* A row of the summary; with several memories it has a column of bounds. */
static void put_figure(ac_sink *to, const ac_report *r, const char *what, ac_bytes bytes, const char *least)
{
    ac_putf(to, "| %s | %s |", what, ac_commas(to->cx, bytes));
    ac_put(to, r->n_memories ? ac_strf(to->cx->region, " %s |\n", least) : "\n");
}

static void put_summary(ac_sink *to, const ac_report *r)
{
    const ac_bytes arena = ac_report_bytes(r), bound = ac_report_lower_bound(r);
    ac_put(to, r->n_memories ? "| | bytes | lower bound |\n|---|---:|---:|\n" : "| | bytes |\n|---|---:|\n");
    for (int32_t m = 0; m < r->problem->n_mems; m++) {
        const ac_bytes least = ac_report_bound_of(r, m);
        put_figure(to, r, r->problem->mem[m].name, r->plan->mem_bytes[m], least ? ac_commas(to->cx, least) : "");
    }
    if (!r->n_memories)
        put_figure(to, r, "lower bound", bound, "");
    put_figure(to, r, r->n_memories ? "no sharing, all memories" : "no sharing", r->no_sharing, "");
    if (r->budget >= 0)
        put_figure(to, r, r->n_memories ? ac_strf(to->cx->region, "budget of %s", r->problem->mem[0].name) : "budget",
                   r->budget, "");
    if (r->n_steps)
        put_figure(to, r, "weights", r->weight_bytes, "");
    if (arena == bound)
        ac_putf(to, "\nPlan by %s: optimal%s.\n", r->plan->strategy,
                r->n_memories ? " for what each memory holds" : "");
    else
        ac_putf(to, "\nPlan by %s: %.1f %% above the lower bound%s.\n", r->plan->strategy,
                ac_report_percent(arena - bound, bound), r->n_memories ? "s of all memories" : "");
}

enum { NAME = 40 }; /* characters of a tensor's name; json and lock have all of it */

/* The tensors in an arena, or the items of a problem without a model. */
static void put_tensors(ac_sink *to, const ac_report *r, const ac_name_list *names)
{
    ac_report_tensor *row = AC_NEW_N(to->cx->region, ac_report_tensor, r->n_tensors);
    int32_t n = 0;
    for (int32_t k = 0; k < r->n_tensors; k++)
        if (r->tensor[k].item >= 0)
            row[n++] = r->tensor[k];
    ac_section s = r->n_tensors ? ac_section_tensors(to->cx, r, names, row, n) : ac_section_items(to->cx, r, names);
    s.fit = r->n_tensors ? NAME : 0;
    ac_putc(to, '\n');
    ac_section_md(to, &s);
}

void ac_report_md(ac_sink *to, const ac_report *r)
{
    const ac_name_list *names = ac_names_of(to->cx, r);
    ac_put(to, "### ");
    ac_put_md_code(to, r->file ? r->file : "-");
    ac_put(to, "\n\n");
    put_summary(to, r);
    put_tensors(to, r, names);
    if (r->n_steps) {
        const ac_layers layers = {.step = r->step, .n = r->n_steps, .names = names, .planned = true};
        const ac_section steps = ac_section_steps(to->cx, &layers);
        ac_putc(to, '\n');
        ac_section_md(to, &steps);
    }
    const ac_section launches = ac_section_launches(to->cx, r);
    if (launches.n) {
        ac_putc(to, '\n');
        ac_section_md(to, &launches);
    }
    const ac_section cuts = ac_report_cuts_section(to->cx, r->cuts);
    if (cuts.n) {
        ac_putc(to, '\n');
        ac_section_md(to, &cuts);
    }
    for (int32_t k = 0; k < r->n_notes; k++) {
        ac_put(to, k ? "- " : "\n- ");
        put_sentence(to, r->notes[k]);
    }
}
