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

/* sum 'y' -> f32 [4]
 * step 0: sum 'y': x f32 [4,256] at 0x0000 -> y f32 [4] at 0x2000
 *   out   f32[4]  f32 [4] y
 *   x     f32[1024]  f32 [4,256] x */
ARN_KERNEL(128) reduction_sum_0(float *__restrict__ out, const float *x)
{
    float part[1];
    float all[1];
    const int32_t g = (int32_t)blockIdx.x;
    {
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t0 = g * 4 + t / 32;
            float acc = 0.0f;
            const int32_t t1 = (t0 < 3 ? t0 : 3) * 256;
            for (int32_t k = t % 32; k < 256; k += 32) {
                acc += x[t1 + k];
            }
            part[0] = acc;
        }
        __syncthreads();
        {
            all[0] = part[0] + shfl_xor_f32(part[0], 16);
        }
        {
            part[0] = all[0] + shfl_xor_f32(all[0], 8);
        }
        {
            all[0] = part[0] + shfl_xor_f32(part[0], 4);
        }
        {
            part[0] = all[0] + shfl_xor_f32(all[0], 2);
        }
        {
            all[0] = part[0] + shfl_xor_f32(part[0], 1);
        }
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t2 = g * 4 + t / 32;
            if (t2 < 4 && t % 32 == 0) {
                out[t2 < 3 ? t2 : 3] = all[0];
            }
        }
    }
}

#if defined(ARN_CUDA_EMU)
static void reduction_sum_0_call(void *const *a)
{
    reduction_sum_0((float *)a[0], (const float *)a[1]);
}
#endif

/* softmax 'z' -> f32 [4,256]
 * step 1: softmax 'z': x f32 [4,256] at 0x0000 -> z f32 [4,256] at 0x1000
 *   out    f32[1024]  f32 [4,256] z
 *   x      f32[1024]  f32 [4,256] x */
ARN_KERNEL(128) reduction_softmax_1(float *__restrict__ out, const float *x)
{
    float value[8];
    float part[1];
    float all[1];
    const int32_t g = (int32_t)blockIdx.x;
    {
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t0 = g * 4 + t / 32;
            float max = -3.4028235e+38f;
            const int32_t t1 = (t0 < 3 ? t0 : 3) * 256;
            ARN_UNROLL
            for (int32_t k = 0; k < 8; k++) {
                const int32_t c = t % 32 + k * 32;
                if (c < 256) {
                    const float x0 = x[t1 + c];
                    max = x0 > max ? x0 : max;
                }
            }
            part[0] = max;
        }
        __syncthreads();
        {
            const float part0 = part[0];
            const float part1 = shfl_xor_f32(part[0], 16);
            all[0] = part0 > part1 ? part0 : part1;
        }
        {
            const float all0 = all[0];
            const float all1 = shfl_xor_f32(all[0], 8);
            part[0] = all0 > all1 ? all0 : all1;
        }
        {
            const float part2 = part[0];
            const float part3 = shfl_xor_f32(part[0], 4);
            all[0] = part2 > part3 ? part2 : part3;
        }
        {
            const float all2 = all[0];
            const float all3 = shfl_xor_f32(all[0], 2);
            part[0] = all2 > all3 ? all2 : all3;
        }
        {
            const float part4 = part[0];
            const float part5 = shfl_xor_f32(part[0], 1);
            all[0] = part4 > part5 ? part4 : part5;
        }
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t2 = g * 4 + t / 32;
            const float all4 = all[0];
            float sum = 0.0f;
            const int32_t t3 = (t2 < 3 ? t2 : 3) * 256;
            ARN_UNROLL
            for (int32_t k_1 = 0; k_1 < 8; k_1++) {
                const int32_t c = t % 32 + k_1 * 32;
                if (c < 256) {
                    const float t4 = x[t3 + c] - all4;
                    const float t5 = -104.0f > t4 ? -104.0f : t4;
                    const float t6 = fmaf(t5, 1.442695f, 12583104.0f);
                    const float t7 = t6 - 12583104.0f;
                    const float t8 = fmaf(t7, -1.4286068e-06f, fmaf(t7, -0.69314575f, t5));
                    const float t9 = fmaf(fmaf(fmaf(fmaf(0.001395045f, t8, 0.008368882f), t8, 0.041666206f), t8, 0.1666652f), t8, 0.5f);
                    const float t10 = (fmaf(t8 * t8, t9, t8) + 1.0f) * __uint_as_float((uint32_t)(int32_t)((uint32_t)(int32_t)__float_as_uint(t6) * 8388608u));
                    const float t11 = t10 * 2.7105054e-20f;
                    value[c / 32] = t11;
                    sum += t11;
                }
            }
            part[0] = sum;
        }
        __syncthreads();
        {
            all[0] = part[0] + shfl_xor_f32(part[0], 16);
        }
        {
            part[0] = all[0] + shfl_xor_f32(all[0], 8);
        }
        {
            all[0] = part[0] + shfl_xor_f32(part[0], 4);
        }
        {
            part[0] = all[0] + shfl_xor_f32(all[0], 2);
        }
        {
            all[0] = part[0] + shfl_xor_f32(part[0], 1);
        }
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t12 = g * 4 + t / 32;
            if (t12 < 4) {
                const int32_t t13 = (t12 < 3 ? t12 : 3) * 256;
                const float all5 = all[0];
                ARN_UNROLL
                for (int32_t k_2 = 0; k_2 < 8; k_2++) {
                    const int32_t c = t % 32 + k_2 * 32;
                    if (c < 256) {
                        out[t13 + c] = value[c / 32] / all5;
                    }
                }
            }
        }
    }
}

