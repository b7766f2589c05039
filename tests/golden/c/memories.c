 * Compile without -ffast-math. The API is in memories.h. */
#include "memories.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef MEMORIES_STEP_BEGIN
#define MEMORIES_STEP_BEGIN(i) ((void)0)
#endif
#ifndef MEMORIES_STEP_END
#define MEMORIES_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef MEMORIES_SECTION_RODATA
#define MEMORIES_SECTION_RODATA
#endif
#ifndef MEMORIES_SECTION_FAST
#define MEMORIES_SECTION_FAST
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

MEMORIES_SECTION_RODATA static const float memories_conv_2d_0_k[144] = {
    0.13312314f, 0.49156353f, 0.9420055f, -0.11128157f, -0.111470595f, 0.5257888f, 0.7546974f, 0.04613436f,
    -0.42898265f, 0.5879932f, -0.19171566f, 0.21084073f, -0.09012418f, 0.060157996f, -0.1280692f, -0.66593003f,
    0.2906693f, 0.6307012f, 0.36340994f, 0.7686491f, -0.8680796f, -0.8371707f, -0.008240097f, -0.7537822f, -0.4261773f,
    -0.90419763f, 0.031039793f, 0.4275416f, -0.9125034f, 0.9954958f, 0.19570434f, 0.17319028f, -0.20566149f, -0.12202654f,
    -0.4934537f, 0.059514776f, 0.08734158f, 0.49647066f, 0.636067f, 0.33714694f, 0.7236566f, 0.4163585f, -0.52727896f,
    0.31247106f, 0.7378179f, 0.67866266f, -0.35113353f, -0.68164134f, 0.78787804f, 0.8253803f, -0.39628744f, -0.7368301f,
    -0.3486327f, 0.88034785f, -0.21267569f, -0.82453835f, 0.21409947f, -0.689045f, 0.9166642f, 0.75123054f, 0.05291196f,
    -0.86326003f, 0.50470287f, 0.06813298f, 0.44081432f, -0.44012874f, -0.9251321f, -0.9559668f, 0.13691488f,
    -0.75996685f, -0.67656726f, 0.6466712f, 0.9453761f, 0.38217273f, 0.13124736f, -0.05882224f, 0.24797323f, 0.7203103f,
    0.6115002f, -0.7819031f, 0.29916975f, -0.5584539f, -0.15453106f, 0.7743336f, 0.37013945f, 0.8816786f, 0.50114423f,
    -0.7464997f, -0.6460598f, 0.47617668f, 0.5608319f, -0.22378403f, -0.80639523f, 0.9057813f, 0.19387808f, -0.8121896f,
    0.71191895f, 0.68760896f, -0.99977165f, -0.38263127f, 0.47225967f, 0.17771497f, 0.3300139f, -0.03307551f,
    -0.07612719f, 0.98060215f, 0.28057095f, -0.9413653f, 0.6956104f, 0.8195193f, -0.22768883f, -0.7015602f, 0.27261335f,
    0.19491708f, -0.6300842f, -0.7996896f, 0.976963f, -0.18912072f, -0.052201066f, 0.12517533f, 0.3874687f, 0.48040497f,
    0.94025713f, -0.045483384f, -0.5663159f, -0.6063099f, -0.8123452f, -0.20981155f, -0.5222054f, -0.35499215f,
    -0.51581264f, 0.04042036f, 0.1735068f, -0.8436829f, -0.08019045f, -0.90644455f, 0.32386208f, -0.9276616f,
    -0.8311409f, -0.22136405f, 0.30465642f, 0.47680897f, 0.1733371f, 0.09755339f
};

/* conv_2d 'a' -> f32 [1,8,8,4]
 * step 0: conv_2d 'a': x f32 [1,8,8,4] at tcm 0x0000 -> a f32 [1,8,8,4] at big 0x0000
 *   x    f32[256]  f32 [1,8,8,4] x
 *   k    f32[144]  f32 [4,3,3,4] w
 *   out  f32[256]  f32 [1,8,8,4] a */
