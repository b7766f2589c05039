 * arena 32 B, optimal; input 'int' overwritten by m3rd_net_run. Safe to call from several threads with distinct arenas. */
#ifndef M3RD_NET_H
#define M3RD_NET_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define M3RD_NET_ARENA_BYTES 32u
#define M3RD_NET_ARENA_ALIGN 64u
#define M3RD_NET_STATE_BYTES 0u
#define M3RD_NET_STACK_BYTES 160u /* of m3rd_net_run: an estimate, measure before you rely on it */
#define M3RD_NET_INPUTS 1
#define M3RD_NET_OUTPUTS 1
#define M3RD_NET_STEPS 2
#define M3RD_NET_IN0_OFFSET 0x0010u /* int f32 [4] */
#define M3RD_NET_IN0_BYTES 16u
#define M3RD_NET_IN0_COUNT 4u
#define M3RD_NET_IN0_CLOBBERED 1
#define M3RD_NET_OUT0_OFFSET 0x0010u /* 2nd f32 [4] */
#define M3RD_NET_OUT0_BYTES 16u
#define M3RD_NET_OUT0_COUNT 4u

typedef struct m3rd_net_mem { /* one pointer for each memory of the plan */
    void *arena;         /* M3RD_NET_ARENA_BYTES, aligned to M3RD_NET_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
} m3rd_net_mem;

static inline float *m3rd_net_in0(const m3rd_net_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + M3RD_NET_IN0_OFFSET);
}
static inline const float *m3rd_net_out0(const m3rd_net_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + M3RD_NET_OUT0_OFFSET);
}

enum { M3RD_NET_OK = 0, M3RD_NET_EALIGN = 1, M3RD_NET_EDIM = 2, M3RD_NET_EWEIGHTS = 3, M3RD_NET_EINDEX = 4 };
int m3rd_net_init(const m3rd_net_mem *m); /* checks alignment */
int m3rd_net_run(const m3rd_net_mem *m);  /* no heap, no globals written, bounded loops */

#ifdef __cplusplus
}
#endif
#endif
