/* functions.c - exp, log, tanh, logistic, elu, gelu, rsqrt: arithmetic on f32, look-up tables on quantised tensors.
 *
 *     i8, u8   256 entries, index value - minimum: the function in float, rounded half away from zero, as TFLite's
 * LUTPopulate i16      exp, log, rsqrt, gelu: 513 entries and linear interpolation (LUTPopulate and LUTLookup for
 * int16); tanh, logistic: the 256 entries of sigmoid(i / 24) (integer_ops/tanh.h, logistic.h)
 *
 * Tables are computed here when loops are built. Functions are evaluated in double and rounded to float, so that tables
 * do not depend on the host's float library. Table forms take one lane at a time (OF_TABLE). */
#include "ir/lower/entries.h"
#include "ir/lower/fixed_point.h"
#include "ir/lower/lookup.h"
#include "ir/lower/map/map.h"

#include <math.h>

typedef ac_curve curve;

static float curve_log(float x, float floor)
{
    return x <= 0 ? floor : (float)log((double)x);
}
/* 1/sqrt(0) is the highest 16-bit value; floor is the lowest one times the scale. */
static float curve_rsqrt(float x, float floor)
{
    return x <= 0 ? 32767.0f * (floor / -32768.0f) : 1.0f / sqrtf(x);
}
static float curve_tanh(float x, float floor)
{
    (void)floor;
    return (float)tanh((double)x);
}
static float curve_logistic(float x, float floor)
{
    return 1.0f / (1.0f + ac_curve_exp(-x, floor));
}
static float curve_elu(float x, float floor)
{
    return x < 0 ? ac_curve_exp(x, floor) - 1.0f : x;
}
static float curve_gelu(float x, float floor)
{
    (void)floor;
    return 0.5f * x * (float)erfc((double)(x * -0.70710678118654752440f));
}
static float curve_gelu_tanh(float x, float floor)
{
    const float k = 1.12837916709551257390f * 0.70710678118654752440f; /* sqrt(2 / pi) */
    return 0.5f * x * (1.0f + curve_tanh(k * (x + 0.044715f * x * x * x), floor));
}

static ac_x look_up_8(ac_lower *L, const ac_node *n, ac_x x, curve *f)
{
    const ac_tensor *in = n->in[0], *out = n->out[0];
    const int32_t lo = (int32_t)ac_dtype_min(out->dtype), hi = (int32_t)ac_dtype_max(out->dtype);
    const int32_t first = (int32_t)ac_dtype_min(in->dtype);
    const float inverse = 1 / ac_quant_scale(out), floor = (float)(lo - ac_quant_zero(out)) * ac_quant_scale(out);
    uint8_t table[256];
    for (int32_t i = 0; i < 256; i++) {
        const float real = ac_quant_scale(in) * (float)(i + first - ac_quant_zero(in));
        const float stored = roundf(f(real, floor) * inverse) + (float)ac_quant_zero(out);
        table[i] = (uint8_t)(int32_t)(stored >= (float)hi ? (float)hi : stored > (float)lo ? stored : (float)lo);
    }
    const int32_t buf = ac_lo_table(L, "table", out->dtype, 256, table);
    const ac_x at = ac_lb_cast(&L->b, x, AC_I32);
    return ac_lb_load(&L->b, buf, ac_lb_sub(&L->b, at, ac_lb_i32(&L->b, first)), 1);
}

static ac_x look_up_16(ac_lower *L, const ac_node *n, ac_x x, curve *f)
{
    const ac_tensor *in = n->in[0], *out = n->out[0];
    int16_t table[513];
    ac_table_16(table, ac_quant_scale(in), ac_quant_zero(in), ac_quant_scale(out), ac_quant_zero(out), f);
    const int32_t buf = ac_lo_table(L, "table", AC_I16, 513, table);
    return ac_lb_cast(&L->b, ac_lo_table_16(L, buf, ac_lb_cast(&L->b, x, AC_I32)), AC_I16);
}

static ac_x look_up(ac_lower *L, const ac_node *n, ac_x x, curve *f)
{
    const ac_tensor *in = n->in[0], *out = n->out[0];
    if (!ac_mp_quantised(in) || !ac_mp_quantised(out) || in->dtype != out->dtype)
        return ac_mp_refuse(L, n);
    if (in->dtype == AC_I16)
        return look_up_16(L, n, x, f);
    return ac_dtype_bits(in->dtype) == 8 ? look_up_8(L, n, x, f) : ac_mp_refuse(L, n);
}

