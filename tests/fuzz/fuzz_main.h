/* fuzz_main.h - what every fuzz target has: a context whose memory is bounded, and a main for builds without libFuzzer.
 * Included once, by a target that defines LLVMFuzzerTestOneInput; FUZZ_FILE(path), where it is defined, is run for each
 * file too, before its bytes.
 *
 *     ./fuzz_onnx [-v] FILE...        reads each file; -v: prints the diagnostics (fuzz_show)
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
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-v"))
            fuzz_show = stdout;
        else
            failed |= fuzz_file(argv[i]);
    return failed;
}
#endif
#endif
