/* clusters.h - several kernels of a GPU as one that a cluster of blocks runs. Each of the kernels is a phase: its
 * blocks are shared by those of the cluster, which wait for each other before the next phase. Activations stay where
 * the plan has them.
 *
 *     for g 0..8 grid                          for g 0..1 grid
 *       for t 0..256 block                       for r 0..8 cluster
 *         ...                            =>        for t 0..256 block
 *     for g 0..20 grid                               ...
 *       for t 0..128 block                       for r 0..8 cluster
 *         ...                                      for v 0..3
 *                                                    if 3 r + v < 20
 *                                                      for t 0..128 block
 *                                                        ...
 *
 * Constants that a kernel first loads into registers are loaded at the end of the phase before, so that they arrive
 * while blocks wait. A kernel whose iterations are threads becomes one block loop of each block; code of one thread
 * is run by the first of the first block. */
#ifndef AC_CODEGEN_JOIN_CLUSTERS_H
#define AC_CODEGEN_JOIN_CLUSTERS_H
#include "codegen/join/gives.h"

/* A tensor that is kept in shared memory: one parameter of a phase stores it. */
typedef struct ac_gpu_kept {
    int32_t phase, param;
    int32_t buf; /* of the joined function: set when it is made */
} ac_gpu_kept;

/* A parameter that is a kept tensor, or elements of it from `at` on; tensor -1: it is in the device's memory. */
typedef struct ac_gpu_flow {
    int32_t tensor;
    int64_t at;
} ac_gpu_flow;

typedef struct ac_gpu_phase {
    const ac_loop_fn *fn;    /* of a step, after grid.c */
    const int32_t *param;    /* by parameter of fn: its number in the joined function */
    const ac_gpu_flow *flow; /* by parameter of fn */
    int32_t level;           /* functions of one level do not wait for each other: none uses what another one stores */
} ac_gpu_phase;

/* True if all kernels of the function can be phases. *lost: about how many cycles longer than on a whole GPU they take,
 * *kernels: their number. */
bool ac_gpu_phase_fits(const ac_loop_fn *fn, int64_t *lost, int32_t *kernels);

/* The function; phases in the order of their levels; like: its parameters. NULL: blocks cannot give each other the kept
 * tensors, or they need more than `shared` bytes of a block. */
ac_loop_fn *ac_gpu_join(ac_region *region, const ac_gpu_phase *phase, int32_t n, const ac_buf *like, int32_t n_params,
                        ac_gpu_kept *kept, int32_t n_kept, int64_t shared, const char *name, const char *note);

#endif
