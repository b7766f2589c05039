 * Compile without -ffast-math. The API is in tiles.h. */
#include "tiles.h"

#include <limits.h>
#include <string.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef TILES_STEP_BEGIN
#define TILES_STEP_BEGIN(i) ((void)0)
#endif
#ifndef TILES_STEP_END
#define TILES_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef TILES_SECTION_RODATA
#define TILES_SECTION_RODATA
#endif
#ifndef TILES_SECTION_FAST
#define TILES_SECTION_FAST
#endif
/* Steps stay functions of their own: put into tiles_run they share its registers, and spill. */
#ifndef TILES_NOINLINE
#if defined(__GNUC__) || defined(__clang__)
#define TILES_NOINLINE __attribute__((noinline))
#else
#define TILES_NOINLINE
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

/* Bytes 0 and 2 of w, widened to halves. */
static inline uint32_t even_i16x2(uint32_t w)
{
#if defined(__ARM_FEATURE_DSP)
    return (uint32_t)__sxtb16((int8x4_t)w);
#else
    return (uint16_t)(int8_t)w | (uint32_t)(uint16_t)(int8_t)(w >> 16) << 16;
#endif
}

static inline void put_word(void *to, uint32_t w)
{
    (void)memcpy(to, &w, sizeof w);
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

/* 8 sums: 2 rows by 4 channels of packed weights, 8 elements of each in a step. */
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__GNUC__) && \
    !defined(TILES_NO_ASM)
