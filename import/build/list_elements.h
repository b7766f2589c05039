/* list_elements.h - elements of lists of sizes, followed back to the nodes that compute them: their values, their
 * bounds, and the counts (counted.h) that they are. */
#ifndef AC_IMPORT_BUILD_LIST_ELEMENTS_H
#define AC_IMPORT_BUILD_LIST_ELEMENTS_H
#include "ir/make/maker.h"

/* A size as a number of elements that is at most `most` and at least 0: i64 scalar. */
ac_tensor *ac_bounded_count(const ac_maker *b, ac_tensor *size, int64_t most);
/* t, one element, is the count of a tensor of which *most elements may have a meaning; NULL: it is not. */
ac_tensor *ac_count_behind(const ac_maker *b, ac_tensor *t, int64_t *most);

/* The same of element i of a list; i < 0: the only one. */
ac_tensor *ac_count_at(const ac_maker *b, ac_tensor *t, int64_t i, int64_t *most);

/* The most that element i of t may be: that of a minimum is that of its least operand, that of a sum of flags their
 * number. -1: unknown. */
int64_t ac_most_of(const ac_maker *b, ac_tensor *t, int64_t i);

/* Element i of list t, as it was before it was cast, given another shape, gathered, cut out or joined with others;
 * i < 0: the only one. The result may have several elements, of which *i is meant. NULL: unknown. */
ac_tensor *ac_list_element(const ac_maker *b, ac_tensor *t, int64_t *i);
/* Element i of a list as a number; false: it is computed. */
bool ac_known_element(const ac_maker *b, ac_tensor *t, int64_t i, double *v);
/* Is an element of t the count of a tensor? What is made as large goes together with that. */
bool ac_is_count(const ac_maker *b, ac_tensor *t);
/* t, counted; a constant becomes one that is 0 where it has no meaning: whoever reads constants knows of no count. */
ac_tensor *ac_bounded(const ac_maker *b, ac_tensor *t, ac_tensor *count, int32_t dim);

#endif
