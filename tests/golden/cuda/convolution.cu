#if !defined(__CUDACC_RTC__)
#include <stdint.h>
#endif
#if defined(__CUDACC__) || defined(ARN_CUDA_EMU)
/* Compile without contraction, which rounds differently: nvcc --fmad=false. */
#if defined(ARN_CUDA_EMU)
#include "arn_cuda_emu.h"
#else
/* One block on a multiprocessor is enough: registers are not spilled to make room for more. */
#define ARN_KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads, 1)
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
/* conv_2d 'y' -> f32 [1,8,8,32]
 * step 0: conv_2d 'y': x f32 [1,8,8,16] at 0x2000 -> y f32 [1,8,8,32] at 0x0000
 *   x     f32[1024]  f32 [1,8,8,16] x
 *   w     f32[512]
 *   out   f32[2048]  f32 [1,8,8,32] y */
ARN_KERNEL(64) convolution_conv_2d_0(const float *x, const float *__restrict__ w, float *__restrict__ out)
{
    ARN_SHARED(float, sx, 576);
    ARN_SHARED(float, sw, 512);
    float acc[16];
    float rx[4];
    float rw[4];
    int32_t base[2];
    int32_t iy[2];
    int32_t ix[2];
    const int32_t g = (int32_t)blockIdx.x;
    {
        const int32_t t0 = g * 32;
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t1 = t / 4;
            const int32_t t2 = t0 + t1;
            const int32_t t3 = t2 / 8;
            const int32_t t4 = t3 % 8;
            const int32_t t5 = t2 % 8;
            base[0] = ((t3 / 8 * 8 + t4) * 8 + t5) * 16;
            iy[0] = t2 < 64 ? t4 : -268435456;
            ix[0] = t5;
            const int32_t t6 = t0 + (t1 + 16);
            const int32_t t7 = t6 / 8;
            const int32_t t8 = t7 % 8;
            const int32_t t9 = t6 % 8;
            base[1] = ((t7 / 8 * 8 + t8) * 8 + t9) * 16;
            iy[1] = t6 < 64 ? t8 : -268435456;
            ix[1] = t9;
        }
        {
            ARN_UNROLL
            for (int32_t j = 0; j < 4; j++) {
                ARN_UNROLL
                for (int32_t i = 0; i < 4; i++) {
                    acc[i * 4 + j] = 0.0f;
                }
            }
        }
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t base0 = base[0];
            const int32_t t10 = (t % 4) * 4;
            const int32_t t11 = t10 / 16;
            const int32_t t12 = t11 * 8 * 16 + t10 % 16;
            const int32_t t13 = t10 * 36;
            const int32_t t14 = t / 4;
            const int32_t t15 = t13 + t14;
            const int t16 = t10 < 16;
            const int32_t t17 = iy[0] + t11;
            const int32_t ix0 = ix[0];
            if (t16 && (0 <= t17 && t17 < 8 && (0 <= ix0 && ix0 < 8))) {
                const f32x4 x0 = *(const f32x4 *)(x + (base0 + t12));
                sx[t15] = x0.v[0];
                sx[t15 + 36] = x0.v[1];
                sx[t15 + 72] = x0.v[2];
                sx[t15 + 108] = x0.v[3];
            } else {
                sx[t15] = 0.0f;
                sx[t15 + 36] = 0.0f;
                sx[t15 + 72] = 0.0f;
                sx[t15 + 108] = 0.0f;
            }
            const int32_t t18 = t + 64;
            const int32_t base1 = base[1];
            const int32_t t19 = t13 + (t14 + 16);
            const int32_t t20 = iy[1] + t11;
            const int32_t ix1 = ix[1];
            if (t16 && (0 <= t20 && t20 < 8 && (0 <= ix1 && ix1 < 8))) {
                const f32x4 x1 = *(const f32x4 *)(x + (base1 + t12));
                sx[t19] = x1.v[0];
                sx[t19 + 36] = x1.v[1];
                sx[t19 + 72] = x1.v[2];
                sx[t19 + 108] = x1.v[3];
            } else {
                sx[t19] = 0.0f;
                sx[t19 + 36] = 0.0f;
                sx[t19 + 72] = 0.0f;
                sx[t19 + 108] = 0.0f;
            }
            const int32_t t21 = t / 8 * 32 + (t % 8) * 4;
            const f32x4 w0 = *(const f32x4 *)(w + (t21));
            *(f32x4 *)(sw + (t21)) = w0;
            const int32_t t22 = t18 / 8 * 32 + (t18 % 8) * 4;
            const f32x4 w1 = *(const f32x4 *)(w + (t22));
            *(f32x4 *)(sw + (t22)) = w1;
        }
        __syncthreads();
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t23 = t / 8 * 4;
            const int32_t t24 = (t % 8) * 4;
            ARN_UNROLL
            for (int32_t u = 0; u < 16; u++) {
                const f32x4 sx0 = *(const f32x4 *)(sx + (u * 36 + t23));
                rx[0] = sx0.v[0];
                rx[1] = sx0.v[1];
                rx[2] = sx0.v[2];
                rx[3] = sx0.v[3];
                const f32x4 sw0 = *(const f32x4 *)(sw + (u * 32 + t24));
                rw[0] = sw0.v[0];
                rw[1] = sw0.v[1];
                rw[2] = sw0.v[2];
                rw[3] = sw0.v[3];
                ARN_UNROLL
                for (int32_t i = 0; i < 4; i++) {
                    const float rx0 = rx[i];
                    ARN_UNROLL
                    for (int32_t j = 0; j < 4; j++) {
                        acc[i * 4 + j] = fmaf(rx0, rw[j], acc[i * 4 + j]);
                    }
                }
            }
        }
        __syncthreads();
        {
            const int32_t t = (int32_t)threadIdx.x;
            ARN_UNROLL
            for (int32_t i = 0; i < 4; i++) {
                const int32_t t25 = t0 + (t / 8 * 4 + i);
                if (t25 < 64) {
                    const int32_t t26 = (t25 / 8) % 8;
                    const int32_t t27 = t25 % 8;
                    ARN_UNROLL
                    for (int32_t j = 0; j < 4; j++) {
                        const int32_t t28 = (t % 8) * 4 + j;
                        if (t28 < 32) {
                            out[t26 * 256 + (t27 * 32 + t28)] = acc[i * 4 + j];
                        }
                    }
                }
            }
        }
    }
}

