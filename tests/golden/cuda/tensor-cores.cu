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
    int32_t v[4];
} i32x4;
ARN_DEVICE i32x4 i32x4_of(int32_t x)
{
    i32x4 y;
    ARN_UNROLL
    for (int i = 0; i < 4; i++)
        y.v[i] = x;
    return y;
}
#if !defined(ARN_CUDA_EMU)
/* A warp's product: 4 of the 16 x 8 sums of each thread += 16 x 8 words of a by 8 x 8 words of b. */
ARN_DEVICE void mma_i8(int32_t *c, const int32_t *a, const int32_t *b)
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif
/* fully_connected 'y' -> i8 [64,64]
 * step 0: fully_connected 'y': x i8 [64,64] at 0x0000 -> y i8 [64,64] at 0x1000
 *   out    i8[4096]  i8 [64,64] y
 *   x      i8[4096]  i8 [64,64] x
 *   w      i32[1024] */
ARN_KERNEL(128) tensor_cores_fully_connected_0(int8_t *__restrict__ out, const int8_t *x,
    const int32_t *__restrict__ w)
{
    ARN_SHARED(int8_t, sx, 1280);
    int32_t words[12];
    int32_t acc[8];
    const int32_t g = (int32_t)blockIdx.x;
    {
        const int32_t t0 = (g % 2) * 32;
        const int32_t t1 = g / 2 * 16;
        {
            const int32_t t = (int32_t)threadIdx.x;
            const i32x4 w0 = *(const i32x4 *)(w + ((t0 / 8 + (t / 32) % 4) * 128 + (t % 32) * 4));
            words[8] = w0.v[0];
            words[9] = w0.v[1];
            words[10] = w0.v[2];
            words[11] = w0.v[3];
            acc[0] = 0;
            acc[4] = 0;
            acc[2] = 0;
            acc[6] = 0;
            acc[1] = 0;
            acc[5] = 0;
            acc[3] = 0;
            acc[7] = 0;
        }
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t2 = t / 16;
            const int32_t t3 = t2 * 16;
            const int t4 = t3 < 64;
            const int32_t t5 = t % 16;
            const int32_t t6 = t1 + t5;
            const i32x4 x0 = *(const i32x4 *)(x + (t4 ? (t6 < 63 ? t6 : 63) * 64 + t3 : 0));
            if (t2 < 4) {
                *(i32x4 *)(sx + (t5 * 80 + t3)) = t4 ? x0 : i32x4_of(0);
            }
        }
        __syncthreads();
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t7 = t % 32;
            const int32_t t8 = ((t / 32 / 4 * 16 + t7 / 4) * 20 + t7 % 4) * 4;
            words[0] = *(const int32_t *)(sx + (t8));
            words[1] = *(const int32_t *)(sx + (t8 + 640));
            words[2] = *(const int32_t *)(sx + (t8 + 16));
            words[3] = *(const int32_t *)(sx + (t8 + 656));
            words[4] = *(const int32_t *)(sx + (t8 + 32));
            words[5] = *(const int32_t *)(sx + (t8 + 672));
            words[6] = *(const int32_t *)(sx + (t8 + 48));
            words[7] = *(const int32_t *)(sx + (t8 + 688));
        }
        __syncthreads();
        {
            mma_i8(&acc[0], &words[0], &words[8]);
            mma_i8(&acc[4], &words[4], &words[10]);
        }
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t9 = t / 32;
            const int32_t t10 = (t9 % 4) * 8;
            const int32_t t11 = t % 32;
            const int32_t t12 = (t11 % 4) * 2;
            const int32_t t13 = t0 + (t10 + (t12 + 1));
            const double t14 = (double)(int32_t)((uint32_t)acc[1] + (uint32_t)acc[5]) * 0.004999999888241291;
            const double t15 = trunc(t14);
            const double t16 = t14 - t15;
            const int32_t t17 = (int32_t)(t15 + (0.5 <= t16 ? 1.0 : 0.0) - (t16 <= -0.5 ? 1.0 : 0.0));
            const int32_t t18 = t17 > -128 ? t17 : -128;
            const int32_t t19 = t9 / 4 * 16;
            const int32_t t20 = t11 / 4;
            const double t21 = (double)(int32_t)((uint32_t)acc[2] + (uint32_t)acc[6]) * 0.004999999888241291;
            const double t22 = trunc(t21);
            const double t23 = t21 - t22;
            const int32_t t24 = (int32_t)(t22 + (0.5 <= t23 ? 1.0 : 0.0) - (t23 <= -0.5 ? 1.0 : 0.0));
            const int32_t t25 = t24 > -128 ? t24 : -128;
            const double t26 = (double)(int32_t)((uint32_t)acc[3] + (uint32_t)acc[7]) * 0.004999999888241291;
            const double t27 = trunc(t26);
            const double t28 = t26 - t27;
            const int32_t t29 = (int32_t)(t27 + (0.5 <= t28 ? 1.0 : 0.0) - (t28 <= -0.5 ? 1.0 : 0.0));
            const int32_t t30 = t29 > -128 ? t29 : -128;
            const int32_t t31 = (t1 + (t19 + t20)) * 64;
            const int32_t t32 = t0 + (t10 + t12);
            const double t33 = (double)(int32_t)((uint32_t)acc[0] + (uint32_t)acc[4]) * 0.004999999888241291;
            const double t34 = trunc(t33);
            const double t35 = t33 - t34;
            const int32_t t36 = (int32_t)(t34 + (0.5 <= t35 ? 1.0 : 0.0) - (t35 <= -0.5 ? 1.0 : 0.0));
            const int32_t t37 = t36 > -128 ? t36 : -128;
            out[t31 + t32] = (int8_t)(t37 < 127 ? t37 : 127);
            out[t31 + t13] = (int8_t)(t18 < 127 ? t18 : 127);
            const int32_t t38 = (t1 + (t19 + (t20 + 8))) * 64;
            out[t38 + t32] = (int8_t)(t25 < 127 ? t25 : 127);
            out[t38 + t13] = (int8_t)(t30 < 127 ? t30 : 127);
        }
    }
}

