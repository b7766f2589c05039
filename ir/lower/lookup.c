/* lookup.c - computes the 513-sample table of a 16-bit function and emits its look-up. */
#include "ir/lower/lookup.h"

#include <math.h>

static int16_t clamp_16(float v)
{
    return (int16_t)(v > 32767.0f ? 32767.0f : v > -32768.0f ? v : -32768.0f); /* NaN: the least */
}

float ac_curve_exp(float x, float floor)
{
    (void)floor;
    return (float)exp((double)x);
}

/* Each sample is corrected by half of the error that interpolation makes in the middle of its interval. All in float,
 * in the reference's order. The reference converts NaN where the function is infinite; here samples saturate. */
void ac_table_16(int16_t table[513], float si, int32_t zi, float so, int32_t zo, ac_curve *f)
{
    const float first = si * (float)(-32768 - zi), last = si * (float)(32767 - zi);
    const float low = so * (float)(-32768 - zo), high = so * (float)(32767 - zo);
    const float step = (last - first) / 512, inverse = 65536.0f / (high - low);
    for (int32_t i = 0; i < 512; i++) {
        const float at = first + (float)i * step;
        const float sample = roundf(f(at, low) * inverse), mid = roundf(f(at + step / 2, low) * inverse);
        const float next = f(first + (float)(i + 1) * step, low) * inverse;
        const float error = roundf((next + sample) / 2) - mid;
        table[i] = clamp_16(isfinite(error) ? sample - roundf(error / 2) : sample);
    }
    table[512] = clamp_16(roundf(f(last, low) * inverse));
}

void ac_table_16_unit(int16_t table[513], double low, double high, double (*f)(double))
{
    const double step = (high - low) / 512;
    for (int32_t i = 0; i < 512; i++) {
        const double at = low + i * step, sample = round(f(at) * 32768), mid = round(f(at + step / 2) * 32768);
        const double between = round((f(low + (i + 1) * step) * 32768 + sample) / 2);
        table[i] = clamp_16((float)(sample - round((between - mid) / 2)));
    }
    table[512] = clamp_16((float)round(f(high) * 32768));
}

ac_x ac_lo_table_16(ac_lower *L, int32_t buf, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x at = ac_lb_add(b, ac_lb_shr(b, x, ac_lb_i32(b, 7)), ac_lb_i32(b, 256));
    const ac_x base = ac_lb_cast(b, ac_lb_load(b, buf, at, 1), AC_I32);
    const ac_x next = ac_lb_cast(b, ac_lb_load(b, buf, ac_lb_add(b, at, ac_lb_i32(b, 1)), 1), AC_I32);
    /* The reference keeps the slope in 16 bits. */
    const ac_x slope = ac_lb_cast(b, ac_lb_cast(b, ac_lb_sub(b, next, base), AC_I16), AC_I32);
    const ac_x delta = ac_lb_add(b, ac_lb_mul(b, slope, ac_lb_and(b, x, ac_lb_i32(b, 127))), ac_lb_i32(b, 64));
    return ac_lb_add(b, base, ac_lb_shr(b, delta, ac_lb_i32(b, 7)));
}