#if defined(ARN_CUDA_EMU)
static void reduction_softmax_1_call(void *const *a)
{
    reduction_softmax_1((float *)a[0], (const float *)a[1]);
}
#endif

#endif

#if !defined(__CUDACC_RTC__)
#include <string.h>
#include "reduction.h"

#ifndef REDUCTION_SECTION_RODATA
#define REDUCTION_SECTION_RODATA
#endif
#if defined(ARN_CUDA_EMU)
#define ARN_TWIN(f) f
#else
#define ARN_TWIN(f) NULL
#endif

static const struct arn_cuda_kernel reduction_kernels[2] = {
    {"reduction_sum_0", 128u, 1, ARN_TWIN(reduction_sum_0_call), 0u, 0u},
    {"reduction_softmax_1", 128u, 1, ARN_TWIN(reduction_softmax_1_call), 0u, 0u},
};

static const struct arn_cuda_arg reduction_args[4] = {
    {ARN_CUDA_ARENA, 0x2000, 16u}, /* out */
    {ARN_CUDA_ARENA, 0x0000, 4096u}, /* x */
    {ARN_CUDA_ARENA, 0x1000, 4096u}, /* out */
    {ARN_CUDA_ARENA, 0x0000, 4096u}, /* x */
};

static const struct arn_cuda_launch reduction_launches[2] = {
    {0, 0, 1u, 0, 2}, /* reduction_sum_0 */
    {1, 1, 1u, 2, 2}, /* reduction_softmax_1 */
};

#if defined(__CUDACC__) && !defined(ARN_CUDA_EMU)
/* The driver's handle of a kernel that nvcc compiled into this program, in the current context. */
static int reduction_linked(void **function, int32_t kernel)
{
    static const void *const symbol[2] = {
        (const void *)reduction_sum_0,
        (const void *)reduction_softmax_1,
    };
    cudaFunction_t f = NULL;
    const int error = (int)cudaGetFuncBySymbol(&f, symbol[kernel]);
    *function = (void *)f;
    return error;
}
#define REDUCTION_LINKED reduction_linked
#else
#define REDUCTION_LINKED NULL
#endif

const struct arn_cuda_model reduction_cuda = {
    "reduction", REDUCTION_ARENA_BYTES, REDUCTION_STATE_BYTES, 0u, NULL, NULL,
    2, 2, 2, reduction_kernels, reduction_launches, reduction_args, 0, REDUCTION_LINKED, 0, NULL
};

#endif
