/* radix.c - least significant byte first; bytes that all keys share are skipped. */
#include "base/radix.h"

#include <string.h>

enum { SMALL = 48 };

static void insertion_sort(ac_keyed *v, int32_t n)
{
    for (int32_t i = 1; i < n; i++) {
        ac_keyed x = v[i];
        int32_t k = i;
        for (; k && v[k - 1].key > x.key; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

void ac_radix_sort(ac_keyed *v, int32_t n, ac_keyed *spare)
{
    if (n <= SMALL) {
        insertion_sort(v, n);
        return;
    }
    uint64_t differ = 0;
    for (int32_t i = 1; i < n; i++)
        differ |= v[i].key ^ v[0].key;
    ac_keyed *from = v, *to = spare;
    for (int shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & 255))
            continue;
        int32_t start[256] = {0}, sum = 0;
        for (int32_t i = 0; i < n; i++)
            start[from[i].key >> shift & 255]++;
        for (int b = 0; b < 256; b++) {
            int32_t count = start[b];
            start[b] = sum;
            sum += count;
        }
        for (int32_t i = 0; i < n; i++)
            to[start[from[i].key >> shift & 255]++] = from[i];
        ac_keyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != v)
        memcpy(v, from, (size_t)n * sizeof *v);
}
