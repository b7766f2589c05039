/* bounds.h - sizes that are computed at run time. A result is then as long as it may become, which follows from the
 * model or is said (--bound NAME=N, NAME the result), and is counted (counted.h).
 *
 *     ac_late_sizes s;
 *     AC_TRY(ac_late_sizes_of(b, &n->in[1], result, &s));              [2, n, 8], n computed: dim {2, N, 8}, at 1
 *     ... make it as large as s.dim ...
 *     return ac_bounded(b, y, s.count, s.at); */
#ifndef AC_IMPORT_BUILD_BOUNDS_H
#define AC_IMPORT_BUILD_BOUNDS_H
#include "ir/make/maker.h"

/* The number that --bound gives for a result; -1: none. */
int64_t ac_bound_of(const ac_maker *b, const char *result);
/* Refuses: how long `result` becomes is computed from t, and nothing bounds it. AC_FAIL */
int ac_bound_missing(const ac_maker *b, const ac_tensor *t, const char *result);
/* E0501 for each --bound that no result of the model is meant by. */
int ac_bounds_met(const ac_maker *b);

/* A size as a number of elements that is at most `most` and at least 0: i64 scalar. */
ac_tensor *ac_bounded_count(const ac_maker *b, ac_tensor *size, int64_t most);
/* t, one element, is the count of a tensor of which *most elements may have a meaning; NULL: it is not. */
ac_tensor *ac_count_behind(const ac_maker *b, ac_tensor *t, int64_t *most);

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

typedef struct ac_late_sizes {
    int32_t n, at; /* at: that which is computed; -1: all are known */
    int64_t dim[AC_MAX_RANK];
    ac_tensor *count; /* NULL: all are known */
} ac_late_sizes;

/* The sizes that *t lists, of which one may be computed. AC_FAIL: refused, or reported. */
int ac_late_sizes_of(const ac_maker *b, ac_tensor **t, const char *result, ac_late_sizes *s);

#endif