/* 65536 * sigmoid(i / 24) in 16 bits. Eight entries of the reference's table differ from the rounded function by
 * one. */
static int32_t sigmoid_table(ac_lower *L)
{
    static const int16_t up[] = {4, 28, 29, 33, 35, 43, 255};
    uint16_t table[256];
    for (int32_t i = 0; i < 256; i++) {
        const double v = floor(65536 / (1 + exp(-i * 0.04166808)) + 0.5);
        table[i] = (uint16_t)(v > 65535 ? 65535 : v);
    }
    for (size_t i = 0; i < sizeof up / sizeof *up; i++)
        table[up[i]]++;
    table[174]--;
    return ac_lo_table(L, "sigmoid", AC_U16, 256, table);
}

/* Input multiplier of the int16 forms: scale * 4096 * 3 as m * 2^-shift with 15 bits. Input scales that are powers of
 * two and need no (tanh: at most one) further bit are multiplied by 3 alone. */
static void table_input_scale(const ac_tensor *in, int32_t most, int32_t *m, int32_t *shift)
{
    const float log = (float)(log2((double)ac_quant_scale(in)));
    const int32_t whole = (int32_t)lroundf(log);
    *shift = 12 + whole;
    if (fabsf(log - (float)whole) < 1e-3f && *shift >= 0 && *shift <= most) {
        *m = 3 << *shift;
        *shift = 0;
        return;
    }
    double real = (double)ac_quant_scale(in) * 4096.0 * 3.0;
    for (*shift = 0; real <= 32767.0 / 2.0 && *shift <= 30; real *= 2)
        ++*shift;
    *m = (int32_t)real;
}

/* Value and interpolation of both int16 forms; frac: bits between two entries (9 logistic, 8 tanh). *x is the scaled
 * input. */
static ac_x sigmoid_between(ac_lower *L, const ac_node *n, ac_x stored, int32_t frac, ac_x *x)
{
    ac_lb *b = &L->b;
    int32_t m, shift;
    table_input_scale(n->in[0], frac == 9 ? 0 : 1, &m, &shift);
    *x = ac_lb_mul_wrap(b, ac_lb_cast(b, stored, AC_I32), ac_lb_i32(b, m));
    if (shift > 0)
        *x = ac_lb_shr(b, ac_lb_add_wrap(b, *x, ac_lb_i32(b, 1 << (shift - 1))), ac_lb_i32(b, shift));
    const int32_t buf = sigmoid_table(L);
    const ac_x size = ac_lb_abs(b, *x);
    const ac_x at = ac_lb_min(b, ac_lb_shr(b, size, ac_lb_i32(b, frac)), ac_lb_i32(b, 254));
    const ac_x base = ac_lb_cast(b, ac_lb_load(b, buf, at, 1), AC_I32);
    const ac_x next = ac_lb_cast(b, ac_lb_load(b, buf, ac_lb_add(b, at, ac_lb_i32(b, 1)), 1), AC_I32);
    const ac_x part = ac_lb_and(b, size, ac_lb_i32(b, (1 << frac) - 1));
    const ac_x value =
        ac_lb_add(b, ac_lb_shl(b, base, ac_lb_i32(b, frac)), ac_lb_mul(b, part, ac_lb_sub(b, next, base)));
    const ac_x beyond = ac_lb_ge(b, ac_lb_shr(b, size, ac_lb_i32(b, frac)), ac_lb_i32(b, 255));
    return ac_lb_select(b, beyond, ac_lb_i32(b, frac == 9 ? 0x7FFF << 10 : 0xFFFF << 8), value);
}

static ac_x logistic_16(ac_lower *L, const ac_node *n, ac_x stored)
{
    ac_lb *b = &L->b;
    ac_x x;
    const ac_x v = sigmoid_between(L, n, stored, 9, &x);
    const ac_x mirrored = ac_lb_sub(b, ac_lb_i32(b, (1 << 25) + (1 << 9) - 1), v);
    const ac_x sum = ac_lb_select(b, ac_lb_ge(b, x, ac_lb_i32(b, 0)), ac_lb_add(b, v, ac_lb_i32(b, 1 << 9)), mirrored);
    return ac_lb_cast(b, ac_lb_shr(b, sum, ac_lb_i32(b, 10)), AC_I16);
}

