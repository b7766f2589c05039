/* nibbles.h - constants with elements of less than a byte, packed as in files and unpacked in registers.
 *
 *     i4 [4096]:  u8 k[2048], element i in the low or high half of k[i / 2]
 *
 *     v = ac_nibbles_load(L, t, &at);        as loops see t's elements (i8, u8); 0: `at` does not begin with a byte */
#ifndef AC_IR_LOWER_RECIPE_NIBBLES_H
#define AC_IR_LOWER_RECIPE_NIBBLES_H
#include "ir/lower/lower.h"
#include "ir/lower/recipe/spot.h"

/* Bytes of t packed; those of the tensor if an element is a byte or more. */
ac_bytes ac_nibbles_bytes(const ac_tensor *t);
ac_x ac_nibbles_load(ac_lower *L, ac_tensor *t, const ac_spot *at);

#endif