#if defined(__clang__)
__attribute__((naked, noinline))
#else
__attribute__((naked, noipa))
#endif
static void tile_pairs_2x4(const int16_t *x __attribute__((unused)), const int8_t *w __attribute__((unused)),
    int32_t steps __attribute__((unused)), int32_t *acc __attribute__((unused)))
{
    __asm__ volatile(
        "push {r3-r11, lr}\n"
        "sub sp, #8\n"
        "movs r4, #0\n"
        "movs r5, #0\n"
        "movs r6, #0\n"
        "movs r7, #0\n"
        "mov r8, r4\n"
        "mov r9, r4\n"
        "mov r10, r4\n"
        "mov r11, r4\n"
        "lsls r12, r2, #31\n"
        "add r2, r0, r2, lsl #5\n"
        "str r2, [sp]\n"
        "bmi 2f\n"
        "1:\n"
        "ldr r3, [r0, #28]\n"
        "ldr lr, [r1, #28]\n"
        "ldr r2, [r0, #12]\n"
        "ldr r12, [r1, #12]\n"
        "smlad r6, r12, r2, r6\n"
        "smlad r7, r12, r3, r7\n"
        "smlad r10, lr, r2, r10\n"
        "smlad r11, lr, r3, r11\n"
        "sxtb16 r12, r12\n"
        "smlad r4, r12, r2, r4\n"
        "smlad r5, r12, r3, r5\n"
        "sxtb16 lr, lr\n"
        "smlad r8, lr, r2, r8\n"
        "smlad r9, lr, r3, r9\n"
        "ldr r3, [r0, #24]\n"
        "ldr lr, [r1, #24]\n"
        "ldr r2, [r0, #8]\n"
        "ldr r12, [r1, #8]\n"
        "smlad r6, r12, r2, r6\n"
        "smlad r7, r12, r3, r7\n"
        "smlad r10, lr, r2, r10\n"
        "smlad r11, lr, r3, r11\n"
        "sxtb16 r12, r12\n"
        "smlad r4, r12, r2, r4\n"
        "smlad r5, r12, r3, r5\n"
        "sxtb16 lr, lr\n"
        "smlad r8, lr, r2, r8\n"
        "smlad r9, lr, r3, r9\n"
        "ldr r3, [r0, #20]\n"
        "ldr lr, [r1, #20]\n"
        "ldr r2, [r0, #4]\n"
        "ldr r12, [r1, #4]\n"
        "smlad r6, r12, r2, r6\n"
        "smlad r7, r12, r3, r7\n"
        "smlad r10, lr, r2, r10\n"
        "smlad r11, lr, r3, r11\n"
        "sxtb16 r12, r12\n"
        "smlad r4, r12, r2, r4\n"
        "smlad r5, r12, r3, r5\n"
        "sxtb16 lr, lr\n"
        "smlad r8, lr, r2, r8\n"
        "smlad r9, lr, r3, r9\n"
        "ldr r3, [r0, #16]\n"
        "ldr lr, [r1, #16]\n"
        "ldr r2, [r0], #32\n"
        "ldr r12, [r1], #32\n"
        "smlad r6, r12, r2, r6\n"
        "smlad r7, r12, r3, r7\n"
        "smlad r10, lr, r2, r10\n"
        "smlad r11, lr, r3, r11\n"
        "sxtb16 r12, r12\n"
        "smlad r4, r12, r2, r4\n"
        "smlad r5, r12, r3, r5\n"
        "sxtb16 lr, lr\n"
        "smlad r8, lr, r2, r8\n"
        "smlad r9, lr, r3, r9\n"
        "2:\n"
        "ldr r3, [r0, #28]\n"
        "ldr lr, [r1, #28]\n"
        "ldr r2, [r0, #12]\n"
        "ldr r12, [r1, #12]\n"
        "smlad r6, r12, r2, r6\n"
        "smlad r7, r12, r3, r7\n"
        "smlad r10, lr, r2, r10\n"
        "smlad r11, lr, r3, r11\n"
        "sxtb16 r12, r12\n"
        "smlad r4, r12, r2, r4\n"
        "smlad r5, r12, r3, r5\n"
        "sxtb16 lr, lr\n"
        "smlad r8, lr, r2, r8\n"
        "smlad r9, lr, r3, r9\n"
        "ldr r3, [r0, #24]\n"
        "ldr lr, [r1, #24]\n"
        "ldr r2, [r0, #8]\n"
        "ldr r12, [r1, #8]\n"
        "smlad r6, r12, r2, r6\n"
        "smlad r7, r12, r3, r7\n"
        "smlad r10, lr, r2, r10\n"
        "smlad r11, lr, r3, r11\n"
        "sxtb16 r12, r12\n"
        "smlad r4, r12, r2, r4\n"
        "smlad r5, r12, r3, r5\n"
        "sxtb16 lr, lr\n"
        "smlad r8, lr, r2, r8\n"
        "smlad r9, lr, r3, r9\n"
        "ldr r3, [r0, #20]\n"
        "ldr lr, [r1, #20]\n"
        "ldr r2, [r0, #4]\n"
        "ldr r12, [r1, #4]\n"
        "smlad r6, r12, r2, r6\n"
        "smlad r7, r12, r3, r7\n"
        "smlad r10, lr, r2, r10\n"
        "smlad r11, lr, r3, r11\n"
        "sxtb16 r12, r12\n"
        "smlad r4, r12, r2, r4\n"
        "smlad r5, r12, r3, r5\n"
        "sxtb16 lr, lr\n"
        "smlad r8, lr, r2, r8\n"
        "smlad r9, lr, r3, r9\n"
        "ldr r3, [r0, #16]\n"
        "ldr lr, [r1, #16]\n"
        "ldr r2, [r0], #32\n"
        "ldr r12, [r1], #32\n"
        "smlad r6, r12, r2, r6\n"
        "smlad r7, r12, r3, r7\n"
        "smlad r10, lr, r2, r10\n"
        "smlad r11, lr, r3, r11\n"
        "sxtb16 r12, r12\n"
        "smlad r4, r12, r2, r4\n"
        "smlad r5, r12, r3, r5\n"
        "sxtb16 lr, lr\n"
        "smlad r8, lr, r2, r8\n"
        "smlad r9, lr, r3, r9\n"
        "ldr r2, [sp]\n"
        "cmp r0, r2\n"
        "bne 1b\n"
        "ldr r0, [sp, #8]\n"
        "stmia r0, {r4-r11}\n"
        "add sp, #8\n"
        "pop {r3-r11, pc}\n");
}
#else
static inline void tile_pairs_2x4(const int16_t *x, const int8_t *w, int32_t steps, int32_t *acc)
{
    for (int32_t i = 0; i < 8; i++) {
        acc[i] = 0;
    }
    for (int32_t s = 0; s < steps * 2; s++) {
        for (int32_t k = 0; k < 8; k++) {
            const int32_t low = w[s * 16 + k * 2];
            const int32_t whole = w[s * 16 + k * 2 + 1] * 256 + (low & 255);
            for (int32_t r = 0; r < 2; r++) {
                const int32_t v = x[(s / 2 * 2 + r) * 8 + k];
                int32_t *const c = &acc[s % 2 * 4 + r];
                const int32_t by_low = v * low;
                const int32_t by_whole = v * whole;
                const uint32_t first = (uint32_t)c[0] + (uint32_t)by_low;
                const uint32_t second = (uint32_t)c[2] + (uint32_t)by_whole;
                c[0] = (int32_t)first;
                c[2] = (int32_t)second;
            }
        }
    }
}
#endif

