/* math_tails.c - sinh, cosh, mish, swish, gelu, erfc, and erf of f64: functions with exponential tails; f32 and f64 by
 * the type of x.
 *
 * A product like x e^x has all its digits although e^x is below the normal range: there, e^x 2^65 is multiplied by x
 * 2^-65. Exponents such as x^2 / 2 are in two parts: at -100, half a unit of the exponent is 64 units of the result. */
#include "ir/lower/math_parts.h"

#include <math.h>

/* sinh: |x| < 1: x + x z P(z), z = x^2; else H - 1 / (4 H), H = e^|x| / 2. */
ac_x ac_lo_sinh(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x size = ac_lb_abs(b, x), z = ac_lb_mul(b, x, x), half = ac_lo_exp_half(L, size);
    const ac_x p =
        is_wide(L, x)
            ? POLY(z, 0.16666666666666667, 0.0083333333333333335, 0.00019841269841269602, 2.7557319224115404e-6,
                   2.505210834668778e-8, 1.6059050581084291e-10, 7.6464840903552545e-13, 2.8482041070371278e-15)
            : POLY(z, 0.16666666498543516, 0.0083333500066386069, 0.00019836167904370303, 2.8169114279244704e-6);
    const ac_x near = ac_lo_madd(L, ac_lb_mul(b, x, z), p, x);
    const ac_x far = ac_lb_sub(b, half, ac_lb_div(b, num(L, x, 0.25), half));
    return ac_lb_select(b, ac_lb_lt(b, size, num(L, x, 1)), near, ac_lo_with_sign_of(L, x, far));
}

ac_x ac_lo_cosh(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x half = ac_lo_exp_half(L, ac_lb_abs(b, x));
    return ac_lb_add(b, half, ac_lb_div(b, num(L, x, 0.25), half));
}

/* At this x, e^x is 2^-1082 (f32: 2^-188): products with it are 0 from there on. e^x 2^SHIFT is in the normal range. */
enum { SHIFT = 65 };
static double lowest(ac_lower *L, ac_x x)
{
    return is_wide(L, x) ? -750 : -130;
}

/* x v 2^-SHIFT, or x v */
static ac_x scaled_back(ac_lower *L, ac_x x, ac_x v, ac_x scaled)
{
    ac_lb *b = &L->b;
    const ac_x by = ac_lb_select(b, scaled, num(L, x, ldexp(1, -SHIFT)), num(L, x, 1));
    return ac_lb_mul(b, ac_lb_mul(b, x, by), v);
}

/* x tanh(ln(1 + e)), e = e^x: x e (e + 2) / d, d = e (e + 2) + 2; the quotient of negative x is 1 - e (e + 1) / d. 1
 * from e^20 on. */
ac_x ac_lo_mish(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x two = num(L, x, 2), one = num(L, x, 1), least = num(L, x, lowest(L, x));
    const ac_x far = ac_lb_lt(b, x, num(L, x, -64)), minus = ac_lb_lt(b, x, num(L, x, 0));
    ac_x big = ac_lo_exp_scaled(L, within(L, x, lowest(L, x), 20), 0, one, SHIFT);
    big = ac_lb_select(b, ac_lb_lt(b, x, least), num(L, x, 0), big);
    const ac_x e = ac_lb_mul(b, big, num(L, x, ldexp(1, -SHIFT))), more = ac_lb_add(b, e, two);
    const ac_x over = ac_lb_select(b, minus, ac_lo_madd(L, e, e, e), more);
    const ac_x r = ac_lb_div(b, over, ac_lo_madd(L, e, more, two));
    const ac_x q = ac_lb_select(b, minus, ac_lb_sub(b, one, r), r);
    return scaled_back(L, x, ac_lb_mul(b, ac_lb_select(b, far, big, e), q), far);
}

/* x / (1 + e^-(w + lo)) = x / (2^-SHIFT + e^-(w + lo) 2^-SHIFT) 2^-SHIFT; x from w = 40 on. lo: 0, or a value */
static ac_x gate(ac_lower *L, ac_x x, ac_x w, ac_x lo)
{
    ac_lb *b = &L->b;
    const ac_x unit = num(L, x, ldexp(1, -SHIFT)), least = num(L, x, lowest(L, x));
    ac_x e = ac_lo_exp_scaled(L, ac_lb_neg(b, within(L, w, lowest(L, x), 40)), lo ? ac_lb_neg(b, lo) : 0, num(L, x, 1),
                              -SHIFT);
    e = ac_lb_select(b, ac_lb_lt(b, w, least), num(L, x, HUGE_VAL), e);
    const ac_x v = ac_lb_mul(b, ac_lb_div(b, x, ac_lb_add(b, e, unit)), unit);
    return ac_lb_select(b, ac_lb_gt(b, w, num(L, x, 40)), x, v);
}

