/* replay_hash.c - SHA-256 (FIPS 180-4) of a file, to compare it with those that a certificate of code names; see
 * replay.h. */
#include "prove/replay/replay.h"

#include <stdio.h>
#include <string.h>

static uint32_t turned(uint32_t v, int by)
{
    return v >> by | v << (32 - by);
}

/* The first 32 bits after the point of the n-th root (2 or 3) of a prime below 312, by trying bit after bit. */
static uint32_t root_bits(int prime, int root)
{
    whole bits = 0;
    for (int k = 35; k >= 0; k--) {
        const whole more = bits | (whole)1 << k;
        const whole power = root == 2 ? more * more : more * more * more;
        if (power <= (whole)prime << (32 * root))
            bits = more;
    }
    return (uint32_t)bits;
}

typedef struct tables {
    uint32_t start[8], round[64];
} tables;

/* The constants of the standard: roots of the first 64 primes. */
static tables make_tables(void)
{
    tables t;
    int n = 0;
    for (int p = 2; n < 64; p++) {
        bool prime = true;
        for (int q = 2; q * q <= p; q++)
            prime &= p % q != 0;
        if (prime && n < 8)
            t.start[n] = root_bits(p, 2);
        if (prime)
            t.round[n++] = root_bits(p, 3);
    }
    return t;
}

static void add_block(uint32_t h[8], const unsigned char *block, const tables *t)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        const uint32_t a = w[i - 15], b = w[i - 2];
        w[i] =
            w[i - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[i - 7] + (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        const uint32_t e = v[4], a = v[0];
        const uint32_t first =
            v[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + t->round[i] + w[i];
        const uint32_t second =
            (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

void hash_file(const char *path, char hex[65])
{
    const tables t = make_tables();
    uint32_t h[8];
    unsigned char block[128];
    uint64_t bytes = 0;
    size_t n = 64;
    FILE *file = fopen(path, "rb");
    if (!file)
        refuse("cannot open %s", path);
    memcpy(h, t.start, sizeof h);
    while (n == 64) {
        n = fread(block, 1, 64, file);
        bytes += n;
        if (n == 64)
            add_block(h, block, &t);
    }
    if (ferror(file))
        refuse("cannot read %s", path);
    fclose(file);
    const size_t end = n < 56 ? 64 : 128;
    memset(block + n, 0, sizeof block - n);
    block[n] = 0x80;
    for (size_t i = 0; i < 8; i++)
        block[end - 1 - i] = (unsigned char)(bytes * 8 >> (8 * i));
    for (size_t at = 0; at < end; at += 64)
        add_block(h, block + at, &t);
    for (int i = 0; i < 8; i++)
        snprintf(hex + 8 * i, 9, "%08x", h[i]);
}
