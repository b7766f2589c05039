/* test_rerun.c - plans that drop results and recompute them, for random steps of training: replays them value by value,
 * counts the bytes independently, and compares with the results of the search. */
#include "base/random.h"
#include "planner/order/rerun_search.h"
#include "tests/unit/support/expect.h"

#include <string.h>

enum { VALUES = 60, EVENTS = 300000 };

typedef struct graph {
    ac_order_problem *p;
    int32_t maker[2 * VALUES + 4], written[2 * VALUES + 4];
    int64_t work[2 * VALUES + 4];
} graph;

static uint64_t seed = AC_RANDOM_START;
static int32_t draw(int32_t below)
{
    return (int32_t)ac_random(&seed, (uint64_t)below);
}

static void use(graph *g, int32_t step, int32_t v, bool writes)
{
    ac_order_use(g->p, step, v, 0, 1, writes);
}

/* n results, each of the one before it and sometimes an older one; then their gradients backwards, each of the one
 * after it and what its result was made of; now and then a step overwrites a weight. Values: 2k results, 2k + 1 their
 * gradients; the last is a weight that step n reads. */
static void make(graph *g, ac_region *r, int32_t n)
{
    const int32_t weight = 2 * n;
    memset(g, 0, sizeof *g);
    g->p = ac_order_new(r, 2 * n, 2 * n + 1);
    for (int32_t v = 0; v <= 2 * n; v++) {
        g->p->value[v] = (ac_order_value){.size = v == weight ? 0 : 16 * (1 + draw(40))};
        g->maker[v] = g->written[v] = -1;
    }
    g->p->value[0].at_start = true;
    g->p->value[1].at_end = true;
    for (int32_t k = 1; k < n; k++) {
        const int32_t s = k - 1, back = 2 * n - 2 - k, old = draw(k);
        use(g, s, 2 * k, true);
        use(g, s, 2 * k - 2, false);
        use(g, back, 2 * k - 1, true);
        use(g, back, k + 1 < n ? 2 * k + 1 : 2 * k, false);
        use(g, back, 2 * k - 2, false);
        if (draw(2))
            use(g, back, 2 * k, false);
        if (draw(3) == 0 && old != k - 1) {
            use(g, s, 2 * old, false);
            use(g, back, 2 * old, false);
        }
        if (k == n / 2) {
            use(g, s, weight, false);
            use(g, back, weight, true);
            g->written[weight] = back;
        }
        g->maker[2 * k] = s;
        g->maker[2 * k - 1] = k > 1 ? back : -1;
        g->work[s] = 1 + draw(1000);
        g->work[back] = 1 + draw(1000);
        g->p->step[s].scratch = draw(4) ? 0 : 16 * draw(10);
    }
    g->p->n = 2 * n - 2;
    ac_order_link(g->p);
}

/* Every step runs once for itself and in order; all that an event reads was made before, by an event that reads what
 * the maker's first run reads, and is not overwritten. Returns the work done again. */
static int64_t replay(const graph *g, const ac_rerun *k)
{
    int32_t next = 0;
    int64_t again = 0;
    for (int32_t e = 0; e < k->event.n; e++) {
        const ac_event *x = &k->event.item[e];
        const ac_order_step *st = &g->p->step[x->step];
        CHECK(x->before == next);
        next += x->step == x->before;
        again += x->step == x->before ? 0 : g->work[x->step];
        for (int32_t i = 0; i < st->n_values; i++) {
            const ac_instance *in = &k->instance.item[k->use.item[x->use + i]];
            CHECK(in->value == st->value[i] && in->first <= e && in->last >= e);
            const bool reads = g->maker[in->value] >= 0 && g->maker[in->value] != x->step;
            CHECK(!reads || (in->first < e && k->event.item[in->first].step == g->maker[in->value]));
            CHECK(g->written[in->value] < 0 || x->before <= g->written[in->value]);
        }
    }
    CHECK(next == g->p->n);
    return again;
}

static ac_bytes peak_of(const graph *g, const ac_rerun *k)
{
    ac_bytes most = 0;
    for (int32_t e = 0; e < k->event.n; e++) {
        ac_bytes sum = g->p->step[k->event.item[e].step].scratch;
        for (int32_t n = 0; n < k->instance.n; n++) {
            const ac_instance *in = &k->instance.item[n];
            const ac_order_value *v = &g->p->value[in->value];
            if ((v->at_start || in->first <= e) && (v->at_end || in->last >= e))
                sum += v->size;
        }
        most = sum > most ? sum : most;
    }
    return most;
}

static void check_front(ac_heap *heap, int32_t n)
{
    ac_region *r = ac_region_open(heap);
    graph g;
    make(&g, r, n);
    ac_rerun k = {.region = r, .p = g.p, .maker = g.maker, .written = g.written, .work = g.work};
    ac_rerun_open(&k);
    ac_rerun_search q = {.k = &k};
    ac_rerun_search_open(&q);
    const ac_rerun_front f = ac_rerun_front_make(&q, EVENTS);
    CHECK(f.n > 0 && !f.item[0].again);
    for (int32_t i = 0; i < f.n; i++) {
        CHECK(!i || (f.item[i].peak < f.item[i - 1].peak && f.item[i].again > f.item[i - 1].again));
        ac_rerun_run(&k, f.item[i].hold, INT64_MAX);
        CHECK(k.possible && k.peak == f.item[i].peak && k.again == f.item[i].again);
        CHECK(replay(&g, &k) == k.again);
        CHECK(peak_of(&g, &k) == k.peak);
        CHECK(i % 4 || ac_rerun_bound(&k, f.item[i].peak, INT64_MAX) <= f.item[i].again);
    }
    const ac_bytes least = ac_rerun_least(&k);
    CHECK(least <= f.item[f.n - 1].peak && ac_rerun_bound(&k, least, 0) < INT64_MAX);
    CHECK(ac_rerun_bound(&k, f.item[0].peak, INT64_MAX) == 0);
    CHECK(f.n < 2 || ac_rerun_bound(&k, f.item[1].peak, 1) > 0);
    CHECK(n < 20 || f.item[f.n - 1].peak < f.item[0].peak * 3 / 4);
    ac_region_close(r);
}

int main(void)
{
    ac_heap heap = {0};
    for (int32_t i = 0; i < 30; i++)
        check_front(&heap, 4 + draw(VALUES - 4));
    ac_heap_close(&heap);
    return check_done();
}
