/* quantised_arithmetic.c - two-operand arithmetic on quantised tensors: i8, u8 and i16, bit for bit TFLite's reference
 * kernels (kernels/internal/reference: add.h, sub.h, mul.h, div.h, comparisons.h, kernels/squared_difference.cc). */
#include "ir/lower/fixed_point.h"
#include "ir/lower/map/quantised_arithmetic.h"
#include "ir/lower/requant_line.h"
#include "ir/lower/requant_plane.h"

static bool small(const ac_tensor *t)
{
    return ac_mp_quantised(t) && (t->dtype == AC_I8 || t->dtype == AC_U8 || t->dtype == AC_I16);
}

static bool all_small(const ac_node *n)
{
    return small(n->in[0]) && small(n->in[1]) && small(n->out[0]);
}

/* Both operands as i32 on a common scale: twice the larger one, with `left` more bits. */
static void common_scale(ac_lower *L, const ac_node *n, const ac_x *arg, int32_t left, ac_x side[2], double *scale)
{
    const float sx = ac_quant_scale(n->in[0]), sy = ac_quant_scale(n->in[1]);
    *scale = 2 * (double)(sx > sy ? sx : sy);
    for (int i = 0; i < 2; i++) {
        const ac_multiplier q = ac_quantize_multiplier((double)ac_quant_scale(n->in[i]) / *scale);
        const ac_x v = ac_mp_centered(L, arg[i], n->in[i]);
        /* A multiplier of exactly 1/2 takes back one bit of the shift. */
        const bool half = q.m == 1 << 30 && q.shift == 0 && left > 0;
        const ac_x wide = ac_lb_mul_wrap(&L->b, v, ac_lb_like_int(&L->b, v, (int64_t)1 << (half ? left - 1 : left)));
        side[i] = half ? wide : ac_lo_requant(L, wide, q);
    }
}

static ac_x clamp_act(ac_lower *L, const ac_node *n, ac_x v, ac_act act)
{
    int32_t lo, hi;
    ac_quantized_act_range(act, n->out[0], &lo, &hi);
    return ac_mp_stored(L, v, n->out[0], lo, hi);
}

static ac_multiplier sum_multiplier(const ac_node *n, double scale, int32_t left)
{
    return ac_quantize_multiplier(scale / ((double)(1 << left) * (double)ac_quant_scale(n->out[0])));
}

/* The sums of all pairs of bytes y and z, as the reference computes them. */
static void sums_of_bytes(const ac_node *n, bool minus, ac_pairs *f, int16_t *value)
{
    const float sx = ac_quant_scale(n->in[0]), sy = ac_quant_scale(n->in[1]), so = ac_quant_scale(n->out[0]);
    const double scale = 2 * (double)(sx > sy ? sx : sy);
    const ac_multiplier out = sum_multiplier(n, scale, 20);
    int32_t side[2][256];
    *f = (ac_pairs){.slope = {(double)sx / (double)so, (minus ? -1 : 1) * (double)sy / (double)so},
                    .value = value,
                    .out = ac_quant_zero(n->out[0])};
    ac_quantized_act_range(n->attrs.act.act, n->out[0], &f->lo, &f->hi);
    for (int i = 0; i < 2; i++) {
        const ac_multiplier q = ac_quantize_multiplier((double)ac_quant_scale(n->in[i]) / scale);
        f->least[i] = (int32_t)ac_dtype_min(n->in[i]->dtype);
        f->zero[i] = ac_quant_zero(n->in[i]);
        for (int32_t k = 0; k < 256; k++)
            side[i][k] = ac_fx_requant((k + f->least[i] - f->zero[i]) * (1 << 20), q);
    }
    for (int32_t i = 0; i < 256 * 256; i++) {
        const uint32_t y = (uint32_t)side[0][i / 256], z = (uint32_t)side[1][i % 256];
        const int32_t v = ac_fx_requant((int32_t)(minus ? y - z : y + z), out) + f->out;
        value[i] = (int16_t)(v < f->lo ? f->lo : v > f->hi ? f->hi : v);
    }
}