#if defined(__ARM_FEATURE_SAT) && defined(__GNUC__) && defined(__OPTIMIZE__) && \
    !defined(TILES_NO_ASM)
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

static inline int32_t i32_from_u32(uint32_t x)
{
    return (int32_t)x;
}

static inline int64_t i64_from_i32(int32_t x)
{
    return (int64_t)x;
}

TILES_SECTION_RODATA static const int32_t tiles_conv_2d_0_bias[8] = {
    780, -318, 804, 354, -126, 387, 690, -204
};

TILES_SECTION_RODATA static const int8_t tiles_conv_2d_0_w[128] __attribute__((aligned(4))) = {
    17, 37, 120, 46, 63, 80, -14, 97, -14, -112, 96, -1, 67, -107, 6, -96, -26, 99, -63, -52, -16, 104, 8,
    -94, 11, -44, 81, -27, 63, 112, 43, -105, -55, -55, -24, 3, 75, -115, 27, 55, -11, -117, -16, 24, 8, 127,
    -85, 21, 92, 27, -67, 116, 53, -88, 40, 96, 94, 7, -45, 63, 87, -110, -87, 8, 56, 38, -118, -21, -56, -72,
    -122, 98, 17, 47, -86, 63, -97, 111, 82, -95, 91, 35, -127, -81, 88, 25, -49, -103, 60, 125, 42, -7, 23, -24,
    -4, 15, 121, -82, 17, 72, 49, 61, -7, -30, 32, -103, 78, 25, 92, 115, -100, -105, -10, 48, 36, 120, 125, 61,
    -120, -7, 89, -72, -29, -105, 104, -77, -89, -28
};

TILES_SECTION_RODATA static const int32_t tiles_fully_connected_1_bias[2] = {
    492, -747
};

TILES_SECTION_RODATA static const int8_t tiles_fully_connected_1_k[32] = {
    23, 64, 24, 68, -48, -39, 58, 61, -64, 58, -41, -16, 14, -32, 110, -76, -76, -35, -31, -74, -115, 7, -30,
    -43, 106, 61, 6, 31, -125, -51, 94, 26
};

TILES_SECTION_RODATA static const int32_t tiles_fully_connected_2_bias[4] = {
    381, 432, -261, -297
};

TILES_SECTION_RODATA static const int8_t tiles_fully_connected_2_k[64] = {
    -99, 51, 29, -109, -72, 35, -93, 99, -2, 99, 51, 54, -5, -42, 55, 76, -49, -101, -83, 22, 81, 111, 43,
    -79, 31, 99, -72, -97, 36, 95, 50, 57, -79, 102, -18, -73, -7, 43, -31, -33, -87, 2, 53, 91, -47, 19, 101,
    -123, 11, -88, 47, 50, 9, 10, -22, -18, -90, 43, 25, -33, -41, -78, 98, -22
};

/* conv_2d 'a' -> i8 [1,3,2,8]
 * step 0: conv_2d 'a', 768 MACs: x i8 [1,3,2,16] at 0x0040 -> i8 [1,3,2,8] at 0x00a0
 *   bias  i32[8]
 *   x     i8[96]  i8 [1,3,2,16] x
 *   line  i16[32]
 *   w     i8[128]
 *   out   i8[48]  i8 [1,3,2,8] a */
