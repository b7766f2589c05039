 * Compile without -ffast-math. The API is in vnni.h. */
#include "vnni.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef VNNI_STEP_BEGIN
#define VNNI_STEP_BEGIN(i) ((void)0)
#endif
#ifndef VNNI_STEP_END
#define VNNI_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef VNNI_SECTION_RODATA
#define VNNI_SECTION_RODATA
#endif
#ifndef VNNI_SECTION_FAST
#define VNNI_SECTION_FAST
#endif

#include <immintrin.h>

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

/* Vectors of GNU C; the attribute lets this file be compiled without -m options. */
#if defined(__clang__)
#define VNNI_SIMD __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512vnni"), min_vector_width(512)))
#else
#pragma GCC diagnostic ignored "-Wpsabi"
#define VNNI_SIMD __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512vnni")))
#endif
#define VNNI_INLINE static inline __attribute__((always_inline)) VNNI_SIMD

typedef int8_t i8x16_u __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint8_t u8x16 __attribute__((vector_size(16), may_alias));
typedef uint8_t u8x16_u __attribute__((vector_size(16), aligned(1), may_alias));
typedef int32_t i32x16_u __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t i32x16 __attribute__((vector_size(64), may_alias));
typedef uint8_t u8x4_u __attribute__((vector_size(4), aligned(1), may_alias));
typedef uint32_t u32x16 __attribute__((vector_size(64), may_alias));
typedef uint8_t u8x64 __attribute__((vector_size(64), may_alias));
typedef int8_t i8x64 __attribute__((vector_size(64), may_alias));
typedef float f32x16 __attribute__((vector_size(64), may_alias));
typedef int8_t i8x16 __attribute__((vector_size(16), may_alias));

VNNI_INLINE i32x16 splat_i32x16(int32_t x)
{
    return (i32x16){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}

VNNI_INLINE i32x16 dot4_u8_i32x16(u8x64 a, i8x64 b, i32x16 c)
{
    return (i32x16)_mm512_dpbusd_epi32((__m512i)c, (__m512i)a, (__m512i)b);
}

VNNI_INLINE f32x16 f32x16_from_i32(i32x16 x)
{
    return __builtin_convertvector(x, f32x16);
}

VNNI_INLINE f32x16 fma_f32x16(f32x16 a, f32x16 b, f32x16 c)
{
    return (f32x16)_mm512_fmadd_ps(a, b, c);
}

VNNI_INLINE f32x16 splat_f32x16(float x)
{
    return (f32x16){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}

VNNI_INLINE i32x16 round_i32x16_from_f32(f32x16 x)
{
    return (i32x16)_mm512_cvtps_epi32(x);
}

VNNI_INLINE i8x16 sat_i8x16_from_i32(i32x16 x)
{
    return (i8x16)_mm512_cvtsepi32_epi8((__m512i)x);
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the weights are little-endian: compile the model with --weights rodata"
#endif

/* fully_connected 'y' -> i8 [1,16]
 * step 0: fully_connected 'y': x i8 [1,16] at 0x0020 -> y i8 [1,16] at 0x0030
 *   x      i8[16]  i8 [1,16] x
 *   bias   i32[16]
 *   w      i8[256]
 *   strip  u8[20]
 *   out    i8[16]  i8 [1,16] y */
VNNI_SECTION_FAST static VNNI_SIMD void vnni_fully_connected_0(const int8_t *restrict x,
    const int32_t *restrict bias, const int8_t *restrict w, uint8_t *restrict strip, int8_t *restrict out)
{
    *(u8x16_u *)&strip[0] = (u8x16)*(const i8x16_u *)&x[0] ^ 128;
    i32x16 c0_0 = *(const i32x16_u *)&bias[0];
    for (int32_t k = 0; k < 4; k++) {
        const i32x16 t0 = dot4_u8_i32x16((u8x64)splat_i32x16((int32_t)*(const u8x4_u *)&strip[k * 4]), *(const i8x64 *)&w[k * 64], c0_0);
        c0_0 = t0;
    }
    const i32x16 t1 = round_i32x16_from_f32(fma_f32x16(f32x16_from_i32(c0_0), splat_f32x16(0.0049999976f), splat_f32x16(-5.0f)));
    *(i8x16_u *)&out[0] = sat_i8x16_from_i32(t1);
}

/* How the weights of this code begin: magic, version, size, checksum. */
static const uint8_t vnni_header[32] = {
    97, 114, 110, 98, 108, 111, 98, 0, 1, 0, 0, 0, 64, 0, 0, 0,
    128, 1, 0, 0, 0, 0, 0, 0, 165, 179, 184, 23, 184, 87, 145, 224
};

int vnni_init(const vnni_mem *m)
{
    if (m == NULL)
        return VNNI_EALIGN;
    const uint8_t *const weights = (const uint8_t *)m->weights;
    int i;
    if (m->arena == NULL || (uintptr_t)m->arena % VNNI_ARENA_ALIGN != 0)
        return VNNI_EALIGN;
    if (weights == NULL || (uintptr_t)m->weights % 64u != 0)
        return VNNI_EWEIGHTS;
    for (i = 0; i < 32; i++)
        if (weights[i] != vnni_header[i])
            return VNNI_EWEIGHTS;
    return VNNI_OK;
}

int vnni_run(const vnni_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;
    const uint8_t *const weights = (const uint8_t *)m->weights;

    /* 0: fully_connected 'y': x i8 [1,16] -> y i8 [1,16] */
    VNNI_STEP_BEGIN(0);
    vnni_fully_connected_0((void *)(arena + 0x0020), (const void *)(weights + 64), (const void *)(weights + 128),
        arena + 0x0000, (void *)(arena + 0x0030));
    VNNI_STEP_END(0);
    return VNNI_OK;
}