ac_x ac_lo_swish(ac_lower *L, ac_x x, double alpha)
{
    ac_lb *b = &L->b;
    if (alpha >= 1 && alpha <= 1)
        return gate(L, x, x, 0);
    const ac_pair w = ac_lo_product(L, x, num(L, x, alpha));
    const ac_x near = ac_lb_lt(b, ac_lb_abs(b, w.hi), num(L, x, 1024)); /* else lo may be NaN */
    return gate(L, x, w.hi, ac_lb_select(b, near, w.lo, num(L, x, 0)));
}

/* x / (1 + e^-w), w = x (A + B x^2) in two parts; A = sqrt(8 / pi), B = 0.044715 A */
ac_x ac_lo_gelu_tanh(ac_lower *L, ac_x x)
{
    const double scale = 1.59576912160573071176, cube = 0.044715 * scale;
    const bool wide = is_wide(L, x);
    const double scale_low = wide ? -9.96930880911092e-17 : scale - (double)(float)scale;
    const double cube_low = wide ? -6.175149918155315e-19 : cube - (double)(float)cube;
    ac_lb *b = &L->b;
    const ac_x near = within(L, x, -24, 24), a = num(L, x, scale), c = num(L, x, cube);
    const ac_pair z = ac_lo_product(L, near, near);
    ac_pair p = ac_lo_product(L, z.hi, c);
    p.lo = ac_lo_madd(L, z.lo, c, p.lo);
    p.lo = ac_lo_madd(L, z.hi, num(L, x, cube_low), p.lo);
    const ac_x sum = ac_lb_add(b, a, p.hi), part = ac_lb_sub(b, sum, a);
    ac_x lost = ac_lb_add(b, ac_lb_sub(b, a, ac_lb_sub(b, sum, part)), ac_lb_sub(b, p.hi, part));
    lost = ac_lb_add(b, lost, ac_lb_add(b, p.lo, num(L, x, scale_low)));
    const ac_pair w = ac_lo_product(L, near, sum);
    return gate(L, x, w.hi, ac_lo_madd(L, near, lost, w.lo));
}

/* y Phi(-y) 2^SHIFT, Phi the normal distribution: e^s P((y - a) / (y + a)), s = -y^2 / 2, 1 <= y <= 15 (f64: 38.7). */
static ac_x normal_tail(ac_lower *L, ac_x y, ac_pair s)
{
    ac_lb *b = &L->b;
    const bool wide = is_wide(L, y);
    const double a = wide ? 5 : 2;
    const ac_x t = ac_lb_div(b, ac_lb_sub(b, y, num(L, y, a)), ac_lb_add(b, y, num(L, y, a)));
    const ac_x p =
        wide ? POLY(t, 0.38459652487503148, 0.051905273430003044, -0.085038443460040478, 0.090886229649345971,
                    -0.074256395250433526, 0.047950863731686695, -0.02416178595400137, 0.0089008450203749432,
                    -0.0018956230727260891, -0.00012648521833044087, 0.00024276156819614531, -5.4568985951292878e-5,
                    -1.6540278939388996e-5, 1.0330046038957144e-5, 6.0411067817340511e-7, -1.5506126764495179e-6,
                    5.1771179969109677e-8, 2.3430971237967665e-7, -1.6183912750461096e-8, -3.4717020702735382e-8,
                    2.1017332058801946e-9, 3.5274628896362146e-9)
             : POLY(t, 0.33620400494627385, 0.17050180310657197, -0.15130396869091589, 0.032756760677172219,
                    0.018136855999485389, -0.0035891148314024947, -0.0044645216069472333, -0.00052245946644073788,
                    0.0012340064153096521);
    return ac_lo_exp_scaled(L, s.hi, s.lo, p, SHIFT);
}

