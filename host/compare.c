/* compare.c - how far an array is from its reference: largest difference, ULPs, how many differ. */
#include "host/compare.h"

#include <math.h>
#include <string.h>

/* Floats as integers in their numeric order, so that a difference counts the numbers between them. */
static double ordered(ac_dtype d, const void *p, int64_t i)
{
    int64_t bits = 0;
    if (d == AC_F64) {
        memcpy(&bits, (const char *)p + 8 * i, 8);
        return (double)(bits < 0 ? INT64_MIN - bits : bits);
    }
    int32_t b = 0;
    if (d == AC_F32) {
        memcpy(&b, (const char *)p + 4 * i, 4);
        return (double)(b < 0 ? INT32_MIN - (int64_t)b : b);
    }
    int16_t h;
    memcpy(&h, (const char *)p + 2 * i, 2);
    return h < 0 ? -32768.0 - h : h;
}

ac_difference ac_compare(ac_dtype d, const void *got, const void *want, int64_t count)
{
    ac_difference x = {.count = count, .first = -1};
    bool is_float = ac_dtype_is_float(d);
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double a = is_float ? ac_dtype_get_num(d, got, i) : (double)ac_dtype_get_int(d, got, i);
        double b = is_float ? ac_dtype_get_num(d, want, i) : (double)ac_dtype_get_int(d, want, i);
        bool equal =
            is_float ? a == b || (isnan(a) && isnan(b)) : ac_dtype_get_int(d, got, i) == ac_dtype_get_int(d, want, i);
        if (isfinite(b) && fabs(b) > x.scale)
            x.scale = fabs(b);
        if (equal)
            continue;
        if (x.first < 0)
            x.first = i;
        x.differ++;
        if (is_float && (!isfinite(a) || !isfinite(b))) {
            x.nan_mismatch = true;
            continue;
        }
        double e = fabs(a - b), ulp = is_float ? fabs(ordered(d, got, i) - ordered(d, want, i)) : e;
        sum += e;
        if (e > x.max_abs)
            x.max_abs = e;
        if (ulp > x.max_ulp)
            x.max_ulp = ulp;
    }
    x.mean_abs = count ? sum / (double)count : 0;
    return x;
}

bool ac_close_enough(ac_dtype d, const ac_difference *x, int64_t max_ulp)
{
    if (x->differ == 0)
        return true;
    if (!ac_dtype_is_float(d) || x->nan_mismatch)
        return false;
    return max_ulp >= 0 ? x->max_ulp <= (double)max_ulp : x->max_abs <= 2e-4 * x->scale + 1e-6;
}
