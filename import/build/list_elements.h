/* list_elements.h - traces elements of lists of sizes back to the nodes that compute them, and returns their values,
 * their upper bounds, and the counts (counted.h) that they equal. */
#ifndef AC_IMPORT_BUILD_LIST_ELEMENTS_H
#define AC_IMPORT_BUILD_LIST_ELEMENTS_H
#include "ir/make/maker.h"

/* size, clamped to 0 .. most: i64 scalar. */
ac_tensor *ac_bounded_count(const ac_maker *b, ac_tensor *size, int64_t most);
/* The count that t, one element, equals; *most: the size of the dimension that it counts. NULL: t is not a count. */
ac_tensor *ac_count_behind(const ac_maker *b, ac_tensor *t, int64_t *most);

/* The same for element i of a list; i < 0: the only one. */
ac_tensor *ac_count_at(const ac_maker *b, ac_tensor *t, int64_t i, int64_t *most);

/* An upper bound of element i of t: for a minimum the smallest bound of its operands, for a sum of flags their number.
 * -1: unknown. */
int64_t ac_most_of(const ac_maker *b, ac_tensor *t, int64_t i);

/* The tensor from which element *i of list t comes through casts, reshapes, gathers, slices and concatenations; sets *i
 * to its index there. *i < 0: the only element. NULL: unknown. */
ac_tensor *ac_list_element(const ac_maker *b, ac_tensor *t, int64_t *i);
/* The value of element i of a list; false: it is computed at run time. */
bool ac_known_element(const ac_maker *b, ac_tensor *t, int64_t i, double *v);
/* True if an element of t is the count of a tensor. A result of that size must get the same count. */
bool ac_is_count(const ac_maker *b, ac_tensor *t);
/* t with a count. A constant becomes a node that is 0 past the valid length, since readers of constants ignore
 * counts. */
ac_tensor *ac_bounded(const ac_maker *b, ac_tensor *t, ac_tensor *count, int32_t dim);

#endif
