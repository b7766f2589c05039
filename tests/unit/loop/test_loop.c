/* test_loop.c - the loop IR on fixed cases: the builder, the verifier's answers to planted faults, syntax errors,
 * reports of accesses outside of a buffer, and docs/loop-ir.md. Random programs are in test_loop_programs.c. */
#include "tests/unit/support/loop_text.h"
#include "ir/loop/eval/eval.h"

/* ---- the builder ---- */

static void test_builder(void)
{
    fresh();
    ac_lb b;
    ac_lb_open(&b, cx.region, "builder", NULL);
    int32_t x = ac_lb_buf(&b, "x", AC_F32, 8, AC_BUF_IN, 4, NULL),
            y = ac_lb_buf(&b, "x", AC_F32, 8, AC_BUF_OUT, 4, NULL);
    int32_t k = ac_lb_buf(&b, "for", AC_F32, 8, AC_BUF_CONST, 4, NULL);
    CHECK(!strcmp(b.fn->buf.item[y].name, "x_1") && !strcmp(b.fn->buf.item[k].name, "for_"));
    ac_x zero = ac_lb_i32(&b, 0), one = ac_lb_i32(&b, 1), v = ac_lb_load(&b, x, zero, 1),
         w = ac_lb_load(&b, k, zero, 1);
    CHECK(ac_lb_add(&b, one, one) == ac_lb_i32(&b, 2));
    CHECK(ac_lb_load(&b, x, zero, 1) == v);
    CHECK(ac_lb_mul(&b, v, ac_lb_f32(&b, 1)) == v && ac_lb_add(&b, v, ac_lb_f32(&b, 0)) != v &&
          ac_lb_add(&b, v, ac_lb_f32(&b, -0.0)) == v);
    CHECK(ac_lb_cast(&b, v, AC_F32) == v && ac_lb_splat(&b, v, 1) == v);
    CHECK(ac_lb_lane(&b, ac_lb_splat(&b, v, 4), 2) == v);
    ac_lb_store(&b, y, zero, v);
    CHECK(ac_lb_load(&b, x, zero, 1) != v &&
          ac_lb_load(&b, k, zero, 1) == w); /* x and x_1 may overlap, constants not */
    ac_x var = ac_lb_var(&b, "acc", v), dead = ac_lb_var(&b, "acc", v);
    ac_x before = ac_lb_get(&b, var);
    CHECK(ac_lb_get(&b, var) == before);
    CHECK(!strcmp(b.fn->code.item[dead].name, "acc_1"));
    ac_lb_set(&b, dead, ac_lb_add(&b, before, before));
    ac_x i = ac_lb_for_n(&b, "i", 1);
    CHECK(i == ac_lb_i32(&b, 0));
    ac_lb_end(&b);
    ac_x outer = ac_lb_for_n(&b, "i", 3);
    CHECK(ac_lb_get(&b, var) != before);
    ac_x inner = ac_lb_for_n(&b, "i", 3);
    CHECK(!strcmp(b.fn->code.item[outer].name, "i") && !strcmp(b.fn->code.item[inner].name, "i_1"));
    ac_lb_set(&b, var, ac_lb_add(&b, ac_lb_get(&b, var), ac_lb_load(&b, x, inner, 1)));
    ac_lb_end(&b);
    ac_lb_end(&b);
    ac_x again = ac_lb_for_n(&b, "i", 0);
    CHECK(!strcmp(b.fn->code.item[again].name, "i"));
    ac_lb_store(&b, y, ac_lb_i32(&b, 99), ac_lb_get(&b, var)); /* never runs, is not there */
    ac_lb_end(&b);
    ac_lb_if(&b, ac_lb_lt(&b, one, zero));
    ac_lb_store(&b, y, ac_lb_i32(&b, 99), ac_lb_get(&b, var));
    ac_lb_else(&b);
    ac_lb_store(&b, y, one, ac_lb_get(&b, var));
    ac_lb_end(&b);
    ac_lb_if(&b, ac_lb_lt(&b, ac_lb_get(&b, var), v));
    ac_lb_end(&b);
    ac_loop_fn *fn = ac_lb_close(&b);
    CHECK(ac_loop_verify(&cx, fn) == AC_OK);
    int32_t blocks = 0;
    for (int32_t n = 1; n < fn->code.n; n++) {
        blocks += ac_lop_class((ac_lop)fn->code.item[n].op) == 'O';
        CHECK(!fn->code.item[n].name || strcmp(fn->code.item[n].name, "acc_1") != 0);
    }
    CHECK(blocks == 2);
    float in[8] = {1, 2, 3}, out[8] = {0}, none[8] = {0};
    int status = 1;
    CHECK(ac_eval(&cx, fn, (void *[]){in, out, none}, 3, &status) == AC_OK && status == 0);
    CHECK(out[0] == 1 && out[1] == 1 + 3 * (1 + 2 + 3));
}

