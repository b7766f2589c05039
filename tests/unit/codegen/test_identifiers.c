/* test_identifiers.c - names of C: valid, none twice in a scope, none that begins as the model's own. */
#include "codegen/c/identifiers.h"
#include "tests/unit/support/in_context.h"

#include <string.h>

/* Every base again and again, also in numbers that make the table grow: all names differ. */
static void all_differ(ac_cnames *names, ac_ctx *cx, const char *base, int32_t times)
{
    const char **given = AC_NEW_N(cx->region, const char *, times);
    for (int32_t i = 0; i < times; i++) {
        given[i] = ac_c_name_take(names, base);
        MUST(given[i] && !ac_c_reserved(given[i]) && given[i][0] != '_');
        MUST(strncmp(given[i], names->prefix, strlen(names->prefix)) || given[i][strlen(names->prefix)] != '_' ||
             !i); /* the first may be the name and an underscore */
        for (int32_t k = 0; k < i; k++)
            MUST(strcmp(given[i], given[k]));
    }
}

static void tests(ac_ctx *cx)
{
    static const char *const BASE[] = {"oc",    "for", "net_x", "net_", "_",      "a b",
                                       "x_f32", "f32", "9",     "",     "vnet_x", "net"};
    ac_cnames names;
    ac_c_names_open(&names, cx, "net");
    for (size_t i = 0; i < sizeof BASE / sizeof *BASE; i++)
        all_differ(&names, cx, BASE[i], 40);
    MUST(!strcmp(ac_c_name_take(&names, "row"), "row") && !strcmp(ac_c_name_take(&names, "row"), "row_1"));
    ac_c_name_drop(&names, ac_c_name_take(&names, "col"));
    MUST(!strcmp(ac_c_name_take(&names, "col"), "col"));
    MUST(!strcmp(ac_c_name_number(&names, "w"), "w0") && !strcmp(ac_c_name_number(&names, "w"), "w1"));
    MUST(!strcmp(ac_c_upper(cx->region, "kws"), "KWS"));
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
