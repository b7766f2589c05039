/* compose_einsum.h - Einstein sums (build.h).
 *
 *     ac_build_einsum(&b, "bqhd,bkhd->bhqk", x, 2, &reason)
 *
 * Each label is a dimension; labels that the result does not name are summed over. Operands are joined from left to
 * right, two at a time; each step keeps the labels that are needed later. Two operands that make a product of matrices
 * become transpose, reshape, batch_matmul (fully_connected of constants), reshape, transpose; all else our einsum.
 * 1 to 8 operands, labels a-z A-Z, an ellipsis (its dimensions broadcast), a label twice (a diagonal), no "->" (then
 * the labels that occur once, in the order of ASCII).
 * NULL: *reason says what is not supported, and nothing is reported; or *reason is NULL, and it is reported (E0103 for
 * an equation that does not fit) or an operand is NULL. */
#ifndef AC_IMPORT_BUILD_COMPOSE_EINSUM_H
#define AC_IMPORT_BUILD_COMPOSE_EINSUM_H
#include "import/build/build.h"

ac_tensor *ac_build_einsum(const ac_build *b, const char *equation, ac_tensor *const *x, int32_t n,
                           const char **reason);

#endif
