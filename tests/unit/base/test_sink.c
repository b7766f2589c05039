/* test_sink.c - text and bytes on their way out, JSON, and the sort that large inputs need. */
#include "base/json_out.h"
#include "base/radix.h"
#include "tests/unit/support/packing.h"

#include <sys/stat.h>
#include <unistd.h>

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
    s.n = 0;
    static const int64_t WHOLE[] = {0, 9, 10, -1, 1234567890123, INT64_MAX, INT64_MIN};
    for (size_t k = 0; k < sizeof WHOLE / sizeof *WHOLE; k++) {
        ac_put_int(&s, WHOLE[k]);
        ac_putc(&s, ' ');
    }
    CHECK(!strcmp(ac_sink_text(&s), "0 9 10 -1 1234567890123 9223372036854775807 -9223372036854775808 "));
    s.n = 0;
    ac_put(&s, "7 x");
    CHECK(!strcmp(ac_commas(cx, 1234567), "1,234,567") && !strcmp(ac_commas(cx, -100), "-100") &&
          !strcmp(ac_commas(cx, INT64_MIN), "-9,223,372,036,854,775,808"));
    CHECK(ac_sink_commit(&s, a) == AC_OK && !strcmp(slurp(cx, a), "7 x"));
    CHECK(ac_sink_commit(&s, "/dev/null") == AC_OK);
    CHECK(errors_since(cx, &mark) == 0);
    CHECK(ac_sink_commit(&s, "/dev/full") == AC_FAIL);
    CHECK(ac_sink_commit(&s, ac_strf(cx->region, "%s/no/such", dir)) == AC_FAIL);
    CHECK(ac_sink_commit(&s, dir) == AC_FAIL);
    CHECK(errors_since(cx, &mark) == 3 && cx->diags.last->code == E0302);

    /* Bytes added without a copy appear between the text before and after them. */
    s.n = 0;
    ac_put(&s, "ab");
    ac_put_lasting(&s, "cd", 2);
    ac_put(&s, "e");
    ac_put_lasting(&s, "f", 1);
    CHECK(ac_sink_size(&s) == 6 && ac_sink_commit(&s, a) == AC_OK && !strcmp(slurp(cx, a), "abcdef"));
    ac_sink_open(&s, cx);
    ac_put(&s, "7 x");
    CHECK(ac_sink_commit(&s, a) == AC_OK);

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

int main(void)
{
    static test *const ALL[] = {test_sink, test_json, test_radix};
    return run_tests("test_sink", ALL, sizeof ALL / sizeof *ALL);
}
