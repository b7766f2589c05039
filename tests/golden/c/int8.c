 * Compile without -ffast-math. The API is in int8.h. */
#include "int8.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef INT8_STEP_BEGIN
#define INT8_STEP_BEGIN(i) ((void)0)
#endif
#ifndef INT8_STEP_END
#define INT8_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef INT8_SECTION_RODATA
#define INT8_SECTION_RODATA
#endif
#ifndef INT8_SECTION_FAST
#define INT8_SECTION_FAST
#endif
/* Steps stay functions of their own: put into int8_run they share its registers, and spill. */
#ifndef INT8_NOINLINE
#if defined(__GNUC__) || defined(__clang__)
#define INT8_NOINLINE __attribute__((noinline))
#else
#define INT8_NOINLINE
#endif
#endif

#if ((-1) >> 1) != (-1)
#error "right shifts of negative numbers must be arithmetic"
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

INT8_SECTION_RODATA static const int32_t int8_fully_connected_0_bias[2] = {
    16, -4
};

INT8_SECTION_RODATA static const int8_t int8_fully_connected_0_k[8] = {
    1, -2, 3, -4, 5, -6, 7, -8
};

/* fully_connected 'y' -> i8 [1,2]
 * step 0: fully_connected 'y', 8 MACs: x i8 [1,4] at 0x0000 -> i8 [1,2] at 0x0010
 *   bias  i32[2]
 *   x     i8[4]  i8 [1,4] x
 *   k     i8[8]  i8 [2,4] w
 *   out   i8[2]  i8 [1,2] y */
INT8_SECTION_FAST INT8_NOINLINE
static void int8_fully_connected_0(const int32_t *restrict bias, const int8_t *restrict x, const int8_t *restrict k,
    int8_t *restrict out)
{
    int32_t acc = bias[0];
    int32_t acc_1 = bias[1];
    for (int32_t ic = 0; ic < 4; ic++) {
        const int32_t t0 = x[ic];
        acc += t0 * k[ic];
        acc_1 += t0 * k[ic + 4];
    }
    const int32_t t1 = (acc * 5243 - 4721418) >> 20;
    const int32_t t2 = t1 > -5 ? t1 : -5;
    out[0] = (int8_t)(t2 < 127 ? t2 : 127);
    const int32_t t3 = (acc_1 * 5243 - 4721418) >> 20;
    const int32_t t4 = t3 > -5 ? t3 : -5;
    out[1] = (int8_t)(t4 < 127 ? t4 : 127);
}

int int8_init(const int8_mem *m)
{
    if (m == NULL) {
        return INT8_EALIGN;
    }
    if ((m->arena == NULL) || (((uintptr_t)m->arena % INT8_ARENA_ALIGN) != 0u)) {
        return INT8_EALIGN;
    }
    return INT8_OK;
}

int int8_run(const int8_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: fully_connected 'y', 8 MACs: x i8 [1,4] at 0x0000 -> i8 [1,2] at 0x0010 */
    INT8_STEP_BEGIN(0);
    int8_fully_connected_0(int8_fully_connected_0_bias, (int8_t *)(void *)&arena[0x0000], int8_fully_connected_0_k,
        (int8_t *)(void *)&arena[0x0010]);
    INT8_STEP_END(0);
    return INT8_OK;
}

