/* arith.c - the arithmetic operations of the builder.
 *
 * Checks and splats operands; folding.c evaluates operations on constants. */
#include "ir/loop/builder.h"
#include "ir/loop/kernel.h"

#include <math.h>

static const ac_ins *at(const ac_lb *b, ac_x x)
{
    assert(x > 0 && x < b->fn->code.n && "a value made by this builder");
    assert((ac_lop_class((ac_lop)b->fn->code.item[x].op) == 'V' || b->fn->code.item[x].op == AC_L_FOR) && "a value");
    return &b->fn->code.item[x];
}

static ac_ins shaped(ac_lop op, ac_dtype d, int32_t lanes)
{
    return (ac_ins){.op = (uint8_t)op, .dtype = (uint8_t)d, .lanes = (uint16_t)lanes};
}

/* Constants. */

static ac_x constant(ac_lb *b, ac_dtype d, int32_t lanes, int64_t k)
{
    int64_t there;
    ac_ins ins = shaped(AC_L_CONST, d, lanes);
    char lane[8];
    ac_lane_put(d, lane, 0, k); /* wraps or rounds to the type */
    there = ac_lane_get(d, lane, 0);
    ins.k.i = there;
    return ac_lb_pure(b, ins, 0);
}

static int64_t bits_of(double v)
{
    union {
        double f;
        int64_t i;
    } u = {.f = v};
    return u.i;
}

ac_x ac_lb_int(ac_lb *b, ac_dtype d, int64_t v)
{
    assert((ac_dtype_is_int(d) || d == AC_BOOL) && "lb_num makes floats");
    return constant(b, d, 1, d == AC_BOOL ? v != 0 : v);
}

ac_x ac_lb_num(ac_lb *b, ac_dtype d, double v)
{
    assert(ac_dtype_is_float(d) && "lb_int makes integers");
    return constant(b, d, 1, bits_of(v));
}

ac_x ac_lb_i32(ac_lb *b, int64_t v)
{
    assert(v >= INT32_MIN && v <= INT32_MAX && "index values are i32");
    return ac_lb_int(b, AC_I32, v);
}

ac_x ac_lb_f32(ac_lb *b, double v)
{
    return ac_lb_num(b, AC_F32, v);
}

ac_x ac_lb_constv(ac_lb *b, ac_dtype d, const int64_t *lane, int32_t lanes)
{
    return ac_lb_lanes(b, d, lane, lanes);
}

ac_x ac_lb_like(ac_lb *b, ac_x like, double v)
{
    ac_dtype d = ac_lb_dtype(b, like);
    if (ac_dtype_is_float(d))
        return constant(b, d, ac_lb_lane_count(b, like), bits_of(v));
    assert(v == (double)(int64_t)v && "integers: v is integral");
    return ac_lb_like_int(b, like, (int64_t)v);
}

ac_x ac_lb_like_int(ac_lb *b, ac_x like, int64_t v)
{
    ac_dtype d = ac_lb_dtype(b, like);
    return constant(b, d, ac_lb_lane_count(b, like), ac_dtype_is_float(d) ? bits_of((double)v) : v);
}

ac_x ac_lb_shape(ac_lb *b, int64_t v)
{
    ac_ins ins = shaped(AC_L_CONST, AC_I32, 1);
    ins.flags = AC_F_SHAPE;
    ins.k.i = v;
    return ac_lb_append(b, ins);
}

ac_x ac_lb_shape_like(ac_lb *b, ac_x like, int64_t v)
{
    return ac_lb_splat(b, ac_lb_shape(b, v), ac_lb_lane_count(b, like));
}

bool ac_lb_const_int(const ac_lb *b, ac_x x, int64_t *v)
{
    const ac_ins *i = at(b, x);
    if (i->op != AC_L_CONST || i->flags & AC_F_SHAPE || ac_dtype_is_float((ac_dtype)i->dtype))
        return false;
    *v = i->k.i;
    return true;
}

/* Operations. */

static int32_t wider(const ac_lb *b, ac_x x, ac_x y)
{
    int32_t n = ac_lb_lane_count(b, x), m = ac_lb_lane_count(b, y);
    assert((n == m || n == 1 || m == 1) && "equal lanes, or one of them has one lane");
    return n > m ? n : m;
}

