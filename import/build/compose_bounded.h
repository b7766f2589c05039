/* compose_bounded.h - composes operators of several formats with a size that may be computed at run time (bounds.h).
 * `result`: the name for --bound. AC_FAIL, NULL: reported, or refused. */
#ifndef AC_IMPORT_BUILD_COMPOSE_BOUNDED_H
#define AC_IMPORT_BUILD_COMPOSE_BOUNDED_H
#include "import/build/cuts.h"

/* The range from v[0] to v[1], exclusive, in steps of v[2], scalars of one type. If all are constant the result is a
 * constant. */
int ac_make_range(const ac_maker *b, ac_tensor **v, const char *result, ac_tensor **out);

/* x broadcast to the sizes in list *size; one may be computed. */
int ac_make_late_broadcast(const ac_maker *b, ac_tensor *x, ac_tensor **size, const char *result, ac_tensor **out);

/* x reshaped to the sizes in list *size; one may be the valid length of x. With `keep` a 0 keeps the size of x. */
int ac_make_late_reshape(const ac_maker *b, ac_tensor *x, ac_tensor **size, bool keep, ac_tensor **out);

/* The *k largest elements along the last dimension, in falling order, and their indices (i32); *k may be computed. */
int ac_make_top_k(const ac_maker *b, ac_tensor *x, ac_tensor **k, ac_tensor *out[2]);

/* An element of a list, traced back through casts, reshapes and concatenations (list_elements.h). */
typedef struct ac_late_number {
    bool known;
    int64_t value;
    ac_tensor *t; /* if not known: a scalar of integers; NULL: reported */
} ac_late_number;
ac_late_number ac_late_number_at(const ac_maker *b, ac_tensor *list, int64_t i);
ac_tensor *ac_late_tensor(const ac_maker *b, const ac_late_number *n); /* i64 scalar */
/* last - first, if both differ from the same run-time value by a constant; false: unknown. */
bool ac_late_distance(const ac_maker *b, const ac_late_number *first, const ac_late_number *last, int64_t *d);
/* x + y, if both are known, or if one adds and the other subtracts the same run-time value; false: unknown. */
bool ac_late_sum(const ac_maker *b, const ac_late_number *x, const ac_late_number *y, int64_t *sum);

/* Slices of dimension d of x from `begin`, a scalar of integers; a negative one counts from the end. */
ac_tensor *ac_make_late_index(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *begin); /* one; removes d */
/* `size` elements; `begin` is clamped so that they are inside x. */
ac_tensor *ac_make_late_window(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *begin, int64_t size);
/* Elements up to `end`, dynamically sized; maximum: the size of x or --bound. Of a dynamically sized x only valid
 * elements. */
ac_tensor *ac_make_late_slice(const ac_maker *b, ac_tensor *x, int32_t d, ac_tensor *begin, ac_tensor *end,
                              const char *result);
/* Elements begin .. end - 1 of the valid elements of x, along its dynamically sized dimension. Negative positions count
 * from the end of the valid elements; positions past the end are clamped. The result is dynamically sized as well. */
ac_tensor *ac_make_counted_slice(const ac_maker *b, ac_tensor *x, int64_t begin, int64_t end);

/* updates.c: the concatenation of part[0 .. n), if it is a tensor with one slice replaced. NULL: it is not, or
 * reported. */
ac_tensor *ac_make_updated(const ac_maker *b, ac_tensor *const *part, int32_t n, int32_t axis);

#endif
