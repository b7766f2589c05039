#if !defined(__CUDACC_RTC__)
#include <stdint.h>
#endif
#if defined(__CUDACC__) || defined(ARN_CUDA_EMU)
/* Compile without contraction, which rounds differently: nvcc --fmad=false. */
#if defined(ARN_CUDA_EMU)
#include "arn_cuda_emu.h"
#else
/* Registers are not spilled to make room for more blocks on a multiprocessor; two have room for 200 a thread. */
#define ARN_BOUNDS(threads) __launch_bounds__(threads, threads <= 163 ? 2 : 1)
#define ARN_KERNEL(threads) extern "C" __global__ void ARN_BOUNDS(threads)
#define ARN_DEVICE static __device__ __forceinline__ __attribute__((unused))
#define ARN_ALIGNED(bytes) __align__(bytes)
#define ARN_UNROLL _Pragma("unroll")
ARN_DEVICE int dp4a(int a, int b, int c)
{
    int d;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}
#define shfl_xor_f32(x, mask) __shfl_xor_sync(0xffffffffu, x, mask)
#define shfl_xor_i32(x, mask) __shfl_xor_sync(0xffffffffu, x, mask)
#define ARN_SHARED(type, name, count) __shared__ __align__(16) type name[count]
#endif
#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#define INT64_C(k) k##LL
#define UINT64_C(k) k##ULL
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT64_MAX 18446744073709551615ULL
#endif

typedef struct ARN_ALIGNED(16) {
    float v[4];
} f32x4;
typedef struct ARN_ALIGNED(16) {
    int32_t v[4];
} i32x4;
#if !defined(ARN_CUDA_EMU)
ARN_DEVICE uint16_t f16_from_f32(float x)
{
    uint16_t h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}
#else
/* Rounds to nearest, ties to even. */
ARN_DEVICE uint16_t f16_from_f32(float x)
{
    const uint32_t bits = __float_as_uint(x), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) /* NaN */
        return (uint16_t)(sign | 0x7e00u);
    if (rest >= 0x477ff000u) /* 65520 and above */
        return (uint16_t)(sign | 0x7c00u);
    if (rest >= 0x38800000u)
        return (uint16_t)(sign | (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1u)) >> 13);
    /* subnormal: beside 0.5 the last bit of a float is 2^-24, so this sum rounds */
    return (uint16_t)(sign | (__float_as_uint(__uint_as_float(rest) + 0.5f) - 0x3f000000u));
}

#endif
#if !defined(ARN_CUDA_EMU)
/* A warp's product: 4 of the 16 x 8 sums of each thread += 16 x 8 words of a by 8 x 8 words of b. */
ARN_DEVICE void mma_f16(float *c, const int32_t *a, const int32_t *b)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif
/* fully_connected 'y' -> f32 [64,64]
 * step 0: fully_connected 'y': x f32 [64,64] at 0x0000 -> y f32 [64,64] at 0x4000
 *   x      f32[4096]  f32 [64,64] x
 *   w      i32[2048]
 *   out    f32[4096]  f32 [64,64] y */
