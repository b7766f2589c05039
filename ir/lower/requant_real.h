/* requant_real.h - computes 16-bit results that the reference rounds in double, by integers proven equal to it.
 *
 * fully_connected stores clamp(round(acc * scale)), halves away from zero. The scale is a fraction m / 2^(31 + post) of
 * 62 bits, more than a double has, so that
 *
 *     t = acc * (m >> 31) + (acc * (m % 2^31) >> 31)            floor(acc * m / 2^31)
 *     y = (t + 2^(post - 1) + (acc >> 31)) >> post
 *
 * rounds the exact product. The reference rounds the product to a double first, which can turn it into a half: so both
 * sides of every step are compared, for all accumulators that can occur. That suffices, because both functions are
 * monotonic.
 *
 *     ac_real_steps f = {.scale = 0.00021, .lo = -32768, .hi = 32767, .from = -90000000, .to = 90000000};
 *     ac_real r;
 *     if (ac_real_find(&f, ac_real_post(f.scale), &r)) ...
 *
 * Cost: a millisecond for 65,535 steps. */
#ifndef AC_IR_LOWER_REQUANT_REAL_H
#define AC_IR_LOWER_REQUANT_REAL_H
#include "ir/lower/arithmetic.h"

/* The reference. */
typedef struct ac_real_steps {
    double scale;
    int32_t lo, hi;   /* clamp */
    int64_t from, to; /* accumulators that can occur, bias included */
} ac_real_steps;

typedef struct ac_real {
    int32_t high, low; /* m = high * 2^31 + low */
    int32_t post;
} ac_real;

/* The maximum shift that lets m fit 62 bits; 0: none. */
int32_t ac_real_post(double scale);
/* False: accumulators need more than a word, or a step differs. */
bool ac_real_find(const ac_real_steps *f, int32_t post, ac_real *r);
/* Not yet clamped. */
int64_t ac_real_at(const ac_real *r, int32_t acc);

/* The form as loops: acc, high and low i32; i32, not yet clamped: scales are below 1. */
ac_x ac_lo_requant_real(ac_lower *L, ac_x acc, ac_x high, ac_x low, int32_t post);

#endif
