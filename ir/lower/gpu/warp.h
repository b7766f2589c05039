/* warp.h - uses a warp for each result (a row of softmax, an output of a product of a vector): its 32 lanes share a sum
 * or a maximum by shuffles, without shared memory and without a barrier.
 *
 *     ac_gpu_warps w;
 *     ac_gpu_warps_open(&w, L, rows, columns, AC_F32);
 *     ac_gpu_warps_phase(&w);                   w.item, w.lane, w.live (false: w.item is the last one again)
 *     ...ac_gpu_warps_put(&w, v);
 *     ac_gpu_warps_end(&w);
 *     ac_gpu_warps_reduce(&w, ac_lb_max);            the same value in all lanes
 *     ac_gpu_warps_phase(&w);
 *     max = ac_gpu_warps_get(&w);
 *     ...
 *     ac_gpu_warps_end(&w);
 *     ac_gpu_warps_close(&w);
 *
 * The order of a float sum is not that of a plain loop: do not use it with L->exact. */
#ifndef AC_IR_LOWER_GPU_WARP_H
#define AC_IR_LOWER_GPU_WARP_H
#include "ir/lower/lower.h"

enum { GPU_LANES = 32 }; /* of a warp */

/* Threads of a block with a warp for each of n results of `each` elements: for few of them as many as blocks of other
 * small steps have, since a cluster may run all of these (codegen/join/clusters.h). */
static inline int32_t ac_gpu_warps_threads(int64_t n, int64_t each)
{
    enum { WARPS = 4, FEW = 64, FEW_ELEMENTS = 1 << 13 };
    const bool few = n <= FEW && n * each <= FEW_ELEMENTS && (n > WARPS || each <= 2 * GPU_LANES);
    return (few ? 2 * WARPS : WARPS) * GPU_LANES;
}

typedef struct ac_gpu_warps {
    ac_lower *L;
    int64_t items;
    int32_t threads; /* of a block */
    int32_t buf[2];  /* of reductions: from one to the other and back */
    ac_x g, t, item, lane, live;
} ac_gpu_warps;

void ac_gpu_warps_open(ac_gpu_warps *w, ac_lower *L, int64_t items, int64_t each, ac_dtype d);
void ac_gpu_warps_phase(ac_gpu_warps *w);
void ac_gpu_warps_put(ac_gpu_warps *w, ac_x v);
void ac_gpu_warps_end(ac_gpu_warps *w);
void ac_gpu_warps_reduce(ac_gpu_warps *w, ac_x (*op)(ac_lb *b, ac_x x, ac_x y));
ac_x ac_gpu_warps_get(ac_gpu_warps *w);
void ac_gpu_warps_close(ac_gpu_warps *w);

#endif
