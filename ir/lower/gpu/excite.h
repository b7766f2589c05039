/* excite.h - squeeze-and-excitation on a GPU: mean and both products in one launch for all images.
 *
 * From compute capability 9.0 on up to 8 blocks of a cluster share an image: each has a span of channels, makes their
 * means and their part of the hidden sums, which it gives to all blocks; then each has a span of the results. */
#ifndef AC_IR_LOWER_GPU_EXCITE_H
#define AC_IR_LOWER_GPU_EXCITE_H
#include "ir/lower/lower.h"
#include "ir/ops/decode/excite.h"

bool ac_gpu_excite_fits(const ac_lower *L, const ac_excite *e);
int ac_gpu_excite(ac_lower *L, const ac_excite *e);

#endif
