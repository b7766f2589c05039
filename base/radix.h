/* radix.h - sorting many numbered things by an unsigned key, ascending and stable.
 *
 *     ac_keyed *v = AC_NEW_N(tmp, ac_keyed, n);      v[i] = (ac_keyed){key of i, i}
 *     ac_radix_sort(v, n, AC_NEW_N(tmp, ac_keyed, n));   equal keys keep the order they had
 *
 * Cost: a pass over the array for each of the eight bytes of the keys in which they differ; a million keys of three
 * bytes take a tenth of the time of qsort. `spare` has space for n more; its contents are lost. Cannot fail. */
#ifndef AC_BASE_RADIX_H
#define AC_BASE_RADIX_H
#include "base/region.h"

typedef struct ac_keyed {
    uint64_t key;
    int32_t value;
} ac_keyed;

void ac_radix_sort(ac_keyed *v, int32_t n, ac_keyed *spare);

#endif
