/* test_planner.c - strategies, checker, bounds and reports, against each other and against numbers worked out by
 * hand. */
#include "planner/pack/place.h"
#include "planner/report/report.h"
#include "tests/unit/support/packing.h"

static const char *const STRATEGIES[] = {
#define STRATEGY(name, role, fn, help) name,
#include "planner/pack/strategies.def"
#undef STRATEGY
    "auto"};
enum { N_STRATEGIES = sizeof STRATEGIES / sizeof *STRATEGIES };

/* Two whole-life tensors and five intermediates, sizes i > v > ii > iv > iii. */
static void test_tflite_six_nodes(ac_ctx *cx)
{
    ac_item it[] = {item("in", 0, 7, 64, 64),  item("out", 0, 7, 64, 64),  item("i", 1, 3, 640, 64),
                    item("ii", 2, 5, 384, 64), item("iii", 3, 6, 128, 64), item("iv", 5, 7, 256, 64),
                    item("v", 4, 6, 512, 64)};
    static const ac_bytes WANT[] = {0, 64, 128, 768, 1152, 640, 128};
    ac_problem p = problem(cx, it, 7);
    ac_plan plan;
    CHECK(ac_solve(cx, &p, "tflite", NULL, &plan) == AC_OK);
    CHECK(plan.arena_bytes == 1280);
    for (int i = 0; i < 7; i++)
        CHECK(plan.offset[i] == WANT[i]);
}

/* Two inputs and one output that live throughout, ten 64-byte intermediates in a chain. */
static void test_tflite_chain(ac_ctx *cx)
{
    for (int preserve = 0; preserve < 2; preserve++) {
        ac_item it[13] = {item("in0", 0, 11, 64, 64), item("in1", 0, 11, 64, 64), item("out", 0, 11, 64, 64)};
        for (int i = 0; i < 10; i++)
            it[3 + i] = item(ac_strf(cx->region, "t%d", i), i, preserve ? 11 : i + 2, 64, 64);
        ac_problem p = problem(cx, it, 13);
        ac_plan plan;
        CHECK(ac_solve(cx, &p, "tflite", NULL, &plan) == AC_OK);
        CHECK(plan.arena_bytes == (preserve ? 832 : 320));
    }
}

/* Sizes 100 and 112 are one size to TFLM (aligned to 16), and of equals the last added comes first. */
static void test_tflm_ties(ac_ctx *cx)
{
    ac_item it[] = {item("a", 0, 2, 112, 16), item("b", 0, 2, 100, 16), item("c", 0, 2, 16, 16)};
    ac_problem p = problem(cx, it, 3);
    ac_plan plan;
    CHECK(ac_solve(cx, &p, "tflm", NULL, &plan) == AC_OK);
    CHECK(plan.offset[1] == 0 && plan.offset[0] == 112 && plan.offset[2] == 224);
    it[2].fixed = 0; /* pre-planned first */
    CHECK(ac_solve(cx, &p, "tflm", NULL, &plan) == AC_OK);
    CHECK(plan.offset[2] == 0 && plan.offset[1] == 16 && plan.offset[0] == 128);
}

static void test_random(ac_ctx *cx)
{
    for (int round = 0; round < 64; round++) {
        ac_problem p = random_problem(cx, 1 + draw(60), round % 16);
        ac_region *tmp = ac_region_open(&cx->heap);
        ac_bound b = ac_problem_bound(&p, tmp);
        ac_region_close(tmp);
        CHECK(b.aligned >= b.live);
        ac_bytes best = INT64_MAX;
        for (int k = 0; k < N_STRATEGIES; k++) {
            ac_plan plan, again;
            CHECK(ac_solve(cx, &p, STRATEGIES[k], &BRIEF, &plan) == AC_OK); /* includes ac_plan_check */
            CHECK(plan.arena_bytes >= b.aligned && plan.bound == b.aligned);
            CHECK(ac_solve(cx, &p, STRATEGIES[k], &BRIEF, &again) == AC_OK);
            CHECK(!memcmp(plan.offset, again.offset, (size_t)p.n * sizeof *plan.offset));
            if (!strcmp(STRATEGIES[k], "auto")) /* it also searches a little */
                CHECK(plan.arena_bytes <= best && plan.arena_bytes >= plan.proven);
            else if (strcmp(STRATEGIES[k], "none") && strcmp(STRATEGIES[k], "exact"))
                best = plan.arena_bytes < best ? plan.arena_bytes : best;
        }
    }
}

