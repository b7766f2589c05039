 * Compile without -ffast-math. The API is in custom.h. */
#include "custom.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef CUSTOM_STEP_BEGIN
#define CUSTOM_STEP_BEGIN(i) ((void)0)
#endif
#ifndef CUSTOM_STEP_END
#define CUSTOM_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef CUSTOM_SECTION_RODATA
#define CUSTOM_SECTION_RODATA
#endif
#ifndef CUSTOM_SECTION_FAST
#define CUSTOM_SECTION_FAST
#endif
/* Steps stay functions of their own: put into custom_run they share its registers, and spill. */
#ifndef CUSTOM_NOINLINE
#if defined(__GNUC__) || defined(__clang__)
#define CUSTOM_NOINLINE __attribute__((noinline))
#else
#define CUSTOM_NOINLINE
#endif
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

CUSTOM_SECTION_RODATA static const float custom_custom_1_k[3] = {
    1.0f, 2.0f, 3.0f
};

/* relu 'a' -> f32 [2,3]
 * step 0: relu 'a': x f32 [2,3] at 0x0000 -> f32 [2,3] at 0x0000
 *   out  f32[6]  f32 [2,3] a
 *   x    f32[6]  f32 [2,3] x */
CUSTOM_SECTION_FAST static void custom_relu_0(float *out, const float *x)
{
    for (int32_t i = 0; i < 6; i++) {
        const float x0 = x[i];
        out[i] = 0.0f > x0 ? 0.0f : x0;
    }
}

/* custom 'y' -> f32 [2,3] calls acme_scale
 * step 1: custom 'y': a f32 [2,3] at 0x0000 -> f32 [2,3] at 0x0020
 *   x        f32[6]  f32 [2,3] a
 *   k        f32[3]  f32 [3] w
 *   out      f32[6]  f32 [2,3] y
 *   scratch  u8[12] */
CUSTOM_SECTION_FAST CUSTOM_NOINLINE
static void custom_custom_1(const float *restrict x, const float *restrict k, float *restrict out,
    uint8_t *restrict scratch)
{
    static const int32_t in0_dim[] = {2, 3};
    static const int32_t in1_dim[] = {3};
    static const arn_custom_tensor in_tensors[] = {
        {1, 2, 6, in0_dim, 0, 0, NULL, NULL},
        {1, 1, 3, in1_dim, 0, 0, NULL, NULL},
    };
    static const int32_t out0_dim[] = {2, 3};
    static const arn_custom_tensor out_tensors[] = {
        {1, 2, 6, out0_dim, 0, 0, NULL, NULL},
    };
    static const float attr0[] = {0.5f};
    static const int32_t attr1[] = {1, (-2147483647 - 1)};
    static const arn_custom_attr attrs[] = {
        {1, NULL, attr0, NULL},
        {2, attr1, NULL, NULL},
        {0, NULL, NULL, "a b"},
        {0, NULL, NULL, NULL},
    };
    static const arn_custom node = {2, 1, 4, in_tensors, out_tensors, attrs, NULL, 0, 12};
    const void *const in[] = {x, k};
    void *const out_1[] = {out};
    acme_scale(in, out_1, scratch, &node);
}

/* custom 'z' -> f32 [2] calls acme_look
 * step 2: custom 'z': y f32 [2,3] at 0x0020, a f32 [2,3] at 0x0000 -> f32 [2] at 0x0040, n i32 [] at 0x0050
 *   x      f32[6]  f32 [2,3] y
 *   y      f32[6]  f32 [2,3] a
 *   out    f32[2]  f32 [2] z
 *   out_1  i32[1]  i32 [] n */
CUSTOM_SECTION_FAST CUSTOM_NOINLINE
static void custom_custom_2(const float *restrict x, const float *restrict y, float *restrict out,
    int32_t *restrict out_1)
{
    static const int32_t in0_dim[] = {2, 3};
    static const int32_t in2_dim[] = {2, 3};
    static const arn_custom_tensor in_tensors[] = {
        {1, 2, 6, in0_dim, 0, 0, NULL, NULL},
        {0, 0, 0, NULL, 0, 0, NULL, NULL},
        {1, 2, 6, in2_dim, 0, 0, NULL, NULL},
    };
    static const int32_t out0_dim[] = {2};
    static const arn_custom_tensor out_tensors[] = {
        {1, 1, 2, out0_dim, 0, 0, NULL, NULL},
        {7, 0, 1, NULL, 0, 0, NULL, NULL},
    };
    static const uint8_t options[] = {0u, 255u};
    static const arn_custom node = {3, 2, 0, in_tensors, out_tensors, NULL, options, 2, 0};
    const void *const in[] = {x, NULL, y};
    void *const out_2[] = {out, out_1};
    acme_look(in, out_2, NULL, &node);
}

int custom_init(const custom_mem *m)
{
    if (m == NULL) {
        return CUSTOM_EALIGN;
    }
    if ((m->arena == NULL) || (((uintptr_t)m->arena % CUSTOM_ARENA_ALIGN) != 0u)) {
        return CUSTOM_EALIGN;
    }
    return CUSTOM_OK;
}

int custom_run(const custom_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: relu 'a': x f32 [2,3] at 0x0000 -> f32 [2,3] at 0x0000 */
    CUSTOM_STEP_BEGIN(0);
    custom_relu_0((float *)(void *)&arena[0x0000], (float *)(void *)&arena[0x0000]);
    CUSTOM_STEP_END(0);

    /* 1: custom 'y': a f32 [2,3] at 0x0000 -> f32 [2,3] at 0x0020 */
    CUSTOM_STEP_BEGIN(1);
    custom_custom_1((float *)(void *)&arena[0x0000], custom_custom_1_k, (float *)(void *)&arena[0x0020],
        &arena[0x0040]);
    CUSTOM_STEP_END(1);

    /* 2: custom 'z': y f32 [2,3] at 0x0020, a f32 [2,3] at 0x0000 -> f32 [2] at 0x0040, n i32 [] at 0x0050 */
    CUSTOM_STEP_BEGIN(2);
    custom_custom_2((float *)(void *)&arena[0x0020], (float *)(void *)&arena[0x0000],
        (float *)(void *)&arena[0x0040], (int32_t *)(void *)&arena[0x0050]);
    CUSTOM_STEP_END(2);
    return CUSTOM_OK;
}

