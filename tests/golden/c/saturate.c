 * Compile without -ffast-math. The API is in saturate.h. */
#include "saturate.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef SATURATE_STEP_BEGIN
#define SATURATE_STEP_BEGIN(i) ((void)0)
#endif
#ifndef SATURATE_STEP_END
#define SATURATE_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef SATURATE_SECTION_RODATA
#define SATURATE_SECTION_RODATA
#endif
#ifndef SATURATE_SECTION_FAST
#define SATURATE_SECTION_FAST
#endif
/* Steps stay functions of their own: put into saturate_run they share its registers, and spill. */
#ifndef SATURATE_NOINLINE
#if defined(__GNUC__) || defined(__clang__)
#define SATURATE_NOINLINE __attribute__((noinline))
#else
#define SATURATE_NOINLINE
#endif
#endif

#if ((-1) >> 1) != (-1)
#error "right shifts of negative numbers must be arithmetic"
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

#if defined(__ARM_FEATURE_DSP)
#include <arm_acle.h>
#endif

static inline uint32_t word_of(const void *from)
{
    uint32_t w;
    (void)memcpy(&w, from, sizeof w);
    return w;
}

/* Bytes 1 and 3 of w, widened to halves. */
static inline uint32_t odd_i16x2(uint32_t w)
{
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) && !defined(__clang__)
    uint32_t v;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(v) : "r"(w));
    return v;
#elif defined(__ARM_FEATURE_DSP)
    return (uint32_t)__sxtb16((int8x4_t)(w >> 8 | w << 24));
#else
    return (uint16_t)(int8_t)(w >> 8) | (uint32_t)(uint16_t)(int8_t)(w >> 24) << 16;
#endif
}

/* Bytes 0 and 2 of w, widened to halves. */
static inline uint32_t even_i16x2(uint32_t w)
{
#if defined(__ARM_FEATURE_DSP)
    return (uint32_t)__sxtb16((int8x4_t)w);
#else
    return (uint16_t)(int8_t)w | (uint32_t)(uint16_t)(int8_t)(w >> 16) << 16;
#endif
}

/* c + the products of the halves of a and b, wrapping. */
static inline int32_t dot2_i16x2(uint32_t a, uint32_t b, int32_t c)
{
#if defined(__ARM_FEATURE_DSP)
    return __smlad((int16x2_t)a, (int16x2_t)b, c);
#else
    const int32_t low = (int16_t)a * (int16_t)b, high = (int16_t)(a >> 16) * (int16_t)(b >> 16);
    return (int32_t)((uint32_t)c + (uint32_t)low + (uint32_t)high);
#endif
}

/* The low halves of a and b: a below. */
static inline uint32_t pair_i16x2(uint32_t a, uint32_t b)
{
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) && !defined(__clang__)
    uint32_t v;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(v) : "r"(a), "r"(b));
    return v;
#else
    return (a & 0xffffu) | b << 16;
#endif
}

#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__) && defined(__OPTIMIZE__) && \
    !defined(SATURATE_NO_ASM)
static inline __attribute__((always_inline)) int8_t sat_i8_shr(int32_t x, int32_t n)
{
    int32_t y;
    __asm__("ssat %0, #8, %1, asr %2" : "=r"(y) : "r"(x), "I"(n));
    if ((y < -128) || (y > 127)) {
        __builtin_unreachable();
    }
    return (int8_t)y;
}
#else
static inline int8_t sat_i8_shr(int32_t x, int32_t n)
{
    int32_t y = x >> n;
    y = (y > -128) ? y : -128;
    y = (y < 127) ? y : 127;
    return (int8_t)y;
}
#endif

static inline int64_t i64_from_i32(int32_t x)
{
    return (int64_t)x;
}

/* The high word of x * m + c: requantisation. */
static inline int32_t scaled_i32(int32_t x, int32_t m, int64_t c)
{
    return (int32_t)(((int64_t)x * (int64_t)m + c) >> 32);
}

static inline int32_t i32_from_u32(uint32_t x)
{
    return (int32_t)x;
}

static inline int32_t clamp_i8(int32_t v)
{
#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) /* its __ssat warns */
    return (int32_t)__builtin_arm_ssat(v, 8);
#elif defined(__ARM_FEATURE_DSP)
    return (int32_t)__ssat(v, 8);
#else
    return v < -128 ? -128 : v > 127 ? 127 : v;
#endif
}

SATURATE_SECTION_RODATA static const int32_t saturate_depthwise_conv_2d_0_m[6] = {
    10486, -61830700, 20972, -70874875, 15729, -74028539
};

SATURATE_SECTION_RODATA static const int8_t saturate_depthwise_conv_2d_0_w[24] __attribute__((aligned(4))) = {
    17, 0, 96, 0, -14, 0, 75, 0, 63, 0, 6, 0, -14, 0, -24, 0, 120, 0, -55, 0, 67, 0, 27, 0
};

