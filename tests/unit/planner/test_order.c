/* test_order.c - the order search against all orders of small graphs, counted by live.c and bound.c, and its behaviour
 * on large ones. A failed CHECK prints its place; the exit status is 1 when any failed. */
#include "codegen/targets.h"
#include "ir/lower/node/node.h"
#include "planner/graph/live.h"
#include "tests/unit/support/expect.h"
#include "tests/unit/support/random_vectors.h"

#include <stdio.h>
#include <string.h>

enum { MAX_STEPS = 16 };

/* Every order of the steps, by depth first search */
typedef struct all_orders {
    ac_ctx *cx;
    const ac_graph *g;
    ac_order_problem *p;
    ac_lowered **step;
    ac_live_options opt;
    int32_t order[MAX_STEPS], depth;
    bool done[MAX_STEPS];
    ac_bytes least;
    int32_t count;
} all_orders;

static ac_bytes real_peak(const all_orders *a, const int32_t *order)
{
    ac_lowered *step[MAX_STEPS];
    for (int32_t i = 0; i < a->p->n; i++)
        step[i] = a->step[order[i]];
    ac_region *tmp = ac_region_open(&a->cx->heap);
    ac_liveness *v = ac_live(a->cx, tmp, a->g, step, a->p->n, a->opt);
    ac_bytes peak = ac_problem_bound(&v->problem, tmp).live;
    ac_region_close(tmp);
    return peak;
}

static void visit(all_orders *a)
{
    if (a->count > 3000)
        return;
    if (a->depth == a->p->n) {
        ac_bytes peak = real_peak(a, a->order);
        a->count++;
        CHECK(peak == ac_order_peak(a->p, a->order, &a->cx->heap));
        a->least = peak < a->least ? peak : a->least;
        return;
    }
    for (int32_t s = 0; s < a->p->n; s++) {
        bool ready = !a->done[s];
        for (int32_t k = 0; k < a->p->step[s].n_preds && ready; k++)
            ready = a->done[a->p->step[s].pred[k]];
        if (!ready)
            continue;
        a->done[s] = true;
        a->order[a->depth++] = s;
        visit(a);
        a->depth--;
        a->done[s] = false;
    }
}

static int32_t compared, improved;

static void test_random(ac_ctx *cx, ac_live_options opt)
{
    ac_graph *g = random_graph(cx, 4 + draw(7));
    CHECK(g != NULL);
    if (!g)
        return;
    ac_node *node[MAX_VALUES];
    ac_lowered *step[MAX_VALUES];
    const int32_t n = ac_order_keep(g, node);
    if (n > MAX_STEPS)
        return;
    for (int32_t i = 0; i < n; i++)
        CHECK((step[i] = ac_lower_node(cx, cx->region, node[i], ac_target_find("generic"), 0, false)) != NULL);
    all_orders a = {.cx = cx, .g = g, .step = step, .opt = opt, .least = INT64_MAX};
    a.p = ac_order_graph(cx->region, g, step, n, opt);
    int32_t order[MAX_STEPS], keep[MAX_STEPS], at[MAX_STEPS];
    for (int32_t i = 0; i < n; i++)
        keep[i] = i;
    ac_order_result r = ac_order_search(a.p, 1 << 22, order, &cx->heap);
    for (int32_t i = 0; i < n; i++)
        at[order[i]] = i;
    for (int32_t s = 0; s < n; s++)
        for (int32_t k = 0; k < a.p->step[s].n_preds; k++)
            CHECK(at[a.p->step[s].pred[k]] < at[s]);
    CHECK(r.before == real_peak(&a, keep));
    CHECK(r.after == real_peak(&a, order));
    CHECK(r.after <= r.before && r.optimal);
    visit(&a);
    CHECK(a.count > 3000 || r.after == a.least);
    compared += a.count <= 3000;
    improved += r.after < r.before;
}

/* `lanes` branches of `depth` steps between one input and one sum, in a layer-by-layer order: doing them one by one
 * needs one large tensor at a time, layer by layer needs all. */
static void test_branches(ac_ctx *cx, int32_t lanes, int32_t depth, bool proven)
{
    const int32_t n = lanes * depth + 2;
    ac_order_problem *p = ac_order_new(cx->region, n, n);
    for (int32_t s = 0; s < n; s++) {
        const int32_t layer = (s - 1) / lanes;
        p->value[s].size = s == 0 || s == n - 1 ? 64 : layer == depth - 1 ? 16 : 1024;
        ac_order_use(p, s, s, 0, 1, true);
        if (s > 0 && s < n - 1)
            ac_order_use(p, s, layer ? s - lanes : 0, 0, 1, false);
    }
    for (int32_t k = 0; k < lanes; k++)
        ac_order_use(p, n - 1, n - 2 - k, 0, 1, false);
    p->value[n - 1].at_end = true;
    ac_order_link(p);
    int32_t *order = AC_NEW_N(cx->region, int32_t, n), *again = AC_NEW_N(cx->region, int32_t, n);
    ac_order_result r = ac_order_search(p, 1 << 26, order, &cx->heap),
                    q = ac_order_search(p, 1 << 26, again, &cx->heap);
    CHECK(r.after == ac_order_peak(p, order, &cx->heap));
    CHECK(r.before >= 1024 * lanes && r.after <= 64 + (depth > 2 ? 2048 : 1024) + 16 * lanes);
    CHECK(!proven || r.optimal);
    CHECK(q.steps == r.steps && !memcmp(order, again, sizeof *order * (size_t)n));
    CHECK(r.steps <= (1 << 26) + (1 << 20));
}

