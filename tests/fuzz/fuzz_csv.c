/* fuzz_csv.c - fuzzes packing problems as CSV. A problem that can be read round-trips; the plan of a small one passes
 * the checker. */
#define FUZZ_MUTATE fuzz_mutate_text
#include "tests/fuzz/mutate_text.h"

#include "base/bytes.h"
#include "base/sink.h"
#include "planner/pack/solve.h"
#include "tests/fuzz/fuzz_main.h"

enum { FEW = 64 }; /* maximum number of items to pack */

static bool same_gap(const ac_gap *a, const ac_gap *b)
{
    return a->life.begin == b->life.begin && a->life.end == b->life.end && a->hi - a->lo == b->hi - b->lo &&
           (a->lo == b->lo || a->hi == a->lo);
}

static bool same_item(const ac_item *a, const ac_item *b)
{
    bool same = !strcmp(a->name, b->name) && a->size == b->size && a->align == b->align && a->fixed == b->fixed &&
                a->life.begin == b->life.begin && a->life.end == b->life.end && a->n_gaps == b->n_gaps;
    for (int32_t i = 0; same && i < a->n_gaps; i++)
        same = same_gap(&a->gaps[i], &b->gaps[i]);
    return same;
}

static void read_again(ac_ctx *cx, const ac_problem *p)
{
    ac_problem q;
    ac_sink s;
    ac_sink_open(&s, cx);
    ac_problem_write_csv(&s, p, NULL);
    if (ac_problem_read_csv(cx, "again", s.text, s.n, false, &q) != AC_OK || q.n != p->n || q.steps != p->steps) {
        ac_diags_print(&cx->diags, stderr, false);
        abort();
    }
    for (int32_t i = 0; i < p->n; i++)
        if (!same_item(&p->item[i], &q.item[i]))
            abort();
}

static int read_once(ac_ctx *cx, const void *what)
{
    const ac_span *s = what;
    ac_problem p;
    ac_plan plan;
    int rc = ac_problem_read_csv(cx, "fuzz", (const char *)s->p, s->n, false, &p);
    if (rc == AC_OK) {
        read_again(cx, &p);
        if (p.n <= FEW)
            rc = ac_solve(cx, &p, "greedy", NULL, &plan);
    }
    return fuzz_status(cx, rc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_guarded(read_once, &(ac_span){data, size});
    return 0;
}
