/* arithmetic.c - two-operand arithmetic: add, sub, mul, div, floor_div, floor_mod, minimum, maximum, pow,
 * squared_difference, mul_add.
 *
 * Plain integers wrap. Division by zero gives 0 (TFLite reports an error at run time; generated code cannot fail inside
 * a map), the most negative number divided by -1 wraps. Quantised forms are in quantised_arithmetic.c. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/map/quantised_arithmetic.h"

#include <math.h>

static bool same_kind(const ac_node *n)
{
    return n->in[0]->dtype == n->in[1]->dtype && n->in[0]->dtype == n->out[0]->dtype;
}

static bool any_quantised(const ac_node *n)
{
    return ac_mp_quantised(n->in[0]) || ac_mp_quantised(n->in[1]) || ac_mp_quantised(n->out[0]);
}

/* The activation of the attributes, on floats and plain integers. */
static ac_x act(ac_lower *L, const ac_node *n, ac_x v)
{
    if (n->attrs.act.act == AC_ACT_TANH && n->out[0]->dtype != AC_F32)
        return ac_mp_refuse(L, n);
    return ac_lo_act(L, v, n->attrs.act.act);
}

/* Bytes without a scale are added to floats as the numbers that they are. */
static bool adds_bytes(const ac_node *n)
{
    const ac_tensor *x = n->in[0], *y = n->in[1];
    return x->dtype == AC_F32 && !y->quant && (y->dtype == AC_I8 || y->dtype == AC_U8) && n->out[0]->dtype == AC_F32;
}

ac_x ac_mp_add(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    if (adds_bytes(n))
        return act(L, n, ac_lb_add(&L->b, arg[0], ac_lb_cast(&L->b, arg[1], AC_F32)));
    if (!same_kind(n))
        return ac_mp_refuse(L, n);
    if (any_quantised(n))
        return ac_mp_quant_sum(L, n, arg, false);
    if (!ac_mp_real(n->out[0]) && !ac_mp_plain_int(n->out[0]))
        return ac_mp_refuse(L, n);
    return act(L, n, ac_lb_add_wrap(&L->b, arg[0], arg[1]));
}

ac_x ac_mp_sub(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    if (!same_kind(n))
        return ac_mp_refuse(L, n);
    if (any_quantised(n))
        return ac_mp_quant_sum(L, n, arg, true);
    if (!ac_mp_real(n->out[0]) && !ac_mp_plain_int(n->out[0]))
        return ac_mp_refuse(L, n);
    return act(L, n, ac_lb_sub_wrap(&L->b, arg[0], arg[1]));
}

ac_x ac_mp_mul(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    if (any_quantised(n))
        return ac_mp_quant_mul(L, n, arg);
    if (!same_kind(n) || (!ac_mp_real(n->out[0]) && !ac_mp_plain_int(n->out[0])))
        return ac_mp_refuse(L, n);
    return act(L, n, ac_lb_mul_wrap(&L->b, arg[0], arg[1]));
}

/* Divisor with 0 replaced by 1, and -1 (which would overflow on the most negative number) by 1; *neg is set for the
 * latter.
 */
static ac_x safe_divisor(ac_lower *L, ac_x y, ac_x *zero, ac_x *neg)
{
    ac_lb *b = &L->b;
    const ac_x one = ac_lb_like_int(b, y, 1);
    *zero = ac_lb_eq(b, y, ac_lb_like_int(b, y, 0));
    *neg = 0;
    y = ac_lb_select(b, *zero, one, y);
    if (!ac_dtype_is_signed(ac_lb_dtype(b, y)))
        return y;
    *neg = ac_lb_eq(b, y, ac_lb_like_int(b, y, -1));
    return ac_lb_select(b, *neg, one, y);
}

/* Quotient and remainder towards zero, for any operands. */
static void int_div(ac_lower *L, ac_x x, ac_x y, ac_x *quotient, ac_x *rest)
{
    ac_lb *b = &L->b;
    const ac_x null = ac_lb_like_int(b, x, 0);
    ac_x zero, neg;
    const ac_x safe = safe_divisor(L, y, &zero, &neg);
    ac_x q = ac_lb_div(b, x, safe);
    *rest = ac_lb_sub_wrap(b, x, ac_lb_mul_wrap(b, q, safe));
    if (neg)
        q = ac_lb_select(b, neg, ac_lb_sub_wrap(b, null, q), q);
    *quotient = ac_lb_select(b, zero, null, q);
}

