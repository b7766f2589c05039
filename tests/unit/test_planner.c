/* test_planner.c - strategies, checker, bounds and the CSV form, against each other and against numbers worked out by
 * hand. No framework: a failed CHECK prints its place, the exit status is 1 when any failed. */
#include "base/json.h"
#include "base/radix.h"
#include "planner/place.h"
#include "planner/report.h"
#include "tests/unit/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const STRATEGIES[] = {
#define STRATEGY(name, fn, help) name,
#include "planner/strategies.def"
#undef STRATEGY
    "auto"};
enum { N_STRATEGIES = sizeof STRATEGIES / sizeof *STRATEGIES };

static uint64_t seed = 88172645463325252ull;
static int32_t draw(int32_t below) /* xorshift64: the same problems everywhere */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int32_t)((seed >> 33) % (uint64_t)below);
}

static int32_t errors_since(ac_ctx *cx, int32_t *mark)
{
    int32_t n = cx->diags.errors - *mark;
    *mark = cx->diags.errors;
    return n;
}

static ac_item item(const char *name, ac_step begin, ac_step end, ac_bytes size, ac_bytes align)
{
    return (ac_item){.name = name, .size = size, .align = align, .life = {begin, end}, .fixed = -1, .mem = -1};
}

static ac_problem problem(ac_ctx *cx, ac_item *items, int32_t n)
{
    ac_memory *mem = AC_NEW(cx->region, ac_memory);
    *mem = (ac_memory){.name = "arena", .capacity = -1, .align = 64};
    ac_problem p = {.item = items, .n = n, .mem = mem, .n_mems = 1};
    for (int32_t i = 0; i < n; i++)
        p.steps = items[i].life.end > p.steps ? items[i].life.end : p.steps;
    return p;
}

/* Two whole-life tensors and five intermediates, sizes i > v > ii > iv > iii. */
static void test_tflite_six_nodes(ac_ctx *cx)
{
    ac_item it[] = {item("in", 0, 7, 64, 64),  item("out", 0, 7, 64, 64),  item("i", 1, 3, 640, 64),
                    item("ii", 2, 5, 384, 64), item("iii", 3, 6, 128, 64), item("iv", 5, 7, 256, 64),
                    item("v", 4, 6, 512, 64)};
    static const ac_bytes WANT[] = {0, 64, 128, 768, 1152, 640, 128};
    ac_problem p = problem(cx, it, 7);
    ac_plan plan;
    CHECK(ac_solve(cx, &p, "tflite", &plan) == AC_OK);
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
        CHECK(ac_solve(cx, &p, "tflite", &plan) == AC_OK);
        CHECK(plan.arena_bytes == (preserve ? 832 : 320));
    }
}

/* Sizes 100 and 112 are one size to TFLM (aligned to 16), and of equals the last added comes first. */
static void test_tflm_ties(ac_ctx *cx)
{
    ac_item it[] = {item("a", 0, 2, 112, 16), item("b", 0, 2, 100, 16), item("c", 0, 2, 16, 16)};
    ac_problem p = problem(cx, it, 3);
    ac_plan plan;
    CHECK(ac_solve(cx, &p, "tflm", &plan) == AC_OK);
    CHECK(plan.offset[1] == 0 && plan.offset[0] == 112 && plan.offset[2] == 224);
    it[2].fixed = 0; /* pre-planned first */
    CHECK(ac_solve(cx, &p, "tflm", &plan) == AC_OK);
    CHECK(plan.offset[2] == 0 && plan.offset[1] == 16 && plan.offset[0] == 128);
}

/* kinds: bit 0 gaps, bit 1 windows, bit 2 fixed offsets, bit 3 pairs */
static ac_problem random_problem(ac_ctx *cx, int32_t n, int kinds)
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
    p.search_steps = ac_effort_steps(1);
    return p;
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
            CHECK(ac_solve(cx, &p, STRATEGIES[k], &plan) == AC_OK); /* includes ac_plan_check */
            CHECK(plan.arena_bytes >= b.aligned && plan.bound == b.aligned);
            CHECK(ac_solve(cx, &p, STRATEGIES[k], &again) == AC_OK);
            CHECK(!memcmp(plan.offset, again.offset, (size_t)p.n * sizeof *plan.offset));
            if (!strcmp(STRATEGIES[k], "auto")) /* it searches a little, too */
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

