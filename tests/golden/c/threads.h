 * arena 16,896 B, optimal; input 'x' overwritten by threads_run. Safe to call from several threads with distinct arenas. */
#ifndef THREADS_H
#define THREADS_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define THREADS_ARENA_BYTES 16896u
#define THREADS_ARENA_ALIGN 64u
#define THREADS_STATE_BYTES 0u
#define THREADS_STACK_BYTES 160u /* of threads_run: an estimate, measure before you rely on it */
#define THREADS_INPUTS 1
#define THREADS_OUTPUTS 1
#define THREADS_STEPS 2
#define THREADS_IN0_OFFSET 0x0000u /* x f32 [64,64] */
#define THREADS_IN0_BYTES 16384u
#define THREADS_IN0_COUNT 4096u
#define THREADS_IN0_CLOBBERED 1
#define THREADS_OUT0_OFFSET 0x0000u /* z f32 [64,64] */
#define THREADS_OUT0_BYTES 16384u
#define THREADS_OUT0_COUNT 4096u
#define THREADS_THREADS 2 /* chunks that a step may be cut into */

#ifndef ARN_POOL_TYPE /* the same in runtime/arn_pool.h, which has a pool; any other with this type will do */
#define ARN_POOL_TYPE
typedef void arn_part_fn(const void *with, int32_t part);
struct arn_pool { /* run calls f(with, part) for 0 <= part < parts, at the same time if it can, and waits for all */
    void (*run)(struct arn_pool *pool, int32_t parts, arn_part_fn *f, const void *with);
};
#endif

typedef struct threads_mem { /* one pointer for each memory of the plan */
    void *arena;         /* THREADS_ARENA_BYTES, aligned to THREADS_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
    struct arn_pool *pool; /* NULL: no threads; the results are the same */
} threads_mem;

static inline float *threads_in0(const threads_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + THREADS_IN0_OFFSET);
}
static inline const float *threads_out0(const threads_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + THREADS_OUT0_OFFSET);
}

enum { THREADS_OK = 0, THREADS_EALIGN = 1, THREADS_EDIM = 2, THREADS_EWEIGHTS = 3, THREADS_EINDEX = 4 };
int threads_init(const threads_mem *m); /* checks alignment */
int threads_run(const threads_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
