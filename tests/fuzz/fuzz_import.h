/* fuzz_import.h - whatever bytes come in, reading a file ends with a graph or a diagnostic. A fuzz target says which
 * format is read and includes this:
 *
 *     #define FUZZ_FORMAT "onnx"
 *     #define FUZZ_GUESS  0            1: the guess of the format is tried too
 *     #include "tests/fuzz/fuzz_import.h"
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -DARENAC_LIBFUZZER ... && ./fuzz_onnx CORPUS/
 *     ./fuzz_onnx FILE...          without libFuzzer: reads each file, prints its exit status with -v
 *
 * A graph that was read is also verified, so that what the reader lets through is well formed. */
#include "ir/lower/node/node.h"
#include "tests/fuzz/fuzz_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 512 << 20 }; /* bytes; a small file has no business with more */

static int read_once(const ac_file *f, const char *from, FILE *show)
{
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
    ac_imported m;
    int rc = ac_import(&cx, f, &(ac_import_options){.from = from, .promise = ac_lower_promise}, &m);
    if (rc == AC_OK)
        rc = fuzz_nodes(&cx, &m);
    int status = (int)ac_diags_exit(&cx.diags);
    if ((rc == AC_OK) != (status == AC_EXIT_OK)) { /* failed in silence, or succeeded with errors */
        ac_diags_print(&cx.diags, stderr, false);
        abort();
    }
    if (show)
        ac_diags_print(&cx.diags, show, false);
    ac_ctx_close(&cx);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ac_file f = {.path = "fuzz", .data = data, .n = size};
    if (FUZZ_GUESS)
        read_once(&f, NULL, NULL); /* the guess of the format */
    read_once(&f, FUZZ_FORMAT, NULL);
    return 0;
}

#ifndef ARENAC_LIBFUZZER
static int run_file(const char *path, bool verbose)
{
    static ac_file f; /* static: survives the jump */
    static ac_ctx cx;
    ac_ctx_open(&cx); /* without a guard: running out of memory here aborts */
    ac_ctx_start(&cx);
    if (ac_file_open(&cx, path, &f) != AC_OK) {
        ac_diags_print(&cx.diags, stderr, false);
        ac_ctx_close(&cx);
        return 1;
    }
    int status = read_once(&f, NULL, verbose ? stdout : NULL);
    if (verbose)
        printf("%s: exit %d\n", path, status);
    uint8_t *copy = malloc(f.n + 1); /* as libFuzzer gives it: not a byte more than there are; and at an odd address */
    if (!copy)
        return 1;
    memcpy(copy + 1, f.data, f.n);
    LLVMFuzzerTestOneInput(copy + 1, f.n);
    free(copy);
    ac_file_close(&f);
    ac_ctx_close(&cx);
    return 0;
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && !strcmp(argv[1], "-v");
    int failed = 0;
    for (int i = 1 + verbose; i < argc; i++)
        failed |= run_file(argv[i], verbose);
    return failed;
}
#endif