static void open_own(ac_ctx *own)
{
    ac_ctx_open(own);
    if (setjmp(own->heap.on_oom)) {
        puts("out of memory");
        exit(1);
    }
    ac_ctx_start(own);
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
        CHECK(ac_solve(cx, &p, "greedy", &plan) == AC_OK);
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
    CHECK(ac_solve(cx, &p, "greedy", &good) == AC_OK);
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
        CHECK(found >= 1 && found <= 2); /* whoever reaches the top may be several */
        CHECK(cx->diags.last && cx->diags.last->code == E0701);
    }
}

/* b may lie at most 16 bytes below a, or anywhere disjoint: an operator that reads ahead of what it writes. */
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
    CHECK(ac_solve(cx, &p, "none", &plan) == AC_OK);
    plan.offset[0] = 16;
    plan.offset[1] = 0;
    CHECK(ac_plan_check(cx, NULL, &p, &plan) == AC_OK);
    CHECK(errors_since(cx, &mark) == 0);
    plan.offset[0] = 15;
    CHECK(ac_plan_check(cx, NULL, &p, &plan) == AC_FAIL);
    CHECK(errors_since(cx, &mark) == 1);
    /* With b fixed at 0, first fit finds the place 16 bytes above it. */
    it[1].fixed = 0;
    CHECK(ac_solve(cx, &p, "greedy", &plan) == AC_OK);
    CHECK(plan.offset[0] == 16 && plan.arena_bytes == 144);
    CHECK(ac_solve(cx, &p, "search", &plan) == AC_OK);
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
        CHECK(ac_solve(cx, &p, STRATEGIES[k], &plan) == AC_OK && plan.arena_bytes == 0);
}

/* 100 + 100 bytes alive together, a first memory of 128: one of them goes on to the second. */
static void test_memories(ac_ctx *cx)
{
    ac_item it[] = {item("a", 0, 2, 100, 4), item("b", 1, 3, 60, 4), item("s", 0, 3, 8, 4), item("big", 0, 1, 500, 4)};
    ac_memory mem[] = {{.name = "fast", .capacity = 128, .align = 16}, {.name = "slow", .capacity = 4096, .align = 16},
                        {.name = "state", .capacity = -1, .align = 16, .use = AC_MEM_STATE}};
    ac_problem p = problem(cx, it, 4);
    ac_plan plan;
    it[2].mem = 2;
    p.mem = mem;
    p.n_mems = 3;
    CHECK(ac_solve(cx, &p, "auto", &plan) == AC_OK);
    CHECK(plan.mem[2] == 2 && plan.mem[3] == 1 && plan.mem_bytes[2] == 8);
    CHECK(plan.mem_bytes[0] <= 128 && plan.mem[0] + plan.mem[1] == 1);
    it[0].mems = it[1].mems = 1; /* both only in the first: over capacity, which the caller reports */
    CHECK(ac_solve(cx, &p, "auto", &plan) == AC_OK);
    CHECK(plan.mem_bytes[0] == 160);
    int32_t mark = cx->diags.errors;
    CHECK(ac_plan_check(cx, NULL, &p, &plan) == AC_FAIL);
    CHECK(errors_since(cx, &mark) == 1);
}

/* The most traffic that fits by the sum of bytes in each step, by trying all subsets. */
static int64_t most_traffic(const ac_problem *p)
{
    int64_t best = 0;
    for (uint32_t set = 0; set < 1u << p->n; set++) {
        int64_t sum = 0;
        bool fits = true;
        for (ac_step t = 0; t < p->steps && fits; t++) {
            ac_bytes used = 0;
            for (int32_t i = 0; i < p->n; i++)
                used += (set >> i & 1u) && p->item[i].life.begin <= t && t < p->item[i].life.end ? p->item[i].size : 0;
            fits = used <= p->mem[0].capacity;
        }
        for (int32_t i = 0; i < p->n; i++)
            sum += set >> i & 1u ? p->item[i].traffic : 0;
        best = fits && sum > best ? sum : best;
    }
    return best;
}

