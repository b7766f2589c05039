 * Compile without -ffast-math. The API is in pool_of_threads.h. */
#include "pool_of_threads.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef POOL_OF_THREADS_STEP_BEGIN
#define POOL_OF_THREADS_STEP_BEGIN(i) ((void)0)
#endif
#ifndef POOL_OF_THREADS_STEP_END
#define POOL_OF_THREADS_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef POOL_OF_THREADS_SECTION_RODATA
#define POOL_OF_THREADS_SECTION_RODATA
#endif
#ifndef POOL_OF_THREADS_SECTION_FAST
#define POOL_OF_THREADS_SECTION_FAST
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

/* exp 'y' -> f32 [64,64]
 * step 0: exp 'y': x f32 [64,64] at 0x0000 -> y f32 [64,64] at 0x0000
 *   out   f32[4096]  f32 [64,64] y
 *   x     f32[4096]  f32 [64,64] x
 *   part  i32[1]  number of this part */
POOL_OF_THREADS_SECTION_FAST static void pool_of_threads_exp_0(float *out, const float *x,
    const int32_t *restrict part)
{
    const int32_t part0 = part[0];
    const int32_t t0 = (part0 + 1) * 4096 / 2;
    for (int32_t i = part0 * 4096 / 2; i < t0; i++) {
        const float x0 = x[i];
        const float t1 = 89.0f < x0 ? 89.0f : x0;
        const float t2 = -104.0f > t1 ? -104.0f : t1;
        const float t3 = t2 * 1.442695f + 12583166.0f;
        const float t4 = t3 - 12583166.0f;
        const float t5 = t4 * -1.4286068e-06f + (t4 * -0.69314575f + t2);
        const float t6 = t5 * t5 * ((((0.001395045f * t5 + 0.008368882f) * t5 + 0.041666206f) * t5 + 0.1666652f) * t5 + 0.5f);
        const int32_t t7 = (int32_t)bits_of_f32(t3);
        const int32_t t8 = t7 >> 1;
        const float t9 = of_bits_f32((uint32_t)(int32_t)((uint32_t)(int32_t)((uint32_t)t7 - (uint32_t)t8) * 8388608u));
        out[i] = (t6 + t5 + 1.0f) * of_bits_f32((uint32_t)(int32_t)((uint32_t)t8 * 8388608u)) * t9;
    }
}

/* softmax 'z' -> f32 [64,64]
 * step 1: softmax 'z': y f32 [64,64] at 0x0000 -> z f32 [64,64] at 0x0000
 *   out   f32[4096]  f32 [64,64] z
 *   e     f32[128]
 *   x     f32[4096]  f32 [64,64] y
 *   part  i32[1]  number of this part */
POOL_OF_THREADS_SECTION_FAST static void pool_of_threads_softmax_1(float *out, float *restrict e, const float *x,
    const int32_t *restrict part)
{
    const int32_t part0 = part[0];
    const int32_t t0 = part0 * 64;
    const int32_t t1 = (part0 + 1) * 64 / 2;
    for (int32_t i0 = t0 / 2; i0 < t1; i0++) {
        const int32_t t2 = i0 * 64;
        float max = -3.4028235e+38f;
        for (int32_t c = 0; c < 64; c++) {
            const float x0 = x[t2 + c];
            max = x0 > max ? x0 : max;
        }
        float sum = 0.0f;
        for (int32_t c = 0; c < 64; c++) {
            const float t3 = x[t2 + c] - max;
            const float t4 = -104.0f > t3 ? -104.0f : t3;
            const float t5 = t4 * 1.442695f + 12583104.0f;
            const float t6 = t5 - 12583104.0f;
            const float t7 = t6 * -1.4286068e-06f + (t6 * -0.69314575f + t4);
            const float t8 = t7 * t7 * ((((0.001395045f * t7 + 0.008368882f) * t7 + 0.041666206f) * t7 + 0.1666652f) * t7 + 0.5f);
            const float t9 = (t8 + t7 + 1.0f) * of_bits_f32((uint32_t)(int32_t)((uint32_t)(int32_t)bits_of_f32(t5) * 8388608u));
            const float t10 = t9 * 2.7105054e-20f;
            e[c + t0] = t10;
            sum += t10;
        }
        const float t11 = 1.0f / sum;
        for (int32_t c = 0; c < 64; c++) {
            out[t2 + c] = e[c + t0] * t11;
        }
    }
}

int pool_of_threads_init(const pool_of_threads_mem *m)
{
    if (m == NULL)
        return POOL_OF_THREADS_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % POOL_OF_THREADS_ARENA_ALIGN != 0)
        return POOL_OF_THREADS_EALIGN;
    return POOL_OF_THREADS_OK;
}

/* 0: exp 'y' */
static void pool_of_threads_part0(const void *with, int32_t part)
{
    const pool_of_threads_mem *const m = (const pool_of_threads_mem *)with;
    uint8_t *const arena = (uint8_t *)m->arena;
    pool_of_threads_exp_0((void *)(arena + 0x0000), (void *)(arena + 0x0000), &part);
}

/* 1: softmax 'z' */
static void pool_of_threads_part1(const void *with, int32_t part)
{
    const pool_of_threads_mem *const m = (const pool_of_threads_mem *)with;
    uint8_t *const arena = (uint8_t *)m->arena;
    pool_of_threads_softmax_1((void *)(arena + 0x0000), (void *)(arena + 0x4000), (void *)(arena + 0x0000), &part);
}

static void pool_of_threads_parts(const pool_of_threads_mem *m, arn_part_fn *f, const void *with)
{
    int32_t part;
    if (m->pool) {
        m->pool->run(m->pool, POOL_OF_THREADS_THREADS, f, with);
        return;
    }
    for (part = 0; part < POOL_OF_THREADS_THREADS; part++)
        f(with, part);
}

int pool_of_threads_run(const pool_of_threads_mem *m)
{

    /* 0: exp 'y': x f32 [64,64] -> y f32 [64,64] */
    POOL_OF_THREADS_STEP_BEGIN(0);
    pool_of_threads_parts(m, pool_of_threads_part0, m);
    POOL_OF_THREADS_STEP_END(0);

    /* 1: softmax 'z': y f32 [64,64] -> z f32 [64,64] */
    POOL_OF_THREADS_STEP_BEGIN(1);
    pool_of_threads_parts(m, pool_of_threads_part1, m);
    POOL_OF_THREADS_STEP_END(1);
    return POOL_OF_THREADS_OK;
}

