/* test_share.c - which functions become one: those that are alike, at which price, and who is left out. */
#include "codegen/share_pieces.h"
#include "codegen/targets.h"
#include "ir/loop/eval/eval.h"
#include "tests/unit/support/loop_text.h"

static const ac_loop_fn *parsed(const char *text)
{
    ac_loop_fn *fn = NULL;
    CHECK(ac_loop_read(&cx, "text", text, strlen(text), &fn) == AC_OK);
    CHECK(fn && ac_loop_verify(&cx, fn) == AC_OK);
    return fn;
}

/* Copies `trips` elements with distance `stride`; op: a third number that is not a shape. */
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
    return parsed(text);
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
    CHECK(g[FEW_A].holes == 2 && g[FEW_A].slots == 2 && g[FEW_A].words[0] == 1);
    CHECK(!g[FEW_B].n && !g[HOT].n && g[OTHER].n == 1 && !g[OTHER].saved);
}

/* Little code stays as it is, by default for vectors. */
static void test_little(void)
{
    const ac_loop_fn *fn[FUNCTIONS];
    int32_t calls[FUNCTIONS];
    const ac_share_set set = set_of(fn, calls, AC_SHARE_LARGE);
    const ac_share_group *g = ac_share_groups(cx.region, &set);
    CHECK(g[FEW_A].n == 1 && g[FEW_B].n == 1 && g[HOT].n == 1);
}

/* The long-running one keeps its numbers; the others' loops are negligible compared with it. */
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

static const ac_loop_fn *scaler(const char *name, long long by)
{
    return parsed(ac_strf(cx.region,
                          "fn %s\n"
                          "  buf y out i64 8 align 8\n"
                          "  %%1 = const i32 0\n"
                          "  %%2 = const i32 8\n"
                          "  %%3 = const i64 %lld\n"
                          "  %%4 = for i32 %%1 .. %%2 step 1 as i\n"
                          "    %%5 = cast i64 %%4\n"
                          "    %%6 = mul i64 %%5 %%3\n"
                          "    %%7 = mul i64 %%6 %%6\n"
                          "    %%8 = mul i64 %%7 %%6\n"
                          "    store y[%%4] %%8\n"
                          "  end\n",
                          name, by));
}

/* A number of 64 bits takes two words only where it has to. */
static void test_wide(void)
{
    const ac_loop_fn *fn[2] = {scaler("small", 5), scaler("negative", -7)};
    const int32_t calls[2] = {1, 1};
    const ac_share_set set = {
        .fn = fn, .calls = calls, .n = 2, .target = ac_target_find("cortex-m0plus"), .price = AC_SHARE_BYTES};
    const ac_share_group *g = ac_share_groups(cx.region, &set);
    CHECK(g[0].n == 2 && g[0].slots == 1 && g[0].words[0] == 1);
    CHECK(ac_share_numbers(cx.region, &g[0], 1)[0] == -7);
    CHECK(ac_loop_verify(&cx, ac_share_build(cx.region, &g[0])) == AC_OK);
    fn[1] = scaler("large", 5000000000);
    g = ac_share_groups(cx.region, &set);
    CHECK(g[0].n == 2 && g[0].slots == 2 && g[0].words[0] == 2);
    CHECK(ac_share_numbers(cx.region, &g[0], 1)[0] == 705032704 && ac_share_numbers(cx.region, &g[0], 1)[1] == 1);
    CHECK(ac_loop_verify(&cx, ac_share_build(cx.region, &g[0])) == AC_OK);
}