static ac_x unary(ac_lb *b, ac_lop op, ac_x x)
{
    ac_ins ins = shaped(op, (ac_dtype)at(b, x)->dtype, at(b, x)->lanes);
    if (!ac_lb_exists(b, op, ac_lb_dtype(b, x), ac_lb_dtype(b, x)))
        return x;
    ins.a = x;
    return ac_lb_op(b, ins);
}

static ac_x binary(ac_lb *b, ac_lop op, ac_x x, ac_x y, uint8_t flags)
{
    ac_dtype d = (ac_dtype)at(b, x)->dtype;
    const ac_dtype e = (ac_dtype)at(b, y)->dtype;
    bool compares = op == AC_L_EQ || op == AC_L_NE || op == AC_L_LT || op == AC_L_LE;
    int32_t lanes = wider(b, x, y);
    if (!ac_lb_exists(b, op, d, d) || !ac_lb_exists(b, op, e, e))
        return constant(b, compares ? AC_BOOL : d, lanes, 0);
    assert(ac_lb_fits(b, d == e) && "operands of one type");
    ac_ins ins = shaped(op, compares ? AC_BOOL : d, lanes);
    ins.flags = flags;
    ins.a = ac_lb_splat(b, x, lanes);
    ins.b = ac_lb_splat(b, y, lanes);
    return ac_lb_op(b, ins);
}

#define UNARY(name, op)         \
    ac_x name(ac_lb *b, ac_x x) \
    {                           \
        return unary(b, op, x); \
    }
#define BINARY(name, op, flags)            \
    ac_x name(ac_lb *b, ac_x x, ac_x y)    \
    {                                      \
        return binary(b, op, x, y, flags); \
    }
#define SWAPPED(name, op)               \
    ac_x name(ac_lb *b, ac_x x, ac_x y) \
    {                                   \
        return binary(b, op, y, x, 0);  \
    }
BINARY(ac_lb_add, AC_L_ADD, 0)
BINARY(ac_lb_sub, AC_L_SUB, 0)
BINARY(ac_lb_mul, AC_L_MUL, 0)
BINARY(ac_lb_add_wrap, AC_L_ADD, AC_F_WRAP)
BINARY(ac_lb_sub_wrap, AC_L_SUB, AC_F_WRAP)
BINARY(ac_lb_mul_wrap, AC_L_MUL, AC_F_WRAP)
BINARY(ac_lb_div, AC_L_DIV, 0)
BINARY(ac_lb_mod, AC_L_MOD, 0)
BINARY(ac_lb_min, AC_L_MIN, 0)
BINARY(ac_lb_max, AC_L_MAX, 0)
BINARY(ac_lb_and, AC_L_AND, 0)
BINARY(ac_lb_or, AC_L_OR, 0)
BINARY(ac_lb_xor, AC_L_XOR, 0)
BINARY(ac_lb_shl, AC_L_SHL, 0)
BINARY(ac_lb_shr, AC_L_SHR, 0)
BINARY(ac_lb_eq, AC_L_EQ, 0)
BINARY(ac_lb_ne, AC_L_NE, 0)
BINARY(ac_lb_lt, AC_L_LT, 0)
BINARY(ac_lb_le, AC_L_LE, 0)
SWAPPED(ac_lb_gt, AC_L_LT)
SWAPPED(ac_lb_ge, AC_L_LE)
UNARY(ac_lb_neg, AC_L_NEG)
UNARY(ac_lb_abs, AC_L_ABS)
UNARY(ac_lb_not, AC_L_NOT)
UNARY(ac_lb_sqrt, AC_L_SQRT)
UNARY(ac_lb_floor, AC_L_FLOOR)
UNARY(ac_lb_ceil, AC_L_CEIL)
UNARY(ac_lb_trunc, AC_L_TRUNC)
UNARY(ac_lb_rint, AC_L_RINT)

static bool is_number(const ac_lb *b, ac_x x)
{
    const ac_ins *i = at(b, x);
    return !ac_dtype_is_float((ac_dtype)i->dtype) || (i->op == AC_L_CONST && !isnan(i->k.f));
}

/* MAX and MIN give y if an operand is NaN, so only a NaN in x needs a test. */
static ac_x extreme_nan(ac_lb *b, ac_lop op, ac_x x, ac_x y)
{
    if (is_number(b, x))
        return binary(b, op, x, y, 0);
    if (is_number(b, y))
        return binary(b, op, y, x, 0);
    return ac_lb_select(b, ac_lb_eq(b, x, x), binary(b, op, x, y, 0), x);
}