SATURATE_SECTION_RODATA static const int32_t saturate_depthwise_conv_2d_1_m[6] = {
    687194752, 343972159, 1374389504, 537136640, 1030792088, 516429899
};

SATURATE_SECTION_RODATA static const int32_t saturate_depthwise_conv_2d_1_bias[3] = {
    23272, 3868, 20372
};

/* depthwise_conv_2d 'y' -> i8 [1,2,2,3]
 * step 0: depthwise_conv_2d 'y', 48 MACs: x i8 [1,2,2,3] at 0x0000 -> i8 [1,2,2,3] at 0x0010
 *   m    i32[6]
 *   x    i8[12]  i8 [1,2,2,3] x
 *   w    i8[24]
 *   out  i8[12]  i8 [1,2,2,3] y */
SATURATE_SECTION_FAST SATURATE_NOINLINE
static void saturate_depthwise_conv_2d_0(const int32_t *restrict m, const int8_t *restrict x,
    const int8_t *restrict w, int8_t *restrict out)
{
    for (int32_t oy = 0; oy < 2; oy++) {
        const int32_t t0 = 2 - oy;
        const int32_t t1 = 2 - (t0 < 2 ? t0 : 2);
        const int32_t t2 = oy + -t1;
        const bool t3 = 0 < t1;
        const uint32_t t4 = (uint32_t)t1 * 16u;
        const uint32_t t5 = 4294967295u >> t4;
        const uint32_t t6 = t5 ^ 4294967295u;
        for (int32_t ic = 0; ic < 3; ic++) {
            const int32_t t7 = ic * 8;
            const uint32_t t8 = word_of(&w[t7]);
            const uint32_t t9 = word_of(&w[t7 + 4]);
            const int32_t t10 = t2 * 6 + ic;
            int32_t start = 0;
            uint32_t w_1 = t8;
            uint32_t w_2 = t9;
            if (t3) {
                const uint32_t t11 = t8 & t6;
                w_1 = (t8 & t5) << t4;
                const uint32_t t12 = t9 & t6;
                const int32_t t13 = dot2_i16x2(even_i16x2(t12), 0x00030003u,
                    dot2_i16x2(odd_i16x2(t11), 0x00030003u, dot2_i16x2(even_i16x2(t11), 0x00030003u, 0)));
                w_2 = (t9 & t5) << t4;
                start = dot2_i16x2(odd_i16x2(t12), 0x00030003u, t13);
            }
            const int32_t t14 = t10 + 3;
            const uint32_t t15 = pair_i16x2((uint32_t)x[t14], (uint32_t)x[t14 + 6]);
            const uint32_t t16 = even_i16x2(w_1);
            const int32_t t17 = oy * 6;
            const uint32_t t18 = even_i16x2(w_2);
            const int32_t t19 = dot2_i16x2(t15, t18,
                dot2_i16x2(pair_i16x2((uint32_t)x[t10], (uint32_t)x[t10 + 6]), t16, start));
            const int32_t t20 = ic * 2;
            const int32_t m0 = m[t20];
            const int32_t m1 = m[t20 + 1];
            out[t17 + ic] = sat_i8_shr(t19 * m0 + m1, 19);
            out[t17 + (1 * 3 + ic)] = sat_i8_shr(dot2_i16x2(0x00030003u, t18, dot2_i16x2(t15, t16, start)) * m0 + m1,
                19);
        }
    }
}

/* depthwise_conv_2d 'z' -> i8 [1,2,2,3]
 * step 1: depthwise_conv_2d 'z', then add, 48 MACs: y i8 [1,2,2,3] at 0x0010 -> s i8 [1,2,2,3] at 0x0000
 *   m     i32[6]
 *   bias  i32[3]
 *   x     i8[12]  i8 [1,2,2,3] y
 *   w     i8[24]
 *   out   i8[12]  i8 [1,2,2,3] s */
