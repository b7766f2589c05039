 * Compile without -ffast-math. The API is in share_kernels.h. */
#include "share_kernels.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef SHARE_KERNELS_STEP_BEGIN
#define SHARE_KERNELS_STEP_BEGIN(i) ((void)0)
#endif
#ifndef SHARE_KERNELS_STEP_END
#define SHARE_KERNELS_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef SHARE_KERNELS_SECTION_RODATA
#define SHARE_KERNELS_SECTION_RODATA
#endif
#ifndef SHARE_KERNELS_SECTION_FAST
#define SHARE_KERNELS_SECTION_FAST
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

/* conv_2d 'a' -> i8 [1,13,11,16]
 * step 0: conv_2d 'a': x i8 [1,13,11,8] at 0x08f0 -> a i8 [1,13,11,16] at 0x0000
 * also step 1, 2
 *   k      i32[24]
 *   x      i8[3432]
 *   k_1    i8[3456]
 *   out    i8[3432]
 *   shape  i32[9]  numbers that differ from step to step */
SHARE_KERNELS_SECTION_FAST static void share_kernels_conv_2d_0(const int32_t *restrict k, const int8_t *restrict x,
    const int8_t *restrict k_1, int8_t *restrict out, const int32_t *restrict shape)
{
    const int32_t shape0 = shape[0];
    const int32_t shape1 = shape[1];
    const int32_t shape2 = shape[2];
    const int32_t shape3 = shape[3];
    const int32_t shape4 = shape[4];
    const int32_t shape5 = shape[5];
    const int32_t shape6 = shape[6];
    const int32_t shape7 = shape[7];
    const int32_t shape8 = shape[8];
    for (int32_t oy = 0; oy < 13; oy++) {
        for (int32_t ox = 0; ox < 11; ox++) {
            for (int32_t oc = 0; oc < shape0; oc += 4) {
                int32_t acc = k[oc];
                const int32_t t0 = oc + 1;
                int32_t acc_1 = k[t0];
                const int32_t t1 = oc + 2;
                int32_t acc_2 = k[t1];
                const int32_t t2 = oc + 3;
                int32_t acc_3 = k[t2];
                const int32_t t3 = 1 - oy;
                const int32_t t4 = 14 - oy;
                const int32_t t5 = t4 > 0 ? t4 : 0;
                const int32_t t6 = t5 < 3 ? t5 : 3;
                for (int32_t ky = t3 > 0 ? t3 : 0; ky < t6; ky++) {
                    const int32_t t7 = ((oy + ky - 1) * 11 + (ox - 1)) * shape1;
                    const int32_t t8 = (oc * 3 + ky) * shape2;
                    const int32_t t9 = 1 - ox;
                    const int32_t t10 = 12 - ox;
                    const int32_t t11 = t10 > 0 ? t10 : 0;
                    const int32_t t12 = (t11 < 3 ? t11 : 3) * shape1;
                    for (int32_t k_2 = (t9 > 0 ? t9 : 0) * shape1; k_2 < t12; k_2++) {
                        const int32_t t13 = x[t7 + k_2] - shape3;
                        acc += t13 * k_1[t8 + k_2];
                        acc_1 += t13 * k_1[t8 + shape4 + k_2];
                        acc_2 += t13 * k_1[t8 + shape5 + k_2];
                        acc_3 += t13 * k_1[t8 + shape6 + k_2];
                    }
                }
                const int32_t t14 = oy * shape7;
                const int32_t t15 = ox * shape0;
                const int64_t t16 = (int64_t)acc * 1374389504 + INT64_C(69793218560) + (int64_t)(acc >> 31) * INT64_C(2147483648);
                const int32_t t17 = (int32_t)(t16 >> 37) + shape8;
                const int32_t t18 = t17 > shape8 ? t17 : shape8;
                out[t14 + (t15 + oc)] = (int8_t)(t18 < 127 ? t18 : 127);
                const int64_t t19 = (int64_t)acc_1 * 1374389504 + INT64_C(69793218560) + (int64_t)(acc_1 >> 31) * INT64_C(2147483648);
                const int32_t t20 = (int32_t)(t19 >> 37) + shape8;
                const int32_t t21 = t20 > shape8 ? t20 : shape8;
                out[t14 + (t15 + t0)] = (int8_t)(t21 < 127 ? t21 : 127);
                const int64_t t22 = (int64_t)acc_2 * 1374389504 + INT64_C(69793218560) + (int64_t)(acc_2 >> 31) * INT64_C(2147483648);
                const int32_t t23 = (int32_t)(t22 >> 37) + shape8;
                const int32_t t24 = t23 > shape8 ? t23 : shape8;
                out[t14 + (t15 + t1)] = (int8_t)(t24 < 127 ? t24 : 127);
                const int64_t t25 = (int64_t)acc_3 * 1374389504 + INT64_C(69793218560) + (int64_t)(acc_3 >> 31) * INT64_C(2147483648);
                const int32_t t26 = (int32_t)(t25 >> 37) + shape8;
                const int32_t t27 = t26 > shape8 ? t26 : shape8;
                out[t14 + (t15 + t2)] = (int8_t)(t27 < 127 ? t27 : 127);
            }
        }
    }
}

