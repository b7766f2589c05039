/* fuzz_pair.h - the fuzz target of formats whose weights are in a file of their own. Included once, by a file that
 * defines FUZZ_FORMAT: whatever bytes come in, reading ends with a graph or a diagnostic.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -DARENAC_LIBFUZZER ... && ./fuzz_caffe CORPUS/
 *     ./fuzz_caffe FILE...          without libFuzzer: reads each file, alone
 *
 * The bytes up to the first 0 are the graph, those after it are the weights; without a 0 there are none. Files that
 * start like binary ones are taken whole. A graph that was read is also verified. */
#include "ir/lower/node/node.h"
#include "tests/fuzz/fuzz_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 512 << 20 }; /* bytes; a small file has no business with more */

static void read_once(const ac_file *f, const ac_file *weights)
{
    ac_ctx cx;
    jmp_buf oom;
    ac_ctx_open(&cx);
    cx.heap.limit = LIMIT;
    cx.heap.on_oom = &oom;
    if (setjmp(oom)) {
        ac_ctx_close(&cx);
        return;
    }
    ac_ctx_start(&cx);
    ac_imported m;
    int rc = ac_import(&cx, f,
                       &(ac_import_options){.from = FUZZ_FORMAT, .second = weights, .promise = ac_lower_promise}, &m);
    if (rc == AC_OK)
        rc = fuzz_nodes(&cx, &m);
    if ((rc == AC_OK) != (ac_diags_exit(&cx.diags) == AC_EXIT_OK)) { /* failed in silence, or succeeded with errors */
        ac_diags_print(&cx.diags, stderr, false);
        abort();
    }
    ac_ctx_close(&cx);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *cut = size > 16 && data[0] >= 0x20 ? memchr(data, 0, size) : NULL;
    const size_t n = cut ? (size_t)(cut - data) : size;
    const ac_file f = {.path = "fuzz", .data = data, .n = n};
    const ac_file w = {.path = "weights", .data = cut ? cut + 1 : data, .n = cut ? size - n - 1 : 0};
    read_once(&f, cut ? &w : NULL);
    return 0;
}

#ifndef ARENAC_LIBFUZZER
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f || fseek(f, 0, SEEK_END))
            return 1;
        const long n = ftell(f);
        rewind(f);
        uint8_t *data = malloc((size_t)n + 1); /* not a byte more than there are, and at an odd address */
        if (!data || fread(data + 1, 1, (size_t)n, f) != (size_t)n)
            return 1;
        LLVMFuzzerTestOneInput(data + 1, (size_t)n);
        free(data);
        fclose(f);
    }
    return 0;
}
#endif
