/* digits.h - places in mixed radix; see digits.c. */
#ifndef AC_PROVE_DIGITS_H
#define AC_PROVE_DIGITS_H
#include "prove/domain/affine.h"

/* Is `ahead` less than -most, or more than `most`, wherever what is known holds? */
bool ac_apart_in_digits(ac_knowledge *know, const ac_affine *ahead, int64_t most);

#endif
