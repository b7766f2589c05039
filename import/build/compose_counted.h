/* compose_counted.h - operators that several formats have and whose results are as large as the data says, as nodes.
 * Results are counted (counted.h). AC_FAIL, NULL: reported, or refused. */
#ifndef AC_IMPORT_BUILD_COMPOSE_COUNTED_H
#define AC_IMPORT_BUILD_COMPOSE_COUNTED_H
#include "ir/make/maker.h"

/* Indices of what is not 0, in row-major order: for each dimension of x i64 [elements], counted. Where x is known now
 * there are as many as there are, and nothing is counted. */
int ac_make_non_zero(const ac_maker *b, ac_tensor *x, ac_tensor *row[AC_MAX_RANK]);

/* Of x as a list of n: its values, each once, in rising order or in that of their first places; those places; where
 * each element of x went ([n], counted as x is); how often each value is there. All [n] and i64 but the values. */
int ac_make_unique(const ac_maker *b, ac_tensor *x, bool rising, ac_tensor *out[4]);

/* in: x, indices, updates, any of which may be counted: what has no meaning is not written. Attributes of
 * SCATTER_ELEMENTS. */
ac_tensor *ac_make_counted_scatter(const ac_maker *b, ac_tensor *const in[3], const ac_attrs *attrs);

/* Boxes [N,4] of scores [N] by falling score; one goes that overlaps a kept one by more than `overlap`, or whose score
 * is not above `least`. kept: i32 [most], count: i64, how many; not counted yet. */
typedef struct ac_nms_limits {
    int64_t most; /* 0 .. N */
    double overlap, least;
} ac_nms_limits;
int ac_make_nms(const ac_maker *b, ac_tensor *box, ac_tensor *score, const ac_nms_limits *limit, ac_tensor **kept,
                ac_tensor **count);

#endif
