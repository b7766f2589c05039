 * Compile without -ffast-math. The API is in vectors.h. */
#include "vectors.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef VECTORS_STEP_BEGIN
#define VECTORS_STEP_BEGIN(i) ((void)0)
#endif
#ifndef VECTORS_STEP_END
#define VECTORS_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef VECTORS_SECTION_RODATA
#define VECTORS_SECTION_RODATA
#endif
#ifndef VECTORS_SECTION_FAST
#define VECTORS_SECTION_FAST
#endif

/* All of gcc's immintrin.h takes it half a second: this is what AVX2 has of it. */
#if defined(__GNUC__) && __GNUC__ < 16 && !defined(__clang__) && !defined(_IMMINTRIN_H_INCLUDED)
#define _IMMINTRIN_H_INCLUDED
#include <smmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#include <fmaintrin.h>
#include <f16cintrin.h>
#undef _IMMINTRIN_H_INCLUDED
#else
#include <immintrin.h>
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

/* Vectors of GNU C; the attribute lets this file be compiled without -m options. */
#if defined(__clang__)
#define VECTORS_SIMD __attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"), min_vector_width(256)))
#else
#pragma GCC diagnostic ignored "-Wpsabi"
#define VECTORS_SIMD __attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")))
#endif
#define VECTORS_INLINE static inline __attribute__((always_inline)) VECTORS_SIMD

typedef float f32x8_u __attribute__((vector_size(32), aligned(4), may_alias));
typedef float f32x8 __attribute__((vector_size(32), may_alias));
typedef float f32x4_u __attribute__((vector_size(16), aligned(4), may_alias));
typedef float f32x4 __attribute__((vector_size(16), may_alias));

/* mul 'z' -> f32 [20]
 * step 0: mul 'z', then sub: x f32 [20] at 0x0000, y f32 [20] at 0x0050 -> s f32 [20] at 0x0000
 *   out  f32[20]  f32 [20] s
 *   x    f32[20]  f32 [20] x
 *   y    f32[20]  f32 [20] y */
VECTORS_SECTION_FAST static VECTORS_SIMD void vectors_mul_0(float *out, const float *x, const float *restrict y)
{
    for (int32_t i = 0; i < 16; i += 8) {
        const f32x8 y0 = *(const f32x8_u *)&y[i];
        *(f32x8_u *)&out[i] = *(const f32x8_u *)&x[i] * y0 - y0;
    }
    const f32x4 y1 = *(const f32x4_u *)&y[16];
    *(f32x4_u *)&out[16] = *(const f32x4_u *)&x[16] * y1 - y1;
}

int vectors_init(const vectors_mem *m)
{
    if (m == NULL)
        return VECTORS_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % VECTORS_ARENA_ALIGN != 0)
        return VECTORS_EALIGN;
    return VECTORS_OK;
}

int vectors_run(const vectors_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: mul 'z', then sub: x f32 [20], y f32 [20] -> s f32 [20] */
    VECTORS_STEP_BEGIN(0);
    vectors_mul_0((void *)(arena + 0x0000), (void *)(arena + 0x0000), (void *)(arena + 0x0050));
    VECTORS_STEP_END(0);
    return VECTORS_OK;
}

