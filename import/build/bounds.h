/* bounds.h - finds upper bounds of sizes that are computed at run time. Such a result gets its maximum size, which
 * follows from the model or is given by --bound NAME=N (NAME: the result), and is dynamically sized (counted.h).
 *
 *     ac_late_sizes s;
 *     AC_TRY(ac_late_sizes_of(b, &n->in[1], result, &s));              [2, n, 8], n computed: dim {2, N, 8}, at 1
 *     ... create y with sizes s.dim ...
 *     return ac_bounded(b, y, s.count, s.at); */
#ifndef AC_IMPORT_BUILD_BOUNDS_H
#define AC_IMPORT_BUILD_BOUNDS_H
#include "import/build/list_elements.h"

/* The number that --bound gives for a result; -1: none. */
int64_t ac_bound_of(const ac_maker *b, const char *result);
/* Refuses `result`: its length is computed from t and has no bound. AC_FAIL */
int ac_bound_missing(const ac_maker *b, const ac_tensor *t, const char *result);
/* E0501 for each --bound that matches no result of the model, or several. */
int ac_bounds_met(const ac_maker *b);

typedef struct ac_late_sizes {
    int32_t n, at; /* at: the index of the computed one; -1: all are known */
    int64_t dim[AC_MAX_RANK];
    ac_tensor *count; /* NULL: all are known */
} ac_late_sizes;

/* The sizes in list *t, at most one of them computed. AC_FAIL: refused, or reported. */
int ac_late_sizes_of(const ac_maker *b, ac_tensor **t, const char *result, ac_late_sizes *s);

#endif
