 * arena 20 B, optimal. Safe to call from several threads with distinct arenas. */
#ifndef STATE_H
#define STATE_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define STATE_ARENA_BYTES 20u
#define STATE_ARENA_ALIGN 16u
#define STATE_STATE_BYTES 24u
#define STATE_STACK_BYTES 160u /* of state_run: an estimate, measure before you rely on it */
#define STATE_INPUTS 1
#define STATE_OUTPUTS 1
#define STATE_STEPS 1
#define STATE_IN0_OFFSET 0x0000u /* x f32 [1,2] */
#define STATE_IN0_BYTES 8u
#define STATE_IN0_COUNT 2u
#define STATE_IN0_CLOBBERED 0
#define STATE_OUT0_OFFSET 0x0010u /* y f32 [1,1] */
#define STATE_OUT0_BYTES 4u
#define STATE_OUT0_COUNT 1u
/* state 0x0000: s f32 [1,6] */

typedef struct state_mem { /* one pointer for each memory of the plan */
    void *arena;         /* STATE_ARENA_BYTES, aligned to STATE_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
    void *state;         /* STATE_STATE_BYTES, aligned as the arena; kept between runs */
} state_mem;

static inline float *state_in0(const state_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + STATE_IN0_OFFSET);
}
static inline const float *state_out0(const state_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + STATE_OUT0_OFFSET);
}

enum { STATE_OK = 0, STATE_EALIGN = 1, STATE_EDIM = 2, STATE_EWEIGHTS = 3, STATE_EINDEX = 4 };
int state_init(const state_mem *m); /* checks alignment, sets state to its first value */
int state_run(const state_mem *m);  /* no heap, no globals written, bounded loops */
void state_reset(const state_mem *m); /* state as after init */

#ifdef __cplusplus
}
#endif
#endif
