/* fuzz_main.h - shared by all fuzz targets: a context with bounded memory, and a main for builds without libFuzzer.
 * Included once, by a target that defines LLVMFuzzerTestOneInput; FUZZ_FILE(path), if defined, also runs for each file,
 * before its bytes.
 *
 *     ./fuzz_onnx [-v] FILE...                reads each file; -v: prints the diagnostics (fuzz_show)
 *     ./fuzz_onnx --mutate 1000 7 FILE...     1,000 mutants of each file, from seed 7 (mutate.h), where FUZZ_MUTATE is
 *                                             defined; the one at work lies in the file mutant
 *
 * The exit status is 0 unless a file cannot be read. */
#ifndef FUZZ_MAIN_H
#define FUZZ_MAIN_H
#include "base/ctx.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *fuzz_show; /* NULL: nothing is printed */

/* The result of run(cx, what) in a context of its own; AC_EXIT_INVALID where it ran out of memory. */
static inline int fuzz_guarded(int (*run)(ac_ctx *cx, const void *what), const void *what)
{
    enum { LIMIT = 512 << 20 }; /* bytes; a small file has no business with more */
    ac_ctx cx;
    jmp_buf oom;
    ac_ctx_open(&cx);
    cx.heap.limit = LIMIT;
    cx.heap.on_oom = &oom;
    if (setjmp(oom)) {
        ac_ctx_close(&cx);
        return AC_EXIT_INVALID;
    }
    ac_ctx_start(&cx);
    const int status = run(&cx, what);
    ac_ctx_close(&cx);
    return status;
}

/* The exit status of what returned rc; it must not have failed in silence, nor succeeded with errors. */
static inline int fuzz_status(ac_ctx *cx, int rc)
{
    const int status = (int)ac_diags_exit(&cx->diags);
    if ((rc == AC_OK) != (status == AC_EXIT_OK)) {
        ac_diags_print(&cx->diags, stderr, false);
        abort();
    }
    if (fuzz_show)
        ac_diags_print(&cx->diags, fuzz_show, false);
    return status;
}

#ifdef FUZZ_MUTATE
#ifdef ARENAC_LIBFUZZER
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    uint64_t state = seed;
    const size_t n = fuzz_random(&state, 4) ? FUZZ_MUTATE(data, size, most, &state) : 0;
    return n ? n : LLVMFuzzerMutate(data, size, most);
}
#else
static int fuzz_mutants = 0;
static uint64_t fuzz_seed;

/* Up to eight changes of the file each. */
static void fuzz_mutate_file(const uint8_t *data, size_t size)
{
    enum { MORE = 4096, CHANGES = 8 };
    for (int i = 0; i < fuzz_mutants; i++) {
        uint8_t *own = malloc(size + MORE);
        if (!own)
            exit(1);
        memcpy(own, data, size);
        size_t n = size;
        for (uint64_t k = 1 + fuzz_random(&fuzz_seed, CHANGES); k > 0; k--) {
            const size_t m = FUZZ_MUTATE(own, n, size + MORE, &fuzz_seed);
            n = m ? m : n;
        }
        FILE *f = fopen("mutant", "wb");
        if (!f || fwrite(own, 1, n, f) != n || fclose(f))
            exit(1);
        uint8_t *exact = malloc(n + 1);
        if (!exact)
            exit(1);
        memcpy(exact + 1, own, n);
        LLVMFuzzerTestOneInput(exact + 1, n);
        free(exact);
        free(own);
    }
}
#endif
#endif

#ifndef ARENAC_LIBFUZZER
/* The bytes of a file or a pipe, as libFuzzer gives them: not a byte more than there are, and at an odd address. */
static int fuzz_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t size = 0, got = 1;
    while (f && got) {
        data = realloc(data, size + 65537);
        if (!data)
            return 1;
        size += got = fread(data + 1 + size, 1, 65536, f);
    }
    if (!f)
        return 1;
    fclose(f);
    data = realloc(data, size + 1);
    if (!data)
        return 1;
#ifdef FUZZ_FILE
    FUZZ_FILE(path);
#endif
    LLVMFuzzerTestOneInput(data + 1, size);
#ifdef FUZZ_MUTATE
    fuzz_mutate_file(data + 1, size);
#endif
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-v"))
            fuzz_show = stdout;
#ifdef FUZZ_MUTATE
        else if (!strcmp(argv[i], "--mutate") && i + 2 < argc) {
            fuzz_mutants = atoi(argv[++i]);
            fuzz_seed = strtoull(argv[++i], NULL, 10);
        }
#endif
        else
            failed |= fuzz_file(argv[i]);
    return failed;
}
#endif
#endif
