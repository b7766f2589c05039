 * tcm 1,024 B (optimal for what it holds), big 1,024 B (optimal for what it holds); input 'x' overwritten by memories_run. Safe to call from several threads with distinct memories. */
#ifndef MEMORIES_H
#define MEMORIES_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define MEMORIES_TCM_BYTES 1024u
#define MEMORIES_TCM_ALIGN 64u
#define MEMORIES_BIG_BYTES 1024u
#define MEMORIES_BIG_ALIGN 64u
#define MEMORIES_BIG_ADDR 0x60000000u /* as --mem gives it */
#define MEMORIES_STATE_BYTES 0u
#define MEMORIES_STACK_BYTES 160u /* of memories_run: an estimate, measure before you rely on it */
#define MEMORIES_INPUTS 1
#define MEMORIES_OUTPUTS 1
#define MEMORIES_STEPS 2
#define MEMORIES_IN0_OFFSET 0x0000u /* x f32 [1,8,8,4] in tcm */
#define MEMORIES_IN0_BYTES 1024u
#define MEMORIES_IN0_COUNT 256u
#define MEMORIES_IN0_CLOBBERED 1
#define MEMORIES_OUT0_OFFSET 0x0000u /* b f32 [1,8,8,4] in big */
#define MEMORIES_OUT0_BYTES 1024u
#define MEMORIES_OUT0_COUNT 256u

typedef struct memories_mem { /* one pointer for each memory of the plan */
    void *tcm;           /* MEMORIES_TCM_BYTES, aligned to MEMORIES_TCM_ALIGN */
    const void *weights; /* not used: NULL */
    void *big;           /* MEMORIES_BIG_BYTES, aligned to MEMORIES_BIG_ALIGN */
} memories_mem;

static inline float *memories_in0(const memories_mem *m)
{
    return (float *)(void *)((uint8_t *)m->tcm + MEMORIES_IN0_OFFSET);
}
static inline const float *memories_out0(const memories_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->big + MEMORIES_OUT0_OFFSET);
}

enum { MEMORIES_OK = 0, MEMORIES_EALIGN = 1, MEMORIES_EDIM = 2, MEMORIES_EWEIGHTS = 3, MEMORIES_EINDEX = 4 };
int memories_init(const memories_mem *m); /* checks alignment */
int memories_run(const memories_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
