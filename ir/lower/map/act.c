/* act.c - piecewise activations: relu and its relatives, leaky_relu, prelu, hard_swish; float and quantised.
 *
 * Quantised forms (i8, u8, i16; hard_swish i8, u8) are bit for bit TFLite's reference: kernels/activations.cc
 * (QuantizedReluX), reference/leaky_relu.h, prelu.h, hard_swish.h. Effective scales are formed in float, as there. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"

#include <math.h>

static bool quantised_pair(const ac_node *n)
{
    const ac_dtype d = n->in[0]->dtype;
    return ac_mp_quantised(n->in[0]) && ac_mp_quantised(n->out[0]) && d == n->out[0]->dtype &&
           (d == AC_I8 || d == AC_U8 || d == AC_I16);
}

/* min(max(x, lo), hi); hi may be infinite. */
static ac_x relu(ac_lower *L, const ac_node *n, ac_x x, double lo, double hi)
{
    ac_lb *b = &L->b;
    if (ac_mp_real(n->in[0]) && n->in[0]->dtype == n->out[0]->dtype) {
        x = ac_lb_max(b, ac_lb_like(b, x, lo), x); /* in this order NaN stays NaN */
        return isinf(hi) ? x : ac_lb_min(b, ac_lb_like(b, x, hi), x);
    }
    const ac_tensor *out = n->out[0];
    if (!quantised_pair(n))
        return ac_mp_refuse(L, n);
    const ac_multiplier q = ac_quantize_multiplier((double)(ac_quant_scale(n->in[0]) / ac_quant_scale(out)));
    const ac_x v = ac_lo_requant(L, ac_mp_centered(L, x, n->in[0]), q);
    return ac_mp_stored(L, v, out, ac_quantized_bound(lo, out), ac_quantized_bound(hi, out));
}

ac_x ac_mp_relu(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return relu(L, n, arg[0], 0, HUGE_VAL);
}
ac_x ac_mp_relu6(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return relu(L, n, arg[0], 0, 6);
}
ac_x ac_mp_relu_n1(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return relu(L, n, arg[0], -1, 1);
}
ac_x ac_mp_relu_01(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return relu(L, n, arg[0], 0, 1);
}

ac_x ac_mp_leaky_relu(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    const float alpha = n->attrs.alpha.alpha;
    if (ac_mp_real(n->in[0]) && n->in[0]->dtype == n->out[0]->dtype) {
        const ac_x slope = ac_lb_mul(b, arg[0], ac_lb_like(b, arg[0], (double)alpha));
        return ac_lb_select(b, ac_lb_gt(b, arg[0], ac_lb_like(b, arg[0], 0)), arg[0], slope);
    }
    if (!quantised_pair(n))
        return ac_mp_refuse(L, n);
    const float si = ac_quant_scale(n->in[0]), so = ac_quant_scale(n->out[0]);
    const ac_multiplier keep = ac_quantize_multiplier((double)(si / so));
    ac_multiplier slope = ac_quantize_multiplier((double)(si * alpha / so));
    const bool minus = slope.m < 0; /* the reference multiplies by |alpha| and negates */
    slope.m = minus ? -slope.m : slope.m;
    const ac_x v = ac_mp_centered(L, arg[0], n->in[0]), zero = ac_lb_like_int(b, v, 0);
    ac_x below = ac_lo_requant(L, v, slope);
    if (minus)
        below = ac_lb_sub_wrap(b, zero, below);
    return ac_mp_stored_full(L, ac_lb_select(b, ac_lb_ge(b, v, zero), ac_lo_requant(L, v, keep), below), n->out[0]);
}

ac_x ac_mp_prelu(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    const ac_tensor *x = n->in[0], *alpha = n->in[1], *out = n->out[0];
    if (ac_mp_real(x) && x->dtype == out->dtype && alpha->dtype == x->dtype)
        return ac_lb_select(b, ac_lb_ge(b, arg[0], ac_lb_like(b, arg[0], 0)), arg[0], ac_lb_mul(b, arg[0], arg[1]));
    if (!quantised_pair(n) || !ac_mp_quantised(alpha) || ac_dtype_bits(alpha->dtype) > 16)
        return ac_mp_refuse(L, n);
    const float si = ac_quant_scale(x), sa = ac_quant_scale(alpha), so = ac_quant_scale(out);
    const ac_multiplier keep = ac_quantize_multiplier((double)(si / so));
    const ac_multiplier slope = ac_quantize_multiplier((double)(si * sa / so));
    const ac_x v = ac_mp_centered(L, arg[0], x), a = ac_mp_centered(L, arg[1], alpha);
    const ac_x below = ac_lo_requant(L, ac_lb_mul_wrap(b, v, a), slope);
    return ac_mp_stored_full(
        L, ac_lb_select(b, ac_lb_ge(b, v, ac_lb_like_int(b, v, 0)), ac_lo_requant(L, v, keep), below), out);
}

