/* compose_einsum.h - composes Einstein sums (maker.h).
 *
 *     ac_make_einsum(&b, "bqhd,bkhd->bhqk", x, 2, &reason)
 *
 * Each label is a dimension; labels that the result does not name are summed over. Operands are joined from left to
 * right, two at a time; each step keeps the labels that later terms need. A product of two matrices becomes transpose,
 * reshape, batch_matmul (fully_connected of constants), reshape, transpose; any other product becomes our einsum.
 * Accepts 1 to 8 operands, labels a-z A-Z, an ellipsis (its dimensions broadcast), a repeated label (a diagonal), and
 * an equation without "->": the result then has the labels that occur once, in the order of ASCII.
 * NULL: *reason is why the equation is not supported, and nothing is reported; or *reason is NULL, and either an error
 * was reported (E0103 for an equation that does not fit) or an operand is NULL. */
#ifndef AC_IR_MAKE_COMPOSE_EINSUM_H
#define AC_IR_MAKE_COMPOSE_EINSUM_H
#include "ir/make/maker.h"

ac_tensor *ac_make_einsum(const ac_maker *b, const char *equation, ac_tensor *const *x, int32_t n, const char **reason);

#endif
