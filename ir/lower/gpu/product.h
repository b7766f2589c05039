/* product.h - lowers convolutions and matrix products for a GPU: tiles in shared memory, accumulators in registers.
 *
 *     rows p: output pixels, rows of x    columns: output channels, columns of y    reduction k: filter rows, columns,
 * channels
 *
 * A block computes bm x bn results. The reduction has steps of 16 words (a float, or four bytes): the threads load a
 * step of x (gathered directly, without an im2col buffer) and of the weights into shared memory, wait, and multiply;
 * each holds tm x tn accumulators. Constant weights are packed [k][channel] and padded at compile time, so their loads
 * are whole vectors without a test. f32 sums in the order of k, one fma after another; i8 by DOT4, or by tensor cores
 * from compute capability 8.0 on, both exact; floats by tensor cores if hint.tensor selects them. The epilogue runs on
 * the accumulators. Groups of a convolution and batches of matrices are further blocks. */
#ifndef AC_IR_LOWER_GPU_PRODUCT_H
#define AC_IR_LOWER_GPU_PRODUCT_H
#include "ir/lower/channel.h"
#include "ir/lower/gpu/norm.h"
#include "ir/lower/window.h"

struct ac_excite;

/* True if the target is a GPU and the tiles support the number system and size: `many` products [rows, n] over depth.
 * Weights may be computed only with AC_ROUND_MATMUL. */
bool ac_gpu_gemm_fits(const ac_lower *L, const ac_channel *c, int64_t many, int64_t rows, int64_t n, int64_t depth);
int ac_gpu_conv(ac_lower *L, ac_channel *c, const ac_window *win, int64_t groups); /* c->x [N,H,W,C] */
/* c->x as [rows, depth]; weights [n, depth]. norm: rows of x are normalised by it, if they fit; NULL: they are not. */
int ac_gpu_rows(ac_lower *L, ac_channel *c, ac_gpu_norm *norm, int64_t rows, int64_t depth);
bool ac_gpu_norm_rows_fits(const ac_lower *L, const ac_channel *c, int64_t rows, int64_t depth);
/* The same of x times a gate [images, depth], f32; an image has `image` rows. fits: it may be done. */
bool ac_gpu_gated_fits(const ac_lower *L, const ac_channel *c, int64_t image, int64_t rows, int64_t depth);
int ac_gpu_gated_rows(ac_lower *L, ac_channel *c, ac_tensor *gate, int64_t image, int64_t rows, int64_t depth);
/* The same; each block computes the gates that it needs, of one image of `image` rows. */
bool ac_gpu_excited_fits(const ac_lower *L, const ac_channel *c, const struct ac_excite *e, int64_t image);
int ac_gpu_excited_rows(ac_lower *L, ac_channel *c, const struct ac_excite *e, int64_t image);
/* batch_matmul: c->w is the right side. */
int ac_gpu_matrices(ac_lower *L, ac_channel *c, bool adj_x, bool adj_y, int64_t depth);

#endif
