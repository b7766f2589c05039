/* ahead.c - plans a model of recurrent layers again with the other value of --ahead, so that the report has the bytes
 * and the instructions of both: products with the inputs of all steps before a loop, or in it. */
#include "driver/emit/emit.h"
#include "driver/facts/facts.h"
#include "driver/stage/stage.h"
#include "planner/report/report.h"

static int plan_stage(ac_work *one, void *arg)
{
    (void)arg;
    AC_TRY(ac_read_opened(one));
    return ac_plan_any(one);
}

/* "12,345,678" of an estimate, with three digits that count. */
static const char *about(ac_ctx *cx, double instructions)
{
    double unit = 1;
    while (instructions / unit >= 1000)
        unit *= 10;
    return ac_commas(cx, (ac_bytes)(instructions / unit + 0.5) * (ac_bytes)unit);
}

static void add_lower(ac_report *r, ac_region *region, ac_report_lower row)
{
    ac_report_lower *list = AC_NEW_N(region, ac_report_lower, r->n_lower + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < r->n_lower; i++)
        list[n++] = r->lower[i];
    list[n++] = row;
    r->lower = list;
    r->n_lower = n;
}

static void add_note(ac_report *r, ac_region *region, const char *note)
{
    const char **list = AC_NEW_N(region, const char *, r->n_notes + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < r->n_notes; i++)
        list[n++] = r->notes[i];
    list[n++] = note;
    r->notes = list;
    r->n_notes = n;
}

/* A row of what takes less, or a note about what takes more and is faster. */
static void compare(const ac_made *a, const ac_made *other, bool off)
{
    ac_ctx *cx = a->cx;
    const ac_bytes now = a->planned->plan.arena_bytes, then = other->planned->plan.arena_bytes;
    const char *word = off ? "--ahead on" : "--ahead off";
    const char *here = about(cx, ac_facts_instructions(a->planned)),
               *there = about(cx, ac_facts_instructions(other->planned));
    if (then < now)
        add_lower(a->report, cx->region,
                  (ac_report_lower){word,
                                    ac_strf(cx->region, "compute products with inputs %s: %s instructions, not %s",
                                            off ? "before their loop" : "in each step", there, here),
                                    then});
    else
        add_note(a->report, cx->region,
                 ac_strf(cx->region,
                         "with %s the arena is %s B and a run about %s instructions, instead of %s B and %s", word,
                         ac_commas(cx, then), there, ac_commas(cx, now), here));
}

void ac_ahead_what_if(const ac_made *a)
{
    bool off;
    if (!a->planned || !ac_facts_has_ahead(a, &off) || !ac_facts_try(a) || ac_facts_over_budget(a->packed))
        return;
    ac_work *one = ac_work_like(a->owner, AC_AS_OTHER);
    one->opt.ahead = off ? AC_OPT_AHEAD_ON : AC_OPT_AHEAD_OFF;
    one->source = *a->source;
    one->source.file.map = one->source.weights.map = NULL; /* a closes them */
    if (ac_guard(one, plan_stage, NULL) == AC_OK)
        compare(a, &one->made, off);
    ac_work_close(one);
}
