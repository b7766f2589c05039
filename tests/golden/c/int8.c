 * Compile without -ffast-math. The API is in int8.h. */
#include "int8.h"

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef INT8_STEP_BEGIN
#define INT8_STEP_BEGIN(i) ((void)0)
#endif
#ifndef INT8_STEP_END
#define INT8_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef INT8_SECTION_RODATA
#define INT8_SECTION_RODATA
#endif
#ifndef INT8_SECTION_FAST
#define INT8_SECTION_FAST
#endif
/* Steps stay functions of their own: put into int8_run they share its registers, and spill. */
#ifndef INT8_NOINLINE
#if defined(__GNUC__) || defined(__clang__)
#define INT8_NOINLINE __attribute__((noinline))
#else
#define INT8_NOINLINE
#endif
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

static uint64_t bits_of_f64(double x)
{
    union {
        double x;
        uint64_t bits;
    } v;
    v.x = x;
    return v.bits;
}

static double of_bits_f64(uint64_t bits)
{
    union {
        uint64_t bits;
        double x;
    } v;
    v.bits = bits;
    return v.x;
}

static double trunc_f64(double x)
{
    const uint64_t bits = bits_of_f64(x);
    if ((bits & UINT64_C(0x7fffffffffffffff)) >= UINT64_C(0x4330000000000000)) { /* 2^52 and above */
        return x;
    }
    return of_bits_f64(bits_of_f64((double)(int64_t)x) | (bits & UINT64_C(0x8000000000000000)));
}

static inline int32_t i32_from_f64(double x)
{
    return (int32_t)x;
}

INT8_SECTION_RODATA static const int32_t int8_fully_connected_0_bias[2] = {
    16, -4
};

INT8_SECTION_RODATA static const int8_t int8_fully_connected_0_k[8] = {
    1, -2, 3, -4, 5, -6, 7, -8
};

/* fully_connected 'y' -> i8 [1,2]
 * step 0: fully_connected 'y', 8 MACs: x i8 [1,4] at 0x0000 -> i8 [1,2] at 0x0010
 *   bias  i32[2]
 *   x     i8[4]  i8 [1,4] x
 *   k     i8[8]  i8 [2,4] w
 *   out   i8[2]  i8 [1,2] y */
INT8_SECTION_FAST INT8_NOINLINE
static void int8_fully_connected_0(const int32_t *restrict bias, const int8_t *restrict x, const int8_t *restrict k,
    int8_t *restrict out)
{
    int32_t acc = bias[0];
    int32_t acc_1 = bias[1];
    for (int32_t ic = 0; ic < 4; ic++) {
        const int32_t t0 = x[ic];
        acc += t0 * k[ic];
        acc_1 += t0 * k[ic + 4];
    }
    const double t1 = (double)acc * 0.004999999888241291;
    const double t2 = trunc_f64(t1);
    const double t3 = t1 - t2;
    const int32_t t4 = i32_from_f64(t2 + (0.5 <= t3 ? 1.0 : 0.0) - (t3 <= -0.5 ? 1.0 : 0.0)) - 5;
    const int32_t t5 = t4 > -5 ? t4 : -5;
    out[0] = (int8_t)(t5 < 127 ? t5 : 127);
    const double t6 = (double)acc_1 * 0.004999999888241291;
    const double t7 = trunc_f64(t6);
    const double t8 = t6 - t7;
    const int32_t t9 = i32_from_f64(t7 + (0.5 <= t8 ? 1.0 : 0.0) - (t8 <= -0.5 ? 1.0 : 0.0)) - 5;
    const int32_t t10 = t9 > -5 ? t9 : -5;
    out[1] = (int8_t)(t10 < 127 ? t10 : 127);
}

int int8_init(const int8_mem *m)
{
    if ((m->arena == NULL) || (((uintptr_t)m->arena % INT8_ARENA_ALIGN) != 0u)) {
        return INT8_EALIGN;
    }
    return INT8_OK;
}

int int8_run(const int8_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: fully_connected 'y', 8 MACs: x i8 [1,4] at 0x0000 -> i8 [1,2] at 0x0010 */
    INT8_STEP_BEGIN(0);
    int8_fully_connected_0(int8_fully_connected_0_bias, (int8_t *)(void *)&arena[0x0000], int8_fully_connected_0_k,
        (int8_t *)(void *)&arena[0x0010]);
    INT8_STEP_END(0);
    return INT8_OK;
}

