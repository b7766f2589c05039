/* warp.h - a warp for each result (a row of softmax, an output of a product of a vector): its 32 lanes share a sum
 * or a maximum by shuffles, without shared memory and without a barrier.
 *
 *     gpu_warps w;
 *     gpu_warps_open(&w, L, rows, AC_F32);
 *     gpu_warps_phase(&w);                     w.item, w.lane; w.live: false in lanes that have no item (they take the
 * last one)
 *     ...gpu_warps_put(&w, v);
 *     gpu_warps_end(&w);
 *     gpu_warps_reduce(&w, lb_max);            the same value in all lanes
 *     gpu_warps_phase(&w);
 *     max = gpu_warps_get(&w);
 *     ...
 *     gpu_warps_end(&w);
 *     gpu_warps_close(&w);
 *
 * The order of a float sum is not that of a plain loop: with L->exact it is not to be used. */
#ifndef AC_IR_LOWER_GPU_WARP_H
#define AC_IR_LOWER_GPU_WARP_H
#include "ir/lower/lower.h"

enum { GPU_LANES = 32 };

typedef struct gpu_warps {
    ac_lower *L;
    int64_t items;
    int32_t buf[2]; /* of reductions: from one to the other and back */
    ac_x g, t, item, lane, live;
} gpu_warps;

void gpu_warps_open(gpu_warps *w, ac_lower *L, int64_t items, ac_dtype d);
void gpu_warps_phase(gpu_warps *w);
void gpu_warps_put(gpu_warps *w, ac_x v);
void gpu_warps_end(gpu_warps *w);
void gpu_warps_reduce(gpu_warps *w, ac_x (*op)(ac_lb *b, ac_x x, ac_x y));
ac_x gpu_warps_get(gpu_warps *w);
void gpu_warps_close(gpu_warps *w);

#endif
