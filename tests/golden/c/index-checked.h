 * arena 56 B, optimal. Safe to call from several threads with distinct arenas. */
#ifndef INDEX_CHECKED_H
#define INDEX_CHECKED_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define INDEX_CHECKED_ARENA_BYTES 56u
#define INDEX_CHECKED_ARENA_ALIGN 16u
#define INDEX_CHECKED_STATE_BYTES 0u
#define INDEX_CHECKED_STACK_BYTES 144u /* of index_checked_run: an estimate, measure before you rely on it */
#define INDEX_CHECKED_INPUTS 2
#define INDEX_CHECKED_OUTPUTS 1
#define INDEX_CHECKED_STEPS 1
#define INDEX_CHECKED_IN0_OFFSET 0x0000u /* x f32 [4,2] */
#define INDEX_CHECKED_IN0_BYTES 32u
#define INDEX_CHECKED_IN0_COUNT 8u
#define INDEX_CHECKED_IN0_CLOBBERED 0
#define INDEX_CHECKED_IN1_OFFSET 0x0030u /* i i32 [2] */
#define INDEX_CHECKED_IN1_BYTES 8u
#define INDEX_CHECKED_IN1_COUNT 2u
#define INDEX_CHECKED_IN1_CLOBBERED 0
#define INDEX_CHECKED_OUT0_OFFSET 0x0020u /* y f32 [2,2] */
#define INDEX_CHECKED_OUT0_BYTES 16u
#define INDEX_CHECKED_OUT0_COUNT 4u

typedef struct index_checked_mem { /* one pointer for each memory of the plan */
    void *arena;         /* INDEX_CHECKED_ARENA_BYTES, aligned to INDEX_CHECKED_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
} index_checked_mem;

static inline float *index_checked_in0(const index_checked_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + INDEX_CHECKED_IN0_OFFSET);
}
static inline int32_t *index_checked_in1(const index_checked_mem *m)
{
    return (int32_t *)(void *)((uint8_t *)m->arena + INDEX_CHECKED_IN1_OFFSET);
}
static inline const float *index_checked_out0(const index_checked_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + INDEX_CHECKED_OUT0_OFFSET);
}

enum { INDEX_CHECKED_OK = 0, INDEX_CHECKED_EALIGN = 1, INDEX_CHECKED_EDIM = 2, INDEX_CHECKED_EWEIGHTS = 3, INDEX_CHECKED_EINDEX = 4 };
int index_checked_init(const index_checked_mem *m); /* checks alignment */
int index_checked_run(const index_checked_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
