/* vector.h - products of few rows by constant weights on a GPU: a warp for each result, whose lanes share the sum.
 *
 * For fully_connected, and for convolutions that are the same product: of 1x1, or with filters as large as the
 * input. */
#ifndef AC_IR_LOWER_GPU_VECTOR_H
#define AC_IR_LOWER_GPU_VECTOR_H
#include "ir/lower/channel.h"
#include "ir/lower/gpu/norm.h"

/* True if the target is a GPU, and types, depth and alignment fit. */
bool ac_gpu_vector_fits(const ac_lower *L, const ac_channel *c, int64_t rows, int64_t depth);
/* c->x as [rows, depth], weights [n, depth], the result [.., n] with as many rows. norm: rows of x are normalised by
 * it; NULL: they are multiplied as they are. */
int ac_gpu_vector(ac_lower *L, ac_channel *c, ac_gpu_norm *norm, int64_t rows, int64_t depth);

#endif
