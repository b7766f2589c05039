 * arena 176 B, optimal. Safe to call from several threads with distinct arenas. */
#ifndef M_H
#define M_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define M_ARENA_BYTES 176u
#define M_ARENA_ALIGN 16u
#define M_STATE_BYTES 0u
#define M_STACK_BYTES 208u /* of m_run: an estimate, measure before you rely on it */
#define M_INPUTS 1
#define M_OUTPUTS 1
#define M_STEPS 1
/* x f32 [1,6,4,1], streamed row by row */
#define M_IN0_ROWS 6u
#define M_IN0_ROW_BYTES 16u
#define M_IN0_ROW_OFFSET 0x0090u /* where each of them is put */
#define M_IN0_BYTES 96u
#define M_IN0_COUNT 24u
#define M_IN0_CLOBBERED 0
#define M_OUT0_OFFSET 0x0040u /* b f32 [1,3,2,2] */
#define M_OUT0_BYTES 48u
#define M_OUT0_COUNT 12u

typedef struct m_mem { /* one pointer for each memory of the plan */
    void *arena;         /* M_ARENA_BYTES, aligned to M_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
} m_mem;

static inline float *m_in0_row(const m_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + M_IN0_ROW_OFFSET);
}
static inline const float *m_out0(const m_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + M_OUT0_OFFSET);
}

enum { M_OK = 0, M_EALIGN = 1, M_EDIM = 2, M_EWEIGHTS = 3, M_EINDEX = 4 };
int m_init(const m_mem *m); /* checks alignment */
/* Write row `row` of input 0 to m_in0_row(m), then call this: row 0, row 1 ... row M_IN0_ROWS - 1. After the
 * last one the outputs are there. No heap, no globals written, bounded loops. */
int m_run_row(const m_mem *m, uint32_t row);
/* The same for all rows: fill writes row `row`, M_IN0_ROW_BYTES, to `to`. */
int m_run(const m_mem *m, void (*fill)(void *user, uint32_t row, float *to), void *user);

#ifdef __cplusplus
}
#endif
#endif