#if defined(ARN_CUDA_EMU)
static void convolution_conv_2d_0_call(void *const *a)
{
    convolution_conv_2d_0((const float *)a[0], (const float *)a[1], (float *)a[2]);
}
#endif

#endif

#if !defined(__CUDACC_RTC__)
#include <string.h>
#include "convolution.h"

#ifndef CONVOLUTION_SECTION_RODATA
#define CONVOLUTION_SECTION_RODATA
#endif
#if defined(ARN_CUDA_EMU)
#define ARN_TWIN(f) f
#else
#define ARN_TWIN(f) NULL
#endif

static const struct arn_cuda_kernel convolution_kernels[1] = {
    {"convolution_conv_2d_0", 64u, 1, ARN_TWIN(convolution_conv_2d_0_call), 0u, 0u},
};

static const struct arn_cuda_arg convolution_args[3] = {
    {ARN_CUDA_ARENA, 0x2000, 4096u}, /* x */
    {ARN_CUDA_WEIGHTS, 0x0040, 2048u}, /* w */
    {ARN_CUDA_ARENA, 0x0000, 8192u}, /* out */
};

static const struct arn_cuda_launch convolution_launches[1] = {
    {0, 0, 2u, 0, 3}, /* convolution_conv_2d_0 */
};

#if defined(__CUDACC__) && !defined(ARN_CUDA_EMU)
/* The driver's handle of a kernel that nvcc compiled into this program, in the current context. */
static int convolution_linked(void **function, int32_t kernel)
{
    static const void *const symbol[1] = {
        (const void *)convolution_conv_2d_0,
    };
    cudaFunction_t f = NULL;
    const int error = (int)cudaGetFuncBySymbol(&f, symbol[kernel]);
    *function = (void *)f;
    return error;
}
#define CONVOLUTION_LINKED convolution_linked
#else
#define CONVOLUTION_LINKED NULL
#endif

const struct arn_cuda_model convolution_cuda = {
    "convolution", CONVOLUTION_ARENA_BYTES, CONVOLUTION_STATE_BYTES, 2112u, NULL, NULL,
    1, 1, 1, convolution_kernels, convolution_launches, convolution_args, 0, CONVOLUTION_LINKED, 0, NULL
};

#endif
