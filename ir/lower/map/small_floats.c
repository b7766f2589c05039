/* small_floats.c - floats of 8 and 4 bits (ir/graph/minifloat.h) to and from f32, in loops; any number of lanes.
 *
 * Both ways rest on the common layout: a code without its sign, shifted to the mantissa of an f32, is the value times
 * 2^(bias - 127), subnormal ones included. */
#include "ir/graph/minifloat.h"
#include "ir/lower/map/map.h"

#include <math.h>

/* 2^(code - 127); code 0 is subnormal in f32. */
static ac_x from_exponent(ac_lb *b, ac_x code)
{
    ac_x bits = lb_shl(b, code, lb_like_int(b, code, 23));
    bits = lb_select(b, lb_eq(b, code, lb_like_int(b, code, 0)), lb_like_int(b, code, 0x400000), bits);
    const ac_x v = lb_bitcast(b, bits, AC_F32);
    return lb_select(b, lb_eq(b, code, lb_like_int(b, code, 255)), lb_like(b, v, (double)NAN), v);
}

ac_x mp_from_minifloat(ac_lower *L, ac_dtype d, ac_x stored)
{
    ac_lb *b = &L->b;
    const ac_minifloat *m = ac_dtype_minifloat(d);
    const ac_x code = lb_cast(b, stored, AC_I32);
    if (!m)
        return from_exponent(b, code);
    const ac_x size = lb_and(b, code, lb_like_int(b, code, m->sign - 1));
    const ac_x raw = lb_bitcast(b, lb_shl(b, size, lb_like_int(b, code, 23 - m->man)), AC_F32);
    ac_x v = lb_mul(b, raw, lb_like(b, raw, ldexp(1, 127 - m->bias)));
    const ac_x nan = lb_like(b, v, (double)NAN);
    if (!m->uz && m->sign == 0x80) {
        const ac_x beyond = m->over == m->nan ? nan : lb_like(b, v, (double)INFINITY);
        v = lb_select(b, lb_gt(b, size, lb_like_int(b, size, m->most)), beyond, v);
        if (m->over != m->nan)
            v = lb_select(b, lb_gt(b, size, lb_like_int(b, size, m->over)), nan, v);
    }
    v = lb_select(b, lb_ne(b, code, size), lb_neg(b, v), v);
    return m->uz ? lb_select(b, lb_eq(b, code, lb_like_int(b, code, m->nan)), nan, v) : v;
}

/* f8e8m0: the power of two above, below or nearest (halves up). */
static ac_x to_exponent(ac_lb *b, ac_x x, bool wraps, int32_t round)
{
    const ac_x bits = lb_bitcast(b, x, AC_I32), zero = lb_like_int(b, bits, 0), one = lb_like_int(b, bits, 1);
    const ac_x exp = lb_shr(b, bits, lb_like_int(b, bits, 23)), rest = lb_and(b, bits, lb_like_int(b, bits, 0x7fffff));
    const ac_x tiny =
        lb_eq(b, exp, zero); /* 0.5 <= x / 2^-126 < 1 has the code 0, so its mantissa begins a place lower */
    const ac_x least = lb_select(b, tiny, lb_like_int(b, bits, round == 2 ? 0x600000 : 0x400001),
                                 lb_like_int(b, bits, round == 2 ? 0x400000 : 1));
    ac_x code = round == 1 ? exp : lb_select(b, lb_ge(b, rest, least), lb_add_wrap(b, exp, one), exp);
    code = lb_min(b, code, lb_like_int(b, code, wraps ? 255 : 254));
    const ac_x bad = lb_or(b, lb_lt(b, x, lb_like(b, x, 0)), lb_ne(b, x, x));
    return lb_cast(b, lb_select(b, bad, lb_like_int(b, code, 255), lb_max(b, code, zero)), AC_U8);
}

ac_x mp_to_minifloat(ac_lower *L, ac_dtype d, ac_x x, bool wraps, int32_t round)
{
    ac_lb *b = &L->b;
    const ac_minifloat *m = ac_dtype_minifloat(d);
    if (!m)
        return to_exponent(b, x, wraps, round);
    const int32_t shift = 23 - m->man;
    const ac_x size = lb_abs(b, x), bits = lb_bitcast(b, size, AC_I32);
    const ac_x odd = lb_and(b, lb_shr(b, bits, lb_like_int(b, bits, shift)), lb_like_int(b, bits, 1));
    ac_x code = lb_add_wrap(b, lb_add_wrap(b, bits, lb_like_int(b, bits, (1 << (shift - 1)) - 1)), odd);
    code = lb_sub_wrap(b, lb_shr(b, code, lb_like_int(b, bits, shift)),
                       lb_like_int(b, bits, (int64_t)(127 - m->bias) << m->man));
    /* Below the smallest normal value: counted in steps of the last place; a carry gives the code of that value. */
    const ac_x steps = lb_rint(b, lb_mul(b, size, lb_like(b, x, ldexp(1, m->bias - 1 + m->man))));
    const ac_x few = lb_cast(b, lb_min(b, steps, lb_like(b, x, 256)), AC_I32);
    code = lb_select(b, lb_lt(b, size, lb_like(b, x, ldexp(1, 1 - m->bias))), few, code);
    const ac_x over = lb_gt(b, code, lb_like_int(b, code, m->most));
    code = lb_select(b, over, lb_like_int(b, code, wraps ? m->over : m->most), code);
    const ac_x zero = lb_like_int(b, bits, 0);
    const ac_x minus = lb_lt(b, lb_bitcast(b, x, AC_I32), zero);
    const ac_x sign = lb_select(b, minus, lb_like_int(b, bits, m->sign), zero);
    const ac_x nan = lb_like_int(b, bits, m->nan);
    ac_x v = lb_or(b, code, sign);
    if (m->uz)
        v = lb_select(b, lb_eq(b, code, zero), zero, v);
    v = lb_select(b, lb_ne(b, x, x), m->uz ? nan : lb_or(b, nan, sign), v);
    return lb_cast(b, v, AC_U8);
}

/* f64 -> f32, inexact results with an odd last bit: a second rounding to at most 22 bits is then as if from f64. */
ac_x mp_round_odd(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x near = lb_cast(b, x, AC_F32), back = lb_cast(b, near, AC_F64);
    const ac_x bits = lb_bitcast(b, near, AC_I32), one = lb_like_int(b, bits, 1);
    const ac_x down = lb_select(b, lb_gt(b, lb_abs(b, back), lb_abs(b, x)), lb_sub_wrap(b, bits, one), bits);
    const ac_x odd = lb_bitcast(b, lb_or(b, down, one), AC_F32);
    const ac_x exact = lb_or(b, lb_eq(b, back, x), lb_ne(b, x, x));
    return lb_select(b, exact, near, odd);
}
