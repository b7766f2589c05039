/* test_library.c - the planner library through its public header alone. */
#include "planner/pack/arenac_planner.h"

#include <stdio.h>
#include <string.h>

static int failed;
#define CHECK(x) ((x) ? (void)0 : (void)(failed++, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

static arenac_interval item(int32_t begin, int32_t end, int64_t size)
{
    return (arenac_interval){.size = size, .begin = begin, .end = end, .fixed = -1, .memory = -1};
}

static void test_plan(void)
{
    arenac_interval it[] = {item(0, 2, 64), item(1, 4, 32), item(2, 4, 64)};
    arenac_pack_problem p = {.item = it, .n = 3};
    arenac_packing plan, again;
    it[1].align = 64;
    CHECK(arenac_pack(&p, NULL, &plan) == ARENAC_PACK_OK);
    CHECK(plan.bytes == 96 && plan.lower_bound == 96 && plan.optimal && !plan.message[0] && !plan.certificate);
    CHECK(plan.offset[0] == plan.offset[2] && plan.offset[1] % 64 == 0 && plan.memory[2] == 0 &&
          plan.memory_bytes[0] == 96);
    CHECK(arenac_pack_check(&p, plan.offset, NULL, &again) == ARENAC_PACK_OK && again.bytes == 96 && again.optimal);
    arenac_packing_free(&again);
    plan.offset[2] = plan.offset[1];
    CHECK(arenac_pack_check(&p, plan.offset, plan.memory, &again) == ARENAC_PACK_UNSAFE);
    CHECK(strstr(again.message, "shares bytes with '2'"));
    arenac_packing_free(&again);
    arenac_packing_free(&plan);
    for (int k = 0; arenac_pack_planner(k); k++) {
        const arenac_pack_options o = {.planner = arenac_pack_planner(k)};
        CHECK(arenac_pack(&p, &o, &plan) == ARENAC_PACK_OK && !strcmp(plan.planner, arenac_pack_planner(k)));
        CHECK(strlen(arenac_pack_planner_help(k)) > 20);
        arenac_packing_free(&plan);
    }
    const arenac_pack_options tight = {.capacity = 95}, unknown = {.planner = "fastest"};
    CHECK(arenac_pack(&p, &tight, &plan) == ARENAC_PACK_TOO_LARGE && plan.bytes == 96 &&
          strstr(plan.message, "has 95 B"));
    arenac_packing_free(&plan);
    CHECK(arenac_pack(&p, &unknown, &plan) == ARENAC_PACK_INVALID && strstr(plan.message, "unknown planner 'fastest'"));
    arenac_packing_free(&plan);
    p.n = 0;
    CHECK(arenac_pack(&p, NULL, &plan) == ARENAC_PACK_OK && plan.bytes == 0);
    arenac_packing_free(&plan);
    arenac_packing_free(&plan); /* freeing it twice is allowed */
}

/* A result may begin inside the operand that dies in its step; a gap gives its bytes to another. */
static void test_pairs_and_gaps(void)
{
    arenac_interval it[] = {item(0, 2, 100), item(1, 3, 80)};
    const arenac_pack_pair pair = {.a = 0, .b = 1, .above = -1, .below = 16};
    const arenac_gap gap = {1, 2, 0, 20};
    arenac_pack_problem p = {.item = it, .n = 2, .pair = &pair, .n_pairs = 1};
    arenac_packing plan;
    CHECK(arenac_pack(&p, NULL, &plan) == ARENAC_PACK_OK && plan.bytes == 116 && plan.offset[0] - plan.offset[1] == 16);
    arenac_packing_free(&plan);
    p.n_pairs = 0;
    it[0].gap = &gap;
    it[0].n_gaps = 1;
    CHECK(arenac_pack(&p, NULL, &plan) == ARENAC_PACK_OK && plan.bytes == 100);
    arenac_packing_free(&plan);
}

static void test_memories(void)
{
    arenac_interval it[] = {item(0, 2, 100), item(0, 2, 100), item(1, 2, 20)};
    const arenac_pack_memory mem[] = {{"fast", 128}, {"slow", 100}};
    const arenac_pack_problem p = {.item = it, .n = 3, .memory = mem, .n_memories = 2};
    arenac_packing plan;
    it[0].traffic = 10;
    it[1].traffic = 500;
    CHECK(arenac_pack(&p, NULL, &plan) == ARENAC_PACK_OK && plan.memory[1] == 0 && plan.memory[0] == 1 &&
          plan.memory[2] == 0);
    arenac_packing_free(&plan);
    it[0].memory = 0; /* the other one must give way */
    CHECK(arenac_pack(&p, NULL, &plan) == ARENAC_PACK_OK && plan.memory[0] == 0 && plan.memory[1] == 1);
    arenac_packing_free(&plan);
    it[1].memories = 1;
    CHECK(arenac_pack(&p, NULL, &plan) == ARENAC_PACK_TOO_LARGE && strstr(plan.message, "'fast' needs 2"));
    arenac_packing_free(&plan);
}

static void refused(const arenac_interval *it, const char *why)
{
    const arenac_pack_problem p = {.item = it, .n = 1};
    arenac_packing plan;
    CHECK(arenac_pack(&p, NULL, &plan) == ARENAC_PACK_INVALID && !plan.offset && strstr(plan.message, why));
    arenac_packing_free(&plan);
}

