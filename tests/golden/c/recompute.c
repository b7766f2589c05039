 * Compile without -ffast-math. The API is in recompute_squares.h. */
#include "recompute_squares.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef RECOMPUTE_SQUARES_STEP_BEGIN
#define RECOMPUTE_SQUARES_STEP_BEGIN(i) ((void)0)
#endif
#ifndef RECOMPUTE_SQUARES_STEP_END
#define RECOMPUTE_SQUARES_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef RECOMPUTE_SQUARES_SECTION_RODATA
#define RECOMPUTE_SQUARES_SECTION_RODATA
#endif
#ifndef RECOMPUTE_SQUARES_SECTION_FAST
#define RECOMPUTE_SQUARES_SECTION_FAST
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the weights are little-endian: compile the model with --weights rodata"
#endif

/* dequantize 't' -> f32 [1,8,8,8]
 * step 0: dequantize 't', then mul: x u8 [1,8,8,8] at 0x1800 -> u f32 [1,8,8,8] at 0x0000
 * also step 4
 *   out  f32[512]  f32 [1,8,8,8] u
 *   x    u8[512]  u8 [1,8,8,8] x */
RECOMPUTE_SQUARES_SECTION_FAST static void recompute_squares_dequantize_0(float *restrict out,
    const uint8_t *restrict x)
{
    for (int32_t i = 0; i < 512; i++) {
        const float t0 = (float)(int32_t)((uint32_t)x[i] - 128u) * 0.02f;
        out[i] = t0 * t0;
    }
}

/* conv_2d 'a' -> f32 [1,8,8,4]
 * step 1: conv_2d 'a': u f32 [1,8,8,8] at 0x0000 -> a f32 [1,8,8,4] at 0x1000
 *   x    f32[512]  f32 [1,8,8,8] u
 *   k    f32[32]  f32 [4,1,1,8] k0
 *   out  f32[256]  f32 [1,8,8,4] a */
RECOMPUTE_SQUARES_SECTION_FAST static void recompute_squares_conv_2d_2(const float *restrict x,
    const float *restrict k, float *restrict out)
{
    for (int32_t oy = 0; oy < 8; oy++) {
        for (int32_t ox = 0; ox < 8; ox++) {
            float acc = 0.0f;
            float acc_1 = 0.0f;
            float acc_2 = 0.0f;
            float acc_3 = 0.0f;
            const int32_t t0 = (oy * 8 + ox) * 8;
            for (int32_t k_1 = 0; k_1 < 8; k_1++) {
                const float x0 = x[t0 + k_1];
                acc = x0 * k[k_1] + acc;
                acc_1 = x0 * k[k_1 + 8] + acc_1;
                acc_2 = x0 * k[k_1 + 16] + acc_2;
                acc_3 = x0 * k[k_1 + 24] + acc_3;
            }
            const int32_t t1 = oy * 32;
            const int32_t t2 = ox * 4;
            out[t1 + t2] = acc;
            out[t1 + (t2 + 1)] = acc_1;
            out[t1 + (t2 + 2)] = acc_2;
            out[t1 + (t2 + 3)] = acc_3;
        }
    }
}

/* conv_2d 'b' -> f32 [1,8,8,16]
 * step 2: conv_2d 'b': a f32 [1,8,8,4] at 0x1000 -> b f32 [1,8,8,16] at 0x0000
 *   x    f32[256]  f32 [1,8,8,4] a
 *   k    f32[64]  f32 [16,1,1,4] k1
 *   out  f32[1024]  f32 [1,8,8,16] b */
