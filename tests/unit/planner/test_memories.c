/* test_memories.c - several memories: placement of tensors, and the share of the traffic in the first one. */
#include "tests/unit/support/packing.h"

/* 100 + 100 bytes alive together, a first memory of 128: one of them goes on to the second. */
static void test_memories(ac_ctx *cx)
{
    ac_item it[] = {item("a", 0, 2, 100, 4), item("b", 1, 3, 60, 4), item("s", 0, 3, 8, 4), item("big", 0, 1, 500, 4)};
    ac_memory mem[] = {{.name = "fast", .capacity = 128, .align = 16},
                       {.name = "slow", .capacity = 4096, .align = 16},
                       {.name = "state", .capacity = -1, .align = 16, .use = AC_MEM_STATE}};
    ac_problem p = problem(cx, it, 4);
    ac_plan plan;
    it[2].mem = 2;
    p.mem = mem;
    p.n_mems = 3;
    CHECK(ac_solve(cx, &p, "auto", NULL, &plan) == AC_OK);
    CHECK(plan.mem[2] == 2 && plan.mem[3] == 1 && plan.mem_bytes[2] == 8);
    CHECK(plan.mem_bytes[0] <= 128 && plan.mem[0] + plan.mem[1] == 1);
    it[0].mems = it[1].mems = 1; /* both only in the first: over capacity, which the caller reports */
    CHECK(ac_solve(cx, &p, "auto", NULL, &plan) == AC_OK);
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
        CHECK(ac_solve(cx, &p, "auto", &BRIEF, &plan) == AC_OK && ac_plan_check(cx, NULL, &p, &plan) == AC_OK);
        for (int32_t i = 0; i < p.n; i++)
            kept += plan.mem[i] ? 0 : p.item[i].traffic;
        possible += most_traffic(&p);
    }
    if (kept * 100 < possible * 95)
        printf("kept %lld of %lld\n", (long long)kept, (long long)possible);
    CHECK(kept * 100 >= possible * 95);
}

int main(void)
{
    static test *const ALL[] = {test_memories, test_traffic};
    return run_tests("test_memories", ALL, sizeof ALL / sizeof *ALL);
}
