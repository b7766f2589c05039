 * Compile without -ffast-math. The API is in m.h. */
#include "m.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* Hooks around every step: profiling, tracing, watchdog. Define them before this point, see -include. */
#ifndef M_STEP_BEGIN
#define M_STEP_BEGIN(i) ((void)0)
#endif
#ifndef M_STEP_END
#define M_STEP_END(i) ((void)0)
#endif
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef M_SECTION_RODATA
#define M_SECTION_RODATA
#endif
#ifndef M_SECTION_FAST
#define M_SECTION_FAST
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

M_SECTION_RODATA static const float m_conv_2d_0_k[18] = {
    0.13312314f, 0.49156353f, 0.9420055f, -0.11128157f, -0.111470595f, 0.5257888f, 0.7546974f, 0.04613436f,
    -0.42898265f, 0.5879932f, -0.19171566f, 0.21084073f, -0.09012418f, 0.060157996f, -0.1280692f, -0.66593003f,
    0.2906693f, 0.6307012f
};

/* steps 0 to 1 row by row -> f32 [1,3,2,2]
 * step 0: STRIPE of 2 'b':  -> b f32 [1,3,2,2] at 0x0040
 *   part    i32[1]  row
 *   state   i32[4]  counters between rows
 *   rows    f32[12]  3 rows of f32 [1,6,4,1] x
 *   k       f32[18]  f32 [2,3,3,1] w
 *   rows_1  f32[16]  2 rows of f32 [1,6,4,2] a
 *   out     f32[12]  f32 [1,3,2,2] b */
M_SECTION_FAST static void m_stripe_0_1(const int32_t *restrict part, int32_t *restrict state, float *restrict rows,
    const float *restrict k, float *restrict rows_1, float *restrict out)
{
    if (part[0] == 0) {
        state[0] = 0;
        state[1] = 0;
        state[2] = 0;
        state[3] = 0;
        for (int32_t i = 0; i < 8; i++) {
            rows[i] = 0.0f;
        }
    }
    int32_t next = state[0];
    int32_t next_1 = state[1];
    int32_t next_2 = state[2];
    int32_t first = state[3];
    const int32_t t0 = next + 1;
    next = t0 < 6 ? t0 : 6;
    for (int32_t tick = 0; tick < 3; tick++) {
        const int32_t t1 = next_2 * 2;
        const int32_t t2 = t1 + 2;
        const int32_t t3 = t2 > 2 ? t2 : 2;
        if (next_2 < 3 && (t3 < 6 ? t3 : 6) <= next_1) {
            const int32_t t4 = first * 8;
            for (int32_t ox = 0; ox < 2; ox++) {
                for (int32_t c = 0; c < 2; c++) {
                    float acc = -3.4028235e+38f;
                    const int32_t t5 = ox * 2;
                    for (int32_t ky = 0; ky < 2; ky++) {
                        const int32_t t6 = (t1 + ky) * 4;
                        for (int32_t kx = 0; kx < 2; kx++) {
                            const float rows_10 = rows_1[(t6 + (t5 + kx)) * 2 + c - t4];
                            acc = acc > rows_10 ? acc : rows_10;
                        }
                    }
                    out[next_2 * 4 + (t5 + c)] = acc;
                }
            }
            next_2 += 1;
        } else {
            const int32_t t7 = next_1 + 2;
            const int32_t t8 = t7 > 2 ? t7 : 2;
            if (next_1 < 6 && (t8 < 6 ? t8 : 6) <= next) {
                if (next_1 - first == 2) {
                    const int32_t t9 = next_2 * 2;
                    const int32_t t10 = t9 > 0 ? t9 : 0;
                    const int32_t t11 = next_2 < 3 ? (t10 < 4 ? t10 : 4) : 6;
                    const int32_t t12 = t11 < next_1 ? t11 : next_1;
                    const int32_t t13 = (t12 - first) * 8;
                    const int32_t t14 = (next_1 - t12) * 8;
                    for (int32_t i = 0; i < t14; i++) {
                        rows_1[i] = rows_1[i + t13];
                    }
                    first = t12;
                }
                const int32_t t15 = next * 4 - 12;
                const int32_t t16 = first * 8;
                for (int32_t ox = 0; ox < 4; ox++) {
                    float acc_1 = 0.0f;
                    float acc_1_1 = 0.0f;
                    const int32_t t17 = 1 - next_1;
                    const int32_t t18 = 7 - next_1;
                    const int32_t t19 = t18 > 0 ? t18 : 0;
                    const int32_t t20 = t19 < 3 ? t19 : 3;
                    for (int32_t ky = t17 > 0 ? t17 : 0; ky < t20; ky++) {
                        const int32_t t21 = (next_1 + ky - 1) * 4 + (ox - 1);
                        const int32_t t22 = ky * 3;
                        const int32_t t23 = 1 - ox;
                        const int32_t t24 = 5 - ox;
                        const int32_t t25 = t24 > 0 ? t24 : 0;
                        const int32_t t26 = t25 < 3 ? t25 : 3;
                        for (int32_t k_1 = t23 > 0 ? t23 : 0; k_1 < t26; k_1++) {
                            const float rows0 = rows[t21 + k_1 - t15];
                            acc_1 = rows0 * k[t22 + k_1] + acc_1;
                            acc_1_1 = rows0 * k[t22 + 9 + k_1] + acc_1_1;
                        }
                    }
                    const int32_t t27 = next_1 * 8;
                    const int32_t t28 = ox * 2;
                    rows_1[t27 + t28 - t16] = acc_1;
                    rows_1[t27 + (t28 + 1) - t16] = acc_1_1;
                }
                next_1 += 1;
            }
        }
    }
    for (int32_t i = 0; i < 8; i++) {
        rows[i] = rows[i + 4];
    }
    state[0] = next;
    state[1] = next_1;
    state[2] = next_2;
    state[3] = first;
}

int m_init(const m_mem *m)
{
    if (m == NULL)
        return M_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % M_ARENA_ALIGN != 0)
        return M_EALIGN;
    return M_OK;
}

int m_run_row(const m_mem *m, uint32_t row)
{
    uint8_t *const arena = (uint8_t *)m->arena;
    const int32_t part = (int32_t)row;
    if (row >= M_IN0_ROWS)
        return M_EINDEX;

    /* 0: STRIPE of 2 'b':  -> b f32 [1,3,2,2] */
    if (row == 0)
        M_STEP_BEGIN(0);
    m_stripe_0_1(&part, (void *)(arena + 0x00a0), (void *)(arena + 0x0070), m_conv_2d_0_k, (void *)(arena + 0x0000),
        (void *)(arena + 0x0040));
    if (row + 1 < M_IN0_ROWS)
        return M_OK;
    M_STEP_END(0);
    return M_OK;
}

int m_run(const m_mem *m, void (*fill)(void *user, uint32_t row, float *to), void *user)
{
    uint32_t row;
    int status = M_OK;
    for (row = 0; row < M_IN0_ROWS && status == M_OK; row++) {
        fill(user, row, m_in0_row(m));
        status = m_run_row(m, row);
    }
    return status;
}

