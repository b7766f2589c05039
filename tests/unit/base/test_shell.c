/* test_shell.c - words of suggested command lines reach a program as they were, whatever a name has in it. */
#include "base/shell.h"
#include "tests/unit/support/expect.h"

#include <string.h>

static ac_ctx cx;

/* sh passes the word on as it was. */
static void same_word(const char *word)
{
    char line[400], back[200];
    snprintf(line, sizeof line, "printf %%s %s", ac_shell_word(&cx, word));
    FILE *f = popen(line, "r");
    MUST(f);
    const size_t n = fread(back, 1, sizeof back - 1, f);
    back[n] = 0;
    now = word;
    CHECK(pclose(f) == 0 && !strcmp(back, word));
}

int main(void)
{
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    same_word("batch size");
    same_word("floor(N/2) + 1");
    same_word("it's \"$HOME\" `id`; ? * [x] \\ # ! ~ {a,b} <&|>");
    same_word("");
    same_word("~");
    same_word("a\nb");
    CHECK(!strcmp(ac_shell_word(&cx, "serving_default:0"), "serving_default:0"));
    CHECK(!strcmp(ac_shell_set(&cx, "batch size", "N"), "'batch size=N'"));
    CHECK(!strcmp(ac_shell_set(&cx, "n", "4"), "n=4"));
    ac_ctx_close(&cx);
    return check_done();
}
