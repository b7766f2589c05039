/* compose_moves.h - composes moves of elements from canonical operators (maker.h): shapes are known. NULL gives NULL; a
 * move that changes nothing makes no node. */
#ifndef AC_IR_MAKE_COMPOSE_MOVES_H
#define AC_IR_MAKE_COMPOSE_MOVES_H
#include "ir/make/maker.h"

ac_tensor *ac_make_reshape_like(const ac_maker *b, ac_tensor *x, const ac_tensor *like);
ac_tensor *ac_make_swapped(const ac_maker *b, ac_tensor *x); /* its last two dimensions */
/* Elements begin .. begin + size - 1 along `axis`. */
ac_tensor *ac_make_part(const ac_maker *b, ac_tensor *x, int32_t axis, int64_t begin, int64_t size);
/* The elements of x along `axis` whose indices are `at`, in place of that dimension. */
ac_tensor *ac_make_gather(const ac_maker *b, ac_tensor *x, int32_t axis, ac_tensor *at);
/* Zeros before and after each dimension; below 0: that many elements are removed. */
ac_tensor *ac_make_pad_or_crop(const ac_maker *b, ac_tensor *x, const int64_t *before, const int64_t *after);
ac_tensor *ac_make_reverse(const ac_maker *b, ac_tensor *x, int32_t axis);
/* bool [rows,cols]: true where from <= column - row <= to. Two lists of numbers and comparisons: no table. */
ac_tensor *ac_make_band(const ac_maker *b, int64_t rows, int64_t cols, int64_t from, int64_t to);
/* step - 1 zeros between any two elements along `axis`. */
ac_tensor *ac_make_spread(const ac_maker *b, ac_tensor *x, int32_t axis, int64_t step);

#endif
