/* simplex.h - the largest value of a sum of integers under linear inequalities.
 *
 *     x + y <= 5,  2 x - y <= 3     is 3 x + y <= 12 for all integers x, y >= 0?
 *
 *     ac_inequality known[] = {{{1, 1}, 5}, {{2, -1}, 3}};
 *     const int64_t weight[] = {3, 1};
 *     ac_simplex_at_most(region, known, 2, 2, weight, 12)
 *
 * All arithmetic is exact. An answer of false means that no proof was found: there may be one that takes more than
 * MOST_PIVOTS steps or larger numbers. */
#ifndef AC_PROVE_SIMPLEX_H
#define AC_PROVE_SIMPLEX_H
#include "base/region.h"

enum { AC_SIMPLEX_COLUMNS = 40 };

/* sum of weight * variable <= most */
typedef struct ac_inequality {
    int64_t weight[AC_SIMPLEX_COLUMNS], most;
} ac_inequality;

/* Also true if no integers satisfy the inequalities. Memory: the region, until it closes. */
bool ac_simplex_at_most(ac_region *region, const ac_inequality *known, int32_t n_known, int32_t n_variables,
                        const int64_t *weight, int64_t limit);

#endif