#if defined(ARN_CUDA_EMU)
static void tensor_cores_fully_connected_0_call(void *const *a)
{
    tensor_cores_fully_connected_0((int8_t *)a[0], (const int8_t *)a[1], (const int32_t *)a[2]);
}
#endif

#endif

#if !defined(__CUDACC_RTC__)
#include <string.h>
#include "tensor_cores.h"

#ifndef TENSOR_CORES_SECTION_RODATA
#define TENSOR_CORES_SECTION_RODATA
#endif
#if defined(ARN_CUDA_EMU)
#define ARN_TWIN(f) f
#else
#define ARN_TWIN(f) NULL
#endif

static const struct arn_cuda_kernel tensor_cores_kernels[1] = {
    {"tensor_cores_fully_connected_0", 128u, 1, ARN_TWIN(tensor_cores_fully_connected_0_call), 0u, 0u},
};

static const struct arn_cuda_arg tensor_cores_args[3] = {
    {ARN_CUDA_ARENA, 0x1000, 4096u}, /* out */
    {ARN_CUDA_ARENA, 0x0000, 4096u}, /* x */
    {ARN_CUDA_WEIGHTS, 0x0040, 4096u}, /* w */
};

static const struct arn_cuda_launch tensor_cores_launches[1] = {
    {0, 0, 8u, 0, 3}, /* tensor_cores_fully_connected_0 */
};

#if defined(__CUDACC__) && !defined(ARN_CUDA_EMU)
/* The driver's handle of a kernel that nvcc compiled into this program, in the current context. */
static int tensor_cores_linked(void **function, int32_t kernel)
{
    static const void *const symbol[1] = {
        (const void *)tensor_cores_fully_connected_0,
    };
    cudaFunction_t f = NULL;
    const int error = (int)cudaGetFuncBySymbol(&f, symbol[kernel]);
    *function = (void *)f;
    return error;
}
#define TENSOR_CORES_LINKED tensor_cores_linked
#else
#define TENSOR_CORES_LINKED NULL
#endif

const struct arn_cuda_model tensor_cores_cuda = {
    "tensor_cores", TENSOR_CORES_ARENA_BYTES, TENSOR_CORES_STATE_BYTES, 4160u, NULL, NULL,
    1, 1, 1, tensor_cores_kernels, tensor_cores_launches, tensor_cores_args, 0, TENSOR_CORES_LINKED, 0, NULL
};

#endif
