/* hybrid.c - quantises the f32 input of dynamic-range kernels to i8 at run time, row by row or batch by batch.
 *
 * x  f32, `count` consecutive values; q  i8, the same positions in scratch; then x ~ scale_x * (q - zero_x).
 * Reference: TFLite's portable SymmetricQuantizeFloats and AsymmetricQuantizeFloats, the same operations in the same
 * types (float, and double for the zero point); rounding is half away from zero. */
#include "ir/lower/conv/hybrid.h"
#include "ir/lower/lower.h"

/* *min and *max, `lanes` wide, including the values from x_at + begin to x_at + end. */
static void widen_range(ac_lb *b, int32_t x, ac_x x_at, int64_t begin, int64_t end, int32_t lanes, ac_x *min, ac_x *max)
{
    ac_x lo = ac_lb_var(b, "lo", *min), hi = ac_lb_var(b, "hi", *max);
    ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, begin), ac_lb_i32(b, end), lanes, AC_MARK_SERIAL);
    ac_x v = ac_lb_load(b, x, ac_lb_add(b, x_at, i), lanes);
    ac_lb_set(b, lo, ac_lb_min(b, v, ac_lb_get(b, lo)));
    ac_lb_set(b, hi, ac_lb_max(b, v, ac_lb_get(b, hi)));
    ac_lb_end(b);
    *min = ac_lb_get(b, lo);
    *max = ac_lb_get(b, hi);
}

static void min_max(const ac_lower *L, ac_lb *b, int32_t x, ac_x x_at, int64_t count, ac_x *min, ac_x *max)
{
    const int32_t lanes = ac_target_lanes(L->target, AC_F32);
    const int64_t whole = lanes > 1 ? count / lanes * lanes : 0;
    *min = *max = ac_lb_load(b, x, x_at, whole ? lanes : 1);
    if (whole) {
        widen_range(b, x, x_at, 0, whole, lanes, min, max);
        *min = ac_lb_neg(b, ac_lb_maxlanes(b, ac_lb_neg(b, *min)));
        *max = ac_lb_maxlanes(b, *max);
    }
    if (whole < count)
        widen_range(b, x, x_at, whole, count, 1, min, max);
}

/* Scale and its reciprocal; an empty range gives scale 1 and zeros. */
static void symmetric(ac_lb *b, ac_x min, ac_x max, ac_x *scale, ac_x *inverse)
{
    ac_x range = ac_lb_max(b, ac_lb_abs(b, min), ac_lb_abs(b, max));
    ac_x none = ac_lb_eq(b, range, ac_lb_f32(b, 0));
    ac_x safe = ac_lb_select(b, none, ac_lb_f32(b, 127), range);
    *scale = ac_lb_div(b, safe, ac_lb_f32(b, 127));
    *inverse = ac_lb_div(b, ac_lb_f32(b, 127), safe);
}

/* The zero point is computed from the end of the range that is represented more exactly. */
static void asymmetric(ac_lb *b, ac_x min, ac_x max, ac_x *scale, ac_x *inverse, ac_x *zero)
{
    ac_x rmin = ac_lb_cast(b, ac_lb_min(b, ac_lb_f32(b, 0), min), AC_F64);
    ac_x rmax = ac_lb_cast(b, ac_lb_max(b, ac_lb_f32(b, 0), max), AC_F64);
    ac_x none = ac_lb_eq(b, rmin, rmax);
    ac_x s = ac_lb_select(b, none, ac_lb_num(b, AC_F64, 1),
                          ac_lb_div(b, ac_lb_sub(b, rmax, rmin), ac_lb_num(b, AC_F64, 255)));
    ac_x qmin = ac_lb_num(b, AC_F64, -128), qmax = ac_lb_num(b, AC_F64, 127);
    ac_x below = ac_lb_div(b, rmin, s), above = ac_lb_div(b, rmax, s);
    ac_x min_error = ac_lb_add(b, ac_lb_num(b, AC_F64, 128), ac_lb_abs(b, below));
    ac_x max_error = ac_lb_add(b, ac_lb_num(b, AC_F64, 127), ac_lb_abs(b, above));
    ac_x z = ac_lb_select(b, ac_lb_lt(b, min_error, max_error), ac_lb_sub(b, qmin, below), ac_lb_sub(b, qmax, above));
    z = ac_lb_cast(b, ac_round_away(b, ac_lb_clamp(b, z, qmin, qmax)), AC_I32);
    *zero = ac_lb_select(b, none, ac_lb_i32(b, 0), z);
    *scale = ac_lb_cast(b, s, AC_F32);
    *inverse = ac_lb_div(b, ac_lb_f32(b, 1), *scale);
}

typedef struct rows_to {
    int32_t x, q;
    ac_x x_at, q_at, inverse, zero; /* zero: 0 where the range is symmetric */
} rows_to;

static void quantize(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    ac_lb *b = &L->b;
    const rows_to *to = with;
    ac_x v = ac_lb_mul(b, ac_lb_load(b, to->x, ac_lb_add(b, to->x_at, i), lanes), to->inverse);
    if (to->zero)
        v = ac_lb_add(b, ac_lb_cast(b, to->zero, AC_F32), v);
    v = ac_lb_clamp(b, ac_round_away(b, v), ac_lb_like(b, v, to->zero ? -128 : -127), ac_lb_like(b, v, 127));
    ac_lb_store(b, to->q, ac_lb_add(b, to->q_at, i), ac_lb_cast(b, ac_lb_cast(b, v, AC_I32), AC_I8));
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
    ac_lo_strip(L, "i", count, ac_target_lanes(L->target, AC_F32), quantize, &to);
    c->zero_x = zero;
}