/* The checker against a comparison of all bytes of all items in all steps. */
static bool plan_is_good(ac_ctx *cx, const ac_problem *p, const ac_plan *plan)
{
    ac_bytes top = plan->arena_bytes;
    int32_t *owner = AC_NEW_N(cx->region, int32_t, top);
    for (ac_step t = 0; t < p->steps; t++) {
        memset(owner, 0, (size_t)top * sizeof *owner);
        for (int32_t i = 0; i < p->n; i++) {
            const ac_item *it = &p->item[i];
            ac_bytes lo = 0, hi = t >= it->life.begin && t < it->life.end ? it->size : 0;
            for (int32_t g = 0; g < it->n_gaps; g++)
                if (t >= it->gaps[g].life.begin && t < it->gaps[g].life.end) {
                    lo = it->gaps[g].lo;
                    hi = it->gaps[g].hi;
                }
            for (ac_bytes a = plan->offset[i] + lo; a < plan->offset[i] + hi; a++) {
                if (owner[a])
                    return false;
                owner[a] = i + 1;
            }
        }
    }
    return true;
}

static bool passes_check(const ac_problem *p,
                         const ac_plan *plan) /* in a context of its own: the findings are expected */
{
    ac_ctx own;
    open_own(&own);
    bool good = ac_plan_check(&own, NULL, p, plan) == AC_OK;
    ac_ctx_close(&own);
    return good;
}

static void test_check_agrees_with_brute_force(ac_ctx *cx)
{
    int32_t bad = 0;
    for (int round = 0; round < 60; round++) {
        ac_problem p = random_problem(cx, 2 + draw(14), 3);
        ac_plan plan;
        CHECK(ac_solve(cx, &p, "greedy", &BRIEF, &plan) == AC_OK);
        CHECK(plan_is_good(cx, &p, &plan));
        for (int k = 0; k < 6; k++) { /* move one item somewhere aligned inside the arena */
            int32_t i = draw(p.n);
            ac_bytes room = plan.arena_bytes - p.item[i].size, old = plan.offset[i];
            if (room <= 0)
                continue;
            plan.offset[i] = draw((int32_t)room + 1) / p.item[i].align * p.item[i].align;
            bool good = plan_is_good(cx, &p, &plan);
            CHECK(passes_check(&p, &plan) == good);
            bad += !good;
            plan.offset[i] = old;
        }
    }
    CHECK(bad > 20);
}

/* Plants one fault in a good plan; the checker must report exactly that one. */
static void test_planted_faults(ac_ctx *cx)
{
    ac_item it[] = {item("a", 0, 4, 64, 16), item("b", 2, 6, 32, 16), item("c", 5, 8, 96, 16), item("d", 0, 8, 16, 16)};
    it[3].fixed = 96;
    ac_problem p = problem(cx, it, 4);
    int32_t mark = cx->diags.errors;
    ac_plan good, plan;
    CHECK(ac_solve(cx, &p, "greedy", NULL, &good) == AC_OK);
    CHECK(errors_since(cx, &mark) == 0);
    for (int fault = 0; fault < 6; fault++) {
        plan = good;
        plan.offset = ac_copy(cx->region, good.offset, 4 * sizeof *good.offset);
        plan.mem = ac_copy(cx->region, good.mem, 4 * sizeof *good.mem);
        plan.mem_bytes = ac_copy(cx->region, good.mem_bytes, sizeof *good.mem_bytes);
        ac_bytes far = 4096;
        p.mem->capacity = -1;
        switch (fault) {
        case 0:
            plan.offset[1] = plan.offset[0];
            break; /* overlap */
        case 1:
            plan.offset[0] = far + 8;
            plan.mem_bytes[0] = 2 * far;
            break; /* misaligned */
        case 2:
            p.mem->capacity = plan.arena_bytes - 1;
            break; /* out of capacity */
        case 3:
            plan.offset[3] = far;
            plan.mem_bytes[0] = 2 * far;
            break; /* fixed offset moved */
        case 4:
            plan.offset[0] = -16;
            break; /* below the memory */
        case 5:
            plan.mem[2] = 7;
            break; /* no such memory */
        }
        CHECK(ac_plan_check(cx, NULL, &p, &plan) == AC_FAIL);
        int32_t found = errors_since(cx, &mark);
        CHECK(found >= 1 && found <= 2); /* several items may reach the top */
        CHECK(cx->diags.last && cx->diags.last->code == E0701);
    }
}

