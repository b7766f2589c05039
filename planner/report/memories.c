/* memories.c - the bound and the peak of each memory by itself, and of all of them together. With several memories the
 * sums are about this plan: the planner chose the memory of each item, and the bound of a memory is that of its
 * items. */
#include "planner/report/report.h"

static bool is_ram(const ac_report *r, int32_t m)
{
    return r->problem->mem[m].use == AC_MEM_RAM;
}

/* The bound of the items that have of[i] == m. */
static ac_bound bound_of(ac_ctx *cx, const ac_problem *p, const int32_t *of, int32_t m)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    const ac_problem part = ac_problem_part(p, of, m, AC_NEW_N(tmp, int32_t, p->n + 1), tmp);
    const ac_bound b = ac_problem_bound(&part, tmp);
    ac_region_close(tmp);
    return b;
}

static ac_step most(const ac_bytes *v, int32_t n)
{
    ac_step best = 0;
    for (int32_t s = 1; s < n; s++)
        if (v[s] > v[best])
            best = s;
    return best;
}

void ac_report_memories(ac_ctx *cx, ac_report *r)
{
    const ac_problem *p = r->problem;
    const ac_plan *plan = r->plan;
    int32_t n_ram = 0, *all = AC_NEW_N(cx->region, int32_t, p->n + 1);
    for (int32_t m = 0; m < p->n_mems; m++)
        n_ram += is_ram(r, m);
    if (n_ram < 2)
        return;
    ac_report_memory *row = AC_NEW_N(cx->region, ac_report_memory, n_ram);
    for (int32_t m = 0; m < p->n_mems; m++) {
        if (!is_ram(r, m) || !plan->mem_bytes[m])
            continue;
        const ac_bound b = bound_of(cx, p, plan->mem, m);
        row[r->n_memories++] = (ac_report_memory){
            m, !m && plan->proven > b.aligned ? plan->proven : b.aligned, /* an exact search may know better */
            b.live, most(ac_report_live(cx, r, m, p->steps), p->steps)};
    }
    if (!r->n_memories) /* nothing needs a byte */
        row[r->n_memories++] = (ac_report_memory){0};
    for (int32_t i = 0; i < p->n; i++)
        all[i] = is_ram(r, plan->mem[i]) ? 0 : 1;
    r->memory = row;
    r->live_bound = bound_of(cx, p, all, 0).live;
    r->peak = most(ac_report_live(cx, r, -1, p->steps), p->steps);
}

static void change(ac_bytes *by, int32_t n, ac_step begin, ac_step end, ac_bytes bytes)
{
    if (begin >= n || begin >= end)
        return;
    by[begin] += bytes;
    by[end < n ? end : n] -= bytes;
}

/* Adds the bytes of a memory that are alive, by step. */
static void add_live(ac_ctx *cx, const ac_report *r, int32_t m, ac_bytes *live, int32_t n)
{
    const ac_problem *p = r->problem;
    if (p->n_pairs) { /* bytes that two tensors share in this plan count once */
        for (int32_t s = 0; s < n; s++)
            live[s] += ac_report_used_at(cx, r, m, s);
        return;
    }
    ac_bytes *by = AC_NEW_N(cx->region, ac_bytes, n + 1), sum = 0; /* from one step to the next */
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        if (r->plan->mem[i] != m)
            continue;
        change(by, n, it->life.begin, it->life.end, it->size);
        for (int32_t g = 0; g < it->n_gaps; g++)
            change(by, n, it->gaps[g].life.begin, it->gaps[g].life.end, it->gaps[g].hi - it->gaps[g].lo - it->size);
    }
    for (int32_t s = 0; s < n; s++)
        live[s] += sum += by[s];
}

ac_bytes *ac_report_live(ac_ctx *cx, const ac_report *r, int32_t mem, int32_t n)
{
    ac_bytes *live = AC_NEW_N(cx->region, ac_bytes, n + 1);
    for (int32_t m = 0; m < r->problem->n_mems; m++)
        if (mem < 0 ? is_ram(r, m) : m == mem)
            add_live(cx, r, m, live, n);
    return live;
}

bool ac_report_is_intervals(const ac_report *r)
{
    return !r->n_steps && !r->n_file_ops;
}

static const ac_report_memory *row_of(const ac_report *r, int32_t m)
{
    for (int32_t k = 0; k < r->n_memories; k++)
        if (r->memory[k].mem == m)
            return &r->memory[k];
    return NULL;
}

ac_bytes ac_report_bytes(const ac_report *r)
{
    ac_bytes sum = 0;
    for (int32_t k = 0; k < r->n_memories; k++)
        sum += r->plan->mem_bytes[r->memory[k].mem];
    return r->n_memories ? sum : r->plan->arena_bytes;
}

int64_t ac_report_slow(const ac_report *r)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < r->problem->n; i++)
        sum += r->plan->mem[i] && is_ram(r, r->plan->mem[i]) ? r->problem->item[i].traffic : 0;
    return sum;
}

ac_bytes ac_report_bound_of(const ac_report *r, int32_t m)
{
    const ac_report_memory *x = row_of(r, m);
    if (r->n_memories || m)
        return x ? x->bound : 0;
    ac_bytes b = r->plan->bound > r->aligned_bound ? r->plan->bound : r->aligned_bound;
    b = r->live_bound > b ? r->live_bound : b;
    return r->plan->proven > b ? r->plan->proven : b; /* an exact search may know better */
}

ac_bytes ac_report_lower_bound(const ac_report *r)
{
    ac_bytes sum = 0;
    for (int32_t k = 0; k < r->n_memories; k++)
        sum += r->memory[k].bound;
    return r->n_memories ? sum : ac_report_bound_of(r, 0);
}

ac_step ac_report_peak_of(const ac_report *r, int32_t m)
{
    const ac_report_memory *x = row_of(r, m);
    return x ? x->peak : r->peak;
}
