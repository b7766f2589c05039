/* md.c - the report as a table for a merge request. Names are put between backticks, with what would end a cell
 * escaped; in sentences, what would be markup is. */
#include "planner/report/cuts.h"
#include "planner/report/layers.h"
#include "planner/report/names.h"

#include <string.h>

static void put_name(ac_sink *to, const char *s)
{
    ac_putc(to, '`');
    for (; *s; s++) {
        if (*s == '|')
            ac_putc(to, '\\');
        ac_putc(to, *s == '`' || *s == '\n' || *s == '\r' ? '\'' : *s);
    }
    ac_putc(to, '`');
}

static void put_sentence(ac_sink *to, const char *s)
{
    for (; *s; s++) {
        if (strchr("\\`*[]<>&|", *s))
            ac_putc(to, '\\');
        ac_putc(to, *s == '\n' || *s == '\r' ? ' ' : *s);
    }
    ac_putc(to, '\n');
}

static void put_summary(ac_sink *to, const ac_report *r)
{
    ac_bytes arena = r->plan->arena_bytes, bound = ac_report_lower_bound(r);
    ac_put(to, "| | bytes |\n|---|---:|\n");
    for (int32_t m = 0; m < r->problem->n_mems; m++)
        ac_putf(to, "| %s | %s |\n", r->problem->mem[m].name, ac_commas(to->cx, r->plan->mem_bytes[m]));
    ac_putf(to, "| lower bound | %s |\n| no sharing | %s |\n", ac_commas(to->cx, bound),
            ac_commas(to->cx, r->no_sharing));
    if (r->budget >= 0)
        ac_putf(to, "| budget | %s |\n", ac_commas(to->cx, r->budget));
    if (r->n_steps)
        ac_putf(to, "| weights | %s |\n", ac_commas(to->cx, r->weight_bytes));
    if (arena == bound)
        ac_putf(to, "\nPlan by %s: optimal.\n", r->plan->strategy);
    else
        ac_putf(to, "\nPlan by %s: %.1f %% above the lower bound.\n", r->plan->strategy,
                ac_report_percent(arena - bound, bound));
}

enum { NAME = 40 }; /* characters of a tensor's name; json and lock have all of it */

static void put_tensors(ac_sink *to, const ac_report *r)
{
    const ac_name_list *names = ac_names_of(to->cx, r);
    ac_put(to, "\n| tensor | type | bytes | memory | offset | first | last |\n|---|---|---:|---|---:|---:|---:|\n");
    for (int32_t k = 0; k < r->n_tensors; k++) {
        const ac_report_tensor *x = &r->tensor[k];
        if (x->item < 0)
            continue;
        ac_put(to, "| ");
        put_name(to, ac_name_fit(names, x->name, NAME));
        ac_putf(to, " | %s %s | %s | %s | %s | %d | %d |\n", x->dtype, x->shape, ac_commas(to->cx, x->bytes),
                r->problem->mem[r->plan->mem[x->item]].name, ac_commas(to->cx, r->plan->offset[x->item] + x->delta),
                x->first, x->last);
    }
}

static void put_items(ac_sink *to, const ac_report *r)
{
    ac_put(to, "\n| item | bytes | memory | offset | first | last |\n|---|---:|---|---:|---:|---:|\n");
    for (int32_t i = 0; i < r->problem->n; i++) {
        const ac_item *it = &r->problem->item[i];
        ac_put(to, "| ");
        put_name(to, it->name);
        ac_putf(to, " | %s | %s | %s | %d | %d |\n", ac_commas(to->cx, it->size), r->problem->mem[r->plan->mem[i]].name,
                ac_commas(to->cx, r->plan->offset[i]), it->life.begin, it->life.end - 1);
    }
}

void ac_report_md(ac_sink *to, const ac_report *r)
{
    ac_put(to, "### ");
    put_name(to, r->file ? r->file : "-");
    ac_put(to, "\n\n");
    put_summary(to, r);
    if (r->n_tensors)
        put_tensors(to, r);
    else
        put_items(to, r);
    if (r->n_steps) {
        ac_putc(to, '\n');
        ac_layers_md(to, &(ac_layers){.step = r->step, .n = r->n_steps, .planned = true}, put_name);
    }
    if (r->cuts)
        ac_report_cuts_md(to, r->cuts, put_name);
    for (int32_t k = 0; k < r->n_notes; k++) {
        ac_put(to, k ? "- " : "\n- ");
        put_sentence(to, r->notes[k]);
    }
}
