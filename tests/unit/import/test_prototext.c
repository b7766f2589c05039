/* test_prototext.c - protobuf's text format: values read, and the places of reported errors. */
#include "import/wire/prototext.h"
#include "tests/unit/support/expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(ac_ctx *cx, ac_pt *pt, const char *text)
{
    return ac_pt_parse(pt, cx, "t.prototxt", (ac_span){(const uint8_t *)text, strlen(text)});
}

static void test_values(ac_ctx *cx)
{
    ac_pt pt;
    int64_t i;
    uint64_t u;
    double d;
    bool b;
    const char *s;
    ac_span bytes;
    CHECK(parse(cx, &pt,
                "a: 1 a: -2, a: 0x1F; a: 017 # comment\n"
                "f: 1.5e-3f f: -inf f: nan f: -.25 f: - 7\n"
                "s: \"ab\\n\\x41\" 'c\"d' s: ''\n u: 18446744073709551615 w: MAX b: true b: 0\n"
                "m { x: 1 } m: < x: 2 > m [ { x: 3 }, { x: 4 y [] } ] l: [5, 6]; [a.b/c.D] { z: 1 }") == AC_OK);
    ac_pt_node *a = ac_pt_find(pt.root, "a");
    CHECK(ac_pt_int(&pt, a, 0, -10, 10, &i) == AC_OK && i == 1);
    a = ac_pt_again(a);
    CHECK(ac_pt_int(&pt, a, 0, -10, 10, &i) == AC_OK && i == -2);
    a = ac_pt_again(a);
    CHECK(ac_pt_int(&pt, a, 0, -100, 100, &i) == AC_OK && i == 31);
    CHECK(ac_pt_int(&pt, ac_pt_last(pt.root, "a"), 0, -100, 100, &i) == AC_OK && i == 15);
    CHECK(ac_pt_count(pt.root, "a") == 4 && ac_pt_count(pt.root, "none") == 0);
    ac_pt_node *f = ac_pt_find(pt.root, "f");
    CHECK(ac_pt_double(&pt, f, 0, &d) == AC_OK && d > 0.00149 && d < 0.00151);
    f = ac_pt_again(f);
    CHECK(ac_pt_double(&pt, f, 0, &d) == AC_OK && isinf(d) && d < 0);
    f = ac_pt_again(f);
    CHECK(ac_pt_double(&pt, f, 0, &d) == AC_OK && isnan(d));
    f = ac_pt_again(f);
    CHECK(ac_pt_double(&pt, f, 0, &d) == AC_OK && d > -0.2501 && d < -0.2499);
    f = ac_pt_again(f);
    CHECK(ac_pt_double(&pt, f, 0, &d) == AC_OK && d < -6.99);
    ac_pt_node *text = ac_pt_find(pt.root, "s");
    CHECK(ac_pt_bytes(&pt, text, &bytes) == AC_OK && bytes.n == 7 && !memcmp(bytes.p, "ab\nAc\"d", 7));
    CHECK(ac_pt_str(&pt, ac_pt_again(text), "x", &s) == AC_OK && !*s);
    CHECK(ac_pt_str(&pt, NULL, "x", &s) == AC_OK && !strcmp(s, "x"));
    CHECK(ac_pt_u64(&pt, ac_pt_find(pt.root, "u"), 0, &u) == AC_OK && u == UINT64_MAX);
    CHECK(ac_pt_word(&pt, ac_pt_find(pt.root, "w"), "", &s) == AC_OK && !strcmp(s, "MAX"));
    CHECK(ac_pt_bool(&pt, ac_pt_find(pt.root, "b"), false, &b) == AC_OK && b);
    CHECK(ac_pt_bool(&pt, ac_pt_last(pt.root, "b"), true, &b) == AC_OK && !b);
    CHECK(ac_pt_count(pt.root, "m") == 4 && ac_pt_count(pt.root, "l") == 2);
    ac_pt_node *m = ac_pt_last(pt.root, "m");
    CHECK(ac_pt_int(&pt, ac_pt_find(m, "x"), 0, 0, 9, &i) == AC_OK && i == 4);
    CHECK(ac_pt_find(pt.root, "[a.b/c.D]") && m->up == pt.root && m->line == 5);
    CHECK(cx->diags.errors == 0);
    CHECK(ac_pt_int(&pt, ac_pt_find(pt.root, "w"), 0, 0, 9, &i) == AC_FAIL);
    CHECK(ac_pt_int(&pt, ac_pt_find(pt.root, "u"), 0, 0, 9, &i) == AC_FAIL);
    CHECK(ac_pt_str(&pt, text, "", &s) == AC_FAIL); /* holds a newline */
    CHECK(cx->diags.errors == 3 && cx->diags.last->code == E0012 && cx->diags.last->at.line == 3);
}

static const struct {
    const char *text;
    ac_code code;
    int32_t line, col;
} BAD[] = {
    {"a", E0020, 1, 2},
    {"a 1", E0020, 1, 3},
    {"a: 1\nb: }", E0020, 2, 4},
    {"a: \"x\nb: 1", E0020, 1, 4},
    {"a {\n b { c: 1 }\n", E0010, 1, 1},
    {"a: 1 }", E0020, 1, 6},
    {"a { >", E0020, 1, 5},
    {"a: [1 2]", E0020, 1, 7},
    {"a: [1, ", E0020, 1, 8},
    {"a: [{ b: 1 },", E0020, 1, 14},
    {"\n\n  ? : 1", E0020, 3, 3},
    {"[a.b : 1", E0020, 1, 1},
    {"a: \"\\", E0020, 1, 4},
};

static void test_bad(ac_ctx *cx)
{
    for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++) {
        ac_pt pt;
        cx->diags = (ac_diags){.limit = 0};
        CHECK(parse(cx, &pt, BAD[k].text) == AC_FAIL);
        const ac_diag *d = cx->diags.last;
        if (!d || d->code != BAD[k].code || d->at.line != BAD[k].line || d->at.col != BAD[k].col) {
            printf("case %zu: %s at %d:%d\n", k, d ? ac_code_name(d->code) : "nothing", d ? d->at.line : 0,
                   d ? d->at.col : 0);
            failures++;
        }
    }
}

/* Deep nesting is refused without recursion, in every way to nest. */
static void test_deep(ac_ctx *cx)
{
    static const char *const WAY[] = {"a{", "a<", "a:[{", "a { b: 1 "};
    for (size_t w = 0; w < sizeof WAY / sizeof *WAY; w++) {
        enum { TIMES = 200000 };
        const size_t n = strlen(WAY[w]);
        char *text = ac_alloc(cx->region, n * TIMES + 1);
        for (size_t i = 0; i < TIMES; i++)
            memcpy(text + i * n, WAY[w], n);
        ac_pt pt;
        cx->diags = (ac_diags){.limit = 0};
        CHECK(parse(cx, &pt, text) == AC_FAIL && cx->diags.last->code == E0014);
    }
}

int main(void)
{
    ac_ctx cx;
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    test_values(&cx);
    test_bad(&cx);
    test_deep(&cx);
    ac_ctx_close(&cx);
    return check_done();
}
