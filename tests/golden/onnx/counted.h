 * arena 328 B, optimal. Safe to call from several threads with distinct arenas. */
#ifndef COUNTED_H
#define COUNTED_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define COUNTED_ARENA_BYTES 328u
#define COUNTED_ARENA_ALIGN 16u
#define COUNTED_STATE_BYTES 0u
#define COUNTED_STACK_BYTES 144u /* of counted_run: an estimate, measure before you rely on it */
#define COUNTED_INPUTS 1
#define COUNTED_OUTPUTS 3
#define COUNTED_STEPS 13
#define COUNTED_IN0_OFFSET 0x0120u /* x f32 [2,3] */
#define COUNTED_IN0_BYTES 24u
#define COUNTED_IN0_COUNT 6u
#define COUNTED_IN0_CLOBBERED 0
#define COUNTED_OUT0_OFFSET 0x0060u /* y f32 [6] */
#define COUNTED_OUT0_BYTES 24u
#define COUNTED_OUT0_COUNT 6u
#define COUNTED_OUT0_COUNTED_DIM 0 /* of this dimension only the first elements have a meaning: */
#define COUNTED_OUT0_COUNTED_BY 2  /* as many as this output, one number, says */
#define COUNTED_OUT1_OFFSET 0x0000u /* i i64 [2,6] */
#define COUNTED_OUT1_BYTES 96u
#define COUNTED_OUT1_COUNT 12u
#define COUNTED_OUT1_COUNTED_DIM 1 /* of this dimension only the first elements have a meaning: */
#define COUNTED_OUT1_COUNTED_BY 2  /* as many as this output, one number, says */
#define COUNTED_OUT2_OFFSET 0x0140u /* y_count i64 [] */
#define COUNTED_OUT2_BYTES 8u
#define COUNTED_OUT2_COUNT 1u

typedef struct counted_mem { /* one pointer for each memory of the plan */
    void *arena;         /* COUNTED_ARENA_BYTES, aligned to COUNTED_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
} counted_mem;

static inline float *counted_in0(const counted_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + COUNTED_IN0_OFFSET);
}
static inline const float *counted_out0(const counted_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + COUNTED_OUT0_OFFSET);
}
static inline const int64_t *counted_out1(const counted_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + COUNTED_OUT1_OFFSET);
}
static inline const int64_t *counted_out2(const counted_mem *m)
{
    return (const int64_t *)(const void *)((const uint8_t *)m->arena + COUNTED_OUT2_OFFSET);
}

enum { COUNTED_OK = 0, COUNTED_EALIGN = 1, COUNTED_EDIM = 2, COUNTED_EWEIGHTS = 3, COUNTED_EINDEX = 4 };
int counted_init(const counted_mem *m); /* checks alignment */
int counted_run(const counted_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
