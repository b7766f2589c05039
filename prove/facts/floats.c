/* floats.c - computes intervals of floats, as far as conversions to integers need them; other operators give any float.
 *
 * Sums and products are rounded outwards by more than the error of f32, so that they hold for every float type. */
#include "prove/facts/claims.h"
#include "prove/facts/evaluate.h"

#include <float.h>
#include <math.h>

static const ac_pvalue ANYTHING = {
    .least = -(double)INFINITY, .most = (double)INFINITY, .maybe_nan = true, .form = {.lost = true}};

/* An interval that holds a .. b after rounding to the type. */
static ac_pvalue rounded(double a, double b, bool maybe_nan, ac_dtype d)
{
    const double slack = d == AC_F64 ? 1e-15 : d == AC_F32 ? 1e-7 : 1e-2, tiny = d == AC_F64 ? DBL_MIN : 1e-7;
    ac_pvalue v = ANYTHING;
    if (isnan(a) || isnan(b))
        return v;
    const double largest = d == AC_F64 ? DBL_MAX : d == AC_F16 ? 65504.0 : (double)FLT_MAX;
    const double least = a - fabs(a) * slack - tiny, most = b + fabs(b) * slack + tiny;
    v.least = least < -largest ? -(double)INFINITY : least;
    v.most = most > largest ? (double)INFINITY : most;
    v.maybe_nan = maybe_nan;
    return v;
}

static bool is_finite(const ac_pvalue *v)
{
    return isfinite(v->least) && isfinite(v->most) && !v->maybe_nan;
}

/* a < b ? a : b, and b where a or b is NaN. */
static ac_pvalue extreme(const ac_pvalue *a, const ac_pvalue *b, bool least)
{
    ac_pvalue v = ANYTHING;
    v.maybe_nan = b->maybe_nan;
    v.least = least ? fmin(a->least, b->least) : fmax(a->least, b->least);
    v.most = least ? fmin(a->most, b->most) : fmax(a->most, b->most);
    if (a->maybe_nan) { /* then it is b */
        v.least = fmin(v.least, b->least);
        v.most = fmax(v.most, b->most);
    }
    return v;
}

static ac_pvalue product(const ac_pvalue *a, const ac_pvalue *b, ac_dtype d)
{
    const double p[4] = {a->least * b->least, a->least * b->most, a->most * b->least, a->most * b->most};
    double lo = p[0], hi = p[0];
    for (int i = 1; i < 4; i++) {
        lo = fmin(lo, p[i]);
        hi = fmax(hi, p[i]);
    }
    return is_finite(a) && is_finite(b) ? rounded(lo, hi, false, d) : ANYTHING;
}

static ac_pvalue converted(ac_prover *p, const ac_ins *i)
{
    const ac_dtype from = (ac_dtype)ac_p_ins(p, i->a)->dtype, d = (ac_dtype)i->dtype;
    const ac_pvalue *a = &p->value[i->a];
    if (i->op == AC_L_BITCAST)
        return ANYTHING;
    if (ac_dtype_is_float(from))
        return isfinite(a->least) && isfinite(a->most) ? rounded(a->least, a->most, a->maybe_nan, d) : ANYTHING;
    if (a->in.lo == INT64_MIN || a->in.hi == INT64_MAX)
        return ANYTHING;
    return rounded((double)a->in.lo, (double)a->in.hi, false, d);
}

void ac_p_float(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    const ac_pvalue *a = &p->value[i->a], *b = &p->value[i->b];
    ac_pvalue v = ANYTHING;
    switch ((int)i->op) {
    case AC_L_ADD:
    case AC_L_SUB:
        if (is_finite(a) && is_finite(b))
            v = i->op == AC_L_ADD ? rounded(a->least + b->least, a->most + b->most, false, d)
                                  : rounded(a->least - b->most, a->most - b->least, false, d);
        break;
    case AC_L_MUL:
        v = product(a, b, d);
        break;
    case AC_L_FMA: { /* rounded once: less than a product and a sum */
        const ac_pvalue ab = product(a, b, d), *c = &p->value[i->c];
        if (is_finite(&ab) && is_finite(c))
            v = rounded(ab.least + c->least, ab.most + c->most, false, d);
        break;
    }
    case AC_L_MIN:
    case AC_L_MAX:
        v = extreme(a, b, i->op == AC_L_MIN);
        break;
    case AC_L_NEG:
        v.least = -a->most;
        v.most = -a->least;
        v.maybe_nan = a->maybe_nan;
        break;
    case AC_L_ABS:
        v.least = a->least > 0 ? a->least : a->most < 0 ? -a->most : 0;
        v.most = fmax(fabs(a->least), fabs(a->most));
        v.maybe_nan = a->maybe_nan;
        break;
    case AC_L_FLOOR:
    case AC_L_CEIL:
    case AC_L_TRUNC:
    case AC_L_RINT:
        v.least = floor(a->least);
        v.most = ceil(a->most);
        v.maybe_nan = a->maybe_nan;
        break;
    case AC_L_CAST:
    case AC_L_BITCAST:
        v = converted(p, i);
        break;
    default:
        break;
    }
    p->value[x] = v;
}

/* Converting a float that does not fit is undefined in C. */
void ac_p_float_to_int(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    const ac_pvalue *a = &p->value[i->a];
    const ac_interval range = ac_p_range(d);
    const double lo = (double)range.lo - 1,
                 hi = d == AC_I64 || d == AC_U64 ? 9223372036854774784.0 : (double)range.hi + 1;
    ac_interval in = range;
    if (!a->maybe_nan && a->least > lo && a->most < hi) {
        ac_p_proven(p, AC_CLAIM_INTEGER);
        in = ac_interval_meet((ac_interval){(int64_t)a->least, (int64_t)a->most}, range);
    } else {
        ac_p_doubt(p, x, AC_CLAIM_INTEGER, a->most <= lo || a->least >= hi, "a float of %.9g .. %.9g%s may not fit %s",
                   a->least, a->most, a->maybe_nan ? ", or NaN," : "", ac_dtype_name(d));
    }
    p->value[x] = ac_p_unknown(p, d, in);
}
