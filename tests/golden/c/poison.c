 * Compile without -ffast-math. The API is in poison.h. */
#include "poison.h"

#include <limits.h>
#include <string.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef POISON_STEP_BEGIN
#define POISON_STEP_BEGIN(i) ((void)0)
#endif
#ifndef POISON_STEP_END
#define POISON_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef POISON_SECTION_RODATA
#define POISON_SECTION_RODATA
#endif
#ifndef POISON_SECTION_FAST
#define POISON_SECTION_FAST
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

static const union {
    uint32_t bits;
    float value;
} inf_f32 = {0x7f800000u};

static const union {
    uint32_t bits;
    float value;
} nan_f32 = {0x7fc00000u};

/* softmax 'a' -> f32 [4]
 * step 0: softmax 'a': x f32 [4] at 0x0010 -> a f32 [4] at 0x0010
 *   out  f32[4]  f32 [4] a
 *   e    f32[4]
 *   x    f32[4]  f32 [4] x */
POISON_SECTION_FAST static void poison_softmax_0(float *out, float *restrict e, const float *x)
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

/* log_softmax 'b' -> f32 [4]
 * step 1: log_softmax 'b': a f32 [4] at 0x0010 -> b f32 [4] at 0x0010
 *   out  f32[4]  f32 [4] b
 *   x    f32[4]  f32 [4] a */
POISON_SECTION_FAST static void poison_log_softmax_1(float *out, const float *x)
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
        sum += t6 * 2.7105054e-20f;
    }
    const int t7 = sum < 1.1754944e-38f;
    const int32_t t8 = (int32_t)bits_of_f32(t7 ? sum * 33554432.0f : sum);
    const int32_t t9 = (int32_t)((uint32_t)t8 - 1060439283u) >> 23;
    const float t10 = (float)t9 - (t7 ? 25.0f : 0.0f);
    const float t11 = of_bits_f32((uint32_t)(int32_t)((uint32_t)t8 - (uint32_t)(int32_t)((uint32_t)t9 * 8388608u)));
    const float t12 = t11 - 1.0f;
    const float t13 = t12 * t12 * 0.5f;
    const float t14 = t12 / (t12 + 2.0f);
    const float t15 = t14 * t14;
    const float t16 = t14 * (t13 + t15 * (((0.2358229f * t15 + 0.285373f) * t15 + 0.40000334f) * t15 + 0.6666666f));
    const float t17 = sum == inf_f32.value ? sum : t10 * 0.69314575f - (t13 - (t16 + t10 * 1.4286068e-06f) - t12);
    const float t18 = sum != sum ? sum : sum == 0.0f ? -inf_f32.value : sum < 0.0f ? nan_f32.value : t17;
    for (int32_t c = 0; c < 4; c++) {
        out[c] = x[c] - max - t18;
    }
}

int poison_init(const poison_mem *m)
{
    if (m == NULL)
        return POISON_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % POISON_ARENA_ALIGN != 0)
        return POISON_EALIGN;
    return POISON_OK;
}

int poison_run(const poison_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: softmax 'a': x f32 [4] -> a f32 [4] */
    memset(arena + 0x0000, 0xa5, 0x10);
    POISON_STEP_BEGIN(0);
    poison_softmax_0((void *)(arena + 0x0010), (void *)(arena + 0x0000), (void *)(arena + 0x0010));
    POISON_STEP_END(0);

    /* 1: log_softmax 'b': a f32 [4] -> b f32 [4] */
    memset(arena + 0x0000, 0xe0, 0x10);
    POISON_STEP_BEGIN(1);
    poison_log_softmax_1((void *)(arena + 0x0010), (void *)(arena + 0x0010));
    POISON_STEP_END(1);
    return POISON_OK;
}