/* Phi(y) - 1/2 + more, |y| <= 1: y S(y^2) + more */
static ac_x normal_middle(ac_lower *L, ac_x y, ac_x more)
{
    const ac_x z = ac_lb_mul(&L->b, y, y);
    const ac_x s = is_wide(L, y) ? POLY(z, 0.39894228040143268, -0.066490380066905445, 0.0099735570100357819,
                                        -0.0011873282154799528, 0.00011543468761216021, -9.4446562398855651e-6,
                                        6.6596928876696874e-7, -4.1226538740357699e-8, 2.2733320074762067e-9,
                                        -1.1281795671478583e-10, 4.9900236984219145e-12, -1.6648892587630558e-13)
                                 : POLY(z, 0.39894227863534785, -0.066490329463791191, 0.0099731494842290122,
                                        -0.0011859253169764599, 0.00011307481616215004, -7.5020503881820031e-6);
    return ac_lo_madd(L, y, s, more);
}

/* From this y on, Phi(-y) is at most 2^-1086 (f32: 2^-168). */
static double highest(ac_lower *L, ac_x y)
{
    return is_wide(L, y) ? 38.7 : 15;
}

/* x Phi(x). With y = |x|: of negative x -y Phi(-y), of positive x x less that; |x| < 1: x (1/2 + (Phi(x) - 1/2)) */
ac_x ac_lo_gelu(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x size = ac_lb_abs(b, x), most = num(L, x, highest(L, x)), y = ac_lb_min(b, most, size);
    const ac_x big = normal_tail(L, y, ac_lo_product(L, y, ac_lb_mul(b, y, num(L, x, -0.5))));
    const ac_x tail = ac_lb_mul(b, big, num(L, x, -ldexp(1, -SHIFT)));
    const ac_x far = ac_lb_add(b, ac_lb_max(b, num(L, x, 0), x), tail);
    const ac_x near = ac_lb_mul(b, x, normal_middle(L, x, num(L, x, 0.5)));
    const ac_x v = ac_lb_select(b, ac_lb_lt(b, size, num(L, x, 1)), near, far);
    return ac_lb_select(b, ac_lb_eq(b, x, num(L, x, -HUGE_VAL)), num(L, x, (double)NAN), v);
}

/* With y = sqrt 2 |x|: *tail = erfc |x| = 2 Phi(-y), *middle = erf x = 2 (Phi(sqrt 2 x) - 1/2) if y < 1. Returns y <
 * 1. */
static ac_x erf_parts(ac_lower *L, ac_x x, ac_x *middle, ac_x *tail)
{
    ac_lb *b = &L->b;
    const ac_x root = num(L, x, 1.41421356237309504880);
    const ac_x a = ac_lb_min(b, num(L, x, highest(L, x) * 0.70710678118654752440), ac_lb_abs(b, x));
    const ac_x y = ac_lb_mul(b, a, root);
    ac_pair near = {.hi = ac_lb_mul(b, x, root), .lo = num(L, x, 0)};
    if (is_wide(L, x)) { /* 1 - erf x would double the error of a rounded sqrt 2 x */
        near = ac_lo_product(L, x, root);
        near.lo = ac_lo_madd(L, x, num(L, x, -9.667293313452913e-17), near.lo);
        near.lo = ac_lb_mul(b, near.lo, num(L, x, 0.33)); /* about the slope of Phi from -1 to 1 */
    }
    const ac_x half = normal_middle(L, near.hi, near.lo);
    const ac_x big = ac_lb_div(b, normal_tail(L, y, ac_lo_product(L, a, ac_lb_neg(b, a))), y);
    *tail = ac_lb_mul(b, big, num(L, x, ldexp(2, -SHIFT)));
    *middle = ac_lb_add(b, half, half);
    return ac_lb_lt(b, y, num(L, x, 1));
}

ac_x ac_lo_erfc(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    ac_x middle, tail;
    const ac_x near = erf_parts(L, x, &middle, &tail), minus = ac_lb_lt(b, x, num(L, x, 0));
    const ac_x far = ac_lb_select(b, minus, ac_lb_sub(b, num(L, x, 2), tail), tail);
    return ac_lb_select(b, near, ac_lb_sub(b, num(L, x, 1), middle), far);
}

ac_x ac_lo_erf(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    ac_x middle, tail;
    if (!is_wide(L, x))
        return ac_lo_erf32(L, x);
    const ac_x near = erf_parts(L, x, &middle, &tail);
    return ac_lb_select(b, near, middle, ac_lo_with_sign_of(L, x, ac_lb_sub(b, num(L, x, 1), tail)));
}
