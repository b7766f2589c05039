/* digits.h - places in mixed radix; see digits.c. */
#ifndef AC_PROVE_DIGITS_H
#define AC_PROVE_DIGITS_H
#include "prove/domain/affine.h"

/* True if `ahead` is < -most or > most for all values of its unknowns. */
bool ac_apart_in_digits(ac_knowledge *know, const ac_affine *ahead, int64_t most);

#endif
