 * Compile without -ffast-math. The API is in tiles.h. */
#include "tiles.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef TILES_STEP_BEGIN
#define TILES_STEP_BEGIN(i) ((void)0)
#endif
#ifndef TILES_STEP_END
#define TILES_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef TILES_SECTION_RODATA
#define TILES_SECTION_RODATA
#endif
#ifndef TILES_SECTION_FAST
#define TILES_SECTION_FAST
#endif
/* Steps stay functions of their own: put into tiles_run they share its registers, and spill. */
#ifndef TILES_NOINLINE
#if defined(__GNUC__) || defined(__clang__)
#define TILES_NOINLINE __attribute__((noinline))
#else
#define TILES_NOINLINE
#endif
#endif

#if ((-1) >> 1) != (-1)
#error "right shifts of negative numbers must be arithmetic"
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL.
 * What is loaded early keeps sums out of registers: only a second pass schedules, and no value of an iteration
 * stays for the next ones. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks,no-schedule-insns,no-predictive-commoning")
#endif

/* Adds to 8 accumulators: a row by 8 channels of packed weights, 4 elements of each in a step. */
static inline void tile_unsigned_8x4(const uint8_t *x, const uint8_t *w, int32_t steps, int32_t *acc)
{
#if defined(__thumb__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(TILES_NO_ASM) && !defined(__OPTIMIZE_SIZE__)
    const uint8_t *const end = x + steps * 4;
    for (int32_t c = 0; c < 8; c += 8) {
        const uint8_t *at = x, *from = &w[c];
        uint32_t v, t;
        int32_t c0 = acc[c + 0];
        int32_t c1 = acc[c + 1];
        int32_t c2 = acc[c + 2];
        int32_t c3 = acc[c + 3];
        int32_t c4 = acc[c + 4];
        int32_t c5 = acc[c + 5];
        int32_t c6 = acc[c + 6];
        int32_t c7 = acc[c + 7];
        __asm__ volatile(
        ".syntax unified\n"
        "1:\n"
        "ldrb %[v], [%[x], #0]\n"
        "ldrb %[t], [%[w], #0]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #1]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #2]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #3]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[t], [%[w], #4]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c4], %[t]\n"
        "ldrb %[t], [%[w], #5]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c5], %[t]\n"
        "ldrb %[t], [%[w], #6]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c6], %[t]\n"
        "ldrb %[t], [%[w], #7]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c7], %[t]\n"
        "ldrb %[v], [%[x], #1]\n"
        "ldrb %[t], [%[w], #8]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #9]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #10]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #11]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[t], [%[w], #12]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c4], %[t]\n"
        "ldrb %[t], [%[w], #13]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c5], %[t]\n"
        "ldrb %[t], [%[w], #14]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c6], %[t]\n"
        "ldrb %[t], [%[w], #15]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c7], %[t]\n"
        "ldrb %[v], [%[x], #2]\n"
        "ldrb %[t], [%[w], #16]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #17]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #18]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #19]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[t], [%[w], #20]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c4], %[t]\n"
        "ldrb %[t], [%[w], #21]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c5], %[t]\n"
        "ldrb %[t], [%[w], #22]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c6], %[t]\n"
        "ldrb %[t], [%[w], #23]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c7], %[t]\n"
        "ldrb %[v], [%[x], #3]\n"
        "ldrb %[t], [%[w], #24]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #25]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #26]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #27]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[t], [%[w], #28]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c4], %[t]\n"
        "ldrb %[t], [%[w], #29]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c5], %[t]\n"
        "ldrb %[t], [%[w], #30]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c6], %[t]\n"
        "ldrb %[t], [%[w], #31]\n"
        "muls %[t], %[v], %[t]\n"
        "add %[c7], %[t]\n"
        "adds %[w], #32\n"
        "adds %[x], #4\n"
        "cmp %[x], %[end]\n"
        "bne 1b\n"
        : [c0] "+l"(c0), [c1] "+l"(c1), [c2] "+l"(c2), [c3] "+l"(c3), [c4] "+h"(c4), [c5] "+h"(c5), [c6] "+h"(c6),
            [c7] "+h"(c7), [x] "+l"(at), [w] "+l"(from),
          [v] "=&l"(v), [t] "=&l"(t)
        : [end] "h"(end)
        : "cc", "memory");
        acc[c + 0] = c0;
        acc[c + 1] = c1;
        acc[c + 2] = c2;
        acc[c + 3] = c3;
        acc[c + 4] = c4;
        acc[c + 5] = c5;
        acc[c + 6] = c6;
        acc[c + 7] = c7;
    }
#elif defined(__thumb__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(TILES_NO_ASM)
    const uint8_t *const end = x + steps * 4;
    for (int32_t c = 0; c < 8; c += 4) {
        const uint8_t *at = x, *from = &w[c];
        uint32_t v, t;
        int32_t c0 = acc[c + 0];
        int32_t c1 = acc[c + 1];
        int32_t c2 = acc[c + 2];
        int32_t c3 = acc[c + 3];
        __asm__ volatile(
        ".syntax unified\n"
        "1:\n"
        "ldrb %[v], [%[x], #0]\n"
        "ldrb %[t], [%[w], #0]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #1]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #2]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #3]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[v], [%[x], #1]\n"
        "ldrb %[t], [%[w], #8]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #9]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #10]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #11]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[v], [%[x], #2]\n"
        "ldrb %[t], [%[w], #16]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #17]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #18]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #19]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[v], [%[x], #3]\n"
        "ldrb %[t], [%[w], #24]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #25]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #26]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #27]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "adds %[w], #32\n"
        "adds %[x], #4\n"
        "cmp %[x], %[end]\n"
        "bne 1b\n"
        : [c0] "+l"(c0), [c1] "+l"(c1), [c2] "+l"(c2), [c3] "+l"(c3), [x] "+l"(at), [w] "+l"(from),
          [v] "=&l"(v), [t] "=&l"(t)
        : [end] "h"(end)
        : "cc", "memory");
        acc[c + 0] = c0;
        acc[c + 1] = c1;
        acc[c + 2] = c2;
        acc[c + 3] = c3;
    }
#else
    for (int32_t k = 0; k < steps * 4; k++) {
        for (int32_t c = 0; c < 8; c++) {
            const int32_t by = (int32_t)x[k] * (int32_t)w[k * 8 + c];
            const uint32_t sum = (uint32_t)acc[c] + (uint32_t)by;
            acc[c] = (int32_t)sum;
        }
    }
#endif
}

