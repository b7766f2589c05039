/* fma.c - sums of a product for MinGW; see fma.h. */
#include "ir/dtype/fma.h"

#ifdef __MINGW32__
#include <stdint.h>
#include <string.h>

/* x + y, and the rest that the rounding took. Source: Knuth, TAOCP 2, 4.2.2. */
static double sum_of(double x, double y, double *rest)
{
    const double s = x + y, v = s - x;
    *rest = (x - (s - v)) + (y - v);
    return s;
}

/* x + y, rounded to the neighbour with an odd last bit unless it is exact: rounding that again is right. Source: Boldo,
 * Melquiond: Emulation of FMA and correctly rounded sums, 2008. */
static double odd_sum(double x, double y)
{
    double rest;
    const double s = sum_of(x, y, &rest);
    int64_t bits;
    memcpy(&bits, &s, sizeof bits);
    if (!isfinite(s) || rest == 0 || bits & 1)
        return s;
    bits += (rest > 0) == (s > 0) ? 1 : -1;
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

float ac_fmaf(float x, float y, float z)
{
    return (float)odd_sum((double)x * (double)y, (double)z);
}

/* The high half of the digits. Source: Dekker 1971. */
static double high_of(double x)
{
    const double scaled = x * 134217729.0; /* 2^27 + 1 */
    return scaled - (scaled - x);
}

static double plain(double x, double y, double z)
{
    const double p = x * y;
    if (!isfinite(p) || !isfinite(z) || fabs(x) > 0x1p996 || fabs(y) > 0x1p996)
        return p + z;
    const double a = high_of(x), b = x - a, c = high_of(y), d = y - c;
    const double p_rest = ((a * c - p) + a * d + b * c) + b * d;
    double low, lowest;
    const double t = sum_of(z, p_rest, &low), v = sum_of(p, t, &lowest);
    return v + odd_sum(low, lowest);
}

#if defined __x86_64__
__attribute__((target("fma"))) static double instruction(double x, double y, double z)
{
    return __builtin_fma(x, y, z);
}
#endif

double ac_fma(double x, double y, double z)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("fma"))
        return instruction(x, y, z);
#endif
    return plain(x, y, z);
}
#endif