static const ac_loop_fn *vectors(const char *name, int byte, double factor, long long word, int shift)
{
    return parsed(ac_strf(cx.region,
                          "fn %s\n"
                          "  buf x in i8 64 align 8\n"
                          "  buf y out f32 64 align 32\n"
                          "  %%1 = const i32 0\n"
                          "  %%2 = const i32 64\n"
                          "  %%3 = const i8x8 %d\n"
                          "  %%4 = const f32x8 %.9g\n"
                          "  %%5 = const u32x8 %lld\n"
                          "  %%6 = const u32x8 %d\n"
                          "  %%7 = for i32 %%1 .. %%2 step 8 as i\n"
                          "    %%8 = load i8x8 x[%%7]\n"
                          "    %%9 = add i8x8 %%8 %%3\n"
                          "    %%10 = cast u32x8 %%9\n"
                          "    %%11 = xor u32x8 %%10 %%5\n"
                          "    %%12 = shr u32x8 %%11 %%6\n"
                          "    %%13 = cast f32x8 %%12\n"
                          "    %%14 = mul f32x8 %%13 %%4\n"
                          "    store y[%%7] %%14\n"
                          "  end\n",
                          name, byte, factor, word, shift));
}

/* Numbers that are vectors, of any type; shifts are not shared. The merged function computes the same as its
 * members. */
static void test_vectors(void)
{
    const ac_loop_fn *fn[3] = {vectors("a", -5, 0.1, 0xffffffff, 3), vectors("b", 100, -3, 17, 3),
                               vectors("c", -5, 0.1, 17, 4)};
    const int32_t calls[3] = {1, 1, 1};
    const ac_share_set set = {
        .fn = fn, .calls = calls, .n = 3, .target = ac_target_find("cortex-m0plus"), .price = AC_SHARE_BYTES};
    const ac_share_group *g = ac_share_groups(cx.region, &set);
    CHECK(g[0].n == 2 && g[0].holes == 3 && g[0].slots == 3 && g[2].n == 1);
    const ac_loop_fn *one = ac_share_build(cx.region, &g[0]);
    CHECK(ac_loop_verify(&cx, one) == AC_OK);
    int8_t x[64];
    for (int i = 0; i < 64; i++)
        x[i] = (int8_t)(i * 37);
    for (int32_t k = 0; k < 2; k++) {
        float want[64], got[64];
        CHECK(ac_eval(&cx, fn[k], (void *[]){x, want}, 2, NULL) == AC_OK);
        CHECK(ac_eval(&cx, one, (void *[]){x, got, ac_share_numbers(cx.region, &g[0], k)}, 3, NULL) == AC_OK);
        CHECK(!memcmp(want, got, sizeof want));
    }
}

/* y[i] = (i + add) * mul for i < first; add and mul are %2, which is `first`, or %3, which is `second`. */
static const ac_loop_fn *line(const char *name, int first, int second, const char *add, const char *mul)
{
    return parsed(ac_strf(cx.region,
                          "fn %s\n"
                          "  buf y out i32 16 align 4\n"
                          "  %%1 = const i32 0\n"
                          "  %%2 = const i32 %d\n"
                          "  %%3 = const i32 %d\n"
                          "  %%4 = for i32 %%1 .. %%2 step 1 as i\n"
                          "    %%5 = add i32 %%4 %s\n"
                          "    %%6 = mul i32 %%5 %s\n"
                          "    store y[%%4] %%6\n"
                          "  end\n",
                          name, first, second, add, mul));
}

