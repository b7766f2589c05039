/* replay_floats.c - computes ranges of floats: two doubles, rounded outwards, and whether it may be NaN; see replay.h.
 * */
#include "prove/replay/replay.h"

#include <math.h>

range real_between(double least, double most, bool nan)
{
    range r = {.least = least, .most = most, .nan = nan || isnan(least) || isnan(most), .written = true};
    if (isnan(least))
        r.least = -(double)INFINITY;
    if (isnan(most))
        r.most = (double)INFINITY;
    return r;
}

/* Nearest of the numbers with so many bits, and none below 2^least; ties to even. */
static double nearest(double v, int bits, int least, double most)
{
    int exponent;
    frexp(v, &exponent);
    const double unit = ldexp(1, exponent - bits > least ? exponent - bits : least), r = rint(v / unit) * unit;
    return fabs(r) > most ? copysign((double)INFINITY, r) : r;
}

double real_as(type t, double v)
{
    const double single = t == F64 ? v : (double)(float)v;
    if (isnan(v) || isinf(single) || t == F64 || t == F32)
        return single;
    return t == F16 ? nearest(single, 11, -24, 65504) : nearest(single, 8, -133, 0x1.fep127);
}

/* Ends that a rounding to the type cannot pass. */
range real_rounded(type t, range r)
{
    const double share = t == F64 ? 0x1p-50 : t == F32 ? 0x1p-22 : 0x1p-7, least = t == F64 ? 0x1p-1070 : 0x1p-24;
    if (r.least < r.most || t != F64) {
        r.least -= fabs(r.least) * share + least;
        r.most += fabs(r.most) * share + least;
    }
    const double end = t == F64 ? 0x1p1023 : t == F16 ? 65000 : 0x1p127;
    if (r.least < -end)
        r.least = -(double)INFINITY;
    if (r.most > end)
        r.most = (double)INFINITY;
    return r;
}

static bool is_bounded(const range *r)
{
    return !r->nan && r->least > -(double)INFINITY && r->most < (double)INFINITY;
}

range real_of_four(type t, double p, double q, double r, double s)
{
    const double least = fmin(fmin(p, q), fmin(r, s)), most = fmax(fmax(p, q), fmax(r, s));
    range v = real_between(least, most, false);
    v.least = nextafter(v.least, -(double)INFINITY);
    v.most = nextafter(v.most, (double)INFINITY);
    return real_rounded(t, v);
}

range real_result(const instruction *x, const range *a, const range *b, const range *c)
{
    const bool bounded = is_bounded(a) && (!b || is_bounded(b)) && (!c || is_bounded(c));
    switch ((int)x->op) {
    case OP_min:
        return real_between(fmin(a->least, b->least), a->nan ? b->most : fmin(a->most, b->most), b->nan);
    case OP_max:
        return real_between(a->nan ? b->least : fmax(a->least, b->least), fmax(a->most, b->most), b->nan);
    case OP_neg:
        return real_between(-a->most, -a->least, a->nan);
    case OP_abs:
        return real_between(a->least > 0  ? a->least
                            : a->most < 0 ? -a->most
                                          : 0,
                            fmax(fabs(a->least), fabs(a->most)), a->nan);
    case OP_floor:
        return real_between(floor(a->least), floor(a->most), a->nan);
    case OP_ceil:
        return real_between(ceil(a->least), ceil(a->most), a->nan);
    case OP_trunc:
        return real_between(trunc(a->least), trunc(a->most), a->nan);
    case OP_rint:
        return real_between(rint(a->least), rint(a->most), a->nan);
    default:
        break;
    }
    if (!bounded)
        return of_type(x->type);
    switch ((int)x->op) {
    case OP_add:
        return real_of_four(x->type, a->least + b->least, a->most + b->most, a->least + b->least, a->most + b->most);
    case OP_sub:
        return real_of_four(x->type, a->least - b->most, a->most - b->least, a->least - b->most, a->most - b->least);
    case OP_mul:
        return real_of_four(x->type, a->least * b->least, a->least * b->most, a->most * b->least, a->most * b->most);
    case OP_fma: {
        const range ab =
            real_of_four(x->type, a->least * b->least, a->least * b->most, a->most * b->least, a->most * b->most);
        const double least = ab.least + c->least, most = ab.most + c->most;
        return is_bounded(&ab) ? real_of_four(x->type, least, most, least, most) : of_type(x->type);
    }
    case OP_div:
        if (b->least <= 0 && b->most >= 0)
            return of_type(x->type);
        return real_of_four(x->type, a->least / b->least, a->least / b->most, a->most / b->least, a->most / b->most);
    case OP_sqrt:
        if (a->least < 0)
            return of_type(x->type);
        return real_of_four(x->type, sqrt(a->least), sqrt(a->most), sqrt(a->least), sqrt(a->most));
    default:
        return of_type(x->type);
    }
}
