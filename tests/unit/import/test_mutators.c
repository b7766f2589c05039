/* test_mutators.c - the mutators of the fuzz programs write the numbers at which readers go wrong where each format
 * holds its dimensions: in text, in strings of JSON, in 64-bit elements, in varints. */
#include "tests/fuzz/mutate_flatbuffer.h"
#include "tests/fuzz/mutate_protobuf.h"
#include "tests/fuzz/mutate_text.h"
#include "tests/unit/support/in_context.h"

static const int64_t WANTED[] = {0, -1, INT64_MIN, INT64_C(1) << 62};
enum { WANTS = sizeof WANTED / sizeof *WANTED, MUTANTS = 200000, ROOM = 256 };

static bool holds(const uint8_t *p, size_t n, const void *what, size_t bytes)
{
    for (size_t i = 0; i + bytes <= n; i++)
        if (!memcmp(p + i, what, bytes))
            return true;
    return false;
}

/* Number v as the format writes it, with the bytes in front of it; the length. */
typedef size_t writer(int64_t v, uint8_t *to);

static size_t in_string(int64_t v, uint8_t *to)
{
    return (size_t)snprintf((char *)to, ROOM, "\"(%lld,", (long long)v);
}

static size_t in_text(int64_t v, uint8_t *to)
{
    return (size_t)snprintf((char *)to, ROOM, "dim: %lld ", (long long)v);
}

static size_t as_varint(int64_t v, uint8_t *to)
{
    to[0] = 8;
    return 1 + fuzz_put_varint(to + 1, (uint64_t)v);
}

static size_t in_64_bits(int64_t v, uint8_t *to)
{
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)((uint64_t)v >> 8 * i);
    return 8;
}

/* All wanted numbers are in some of the mutants of the n bytes. */
static void writes_all(fuzz_mutator *mutate, const void *from, size_t n, writer *put)
{
    uint64_t seed = 1;
    bool found[WANTS] = {false};
    int left = WANTS;
    for (int k = 0; k < MUTANTS && left; k++) {
        uint8_t data[ROOM] = {0}, want[ROOM];
        memcpy(data, from, n);
        const size_t size = mutate(data, n, ROOM - 1, &seed);
        for (int w = 0; w < WANTS && size; w++)
            if (!found[w] && holds(data, size, want, put(WANTED[w], want))) {
                found[w] = true;
                left--;
            }
    }
    CHECK(!left);
}

static void tests(ac_ctx *cx)
{
    static const char json[] = "{\"shape\": \"(4, 8)\"}", prototxt[] = "input_shape { dim: 4 dim: 8 }";
    /* message 1 with number 1; then 16 raw bytes in field 9 */
    static const uint8_t wire[] = {10, 2, 8, 5, 74, 16, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
    /* root table at 16, vtable at 8 with one field at 4: a vector of 16 bytes at 24 */
    static const uint8_t buffer[] = {16, 0, 0,  0, 'T', 'F', 'L', '3', 6, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0, 0, 4, 0,
                                     0,  0, 16, 0, 0,   0,   7,   7,   7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
    (void)cx;
    writes_all(fuzz_mutate_text, json, sizeof json - 1, in_string);
    writes_all(fuzz_mutate_text, prototxt, sizeof prototxt - 1, in_text);
    writes_all(fuzz_mutate_protobuf, wire, sizeof wire, as_varint);
    writes_all(fuzz_mutate_protobuf, wire, sizeof wire, in_64_bits);
    writes_all(fuzz_mutate_flatbuffer, buffer, sizeof buffer, in_64_bits);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
