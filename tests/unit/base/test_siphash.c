/* test_siphash.c - the test vectors of the paper's authors, keys that differ, and names under a key. */
#include "base/ctx.h"
#include "base/siphash.h"
#include "tests/unit/support/in_context.h"

#include <string.h>

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

/* Names of a context are the same pointers, whatever its key. */
static void tests(ac_ctx *cx)
{
    enum { NAMES = 5000 };
    const char *first[NAMES];
    const uint32_t before = cx->names.n;
    test_vectors();
    test_keys();
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
