/* norm.h - rows of a product's operand that a block brings to mean 0 and variance 1 before it multiplies them.
 *
 * Each warp computes some rows, or several warps share one, in registers: mean, then the mean of squared differences,
 * then (x - mean) * (1 / sqrt(variance + epsilon)) * gain + shift, rounded, into shared memory.
 *
 * Order of a sum: lane l of w warps adds pieces l, l + 32 w, .. of up to four neighbours, place by place; then the
 * places by halves; then lanes ^ 16, 8, 4, 2, 1; then warps, one after another. */
#ifndef AC_IR_LOWER_GPU_NORM_H
#define AC_IR_LOWER_GPU_NORM_H
#include "ir/lower/lower.h"

enum { AC_GPU_NORM_MOST = 4096 }; /* elements of a row */

typedef struct ac_gpu_norm {
    ac_lower *L;
    ac_tensor *x, *gain, *shift; /* x [.., depth]; gain, shift [depth] or NULL */
    double epsilon;
    bool center;   /* else the mean counts as 0 */
    ac_dtype type; /* to which results are rounded */
    int64_t depth; /* elements of a row */
    int64_t all;   /* rows of x */
    int32_t kept;  /* buffer of all normalised rows, which blocks store as well; -1: none */

    int32_t rows, threads;              /* of a block */
    int32_t share, chunk;               /* warps that share a row; rows of a warp at once */
    int32_t wide, pieces;               /* elements of a load; loads of a lane for a row */
    int32_t x_buf, gain_buf, shift_buf; /* -1: none */
    int32_t held, part[2];              /* registers: elements, sums */
    int32_t scale[2];                   /* ... the lane's gains and shifts; -1: none */
    int32_t of_warp;                    /* shared memory: sums of warps, if they share rows */
} ac_gpu_norm;

/* Sizes and buffers for blocks of `threads` that compute `rows` rows each; the fields before are set. */
void ac_gpu_norm_open(ac_gpu_norm *n, int32_t rows, int32_t threads);
/* In a grid loop: rows first .. (the last one again after the end) to shared memory: element c of row r at r * pitch +
 * c; zeros from depth to padded, which is at most 32 more. left: groups of late stores that may be under way then,
 * besides an empty one; -1: phases make no groups. keeps: true in blocks that store the rows in
 * `kept`. */
void ac_gpu_norm_rows(const ac_gpu_norm *n, ac_x first, int32_t to, int32_t pitch, int32_t padded, int32_t left,
                      ac_x keeps);

#endif
