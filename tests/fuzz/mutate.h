/* mutate.h - mutators that know the structure of a format, so that mutants reach past the checks of its framing. A fuzz
 * target selects one before fuzz_main.h:
 *
 *     #define FUZZ_MUTATE fuzz_mutate_protobuf       mutate_protobuf.h: ONNX, TensorFlow
 *                         fuzz_mutate_text           mutate_text.h: JSON, prototxt, up to the first 0; .ag
 *                         fuzz_mutate_flatbuffer     mutate_flatbuffer.h: TFLite
 *
 * Each changes one place of data[0..size), which has a capacity of `most` bytes, and returns the new size; 0: nothing
 * to change. Equal seeds give equal mutants. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef size_t fuzz_mutator(uint8_t *data, size_t size, size_t most, uint64_t *seed);

/* Of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators); 0 .. n - 1. */
static inline uint64_t fuzz_random(uint64_t *seed, uint64_t n)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return n ? (z ^ (z >> 31)) % n : 0;
}

/* Numbers at which readers go wrong. */
static inline int64_t fuzz_edge(uint64_t *seed, int64_t was)
{
    static const int64_t EDGE[] = {
        0,         1,         2,       -1,        -2,    7,         8,         127,          128,
        255,       256,       32767,   65535,     65536, INT32_MAX, INT32_MIN, INT64_MAX,    INT64_MIN,
        1LL << 31, 1LL << 32, 1 << 20, 1LL << 40, 3,     16,        1LL << 62, -(1LL << 62), (1LL << 62) + 1};
    const uint64_t kind = fuzz_random(seed, 4);
    if (kind == 0)
        return (int64_t)((uint64_t)was + 1);
    if (kind == 1)
        return (int64_t)((uint64_t)was - 1);
    return EDGE[fuzz_random(seed, sizeof EDGE / sizeof *EDGE)];
}

/* data[at .. at + was) becomes the n bytes; the new size, or 0 if it exceeds the capacity. */
static inline size_t fuzz_replace(uint8_t *data, size_t size, size_t most, size_t at, size_t was, const void *by,
                                  size_t n)
{
    if (size - was + n > most || at + was > size)
        return 0;
    memmove(data + at + n, data + at + was, size - at - was);
    if (n)
        memcpy(data + at, by, n);
    return size - was + n;
}

#endif
