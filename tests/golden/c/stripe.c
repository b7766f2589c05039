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

M_SECTION_RODATA static const float m_depthwise_conv_2d_1_k[18] = {
    0.18237947f, 0.49829936f, 0.19127616f, 0.5308383f, -0.37682262f, -0.30675545f, 0.45270723f, 0.47817466f,
    -0.49937525f, 0.45523193f, -0.32103676f, -0.124347605f, 0.11158284f, -0.25239325f, 0.8640021f, -0.593218f,
    -0.59973085f, -0.27153683f
};

/* steps 0 to 1 row by row -> f32 [1,4,2,2]
 * step 0: STRIPE of 2 'b': x f32 [1,8,4,1] at 0x0000 -> b f32 [1,4,2,2] at 0x0000
 *   x     f32[32]  f32 [1,8,4,1] x
 *   k     f32[18]  f32 [2,3,3,1] w
 *   rows  f32[24]  3 rows of f32 [1,8,4,2] a
 *   k_1   f32[18]  f32 [1,3,3,2] v
 *   out   f32[16]  f32 [1,4,2,2] b */
M_SECTION_FAST static void m_stripe_0_1(const float *x, const float *restrict k, float *restrict rows,
    const float *restrict k_1, float *out)
{
    int32_t next = 0;
    int32_t next_1 = 0;
    int32_t first = 0;
    for (int32_t tick = 0; tick < 12; tick++) {
        const int32_t t0 = next_1 * 2;
        const int32_t t1 = t0 + 3;
        const int32_t t2 = t1 > 3 ? t1 : 3;
        if (next_1 < 4 && (t2 < 8 ? t2 : 8) <= next) {
            const int32_t t3 = first * 8;
            for (int32_t ox = 0; ox < 2; ox++) {
                float acc = 0.0f;
                float acc_1 = 0.0f;
                const int32_t t4 = ox * 2;
                const int32_t t5 = 4 - t4;
                const int32_t t6 = t5 > 0 ? t5 : 0;
                const int32_t t7 = t6 < 3 ? t6 : 3;
                const int32_t t8 = 8 - t0;
                const int32_t t9 = t8 > 0 ? t8 : 0;
                const int32_t t10 = t9 < 3 ? t9 : 3;
                for (int32_t ky = 0; ky < t10; ky++) {
                    const int32_t t11 = (t0 + ky) * 8;
                    for (int32_t kx = 0; kx < t7; kx++) {
                        const int32_t t12 = t11 + (t4 + kx) * 2;
                        const int32_t t13 = (ky * 3 + kx) * 2;
                        acc = rows[t12 - t3] * k_1[t13] + acc;
                        acc_1 = rows[t12 + 1 - t3] * k_1[t13 + 1] + acc_1;
                    }
                }
                const int32_t t14 = next_1 * 4;
                out[t14 + t4] = acc;
                out[t14 + (t4 + 1)] = acc_1;
            }
            next_1 += 1;
        } else {
            if (next - first == 3) {
                const int32_t t15 = next_1 * 2;
                const int32_t t16 = t15 > 0 ? t15 : 0;
                const int32_t t17 = next_1 < 4 ? (t16 < 6 ? t16 : 6) : 8;
                const int32_t t18 = t17 < next ? t17 : next;
                const int32_t t19 = (t18 - first) * 8;
                const int32_t t20 = (next - t18) * 8;
                for (int32_t i = 0; i < t20; i++) {
                    rows[i] = rows[i + t19];
                }
                first = t18;
            }
            const int32_t t21 = first * 8;
            for (int32_t ox = 0; ox < 4; ox++) {
                float acc_2 = 0.0f;
                float acc_1_1 = 0.0f;
                const int32_t t22 = 1 - next;
                const int32_t t23 = 9 - next;
                const int32_t t24 = t23 > 0 ? t23 : 0;
                const int32_t t25 = t24 < 3 ? t24 : 3;
                for (int32_t ky = t22 > 0 ? t22 : 0; ky < t25; ky++) {
                    const int32_t t26 = (next + ky - 1) * 4 + (ox - 1);
                    const int32_t t27 = ky * 3;
                    const int32_t t28 = 1 - ox;
                    const int32_t t29 = 5 - ox;
                    const int32_t t30 = t29 > 0 ? t29 : 0;
                    const int32_t t31 = t30 < 3 ? t30 : 3;
                    for (int32_t k_1_1 = t28 > 0 ? t28 : 0; k_1_1 < t31; k_1_1++) {
                        const float x0 = x[t26 + k_1_1];
                        acc_2 = x0 * k[t27 + k_1_1] + acc_2;
                        acc_1_1 = x0 * k[t27 + 9 + k_1_1] + acc_1_1;
                    }
                }
                const int32_t t32 = next * 8;
                const int32_t t33 = ox * 2;
                rows[t32 + t33 - t21] = acc_2;
                rows[t32 + (t33 + 1) - t21] = acc_1_1;
            }
            next += 1;
        }
    }
}

int m_init(const m_mem *m)
{
    if (m == NULL)
        return M_EALIGN;
    if (m->arena == NULL || (uintptr_t)m->arena % M_ARENA_ALIGN != 0)
        return M_EALIGN;
    return M_OK;
}

int m_run(const m_mem *m)
{
    uint8_t *const arena = (uint8_t *)m->arena;

    /* 0: STRIPE of 2 'b': x f32 [1,8,4,1] -> b f32 [1,4,2,2] */
    M_STEP_BEGIN(0);
    m_stripe_0_1((void *)(arena + 0x0000), m_conv_2d_0_k, (void *)(arena + 0x0080), m_depthwise_conv_2d_1_k,
        (void *)(arena + 0x0000));
    M_STEP_END(0);
    return M_OK;
}

