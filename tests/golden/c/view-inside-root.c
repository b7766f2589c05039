 * Compile without -ffast-math. The API is in view_inside_root.h. */
#include "view_inside_root.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef VIEW_INSIDE_ROOT_STEP_BEGIN
#define VIEW_INSIDE_ROOT_STEP_BEGIN(i) ((void)0)
#endif
#ifndef VIEW_INSIDE_ROOT_STEP_END
#define VIEW_INSIDE_ROOT_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef VIEW_INSIDE_ROOT_SECTION_RODATA
#define VIEW_INSIDE_ROOT_SECTION_RODATA
#endif
#ifndef VIEW_INSIDE_ROOT_SECTION_FAST
#define VIEW_INSIDE_ROOT_SECTION_FAST
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

/* relu 'x' -> f32 [4,8]
 * step 0: relu 'x': a f32 [4,8] at 0x0000 -> x f32 [4,8] at 0x0000
 *   out  f32[32]  f32 [4,8] x
 *   x    f32[32]  f32 [4,8] a */
VIEW_INSIDE_ROOT_SECTION_FAST static void view_inside_root_relu_0(float *out, const float *x)
{
    for (int32_t i = 0; i < 32; i++) {
        const float x0 = x[i];
        out[i] = 0.0f > x0 ? 0.0f : x0;
    }
}

/* mul 'y' -> f32 [2,8]
 * step 1: mul 'y': v f32 [2,8] at 0x0040 -> y f32 [2,8] at 0x0080
 *   out  f32[16]  f32 [2,8] y
 *   x    f32[16]  f32 [2,8] v */
VIEW_INSIDE_ROOT_SECTION_FAST static void view_inside_root_mul_2(float *restrict out, const float *restrict x)
{
    for (int32_t i = 0; i < 16; i++) {
        const float x0 = x[i];
        out[i] = x0 * x0;
    }
}

int view_inside_root_init(const view_inside_root_mem *m)
{
    if (m == NULL)
        return VIEW_INSIDE_ROOT_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % VIEW_INSIDE_ROOT_ARENA_ALIGN != 0)
        return VIEW_INSIDE_ROOT_EALIGN;
    return VIEW_INSIDE_ROOT_OK;
}

int view_inside_root_run(const view_inside_root_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: relu 'x': a f32 [4,8] -> x f32 [4,8] */
    VIEW_INSIDE_ROOT_STEP_BEGIN(0);
    view_inside_root_relu_0((void *)(arena + 0x0000), (void *)(arena + 0x0000));
    VIEW_INSIDE_ROOT_STEP_END(0);

    /* 1: mul 'y': v f32 [2,8] -> y f32 [2,8] */
    VIEW_INSIDE_ROOT_STEP_BEGIN(1);
    view_inside_root_mul_2((void *)(arena + 0x0080), (void *)(arena + 0x0040));
    VIEW_INSIDE_ROOT_STEP_END(1);
    return VIEW_INSIDE_ROOT_OK;
}

