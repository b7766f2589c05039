 * arena 16,896 B, optimal; input 'x' overwritten by pool_of_threads_run. Safe to call from several threads with distinct arenas. */
#ifndef POOL_OF_THREADS_H
#define POOL_OF_THREADS_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define POOL_OF_THREADS_ARENA_BYTES 16896u
#define POOL_OF_THREADS_ARENA_ALIGN 64u
#define POOL_OF_THREADS_STATE_BYTES 0u
#define POOL_OF_THREADS_STACK_BYTES 160u /* of pool_of_threads_run: an estimate, measure before you rely on it */
#define POOL_OF_THREADS_INPUTS 1
#define POOL_OF_THREADS_OUTPUTS 1
#define POOL_OF_THREADS_STEPS 2
#define POOL_OF_THREADS_IN0_OFFSET 0x0000u /* x f32 [64,64] */
#define POOL_OF_THREADS_IN0_BYTES 16384u
#define POOL_OF_THREADS_IN0_COUNT 4096u
#define POOL_OF_THREADS_IN0_CLOBBERED 1
#define POOL_OF_THREADS_OUT0_OFFSET 0x0000u /* z f32 [64,64] */
#define POOL_OF_THREADS_OUT0_BYTES 16384u
#define POOL_OF_THREADS_OUT0_COUNT 4096u
#define POOL_OF_THREADS_THREADS 2 /* chunks that a step may be cut into */

#ifndef ARN_POOL_TYPE /* the same in runtime/arn_pool.h, which has a pool; any other with this type will do */
#define ARN_POOL_TYPE
typedef void arn_part_fn(const void *with, int32_t part);
struct arn_pool { /* run calls f(with, part) for 0 <= part < parts, at the same time if it can, and waits for all */
    void (*run)(struct arn_pool *pool, int32_t parts, arn_part_fn *f, const void *with);
};
#endif

typedef struct pool_of_threads_mem { /* one pointer for each memory of the plan */
    void *arena;         /* POOL_OF_THREADS_ARENA_BYTES, aligned to POOL_OF_THREADS_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
    struct arn_pool *pool; /* NULL: no threads; the results are the same */
} pool_of_threads_mem;

static inline float *pool_of_threads_in0(const pool_of_threads_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + POOL_OF_THREADS_IN0_OFFSET);
}
static inline const float *pool_of_threads_out0(const pool_of_threads_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + POOL_OF_THREADS_OUT0_OFFSET);
}

enum { POOL_OF_THREADS_OK = 0, POOL_OF_THREADS_EALIGN = 1, POOL_OF_THREADS_EDIM = 2, POOL_OF_THREADS_EWEIGHTS = 3, POOL_OF_THREADS_EINDEX = 4 };
int pool_of_threads_init(const pool_of_threads_mem *m); /* checks alignment */
int pool_of_threads_run(const pool_of_threads_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
