/* sha256.c - SHA-256 (FIPS 180-4). */
#include "base/sha256.h"

#include <stdint.h>
#include <string.h>

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* The constants are the fractional parts of square and cube roots of the first primes (FIPS 180-4, 4.2.2 and 5.3.3). */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static void block(uint32_t h[8], const uint8_t *p)
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[i - 7] + (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10);
    }
    memcpy(s, h, sizeof s);
    /* Eight rounds rename the state once around, so nothing moves: in round k the first of the eight is s[-k mod 8]. */
#define S(j, k) s[((j) - (k)) & 7]
#define ROUND(k)                                                                                   \
    do {                                                                                           \
        const uint32_t t = S(7, k) + (rotr(S(4, k), 6) ^ rotr(S(4, k), 11) ^ rotr(S(4, k), 25)) +  \
                           ((S(4, k) & S(5, k)) ^ (~S(4, k) & S(6, k))) + K[i + (k)] + w[i + (k)]; \
        S(3, k) += t;                                                                              \
        S(7, k) = t + (rotr(S(0, k), 2) ^ rotr(S(0, k), 13) ^ rotr(S(0, k), 22)) +                 \
                  ((S(0, k) & S(1, k)) ^ (S(0, k) & S(2, k)) ^ (S(1, k) & S(2, k)));               \
    } while (0)
    for (int i = 0; i < 64; i += 8) {
        ROUND(0);
        ROUND(1);
        ROUND(2);
        ROUND(3);
        ROUND(4);
        ROUND(5);
        ROUND(6);
        ROUND(7);
    }
#undef ROUND
#undef S
    for (int i = 0; i < 8; i++)
        h[i] += s[i];
}

void ac_sha256_hex(const void *data, size_t n, char hex[65])
{
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *p = data;
    size_t left = n;
    for (; left >= 64; left -= 64, p += 64)
        block(h, p);
    uint8_t tail[128] = {0};
    if (left)
        memcpy(tail, p, left);
    tail[left] = 0x80;
    size_t end = left < 56 ? 64 : 128;
    for (int i = 0; i < 8; i++)
        tail[end - 1 - (size_t)i] = (uint8_t)((uint64_t)n * 8 >> 8 * i);
    block(h, tail);
    if (end == 128)
        block(h, tail + 64);
    for (int i = 0; i < 64; i++)
        hex[i] = "0123456789abcdef"[h[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = 0;
}
