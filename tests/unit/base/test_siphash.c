/* test_siphash.c - the test vectors of the paper's authors, keys that differ, and names under a key, also those that a
 * hash without one is attacked with. */
#include "base/ctx.h"
#include "base/hash/siphash.h"
#include "tests/unit/support/in_context.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Key 00 01 .. 0f, texts 00 01 .. of length 0, 1, 7, 8, 15. */
static void test_vectors(void)
{
    static const struct {
        size_t n;
        uint64_t want;
    } VECTOR[] = {{0, 0x726fdb47dd0e0e31u},
                  {1, 0x74f839c593dc67fdu},
                  {7, 0xab0200f58b01d137u},
                  {8, 0x93f5f5799a932462u},
                  {15, 0xa129ca6149be45e5u}};
    const uint64_t key[2] = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
    unsigned char text[16];
    for (int i = 0; i < 16; i++)
        text[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof VECTOR / sizeof *VECTOR; i++)
        CHECK(ac_siphash(key, text, VECTOR[i].n) == VECTOR[i].want);
}

static void test_keys(void)
{
    uint64_t a[2] = {0}, b[2] = {0};
    ac_random_key(a);
    ac_random_key(b);
    CHECK(memcmp(a, b, sizeof a));
    CHECK(ac_siphash(a, "kws", 3) != ac_siphash(b, "kws", 3));
}

/* ------------------------------------------------------------------ names that collide */

enum { LEVELS = 15, BLOCK = 8, BLOCKS = 300000, LENGTH = LEVELS * BLOCK };

typedef struct guess {
    uint32_t hash, block;
} guess;

static void put_block(char *to, uint32_t block)
{
    uint64_t x = (block + 1) * UINT64_C(0x9e3779b97f4a7c15); /* short texts of few letters hardly collide */
    for (int i = 0; i < BLOCK; i++, x >>= 8)
        to[i] = (char)('a' + (x & 255) % 26);
}

static uint32_t fnv1a(uint32_t h, const char *s, int n)
{
    for (int i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h;
}

static int by_hash(const void *a, const void *b)
{
    const guess *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Two blocks for each level that lead to the same state: all of their 2^LEVELS combinations have the same FNV-1a (Joux,
 * Multicollisions in iterated hash functions, 2004). */
static bool find_pairs(uint32_t pair[LEVELS][2])
{
    guess *g = malloc(BLOCKS * sizeof *g);
    uint32_t state = 2166136261u, i = 0;
    CHECK(g);
    for (int level = 0; g && level < LEVELS; level++) {
        for (i = 0; i < BLOCKS; i++) {
            char text[BLOCK];
            put_block(text, i);
            g[i] = (guess){fnv1a(state, text, BLOCK), i};
        }
        qsort(g, BLOCKS, sizeof *g, by_hash);
        for (i = 1; i < BLOCKS && g[i].hash != g[i - 1].hash; i++)
            ;
        if (i == BLOCKS)
            break;
        state = g[i].hash;
        pair[level][0] = g[i - 1].block;
        pair[level][1] = g[i].block;
    }
    free(g);
    return i < BLOCKS;
}

/* Seconds of the processor for 2^LEVELS names, those of the pairs. */
static double time_names(ac_ctx *cx, uint32_t pair[LEVELS][2])
{
    const clock_t begin = clock();
    for (uint32_t n = 0; n < 1u << LEVELS; n++) {
        char name[LENGTH];
        for (int level = 0; level < LEVELS; level++)
            put_block(name + level * BLOCK, pair[level][n >> level & 1]);
        ac_intern_n(cx, name, LENGTH);
    }
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

static void test_collisions(ac_ctx *cx)
{
    uint32_t pair[LEVELS][2], other[LEVELS][2];
    const uint32_t before = cx->names.n;
    if (!find_pairs(pair)) {
        CHECK(false && "no colliding names were found");
        return;
    }
    for (int level = 0; level < LEVELS; level++)
        for (int k = 0; k < 2; k++)
            other[level][k] = pair[level][k] + 1;
    const double usual = time_names(cx, other), hostile = time_names(cx, pair);
    CHECK(cx->names.n == before + (2u << LEVELS));
    CHECK(hostile < 10 * usual + 0.05);
}

/* ------------------------------------------------------------------ names */

/* Names of a context are the same pointers, whatever its key. */
static void tests(ac_ctx *cx)
{
    enum { NAMES = 5000 };
    const char *first[NAMES];
    test_vectors();
    test_keys();
    test_collisions(cx);
    const uint32_t before = cx->names.n;
    for (int i = 0; i < NAMES; i++)
        first[i] = ac_internf(cx, "name_%d", i);
    for (int i = 0; i < NAMES; i++)
        CHECK(first[i] == ac_internf(cx, "name_%d", i));
    CHECK(cx->names.n == before + NAMES && (cx->names.key[0] || cx->names.key[1]));
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