/* A loop of one iteration that is left early stays a loop. */
static void test_break_once(void)
{
    fresh();
    ac_lb b;
    ac_lb_open(&b, cx.region, "once", NULL);
    int32_t y = ac_lb_buf(&b, "y", AC_I32, 4, AC_BUF_INOUT, 4, NULL);
    ac_x o = ac_lb_for_n(&b, "o", 3);
    ac_lb_for_n(&b, "i", 1);
    ac_x v = ac_lb_load(&b, y, o, 1);
    ac_lb_break_if(&b, ac_lb_eq(&b, v, ac_lb_i32(&b, 7)));
    ac_lb_store(&b, y, o, ac_lb_add(&b, v, ac_lb_i32(&b, 1)));
    ac_lb_end(&b);
    ac_lb_end(&b);
    ac_lb_fail_if(&b, ac_lb_eq(&b, ac_lb_load(&b, y, ac_lb_i32(&b, 3), 1), ac_lb_i32(&b, 5)), 4);
    ac_loop_fn *fn = ac_lb_close(&b);
    CHECK(fn->fails);
    int32_t data[4] = {1, 7, 3, 5};
    int status = 0;
    CHECK(ac_eval(&cx, fn, (void *[]){data}, 1, &status) == AC_OK && status == 4);
    CHECK(data[0] == 2 && data[1] == 7 && data[2] == 4);
}

/* The result does not depend on the order of evaluation of arguments. */
static void test_order(void)
{
    const char *text[2];
    fresh();
    for (int k = 0; k < 2; k++) {
        ac_lb b;
        ac_lb_open(&b, cx.region, "order", NULL);
        int32_t x = ac_lb_buf(&b, "x", AC_F32, 8, AC_BUF_IN, 4, NULL),
                y = ac_lb_buf(&b, "y", AC_F32, 8, AC_BUF_OUT, 4, NULL);
        ac_x i = ac_lb_for_n(&b, "i", 4), p, q, at;
        if (k) {
            at = ac_lb_mul(&b, i, ac_lb_i32(&b, 2));
            q = ac_lb_load(&b, x, ac_lb_i32(&b, 3), 1);
            p = ac_lb_load(&b, x, i, 1);
        } else {
            p = ac_lb_load(&b, x, i, 1);
            q = ac_lb_load(&b, x, ac_lb_i32(&b, 3), 1);
            at = ac_lb_mul(&b, i, ac_lb_i32(&b, 2));
        }
        ac_lb_store(&b, y, at, ac_lb_mul(&b, p, q));
        ac_lb_end(&b);
        text[k] = dump(ac_lb_close(&b));
    }
    CHECK(!strcmp(text[0], text[1]));
}

/* ---- faults ---- */

static const ac_loop_fn *parse(const char *text)
{
    ac_loop_fn *fn = NULL;
    fresh();
    if (ac_loop_read(&cx, "text", text, strlen(text), &fn) != AC_OK) {
        ac_diags_print(&cx.diags, stdout, false);
        return NULL;
    }
    return fn;
}

#define HEAD "fn f\nbuf x in f32 8 align 4\nbuf y out f32 8 align 4\n"