ARN_KERNEL(64) tensor_cores_f16_fully_connected_0(const float *x, const int32_t *__restrict__ w,
    float *__restrict__ out)
{
    ARN_SHARED(int32_t, sx, 640);
    ARN_SHARED(int32_t, sw, 640);
    float acc[16];
    int32_t words[24];
    int32_t base[2];
    int32_t iy[2];
    const int32_t g = (int32_t)blockIdx.x;
    {
        const int32_t t0 = g / 2 * 32;
        const int32_t t1 = (g % 2) * 32;
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t2 = t / 4;
            const int32_t t3 = t0 + t2;
            base[0] = t3 * 64;
            iy[0] = t3 < 64 ? 0 : -268435456;
            const int32_t t4 = t0 + (t2 + 16);
            base[1] = t4 * 64;
            iy[1] = t4 < 64 ? 0 : -268435456;
        }
        {
            ARN_UNROLL
            for (int32_t j = 0; j < 4; j++) {
                const int32_t t5 = j / 2;
                const int32_t t6 = j % 2;
                ARN_UNROLL
                for (int32_t i = 0; i < 4; i++) {
                    acc[(i / 2 * 2 + t5) * 4 + ((i % 2) * 2 + t6)] = 0.0f;
                }
            }
        }
        for (int32_t k = 0; k < 32; k += 16) {
            {
                const int32_t t = (int32_t)threadIdx.x;
                const int32_t t7 = (t % 4) * 4;
                const int32_t t8 = (k + t7) * 2;
                const int32_t t9 = base[0] + t8;
                const int32_t t10 = t7 * 40;
                const int32_t t11 = t / 4;
                const int32_t t12 = t10 + t11;
                const int t13 = t8 < 64;
                if (t13 && 0 <= iy[0]) {
                    const f32x4 x0 = *(const f32x4 *)(x + (t9));
                    const int32_t t14 = (uint16_t)f16_from_f32(x0.v[2]) | (int32_t)((uint32_t)(uint16_t)f16_from_f32(x0.v[3]) << 16);
                    const f32x4 x1 = *(const f32x4 *)(x + (t9 + 4));
                    const int32_t t15 = (uint16_t)f16_from_f32(x1.v[0]) | (int32_t)((uint32_t)(uint16_t)f16_from_f32(x1.v[1]) << 16);
                    const int32_t t16 = (uint16_t)f16_from_f32(x1.v[2]) | (int32_t)((uint32_t)(uint16_t)f16_from_f32(x1.v[3]) << 16);
                    const int32_t t17 = (uint16_t)f16_from_f32(x0.v[0]) | (int32_t)((uint32_t)(uint16_t)f16_from_f32(x0.v[1]) << 16);
                    sx[t12] = t17;
                    sx[t12 + 40] = t14;
                    sx[t12 + 80] = t15;
                    sx[t12 + 120] = t16;
                } else {
                    sx[t12] = 0;
                    sx[t12 + 40] = 0;
                    sx[t12 + 80] = 0;
                    sx[t12 + 120] = 0;
                }
                const int32_t t18 = t + 64;
                const int32_t t19 = base[1] + t8;
                const int32_t t20 = t10 + (t11 + 16);
                if (t13 && 0 <= iy[1]) {
                    const f32x4 x2 = *(const f32x4 *)(x + (t19));
                    const int32_t t21 = (uint16_t)f16_from_f32(x2.v[2]) | (int32_t)((uint32_t)(uint16_t)f16_from_f32(x2.v[3]) << 16);
                    const f32x4 x3 = *(const f32x4 *)(x + (t19 + 4));
                    const int32_t t22 = (uint16_t)f16_from_f32(x3.v[0]) | (int32_t)((uint32_t)(uint16_t)f16_from_f32(x3.v[1]) << 16);
                    const int32_t t23 = (uint16_t)f16_from_f32(x3.v[2]) | (int32_t)((uint32_t)(uint16_t)f16_from_f32(x3.v[3]) << 16);
                    const int32_t t24 = (uint16_t)f16_from_f32(x2.v[0]) | (int32_t)((uint32_t)(uint16_t)f16_from_f32(x2.v[1]) << 16);
                    sx[t20] = t24;
                    sx[t20 + 40] = t21;
                    sx[t20 + 80] = t22;
                    sx[t20 + 120] = t23;
                } else {
                    sx[t20] = 0;
                    sx[t20 + 40] = 0;
                    sx[t20 + 80] = 0;
                    sx[t20 + 120] = 0;
                }
                const int32_t t25 = t / 8;
                const int32_t t26 = (t % 8) * 4;
                const i32x4 w0 = *(const i32x4 *)(w + ((k + t25) * 64 + (t1 + t26)));
                *(i32x4 *)(sw + (t25 * 40 + t26)) = w0;
                const int32_t t27 = t18 / 8;
                const int32_t t28 = (t18 % 8) * 4;
                const i32x4 w1 = *(const i32x4 *)(w + ((k + t27) * 64 + (t1 + t28)));
                *(i32x4 *)(sw + (t27 * 40 + t28)) = w1;
            }
            __syncthreads();
            {
                const int32_t t = (int32_t)threadIdx.x;
                const int32_t t29 = t % 32;
                const int32_t t30 = t29 % 4;
                const int32_t t31 = t / 32;
                const int32_t t32 = t31 / 2 * 32;
                const int32_t t33 = t29 / 4;
                const int32_t t34 = (t31 % 2) * 16;
                ARN_UNROLL
                for (int32_t k_1 = 0; k_1 < 2; k_1++) {
                    const int32_t t35 = k_1 * 8 + t30;
                    ARN_UNROLL
                    for (int32_t i = 0; i < 2; i++) {
                        const int32_t t36 = (k_1 * 2 + i) * 4;
                        const int32_t t37 = t35 * 40;
                        const int32_t t38 = i * 16 + (t32 + t33);
                        words[t36] = sx[t37 + t38];
                        const int32_t t39 = t38 + 8;
                        words[t36 + 1] = sx[t37 + t39];
                        const int32_t t40 = (t35 + 4) * 40;
                        words[t36 + 2] = sx[t40 + t38];
                        words[t36 + 3] = sx[t40 + t39];
                    }
                    ARN_UNROLL
                    for (int32_t j = 0; j < 2; j++) {
                        const int32_t t41 = (k_1 * 2 + j) * 2;
                        const int32_t t42 = j * 8 + (t34 + t33);
                        words[t41 + 16] = sw[t35 * 40 + t42];
                        words[t41 + 17] = sw[(t35 + 4) * 40 + t42];
                    }
                }
            }
            __syncthreads();
            {
                ARN_UNROLL
                for (int32_t k_1 = 0; k_1 < 2; k_1++) {
                    ARN_UNROLL
                    for (int32_t i = 0; i < 2; i++) {
                        ARN_UNROLL
                        for (int32_t j = 0; j < 2; j++) {
                            const int32_t t43 = k_1 * 2;
                            mma_f16(&acc[(i * 2 + j) * 4], &words[(t43 + i) * 4], &words[(t43 + j) * 2 + 16]);
                        }
                    }
                }
            }
        }
        {
            const int32_t t = (int32_t)threadIdx.x;
            ARN_UNROLL
            for (int32_t i = 0; i < 4; i++) {
                const int32_t t44 = t % 32;
                const int32_t t45 = t44 % 4;
                const int32_t t46 = t / 32;
                const int32_t t47 = (t46 % 2) * 16;
                const int32_t t48 = i / 2;
                const int32_t t49 = i % 2;
                const int32_t t50 = t0 + (t46 / 2 * 32 + (t48 * 16 + (t49 * 8 + t44 / 4)));
                if (t50 < 64) {
                    ARN_UNROLL
                    for (int32_t j = 0; j < 4; j++) {
                        const int32_t t51 = j / 2;
                        const int32_t t52 = j % 2;
                        const int32_t t53 = t1 + (t47 + (t51 * 8 + (t45 * 2 + t52)));
                        if (t53 < 64) {
                            out[t50 * 64 + t53] = acc[(t48 * 2 + t51) * 4 + (t49 * 2 + t52)];
                        }
                    }
                }
            }
        }
    }
}

