/* test_emit.c - every instruction of the loop IR in every type, printed as C, compiled, loaded and compared with the
 * evaluator bit for bit on random and special values: as plain C (without a warning, and trapping on undefined
 * behaviour) and for each vector target that this machine can run. Random programs with loops, branches and variables
 * check that values are printed where they may be. NaN equals NaN. Programs on halves of words are printed for a target
 * that multiplies those; this machine runs the plain bodies of their helpers.
 *
 *     test_emit [thin]     of the narrower vector targets, and by a second compiler, every n-th case; 1: all */
#include "ir/loop/eval/eval.h"
#include "tests/unit/support/cc.h"
#include "tests/unit/support/half_cases.h"
#include "tests/unit/support/loop_cases.h"
#include "tests/unit/support/print_cases.h"

#include <dlfcn.h>

#define PLAIN_FLAGS                                                                                          \
    "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wstrict-prototypes " \
    "-Wmissing-prototypes -Wdouble-promotion"

typedef int entry(void *const *p);

static void compare_case(const test_case *t, entry *f)
{
    now = t->what;
    static _Alignas(64) uint8_t mine[5][N * 8], theirs[5][N * 8];
    void *a[5], *c[5];
    int32_t n = 0;
    for (int32_t i = 0; i < t->fn->buf.n; i++) {
        const ac_buf *m = &t->fn->buf.item[i];
        if (m->role == AC_BUF_LOCAL)
            continue;
        a[n] = mine[n];
        c[n] = theirs[n];
        if (t->fill[n] == OUTPUT || m->role == AC_BUF_OUT)
            memset(mine[n], 0, sizeof mine[n]);
        else
            fill_buffer(mine[n], m->dtype, t->fill[n]);
        memcpy(theirs[n], mine[n], sizeof mine[n]);
        n++;
    }
    int status = 0;
    MUST(ac_eval(&cx, t->fn, a, n, &status) == AC_OK);
    MUST(f(c) == status);
    for (int32_t k = 0; k < n; k++) {
        ac_dtype d = t->fn->buf.item[k].dtype;
        int32_t width = ac_dtype_bits(d) / 8;
        for (int32_t i = 0; i < N; i++) {
            const uint8_t *p = mine[k] + i * width, *q = theirs[k] + i * width;
            if (!memcmp(p, q, (size_t)width) || both_nan(d, p, q))
                continue;
            fprintf(stderr, "%s (%s): buffer %d element %d: evaluator %.9g %lld, C %.9g %lld\n", t->what, t->fn->name,
                    k, i, ac_dtype_get_num(d, p, 0), (long long)ac_dtype_get_int(d, p, 0), ac_dtype_get_num(d, q, 0),
                    (long long)ac_dtype_get_int(d, q, 0));
            exit(1);
        }
    }
}

/* ---- printing and compiling ---- */

static void run_cases(const char *dir, const char *compiler, const char *flags)
{
    MUST(cc_compile(dir, compiler, ac_strf(cx.region, "%s -fPIC -shared", flags), "t.c", "t.so") == 0);
    void *so = dlopen(ac_strf(cx.region, "%s/t.so", dir), RTLD_NOW | RTLD_LOCAL);
    if (!so)
        fprintf(stderr, "%s\n", dlerror());
    MUST(so);
    for (int32_t i = 0; i < n_cases; i++) {
        void *p = dlsym(so, ac_strf(cx.region, "run_%s", cases[i].fn->name));
        entry *f;
        MUST(p);
        memcpy(&f, &p, sizeof f);
        for (int k = 0; k < 3; k++)
            compare_case(&cases[i], f);
    }
    dlclose(so);
}

static void only_memory_functions(const char *dir, const char *object)
{
    const char *argv[] = {"nm", "-u", ac_strf(cx.region, "%s/%s", dir, object), NULL};
    if (cc_run(dir, argv, "nm.log")) {
        printf("  no nm: symbols not checked\n");
        return;
    }
    char *said = cc_read(dir, "nm.log"), *save = NULL;
    for (char *w = strtok_r(said, " \n", &save); w; w = strtok_r(NULL, " \n", &save)) {
        now = w;
        MUST(!strcmp(w, "U") || !strcmp(w, "memcpy") || !strcmp(w, "memset") || !strcmp(w, "memmove"));
    }
    free(said);
}

