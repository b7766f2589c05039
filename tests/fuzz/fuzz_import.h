/* fuzz_import.h - checks that reading a file with any bytes ends with a graph or a diagnostic. A fuzz target defines
 * the format and includes this:
 *
 *     #define FUZZ_FORMAT "onnx"
 *     #define FUZZ_GUESS  0            1: also tries to detect the format
 *     #include "tests/fuzz/fuzz_import.h"
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -DARENAC_LIBFUZZER ... && ./fuzz_onnx CORPUS/
 *     ./fuzz_onnx FILE...          without libFuzzer: reads each file, with -v prints its diagnostics and exit status
 *
 * Also verifies the graph, to check that readers accept only well-formed graphs. */
#if !defined(ARENAC_LIBFUZZER) && !defined(FUZZ_WRAP)
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
#ifdef FUZZ_WRAP /* makes a file of the input; NULL: it is one */
    size_t n = size;
    uint8_t *own = FUZZ_WRAP(data, size, &n);
    const ac_file f = {.path = "fuzz", .data = own ? own : data, .n = n};
#else
    const ac_file f = {.path = "fuzz", .data = data, .n = size};
#endif
    if (FUZZ_GUESS)
        fuzz_guarded(read_once, &(reading){&f, NULL});
    fuzz_guarded(read_once, &(reading){&f, FUZZ_FORMAT});
#ifdef FUZZ_WRAP
    free(own);
#endif
    return 0;
}

#if !defined(ARENAC_LIBFUZZER) && !defined(FUZZ_WRAP)
/* Reads it by name: with the format that a user would get, and with files in the same folder. */
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
