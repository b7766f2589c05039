/* fuzz_pair.h - the fuzz target of formats whose weights are in a separate file. Included once, by a file that defines
 * FUZZ_FORMAT. Checks that reading any bytes ends with a graph or a diagnostic.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -DARENAC_LIBFUZZER ... && ./fuzz_caffe CORPUS/
 *     ./fuzz_caffe FILE...          without libFuzzer: reads each file, alone
 *
 * The bytes up to the first 0 are the graph, those after it are the weights; without a 0, it has no weights. Files that
 * start like binary ones are used whole. Also verifies the graph. */
#include "ir/lower/node/node.h"
#include "tests/fuzz/fuzz_main.h"
#include "tests/fuzz/fuzz_nodes.h"

typedef struct pair {
    ac_file graph, weights;
    bool has_weights;
} pair;

static int read_once(ac_ctx *cx, const void *what)
{
    const pair *p = what;
    const ac_import_options o = {
        .from = FUZZ_FORMAT, .second = p->has_weights ? &p->weights : NULL, .promise = ac_lower_promise};
    ac_imported m;
    int rc = ac_import(cx, &p->graph, &o, &m);
    if (rc == AC_OK)
        rc = fuzz_nodes(cx, &m);
    return fuzz_status(cx, rc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *cut = size > 16 && data[0] >= 0x20 ? memchr(data, 0, size) : NULL;
    const size_t n = cut ? (size_t)(cut - data) : size;
    fuzz_guarded(read_once,
                 &(pair){.graph = {.path = "fuzz", .data = data, .n = n},
                         .weights = {.path = "weights", .data = cut ? cut + 1 : data, .n = cut ? size - n - 1 : 0},
                         .has_weights = cut});
    return 0;
}
