/* test_csv.c - the CSV form of problems and plans: round trips, its freedoms, its errors. */
#include "base/sink.h"
#include "tests/unit/support/packing.h"

#include <sys/mman.h>

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
        CHECK(ac_solve(cx, &p, "auto", &BRIEF, &plan) == AC_OK);
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
    (void)cx;
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
}

static void test_csv_zero_byte(ac_ctx *cx)
{
    ac_problem p;
    int32_t mark = cx->diags.errors;
    CHECK(ac_problem_read_csv(cx, "bad.csv", "id\0", 3, false, &p) == AC_FAIL);
    CHECK(errors_since(cx, &mark) == 1);
}

/* Lines may end in CR alone; of two equal names the message names both lines. */
static void test_csv_lines(ac_ctx *cx)
{
    static const char CR[] = "id,lower,upper,size\ra,0,1,1\rb,0,1,1\rc,0,1,1\r",
                      TWICE[] = "\n" HEAD "a,0,1,1\n\nb,0,1,1\na,0,1,1\n";
    ac_problem p;
    int32_t mark = cx->diags.errors;
    CHECK(ac_problem_read_csv(cx, "cr.csv", CR, sizeof CR - 1, false, &p) == AC_OK && p.n == 3);
    CHECK(ac_problem_read_csv(cx, "twice.csv", TWICE, sizeof TWICE - 1, false, &p) == AC_FAIL);
    CHECK(errors_since(cx, &mark) == 1 && cx->diags.last->at.line == 6 && strstr(cx->diags.last->text, "line 3"));
    ac_intern(cx, "known before"); /* does not count as a use of the name */
    static const char ONCE[] = HEAD "known before,0,1,1\n";
    CHECK(ac_problem_read_csv(cx, "once.csv", ONCE, sizeof ONCE - 1, false, &p) == AC_OK);
}

/* A field of more than 2^31 bytes, plain, quoted or of no known column; the same megabyte, mapped again and again. */
static void test_csv_wide(ac_ctx *cx)
{
    enum { MEG = 1 << 20, TIMES = 2049 };
    static const char *const BEFORE[] = {HEAD "a", HEAD "\"a", "id,lower,upper,size,note\na,0,1,1,"};
    const size_t all = (size_t)MEG * (TIMES + 1);
    FILE *f = tmpfile();
    char *text = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *meg = memset(ac_alloc(cx->region, MEG), 'x', MEG);
    CHECK(f && text != MAP_FAILED && fwrite(meg, 1, MEG, f) == MEG && fflush(f) == 0);
    for (size_t i = 0; i < TIMES; i++)
        CHECK(mmap(text + (i + 1) * MEG, MEG, PROT_READ, MAP_PRIVATE | MAP_FIXED, fileno(f), 0) != MAP_FAILED);
    for (int k = 0; k < 3; k++) {
        char *from = text + MEG - strlen(BEFORE[k]);
        ac_problem p;
        int32_t mark = cx->diags.errors;
        memcpy(from, BEFORE[k], strlen(BEFORE[k]));
        CHECK(ac_problem_read_csv(cx, "wide.csv", from, (size_t)(text + all - from), false, &p) == AC_FAIL);
        CHECK(errors_since(cx, &mark) == 1 && cx->diags.last->code == E0015);
    }
    CHECK(ac_column(text, text) == 1 && ac_column(text, text + INT32_MAX - 1) == INT32_MAX);
    CHECK(ac_column(text, text + INT32_MAX) == 0); /* no column rather than a wrong one */
    munmap(text, all);
    fclose(f);
}

int main(void)
{
    static test *const ALL[] = {test_csv_round_trip, test_csv_forms,     test_csv_lines,
                                test_csv_errors,     test_csv_zero_byte, test_csv_wide};
    return run_tests("test_csv", ALL, sizeof ALL / sizeof *ALL);
}
