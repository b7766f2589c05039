 * Compile without -ffast-math. The API is in constants_inexact.h. */
#include "constants_inexact.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef CONSTANTS_INEXACT_STEP_BEGIN
#define CONSTANTS_INEXACT_STEP_BEGIN(i) ((void)0)
#endif
#ifndef CONSTANTS_INEXACT_STEP_END
#define CONSTANTS_INEXACT_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef CONSTANTS_INEXACT_SECTION_RODATA
#define CONSTANTS_INEXACT_SECTION_RODATA
#endif
#ifndef CONSTANTS_INEXACT_SECTION_FAST
#define CONSTANTS_INEXACT_SECTION_FAST
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

CONSTANTS_INEXACT_SECTION_RODATA static const union {
    uint32_t bits[6];
    float value[6];
} constants_inexact_add_0_k = {{
    0x7fc00000, 0x7f800000, 0xff800000, 0x116c2, 0x3dcccccd, 0x80000000
}};

/* add 'y' -> f32 [6]
 * step 0: add 'y': x f32 [6] at 0x0000 -> y f32 [6] at 0x0000
 *   out  f32[6]  f32 [6] y
 *   x    f32[6]  f32 [6] x
 *   k    f32[6]  f32 [6] k */
CONSTANTS_INEXACT_SECTION_FAST static void constants_inexact_add_0(float *out, const float *x,
    const float *restrict k)
{
    for (int32_t i = 0; i < 6; i++) {
        out[i] = x[i] + k[i];
    }
}

int constants_inexact_init(const constants_inexact_mem *m)
{
    if (m == NULL)
        return CONSTANTS_INEXACT_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % CONSTANTS_INEXACT_ARENA_ALIGN != 0)
        return CONSTANTS_INEXACT_EALIGN;
    return CONSTANTS_INEXACT_OK;
}

int constants_inexact_run(const constants_inexact_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: add 'y': x f32 [6] -> y f32 [6] */
    CONSTANTS_INEXACT_STEP_BEGIN(0);
    constants_inexact_add_0((void *)(arena + 0x0000), (void *)(arena + 0x0000), constants_inexact_add_0_k.value);
    CONSTANTS_INEXACT_STEP_END(0);
    return CONSTANTS_INEXACT_OK;
}

