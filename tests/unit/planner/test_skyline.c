/* test_skyline.c - the skyline against its rule written out step by step, and what must not depend on how far steps are
 * apart. */
#include "base/fixed.h"
#include "planner/pack/fill_chain.h"
#include "planner/pack/place.h"
#include "planner/pack/fill_priority.h"
#include "tests/unit/support/packing.h"

#include <math.h>

enum { N = 60, STEPS = 64 };

/* The rule of skyline.h on one height per step: the lowest stretch of equal heights, the earliest of equals. */
static ac_bytes fill_slowly(const ac_problem *p, const double *key, ac_priority_edge edge, ac_bytes *offset)
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
        const ac_priority_edge edge = round % 2 ? AC_SAME_BEGIN : AC_ANY_BEGIN;
        double key[N];
        ac_bytes slow[N], fast[N];
        for (int32_t i = 0; i < p.n; i++)
            key[i] = draw(round % 3 ? 1000 : 4); /* including ties */
        ac_region *tmp = ac_region_open(&cx->heap);
        ac_priority_filler *s = ac_priority_open(&p, tmp);
        const ac_bytes top = fill_slowly(&p, key, edge, slow);
        for (int again = 0; again < 2; again++) {
            CHECK(ac_priority_fill(s, key, edge, fast) == top);
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
            CHECK(ac_solve(cx, &p, SOME[k], &BRIEF, &near) == AC_OK &&
                  ac_solve(cx, &q, SOME[k], &BRIEF, &far) == AC_OK);
            CHECK(!memcmp(near.offset, far.offset, (size_t)p.n * sizeof *near.offset));
        }
    }
}

/* The floor of 8 steps takes b and c, worth 5 + 5, although the most valuable single item, a, is worth 6; d's top then
 * meets e's.
 */
static void test_chain(ac_ctx *cx)
{
    ac_item it[] = {item("a", 2, 8, 4, 1), item("b", 0, 4, 2, 1), item("c", 4, 8, 3, 1), item("d", 0, 1, 1, 1),
                    item("e", 0, 2, 1, 1)};
    static const int64_t VALUE[] = {600, 500, 500, 10, 10};
    static const ac_bytes WANT[] = {3, 0, 0, 3, 2};
    ac_problem p = problem(cx, it, 5);
    ac_region *tmp = ac_region_open(&cx->heap);
    ac_chain_filler *c = ac_chain_open(&p, tmp);
    for (int again = 0; again < 2; again++) {
        ac_bytes offset[5];
        int64_t work = 1000;
        CHECK(ac_chain_fill(c, VALUE, 0, &work, offset) == 7 && work > 900 && !memcmp(offset, WANT, sizeof offset));
        work = 20;
        CHECK(ac_chain_fill(c, VALUE, 0, &work, offset) == INT64_MAX && work < 0);
    }
    /* A top that meets its neighbour's in the chain is worth more than it was. */
    ac_item even[] = {item("a", 0, 4, 2, 1), item("b", 4, 8, 3, 1), item("c", 4, 8, 2, 1)};
    static const int64_t EVEN[] = {100, 110, 100};
    p = problem(cx, even, 3);
    c = ac_chain_open(&p, tmp);
    for (int32_t match = 0; match < 300; match += 256) {
        ac_bytes offset[3];
        int64_t work = 1000;
        CHECK(ac_chain_fill(c, EVEN, 10 * match, &work, offset) == 5);
        CHECK(offset[1] == (match ? 2 : 0) && offset[2] == (match ? 0 : 3));
    }
    ac_region_close(tmp);
}

/* n pieces of a rectangle of STEPS steps, by straight cuts. */
static ac_problem cut_rectangle(ac_ctx *cx, int32_t n, ac_bytes height)
{
    ac_item *it = AC_NEW_N(cx->region, ac_item, n);
    it[0] = item("cut", 0, STEPS, height, 1);
    for (int32_t k = 1; k < n;) {
        ac_item *x = &it[draw(k)];
        const ac_step life = x->life.end - x->life.begin;
        it[k] = *x;
        if (draw(2) && life > 1)
            it[k++].life.begin = x->life.end = x->life.begin + 1 + draw(life - 1);
        else if (x->size > 1) {
            x->size -= it[k].size = 1 + draw((int32_t)x->size - 1);
            k++;
        }
    }
    return problem(cx, it, n);
}

/* Where nothing is left over, chains lose less than single items do. */
static void test_chain_is_worth_it(ac_ctx *cx)
{
    ac_bytes valley = 0, chain = 0;
    for (int round = 0; round < 20; round++) {
        ac_problem p = cut_rectangle(cx, 600, 4000);
        ac_plan a, b;
        CHECK(ac_solve(cx, &p, "valley", NULL, &a) == AC_OK && ac_solve(cx, &p, "chain", NULL, &b) == AC_OK);
        CHECK(a.bound == 4000 && b.arena_bytes >= 4000);
        valley += a.arena_bytes;
        chain += b.arena_bytes;
    }
    CHECK(chain < valley);
}

static void test_fixed(ac_ctx *cx)
{
    (void)cx;
    for (uint64_t v = 1; v < (uint64_t)1 << 62; v += v / 4 + 1) {
        CHECK(fabs((double)ac_log2_fixed(v) - log2((double)v) * AC_FIXED_ONE) < 2);
        const double back = (double)ac_exp2_fixed(ac_log2_fixed(v));
        CHECK(fabs(back - (double)v) < 3e-5 * (double)v + 1);
    }
    CHECK(ac_exp2_fixed(0) == 1 && ac_exp2_fixed(40 * AC_FIXED_ONE) == (int64_t)1 << 40);
}

int main(void)
{
    static test *const ALL[] = {test_rule, test_far_apart, test_chain, test_chain_is_worth_it, test_fixed};
    return run_tests("test_skyline", ALL, sizeof ALL / sizeof *ALL);
}
