/* fuzz_checkpoint.c - the index of a checkpoint from anybody: the bytes as they are, and the bytes as two blocks that
 * get right checksums and a footer, since wrong checksums hide what comes after them. Up to the first 0xff is the block
 * of entries, the rest is the block of the index.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -DARENAC_LIBFUZZER ... && ./fuzz_checkpoint CORPUS/
 *     ./fuzz_checkpoint FILE...          without libFuzzer: reads each file, and its parts as blocks */
#include "import/tf/bundle.h"
#include "import/wire/crc32c.h"
#include "tests/fuzz/fuzz_main.h"

enum { FOOTER = 48, TRAILER = 5 }; /* bytes */

static int read_once(ac_ctx *cx, const void *what)
{
    const ac_span *s = what;
    ac_sorted_table t;
    ac_tf_saved e;
    const int rc = ac_sorted_table_read(cx, "index", *s, &t), status = fuzz_status(cx, rc);
    ac_tf_bundle *b = rc == AC_OK ? ac_tf_bundle_read(cx, "fuzz", "index", *s) : NULL;
    for (int32_t i = 0; b && i < t.n; i++) {
        if (ac_sorted_table_find(&t, t.item[i].key.p, t.item[i].key.n) != &t.item[i])
            abort();
        (void)ac_tf_bundle_find(b, t.item[i].key, &e);
    }
    return status;
}

static size_t put_block(uint8_t *out, size_t at, const uint8_t *p, size_t n, const ac_crc32c *crc)
{
    if (n)
        memcpy(out + at, p, n);
    out[at + n] = 0;
    const uint32_t sum = ac_crc32c_masked(ac_crc32c_of(crc, 0, out + at, n + 1));
    for (size_t k = 0; k < 4; k++)
        out[at + n + 1 + k] = (uint8_t)(sum >> 8 * k);
    return at + n + TRAILER;
}

static size_t put_varint(uint8_t *out, size_t at, uint64_t v)
{
    for (; v > 127; v >>= 7)
        out[at++] = (uint8_t)(v | 128);
    out[at++] = (uint8_t)v;
    return at;
}

static void read_blocks(const uint8_t *data, size_t size)
{
    static const uint8_t MAGIC[8] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
    const uint8_t *cut = size ? memchr(data, 0xff, size) : NULL;
    const size_t n = cut ? (size_t)(cut - data) : size, rest = cut ? size - n - 1 : 0;
    uint8_t *out = calloc(1, size + 2 * TRAILER + FOOTER);
    ac_crc32c crc;
    ac_crc32c_init(&crc);
    if (!out)
        exit(1);
    const size_t index = put_block(out, 0, data, n, &crc),
                 end = put_block(out, index, cut ? cut + 1 : data, rest, &crc);
    size_t at = put_varint(out, put_varint(out, end, 0), n); /* the first block stands for those about the table too */
    at = put_varint(out, put_varint(out, at, index), rest);
    memcpy(out + end + FOOTER - sizeof MAGIC, MAGIC, sizeof MAGIC);
    if (at <= end + FOOTER - sizeof MAGIC)
        fuzz_guarded(read_once, &(ac_span){out, end + FOOTER});
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_guarded(read_once, &(ac_span){data, size});
    read_blocks(data, size);
    return 0;
}