static inline int32_t i32_from_u32(uint32_t x)
{
    return (int32_t)x;
}

static inline int8_t sat_i8_shr(int32_t x, int32_t n)
{
    int32_t y = x >> n;
    y = (y > -128) ? y : -128;
    y = (y < 127) ? y : 127;
    return (int8_t)y;
}

/* Adds to 2 accumulators: a row by 2 channels of packed weights, 16 elements of each in a step. */
static inline void tile_unsigned_2x16(const uint8_t *x, const uint8_t *w, int32_t steps, int32_t *acc)
{
#if defined(__thumb__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(TILES_NO_ASM)
    const uint8_t *const end = x + steps * 16;
    for (int32_t c = 0; c < 2; c += 2) {
        const uint8_t *at = x, *from = &w[c];
        uint32_t v, t;
        int32_t c0 = acc[c + 0];
        int32_t c1 = acc[c + 1];
        __asm__ volatile(
        ".syntax unified\n"
        "1:\n"
        "ldrb %[v], [%[x], #0]\n"
        "ldrb %[t], [%[w], #0]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #1]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #1]\n"
        "ldrb %[t], [%[w], #2]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #3]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #2]\n"
        "ldrb %[t], [%[w], #4]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #5]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #3]\n"
        "ldrb %[t], [%[w], #6]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #7]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #4]\n"
        "ldrb %[t], [%[w], #8]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #9]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #5]\n"
        "ldrb %[t], [%[w], #10]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #11]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #6]\n"
        "ldrb %[t], [%[w], #12]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #13]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #7]\n"
        "ldrb %[t], [%[w], #14]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #15]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #8]\n"
        "ldrb %[t], [%[w], #16]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #17]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #9]\n"
        "ldrb %[t], [%[w], #18]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #19]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #10]\n"
        "ldrb %[t], [%[w], #20]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #21]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #11]\n"
        "ldrb %[t], [%[w], #22]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #23]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #12]\n"
        "ldrb %[t], [%[w], #24]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #25]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #13]\n"
        "ldrb %[t], [%[w], #26]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #27]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #14]\n"
        "ldrb %[t], [%[w], #28]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #29]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[v], [%[x], #15]\n"
        "ldrb %[t], [%[w], #30]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #31]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "adds %[w], #32\n"
        "adds %[x], #16\n"
        "cmp %[x], %[end]\n"
        "bne 1b\n"
        : [c0] "+l"(c0), [c1] "+l"(c1), [x] "+l"(at), [w] "+l"(from),
          [v] "=&l"(v), [t] "=&l"(t)
        : [end] "h"(end)
        : "cc", "memory");
        acc[c + 0] = c0;
        acc[c + 1] = c1;
    }
#else
    for (int32_t k = 0; k < steps * 16; k++) {
        for (int32_t c = 0; c < 2; c++) {
            const int32_t by = (int32_t)x[k] * (int32_t)w[k * 2 + c];
            const uint32_t sum = (uint32_t)acc[c] + (uint32_t)by;
            acc[c] = (int32_t)sum;
        }
    }
#endif
}

