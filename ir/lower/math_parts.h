/* math_parts.h - parts of the float functions of arithmetic.h, of f32 and f64 (by the type of x), for the math files
 * and for lowerings that compose functions of them. All values of a call have the same lanes. */
#ifndef AC_IR_LOWER_MATH_PARTS_H
#define AC_IR_LOWER_MATH_PARTS_H
#include "ir/lower/arithmetic.h"

static inline ac_x num(ac_lower *L, ac_x like, double v)
{
    return ac_lb_like(&L->b, like, v);
}

/* lo <= x <= hi, NaN stays NaN. */
static inline ac_x within(ac_lower *L, ac_x x, double lo, double hi)
{
    x = ac_lb_min(&L->b, num(L, x, hi), x);
    return ac_lb_max(&L->b, num(L, x, lo), x);
}

static inline bool is_wide(ac_lower *L, ac_x x)
{
    return ac_lb_dtype(&L->b, x) == AC_F64;
}

/* coef[0] + x * coef[1] + .. */
ac_x ac_lo_poly(ac_lower *L, ac_x x, const double *coef, int32_t n);
#define POLY(x, ...) \
    ac_lo_poly(L, x, (const double[]){__VA_ARGS__}, (int32_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

/* 2^(i - 127) as f32 of an i32 in 1..254, 2^(i - 1023) as f64 of an i64 in 1..2046; other i give some number. Only the
 * low 9 (12) bits of i matter. */
static inline ac_x power_of_biased(ac_lb *b, ac_x i)
{
    const bool wide = ac_lb_dtype(b, i) == AC_I64;
    const ac_x unit = ac_lb_like_int(b, i, (int64_t)1 << (wide ? 52 : 23));
    return ac_lb_bitcast(b, ac_lb_mul_wrap(b, i, unit), wide ? AC_F64 : AC_F32);
}

/* size >= 0, or NaN, with the sign of x. */
ac_x ac_lo_with_sign_of(ac_lower *L, ac_x x, ac_x size);

/* hi + lo: a value in two parts, |lo| at most half a unit of hi. */
typedef struct ac_pair {
    ac_x hi, lo;
} ac_pair;
/* x * y without error, but below the normal range; f64 without fma: to 2^-104. */
ac_pair ac_lo_product(ac_lower *L, ac_x x, ac_x y);

/* sin and cos of r, |r| <= pi/4: without reduction. */
void ac_lo_near_zero(ac_lower *L, ac_x r, ac_x *sine, ac_x *cosine);
/* erf of f32 */
ac_x ac_lo_erf32(ac_lower *L, ac_x x);
/* e^x / 2, infinite only if that is; x >= 0. */
ac_x ac_lo_exp_half(ac_lower *L, ac_x x);
/* v e^(x + lo) 2^shift, which must be in the normal range; lo: 0, or a value. A product with 2^-shift is then the only
 * rounding below that range. */
ac_x ac_lo_exp_scaled(ac_lower *L, ac_x x, ac_x lo, ac_x v, int32_t shift);

#endif
