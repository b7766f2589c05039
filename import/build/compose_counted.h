/* compose_counted.h - composes operators of several formats whose results have a data-dependent size. Results are
 * dynamically sized (counted.h). AC_FAIL, NULL: reported, or refused. */
#ifndef AC_IMPORT_BUILD_COMPOSE_COUNTED_H
#define AC_IMPORT_BUILD_COMPOSE_COUNTED_H
#include "ir/make/maker.h"

/* Indices of the elements that are not 0, in row-major order: for each dimension of x one i64 [elements], dynamically
 * sized. If x is constant, they have their exact length. */
int ac_make_non_zero(const ac_maker *b, ac_tensor *x, ac_tensor *row[AC_MAX_RANK]);

/* Of x as a list of n, in out[]: its distinct values, in rising order or in order of first occurrence; their first
 * positions; for each element of x the index of its value (with the count of x); the occurrences of each value. All are
 * [n], and i64 except the values. */
int ac_make_unique(const ac_maker *b, ac_tensor *x, bool rising, ac_tensor *out[4]);

/* SCATTER_ELEMENTS of in[]: x, indices and updates, all possibly dynamically sized. Invalid updates are not written. */
ac_tensor *ac_make_counted_scatter(const ac_maker *b, ac_tensor *const in[3], const ac_attrs *attrs);

/* Selects boxes [N,4] by falling score [N]; drops a box that overlaps a selected one by more than `overlap`, or whose
 * score is not above `least`. kept: indices, i32 [most]; count: their number, i64. The caller sets the count of
 * `kept`. */
typedef struct ac_nms_limits {
    int64_t most; /* 0 .. N */
    double overlap, least;
} ac_nms_limits;
int ac_make_nms(const ac_maker *b, ac_tensor *box, ac_tensor *score, const ac_nms_limits *limit, ac_tensor **kept,
                ac_tensor **count);

#endif
