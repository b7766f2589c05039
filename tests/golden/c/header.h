 * arena 32 B, optimal; input 'x', 'y' overwritten by pair_run. Safe to call from several threads with distinct arenas. */
#ifndef PAIR_H
#define PAIR_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define PAIR_ARENA_BYTES 32u
#define PAIR_ARENA_ALIGN 64u
#define PAIR_STATE_BYTES 0u
#define PAIR_STACK_BYTES 160u /* of pair_run: an estimate, measure before you rely on it */
#define PAIR_INPUTS 2
#define PAIR_OUTPUTS 1
#define PAIR_STEPS 2
#define PAIR_IN0_OFFSET 0x0010u /* x f32 [4] */
#define PAIR_IN0_BYTES 16u
#define PAIR_IN0_COUNT 4u
#define PAIR_IN0_CLOBBERED 1
#define PAIR_IN1_OFFSET 0x0000u /* y f32 [4] */
#define PAIR_IN1_BYTES 16u
#define PAIR_IN1_COUNT 4u
#define PAIR_IN1_CLOBBERED 1
#define PAIR_OUT0_OFFSET 0x0010u /* s f32 [4] */
#define PAIR_OUT0_BYTES 16u
#define PAIR_OUT0_COUNT 4u

typedef struct pair_mem { /* one pointer for each memory of the plan */
    void *arena;         /* PAIR_ARENA_BYTES, aligned to PAIR_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
} pair_mem;

static inline float *pair_in0(const pair_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + PAIR_IN0_OFFSET);
}
static inline float *pair_in1(const pair_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + PAIR_IN1_OFFSET);
}
static inline const float *pair_out0(const pair_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + PAIR_OUT0_OFFSET);
}

enum { PAIR_OK = 0, PAIR_EALIGN = 1, PAIR_EDIM = 2, PAIR_EWEIGHTS = 3, PAIR_EINDEX = 4 };
int pair_init(const pair_mem *m); /* checks alignment */
int pair_run(const pair_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
