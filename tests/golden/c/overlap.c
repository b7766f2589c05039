 * Compile without -ffast-math. The API is in overlap.h. */
#include "overlap.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef OVERLAP_STEP_BEGIN
#define OVERLAP_STEP_BEGIN(i) ((void)0)
#endif
#ifndef OVERLAP_STEP_END
#define OVERLAP_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef OVERLAP_SECTION_RODATA
#define OVERLAP_SECTION_RODATA
#endif
#ifndef OVERLAP_SECTION_FAST
#define OVERLAP_SECTION_FAST
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

/* max_pool_2d 'y' -> f32 [1,2,2,2]
 * step 0: max_pool_2d 'y': x f32 [1,4,4,2] at 0x0000 -> y f32 [1,2,2,2] at 0x0000
 *   x    f32[32]  f32 [1,4,4,2] x
 *   out  f32[8]  f32 [1,2,2,2] y */
OVERLAP_SECTION_FAST static void overlap_max_pool_2d_0(const float *x, float *out)
{
    for (int32_t oy = 0; oy < 2; oy++) {
        for (int32_t ox = 0; ox < 2; ox++) {
            for (int32_t c = 0; c < 2; c++) {
                float acc = -3.4028235e+38f;
                const int32_t t0 = oy * 2;
                const int32_t t1 = ox * 2;
                for (int32_t ky = 0; ky < 2; ky++) {
                    const int32_t t2 = (t0 + ky) * 4;
                    for (int32_t kx = 0; kx < 2; kx++) {
                        const float x0 = x[(t2 + (t1 + kx)) * 2 + c];
                        acc = acc > x0 ? acc : x0;
                    }
                }
                out[oy * 4 + (t1 + c)] = acc;
            }
        }
    }
}

int overlap_init(const overlap_mem *m)
{
    if (m == NULL)
        return OVERLAP_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % OVERLAP_ARENA_ALIGN != 0)
        return OVERLAP_EALIGN;
    return OVERLAP_OK;
}

int overlap_run(const overlap_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: max_pool_2d 'y': x f32 [1,4,4,2] -> y f32 [1,2,2,2] */
    OVERLAP_STEP_BEGIN(0);
    overlap_max_pool_2d_0((void *)(arena + 0x0000), (void *)(arena + 0x0000));
    OVERLAP_STEP_END(0);
    return OVERLAP_OK;
}