static const struct {
    const char *text, *says; /* message NULL: no fault */
} FAULTS[] = {
    {HEAD "%1 = const i32 0 %2 = load f32 x[%1] store y[%1] %2", NULL},
    {HEAD "%1 = const i32 0 %2 = const i32 4 %3 = for i32 %1 .. %2 step 1 %4 = add i32 %3 %1 end %6 = add i32 %4 %1",
     "closed"},
    {HEAD "%1 = const i32 0 %2 = const i32 4 %3 = for i32 %1 .. %2 step 1 end %5 = add i32 %3 %1",
     "outside of its loop"},
    {HEAD "%1 = const bool 1 if %1 %3 = const i32 1 else %5 = add i32 %3 %3 end", "closed"},
    {HEAD "%1 = const i32 0 %2 = load f32 x[%1] %3 = add f32 %2 %1", "operand b is i32"},
    {HEAD "%1 = const i32 0 %2 = load f32x4 x[%1] %3 = const f32 1 %4 = mul f32x4 %2 %3", "expected f32x4"},
    {HEAD "%1 = const i32 8 %2 = load f32 x[%1]", "outside of buffer 'x'"},
    {HEAD "%1 = const i32 5 %2 = load f32x4 x[%1]", "elements 5..8 are outside"},
    {HEAD "%1 = const i32 -1 %2 = const f32 0 store y[%1] %2", "outside of buffer 'y'"},
    {HEAD "%1 = const i32 0 %2 = const f32 0 store x[%1] %2", "read-only"},
    {HEAD "%1 = const i32 0 %2 = const i32 0 store y[%1] %2", "accessed as i32"},
    {HEAD "%1 = const i32 0 %2 = load i8 x[%1]", "accessed as i8"},
    {HEAD "%1 = const f32 0 %2 = load f32 x[%1]", "index is f32"},
    {HEAD "%1 = const bool 1 if %1", "not closed"},
    {HEAD "end", "without for or if"},
    {HEAD "%1 = const bool 1 if %1 else else end", "without if"},
    {HEAD "%1 = const bool 1 break_if %1", "outside of any loop"},
    {HEAD "%1 = const i32 0 %2 = for i32 %1 .. %1 step 0 end", "step 0"},
    {HEAD "%1 = const i32 1 if %1 end", "condition is i32"},
    {HEAD "%1 = const f32 1 %2 = and f32 %1 %1", "does not exist for f32"},
    {HEAD "%1 = const f16 1 %2 = add f16 %1 %1", "does not exist for f16"},
    {HEAD "%1 = const f32 1 %2 = get f32 %1", "not a variable"},
    {HEAD "%1 = const f32 1 %2 = var f32 %1 %3 = const i32 1 set %3 to %2", "is f32, not i32"},
    {HEAD "%1 = const f32 1 store y[%1] %1", "index is f32"},
    {HEAD "%1 = const f32x4 1 %2 = lane f32 %1 at 4", "lane 4 of 4"},
    {HEAD "%1 = const f32x4 1 %2 = shuffle f32x2 %1 [ 1 4 ]", "takes element 4 of 4"},
    {HEAD "%1 = const f32x4 1 %2 = bitcast f64x4 %1", "differ in size"},
    {HEAD "%1 = const f32x3 1 %2 = sumlanes f32 %1", "cannot be halved"},
    {HEAD "%1 = const i8x8 1 %2 = const i32x4 1 %3 = dot4 i32x4 %1 %1 %2", "expected i8x16"},
    {HEAD "%1 = const f32 1 %2 = cast f32x4 %1", "1 lanes become 4"},
    {HEAD "%1 = const f32 1 %2 = satcast f64 %1", "no conversion"},
    {HEAD "%1 = const f32 1 %2 = lt f32 %1 %1", "result is f32"},
    {HEAD "%1 = const i4 1", "do not compute with"},
    {"fn f buf x local f32 2000 align 4", "larger than 4 KiB"},
    {"fn f buf x local f32 2 align 4 buf y in f32 2 align 4", "after a local"},
};

static void check_fault(int32_t k)
{
    const char *says = FAULTS[k].says;
    const ac_loop_fn *fn = parse(FAULTS[k].text);
    CHECK(fn);
    if (!fn)
        return;
    const bool valid = ac_loop_verify(&cx, fn) == AC_OK;
    bool found = !says;
    for (const ac_diag *d = cx.diags.first; d; d = d->next)
        found |= says && strstr(d->text, says) && d->code == E0901;
    if (valid != !says || !found) {
        printf("case %d, expected \"%s\":\n", (int)k, says ? says : "no fault");
        ac_diags_print(&cx.diags, stdout, false);
        FAILED("the verifier finds the planted fault");
    }
    CHECK((ac_eval_compile(&cx, cx.region, fn) == NULL) == (says != NULL));
}

