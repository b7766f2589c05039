/* facts.c - the facts that every plan has, for its report. facts_model.c adds those of a model; planner/report prints
 * them. */
#include "driver/facts/facts.h"
#include "planner/pack/strategies.h"

/* The bytes of all items but state if they shared no memory. */
static ac_bytes without_sharing(ac_ctx *cx, const ac_problem *p)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    ac_bytes *offset = AC_NEW_N(tmp, ac_bytes, p->n + 1), end = 0;
    ac_problem all = {.item = AC_NEW_N(tmp, ac_item, p->n + 1)};
    for (int32_t i = 0; i < p->n; i++)
        if (p->item[i].kind != AC_ITEM_STATE)
            all.item[all.n++] = p->item[i];
    (void)ac_solve_none(&all, offset, tmp); /* it cannot fail */
    for (int32_t i = 0; i < all.n; i++)
        if (offset[i] + all.item[i].size > end)
            end = offset[i] + all.item[i].size;
    ac_region_close(tmp);
    return end;
}

ac_report *ac_facts_open(const ac_made *a, const ac_packed *packed, const char *format, const char *target)
{
    ac_report *r = AC_NEW(a->cx->region, ac_report);
    const ac_problem *p = packed->problem;
    ac_region *tmp = ac_region_open(&a->cx->heap);
    const ac_bound bound = ac_problem_bound(p, tmp);
    ac_region_close(tmp);
    *r = (ac_report){.file = a->source->base,
                     .format = format,
                     .target = target,
                     .version = arenac_version(),
                     .budget = packed->budget,
                     .live_bound = bound.live,
                     .aligned_bound = bound.aligned,
                     .peak = bound.peak,
                     .problem = p,
                     .plan = packed->plan,
                     .rows = packed->row,
                     .n_rows = packed->n_rows,
                     .planner_option = a->opt->planner.name,
                     .options = a->intervals ? NULL : ac_options_line(a->request->stated, target),
                     .watched = a->opt->watch,
                     .reference_tflite = a->opt->reference == AC_OPT_REFERENCE_TFLITE};
    for (int32_t i = 0; i < p->n; i++) {
        const ac_item *it = &p->item[i];
        if (it->kind == AC_ITEM_STATE)
            r->state_bytes += ac_align_up(it->size, it->align);
        r->n_activations += it->kind != AC_ITEM_SCRATCH;
    }
    r->no_sharing = without_sharing(a->cx, p);
    ac_report_memories(a->cx, r);
    return r;
}

bool ac_facts_over_budget(const ac_packed *packed)
{
    return packed->budget >= 0 && packed->plan->arena_bytes > packed->budget;
}

void ac_facts_steps(ac_ctx *cx, ac_report *r, ac_report_step *step, int32_t n)
{
    const ac_bytes *live = ac_report_live(cx, r, r->n_memories ? -1 : 0, n);
    for (int32_t s = 0; s < n; s++)
        step[s].live = live[s];
    r->step = step;
    r->n_steps = n;
    for (int32_t s = 0; s < n && (r->problem->n_pairs || r->n_memories); s++)
        if (r->peak >= n || live[s] > live[r->peak])
            r->peak = s;
}

void ac_facts_reads(ac_ctx *cx, ac_report *r, ac_report_tensor *row, int32_t n, const ac_facts_read *read,
                    int32_t n_reads)
{
    int32_t *count = AC_NEW_N(cx->region, int32_t, n + 1), **list = AC_NEW_N(cx->region, int32_t *, n + 1);
    bool **by_view = AC_NEW_N(cx->region, bool *, n + 1);
    for (int32_t i = 0; i < n_reads; i++)
        count[read[i].row]++;
    for (int32_t i = 0; i < n; i++) {
        row[i].consumers = list[i] = AC_NEW_N(cx->region, int32_t, count[i] + 1);
        row[i].by_view = by_view[i] = AC_NEW_N(cx->region, bool, count[i] + 1);
    }
    for (int32_t i = 0; i < n_reads; i++) {
        const int32_t k = row[read[i].row].n_consumers++;
        list[read[i].row][k] = read[i].step;
        by_view[read[i].row][k] = read[i].by_view;
    }
    r->tensor = row;
    r->n_tensors = n;
}

const char *ac_facts_order_note(ac_ctx *cx, const ac_plan_found *found, const ac_plan *plan, const char *more)
{
    const ac_bytes file = found->file_order_bytes, won = file - plan->arena_bytes;
    if (won > 0)
        return ac_strf(cx->region, "order: %s B less than the file's order (%s B)%s", ac_commas(cx, won),
                       ac_commas(cx, file), more);
    return found->order.after == found->order.before && found->order.optimal
               ? "order: the file's; no order has a lower peak"
               : "order: the file's; no smaller arena was found";
}
