/* test_share.c - which functions become one: those that are alike, at which price, and who is left out. */
#include "codegen/share_groups.h"
#include "codegen/targets.h"
#include "tests/unit/support/loop_text.h"

/* Copies `trips` elements that lie `stride` apart; op: a third number that is no shape. */
static const ac_loop_fn *copier(const char *name, int32_t trips, int32_t stride, const char *op)
{
    const char *text = ac_strf(cx.region,
                               "fn %s\n"
                               "  buf x in i32 100000 align 4\n"
                               "  buf y out i32 100000 align 4\n"
                               "  %%1 = const i32 0\n"
                               "  %%2 = const i32 %d\n"
                               "  %%3 = const i32 %d\n"
                               "  %%4 = for i32 %%1 .. %%2 step 1 as i\n"
                               "    %%5 = mul i32 %%4 %%3\n"
                               "    %%6 = load i32 x[%%5]\n"
                               "    %%7 = %s i32 %%6 %%4\n"
                               "    %%8 = %s i32 %%7 %%6\n"
                               "    store y[%%5] %%8\n"
                               "  end\n",
                               name, trips, stride, op, op);
    ac_loop_fn *fn = NULL;
    CHECK(ac_loop_read(&cx, "text", text, strlen(text), &fn) == AC_OK);
    CHECK(fn && ac_loop_verify(&cx, fn) == AC_OK);
    return fn;
}

enum { FEW_A, FEW_B, HOT, OTHER, FUNCTIONS };

static ac_share_set set_of(const ac_loop_fn **fn, int32_t *calls, ac_share_price price)
{
    fn[FEW_A] = copier("few_a", 10, 2, "add");
    fn[FEW_B] = copier("few_b", 12, 3, "add");
    fn[HOT] = copier("hot", 9999, 5, "add");
    fn[OTHER] = copier("other", 9998, 5, "sub");
    for (int32_t f = 0; f < FUNCTIONS; f++)
        calls[f] = 1;
    return (ac_share_set){
        .fn = fn, .calls = calls, .n = FUNCTIONS, .target = ac_target_find("cortex-m4"), .price = price};
}

static void test_all(void)
{
    const ac_loop_fn *fn[FUNCTIONS];
    int32_t calls[FUNCTIONS];
    const ac_share_set set = set_of(fn, calls, AC_SHARE_BYTES);
    const ac_share_group *g = ac_share_groups(cx.region, &set);
    CHECK(g[FEW_A].n == 3 && g[FEW_A].member[1] == FEW_B && g[FEW_A].member[2] == HOT && g[FEW_A].saved > 0);
    CHECK(g[FEW_A].holes == 2 && g[FEW_A].slots == 2 && !ac_share_is_wide(&g[FEW_A], 0));
    CHECK(!g[FEW_B].n && !g[HOT].n && g[OTHER].n == 1 && !g[OTHER].saved);
}

/* The one that runs long keeps its numbers; the others' loops are nothing beside it. */
static void test_dear(void)
{
    const ac_loop_fn *fn[FUNCTIONS];
    int32_t calls[FUNCTIONS];
    ac_share_set set = set_of(fn, calls, AC_SHARE_AUTO);
    const ac_share_group *g = ac_share_groups(cx.region, &set);
    CHECK(g[FEW_A].n == 2 && g[FEW_A].member[1] == FEW_B && g[HOT].n == 1);
    calls[FEW_A] = calls[HOT] = 100; /* the first of the group is dear as well */
    fn[FEW_A] = copier("few_a", 9000, 2, "add");
    fn[OTHER] = copier("few_c", 11, 7, "add");
    g = ac_share_groups(cx.region, &set);
    CHECK(g[FEW_A].n == 1 && g[HOT].n == 1);
    CHECK(g[FEW_B].n == 2 && g[FEW_B].member[0] == FEW_B && g[FEW_B].member[1] == OTHER && !g[OTHER].n);
}

static bool not_with_b(const void *with, int32_t f, int32_t g)
{
    (void)with;
    return f != FEW_B && g != FEW_B;
}

static void test_refused(void)
{
    const ac_loop_fn *fn[FUNCTIONS];
    int32_t calls[FUNCTIONS];
    ac_share_set set = set_of(fn, calls, AC_SHARE_BYTES);
    set.may_share = not_with_b;
    const ac_share_group *g = ac_share_groups(cx.region, &set);
    CHECK(g[FEW_A].n == 2 && g[FEW_A].member[1] == HOT && g[FEW_B].n == 1);
}

int main(void)
{
    fresh();
    test_all();
    test_dear();
    test_refused();
    ac_ctx_close(&cx);
    return check_done();
}