/* Any byte as an instruction kind is answered, not run. */
static void test_unknown_kinds(void)
{
    const ac_loop_fn *fn = parse(HEAD "%1 = const i32 0 %2 = load f32 x[%1] store y[%1] %2");
    for (int32_t op = 0; fn && op < 256; op++) {
        fn->code.item[2].op = (uint8_t)op;
        fn->code.item[2].a = op % 5;
        ac_loop_verify(&cx, fn);
    }
}

static void test_verify(void)
{
    for (size_t k = 0; k < sizeof FAULTS / sizeof *FAULTS; k++)
        check_fault((int32_t)k);
    test_unknown_kinds();
}

static void test_syntax(void)
{
    static const char *const BAD[] = {"",
                                      "fn",
                                      "fn f bug",
                                      "fn f buf x in f33 8 align 4",
                                      "fn f %1 = const i8 200",
                                      "fn f %2 = const i32 0",
                                      "fn f %1 = add i32 %1 %1",
                                      "fn f %1 = const i32 0 %2 = load f32 x[%1]",
                                      "fn f %1 = constv i32x2 [ 1 ]",
                                      "fn f %1 = const i32",
                                      "fn f %1 = const i32x5000 0",
                                      "fn f store",
                                      "fn f %1 = end",
                                      "fn f \"unterminated"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        fresh();
        ac_loop_fn *fn = NULL;
        int rc = ac_loop_read(&cx, "bad.loop", BAD[i], strlen(BAD[i]), &fn);
        bool last = i + 1 == sizeof BAD / sizeof *BAD; /* a note may end with the text */
        CHECK(last ? rc == AC_OK : rc == AC_FAIL && cx.diags.first->code == E0020 && cx.diags.first->at.line == 1);
    }
}

static void test_faults_at_run_time(void)
{
    static const char *const TEXT[] = {
        HEAD "%1 = const i32 0 %2 = const i32 9 %3 = for i32 %1 .. %2 step 1 %4 = load f32 x[%3] store y[%1] %4 end",
        HEAD "%1 = const i32 0 %2 = const i32 9 %3 = for i32 %1 .. %2 step 1 %4 = const f32 0 store y[%3] %4 end",
        HEAD "%1 = const i32 -1 %2 = const i32 4 %3 = for i32 %2 .. %1 step -2 %4 = const i32 -2 %5 = add i32 %3 %4 %6 "
             "= load f32x4 x[%5] store y[%1] %6 end",
        "fn f buf x in i32 1 align 4 buf y out i32 1 align 4 %1 = const i32 0 %2 = load i32 x[%1] %3 = div i32 %2 %2 "
        "store y[%1] %3",
        "fn f buf x in i32 1 align 4 buf y out i32 1 align 4 %1 = const i32 0 %2 = load i32 x[%1] %3 = splat i32x4 %2 "
        "%4 = mod i32x4 %3 %3 %5 = lane i32 %4 at 2 store y[%1] %5",
        "fn f buf x in i8 1 align 1 buf y out i32 1 align 4 %1 = const i32 0 %2 = load i8 x[%1] %3 = cast i32 %2 %4 = "
        "const i32 1 %5 = add i32 %3 %4 %6 = load i8 x[%5] %7 = cast i32 %6 store y[%1] %7"};
    static const char *const SAYS[] = {
        "reads elements 8..8 of buffer 'x'", "writes elements 8..8 of buffer 'y'", NULL,
        "divides an integer by zero",        "divides an integer by zero",         "reads elements 1..1 of buffer 'x'"};
    for (int i = 0; i < 6; i++) {
        const ac_loop_fn *fn = parse(TEXT[i]);
        CHECK(fn);
        char x[64] = {0}, y[64] = {0};
        int status = 0;
        bool ok = fn && ac_eval(&cx, fn, (void *[]){x, y}, 2, &status) == AC_OK;
        CHECK(!ok && cx.diags.first && cx.diags.first->code == E0901);
        if (SAYS[i] && cx.diags.first && !strstr(cx.diags.first->text, SAYS[i])) {
            ac_diags_print(&cx.diags, stdout, false);
            FAILED("the report names function, buffer and elements");
        }
    }
    const ac_loop_fn *fn = parse(HEAD);
    CHECK(ac_eval(&cx, fn, (void *[]){NULL}, 1, NULL) == AC_FAIL); /* two parameters, one given */
}

/* ---- loops that only move elements ---- */

