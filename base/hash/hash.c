/* hash.c - four sums of products at a time, so that none waits for another; then mixed into one. */
#include "base/hash/hash.h"

#include <string.h>

enum { LANES = 4, BLOCK = LANES * 8 };

static uint64_t step(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

uint64_t ac_bytes_hash(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t lane[LANES] = {1, 2, 3, 4}, tail[LANES] = {0}, h = n;
    size_t left = n;
    for (; left >= BLOCK; left -= BLOCK, p += BLOCK) {
        uint64_t v[LANES];
        memcpy(v, p, BLOCK);
        for (int i = 0; i < LANES; i++)
            lane[i] = step(lane[i], v[i]);
    }
    if (left)
        memcpy(tail, p, left);
    for (int i = 0; i < LANES; i++)
        h = step(step(h, lane[i]), tail[i]);
    return h;
}
