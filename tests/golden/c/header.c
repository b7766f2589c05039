 * Compile without -ffast-math. The API is in pair.h. */
#include "pair.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef PAIR_STEP_BEGIN
#define PAIR_STEP_BEGIN(i) ((void)0)
#endif
#ifndef PAIR_STEP_END
#define PAIR_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef PAIR_SECTION_RODATA
#define PAIR_SECTION_RODATA
#endif
#ifndef PAIR_SECTION_FAST
#define PAIR_SECTION_FAST
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

static uint32_t bits_of_f32(float x)
{
    union {
        float x;
        uint32_t bits;
    } v;
    v.x = x;
    return v.bits;
}

static float of_bits_f32(uint32_t bits)
{
    union {
        uint32_t bits;
        float x;
    } v;
    v.bits = bits;
    return v.x;
}

/* sub 'z' -> f32 [4]
 * step 0: sub 'z': x f32 [4] at 0x0010, y f32 [4] at 0x0000 -> z f32 [4] at 0x0010
 *   out  f32[4]  f32 [4] z
 *   x    f32[4]  f32 [4] x
 *   y    f32[4]  f32 [4] y */
PAIR_SECTION_FAST static void pair_sub_0(float *out, const float *x, const float *restrict y)
{
    for (int32_t i = 0; i < 4; i++) {
        out[i] = x[i] - y[i];
    }
}

/* softmax 's' -> f32 [4]
 * step 1: softmax 's': z f32 [4] at 0x0010 -> s f32 [4] at 0x0010
 *   out  f32[4]  f32 [4] s
 *   e    f32[4]
 *   x    f32[4]  f32 [4] z */
PAIR_SECTION_FAST static void pair_softmax_1(float *out, float *restrict e, const float *x)
{
    float max = -3.4028235e+38f;
    for (int32_t c = 0; c < 4; c++) {
        const float x0 = x[c];
        max = x0 > max ? x0 : max;
    }
    float sum = 0.0f;
    for (int32_t c = 0; c < 4; c++) {
        const float t0 = x[c] - max;
        const float t1 = -104.0f > t0 ? -104.0f : t0;
        const float t2 = t1 * 1.442695f + 12583104.0f;
        const float t3 = t2 - 12583104.0f;
        const float t4 = t3 * -1.4286068e-06f + (t3 * -0.69314575f + t1);
        const float t5 = t4 * t4 * ((((0.001395045f * t4 + 0.008368882f) * t4 + 0.041666206f) * t4 + 0.1666652f) * t4 + 0.5f);
        const float t6 = (t5 + t4 + 1.0f) * of_bits_f32((uint32_t)(int32_t)((uint32_t)(int32_t)bits_of_f32(t2) * 8388608u));
        const float t7 = t6 * 2.7105054e-20f;
        e[c] = t7;
        sum += t7;
    }
    const float t8 = 1.0f / sum;
    for (int32_t c = 0; c < 4; c++) {
        out[c] = e[c] * t8;
    }
}

int pair_init(const pair_mem *m)
{
    if (m == NULL)
        return PAIR_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % PAIR_ARENA_ALIGN != 0)
        return PAIR_EALIGN;
    return PAIR_OK;
}

int pair_run(const pair_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: sub 'z': x f32 [4], y f32 [4] -> z f32 [4] */
    PAIR_STEP_BEGIN(0);
    pair_sub_0((void *)(arena + 0x0010), (void *)(arena + 0x0010), (void *)(arena + 0x0000));
    PAIR_STEP_END(0);

    /* 1: softmax 's': z f32 [4] -> s f32 [4] */
    PAIR_STEP_BEGIN(1);
    pair_softmax_1((void *)(arena + 0x0010), (void *)(arena + 0x0000), (void *)(arena + 0x0010));
    PAIR_STEP_END(1);
    return PAIR_OK;
}