/* Two moves in an iteration, the second inside of y: the result depends on the order of moves. Compared with plain
 * C. */
static void one_copy(const int32_t v[8])
{
    enum { N = 64 };
    const int32_t lo = v[0], hi = lo + v[1], step = v[2];
    char text[800];
    snprintf(text, sizeof text,
             "fn f buf x in f32 64 align 4 buf y out f32 64 align 4 %%1 = const i32 %d %%2 = const i32 %d %%3 = const "
             "i32 %d %%4 = const i32 %d %%5 = const i32 %d %%6 = const i32 %d %%7 = const i32 %d %%8 = for i32 %%1 .. "
             "%%2 step %d %%9 = mul i32 %%8 %%3 %%10 = add i32 %%9 %%4 %%11 = load f32 x[%%10] %%12 = mul i32 %%8 %%5 "
             "%%13 = add i32 %%6 %%12 store y[%%13] %%11 %%15 = add i32 %%8 %%7 %%16 = load f32 y[%%15] %%17 = add i32 "
             "%%15 %%15 store y[%%17] %%16 end",
             lo, hi, v[3], v[4], v[5], v[6], v[7], step);
    const ac_loop_fn *fn = parse(text);
    CHECK(fn);
    float x[N], y[N], want[N];
    bool inside = true;
    for (int32_t i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = want[i] = (float)(1000 + i);
    }
    for (int32_t i = lo; i < hi; i += step) {
        const int32_t a = i * v[3] + v[4], b = v[6] + i * v[5], c = i + v[7];
        inside &= a >= 0 && a < N && b >= 0 && b < N && c >= 0 && 2 * c < N;
        if (!inside)
            break;
        want[b] = x[a];
        want[2 * c] = want[c];
    }
    int status = 0;
    const bool ok = fn && ac_eval(&cx, fn, (void *[]){x, y}, 2, &status) == AC_OK;
    CHECK(ok == inside);
    CHECK(!ok || !memcmp(y, want, sizeof y));
    CHECK(ok || (cx.diags.first && strstr(cx.diags.first->text, " elements ")));
}

static void test_copies(void)
{
    uint32_t seed = 7;
    for (int32_t k = 0; k < 400; k++) {
        static const int32_t MOST[] = {4, 9, 3, 4, 40, 4, 40, 12};
        int32_t v[8];
        for (int32_t i = 0; i < 8; i++) {
            seed = seed * 1664525u + 1013904223u;
            v[i] = (int32_t)(seed >> 16) % MOST[i];
        }
        v[2]++;
        v[3] -= 1;
        v[5] -= 1;
        one_copy(v);
    }
}

/* 1 to 4 elements or vectors of a type in an iteration, from x or inside of y, each with steps of its own or all with
 * the same. */
static void some_pairs(const char *type, size_t size, int32_t lanes, int32_t n, bool inside, bool together,
                       uint32_t seed)
{
    enum { N = 256, TIMES = 13 };
    static unsigned char x[N * 8], y[N * 8], want[N * 8];
    char text[2000], many[16];
    snprintf(many, sizeof many, lanes > 1 ? "%sx%d" : "%s", type, lanes);
    int32_t from[4], f_step[4], to[4], o_step[4], v = 3;
    int at = snprintf(text, sizeof text,
                      "fn f buf x in %s %d align 4 buf y out %s %d align 4 %%1 = const i32 0 %%2 = const i32 %d ", type,
                      N, type, N, TIMES);
    for (int32_t k = 0; k < n; k++) {
        int32_t *const of[] = {&from[k], &f_step[k], &to[k], &o_step[k]};
        for (int32_t i = 0; i < 4; i++) {
            seed = seed * 1664525u + 1013904223u;
            *of[i] = i % 2 && k && together ? (i == 1 ? *f_step : *o_step) : (int32_t)(seed >> 16) % (i % 2 ? 4 : 60);
            at += snprintf(text + at, sizeof text - (size_t)at, "%%%d = const i32 %d ", v++, *of[i]);
        }
    }
    const int32_t loop = v++;
    at += snprintf(text + at, sizeof text - (size_t)at, "%%%d = for i32 %%1 .. %%2 step 1 ", loop);
    for (int32_t k = 0; k < n; k++, v += 6) {
        const int32_t c = 3 + 4 * k;
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "%%%d = mul i32 %%%d %%%d %%%d = add i32 %%%d %%%d %%%d = load %s %s[%%%d] %%%d = mul i32 %%%d "
                       "%%%d %%%d = add i32 %%%d %%%d store y[%%%d] %%%d ",
                       v, loop, c + 1, v + 1, v, c, v + 2, many, inside ? "y" : "x", v + 1, v + 3, loop, c + 3, v + 4,
                       v + 3, c + 2, v + 4, v + 2);
    }
    snprintf(text + at, sizeof text - (size_t)at, "end");
    for (size_t i = 0; i < sizeof x; i++) {
        x[i] = (unsigned char)(i * 7 + i / 256);
        y[i] = want[i] = (unsigned char)(i * 11 + i / 100);
    }
    for (int32_t i = 0; i < TIMES; i++)
        for (int32_t k = 0; k < n; k++)
            memmove(want + (size_t)(to[k] + i * o_step[k]) * size,
                    (inside ? want : x) + (size_t)(from[k] + i * f_step[k]) * size, size * (size_t)lanes);
    const ac_loop_fn *fn = parse(text);
    CHECK(fn && ac_eval(&cx, fn, (void *[]){x, y}, 2, NULL) == AC_OK);
    CHECK(!memcmp(y, want, sizeof y));
}

