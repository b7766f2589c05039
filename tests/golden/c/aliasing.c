 * Compile without -ffast-math. The API is in aliasing.h. */
#include "aliasing.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef ALIASING_STEP_BEGIN
#define ALIASING_STEP_BEGIN(i) ((void)0)
#endif
#ifndef ALIASING_STEP_END
#define ALIASING_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef ALIASING_SECTION_RODATA
#define ALIASING_SECTION_RODATA
#endif
#ifndef ALIASING_SECTION_FAST
#define ALIASING_SECTION_FAST
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

/* add 'z' -> f32 [8]
 * step 0: add 'z': x f32 [8] at 0x0000, y f32 [8] at 0x0020 -> z f32 [8] at 0x0000
 *   out  f32[8]  f32 [8] z
 *   x    f32[8]  f32 [8] x
 *   y    f32[8]  f32 [8] y */
ALIASING_SECTION_FAST static void aliasing_add_0(float *out, const float *x, const float *restrict y)
{
    for (int32_t i = 0; i < 8; i++) {
        out[i] = x[i] + y[i];
    }
}

/* softmax 's' -> f32 [8]
 * step 1: softmax 's': z f32 [8] at 0x0000 -> s f32 [8] at 0x0000
 *   out  f32[8]  f32 [8] s
 *   e    f32[8]
 *   x    f32[8]  f32 [8] z */
ALIASING_SECTION_FAST static void aliasing_softmax_1(float *out, float *restrict e, const float *x)
{
    float max = -3.4028235e+38f;
    for (int32_t c = 0; c < 8; c++) {
        const float x0 = x[c];
        max = x0 > max ? x0 : max;
    }
    float sum = 0.0f;
    for (int32_t c = 0; c < 8; c++) {
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
    for (int32_t c = 0; c < 8; c++) {
        out[c] = e[c] * t8;
    }
}

/* sub 't' -> f32 [8]
 * step 2: sub 't': s f32 [8] at 0x0000, y f32 [8] at 0x0020 -> t f32 [8] at 0x0000
 *   out  f32[8]  f32 [8] t
 *   x    f32[8]  f32 [8] s
 *   y    f32[8]  f32 [8] y */
ALIASING_SECTION_FAST static void aliasing_sub_2(float *out, const float *x, const float *restrict y)
{
    for (int32_t i = 0; i < 8; i++) {
        out[i] = x[i] - y[i];
    }
}

int aliasing_init(const aliasing_mem *m)
{
    if (m == NULL)
        return ALIASING_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % ALIASING_ARENA_ALIGN != 0)
        return ALIASING_EALIGN;
    return ALIASING_OK;
}

int aliasing_run(const aliasing_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: add 'z': x f32 [8], y f32 [8] -> z f32 [8] */
    ALIASING_STEP_BEGIN(0);
    aliasing_add_0((void *)(arena + 0x0000), (void *)(arena + 0x0000), (void *)(arena + 0x0020));
    ALIASING_STEP_END(0);

    /* 1: softmax 's': z f32 [8] -> s f32 [8] */
    ALIASING_STEP_BEGIN(1);
    aliasing_softmax_1((void *)(arena + 0x0000), (void *)(arena + 0x0040), (void *)(arena + 0x0000));
    ALIASING_STEP_END(1);

    /* 2: sub 't': s f32 [8], y f32 [8] -> t f32 [8] */
    ALIASING_STEP_BEGIN(2);
    aliasing_sub_2((void *)(arena + 0x0000), (void *)(arena + 0x0000), (void *)(arena + 0x0020));
    ALIASING_STEP_END(2);
    return ALIASING_OK;
}

