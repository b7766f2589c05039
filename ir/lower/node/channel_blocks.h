/* channel_blocks.h - finds out whether a step can compute its results in blocks of channels, one after the other, so
 * that only the weights of a block need to be in RAM.
 *
 *     for p { gather; for oc in 0 .. 64 { ..w[oc]..  out[p][oc] = .. } }
 *  =>
 *     for block { for p { gather; for oc in the block { ..w[oc]..  out[p][oc] = .. } } }
 *
 * All else is done again for each block. The results are the same if everything that a block reads was written by
 * itself or outside of the loops over channels: this is checked by running the function with integers alone, in the
 * smallest blocks, which also gives the elements of each constant that a block reads. False where a bound, a condition
 * or an address depends on data, or after 2^25 instructions. */
#ifndef AC_IR_LOWER_NODE_CHANNEL_BLOCKS_H
#define AC_IR_LOWER_NODE_CHANNEL_BLOCKS_H
#include "ir/loop/access/part.h"

typedef struct ac_channel_blocks {
    const bool *split; /* by instruction: a FOR over channels */
    int64_t channels;
    int32_t n, unit; /* smallest blocks; channels of one */
    ac_span **read;  /* [buffer][smallest block]: of constants; lo == hi: nothing */
    bool *whole;     /* by buffer: code outside of the loops over channels reads it */
} ac_channel_blocks;

bool ac_channel_blocks_of(ac_region *region, const ac_loop_fn *fn, ac_channel_blocks *out);
/* n blocks of a constant are `size` elements each, `by` apart, the first from *from on; false: they differ. */
bool ac_channel_blocks_even(const ac_channel_blocks *v, int32_t buf, int32_t n, int64_t *from, int64_t *by,
                            int64_t *size);

#endif
