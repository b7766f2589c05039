/* attention.h - attention on a GPU as one kernel, without scores in memory.
 *
 * A block computes 8 rows of queries of a group, which see the same keys. attention_whole.c: all keys and values of the
 * group are copied to shared memory at once. attention.c: if they do not fit, keys pass through shared memory in tiles
 * of 64 or 128, then the values; the scores of a span of keys stay there, all keys if they fit. With several spans, the
 * maximum, the sum of weights and the weighted values of the spans before are brought to the new maximum (e^(old -
 * new)) at each one.
 *
 * Order of sums, for each row: a score is one fma after another over the columns, then times scale. The sum of weights:
 * lane g of 16 (whole: of 64) adds keys g, g + 16, ..; the lanes of a warp add by halves; then the warps in order.
 * Values: each of 1 to 64 slices adds keys s, s + slices, .., one fma after another; slices in order; times 1 / sum. */
#ifndef AC_IR_LOWER_GPU_ATTENTION_H
#define AC_IR_LOWER_GPU_ATTENTION_H
#include "ir/lower/gpu/attend.h"

/* True if the target is a GPU and columns are at most 256. */
bool ac_gpu_attention_fits(const ac_attend *v);
int ac_gpu_attention_tiles(ac_attend *v); /* v: open */

#endif
