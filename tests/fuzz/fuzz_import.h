/* fuzz_import.h - whatever bytes come in, reading a file ends with a graph or a diagnostic. A fuzz target says which
 * format is read and includes this:
 *
 *     #define FUZZ_FORMAT "onnx"
 *     #define FUZZ_GUESS  0            1: the guess of the format is tried too
 *     #include "tests/fuzz/fuzz_import.h"
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -DARENAC_LIBFUZZER ... && ./fuzz_onnx CORPUS/
 *     ./fuzz_onnx FILE...          without libFuzzer: reads each file, with -v prints its diagnostics and exit status
 *
 * A graph that was read is also verified, so that what the reader lets through is well formed. */
#ifndef ARENAC_LIBFUZZER
#define FUZZ_FILE(path) read_file(path)
static void read_file(const char *path);
#endif

#include "ir/lower/node/node.h"
#include "tests/fuzz/fuzz_main.h"
#include "tests/fuzz/fuzz_nodes.h"

typedef struct reading {
    const ac_file *f;
    const char *from; /* NULL: the format is guessed */
} reading;

static int read_once(ac_ctx *cx, const void *what)
{
    const reading *r = what;
    ac_imported m;
    int rc = ac_import(cx, r->f, &(ac_import_options){.from = r->from, .promise = ac_lower_promise}, &m);
    if (rc == AC_OK)
        rc = fuzz_nodes(cx, &m);
    return fuzz_status(cx, rc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ac_file f = {.path = "fuzz", .data = data, .n = size};
    if (FUZZ_GUESS)
        fuzz_guarded(read_once, &(reading){&f, NULL});
    fuzz_guarded(read_once, &(reading){&f, FUZZ_FORMAT});
    return 0;
}

#ifndef ARENAC_LIBFUZZER
/* By its name: the format that a user would get, with the files beside it. */
static void read_file(const char *path)
{
    ac_ctx cx;
    ac_file f;
    ac_ctx_open(&cx); /* without a guard: running out of memory here aborts */
    ac_ctx_start(&cx);
    if (ac_file_open(&cx, path, &f) == AC_OK) {
        const int status = fuzz_guarded(read_once, &(reading){&f, NULL});
        if (fuzz_show)
            fprintf(fuzz_show, "%s: exit %d\n", path, status);
        ac_file_close(&f);
    }
    ac_ctx_close(&cx);
}
#endif
