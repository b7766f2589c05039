/* arn_cuda_emu.h - the words of CUDA that generated kernels use, for a C compiler: the kernels' own text runs on the
 * host.
 *
 * Threads of a block, and of all blocks of a cluster, are fibres (arn_cuda_emu.c), run one at a time until each waits
 * or ends. A barrier that not all of them reach is an error, shared memory starts as NaN, and the order of the threads
 * turns around with every barrier, so that a missing one shows. Blocks of a cluster run as far ahead of the others as
 * they can, in an order that changes with every barrier of theirs. With -fsanitize=thread (and arn_cuda_race.c in
 * place of its library) every access is looked at. */
#ifndef ARN_CUDA_EMU_H
#define ARN_CUDA_EMU_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct arn_emu_index {
    uint32_t x;
};
extern struct arn_emu_index arn_emu_thread, arn_emu_block;
#define threadIdx arn_emu_thread
#define blockIdx  arn_emu_block

#define ARN_KERNEL(threads)                 static void
#define ARN_DEVICE                          static inline
#define ARN_CLUSTER_KERNEL(threads, blocks) static void
#define ARN_OF(type, name, rank)            ((type *)arn_emu_of(name, (uint32_t)(rank), sizeof(type)))
#define arn_cluster_begin()                 arn_emu_cluster_barrier(__LINE__)
#define arn_cluster_wait()                  arn_emu_cluster_barrier(__LINE__)
#define ARN_MAIL()
#define arn_mail_wait(bytes)          arn_emu_mail_wait(bytes, __LINE__)
#define ARN_SHARED(type, name, count) type *const name = (type *)arn_emu_shared(sizeof(type) * (size_t)(count))
#define ARN_DYNAMIC(type, name, count, at) \
    type *const name = (type *)arn_emu_dynamic(at, sizeof(type) * (size_t)(count))
#define ARN_ALIGNED(bytes) __attribute__((aligned(bytes), may_alias))
#define ARN_UNROLL
#define __restrict__ restrict
#define __syncthreads() arn_emu_barrier(__LINE__)
#define ARN_BEGIN()     arn_emu_begin()

/* Late stores: a thread's copies to shared memory. Each holds NaN until the thread waits for its group. */
#define copy_late4(to, from, some)  arn_emu_copy(to, from, 4, some)
#define copy_late8(to, from, some)  arn_emu_copy(to, from, 8, some)
#define copy_late16(to, from, some) arn_emu_copy(to, from, 16, some)
#define late_group                  arn_emu_group
#define late_wait                   arn_emu_wait
void arn_emu_copy(void *to, const void *from, int bytes, int some); /* not some: zeros */
void arn_emu_group(void);
void arn_emu_wait(uint32_t left);               /* all but the last groups */
void *arn_emu_shared(size_t bytes);             /* the same for all threads of a block, in order of their calls */
void *arn_emu_dynamic(size_t at, size_t bytes); /* a place in the block's dynamic memory, the kernel's `shared` bytes */
void arn_emu_barrier(int line);
void arn_emu_cluster_barrier(int line);
/* Stores to the same place of another block, which waits for a number of bytes. Each holds NaN until all have come. */
void arn_emu_send(void *to, int rank, const void *value, size_t size);
void arn_emu_mail_wait(uint32_t bytes, int line);
/* The same place in the memory of another block of the cluster; size: of the element there. */
void *arn_emu_of(void *at, uint32_t rank, size_t size);
/* One launch: 0, ARN_CUDA_EBARRIER, ARN_CUDA_ERACE or ARN_CUDA_EBOUNDS. a: addresses, in order of the parameters. */
struct arn_cuda_model;
struct arn_cuda_launch;
struct arn_cuda_arg;
int arn_emu_launch(const struct arn_cuda_model *m, const struct arn_cuda_launch *l, void *const *a);
/* arn_cuda_fence.c: the arguments of a launch between pages that cannot be touched; inside: their addresses there.
 * Nonzero: no memory. close copies them back. */