ac_x ac_mp_div(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    if (!same_kind(n))
        return ac_mp_refuse(L, n);
    if (any_quantised(n))
        return ac_mp_quant_div(L, n, arg);
    if (ac_mp_real(n->out[0]))
        return act(L, n, ac_lb_div(&L->b, arg[0], arg[1]));
    if (!ac_mp_plain_int(n->out[0]))
        return ac_mp_refuse(L, n);
    ac_x q, rest;
    int_div(L, arg[0], arg[1], &q, &rest);
    return act(L, n, q);
}

/* bool: true if the remainder (of a division towards zero) and the divisor have opposite signs. */
static ac_x wrong_side(ac_lower *L, ac_x rest, ac_x y)
{
    ac_lb *b = &L->b;
    const ac_x zero = ac_lb_like(b, rest, 0);
    const ac_x differ = ac_lb_ne(b, ac_lb_lt(b, rest, zero), ac_lb_lt(b, y, zero));
    return ac_lb_and(b, ac_lb_ne(b, rest, zero), differ);
}

ac_x ac_mp_floor_div(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (!same_kind(n) || any_quantised(n))
        return ac_mp_refuse(L, n);
    if (ac_mp_real(n->out[0]))
        return ac_lb_floor(b, ac_lb_div(b, arg[0], arg[1]));
    if (!ac_mp_plain_int(n->out[0]))
        return ac_mp_refuse(L, n);
    ac_x q, rest;
    int_div(L, arg[0], arg[1], &q, &rest);
    if (!ac_dtype_is_signed(n->out[0]->dtype))
        return q;
    const ac_x zero = ac_lb_like_int(b, q, 0);
    const ac_x lower = ac_lb_and(b, wrong_side(L, rest, arg[1]), ac_lb_ne(b, arg[1], zero));
    return ac_lb_sub_wrap(b, q, ac_lb_select(b, lower, ac_lb_like_int(b, q, 1), zero)); /* fits: there is a remainder */
}

ac_x ac_mp_floor_mod(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (!same_kind(n) || any_quantised(n))
        return ac_mp_refuse(L, n);
    ac_x rest;
    if (ac_mp_real(n->out[0])) {
        rest = ac_lo_fmod(L, arg[0], arg[1]);
    } else if (ac_mp_plain_int(n->out[0])) {
        ac_x q;
        int_div(L, arg[0], arg[1], &q, &rest);
        if (!ac_dtype_is_signed(n->out[0]->dtype))
            return rest;
    } else {
        return ac_mp_refuse(L, n);
    }
    const ac_x move = wrong_side(L, rest, arg[1]);
    return ac_lb_select(b, move, ac_lb_add_wrap(b, rest, arg[1]), rest);
}

/* True if t is a constant without NaN. */
static bool all_numbers(const ac_tensor *t)
{
    if (!t->data)
        return false;
    for (int64_t i = 0; i < ac_tensor_count(t); i++)
        if (isnan(ac_dtype_get_num(t->dtype, t->data, i)))
            return false;
    return true;
}

/* Quantised operands share one scale (TFLite demands it), so stored values compare as real ones do. NaN: the second
 * operand, or NaN with keep_nan. */
static ac_x extreme(ac_lower *L, const ac_node *n, const ac_x *arg, bool most)
{
    ac_lb *b = &L->b;
    if (!same_kind(n) || (!ac_mp_real(n->out[0]) && !ac_dtype_is_int(n->out[0]->dtype)))
        return ac_mp_refuse(L, n);
    if (!n->attrs.extreme.keep_nan)
        return most ? ac_lb_max(b, arg[0], arg[1]) : ac_lb_min(b, arg[0], arg[1]);
    const bool turned = ac_mp_real(n->out[0]) && all_numbers(n->in[1]);
    const ac_x x = arg[turned], y = arg[!turned];
    if (turned || all_numbers(n->in[0]))
        return most ? ac_lb_max(b, x, y) : ac_lb_min(b, x, y);
    return most ? ac_lb_max_nan(b, x, y) : ac_lb_min_nan(b, x, y);
}

ac_x ac_mp_minimum(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return extreme(L, n, arg, false);
}

ac_x ac_mp_maximum(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return extreme(L, n, arg, true);
}

