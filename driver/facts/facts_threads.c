/* facts_threads.c - the schedule of a model for several threads, for its report. */
#include "driver/facts/facts.h"

#include "planner/graph/phased.h"

static double gain_of(double one, double many)
{
    return many > 0 ? one / many : 1;
}

void ac_facts_threads(const ac_made *a, ac_report *to)
{
    static const int32_t MORE[] = {2, 4, 8, 16, 32, 64};
    enum { N = sizeof MORE / sizeof *MORE };
    ac_region *r = a->cx->region;
    const ac_planned *p = a->planned;
    const ac_plan_how *how = a->how;
    const int32_t threads = a->lowering->set.threads;
    if (threads < 2)
        return;
    ac_report_threads *t = AC_NEW(r, ac_report_threads);
    ac_report_gain *more = AC_NEW_N(r, ac_report_gain, N);
    bool *cut = AC_NEW_N(r, bool, p->n_steps + 1);
    double *time = AC_NEW_N(r, double, p->n_steps + 1);
    for (int32_t s = 0; s < p->n_steps; s++) {
        cut[s] = p->step[s]->chunks > 0;
        time[s] = cut[s] ? p->step[s]->slowest : p->step[s]->work;
    }
    const ac_phases_found now = p->slot ? p->found.phases : ac_phases_simulate(a->cx, how, p, threads);
    *t = (ac_report_threads){.threads = threads,
                             .slot = p->slot,
                             .cut = cut,
                             .time = time,
                             .fork = how->fork_cost,
                             .gain = gain_of(now.one, p->slot ? now.after : now.before),
                             .gain_before = gain_of(now.one, now.before),
                             .more = more};
    for (int32_t k = 0; k < N; k++)
        if (MORE[k] > threads) {
            const ac_phases_found x = ac_phases_simulate(a->cx, how, p, MORE[k]);
            more[t->n_more++] = (ac_report_gain){MORE[k], gain_of(x.one, how->threads > 1 ? x.after : x.before)};
        }
    to->threads = t;
}