/* Steps that read one input and each write an output, the last of them in place: all outputs are alive in the end,
 * which no order can change, so there is nothing to search. */
static void test_outputs(ac_ctx *cx)
{
    enum { N = 40 };
    ac_order_problem *p = ac_order_new(cx->region, N, N + 1);
    p->value[N] = (ac_order_value){.size = 32, .at_start = true};
    for (int32_t s = 0; s < N; s++) {
        p->value[s] = (ac_order_value){.size = 32, .at_end = true};
        p->step[s].result = s;
        p->step[s].over[p->step[s].n_over++] = N;
        ac_order_use(p, s, s, 0, 1, true);
        ac_order_use(p, s, N, 0, 1, false);
    }
    ac_order_link(p);
    int32_t order[N];
    const ac_order_result r = ac_order_search(p, 1 << 26, order, &cx->heap);
    CHECK(r.before == 32 * N && r.after == 32 * N && r.optimal && r.steps < N * N); /* only the file's order is run */
}

/* Branches of two steps whose results stay to the end: the last branch is the one whose first step leaves least, which
 * a search from the first step on finds only in wide layers. Either a bound proves it, or the search ends without a
 * proof. */
static void test_kept_branches(ac_ctx *cx, int32_t first, int32_t kept, ac_bytes least, bool proven)
{
    enum { N = 25 };
    ac_order_problem *p = ac_order_new(cx->region, 2 * N, 2 * N + 1);
    p->value[2 * N] = (ac_order_value){.size = 32, .at_start = true};
    for (int32_t k = 0; k < N; k++) {
        p->value[2 * k] = (ac_order_value){.size = first * (8 + k)};
        p->value[2 * k + 1] = (ac_order_value){.size = kept * 8 + k, .at_end = true};
        ac_order_use(p, 2 * k, 2 * N, 0, 1, false);
        ac_order_use(p, 2 * k, 2 * k, 0, 1, true);
        ac_order_use(p, 2 * k + 1, 2 * k, 0, 1, false);
        ac_order_use(p, 2 * k + 1, 2 * k + 1, 0, 1, true);
        p->step[2 * k].result = 2 * k;
        p->step[2 * k + 1].result = 2 * k + 1;
    }
    ac_order_link(p);
    int32_t order[2 * N];
    const ac_order_result r = ac_order_search(p, 1 << 26, order, &cx->heap);
    CHECK(r.after == ac_order_peak(p, order, &cx->heap) && r.after == least && r.optimal == proven);
    CHECK(r.steps < (proven ? 1 << 17 : 1 << 22)); /* 1 << 25 without the bound */
}

/* No allowance: the file's order, unchanged. */
static void test_nothing_allowed(ac_ctx *cx)
{
    ac_order_problem *p = ac_order_new(cx->region, 4, 4);
    for (int32_t s = 0; s < 4; s++) {
        p->value[s].size = s % 2 ? 1 : 100;
        ac_order_use(p, s, s, 0, 1, true);
        if (s == 3)
            for (int32_t k = 0; k < 3; k++)
                ac_order_use(p, s, k, 0, 1, false);
    }
    ac_order_link(p);
    int32_t order[4];
    ac_order_result r = ac_order_search(p, 0, order, &cx->heap);
    CHECK(r.after <= r.before && order[0] == 0 && order[3] == 3);
    ac_order_problem *none = ac_order_new(cx->region, 0, 0);
    ac_order_link(none);
    r = ac_order_search(none, 1000, order, &cx->heap);
    CHECK(r.before == 0 && r.after == 0);
}

/* Writers of one tensor, and state, keep their order. */
static void test_links(ac_ctx *cx)
{
    ac_order_problem *p = ac_order_new(cx->region, 4, 1);
    ac_order_use(p, 0, 0, 0, 8, true);
    ac_order_use(p, 1, 0, 8, 16, true);
    ac_order_use(p, 2, 0, 0, 8, false);
    ac_order_use(p, 3, 0, 4, 12, true);
    ac_order_link(p);
    CHECK(p->step[1].n_preds == 0);
    CHECK(p->step[2].n_preds == 1 && p->step[2].pred[0] == 0);
    CHECK(p->step[3].n_preds == 3);
    CHECK(p->value[0].n_users == 4);
}

static int run_random(ac_ctx *cx, int round)
{
    ac_ctx_start(cx);
    ac_live_options opt = {.inplace = round % 3 != 0,
                           .preserve_input = round % 7 == 0,
                           .whole = round % 11 == 0,
                           .align = round % 2 ? 1 : 4}; /* no padding: then the bound counts what the search counts */
    test_random(cx, opt);
    return 0;
}

static int run_shapes(ac_ctx *cx)
{
    ac_ctx_start(cx);
    test_branches(cx, 6, 3, true);
    test_branches(cx, 12, 2, true);
    test_branches(cx, 40, 30, false);
    test_branches(cx, 4, 500, true);
    test_outputs(cx);
    test_kept_branches(cx, 4, 1, 560, false);
    test_kept_branches(cx, 1, 5, 1308, true);
    test_nothing_allowed(cx);
    test_links(cx);
    return 0;
}

int main(void)
{
    static ac_ctx cx;
    for (int round = 0; round <= 400; round++) {
        ac_ctx_open(&cx);
        CHECK((round < 400 ? run_random(&cx, round) : run_shapes(&cx)) == 0);
        ac_ctx_close(&cx);
    }
    CHECK(compared > 200 && improved > 20);
    printf("%d graphs compared with all their orders, %d improved, %d failures\n", compared, improved, failures);
    return failures != 0;
}