/* The first memory keeps nearly the most traffic that can be kept; plans over three memories are valid. */
static void test_traffic(ac_ctx *cx)
{
    int64_t kept = 0, possible = 0;
    for (int round = 0; round < 60; round++) {
        ac_problem p = random_problem(cx, 10, 0);
        ac_memory mem[] = {{.name = "fast", .capacity = 100 + 8 * draw(40), .align = 1},
                           {.name = "mid", .capacity = 200, .align = 1},
                           {.name = "slow", .capacity = -1, .align = 1}};
        ac_plan plan;
        p.mem = mem;
        p.n_mems = 3;
        for (int32_t i = 0; i < p.n; i++) {
            const ac_step begin = draw(8);
            p.item[i].life = (ac_life){begin, begin + 1 + draw(8)};
            p.item[i].traffic = 1 + draw(1000);
        }
        p.steps = 16;
        CHECK(ac_solve(cx, &p, "auto", &plan) == AC_OK && ac_plan_check(cx, NULL, &p, &plan) == AC_OK);
        for (int32_t i = 0; i < p.n; i++)
            kept += plan.mem[i] ? 0 : p.item[i].traffic;
        possible += most_traffic(&p);
    }
    if (kept * 100 < possible * 95)
        printf("kept %lld of %lld\n", (long long)kept, (long long)possible);
    CHECK(kept * 100 >= possible * 95);
}

static bool same_item(const ac_item *a, const ac_item *b)
{
    bool same = a->name == b->name && a->size == b->size && a->align == b->align && a->life.begin == b->life.begin &&
                a->life.end == b->life.end && a->fixed == b->fixed && a->n_gaps == b->n_gaps;
    for (int32_t g = 0; same && g < a->n_gaps; g++)
        same = a->gaps[g].life.begin == b->gaps[g].life.begin && a->gaps[g].life.end == b->gaps[g].life.end &&
               a->gaps[g].hi - a->gaps[g].lo == b->gaps[g].hi - b->gaps[g].lo &&
               (a->gaps[g].lo == b->gaps[g].lo || a->gaps[g].hi == a->gaps[g].lo);
    return same;
}

static void test_csv_round_trip(ac_ctx *cx)
{
    for (int round = 0; round < 32; round++) {
        ac_problem p = random_problem(cx, 1 + draw(20), round % 8), q, with_plan;
        p.item[0].name = ac_intern(cx, "a \"quoted\", name");
        ac_sink s;
        ac_sink_open(&s, cx);
        ac_problem_write_csv(&s, &p, NULL);
        CHECK(ac_problem_read_csv(cx, "rt.csv", s.text, s.n, false, &q) == AC_OK);
        CHECK(q.n == p.n && q.steps == p.steps);
        for (int32_t i = 0; i < p.n; i++)
            CHECK(same_item(&p.item[i], &q.item[i]));
        ac_plan plan;
        CHECK(ac_solve(cx, &p, "auto", &plan) == AC_OK);
        s.n = 0;
        ac_problem_write_csv(&s, &p, &plan);
        CHECK(ac_problem_read_csv(cx, "rt.csv", s.text, s.n, false, &with_plan) == AC_OK);
        for (int32_t i = 0; i < p.n; i++)
            CHECK(with_plan.item[i].fixed == plan.offset[i]);
        CHECK(ac_problem_read_csv(cx, "rt.csv", s.text, s.n, true, &with_plan) == AC_OK);
        CHECK(with_plan.item[0].fixed == -1);
    }
}

