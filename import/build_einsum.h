/* build_einsum.h - Einstein sums as matrix products (build.h).
 *
 *     ac_build_einsum(&b, "bqhd,bkhd->bhqk", x, 2, &reason)
 *
 * Each label is a dimension; labels that the result does not name are summed over. Two operands at a time become
 *     transpose, reshape to [batch, rows, inner] and [batch, columns, inner], batch_matmul, reshape, transpose.
 * Supported: one or more operands, labels a-z A-Z, an ellipsis, no "->" (then the labels that occur once, in the order
 * of the alphabet). A label twice in one operand is not: *reason says so, and nothing is reported. NULL with *reason
 * NULL: reported, or an operand is NULL. */
#ifndef AC_IMPORT_BUILD_EINSUM_H
#define AC_IMPORT_BUILD_EINSUM_H
#include "import/build.h"

ac_tensor *ac_build_einsum(const ac_build *b, const char *equation, ac_tensor *const *x, int32_t n,
                           const char **reason);

#endif
