/* compose_math.c - composes mathematical functions from canonical operators. */
#define MAKER b
#include "ir/dtype/fma.h"
#include "ir/make/formula.h"

#include <math.h>

ac_tensor *ac_make_add_number(const ac_maker *b, ac_tensor *x, double v)
{
    return ADD(x, NUM(x, v));
}

ac_tensor *ac_make_mul_number(const ac_maker *b, ac_tensor *x, double v)
{
    return MUL(x, NUM(x, v));
}

ac_tensor *ac_make_relu(const ac_maker *b, ac_tensor *x)
{
    return x && x->dtype == AC_F32 ? OP1(RELU, x) : MAX(x, NUM(x, 0));
}

/* alpha * (exp(x) - 1) below 0. */
ac_tensor *ac_make_elu(const ac_maker *b, ac_tensor *x, double alpha)
{
    if (alpha == 1)
        return OP1(ELU, x);
    ac_tensor *low = OP1(ELU, MIN(x, NUM(x, 0)));
    low = MUL(NUM(x, alpha), low);
    return ADD(MAX(x, NUM(x, 0)), low);
}

/* alpha * x + beta cancels: alpha * (x + beta / alpha) is exact there, the quotient being the sum of two numbers of x's
 * type. */
ac_tensor *ac_make_hard_sigmoid(const ac_maker *b, ac_tensor *x, double alpha, double beta)
{
    const double by = beta / alpha, rest = ac_fma(-by, alpha, beta) / alpha;
    ac_tensor *line;
    if (!x)
        return NULL;
    if (isfinite(rest) && fabs(by) < 1e30) {
        const double high = x->dtype == AC_F32 ? (double)(float)by : by, low = by - high + rest;
        line = PLUS(x, high);
        line = TIMES(low != 0 ? PLUS(line, low) : line, alpha);
    } else {
        line = PLUS(TIMES(x, alpha), beta);
    }
    line = MAX(line, NUM(x, 0));
    return MIN(line, NUM(x, 1));
}

ac_tensor *ac_make_swish(const ac_maker *b, ac_tensor *x, double alpha)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_SWISH, &a);
    a.swish.alpha = (float)alpha;
    return x ? ac_make_op(b, AC_OP_SWISH, &x, 1, &a, AC_NONE) : NULL;
}

ac_tensor *ac_make_is_inf(const ac_maker *b, ac_tensor *x, bool up, bool down)
{
    if (!x)
        return NULL;
    if ((!up && !down) || !ac_dtype_is_float(x->dtype))
        return ac_make_broadcast(b, ac_make_number(b, AC_BOOL, 0), x->rank, x->dim);
    if (up && down)
        x = ABS(x);
    return EQUAL(x, NUM(x, up ? (double)INFINITY : -(double)INFINITY));
}

/* atan(y / x), plus or minus pi if x is negative. */
ac_tensor *ac_make_atan2(const ac_maker *b, ac_tensor *y, ac_tensor *x)
{
    const double pi = 3.14159265358979323846;
    ac_attrs bits;
    ac_attrs_init(AC_OP_BITCAST, &bits);
    bits.cast.to = AC_I32;
    ac_tensor *sign = ac_make_op(b, AC_OP_BITCAST, &y, 1, &bits, AC_I32); /* the sign of -0 counts */
    ac_tensor *half_turn = NUM(x, pi), *half_back = NUM(x, -pi);
    ac_tensor *turn = WHERE(LESS(sign, ac_make_number(b, AC_I32, 0)), half_back, half_turn);
    ac_tensor *angle = OP1(ATAN, DIV(y, x));
    ac_tensor *quarter = NUM(x, pi / 2), *upright = MUL(SIGN(y), quarter), *turned = ADD(angle, turn);
    ac_tensor *left = WHERE(LESS(x, NUM(x, 0)), turned, upright);
    return WHERE(GREATER(x, NUM(x, 0)), angle, left);
}

ac_tensor *ac_make_fmod(const ac_maker *b, ac_tensor *x, ac_tensor *y)
{
    if (x && ac_dtype_is_int(x->dtype))
        return SUB(x, MUL(DIV(x, y), y));
    /* |x| mod |y| is exact in the floor form; the sign is put back */
    ac_tensor *sign = SIGN(x), *by = ABS(y);
    return MUL(OP2(FLOOR_MOD, ABS(x), by), sign);
}

ac_tensor *ac_make_softmax(const ac_maker *b, ac_op op, ac_tensor *x, int32_t axis)
{
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    if (!x)
        return NULL;
    ac_perm_axis_last(x->rank, axis, perm, back);
    return ac_make_transpose(b, ac_make_1(b, op, ac_make_transpose(b, x, perm)), back);
}

ac_tensor *ac_make_along(const ac_maker *b, ac_tensor *v, int32_t rank, int32_t axis)
{
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < rank; d++)
        dim[d] = d == axis && v ? ac_tensor_count(v) : 1;
    return ac_make_reshape(b, v, rank, dim);
}

ac_tensor *ac_make_batch_norm(const ac_maker *b, ac_tensor *x, int32_t axis, ac_tensor *mean, ac_tensor *variance,
                              double eps, ac_tensor *gamma, ac_tensor *beta)
{
    if (!x || !mean || !variance)
        return NULL;
    ac_tensor *deviation = SQRT(ADD(variance, NUM(x, eps)));
    ac_tensor *factor = DIV(gamma ? gamma : NUM(x, 1), deviation), *moved = MUL(mean, factor);
    ac_tensor *shift = beta ? SUB(beta, moved) : NEG(moved);
    shift = ac_make_along(b, shift, x->rank, axis);
    return ADD(MUL(x, ac_make_along(b, factor, x->rank, axis)), shift);
}

ac_tensor *ac_make_unit_length(const ac_maker *b, ac_tensor *x, uint32_t mask, double eps)
{
    ac_tensor *sum = ac_make_reduce(b, AC_OP_SUM, SQUARE(x), mask, true);
    return DIV(x, SQRT(ADD(sum, NUM(x, eps))));
}

ac_tensor *ac_make_resample(const ac_maker *b, ac_tensor *x, int32_t d, int64_t out, const float *matrix)
{
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    if (!x)
        return NULL;
    const int64_t dim[2] = {out, x->dim[d]};
    ac_perm_axis_last(x->rank, d, perm, back);
    ac_tensor *weights = ac_make_floats(b, 2, dim, matrix);
    ac_tensor *y = ac_make_dense(b, ac_make_transpose(b, x, perm), weights, NULL);
    return ac_make_transpose(b, y, back);
}
