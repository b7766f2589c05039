/* math_nodes.c - arithmetic, comparisons and functions of PyTorch, element by element. */
#include "import/pt2/nodes.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Booleans as operands of arithmetic: the sum is `or`, the product `and`. */
static ac_op of_bools(ac_op op)
{
    return op == AC_OP_ADD || op == AC_OP_MAXIMUM || op == AC_OP_BITWISE_OR    ? AC_OP_LOGICAL_OR
           : op == AC_OP_MUL || op == AC_OP_MINIMUM || op == AC_OP_BITWISE_AND ? AC_OP_LOGICAL_AND
           : op == AC_OP_BITWISE_XOR                                           ? AC_OP_NOT_EQUAL
                                                                               : op;
}

static ac_tensor *pair(ac_ep_node *n, ac_op op, ac_tensor *x, ac_tensor *y)
{
    if (x && y && x->dtype == AC_BOOL)
        op = of_bools(op);
    if (op != AC_OP_LOGICAL_OR && op != AC_OP_LOGICAL_AND) {
        x = ac_ep_bytes(n, x);
        y = ac_ep_bytes(n, y);
    }
    return ac_make_2(&n->b, op, x, y);
}

int ac_ep_do_binary(ac_ep_node *n)
{
    return ac_ep_result(n, 0, pair(n, n->row->op, n->in[0], n->in[1]));
}

/* x + alpha * y */
static ac_tensor *added(ac_ep_node *n, ac_tensor *x, ac_tensor *y)
{
    const double alpha = ac_attr_float(&n->attrs, A_alpha);
    if (alpha != 1) {
        x = ac_ep_bytes(n, x);
        y = ac_ep_bytes(n, y);
        y = MUL(y, NUM(y, alpha));
    }
    return pair(n, n->row->op, x, y);
}

int ac_ep_do_add(ac_ep_node *n)
{
    return ac_ep_result(n, 0, added(n, n->in[0], n->in[1]));
}

int ac_ep_do_rsub(ac_ep_node *n)
{
    return ac_ep_result(n, 0, added(n, n->in[1], n->in[0]));
}

/* x / y towards 0 */
static ac_tensor *truncated(ac_ep_node *n, ac_tensor *x)
{
    ac_tensor *zero = x ? NUM(x, 0) : NULL, *down = OP1(FLOOR, x), *up = OP1(CEIL, x);
    return WHERE(LESS(x, zero), up, down);
}

static ac_tensor *floored(ac_ep_node *n, ac_tensor *x, ac_tensor *y)
{
    x = ac_ep_bytes(n, x);
    return OP2(FLOOR_DIV, x, ac_ep_bytes(n, y));
}

int ac_ep_do_floor_div(ac_ep_node *n)
{
    return ac_ep_result(n, 0, floored(n, n->in[0], n->in[1]));
}

int ac_ep_do_div_mode(ac_ep_node *n)
{
    const char *mode = ac_attr_text(&n->attrs, A_rounding_mode);
    if (!strcmp(mode, "floor"))
        return ac_ep_result(n, 0, floored(n, n->in[0], n->in[1]));
    if (!strcmp(mode, "none"))
        AC_TRY(ac_ep_promote(n, 0, 2, true));
    ac_tensor *y = DIV(n->in[0], n->in[1]);
    const bool cut = !strcmp(mode, "trunc") && y && ac_dtype_is_float(y->dtype);
    return ac_ep_result(n, 0, cut ? truncated(n, y) : y);
}

/* Powers that are products, or roots, need no POW. */
static ac_tensor *powered(ac_ep_node *n, ac_tensor *x, ac_tensor *y)
{
    const void *data = ac_tensor_is_const(y) && ac_tensor_count(y) == 1 ? ac_tensor_force(n->r->cx, y) : NULL;
    const double e = data ? ac_dtype_get_num(y->dtype, data, 0) : (double)NAN;
    const bool real = ac_dtype_is_float(x->dtype);
    if (e == 1)
        return x;
    if (e == 2)
        return SQUARE(x);
    if (e == 3)
        return MUL(SQUARE(x), x);
    if (e == 0.5 && real)
        return SQRT(x);
    if (e == -0.5 && real)
        return OP1(RSQRT, x);
    if (e == -1 && real)
        return DIV(NUM(x, 1), x);
    return OP2(POW, x, y);
}

int ac_ep_do_pow(ac_ep_node *n)
{
    ac_tensor *x = ac_ep_bytes(n, n->in[0]);
    return ac_ep_result(n, 0, powered(n, x, ac_ep_bytes(n, n->in[1])));
}

