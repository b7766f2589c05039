 * Compile without -ffast-math. The API is in sections.h. */
#include "sections.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef SECTIONS_STEP_BEGIN
#define SECTIONS_STEP_BEGIN(i) ((void)0)
#endif
#ifndef SECTIONS_STEP_END
#define SECTIONS_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef SECTIONS_SECTION_RODATA
#define SECTIONS_SECTION_RODATA __attribute__((section(".qspi")))
#endif
#ifndef SECTIONS_SECTION_FAST
#define SECTIONS_SECTION_FAST __attribute__((section(".itcm")))
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

SECTIONS_SECTION_RODATA static const float sections_fully_connected_0_k[8] = {
    1.0f, 0.1f, -1.0f, 3e-40f, 5.0f, 6.0f, 7.0f, 8.0f
};

/* fully_connected 'y' -> f32 [1,2]
 * step 0: fully_connected 'y': x f32 [1,4] at 0x0000 -> y f32 [1,2] at 0x0010
 *   x    f32[4]  f32 [1,4] x
 *   k    f32[8]  f32 [2,4] w
 *   out  f32[2]  f32 [1,2] y */
SECTIONS_SECTION_FAST static void sections_fully_connected_0(const float *restrict x, const float *restrict k,
    float *restrict out)
{
    float acc = 0.0f;
    float acc_1 = 0.0f;
    for (int32_t ic = 0; ic < 4; ic++) {
        const float x0 = x[ic];
        acc = x0 * k[ic] + acc;
        acc_1 = x0 * k[ic + 4] + acc_1;
    }
    out[0] = acc;
    out[1] = acc_1;
}

int sections_init(const sections_mem *m)
{
    if (m == NULL)
        return SECTIONS_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % SECTIONS_ARENA_ALIGN != 0)
        return SECTIONS_EALIGN;
    return SECTIONS_OK;
}

int sections_run(const sections_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: fully_connected 'y': x f32 [1,4] -> y f32 [1,2] */
    SECTIONS_STEP_BEGIN(0);
    sections_fully_connected_0((void *)(arena + 0x0000), sections_fully_connected_0_k, (void *)(arena + 0x0010));
    SECTIONS_STEP_END(0);
    return SECTIONS_OK;
}

