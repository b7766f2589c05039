/* test_compiles.c - every instruction of the loop IR in every type, printed as C for every target, compiles without a
 * warning as C99, by gcc, clang and the processor's own compiler if they are here. Instructions that need the same
 * headers are a file of their own, so that none borrows the header of another. Targets that print the same text as
 * another are compiled once. CUDA has its own tests. */
#include "base/hash/hash.h"
#include "codegen/c/dialect.h"
#include "tests/unit/support/cc.h"
#include "tests/unit/support/half_cases.h"
#include "tests/unit/support/loop_cases.h"
#include "tests/unit/support/print_cases.h"

#define FLAGS "-std=c99 -Wall -Wextra -Werror -fsyntax-only"

enum { SETS = 1 << AC_C_HEADERS, MOST_FILES = 200, MOST_CASES = 8192 };

static uint64_t printed[MOST_FILES]; /* hashes of the texts */
static int32_t n_printed, n_compiled;

static int32_t headers_of(const test_case *t)
{
    bool need[AC_C_HEADERS];
    ac_sink alone;
    ac_sink_open(&alone, &cx);
    print_some(t, 1, &alone, need);
    int32_t set = 0;
    for (int h = 0; h < AC_C_HEADERS; h++)
        set |= need[h] << h;
    return set;
}

static bool is_new(const ac_sink *text)
{
    const uint64_t hash = ac_bytes_hash(text->text, text->n);
    for (int32_t i = 0; i < n_printed; i++)
        if (printed[i] == hash)
            return false;
    MUST(n_printed < MOST_FILES);
    printed[n_printed++] = hash;
    return true;
}

static void compile_file(const char *dir, ac_sink *text)
{
    const char *own = target->isa == AC_ISA_ARM ? "arm-none-eabi-gcc" : NULL;
    const char *compilers[] = {"gcc", "clang", own};
    if (!is_new(text))
        return;
    MUST(cc_write(dir, "t.c", text->text, text->n) == 0);
    for (int i = 0; i < 3; i++) {
        if (!compilers[i] || !cc_exists(dir, compilers[i]))
            continue;
        now = ac_strf(cx.region, "%s by %s", target->name, compilers[i]);
        CHECK(cc_compile(dir, compilers[i], i == 2 ? ac_strf(cx.region, FLAGS " -mthumb -mcpu=%s", target->cpu) : FLAGS,
                         "t.c", "t.o") == 0);
        n_compiled++;
    }
}

/* The cases of the table, in a file for each set of headers. */
static void compile_cases(const char *dir)
{
    static test_case some[MOST_CASES];
    static int32_t set[MOST_CASES];
    MUST(n_cases <= MOST_CASES);
    for (int32_t i = 0; i < n_cases; i++)
        set[i] = headers_of(&cases[i]);
    for (int32_t s = 0; s < SETS; s++) {
        int32_t n = 0;
        bool need[AC_C_HEADERS];
        for (int32_t i = 0; i < n_cases; i++)
            if (set[i] == s)
                some[n++] = cases[i];
        ac_sink text;
        ac_sink_open(&text, &cx);
        print_some(some, n, &text, need);
        if (n)
            compile_file(dir, &text);
    }
}

int main(void)
{
    char dir[256];
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    MUST(cc_folder(dir) == 0);
    for (int32_t i = 0; i < ac_target_count(); i++) {
        target = ac_target_at(i);
        if (target->isa == AC_ISA_CUDA || (target->vec_bytes && target->isa != AC_ISA_X86))
            continue;  /* not printed as C */
        rnd_state = 1; /* the same programs for each target */
        build(target->vec_bytes > 0);
        compile_cases(dir);
        if (ac_target_halves(target)) {
            build_halves();
            compile_cases(dir);
        }
    }
    printf("%d compilations of %d texts\n", n_compiled, n_printed);
    cc_remove(dir);
    ac_ctx_close(&cx);
    return check_done();
}
