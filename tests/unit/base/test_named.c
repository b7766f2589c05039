/* test_named.c - a word of the command line finds the tensor that a report calls so. */
#include "base/text/named.h"
#include "base/random.h"
#include "planner/report/names.h"
#include "tests/unit/support/packing.h"

static const char *const NAMES[] = {
    "image",    "net/a_1/Relu6;net/a_bn/add;net/a/conv", "net/a_2/Relu6;net/a_bn_2/add", "a", "net/pool", "pool",
    "net/pool",
};
enum { N = sizeof NAMES / sizeof *NAMES };

static void test_parts(ac_ctx *cx)
{
    static const struct {
        const char *word;
        int32_t index;
    } CASES[] = {
        {"image", 0},   {"mage", -1},        {"", -1},
        {"/", -1},      {"a_1", 1},          {"a_1/Relu6", 1},
        {"a_bn", 1},    {"a_bn/add;net", 1}, {"net/a_bn_2/add", 2},
        {"Relu6", -1},  {"net", -1},         {"a", 3}, /* a whole name goes first */
        {"pool", 5},    {"net/pool", 4},     {"a_1/Relu", -1},
        {"t/pool", -1}, {"conv", 1},
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++)
        CHECK(ac_named(CASES[k].word, NAMES, N) == CASES[k].index);
    CHECK(ac_named("pool", (const char *const[]){"net/pool", "net/pool"}, 2) == 0); /* equal names are one */
    (void)cx;
}

static void test_help(ac_ctx *cx)
{
    ac_error(cx, (ac_place){0}, E0501, "x");
    CHECK(ac_named_help(cx, "Relu6", NAMES, N) == AC_FAIL);
    const ac_diag_line *l = cx->diags.first->line;
    CHECK(l && !strcmp(l->text, "'Relu6' is part of 'net/a_1/Relu6;net/a_bn/add;net/a/conv'"));
    CHECK(l->next && !strcmp(l->next->text, "'Relu6' is part of 'net/a_2/Relu6;net/a_bn_2/add'"));
    CHECK(l->next->next && strstr(l->next->next->text, "write more of the name"));
}

/* The name in a report finds the original, for any names. */
static void test_short_names(ac_ctx *cx)
{
    enum { ROUNDS = 200, MOST = 30 };
    uint64_t r = 7;
    for (int round = 0; round < ROUNDS; round++) {
        const char *name[MOST];
        const int32_t n = 1 + (int32_t)ac_random(&r, MOST);
        for (int32_t i = 0; i < n; i++) {
            name[i] = "";
            for (int32_t k = 1 + (int32_t)ac_random(&r, 8); k > 0; k--)
                name[i] = ac_strf(cx->region, "%s%s%s", name[i],
                                  !*name[i]          ? ""
                                  : ac_random(&r, 4) ? "/"
                                                     : ";",
                                  ac_strf(cx->region, "part%d", (int)ac_random(&r, 6)));
        }
        const ac_name_list *names = ac_names_new(cx, name, n);
        for (int32_t i = 0; i < n; i++) {
            const int32_t found = ac_named(ac_name_short(names, name[i]), name, n);
            CHECK(found >= 0 && !strcmp(name[found], name[i]));
        }
    }
}

int main(void)
{
    static test *const ALL[] = {test_parts, test_help, test_short_names};
    return run_tests("test_named", ALL, sizeof ALL / sizeof *ALL);
}