int arn_fence_open(const struct arn_cuda_arg *arg, int n, void *const *a, void **inside);
int arn_fence_piece(int i, const void **from, size_t *n, int *constant); /* 0: there are no more */
void arn_fence_close(void);
int arn_fence_holds(const void *at);
void arn_fence_report(const void *at); /* an access there is a fault */
const char *arn_fence_found(void);     /* the first fault since arn_fence_catch; NULL: none */
/* context: a ucontext_t to go on with after a fault, NULL: no longer. thread: the present one */
void arn_fence_catch(void *context, const struct arn_emu_index *thread);
/* For arn_cuda_race.c: barriers that the present block has passed, and how often it has waited for others; memories
 * that a launch may touch; nonzero when a launch had a race. */
extern uint32_t arn_emu_epoch, arn_emu_cluster_epoch, arn_emu_ranks; /* ranks: blocks of a cluster, 1: no clusters */
/* Kernels may start before the one before them ends (arn_cuda_model.early); true if the present thread has waited for
 * that end. */
extern int arn_emu_early;
int arn_emu_begun(void);
void arn_emu_begin(void);
/* MEMORY: races are found in it; BLOCK: each cluster has its own; BOUNDS: it is only read */
enum { ARN_WATCH_MEMORY, ARN_WATCH_BLOCK, ARN_WATCH_BOUNDS };
void arn_race_begin(const void *shared, size_t n); /* nothing is watched; all memory of blocks */
void arn_race_watch(const void *from, size_t n, int what);
int arn_race_launch(const char *name);
void arn_race_look(const void *at, size_t n, int writes);               /* an access of the present thread */
uint32_t arn_emu_exchange(uint32_t mine, uint32_t from_lane, int line); /* among the 32 threads of a warp */
/* The words of all 32 threads; each gives its `n`, 6 at most. They stay until the thread's next exchange. */
enum { ARN_EMU_WORDS = 6 };
const uint32_t (*arn_emu_gather(const uint32_t *mine, int n, int line))[ARN_EMU_WORDS];

static inline uint32_t __float_as_uint(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float __uint_as_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline void arn_send_f32(void *to, int rank, float v)
{
    arn_emu_send(to, rank, &v, sizeof v);
}
static inline void arn_send_i32(void *to, int rank, int32_t v)
{
    arn_emu_send(to, rank, &v, sizeof v);
}
static inline void arn_send_f32x4(void *to, int rank, float a, float b, float c, float d)
{
    const float v[4] = {a, b, c, d};
    arn_emu_send(to, rank, v, sizeof v);
}
static inline void arn_send_i32x4(void *to, int rank, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const int32_t v[4] = {a, b, c, d};
    arn_emu_send(to, rank, v, sizeof v);
}
#define __fsqrt_rn sqrtf
#define __dsqrt_rn sqrt

#define shfl_xor_i32(x, mask) arn_emu_shfl_i32(x, mask, __LINE__)
#define shfl_xor_f32(x, mask) arn_emu_shfl_f32(x, mask, __LINE__)
static inline int32_t arn_emu_shfl_i32(int32_t x, int32_t mask, int line)
{
    return (int32_t)arn_emu_exchange((uint32_t)x, (arn_emu_thread.x & 31u) ^ (uint32_t)mask, line);
}
static inline float arn_emu_shfl_f32(float x, int32_t mask, int line)
{
    return __uint_as_float(arn_emu_exchange(__float_as_uint(x), (arn_emu_thread.x & 31u) ^ (uint32_t)mask, line));
}
/* Twins of PTX's mma.sync (arn_cuda_mma.c): c[0..3] += the thread's part of 16 x 8 sums; a: 4 words, b: 2. */
#define mma_i8(c, a, b)   arn_emu_mma_i8(c, a, b, __LINE__)
#define mma_f16(c, a, b)  arn_emu_mma_f32(c, a, b, 16, __LINE__)
#define mma_bf16(c, a, b) arn_emu_mma_f32(c, a, b, 8, __LINE__)
#define mma_tf32(c, a, b) arn_emu_mma_f32(c, a, b, 32, __LINE__)
void arn_emu_mma_i8(int32_t *c, const int32_t *a, const int32_t *b, int line);
void arn_emu_mma_f32(float *c, const int32_t *a, const int32_t *b, int type, int line);
static inline int32_t dp4a(int32_t a, int32_t b, int32_t c)
{
    for (int i = 0; i < 4; i++)
        c = (int32_t)((uint32_t)c + (uint32_t)((int32_t)(int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i)));
    return c;
}
#endif
