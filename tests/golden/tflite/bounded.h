 * arena 100 B, optimal; input 'x' overwritten by bounded_run. Safe to call from several threads with distinct arenas. */
#ifndef BOUNDED_H
#define BOUNDED_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define BOUNDED_ARENA_BYTES 100u
#define BOUNDED_ARENA_ALIGN 16u
#define BOUNDED_STATE_BYTES 0u
#define BOUNDED_STACK_BYTES 144u /* of bounded_run: an estimate, measure before you rely on it */
#define BOUNDED_INPUTS 1
#define BOUNDED_OUTPUTS 3
#define BOUNDED_STEPS 4
#define BOUNDED_IN0_OFFSET 0x0000u /* x f32 [3] */
#define BOUNDED_IN0_BYTES 12u
#define BOUNDED_IN0_COUNT 3u
#define BOUNDED_IN0_CLOBBERED 1
#define BOUNDED_OUT0_OFFSET 0x0010u /* r i32 [9] */
#define BOUNDED_OUT0_BYTES 36u
#define BOUNDED_OUT0_COUNT 9u
#define BOUNDED_OUT0_COUNTED_DIM 0 /* of this dimension only the first elements have a meaning: */
#define BOUNDED_OUT0_COUNTED_BY 2  /* as many as this output, one number, says */
#define BOUNDED_OUT1_OFFSET 0x0040u /* y i32 [9] */
#define BOUNDED_OUT1_BYTES 36u
#define BOUNDED_OUT1_COUNT 9u
#define BOUNDED_OUT1_COUNTED_DIM 0 /* of this dimension only the first elements have a meaning: */
#define BOUNDED_OUT1_COUNTED_BY 2  /* as many as this output, one number, says */
#define BOUNDED_OUT2_OFFSET 0x0000u /* r_count i64 [] */
#define BOUNDED_OUT2_BYTES 8u
#define BOUNDED_OUT2_COUNT 1u

typedef struct bounded_mem { /* one pointer for each memory of the plan */
    void *arena;         /* BOUNDED_ARENA_BYTES, aligned to BOUNDED_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
} bounded_mem;

static inline float *bounded_in0(const bounded_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + BOUNDED_IN0_OFFSET);
}
static inline const int32_t *bounded_out0(const bounded_mem *m)
{
    return (const int32_t *)(const void *)((const uint8_t *)m->arena + BOUNDED_OUT0_OFFSET);
}
static inline const int32_t *bounded_out1(const bounded_mem *m)
{
    return (const int32_t *)(const void *)((const uint8_t *)m->arena + BOUNDED_OUT1_OFFSET);
}
static inline const int64_t *bounded_out2(const bounded_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + BOUNDED_OUT2_OFFSET);
}

enum { BOUNDED_OK = 0, BOUNDED_EALIGN = 1, BOUNDED_EDIM = 2, BOUNDED_EWEIGHTS = 3, BOUNDED_EINDEX = 4 };
int bounded_init(const bounded_mem *m); /* checks alignment */
int bounded_run(const bounded_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
