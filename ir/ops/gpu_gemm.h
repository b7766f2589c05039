/* gpu_gemm.h - convolutions and products of matrices on a GPU: tiles in shared memory, accumulators in registers.
 *
 *     rows p: output pixels (or rows of x)        columns: output channels        reduction k: filter rows, columns,
 * channels
 *
 * A block makes bm x bn results. The reduction goes in steps of 16 units (a float, or four bytes): the threads bring a
 * step of x (as the filter meets it, nothing is unfolded in memory) and of the weights into shared memory, wait, and
 * multiply; each holds tm x tn accumulators. Weights are packed [k][channel] and padded at compile time, so their loads
 * are whole vectors without a test. f32 sums in the order of k, one fma after another; i8 by DOT4, exact. The epilogue
 * runs on the accumulators. */
#ifndef AC_IR_OPS_GPU_GEMM_H
#define AC_IR_OPS_GPU_GEMM_H
#include "ir/ops/channel.h"
#include "ir/ops/window.h"

/* Is it for a GPU, in a number system and of a size that tiles are for? */
bool gpu_gemm_fits(const ac_lower *L, const ac_channel *c, int64_t rows, int64_t depth, int64_t run);
int gpu_conv(ac_lower *L, ac_channel *c, const ac_window *win);        /* c->x [N,H,W,C], no groups */
int gpu_rows(ac_lower *L, ac_channel *c, int64_t rows, int64_t depth); /* c->x as [rows, depth]; weights [n, depth] */

#endif