static void test_csv_forms(ac_ctx *cx)
{
    static const char TEXT[] =
        "\xef\xbb\xbfsize , hint,end,buffer,start,gaps\r\n\r\n 10,x,4,\"a\",0,1-2@3:5\r\n20,,9,b,5,";
    ac_problem p;
    CHECK(ac_problem_read_csv(cx, "f.csv", TEXT, sizeof TEXT - 1, false, &p) == AC_OK);
    CHECK(p.n == 2 && p.item[0].life.end == 5 && p.item[1].life.begin == 5 && p.item[1].life.end == 10 &&
          p.steps == 10);
    CHECK(p.item[0].n_gaps == 1 && p.item[0].gaps[0].life.end == 3 && p.item[0].gaps[0].hi == 5);
    CHECK(p.item[0].align == 1 && p.item[0].fixed == -1 && !strcmp(p.item[1].name, "b"));
}

static void test_csv_errors(ac_ctx *cx)
{
#define HEAD "id,lower,upper,size\n"
#define GAPS "id,lower,upper,size,gaps\n"
    static const struct {
        const char *text;
        ac_code code;
    } BAD[] = {
        {"", E0001},
        {"\n\r\n", E0001},
        {"id,lower,upper\n", E0012},
        {"lower,upper,size\n", E0012},
        {"id,buffer,lower,upper,size\n", E0022},
        {"id,lower,upper,end,size\n", E0022},
        {HEAD "a,0,1\n", E0020},
        {HEAD "a,0,1,2,3\n", E0020},
        {HEAD "a,x,1,2\n", E0020},
        {HEAD "a,0,1,2x\n", E0020},
        {HEAD "a,0,1,\n", E0020},
        {HEAD "a,0,1,-\n", E0020},
        {HEAD "a,0,1,1e3\n", E0020},
        {HEAD "a,0,1,-5\n", E0012},
        {HEAD "a,1,1,5\n", E0012},
        {HEAD "a,2,1,5\n", E0012},
        {HEAD "a,-1,1,5\n", E0012},
        {HEAD "a,0,99999999999,5\n", E0015},
        {HEAD "a,0,1,99999999999999999999\n", E0015},
        {HEAD "a,0,1,9223372036854775807\nb,0,1,9223372036854775807\n", E0015},
        {HEAD "a,0,1,5\na,1,2,5\n", E0022},
        {HEAD "\"a,0,1,5\n", E0020},
        {HEAD "\"a\"b,0,1,5\n", E0020},
        {"id,lower,upper,size,alignment\na,0,1,5,0\n", E0012},
        {"id,lower,upper,size,alignment\na,0,1,5,-4\n", E0012},
        {"id,lower,upper,size,offset\na,0,1,5,zero\n", E0020},
        {"id,lower,upper,size,offset\na,0,1,5,9223372036854775807\n", E0015},
        {GAPS "a,0,9,5,1\n", E0020},
        {GAPS "a,0,9,5,1-\n", E0020},
        {GAPS "a,0,9,5,1-2;3-4\n", E0020},
        {GAPS "a,0,9,5,1-2@3\n", E0020},
        {GAPS "a,0,9,5,2-2\n", E0012},
        {GAPS "a,0,9,5,8-10\n", E0012},
        {GAPS "a,0,9,5,1-4 3-5\n", E0012},
        {GAPS "a,0,9,5,1-4@2:6\n", E0012},
        {GAPS "a,0,9,5,1-4@3:2\n", E0012},
    };
    for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++) {
        ac_ctx own;
        ac_problem p;
        open_own(&own);
        bool refused = ac_problem_read_csv(&own, "bad.csv", BAD[k].text, strlen(BAD[k].text), false, &p) == AC_FAIL;
        bool right = refused && own.diags.errors == 1 && own.diags.last->code == BAD[k].code;
        if (!right)
            printf("case %zu: %s", k, BAD[k].text);
        CHECK(right);
        ac_ctx_close(&own);
    }
    ac_problem p;
    int32_t mark = cx->diags.errors;
    CHECK(ac_problem_read_csv(cx, "bad.csv", "id\0", 3, false, &p) == AC_FAIL);
    CHECK(errors_since(cx, &mark) == 1);
}