RECOMPUTE_SQUARES_SECTION_FAST static void recompute_squares_conv_2d_3(const float *restrict x,
    const float *restrict k, float *restrict out)
{
    for (int32_t oy = 0; oy < 8; oy++) {
        for (int32_t ox = 0; ox < 8; ox++) {
            for (int32_t oc = 0; oc < 16; oc += 4) {
                float acc = 0.0f;
                float acc_1 = 0.0f;
                float acc_2 = 0.0f;
                float acc_3 = 0.0f;
                const int32_t t0 = (oy * 8 + ox) * 4;
                const int32_t t1 = oc * 4;
                for (int32_t k_1 = 0; k_1 < 4; k_1++) {
                    const float x0 = x[t0 + k_1];
                    acc = x0 * k[t1 + k_1] + acc;
                    acc_1 = x0 * k[t1 + 4 + k_1] + acc_1;
                    acc_2 = x0 * k[t1 + 8 + k_1] + acc_2;
                    acc_3 = x0 * k[t1 + 12 + k_1] + acc_3;
                }
                const int32_t t2 = oy * 128;
                const int32_t t3 = ox * 16;
                out[t2 + (t3 + oc)] = acc;
                out[t2 + (t3 + (oc + 1))] = acc_1;
                out[t2 + (t3 + (oc + 2))] = acc_2;
                out[t2 + (t3 + (oc + 3))] = acc_3;
            }
        }
    }
}

/* conv_2d 'c' -> f32 [1,8,8,8]
 * step 3: conv_2d 'c': b f32 [1,8,8,16] at 0x0000 -> c f32 [1,8,8,8] at 0x1000
 *   x    f32[1024]  f32 [1,8,8,16] b
 *   k    f32[1152]  f32 [8,3,3,16] k2
 *   out  f32[512]  f32 [1,8,8,8] c */
RECOMPUTE_SQUARES_SECTION_FAST static void recompute_squares_conv_2d_4(const float *restrict x,
    const float *restrict k, float *restrict out)
{
    for (int32_t oy = 0; oy < 8; oy++) {
        for (int32_t ox = 0; ox < 8; ox++) {
            for (int32_t oc = 0; oc < 8; oc += 4) {
                float acc = 0.0f;
                float acc_1 = 0.0f;
                float acc_2 = 0.0f;
                float acc_3 = 0.0f;
                const int32_t t0 = 1 - oy;
                const int32_t t1 = 9 - oy;
                const int32_t t2 = t1 > 0 ? t1 : 0;
                const int32_t t3 = t2 < 3 ? t2 : 3;
                for (int32_t ky = t0 > 0 ? t0 : 0; ky < t3; ky++) {
                    const int32_t t4 = ((oy + ky - 1) * 8 + (ox - 1)) * 16;
                    const int32_t t5 = (oc * 3 + ky) * 48;
                    const int32_t t6 = 1 - ox;
                    const int32_t t7 = 9 - ox;
                    const int32_t t8 = t7 > 0 ? t7 : 0;
                    const int32_t t9 = (t8 < 3 ? t8 : 3) * 16;
                    for (int32_t k_1 = (t6 > 0 ? t6 : 0) * 16; k_1 < t9; k_1++) {
                        const float x0 = x[t4 + k_1];
                        acc = x0 * k[t5 + k_1] + acc;
                        acc_1 = x0 * k[t5 + 144 + k_1] + acc_1;
                        acc_2 = x0 * k[t5 + 288 + k_1] + acc_2;
                        acc_3 = x0 * k[t5 + 432 + k_1] + acc_3;
                    }
                }
                const int32_t t10 = oy * 64;
                const int32_t t11 = ox * 8;
                out[t10 + (t11 + oc)] = acc;
                out[t10 + (t11 + (oc + 1))] = acc_1;
                out[t10 + (t11 + (oc + 2))] = acc_2;
                out[t10 + (t11 + (oc + 3))] = acc_3;
            }
        }
    }
}

/* add 'z' -> f32 [1,64,8]
 * step 5: add 'z': w f32 [1,64,8] at 0x1000, v_again f32 [1,64,8] at 0x0000 -> z f32 [1,64,8] at 0x1000
 *   out  f32[512]  f32 [1,64,8] z
 *   x    f32[512]  f32 [1,64,8] w
 *   y    f32[512]  f32 [1,64,8] v */
