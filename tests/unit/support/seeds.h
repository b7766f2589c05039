/* seeds.h - random numbers of tests: the same on every machine. */
#ifndef AC_TESTS_UNIT_SUPPORT_SEEDS_H
#define AC_TESTS_UNIT_SUPPORT_SEEDS_H
#include <stdint.h>

static uint64_t seed = 1;

static inline uint64_t rnd(void) /* xorshift64* */
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 0x2545f4914f6cdd1du;
}

/* 0 .. n - 1 */
static inline int32_t below(int32_t n)
{
    return (int32_t)(rnd() >> 33) % n;
}
#endif
