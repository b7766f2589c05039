/* map_adjoints.c - gradients of element-wise operators with several operands, of conversions and copies. */
#include "ir/grad/entries.h"
#include "ir/grad/formula.h"

/* The same elements stay. */
int ac_gr_dropout(ac_adjoint *a)
{
    ac_tensor *in[] = {ac_dy(a), a->node->in[1]};
    ac_give(a, 0, ac_make_op(&a->b, AC_OP_DROPOUT, in, 2, &a->node->attrs, AC_NONE));
    return AC_OK;
}

static ac_tensor *operand(const ac_adjoint *a, int32_t i)
{
    return a->node->in[i];
}

int ac_gr_add(ac_adjoint *a)
{
    ac_tensor *dz = ac_dy_thin(a);
    ac_give_each(a, 0, dz);
    ac_give_each(a, 1, dz);
    return AC_OK;
}

int ac_gr_sub(ac_adjoint *a)
{
    ac_tensor *dz = ac_dy_thin(a);
    ac_give_each(a, 0, dz);
    if (ac_wants(a, 1))
        ac_give_each(a, 1, NEG(dz));
    return AC_OK;
}

int ac_gr_mul(ac_adjoint *a)
{
    ac_tensor *dz = ac_dy_thin(a);
    for (int32_t i = 0; i < 2; i++)
        if (ac_wants(a, i))
            ac_give_each(a, i, MUL(dz, operand(a, 1 - i)));
    return AC_OK;
}

/* z = x / y: dx = dz / y, dy = -dx * z */
int ac_gr_div(ac_adjoint *a)
{
    ac_tensor *share = DIV(ac_dy_thin(a), operand(a, 1));
    ac_give_each(a, 0, share);
    if (ac_wants(a, 1))
        ac_give_each(a, 1, NEG(MUL(share, ac_y(a))));
    return AC_OK;
}

/* z = x - y * floor(x / y) */
int ac_gr_floor_mod(ac_adjoint *a)
{
    ac_tensor *dz = ac_dy_thin(a);
    ac_give_each(a, 0, dz);
    if (ac_wants(a, 1))
        ac_give_each(a, 1, NEG(MUL(dz, OP2(FLOOR_DIV, operand(a, 0), operand(a, 1)))));
    return AC_OK;
}

/* z = max(x, y) or min(x, y): the one that was taken gets dz, of two equal ones each the half; a bound that is given
 * (not on any path) takes all of it. */
static int gr_extreme(ac_adjoint *a, ac_op better)
{
    ac_tensor *dz = ac_dy_thin(a), *x = operand(a, 0), *y = operand(a, 1);
    const bool both = ac_wants(a, 0) && ac_wants(a, 1) && x != y;
    ac_tensor *half = both ? TIMES(dz, 0.5) : NULL, *zero = NUM(x, 0);
    ac_tensor *even = both ? WHERE(OP2(EQUAL, x, y), half, zero) : zero;
    if (x == y) {
        ac_give_each(a, 0, dz);
        return AC_OK;
    }
    if (ac_wants(a, 0))
        ac_give_each(a, 0, WHERE(ac_make_2(&a->b, better, x, y), dz, even));
    if (ac_wants(a, 1))
        ac_give_each(a, 1, WHERE(ac_make_2(&a->b, better, y, x), dz, even));
    return AC_OK;
}

int ac_gr_maximum(ac_adjoint *a)
{
    return gr_extreme(a, AC_OP_GREATER);
}

int ac_gr_minimum(ac_adjoint *a)
{
    return gr_extreme(a, AC_OP_LESS);
}

/* The value of a constant that is one number everywhere */
static bool is_number(const ac_adjoint *a, ac_tensor *t, double *v)
{
    const void *data = ac_tensor_is_const(t) && ac_tensor_count(t) == 1 ? ac_tensor_force(a->b.cx, t) : NULL;
    if (data)
        *v = ac_dtype_get_num(t->dtype, data, 0);
    return data != NULL;
}

/* z = x^y: dx = dz * y * x^(y-1), dy = dz * z * log(x), 0 where x is not positive (z is 0 or y an integer there) */
int ac_gr_pow(ac_adjoint *a)
{
    ac_tensor *dz = ac_dy_thin(a), *x = operand(a, 0), *y = operand(a, 1);
    double v;
    if (ac_wants(a, 0) && is_number(a, y, &v) && v >= 2 && v <= 2)
        ac_give_each(a, 0, MUL(dz, TIMES(x, 2)));
    else if (ac_wants(a, 0))
        ac_give_each(a, 0, MUL(dz, MUL(y, OP2(POW, x, PLUS(y, -1)))));
    if (ac_wants(a, 1)) {
        ac_tensor *positive = GREATER(x, NUM(x, 0));
        ac_tensor *log = OP1(LOG, WHERE(positive, x, NUM(x, 1)));
        ac_give_each(a, 1, MUL(dz, MUL(ac_y(a), log)));
    }
    return AC_OK;
}

int ac_gr_squared_difference(ac_adjoint *a)
{
    ac_tensor *share = MUL(ac_dy_thin(a), TIMES(SUB(operand(a, 0), operand(a, 1)), 2));
    ac_give_each(a, 0, share);
    if (ac_wants(a, 1))
        ac_give_each(a, 1, NEG(share));
    return AC_OK;
}

int ac_gr_select(ac_adjoint *a)
{
    ac_tensor *dz = ac_dy_thin(a), *zero = NUM(dz, 0);
    if (ac_wants(a, 1))
        ac_give_each(a, 1, WHERE(operand(a, 0), dz, zero));
    if (ac_wants(a, 2))
        ac_give_each(a, 2, WHERE(operand(a, 0), zero, dz));
    return AC_OK;
}

/* x where it is positive, else x * slope */
int ac_gr_prelu(ac_adjoint *a)
{
    ac_tensor *dz = ac_dy_thin(a), *x = operand(a, 0), *positive = GREATER(x, NUM(x, 0));
    if (ac_wants(a, 0))
        ac_give_each(a, 0, WHERE(positive, dz, MUL(dz, operand(a, 1))));
    if (ac_wants(a, 1)) {
        ac_tensor *below = MUL(dz, x);
        ac_give_each(a, 1, WHERE(positive, NUM(x, 0), below));
    }
    return AC_OK;
}

int ac_gr_cast(ac_adjoint *a)
{
    if (ac_wants(a, 0))
        ac_give(a, 0, ac_make_cast(&a->b, ac_dy_thin(a), operand(a, 0)->dtype));
    return AC_OK;
}