int ac_ep_do_hypot(ac_ep_node *n)
{
    ac_tensor *x = ABS(n->in[0]), *y = ABS(n->in[1]), *most = MAX(x, y), *least = MIN(x, y);
    ac_tensor *zero = most ? NUM(most, 0) : NULL, *one = most ? NUM(most, 1) : NULL;
    ac_tensor *part = DIV(least, WHERE(EQUAL(most, zero), one, most));
    ac_tensor *root = SQRT(PLUS(SQUARE(part), 1));
    return ac_ep_result(n, 0, MUL(most, root));
}

/* The sign of -0 counts. */
int ac_ep_do_copysign(ac_ep_node *n)
{
    ac_tensor *x = ABS(n->in[0]), *y = n->in[1];
    ac_attrs a;
    ac_attrs_init(AC_OP_BITCAST, &a);
    a.cast.to = AC_I32;
    y = ac_make_cast(&n->b, y, AC_F32);
    ac_tensor *bits = y ? ac_make_op(&n->b, AC_OP_BITCAST, &y, 1, &a, AC_I32) : NULL;
    ac_tensor *below = NEG(x);
    return ac_ep_result(n, 0, WHERE(LESS(bits, ac_make_number(&n->b, AC_I32, 0)), below, x));
}

/* The other one where one is NaN. */
int ac_ep_do_fextreme(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[1];
    if (!ac_dtype_is_float(x->dtype))
        return ac_ep_do_binary(n);
    ac_tensor *z = ac_make_2(&n->b, n->row->op, x, y);
    z = WHERE(OP2(NOT_EQUAL, y, y), x, z);
    return ac_ep_result(n, 0, WHERE(OP2(NOT_EQUAL, x, x), y, z));
}

/* x * log(y), 0 where x is 0 and y is a number */
int ac_ep_do_xlogy(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[1], *zero = NUM(x, 0);
    ac_tensor *none = EQUAL(x, zero), *z = WHERE(none, zero, MUL(x, LOG(y)));
    return ac_ep_result(n, 0, WHERE(OP2(NOT_EQUAL, y, y), y, z));
}

int ac_ep_do_logaddexp(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *y = n->in[1], *far = ABS(SUB(x, y)), *most = MAX(x, y);
    return ac_ep_result(n, 0, ADD(most, OP1(LOG1P, EXP(NEG(far)))));
}

int ac_ep_do_lerp(ac_ep_node *n)
{
    ac_tensor *d = SUB(n->in[1], n->in[0]);
    return ac_ep_result(n, 0, ADD(n->in[0], MUL(n->in[2], d)));
}

int ac_ep_do_addcmul(ac_ep_node *n)
{
    const double value = ac_attr_float_or(&n->attrs, A_value, 1);
    ac_tensor *y = ac_make_2(&n->b, n->row->op, n->in[1], n->in[2]);
    return ac_ep_result(n, 0, ADD(n->in[0], value == 1 ? y : TIMES(y, value)));
}

/* ------------------------------------------------------------------ comparisons, logic */

int ac_ep_do_compare(ac_ep_node *n)
{
    ac_tensor *y = ac_ep_bytes(n, n->in[1]);
    return ac_ep_result(n, 0, ac_make_2(&n->b, n->row->op, ac_ep_bytes(n, n->in[0]), y));
}

int ac_ep_do_logical(ac_ep_node *n)
{
    ac_tensor *x = ac_ep_truth(n, n->in[0]), *y = n->n_in > 1 ? ac_ep_truth(n, n->in[1]) : NULL;
    if (n->n_in < 2)
        return ac_ep_result(n, 0, ac_make_1(&n->b, n->row->op, x));
    if (n->row->op == AC_OP_NOT_EQUAL) {
        x = ac_ep_bytes(n, x);
        y = ac_ep_bytes(n, y);
    }
    return ac_ep_result(n, 0, ac_make_2(&n->b, n->row->op, x, y));
}

int ac_ep_do_bitwise_not(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    if (x->dtype == AC_BOOL)
        return ac_ep_result(n, 0, OP1(LOGICAL_NOT, x));
    if (!ac_dtype_is_int(x->dtype) || x->dtype == AC_U64)
        return ac_cannot(&n->b, "its operand is %s", ac_dtype_name(x->dtype));
    const double ones = ac_dtype_is_signed(x->dtype) ? -1 : (double)ac_dtype_max(x->dtype);
    return ac_ep_result(n, 0, OP2(BITWISE_XOR, x, NUM(x, ones)));
}

int ac_ep_do_where(ac_ep_node *n)
{
    AC_TRY(ac_ep_promote(n, 1, 3, false));
    return ac_ep_result(n, 0, WHERE(ac_ep_truth(n, n->in[0]), n->in[1], n->in[2]));
}