/* Functions do not differ by which uses of constants have the same number. */
static void test_uses(void)
{
    const ac_loop_fn *fn[3] = {line("a", 10, 20, "%2", "%3"), line("b", 12, 30, "%3", "%3"),
                               line("c", 10, 40, "%2", "%3")};
    const int32_t calls[3] = {1, 1, 1};
    ac_share_set set = {
        .fn = fn, .calls = calls, .n = 2, .target = ac_target_find("cortex-m0plus"), .price = AC_SHARE_BYTES};
    const ac_share_group *g = ac_share_groups(cx.region, &set);
    CHECK(g[0].n == 2 && g[0].holes == 3 && g[0].slots == 3);
    const ac_loop_fn *one = ac_share_build(cx.region, &g[0]);
    CHECK(ac_loop_verify(&cx, one) == AC_OK);
    for (int32_t k = 0; k < 2; k++) {
        int32_t want[16] = {0}, got[16] = {0};
        CHECK(ac_eval(&cx, fn[k], (void *[]){want}, 1, NULL) == AC_OK);
        CHECK(ac_eval(&cx, one, (void *[]){got, ac_share_numbers(cx.region, &g[0], k)}, 2, NULL) == AC_OK);
        CHECK(!memcmp(want, got, sizeof want));
    }
    fn[1] = fn[2];
    g = ac_share_groups(cx.region, &set);
    CHECK(g[0].n == 2 && g[0].holes == 1 && g[0].slots == 1);
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

/* Two bodies that differ in a number, and in which buffer is which; the second one's results overlap another's. */
static void test_pieces(void)
{
    const ac_loop_fn *fn = parsed("fn f\n"
                                  "  buf x in i32 8 align 4\n"
                                  "  buf y scratch i32 8 align 4\n"
                                  "  buf z out i32 8 align 4\n"
                                  "  %1 = const i32 0\n"
                                  "  %2 = const i32 1\n"
                                  "  %3 = const i32 8\n"
                                  "  %4 = const i32 41\n"
                                  "  %5 = const i32 42\n"
                                  "  %6 = for i32 %1 .. %3 step 1 as tick\n"
                                  "    %7 = for i32 %1 .. %2 step 1 as one apart\n"
                                  "      %8 = load i32 x[%6]\n"
                                  "      %9 = mul i32 %8 %8\n"
                                  "      %10 = add i32 %9 %4\n"
                                  "      %11 = mul i32 %10 %10\n"
                                  "      store y[%6] %11\n"
                                  "    end\n"
                                  "    %14 = for i32 %1 .. %2 step 1 as two apart\n"
                                  "      %15 = load i32 y[%6]\n"
                                  "      %16 = mul i32 %15 %15\n"
                                  "      %17 = add i32 %16 %5\n"
                                  "      %18 = mul i32 %17 %17\n"
                                  "      store z[%6] %18\n"
                                  "    end\n"
                                  "  end\n");
    const ac_target *t = ac_target_find("cortex-m0plus");
    const ac_pieces apart = ac_share_pieces(&cx, cx.region, fn, t, AC_SHARE_NEVER, NULL);
    CHECK(apart.n == 2 && apart.item[1].like == 1 && apart.item[0].fn != apart.item[1].fn);
    ac_bytes saved = 0;
    const ac_pieces p = ac_share_pieces(&cx, cx.region, fn, t, AC_SHARE_BYTES, &saved);
    CHECK(p.n == 2 && saved > 0 && p.item[1].like == 0 && p.item[0].fn == p.item[1].fn);
    CHECK(ac_loop_verify(&cx, p.outer) == AC_OK && ac_loop_verify(&cx, p.item[0].fn) == AC_OK);
    const ac_loop_fn *one = p.item[0].fn;
    CHECK(one->buf.n == 4 && !strcmp(one->buf.item[3].name, "shape")); /* and the buffers and values that it uses */
    CHECK(p.item[0].buf[0] == 0 && p.item[0].buf[1] == 1 && p.item[1].buf[0] == 1 && p.item[1].buf[1] == 2);
    CHECK(p.item[0].buf[3] == p.outer->buf.n - 1 && p.item[1].buf[3] == p.outer->buf.n - 1);
    int64_t stored[2], n = 0;
    for (ac_x x = 1; x < p.outer->code.n; x++) {
        const ac_ins *i = &p.outer->code.item[x];
        if (i->op == AC_L_STORE && i->aux == p.outer->buf.n - 1 && n < 2)
            stored[n++] = p.outer->code.item[i->b].k.i;
    }
    CHECK(n == 2 && stored[0] == 41 && stored[1] == 42);
    const bool outer[5] = {true, true, false};
    const bool *may = ac_pieces_restricted(cx.region, &p, 0, outer);
    CHECK(may[0] && !may[1] && may[2] && may[3]);
}

int main(void)
{
    fresh();
    test_all();
    test_dear();
    test_uses();
    test_little();
    test_refused();
    test_wide();
    test_vectors();
    test_pieces();
    ac_ctx_close(&cx);
    return check_done();
}
