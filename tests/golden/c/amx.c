 * Compile without -ffast-math. The API is in amx.h. */
#include "amx.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef AMX_STEP_BEGIN
#define AMX_STEP_BEGIN(i) ((void)0)
#endif
#ifndef AMX_STEP_END
#define AMX_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef AMX_SECTION_RODATA
#define AMX_SECTION_RODATA
#endif
#ifndef AMX_SECTION_FAST
#define AMX_SECTION_FAST
#endif

#include <immintrin.h>

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

/* AMX: Linux gives its registers to a program that has asked, once, before threads start:
 * syscall(SYS_arch_prctl, 0x1023, 18) == 0, of <sys/syscall.h> and <unistd.h>. */

/* Vectors of GNU C; the attribute lets this file be compiled without -m options. */
#if defined(__clang__)
#define AMX_SIMD __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512vnni,avx512bf16,amx-tile,amx-int8"), min_vector_width(512)))
#else
#pragma GCC diagnostic ignored "-Wpsabi"
#define AMX_SIMD __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512vnni,avx512bf16,amx-tile,amx-int8")))
#endif
#define AMX_INLINE static inline __attribute__((always_inline)) AMX_SIMD

typedef int32_t i32x16_u __attribute__((vector_size(64), aligned(4), may_alias));
typedef float f32x16 __attribute__((vector_size(64), may_alias));
typedef int32_t i32x16 __attribute__((vector_size(64), may_alias));
typedef uint32_t u32x16 __attribute__((vector_size(64), may_alias));
typedef int8_t i8x16 __attribute__((vector_size(16), may_alias));
typedef uint8_t u8x16 __attribute__((vector_size(16), may_alias));
typedef int8_t i8x16_u __attribute__((vector_size(16), aligned(1), may_alias));

/* 1024 sums: 32 rows of i8 by 32 channels of packed weights, 64 elements of each in a step. */
AMX_SIMD static inline void tile_matrix_32x32(const int8_t *x, int32_t pitch, const int8_t *w, int32_t steps,
    int32_t *acc)
{
#if !defined(AMX_NO_ASM)
    static const uint8_t config[64] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0};
    __asm__ volatile("" : : : "memory");
    _tile_loadconfig(config);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int32_t k = 0; k < steps; k++) {
        _tile_loadd(4, x + k * 64, pitch);
        _tile_loadd(5, x + 16 * pitch + k * 64, pitch);
        _tile_loadd(6, w + k * 2048, 128);
        _tile_loadd(7, w + k * 2048 + 64, 128);
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    _tile_stored(0, acc + 0, 128);
    _tile_stored(1, acc + 16, 128);
    _tile_stored(2, acc + 512, 128);
    _tile_stored(3, acc + 528, 128);
    _tile_release();
#else
    for (int32_t r = 0; r < 32; r++)
        for (int32_t c = 0; c < 32; c++) {
            uint32_t sum = 0;
            for (int32_t k = 0; k < steps * 64; k++) {
                const int32_t v = x[r * pitch + k];
                sum += (uint32_t)(v * w[(k / 4 * 32 + c) * 4 + k % 4]);
            }
            acc[r * 32 + c] = (int32_t)sum;
        }
#endif
}

AMX_INLINE f32x16 f32x16_from_i32(i32x16 x)
{
    return __builtin_convertvector(x, f32x16);
}

AMX_INLINE f32x16 fma_f32x16(f32x16 a, f32x16 b, f32x16 c)
{
    return (f32x16)_mm512_fmadd_ps(a, b, c);
}

AMX_INLINE f32x16 splat_f32x16(float x)
{
    return (f32x16){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}

AMX_INLINE i32x16 round_i32x16_from_f32(f32x16 x)
{
    return (i32x16)_mm512_cvtps_epi32(x);
}

AMX_INLINE i8x16 sat_i8x16_from_i32(i32x16 x)
{
    return (i8x16)_mm512_cvtsepi32_epi8((__m512i)x);
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the weights are little-endian: compile the model with --weights rodata"
#endif

/* fully_connected 'y' -> i8 [32,32]
 * step 0: fully_connected 'y': x i8 [32,64] at 0x0000 -> y i8 [32,32] at 0x0800
 *   x      i8[2048]  i8 [32,64] x
 *   bias   i32[32]
 *   w      i8[2048]
 *   out    i8[1024]  i8 [32,32] y */
AMX_SECTION_FAST static AMX_SIMD void amx_fully_connected_0(const int8_t *restrict x, const int32_t *restrict bias,
    const int8_t *restrict w, int8_t *restrict out)
{
    int32_t stage[1024] __attribute__((aligned(64)));
    tile_matrix_32x32(x, 64, w, 1, stage);
    for (int32_t r = 0; r < 32; r++) {
        const int32_t t0 = r * 32;
        const f32x16 t1 = fma_f32x16(f32x16_from_i32(*(const i32x16_u *)&stage[t0] + *(const i32x16_u *)&bias[0]), splat_f32x16(0.0049999976f), splat_f32x16(-5.0f));
        *(i8x16_u *)&out[t0] = sat_i8x16_from_i32(round_i32x16_from_f32(t1));
        const int32_t t2 = t0 + 16;
        const f32x16 t3 = fma_f32x16(f32x16_from_i32(*(const i32x16_u *)&stage[t2] + *(const i32x16_u *)&bias[16]), splat_f32x16(0.0049999976f), splat_f32x16(-5.0f));
        *(i8x16_u *)&out[t2] = sat_i8x16_from_i32(round_i32x16_from_f32(t3));
    }
}

/* How the weights of this code begin: magic, version, size, checksum. */
static const uint8_t amx_header[32] = {
    97, 114, 110, 98, 108, 111, 98, 0, 1, 0, 0, 0, 64, 0, 0, 0,
    192, 8, 0, 0, 0, 0, 0, 0, 140, 95, 249, 254, 178, 239, 254, 243
};

int amx_init(const amx_mem *m)
{
    if (m == NULL)
        return AMX_EALIGN;
    const uint8_t *const weights = (const uint8_t *)m->weights;
    int i;
    if (m->arena == NULL || (uintptr_t)m->arena % AMX_ARENA_ALIGN != 0)
        return AMX_EALIGN;
    if (weights == NULL || (uintptr_t)m->weights % 64u != 0)
        return AMX_EWEIGHTS;
    for (i = 0; i < 32; i++)
        if (weights[i] != amx_header[i])
            return AMX_EWEIGHTS;
    return AMX_OK;
}

int amx_run(const amx_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;
    const uint8_t *const weights = (const uint8_t *)m->weights;

    /* 0: fully_connected 'y': x i8 [32,64] -> y i8 [32,32] */
    AMX_STEP_BEGIN(0);
    amx_fully_connected_0((void *)(arena + 0x0000), (const void *)(weights + 64), (const void *)(weights + 192),
        (void *)(arena + 0x0800));
    AMX_STEP_END(0);
    return AMX_OK;
}