static void test_plain(const char *dir)
{
    target = ac_target_find("generic");
    build(false);
    ac_sink text;
    ac_sink_open(&text, &cx);
    print_cases(&text);
    MUST(cc_write(dir, "t.c", text.text, text.n) == 0);
    const char *compilers[] = {cc_name(), "gcc", "clang"};
    for (int i = 0; i < 3; i++) {
        if ((i && !strcmp(compilers[i], compilers[0])) || !cc_exists(dir, compilers[i]))
            continue;
        now = compilers[i];
        MUST(cc_compile(dir, compilers[i], PLAIN_FLAGS " -O0 -c", "t.c", "t.o") == 0);
        only_memory_functions(dir, "t.o");
        if (i == 0)
            run_cases(dir, compilers[i],
                      "-std=c99 -U__SSE2__ -O0 -fsanitize=undefined -fsanitize-undefined-trap-on-error");
        else
            run_cases(dir, compilers[i], "-std=gnu99 -O1 -w");
    }
    printf("  plain C: %d programs\n", n_cases);
    fflush(stdout);
}

/* Every n-th case. */
static void thin_out(int32_t every)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < n_cases; i += every)
        cases[kept++] = cases[i];
    n_cases = kept;
}

/* The widest target by this machine's compiler has all cases; narrower ones, and the widest by other compilers, every
 * thin-th, which has all instructions, each in other types. */
static void test_vectors(const char *dir, const ac_target *t, int32_t thin)
{
    const char *compilers[] = {cc_name(), "gcc", "clang"};
    const bool widest = !strcmp(t->name, ac_target_find("native")->name);
    target = t;
    for (int i = 0; i < (widest ? 3 : 1); i++) {
        if ((i && !strcmp(compilers[i], compilers[0])) || !cc_exists(dir, compilers[i]))
            continue;
        build(true);
        if (i || !widest)
            thin_out(thin);
        ac_sink text;
        ac_sink_open(&text, &cx);
        print_cases(&text);
        MUST(cc_write(dir, "t.c", text.text, text.n) == 0);
        run_cases(dir, compilers[i], "-std=gnu11 -Wall -Wextra -O1");
        printf("  %s, %s: %d programs\n", t->name, compilers[i], n_cases);
        fflush(stdout);
    }
}

/* Equal results in the forms that printers get. */
static void legal_forms(const test_case *t)
{
    static _Alignas(64) uint8_t mine[4][N * 4], theirs[4][N * 4];
    const ac_loop_fn *way[] = {t->fn, ac_loop_halves(&cx, t->fn), ac_loop_scalar(&cx, t->fn)};
    for (int k = 0; k < 3; k++) {
        void *p[4];
        int status = 0;
        for (int i = 0; i < 4; i++) {
            p[i] = k ? theirs[i] : mine[i];
            memset(p[i], i, N * 4);
        }
        if (!k)
            fill_buffer(mine[0], AC_I32, ANY);
        memcpy(theirs[0], mine[0], sizeof mine[0]);
        memcpy(p[1], mine[0] + 1, N * 4 - 1);
        MUST(ac_loop_verify(&cx, way[k]) == AC_OK && ac_eval(&cx, way[k], p, 4, &status) == AC_OK);
        MUST(!k || !memcmp(mine, theirs, sizeof mine));
    }
}

static void test_halves(const char *dir)
{
    target = ac_target_find("cortex-m4");
    MUST(ac_target_halves(target));
    build_halves();
    for (int32_t i = 0; i < n_cases; i++)
        legal_forms(&cases[i]);
    ac_sink text;
    ac_sink_open(&text, &cx);
    print_cases(&text);
    MUST(strstr(ac_sink_text(&text), "__smlad"));
    MUST(cc_write(dir, "t.c", text.text, text.n) == 0);
    MUST(cc_compile(dir, cc_name(), PLAIN_FLAGS " -O0 -c", "t.c", "t.o") == 0);
    run_cases(dir, cc_name(), "-std=c99 -O1 -fsanitize=undefined -fsanitize-undefined-trap-on-error");
    printf("  halves of words: %d programs\n", n_cases);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const int32_t thin = argc > 1 ? atoi(argv[1]) : 5;
    char dir[256];
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    MUST(cc_folder(dir) == 0);
    if (!cc_exists(dir, cc_name())) {
        printf("no C compiler: skipped\n");
        return 0;
    }
    test_plain(dir);
    test_halves(dir);
    for (int32_t i = 0; i < ac_target_count(); i++) {
        const ac_target *t = ac_target_at(i);
        if (t->vec_bytes && ac_target_runs_here(t) &&
            !strncmp(t->cpu, "x86-64", 6)) /* named processors print as a level */
            test_vectors(dir, t, thin);
    }
    cc_remove(dir);
    ac_ctx_close(&cx);
    printf("emit: ok\n");
    return 0;
}
