 * arena 200 B, optimal; input 'x' overwritten by bounded_by_part_run. Safe to call from several threads with distinct arenas. */
#ifndef BOUNDED_BY_PART_H
#define BOUNDED_BY_PART_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define BOUNDED_BY_PART_ARENA_BYTES 200u
#define BOUNDED_BY_PART_ARENA_ALIGN 16u
#define BOUNDED_BY_PART_STATE_BYTES 0u
#define BOUNDED_BY_PART_STACK_BYTES 144u /* of bounded_by_part_run: an estimate, measure before you rely on it */
#define BOUNDED_BY_PART_INPUTS 1
#define BOUNDED_BY_PART_OUTPUTS 6
#define BOUNDED_BY_PART_STEPS 8
#define BOUNDED_BY_PART_IN0_OFFSET 0x0000u /* x f32 [2,3] */
#define BOUNDED_BY_PART_IN0_BYTES 24u
#define BOUNDED_BY_PART_IN0_COUNT 6u
#define BOUNDED_BY_PART_IN0_CLOBBERED 1
#define BOUNDED_BY_PART_OUT0_OFFSET 0x0000u /* net/left/size i64 [9] */
#define BOUNDED_BY_PART_OUT0_BYTES 72u
#define BOUNDED_BY_PART_OUT0_COUNT 9u
#define BOUNDED_BY_PART_OUT0_COUNTED_DIM 0 /* of this dimension only the first elements have a meaning: */
#define BOUNDED_BY_PART_OUT0_COUNTED_BY 3  /* as many as this output, one number, says */
#define BOUNDED_BY_PART_OUT1_OFFSET 0x0080u /* net/right/size i64 [4] */
#define BOUNDED_BY_PART_OUT1_BYTES 32u
#define BOUNDED_BY_PART_OUT1_COUNT 4u
#define BOUNDED_BY_PART_OUT1_COUNTED_DIM 0 /* of this dimension only the first elements have a meaning: */
#define BOUNDED_BY_PART_OUT1_COUNTED_BY 4  /* as many as this output, one number, says */
#define BOUNDED_BY_PART_OUT2_OFFSET 0x0050u /* size i64 [5] */
#define BOUNDED_BY_PART_OUT2_BYTES 40u
#define BOUNDED_BY_PART_OUT2_COUNT 5u
#define BOUNDED_BY_PART_OUT2_COUNTED_DIM 0 /* of this dimension only the first elements have a meaning: */
#define BOUNDED_BY_PART_OUT2_COUNTED_BY 5  /* as many as this output, one number, says */
#define BOUNDED_BY_PART_OUT3_OFFSET 0x00b0u /* net/left/size_count i64 [] */
#define BOUNDED_BY_PART_OUT3_BYTES 8u
#define BOUNDED_BY_PART_OUT3_COUNT 1u
#define BOUNDED_BY_PART_OUT4_OFFSET 0x00c0u /* net/right/size_count i64 [] */
#define BOUNDED_BY_PART_OUT4_BYTES 8u
#define BOUNDED_BY_PART_OUT4_COUNT 1u
#define BOUNDED_BY_PART_OUT5_OFFSET 0x00a0u /* size_count i64 [] */
#define BOUNDED_BY_PART_OUT5_BYTES 8u
#define BOUNDED_BY_PART_OUT5_COUNT 1u

typedef struct bounded_by_part_mem { /* one pointer for each memory of the plan */
    void *arena;         /* BOUNDED_BY_PART_ARENA_BYTES, aligned to BOUNDED_BY_PART_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
} bounded_by_part_mem;

static inline float *bounded_by_part_in0(const bounded_by_part_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + BOUNDED_BY_PART_IN0_OFFSET);
}
static inline const int64_t *bounded_by_part_out0(const bounded_by_part_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + BOUNDED_BY_PART_OUT0_OFFSET);
}
static inline const int64_t *bounded_by_part_out1(const bounded_by_part_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + BOUNDED_BY_PART_OUT1_OFFSET);
}
static inline const int64_t *bounded_by_part_out2(const bounded_by_part_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + BOUNDED_BY_PART_OUT2_OFFSET);
}
static inline const int64_t *bounded_by_part_out3(const bounded_by_part_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + BOUNDED_BY_PART_OUT3_OFFSET);
}
static inline const int64_t *bounded_by_part_out4(const bounded_by_part_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + BOUNDED_BY_PART_OUT4_OFFSET);
}
static inline const int64_t *bounded_by_part_out5(const bounded_by_part_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + BOUNDED_BY_PART_OUT5_OFFSET);
}

enum { BOUNDED_BY_PART_OK = 0, BOUNDED_BY_PART_EALIGN = 1, BOUNDED_BY_PART_EDIM = 2, BOUNDED_BY_PART_EWEIGHTS = 3, BOUNDED_BY_PART_EINDEX = 4 };
int bounded_by_part_init(const bounded_by_part_mem *m); /* checks alignment */
int bounded_by_part_run(const bounded_by_part_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