TILES_SECTION_FAST TILES_NOINLINE
static void tiles_conv_2d_0(const int32_t *restrict bias, const int8_t *restrict x, int16_t *restrict line,
    const int8_t *restrict w, int8_t *restrict out)
{
    int32_t acc[8];
    for (int32_t p = 0; p < 6; p += 2) {
        const int32_t t0 = 6 - p;
        const int32_t t1 = t0 < 2 ? t0 : 2;
        for (int32_t r = 0; r < t1; r++) {
            const int32_t t2 = (p + r) * 2;
            const int32_t t3 = -t2;
            const int32_t t4 = t2 + 2;
            for (int32_t i = t2; i < t4; i++) {
                const int32_t t5 = ((i + t3) * 2 + r) * 8;
                const int32_t t6 = i * 8;
                const uint32_t t7 = word_of(&x[t6]);
                put_word(&line[t5], even_i16x2(t7));
                put_word(&line[t5 + 2], odd_i16x2(t7));
                const uint32_t t8 = word_of(&x[t6 + 4]);
                put_word(&line[t5 + 4], even_i16x2(t8));
                put_word(&line[t5 + 6], odd_i16x2(t8));
            }
        }
        for (int32_t oc = 0; oc < 8; oc += 4) {
            tile_pairs_2x4(line, w + oc * (2 * 8), 2, acc);
            const int32_t acc0 = acc[2];
            const int32_t t9 = p * 8;
            const int32_t acc1 = acc[0];
            const int32_t bias0 = bias[oc];
            out[t9 + oc] = sat_i8_shr((acc1 + bias0) * 5243 + 2621439, 20);
            const int32_t t10 = oc + 1;
            const int32_t bias1 = bias[t10];
            const int8_t t11 = sat_i8_shr(((i32_from_u32((uint32_t)acc0 - (uint32_t)acc1) >> 8) + bias1) * 5243 +
                2621439, 20);
            out[t9 + t10] = t11;
            const int32_t acc2 = acc[6];
            const int32_t t12 = oc + 2;
            const int32_t acc3 = acc[4];
            const int32_t bias2 = bias[t12];
            out[t9 + t12] = sat_i8_shr((acc3 + bias2) * 5243 + 2621439, 20);
            const int32_t t13 = oc + 3;
            const int32_t bias3 = bias[t13];
            const int8_t t14 = sat_i8_shr(((i32_from_u32((uint32_t)acc2 - (uint32_t)acc3) >> 8) + bias3) * 5243 +
                2621439, 20);
            out[t9 + t13] = t14;
            if (1 < t1) {
                const int32_t acc4 = acc[3];
                const int32_t t15 = (p + 1) * 8;
                const int32_t acc5 = acc[1];
                out[t15 + oc] = sat_i8_shr((acc5 + bias0) * 5243 + 2621439, 20);
                const int8_t t16 = sat_i8_shr(((i32_from_u32((uint32_t)acc4 - (uint32_t)acc5) >> 8) + bias1) * 5243 +
                    2621439, 20);
                out[t15 + t10] = t16;
                const int32_t acc6 = acc[7];
                const int32_t acc7 = acc[5];
                out[t15 + t12] = sat_i8_shr((acc7 + bias2) * 5243 + 2621439, 20);
                const int8_t t17 = sat_i8_shr(((i32_from_u32((uint32_t)acc6 - (uint32_t)acc7) >> 8) + bias3) * 5243 +
                    2621439, 20);
                out[t15 + t13] = t17;
            }
        }
    }
}

/* fully_connected 'b' -> i8 [1,2]
 * step 1: fully_connected 'b', 32 MACs: z i8 [1,16] at 0x00d0 -> i8 [1,2] at 0x0010
 *   bias  i32[2]
 *   x     i8[16]  i8 [1,16] z
 *   k     i8[32]  i8 [2,16] w2
 *   out   i8[2]  i8 [1,2] b */
