/* bounds.h - sizes that are computed at run time. A result is then as long as it may become, which follows from the
 * model or is said (--bound NAME=N, NAME the result), and is counted (counted.h).
 *
 *     ac_late_sizes s;
 *     AC_TRY(ac_late_sizes_of(b, &n->in[1], result, &s));              [2, n, 8], n computed: dim {2, N, 8}, at 1
 *     ... make it as large as s.dim ...
 *     return ac_bounded(b, y, s.count, s.at); */
#ifndef AC_IMPORT_BUILD_BOUNDS_H
#define AC_IMPORT_BUILD_BOUNDS_H
#include "import/build/list_elements.h"

/* The number that --bound gives for a result; -1: none. */
int64_t ac_bound_of(const ac_maker *b, const char *result);
/* Refuses: how long `result` becomes is computed from t, and nothing bounds it. AC_FAIL */
int ac_bound_missing(const ac_maker *b, const ac_tensor *t, const char *result);
/* E0501 for each --bound that no result of the model is meant by. */
int ac_bounds_met(const ac_maker *b);

typedef struct ac_late_sizes {
    int32_t n, at; /* at: that which is computed; -1: all are known */
    int64_t dim[AC_MAX_RANK];
    ac_tensor *count; /* NULL: all are known */
} ac_late_sizes;

/* The sizes that *t lists, of which one may be computed. AC_FAIL: refused, or reported. */
int ac_late_sizes_of(const ac_maker *b, ac_tensor **t, const char *result, ac_late_sizes *s);

#endif
