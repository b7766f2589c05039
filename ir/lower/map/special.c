/* special.c - functions of one operand that are one call of ir/lower/math*.c, f32 and f64. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"

#define FUNCTION(f)                                                            \
    ac_x ac_mp_##f(ac_lower *L, const ac_node *n, const ac_x *arg)             \
    {                                                                          \
        return ac_mp_real_both(n) ? ac_lo_##f(L, arg[0]) : ac_mp_refuse(L, n); \
    }
FUNCTION(erf)
FUNCTION(erfc)
FUNCTION(expm1)
FUNCTION(log1p)
FUNCTION(softplus)
FUNCTION(mish)
FUNCTION(sinh)
FUNCTION(cosh)
FUNCTION(tan)
FUNCTION(asin)
FUNCTION(acos)
FUNCTION(atan)
FUNCTION(asinh)
FUNCTION(acosh)
FUNCTION(atanh)

ac_x ac_mp_swish(ac_lower *L, const ac_node *n, const ac_x *arg)
{
    return ac_mp_real_both(n) ? ac_lo_swish(L, arg[0], (double)n->attrs.swish.alpha) : ac_mp_refuse(L, n);
}
