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

/* add 'z' -> f32 [100]
 * step 0: add 'z': x f32 [100] at 0x0000, y f32 [100] at 0x0200 -> z f32 [100] at 0x0000
 *   out  f32[100]  f32 [100] z
 *   x    f32[100]  f32 [100] x
 *   y    f32[100]  f32 [100] y */
ARN_KERNEL(32) element_wise_add_0(float *out, const float *x, const float *y)
{
    const int32_t g = (int32_t)(blockIdx.x * 32u + threadIdx.x);
    if (g < 100) {
        const float t0 = x[g] + y[g];
        out[g] = 0.0f > t0 ? 0.0f : t0;
    }
}

#if defined(ARN_CUDA_EMU)
static void element_wise_add_0_call(void *const *a)
{
    element_wise_add_0((float *)a[0], (const float *)a[1], (const float *)a[2]);
}
#endif

#endif

#if !defined(__CUDACC_RTC__)
#include <string.h>
#include "element_wise.h"

#ifndef ELEMENT_WISE_SECTION_RODATA
#define ELEMENT_WISE_SECTION_RODATA
#endif
#if defined(ARN_CUDA_EMU)
#define ARN_TWIN(f) f
#else
#define ARN_TWIN(f) NULL
#endif

static const struct arn_cuda_kernel element_wise_kernels[1] = {
    {"element_wise_add_0", 32u, 0, ARN_TWIN(element_wise_add_0_call), 0u, 0u},
};

static const struct arn_cuda_arg element_wise_args[3] = {
    {ARN_CUDA_ARENA, 0x0000, 400u}, /* out */
    {ARN_CUDA_ARENA, 0x0000, 400u}, /* x */
    {ARN_CUDA_ARENA, 0x0200, 400u}, /* y */
};

static const struct arn_cuda_launch element_wise_launches[1] = {
    {0, 0, 4u, 0, 3}, /* element_wise_add_0 */
};

#if defined(__CUDACC__) && !defined(ARN_CUDA_EMU)
/* The driver's handle of a kernel that nvcc compiled into this program, in the current context. */
static int element_wise_linked(void **function, int32_t kernel)
{
    static const void *const symbol[1] = {
        (const void *)element_wise_add_0,
    };
    cudaFunction_t f = NULL;
    const int error = (int)cudaGetFuncBySymbol(&f, symbol[kernel]);
    *function = (void *)f;
    return error;
}
#define ELEMENT_WISE_LINKED element_wise_linked
#else
#define ELEMENT_WISE_LINKED NULL
#endif

const struct arn_cuda_model element_wise_cuda = {
    "element_wise", ELEMENT_WISE_ARENA_BYTES, ELEMENT_WISE_STATE_BYTES, 0u, NULL, NULL,
    1, 1, 1, element_wise_kernels, element_wise_launches, element_wise_args, 0, ELEMENT_WISE_LINKED, 0, NULL
};

#endif