ac_x ac_lb_max_nan(ac_lb *b, ac_x x, ac_x y)
{
    return extreme_nan(b, AC_L_MAX, x, y);
}

ac_x ac_lb_min_nan(ac_lb *b, ac_x x, ac_x y)
{
    return extreme_nan(b, AC_L_MIN, x, y);
}

ac_x ac_lb_clamp(ac_lb *b, ac_x x, ac_x lo, ac_x hi)
{
    return ac_lb_min(b, ac_lb_max(b, x, lo), hi);
}

ac_x ac_lb_select(ac_lb *b, ac_x cond, ac_x x, ac_x y)
{
    assert(at(b, cond)->dtype == AC_BOOL && "the condition is a bool");
    assert(ac_lb_fits(b, at(b, x)->dtype == at(b, y)->dtype) && "both choices have one type");
    int32_t lanes = wider(b, x, y);
    if (ac_lb_lane_count(b, cond) > lanes) {
        assert(lanes == 1 && "equal lanes, or one");
        lanes = ac_lb_lane_count(b, cond);
    }
    assert((ac_lb_lane_count(b, cond) == 1 || ac_lb_lane_count(b, cond) == lanes) &&
           "as many conditions as lanes, or one");
    ac_ins ins = shaped(AC_L_SELECT, ac_lb_dtype(b, x), lanes);
    ins.a = cond;
    ins.b = ac_lb_splat(b, x, lanes);
    ins.c = ac_lb_splat(b, y, lanes);
    return ac_lb_op(b, ins);
}

ac_x ac_lb_cast(ac_lb *b, ac_x x, ac_dtype to)
{
    if (!ac_lb_exists(b, AC_L_CAST, to, (ac_dtype)at(b, x)->dtype))
        return constant(b, to, at(b, x)->lanes, 0);
    const ac_ins *of = at(b, x);
    if (of->op == AC_L_SATCAST && of->lanes > 1 && at(b, of->a)->dtype == to) { /* narrowing vectors takes longer */
        const ac_dtype d = (ac_dtype)of->dtype;
        const ac_x wide = of->a;
        return ac_lb_clamp(b, wide, ac_lb_like_int(b, wide, ac_dtype_min(d)), ac_lb_like_int(b, wide, ac_dtype_max(d)));
    }
    ac_ins ins = shaped(AC_L_CAST, to, at(b, x)->lanes);
    ins.a = x;
    return ac_lb_op(b, ins);
}

ac_x ac_lb_satcast(ac_lb *b, ac_x x, ac_dtype to)
{
    if (!ac_lb_exists(b, AC_L_SATCAST, to, (ac_dtype)at(b, x)->dtype))
        return constant(b, to, at(b, x)->lanes, 0);
    ac_ins ins = shaped(AC_L_SATCAST, to, at(b, x)->lanes);
    ins.a = x;
    return ac_lb_op(b, ins);
}

ac_x ac_lb_bitcast(ac_lb *b, ac_x x, ac_dtype to)
{
    int32_t bits = at(b, x)->lanes * ac_dtype_bits((ac_dtype)at(b, x)->dtype);
    if (!ac_lb_exists(b, AC_L_BITCAST, to, (ac_dtype)at(b, x)->dtype))
        return constant(b, to, at(b, x)->lanes, 0);
    assert(bits % ac_dtype_bits(to) == 0 && "whole lanes");
    ac_ins ins = shaped(AC_L_BITCAST, to, bits / ac_dtype_bits(to));
    ins.a = x;
    return ac_lb_op(b, ins);
}

ac_x ac_lb_fma(ac_lb *b, ac_x x, ac_x y, ac_x z)
{
    ac_dtype d = (ac_dtype)at(b, x)->dtype;
    assert((d == AC_F32 || d == AC_F64) && ac_lb_dtype(b, y) == d && ac_lb_dtype(b, z) == d && "f32 or f64");
    int32_t lanes = wider(b, x, y);
    if (ac_lb_lane_count(b, z) > lanes)
        lanes = ac_lb_lane_count(b, z);
    ac_ins ins = shaped(AC_L_FMA, d, lanes);
    ins.a = ac_lb_splat(b, x, lanes);
    ins.b = ac_lb_splat(b, y, lanes);
    ins.c = ac_lb_splat(b, z, lanes);
    return ac_lb_op(b, ins);
}

