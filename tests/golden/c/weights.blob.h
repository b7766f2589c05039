 * arena 24 B, optimal. Safe to call from several threads with distinct arenas. */
#ifndef WEIGHTS_H
#define WEIGHTS_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define WEIGHTS_ARENA_BYTES 24u
#define WEIGHTS_ARENA_ALIGN 16u
#define WEIGHTS_STATE_BYTES 0u
#define WEIGHTS_WEIGHTS_BYTES 96u
#define WEIGHTS_STACK_BYTES 144u /* of weights_run: an estimate, measure before you rely on it */
#define WEIGHTS_INPUTS 1
#define WEIGHTS_OUTPUTS 1
#define WEIGHTS_STEPS 1
#define WEIGHTS_IN0_OFFSET 0x0000u /* x f32 [1,4] */
#define WEIGHTS_IN0_BYTES 16u
#define WEIGHTS_IN0_COUNT 4u
#define WEIGHTS_IN0_CLOBBERED 0
#define WEIGHTS_OUT0_OFFSET 0x0010u /* y f32 [1,2] */
#define WEIGHTS_OUT0_BYTES 8u
#define WEIGHTS_OUT0_COUNT 2u

typedef struct weights_mem { /* one pointer for each memory of the plan */
    void *arena;         /* WEIGHTS_ARENA_BYTES, aligned to WEIGHTS_ARENA_ALIGN */
    const void *weights; /* the blob: WEIGHTS_WEIGHTS_BYTES, aligned to 64 */
} weights_mem;

static inline float *weights_in0(const weights_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + WEIGHTS_IN0_OFFSET);
}
static inline const float *weights_out0(const weights_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + WEIGHTS_OUT0_OFFSET);
}

enum { WEIGHTS_OK = 0, WEIGHTS_EALIGN = 1, WEIGHTS_EDIM = 2, WEIGHTS_EWEIGHTS = 3, WEIGHTS_EINDEX = 4 };
int weights_init(const weights_mem *m); /* checks alignment and the blob's magic */
int weights_run(const weights_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