TILES_SECTION_FAST TILES_NOINLINE
static void tiles_fully_connected_1(const int32_t *restrict bias, const int8_t *restrict x,
    const int8_t *restrict k, int8_t *restrict out)
{
    int32_t acc = bias[0];
    int32_t acc_1 = bias[1];
    for (int32_t ic = 0; ic < 16; ic++) {
        const int32_t t0 = x[ic];
        acc += t0 * k[ic];
        acc_1 += t0 * k[ic + 16];
    }
    out[0] = sat_i8_shr((int32_t)((i64_from_i32(acc * 8192) * 343597376) >> 32) + 196608, 17);
    out[1] = sat_i8_shr((int32_t)((i64_from_i32(acc_1 * 8192) * 343597376) >> 32) + 196608, 17);
}

/* fully_connected 'c' -> i8 [1,4]
 * step 2: fully_connected 'c', 64 MACs: z i8 [1,16] at 0x00d0 -> i8 [1,4] at 0x0000
 *   bias  i32[4]
 *   x     i8[16]  i8 [1,16] z
 *   k     i8[64]  i8 [4,16] w3
 *   out   i8[4]  i8 [1,4] c */
TILES_SECTION_FAST TILES_NOINLINE
static void tiles_fully_connected_2(const int32_t *restrict bias, const int8_t *restrict x,
    const int8_t *restrict k, int8_t *restrict out)
{
    int32_t acc = bias[0];
    int32_t acc_1 = bias[1];
    int32_t acc_2 = bias[2];
    int32_t acc_3 = bias[3];
    for (int32_t ic = 0; ic < 16; ic++) {
        const int32_t t0 = x[ic];
        acc += t0 * k[ic];
        acc_1 += t0 * k[ic + 16];
        acc_2 += t0 * k[ic + 32];
        acc_3 += t0 * k[ic + 48];
    }
    out[0] = sat_i8_shr((int32_t)((i64_from_i32(acc * 8192) * 343597376) >> 32) + 196608, 17);
    out[1] = sat_i8_shr((int32_t)((i64_from_i32(acc_1 * 8192) * 343597376) >> 32) + 196608, 17);
    out[2] = sat_i8_shr((int32_t)((i64_from_i32(acc_2 * 8192) * 343597376) >> 32) + 196608, 17);
    out[3] = sat_i8_shr((int32_t)((i64_from_i32(acc_3 * 8192) * 343597376) >> 32) + 196608, 17);
}

int tiles_init(const tiles_mem *m)
{
    if (m == NULL) {
        return TILES_EALIGN;
    }
    if ((m->arena == NULL) || (((uintptr_t)m->arena % TILES_ARENA_ALIGN) != 0u)) {
        return TILES_EALIGN;
    }
    return TILES_OK;
}

int tiles_run(const tiles_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: conv_2d 'a', 768 MACs: x i8 [1,3,2,16] at 0x0040 -> i8 [1,3,2,8] at 0x00a0 */
    TILES_STEP_BEGIN(0);
    tiles_conv_2d_0(tiles_conv_2d_0_bias, (int8_t *)(void *)&arena[0x0040], (int16_t *)(void *)&arena[0x0000],
        tiles_conv_2d_0_w, (int8_t *)(void *)&arena[0x00a0]);
    TILES_STEP_END(0);

    /* 1: fully_connected 'b', 32 MACs: z i8 [1,16] at 0x00d0 -> i8 [1,2] at 0x0010 */
    TILES_STEP_BEGIN(1);
    tiles_fully_connected_1(tiles_fully_connected_1_bias, (int8_t *)(void *)&arena[0x00d0],
        tiles_fully_connected_1_k, (int8_t *)(void *)&arena[0x0010]);
    TILES_STEP_END(1);

    /* 2: fully_connected 'c', 64 MACs: z i8 [1,16] at 0x00d0 -> i8 [1,4] at 0x0000 */
    TILES_STEP_BEGIN(2);
    tiles_fully_connected_2(tiles_fully_connected_2_bias, (int8_t *)(void *)&arena[0x00d0],
        tiles_fully_connected_2_k, (int8_t *)(void *)&arena[0x0000]);
    TILES_STEP_END(2);
    return TILES_OK;
}

