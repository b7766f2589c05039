/* siphash.c - SipHash-2-4; see siphash.h. */
#include "base/hash/siphash.h"

#include "base/sys/sys.h"

static uint64_t rotated(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void round_of(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotated(v[1], 13) ^ v[0];
    v[3] = rotated(v[3], 16) ^ v[2];
    v[0] = rotated(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotated(v[1], 17) ^ v[2];
    v[3] = rotated(v[3], 21) ^ v[0];
    v[2] = rotated(v[2], 32);
}

static void take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    round_of(v);
    round_of(v);
    v[0] ^= word;
}

uint64_t ac_siphash(const uint64_t key[2], const void *text, size_t n)
{
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                     key[1] ^ 0x7465646279746573u};
    const unsigned char *p = text;
    uint64_t last = (uint64_t)n << 56;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && i + k < n; k++)
            word |= (uint64_t)p[i + k] << (8 * k);
        if (n - i >= 8)
            take(v, word);
        else
            last |= word;
    }
    take(v, last);
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        round_of(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void ac_random_key(uint64_t key[2])
{
    const size_t n = 2 * sizeof *key;
    if (ac_sys_random(key, n))
        return;
    const double now = ac_sys_now_ms(); /* the system is starting up: a value that an attacker cannot choose suffices */
    key[0] = (uint64_t)(now * 1e6) * 0x9e3779b97f4a7c15u ^ (uint64_t)(uintptr_t)key;
    key[1] = (uint64_t)now * 0x9e3779b97f4a7c15u ^ (uint64_t)(uintptr_t)&now;
}
