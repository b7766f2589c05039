 * Compile without -ffast-math. The API is in inplace_apart.h. */
#include "inplace_apart.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef INPLACE_APART_STEP_BEGIN
#define INPLACE_APART_STEP_BEGIN(i) ((void)0)
#endif
#ifndef INPLACE_APART_STEP_END
#define INPLACE_APART_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef INPLACE_APART_SECTION_RODATA
#define INPLACE_APART_SECTION_RODATA
#endif
#ifndef INPLACE_APART_SECTION_FAST
#define INPLACE_APART_SECTION_FAST
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

/* softmax 'b' -> f32 [4,8]
 * step 0: softmax 'b': a f32 [4,8] at 0x0000 -> b f32 [4,8] at 0x0080
 *   out  f32[32]  f32 [4,8] b
 *   e    f32[8]
 *   x    f32[32]  f32 [4,8] a */
INPLACE_APART_SECTION_FAST static void inplace_apart_softmax_0(float *restrict out, float *restrict e,
    const float *restrict x)
{
    for (int32_t i0 = 0; i0 < 4; i0++) {
        const int32_t t0 = i0 * 8;
        float max = -3.4028235e+38f;
        for (int32_t c = 0; c < 8; c++) {
            const float x0 = x[t0 + c];
            max = x0 > max ? x0 : max;
        }
        float sum = 0.0f;
        for (int32_t c = 0; c < 8; c++) {
            const float t1 = x[t0 + c] - max;
            const float t2 = -104.0f > t1 ? -104.0f : t1;
            const float t3 = t2 * 1.442695f + 12583104.0f;
            const float t4 = t3 - 12583104.0f;
            const float t5 = t4 * -1.4286068e-06f + (t4 * -0.69314575f + t2);
            const float t6 = t5 * t5 * ((((0.001395045f * t5 + 0.008368882f) * t5 + 0.041666206f) * t5 + 0.1666652f) * t5 + 0.5f);
            const float t7 = (t6 + t5 + 1.0f) * of_bits_f32((uint32_t)(int32_t)((uint32_t)(int32_t)bits_of_f32(t3) * 8388608u));
            const float t8 = t7 * 2.7105054e-20f;
            e[c] = t8;
            sum += t8;
        }
        const float t9 = 1.0f / sum;
        for (int32_t c = 0; c < 8; c++) {
            out[t0 + c] = e[c] * t9;
        }
    }
}

/* softmax 'c' -> f32 [4,8]
 * step 1: softmax 'c': b f32 [4,8] at 0x0080 -> c f32 [4,8] at 0x0080
 *   out  f32[32]  f32 [4,8] c
 *   e    f32[8]
 *   x    f32[32]  f32 [4,8] b */
INPLACE_APART_SECTION_FAST static void inplace_apart_softmax_1(float *out, float *restrict e, const float *x)
{
    for (int32_t i0 = 0; i0 < 4; i0++) {
        const int32_t t0 = i0 * 8;
        float max = -3.4028235e+38f;
        for (int32_t c = 0; c < 8; c++) {
            const float x0 = x[t0 + c];
            max = x0 > max ? x0 : max;
        }
        float sum = 0.0f;
        for (int32_t c = 0; c < 8; c++) {
            const float t1 = x[t0 + c] - max;
            const float t2 = -104.0f > t1 ? -104.0f : t1;
            const float t3 = t2 * 1.442695f + 12583104.0f;
            const float t4 = t3 - 12583104.0f;
            const float t5 = t4 * -1.4286068e-06f + (t4 * -0.69314575f + t2);
            const float t6 = t5 * t5 * ((((0.001395045f * t5 + 0.008368882f) * t5 + 0.041666206f) * t5 + 0.1666652f) * t5 + 0.5f);
            const float t7 = (t6 + t5 + 1.0f) * of_bits_f32((uint32_t)(int32_t)((uint32_t)(int32_t)bits_of_f32(t3) * 8388608u));
            const float t8 = t7 * 2.7105054e-20f;
            e[c] = t8;
            sum += t8;
        }
        const float t9 = 1.0f / sum;
        for (int32_t c = 0; c < 8; c++) {
            out[t0 + c] = e[c] * t9;
        }
    }
}

/* add 'd' -> f32 [4,8]
 * step 2: add 'd': a f32 [4,8] at 0x0000, c f32 [4,8] at 0x0080 -> d f32 [4,8] at 0x0000
 *   out  f32[32]  f32 [4,8] d
 *   x    f32[32]  f32 [4,8] a
 *   y    f32[32]  f32 [4,8] c */
INPLACE_APART_SECTION_FAST static void inplace_apart_add_2(float *out, const float *x, const float *restrict y)
{
    for (int32_t i = 0; i < 32; i++) {
        out[i] = x[i] + y[i];
    }
}

int inplace_apart_init(const inplace_apart_mem *m)
{
    if (m == NULL)
        return INPLACE_APART_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % INPLACE_APART_ARENA_ALIGN != 0)
        return INPLACE_APART_EALIGN;
    return INPLACE_APART_OK;
}

int inplace_apart_run(const inplace_apart_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: softmax 'b': a f32 [4,8] -> b f32 [4,8] */
    INPLACE_APART_STEP_BEGIN(0);
    inplace_apart_softmax_0((void *)(arena + 0x0080), (void *)(arena + 0x0100), (void *)(arena + 0x0000));
    INPLACE_APART_STEP_END(0);

    /* 1: softmax 'c': b f32 [4,8] -> c f32 [4,8] */
    INPLACE_APART_STEP_BEGIN(1);
    inplace_apart_softmax_1((void *)(arena + 0x0080), (void *)(arena + 0x0100), (void *)(arena + 0x0080));
    INPLACE_APART_STEP_END(1);

    /* 2: add 'd': a f32 [4,8], c f32 [4,8] -> d f32 [4,8] */
    INPLACE_APART_STEP_BEGIN(2);
    inplace_apart_add_2((void *)(arena + 0x0000), (void *)(arena + 0x0000), (void *)(arena + 0x0080));
    INPLACE_APART_STEP_END(2);
    return INPLACE_APART_OK;
}