SATURATE_SECTION_FAST SATURATE_NOINLINE
static void saturate_depthwise_conv_2d_1(const int32_t *restrict m, const int32_t *restrict bias,
    const int8_t *restrict x, const int8_t *restrict w, int8_t *restrict out)
{
    for (int32_t oy = 0; oy < 2; oy++) {
        const int32_t t0 = 2 - oy;
        const int32_t t1 = 2 - (t0 < 2 ? t0 : 2);
        const int32_t t2 = oy + -t1;
        const bool t3 = 0 < t1;
        const uint32_t t4 = (uint32_t)t1 * 16u;
        const uint32_t t5 = 4294967295u >> t4;
        const uint32_t t6 = t5 ^ 4294967295u;
        for (int32_t ic = 0; ic < 3; ic++) {
            const int32_t t7 = ic * 8;
            const uint32_t t8 = word_of(&w[t7]);
            const uint32_t t9 = word_of(&w[t7 + 4]);
            const int32_t t10 = t2 * 6 + ic;
            const int32_t bias0 = bias[ic];
            int32_t start = bias0;
            uint32_t w_1 = t8;
            uint32_t w_2 = t9;
            if (t3) {
                const uint32_t t11 = t8 & t6;
                w_1 = (t8 & t5) << t4;
                const uint32_t t12 = t9 & t6;
                const int32_t t13 = dot2_i16x2(even_i16x2(t12), 0xff80ff80u,
                    dot2_i16x2(odd_i16x2(t11), 0xff80ff80u, dot2_i16x2(even_i16x2(t11), 0xff80ff80u, bias0)));
                w_2 = (t9 & t5) << t4;
                start = dot2_i16x2(odd_i16x2(t12), 0xff80ff80u, t13);
            }
            const int32_t t14 = t10 + 3;
            const uint32_t t15 = pair_i16x2((uint32_t)x[t14], (uint32_t)x[t14 + 6]);
            const uint32_t t16 = even_i16x2(w_1);
            const int32_t t17 = oy * 6;
            const int32_t t18 = t17 + ic;
            const uint32_t t19 = even_i16x2(w_2);
            const int32_t t20 = dot2_i16x2(t15, t19,
                dot2_i16x2(pair_i16x2((uint32_t)x[t10], (uint32_t)x[t10 + 6]), t16, start));
            const int32_t t21 = ic * 2;
            const int32_t m0 = m[t21];
            const int32_t m1 = m[t21 + 1];
            const int32_t t22 = i32_from_u32(
                (uint32_t)sat_i8_shr(scaled_i32(t20, m0, i64_from_i32(m1 ^ (t20 >> 31))) + 352, 6) - 5u);
            const int32_t t23 = i32_from_u32((uint32_t)t22 * 1048576u);
            const int64_t t24 = (int64_t)t23 * 1717987038 + INT64_C(3221225472) + i64_from_i32(t23 >> 31) *
                INT64_C(2147483648);
            const int32_t t25 = i32_from_u32((uint32_t)(int32_t)(t24 >> 32) +
                (uint32_t)i32_from_u32((uint32_t)i32_from_u32((uint32_t)x[t18] - 4294967168u) * 524288u));
            const int64_t t26 = (int64_t)t25 * 1342177186 + INT64_C(562951027163136) + i64_from_i32(t25 >> 31) *
                INT64_C(2147483648);
            out[t18] = (int8_t)clamp_i8(i32_from_u32((uint32_t)(int32_t)(t26 >> 50) + 4294967289u));
            const int32_t t27 = t17 + (1 * 3 + ic);
            const int32_t t28 = dot2_i16x2(0xff80ff80u, t19, dot2_i16x2(t15, t16, start));
            const int32_t t29 = i32_from_u32(
                (uint32_t)sat_i8_shr(scaled_i32(t28, m0, i64_from_i32(m1 ^ (t28 >> 31))) + 352, 6) - 5u);
            const int32_t t30 = i32_from_u32((uint32_t)t29 * 1048576u);
            const int64_t t31 = (int64_t)t30 * 1717987038 + INT64_C(3221225472) + i64_from_i32(t30 >> 31) *
                INT64_C(2147483648);
            const int32_t t32 = i32_from_u32((uint32_t)(int32_t)(t31 >> 32) +
                (uint32_t)i32_from_u32((uint32_t)i32_from_u32((uint32_t)x[t27] - 4294967168u) * 524288u));
            const int64_t t33 = (int64_t)t32 * 1342177186 + INT64_C(562951027163136) + i64_from_i32(t32 >> 31) *
                INT64_C(2147483648);
            out[t27] = (int8_t)clamp_i8(i32_from_u32((uint32_t)(int32_t)(t33 >> 50) + 4294967289u));
        }
    }
}

int saturate_init(const saturate_mem *m)
{
    if (m == NULL) {
        return SATURATE_EALIGN;
    }
    if ((m->arena == NULL) || (((uintptr_t)m->arena % SATURATE_ARENA_ALIGN) != 0u)) {
        return SATURATE_EALIGN;
    }
    return SATURATE_OK;
}

int saturate_run(const saturate_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: depthwise_conv_2d 'y', 48 MACs: x i8 [1,2,2,3] at 0x0000 -> i8 [1,2,2,3] at 0x0010 */
    SATURATE_STEP_BEGIN(0);
    saturate_depthwise_conv_2d_0(saturate_depthwise_conv_2d_0_m, (int8_t *)(void *)&arena[0x0000],
        saturate_depthwise_conv_2d_0_w, (int8_t *)(void *)&arena[0x0010]);
    SATURATE_STEP_END(0);

    /* 1: depthwise_conv_2d 'z', then add, 48 MACs: y i8 [1,2,2,3] at 0x0010 -> s i8 [1,2,2,3] at 0x0000 */
    SATURATE_STEP_BEGIN(1);
    saturate_depthwise_conv_2d_1(saturate_depthwise_conv_2d_1_m, saturate_depthwise_conv_2d_1_bias,
        (int8_t *)(void *)&arena[0x0010], saturate_depthwise_conv_2d_0_w, (int8_t *)(void *)&arena[0x0000]);
    SATURATE_STEP_END(1);
    return SATURATE_OK;
}

