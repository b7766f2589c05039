 * arena 92 B, optimal; input 'net/left/x', 'net/right/x' overwritten by dims_by_part_run. Safe to call from several threads with distinct arenas. */
#ifndef DIMS_BY_PART_H
#define DIMS_BY_PART_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define DIMS_BY_PART_ARENA_BYTES 92u
#define DIMS_BY_PART_ARENA_ALIGN 16u
#define DIMS_BY_PART_STATE_BYTES 0u
#define DIMS_BY_PART_STACK_BYTES 144u /* of dims_by_part_run: an estimate, measure before you rely on it */
#define DIMS_BY_PART_INPUTS 2
#define DIMS_BY_PART_OUTPUTS 2
#define DIMS_BY_PART_STEPS 2
#define DIMS_BY_PART_IN0_OFFSET 0x0000u /* net/left/x f32 [4,2] */
#define DIMS_BY_PART_IN0_BYTES 32u
#define DIMS_BY_PART_IN0_COUNT 8u
#define DIMS_BY_PART_IN0_CLOBBERED 1
#define DIMS_BY_PART_IN1_OFFSET 0x0020u /* net/right/x f32 [5,3] */
#define DIMS_BY_PART_IN1_BYTES 60u
#define DIMS_BY_PART_IN1_COUNT 15u
#define DIMS_BY_PART_IN1_CLOBBERED 1
#define DIMS_BY_PART_OUT0_OFFSET 0x0000u /* y f32 [4,2] */
#define DIMS_BY_PART_OUT0_BYTES 32u
#define DIMS_BY_PART_OUT0_COUNT 8u
#define DIMS_BY_PART_OUT1_OFFSET 0x0020u /* z f32 [5,3] */
#define DIMS_BY_PART_OUT1_BYTES 60u
#define DIMS_BY_PART_OUT1_COUNT 15u

typedef struct dims_by_part_mem { /* one pointer for each memory of the plan */
    void *arena;         /* DIMS_BY_PART_ARENA_BYTES, aligned to DIMS_BY_PART_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
} dims_by_part_mem;

static inline float *dims_by_part_in0(const dims_by_part_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + DIMS_BY_PART_IN0_OFFSET);
}
static inline float *dims_by_part_in1(const dims_by_part_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + DIMS_BY_PART_IN1_OFFSET);
}
static inline const float *dims_by_part_out0(const dims_by_part_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + DIMS_BY_PART_OUT0_OFFSET);
}
static inline const float *dims_by_part_out1(const dims_by_part_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + DIMS_BY_PART_OUT1_OFFSET);
}

enum { DIMS_BY_PART_OK = 0, DIMS_BY_PART_EALIGN = 1, DIMS_BY_PART_EDIM = 2, DIMS_BY_PART_EWEIGHTS = 3, DIMS_BY_PART_EINDEX = 4 };
int dims_by_part_init(const dims_by_part_mem *m); /* checks alignment */
int dims_by_part_run(const dims_by_part_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