static void test_radix(ac_ctx *cx)
{
    enum { N = 5000 };
    ac_keyed *v = AC_NEW_N(cx->region, ac_keyed, N), *spare = AC_NEW_N(cx->region, ac_keyed, N);
    for (int32_t n = 0; n <= N; n = n * 3 + 1) {
        for (int32_t i = 0; i < n; i++)
            v[i] = (ac_keyed){(uint64_t)draw(n % 2 ? 40 : 1 << 20) << (n % 3 * 20), i};
        ac_radix_sort(v, n, spare);
        for (int32_t i = 1; i < n; i++)
            CHECK(v[i - 1].key < v[i].key || (v[i - 1].key == v[i].key && v[i - 1].value < v[i].value));
    }
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
        ac_result row[16];
        int32_t n;
        CHECK(ac_solve_all(cx, &p, &plan, row, &n) == AC_OK);
        CHECK(tight || (n == 1 && plan.arena_bytes == 128 && !strcmp(row[0].strategy, "valley")));
        for (int32_t k = 0; k < n; k++)
            CHECK(row[k].arena_bytes >= plan.arena_bytes && strcmp(row[k].strategy, "tflm"));
    }
}

static void test_strategy_names(ac_ctx *cx)
{
    ac_problem p = random_problem(cx, 5, 0);
    ac_plan plan;
    ac_result row[16];
    int32_t n, mark = cx->diags.errors;
    CHECK(ac_solve(cx, &p, "gredy", &plan) == AC_FAIL);
    CHECK(errors_since(cx, &mark) == 1 && cx->diags.last->code == E0501);
    CHECK(ac_solve_all(cx, &p, &plan, row, &n) == AC_OK);
    CHECK(n == N_STRATEGIES - 1 && !strcmp(row[n - 1].strategy, "none") && !strcmp(row[0].strategy, "greedy"));
    CHECK(strcmp(plan.strategy, "none") != 0);
}

static char *slurp(ac_ctx *cx, const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = ac_alloc(cx->region, 1 << 16);
    if (!f)
        return NULL;
    text[fread(text, 1, (1 << 16) - 1, f)] = 0;
    fclose(f);
    return text;
}

static void test_sink(ac_ctx *cx)
{
    char dir[] = "/tmp/arenac-test-XXXXXX";
    ac_sink s;
    int32_t mark = cx->diags.errors;
    CHECK(mkdtemp(dir) != NULL);
    const char *a = ac_strf(cx->region, "%s/a", dir), *b = ac_strf(cx->region, "%s/b", dir);
    ac_sink_open(&s, cx);
    ac_putf(&s, "%d %s", 7, "x");
    CHECK(!strcmp(ac_sink_text(&s), "7 x"));
    CHECK(!strcmp(ac_commas(cx, 1234567), "1,234,567") && !strcmp(ac_commas(cx, -100), "-100") &&
          !strcmp(ac_commas(cx, INT64_MIN), "-9,223,372,036,854,775,808"));
    CHECK(ac_sink_commit(&s, a) == AC_OK && !strcmp(slurp(cx, a), "7 x"));
    CHECK(ac_sink_commit(&s, "/dev/null") == AC_OK);
    CHECK(errors_since(cx, &mark) == 0);
    CHECK(ac_sink_commit(&s, "/dev/full") == AC_FAIL);
    CHECK(ac_sink_commit(&s, ac_strf(cx->region, "%s/no/such", dir)) == AC_FAIL);
    CHECK(ac_sink_commit(&s, dir) == AC_FAIL);
    CHECK(errors_since(cx, &mark) == 3 && cx->diags.last->code == E0302);

    /* All or none: b must not appear, a must keep its text, no temporary may stay. */
    s.n = 0;
    ac_put(&s, "new");
    ac_output all[] = {{&s, a}, {&s, b}, {&s, "/dev/full"}};
    CHECK(ac_sink_commit_all(cx, all, 3) == AC_FAIL);
    CHECK(!strcmp(slurp(cx, a), "7 x") && !slurp(cx, b));
    CHECK(ac_sink_commit_all(cx, all, 2) == AC_OK);
    CHECK(!strcmp(slurp(cx, a), "new") && !strcmp(slurp(cx, b), "new"));

    /* Through a symbolic link: the link stays one. */
    const char *l = ac_strf(cx->region, "%s/l", dir);
    struct stat st;
    CHECK(symlink(a, l) == 0);
    s.n = 0;
    ac_put(&s, "linked");
    CHECK(ac_sink_commit(&s, l) == AC_OK && !strcmp(slurp(cx, a), "linked"));
    CHECK(lstat(l, &st) == 0 && S_ISLNK(st.st_mode));
    unlink(a);
    unlink(b);
    unlink(l);
    CHECK(rmdir(dir) == 0); /* empty */
}

