/* fuzz_door.h - for fuzz targets that use arenac.h: turns bytes into files, and checks the status at the end.
 *
 *     char path[FUZZ_PATH];
 *     const int fd = fuzz_put_file(data, size, path);      a file without a place in any folder
 *     arenac *a = fuzz_open();                             bounded: memory, search, no programs started
 *     fuzz_close(a, arenac_verb_check(a, ...));            aborts if status and errors contradict each other
 *     close(fd); */
#ifndef TESTS_FUZZ_FUZZ_DOOR_H
#define TESTS_FUZZ_FUZZ_DOOR_H
#include "arenac.h"
#include "tests/fuzz/fuzz_main.h"

#include <sys/mman.h>
#include <unistd.h>

enum { FUZZ_PATH = 40, FUZZ_INTERNAL = 70 };

/* A small model of integers: a product with weights and a bias, a view, two operators of one operand. */
static const char FUZZ_MODEL[] = "graph g {\n"
                                 "  input x: i8[1,6,6,2] q(0.05, 3)\n"
                                 "  const w: i8[4,3,3,2] q(0.02, 0) = random 1\n"
                                 "  const b: i32[4] q(0.001, 0) = splat 5\n"
                                 "  y: i8[1,6,6,4] q(0.1, -5) = conv_2d(x, w, b) padding=same act=relu\n"
                                 "  p: i8[1,3,3,4] q(0.1, -5) = max_pool_2d(y) kernel_h=2 kernel_w=2 stride_h=2 "
                                 "stride_w=2\n"
                                 "  r: i8[1,36] q(0.1, -5) = reshape(p) shape=[1,36]\n"
                                 "  s: i8[1,36] q(0.00390625, -128) = softmax(r)\n"
                                 "  output s\n"
                                 "}\n";

/* An anonymous file with these bytes, its path in path; the caller closes it. */
static inline int fuzz_put_file(const void *data, size_t size, char path[FUZZ_PATH])
{
    const int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        exit(1);
    snprintf(path, FUZZ_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

static inline arenac *fuzz_open(void)
{
    static const char *const FIRST[][2] = {
        {"max-memory", "256M"}, {"effort", "0"}, {"stack", "estimate"}, {"backend", "eval"}, {"random", "1"}};
    arenac *a = arenac_open();
    if (!a)
        exit(1);
    for (size_t i = 0; i < sizeof FIRST / sizeof *FIRST; i++)
        arenac_set(a, FIRST[i][0], FIRST[i][1]);
    return a;
}

/* Options that write, start programs, or take the time that they are given. */
static inline bool fuzz_leaves_out(const char *name)
{
    static const char *const OUT[] = {"evidence",   "selftest-cc", "update-lock", "max-memory", "effort",
                                      "output-dir", "stack",       "depfile",     "backend",    "threads",
                                      "tune",       "runs",        "vectors",     "output",     "max-errors"};
    for (size_t i = 0; i < sizeof OUT / sizeof *OUT; i++)
        if (!strcmp(name, OUT[i]))
            return true;
    return false;
}

/* Runs `verb` with n files; "weights": check with a second file; an unknown verb: plan. */
static inline int fuzz_run_verb(arenac *a, const char *verb, const char *const *path, int n)
{
    if (!strcmp(verb, "check"))
        return arenac_verb_check(a, path, 1);
    if (!strcmp(verb, "prove"))
        return arenac_verb_prove(a, path, 1);
    if (!strcmp(verb, "run"))
        return arenac_verb_run(a, path, 1);
    if (!strcmp(verb, "show"))
        return arenac_verb_show(a, path, 1);
    if (n > 1 && !strcmp(verb, "verify"))
        return arenac_verb_verify(a, path, 2);
    if (n > 1 && !strcmp(verb, "diff"))
        return arenac_verb_diff(a, path, 2);
    if (n > 1 && !strcmp(verb, "weights"))
        return arenac_verb_check(a, path, 2);
    if (arenac_read(a, path, 1))
        return -1;
    if (strcmp(verb, "compile") != 0)
        return arenac_plan(a) == 0 ? arenac_write(a) : -1;
    return arenac_compile(a) == 0 ? arenac_write(a) : -1;
}

/* An error exactly where it failed, and none that is ours. */
static inline void fuzz_close(arenac *a, int result)
{
    const int status = arenac_exit(a);
    if (fuzz_show) {
        fprintf(fuzz_show, "exit %d\n", status);
        arenac_print_diagnostics(a, fuzz_show, false);
    }
    if (status == FUZZ_INTERNAL || (result == 0) != (arenac_errors(a) == 0)) {
        arenac_print_diagnostics(a, stderr, false);
        abort();
    }
    arenac_close(a);
}

#endif
