 * Compile without -ffast-math. The API is in dedupe.h. */
#include "dedupe.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef DEDUPE_STEP_BEGIN
#define DEDUPE_STEP_BEGIN(i) ((void)0)
#endif
#ifndef DEDUPE_STEP_END
#define DEDUPE_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef DEDUPE_SECTION_RODATA
#define DEDUPE_SECTION_RODATA
#endif
#ifndef DEDUPE_SECTION_FAST
#define DEDUPE_SECTION_FAST
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

DEDUPE_SECTION_RODATA static const float dedupe_fully_connected_0_k[16] = {
    1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f, 9.0f, 1e+01f, 11.0f, 12.0f, 13.0f, 14.0f, 15.0f, 16.0f
};

DEDUPE_SECTION_RODATA static const float dedupe_fully_connected_1_k[16] = {
    1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f
};

/* fully_connected 'a' -> f32 [1,4]
 * step 0: fully_connected 'a': x f32 [1,4] at 0x0000 -> a f32 [1,4] at 0x0010
 * also step 1
 *   x    f32[4]  f32 [1,4] x
 *   k    f32[16]  f32 [4,4] v
 *   out  f32[4]  f32 [1,4] a */
DEDUPE_SECTION_FAST static void dedupe_fully_connected_0(const float *restrict x, const float *restrict k,
    float *restrict out)
{
    float acc = 0.0f;
    float acc_1 = 0.0f;
    float acc_2 = 0.0f;
    float acc_3 = 0.0f;
    for (int32_t ic = 0; ic < 4; ic++) {
        const float x0 = x[ic];
        acc = x0 * k[ic] + acc;
        acc_1 = x0 * k[ic + 4] + acc_1;
        acc_2 = x0 * k[ic + 8] + acc_2;
        acc_3 = x0 * k[ic + 12] + acc_3;
    }
    out[0] = acc;
    out[1] = acc_1;
    out[2] = acc_2;
    out[3] = acc_3;
}

/* fully_connected 'c' -> f32 [1,2]
 * step 2: fully_connected 'c': b f32 [1,4] at 0x0000 -> c f32 [1,2] at 0x0010
 *   x    f32[4]  f32 [1,4] b
 *   out  f32[2]  f32 [1,2] c */
DEDUPE_SECTION_FAST static void dedupe_fully_connected_2(const float *restrict x, float *restrict out)
{
    float acc = 0.0f;
    float acc_1 = 0.0f;
    for (int32_t ic = 0; ic < 4; ic++) {
        const float x0 = x[ic];
        acc = x0 + acc;
        acc_1 = x0 + acc_1;
    }
    out[0] = acc;
    out[1] = acc_1;
}

int dedupe_init(const dedupe_mem *m)
{
    if (m == NULL)
        return DEDUPE_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % DEDUPE_ARENA_ALIGN != 0)
        return DEDUPE_EALIGN;
    return DEDUPE_OK;
}

int dedupe_run(const dedupe_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: fully_connected 'a': x f32 [1,4] -> a f32 [1,4] */
    DEDUPE_STEP_BEGIN(0);
    dedupe_fully_connected_0((void *)(arena + 0x0000), dedupe_fully_connected_0_k, (void *)(arena + 0x0010));
    DEDUPE_STEP_END(0);

    /* 1: fully_connected 'b': a f32 [1,4] -> b f32 [1,4] */
    DEDUPE_STEP_BEGIN(1);
    dedupe_fully_connected_0((void *)(arena + 0x0010), dedupe_fully_connected_1_k, (void *)(arena + 0x0000));
    DEDUPE_STEP_END(1);

    /* 2: fully_connected 'c': b f32 [1,4] -> c f32 [1,2] */
    DEDUPE_STEP_BEGIN(2);
    dedupe_fully_connected_2((void *)(arena + 0x0000), (void *)(arena + 0x0010));
    DEDUPE_STEP_END(2);
    return DEDUPE_OK;
}