static void test_refusals(void)
{
    const arenac_gap outside = {1, 5, 0, 0}, wide = {1, 2, 0, 9};
    arenac_interval it = item(0, 2, -1);
    refused(&it, "size is negative");
    it = item(2, 2, 8);
    refused(&it, "does not end after it begins");
    it = item(-1, 2, 8);
    refused(&it, "before step 0");
    it = item(0, 2, 8), it.align = 12;
    refused(&it, "not a power of two");
    it = item(0, 2, 8), it.memory = 1;
    refused(&it, "the memory does not exist");
    it = item(0, 2, 8), it.memories = 2;
    refused(&it, "the memory does not exist");
    it = item(0, 2, 8), it.gap = &outside, it.n_gaps = 1;
    refused(&it, "outside the life");
    it = item(0, 2, 8), it.gap = &wide, it.n_gaps = 1;
    refused(&it, "not inside");
    it = item(0, 2, INT64_MAX);
    refused(&it, "61 bits");
    it = item(0, 2, 8), it.fixed = INT64_MAX;
    refused(&it, "61 bits");
    arenac_interval two[] = {item(0, 2, 8), item(1, 3, 8)};
    two[0].fixed = 0;
    two[1].fixed = 4;
    const arenac_pack_pair bad = {.a = 0, .b = 2};
    arenac_pack_problem p = {.item = two, .n = 2};
    arenac_packing plan;
    CHECK(arenac_pack(&p, NULL, &plan) == ARENAC_PACK_INVALID && strstr(plan.message, "shares bytes"));
    arenac_packing_free(&plan);
    p.pair = &bad;
    p.n_pairs = 1;
    CHECK(arenac_pack(&p, NULL, &plan) == ARENAC_PACK_INVALID && strstr(plan.message, "does not name two"));
    arenac_packing_free(&plan);
}

/* Problems of one size after the other in little memory: an error every time, and no leak (the sanitizers look). */
static void test_little_memory(void)
{
    enum { N = 3000 };
    static arenac_interval it[N];
    const arenac_pack_problem p = {.item = it, .n = N};
    for (int i = 0; i < N; i++)
        it[i] = item(i % 50, i % 50 + 7, 1 + i % 97);
    int refusals = 0;
    for (int64_t limit = 1 << 12; limit < 1 << 22; limit *= 2) {
        const arenac_pack_options o = {.max_memory = limit, .effort = 1};
        arenac_packing plan;
        const int status = arenac_pack(&p, &o, &plan);
        CHECK(status == ARENAC_PACK_OK || (status == ARENAC_PACK_NO_MEMORY && !strcmp(plan.message, "out of memory")));
        refusals += status != ARENAC_PACK_OK;
        arenac_packing_free(&plan);
    }
    CHECK(refusals > 0);
}

static void test_csv(void)
{
    static const char TEXT[] = "id,lower,upper,size,gaps,offset\na,0,4,16,1-2 2-3@0:8,-1\n\"b, c\",1,3,8,,32\n";
    char why[256];
    arenac_pack_problem p;
    arenac_packing plan;
    CHECK(arenac_pack_read_csv("x.csv", TEXT, sizeof TEXT - 1, &p, why, sizeof why) == ARENAC_PACK_OK && !why[0]);
    CHECK(p.n == 2 && !strcmp(p.item[1].name, "b, c") && p.item[1].fixed == 32 && p.item[0].n_gaps == 2 &&
          p.item[0].gap[1].hi == 8);
    CHECK(arenac_pack(&p, NULL, &plan) == ARENAC_PACK_OK && plan.offset[1] == 32);
    arenac_packing_free(&plan);
    arenac_pack_problem_free(&p);
    CHECK(arenac_pack_read_csv("x.csv", TEXT, 10, &p, why, sizeof why) == ARENAC_PACK_INVALID &&
          strstr(why, "no column") && !p.n);
    arenac_pack_problem_free(&p);
}

/* If only a search proves that nothing smaller exists, the result has the reason. */
static void test_certificate(void)
{
    uint32_t seed = 1;
    int found = 0;
    for (int round = 0; round < 400 && !found; round++) {
        arenac_interval it[7];
        for (int i = 0; i < 7; i++) {
            seed = seed * 1664525u + 1013904223u;
            const int32_t begin = (int32_t)(seed >> 16) % 7;
            it[i] = item(begin, begin + 1 + (int32_t)(seed >> 20) % 5, 1 + (seed >> 24) % 12);
            it[i].align = 1 << (seed >> 29 & 3);
        }
        const arenac_pack_problem p = {.item = it, .n = 7};
        const arenac_pack_options o = {.certificate = 1, .effort = 6};
        arenac_packing plan;
        CHECK(arenac_pack(&p, &o, &plan) == ARENAC_PACK_OK);
        found = plan.optimal && plan.certificate != NULL;
        arenac_packing_free(&plan);
    }
    CHECK(found);
}

int main(void)
{
    test_plan();
    test_pairs_and_gaps();
    test_memories();
    test_refusals();
    test_little_memory();
    test_csv();
    test_certificate();
    printf("library: %s\n", failed ? "FAILED" : "ok");
    return failed != 0;
}
