/* hybrid.c - dynamic-range kernels: the f32 input is quantised to i8 at run time, row by row or batch by batch.
 *
 * x  f32, `count` consecutive values; q  i8, the same positions in scratch; then x ~ scale_x * (q - zero_x).
 * Reference: TFLite's portable SymmetricQuantizeFloats and AsymmetricQuantizeFloats, the same operations in the same
 * types (float, and double for the zero point); rounding is half away from zero. */
#include "ir/lower/channel.h"

/* *min and *max, `lanes` wide, over the values from x_at + begin to x_at + end too. */
static void widen_range(ac_lb *b, int32_t x, ac_x x_at, int64_t begin, int64_t end, int32_t lanes, ac_x *min, ac_x *max)
{
    ac_x lo = lb_var(b, "lo", *min), hi = lb_var(b, "hi", *max);
    ac_x i = lb_for(b, "i", lb_i32(b, begin), lb_i32(b, end), lanes, AC_MARK_SERIAL);
    ac_x v = lb_load(b, x, lb_add(b, x_at, i), lanes);
    lb_set(b, lo, lb_min(b, v, lb_get(b, lo)));
    lb_set(b, hi, lb_max(b, v, lb_get(b, hi)));
    lb_end(b);
    *min = lb_get(b, lo);
    *max = lb_get(b, hi);
}

static void min_max(const ac_lower *L, ac_lb *b, int32_t x, ac_x x_at, int64_t count, ac_x *min, ac_x *max)
{
    const int32_t lanes = ac_target_lanes(L->target, AC_F32);
    const int64_t whole = lanes > 1 ? count / lanes * lanes : 0;
    *min = *max = lb_load(b, x, x_at, whole ? lanes : 1);
    if (whole) {
        widen_range(b, x, x_at, 0, whole, lanes, min, max);
        *min = lb_neg(b, lb_maxlanes(b, lb_neg(b, *min)));
        *max = lb_maxlanes(b, *max);
    }
    if (whole < count)
        widen_range(b, x, x_at, whole, count, 1, min, max);
}

/* Scale and its reciprocal; a range of nothing gives scale 1 and zeros. */
static void symmetric(ac_lb *b, ac_x min, ac_x max, ac_x *scale, ac_x *inverse)
{
    ac_x range = lb_max(b, lb_abs(b, min), lb_abs(b, max));
    ac_x none = lb_eq(b, range, lb_f32(b, 0));
    ac_x safe = lb_select(b, none, lb_f32(b, 127), range);
    *scale = lb_div(b, safe, lb_f32(b, 127));
    *inverse = lb_div(b, lb_f32(b, 127), safe);
}

/* The zero point keeps the end of the range that it represents more exactly. */
static void asymmetric(ac_lb *b, ac_x min, ac_x max, ac_x *scale, ac_x *inverse, ac_x *zero)
{
    ac_x rmin = lb_cast(b, lb_min(b, lb_f32(b, 0), min), AC_F64);
    ac_x rmax = lb_cast(b, lb_max(b, lb_f32(b, 0), max), AC_F64);
    ac_x none = lb_eq(b, rmin, rmax);
    ac_x s = lb_select(b, none, lb_num(b, AC_F64, 1), lb_div(b, lb_sub(b, rmax, rmin), lb_num(b, AC_F64, 255)));
    ac_x qmin = lb_num(b, AC_F64, -128), qmax = lb_num(b, AC_F64, 127);
    ac_x below = lb_div(b, rmin, s), above = lb_div(b, rmax, s);
    ac_x min_error = lb_add(b, lb_num(b, AC_F64, 128), lb_abs(b, below));
    ac_x max_error = lb_add(b, lb_num(b, AC_F64, 127), lb_abs(b, above));
    ac_x z = lb_select(b, lb_lt(b, min_error, max_error), lb_sub(b, qmin, below), lb_sub(b, qmax, above));
    z = lb_cast(b, ac_round_away(b, lb_clamp(b, z, qmin, qmax)), AC_I32);
    *zero = lb_select(b, none, lb_i32(b, 0), z);
    *scale = lb_cast(b, s, AC_F32);
    *inverse = lb_div(b, lb_f32(b, 1), *scale);
}

typedef struct rows_to {
    int32_t x, q;
    ac_x x_at, q_at, inverse, zero; /* zero: 0 where the range is symmetric */
} rows_to;

static void quantize(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    ac_lb *b = &L->b;
    const rows_to *to = with;
    ac_x v = lb_mul(b, lb_load(b, to->x, lb_add(b, to->x_at, i), lanes), to->inverse);
    if (to->zero)
        v = lb_add(b, lb_cast(b, to->zero, AC_F32), v);
    v = lb_clamp(b, ac_round_away(b, v), lb_like(b, v, to->zero ? -128 : -127), lb_like(b, v, 127));
    lb_store(b, to->q, lb_add(b, to->q_at, i), lb_cast(b, lb_cast(b, v, AC_I32), AC_I8));
}

void ac_hybrid_quantize(ac_channel *c, int32_t x, ac_x x_at, int32_t q, ac_x q_at, int64_t count, bool asym)
{
    ac_lower *L = c->L;
    ac_lb *b = &L->b;
    ac_x min, max, inverse, zero = 0;
    min_max(L, b, x, x_at, count, &min, &max);
    if (asym)
        asymmetric(b, min, max, &c->scale_x, &inverse, &zero);
    else
        symmetric(b, min, max, &c->scale_x, &inverse);
    rows_to to = {x, q, x_at, q_at, inverse, zero};
    lo_strip(L, "i", count, ac_target_lanes(L->target, AC_F32), quantize, &to);
    c->zero_x = zero;
}
