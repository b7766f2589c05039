/* test_skyline.c - the skyline against its rule written out step by step, and what must not depend on how far steps are
 * apart. */
#include "planner/place.h"
#include "planner/skyline.h"
#include "tests/unit/packing.h"

enum { N = 60, STEPS = 64 };

/* The rule of skyline.h on one height per step: the lowest stretch of equal heights, the earliest of equals. */
static ac_bytes fill_slowly(const ac_problem *p, const double *key, ac_skyline_edge edge, ac_bytes *offset)
{
    ac_bytes height[STEPS] = {0}, top = 0;
    bool placed[N] = {false};
    for (int32_t left = p->n; left;) {
        ac_step lo = 0, hi;
        for (ac_step t = 1; t < p->steps; t++)
            lo = height[t] < height[lo] ? t : lo;
        for (hi = lo; hi < p->steps && height[hi] == height[lo]; hi++)
            ;
        int32_t best = -1;
        bool at_edge = false;
        for (int32_t i = 0; i < p->n; i++) {
            const ac_life life = p->item[i].life;
            const bool here = edge == AC_SAME_BEGIN && life.begin == lo;
            if (placed[i] || life.begin < lo || life.end > hi || (at_edge && !here))
                continue;
            const bool earlier = best >= 0 && life.begin < p->item[best].life.begin;
            if (best < 0 || here > at_edge || key[i] > key[best] || (!(key[best] > key[i]) && earlier))
                best = i;
            at_edge = at_edge || here;
        }
        if (best < 0) {
            ac_bytes to = lo ? height[lo - 1] : INT64_MAX;
            to = hi < p->steps && height[hi] < to ? height[hi] : to;
            for (ac_step t = lo; t < hi; t++)
                height[t] = to;
            continue;
        }
        const ac_item *it = &p->item[best];
        offset[best] = ac_align_up(height[lo], it->align);
        for (ac_step t = it->life.begin; t < it->life.end; t++)
            height[t] = offset[best] + it->size;
        top = offset[best] + it->size > top ? offset[best] + it->size : top;
        placed[best] = true;
        left--;
    }
    return top;
}

static ac_problem draw_problem(ac_ctx *cx)
{
    ac_item *it = AC_NEW_N(cx->region, ac_item, N);
    const int32_t n = 1 + draw(N), long_lives = 2 + draw(40);
    for (int32_t i = 0; i < n; i++) {
        const ac_step begin = i ? draw(STEPS - 1) : 0, life = 1 + draw(long_lives);
        it[i] = item("i", begin, begin + life < STEPS ? begin + life : STEPS, 1 + draw(50), 1 << draw(3));
    }
    return problem(cx, it, n);
}

static void test_rule(ac_ctx *cx)
{
    for (int round = 0; round < 400; round++) {
        const ac_problem p = draw_problem(cx);
        const ac_skyline_edge edge = round % 2 ? AC_SAME_BEGIN : AC_ANY_BEGIN;
        double key[N];
        ac_bytes slow[N], fast[N];
        for (int32_t i = 0; i < p.n; i++)
            key[i] = draw(round % 3 ? 1000 : 4); /* ties, too */
        ac_region *tmp = ac_region_open(&cx->heap);
        ac_skyline *s = ac_skyline_open(&p, tmp);
        const ac_bytes top = fill_slowly(&p, key, edge, slow);
        for (int again = 0; again < 2; again++) {
            CHECK(ac_skyline_fill(s, key, edge, fast) == top);
            CHECK(!memcmp(slow, fast, (size_t)p.n * sizeof *slow));
        }
        ac_region_close(tmp);
    }
}

/* The same problem with its steps far apart has the same plans and bounds. */
static void test_far_apart(ac_ctx *cx)
{
    for (int round = 0; round < 60; round++) {
        ac_problem p = random_problem(cx, 2 + draw(40), round % 2 ? 0 : 11), q = p;
        const ac_step wide = 1000003;
        q.item = ac_copy(cx->region, p.item, (size_t)p.n * sizeof *p.item);
        q.pair = ac_copy(cx->region, p.pair, (size_t)p.n_pairs * sizeof *p.pair);
        q.steps *= wide;
        for (int32_t i = 0; i < p.n; i++) {
            ac_item *it = &q.item[i];
            ac_gap *gap = ac_copy(cx->region, it->gaps, (size_t)it->n_gaps * sizeof *gap);
            it->life = (ac_life){it->life.begin * wide, it->life.end * wide};
            for (int32_t g = 0; g < it->n_gaps; g++)
                gap[g].life = (ac_life){gap[g].life.begin * wide, gap[g].life.end * wide};
            it->gaps = gap;
        }
        for (int32_t k = 0; k < p.n_pairs; k++)
            q.pair[k].life = (ac_life){p.pair[k].life.begin * wide, p.pair[k].life.end * wide};
        ac_region *tmp = ac_region_open(&cx->heap);
        const ac_bound a = ac_problem_bound(&p, tmp), b = ac_problem_bound(&q, tmp);
        ac_region_close(tmp);
        CHECK(a.live == b.live && a.aligned == b.aligned && b.peak == a.peak * wide);
        ac_plan near, far;
        static const char *const SOME[] = {"greedy", "bestfit", "valley"};
        for (int k = 0; k < 3; k++) {
            CHECK(ac_solve(cx, &p, SOME[k], &near) == AC_OK && ac_solve(cx, &q, SOME[k], &far) == AC_OK);
            CHECK(!memcmp(near.offset, far.offset, (size_t)p.n * sizeof *near.offset));
        }
    }
}

int main(void)
{
    static test *const ALL[] = {test_rule, test_far_apart};
    return run_tests("test_skyline", ALL, sizeof ALL / sizeof *ALL);
}