static void test_pairs(void)
{
    static const struct {
        const char *type;
        size_t size;
        int32_t lanes;
    } OF[] = {{"i8", 1, 1},  {"i16", 2, 1},  {"f32", 4, 1},  {"f64", 8, 1}, {"i8", 1, 16},
              {"i8", 1, 32}, {"f32", 4, 16}, {"f64", 8, 16}, {"i8", 1, 3}};
    for (size_t t = 0; t < sizeof OF / sizeof *OF; t++)
        for (int32_t n = 1; n <= 4; n++)
            for (uint32_t k = 0; k < 40; k++)
                some_pairs(OF[t].type, OF[t].size, OF[t].lanes, n, k & 1, k & 2, 1000 * k + (uint32_t)n);
}

/* Loops of more iterations than files rest after are the same, by moves and by arithmetic. */
static void test_large(void)
{
    const ac_loop_fn *fn = parse("fn f buf x in i32 4 align 4 buf y out i32 4 align 4 %1 = const i32 0 "
                                 "%2 = const i32 9000000 %3 = const i32 1 %4 = for i32 %1 .. %2 step 1 "
                                 "%5 = load i32 x[%1] store y[%3] %5 end %8 = for i32 %1 .. %2 step 1 "
                                 "%9 = load i32 y[%1] %10 = add i32 %9 %3 store y[%1] %10 end");
    int32_t x[4] = {7}, y[4] = {0};
    CHECK(fn && ac_eval_large(&cx, fn, (void *[]){x, y}, 2, NULL) == AC_OK);
    CHECK(y[0] == 9000000 && y[1] == 7);
}

/* ---- the page ---- */

static void test_page(void)
{
    FILE *f = fopen(SOURCE_DIR "/docs/loop-ir.md", "rb");
    CHECK(f);
    if (!f)
        return;
    static char page[1 << 16];
    size_t n = fread(page, 1, sizeof page - 1, f);
    fclose(f);
    page[n] = 0;
    static const char *const ROWS[] = {
#define LOP(id, text, cls, abc, meaning) "| `" text "` |",
#include "ir/loop/loop.def"
#undef LOP
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (!strstr(page, ROWS[i])) {
            printf("docs/loop-ir.md has no row %s\n", ROWS[i]);
            FAILED("the page lists every kind");
        }
    char *example = strstr(page, "```\nfn "), *end = example ? strstr(example + 4, "```") : NULL;
    CHECK(example && end);
    if (!end)
        return;
    *end = 0;
    const ac_loop_fn *fn = parse(example + 4);
    CHECK(fn && ac_loop_verify(&cx, fn) == AC_OK && reread(fn));
    if (fn && strcmp(example + 4, dump(fn)) != 0) {
        puts(dump(fn));
        FAILED("the example is what the dump prints");
    }
}

int main(void)
{
    test_builder();
    test_break_once();
    test_order();
    test_verify();
    test_syntax();
    test_faults_at_run_time();
    test_copies();
    test_pairs();
    test_large();
    test_page();
    ac_ctx_close(&cx);
    return check_done();
}
