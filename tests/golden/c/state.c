 * Compile without -ffast-math. The API is in state.h. */
#include "state.h"

#include <limits.h>
#include <string.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef STATE_STEP_BEGIN
#define STATE_STEP_BEGIN(i) ((void)0)
#endif
#ifndef STATE_STEP_END
#define STATE_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef STATE_SECTION_RODATA
#define STATE_SECTION_RODATA
#endif
#ifndef STATE_SECTION_FAST
#define STATE_SECTION_FAST
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

STATE_SECTION_RODATA static const float state_svdf_0_k[4] = {
    1.0f, 2.0f, 3.0f, 4.0f
};

STATE_SECTION_RODATA static const float state_svdf_0_k_1[6] = {
    1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f
};

/* svdf 'y' -> f32 [1,1]
 * step 0: svdf 'y': x f32 [1,2] at 0x0000 -> y f32 [1,1] at 0x0010, s f32 [1,6] at state 0x0000
 *   out    f32[1]  f32 [1,1] y
 *   x      f32[2]  f32 [1,2] x
 *   k      f32[4]  f32 [2,2] w
 *   k_1    f32[6]  f32 [2,3] t
 *   state  f32[6]  f32 [1,6] s */
STATE_SECTION_FAST static void state_svdf_0(float *restrict out, const float *restrict x, const float *restrict k,
    const float *restrict k_1, float *restrict state)
{
    float sum = 0.0f;
    for (int32_t r = 0; r < 2; r++) {
        const int32_t t0 = r * 3;
        for (int32_t j = 0; j < 2; j++) {
            const int32_t t1 = t0 + j;
            state[t1] = state[t1 + 1];
        }
        const int32_t t2 = r * 2;
        float acc = 0.0f;
        for (int32_t i = 0; i < 2; i++) {
            acc += k[t2 + i] * x[i];
        }
        state[t0 + 2] = acc;
        float acc_1 = 0.0f;
        for (int32_t i = 0; i < 3; i++) {
            const int32_t t3 = t0 + i;
            acc_1 += k_1[t3] * state[t3];
        }
        sum += acc_1;
    }
    out[0] = sum;
}

STATE_SECTION_RODATA static const float state_s_first[6] = {
    1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f
};

void state_reset(const state_mem *m)
{
    uint8_t *const state = (uint8_t *)m->state;
    memset(m->state, 0, STATE_STATE_BYTES);
    memcpy(state + 0x0000, state_s_first, 24u);
}

int state_init(const state_mem *m)
{
    if (m == NULL)
        return STATE_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % STATE_ARENA_ALIGN != 0)
        return STATE_EALIGN;
    if (m->state == NULL || (uintptr_t)m->state % STATE_ARENA_ALIGN != 0)
        return STATE_EALIGN;
    state_reset(m);
    return STATE_OK;
}

int state_run(const state_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;
    uint8_t *const state = (uint8_t *)m->state;

    /* 0: svdf 'y': x f32 [1,2] -> y f32 [1,1], s f32 [1,6] */
    STATE_STEP_BEGIN(0);
    state_svdf_0((void *)(arena + 0x0010), (void *)(arena + 0x0000), state_svdf_0_k, state_svdf_0_k_1,
        (void *)(state + 0x0000));
    STATE_STEP_END(0);
    return STATE_OK;
}

