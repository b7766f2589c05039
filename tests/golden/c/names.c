 * Compile without -ffast-math. The API is in m3rd_net.h. */
#include "m3rd_net.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef M3RD_NET_STEP_BEGIN
#define M3RD_NET_STEP_BEGIN(i) ((void)0)
#endif
#ifndef M3RD_NET_STEP_END
#define M3RD_NET_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef M3RD_NET_SECTION_RODATA
#define M3RD_NET_SECTION_RODATA
#endif
#ifndef M3RD_NET_SECTION_FAST
#define M3RD_NET_SECTION_FAST
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

/* exp 'while/for:0' -> f32 [4]
 * step 0: exp 'while/for:0': int f32 [4] at 0x0010 -> a b f32 [4] at 0x0010
 *   out  f32[4]  f32 [4] a b
 *   x    f32[4]  f32 [4] int */
M3RD_NET_SECTION_FAST static void m3rd_net_exp_0(float *out, const float *x)
{
    for (int32_t i = 0; i < 4; i++) {
        const float x0 = x[i];
        const float t0 = 89.0f < x0 ? 89.0f : x0;
        const float t1 = -104.0f > t0 ? -104.0f : t0;
        const float t2 = t1 * 1.442695f + 12583166.0f;
        const float t3 = t2 - 12583166.0f;
        const float t4 = t3 * -1.4286068e-06f + (t3 * -0.69314575f + t1);
        const float t5 = t4 * t4 * ((((0.001395045f * t4 + 0.008368882f) * t4 + 0.041666206f) * t4 + 0.1666652f) * t4 + 0.5f);
        const int32_t t6 = (int32_t)bits_of_f32(t2);
        const int32_t t7 = t6 >> 1;
        const float t8 = of_bits_f32((uint32_t)(int32_t)((uint32_t)(int32_t)((uint32_t)t6 - (uint32_t)t7) * 8388608u));
        out[i] = (t5 + t4 + 1.0f) * of_bits_f32((uint32_t)(int32_t)((uint32_t)t7 * 8388608u)) * t8;
    }
}

/* softmax '* / evil / *' -> f32 [4]
 * step 1: softmax '* / evil / *': a b f32 [4] at 0x0010 -> 2nd f32 [4] at 0x0010
 *   out  f32[4]  f32 [4] 2nd
 *   e    f32[4]
 *   x    f32[4]  f32 [4] a b */
M3RD_NET_SECTION_FAST static void m3rd_net_softmax_1(float *out, float *restrict e, const float *x)
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

int m3rd_net_init(const m3rd_net_mem *m)
{
    if (m == NULL)
        return M3RD_NET_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % M3RD_NET_ARENA_ALIGN != 0)
        return M3RD_NET_EALIGN;
    return M3RD_NET_OK;
}

int m3rd_net_run(const m3rd_net_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: exp 'while/for:0': int f32 [4] -> a b f32 [4] */
    M3RD_NET_STEP_BEGIN(0);
    m3rd_net_exp_0((void *)(arena + 0x0010), (void *)(arena + 0x0010));
    M3RD_NET_STEP_END(0);

    /* 1: softmax '* / evil / *': a b f32 [4] -> 2nd f32 [4] */
    M3RD_NET_STEP_BEGIN(1);
    m3rd_net_softmax_1((void *)(arena + 0x0010), (void *)(arena + 0x0000), (void *)(arena + 0x0010));
    M3RD_NET_STEP_END(1);
    return M3RD_NET_OK;
}