/* x^y by squaring, wrapping; a negative exponent gives 0 unless x is 1 or -1 (TFLite refuses it at run time). */
static ac_x int_pow(ac_lower *L, ac_x x, ac_x y)
{
    ac_lb *b = &L->b;
    const ac_x one = ac_lb_like_int(b, x, 1), zero = ac_lb_like_int(b, x, 0);
    const ac_x r = ac_lb_var(b, "r", one), p = ac_lb_var(b, "p", x), e = ac_lb_var(b, "e", y);
    ac_lb_for(b, "k", ac_lb_i32(b, 0), ac_lb_i32(b, ac_dtype_bits(ac_lb_dtype(b, x)) - 1), 1, AC_MARK_SERIAL);
    const ac_x bit = ac_lb_ne(b, ac_lb_and(b, ac_lb_get(b, e), one), zero);
    ac_lb_set(b, r, ac_lb_select(b, bit, ac_lb_mul_wrap(b, ac_lb_get(b, r), ac_lb_get(b, p)), ac_lb_get(b, r)));
    ac_lb_set(b, p, ac_lb_mul_wrap(b, ac_lb_get(b, p), ac_lb_get(b, p)));
    ac_lb_set(b, e, ac_lb_shr(b, ac_lb_get(b, e), one));
    ac_lb_end(b);
    const ac_x minus = ac_lb_like_int(b, x, -1);
    const ac_x odd = ac_lb_ne(b, ac_lb_and(b, y, one), zero);
    ac_x inverse = ac_lb_select(b, ac_lb_eq(b, x, one), one, zero);
    inverse = ac_lb_select(b, ac_lb_eq(b, x, minus), ac_lb_select(b, odd, minus, one), inverse);
    return ac_lb_select(b, ac_lb_lt(b, y, zero), inverse, ac_lb_get(b, r));
}

ac_x ac_mp_pow(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    if (!same_kind(n) || any_quantised(n))
        return ac_mp_refuse(L, n);
    if (ac_mp_real(n->out[0]))
        return ac_lo_pow(L, arg[0], arg[1]);
    if (ac_mp_plain_int(n->out[0]) && ac_dtype_is_signed(n->out[0]->dtype))
        return int_pow(L, arg[0], arg[1]);
    return ac_mp_refuse(L, n);
}

ac_x ac_mp_sqdiff(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    if (!same_kind(n))
        return ac_mp_refuse(L, n);
    if (any_quantised(n))
        return ac_mp_quant_sqdiff(L, n, arg);
    if (!ac_mp_real(n->out[0]) && !ac_mp_plain_int(n->out[0]))
        return ac_mp_refuse(L, n);
    const ac_x d = ac_lb_sub_wrap(&L->b, arg[0], arg[1]);
    return ac_lb_mul_wrap(&L->b, d, d);
}

/* In f64 the product is exact. An inexact sum is rounded to odd, so that rounding to f32 is correct. */
static ac_x fused_by_f64(ac_lb *b, const ac_x *arg)
{
    const ac_x p = ac_lb_mul(b, ac_lb_cast(b, arg[0], AC_F64), ac_lb_cast(b, arg[1], AC_F64));
    const ac_x q = ac_lb_cast(b, arg[2], AC_F64), sum = ac_lb_add(b, p, q), part = ac_lb_sub(b, sum, p);
    const ac_x lost = ac_lb_add(b, ac_lb_sub(b, p, ac_lb_sub(b, sum, part)), ac_lb_sub(b, q, part));
    const ac_x zero = ac_lb_like(b, sum, 0), bits = ac_lb_bitcast(b, sum, AC_I64), one = ac_lb_like_int(b, bits, 1);
    const ac_x more = ac_lb_gt(b, lost, zero), rounded = ac_lb_or(b, more, ac_lb_lt(b, lost, zero)); /* NaN: neither */
    const ac_x away = ac_lb_eq(b, more, ac_lb_gt(b, sum, zero));
    const ac_x odd = ac_lb_add_wrap(b, bits, ac_lb_select(b, away, one, ac_lb_like_int(b, bits, -1)));
    const ac_x even = ac_lb_eq(b, ac_lb_and(b, bits, one), ac_lb_like_int(b, bits, 0));
    const ac_x chosen = ac_lb_select(b, ac_lb_and(b, even, rounded), odd, bits);
    return ac_lb_cast(b, ac_lb_bitcast(b, chosen, AC_F64), AC_F32);
}

/* Rounded once on every target. */
ac_x ac_mp_mul_add(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    (void)n;
    return L->target->fma ? ac_lb_fma(&L->b, arg[0], arg[1], arg[2]) : fused_by_f64(&L->b, arg);
}