RECOMPUTE_SQUARES_SECTION_FAST static void recompute_squares_add_7(float *out, const float *x,
    const float *restrict y)
{
    for (int32_t i = 0; i < 512; i++) {
        out[i] = x[i] + y[i];
    }
}

/* How the weights of this code begin: magic, version, size, checksum. */
static const uint8_t recompute_squares_header[32] = {
    97, 114, 110, 98, 108, 111, 98, 0, 1, 0, 0, 0, 64, 0, 0, 0,
    192, 19, 0, 0, 0, 0, 0, 0, 179, 24, 76, 34, 3, 45, 221, 120
};

int recompute_squares_init(const recompute_squares_mem *m)
{
    if (m == NULL)
        return RECOMPUTE_SQUARES_EALIGN;
    const uint8_t *const weights = (const uint8_t *)m->weights;
    int i;
    if (m->arena == NULL || (uintptr_t)m->arena % RECOMPUTE_SQUARES_ARENA_ALIGN != 0)
        return RECOMPUTE_SQUARES_EALIGN;
    if (weights == NULL || (uintptr_t)m->weights % 64u != 0)
        return RECOMPUTE_SQUARES_EWEIGHTS;
    for (i = 0; i < 32; i++)
        if (weights[i] != recompute_squares_header[i])
            return RECOMPUTE_SQUARES_EWEIGHTS;
    return RECOMPUTE_SQUARES_OK;
}

int recompute_squares_run(const recompute_squares_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;
    const uint8_t *const weights = (const uint8_t *)m->weights;

    /* 0: dequantize 't', then mul: x u8 [1,8,8,8] -> u f32 [1,8,8,8] */
    RECOMPUTE_SQUARES_STEP_BEGIN(0);
    recompute_squares_dequantize_0((void *)(arena + 0x0000), arena + 0x1800);
    RECOMPUTE_SQUARES_STEP_END(0);

    /* 1: conv_2d 'a': u f32 [1,8,8,8] -> a f32 [1,8,8,4] */
    RECOMPUTE_SQUARES_STEP_BEGIN(1);
    recompute_squares_conv_2d_2((void *)(arena + 0x0000), (const void *)(weights + 64), (void *)(arena + 0x1000));
    RECOMPUTE_SQUARES_STEP_END(1);

    /* 2: conv_2d 'b': a f32 [1,8,8,4] -> b f32 [1,8,8,16] */
    RECOMPUTE_SQUARES_STEP_BEGIN(2);
    recompute_squares_conv_2d_3((void *)(arena + 0x1000), (const void *)(weights + 192), (void *)(arena + 0x0000));
    RECOMPUTE_SQUARES_STEP_END(2);

    /* 3: conv_2d 'c': b f32 [1,8,8,16] -> c f32 [1,8,8,8] */
    RECOMPUTE_SQUARES_STEP_BEGIN(3);
    recompute_squares_conv_2d_4((void *)(arena + 0x0000), (const void *)(weights + 448), (void *)(arena + 0x1000));
    RECOMPUTE_SQUARES_STEP_END(3);

    /* 4: dequantize 't', then mul: x u8 [1,8,8,8] -> u_again f32 [1,8,8,8] */
    RECOMPUTE_SQUARES_STEP_BEGIN(4);
    recompute_squares_dequantize_0((void *)(arena + 0x0000), arena + 0x1800);
    RECOMPUTE_SQUARES_STEP_END(4);

    /* 5: add 'z': w f32 [1,64,8], v_again f32 [1,64,8] -> z f32 [1,64,8] */
    RECOMPUTE_SQUARES_STEP_BEGIN(5);
    recompute_squares_add_7((void *)(arena + 0x1000), (void *)(arena + 0x1000), (void *)(arena + 0x0000));
    RECOMPUTE_SQUARES_STEP_END(5);
    return RECOMPUTE_SQUARES_OK;
}