static void test_json(ac_ctx *cx)
{
    ac_sink s;
    ac_sink_open(&s, cx);
    ac_json j = ac_json_open(&s);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "k\"", "a\\\n\x01\xc3\xa4\xff");
    ac_json_arr(&j, "v");
    ac_json_int(&j, NULL, 1);
    ac_json_num(&j, NULL, 0.5);
    ac_json_obj(&j, NULL);
    ac_json_end(&j);
    ac_json_end(&j);
    ac_json_arr(&j, "w");
    ac_json_bool(&j, NULL, true);
    ac_json_str(&j, NULL, NULL);
    ac_json_end(&j);
    ac_json_end(&j);
    CHECK(!strcmp(ac_sink_text(&s),
                  "{\n  \"k\\\"\": \"a\\\\\\n\\u0001\xc3\xa4\xef\xbf\xbd\",\n  \"v\": [1, 0.5,\n    {}\n  ],\n"
                  "  \"w\": [true, null]\n}\n"));
}

static void test_report(ac_ctx *cx)
{
    ac_problem p = random_problem(cx, 40, 7);
    ac_plan plan;
    ac_result row[16];
    int32_t n, mark = cx->diags.errors;
    CHECK(ac_solve_all(cx, &p, &plan, row, &n) == AC_OK);
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
    CHECK(ac_solve(cx, &p, "auto", &plan) == AC_OK);
    ac_report r = {.file = "x.csv", .budget = -1, .problem = &p, .plan = &plan, .no_sharing = 8, .peak = 1};
    ac_sink s;
    ac_sink_open(&s, cx);
    ac_report_text(&s, &r, 0, false);
    const char *map = strstr(ac_sink_text(&s), "  address");
    CHECK(map && !strcmp(map, "  address   step 0 2\n"
                              "       8  |.b.|    a a\n"
                              "       7  |.b.|    b b\n"
                              "       6  |.b.|\n"
                              "       5  |.b.|\n"
                              "       4  |aaa|\n"
                              "       3  |aaa|\n"
                              "       2  |aaa|\n"
                              "       1  |aaa|\n"));
}

int main(void)
{
    ac_ctx cx;
    ac_ctx_open(&cx);
    if (setjmp(cx.heap.on_oom)) {
        puts("out of memory");
        return 1;
    }
    ac_ctx_start(&cx);
    cx.diags.limit = 1000;
    test_tflite_six_nodes(&cx);
    test_tflite_chain(&cx);
    test_tflm_ties(&cx);
    test_bounds(&cx);
    test_pairs(&cx);
    test_random(&cx);
    test_check_agrees_with_brute_force(&cx);
    test_planted_faults(&cx);
    test_memories(&cx);
    test_traffic(&cx);
    test_csv_round_trip(&cx);
    test_csv_forms(&cx);
    test_csv_errors(&cx);
    test_strategy_names(&cx);
    test_radix(&cx);
    test_large(&cx);
    test_sink(&cx);
    test_json(&cx);
    test_report(&cx);
    test_report_map(&cx);
    if (failures)
        ac_diags_print(&cx.diags, stdout, false);
    ac_ctx_close(&cx);
    printf("test_planner: %s\n", failures ? "FAILED" : "ok");
    return failures != 0;
}