static inline uint32_t u32_from_i32(int32_t x)
{
    return (uint32_t)x;
}

/* Adds to 4 accumulators: a row by 4 channels of packed weights, 8 elements of each in a step. */
static inline void tile_unsigned_4x8(const uint8_t *x, const uint8_t *w, int32_t steps, int32_t *acc)
{
#if defined(__thumb__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) && \
    !defined(TILES_NO_ASM)
    const uint8_t *const end = x + steps * 8;
    for (int32_t c = 0; c < 4; c += 4) {
        const uint8_t *at = x, *from = &w[c];
        uint32_t v, t;
        int32_t c0 = acc[c + 0];
        int32_t c1 = acc[c + 1];
        int32_t c2 = acc[c + 2];
        int32_t c3 = acc[c + 3];
        __asm__ volatile(
        ".syntax unified\n"
        "1:\n"
        "ldrb %[v], [%[x], #0]\n"
        "ldrb %[t], [%[w], #0]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #1]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #2]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #3]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[v], [%[x], #1]\n"
        "ldrb %[t], [%[w], #4]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #5]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #6]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #7]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[v], [%[x], #2]\n"
        "ldrb %[t], [%[w], #8]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #9]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #10]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #11]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[v], [%[x], #3]\n"
        "ldrb %[t], [%[w], #12]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #13]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #14]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #15]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[v], [%[x], #4]\n"
        "ldrb %[t], [%[w], #16]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #17]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #18]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #19]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[v], [%[x], #5]\n"
        "ldrb %[t], [%[w], #20]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #21]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #22]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #23]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[v], [%[x], #6]\n"
        "ldrb %[t], [%[w], #24]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #25]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #26]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #27]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "ldrb %[v], [%[x], #7]\n"
        "ldrb %[t], [%[w], #28]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c0], %[c0], %[t]\n"
        "ldrb %[t], [%[w], #29]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c1], %[c1], %[t]\n"
        "ldrb %[t], [%[w], #30]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c2], %[c2], %[t]\n"
        "ldrb %[t], [%[w], #31]\n"
        "muls %[t], %[v], %[t]\n"
        "adds %[c3], %[c3], %[t]\n"
        "adds %[w], #32\n"
        "adds %[x], #8\n"
        "cmp %[x], %[end]\n"
        "bne 1b\n"
        : [c0] "+l"(c0), [c1] "+l"(c1), [c2] "+l"(c2), [c3] "+l"(c3), [x] "+l"(at), [w] "+l"(from),
          [v] "=&l"(v), [t] "=&l"(t)
        : [end] "h"(end)
        : "cc", "memory");
        acc[c + 0] = c0;
        acc[c + 1] = c1;
        acc[c + 2] = c2;
        acc[c + 3] = c3;
    }
#else
    for (int32_t k = 0; k < steps * 8; k++) {
        for (int32_t c = 0; c < 4; c++) {
            const int32_t by = (int32_t)x[k] * (int32_t)w[k * 4 + c];
            const uint32_t sum = (uint32_t)acc[c] + (uint32_t)by;
            acc[c] = (int32_t)sum;
        }
    }
#endif
}

TILES_SECTION_RODATA static const int32_t tiles_conv_2d_0_bias[8] = {
    -32500, 13250, -33500, -14750, 5250, -16125, -28750, 8500
};

TILES_SECTION_RODATA static const uint8_t tiles_conv_2d_0_w[128] = {
    145, 165, 102, 228, 184, 166, 219, 163, 191, 208, 112, 233, 72, 57, 216, 153, 248, 174, 65, 77, 10, 108,
    1, 48, 114, 226, 136, 34, 6, 227, 79, 26, 114, 17, 139, 84, 145, 175, 188, 253, 195, 21, 191, 240, 31, 240,
    151, 104, 224, 127, 209, 101, 42, 192, 170, 121, 134, 32, 171, 23, 210, 33, 124, 144, 73, 74, 220, 155, 249,
    46, 118, 177, 203, 13, 181, 40, 177, 189, 253, 189, 104, 132, 61, 245, 145, 200, 164, 248, 155, 183, 168,
    224, 121, 99, 8, 122, 117, 12, 222, 135, 160, 25, 217, 56, 136, 255, 215, 18, 220, 243, 232, 51, 112, 153,
    83, 192, 206, 153, 99, 24, 43, 150, 41, 137, 28, 24, 39, 101
};

TILES_SECTION_RODATA static const int32_t tiles_fully_connected_1_bias[2] = {
    -20500, 31125
};

TILES_SECTION_RODATA static const uint8_t tiles_fully_connected_1_w[32] = {
    151, 52, 192, 93, 152, 97, 196, 54, 80, 13, 89, 135, 186, 98, 189, 85, 64, 234, 186, 189, 87, 134, 112,
    159, 142, 3, 96, 77, 238, 222, 52, 154
};

TILES_SECTION_RODATA static const int32_t tiles_fully_connected_2_bias[4] = {
    -15875, -18000, 10875, 12375
};

TILES_SECTION_RODATA static const uint8_t tiles_fully_connected_2_w[64] = {
    29, 79, 49, 139, 179, 27, 230, 40, 157, 45, 110, 175, 19, 150, 55, 178, 56, 209, 121, 137, 163, 239, 171,
    138, 35, 171, 97, 106, 227, 49, 95, 110, 126, 159, 41, 38, 227, 227, 130, 171, 179, 56, 181, 153, 182, 31,
    219, 95, 123, 164, 81, 87, 86, 223, 147, 50, 183, 178, 229, 226, 204, 185, 5, 106
};

/* conv_2d 'a' -> i8 [1,3,2,8]
 * step 0: conv_2d 'a', 768 MACs: x i8 [1,3,2,16] at 0x0050 -> i8 [1,3,2,8] at 0x0000
 *   bias  i32[8]
 *   x     i8[96]  i8 [1,3,2,16] x
 *   line  u8[16]
 *   w     u8[128]
 *   out   i8[48]  i8 [1,3,2,8] a */
TILES_SECTION_FAST TILES_NOINLINE
static void tiles_conv_2d_0(const int32_t *restrict bias, const int8_t *restrict x, uint8_t *restrict line,
    const uint8_t *restrict w, int8_t *restrict out)
{
    int32_t acc[8];
    int32_t sum = 0;
    for (int32_t oy = 0; oy < 3; oy++) {
        for (int32_t p = 0; p < 2; p++) {
            sum = 2000;
            const int32_t t0 = oy * 8;
            const int32_t t1 = p * 4;
            const int32_t t2 = -t1;
            const int32_t t3 = t1 + 4;
            for (int32_t i = t1; i < t3; i++) {
                const int32_t t4 = (t0 + i) * 4;
                const uint8_t t5 = (uint8_t)((uint8_t)x[t4 + 1] ^ 128u);
                const uint8_t t6 = (uint8_t)((uint8_t)x[t4 + 2] ^ 128u);
                const uint8_t t7 = (uint8_t)((uint8_t)x[t4 + 3] ^ 128u);
                const int32_t t8 = (i + t2) * 4;
                const uint8_t t9 = (uint8_t)((uint8_t)x[t4] ^ 128u);
                line[t8] = t9;
                line[t8 + 1] = t5;
                line[t8 + 2] = t6;
                line[t8 + 3] = t7;
                sum = sum - 500 + (int32_t)t9 + (int32_t)t5 + (int32_t)t6 + (int32_t)t7;
            }
            for (int32_t oc = 0; oc < 8; oc += 8) {
                const int32_t t10 = sum * -128;
                acc[0] = t10;
                acc[1] = t10;
                acc[2] = t10;
                acc[3] = t10;
                acc[4] = t10;
                acc[5] = t10;
                acc[6] = t10;
                acc[7] = t10;
                tile_unsigned_8x4(line, w + oc * 16, 4, acc);
                for (int32_t c = 0; c < 8; c++) {
                    const int32_t t11 = oc + c;
                    const int32_t t12 = i32_from_u32(
                        (uint32_t)i32_from_u32((uint32_t)i32_from_u32((uint32_t)acc[c] + (uint32_t)bias[t11]) * 5243u) +
                            2621439u);
                    out[oy * 16 + (p * 8 + t11)] = sat_i8_shr(t12, 20);
                }
            }
        }
    }
}

/* fully_connected 'b' -> i8 [1,2]
 * step 1: fully_connected 'b', 32 MACs: z i8 [1,16] at 0x0030 -> i8 [1,2] at 0x0040
 *   bias  i32[2]
 *   x     i8[16]  i8 [1,16] z
 *   line  u8[16]
 *   w     u8[32]
 *   out   i8[2]  i8 [1,2] b */
TILES_SECTION_FAST TILES_NOINLINE
static void tiles_fully_connected_1(const int32_t *restrict bias, const int8_t *restrict x, uint8_t *restrict line,
    const uint8_t *restrict w, int8_t *restrict out)
{
    int32_t acc[2];
    int32_t sum = 0;
    for (int32_t p = 0; p < 1; p++) {
        sum = 2000;
        const int32_t t0 = p * 4;
        const int32_t t1 = -t0;
        const int32_t t2 = t0 + 4;
        for (int32_t i = t0; i < t2; i++) {
            const int32_t t3 = i * 4;
            const uint8_t t4 = (uint8_t)((uint8_t)x[t3 + 1] ^ 128u);
            const uint8_t t5 = (uint8_t)((uint8_t)x[t3 + 2] ^ 128u);
            const uint8_t t6 = (uint8_t)((uint8_t)x[t3 + 3] ^ 128u);
            const int32_t t7 = (i + t1) * 4;
            const uint8_t t8 = (uint8_t)((uint8_t)x[t3] ^ 128u);
            line[t7] = t8;
            line[t7 + 1] = t4;
            line[t7 + 2] = t5;
            line[t7 + 3] = t6;
            sum = sum - 500 + (int32_t)t8 + (int32_t)t4 + (int32_t)t5 + (int32_t)t6;
        }
        for (int32_t oc = 0; oc < 2; oc += 2) {
            const int32_t t9 = sum * -128;
            acc[0] = t9;
            acc[1] = t9;
            tile_unsigned_2x16(line, w + oc * 16, 1, acc);
            for (int32_t c = 0; c < 2; c++) {
                const int32_t t10 = oc + c;
                const int32_t t11 = i32_from_u32((uint32_t)acc[c] + (uint32_t)bias[t10]);
                const int32_t t12 = i32_from_u32((uint32_t)i32_from_u32((uint32_t)t11 * 5242u) +
                    u32_from_i32(i32_from_u32((uint32_t)t11 * 14416u) >> 14));
                out[t10] = sat_i8_shr(i32_from_u32((uint32_t)t12 + 1572864u), 20);
            }
        }
    }
}

/* fully_connected 'c' -> i8 [1,4]
 * step 2: fully_connected 'c', 64 MACs: z i8 [1,16] at 0x0030 -> i8 [1,4] at 0x0090
 *   bias  i32[4]
 *   x     i8[16]  i8 [1,16] z
 *   line  u8[16]
 *   w     u8[64]
 *   out   i8[4]  i8 [1,4] c */
TILES_SECTION_FAST TILES_NOINLINE
static void tiles_fully_connected_2(const int32_t *restrict bias, const int8_t *restrict x, uint8_t *restrict line,
    const uint8_t *restrict w, int8_t *restrict out)
{
    int32_t acc[4];
    int32_t sum = 0;
    for (int32_t p = 0; p < 1; p++) {
        sum = 2000;
        const int32_t t0 = p * 4;
        const int32_t t1 = -t0;
        const int32_t t2 = t0 + 4;
        for (int32_t i = t0; i < t2; i++) {
            const int32_t t3 = i * 4;
            const uint8_t t4 = (uint8_t)((uint8_t)x[t3 + 1] ^ 128u);
            const uint8_t t5 = (uint8_t)((uint8_t)x[t3 + 2] ^ 128u);
            const uint8_t t6 = (uint8_t)((uint8_t)x[t3 + 3] ^ 128u);
            const int32_t t7 = (i + t1) * 4;
            const uint8_t t8 = (uint8_t)((uint8_t)x[t3] ^ 128u);
            line[t7] = t8;
            line[t7 + 1] = t4;
            line[t7 + 2] = t5;
            line[t7 + 3] = t6;
            sum = sum - 500 + (int32_t)t8 + (int32_t)t4 + (int32_t)t5 + (int32_t)t6;
        }
        for (int32_t oc = 0; oc < 4; oc += 4) {
            const int32_t t9 = sum * -128;
            acc[0] = t9;
            acc[1] = t9;
            acc[2] = t9;
            acc[3] = t9;
            tile_unsigned_4x8(line, w + oc * 16, 2, acc);
            for (int32_t c = 0; c < 4; c++) {
                const int32_t t10 = oc + c;
                const int32_t t11 = i32_from_u32((uint32_t)acc[c] + (uint32_t)bias[t10]);
                const int32_t t12 = i32_from_u32((uint32_t)i32_from_u32((uint32_t)t11 * 5242u) +
                    u32_from_i32(i32_from_u32((uint32_t)t11 * 7208u) >> 13));
                out[t10] = sat_i8_shr(i32_from_u32((uint32_t)t12 + 1572864u), 20);
            }
        }
    }
}

int tiles_init(const tiles_mem *m)
{
    if (m == NULL) {
        return TILES_EALIGN;
    }
    if ((m->arena == NULL) || (((uintptr_t)m->arena % TILES_ARENA_ALIGN) != 0u)) {
        return TILES_EALIGN;
    }
    return TILES_OK;
}

int tiles_run(const tiles_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: conv_2d 'a', 768 MACs: x i8 [1,3,2,16] at 0x0050 -> i8 [1,3,2,8] at 0x0000 */
    TILES_STEP_BEGIN(0);
    tiles_conv_2d_0(tiles_conv_2d_0_bias, (int8_t *)(void *)&arena[0x0050], &arena[0x0040], tiles_conv_2d_0_w,
        (int8_t *)(void *)&arena[0x0000]);
    TILES_STEP_END(0);

    /* 1: fully_connected 'b', 32 MACs: z i8 [1,16] at 0x0030 -> i8 [1,2] at 0x0040 */
    TILES_STEP_BEGIN(1);
    tiles_fully_connected_1(tiles_fully_connected_1_bias, (int8_t *)(void *)&arena[0x0030], &arena[0x0080],
        tiles_fully_connected_1_w, (int8_t *)(void *)&arena[0x0040]);
    TILES_STEP_END(1);

    /* 2: fully_connected 'c', 64 MACs: z i8 [1,16] at 0x0030 -> i8 [1,4] at 0x0090 */
    TILES_STEP_BEGIN(2);
    tiles_fully_connected_2(tiles_fully_connected_2_bias, (int8_t *)(void *)&arena[0x0030], &arena[0x0080],
        tiles_fully_connected_2_w, (int8_t *)(void *)&arena[0x0090]);
    TILES_STEP_END(2);
    return TILES_OK;
}

