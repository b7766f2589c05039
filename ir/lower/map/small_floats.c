/* small_floats.c - converts floats of 8 and 4 bits (ir/dtype/minifloat.h) to and from f32, in loops; any number of
 * lanes.
 *
 * Both ways rest on the common layout: a code without its sign, shifted to the mantissa of an f32, is the value times
 * 2^(bias - 127), subnormal ones included. */
#include "ir/dtype/minifloat.h"
#include "ir/lower/map/map.h"

#include <math.h>

/* 2^(code - 127); code 0 is subnormal in f32. */
static ac_x from_exponent(ac_lb *b, ac_x code)
{
    ac_x bits = ac_lb_shl(b, code, ac_lb_like_int(b, code, 23));
    bits = ac_lb_select(b, ac_lb_eq(b, code, ac_lb_like_int(b, code, 0)), ac_lb_like_int(b, code, 0x400000), bits);
    const ac_x v = ac_lb_bitcast(b, bits, AC_F32);
    return ac_lb_select(b, ac_lb_eq(b, code, ac_lb_like_int(b, code, 255)), ac_lb_like(b, v, (double)NAN), v);
}

ac_x ac_mp_from_minifloat(ac_lower *L, ac_dtype d, ac_x stored)
{
    ac_lb *b = &L->b;
    const ac_minifloat *m = ac_dtype_minifloat(d);
    const ac_x code = ac_lb_cast(b, stored, AC_I32);
    if (!m)
        return from_exponent(b, code);
    const ac_x size = ac_lb_and(b, code, ac_lb_like_int(b, code, m->sign - 1));
    const ac_x raw = ac_lb_bitcast(b, ac_lb_shl(b, size, ac_lb_like_int(b, code, 23 - m->man)), AC_F32);
    ac_x v = ac_lb_mul(b, raw, ac_lb_like(b, raw, ldexp(1, 127 - m->bias)));
    const ac_x nan = ac_lb_like(b, v, (double)NAN);
    if (!m->uz && m->sign == 0x80) {
        const ac_x beyond = m->over == m->nan ? nan : ac_lb_like(b, v, (double)INFINITY);
        v = ac_lb_select(b, ac_lb_gt(b, size, ac_lb_like_int(b, size, m->most)), beyond, v);
        if (m->over != m->nan)
            v = ac_lb_select(b, ac_lb_gt(b, size, ac_lb_like_int(b, size, m->over)), nan, v);
    }
    v = ac_lb_select(b, ac_lb_ne(b, code, size), ac_lb_neg(b, v), v);
    return m->uz ? ac_lb_select(b, ac_lb_eq(b, code, ac_lb_like_int(b, code, m->nan)), nan, v) : v;
}

/* f8e8m0: the power of two above, below or nearest (halves up). */
static ac_x to_exponent(ac_lb *b, ac_x x, bool wraps, int32_t round)
{
    const ac_x bits = ac_lb_bitcast(b, x, AC_I32), zero = ac_lb_like_int(b, bits, 0), one = ac_lb_like_int(b, bits, 1);
    const ac_x exp = ac_lb_shr(b, bits, ac_lb_like_int(b, bits, 23)),
               rest = ac_lb_and(b, bits, ac_lb_like_int(b, bits, 0x7fffff));
    const ac_x tiny =
        ac_lb_eq(b, exp, zero); /* 0.5 <= x / 2^-126 < 1 has the code 0, so its mantissa begins a place lower */
    const ac_x least = ac_lb_select(b, tiny, ac_lb_like_int(b, bits, round == 2 ? 0x600000 : 0x400001),
                                    ac_lb_like_int(b, bits, round == 2 ? 0x400000 : 1));
    ac_x code = round == 1 ? exp : ac_lb_select(b, ac_lb_ge(b, rest, least), ac_lb_add_wrap(b, exp, one), exp);
    code = ac_lb_min(b, code, ac_lb_like_int(b, code, wraps ? 255 : 254));
    const ac_x bad = ac_lb_or(b, ac_lb_lt(b, x, ac_lb_like(b, x, 0)), ac_lb_ne(b, x, x));
    return ac_lb_cast(b, ac_lb_select(b, bad, ac_lb_like_int(b, code, 255), ac_lb_max(b, code, zero)), AC_U8);
}