/* b may start at most 16 bytes below a, or be disjoint: an operator that reads ahead of its writes. */
static void test_pairs(ac_ctx *cx)
{
    ac_item it[] = {item("a", 0, 2, 128, 1), item("b", 1, 3, 128, 1)};
    ac_pair pair = {0, 1, {1, 2}, -16, INT64_MAX};
    ac_problem p = problem(cx, it, 2);
    int32_t mark = cx->diags.errors;
    p.pair = &pair;
    p.n_pairs = 1;
    ac_region *tmp = ac_region_open(&cx->heap);
    CHECK(ac_problem_bound(&p, tmp).live == 144);
    ac_region_close(tmp);
    ac_plan plan;
    CHECK(ac_solve(cx, &p, "none", NULL, &plan) == AC_OK);
    plan.offset[0] = 16;
    plan.offset[1] = 0;
    CHECK(ac_plan_check(cx, NULL, &p, &plan) == AC_OK);
    CHECK(errors_since(cx, &mark) == 0);
    plan.offset[0] = 15;
    CHECK(ac_plan_check(cx, NULL, &p, &plan) == AC_FAIL);
    CHECK(errors_since(cx, &mark) == 1);
    /* With b fixed at 0, first fit finds the place 16 bytes above it. */
    it[1].fixed = 0;
    CHECK(ac_solve(cx, &p, "greedy", NULL, &plan) == AC_OK);
    CHECK(plan.offset[0] == 16 && plan.arena_bytes == 144);
    CHECK(ac_solve(cx, &p, "search", NULL, &plan) == AC_OK);
    CHECK(plan.arena_bytes == 144);
}

static void test_bounds(ac_ctx *cx)
{
    /* Three items of 1 byte at alignment 64 alive together: the topmost needs no padding. */
    ac_item it[] = {item("a", 0, 2, 1, 64), item("b", 1, 3, 1, 64), item("c", 1, 2, 1, 64), item("d", 1, 2, 5, 1)};
    ac_problem p = problem(cx, it, 3);
    ac_region *tmp = ac_region_open(&cx->heap);
    ac_bound b = ac_problem_bound(&p, tmp);
    CHECK(b.live == 3 && b.aligned == 129 && b.peak == 1);
    p.n = 4; /* d fits into the padding: nothing more is proven */
    b = ac_problem_bound(&p, tmp);
    CHECK(b.live == 8 && b.aligned == 129);
    p.n = 0;
    b = ac_problem_bound(&p, tmp);
    CHECK(b.live == 0 && b.aligned == 0);
    ac_region_close(tmp);
    ac_plan plan;
    for (int k = 0; k < N_STRATEGIES; k++)
        CHECK(ac_solve(cx, &p, STRATEGIES[k], NULL, &plan) == AC_OK && plan.arena_bytes == 0);
}

/* A problem of many items is planned by fewer strategies, and by one when that meets the bound. */
static void test_large(ac_ctx *cx)
{
    enum { N = 30000 };
    ac_item *it = AC_NEW_N(cx->region, ac_item, N);
    for (int32_t tight = 0; tight < 2; tight++) {
        for (int32_t i = 0; i < N; i++)
            it[i] = item(ac_internf(cx, "l%d", i), i, i + 1 + (tight ? draw(9) : 1), tight ? 1 + draw(1000) : 64, 1);
        ac_problem p = problem(cx, it, N);
        ac_plan plan;
        ac_result row[AC_MAX_STRATEGIES];
        int32_t n;
        CHECK(ac_solve_all(cx, &p, "auto", NULL, &plan, row, &n) == AC_OK);
        CHECK(tight || (n == 1 && plan.arena_bytes == 128 && !strcmp(row[0].strategy, "valley")));
        for (int32_t k = 0; k < n; k++)
            CHECK(row[k].arena_bytes >= plan.arena_bytes && strcmp(row[k].strategy, "tflm"));
    }
}

/* Many items that are alive together: blocks of a list replace the conflicts one by one, which a rule for a pair of two
 * empty items brings back. The offsets are the same. */
static void test_dense(ac_ctx *cx)
{
    enum { N = 1500 };
    ac_item *it = AC_NEW_N(cx->region, ac_item, N);
    ac_bytes *blocks = AC_NEW_N(cx->region, ac_bytes, N), *each = AC_NEW_N(cx->region, ac_bytes, N);
    ac_pair none = {.a = 0, .b = 1};
    for (int32_t round = 0; round < 12; round++) {
        for (int32_t i = 0; i < N; i++) {
            const int32_t begin = draw(round % 3 ? 40 : 400), most = draw(9) ? 900 : 30;
            it[i] = item(ac_internf(cx, "d%d", i), begin, begin + 1 + (draw(8) ? 400 : draw(most)),
                         i < 2 ? 0 : 1 + draw(round % 2 ? 12 : 500), 1 << draw(round % 4 ? 5 : 1));
        }
        ac_problem p = problem(cx, it, N), q = p;
        q.pair = &none;
        q.n_pairs = 1;
        const int32_t *order = ac_order_by(&p, NULL, cx->region);
        for (int fit = AC_FIRST_FIT; fit <= AC_TFLITE_FIT; fit++) {
            ac_place_in_order(&p, blocks, order, (ac_fit)fit, cx->region);
            ac_place_in_order(&q, each, order, (ac_fit)fit, cx->region);
            CHECK(!memcmp(blocks, each, N * sizeof *each));
        }
    }
}