#if defined(ARN_CUDA_EMU)
static void tensor_cores_f16_fully_connected_0_call(void *const *a)
{
    tensor_cores_f16_fully_connected_0((const float *)a[0], (const int32_t *)a[1], (float *)a[2]);
}
#endif

#endif

#if !defined(__CUDACC_RTC__)
#include <string.h>
#include "tensor_cores_f16.h"

#ifndef TENSOR_CORES_F16_SECTION_RODATA
#define TENSOR_CORES_F16_SECTION_RODATA
#endif
#if defined(ARN_CUDA_EMU)
#define ARN_TWIN(f) f
#else
#define ARN_TWIN(f) NULL
#endif

static const struct arn_cuda_kernel tensor_cores_f16_kernels[1] = {
    {"tensor_cores_f16_fully_connected_0", 64u, 1, ARN_TWIN(tensor_cores_f16_fully_connected_0_call), 0u, 0u},
};

static const struct arn_cuda_arg tensor_cores_f16_args[3] = {
    {ARN_CUDA_ARENA, 0x0000, 16384u}, /* x */
    {ARN_CUDA_WEIGHTS, 0x0040, 8192u}, /* w */
    {ARN_CUDA_ARENA, 0x4000, 16384u}, /* out */
};

static const struct arn_cuda_launch tensor_cores_f16_launches[1] = {
    {0, 0, 4u, 0, 3}, /* tensor_cores_f16_fully_connected_0 */
};

#if defined(__CUDACC__) && !defined(ARN_CUDA_EMU)
/* The driver's handle of a kernel that nvcc compiled into this program, in the current context. */
static int tensor_cores_f16_linked(void **function, int32_t kernel)
{
    static const void *const symbol[1] = {
        (const void *)tensor_cores_f16_fully_connected_0,
    };
    cudaFunction_t f = NULL;
    const int error = (int)cudaGetFuncBySymbol(&f, symbol[kernel]);
    *function = (void *)f;
    return error;
}
#define TENSOR_CORES_F16_LINKED tensor_cores_f16_linked
#else
#define TENSOR_CORES_F16_LINKED NULL
#endif

const struct arn_cuda_model tensor_cores_f16_cuda = {
    "tensor_cores_f16", TENSOR_CORES_F16_ARENA_BYTES, TENSOR_CORES_F16_STATE_BYTES, 8256u, NULL, NULL,
    1, 1, 1, tensor_cores_f16_kernels, tensor_cores_f16_launches, tensor_cores_f16_args, 0, TENSOR_CORES_F16_LINKED, 0, NULL
};

#endif