static ac_x tanh_16(ac_lower *L, const ac_node *n, ac_x stored)
{
    ac_lb *b = &L->b;
    ac_x x;
    const ac_x v = sigmoid_between(L, n, stored, 8, &x);
    const ac_x up = ac_lb_add(b, ac_lb_sub(b, v, ac_lb_i32(b, 1 << 23)), ac_lb_i32(b, 1 << 7));
    const ac_x down = ac_lb_sub(b, ac_lb_i32(b, (1 << 23) + (1 << 7) - 1), v);
    const ac_x sum = ac_lb_select(b, ac_lb_ge(b, x, ac_lb_i32(b, 0)), up, down);
    return ac_lb_cast(b, ac_lb_shr(b, sum, ac_lb_i32(b, 8)), AC_I16);
}

static bool quant_16(const ac_node *n)
{
    return n->in[0]->dtype == AC_I16 && n->out[0]->dtype == AC_I16 && ac_mp_quantised(n->in[0]) &&
           ac_mp_quantised(n->out[0]);
}

ac_x ac_mp_exp(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return ac_mp_real_both(n) ? ac_lo_exp(L, arg[0]) : look_up(L, n, arg[0], ac_curve_exp);
}

ac_x ac_mp_log(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return ac_mp_real_both(n) ? ac_lo_log(L, arg[0]) : look_up(L, n, arg[0], curve_log);
}

ac_x ac_mp_tanh(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return ac_mp_real_both(n) ? ac_lo_tanh(L, arg[0])
           : quant_16(n)      ? tanh_16(L, n, arg[0])
                              : look_up(L, n, arg[0], curve_tanh);
}

ac_x ac_mp_logistic(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return ac_mp_real_both(n) ? ac_lo_sigmoid(L, arg[0])
           : quant_16(n)      ? logistic_16(L, n, arg[0])
                              : look_up(L, n, arg[0], curve_logistic);
}

/* The stored 1/sqrt of a stored value in the reference's fixed point: five Newton steps from 1 (common.h). */
static int32_t rsqrt_stored(int32_t v, ac_multiplier q, const ac_tensor *out)
{
    const int32_t hi = (int32_t)ac_dtype_max(out->dtype), lo = (int32_t)ac_dtype_min(out->dtype);
    if (v <= 0) /* 0 gives the highest value; for negative values the reference fails */
        return hi;
    ac_multiplier inverse;
    ac_fx_inv_sqrt(v, &inverse);
    inverse.shift += 20;
    const int32_t data = ac_fx_requant(1, inverse);
    const int64_t stored = (int64_t)ac_fx_requant(data, (ac_multiplier){q.m, q.shift - 20}) + ac_quant_zero(out);
    return (int32_t)(stored < lo ? lo : stored > hi ? hi : stored);
}

ac_x ac_mp_rsqrt(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    const ac_tensor *in = n->in[0], *out = n->out[0];
    if (ac_mp_real(in) && in->dtype == out->dtype)
        return ac_lb_div(b, ac_lb_like(b, arg[0], 1), ac_lb_sqrt(b, arg[0]));
    if (!ac_mp_quantised(in) || !ac_mp_quantised(out) || in->dtype != out->dtype || ac_dtype_bits(in->dtype) > 16)
        return ac_mp_refuse(L, n);
    const int32_t first = (int32_t)ac_dtype_min(in->dtype);
    const ac_multiplier q = ac_quantize_multiplier(1. / (double)(sqrtf(ac_quant_scale(in)) * ac_quant_scale(out)));
    if (in->dtype == AC_I16)
        return look_up_16(L, n, arg[0], curve_rsqrt);
    if (ac_dtype_bits(in->dtype) != 8)
        return ac_mp_refuse(L, n);
    uint8_t table[256];
    for (int32_t i = 0; i < 256; i++)
        table[i] = (uint8_t)rsqrt_stored(i + first - ac_quant_zero(in), q, out);
    const int32_t buf = ac_lo_table(L, "table", out->dtype, 256, table);
    return ac_lb_load(b, buf, ac_lb_sub(b, ac_lb_cast(b, arg[0], AC_I32), ac_lb_i32(b, first)), 1);
}

ac_x ac_mp_elu(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (!ac_mp_real_both(n))
        return look_up(L, n, arg[0], curve_elu);
    return ac_lb_select(b, ac_lb_lt(b, arg[0], ac_lb_like(b, arg[0], 0)), ac_lo_expm1(L, arg[0]), arg[0]);
}

ac_x ac_mp_gelu(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    const ac_x x = arg[0];
    if (!ac_mp_real_both(n))
        return look_up(L, n, x, n->attrs.gelu.approximate ? curve_gelu_tanh : curve_gelu);
    return n->attrs.gelu.approximate ? ac_lo_gelu_tanh(L, x) : ac_lo_gelu(L, x);
}
