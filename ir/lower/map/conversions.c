/* conversions.c - quantize, dequantize, cast.
 *
 *     quantize    float -> integer: round(x / scale) half away from zero, plus zero point, clamped; NaN and -inf give
 *                 the lowest value, +inf the highest. Integer -> integer: requantised (reference/quantize.h,
 *                 requantize.h)
 *     dequantize  (stored - zero) * scale in f32; f16 and bf16 widen
 *     cast        float -> integer truncates and clamps to the range (NaN gives 0; with clamp and at most 16 bits
 *                 the least value); integer -> integer keeps the low bits */
#include "ir/dtype/minifloat.h"
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"

/* Scale and zero point of the node's quantised side as values: immediates, or operands that map.c has added. */
static void affine(ac_lower *L, const ac_tensor *t, const ac_x *arg, ac_x like, ac_x *scale, ac_x *zero)
{
    ac_lb *b = &L->b;
    const bool per_axis = t->quant && t->quant->n > 1;
    *scale = per_axis ? arg[1] : ac_lb_splat(b, ac_lb_f32(b, (double)ac_quant_scale(t)), ac_lb_lane_count(b, like));
    *zero = per_axis ? arg[2] : ac_lb_splat(b, ac_lb_i32(b, ac_quant_zero(t)), ac_lb_lane_count(b, like));
}

static ac_x from_float(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    const ac_tensor *out = n->out[0];
    const ac_x x = ac_lb_cast(b, arg[0], AC_F32);
    ac_x scale, zero;
    affine(L, out, arg, x, &scale, &zero);
    const ac_x v = ac_mp_round_away(L, ac_lb_div(b, x, scale));
    /* The clamp in float, so that the cast fits; 2^31 - 128 is the largest float below 2^31. */
    const ac_x f_zero = ac_lb_cast(b, zero, AC_F32);
    const double least = (double)ac_dtype_min(out->dtype), most = (double)ac_dtype_max(out->dtype);
    const ac_x lo = ac_lb_sub(b, ac_lb_like(b, v, least), f_zero);
    const ac_x hi = ac_lb_sub(b, ac_lb_like(b, v, most > 2147483520.0 ? 2147483520.0 : most), f_zero);
    const ac_x whole = ac_lb_cast(b, ac_lb_min(b, ac_lb_max(b, v, lo), hi), AC_I32);
    return ac_lb_cast(b, ac_lb_add_wrap(b, whole, zero), out->dtype);
}

static ac_x from_int(ac_lower *L, const ac_node *n, ac_x stored)
{
    const ac_tensor *in = n->in[0], *out = n->out[0];
    const ac_multiplier q = ac_quantize_multiplier((double)ac_quant_scale(in) / (double)ac_quant_scale(out));
    return ac_mp_stored_full(L, ac_lo_requant(L, ac_mp_centered(L, stored, in), q), out);
}

ac_x ac_mp_quantize(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    const ac_tensor *in = n->in[0], *out = n->out[0];
    if (!ac_mp_quantised(out) || (ac_dtype_bits(out->dtype) > 16 && out->dtype != AC_I32) || out->dtype == AC_U16)
        return ac_mp_refuse(L, n);
    if (in->dtype == AC_F32 || ac_dtype_is_half(in->dtype))
        return from_float(L, n, arg);
    if (!ac_mp_quantised(in) || out->quant->n > 1 || in->quant->n > 1 ||
        (ac_dtype_bits(in->dtype) > 16 && in->dtype != AC_I32))
        return ac_mp_refuse(L, n);
    return from_int(L, n, arg[0]);
}

ac_x ac_mp_dequantize(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    const ac_tensor *in = n->in[0], *out = n->out[0];
    if (ac_dtype_is_float(in->dtype))
        return ac_lb_cast(b, arg[0], out->dtype);
    if (!ac_mp_quantised(in) || out->dtype != AC_F32 || ac_dtype_bits(in->dtype) > 32)
        return ac_mp_refuse(L, n);
    ac_x v = ac_lb_cast(b, arg[0], AC_I32), scale, zero;
    affine(L, in, arg, v, &scale, &zero);
    v = ac_lb_sub_wrap(b, v, zero);
    if (ac_dtype_bits(in->dtype) <= 16) /* exact in f32, so one rounding: equal to the reference's double product */
        return ac_lb_mul(b, ac_lb_cast(b, v, AC_F32), scale);
    return ac_lb_cast(b, ac_lb_mul(b, ac_lb_cast(b, v, AC_F64), ac_lb_cast(b, scale, AC_F64)), AC_F32);
}