/* How the weights of this code begin: magic, version, size, checksum. */
static const uint8_t share_kernels_header[32] = {
    97, 114, 110, 98, 108, 111, 98, 0, 1, 0, 0, 0, 64, 0, 0, 0,
    108, 26, 0, 0, 0, 0, 0, 0, 61, 57, 10, 14, 170, 144, 14, 230
};

int share_kernels_init(const share_kernels_mem *m)
{
    if (m == NULL)
        return SHARE_KERNELS_EALIGN;
    const uint8_t *const weights = (const uint8_t *)m->weights;
    int i;
    if (m->arena == NULL || (uintptr_t)m->arena % SHARE_KERNELS_ARENA_ALIGN != 0)
        return SHARE_KERNELS_EALIGN;
    if (weights == NULL || (uintptr_t)m->weights % 64u != 0)
        return SHARE_KERNELS_EWEIGHTS;
    for (i = 0; i < 32; i++)
        if (weights[i] != share_kernels_header[i])
            return SHARE_KERNELS_EWEIGHTS;
    return SHARE_KERNELS_OK;
}

int share_kernels_run(const share_kernels_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;
    const uint8_t *const weights = (const uint8_t *)m->weights;

    /* 0: conv_2d 'a': x i8 [1,13,11,8] -> a i8 [1,13,11,16] */
    SHARE_KERNELS_STEP_BEGIN(0);
    share_kernels_conv_2d_0((const void *)(weights + 64), (void *)(arena + 0x08f0), (const void *)(weights + 128),
        (void *)(arena + 0x0000), (const void *)(weights + 6656));
    SHARE_KERNELS_STEP_END(0);

    /* 1: conv_2d 'b': a i8 [1,13,11,16] -> b i8 [1,13,11,24] */
    SHARE_KERNELS_STEP_BEGIN(1);
    share_kernels_conv_2d_0((const void *)(weights + 1280), (void *)(arena + 0x0000),
        (const void *)(weights + 1408), (void *)(arena + 0x08f0), (const void *)(weights + 6692));
    SHARE_KERNELS_STEP_END(1);

    /* 2: conv_2d 'c': b i8 [1,13,11,24] -> c i8 [1,13,11,8] */
    SHARE_KERNELS_STEP_BEGIN(2);
    share_kernels_conv_2d_0((const void *)(weights + 4864), (void *)(arena + 0x08f0),
        (const void *)(weights + 4928), (void *)(arena + 0x0000), (const void *)(weights + 6728));
    SHARE_KERNELS_STEP_END(2);
    return SHARE_KERNELS_OK;
}

