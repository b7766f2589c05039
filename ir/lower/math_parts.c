/* math_parts.c - polynomials, signs and exact products for the float functions. */
#include "ir/lower/math_parts.h"

ac_x ac_lo_poly(ac_lower *L, ac_x x, const double *coef, int32_t n)
{
    ac_x v = num(L, x, coef[n - 1]);
    for (int32_t i = n - 2; i >= 0; i--)
        v = ac_lo_madd(L, v, x, num(L, x, coef[i]));
    return v;
}

ac_x ac_lo_with_sign_of(ac_lower *L, ac_x x, ac_x size)
{
    ac_lb *b = &L->b;
    const ac_dtype d = ac_lb_dtype(b, x), whole = d == AC_F64 ? AC_I64 : AC_I32;
    const ac_x bits = ac_lb_bitcast(b, x, whole);
    const ac_x sign = ac_lb_and(b, bits, ac_lb_like_int(b, bits, d == AC_F64 ? INT64_MIN : INT32_MIN));
    return ac_lb_bitcast(b, ac_lb_or(b, ac_lb_bitcast(b, size, whole), sign), d);
}

/* The upper half of the digits of v; the rest of v is exact. */
static ac_x upper_half(ac_lower *L, ac_x v)
{
    ac_lb *b = &L->b;
    const ac_dtype d = ac_lb_dtype(b, v);
    const ac_x bits = ac_lb_bitcast(b, v, d == AC_F64 ? AC_I64 : AC_I32);
    return ac_lb_bitcast(b, ac_lb_and(b, bits, ac_lb_like_int(b, bits, d == AC_F64 ? -(1 << 27) : -(1 << 12))), d);
}

ac_pair ac_lo_product(ac_lower *L, ac_x x, ac_x y)
{
    ac_lb *b = &L->b;
    const ac_x p = ac_lb_mul(b, x, y);
    if (L->target->fma && !L->exact)
        return (ac_pair){p, ac_lb_fma(b, x, y, ac_lb_neg(b, p))};
    const ac_x xh = upper_half(L, x), yh = upper_half(L, y), xl = ac_lb_sub(b, x, xh), yl = ac_lb_sub(b, y, yh);
    ac_x lo = ac_lb_sub(b, ac_lb_mul(b, xh, yh), p);
    lo = ac_lb_add(b, ac_lb_add(b, lo, ac_lb_mul(b, xh, yl)), ac_lb_mul(b, xl, yh));
    return (ac_pair){p, ac_lb_add(b, lo, ac_lb_mul(b, xl, yl))};
}