ac_x ac_mp_to_minifloat(ac_lower *L, ac_dtype d, ac_x x, bool wraps, int32_t round)
{
    ac_lb *b = &L->b;
    const ac_minifloat *m = ac_dtype_minifloat(d);
    if (!m)
        return to_exponent(b, x, wraps, round);
    const int32_t shift = 23 - m->man;
    const ac_x size = ac_lb_abs(b, x), bits = ac_lb_bitcast(b, size, AC_I32);
    const ac_x odd = ac_lb_and(b, ac_lb_shr(b, bits, ac_lb_like_int(b, bits, shift)), ac_lb_like_int(b, bits, 1));
    ac_x code = ac_lb_add_wrap(b, ac_lb_add_wrap(b, bits, ac_lb_like_int(b, bits, (1 << (shift - 1)) - 1)), odd);
    code = ac_lb_sub_wrap(b, ac_lb_shr(b, code, ac_lb_like_int(b, bits, shift)),
                          ac_lb_like_int(b, bits, (int64_t)(127 - m->bias) << m->man));
    /* Below the smallest normal value: counted in steps of the last place; a carry gives the code of that value. */
    const ac_x steps = ac_lb_rint(b, ac_lb_mul(b, size, ac_lb_like(b, x, ldexp(1, m->bias - 1 + m->man))));
    const ac_x few = ac_lb_cast(b, ac_lb_min(b, steps, ac_lb_like(b, x, 256)), AC_I32);
    code = ac_lb_select(b, ac_lb_lt(b, size, ac_lb_like(b, x, ldexp(1, 1 - m->bias))), few, code);
    const ac_x over = ac_lb_gt(b, code, ac_lb_like_int(b, code, m->most));
    code = ac_lb_select(b, over, ac_lb_like_int(b, code, wraps ? m->over : m->most), code);
    const ac_x zero = ac_lb_like_int(b, bits, 0);
    const ac_x minus = ac_lb_lt(b, ac_lb_bitcast(b, x, AC_I32), zero);
    const ac_x sign = ac_lb_select(b, minus, ac_lb_like_int(b, bits, m->sign), zero);
    const ac_x nan = ac_lb_like_int(b, bits, m->nan);
    ac_x v = ac_lb_or(b, code, sign);
    if (m->uz)
        v = ac_lb_select(b, ac_lb_eq(b, code, zero), zero, v);
    v = ac_lb_select(b, ac_lb_ne(b, x, x), m->uz ? nan : ac_lb_or(b, nan, sign), v);
    return ac_lb_cast(b, v, AC_U8);
}

/* f64 -> f32, inexact results with an odd last bit: a second rounding to at most 22 bits is then as if from f64. */
ac_x ac_mp_round_odd(ac_lower *L, ac_x x)
{
    ac_lb *b = &L->b;
    const ac_x near = ac_lb_cast(b, x, AC_F32), back = ac_lb_cast(b, near, AC_F64);
    const ac_x bits = ac_lb_bitcast(b, near, AC_I32), one = ac_lb_like_int(b, bits, 1);
    const ac_x down =
        ac_lb_select(b, ac_lb_gt(b, ac_lb_abs(b, back), ac_lb_abs(b, x)), ac_lb_sub_wrap(b, bits, one), bits);
    const ac_x odd = ac_lb_bitcast(b, ac_lb_or(b, down, one), AC_F32);
    const ac_x exact = ac_lb_or(b, ac_lb_eq(b, back, x), ac_lb_ne(b, x, x));
    return ac_lb_select(b, exact, near, odd);
}
