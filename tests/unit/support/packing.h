/* packing.h - packing problems for unit tests, and how such a test runs. A test file includes it once. */
#ifndef AC_TESTS_UNIT_SUPPORT_PACKING_H
#define AC_TESTS_UNIT_SUPPORT_PACKING_H
#include "planner/pack/solve.h"
#include "tests/unit/support/expect.h"

#include <string.h>

static uint64_t seed = 88172645463325252ull;
static inline int32_t draw(int32_t below) /* xorshift64: the same problems everywhere */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int32_t)((seed >> 33) % (uint64_t)below);
}

static inline int32_t errors_since(ac_ctx *cx, int32_t *mark)
{
    int32_t n = cx->diags.errors - *mark;
    *mark = cx->diags.errors;
    return n;
}

static inline ac_item item(const char *name, ac_step begin, ac_step end, ac_bytes size, ac_bytes align)
{
    return (ac_item){.name = name, .size = size, .align = align, .life = {begin, end}, .fixed = -1, .mem = -1};
}

static inline ac_problem problem(ac_ctx *cx, ac_item *items, int32_t n)
{
    ac_memory *mem = AC_NEW(cx->region, ac_memory);
    *mem = (ac_memory){.name = "arena", .capacity = -1, .align = 64};
    ac_problem p = {.item = items, .n = n, .mem = mem, .n_mems = 1};
    for (int32_t i = 0; i < n; i++)
        p.steps = items[i].life.end > p.steps ? items[i].life.end : p.steps;
    return p;
}

/* kinds: bit 0 gaps, bit 1 windows, bit 2 fixed offsets, bit 3 pairs */
static inline ac_problem random_problem(ac_ctx *cx, int32_t n, int kinds)
{
    ac_item *it = AC_NEW_N(cx->region, ac_item, n);
    ac_pair *pair = AC_NEW_N(cx->region, ac_pair, n);
    int32_t n_pairs = 0;
    ac_bytes next_fixed = 0;
    for (int32_t i = 0; i < n; i++) {
        ac_step begin = draw(40), len = 1 + draw(12);
        it[i] = item(ac_internf(cx, "r%d", i), begin, begin + len, draw(20) ? draw(300) : 0, 1 << draw(5));
        if ((kinds & 1) && len >= 4 && !draw(3)) {
            ac_gap *g = AC_NEW_N(cx->region, ac_gap, 2);
            g[0] = (ac_gap){{begin + 1, begin + 2}, 0, 0};
            g[1] = (ac_gap){{begin + 2, begin + 3}, 0, 0};
            if ((kinds & 2) && it[i].size > 1) {
                g[1].lo = draw((int32_t)it[i].size);
                g[1].hi = g[1].lo + draw((int32_t)(it[i].size - g[1].lo) + 1);
            }
            it[i].gaps = g;
            it[i].n_gaps = 2;
        }
        if ((kinds & 4) && !draw(8)) { /* one above the other, so they never collide */
            it[i].fixed = ac_align_up(next_fixed, it[i].align);
            next_fixed = it[i].fixed + it[i].size;
        }
    }
    for (int32_t a = 0; (kinds & 8) && a + 1 < n; a += 2)
        if (ac_life_overlap(it[a].life, it[a + 1].life) && it[a].fixed < 0) {
            ac_life both = {it[a].life.begin > it[a + 1].life.begin ? it[a].life.begin : it[a + 1].life.begin,
                            it[a].life.end < it[a + 1].life.end ? it[a].life.end : it[a + 1].life.end};
            pair[n_pairs++] = (ac_pair){a, a + 1, both, draw(2) ? -(ac_bytes)draw(40) : INT64_MIN,
                                        draw(2) ? (ac_bytes)draw(40) : INT64_MAX};
        }
    ac_problem p = problem(cx, it, n);
    p.pair = pair;
    p.n_pairs = n_pairs;
    return p;
}

static inline void open_own(ac_ctx *own)
{
    ac_ctx_open(own);
    if (OUT_OF_MEMORY(*own)) {
        puts("out of memory");
        exit(1);
    }
    ac_ctx_start(own);
}

/* For the many problems of a test. */
static const ac_solve_options BRIEF = {.steps = 1000000};

typedef void test(ac_ctx *cx);

/* Runs the tests in one context; the exit status of main(). */
static inline int run_tests(const char *file, test *const *run, size_t n)
{
    ac_ctx cx;
    open_own(&cx);
    cx.diags.limit = 1000;
    for (size_t k = 0; k < n; k++)
        run[k](&cx);
    if (failures)
        ac_diags_print(&cx.diags, stdout, false);
    ac_ctx_close(&cx);
    printf("%s: %s\n", file, failures ? "FAILED" : "ok");
    return check_done();
}

#endif
