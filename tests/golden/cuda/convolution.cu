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

#if !defined(ARN_CUDA_EMU)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define ARN_LATE(bytes, kind) \
    ARN_DEVICE void copy_late##bytes(void *to, const void *from, int some) \
    { \
        asm volatile("cp.async." kind ".shared.global [%0], [%1], " #bytes ", %2;" \
                     :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "r"(some ? bytes : 0)); \
    }
ARN_LATE(4, "ca")
ARN_LATE(8, "ca")
ARN_LATE(16, "cg")
#define late_group() asm volatile("cp.async.commit_group;" ::: "memory")
#define late_wait(n) asm volatile("cp.async.wait_group " #n ";" ::: "memory")
#else
#define ARN_LATE(bytes, type) \
    ARN_DEVICE void copy_late##bytes(void *to, const void *from, int some) \
    { \
        type nothing = {0}; \
        *(type *)to = some ? *(const type *)from : nothing; \
    }
ARN_LATE(4, int1)
ARN_LATE(8, int2)
ARN_LATE(16, int4)
#define late_group()
#define late_wait(n)
#endif
#endif

typedef struct ARN_ALIGNED(16) {
    float v[4];
} f32x4;
ARN_DEVICE f32x4 join_f32x4(float v0, float v1, float v2, float v3)
{
    f32x4 all;
    all.v[0] = v0;
    all.v[1] = v1;
    all.v[2] = v2;
    all.v[3] = v3;
    return all;
}
/* conv_2d 'y' -> f32 [1,8,8,32]
 * step 0: conv_2d 'y': x f32 [1,8,8,16] at 0x2000 -> y f32 [1,8,8,32] at 0x0000
 *   x     f32[1024]  f32 [1,8,8,16] x
 *   w     f32[512]
 *   out   f32[2048]  f32 [1,8,8,32] y */
ARN_KERNEL(128) convolution_conv_2d_0(const float *x, const float *__restrict__ w, float *__restrict__ out)
{
    ARN_SHARED(float, s, 2048);
    float acc[16];
    int32_t base[1];
    const int32_t g = (int32_t)blockIdx.x;
    {
        const int32_t t0 = g / 2 * 32;
        const int32_t t1 = g % 2;
        const int32_t t2 = t1 * 16;
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t3 = t0 + t / 4;
            const int32_t t4 = t3 < 63 ? t3 : 63;
            const int32_t t5 = t4 / 8;
            base[0] = ((t5 / 8 * 8 + t5 % 8) * 8 + t4 % 8) * 16;
            const int32_t t6 = t * 4;
            if (t < 64) {
                copy_late16(s + (t6 + 640), w + (t1 * 256 + t6), 1);
            }
        }
        late_group();
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t7 = (t % 4) * 4;
            copy_late16(s + (t / 4 * 20 + t7), x + (base[0] + t7), 1);
        }
        late_group();
        late_wait(0);
        __syncthreads();
        {
            ARN_UNROLL
            for (int32_t i = 0; i < 4; i++) {
                const int32_t t8 = i * 4;
                acc[t8] = 0.0f;
                acc[t8 + 1] = 0.0f;
                acc[t8 + 2] = 0.0f;
                acc[t8 + 3] = 0.0f;
            }
        }
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t9 = t % 32;
            const int32_t t10 = t / 32;
            const int32_t t11 = (t9 / 32 * 32 + t9 / 4) * 20 + t10 * 4;
            const int32_t t12 = t10 * 64 + (t9 % 4) * 4;
            const f32x4 s0 = *(const f32x4 *)(s + (t12 + 688));
            const f32x4 s1 = *(const f32x4 *)(s + (t12 + 672));
            const f32x4 s2 = *(const f32x4 *)(s + (t12 + 656));
            const f32x4 s3 = *(const f32x4 *)(s + (t12 + 640));
            ARN_UNROLL
            for (int32_t i = 0; i < 4; i++) {
                const int32_t t13 = i * 4;
                const f32x4 s4 = *(const f32x4 *)(s + (i * 160 + t11));
                const float t14 = s4.v[3];
                const float t15 = s4.v[2];
                const float t16 = s4.v[1];
                const float t17 = s4.v[0];
                acc[t13] = fmaf(t14, s0.v[0], fmaf(t15, s1.v[0], fmaf(t16, s2.v[0], fmaf(t17, s3.v[0], acc[t13]))));
                const float t18 = fmaf(t14, s0.v[1], fmaf(t15, s1.v[1], fmaf(t16, s2.v[1], fmaf(t17, s3.v[1], acc[t13 + 1]))));
                acc[t13 + 1] = t18;
                const float t19 = fmaf(t14, s0.v[2], fmaf(t15, s1.v[2], fmaf(t16, s2.v[2], fmaf(t17, s3.v[2], acc[t13 + 2]))));
                acc[t13 + 2] = t19;
                const float t20 = fmaf(t14, s0.v[3], fmaf(t15, s1.v[3], fmaf(t16, s2.v[3], fmaf(t17, s3.v[3], acc[t13 + 3]))));
                acc[t13 + 3] = t20;
            }
        }
        late_group();
        late_wait(0);
        __syncthreads();
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t21 = t / 32;
            const int32_t t22 = t % 32;
            ARN_UNROLL
            for (int32_t i = 0; i < 4; i++) {
                const int32_t t23 = i * 4;
                *(f32x4 *)(s + ((t21 * 128 + (i * 32 + t22)) * 4)) = join_f32x4(acc[t23], acc[t23 + 1], acc[t23 + 2], acc[t23 + 3]);
            }
        }
        __syncthreads();
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t24 = (t % 32) % 32;
            const int32_t t25 = t0 + (t / 32 * 8 + (t24 / 32 * 32 + t24 / 4));
            const f32x4 s5 = *(const f32x4 *)(s + (t * 4));
            const f32x4 s6 = *(const f32x4 *)(s + ((t + 128) * 4));
            const f32x4 s7 = *(const f32x4 *)(s + ((t + 256) * 4));
            const f32x4 s8 = *(const f32x4 *)(s + ((t + 384) * 4));
            const f32x4 t26 = join_f32x4(s5.v[0] + s6.v[0] + s7.v[0] + s8.v[0], s5.v[1] + s6.v[1] + s7.v[1] + s8.v[1], s5.v[2] + s6.v[2] + s7.v[2] + s8.v[2], s5.v[3] + s6.v[3] + s7.v[3] + s8.v[3]);
            *(f32x4 *)(out + (((t25 / 8) % 8) * 256 + ((t25 % 8) * 32 + (t2 + (t24 % 4) * 4)))) = t26;
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
    {"convolution_conv_2d_0", 128u, 1, ARN_TWIN(convolution_conv_2d_0_call), 0u, 0u},
};

static const struct arn_cuda_arg convolution_args[3] = {
    {ARN_CUDA_ARENA, 0x2000, 4096u}, /* x */
    {ARN_CUDA_WEIGHTS, 0x0040, 2048u}, /* w */
    {ARN_CUDA_ARENA, 0x0000, 8192u}, /* out */
};

static const struct arn_cuda_launch convolution_launches[1] = {
    {0, 0, 4u, 0, 3}, /* convolution_conv_2d_0 */
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
