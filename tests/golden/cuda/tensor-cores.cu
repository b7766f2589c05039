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
    int32_t v[4];
} i32x4;
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
 *   x      i8[4096]  i8 [64,64] x
 *   w      i32[1024]
 *   out    i8[4096]  i8 [64,64] y */
ARN_KERNEL(64) tensor_cores_fully_connected_0(const int8_t *x, const int32_t *__restrict__ w,
    int8_t *__restrict__ out)
{
    ARN_SHARED(int32_t, sx, 640);
    ARN_SHARED(int32_t, sw, 640);
    int32_t acc[16];
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
                    acc[(i / 2 * 2 + t5) * 4 + ((i % 2) * 2 + t6)] = 0;
                }
            }
        }
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t base0 = base[0];
            const int32_t t7 = (t % 4) * 4;
            const int32_t t8 = t7 * 4;
            const int32_t t9 = t7 * 40;
            const int32_t t10 = t / 4;
            const int32_t t11 = t9 + t10;
            const int t12 = t8 < 64;
            if (t12 && 0 <= iy[0]) {
                const i32x4 x0 = *(const i32x4 *)(x + (base0 + t8));
                const i32x4 t13 = x0;
                sx[t11] = t13.v[0];
                sx[t11 + 40] = t13.v[1];
                sx[t11 + 80] = t13.v[2];
                sx[t11 + 120] = t13.v[3];
            } else {
                sx[t11] = 0;
                sx[t11 + 40] = 0;
                sx[t11 + 80] = 0;
                sx[t11 + 120] = 0;
            }
            const int32_t t14 = t + 64;
            const int32_t base1 = base[1];
            const int32_t t15 = t9 + (t10 + 16);
            if (t12 && 0 <= iy[1]) {
                const i32x4 x1 = *(const i32x4 *)(x + (base1 + t8));
                const i32x4 t16 = x1;
                sx[t15] = t16.v[0];
                sx[t15 + 40] = t16.v[1];
                sx[t15 + 80] = t16.v[2];
                sx[t15 + 120] = t16.v[3];
            } else {
                sx[t15] = 0;
                sx[t15 + 40] = 0;
                sx[t15 + 80] = 0;
                sx[t15 + 120] = 0;
            }
            const int32_t t17 = t / 8;
            const int32_t t18 = (t % 8) * 4;
            const i32x4 w0 = *(const i32x4 *)(w + (t17 * 64 + (t1 + t18)));
            *(i32x4 *)(sw + (t17 * 40 + t18)) = w0;
            const int32_t t19 = t14 / 8;
            const int32_t t20 = (t14 % 8) * 4;
            const i32x4 w1 = *(const i32x4 *)(w + (t19 * 64 + (t1 + t20)));
            *(i32x4 *)(sw + (t19 * 40 + t20)) = w1;
        }
        __syncthreads();
        {
            const int32_t t = (int32_t)threadIdx.x;
            const int32_t t21 = t % 32;
            const int32_t t22 = t21 % 4;
            const int32_t t23 = t / 32;
            const int32_t t24 = t23 / 2 * 32;
            const int32_t t25 = t21 / 4;
            const int32_t t26 = (t23 % 2) * 16;
            ARN_UNROLL
            for (int32_t k_1 = 0; k_1 < 2; k_1++) {
                const int32_t t27 = k_1 * 8 + t22;
                ARN_UNROLL
                for (int32_t i = 0; i < 2; i++) {
                    const int32_t t28 = (k_1 * 2 + i) * 4;
                    const int32_t t29 = t27 * 40;
                    const int32_t t30 = i * 16 + (t24 + t25);
                    words[t28] = sx[t29 + t30];
                    const int32_t t31 = t30 + 8;
                    words[t28 + 1] = sx[t29 + t31];
                    const int32_t t32 = (t27 + 4) * 40;
                    words[t28 + 2] = sx[t32 + t30];
                    words[t28 + 3] = sx[t32 + t31];
                }
                ARN_UNROLL
                for (int32_t j = 0; j < 2; j++) {
                    const int32_t t33 = (k_1 * 2 + j) * 2;
                    const int32_t t34 = j * 8 + (t26 + t25);
                    words[t33 + 16] = sw[t27 * 40 + t34];
                    words[t33 + 17] = sw[(t27 + 4) * 40 + t34];
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
                        const int32_t t35 = k_1 * 2;
                        mma_i8(&acc[(i * 2 + j) * 4], &words[(t35 + i) * 4], &words[(t35 + j) * 2 + 16]);
                    }
                }
            }
        }
        {
            const int32_t t = (int32_t)threadIdx.x;
            ARN_UNROLL
            for (int32_t i = 0; i < 4; i++) {
                const int32_t t36 = t % 32;
                const int32_t t37 = t36 % 4;
                const int32_t t38 = t / 32;
                const int32_t t39 = (t38 % 2) * 16;
                const int32_t t40 = i / 2;
                const int32_t t41 = i % 2;
                const int32_t t42 = t0 + (t38 / 2 * 32 + (t40 * 16 + (t41 * 8 + t36 / 4)));
                if (t42 < 64) {
                    ARN_UNROLL
                    for (int32_t j = 0; j < 4; j++) {
                        const int32_t t43 = j / 2;
                        const int32_t t44 = j % 2;
                        const int32_t t45 = t1 + (t39 + (t43 * 8 + (t37 * 2 + t44)));
                        if (t45 < 64) {
                            const double t46 = (double)acc[(t40 * 2 + t43) * 4 + (t41 * 2 + t44)] * 0.004999999888241291;
                            const double t47 = trunc(t46);
                            const double t48 = t46 - t47;
                            const int32_t t49 = (int32_t)(t47 + (0.5 <= t48 ? 1.0 : 0.0) - (t48 <= -0.5 ? 1.0 : 0.0));
                            const int32_t t50 = t49 > -128 ? t49 : -128;
                            out[t42 * 64 + t45] = (int8_t)(t50 < 127 ? t50 : 127);
                        }
                    }
                }
            }
        }
    }
}

#if defined(ARN_CUDA_EMU)
static void tensor_cores_fully_connected_0_call(void *const *a)
{
    tensor_cores_fully_connected_0((const int8_t *)a[0], (const int32_t *)a[1], (int8_t *)a[2]);
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
    {"tensor_cores_fully_connected_0", 64u, 1, ARN_TWIN(tensor_cores_fully_connected_0_call), 0u, 0u},
};

static const struct arn_cuda_arg tensor_cores_args[3] = {
    {ARN_CUDA_ARENA, 0x0000, 4096u}, /* x */
    {ARN_CUDA_WEIGHTS, 0x0040, 4096u}, /* w */
    {ARN_CUDA_ARENA, 0x1000, 4096u}, /* out */
};

static const struct arn_cuda_launch tensor_cores_launches[1] = {
    {0, 0, 4u, 0, 3}, /* tensor_cores_fully_connected_0 */
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
