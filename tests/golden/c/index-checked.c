 * Compile without -ffast-math. The API is in index_checked.h. */
#include "index_checked.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef INDEX_CHECKED_STEP_BEGIN
#define INDEX_CHECKED_STEP_BEGIN(i) ((void)0)
#endif
#ifndef INDEX_CHECKED_STEP_END
#define INDEX_CHECKED_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef INDEX_CHECKED_SECTION_RODATA
#define INDEX_CHECKED_SECTION_RODATA
#endif
#ifndef INDEX_CHECKED_SECTION_FAST
#define INDEX_CHECKED_SECTION_FAST
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

/* gather 'y' -> f32 [2,2]
 * step 0: gather 'y': x f32 [4,2] at 0x0000, i i32 [2] at 0x0030 -> y f32 [2,2] at 0x0020
 *   x    f32[8]  f32 [4,2] x
 *   out  f32[4]  f32 [2,2] y
 *   y    i32[2]  i32 [2] i */
INDEX_CHECKED_SECTION_FAST static int index_checked_gather_0(const float *restrict x, float *restrict out,
    const int32_t *restrict y)
{
    for (int32_t k = 0; k < 2; k++) {
        const int32_t y0 = y[k];
        if (y0 < 0 || 4 <= y0)
            return INDEX_CHECKED_EINDEX;
        const int32_t t0 = k * 2;
        const int32_t t1 = y0 * 2;
        out[t0] = x[t1];
        out[t0 + 1] = x[t1 + 1];
    }
    return INDEX_CHECKED_OK;
}

int index_checked_init(const index_checked_mem *m)
{
    if (m == NULL)
        return INDEX_CHECKED_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % INDEX_CHECKED_ARENA_ALIGN != 0)
        return INDEX_CHECKED_EALIGN;
    return INDEX_CHECKED_OK;
}

int index_checked_run(const index_checked_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;
    int status;

    /* 0: gather 'y': x f32 [4,2], i i32 [2] -> y f32 [2,2] */
    INDEX_CHECKED_STEP_BEGIN(0);
    status = index_checked_gather_0((void *)(arena + 0x0000), (void *)(arena + 0x0020), (void *)(arena + 0x0030));
    INDEX_CHECKED_STEP_END(0);
    if (status != INDEX_CHECKED_OK)
        return status;
    return INDEX_CHECKED_OK;
}

