/* print_cases.h - the cases of case_table.h as a C file, with a function run_NAME(void *const *buffers) for each.
 *
 *     ac_sink text;
 *     ac_sink_open(&text, &cx);
 *     print_cases(&text);
 *
 * Memory: the context cx. Errors: MUST. */
#ifndef AC_TESTS_UNIT_SUPPORT_PRINT_CASES_H
#define AC_TESTS_UNIT_SUPPORT_PRINT_CASES_H
#include "codegen/c/dialect.h"
#include "tests/unit/support/case_table.h"

static void print_case(ac_cfile *file, const ac_loop_fn *fn, ac_sink *to)
{
    ac_csig sig = {.name = ac_strf(cx.region, "t_%s", fn->name)};
    bool printed = ac_c_print_fn(file, fn, &sig, to) == AC_OK;
    if (!printed)
        ac_diags_print(&cx.diags, stderr, false);
    MUST(printed);
    ac_putf(to, "int run_%s(void *const *p);\nint run_%s(void *const *p)\n{\n    %s%s(", fn->name, fn->name,
            fn->fails ? "return " : "", sig.name);
    for (int32_t k = 0, n = 0; k < fn->buf.n; k++)
        if (fn->buf.item[k].role != AC_BUF_LOCAL) {
            ac_putf(to, "%sp[%d]", n ? ", " : "", n);
            n++;
        }
    ac_put(to, fn->fails ? ");\n}\n\n" : ");\n    return 0;\n}\n\n");
}

/* The n cases, and which headers they need. */
static void print_some(const test_case *some, int32_t n, ac_sink *to, bool need[AC_C_HEADERS])
{
    ac_cfile file;
    ac_cfile_open(&file, &cx, &ac_dialect_c, target, "t");
    ac_sink body, code;
    ac_sink_open(&body, &cx);
    ac_sink_open(&code, &cx);
    for (int32_t i = 0; i < n; i++) {
        now = some[i].what;
        print_case(&file, some[i].fn, &body);
    }
    ac_c_print_prologue(&file, &code);
    ac_put_n(&code, body.text, body.n);
    memset(need, 0, AC_C_HEADERS * sizeof *need);
    ac_c_find_headers(code.text, code.n, need);
    ac_putf(to,
            "#include <stdint.h>\n%s%s#define T_NOINLINE\n#define T_SECTION_FAST\nenum { T_OK = 0, T_EINDEX = 4 };\n",
            ac_c_includes(cx.region, need), ac_c_demands(cx.region, need));
    ac_put_n(to, code.text, code.n);
}

static inline void print_cases(ac_sink *to)
{
    bool need[AC_C_HEADERS];
    print_some(cases, n_cases, to, need);
}

#endif
