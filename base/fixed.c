/* fixed.c - fixed-point arithmetic of quantised models on the host. */
#include "base/fixed.h"

int64_t ac_log2_fixed(uint64_t v)
{
    int64_t whole = 63 - __builtin_clzll(v), part = 0;
    uint64_t x = whole > 30 ? v >> (whole - 30) : v << (30 - whole); /* 2^30 <= x < 2^31 */
    for (int bit = AC_FIXED_ONE / 2; bit; bit /= 2) {
        x = x * x >> 30;
        if (x >> 31) {
            x >>= 1;
            part += bit;
        }
    }
    return whole * AC_FIXED_ONE + part;
}

int64_t ac_exp2_fixed(int64_t x)
{
    static const uint32_t ROOT[16] = {/* 2^30 times the square root of 2, its square root, ... */
                                      1518500250, 1276901417, 1170923762, 1121280436, 1097253708, 1085434106,
                                      1079572136, 1076653033, 1075196443, 1074468888, 1074105294, 1073923544,
                                      1073832680, 1073787251, 1073764537, 1073753181};
    uint64_t y = (uint64_t)1 << 30; /* 2^30 <= y < 2^31 */
    for (int k = 0; k < 16; k++)
        if (x >> (15 - k) & 1)
            y = y * ROOT[k] >> 30;
    const int64_t whole = x / AC_FIXED_ONE;
    return (int64_t)(whole > 30 ? y << (whole - 30) : y >> (30 - whole));
}