/* The low bits of an integer as i4, u4, i2 or u2: a byte, sign-extended. */
static ac_x to_nibble(ac_lower *L, ac_x v, ac_dtype to)
{
    ac_lb *b = &L->b;
    const int32_t bits = ac_dtype_file_bits(to);
    v = ac_lb_cast(b, v, ac_dtype_loops(to));
    if (!ac_dtype_is_signed(to))
        return ac_lb_and(b, v, ac_lb_like_int(b, v, (1 << bits) - 1));
    const ac_x sign = ac_lb_like_int(b, v, 1 << (bits - 1));
    v = ac_lb_and(b, v, ac_lb_like_int(b, v, (1 << bits) - 1));
    return ac_lb_sub_wrap(b, ac_lb_xor(b, v, sign), sign);
}

/* A float as an integer of at most 16 bits: clamped, NaN is the least. */
static ac_x clamped(ac_lower *L, ac_x v, ac_dtype to)
{
    ac_lb *b = &L->b;
    const ac_x lo = ac_lb_like(b, v, (double)ac_dtype_min(to)), hi = ac_lb_like(b, v, (double)ac_dtype_max(to));
    v = ac_lb_clamp(b, v, lo, hi); /* in this order NaN is the least */
    return ac_lb_satcast(b, ac_lb_cast(b, v, AC_I32), ac_dtype_loops(to));
}

/* Numeric conversions. Floats to integers: truncated, clamped to the range, NaN is 0; to i4, u4, i2 and u2 the low bits
 * of that as i32. Integers to narrower ones: the low bits. To floats: rounded to nearest even once, also from f64 to
 * f16. */
ac_x ac_mp_cast(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    const ac_attrs_cast *a = &n->attrs.cast;
    const ac_dtype from = n->in[0]->dtype, to = n->out[0]->dtype, as = ac_dtype_loops(to);
    ac_x v = arg[0];
    if (from == to)
        return v;
    if (ac_dtype_is_minifloat(from))
        v = ac_mp_from_minifloat(L, from, v);
    else if (ac_dtype_is_half(from))
        v = ac_lb_cast(b, v, AC_F32);
    const bool real = ac_dtype_is_float(ac_lb_dtype(b, v)), minifloat = ac_dtype_is_minifloat(to);
    if (minifloat || ac_dtype_is_half(to)) { /* integers via f32: its 24 bits exceed the precision of f16 */
        v = ac_lb_dtype(b, v) == AC_F64 ? ac_mp_round_odd(L, v) : ac_lb_cast(b, v, AC_F32);
        return minifloat ? ac_mp_to_minifloat(L, to, v, a->wraps, a->round) : ac_lb_cast(b, v, to);
    }
    if (a->clamp && real && ac_dtype_is_int(to) && ac_dtype_file_bits(to) <= 16)
        return clamped(L, v, to);
    if (as != to)
        return to_nibble(L, real ? ac_lb_satcast(b, v, AC_I32) : v, to);
    return real && ac_dtype_is_int(to) ? ac_lb_satcast(b, v, to) : ac_lb_cast(b, v, to);
}

/* The same bits as another type of the same size. */
ac_x ac_mp_bitcast(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    const ac_dtype from = n->in[0]->dtype, to = n->out[0]->dtype;
    if (to == AC_BOOL || ac_dtype_file_bits(from) != ac_dtype_file_bits(to))
        return ac_mp_refuse(L, n);
    if (from == AC_BOOL)
        return ac_lb_bitcast(&L->b, ac_lb_cast(&L->b, arg[0], AC_U8), ac_dtype_loops(to));
    return ac_lb_bitcast(&L->b, arg[0], ac_dtype_loops(to));
}