static void test_strategy_names(ac_ctx *cx)
{
    ac_problem p = random_problem(cx, 5, 0);
    ac_plan plan;
    ac_result row[AC_MAX_STRATEGIES];
    int32_t n, mark = cx->diags.errors;
    CHECK(ac_solve(cx, &p, "gredy", &BRIEF, &plan) == AC_FAIL);
    CHECK(errors_since(cx, &mark) == 1 && cx->diags.last->code == E0501);
    CHECK(ac_solve_all(cx, &p, "auto", &BRIEF, &plan, row, &n) == AC_OK);
    CHECK(n == N_STRATEGIES - 1 && !strcmp(row[n - 1].strategy, "none") && !strcmp(row[0].strategy, "greedy"));
    CHECK(strcmp(plan.strategy, "none") != 0);
}

static void test_report(ac_ctx *cx)
{
    ac_problem p = random_problem(cx, 40, 7);
    ac_plan plan;
    ac_result row[AC_MAX_STRATEGIES];
    int32_t n, mark = cx->diags.errors;
    CHECK(ac_solve_all(cx, &p, "auto", &BRIEF, &plan, row, &n) == AC_OK);
    ac_region *tmp = ac_region_open(&cx->heap);
    ac_bound b = ac_problem_bound(&p, tmp);
    ac_region_close(tmp);
    ac_report r = {.file = "x.csv",
                   .budget = 100,
                   .live_bound = b.live,
                   .aligned_bound = b.aligned,
                   .peak = b.peak,
                   .problem = &p,
                   .plan = &plan,
                   .rows = row,
                   .n_rows = n,
                   .planner_option = "auto"};
    ac_sink s;
    ac_sink_open(&s, cx);
    ac_report_text(&s, &r, 2, false);
    CHECK(strstr(ac_sink_text(&s), "OVER") != NULL);
    CHECK((strstr(ac_sink_text(&s), "Plan: optimal.") != NULL) == (plan.arena_bytes == b.aligned));
    s.n = 0;
    ac_report_json(&s, &r, &cx->diags);
    CHECK(strstr(ac_sink_text(&s), "\"schema\": \"arenac-report/1\"") != NULL);
    ac_report_md(&s, &r);
    ac_report_dot(&s, &r);
    CHECK(errors_since(cx, &mark) == 0);
    CHECK(ac_report_over_budget(cx, &r) == AC_FAIL && errors_since(cx, &mark) == 1);
    r.budget = -1;
    CHECK(ac_report_over_budget(cx, &r) == AC_OK);
}

static void test_report_map(ac_ctx *cx)
{
    ac_item it[] = {item("a", 0, 3, 4, 1), item("b", 1, 2, 4, 1)};
    ac_problem p = problem(cx, it, 2);
    ac_plan plan;
    CHECK(ac_solve(cx, &p, "auto", NULL, &plan) == AC_OK);
    ac_report r = {.file = "x.csv", .budget = -1, .problem = &p, .plan = &plan, .no_sharing = 8, .peak = 1};
    ac_sink s;
    ac_sink_open(&s, cx);
    ac_report_text(&s, &r, 0, false);
    const char *map = strstr(ac_sink_text(&s), "   address");
    CHECK(map && !strcmp(map, "   address   step 0 2\n"
                              "        8  |.b.|    a a\n"
                              "        7  |.b.|    b b\n"
                              "        6  |.b.|\n"
                              "        5  |.b.|\n"
                              "        4  |aaa|\n"
                              "        3  |aaa|\n"
                              "        2  |aaa|\n"
                              "        1  |aaa|\n"));
}

int main(void)
{
    static test *const ALL[] = {
        test_tflite_six_nodes, test_tflite_chain, test_tflm_ties, test_random, test_check_agrees_with_brute_force,
        test_planted_faults,   test_pairs,        test_bounds,    test_large,  test_dense,
        test_strategy_names,   test_report,       test_report_map};
    return run_tests("test_planner", ALL, sizeof ALL / sizeof *ALL);
}
