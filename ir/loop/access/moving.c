/* moving.c - arithmetic on integers that move with a loop; see moving.h. */
#include "ir/loop/access/moving.h"

#include "ir/loop/builder.h"

/* The value of a - b over all iterations. */
static ac_moving between(const ac_moving_in *in, ac_moving a, ac_moving b)
{
    int64_t by = a.by - b.by, far = by * (in->affine ? in->n - 1 : 0);
    ac_moving d = {a.lo - b.hi, a.hi - b.lo, 0, true};
    if (far < 0)
        d.lo += far;
    else
        d.hi += far;
    return d;
}

static ac_moving not_affine(ac_moving_in *in)
{
    in->lost = true;
    return AC_MOVING_UNKNOWN;
}

static ac_moving join(ac_moving_in *in, ac_moving a, ac_moving b)
{
    if (!a.known || !b.known)
        return AC_MOVING_UNKNOWN;
    if (a.by != b.by)
        return not_affine(in);
    return (ac_moving){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, a.by, true};
}

/* min (sign 1) or max (sign -1). */
static ac_moving extreme(ac_moving_in *in, ac_moving a, ac_moving b, int sign)
{
    ac_moving d = between(in, a, b);
    if (sign > 0 ? d.hi <= 0 : d.lo >= 0)
        return a;
    if (sign > 0 ? d.lo >= 0 : d.hi <= 0)
        return b;
    if (a.by != b.by)
        return not_affine(in);
    ac_moving v = sign > 0 ? (ac_moving){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi, a.by, true}
                           : (ac_moving){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, a.by, true};
    return v;
}

static bool small(int64_t v)
{
    return v > -((int64_t)1 << 31) && v < (int64_t)1 << 31;
}

static ac_moving times(ac_moving_in *in, ac_moving a, ac_moving b)
{
    if (ac_moving_is_exact(a)) {
        ac_moving swap = a;
        a = b;
        b = swap;
    }
    if (!ac_moving_is_exact(b))
        return a.by || b.by ? not_affine(in) : AC_MOVING_UNKNOWN;
    int64_t k = b.lo;
    if (!small(a.lo) || !small(a.hi) || !small(a.by) || !small(k))
        return AC_MOVING_UNKNOWN;
    return k < 0 ? (ac_moving){a.hi * k, a.lo * k, a.by * k, true} : (ac_moving){a.lo * k, a.hi * k, a.by * k, true};
}

static ac_moving divide(ac_moving_in *in, ac_moving a, ac_moving b)
{
    if (!ac_moving_is_exact(b) || b.lo <= 0)
        return a.by || b.by ? not_affine(in) : AC_MOVING_UNKNOWN;
    if (a.by)
        return not_affine(in);
    return (ac_moving){a.lo / b.lo, a.hi / b.lo, 0, true}; /* truncation is monotone */
}

static ac_moving modulo(ac_moving_in *in, ac_moving a, ac_moving b)
{
    if (!ac_moving_is_exact(b) || b.lo <= 0)
        return a.by || b.by ? not_affine(in) : AC_MOVING_UNKNOWN;
    if (a.by)
        return not_affine(in);
    if (a.lo >= 0 && a.lo / b.lo == a.hi / b.lo)
        return (ac_moving){a.lo % b.lo, a.hi % b.lo, 0, true};
    return (ac_moving){a.lo < 0 ? 1 - b.lo : 0, b.lo - 1, 0, true};
}

static ac_moving compare(ac_moving_in *in, ac_lop op, ac_moving a, ac_moving b)
{
    ac_moving d = between(in, a, b);
    bool always = false, never = false;
    if (op == AC_L_LT)
        always = d.hi < 0, never = d.lo >= 0;
    else if (op == AC_L_LE)
        always = d.hi <= 0, never = d.lo > 0;
    else {
        always = d.lo == 0 && d.hi == 0;
        never = d.lo > 0 || d.hi < 0;
        if (op == AC_L_NE) {
            bool swap = always;
            always = never;
            never = swap;
        }
    }
    if (always || never)
        return ac_moving_exactly(always);
    return a.by != b.by ? not_affine(in) : AC_MOVING_UNKNOWN;
}

