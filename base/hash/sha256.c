/* sha256.c - SHA-256 (FIPS 180-4); with the instructions of x86-64 and AArch64 for it where this processor has them. */
#include "base/hash/sha256.h"

#include <stdbool.h>

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
/* gcc allows these intrinsics in functions with a target attribute; clang before 16 wants a flag for the file. */
#elif defined(__AARCH64EL__) && defined(__linux__) && (!defined(__clang__) || defined(__ARM_FEATURE_SHA2))
#include <arm_neon.h>
#include <sys/auxv.h>
#define ON_AARCH64
#ifdef __ARM_FEATURE_SHA2
#define HAS_SHA2
#else
#define HAS_SHA2 __attribute__((target("+crypto")))
#endif
#endif

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

#if defined(__x86_64__)

static bool has_instructions(void)
{
    enum { SSE41 = 1 << 19, SHA = 1 << 29 };
    unsigned a, b, c, d, all;
    return __get_cpuid(1, &a, &b, &c, &d) && c & SSE41 && __get_cpuid_count(7, 0, &a, &all, &c, &d) && all & SHA;
}

/* The state as the instructions have it, {f, e, b, a} and {h, g, d, c}, through n blocks. */
__attribute__((target("sha,sse4.1"))) static void blocks_by_instructions(uint32_t h[8], const uint8_t *p, size_t n)
{
    const __m128i big = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)h), 0xb1),
                  hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(h + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
    for (; n; n--, p += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i w[4];
        for (int k = 0; k < 4; k++)
            w[k] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16 * k)), big);
            /* Four rounds; after the first sixteen, their words are made of the sixteen before. */
#define ROUNDS(k)                                                                                               \
    do {                                                                                                        \
        if (i)                                                                                                  \
            w[k] = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w[k], w[((k) + 1) & 3]),             \
                                                      _mm_alignr_epi8(w[((k) + 3) & 3], w[((k) + 2) & 3], 4)),  \
                                        w[((k) + 3) & 3]);                                                      \
        const __m128i t = _mm_add_epi32(w[k], _mm_loadu_si128((const __m128i *)(const void *)&K[i + 4 * (k)])); \
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, t);                                                            \
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(t, 0x0e));                                   \
    } while (0)
        for (int i = 0; i < 64; i += 16) {
            ROUNDS(0);
            ROUNDS(1);
            ROUNDS(2);
            ROUNDS(3);
        }
#undef ROUNDS
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#elif defined(ON_AARCH64)

static bool has_instructions(void)
{
    enum { SHA2 = 1 << 6 }; /* HWCAP_SHA2 */
    return getauxval(AT_HWCAP) & SHA2;
}

/* The state is {a, b, c, d} and {e, f, g, h}. */
HAS_SHA2 static void blocks_by_instructions(uint32_t h[8], const uint8_t *p, size_t n)
{
    uint32x4_t abcd = vld1q_u32(h), efgh = vld1q_u32(h + 4);
    for (; n; n--, p += 64) {
        const uint32x4_t abcd_before = abcd, efgh_before = efgh;
        uint32x4_t w[4];
        for (int k = 0; k < 4; k++)
            w[k] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(p + 16 * k)));
            /* Four rounds; after the first sixteen, their words are made of the sixteen before. */
#define ROUNDS(k)                                                                                                \
    do {                                                                                                         \
        if (i)                                                                                                   \
            w[k] = vsha256su1q_u32(vsha256su0q_u32(w[k], w[((k) + 1) & 3]), w[((k) + 2) & 3], w[((k) + 3) & 3]); \
        const uint32x4_t t = vaddq_u32(w[k], vld1q_u32(&K[i + 4 * (k)])), of = abcd;                             \
        abcd = vsha256hq_u32(abcd, efgh, t);                                                                     \
        efgh = vsha256h2q_u32(efgh, of, t);                                                                      \
    } while (0)
        for (int i = 0; i < 64; i += 16) {
            ROUNDS(0);
            ROUNDS(1);
            ROUNDS(2);
            ROUNDS(3);
        }
#undef ROUNDS
        abcd = vaddq_u32(abcd, abcd_before);
        efgh = vaddq_u32(efgh, efgh_before);
    }
    vst1q_u32(h, abcd);
    vst1q_u32(h + 4, efgh);
}

#endif

static void blocks(uint32_t h[8], const uint8_t *p, size_t n)
{
#if defined(__x86_64__) || defined(ON_AARCH64)
    if (has_instructions()) {
        blocks_by_instructions(h, p, n);
        return;
    }
#endif
    for (; n; n--, p += 64)
        block(h, p);
}

ac_sha256 ac_sha256_open(void)
{
    return (ac_sha256){
        .h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void ac_sha256_add(ac_sha256 *s, const void *data, size_t n)
{
    const uint8_t *p = data;
    const size_t held = s->n % 64, first = held ? (n < 64 - held ? n : 64 - held) : 0;
    if (!n)
        return;
    s->n += n;
    memcpy(s->part + held, p, first);
    if (held && held + first == 64)
        blocks(s->h, s->part, 1);
    p += first;
    n -= first;
    blocks(s->h, p, n / 64);
    if (n % 64)
        memcpy(s->part, p + n / 64 * 64, n % 64);
}

void ac_sha256_close(ac_sha256 *s, char hex[65])
{
    const size_t left = s->n % 64, end = left < 56 ? 64 : 128;
    uint8_t tail[128] = {0};
    memcpy(tail, s->part, left);
    tail[left] = 0x80;
    for (int i = 0; i < 8; i++)
        tail[end - 1 - (size_t)i] = (uint8_t)(s->n * 8 >> 8 * i);
    blocks(s->h, tail, end / 64);
    for (int i = 0; i < 64; i++)
        hex[i] = "0123456789abcdef"[s->h[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = 0;
}

void ac_sha256_hex(const void *data, size_t n, char hex[65])
{
    ac_sha256 s = ac_sha256_open();
    ac_sha256_add(&s, data, n);
    ac_sha256_close(&s, hex);
}
