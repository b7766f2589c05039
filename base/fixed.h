/* fixed.h - logarithms and powers in integers, so that comparisons are the same on every machine. */
#ifndef AC_BASE_FIXED_H
#define AC_BASE_FIXED_H
#include <stdint.h>

enum { AC_FIXED_ONE = 1 << 16 };

int64_t ac_log2_fixed(uint64_t v); /* of v >= 1, in 1/65536, rounded down */
int64_t ac_exp2_fixed(int64_t x);  /* 2^(x / 65536), at most one in a million off; 0 <= x < 62 * 65536 */

#endif