int ac_ep_do_masked_fill(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *v = ac_make_cast(&n->b, n->in[2], x->dtype);
    return ac_ep_result(n, 0, WHERE(ac_ep_truth(n, n->in[1]), v, x));
}

/* clamp_min has min alone, clamp_max max. */
int ac_ep_do_clamp(ac_ep_node *n)
{
    ac_tensor *x = n->in[0], *low = n->in[1], *high = n->in[2];
    const double from = low && ac_tensor_is_const(low) && ac_tensor_count(low) == 1
                            ? ac_dtype_get_num(low->dtype, ac_tensor_force(n->r->cx, low), 0)
                            : (double)NAN;
    const double to = high && ac_tensor_is_const(high) && ac_tensor_count(high) == 1
                          ? ac_dtype_get_num(high->dtype, ac_tensor_force(n->r->cx, high), 0)
                          : (double)NAN;
    if (x->dtype == AC_F32 && from == 0 && (!high || to == 6))
        return ac_ep_result(n, 0, high ? OP1(RELU6, x) : OP1(RELU, x));
    x = low ? MAX(x, low) : x;
    return ac_ep_result(n, 0, high ? MIN(x, high) : x);
}

/* ------------------------------------------------------------------ functions */

int ac_ep_do_sign(ac_ep_node *n)
{
    return ac_ep_result(n, 0, n->in[0]->dtype == AC_BOOL ? n->in[0] : SIGN(n->in[0]));
}

/* With `decimals`: x rounded times 10^decimals. */
int ac_ep_do_whole(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    return ac_ep_result(n, 0, ac_dtype_is_float(x->dtype) ? ac_make_1(&n->b, n->row->op, x) : x);
}

int ac_ep_do_trunc(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    return ac_ep_result(n, 0, ac_dtype_is_float(x->dtype) ? truncated(n, x) : x);
}

int ac_ep_do_frac(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    return ac_ep_result(n, 0, SUB(x, truncated(n, x)));
}

int ac_ep_do_exp2(ac_ep_node *n)
{
    return ac_ep_result(n, 0, OP2(POW, NUM(n->in[0], 2), n->in[0]));
}

int ac_ep_do_log_of(ac_ep_node *n)
{
    const double base = strstr(n->row->name, "log10") ? 10 : 2;
    return ac_ep_result(n, 0, TIMES(LOG(n->in[0]), 1 / log(base)));
}

int ac_ep_do_logit(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    const double eps = ac_attr_float_or(&n->attrs, A_eps, -1);
    if (eps >= 0) {
        ac_tensor *above = MAX(x, NUM(x, eps));
        x = MIN(above, NUM(x, 1 - eps));
    }
    ac_tensor *rest = SUB(x ? NUM(x, 1) : NULL, x);
    return ac_ep_result(n, 0, LOG(DIV(x, rest)));
}

int ac_ep_do_sinc(ac_ep_node *n)
{
    ac_tensor *x = TIMES(n->in[0], 3.14159265358979323846), *zero = x ? NUM(x, 0) : NULL, *one = x ? NUM(x, 1) : NULL;
    ac_tensor *middle = EQUAL(x, zero);
    return ac_ep_result(n, 0, WHERE(middle, one, DIV(OP1(SIN, x), x)));
}

int ac_ep_do_turn(ac_ep_node *n)
{
    const double by = 3.14159265358979323846 / 180;
    return ac_ep_result(n, 0, TIMES(n->in[0], strstr(n->row->name, "deg2rad") ? by : 1 / by));
}

int ac_ep_do_is_finite(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    if (!ac_dtype_is_float(x->dtype))
        return ac_ep_result(n, 0, ac_make_broadcast(&n->b, ac_make_number(&n->b, AC_BOOL, 1), x->rank, x->dim));
    x = ABS(x);
    return ac_ep_result(n, 0, LESS(x, x ? NUM(x, (double)INFINITY) : NULL));
}

int ac_ep_do_nan_to_num(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    if (!ac_dtype_is_float(x->dtype))
        return ac_ep_result(n, 0, x);
    const double most = x->dtype == AC_F64 ? DBL_MAX : (double)FLT_MAX;
    const double nan = ac_attr_float(&n->attrs, A_nan), high = ac_attr_float_or(&n->attrs, A_posinf, most);
    const double low = ac_attr_float_or(&n->attrs, A_neginf, -most);
    ac_tensor *is_nan = OP2(NOT_EQUAL, x, x), *y = WHERE(is_nan, NUM(x, nan), x);
    ac_tensor *top = NUM(x, high), *bottom = NUM(x, low);
    y = WHERE(EQUAL(x, NUM(x, (double)INFINITY)), top, y);
    return ac_ep_result(n, 0, WHERE(EQUAL(x, NUM(x, -(double)INFINITY)), bottom, y));
}
