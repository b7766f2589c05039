/* comparisons.c - comparisons, logic and selection.
 *
 * Comparisons give bool (0 or 1). Any comparison with NaN is false but not_equal. On i8 and u8 tensors with scales the
 * real values are compared after TFLite's rescaling (comparisons.h: both sides shifted left by 8 and multiplied by
 * their scale), which may call close values equal; on i16, equal and not_equal only, as LiteRT does. */
#include "ir/lower/entries.h"
#include "ir/lower/map/quantised_arithmetic.h"

typedef ac_x compare_fn(ac_lb *b, ac_x x, ac_x y);

static ac_x compare(ac_lower *L, const ac_node *n, const ac_x *arg, compare_fn *f)
{
    const ac_tensor *x = n->in[0], *y = n->in[1];
    const bool equality = n->op == AC_OP_EQUAL || n->op == AC_OP_NOT_EQUAL,
               rescaled = ac_dtype_bits(x->dtype) == 8 || (equality && x->dtype == AC_I16);
    if (x->dtype != y->dtype || (!ac_mp_real(x) && !ac_dtype_is_int(x->dtype) && x->dtype != AC_BOOL))
        return ac_mp_refuse(L, n);
    if (ac_mp_quantised(x) && ac_mp_quantised(y) && rescaled) {
        ac_x side[2];
        ac_mp_quant_sides(L, n, arg, side);
        return f(&L->b, side[0], side[1]);
    }
    if ((ac_mp_quantised(x) || ac_mp_quantised(y)) && !ac_quant_equal(x->quant, y->quant))
        return ac_mp_refuse(L, n);
    return f(&L->b, arg[0], arg[1]);
}

ac_x ac_mp_equal(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return compare(L, n, arg, ac_lb_eq);
}
ac_x ac_mp_not_equal(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return compare(L, n, arg, ac_lb_ne);
}
ac_x ac_mp_less(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return compare(L, n, arg, ac_lb_lt);
}
ac_x ac_mp_less_equal(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return compare(L, n, arg, ac_lb_le);
}
ac_x ac_mp_greater(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return compare(L, n, arg, ac_lb_gt);
}
ac_x ac_mp_greater_equal(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return compare(L, n, arg, ac_lb_ge);
}

static bool all_bool(const ac_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i]->dtype != AC_BOOL)
            return false;
    return n->out[0]->dtype == AC_BOOL;
}

ac_x ac_mp_logical_and(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return all_bool(n) ? ac_lb_and(&L->b, arg[0], arg[1]) : ac_mp_refuse(L, n);
}

ac_x ac_mp_logical_or(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return all_bool(n) ? ac_lb_or(&L->b, arg[0], arg[1]) : ac_mp_refuse(L, n);
}

ac_x ac_mp_logical_not(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return all_bool(n) ? ac_lb_not(&L->b, arg[0]) : ac_mp_refuse(L, n);
}

/* Stored values are chosen as they are: quantised branches and result share one scale. */
ac_x ac_mp_select(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    const ac_dtype d = n->out[0]->dtype;
    if (n->in[0]->dtype != AC_BOOL || n->in[1]->dtype != d || n->in[2]->dtype != d)
        return ac_mp_refuse(L, n);
    return ac_lb_select(&L->b, arg[0], arg[1], arg[2]);
}
