 * Compile without -ffast-math. The API is in weights.h. */
#include "weights.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef WEIGHTS_STEP_BEGIN
#define WEIGHTS_STEP_BEGIN(i) ((void)0)
#endif
#ifndef WEIGHTS_STEP_END
#define WEIGHTS_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef WEIGHTS_SECTION_RODATA
#define WEIGHTS_SECTION_RODATA
#endif
#ifndef WEIGHTS_SECTION_FAST
#define WEIGHTS_SECTION_FAST
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

/* The weights, 96 bytes: weights.bin. */
#ifndef WEIGHTS_BLOB_FILE
#define WEIGHTS_BLOB_FILE "weights.bin"
#endif
#if defined(__APPLE__)
__asm__(".section __TEXT,__const\n"
        ".private_extern _weights_blob\n"
        ".p2align 6\n"
        "_weights_blob:\n"
        ".incbin \"" WEIGHTS_BLOB_FILE "\"\n"
        ".text\n");
#else
__asm__(".pushsection .rodata.weights_blob,\"a\"\n"
        ".globl weights_blob\n"
        ".hidden weights_blob\n"
        ".balign 64\n"
        "weights_blob:\n"
        ".incbin \"" WEIGHTS_BLOB_FILE "\"\n"
        ".popsection\n");
#endif
extern const uint8_t weights_blob[96];

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the weights are little-endian: compile the model with --weights rodata"
#endif

/* fully_connected 'y' -> f32 [1,2]
 * step 0: fully_connected 'y': x f32 [1,4] at 0x0000 -> y f32 [1,2] at 0x0010
 *   x    f32[4]  f32 [1,4] x
 *   k    f32[8]  f32 [2,4] w
 *   out  f32[2]  f32 [1,2] y */
WEIGHTS_SECTION_FAST static void weights_fully_connected_0(const float *restrict x, const float *restrict k,
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

int weights_init(const weights_mem *m)
{
    if (m == NULL)
        return WEIGHTS_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % WEIGHTS_ARENA_ALIGN != 0)
        return WEIGHTS_EALIGN;
    return WEIGHTS_OK;
}

int weights_run(const weights_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;
    const uint8_t *const weights = weights_blob;

    /* 0: fully_connected 'y': x f32 [1,4] -> y f32 [1,2] */
    WEIGHTS_STEP_BEGIN(0);
    weights_fully_connected_0((void *)(arena + 0x0000), (const void *)(weights + 64), (void *)(arena + 0x0010));
    WEIGHTS_STEP_END(0);
    return WEIGHTS_OK;
}