MEMORIES_SECTION_FAST static void memories_conv_2d_0(const float *restrict x, const float *restrict k,
    float *restrict out)
{
    for (int32_t oy = 0; oy < 8; oy++) {
        for (int32_t ox = 0; ox < 8; ox++) {
            float acc = 0.0f;
            float acc_1 = 0.0f;
            float acc_2 = 0.0f;
            float acc_3 = 0.0f;
            const int32_t t0 = 1 - oy;
            const int32_t t1 = 9 - oy;
            const int32_t t2 = t1 > 0 ? t1 : 0;
            const int32_t t3 = t2 < 3 ? t2 : 3;
            for (int32_t ky = t0 > 0 ? t0 : 0; ky < t3; ky++) {
                const int32_t t4 = ((oy + ky - 1) * 8 + (ox - 1)) * 4;
                const int32_t t5 = ky * 12;
                const int32_t t6 = 1 - ox;
                const int32_t t7 = 9 - ox;
                const int32_t t8 = t7 > 0 ? t7 : 0;
                const int32_t t9 = (t8 < 3 ? t8 : 3) * 4;
                for (int32_t k_1 = (t6 > 0 ? t6 : 0) * 4; k_1 < t9; k_1++) {
                    const float x0 = x[t4 + k_1];
                    acc = x0 * k[t5 + k_1] + acc;
                    acc_1 = x0 * k[t5 + 36 + k_1] + acc_1;
                    acc_2 = x0 * k[t5 + 72 + k_1] + acc_2;
                    acc_3 = x0 * k[t5 + 108 + k_1] + acc_3;
                }
            }
            const int32_t t10 = oy * 32;
            const int32_t t11 = ox * 4;
            out[t10 + t11] = acc;
            out[t10 + (t11 + 1)] = acc_1;
            out[t10 + (t11 + 2)] = acc_2;
            out[t10 + (t11 + 3)] = acc_3;
        }
    }
}

/* softmax 'b' -> f32 [1,8,8,4]
 * step 1: softmax 'b': a f32 [1,8,8,4] at big 0x0000 -> b f32 [1,8,8,4] at big 0x0000
 *   out  f32[256]  f32 [1,8,8,4] b
 *   e    f32[4]
 *   x    f32[256]  f32 [1,8,8,4] a */
MEMORIES_SECTION_FAST static void memories_softmax_1(float *out, float *restrict e, const float *x)
{
    for (int32_t i1 = 0; i1 < 8; i1++) {
        for (int32_t i2_ = 0; i2_ < 8; i2_++) {
            const int32_t t0 = (i1 * 8 + i2_) * 4;
            float max = -3.4028235e+38f;
            for (int32_t c = 0; c < 4; c++) {
                const float x0 = x[t0 + c];
                max = x0 > max ? x0 : max;
            }
            float sum = 0.0f;
            for (int32_t c = 0; c < 4; c++) {
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
            for (int32_t c = 0; c < 4; c++) {
                out[i1 * 32 + (i2_ * 4 + c)] = e[c] * t9;
            }
        }
    }
}

int memories_init(const memories_mem *m)
{
    if (m == NULL)
        return MEMORIES_EALIGN;
    if (m->tcm == NULL || (uintptr_t)m->tcm % MEMORIES_TCM_ALIGN != 0)
        return MEMORIES_EALIGN;
    if (m->big == NULL || (uintptr_t)m->big % MEMORIES_BIG_ALIGN != 0)
        return MEMORIES_EALIGN;
    return MEMORIES_OK;
}

int memories_run(const memories_mem *m)
{
    uint8_t *const mem_tcm = (uint8_t *)m->tcm;
    uint8_t *const mem_big = (uint8_t *)m->big;

    /* 0: conv_2d 'a': x f32 [1,8,8,4] -> a f32 [1,8,8,4] */
    MEMORIES_STEP_BEGIN(0);
    memories_conv_2d_0((void *)(mem_tcm + 0x0000), memories_conv_2d_0_k, (void *)(mem_big + 0x0000));
    MEMORIES_STEP_END(0);

    /* 1: softmax 'b': a f32 [1,8,8,4] -> b f32 [1,8,8,4] */
    MEMORIES_STEP_BEGIN(1);
    memories_softmax_1((void *)(mem_big + 0x0000), (void *)(mem_tcm + 0x0000), (void *)(mem_big + 0x0000));
    MEMORIES_STEP_END(1);
    return MEMORIES_OK;
}

