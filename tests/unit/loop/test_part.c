/* test_part.c - a loop function as a row of steps (ir/loop/access/part.h): for many bounds and steps of its two loops,
 * the number of steps and columns and the elements that each reads and writes, compared with C loops that count and
 * collect them. */
#include "ir/loop/access/part.h"
#include "tests/unit/support/loop_text.h"
#include "tests/unit/support/seeds.h"

enum { WIDE = 64, IN = 4096 };

typedef struct range {
    int32_t lo, hi, step;
} range;

static range any_range(void)
{
    const int32_t lo = (int32_t)below(6), step = 1 + (int32_t)below(5);
    return (range){lo, lo + 1 + (int32_t)below(14), step};
}

static int64_t passes(range r)
{
    int64_t n = 0;
    for (int32_t v = r.lo; v < r.hi; v += r.step)
        n++;
    return n;
}

/* y[64 row + col] = x[64 row + col] + x[64 row + col + far] */
static ac_loop_fn *two_loops(range row, range col, int32_t far)
{
    const char *text = ac_strf(cx.region,
                               "fn f\n"
                               "  buf x in i32 %d align 4\n"
                               "  buf y out i32 %d align 4\n"
                               "  %%1 = const i32 %d\n"
                               "  %%2 = const i32 %d\n"
                               "  %%3 = const i32 %d\n"
                               "  %%4 = const i32 %d\n"
                               "  %%5 = const i32 %d\n"
                               "  %%6 = const i32 %d\n"
                               "  %%7 = for i32 %%1 .. %%2 step %d as row\n"
                               "    %%8 = mul i32 %%7 %%5\n"
                               "    %%9 = for i32 %%3 .. %%4 step %d as col\n"
                               "      %%10 = add i32 %%8 %%9\n"
                               "      %%11 = add i32 %%10 %%6\n"
                               "      %%12 = load i32 x[%%10]\n"
                               "      %%13 = load i32 x[%%11]\n"
                               "      %%14 = add i32 %%12 %%13\n"
                               "      store y[%%10] %%14\n"
                               "    end\n"
                               "  end\n",
                               IN, IN, row.lo, row.hi, col.lo, col.hi, WIDE, far, row.step, col.step);
    ac_loop_fn *fn = NULL;
    CHECK(ac_loop_read(&cx, "text", text, strlen(text), &fn) == AC_OK);
    CHECK(fn && ac_loop_verify(&cx, fn) == AC_OK);
    return fn;
}

static bool is_span(ac_span s, int64_t lo, int64_t hi)
{
    return s.lo == lo && s.hi == hi;
}

/* Loops that end with their last number or short of it: each iteration is a step, and touches what the loops say. */
static void test_steps(void)
{
    int32_t short_of = 0;
    for (int32_t n = 0; n < 300; n++) {
        const range row = any_range(), col = any_range();
        const int32_t far = (int32_t)below(200);
        ac_part p;
        CHECK(ac_part_of(&cx, cx.region, two_loops(row, col, far), &p));
        CHECK(p.steps == passes(row) && p.cols == passes(col) && !p.late);
        short_of += (row.hi - row.lo) % row.step != 0;
        int64_t step = 0;
        for (int32_t r = row.lo; r < row.hi && step < p.steps; r += row.step, step++) {
            const int64_t lo = WIDE * r + col.lo, hi = WIDE * r + col.lo + (passes(col) - 1) * col.step + 1;
            CHECK(is_span(ac_part_span(&p, 1, step), lo, hi));
            CHECK(is_span(ac_part_span(&p, 0, step), lo, hi + far));
        }
    }
    CHECK(short_of > 50);
}

/* y[4 row + col] = x[4 row + col]: columns keep to their own elements; y[..] = x[.. + 1] reads its neighbour's. */
static void test_columns(void)
{
    for (int32_t far = 0; far < 2; far++) {
        const char *text = ac_strf(cx.region,
                                   "fn f\n"
                                   "  buf x in i32 12 align 4\n"
                                   "  buf y out i32 12 align 4\n"
                                   "  %%1 = const i32 0\n"
                                   "  %%2 = const i32 3\n"
                                   "  %%3 = const i32 %d\n"
                                   "  %%4 = const i32 4\n"
                                   "  %%5 = const i32 11\n"
                                   "  %%6 = for i32 %%1 .. %%2 step 1 as row\n"
                                   "    %%7 = mul i32 %%6 %%4\n"
                                   "    %%8 = for i32 %%1 .. %%4 step 1 as col\n"
                                   "      %%9 = add i32 %%7 %%8\n"
                                   "      %%10 = add i32 %%9 %%3\n"
                                   "      %%11 = min i32 %%10 %%5\n"
                                   "      %%12 = load i32 x[%%11]\n"
                                   "      store y[%%9] %%12\n"
                                   "    end\n"
                                   "  end\n",
                                   far);
        ac_loop_fn *fn = NULL;
        ac_part p;
        CHECK(ac_loop_read(&cx, "text", text, strlen(text), &fn) == AC_OK);
        CHECK(fn && ac_part_of(&cx, cx.region, fn, &p));
        CHECK(p.steps == 3 && p.cols == 4 && p.pixel[1] && p.pixel[0] == !far);
        CHECK(ac_part_stays_inside(&p, 0) && ac_part_stays_inside(&p, 1));
    }
}

int main(void)
{
    fresh();
    test_steps();
    test_columns();
    ac_ctx_close(&cx);
    return check_done();
}
