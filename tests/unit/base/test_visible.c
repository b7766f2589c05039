/* test_visible.c - invisible characters in names, and how they are shown. */
#include "base/visible.h"
#include "tests/unit/support/packing.h"

static void test_visible(ac_ctx *cx)
{
    static const struct {
        const char *name, *shown;
    } CASES[] = {
        {"", ""},
        {"conv/1:0 ~", "conv/1:0 ~"},
        {"a\tb", "a\tb"},
        {"\x01 \x1f\x7f", "<U+0001> <U+001F><U+007F>"},
        {"a\xe2\x80\xae"
         "b",
         "a<U+202E>b"},
        {"\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c\xe2\x80\x8f", "<U+2066><U+2069><U+061C><U+200F>"},
        {"\xe2\x80\xa8\xe2\x80\x8b\xef\xbb\xbf", "<U+2028><U+200B><U+FEFF>"},
        {"\xc2\x9b\xc2\xa0", "<U+009B>\xc2\xa0"},
        {"gr\xc3\xb6\xc3\x9f"
         "e \xe5\xb1\x82 \xf0\x9f\x98\x80",
         "gr\xc3\xb6\xc3\x9f"
         "e \xe5\xb1\x82 \xf0\x9f\x98\x80"},
        {"\xff\xc3(\xc0\x80\xed\xa0\x80\xe2\x80", "<FF><C3>(<C0><80><ED><A0><80><E2><80>"},
        {"\xf4\x90\x80\x80\xf0\x9f", "<F4><90><80><80><F0><9F>"},
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        const char *shown = ac_visible(cx->region, CASES[k].name);
        CHECK(!strcmp(shown, CASES[k].shown));
        CHECK(!strcmp(ac_visible(cx->region, shown), shown));
        char *same = ac_strdup(cx->region, CASES[k].name);
        ac_hide(same);
        CHECK(strlen(same) == strlen(CASES[k].name));
        uint32_t code;
        for (const char *p = same; *p; p++)
            CHECK(ac_utf8_length(p) == 0 || ac_hidden(p, &code) == 0);
        CHECK(!strchr(ac_visible(cx->region, same), '<'));
    }
}

/* Every sequence of up to four bytes of a few that matter is shown without any that hide. */
static void test_visible_random(ac_ctx *cx)
{
    static const unsigned char BYTES[] = {0x1b, 'a', 0x80, 0xae, 0xa6, 0xbf, 0xc2, 0xe2, 0x81, 0xed, 0xf0, 0xf4, 0xff};
    enum { N = sizeof BYTES, ALL = N * N * N * N };
    ac_region *tmp = NULL;
    for (int k = 0; k < ALL; k++) {
        if (k % N == 0) {
            ac_region_close(tmp);
            tmp = ac_region_open(&cx->heap);
        }
        uint32_t code;
        char s[5] = {(char)BYTES[k % N], (char)BYTES[k / N % N], (char)BYTES[k / N / N % N],
                     (char)BYTES[k / N / N / N]};
        const char *shown = ac_visible(tmp, s);
        int n = 1;
        for (const char *p = shown; *p && n; p += n)
            n = ac_hidden(p, &code) ? 0 : ac_utf8_length(p);
        CHECK(n);
    }
    ac_region_close(tmp);
}

/* Every character is read as it was written; surrogates and numbers from 0x110000 on are not written. */
static void test_utf8(ac_ctx *cx)
{
    int wrong = 0;
    (void)cx;
    for (uint32_t c = 1; c < 0x110100; c++) {
        char s[5] = {0};
        uint32_t back = 0;
        const int n = ac_utf8_put(s, c);
        const bool is = c < 0xd800 || (c > 0xdfff && c < 0x110000);
        wrong += is ? n != (int)strlen(s) || ac_utf8_get(s, &back) != n || back != c : n != 0;
    }
    CHECK(wrong == 0);
}

/* Names of 200 bytes are whole, longer ones are cut at a character, in quotes with their blanks. */
static void test_brief(ac_ctx *cx)
{
    static const struct {
        int n; /* of the letter, or of "\xc3\xa4 " */
        const char *before, *letter, *after;
        size_t shown; /* bytes of the name */
    } CASES[] = {{200, "node '", "x", "' has it", 200},
                 {201, "node '", "x", "' has it", 200},
                 {90000, "equation ", "ij,", " is long", 200},
                 {70, "'", "\xc3\xa4 ", "'", 200},
                 {69, "the model's '", "a'b ", "': 'y'", 200},
                 {100, "", "\xc3\xa4", "", 200},
                 {101, "", "\xc3\xa4", "", 200}};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        char *name = ac_strdup(cx->region, "");
        for (int i = 0; i < CASES[k].n && strlen(name) < 2000; i++)
            name = ac_strf(cx->region, "%s%s", name, CASES[k].letter);
        const char *s = ac_brief(cx->region, ac_strf(cx->region, "%s%s%s", CASES[k].before, name, CASES[k].after));
        const size_t before = strlen(CASES[k].before), after = strlen(CASES[k].after), n = strlen(s) - before - after;
        CHECK(!strncmp(s, CASES[k].before, before) && !strcmp(s + before + n, CASES[k].after));
        CHECK(n <= CASES[k].shown && n + 4 > CASES[k].shown);
        CHECK(ac_visible(cx->region, s) == s || !strstr(ac_visible(cx->region, s), "<"));
        CHECK(strlen(ac_brief_name(cx->region, name)) <= 200);
    }
    CHECK(!strcmp(ac_brief(cx->region, "short 'name'"), "short 'name'"));
}

int main(void)
{
    static test *const ALL[] = {test_visible, test_visible_random, test_utf8, test_brief};
    return run_tests("test_visible", ALL, sizeof ALL / sizeof *ALL);
}
