 * arena 248 B, optimal; input 'flags', 'x' overwritten by counted_run. Safe to call from several threads with distinct arenas. */
#ifndef COUNTED_H
#define COUNTED_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define COUNTED_ARENA_BYTES 248u
#define COUNTED_ARENA_ALIGN 16u
#define COUNTED_STATE_BYTES 0u
#define COUNTED_STACK_BYTES 160u /* of counted_run: an estimate, measure before you rely on it */
#define COUNTED_INPUTS 3
#define COUNTED_OUTPUTS 7
#define COUNTED_STEPS 41
#define COUNTED_IN0_OFFSET 0x0000u /* flags bool [4] */
#define COUNTED_IN0_BYTES 4u
#define COUNTED_IN0_COUNT 4u
#define COUNTED_IN0_CLOBBERED 1
#define COUNTED_IN1_OFFSET 0x0010u /* x f32 [4,2] */
#define COUNTED_IN1_BYTES 32u
#define COUNTED_IN1_COUNT 8u
#define COUNTED_IN1_CLOBBERED 1
#define COUNTED_IN2_OFFSET 0x0030u /* ids i32 [3] */
#define COUNTED_IN2_BYTES 12u
#define COUNTED_IN2_COUNT 3u
#define COUNTED_IN2_CLOBBERED 0
#define COUNTED_OUT0_OFFSET 0x0080u /* rows f32 [4,2] */
#define COUNTED_OUT0_BYTES 32u
#define COUNTED_OUT0_COUNT 8u
#define COUNTED_OUT0_COUNTED_DIM 0 /* of this dimension only the first elements have a meaning: */
#define COUNTED_OUT0_COUNTED_BY 4  /* as many as this output, one number, says */
#define COUNTED_OUT1_OFFSET 0x0088u /* later f32 [3,2] */
#define COUNTED_OUT1_BYTES 24u
#define COUNTED_OUT1_COUNT 6u
#define COUNTED_OUT1_COUNTED_DIM 0 /* of this dimension only the first elements have a meaning: */
#define COUNTED_OUT1_COUNTED_BY 5  /* as many as this output, one number, says */
#define COUNTED_OUT2_OFFSET 0x00c0u /* values i32 [3] */
#define COUNTED_OUT2_BYTES 12u
#define COUNTED_OUT2_COUNT 3u
#define COUNTED_OUT2_COUNTED_DIM 0 /* of this dimension only the first elements have a meaning: */
#define COUNTED_OUT2_COUNTED_BY 6  /* as many as this output, one number, says */
#define COUNTED_OUT3_OFFSET 0x00a0u /* which i32 [3] */
#define COUNTED_OUT3_BYTES 12u
#define COUNTED_OUT3_COUNT 3u
#define COUNTED_OUT4_OFFSET 0x0050u /* rows_count i64 [] */
#define COUNTED_OUT4_BYTES 8u
#define COUNTED_OUT4_COUNT 1u
#define COUNTED_OUT5_OFFSET 0x0040u /* later_count i64 [] */
#define COUNTED_OUT5_BYTES 8u
#define COUNTED_OUT5_COUNT 1u
#define COUNTED_OUT6_OFFSET 0x00d0u /* values_count i64 [] */
#define COUNTED_OUT6_BYTES 8u
#define COUNTED_OUT6_COUNT 1u

typedef struct counted_mem { /* one pointer for each memory of the plan */
    void *arena;         /* COUNTED_ARENA_BYTES, aligned to COUNTED_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
} counted_mem;

static inline uint8_t *counted_in0(const counted_mem *m)
{
    return (uint8_t *)(void *)((uint8_t *)m->arena + COUNTED_IN0_OFFSET);
}
static inline float *counted_in1(const counted_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + COUNTED_IN1_OFFSET);
}
static inline int32_t *counted_in2(const counted_mem *m)
{
    return (int32_t *)(void *)((uint8_t *)m->arena + COUNTED_IN2_OFFSET);
}
static inline const float *counted_out0(const counted_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + COUNTED_OUT0_OFFSET);
}
static inline const float *counted_out1(const counted_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + COUNTED_OUT1_OFFSET);
}
static inline const int32_t *counted_out2(const counted_mem *m)
{
    return (const int32_t *)(const void *)((const uint8_t *)m->arena + COUNTED_OUT2_OFFSET);
}
static inline const int32_t *counted_out3(const counted_mem *m)
{
    return (const int32_t *)(const void *)((const uint8_t *)m->arena + COUNTED_OUT3_OFFSET);
}
static inline const int64_t *counted_out4(const counted_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + COUNTED_OUT4_OFFSET);
}
static inline const int64_t *counted_out5(const counted_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + COUNTED_OUT5_OFFSET);
}
static inline const int64_t *counted_out6(const counted_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + COUNTED_OUT6_OFFSET);
}

enum { COUNTED_OK = 0, COUNTED_EALIGN = 1, COUNTED_EDIM = 2, COUNTED_EWEIGHTS = 3, COUNTED_EINDEX = 4 };
int counted_init(const counted_mem *m); /* checks alignment */
int counted_run(const counted_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