/* A multiplier's upper 16 bits, rounded. */
static int32_t upper_16(int32_t m)
{
    return m >= INT32_MAX - (1 << 15) ? INT16_MAX : (m + (1 << 15)) >> 16;
}

static ac_x saturate_16(ac_lb *b, ac_x v)
{
    return ac_lb_clamp(b, v, ac_lb_like_int(b, v, INT16_MIN), ac_lb_like_int(b, v, INT16_MAX));
}

/* (x * m + 2^14) >> 15: the rounding high half of 16-bit numbers; m is never the most negative one. */
static ac_x mul_q15(ac_lb *b, ac_x x, int32_t m)
{
    const ac_x p = ac_lb_add(b, ac_lb_mul(b, x, ac_lb_like_int(b, x, m)), ac_lb_like_int(b, x, 1 << 14));
    return ac_lb_shr(b, p, ac_lb_like_int(b, x, 15));
}

/* v / 2^e rounded to nearest, ties away from zero. */
static ac_x round_shift(ac_lb *b, ac_x v, int32_t e)
{
    if (e <= 0)
        return v;
    const ac_x negative = ac_lb_shr(b, v, ac_lb_like_int(b, v, 31));
    return ac_lb_shr(b, ac_lb_add(b, ac_lb_add(b, v, ac_lb_like_int(b, v, 1 << (e - 1))), negative),
                     ac_lb_like_int(b, v, e));
}

/* x * relu6(x + 3) / 6 in 16-bit fixed point: x at 7 more bits, times a factor in [0, 1] with 15 bits. */
static ac_x hard_swish_8(ac_lower *L, const ac_node *n, ac_x stored)
{
    ac_lb *b = &L->b;
    const float hires = (1.0f / 128.0f) * ac_quant_scale(n->in[0]);
    const ac_multiplier to_out = ac_quantize_multiplier((double)(hires / ac_quant_scale(n->out[0])));
    const ac_multiplier to_relu = ac_quantize_multiplier((double)(hires / (3.0f / 32768.0f)));
    if (to_out.shift > 0) {
        ac_lower_refuse(L, "hard_swish: the input scale %g is more than 128 times the output scale %g",
                        (double)ac_quant_scale(n->in[0]), (double)ac_quant_scale(n->out[0]));
        return 0;
    }
    ac_x v = ac_mp_centered(L, stored, n->in[0]);
    v = ac_lb_mul(b, v, ac_lb_like_int(b, v, 1 << 7));
    const ac_x on_output = mul_q15(b, v, upper_16(to_out.m));
    ac_x factor = v;
    if (to_relu.shift > 1) {
        const int32_t left = to_relu.shift - 1 > 15 ? 15 : to_relu.shift - 1; /* 15 saturate all but 0 as well */
        factor = saturate_16(b, ac_lb_mul(b, factor, ac_lb_like_int(b, factor, 1 << left)));
    }
    factor = mul_q15(b, factor, upper_16(to_relu.m));
    if (to_relu.shift > 0)
        factor = saturate_16(b, ac_lb_mul(b, factor, ac_lb_like_int(b, factor, 2)));
    factor = round_shift(b, factor, -to_relu.shift);
    factor = ac_lb_shr(b, ac_lb_add(b, factor, ac_lb_like_int(b, factor, 1 << 15)), ac_lb_like_int(b, factor, 1));
    /* Rounds towards zero, to compensate for the bias of the rounded products above. */
    const ac_x product = ac_lb_mul(b, factor, on_output);
    const ac_x toward =
        ac_lb_and(b, ac_lb_shr(b, product, ac_lb_like_int(b, product, 31)), ac_lb_like_int(b, product, 32767));
    const ac_x scaled = ac_lb_shr(b, ac_lb_add(b, product, toward), ac_lb_like_int(b, product, 15));
    return ac_mp_stored_full(L, round_shift(b, scaled, -to_out.shift), n->out[0]);
}

ac_x ac_mp_hard_swish(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    const ac_x x = arg[0];
    if (ac_mp_real(n->in[0]) && n->in[0]->dtype == n->out[0]->dtype) {
        ac_x gate = ac_lb_max(b, ac_lb_like(b, x, 0), ac_lb_add(b, x, ac_lb_like(b, x, 3)));
        gate = ac_lb_min(b, ac_lb_like(b, x, 6), gate);
        return ac_lb_div(b, ac_lb_mul(b, x, gate), ac_lb_like(b, x, 6));
    }
    if (!quantised_pair(n) || n->in[0]->dtype == AC_I16)
        return ac_mp_refuse(L, n);
    return hard_swish_8(L, n, x);
}