/* Caches the form found for a node: followers are lowered once for each accumulator of a tile. */
struct ac_proven {
    struct ac_proven *next;
    const ac_node *node;
    bool found;
    ac_plane plane;
};

/* The sum as two products of words, if proven equal; bytes only. NULL: no such form. */
static const ac_plane *plane_of(ac_lower *L, const ac_node *n, bool minus)
{
    for (int i = 0; i < 3; i++)
        if (ac_dtype_bits((i < 2 ? n->in[i] : n->out[0])->dtype) != 8)
            return NULL;
    struct ac_proven *p = L->proven;
    while (p && p->node != n)
        p = p->next;
    if (!p) {
        ac_region *tmp = ac_region_open(ac_region_heap(L->region));
        ac_pairs f;
        sums_of_bytes(n, minus, &f, AC_NEW_N(tmp, int16_t, 256 * 256));
        p = AC_NEW(L->region, struct ac_proven);
        *p = (struct ac_proven){.next = L->proven, .node = n};
        p->found = ac_plane_find(&f, tmp, &p->plane);
        L->proven = p;
        ac_region_close(tmp);
    }
    return p->found ? &p->plane : NULL;
}

ac_x ac_mp_quant_sum(ac_lower *L, const ac_node *n, const ac_x *arg, bool minus)
{
    if (!all_small(n))
        return ac_mp_refuse(L, n);
    ac_lb *b = &L->b;
    const ac_plane *plane = plane_of(L, n, minus);
    if (plane) {
        int32_t lo, hi;
        ac_quantized_act_range(n->attrs.act.act, n->out[0], &lo, &hi);
        const ac_x v = ac_lo_requant_plane(L, plane, ac_lb_cast(b, arg[0], AC_I32), ac_lb_cast(b, arg[1], AC_I32));
        return ac_lo_requant_clamp(L, v, lo, hi, n->out[0]->dtype);
    }
    const int32_t left = n->out[0]->dtype == AC_I16 ? 15 : 20;
    ac_x side[2];
    double scale;
    common_scale(L, n, arg, left, side, &scale);
    const ac_x sum = minus ? ac_lb_sub_wrap(b, side[0], side[1]) : ac_lb_add_wrap(b, side[0], side[1]);
    return clamp_act(L, n, ac_lo_requant(L, sum, sum_multiplier(n, scale, left)), n->attrs.act.act);
}

ac_x ac_mp_quant_mul(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    if (!all_small(n) || n->in[0]->dtype != n->in[1]->dtype)
        return ac_mp_refuse(L, n);
    const ac_x x = ac_mp_centered(L, arg[0], n->in[0]), y = ac_mp_centered(L, arg[1], n->in[1]);
    const float real = ac_quant_scale(n->in[0]) * ac_quant_scale(n->in[1]) / ac_quant_scale(n->out[0]);
    const ac_multiplier q = ac_quantize_multiplier((double)real);
    if (ac_dtype_bits(n->in[0]->dtype) == 8 && ac_dtype_bits(n->out[0]->dtype) == 8) {
        ac_steps f = {.q = q, .zero = ac_quant_zero(n->out[0]), .from = -255 * 255, .to = 255 * 255};
        ac_quantized_act_range(n->attrs.act.act, n->out[0], &f.lo, &f.hi);
        return ac_lo_requant_steps(L, &f, ac_lb_mul_wrap(&L->b, x, y), n->out[0]->dtype);
    }
    return clamp_act(L, n, ac_lo_requant(L, ac_lb_mul_wrap(&L->b, x, y), q), n->attrs.act.act);
}

