/* compose_bounded.h - operators that several formats have and one of whose sizes may be computed at run time
 * (bounds.h), as nodes. `result`: the name that --bound calls it. AC_FAIL, NULL: reported, or refused. */
#ifndef AC_IMPORT_BUILD_COMPOSE_BOUNDED_H
#define AC_IMPORT_BUILD_COMPOSE_BOUNDED_H
#include "import/build/cuts.h"

/* v[0] + i * v[2] for all i before v[1], numbers of one type. Where all are known the result is a constant. */
int ac_make_range(const ac_maker *b, ac_tensor **v, const char *result, ac_tensor **out);

/* x in the shape that the list *size says, one of whose sizes may be computed: a 1 of x gives way. */
int ac_make_late_broadcast(const ac_maker *b, ac_tensor *x, ac_tensor **size, const char *result, ac_tensor **out);

/* x in the shape that the list *size says, one of whose sizes may be the number of elements of x that have a meaning; a
 * 0 keeps x's size if `keep`. */
int ac_make_late_reshape(const ac_maker *b, ac_tensor *x, ac_tensor **size, bool keep, ac_tensor **out);

/* The greatest *k along the last dimension, in falling order, and where they were (i32); k may be computed. */
int ac_make_top_k(const ac_maker *b, ac_tensor *x, ac_tensor **k, ac_tensor *out[2]);

/* An element of a list, as it was before it was cast, given another shape or joined with others. */
typedef struct ac_late_number {
    bool known;
    int64_t value;
    ac_tensor *t; /* not known: a scalar of integers; NULL: reported */
} ac_late_number;
ac_late_number ac_late_number_at(const ac_maker *b, ac_tensor *list, int64_t i);
ac_tensor *ac_late_tensor(const ac_maker *b, const ac_late_number *n); /* i64 scalar */
/* last - first, where both are computed from one and the same number; false: unknown. */
bool ac_late_distance(const ac_maker *b, const ac_late_number *first, const ac_late_number *last, int64_t *d);
/* x + y, where what is computed in one is taken off in the other, or both are known; false: unknown. */
bool ac_late_sum(const ac_maker *b, const ac_late_number *x, const ac_late_number *y, int64_t *sum);

/* Elements of dimension d of x from `begin` on, a scalar of integers; below 0: from the end on. */
ac_tensor *ac_make_late_index(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *begin); /* one, without d */
/* `size` of them, as far inside of x as that is possible. */
ac_tensor *ac_make_late_window(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *begin, int64_t size);
/* Up to `end`: counted, as long as x is or --bound says; of x that is counted there, of what has a meaning. */
ac_tensor *ac_make_late_slice(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *begin, ac_tensor *end,
                              const char *result);
/* Elements begin .. end - 1 of the valid elements of x, along its dynamically sized dimension. Negative positions count
 * from the end of the valid elements; positions past the end are clamped. The result is dynamically sized as well. */
ac_tensor *ac_make_counted_slice(const ac_maker *b, ac_tensor *x, int64_t begin, int64_t end);

/* updates.c: the concatenation of part[0 .. n), as an update in place if the parts are a whole tensor with one part
 * replaced. NULL: they are not, or an error was reported. */
ac_tensor *ac_make_updated(const ac_maker *b, ac_tensor *const *part, int32_t n, int32_t axis);

#endif