static ac_x dot(ac_lb *b, ac_lop op, int32_t k, ac_x x, ac_x y, ac_x acc)
{
    int32_t lanes = ac_lb_lane_count(b, x) / k;
    assert(lanes * k == ac_lb_lane_count(b, x) && ac_lb_lane_count(b, y) == ac_lb_lane_count(b, x) &&
           "k products for each lane of the sum");
    assert(ac_lb_dtype(b, acc) == AC_I32 && "sums are i32");
    ac_ins ins = shaped(op, AC_I32, lanes);
    ins.a = x;
    ins.b = y;
    ins.c = ac_lb_splat(b, acc, lanes);
    assert(ac_lb_lane_count(b, ins.c) == lanes && "as many sums as groups");
    return ac_lb_op(b, ins);
}

ac_x ac_lb_dot4(ac_lb *b, ac_x x, ac_x y, ac_x acc)
{
    assert((ac_lb_dtype(b, x) == AC_U8 || ac_lb_dtype(b, x) == AC_I8) && ac_lb_dtype(b, y) == AC_I8 &&
           "u8 or i8, and i8");
    return dot(b, AC_L_DOT4, 4, x, y, acc);
}

ac_x ac_lb_dot2(ac_lb *b, ac_x x, ac_x y, ac_x acc)
{
    assert(ac_lb_dtype(b, x) == AC_I16 && ac_lb_dtype(b, y) == AC_I16 && "i16");
    return dot(b, AC_L_DOT2, 2, x, y, acc);
}

/* Lanes. */

ac_x ac_lb_splat(ac_lb *b, ac_x x, int32_t lanes)
{
    if (at(b, x)->lanes == lanes)
        return x;
    assert(at(b, x)->lanes == 1 && lanes <= AC_MAX_LANES && "one lane can be splat");
    ac_ins ins = shaped(AC_L_SPLAT, ac_lb_dtype(b, x), lanes);
    ins.a = x;
    return ac_lb_op(b, ins);
}

ac_x ac_lb_lane(ac_lb *b, ac_x x, int32_t lane)
{
    assert(lane >= 0 && lane < at(b, x)->lanes && "a lane of x");
    ac_ins ins = shaped(AC_L_LANE, ac_lb_dtype(b, x), 1);
    ins.a = x;
    ins.aux = lane;
    return ac_lb_op(b, ins);
}

ac_x ac_lb_shuffle(ac_lb *b, ac_x x, ac_x y, const int64_t *pattern, int32_t lanes)
{
    int32_t n = at(b, x)->lanes, total = y ? n + at(b, y)->lanes : n;
    assert((!y || (ac_lb_dtype(b, y) == ac_lb_dtype(b, x) && ac_lb_lane_count(b, y) == n)) && "operands of one type");
    assert(lanes >= 1 && lanes <= AC_MAX_LANES);
    ac_ins ins = shaped(AC_L_SHUFFLE, ac_lb_dtype(b, x), lanes);
    ins.a = x;
    ins.b = y;
    ins.aux = b->fn->pool.n;
    for (int32_t l = 0; l < lanes; l++) {
        assert(pattern[l] >= 0 && pattern[l] < total && "an element of x or y");
        (void)total;
        ac_push(b->region, &b->fn->pool, pattern[l]);
    }
    return ac_lb_op(b, ins);
}

static ac_x reduce(ac_lb *b, ac_lop op, ac_x x)
{
    int32_t n = at(b, x)->lanes;
    assert((n & (n - 1)) == 0 && "halving needs a power of two");
    if (n == 1)
        return x;
    if (!ac_lb_exists(b, op, ac_lb_dtype(b, x), ac_lb_dtype(b, x)))
        return constant(b, ac_lb_dtype(b, x), 1, 0);
    ac_ins ins = shaped(op, ac_lb_dtype(b, x), 1);
    ins.a = x;
    return ac_lb_op(b, ins);
}

ac_x ac_lb_sumlanes(ac_lb *b, ac_x x)
{
    return reduce(b, AC_L_SUMLANES, x);
}
ac_x ac_lb_maxlanes(ac_lb *b, ac_x x)
{
    return reduce(b, AC_L_MAXLANES, x);
}