/* 7 leading bits of the difference, then its square; i16 needs none and i32 would not hold more. */
ac_x ac_mp_quant_sqdiff(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    if (!all_small(n))
        return ac_mp_refuse(L, n);
    const int32_t left = n->out[0]->dtype == AC_I16 ? 0 : 7;
    ac_x side[2];
    double scale;
    common_scale(L, n, arg, left, side, &scale);
    const ac_x d = ac_lb_sub_wrap(&L->b, side[0], side[1]);
    const float unit = (float)(1 << (left * 2)) * ac_quant_scale(n->out[0]);
    const ac_multiplier q = ac_quantize_multiplier(scale * scale / (double)unit);
    return ac_mp_stored_full(L, ac_lo_requant(L, ac_lb_mul_wrap(&L->b, d, d), q), n->out[0]);
}

void ac_mp_quant_sides(ac_lower *L, const ac_node *n, const ac_x *arg, ac_x side[2])
{
    for (int i = 0; i < 2; i++) {
        const ac_x v = ac_mp_centered(L, arg[i], n->in[i]);
        const ac_x wide = ac_lb_mul_wrap(&L->b, v, ac_lb_like_int(&L->b, v, 256));
        side[i] = ac_lo_requant(L, wide, ac_quantize_multiplier((double)ac_quant_scale(n->in[i])));
    }
}

/* x / y by a reciprocal in fixed point, x scaled up to its full 31 bits first. Division by zero gives the clamp. */
ac_x ac_mp_quant_div(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    ac_lb *b = &L->b;
    if (!all_small(n))
        return ac_mp_refuse(L, n);
    ac_x x = ac_mp_centered(L, arg[0], n->in[0]), y = ac_mp_centered(L, arg[1], n->in[1]);
    const ac_x zero = ac_lb_like_int(b, x, 0), one = ac_lb_like_int(b, x, 1);
    x = ac_lb_select(b, ac_lb_lt(b, y, zero), ac_lb_sub(b, zero, x), x);
    y = ac_lb_max(b, ac_lb_abs(b, y), one);
    ac_x log;
    const ac_x inverse = ac_lo_fx_reciprocal(L, y, &log);
    /* Leading sign bits of x but one; x == 0 counts 31. */
    const ac_x size = ac_lb_select(b, ac_lb_lt(b, x, zero), ac_lb_not(b, x), x);
    const ac_x bits = ac_lb_select(b, ac_lb_eq(b, size, zero), zero,
                                   ac_lb_add(b, ac_lo_fx_floor_log2(L, ac_lb_max(b, size, one)), one));
    const ac_x room = ac_lb_sub(b, ac_lb_like_int(b, x, 31), bits);
    const ac_x scale = ac_lb_shl(b, ac_lb_cast(b, one, AC_U32), ac_lb_cast(b, room, AC_U32)); /* up to 2^31 */
    const ac_x quotient = ac_lo_fx_mul(L, ac_lb_mul_wrap(b, x, ac_lb_cast(b, scale, AC_I32)), inverse);
    const float real = ac_quant_scale(n->in[0]) / (ac_quant_scale(n->in[1]) * ac_quant_scale(n->out[0]));
    const ac_multiplier q = ac_quantize_multiplier((double)real);
    /* A left shift saturates: the reference leaves it undefined. */
    const ac_x shift = ac_lb_sub(b, ac_lb_sub(b, ac_lb_like_int(b, x, q.shift), log), room),
               most = ac_lb_like_int(b, x, 31);
    const ac_x down = ac_lb_sub(b, zero, shift), up = ac_lb_clamp(b, shift, zero, most);
    ac_x v = ac_lo_fx_round_shift_v(L, ac_lo_fx_mul(L, quotient, ac_lb_like_int(b, x, q.m)),
                                    ac_lb_clamp(b, down, zero, most));
    v = ac_lb_select(b, ac_lb_lt(b, most, down), zero, v); /* less than a half */
    v = ac_lb_satcast(b, ac_lb_shl(b, ac_lb_cast(b, v, AC_I64), ac_lb_cast(b, up, AC_I64)), AC_I16);
    v = ac_lb_cast(b, v, AC_I32); /* large enough to clamp, small enough to add the zero point */
    return clamp_act(L, n, v, n->attrs.act.act);
}
