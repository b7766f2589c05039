/* peak.c - who is alive at the peak, and what to say when that is too much. */
#include "planner/report/names.h"

#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *a, const void *b)
{
    const ac_report_alive *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static ac_bytes bytes_at(const ac_item *it, ac_step step)
{
    if (step < it->life.begin || step >= it->life.end)
        return 0;
    for (int32_t g = 0; g < it->n_gaps; g++)
        if (it->gaps[g].life.begin <= step && step < it->gaps[g].life.end)
            return it->gaps[g].hi - it->gaps[g].lo;
    return it->size;
}

const ac_report_alive *ac_report_alive_at(ac_ctx *cx, const ac_report *r, int32_t mem, ac_step step, int32_t *n)
{
    const ac_problem *p = r->problem;
    ac_report_alive *row = AC_NEW_N(cx->region, ac_report_alive, p->n);
    int32_t *root = AC_NEW_N(cx->region, int32_t, p->n);
    for (int32_t i = 0; i < p->n; i++)
        root[i] = -1;
    for (int32_t t = r->n_tensors - 1; t >= 0; t--) /* backwards: the first root wins, whatever the order of the rows */
        if (r->tensor[t].item >= 0 && !r->tensor[t].alias_of)
            root[r->tensor[t].item] = t;
    *n = 0;
    for (int32_t i = 0; i < p->n; i++) {
        ac_bytes bytes = r->plan->mem[i] == mem ? bytes_at(&p->item[i], step) : 0;
        if (bytes)
            row[(*n)++] = (ac_report_alive){i, root[i], bytes};
    }
    qsort(row, (size_t)*n, sizeof *row, by_bytes);
    return row;
}

typedef struct range {
    ac_bytes lo, hi;
} range;

static int by_address(const void *a, const void *b)
{
    const range *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

ac_bytes ac_report_used_at(ac_ctx *cx, const ac_report *r, int32_t mem, ac_step step)
{
    const ac_problem *p = r->problem;
    ac_region *tmp = ac_region_open(&cx->heap);
    range *list = AC_NEW_N(tmp, range, p->n + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < p->n; i++) {
        const ac_bytes bytes = r->plan->mem[i] == mem ? bytes_at(&p->item[i], step) : 0;
        if (bytes)
            list[n++] = (range){r->plan->offset[i], r->plan->offset[i] + bytes};
    }
    qsort(list, (size_t)n, sizeof *list, by_address);
    ac_bytes used = 0, end = 0;
    for (int32_t k = 0; k < n; k++) {
        used += list[k].hi > end ? list[k].hi - (list[k].lo > end ? list[k].lo : end) : 0;
        end = list[k].hi > end ? list[k].hi : end;
    }
    ac_region_close(tmp);
    return used;
}

double ac_report_percent(ac_bytes part, ac_bytes whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static const char *peak_line(ac_ctx *cx, const ac_report *r, int32_t m)
{
    enum { SHOWN = 6 };
    int32_t n;
    const ac_step peak = ac_report_peak_of(r, m);
    const ac_name_list *names = ac_names_of(cx, r);
    const ac_report_alive *row = ac_report_alive_at(cx, r, m, peak, &n);
    const char *line =
        peak < r->n_steps
            ? ac_strf(cx->region, "peak at node '%s' (%s):", ac_name_short(names, r->step[peak].name), r->step[peak].op)
            : ac_strf(cx->region, "peak at step %d:", peak);
    for (int32_t k = 0; k < n && k < SHOWN; k++) {
        const char *name = row[k].tensor >= 0 ? r->tensor[row[k].tensor].name : r->problem->item[row[k].item].name;
        line = ac_strf(cx->region, "%s%s '%s' %s B", line, k ? " +" : "", ac_name_short(names, name),
                       ac_commas(cx, row[k].bytes));
    }
    return n > SHOWN ? ac_strf(cx->region, "%s + %d more", line, n - SHOWN) : line;
}

static void over(ac_ctx *cx, const ac_report *r, int32_t m, ac_bytes budget)
{
    ac_bytes need = r->plan->mem_bytes[m], bound = ac_report_bound_of(r, m);
    ac_error(cx, (ac_place){.file = r->file}, E0401,
             "memory '%s' is over its budget: needs %s B, has %s B, %s B too much", r->problem->mem[m].name,
             ac_commas(cx, need), ac_commas(cx, budget), ac_commas(cx, need - budget));
    if (m && (!r->n_memories || r->problem->mem[m].use != AC_MEM_RAM))
        return;
    ac_detail(cx, "%s", peak_line(cx, r, m));
    if (m) {
        if (bound > budget)
            ac_reason(cx, "what the memories before it do not hold takes at least %s B", ac_commas(cx, bound));
        return;
    }
    if (r->again) {
        ac_reason(cx, "results are computed again already%s",
                  !r->again->least_bytes
                      ? ""
                      : ac_strf(cx->region, "; no plan in this order of steps takes less than %s B, proven",
                                ac_commas(cx, r->again->least_bytes)));
        ac_help(cx, "a smaller --batch takes less, and so does --train-only");
        return;
    }
    if (bound > budget) {
        ac_reason(cx, "infeasible, proven: %s %s B",
                  r->n_steps ? "these steps with these options take at least"
                             : "no plan of this problem takes less than",
                  ac_commas(cx, bound));
        return;
    }
    ac_reason(cx, "effort spent: the smallest plan found takes %s B, the lower bound is %s B", ac_commas(cx, need),
              ac_commas(cx, bound));
    ac_bytes best = need;
    const char *name = NULL;
    for (int32_t k = 0; k < r->n_rows; k++)
        if (r->rows[k].arena_bytes >= 0 && r->rows[k].arena_bytes < best) {
            best = r->rows[k].arena_bytes;
            name = r->rows[k].strategy;
        }
    if (name)
        ac_help(cx, "--planner %s takes %s B", name, ac_commas(cx, best));
}

/* Of memory 0; -1: none. */
static ac_bytes budget_of(const ac_report *r)
{
    const ac_bytes capacity = r->problem->mem[0].capacity;
    return r->budget >= 0 && (capacity < 0 || r->budget < capacity) ? r->budget : capacity;
}

int ac_report_help_smaller(ac_ctx *cx, const ac_report *r)
{
    const ac_bytes budget = budget_of(r);
    int32_t n;
    bool wide = false;
    if (budget < 0 || ac_report_bound_of(r, 0) <= budget || !r->n_steps || r->again)
        return AC_FAIL;
    const ac_report_alive *row = ac_report_alive_at(cx, r, 0, ac_report_peak_of(r, 0), &n);
    for (int32_t k = 0; k < n; k++) {
        const char *type = row[k].tensor >= 0 ? r->tensor[row[k].tensor].dtype : "";
        wide |= atoi(type + strcspn(type, "0123456789")) > 8; /* f32, i16: bits */
    }
    return ac_help(cx, "the tensors alive at the peak must get smaller: a smaller input%s",
                   wide ? ", fewer channels, or 8-bit types" : " or fewer channels");
}

int ac_report_over_budget(ac_ctx *cx, const ac_report *r)
{
    int rc = AC_OK;
    for (int32_t m = 0; m < r->problem->n_mems; m++) {
        const ac_bytes budget = m ? r->problem->mem[m].capacity : budget_of(r);
        if (budget < 0 || r->plan->mem_bytes[m] <= budget)
            continue;
        over(cx, r, m, budget);
        rc = AC_FAIL;
    }
    if (r->weight_memory && r->weight_bytes > r->weight_budget)
        rc = ac_error(cx, (ac_place){.file = r->file}, E0401,
                      "memory '%s' is over its budget: the weights need %s B, it has %s B, %s B too much",
                      r->weight_memory, ac_commas(cx, r->weight_bytes), ac_commas(cx, r->weight_budget),
                      ac_commas(cx, r->weight_bytes - r->weight_budget));
    return rc;
}
