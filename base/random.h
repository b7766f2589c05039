/* random.h - numbers that look random and are the same everywhere: xorshift64* (Vigna 2016) and splitmix64. */
#ifndef AC_BASE_RANDOM_H
#define AC_BASE_RANDOM_H
#include <stdint.h>

#define AC_RANDOM_START 0x9e3779b97f4a7c15ull /* any state but 0 */

/* 0 <= result < below <= 2^32 */
static inline uint64_t ac_random(uint64_t *state, uint64_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * 0x2545f4914f6cdd1dull >> 32) * below >> 32;
}

/* splitmix64 (Steele, Lea, Flood 2014): the next of all 64-bit numbers, for any state. */
static inline uint64_t ac_splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