static ac_moving shift(ac_moving_in *in, ac_lop op, ac_moving a, ac_moving b)
{
    if (!ac_moving_is_exact(b) || b.lo < 0 || b.lo > 30)
        return a.by || b.by ? not_affine(in) : AC_MOVING_UNKNOWN;
    if (op == AC_L_SHL)
        return times(in, a, ac_moving_exactly((int64_t)1 << b.lo));
    if (a.by)
        return not_affine(in);
    return (ac_moving){a.lo >> b.lo, a.hi >> b.lo, 0, true};
}

static ac_moving choose(ac_moving_in *in, ac_moving cond, ac_moving a, ac_moving b)
{
    if (ac_moving_is_exact(cond))
        return cond.lo ? a : b;
    return join(in, a, b);
}

static ac_moving bits(ac_lop op, ac_moving a, ac_moving b)
{
    if (!ac_moving_is_exact(a) || !ac_moving_is_exact(b))
        return AC_MOVING_UNKNOWN;
    return ac_moving_exactly(op == AC_L_AND ? (a.lo & b.lo) : op == AC_L_OR ? (a.lo | b.lo) : (a.lo ^ b.lo));
}

/* A value that overflows its type is unknown: addresses never overflow. */
static ac_moving fitted(const ac_moving_in *in, ac_moving v, ac_dtype d)
{
    if (!v.known || d == AC_I64 || d == AC_BOOL)
        return v;
    int64_t far = v.by * (in->affine ? in->n - 1 : 0), lo = v.lo + (far < 0 ? far : 0), hi = v.hi + (far > 0 ? far : 0);
    return lo < ac_dtype_min(d) || hi > ac_dtype_max(d) ? AC_MOVING_UNKNOWN : v;
}

static ac_moving compute(ac_moving_in *in, const ac_ins *i, ac_moving a, ac_moving b, ac_moving c)
{
    const ac_lop op = (ac_lop)i->op;
    if (op == AC_L_CONST)
        return ac_moving_exactly(i->k.i);
    if (op == AC_L_SELECT)
        return b.known && c.known ? choose(in, a, b, c) : AC_MOVING_UNKNOWN;
    if (!a.known || (ac_lop_arity(op) > 1 && !b.known))
        return AC_MOVING_UNKNOWN;
    if (op == AC_L_ADD)
        return (ac_moving){a.lo + b.lo, a.hi + b.hi, a.by + b.by, true};
    if (op == AC_L_SUB)
        return (ac_moving){a.lo - b.hi, a.hi - b.lo, a.by - b.by, true};
    if (op == AC_L_NEG)
        return (ac_moving){-a.hi, -a.lo, -a.by, true};
    if (op == AC_L_MUL)
        return times(in, a, b);
    if (op == AC_L_DIV)
        return divide(in, a, b);
    if (op == AC_L_MOD)
        return modulo(in, a, b);
    if (op == AC_L_MIN || op == AC_L_MAX)
        return extreme(in, a, b, op == AC_L_MIN ? 1 : -1);
    if (op == AC_L_SHL || op == AC_L_SHR)
        return shift(in, op, a, b);
    if (op == AC_L_EQ || op == AC_L_NE || op == AC_L_LT || op == AC_L_LE)
        return compare(in, op, a, b);
    if (op == AC_L_AND || op == AC_L_OR || op == AC_L_XOR)
        return bits(op, a, b);
    return op == AC_L_CAST && i->dtype != AC_BOOL ? a : AC_MOVING_UNKNOWN;
}

ac_moving ac_moving_of(ac_moving_in *in, const ac_ins *i, ac_moving a, ac_moving b, ac_moving c)
{
    return fitted(in, compute(in, i, a, b, c), (ac_dtype)i->dtype);
}
